/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * running_threads.c - the thread that made each event, from the scheduling changes around it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "checked_memory.h"
#include "losses.h"
#include "recorded.h"
#include "running_name.h"
#include "running_threads.h"
#include "switch_event.h"

/*
 * True if the loss includes scheduling changes of the CPU. Missed events do not count: they are
 * few, and are reported later only.
 */
static bool is_loss_of_cpu(uint32_t stream, uint32_t cpu, uint32_t cause)
{
	return stream == 2 * cpu && cause != TRACE_GAP_MISSED;
}

static bool is_lost(const struct trace_event *event)
{
	const struct trace_trace_lost *lost = event->payload;

	return event->id == TRACE_EV_trace_lost && is_loss_of_cpu(lost->stream, event->cpu, lost->cause);
}

/*
 * A trace_lost event comes at the end of its gap. Events of other rings during the gap, above all
 * of structure (fork, exec, open ...), cannot be attributed to the thread of the last scheduling
 * change before it. For nested or adjacent gaps only the hull is needed.
 */
void running_threads_note_gap(void *data, const struct trace_gap *gap)
{
	struct running_threads *threads = data;
	struct running_cpu *cpu;

	if (gap->cpu >= threads->nr_cpus || !is_loss_of_cpu(gap->stream, gap->cpu, gap->cause))
		return;
	cpu = &threads->cpus[gap->cpu];
	if (cpu->lost_to_ns < threads->now_ns || cpu->lost_from_ns > gap->start_ns)
		cpu->lost_from_ns = gap->start_ns;
	if (cpu->lost_to_ns < gap->end_ns)
		cpu->lost_to_ns = gap->end_ns;
}

static void set_next_gap(struct running_threads *threads)
{
	const struct trace_gap *gap = trace_get_gap(threads->trace, threads->next_gap);

	threads->next_gap_ns = gap ? gap->start_ns : UINT64_MAX;
}

/* Notes gaps that begin before the current event and have not ended. */
static void pass_gaps(struct running_threads *threads)
{
	for (; threads->next_gap_ns < threads->now_ns; threads->next_gap++, set_next_gap(threads)) {
		const struct trace_gap *gap = trace_get_gap(threads->trace, threads->next_gap);

		if (gap->end_ns >= threads->now_ns)
			running_threads_note_gap(threads, gap);
	}
}

/* The thread on @cpu at its first event: the one that is named first. */
static uint32_t first_running(const struct trace *trace, uint32_t cpu, uint64_t from_ns, bool is_filtered)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {
		.size = sizeof(options), .from_ns = from_ns, .mask = mask, .cpus = &cpu, .nr_cpus = 1};
	struct trace_cursor *cursor;
	const struct trace_event *event;
	uint32_t tid = NO_THREAD;

	if (is_filtered)
		running_name_mask(mask);
	mask[TRACE_EV_sched_switch / 64] |= 1ull << TRACE_EV_sched_switch % 64;
	mask[TRACE_EV_trace_lost / 64] |= 1ull << TRACE_EV_trace_lost % 64;
	cursor = pass_cursor(trace, &options);
	while ((event = trace_cursor_next(cursor)) && !is_lost(event) && !running_name(event, &tid))
		;
	events_pass_end(cursor, true);
	return tid;
}

static bool has_bit(const uint8_t *bits, uint32_t tid)
{
	return tid < TIDS && bits[tid / 8] >> tid % 8 & 1;
}

static void set_bit(uint8_t *bits, uint32_t tid)
{
	if (tid < TIDS)
		bits[tid / 8] |= (uint8_t)(1u << tid % 8);
}

/*
 * Peek at the switch after a switch, which usually is in the same, already decoded chunk. Returns
 * false if it is not, if anything was lost until then, or if another thread leaves than came: in an
 * exec the thread may have got another number, which the peek does not see.
 */
static bool peek_switch(const struct running_threads *threads, const struct running_cpu *cpu, uint64_t *ret_ns,
			uint32_t *ret_prev)
{
	const struct trace_sched_switch *next = threads->cursor && !threads->passed
							? trace_cursor_peek(threads->cursor, 1)
							: NULL;
	uint64_t next_ns = next ? trace_cursor_peek_ns(threads->cursor) : 0;

	if (!next_ns || next_ns < threads->now_ns || next_ns >= threads->next_gap_ns ||
	    cpu->lost_to_ns >= threads->now_ns || next->prev_tid != cpu->running)
		return false;
	*ret_ns = next_ns;
	*ret_prev = next->prev_tid;
	return true;
}

/*
 * The thread that leaves the CPU, or is named, next after the switch at @ns. Returns false if it is
 * unknown, or if switches between them may not have been recorded.
 */
