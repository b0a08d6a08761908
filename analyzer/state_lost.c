/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_lost.c - the effect of a gap in the trace on the state
 *
 * A gap is an interval in which events of one CPU are missing. The analysis believes nothing that
 * an unrecorded event could have changed:
 *
 * - The CPU: its thread is unknown from the beginning of the gap until the first switch after the
 *   end, which names the thread that leaves. The CPU's time in between is in the column `unknown`.
 * - The thread that was on it: its state is known until the gap begins. It is unknown until the
 *   thread is seen again, on any CPU. The system calls that it was in end at the gap.
 * - Threads that were blocked or queued, on any CPU: such a thread may have been woken, have run on
 *   the CPU of the gap and have blocked again. The part of its wait that lies in the gap is
 *   unknown. The parts outside keep the kind that the wait began with. Their wait cause is believed
 *   only if the system call or its result gives it (a sleep, a read of a file). Otherwise the cause
 *   is unknown.
 * - Threads that run on another CPU all the time: the gap does not change them.
 *
 * Example: a thread blocks in a system call at 10 ms, CPU 1 has a gap from 12 ms to 15 ms, and the
 * thread is woken at 20 ms. The 3 ms in the gap are unknown. The other 7 ms are blocked time. The
 * thread may have blocked twice, so its waker at 20 ms is not accepted as the cause of these 7 ms.
 *
 * If a thread then causes an inconsistency (it runs without a wakeup), a missing event changed it.
 * The interval is unknown from the first loss in it on. Without any known loss the whole interval
 * is unknown: state_close.c.
 *
 * A damaged chunk may be found only when the cursor is about to read it (a late gap). The cursor
 * reports it before it delivers the first event of that time. No time of the gap is accounted at
 * that point, so it is handled as any other gap.
 *
 * If scheduling changes were not recorded, because the recording was halted or the user excluded
 * them, all CPUs have a gap. The masks in the trace give its begin and end. If only wakeups were
 * not recorded, it is unknown when a sleeping thread began to wait for a CPU. The time from its
 * last event to its next one is unknown (state_sched.c). If system calls and opened files were not
 * recorded, descriptors may have been closed and opened again. From the mask on that records them
 * again, earlier descriptors have no known file.
 *
 * Minor gaps make no time unknown. They only explain inconsistencies:
 * - Lost structural events (fork, exec, open ..., which have a ring of their own) do not move any
 *   thread's time.
 * - Events that a BPF program missed now and then (cause MISSED) are single events somewhere in a
 *   long time. It would help no reader of the results if all of that time were unknown.
 *
 * After any gap but those of missed events, names that it may have changed are unknown:
 * state_doubt.c.
 *
 * Two kinds of losses do not concern the state: those of user-space streams, and what a flight
 * recorder overwrote before the window began.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "frame_end.h"
#include "recorded_masks.h"
#include "slice_log.h"
#include "sort.h"
#include "state.h"
#include "state_identity.h"
#include "state_lost.h"
#include "window.h"

/* How many pieces gaps may divide intervals into: hooks.c. */
#define PIECES (1u << 20)

static bool is_structural(uint32_t stream, uint32_t cpu)
{
	return stream == 2 * cpu + 1;
}

/* It makes no time unknown. */
static bool is_minor(const struct trace_analysis *a, const struct trace_gap *gap)
{
	return gap->cause == TRACE_GAP_MISSED || is_structural(gap->stream, gap->cpu) || gap->cpu >= a->nr_cpus;
}

static bool is_user(const struct trace_analysis *a, uint32_t stream)
{
	return stream >= 2 * a->nr_cpus;
}

bool is_loss_of_cpu(const struct trace_analysis *a, const struct trace_event *event)
{
	return is_loss_of_switches(event, a->nr_cpus);
}

static int by_start(const void *left, const void *right)
{
	const struct cpu_gap *l = left, *r = right;

	return l->start < r->start ? -1 : l->start > r->start;
}

static int by_time(const void *left, const void *right)
{
	const uint64_t *l = left, *r = right;

	return *l < *r ? -1 : *l > *r;
}

/* ---- what was not recorded ---- */

void on_trace_mask(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	if (a->masks.any && !a->masks.sees_opens && has_opens(event))
		doubt_all(a);
	mask_apply(&a->masks, event);
}

static bool cpu_gaps_reserve(struct trace_analysis *a, size_t more)
{
	struct cpu_gap *bigger = reallocarray(a->gaps.of_cpus, a->gaps.nr_of_cpus + more + 1, sizeof(*bigger));

	if (bigger)
		a->gaps.of_cpus = bigger;
	return bigger;
}

static bool halt_add(struct trace_analysis *a, uint64_t from, uint64_t to)
{
	from = from > a->start_ns ? from : a->start_ns;
	if (to <= from)
		return true;
	if (!cpu_gaps_reserve(a, a->nr_cpus))
		return false;
	for (uint32_t i = 0; i < a->nr_cpus; i++)
		a->gaps.of_cpus[a->gaps.nr_of_cpus++] = (struct cpu_gap){.start = from, .end = to, .cpu = i};
	a->gaps.halted_ns += to - from;
	return true;
}

