/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_restart.c - the start state, read again after a pause
 *
 * During a pause of the recording (state_lost.c), threads end and begin, and descriptors and
 * mappings change. When the recorder continues, it reads all of that again. It writes the records
 * among the events, between two start_again events. The first start_again invalidates all
 * descriptors, and which threads share them. Each record after it is valid at its own time, as an
 * event is.
 *
 * A thread with an event since the pause is in the scheduling state that its events give. For any
 * other thread:
 * - It sleeps in the same system call as before: as far as the trace shows, it slept all the time.
 *   The state does not change.
 * - Otherwise it ran in the meantime. Its state before the pause is kept, and the time from then
 *   until now is unknown. If it sleeps now, that is believed as at the start. If not, its first
 *   event decides.
 * - It began after the pause began: it is a new thread, and the one with its number has ended.
 * - The repeated state does not have it: it ended in the pause.
 *
 * Example: thread 70 slept in a futex call when the pause began at 2 s. At 5 s the recorder reads
 * it in a futex call with the same arguments: it slept from 2 s to 5 s. If it is in a read call
 * instead, 2 s to 5 s are unknown, and from 5 s on it sleeps in the read call.
 *
 * Threads run while the recorder reads, and before that, while it attaches BPF programs one by one.
 * The analysis reads ahead for the threads that began in the pause, so that they have their names
 * and processes by then.
 */
#include <errno.h>
#include <string.h>
#include "call_file.h"
#include "start_records.h"
#include "state.h"
#include "state_frame.h"
#include "state_close.h"
#include "state_container.h"
#include "state_identity.h"
#include "state_restart.h"

#define SLEEPS (TRACE_TASK_INTERRUPTIBLE | TRACE_TASK_UNINTERRUPTIBLE)

/* It has no event since the state was read again, and its time before that touches a gap. */
static bool is_stale(const struct trace_analysis *a, const struct trace_thread *thread)
{
	return thread->sched_state != SCHED_DEAD && thread->sched_state != SCHED_ON_CPU &&
	       thread->since < a->restart.since_ns && gap_log_overlap(&a->gaps, thread->since, a->restart.since_ns);
}

static bool was_described(const struct trace_analysis *a, const struct trace_thread *thread)
{
	return thread->described_ns >= a->restart.since_ns;
}

static void end_unseen(struct trace_analysis *a, struct trace_thread *thread)
{
	thread_found_on_cpu(a, thread, a->restart.since_ns);
	thread_end(a, thread, a->restart.since_ns);
}

/* ---- descriptors and mappings ---- */

/* Each process gets empty tables of its own. */
static void drop_tables(struct trace_analysis *a, const struct trace_process *process)
{
	struct fd_table *fds = fds_copy(a, NULL);
	struct process_memory *memory = memory_new(a);

	for (struct trace_thread *thread = process->first; thread; thread = thread->next) {
		if (thread->sched_state == SCHED_DEAD)
			continue;
		if (memory && thread->memory)
			memory->has_foreign |= thread->memory->has_foreign;
		if (fds && thread->fds)
			fds->nr_listening |= thread->fds->nr_listening;
		fds_unref(thread->fds);
		memory_unref(thread->memory);
		thread->fds = fds_ref(fds);
		thread->memory = memory_ref(memory);
	}
	fds_unref(fds);
	memory_unref(memory);
}

void on_start_record(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	if (a->restart.since_ns)
		start_record_apply(a, event);
}

/* ---- threads ---- */

/*
 * The process can have new threads, because one of its threads has an event or a record since the
 * pause.
 */
static bool process_lives(const struct trace_analysis *a, const struct trace_process *process)
{
	for (const struct trace_thread *thread = process->first; thread; thread = thread->next)
		if (thread->sched_state != SCHED_DEAD && (was_described(a, thread) || !is_stale(a, thread)))
			return true;
	return false;
}

