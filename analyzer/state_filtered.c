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
 * time. A scan before the pass finds these events, and which thread made them: the one that is
 * named before and after them (running_name.h). If one thread of a process passes, all of its
 * threads do.
 *
 * A switch may be missing, because the kernel hides the thread that left the CPU from every tracer.
 * Example: "in: 70" at 5 ms, a system call at 8 ms, and "out: 71" at 9 ms. 70 does not pass, since
 * it would have left the CPU by a recorded switch; so 71 made the call, if other events prove that
 * it passes. If 70 passes as well, it ceased to pass unseen, and the call is of either thread: its
 * maker is unknown. A process that was selected by its number does not cease to pass, and neither
 * do its descendants: then 71 made the call, and the call proves that 71 passes. Behind the last
 * switch of a CPU no event confirms the thread. The thread of that switch made these events, unless
 * the trace shows that switches are missing.
 *
 * A process that changes its user or group may begin to pass, or cease to: sched_ids says so, also
 * of processes that do not pass. A process whose first event is that one did not pass before it:
 * the call that changed its ids would have been recorded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "recorded_masks.h"
#include "running_name.h"
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

bool filtered_slept(const struct process_filter *filter, uint32_t tid)
{
	return filter->is_on && table_find(&filter->woken, sizeof(struct pid_row), tid + 1ull);
}

/* ---- threads that pass ---- */

#define NO_THREAD UINT32_MAX

/** struct scanned_cpu - a CPU in the scan */
struct scanned_cpu {
	uint32_t running;  /* the thread that was named last; NO_THREAD: none */
	uint32_t at_start; /* the thread that the start state saw running there; NO_THREAD: none */
	bool has_own;	   /* a passing thread made events since then */
};

struct filter_scan {
	struct trace_analysis *a;
	struct hash_table pids;	  /* tid + 1 -> pid_row */
	struct scanned_cpu *cpus; /* owned */
	struct hash_table named;  /* tid + 1 -> pid_row: an event has named the thread on its CPU */
	const char *chosen;	  /* the process that was selected by its number; NULL: another filter */
	bool misses_switches;	  /* the trace shows that switches were not recorded */
};

static void put_pid(struct filter_scan *scan, uint32_t tid, uint32_t pid)
{
	((struct pid_row *)acct_row(scan->a, &scan->pids, sizeof(struct pid_row), tid + 1ull))->pid = pid;
}

static uint32_t pid_of(const struct filter_scan *scan, uint32_t tid)
{
	const struct pid_row *row = table_find(&scan->pids, sizeof(*row), tid + 1ull);

	return row ? (uint32_t)row->pid : tid;
}

static void passes(struct filter_scan *scan, uint32_t tid)
{
	if (tid)
		acct_row(scan->a, &scan->a->filter.passing, sizeof(struct pid_row), pid_of(scan, tid) + 1ull);
}

/* The chosen process may never run. */
static void chosen_passes(struct filter_scan *scan)
{
	if (scan->chosen)
		passes(scan, (uint32_t)strtoul(scan->chosen, NULL, 10));
}

/*
 * An event names the thread @tid on the CPU. The numbers of two threads of a process may change
 * places at an exec.
 */
static void scan_name(struct filter_scan *scan, struct scanned_cpu *cpu, uint32_t tid)
{
	bool is_missing = cpu->has_own && cpu->running != NO_THREAD && pid_of(scan, cpu->running) != pid_of(scan, tid);

	scan->misses_switches |= is_missing;
	if (cpu->has_own && (!is_missing || scan->chosen))
		passes(scan, tid);
	cpu->has_own = false;
	cpu->running = tid;
}

/* Behind the event the thread makes events only if it passes. */
static void scan_ids(struct filter_scan *scan, struct scanned_cpu *cpu, const struct trace_sched_ids *ids)
{
	uint64_t key = ids->tgid + 1ull;

	put_pid(scan, ids->tid, ids->tgid);
	scan_name(scan, cpu, ids->tid);
	if (!table_find(&scan->a->filter.passing, sizeof(struct pid_row), key))
		((struct pid_row *)acct_row(scan->a, &scan->a->filter.hidden, sizeof(struct pid_row), key))->pid = 1;
	if (ids->passes)
		passes(scan, ids->tid);
	else
		cpu->running = NO_THREAD;
}

