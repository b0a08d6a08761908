/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_start.c - the start state, and the thread on each CPU at the first event
 *
 * The recorder reads the start state a moment after the first events. The scheduling state in it is
 * therefore a hint, which the thread's first event overrules (SCHED_OFF_AT_START, state_sched.c).
 * Files and mappings are taken as they were read (start_records.c).
 *
 * The first event on a CPU that names the current thread gives the thread at the start. That event
 * may come late. A cursor for this CPU and these event types finds it before the pass. A CPU
 * without such an event has the thread that the start state saw running on it, or it is idle.
 *
 * Example: the pass begins at 0 ms, and the first switch on CPU 3 at 40 ms says "out: 70". Thread
 * 70 had CPU 3 from 0 ms on, although the start state, read at 5 ms, may have seen it on CPU 1.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "call_file.h"
#include "hidden_runs.h"
#include "kernel_numbers.h"
#include "listeners.h"
#include "running_name.h"
#include "slice_log.h"
#include "start_changes.h"
#include "start_missing.h"
#include "start_reads.h"
#include "start_records.h"
#include "state.h"
#include "state_frame.h"
#include "state_identity.h"
#include "state_close.h"
#include "state_container.h"
#include "state_life.h"
#include "state_lost.h"
#include "state_socket.h"
#include "state_start.h"

static void load_event(struct trace_analysis *a, const struct trace_event *event)
{
	if (event->id < TRACE_EV_MAX)
		a->counts[event->id]++;
	start_record_apply(a, event);
}

/*
 * Threads share the descriptors and the memory of the owner, except those with a record of their
 * own descriptors.
 */
static void share_with_threads(struct trace_analysis *a)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++) {
		struct trace_thread *owner = process_owner(&a->threads, a->threads.processes[i]);

		cgroup_put(a, a->threads.processes[i], a->threads.processes[i]->cgroup);
		family_join(a, a->threads.processes[i]);
		a->threads.nr_fatherless += a->threads.processes[i]->ppid && !a->threads.processes[i]->parent &&
					    !a->filter.is_on;
		if (owner && !owner->fds)
			owner->fds = fds_copy(a, NULL);
		if (owner && !owner->memory)
			owner->memory = memory_new(a);
		if (owner && !owner->directories)
			owner->directories = directories_new(a);
		for (struct trace_thread *thread = a->threads.processes[i]->first; thread; thread = thread->next) {
			if (thread != owner) {
				if (!thread->fds)
					thread->fds = fds_ref(owner->fds);
				thread->memory = memory_ref(owner->memory);
				thread->directories = directories_ref(owner->directories);
			}
		}
	}
}

/* All files at the start are known now. */
static void name_files_of_calls(struct trace_analysis *a)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		for (struct trace_thread *thread = a->threads.processes[i]->first; thread; thread = thread->next)
			thread->frames[0].file = call_file(a, thread, &thread->frames[0]);
}

static void start_damaged(void *analysis, const struct trace_gap *gap)
{
	((struct trace_analysis *)analysis)->start_lost += gap->lost;
}

static int load_start_state(struct trace_analysis *a, struct trace_error *ret_error)
{
	struct trace_cursor_options options = {
		.size = sizeof(options), .start_state = true, .damaged = start_damaged, .damaged_data = a};
	struct trace_cursor *cursor = trace_cursor_new(a->trace, &options, ret_error);
	const struct trace_event *event;
	int error;

	if (!cursor)
		return -ENOMEM;
	while ((event = trace_cursor_next(cursor)))
		load_event(a, event);
	error = trace_cursor_end(cursor, &a->start_damage); /* no other pass reads these chunks */
	if (error && error != -EBADMSG)
		return error;
	share_with_threads(a);
	hidden_start_complete(a);
	return 0;
}

/* ---- the thread on each CPU ---- */

static void put_on_cpu(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread)
{
	if (!thread || thread->sched_state != SCHED_OFF_AT_START)
		return;
	cpu_take(a, cpu, thread);
}

bool first_thread_find(const struct trace_analysis *a, struct first_thread *first, const struct trace_event *event)
{
	/* at exec, sched_ids comes before the event that has the number from before */
	if ((a->filter.is_on || event->id != TRACE_EV_sched_ids) && running_name(event, &first->tid)) {
		first->kind = FIRST_NAMED;
	} else if (is_loss_of_cpu(a, event) && event->ts_ns > a->start_ns) {
		first->kind = FIRST_LOST;
		first->lost_ns = ((const struct trace_trace_lost *)event->payload)->from_ns;
	}
	return first->kind != FIRST_NOTHING;
}

