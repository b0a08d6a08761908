/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_filtered.c - recordings of some processes only (-P, --follow, -G, -u, -g)
 *
 * An event passes the filter if the running thread does, or if it is a switch or wakeup of a thread
 * that passes. For other threads the trace has only the switches to and from passing threads. Their
 * work is not recorded, nor is the thread on a CPU until the next passing thread runs there. All
 * time of these threads is unknown, and so is the CPU's time without a passing thread, even if the
 * CPU seems to become idle.
 *
 * The trace names a passing process only if the user chose it by its number. But a passing thread
 * that runs leaves events that no other thread can: a system call, a fault, an interrupt in its
 * time. A scan before the pass finds these events. If one thread of a process passes, all of its
 * threads do.
 *
 * A process that changes its user or group may begin to pass, or cease to: sched_ids says so, also
 * of processes that do not pass. A process whose first event is that one did not pass before it:
 * the call that changed its ids would have been recorded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "recorded_masks.h"
#include "state.h"
#include "state_filtered.h"

struct pid_row {
	uint64_t key;
	uint64_t pid;
};

void filtered_hide(struct trace_analysis *a, const struct trace_process *process, bool hides)
{
	((struct pid_row *)acct_row(a, &a->filter.hidden, sizeof(struct pid_row), process->pid + 1ull))->pid = hides;
}

bool filtered_hides(const struct process_filter *filter, const struct trace_process *process)
{
	const struct pid_row *hidden;

	if (!filter->is_on)
		return false;
	hidden = table_find(&filter->hidden, sizeof(*hidden), process->pid + 1ull);
	return (hidden && hidden->pid) || !table_find(&filter->passing, sizeof(struct pid_row), process->pid + 1ull);
}

/* ---- threads that pass ---- */

#define NO_THREAD UINT32_MAX

struct filter_scan {
	struct trace_analysis *a;
	struct hash_table pids; /* tid + 1 -> pid_row */
	uint32_t *running;	/* owned; by CPU; UINT32_MAX: not known yet */
	/* owned; by CPU: the thread that the start state saw running there; UINT32_MAX: none */
	uint32_t *at_start;
	bool *has_passed; /* owned; by CPU: the thread before the first switch passes */
};

static void put_pid(struct filter_scan *scan, uint32_t tid, uint32_t pid)
{
	((struct pid_row *)acct_row(scan->a, &scan->pids, sizeof(struct pid_row), tid + 1ull))->pid = pid;
}

static void passes(struct filter_scan *scan, uint32_t tid)
{
	const struct pid_row *row = table_find(&scan->pids, sizeof(*row), tid + 1ull);

	if (tid)
		acct_row(scan->a, &scan->a->filter.passing, sizeof(struct pid_row), (row ? row->pid : tid) + 1ull);
}

/* The chosen process may never run. */
static void chosen_passes(struct filter_scan *scan)
{
	const char *chosen = trace_string(scan->a->trace, TRACE_STRING_INFO, TRACE_INFO_CHOSEN);

	if (chosen)
		passes(scan, (uint32_t)strtoul(chosen, NULL, 10));
}

/*
 * Does @event belong to the thread on the CPU and to no other one? Scheduler events and signals may
 * concern another thread that passes.
 */
static bool is_own(const struct trace_event *event)
{
	if (!event->type || event->id < TRACE_EV_sys_enter || event->id == TRACE_EV_sched_ids)
		return false;
	if (event->id >= TRACE_EV_MAX)
		return !(event->type->flags & TRACE_EVENT_TID); /* the event of a probe */
	if (event->type->category == TRACE_CATEGORY_SCHED)
		return event->id == TRACE_EV_sched_exec;
	return event->type->category != TRACE_CATEGORY_IPC && event->type->category != TRACE_CATEGORY_USER;
}

static void scan_switch(struct filter_scan *scan, uint32_t cpu, const struct trace_sched_switch *sw)
{
	if (scan->has_passed[cpu])
		passes(scan, sw->prev_tid);
	scan->has_passed[cpu] = false;
	scan->running[cpu] = sw->next_tid;
}