static bool next_leaves(struct running_threads *threads, struct running_cpu *cpu, uint32_t number, uint64_t ns,
			uint32_t *ret_prev)
{
	uint64_t next_ns;
	uint32_t prev;

	if (!peek_switch(threads, cpu, &next_ns, &prev)) {
		cpu->ahead.by_name = threads->passed != NULL;
		if (!lookahead_switch(&cpu->ahead, threads->trace, number, ns, cpu->nr_switches, &prev)) {
			if (cpu->ahead.error)
				memory_end();
			return false;
		}
		next_ns = cpu->ahead.ns;
	}
	while (threads->next_mask_ns <= ns) {
		const struct trace_event *mask = trace_cursor_next(threads->masks);
		int error = mask ? 0 : trace_cursor_error(threads->masks, NULL);

		if (error && error != -EBADMSG)
			memory_end();
		threads->next_mask_ns = mask ? mask->ts_ns : UINT64_MAX;
	}
	if (next_ns >= threads->next_mask_ns)
		return false;
	*ret_prev = prev;
	return true;
}

/*
 * A recording of some processes: @event, of the thread on the CPU, is the first one since the last
 * switch. The thread that came at the switch made it, if it is also the next one that is named
 * (running_name.h). If another one is, the events are that one's, if it passes and the one that
 * came does not; otherwise they are of either.
 */
static void confirm(struct running_threads *threads, struct running_cpu *cpu, uint32_t cpu_number)
{
	uint32_t named, came = cpu->running;
	bool passes;

	cpu->unconfirmed = false;
	if (!next_leaves(threads, cpu, cpu_number, cpu->switch_ns, &named)) {
		if (!has_bit(threads->passed, came) && (threads->misses_switches || has_bit(threads->hidden, came)))
			cpu->running = NO_THREAD;
		return;
	}
	if (named == came)
		return;
	threads->misses_switches = true;
	passes = has_bit(threads->passed, named) && !has_bit(threads->passed, came);
	cpu->running = passes || has_bit(threads->hidden, came) ? named : NO_THREAD;
	cpu->unseen = true;
}

static uint32_t filtered_thread_of(struct running_threads *threads, const struct trace_event *event,
				   struct running_cpu *cpu)
{
	uint32_t named;

	if (running_name(event, &named))
		return named;
	if (!cpu)
		return NO_THREAD;
	if (cpu->unconfirmed && (is_own_event(event) || has_bit(threads->passed, cpu->running)))
		confirm(threads, cpu, event->cpu);
	if (is_own_event(event))
		set_bit(threads->passed, cpu->running);
	else if (cpu->unseen)
		return NO_THREAD;
	return has_bit(threads->passed, cpu->running) ? cpu->running : NO_THREAD;
}

/*
 * The thread that made @event. Events of programs contain it, whether the kernel was recorded or
 * not. Other events belong to the thread on the CPU.
 *
 * A recording of some processes has only the switches from and to these. After a recorded thread
 * left the CPU, an unrecorded one may have left as well, and another one may have woken the
 * recorded thread. So the thread on the CPU is unknown.
 */
static uint32_t thread_of_event(struct running_threads *threads, const struct trace_event *event,
				struct running_cpu *cpu)
{
	uint32_t tid;

	if (event->type && event->type->flags & TRACE_EVENT_TID && event->payload_bytes >= sizeof(tid)) {
		memcpy(&tid, event->payload, sizeof(tid));
		return tid;
	}
	tid = cpu && !threads->passed ? cpu->went : NO_THREAD;
	if (switch_event_thread(event, &tid))
		return tid;
	if (threads->passed)
		return filtered_thread_of(threads, event, cpu);
	return cpu ? cpu->running : NO_THREAD;
}

/*
 * The kernel hides some threads from all tracers. No event shows that a hidden thread left the CPU.
 * Events after that belong to the thread that leaves at the next switch, as in
 * analyzer/state_hidden.c. Only threads that have not been seen leaving a CPU, nor been forked,
 * need this look-up.
 */
static void switch_in(struct running_threads *threads, struct running_cpu *cpu, const struct trace_event *event)
{
	const struct trace_sched_switch *sw = switch_of(event);
	uint32_t next = sw->next_tid, prev;

	cpu->nr_switches = event->ts_ns == cpu->switch_ns ? cpu->nr_switches + 1 : 1;
	cpu->switch_ns = event->ts_ns;
	cpu->running = next;
	cpu->went = sw->prev_tid;
	cpu->unseen = false;
	cpu->unconfirmed = threads->passed != NULL;
	set_bit(threads->visible, sw->prev_tid);
	if (threads->passed || !next || next >= TIDS || has_bit(threads->visible, next))
		return;
	if (next_leaves(threads, cpu, event->cpu, event->ts_ns, &prev))
		cpu->running = prev;
	else if (has_bit(threads->hidden, next))
		cpu->running = NO_THREAD;
	cpu->unseen = cpu->running != next;
}