/* Adds a thread that began in the pause. */
static struct trace_thread *thread_born(struct trace_analysis *a, const struct trace_event *event, uint64_t ns)
{
	const struct trace_start_thread *start = event->payload;
	struct trace_process *process = process_find(&a->threads, start->tgid);
	uint64_t born = start->start_ns > a->start_ns && start->start_ns < ns ? start->start_ns : ns;
	struct trace_thread *thread, *owner;

	/*
	 * A thread may have its record before its leader, although its process ended and the pid
	 * was reused. The old process's other threads end with the second start_again.
	 */
	if (!process || (start->tid == start->tgid ? !process_lives(a, process) : !process_owner(&a->threads, process)))
		process = process_new(a, start->tgid);
	owner = process ? process_owner(&a->threads, process) : NULL;
	thread = process ? thread_new(a, start->tid, process, born) : NULL;
	if (!thread)
		return NULL;
	thread->sched_state = SCHED_UNKNOWN;
	thread->fds = owner ? fds_ref(owner->fds) : fds_copy(a, NULL);
	thread->memory = owner ? memory_ref(owner->memory) : memory_new(a);
	thread->directories = owner ? directories_ref(owner->directories) : NULL;
	start_describe(a, thread, event);
	thread_mode_unknown(thread, born);
	return thread;
}

/*
 * Compares the arguments that are in both. The trace has only one bit of an address: whether it is
 * NULL.
 */
static bool has_arguments(const struct call *call, const struct frame *frame, const struct trace_start_thread *start)
{
	const uint64_t read[4] = {start->arg0, start->arg1, start->arg2, start->arg3};

	for (unsigned int i = 0; i < 4 && i < frame->nr_args; i++)
		if (!(call->addresses >> i & 1) && frame->args[i] != read[i])
			return false;
	return true;
}

/* The thread sleeps in the same call as before. */
static bool slept_since(const struct trace_analysis *a, const struct trace_thread *thread,
			const struct trace_start_thread *start)
{
	const struct frame *frame = &thread->frames[0];

	if (start->running || !(start->state & SLEEPS) ||
	    (thread->sched_state != SCHED_BLOCKED && thread->sched_state != SCHED_OFF_AT_START))
		return false;
	if (start->nr < 0 || (thread->flags & THREAD_MODE_UNKNOWN ? frame->call == CALL_UNKNOWN : !thread->depth))
		return start->nr < 0 && !thread->depth;
	return frame->kind == FRAME_SYSCALL && frame->call == call_idx((uint32_t)start->nr, start->abi) &&
	       has_arguments(&a->calls[frame->call], frame, start);
}

static void correct_state(struct trace_analysis *a, struct trace_thread *thread, const struct trace_event *event,
			  uint64_t ns)
{
	const struct trace_start_thread *start = event->payload;

	if (thread->flags & (THREAD_FILTERED | THREAD_HIDDEN))
		return;
	if (thread->sched_state != SCHED_UNKNOWN && slept_since(a, thread, start))
		return;
	thread_found_on_cpu(a, thread, ns);
	if (start->running || !(start->state & SLEEPS))
		return;
	thread->cpu = start->cpu < a->nr_cpus ? start->cpu : 0;
	start_sched_state(thread, event, ns);
}

/* The thread that the record describes. NULL: it does not exist now, or memory is out. */
static struct trace_thread *thread_described(struct trace_analysis *a, const struct trace_event *event, uint64_t ns)
{
	const struct trace_start_thread *start = event->payload;
	struct trace_thread *thread = thread_find(&a->threads, start->tid);

	if (!start->tid || start->tid >= MAX_TID)
		return NULL;
	/* it has ended, or its fork event comes now */
	if (start->state & (TASK_STATES_ENDED | TASK_STATE_NEW))
		return NULL;
	/* it died just after the recorder read it */
	if (thread && thread->sched_state == SCHED_DEAD && start->start_ns <= thread->end_ns)
		return NULL;
	if (thread && is_stale(a, thread) && start->start_ns > gap_log_first_loss(&a->gaps, thread->since, ns)) {
		end_unseen(a, thread);
		thread = NULL;
	}
	if (!thread || thread->sched_state == SCHED_DEAD)
		thread = thread_born(a, event, ns);
	if (thread)
		thread->described_ns = ns;
	return thread;
}

