/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hooks.c - the functions that callers have registered for events, intervals and late gaps. */
#include <errno.h>
#include <stdlib.h>
#include "hooks.h"
#include "state.h"

_Static_assert(TRACE_STATE_RUNNING < NR_HOOKED_STATES, "each state has its hooks");

static int hook_add(struct trace_analysis *a, const struct hook *hook)
{
	struct hook *bigger;

	if (a->began)
		return -EBUSY;
	bigger = reallocarray(a->hooks.list, a->hooks.nr + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	a->hooks.list = bigger;
	a->hooks.list[a->hooks.nr++] = *hook;
	return 0;
}

int trace_analysis_on_event(struct trace_analysis *a, const uint64_t *mask, trace_event_fn fn, void *data)
{
	struct hook hook = {.event = fn, .data = data};

	for (int i = 0; i < TRACE_MASK_WORDS; i++)
		hook.mask[i] = mask ? mask[i] : UINT64_MAX;
	return hook_add(a, &hook);
}

int trace_analysis_on_interval_of(struct trace_analysis *a, uint32_t states, trace_interval_fn fn, void *data)
{
	struct hook hook = {.interval = fn, .states = states, .data = data};
	int error = hook_add(a, &hook);

	if (!error)
		a->hooks.states |= states;
	return error;
}

int trace_analysis_on_interval(struct trace_analysis *a, trace_interval_fn fn, void *data)
{
	return trace_analysis_on_interval_of(a, UINT32_MAX, fn, data);
}

int trace_analysis_on_release(struct trace_analysis *a, trace_release_fn fn, void *data)
{
	struct hook hook = {.release = fn, .data = data};

	return hook_add(a, &hook);
}

int trace_analysis_on_late_gap(struct trace_analysis *a, trace_late_gap_fn fn, void *data)
{
	struct hook hook = {.damage = fn, .data = data};

	return hook_add(a, &hook);
}

int trace_analysis_on_transfer(struct trace_analysis *a, trace_transfer_fn fn, void *data)
{
	struct hook hook = {.transfer = fn, .data = data};
	int error = hook_add(a, &hook);

	if (!error)
		a->hooks.has_transfer = true;
	return error;
}

__attribute__((cold)) void hooks_transfer(struct trace_analysis *a, const struct trace_thread *thread,
					  uint64_t read_bytes, uint64_t written_bytes)
{
	for (size_t i = 0; i < a->hooks.nr; i++)
		if (a->hooks.list[i].transfer)
			a->hooks.list[i].transfer(a->hooks.list[i].data, a, thread, read_bytes, written_bytes);
}

int hooks_on_mode(struct trace_analysis *a, mode_fn fn, void *data)
{
	struct hook hook = {.mode = fn, .data = data};

	return hook_add(a, &hook);
}

int hooks_on_cpu(struct trace_analysis *a, on_cpu_fn fn, void *data)
{
	if (a->began || a->hooks.on_cpu)
		return -EBUSY;
	a->hooks.on_cpu = fn;
	a->hooks.on_cpu_data = data;
	a->hooks.states |= STATES_ON_CPU;
	return 0;
}

void hooks_mode(struct trace_analysis *a, const struct trace_thread *thread, bool in_syscall)
{
	for (size_t i = 0; i < a->hooks.nr; i++)
		if (a->hooks.list[i].mode)
			a->hooks.list[i].mode(a->hooks.list[i].data, a, thread, in_syscall);
}

void trace_analysis_remove_hooks(struct trace_analysis *a, const void *data)
{
	size_t kept = 0;

	if (a->began) /* they are indexed, and may be running */
		return;
	for (size_t i = 0; i < a->hooks.nr; i++)
		if (a->hooks.list[i].data != data)
			a->hooks.list[kept++] = a->hooks.list[i];
	a->hooks.nr = kept;
	if (a->hooks.on_cpu_data == data)
		a->hooks.on_cpu = NULL;
}

/* Does an interval hook with other data than @data want intervals on a CPU? */
static bool others_want_on_cpu(const struct trace_analysis *a, const void *data)
{
	for (size_t i = 0; i < a->hooks.nr; i++)
		if (a->hooks.list[i].interval && a->hooks.list[i].data != data &&
		    (a->hooks.list[i].states & STATES_ON_CPU))
			return true;
	return false;
}

bool hooks_want_on_cpu(const struct trace_analysis *a, const void *data)
{
	/* the history of a view has the hook of its own */
	return a->hooks.cpu_time || others_want_on_cpu(a, data);
}

void hooks_end_on_cpu(struct trace_analysis *a, const void *data, uint64_t ns)
{
	if (a->hooks.on_cpu && a->hooks.on_cpu_data == data && !others_want_on_cpu(a, data) &&
	    ns < a->hooks.on_cpu_to_ns)
		a->hooks.on_cpu_to_ns = ns;
}

static int index_by_state(struct hook_list *hooks)
{
	uint32_t nr = 0;

	hooks->by_state = calloc(hooks->nr * NR_HOOKED_STATES + 1, sizeof(*hooks->by_state));
	if (!hooks->by_state)
		return -ENOMEM;
	for (uint32_t state = 0; state < NR_HOOKED_STATES; state++) {
		hooks->first_of_state[state] = nr;
		for (size_t i = 0; i < hooks->nr; i++)
			if (hooks->list[i].interval && (hooks->list[i].states >> state & 1))
				hooks->by_state[nr++] = (struct interval_hook){.interval = hooks->list[i].interval,
									       .data = hooks->list[i].data};
	}
	hooks->first_of_state[NR_HOOKED_STATES] = nr;
	return 0;
}

/*
 * Index the hooks by event and by state. Most events have at most one hook, and so have most
 * intervals, so a search of all hooks for each of them would be wasted.
 */
int hooks_prepare(struct trace_analysis *a)
{
	uint32_t nr = 0;

	a->hooks.on_cpu_from_ns = 0;
	a->hooks.on_cpu_to_ns = UINT64_MAX;
	if (index_by_state(&a->hooks) < 0)
		return -ENOMEM;
	a->hooks.by_event = calloc(a->hooks.nr * TRACE_EV_MAX + 1, sizeof(*a->hooks.by_event));
	if (!a->hooks.by_event)
		return -ENOMEM;
	for (uint32_t bit = 0; bit < TRACE_EV_MAX; bit++) {
		a->hooks.first[bit] = nr;
		for (size_t i = 0; i < a->hooks.nr; i++)
			if (a->hooks.list[i].event && (a->hooks.list[i].mask[bit / 64] >> bit % 64 & 1))
				a->hooks.by_event[nr++] = (struct event_hook){.event = a->hooks.list[i].event,
									      .data = a->hooks.list[i].data};
	}
	a->hooks.first[TRACE_EV_MAX] = nr;
	return 0;
}

void interval_emit(struct trace_analysis *a, const struct trace_interval *interval)
{
	if (interval->to_ns <= interval->from_ns)
		return;
	for (uint32_t i = a->hooks.first_of_state[interval->state]; i < a->hooks.first_of_state[interval->state + 1];
	     i++)
		a->hooks.by_state[i].interval(a->hooks.by_state[i].data, a, interval);
}

/*
 * An interval off the CPUs may cross gaps: the hook gets it in pieces. Thousands of threads may
 * sleep through thousands of gaps, so the number of pieces is limited, and each gap adds to the
 * limit. Beyond the limit, the interval is unknown from the next gap until its end.
 */
void emit_pieces(struct trace_analysis *a, const struct trace_interval *whole)
{
	struct trace_interval piece = *whole, lost = {.thread = whole->thread,
						      .state = TRACE_STATE_BLOCKED,
						      .cpu = -1,
						      .kind = TRACE_WAIT_UNKNOWN,
						      .via = ""};
	uint64_t at = whole->from_ns, key = a->hooks.wait_key;

	lost.target = "";
	for (size_t i = gap_log_from(&a->gaps, at);
	     i < a->gaps.nr && a->gaps.joined[i].start < whole->to_ns && at < whole->to_ns; i++) {
		if (a->gaps.joined[i].end <= at)
			continue;
		piece.from_ns = at;
		piece.to_ns = lost.from_ns = a->gaps.joined[i].start > at ? a->gaps.joined[i].start : at;
		interval_emit(a, &piece);
		lost.to_ns = at = a->gaps.joined[i].end < whole->to_ns && a->gaps.pieces_left ? a->gaps.joined[i].end
											      : whole->to_ns;
		a->hooks.wait_key = 0;
		interval_emit(a, &lost);
		a->hooks.wait_key = key;
		a->gaps.is_coarse |= !a->gaps.pieces_left;
		a->gaps.pieces_left -= a->gaps.pieces_left > 0;
	}
	piece.from_ns = at;
	piece.to_ns = whole->to_ns;
	interval_emit(a, &piece);
}

void hook_list_clear(struct hook_list *hooks)
{
	free(hooks->list);
	free(hooks->by_event);
	free(hooks->by_state);
}