static int look_ahead(struct trace_analysis *a, uint32_t cpu, struct first_thread *ret_first,
		      struct trace_error *ret_error)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {
		.size = sizeof(options), .from_ns = a->start_ns, .mask = mask, .cpus = &cpu, .nr_cpus = 1};
	struct trace_cursor *cursor;
	const struct trace_event *event;

	running_name_mask(mask);
	mask[TRACE_EV_trace_lost / 64] |= 1ull << TRACE_EV_trace_lost % 64;
	cursor = trace_cursor_new(a->trace, &options, ret_error);
	if (!cursor)
		return -ENOMEM;
	while ((event = trace_cursor_next(cursor)) && !first_thread_find(a, ret_first, event))
		;
	return pass_end(cursor);
}

static void find_running(const struct trace_analysis *a, struct first_thread *firsts)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		for (struct trace_thread *thread = a->threads.processes[i]->first; thread; thread = thread->next) {
			struct first_thread *first = &firsts[thread->cpu];

			if (thread->sched_state == SCHED_OFF_AT_START && (thread->flags & THREAD_RAN_AT_START) &&
			    !first->running && (first->kind != FIRST_LOST || thread->read_ns <= first->lost_ns))
				first->running = thread;
		}
}

static void find_current(struct trace_analysis *a, struct cpu *cpu, const struct first_thread *first)
{
	if (first->kind != FIRST_LOST && !a->filter.is_on)
		cpu->current = &cpu->idle;
	if (first->kind == FIRST_NAMED && filtered_slept(&a->filter, first->tid))
		cpu->current = NULL; /* the switch to it is missing */
	else if (first->kind == FIRST_NAMED)
		put_on_cpu(a, cpu, first->tid ? thread_get(a, first->tid) : NULL);
	else
		put_on_cpu(a, cpu, first->running);
	slice_log_begin(a, cpu, a->start_ns);
}

/* ---- events from before the window of a flight recorder ---- */

/*
 * Events that name their own subject, since the thread on the CPU is not known at that time; and
 * events that concern no thread.
 */
static const uint32_t older_ids[] = {TRACE_EV_sched_fork,  TRACE_EV_sched_exec,	   TRACE_EV_sched_exit,
				     TRACE_EV_sched_free,  TRACE_EV_sched_comm,	   TRACE_EV_sched_ids,
				     TRACE_EV_sched_adopt, TRACE_EV_cgroup_attach, TRACE_EV_user_stream,
				     TRACE_EV_fs_exec,	   TRACE_EV_fs_dir,	   TRACE_EV_sched_args,
				     TRACE_EV_fs_layer};

/* Returns 0 if the event concerns no thread. */
static uint32_t older_tid(const struct trace_event *event)
{
	switch (event->id) {
	case TRACE_EV_sched_fork:
		return ((const struct trace_sched_fork *)event->payload)->tid;
	case TRACE_EV_sched_exec:
		return ((const struct trace_sched_exec *)event->payload)->tid;
	case TRACE_EV_sched_exit:
		return ((const struct trace_sched_exit *)event->payload)->tid;
	case TRACE_EV_sched_free:
		return ((const struct trace_sched_free *)event->payload)->tid;
	case TRACE_EV_sched_comm:
		return ((const struct trace_sched_comm *)event->payload)->tid;
	case TRACE_EV_sched_ids:
		return ((const struct trace_sched_ids *)event->payload)->tid;
	case TRACE_EV_sched_adopt:
		return ((const struct trace_sched_adopt *)event->payload)->parent;
	case TRACE_EV_cgroup_attach:
		return ((const struct trace_cgroup_attach *)event->payload)->tid;
	case TRACE_EV_sched_args:
		return ((const struct trace_sched_args *)event->payload)->tid;
	case TRACE_EV_fs_exec:
		return ((const struct trace_fs_exec *)event->payload)->tid;
	case TRACE_EV_fs_dir:
		return ((const struct trace_fs_dir *)event->payload)->tid;
	default:
		return 0;
	}
}

/* When the start state was read later, the number may have been another thread's. */
static void load_older(struct trace_analysis *a, const struct trace_event *event)
{
	event_handler *handler = a->handlers[event->id]; /* NULL: the event type is too short */
	struct trace_thread *thread;

	if (!handler || event->cpu >= a->nr_cpus)
		return;
	thread = thread_find(&a->threads, older_tid(event));
	if (thread && (thread->flags & THREAD_FROM_START)) {
		if (!start_read_is_outdated(a, thread->read_ns) || event->ts_ns <= thread->read_ns)
			return;
		thread->flags &= ~THREAD_FROM_START;
	}
	handler(a, &a->cpus[event->cpu], a->start_ns, event);
}

static bool is_first(const struct trace_analysis *a, const struct first_thread *firsts, uint32_t tid)
{
	for (uint32_t i = 0; i < a->nr_cpus; i++)
		if (firsts[i].kind == FIRST_NAMED && firsts[i].tid == tid)
			return true;
	return false;
}