/* The user, the group or the name may have changed in the pause: they are known from @ns on. */
static void identify_again(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns,
			   const struct trace_event *event)
{
	const struct trace_start_thread *start = event->payload;

	identity_of_thread(a, thread, ns, start->uid, start->gid);
	identity_rename(a, thread, ns, trace_event_string(event));
}

void on_start_thread(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	struct trace_thread *thread = a->restart.since_ns ? thread_described(a, event, ns) : NULL;

	if (!thread)
		return;
	identify_again(a, thread, ns, event);
	start_describe(a, thread, event);
	if (is_stale(a, thread))
		correct_state(a, thread, event, ns);
}

/* ---- begin and end ---- */

static bool open_ahead(struct trace_analysis *a)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {.size = sizeof(options), .mask = mask};

	mask[TRACE_EV_start_thread / 64] |= 1ull << TRACE_EV_start_thread % 64;
	mask[TRACE_EV_start_again / 64] |= 1ull << TRACE_EV_start_again % 64;
	if (!a->restart.ahead)
		a->restart.ahead = trace_cursor_new(a->trace, &options, NULL);
	if (!a->restart.ahead)
		a->failed = -ENOMEM;
	return a->restart.ahead;
}

/*
 * Reads ahead the records after start_again number @number, for threads that began before it. Fork
 * events describe all others.
 */
static void look_ahead(struct trace_analysis *a, uint32_t number)
{
	const struct trace_event *event;
	int error;

	while (a->restart.nr_ahead <= number && open_ahead(a) && (event = trace_cursor_next(a->restart.ahead))) {
		if (!a->handlers[event->id] || event->cpu >= a->nr_cpus)
			continue;
		if (event->id == TRACE_EV_start_again)
			a->restart.nr_ahead++;
		else if (a->restart.nr_ahead == number &&
			 ((const struct trace_start_thread *)event->payload)->start_ns < a->restart.since_ns)
			thread_described(a, event, a->restart.since_ns);
	}
	error = a->restart.ahead ? trace_cursor_error(a->restart.ahead, NULL) : 0;
	if (error && error != -EBADMSG) /* the pass meets the damaged chunk, too */
		a->failed = error;
}

void start_read_ahead(struct trace_analysis *a)
{
	uint64_t before = a->restart.since_ns;

	a->restart.since_ns = a->now;
	look_ahead(a, a->restart.nr + 1);
	a->restart.since_ns = before;
}

static void begin_restart(struct trace_analysis *a, uint64_t ns)
{
	a->restart.since_ns = ns;
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		if (process_owner(&a->threads, a->threads.processes[i]))
			drop_tables(a, a->threads.processes[i]);
	look_ahead(a, a->restart.nr);
}

/* All descriptors and control groups are known now. */
static void finish_restart(struct trace_analysis *a)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++) {
		struct trace_process *process = a->threads.processes[i];

		for (struct trace_thread *thread = process->first; thread; thread = thread->next)
			if (thread->sched_state != SCHED_DEAD && !was_described(a, thread) && is_stale(a, thread))
				end_unseen(a, thread);
			else if (thread->sched_state == SCHED_OFF_AT_START && was_described(a, thread))
				thread->frames[0].file = call_file(a, thread, &thread->frames[0]);
		if (process_owner(&a->threads, process))
			process_groups_loaded(a, process, a->now);
		family_join(a, process);
	}
	a->restart.since_ns = 0;
}

void on_start_again(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	a->restart.nr++;
	if (!((const struct trace_start_again *)event->payload)->done)
		begin_restart(a, ns);
	else if (a->restart.since_ns)
		finish_restart(a);
}