/*
 * A mask is valid until the next one, and the first one is valid from the beginning on. A flight
 * recorder may have masks from before the window: the last of them is valid when the window begins.
 */
static int find_halts(struct trace_analysis *a)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0}, since = a->start_ns;
	struct trace_cursor_options options = {.size = sizeof(options), .mask = mask};
	const struct trace_event_type *type = trace_type_by_id(a->trace, TRACE_EV_trace_mask);
	const struct trace_event *event;
	struct trace_cursor *cursor;
	bool first = true, halted = was_left_out(a->trace, TRACE_LEFT_OUT_KERNEL), ok = true;
	int error;

	if (!type || type->fixed_bytes < sizeof(struct trace_trace_mask))
		return halted && !halt_add(a, since, a->end_ns) ? -ENOMEM : 0;
	mask[TRACE_EV_trace_mask / 64] |= 1ull << TRACE_EV_trace_mask % 64;
	cursor = trace_cursor_new(a->trace, &options, NULL);
	if (!cursor)
		return -ENOMEM;
	while (ok && (event = trace_cursor_next(cursor))) {
		if (halted)
			ok = halt_add(a, since, event->ts_ns);
		halted = !is_recorded(event, TRACE_EV_sched_switch);
		since = first ? a->start_ns : event->ts_ns;
		if (first || event->ts_ns < a->start_ns)
			mask_begin(&a->masks, event);
		first = false;
	}
	if (ok && halted)
		ok = halt_add(a, since, a->end_ns);
	error = pass_end(cursor);
	return ok ? error : -ENOMEM;
}

uint64_t trace_analysis_halted_ns(const struct trace_analysis *a)
{
	return a->gaps.halted_ns;
}

/* ---- all of it ---- */

/* When the pass has to stop for a gap, or for an edge of the window. */
void gaps_next_prepare(struct trace_analysis *a)
{
	uint64_t gap = a->gaps.next < a->gaps.nr_of_cpus ? a->gaps.of_cpus[a->gaps.next].start : UINT64_MAX,
		 edge = window_next(a->window);

	a->gaps.next_ns = gap < edge ? gap : edge;
	if (later_next(&a->later) < a->gaps.next_ns)
		a->gaps.next_ns = later_next(&a->later);
	if (a->doubt.is_open && a->doubt.until_ns < a->gaps.next_ns)
		a->gaps.next_ns = a->doubt.until_ns;
	if (a->step_ns < a->gaps.next_ns)
		a->gaps.next_ns = a->step_ns;
}

int lost_prepare(struct trace_analysis *a)
{
	size_t nr = trace_nr_gaps(a->trace);
	int error = find_halts(a);

	if (error)
		return error;
	a->gaps.next_ns = UINT64_MAX;
	a->gaps.pieces_left = PIECES;
	a->gaps.joined = calloc(nr + a->gaps.nr_of_cpus + 1, sizeof(*a->gaps.joined));
	a->gaps.losses = calloc(nr + a->gaps.nr_of_cpus + 1, sizeof(*a->gaps.losses));
	if (!cpu_gaps_reserve(a, nr) || !a->gaps.joined || !a->gaps.losses)
		return -ENOMEM;
	for (size_t i = 0; i < a->gaps.nr_of_cpus; i++)
		a->gaps.losses[a->gaps.nr_losses++] = a->gaps.of_cpus[i].start;
	for (size_t i = 0; i < nr; i++) {
		const struct trace_gap *gap = trace_get_gap(a->trace, i);

		if (is_user(a, gap->stream) || trace_gap_is_older(a->trace, gap))
			continue;
		a->gaps.losses[a->gaps.nr_losses++] = gap->start_ns;
		if (gap->cause == TRACE_GAP_MISSED)
			continue;
		a->gaps.of_cpus[a->gaps.nr_of_cpus++] = (struct cpu_gap){
			.start = gap->start_ns, .end = gap->end_ns, .cpu = gap->cpu, .is_minor = is_minor(a, gap)};
	}
	if (!sort_rows(a->gaps.of_cpus, a->gaps.nr_of_cpus, sizeof(*a->gaps.of_cpus), by_start))
		return -ENOMEM;
	qsort(a->gaps.losses, a->gaps.nr_losses, sizeof(*a->gaps.losses), by_time);
	gaps_next_prepare(a);
	return 0;
}