/*
 * Ends threads that exited before the window, except one that is still on a CPU. Their sched_free
 * comes later, after the parent has waited for them or their last user is gone.
 */
static void end_exited(struct trace_analysis *a, const struct first_thread *firsts)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		for (struct trace_thread *thread = a->threads.processes[i]->first; thread; thread = thread->next)
			if ((thread->flags & THREAD_EXITING) && !(thread->flags & THREAD_FROM_START) &&
			    !is_first(a, firsts, thread->tid))
				thread_end(a, thread, a->start_ns);
}

static bool died_before_window(const struct trace_thread *thread)
{
	return thread->sched_state == SCHED_DEAD && !(thread->flags & THREAD_FROM_START);
}

static bool all_died_before_window(const struct trace_process *process)
{
	for (const struct trace_thread *thread = process->first; thread; thread = thread->next)
		if (!died_before_window(thread))
			return false;
	return true;
}

/* Drops processes that have no thread, or only threads that were dead before the window. */
static void drop_dead_processes(struct trace_analysis *a)
{
	uint32_t nr = NR_PSEUDO_PROCESSES, nr_before = a->threads.nr_processes;

	for (uint32_t i = NR_PSEUDO_PROCESSES; i < nr_before; i++) {
		struct trace_process *process = a->threads.processes[i];

		process_renumber(a, process, all_died_before_window(process) ? (uint32_t)PROCESS_UNKNOWN : nr++);
	}
	sockets_renumber(a);
	listeners_renumber(a);
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < nr_before; i++) {
		struct trace_process *process = a->threads.processes[i];

		if (process->idx != PROCESS_UNKNOWN) {
			a->threads.processes[process->idx] = process;
			continue;
		}
		process_drop(a, process, died_before_window);
		family_leave(process);
		process_release(process);
	}
	a->threads.nr_processes = nr;
}

static bool is_unborn(const struct trace_thread *thread)
{
	return thread->sched_state == SCHED_NEW;
}

/*
 * Drops the threads of the start state that begin in the trace. The recorder read them after their
 * forks, of which the last is theirs; and numbers may have had other threads before.
 *
 * Example: the trace begins at 0 ms. Process 70 is forked at 10 ms and ends at 20 ms. Another one
 * is forked with the number 70 at 30 ms, and its thread 71 at 40 ms. The recorder reads both at
 * 50 ms.
 */
static void drop_unborn(struct trace_analysis *a)
{
	uint32_t nr = 0;

	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		nr += process_drop(a, a->threads.processes[i], is_unborn);
	if (nr)
		drop_dead_processes(a);
}

/* The start state tells what it does when the window begins, or that it was dead before. */
static bool state_is_known(const struct trace_analysis *a, const struct trace_thread *thread)
{
	return thread->sched_state == SCHED_DEAD ||
	       ((thread->flags & THREAD_FROM_START) &&
		(!start_read_is_outdated(a, thread->read_ns) || (thread->task_state & TASK_STATES_ENDED)));
}

/* The scheduling state of the others and their work are not known when the window begins. */
static void set_older_unknown(struct trace_analysis *a)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		for (struct trace_thread *thread = a->threads.processes[i]->first; thread; thread = thread->next) {
			if (state_is_known(a, thread))
				continue;
			thread->sched_state = thread->flags & THREAD_FILTERED ? SCHED_UNKNOWN : SCHED_OFF_AT_START;
			/* the state NEW of its fork, or the one that was read, may be outdated */
			thread->task_state = TRACE_TASK_INTERRUPTIBLE;
			thread->flags &= ~THREAD_RAN_AT_START;
			thread->read_ns = 0;
			thread_mode_unknown(thread, a->start_ns);
		}
}

/*
 * The start state of a flight recorder is read at the end and describes the threads that were still
 * there. Older events describe the threads that died in the window: a flight recorder keeps these
 * events longer than all others. If it wrote so late that the window begins behind the reading of a
 * thread, they also tell what changed between the two.
 */
static int load_all_older(struct trace_analysis *a, const struct first_thread *firsts, struct trace_error *ret_error)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {.size = sizeof(options), .to_ns = a->start_ns, .mask = mask};
	const struct trace_event *event;
	struct trace_cursor *cursor;
	int error;

	for (size_t i = 0; i < sizeof(older_ids) / sizeof(older_ids[0]); i++)
		mask[older_ids[i] / 64] |= 1ull << older_ids[i] % 64;
	cursor = trace_cursor_new(a->trace, &options, ret_error);
	if (!cursor)
		return -ENOMEM;
	while ((event = trace_cursor_next(cursor)))
		load_older(a, event);
	error = pass_end(cursor);
	if (error)
		return error;
	end_exited(a, firsts);
	drop_dead_processes(a);
	set_older_unknown(a);
	return 0;
}

