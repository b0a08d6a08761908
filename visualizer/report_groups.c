/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_groups.c - the control groups of the processes, and their time.
 *
 * A process that was moved has its time in each of its groups: trace_process_identities() has CPU
 * time, waits for a CPU and blocked time of each. The kinds of its waits are known of the whole
 * process only. They belong to the one group in which it was blocked, if there is only one.
 * Otherwise that blocked time has no kind in the groups ("not told apart"). So the rows add up to
 * the figures of the processes. Processes that the filter left out are in no group.
 */
#include <stdlib.h>
#include <string.h>
#include "checked_memory.h"
#include "grid.h"
#include "group_name.h"
#include "recorded.h"
#include "report_groups.h"
#include "row_limit.h"
#include "value_text.h"

#define ROWS	   20 /* unless --top or --all choose another number */
#define KINDS	   3  /* of waits in a line */
#define NAME_BYTES 256
#define MATTERS	   10 /* percent */
#define MOVED	   "(moved between groups)"

struct groups {
	struct strings paths;
	struct hash_table by_path; /* struct control_group */
};

static struct control_group *group_of(struct groups *groups, const char *path)
{
	struct control_group *group = memory_row(&groups->by_path, sizeof(*group), memory_key(&groups->paths, path));

	group->path = path;
	return group;
}

static void add_kinds(struct control_group *group, const struct process_row *row)
{
	for (int kind = 0; kind < TRACE_NR_WAIT_KINDS; kind++)
		group->kind_ns[kind] += row->kind_ns[kind];
	group->idle_ns += row->idle_ns;
}

static void add_process(struct control_group *group, const struct process_row *row)
{
	group->processes++;
	group->user_ns += row->user_ns;
	group->system_ns += row->system_ns;
	group->interrupted_ns += row->interrupted_ns;
	group->wait_cpu_ns += row->wait_cpu_ns;
	group->blocked_ns += row->blocked_ns;
	add_kinds(group, row);
}

static void add_identity(struct control_group *group, const struct trace_identity *identity, bool is_first)
{
	const struct trace_times *times = &identity->times;

	group->processes += is_first;
	group->user_ns += times->user_ns;
	group->system_ns += times->syscall_ns + times->trap_ns;
	group->interrupted_ns += times->interrupted_ns;
	group->wait_cpu_ns += times->wait_cpu_ns;
	group->blocked_ns += times->blocked_ns;
}

static bool is_first_in_group(const struct trace_identity *list, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (strcmp(list[before].cgroup, list[i].cgroup) == 0)
			return false;
	return true;
}

/* Do the identities have the time of the process? Those of a window have that of the recording. */
static bool adds_up(const struct trace_identity *list, size_t nr, const struct process_row *row)
{
	uint64_t blocked_ns = 0, cpu_ns = 0, wait_cpu_ns = 0;

	for (size_t i = 0; i < nr; i++) {
		blocked_ns += list[i].times.blocked_ns;
		wait_cpu_ns += list[i].times.wait_cpu_ns;
		cpu_ns += list[i].times.user_ns + list[i].times.syscall_ns + list[i].times.trap_ns;
	}
	return blocked_ns == row->blocked_ns && wait_cpu_ns == row->wait_cpu_ns &&
	       cpu_ns == row->user_ns + row->system_ns;
}

static void add_moved(struct groups *groups, const struct trace_identity *list, size_t nr,
		      const struct process_row *row)
{
	const char *blocked_in = NULL;
	bool is_told = true;

	if (!adds_up(list, nr, row)) {
		add_process(group_of(groups, MOVED), row);
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		add_identity(group_of(groups, list[i].cgroup), &list[i], is_first_in_group(list, i));
		if (!list[i].times.blocked_ns)
			continue;
		is_told &= !blocked_in || strcmp(blocked_in, list[i].cgroup) == 0;
		blocked_in = list[i].cgroup;
	}
	if (is_told && blocked_in)
		add_kinds(group_of(groups, blocked_in), row);
	for (size_t i = 0; i < nr && !is_told; i++)
		group_of(groups, list[i].cgroup)->untold_ns += list[i].times.blocked_ns;
}

static bool was_moved(const struct trace_identity *list, size_t nr)
{
	for (size_t i = 1; i < nr; i++)
		if (strcmp(list[i].cgroup, list[0].cgroup) != 0)
			return true;
	return false;
}

static bool is_elsewhere(const void *cgroup, const struct trace_identity *identity)
{
	return strcmp(identity->cgroup, cgroup) != 0;
}