/* Before the pass: find hidden threads. Returns 0 or -ENOMEM. */
static int find_hidden(struct running_threads *threads, bool is_reported)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {
		.size = sizeof(options), .mask = mask, .start_state = true, .no_lost = true};
	struct trace_cursor *cursor;
	const struct trace_event *event;

	mask[TRACE_EV_start_thread / 64] |= 1ull << TRACE_EV_start_thread % 64;
	cursor = pass_cursor(threads->trace, &options);
	options.start_state = false;
	mask[0] = 1ull << TRACE_EV_trace_mask;
	threads->masks = pass_cursor(threads->trace, &options);
	while ((event = trace_cursor_next(cursor))) {
		const struct trace_start_thread *thread = event->payload;

		if (event->id == TRACE_EV_start_thread && event->type->fixed_bytes >= sizeof(*thread) &&
		    thread->flags & TRACE_THREAD_HIDDEN) {
			set_bit(threads->hidden, thread->tid);
			threads->misses_switches = true;
		}
	}
	/* an analysis reports damage itself */
	events_pass_end(cursor, is_reported);
	return 0;
}

int running_threads_init(struct running_threads *threads, const struct trace *trace, bool is_reported)
{
	bool is_filtered = is_left_out(trace, TRACE_LEFT_OUT_PROCESSES);

	*threads = (struct running_threads){.trace = trace, .nr_cpus = trace_get_info(trace)->nr_cpus};
	threads->cpus = calloc(threads->nr_cpus + 1, sizeof(*threads->cpus));
	threads->visible = calloc(TIDS / 8, 1);
	threads->hidden = calloc(TIDS / 8, 1);
	if (is_filtered)
		threads->passed = calloc(TIDS / 8, 1);
	set_next_gap(threads);
	return threads->cpus && threads->visible && threads->hidden && (threads->passed || !is_filtered)
		       ? find_hidden(threads, is_reported)
		       : -ENOMEM;
}

void running_threads_release(struct running_threads *threads)
{
	for (uint32_t i = 0; threads->cpus && i < threads->nr_cpus; i++)
		lookahead_end(&threads->cpus[i].ahead);
	free(threads->cpus);
	free(threads->passed);
	free(threads->visible);
	free(threads->hidden);
	trace_cursor_free(threads->masks);
}

void running_threads_begin(struct running_threads *threads, uint64_t from_ns)
{
	for (uint32_t i = 0; i < threads->nr_cpus; i++) {
		threads->cpus[i].running = first_running(threads->trace, i, from_ns, threads->passed != NULL);
		threads->cpus[i].went = NO_THREAD;
	}
}

uint32_t running_threads_before(struct running_threads *threads, const struct trace_event *event)
{
	struct running_cpu *cpu = event->cpu < threads->nr_cpus ? &threads->cpus[event->cpu] : NULL;

	threads->now_ns = event->ts_ns;
	if (event->ts_ns > threads->next_gap_ns)
		pass_gaps(threads);
	if (cpu && ((event->ts_ns > cpu->lost_from_ns && event->ts_ns < cpu->lost_to_ns) || is_lost(event)))
		cpu->running = cpu->went = NO_THREAD;
	return thread_of_event(threads, event, cpu);
}

/* The thread of @event passes the filter from now on, or does not. */
static void change_ids(struct running_threads *threads, struct running_cpu *cpu, const struct trace_event *event)
{
	const struct trace_sched_ids *ids = event->payload;

	if (event->type->fixed_bytes < sizeof(*ids))
		return;
	cpu->running = ids->passes ? ids->tid : NO_THREAD;
	cpu->unconfirmed = false;
	if (ids->passes)
		set_bit(threads->passed, ids->tid);
	else if (ids->tid < TIDS)
		threads->passed[ids->tid / 8] &= (uint8_t) ~(1u << ids->tid % 8);
}

void running_threads_after(struct running_threads *threads, const struct trace_event *event)
{
	if (event->cpu < threads->nr_cpus && switch_of(event))
		switch_in(threads, &threads->cpus[event->cpu], event);
	else if (event->id == TRACE_EV_sched_fork && event->type->fixed_bytes >= sizeof(struct trace_sched_fork))
		set_bit(threads->visible, ((const struct trace_sched_fork *)event->payload)->tid);
	else if (event->cpu < threads->nr_cpus && threads->passed && event->id == TRACE_EV_sched_ids)
		change_ids(threads, &threads->cpus[event->cpu], event);
}
