/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_work.c - deferred work of the kernel, and the processes that it is for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "checked_memory.h"
#include "grid.h"
#include "report_work.h"
#include "row_limit.h"
#include "value_text.h"

#define ROWS 10

static struct trace_deferred_work *works(const struct report *report, size_t *ret_nr)
{
	struct trace_deferred_work *list = trace_deferred_works(report->analysis, ret_nr);

	if (!list)
		memory_end();
	return list;
}

/* The name of the function, or its address. */
static const char *work_name(const struct trace_deferred_work *work, struct value_text *text)
{
	if (*work->work)
		return work->work;
	snprintf(text->bytes, sizeof(text->bytes), "0x%" PRIx64, work->func);
	return text->bytes;
}

static void put_work(struct grid *grid, const struct trace_deferred_work *work)
{
	struct value_text text;

	grid_ns(grid, work->cpu_ns);
	grid_count(grid, work->runs);
	grid_count(grid, work->files);
	grid_bytes(grid, work->written_bytes);
	grid_name(grid, work_name(work, &text));
	grid_name(grid, work->device);
	if (*work->comm)
		grid_process(grid, work->comm, work->pid);
	else
		grid_text(grid, "(the kernel)");
}

void report_work(const struct report *report)
{
	static const struct grid_column columns[] = {{"CPU", GRID_RIGHT},    {"runs", GRID_OPTIONAL},
						     {"files", GRID_RARE},   {"written", GRID_RARE},
						     {"work", GRID_ELASTIC}, {"device", GRID_EXTRA},
						     {"for", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct value_text rest;
	uint64_t sum = 0;
	struct grid *grid;
	size_t nr;
	struct trace_deferred_work *list = works(report, &nr);

	for (size_t i = 0; i < nr; i++)
		sum += list[i].cpu_ns;
	if (nr) {
		output_title(&report->output, "",
			     "Deferred work of the kernel (for the process that queued it, or wrote to the file):");
		grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
		for (size_t i = 0; i < nr; i++)
			if (row_limit_shows(&limit, list[i].cpu_ns, sum))
				put_work(grid, &list[i]);
		grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
		fputs("\n", report->output.out);
	}
	free(list);
}

void json_work(struct json *json, const struct report *report)
{
	struct value_text text;
	size_t nr;
	struct trace_deferred_work *list = works(report, &nr);

	json_open(json, "deferred_work", "[");
	for (size_t i = 0; i < nr; i++) {
		json_open(json, NULL, "{");
		json_text(json, "work", work_name(&list[i], &text));
		json_u64(json, "pid", list[i].pid);
		json_text(json, "comm", list[i].comm);
		json_text(json, "device", list[i].device);
		json_u64(json, "runs", list[i].runs);
		json_u64(json, "files", list[i].files);
		json_u64(json, "cpu_ns", list[i].cpu_ns);
		json_u64(json, "written_bytes", list[i].written_bytes);
		json_close(json, "}");
	}
	json_close(json, "]");
	free(list);
}