static void scan_ids(struct filter_scan *scan, uint32_t cpu, const struct trace_sched_ids *ids)
{
	uint64_t key = ids->tgid + 1ull;

	put_pid(scan, ids->tid, ids->tgid);
	if (scan->has_passed[cpu] && scan->running[cpu] == NO_THREAD)
		passes(scan, ids->tid); /* the events before it on this CPU */
	if (!table_find(&scan->a->filter.passing, sizeof(struct pid_row), key))
		((struct pid_row *)acct_row(scan->a, &scan->a->filter.hidden, sizeof(struct pid_row), key))->pid = 1;
	if (ids->passes)
		passes(scan, ids->tid);
}

static void scan_event(struct filter_scan *scan, const struct trace_event *event)
{
	if (event->cpu >= scan->a->nr_cpus)
		return;
	if (event->id == TRACE_EV_sched_switch && scan->a->handlers[TRACE_EV_sched_switch])
		scan_switch(scan, event->cpu, event->payload);
	else if (event->id == TRACE_EV_sched_fork && scan->a->handlers[TRACE_EV_sched_fork])
		put_pid(scan, ((const struct trace_sched_fork *)event->payload)->tid,
			((const struct trace_sched_fork *)event->payload)->tgid);
	else if (event->id == TRACE_EV_sched_ids && scan->a->handlers[TRACE_EV_sched_ids])
		scan_ids(scan, event->cpu, event->payload);
	else if (is_own(event) && scan->running[event->cpu] == NO_THREAD)
		scan->has_passed[event->cpu] = true; /* the first switch gives the thread */
	else if (is_own(event))
		passes(scan, scan->running[event->cpu]);
}

static void scan_start(struct filter_scan *scan, const struct trace_event *event)
{
	const struct trace_start_thread *start = event->payload;

	if (event->id != TRACE_EV_start_thread || event->type->fixed_bytes < sizeof(*start))
		return;
	put_pid(scan, start->tid, start->tgid);
	if (start->running && start->cpu < scan->a->nr_cpus)
		scan->at_start[start->cpu] = start->tid;
}

static int scan_all(struct filter_scan *scan, bool start_state,
		    void (*each)(struct filter_scan *, const struct trace_event *))
{
	struct trace_cursor_options options = {.size = sizeof(options),
					       .start_state = start_state,
					       .decode_ahead = start_state ? 0 : 4};
	struct trace_cursor *cursor = trace_cursor_new(scan->a->trace, &options, NULL);
	const struct trace_event *event;

	if (!cursor)
		return -ENOMEM;
	while ((event = trace_cursor_next(cursor)))
		each(scan, event);
	return pass_end(cursor);
}

/* No switch named the thread on these CPUs: it is the one of the start state, which never left. */
static void scan_rest(struct filter_scan *scan)
{
	for (uint32_t i = 0; i < scan->a->nr_cpus; i++)
		if (scan->has_passed[i] && scan->at_start[i] != NO_THREAD)
			passes(scan, scan->at_start[i]);
}

static bool scan_new(struct filter_scan *scan, struct trace_analysis *a)
{
	*scan = (struct filter_scan){.a = a};
	scan->running = malloc((a->nr_cpus + 1) * sizeof(*scan->running));
	scan->at_start = malloc((a->nr_cpus + 1) * sizeof(*scan->at_start));
	scan->has_passed = calloc(a->nr_cpus + 1, sizeof(*scan->has_passed));
	if (!scan->running || !scan->at_start || !scan->has_passed)
		return false;
	for (uint32_t i = 0; i < a->nr_cpus; i++)
		scan->running[i] = scan->at_start[i] = NO_THREAD;
	return true;
}

static void scan_free(struct filter_scan *scan)
{
	free(scan->running);
	free(scan->at_start);
	free(scan->has_passed);
	table_clear(&scan->pids);
}

int filtered_prepare(struct trace_analysis *a)
{
	struct filter_scan scan;
	int error;

	a->filter.is_on = is_left_out(a->trace, TRACE_LEFT_OUT_PROCESSES);
	if (!a->filter.is_on)
		return 0;
	error = scan_new(&scan, a) ? 0 : -ENOMEM;
	if (!error)
		error = scan_all(&scan, true, scan_start);
	if (!error)
		error = scan_all(&scan, false, scan_event);
	if (!error) {
		scan_rest(&scan);
		chosen_passes(&scan);
	}
	scan_free(&scan);
	return error;
}
