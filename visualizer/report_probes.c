/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_probes.c - what hits of probes and recording their own events cost the programs. */
#include <stdio.h>
#include <stdlib.h>
#include <trace/probes.h>
#include "checked_figures.h"
#include "checked_memory.h"
#include "grid.h"
#include "process_choice.h"
#include "report_probes.h"
#include "row_limit.h"
#include "value_text.h"

#define ROWS	      20
#define UNHIT	      5
#define NEGLIGIBLE_NS 10000 /* of an event in a whole recording */

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

static const char **probes_without_hits(const struct report *report, size_t *ret_nr)
{
	const char **names = trace_probes_without_hits(report->analysis, ret_nr);

	if (!names)
		memory_end();
	return names;
}

/* Whatever the options choose: a user that asked for an event learns here that there is none. */
void report_unhit(const struct report *report)
{
	size_t nr, at = 0;
	const char **names = probes_without_hits(report, &nr);
	char name[TRACE_PROBE_NAME_BYTES];

	for (; at < nr && at < UNHIT; at++)
		output_line(&report->output, "", "probe %s: no hit", text_name(names[at], name, sizeof(name)));
	if (at < nr)
		output_line(&report->output, "", "%zu more probes: no hit", nr - at);
	if (nr)
		fputs("\n", report->output.out);
	free(names);
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
	report_unhit(report);
}

static void json_unhit(struct json *json, const struct report *report)
{
	size_t nr;
	const char **names = probes_without_hits(report, &nr);

	json_open(json, "probes_without_hits", "[");
	for (size_t i = 0; i < nr; i++) {
		json_separate(json);
		json_string(json, names[i]);
	}
	json_close(json, "]");
	free(names);
}

void json_probe_uses(struct json *json, const struct trace_probe_use *uses, size_t nr)
{
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
}

void json_probes(struct json *json, const struct report *report)
{
	size_t nr;
	struct trace_probe_use *uses = probe_uses(report, &nr);

	json_probe_uses(json, uses, nr);
	free(uses);
	json_unhit(json, report);
}

/* ---- events that programs record themselves ---- */

bool event_cost_matters(uint64_t event_ns, uint64_t cpu_ns)
{
	return event_ns > cpu_ns / 1000;
}

static struct trace_event_use *event_uses(const struct report *report, size_t *ret_nr)
{
	struct trace_event_use *uses = trace_event_uses(report->analysis, ret_nr);

	if (!uses)
		memory_end();
	return uses;
}

static uint64_t cpu_ns_of(const struct report *report, const struct trace_process *process)
{
	struct trace_figures *f = checked_figures(trace_process_figures(report->analysis, process));
	uint64_t cpu_ns = f->user_ns + f->syscall_ns + f->trap_ns;

	trace_figures_free(f);
	return cpu_ns;
}

static void put_event(struct grid *grid, const struct trace_event_use *use, uint64_t cpu_ns)
{
	grid_count(grid, use->events);
	grid_ns(grid, use->cost_ns);
	grid_percent(grid, use->cost_ns, cpu_ns);
	grid_name(grid, use->name);
	grid_process(grid, trace_process_title(use->process), trace_process_pid(use->process));
}

static struct grid *event_grid(const struct report *report)
{
	static const struct grid_column columns[] = {{"events", GRID_RIGHT},
						     {"cost", GRID_RIGHT},
						     {"% CPU", GRID_RIGHT},
						     {"event", GRID_ELASTIC},
						     {"process", GRID_ELASTIC}};
	uint32_t least_ps, most_ps, ps_per_64, ps = trace_event_cost_ps(report->analysis, &least_ps, &most_ps),
					       long_ps = trace_event_long_cost_ps(report->analysis, &ps_per_64);
	char title[250], longs[100] = "";

	if (long_ps)
		snprintf(longs, sizeof(longs), "; with a text %.1f ns, and %.1f ns for 64 bytes more", long_ps / 1e3,
			 ps_per_64 / 1e3);
	snprintf(title, sizeof(title),
		 "Cost of programs' own events (in their own code; one took %.1f ns when the recording began, %.1f to "
		 "%.1f ns%s):",
		 ps / 1e3, least_ps / 1e3, most_ps / 1e3, longs);
	output_title(&report->output, "", title);
	return grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
}

void report_event_costs(const struct report *report)
{
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct grid *grid = NULL;
	struct value_text rest;
	size_t nr;
	struct trace_event_use *uses = event_uses(report, &nr);

	for (size_t i = 0; i < nr && uses[i].cost_ns >= NEGLIGIBLE_NS; i++) {
		uint64_t cpu_ns;

		if (!process_is_chosen(&report->options->processes, uses[i].process))
			continue;
		cpu_ns = cpu_ns_of(report, uses[i].process);
		if (!event_cost_matters(uses[i].cost_ns, cpu_ns) || !row_limit_shows_if(&limit, true, uses[i].cost_ns))
			continue;
		grid = grid ? grid : event_grid(report);
		put_event(grid, &uses[i], cpu_ns);
	}
	if (grid) {
		grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
		fputs("\n", report->output.out);
	}
	free(uses);
}

void json_event_uses(struct json *json, const struct trace_analysis *analysis, const struct trace_event_use *uses,
		     size_t nr)
{
	uint32_t least_ps, most_ps, ps_per_64, ps = trace_event_cost_ps(analysis, &least_ps, &most_ps),
					       long_ps = trace_event_long_cost_ps(analysis, &ps_per_64);

	json_open(json, "event_costs", "{");
	json_u64(json, "event_ps", ps);
	json_u64(json, "event_least_ps", least_ps);
	json_u64(json, "event_most_ps", most_ps);
	json_u64(json, "text_ps", long_ps);
	json_u64(json, "ps_per_64_bytes", ps_per_64);
	json_open(json, "uses", "[");
	for (size_t i = 0; i < nr; i++) {
		json_open(json, NULL, "{");
		json_text(json, "name", uses[i].name);
		json_u64(json, "pid", trace_process_pid(uses[i].process));
		json_text(json, "comm", trace_process_title(uses[i].process));
		json_u64(json, "events", uses[i].events);
		json_u64(json, "cost_ns", uses[i].cost_ns);
		json_close(json, "}");
	}
	json_close(json, "]");
	json_close(json, "}");
}

void json_event_costs(struct json *json, const struct report *report)
{
	size_t nr;
	struct trace_event_use *uses = event_uses(report, &nr);

	json_event_uses(json, report->analysis, uses, nr);
	free(uses);
}
