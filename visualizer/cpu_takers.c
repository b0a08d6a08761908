/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cpu_takers.c - the programs that had a CPU while others waited for it.
 *
 * A script that starts fifteen shells takes CPUs in fifteen processes. Each has a small share, and
 * none of them leads to the script. So processes are added up by title, or by comm if the program
 * wrote the title, and the sum names the process that they come from:
 *
 * 1. Three or more of one title with the same starter are one sum: "15 sh started by hog.sh (812)".
 *    Two are usual: a driver of a compiler, a shell with a pipeline.
 * 2. All others of one title are one sum. They come from their nearest common ancestor, if it is
 *    known and not init: "3 cc1plus under make (500)".
 * 3. On the page of a process its own threads are added up by name: "3 of its threads worker".
 *
 * The control group belongs to a sum if all its processes have it.
 */
#include <stdlib.h>
#include <string.h>
#include "cpu_takers.h"
#include "grid.h"
#include "group_name.h"
#include "row_limit.h"
#include "value_text.h"
#include "wait_text.h"

#define NAME_BYTES 256
#define FAMILY	   3  /* processes of one starter that are a sum of their own */
#define ROWS	   15 /* unless --top or --all choose another number */

/* ---- sums ---- */

/* The name under which the processes of a wait are added up. */
static const char *name_of(const struct trace_cpu_wait *wait)
{
	return wait->process ? process_program(wait->process) : wait->title;
}

/* One of the waits to be added up, and its name_of(). */
struct named_wait {
	const char *name;
	const struct trace_cpu_wait *wait;
};

static uint32_t starter_pid(const struct trace_cpu_wait *wait)
{
	const struct trace_process *starter = wait->process ? trace_process_starter(wait->process) : NULL;

	return starter ? trace_process_pid(starter) : 0;
}

/* @data: the process that stays by itself, or NULL */
static bool is_alone(const struct trace_cpu_wait *wait, const uint32_t *own_pid)
{
	return !wait->process || wait->pid == *own_pid;
}

static int by_thread(const struct trace_thread *left, const struct trace_thread *right)
{
	int order;

	if (!left || !right)
		return (left != NULL) - (right != NULL);
	order = strcmp(trace_thread_comm(left), trace_thread_comm(right));
	if (order)
		return order;
	return trace_thread_tid(left) < trace_thread_tid(right) ? -1 : trace_thread_tid(left) > trace_thread_tid(right);
}

static int by_origin(const void *left, const void *right, void *own_pid)
{
	const struct named_wait *one = left, *other = right;
	const struct trace_cpu_wait *l = one->wait, *r = other->wait;
	int order = (int)is_alone(r, own_pid) - (int)is_alone(l, own_pid);

	if (!order)
		order = strcmp(one->name, other->name);
	if (order)
		return order;
	if (starter_pid(l) != starter_pid(r))
		return starter_pid(l) < starter_pid(r) ? -1 : 1;
	if (l->pid != r->pid)
		return l->pid < r->pid ? -1 : 1;
	return by_thread(l->thread, r->thread);
}

static int longest_first(const void *left, const void *right, void *data)
{
	const struct cpu_taker *l = left, *r = right;
	int order;

	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	order = strcmp(l->first.title, r->first.title);
	return order ? order : l->first.pid < r->first.pid ? -1 : l->first.pid > r->first.pid;
}

static void taker_add(struct cpu_taker *taker, const struct trace_cpu_wait *wait)
{
	const char *cgroup = wait->process ? trace_process_cgroup(wait->process) : NULL;

	if (!taker->nr) {
		taker->first = *wait;
		taker->cgroup = cgroup;
	}
	taker->nr += !taker->nr || wait->pid != taker->last_pid;
	taker->last_pid = wait->pid;
	taker->threads += wait->thread != NULL;
	process_origin_add(&taker->origin, wait->process);
	if (taker->cgroup && (!cgroup || strcmp(taker->cgroup, cgroup) != 0))
		taker->cgroup = NULL;
	taker->ns += wait->ns;
}

/* How many of @waits from the first one on have its title and starter. */
static size_t run_of(const struct named_wait *waits, size_t nr)
{
	size_t run = 1;

	while (run < nr && waits[run].wait->process && starter_pid(waits[run].wait) &&
	       strcmp(waits[run].name, waits->name) == 0 &&
	       trace_process_starter(waits[run].wait->process) == trace_process_starter(waits->wait->process))
		run++;
	return run;
}

/* A process has several waits if its own threads took the CPU from each other. */
static bool are_few(const struct named_wait *waits, size_t nr)
{
	size_t processes = 1;

	for (size_t i = 1; i < nr; i++)
		processes += waits[i].wait->pid != waits[i - 1].wait->pid; /* sorted */
	return processes < FAMILY;
}

/* Sums of the @nr waits of one title; returns their number. */
static size_t add_title(const struct named_wait *waits, size_t nr, struct cpu_taker *list)
{
	struct cpu_taker others = {0};
	size_t sums = 0;

	for (size_t i = 0; i < nr;) {
		size_t run = run_of(&waits[i], nr - i);

		if (are_few(&waits[i], run)) {
			for (; run; run--)
				taker_add(&others, waits[i++].wait);
			continue;
		}
		list[sums] = (struct cpu_taker){0};
		for (; run; run--)
			taker_add(&list[sums], waits[i++].wait);
		sums++;
	}
	if (others.nr)
		list[sums++] = others;
	return sums;
}

static bool are_one_sum(const struct named_wait *one, const struct named_wait *other, uint32_t own_pid)
{
	const struct trace_cpu_wait *l = one->wait, *r = other->wait;

	if (is_alone(l, &own_pid))
		return l->thread && r->thread && r->pid == own_pid &&
		       strcmp(trace_thread_comm(l->thread), trace_thread_comm(r->thread)) == 0;
	return strcmp(one->name, other->name) == 0;
}

