/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_processes.c - the table of processes: a line for each, and for groups of small ones. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "grid.h"
#include "process_choice.h"
#include "recorded.h"
#include "report_processes.h"
#include "row_limit.h"
#include "wait_text.h"

#define NAME_BYTES 256
#define PROCESSES  40 /* in the table, unless --top or --all choose another number */
#define GROUPS	   10 /* lines for groups of small processes with one name */

/*
 * Without system calls user and system time cannot be told apart: the first column has both, and
 * the second is hidden.
 */
static void times_cells(struct grid *grid, const struct trace_analysis *analysis, const struct process_row *row)
{
	grid_ns(grid, row->elapsed_ns);
	grid_percent(grid, row->user_ns + row->system_ns, row->elapsed_ns);
	grid_ns(grid, row->user_ns + (trace_analysis_sees_calls(analysis) ? 0 : row->system_ns));
	grid_ns(grid, row->system_ns);
	grid_ns(grid, row->interrupted_ns);
	grid_ns(grid, row->wait_cpu_ns);
	grid_ns(grid, row->blocked_ns);
}

/*
 * The target of the longest wait if it is half of the blocked time. Else a kind of waits that is
 * half of it. Else the longest wait with its percentage.
 */
static const char *blocked_on(const struct trace_analysis *analysis, const struct process_row *row, char *text,
			      size_t size)
{
	static const char *const kinds[TRACE_NR_WAIT_KINDS] = {
		[TRACE_WAIT_FILE] = "files",
		[TRACE_WAIT_PROCESS] = "several processes",
		[TRACE_WAIT_NETWORK] = "the network",
		[TRACE_WAIT_TIMEOUT] = "timeout",
		[TRACE_WAIT_DEVICE] = "devices",
		[TRACE_WAIT_MEMORY] = "memory",
		[TRACE_WAIT_STOPPED] = "stopped",
		[TRACE_WAIT_OTHER] = "system calls",
		[TRACE_WAIT_UNKNOWN] = "something unknown",
		[TRACE_WAIT_KERNEL] = "the kernel",
		[TRACE_WAIT_QUOTA] = "quota",
	};
	_Static_assert(TRACE_NR_WAIT_KINDS == 11, "each kind has its words");
	int used = 0;

	if (!row->worst.ns)
		return "";
	if (row->worst.ns < row->blocked_ns / 2 && row->worst_kind_ns >= row->blocked_ns / 2)
		return row->worst_kind == TRACE_WAIT_PROCESS && row->only_own ? "other threads of its own"
									      : kinds[row->worst_kind];
	if (row->worst.ns < row->blocked_ns / 2)
		used = snprintf(text, size, "%.0f %%: ", percent(row->worst.ns, row->blocked_ns));
	text_wait(analysis, &row->worst, trace_process_pid(row->process), text + used, size - (size_t)used);
	return text;
}

static void process_line(struct grid *grid, const struct trace_analysis *analysis, const struct process_row *row)
{
	char text[2 * NAME_BYTES];
	struct value_text pid;

	snprintf(pid.bytes, sizeof(pid.bytes), "%u", trace_process_pid(row->process));
	grid_text(grid, pid.bytes);
	snprintf(pid.bytes, sizeof(pid.bytes), "%u", trace_process_ppid(row->process));
	grid_text(grid, pid.bytes);
	times_cells(grid, analysis, row);
	grid_text(grid, text_comm(trace_process_title(row->process), text, sizeof(text)));
	grid_text(grid, blocked_on(analysis, row, text, sizeof(text)));
}

/* Processes of one name, each below WORTH_A_ROW. Together they may be most of the work. */
struct name_group {
	uint64_t key;		/* the name */
	struct process_row sum; /* process: the first one */
	size_t nr;
};

static uint64_t group_ns(const struct name_group *group)
{
	return group->sum.user_ns + group->sum.system_ns + group->sum.wait_cpu_ns;
}

/* By CPU time and wait for a CPU, unless --sort is given. */
static int order_groups(const void *left, const void *right, void *data)
{
	const struct name_group *l = left, *r = right;
	const struct report *report = data;

	if (report->options->rows.sorted)
		return process_rows_compare(&l->sum, &r->sum, data);
	if (group_ns(l) != group_ns(r))
		return group_ns(l) > group_ns(r) ? -1 : 1;
	return strcmp(trace_process_title(l->sum.process), trace_process_title(r->sum.process));
}

/** struct name_groups - all groups, by name */
struct name_groups {
	struct strings names;
	struct hash_table by_name; /* struct name_group */
};