/* ---- threads that were dead at the start ---- */

static bool may_be_dead(const struct trace_thread *thread)
{
	return (thread->flags & THREAD_FROM_START) && thread->sched_state == SCHED_OFF_AT_START &&
	       (thread->task_state & TASK_STATES_ENDED);
}

/* When the last of them was read; 0: there are none. */
static uint64_t dead_read_ns(const struct trace_analysis *a)
{
	uint64_t ns = 0;

	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		for (const struct trace_thread *thread = a->threads.processes[i]->first; thread; thread = thread->next)
			if (may_be_dead(thread) && thread->read_ns > ns)
				ns = thread->read_ns;
	return ns;
}

/*
 * The start state also has zombies, which no parent has waited for. A thread that exited between
 * the start and its reading has a sched_exit. All others were dead before: they did nothing and
 * waited for nothing.
 */
static int end_dead(struct trace_analysis *a, struct trace_error *ret_error)
{
	uint64_t mask[TRACE_MASK_WORDS] = {[TRACE_EV_sched_exit / 64] = 1ull << TRACE_EV_sched_exit % 64};
	struct trace_cursor_options options = {
		.size = sizeof(options), .mask = mask, .from_ns = a->start_ns, .to_ns = dead_read_ns(a)};
	const struct trace_event *event;
	struct trace_cursor *cursor;
	int error;

	if (!options.to_ns || !a->handlers[TRACE_EV_sched_exit] ||
	    trace_analysis_recorded(a, TRACE_EV_sched_exit) != TRACE_RECORDED_ALWAYS)
		return 0;
	cursor = trace_cursor_new(a->trace, &options, ret_error);
	if (!cursor)
		return -ENOMEM;
	while ((event = trace_cursor_next(cursor))) {
		struct trace_thread *thread =
			event->id == TRACE_EV_sched_exit
				? thread_find(&a->threads, ((const struct trace_sched_exit *)event->payload)->tid)
				: NULL;

		if (thread && may_be_dead(thread))
			thread->task_state = TRACE_TASK_INTERRUPTIBLE;
	}
	error = pass_end(cursor);
	if (error)
		return error;
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		for (struct trace_thread *thread = a->threads.processes[i]->first; thread; thread = thread->next)
			if (may_be_dead(thread)) {
				thread->depth = 0;
				thread->flags &= ~THREAD_MODE_UNKNOWN;
				thread_end(a, thread, a->start_ns);
			}
	return 0;
}

/* ---- all of it ---- */

int start_load(struct trace_analysis *a, struct trace_error *ret_error)
{
	static const char *const pseudo[NR_PSEUDO_PROCESSES] = {"idle", "interrupts", "several", "unknown"};
	struct start_missing missing = {0};
	struct first_thread *firsts;
	int error;

	for (int i = 0; i < NR_PSEUDO_PROCESSES; i++) {
		struct trace_process *process = process_new(a, 0);

		if (!process)
			return -ENOMEM;
		strncpy(process->comm, pseudo[i], sizeof(process->comm) - 1);
	}
	firsts = calloc(a->nr_cpus + 1, sizeof(*firsts));
	if (!firsts)
		return -ENOMEM;
	a->threads.may_drop = true;
	a->reads = start_reads_new();
	error = a->reads ? load_start_state(a, ret_error) : -ENOMEM;
	if (!error)
		error = start_changes_find(a, firsts, &missing, ret_error);
	a->reads = start_reads_free(a->reads);
	drop_unborn(a);
	name_files_of_calls(a);
	for (uint32_t i = 0; i < a->nr_cpus && !error; i++)
		if (firsts[i].kind == FIRST_NOTHING)
			error = look_ahead(a, i, &firsts[i], ret_error);
	if (!error && a->start_ns > trace_get_info(a->trace)->start_ns)
		error = load_all_older(a, firsts, ret_error);
	missing_add(a, &missing);
	threads_stay(a);
	/*
	 * CPUs with an event that names the thread come first: the start state may have seen the
	 * same thread on another CPU a moment later.
	 */
	for (uint32_t i = 0; i < a->nr_cpus && !error; i++)
		if (firsts[i].kind == FIRST_NAMED)
			find_current(a, &a->cpus[i], &firsts[i]);
	find_running(a, firsts);
	for (uint32_t i = 0; i < a->nr_cpus && !error; i++)
		if (firsts[i].kind != FIRST_NAMED)
			find_current(a, &a->cpus[i], &firsts[i]);
	free(firsts);
	if (!error)
		error = end_dead(a, ret_error);
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes && !error; i++)
		process_groups_loaded(a, a->threads.processes[i], a->start_ns);
	return error;
}