static void add_row(struct groups *groups, const struct report *report, const struct process_row *row)
{
	const char *cgroup = trace_process_cgroup(row->process);
	struct trace_identity *list;
	size_t nr = 0;

	if (!trace_process_ever_was(row->process, is_elsewhere, cgroup)) {
		add_process(group_of(groups, cgroup), row);
		return;
	}
	list = trace_process_identities(report->analysis, row->process, &nr);
	if (!list)
		memory_end();
	if (was_moved(list, nr))
		add_moved(groups, list, nr, row);
	else
		add_process(group_of(groups, cgroup), row);
	free(list);
}

static int busiest_first(const void *left, const void *right, void *data)
{
	const struct control_group *l = left, *r = right;
	uint64_t left_ns = l->user_ns + l->system_ns, right_ns = r->user_ns + r->system_ns;

	if (left_ns != right_ns)
		return left_ns > right_ns ? -1 : 1;
	return strcmp(l->path, r->path);
}

struct control_group *control_groups(const struct report *report, const struct process_row *rows, size_t nr,
				     size_t *ret_nr)
{
	const struct control_group *group = NULL;
	struct groups groups = {0};
	struct control_group *list, *at;

	for (size_t i = 0; i < nr; i++)
		if (rows[i].rank != RANK_NOT_RECORDED)
			add_row(&groups, report, &rows[i]);
	at = list = memory_take(groups.by_path.used + 1, sizeof(*list));
	while ((group = table_next(&groups.by_path, sizeof(*group), group)))
		*at++ = *group;
	*ret_nr = (size_t)(at - list);
	memory_sort(list, *ret_nr, sizeof(*list), busiest_first, NULL);
	table_clear(&groups.by_path);
	strings_clear(&groups.paths);
	return list;
}

/* ---- text ---- */

static void add_kind(struct string *s, const struct control_group *group, const char *name, uint64_t ns)
{
	if (ns)
		string_addf(s, "%s%s %.0f %%", s->len ? ", " : "", name, percent(ns, group->blocked_ns));
}

/* "file 60 %, timeout 30 %, idle 10 %" */
static void kinds_text(struct string *s, const struct control_group *group)
{
	uint64_t left[TRACE_NR_WAIT_KINDS];

	memcpy(left, group->kind_ns, sizeof(left));
	left[TRACE_WAIT_QUOTA] = 0; /* has a column */
	for (int nr = 0; nr < KINDS; nr++) {
		int most = 0;

		for (int kind = 1; kind < TRACE_NR_WAIT_KINDS; kind++)
			most = left[kind] > left[most] ? kind : most;
		if (percent(left[most], group->blocked_ns) < 1)
			break;
		add_kind(s, group, trace_wait_kind_name((enum trace_wait_kind)most), left[most]);
		left[most] = 0;
	}
	add_kind(s, group, "idle", group->idle_ns);
	add_kind(s, group, "not told apart", group->untold_ns);
}

/* Two groups may have one name, such as units of two users: then both have their paths. */
static bool is_unique(const struct control_group *list, size_t nr, const char *name)
{
	char other[NAME_BYTES];
	size_t same = 0;

	for (size_t i = 0; i < nr; i++)
		same += strcmp(group_name(list[i].path, other, sizeof(other)), name) == 0;
	return same < 2;
}

static void put_group(struct grid *grid, const struct control_group *list, size_t nr, const struct control_group *group,
		      uint64_t cpus_ns)
{
	char name[NAME_BYTES];
	struct string kinds = {0};

	grid_count(grid, group->processes);
	grid_ns(grid, group->user_ns + group->system_ns);
	grid_percent(grid, group->user_ns + group->system_ns, cpus_ns);
	grid_ns(grid, group->wait_cpu_ns);
	grid_ns(grid, group->kind_ns[TRACE_WAIT_QUOTA]);
	grid_ns(grid, group->blocked_ns - group->kind_ns[TRACE_WAIT_QUOTA]);
	group_name(group->path, name, sizeof(name));
	grid_text(grid, is_unique(list, nr, name) ? name : text_name(group->path, name, sizeof(name)));
	kinds_text(&kinds, group);
	grid_text(grid, string_text(&kinds));
	string_free(&kinds);
}

