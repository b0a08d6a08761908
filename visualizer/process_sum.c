/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process_sum.c - the figures of several processes, added up. */
#include <stdlib.h>
#include <string.h>
#include "checked_figures.h"
#include "process_sum.h"
#include "thread_choice.h"
#include "wait_text.h"

struct summed_wait {
	uint64_t key; /* wait_key() */
	struct trace_wait wait;
};

struct summed_own {
	uint64_t key; /* own_key() */
	struct own_wait wait;
};

struct summed_holder {
	uint64_t key; /* holder_key() */
	struct trace_cpu_wait wait;
};

static uint64_t pid_key(uint32_t pid)
{
	return pid + 1ull;
}

/* The address of a thread is even. */
static uint64_t own_key(const struct trace_wait *wait)
{
	return (uintptr_t)wait->thread + wait->idle + 1;
}

/* Own threads have rows of their own. The address of a thread is no pid. */
static uint64_t holder_key(const struct trace_cpu_wait *holder)
{
	return holder->thread ? (uintptr_t)holder->thread : pid_key(holder->pid);
}

static bool has_pid(const struct process_sum *sum, uint32_t pid)
{
	return table_find(&sum->pids, sizeof(uint64_t), pid_key(pid));
}

/*
 * Waits for processes of one name have one row, but the chosen processes have a row of their own.
 * Where the pids differ, the sum has pid 0; where the means differ, via "".
 */
static uint64_t wait_key(struct process_sum *sum, const struct trace_wait *wait, bool own)
{
	uint64_t target = memory_key(&sum->targets, wait->target), rest;

	rest = wait->kind == TRACE_WAIT_PROCESS ? own : memory_key(&sum->vias, wait->via);
	return target << 32 | rest << 8 | (uint64_t)wait->kind << 1 | wait->idle;
}

static void merge_wait(struct trace_wait *sum, const struct trace_wait *wait)
{
	if (sum->pid != wait->pid)
		sum->pid = 0;
	if (strcmp(sum->via, wait->via) != 0)
		sum->via = "";
	if (sum->thread != wait->thread)
		sum->thread = NULL;
	if (sum->path != wait->path)
		sum->path = "";
	sum->ns += wait->ns;
}

static void add_own(struct process_sum *sum, const struct trace_wait *wait)
{
	struct summed_own *row = memory_row(&sum->own_by_thread, sizeof(*row), own_key(wait));

	row->wait.thread = wait->thread;
	row->wait.idle = wait->idle;
	row->wait.ns += wait->ns;
}

static void sum_waits(struct process_sum *sum, const struct trace_figures *f)
{
	for (size_t i = 0; i < f->nr_waits; i++) {
		const struct trace_wait *wait = &f->waits[i];
		bool own = has_pid(sum, wait->pid);
		struct summed_wait *row;

		if (wait->kind == TRACE_WAIT_PROCESS && sum->nr > 1 && own) {
			sum->among_ns += wait->ns;
			continue;
		}
		if (wait->kind == TRACE_WAIT_PROCESS && own)
			add_own(sum, wait);
		row = memory_row(&sum->waits_by_target, sizeof(*row), wait_key(sum, wait, own));
		if (row->wait.target)
			merge_wait(&row->wait, wait);
		else
			row->wait = *wait;
	}
}

static void sum_holders(struct process_sum *sum, const struct trace_figures *f)
{
	for (size_t i = 0; i < f->nr_wait_cpu_for; i++) {
		const struct trace_cpu_wait *holder = &f->wait_cpu_for[i];
		struct summed_holder *row;

		if ((!holder->pid && !is_idle(holder)) || (sum->nr > 1 && has_pid(sum, holder->pid)))
			continue;
		row = memory_row(&sum->holders_by_pid, sizeof(*row), holder_key(holder));
		if (row->wait.comm)
			row->wait.ns += holder->ns;
		else
			row->wait = *holder;
	}
}