static void group_add(struct name_groups *groups, const struct process_row *row)
{
	struct name_group *group = memory_row(&groups->by_name, sizeof(*group),
					      memory_key(&groups->names, trace_process_title(row->process)));

	if (!group->nr)
		group->sum.process = row->process;
	group->sum.elapsed_ns += row->elapsed_ns;
	group->sum.user_ns += row->user_ns;
	group->sum.system_ns += row->system_ns;
	group->sum.interrupted_ns += row->interrupted_ns;
	group->sum.wait_cpu_ns += row->wait_cpu_ns;
	group->sum.blocked_ns += row->blocked_ns;
	group->nr++;
}

static void group_line(struct grid *grid, const struct trace_analysis *analysis, const struct name_group *group)
{
	char text[2 * NAME_BYTES], name[NAME_BYTES];

	grid_text(grid, "");
	grid_text(grid, "");
	times_cells(grid, analysis, &group->sum);
	snprintf(text, sizeof(text), "%s (%zu more)",
		 text_comm(trace_process_title(group->sum.process), name, sizeof(name)), group->nr);
	grid_text(grid, text);
	grid_text(grid, "");
}

/* Returns the sum of the processes that got no line. */
static struct name_group put_groups(const struct report *report, struct grid *grid, const struct name_groups *groups,
				    size_t *ret_kernel)
{
	struct name_group *list = memory_take(groups->by_name.used, sizeof(*list)), rest = {0};
	const struct name_group *row = NULL;
	uint64_t start, end;
	size_t shown = 0, nr = 0;

	while ((row = table_next(&groups->by_name, sizeof(*row), row)))
		list[nr++] = *row;
	memory_sort(list, nr, sizeof(*list), order_groups, (void *)report);
	trace_analysis_window(report->analysis, &start, &end);
	for (size_t i = 0; i < nr; i++) {
		const struct name_group *group = &list[i];

		if (group->nr > 1 && shown < GROUPS && percent(group_ns(group), end - start) >= WORTH_A_ROW) {
			group_line(grid, report->analysis, group);
			shown++;
			continue;
		}
		rest.nr += group->nr;
		rest.sum.user_ns += group->sum.user_ns;
		rest.sum.system_ns += group->sum.system_ns;
		*ret_kernel += trace_process_is_kernel(group->sum.process) ? group->nr : 0;
	}
	free(list);
	return rest;
}

void report_processes(const struct report *report, const struct process_row *rows, size_t nr)
{
	bool calls = trace_analysis_sees_calls(report->analysis);
	const struct grid_column columns[] = {{"PID", GRID_RIGHT},
					      {"parent", GRID_OPTIONAL},
					      {"elapsed", GRID_RIGHT},
					      {"CPU %", GRID_OPTIONAL},
					      {calls ? "own code" : "on a CPU", GRID_RIGHT},
					      {"kernel", calls ? GRID_RIGHT : GRID_HIDDEN},
					      {"interrupted",
					       has_interrupts(report->analysis) ? GRID_OPTIONAL : GRID_HIDDEN},
					      {"CPU wait", GRID_RIGHT},
					      {"blocked", GRID_RIGHT},
					      {"command", GRID_ELASTIC},
					      {"blocked mostly on", GRID_EXTRA}};
	size_t max = row_limit_max(&report->options->rows, nr, PROCESSES), shown = 0, kernel = 0;
	struct grid *grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
	struct name_groups groups = {0};
	uint64_t cpu_ns;
	struct name_group left;
	char rest[128] = "", title[128];
	struct value_text t;

	snprintf(title, sizeof(title), "Processes%s (%s; off the CPU: CPU wait, blocked):",
		 command_comes_first(report) ? ", the command's first"
		 : nr && rows[0].rank == RANK_ASKED && !has_process_choice(&report->options->processes) &&
				 !report->options->rows.sorted
			 ? ", the recorded one first"
			 : "",
		 calls ? "on a CPU: own code, kernel" : "on a CPU");
	output_title(&report->output, "", title);
	for (size_t i = 0; i < nr; i++) {
		if (!rows[i].folded && shown < max) {
			process_line(grid, report->analysis, &rows[i]);
			shown++;
		} else {
			group_add(&groups, &rows[i]);
		}
	}
	left = put_groups(report, grid, &groups, &kernel);
	cpu_ns = left.sum.user_ns + left.sum.system_ns;
	if (left.nr && !cpu_ns && trace_analysis_is_filtered(report->analysis))
		snprintf(rest, sizeof(rest), "%zu more, not recorded because of the filter; --all shows them", left.nr);
	else if (left.nr)
		snprintf(rest, sizeof(rest), "%zu more, %zu of them kernel threads, used %.30s%sCPU; --all shows them",
			 left.nr, kernel, cpu_ns ? text_ns(&report->output, cpu_ns, &t) : "no", cpu_ns ? " of " : " ");
	grid_end(grid, rest);
	table_clear(&groups.by_name);
	strings_clear(&groups.names);
	fputs("\n", report->output.out);
}
