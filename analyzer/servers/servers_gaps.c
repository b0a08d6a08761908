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
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "servers_ledger.h"
#include "../state_ran.h"

static void gap_find(struct trace_servers *s)
{
	uint32_t streams = 2 * trace_get_info(s->trace)->nr_cpus;

	s->next_gap_ns = UINT64_MAX;
	for (; s->next_gap < trace_nr_gaps(s->trace) && s->next_gap_ns == UINT64_MAX; s->next_gap++) {
		const struct trace_gap *gap = trace_get_gap(s->trace, s->next_gap);

		/*
		 * Skip events missed by a BPF program, and gaps of programs' own buffers: see
		 * analyzer/state_lost.c.
		 */
		if (gap->cause == TRACE_GAP_MISSED || gap->stream >= streams)
			continue;
		s->next_gap_ns = gap->start_ns;
		s->next_gap_end = gap->end_ns;
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

	while ((gap = trace_get_gap(s->trace, s->next_user_gap)) && !is_user(s, gap->stream))
		s->next_user_gap++;
	while ((damage = trace_analysis_get_late_gap(s->analysis, s->next_damage)) && !is_user(s, damage->stream))
		s->next_damage++;
	s->next_user_gap_ns = gap ? gap->start_ns : UINT64_MAX;
	if (damage && damage->start_ns < s->next_user_gap_ns)
		s->next_user_gap_ns = damage->start_ns;
}

/* Events of a program are missing: it may have begun another request. */
static void user_lose(struct trace_servers *s, uint32_t stream, uint64_t until_ns)
{
	uint32_t pid = trace_stream_pid(s->analysis, stream);
	const struct trace_thread *leader = pid ? trace_find_thread(s->analysis, pid) : NULL;
	struct ledger_process *process = leader ? servers_process_of(s, trace_thread_process(leader)) : NULL;

	if (process)
		explicit_lose(s, process, until_ns);
}

/* Events at the very beginning of the gap are from before it. */
void gaps_user_pass(struct trace_servers *s, uint64_t ns)
{
	while (ns > s->next_user_gap_ns) {
		const struct trace_gap *gap = trace_get_gap(s->trace, s->next_user_gap);

		if (gap && gap->start_ns == s->next_user_gap_ns)
			s->next_user_gap++;
		else
			gap = trace_analysis_get_late_gap(s->analysis, s->next_damage++);
		user_lose(s, gap->stream, gap->end_ns);
		user_gap_find(s);
	}
}

/* ---- state that a gap resets ---- */

static bool touched_reserve(struct trace_servers *s)
{
	uint32_t room = s->max_touched ? 2 * s->max_touched : 64;
	struct ledger_thread **bigger;

	if (s->nr_touched < s->max_touched)
		return true;
	bigger = reallocarray(s->touched, room, sizeof(struct ledger_thread *));
	if (!bigger) {
		s->failed = -ENOMEM;
		return false;
	}
	s->touched = bigger;
	s->max_touched = room;
	return true;
}

void gaps_touch(struct trace_servers *s, struct ledger_thread *thread)
{
	if (thread->touched || !touched_reserve(s))
		return;
	s->touched[s->nr_touched++] = thread;
	thread->touched = true;
}

void gaps_hold(struct trace_servers *s, struct endpoint *endpoint)
{
	if (endpoint->held_place)
		return;
	endpoint->next_held = s->held;
	endpoint->held_place = &s->held;
	if (s->held)
		s->held->held_place = &endpoint->next_held;
	s->held = endpoint;
}

void gaps_let_go(struct endpoint *endpoint)
{
	if (!endpoint->held_place)
		return;
	*endpoint->held_place = endpoint->next_held;
	if (endpoint->next_held)
		endpoint->next_held->held_place = endpoint->held_place;
	endpoint->held_place = NULL;
	endpoint->next_held = NULL;
}

static void thread_forget(struct trace_servers *s, struct ledger_thread *thread)
{
	servers_charge(s, thread);
	set_assign(&thread->set, NULL);
	set_assign(&thread->incoming, NULL);
	set_assign(&thread->inherited, NULL);
	set_assign(&thread->outgoing, NULL);
	set_assign(&thread->passed, NULL);
	set_assign(&thread->arrived, NULL);
	set_assign(&thread->answered, NULL);
	set_assign(&thread->got, NULL);
	thread->answer = NULL;
	thread->ring_made = NULL;
	thread->call = CALL_NONE;
	thread->recovered = false;
	thread->slept_ns = 0;
}

static int by_index(const void *left, const void *right)
{
	const struct ledger_thread *const *l = left, *const *r = right;
	uint32_t one = trace_thread_index((*l)->thread), two = trace_thread_index((*r)->thread);

	return one < two ? -1 : one > two;
}

/*
 * The other threads have not changed since the last time. The order is fixed, because each bill may
 * leave an odd ns to the next one.
 */
static void threads_forget(struct trace_servers *s)
{
	if (s->nr_touched)
		qsort(s->touched, s->nr_touched, sizeof(struct ledger_thread *), by_index);
	for (uint32_t i = 0; i < s->nr_touched; i++) {
		thread_forget(s, s->touched[i]);
		s->touched[i]->touched = false;
	}
	s->nr_touched = 0;
}

/*
 * @thread has run, but was not touched: it worked on no request. Bill it now, so that this time is
 * not billed later.
 */
static void has_run(void *data, const struct trace_thread *thread)
{
	struct ledger_thread *known = servers_find_thread(data, thread);

	if (known && !known->touched)
		servers_charge(data, known);
}

static void endpoints_forget(struct trace_servers *s)
{
	while (s->held) {
		struct endpoint *endpoint = s->held;

		set_assign(&endpoint->open, NULL);
		set_assign(&endpoint->awaiting, NULL);
		set_assign(&endpoint->connect_set, NULL);
		gaps_let_go(endpoint);
	}
}

static void processes_forget(struct trace_servers *s)
{
	for (struct ledger_process *process = s->announced; process; process = process->next_announced) {
		set_assign(&process->pending, NULL);
		process->announced = false;
	}
	s->announced = NULL;
}

/*
 * There may be thousands of gaps, and thousands of threads and connections, but each gap concerns
 * only the few that have changed.
 */
static void forget_all(struct trace_servers *s)
{
	s->epoch++;
	ring_forget(s);
	explicit_forget(s);
	packets_forget(s);
	ran_take(s->analysis, has_run, s);
	threads_forget(s);
	endpoints_forget(s);
	for (struct birth *birth = NULL; (birth = table_next(&s->births, sizeof(*birth), birth));)
		set_assign(&birth->set, NULL);
	processes_forget(s);
}

/* ---- gaps ---- */

/*
 * A gap counts from its beginning on: events inside it are from other CPUs, and may depend on
 * missing events.
 */
static void gap_begin(struct trace_servers *s, uint64_t end_ns)
{
	if (!s->gap_until)
		forget_all(s);
	if (end_ns >= s->gap_until)
		s->gap_until = end_ns + 1; /* the event at its end is the loss itself */
}

void gaps_pass(struct trace_servers *s, uint64_t ns)
{
	while (ns >= s->next_gap_ns && s->next_gap_ns != UINT64_MAX) {
		gap_begin(s, s->next_gap_end);
		gap_find(s);
	}
	if (s->gap_until && ns >= s->gap_until) {
		s->gap_until = 0;
		forget_all(s);
	}
}

void gaps_lost(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_trace_lost *lost = event->payload;

	if (is_user(s, lost->stream))
		user_lose(s, lost->stream, event->ts_ns);
}

void gaps_mask(struct trace_servers *s, const struct trace_event *event)
{
	uint64_t changed = 0;

	for (int i = 0; i < TRACE_MASK_WORDS; i++) {
		uint64_t now;

		memcpy(&now, (const uint64_t *)event->payload + i, sizeof(now));
		changed |= (now ^ s->recorded[i]) & s->wanted[i];
		s->recorded[i] = now;
	}
	if (changed && s->masked)
		forget_all(s);
	s->masked = true;
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