#define NOT_SCANNED ((struct scanned_cpu){.running = NO_THREAD, .at_start = NO_THREAD})

static void scan_halt(struct filter_scan *scan)
{
	for (uint32_t i = 0; i < scan->a->nr_cpus; i++)
		scan->cpus[i] = NOT_SCANNED;
}

/* A thread that is woken before any event names it on a CPU did not run when the trace began. */
static void scan_waking(struct filter_scan *scan, const struct trace_sched_waking *waking)
{
	uint64_t key = waking->tid + 1ull;

	if (!table_find(&scan->named, sizeof(struct pid_row), key))
		acct_row(scan->a, &scan->a->filter.woken, sizeof(struct pid_row), key);
}

static void scan_event(struct filter_scan *scan, const struct trace_event *event)
{
	struct scanned_cpu *cpu = event->cpu < scan->a->nr_cpus ? &scan->cpus[event->cpu] : NULL;
	uint32_t tid;

	if (event->id == TRACE_EV_trace_mask && !is_recorded(event, TRACE_EV_sched_switch))
		scan_halt(scan);
	if (!cpu)
		return;
	if (is_loss_of_switches(event, scan->a->nr_cpus))
		*cpu = NOT_SCANNED;
	if (event->id == TRACE_EV_sched_waking)
		scan_waking(scan, event->payload);
	cpu->has_own |= is_own_event(event);
	if (!running_name(event, &tid))
		return;
	acct_row(scan->a, &scan->named, sizeof(struct pid_row), tid + 1ull);
	if (event->id == TRACE_EV_sched_fork)
		put_pid(scan, ((const struct trace_sched_fork *)event->payload)->tid,
			((const struct trace_sched_fork *)event->payload)->tgid);
	if (event->id == TRACE_EV_sched_ids)
		scan_ids(scan, cpu, event->payload);
	else
		scan_name(scan, cpu, tid);
	if (event->id == TRACE_EV_sched_switch)
		cpu->running = ((const struct trace_sched_switch *)event->payload)->next_tid;
	else if (event->id == TRACE_EV_sched_exec)
		cpu->running = ((const struct trace_sched_exec *)event->payload)->tid;
}

static void scan_start(struct filter_scan *scan, const struct trace_event *event)
{
	const struct trace_start_thread *start = event->payload;

	if (event->id != TRACE_EV_start_thread || event->type->fixed_bytes < sizeof(*start))
		return;
	put_pid(scan, start->tid, start->tgid);
	scan->misses_switches |= (start->flags & TRACE_THREAD_HIDDEN) != 0;
	if (start->running && start->cpu < scan->a->nr_cpus)
		scan->cpus[start->cpu].at_start = start->tid;
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

/* The threads on the CPUs at the end; without a switch, those of the start state never left. */
static void scan_rest(struct filter_scan *scan)
{
	for (uint32_t i = 0; i < scan->a->nr_cpus && !scan->misses_switches; i++) {
		const struct scanned_cpu *cpu = &scan->cpus[i];
		uint32_t tid = cpu->running == NO_THREAD ? cpu->at_start : cpu->running;

		if (cpu->has_own && tid != NO_THREAD)
			passes(scan, tid);
	}
}

static bool scan_new(struct filter_scan *scan, struct trace_analysis *a)
{
	*scan = (struct filter_scan){.a = a, .chosen = trace_string(a->trace, TRACE_STRING_INFO, TRACE_INFO_CHOSEN)};
	scan->cpus = calloc(a->nr_cpus + 1, sizeof(*scan->cpus));
	if (scan->cpus)
		scan_halt(scan);
	return scan->cpus;
}

static void scan_free(struct filter_scan *scan)
{
	free(scan->cpus);
	table_clear(&scan->pids);
	table_clear(&scan->named);
}

int filtered_prepare(struct trace_analysis *a)
{
	struct filter_scan scan;
	int error;

	a->filter.is_on = was_left_out(a->trace, TRACE_LEFT_OUT_PROCESSES);
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
