/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_gaps.c - what the servers' bills drop at a gap in the trace
 *
 * If events of the kernel are missing, all sets become empty at the beginning of the gap, because
 * any thread on any CPU may have begun other work. If events of a program itself are missing, only
 * the requests that it names by numbers are dropped (servers_explicit.c). A late gap (a chunk that
 * turns out to be damaged during the pass) is handled in the same way. So is a time in which needed
 * events were not recorded.
 */
#include <stdlib.h>
#include <string.h>
#include "../state_ran.h"
#include "servers_ring_user.h"
#include "servers_state.h"

static void gap_find(struct trace_servers *s)
{
	uint32_t streams = 2 * trace_get_info(s->trace)->nr_cpus;

	s->gaps.next_ns = UINT64_MAX;
	for (; s->gaps.next < trace_nr_gaps(s->trace) && s->gaps.next_ns == UINT64_MAX; s->gaps.next++) {
		const struct trace_gap *gap = trace_get_gap(s->trace, s->gaps.next);

		/*
		 * Skip events missed by a BPF program, and gaps of programs' own buffers: see
		 * analyzer/state_lost.c.
		 */
		if (gap->cause == TRACE_GAP_MISSED || gap->stream >= streams)
			continue;
		s->gaps.next_ns = gap->start_ns;
		s->gaps.next_end_ns = gap->end_ns;
	}
}

static bool is_user(const struct trace_servers *s, uint32_t stream)
{
	return stream >= 2 * trace_get_info(s->trace)->nr_cpus;
}

/* Find the next known gap, and the next late gap, of a program's buffer. */
static void user_gap_find(struct trace_servers *s)
{
	const struct trace_gap *gap, *damage;

	while ((gap = trace_get_gap(s->trace, s->gaps.next_user)) && !is_user(s, gap->stream))
		s->gaps.next_user++;
	while ((damage = trace_analysis_get_late_gap(s->analysis, s->gaps.next_late)) && !is_user(s, damage->stream))
		s->gaps.next_late++;
	s->gaps.next_user_ns = gap ? gap->start_ns : UINT64_MAX;
	if (damage && damage->start_ns < s->gaps.next_user_ns)
		s->gaps.next_user_ns = damage->start_ns;
}

/* Events of a program are missing: it may have begun another request. */
static void user_events_lost(struct trace_servers *s, uint32_t stream, uint64_t until_ns)
{
	uint32_t pid = trace_stream_pid(s->analysis, stream);
	const struct trace_thread *leader = pid ? trace_find_thread(s->analysis, pid) : NULL;
	struct servers_process *process = leader ? servers_process_of(s, trace_thread_process(leader)) : NULL;

	if (process)
		explicit_events_lost(s, process, until_ns);
}

/* Events at the very beginning of the gap are from before it. */
void gaps_user_pass(struct trace_servers *s, uint64_t ns)
{
	while (ns > s->gaps.next_user_ns) {
		const struct trace_gap *gap = trace_get_gap(s->trace, s->gaps.next_user);

		if (gap && gap->start_ns == s->gaps.next_user_ns)
			s->gaps.next_user++;
		else
			gap = trace_analysis_get_late_gap(s->analysis, s->gaps.next_late++);
		user_events_lost(s, gap->stream, gap->end_ns);
		user_gap_find(s);
	}
}

/* ---- state that a gap resets ---- */

static void thread_reset(struct trace_servers *s, struct servers_thread *thread)
{
	bill_now(s, thread);
	thread->fresh = false;
	thread->named = NULL;
	set_assign(&thread->set, NULL);
	set_assign(&thread->passed, NULL);
	call_reset(thread);
	ring_reset(thread);
	waits_decided(s, thread);
	thread->sleep.last_ns = 0;
}

static int by_index(const void *left, const void *right)
{
	const struct servers_thread *const *l = left, *const *r = right;
	uint32_t one = trace_thread_index((*l)->thread), two = trace_thread_index((*r)->thread);

	return one < two ? -1 : one > two;
}

/*
 * The other threads have not changed since the last time. The order is fixed, because each bill may
 * leave an odd ns to the next one.
 */
static void threads_reset(struct trace_servers *s)
{
	if (s->threads.nr_touched)
		qsort(s->threads.touched, s->threads.nr_touched, sizeof(struct servers_thread *), by_index);
	for (uint32_t i = 0; i < s->threads.nr_touched; i++) {
		thread_reset(s, s->threads.touched[i]);
		s->threads.touched[i]->touched = false;
	}
	s->threads.nr_touched = 0;
}

/*
 * @thread has run, but was not touched: it worked on no request. Bill it now, so that this time is
 * not billed later.
 */
static void has_run(void *data, const struct trace_thread *thread)
{
	struct trace_servers *s = data;
	struct servers_thread *known = servers_find_thread(&s->threads, thread);

	if (known && !known->touched)
		bill_now(s, known);
}

/*
 * There may be thousands of gaps, and thousands of threads and connections, but each gap concerns
 * only the few that have changed.
 */
static void reset_all(struct trace_servers *s)
{
	s->channels.epoch++;
	ring_ops_drop_sets(&s->rings);
	explicit_drop(&s->explicit);
	packets_drop(s);
	ran_take(s->analysis, has_run, s);
	threads_reset(s);
	open_forget_all(s);
	endpoints_drop_sets(&s->endpoints);
	for (struct thread_birth *birth = NULL; (birth = table_next(&s->threads.births, sizeof(*birth), birth));)
		set_assign(&birth->set, NULL);
	signals_drop_pending(&s->signals);
}

/* ---- gaps ---- */

/*
 * A gap counts from its beginning on: events inside it are from other CPUs, and may depend on
 * missing events.
 */
static void gap_begin(struct trace_servers *s, uint64_t end_ns)
{
	if (!s->gaps.until_ns)
		reset_all(s);
	if (end_ns >= s->gaps.until_ns)
		s->gaps.until_ns = end_ns + 1; /* the event at its end is the loss itself */
}

void gaps_pass(struct trace_servers *s, uint64_t ns)
{
	while (ns >= s->gaps.next_ns && s->gaps.next_ns != UINT64_MAX) {
		gap_begin(s, s->gaps.next_end_ns);
		gap_find(s);
	}
	if (s->gaps.until_ns && ns >= s->gaps.until_ns) {
		s->gaps.until_ns = 0;
		reset_all(s);
	}
}

void gaps_lost(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_trace_lost *lost = event->payload;

	if (is_user(s, lost->stream))
		user_events_lost(s, lost->stream, event->ts_ns);
}

void gaps_mask(struct trace_servers *s, const struct trace_event *event)
{
	uint64_t changed = 0;

	for (int i = 0; i < TRACE_MASK_WORDS; i++) {
		uint64_t now;

		memcpy(&now, (const uint64_t *)event->payload + i, sizeof(now));
		changed |= (now ^ s->gaps.recorded[i]) & s->wanted[i];
		s->gaps.recorded[i] = now;
	}
	if (changed && s->gaps.masked)
		reset_all(s);
	s->gaps.masked = true;
}

void gaps_damage(struct trace_servers *s, const struct trace_gap *gap)
{
	gaps_pass(s, trace_analysis_now(s->analysis));
	if (!is_user(s, gap->stream))
		gap_begin(s, gap->end_ns);
	else
		user_gap_find(s);
}

void gaps_prepare(struct trace_servers *s)
{
	gap_find(s);
	user_gap_find(s);
}