struct cpu_taker *cpu_takers(const struct trace_cpu_wait *waits, size_t nr, uint32_t own_pid, size_t *ret_nr)
{
	struct named_wait *sorted = memory_take(nr + 1, sizeof(*sorted));
	struct cpu_taker *list = memory_take(nr + 1, sizeof(*list));
	size_t sums = 0, same;

	for (size_t i = 0; i < nr; i++)
		sorted[i] = (struct named_wait){.name = name_of(&waits[i]), .wait = &waits[i]};
	memory_sort(sorted, nr, sizeof(*sorted), by_origin, &own_pid);
	for (size_t i = 0; i < nr; i += same) {
		same = 1;
		while (i + same < nr && are_one_sum(&sorted[i], &sorted[i + same], own_pid))
			same++;
		sums += add_title(&sorted[i], same, &list[sums]);
	}
	memory_sort(list, sums, sizeof(*list), longest_first, NULL);
	free(sorted);
	*ret_nr = sums;
	return list;
}

/* ---- text ---- */

static void add_programs(struct string *s, const struct cpu_taker *taker)
{
	char name[NAME_BYTES + 32];

	if (taker->nr == 1)
		string_add(s, text_process(taker->first.title, taker->first.pid, name, sizeof(name)));
	else
		string_addf(s, "%zu %s", taker->nr, text_comm(name_of(&taker->first), name, sizeof(name)));
}

void cpu_taker_text(struct string *s, const struct cpu_taker *taker, const char *cgroup)
{
	char name[NAME_BYTES];

	if (is_idle(&taker->first)) {
		string_add(s, "(idle CPU waking up)");
		return;
	}
	if (strcmp(taker->first.title, "several") == 0 && !taker->first.process) {
		string_add(s, "(several, not told apart)");
		return;
	}
	if (!taker->first.process) {
		string_addf(s, "(%s)", text_name(taker->first.title, name, sizeof(name)));
		return;
	}
	add_programs(s, taker);
	if (taker->nr > 1)
		process_origin_text(s, &taker->origin);
	if (cgroup && taker->cgroup && *taker->cgroup && strcmp(cgroup, taker->cgroup) != 0)
		string_addf(s, " in %s", group_name(taker->cgroup, name, sizeof(name)));
}

void cpu_taker_own_text(struct string *s, const struct cpu_taker *taker)
{
	const struct trace_thread *thread = taker->first.thread;
	char name[NAME_BYTES + 32];

	if (!thread)
		string_add(s, "(several of its threads, not told apart)");
	else if (taker->threads == 1)
		string_add(s, text_own_thread(thread, name, sizeof(name)));
	else
		string_addf(s, "%zu of its threads %s", taker->threads,
			    text_comm(trace_thread_comm(thread), name, sizeof(name)));
}

/* ---- the machine ---- */

static bool any_group(const struct cpu_taker *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (list[i].cgroup && *list[i].cgroup && strcmp(list[i].cgroup, "/") != 0)
			return true;
	return false;
}

static void put_taker(struct grid *grid, const struct cpu_taker *taker, uint64_t whole)
{
	char name[NAME_BYTES];
	struct string s = {0};

	grid_ns(grid, taker->ns);
	grid_percent(grid, taker->ns, whole);
	cpu_taker_text(&s, taker, NULL);
	grid_text(grid, string_text(&s));
	grid_text(grid, taker->cgroup ? group_name(taker->cgroup, name, sizeof(name)) : "");
	string_free(&s);
}

void report_takers(const struct report *report, const struct trace_figures *system)
{
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	size_t nr;
	struct cpu_taker *list = cpu_takers(system->wait_cpu_for, system->nr_wait_cpu_for, 0, &nr);
	const struct grid_column columns[] = {{"waited", GRID_RIGHT},
					      {"%", GRID_RIGHT},
					      {"CPU taken by", GRID_ELASTIC},
					      {"control group", any_group(list, nr) ? GRID_EXTRA : GRID_HIDDEN}};
	struct value_text rest;
	struct grid *grid;

	if (nr) {
		output_title(&report->output, "",
			     "Waits for a CPU, by the programs that had it (waited: time of all waiting threads):");
		grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
		for (size_t i = 0; i < nr; i++)
			if (row_limit_shows(&limit, list[i].ns, system->wait_cpu_ns))
				put_taker(grid, &list[i], system->wait_cpu_ns);
		grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
		fputs("\n", report->output.out);
	}
	free(list);
}

void json_takers(struct json *json, const struct trace_figures *system)
{
	size_t nr;
	struct cpu_taker *list = cpu_takers(system->wait_cpu_for, system->nr_wait_cpu_for, 0, &nr);

	json_open(json, "cpu_takers", "[");
	for (size_t i = 0; i < nr; i++) {
		const struct cpu_taker *taker = &list[i];
		const struct trace_process *starter = process_origin(&taker->origin);

		json_open(json, NULL, "{");
		json_text(json, "title", taker->nr == 1 ? taker->first.title : name_of(&taker->first));
		json_u64(json, "processes", taker->first.process ? taker->nr : 0);
		json_u64(json, "pid", taker->nr == 1 ? taker->first.pid : 0);
		json_u64(json, "starter_pid", starter ? trace_process_pid(starter) : 0);
		json_text(json, "starter", starter ? trace_process_title(starter) : "");
		json_bool(json, "started_all", starter && taker->origin.is_direct);
		json_text(json, "cgroup", taker->cgroup ? taker->cgroup : "");
		json_u64(json, "ns", taker->ns);
		json_close(json, "}");
	}
	json_close(json, "]");
	free(list);
}