static void lost_cpu(struct trace_analysis *a, struct cpu *cpu, uint64_t start, uint64_t end)
{
	struct trace_thread *thread = cpu->current;

	acct_cpu(a, cpu, start);
	disk_lost(a, start);
	if (thread && thread != &cpu->idle) {
		acct_mode(a, thread, false);
		frames_pop(a, thread, cpu->accounted_ns, 0, 0);
		thread->sched_state = SCHED_UNKNOWN;
		thread->since = cpu->accounted_ns;
		thread->has_early = false;
	}
	irq_flush(cpu);
	cpu->current = NULL;
	cpu->hidden = HIDES_NOTHING;
	cpu->touched = false;
	if (end > cpu->gap_until)
		cpu->gap_until = end;
	cpu->slice_since = cpu->gap_until;
	cpu->quota_tid = 0;
	cpu->previous = (struct slice){0};
	slice_log_begin(a, cpu, cpu->accounted_ns);
}

static void gaps_begin(struct trace_analysis *a, uint64_t ns)
{
	doubt_pass(a, ns);
	while (a->gaps.next < a->gaps.nr_of_cpus && a->gaps.of_cpus[a->gaps.next].start <= ns) {
		const struct cpu_gap *gap = &a->gaps.of_cpus[a->gaps.next++];
		uint64_t start = gap->start > a->start_ns ? gap->start : a->start_ns;

		if (!gap->is_minor) {
			gap_log_add(&a->gaps, gap->start, gap->end);
			lost_cpu(a, &a->cpus[gap->cpu], start, gap->end);
		}
		doubt_begin(a, gap->cpu, gap->end);
	}
	doubt_pass(a, ns);
	gaps_next_prepare(a);
}

static void edge_pass(struct trace_analysis *a, uint64_t ns)
{
	gaps_begin(a, ns);
	window_edge(a);
	work_sums_edge(a, ns);
	disk_sums_edge(a, ns);
	identity_edge(a, ns);
	if (!a->is_past_window)
		probe_uses_forget(a);
}

/* The edges of a window come in the order of the gaps: the pass has one place to stop for both, and
 * for records of the start state that become true. */
void lost_begin(struct trace_analysis *a, uint64_t ns)
{
	later_apply(a, ns);
	/* an event of a damaged trace may be at UINT64_MAX, which is also no edge */
	while (a->window && window_next(a->window) <= ns && window_next(a->window) != UINT64_MAX)
		edge_pass(a, window_next(a->window));
	gaps_begin(a, ns);
}

/* Makes room for one more late gap, and for its entries in joined and late_losses. */
static bool late_gap_reserve(struct trace_analysis *a)
{
	size_t room = a->gaps.max_late ? 2 * a->gaps.max_late : 16;
	struct trace_gap *late;
	uint64_t *losses;
	struct gap *gaps;

	if (a->gaps.nr_late < a->gaps.max_late)
		return true;
	late = reallocarray(a->gaps.late, room, sizeof(*late));
	if (late)
		a->gaps.late = late;
	losses = reallocarray(a->gaps.late_losses, room, sizeof(*losses));
	if (losses)
		a->gaps.late_losses = losses;
	gaps = reallocarray(a->gaps.joined, a->gaps.nr_of_cpus + room, sizeof(*gaps));
	if (gaps)
		a->gaps.joined = gaps;
	if (!late || !losses || !gaps)
		return false;
	a->gaps.max_late = room;
	return true;
}

/* Does for a late gap what lost_prepare() does for the gaps known before the pass. */
static void late_gap_begin(struct trace_analysis *a, const struct trace_gap *gap)
{
	if (is_user(a, gap->stream))
		return;
	a->gaps.late_losses[a->gaps.nr_late_losses++] = gap->start_ns;
	doubt_begin(a, gap->cpu, gap->end_ns);
	gaps_next_prepare(a);
	if (is_minor(a, gap))
		return;
	gap_log_add(&a->gaps, gap->start_ns, gap->end_ns);
	lost_cpu(a, &a->cpus[gap->cpu], gap->start_ns > a->start_ns ? gap->start_ns : a->start_ns, gap->end_ns);
}

void lost_found(void *analysis, const struct trace_gap *gap)
{
	struct trace_analysis *a = analysis;

	if (!a->gaps.joined) /* the pass has not begun: the cursor is rewound and reports it again */
		return;
	if (!late_gap_reserve(a)) {
		a->failed = -ENOMEM;
		return;
	}
	lost_begin(a, gap->start_ns);
	if (gap->start_ns > a->now)
		a->now = gap->start_ns;
	a->gaps.late[a->gaps.nr_late++] = *gap;
	late_gap_begin(a, gap);
	for (size_t i = 0; i < a->hooks.nr; i++)
		if (a->hooks.list[i].damage)
			a->hooks.list[i].damage(a->hooks.list[i].data, a, gap);
}

const char *trace_analysis_start_damage(const struct trace_analysis *a, uint64_t *ret_lost)
{
	*ret_lost = a->start_lost;
	return a->start_damage.code == -EBADMSG ? a->start_damage.message : NULL;
}

size_t trace_analysis_nr_late_gaps(const struct trace_analysis *a)
{
	return a->gaps.nr_late;
}

const struct trace_gap *trace_analysis_get_late_gap(const struct trace_analysis *a, size_t idx)
{
	return idx < a->gaps.nr_late ? &a->gaps.late[idx] : NULL;
}
