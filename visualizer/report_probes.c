/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_probes.c - the hits of probes, and what they cost the programs. */
#include <stdio.h>
#include <stdlib.h>
#include "checked_memory.h"
#include "grid.h"
#include "process_choice.h"
#include "report_probes.h"
#include "row_limit.h"
#include "value_text.h"

#define ROWS 20

static struct trace_probe_use *probe_uses(const struct report *report, size_t *ret_nr)
{
	struct trace_probe_use *uses = trace_probe_uses(report->analysis, ret_nr);

	if (!uses)
		memory_end();
	return uses;
}

static void put_use(struct grid *grid, const struct report *report, const struct trace_probe_use *use)
{
	struct value_text least, most, spread;

	text_ns(&report->output, use->hit_least_ns, &least);
	text_ns(&report->output, use->hit_most_ns, &most);
	snprintf(spread.bytes, sizeof(spread.bytes), "%.30s-%.30s", least.bytes, most.bytes);
	grid_count(grid, use->hits);
	grid_ns(grid, use->hits * use->hit_ns);
	grid_ns(grid, use->hit_ns);
	grid_text(grid, spread.bytes);
	grid_name(grid, use->name);
	grid_process(grid, trace_process_title(use->process), trace_process_pid(use->process));
}

void report_probes(const struct report *report)
{
	static const struct grid_column columns[] = {{"hits", GRID_RIGHT},    {"cost", GRID_RIGHT},
						     {"of one", GRID_RIGHT},  {"measured", GRID_OPTIONAL},
						     {"probe", GRID_ELASTIC}, {"process", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct grid *grid = NULL;
	struct value_text rest;
	size_t nr;
	struct trace_probe_use *uses = probe_uses(report, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (!process_is_chosen(&report->options->processes, uses[i].process) ||
		    !row_limit_shows_if(&limit, true, uses[i].hits * uses[i].hit_ns))
			continue;
		if (!grid) {
			output_title(&report->output, "",
				     "Cost of probes (not of the programs; measured when the recording began, and "
				     "counted as time in the kernel):");
			grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
		}
		put_use(grid, report, &uses[i]);
	}
	if (grid) {
		grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
		fputs("\n", report->output.out);
	}
	free(uses);
}

void json_probes(struct json *json, const struct report *report)
{
	size_t nr;
	struct trace_probe_use *uses = probe_uses(report, &nr);

	json_open(json, "probes", "[");
	for (size_t i = 0; i < nr; i++) {
		json_open(json, NULL, "{");
		json_text(json, "name", uses[i].name);
		json_u64(json, "pid", trace_process_pid(uses[i].process));
		json_text(json, "comm", trace_process_title(uses[i].process));
		json_u64(json, "hits", uses[i].hits);
		json_u64(json, "hit_ns", uses[i].hit_ns);
		json_u64(json, "hit_least_ns", uses[i].hit_least_ns);
		json_u64(json, "hit_most_ns", uses[i].hit_most_ns);
		json_close(json, "}");
	}
	json_close(json, "]");
	free(uses);
}