void report_groups(const struct report *report, const struct process_row *rows, size_t nr)
{
	static const struct grid_column columns[] = {{"processes", GRID_RIGHT}, {"CPU", GRID_RIGHT},
						     {"%", GRID_RIGHT},		{"CPU wait", GRID_RIGHT},
						     {"quota", GRID_RARE},	{"blocked", GRID_RIGHT},
						     {"group", GRID_ELASTIC},	{"blocked on", GRID_EXTRA}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	size_t nr_groups;
	struct control_group *list = control_groups(report, rows, nr, &nr_groups);
	uint64_t cpu_ns = 0;
	struct value_text rest;
	struct grid *grid;

	for (size_t i = 0; i < nr_groups; i++)
		cpu_ns += list[i].user_ns + list[i].system_ns;
	if (nr_groups > 1 || (nr_groups && report->options->sections)) {
		output_title(&report->output, "",
			     "Control groups (systemd units, containers; % of their CPU time; quota: the CPU quota was "
			     "used up):");
		grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
		for (size_t i = 0; i < nr_groups; i++)
			if (row_limit_shows_if(&limit, true, list[i].user_ns + list[i].system_ns))
				put_group(grid, list, nr_groups, &list[i], cpu_ns);
		grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
		fputs("\n", report->output.out);
	}
	free(list);
}

/* ---- the sentence ---- */

static const struct control_group *most_quota(const struct control_group *list, size_t nr)
{
	const struct control_group *most = list;

	for (size_t i = 1; i < nr; i++)
		if (list[i].kind_ns[TRACE_WAIT_QUOTA] > most->kind_ns[TRACE_WAIT_QUOTA])
			most = &list[i];
	return most;
}

void groups_sentence(struct string *s, const struct report *report, const struct process_row *rows, size_t nr)
{
	size_t nr_groups;
	struct control_group *list = control_groups(report, rows, nr, &nr_groups);
	const struct control_group *quota = most_quota(list, nr_groups);
	uint64_t quota_ns = quota->kind_ns[TRACE_WAIT_QUOTA], busiest_ns = list->user_ns + list->system_ns, cpu_ns = 0,
		 others_ns = 0;
	char name[NAME_BYTES];
	struct value_text time;

	for (size_t i = 0; i < nr_groups; i++) {
		cpu_ns += list[i].user_ns + list[i].system_ns;
		others_ns += i ? list[i].wait_cpu_ns : 0;
	}
	if (nr_groups > 1 && percent(quota_ns, quota->user_ns + quota->system_ns + quota_ns) >= MATTERS)
		string_addf(s,
			    "Control group %s used up its CPU quota: threads waited %s for it; more: --section=groups",
			    group_name(quota->path, name, sizeof(name)), text_ns(&report->output, quota_ns, &time));
	else if (nr_groups > 1 && strcmp(list->path, "/") != 0 && busiest_ns >= cpu_ns - busiest_ns &&
		 percent(others_ns, cpu_ns) >= MATTERS)
		string_addf(s,
			    "Control group %s had %.0f %% of the CPU time, and threads of others waited %s for a CPU; "
			    "more: --section=groups",
			    group_name(list->path, name, sizeof(name)), percent(busiest_ns, cpu_ns),
			    text_ns(&report->output, others_ns, &time));
	free(list);
}

/* ---- JSON ---- */

void json_groups(struct json *json, const struct report *report, const struct process_row *rows, size_t nr)
{
	bool scheduling = has_scheduling(report->analysis),
	     calls = scheduling && trace_analysis_sees_calls(report->analysis);
	char name[NAME_BYTES];
	size_t nr_groups;
	struct control_group *list = control_groups(report, rows, nr, &nr_groups);

	json_open(json, "groups", "[");
	for (size_t i = 0; i < nr_groups; i++) {
		const struct control_group *group = &list[i];

		json_open(json, NULL, "{");
		json_text(json, "cgroup", group->path);
		json_text(json, "name", group_name(group->path, name, sizeof(name)));
		json_u64(json, "processes", group->processes);
		json_known(json, "cpu_ns", group->user_ns + group->system_ns, scheduling);
		json_known(json, "user_ns", group->user_ns, calls);
		json_known(json, "system_ns", group->system_ns, calls);
		json_known(json, "interrupted_ns", group->interrupted_ns,
			   scheduling && has_interrupts(report->analysis));
		json_known(json, "wait_cpu_ns", group->wait_cpu_ns, scheduling);
		json_known(json, "blocked_ns", group->blocked_ns, scheduling);
		json_open(json, "waits", "{");
		for (int kind = 0; kind < TRACE_NR_WAIT_KINDS; kind++)
			json_u64(json, trace_wait_kind_name((enum trace_wait_kind)kind), group->kind_ns[kind]);
		json_u64(json, "idle", group->idle_ns);
		json_u64(json, "not_told_apart", group->untold_ns);
		json_close(json, "}");
		json_close(json, "}");
	}
	json_close(json, "]");
	free(list);
}