static int order_waits(const void *left, const void *right, void *data)
{
	const struct trace_wait *l = left, *r = right;

	if (l->idle != r->idle) /* a rest needs no explanation, so it is named last */
		return l->idle ? 1 : -1;
	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	return l->kind != r->kind ? (l->kind < r->kind ? -1 : 1) : strcmp(l->target, r->target);
}

static int order_own(const void *left, const void *right, void *data)
{
	const struct own_wait *l = left, *r = right;

	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	if (!l->thread || !r->thread)
		return (l->thread != NULL) - (r->thread != NULL);
	return trace_thread_index(l->thread) < trace_thread_index(r->thread) ? -1 : 1;
}

static int order_holders(const void *left, const void *right, void *data)
{
	const struct trace_cpu_wait *l = left, *r = right;

	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	return l->pid < r->pid ? -1 : l->pid > r->pid;
}

static void sum_add(struct process_sum *sum, const struct report *report, const struct trace_process *process)
{
	struct trace_figures *f = chosen_figures(report, process);

	if (process == report->command.process)
		command_subtract_recorder_wait(&report->command, f);
	sum->elapsed_ns += f->elapsed_ns;
	sum->user_ns += f->user_ns;
	sum->system_ns += f->syscall_ns + f->trap_ns;
	sum->interrupted_ns += f->interrupted_ns;
	sum->wait_cpu_ns += f->wait_cpu_ns;
	sum->blocked_ns += f->blocked_ns;
	sum->probe_hits += f->probe_hits;
	sum->probe_ns += f->probe_ns;
	sum->event_records += f->event_records;
	sum->event_ns += f->event_ns;
	sum->threads += chosen_threads(report, process);
	sum_waits(sum, f);
	sum_holders(sum, f);
	trace_figures_free(f);
}

static void sum_sort(struct process_sum *sum)
{
	const struct summed_wait *wait = NULL;
	const struct summed_own *own = NULL;
	const struct summed_holder *holder = NULL;

	sum->waits = memory_take(sum->waits_by_target.used, sizeof(*sum->waits));
	while ((wait = table_next(&sum->waits_by_target, sizeof(*wait), wait)))
		sum->waits[sum->nr_waits++] = wait->wait;
	sum->own = memory_take(sum->own_by_thread.used, sizeof(*sum->own));
	while ((own = table_next(&sum->own_by_thread, sizeof(*own), own)))
		sum->own[sum->nr_own++] = own->wait;
	sum->holders = memory_take(sum->holders_by_pid.used, sizeof(*sum->holders));
	while ((holder = table_next(&sum->holders_by_pid, sizeof(*holder), holder)))
		sum->holders[sum->nr_holders++] = holder->wait;
	memory_sort(sum->waits, sum->nr_waits, sizeof(*sum->waits), order_waits, NULL);
	memory_sort(sum->own, sum->nr_own, sizeof(*sum->own), order_own, NULL);
	memory_sort(sum->holders, sum->nr_holders, sizeof(*sum->holders), order_holders, NULL);
}

struct process_sum process_sum_new(const struct report *report, const struct pointers *processes)
{
	struct process_sum sum = {.nr = processes->nr};

	for (size_t i = 0; i < processes->nr; i++)
		memory_row(&sum.pids, sizeof(uint64_t), pid_key(trace_process_pid(processes->at[i])));
	for (size_t i = 0; i < processes->nr; i++)
		sum_add(&sum, report, processes->at[i]);
	sum_sort(&sum);
	return sum;
}

void process_sum_clear(struct process_sum *sum)
{
	table_clear(&sum->pids);
	table_clear(&sum->waits_by_target);
	table_clear(&sum->own_by_thread);
	table_clear(&sum->holders_by_pid);
	strings_clear(&sum->targets);
	strings_clear(&sum->vias);
	free(sum->waits);
	free(sum->own);
	free(sum->holders);
}
