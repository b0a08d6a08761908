/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * frame_end.c - ends frames: the system call that a thread is in, and the page faults in that call
 *
 * A frame keeps a snapshot of the thread's sums at the entry. At the exit, the difference from the
 * current sums is added to the row of the call. The cost of a call does not depend on the number of
 * interruptions.
 */
#include "frame_end.h"
#include "latency.h"
#include "pending.h"
#include "state.h"
#include "state_frame.h"
#include "window.h"

static void frame_account(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const struct frame *frame,
			  int64_t ret)
{
	bool trap = frame->kind == FRAME_TRAP;
	struct call_row *row = acct_row(a, trap ? &thread->acct.traps : &thread->acct.calls, sizeof(*row),
					trap ? 1 : frame->call + 1ull);
	uint64_t elapsed = ns - frame->begin.ns;
	struct thread_snapshot end;

	thread_snapshot(thread, ns, &end);
	acct_latency(a, thread, trap, latency_key(row->key, elapsed));
	if (elapsed > row->longest)
		row->longest = elapsed;
	if (~elapsed > row->shortest)
		row->shortest = ~elapsed;
	row->calls++;
	row->errors += frame_is_error(frame, ret);
	row->elapsed += elapsed;
	row->cpu += end.cpu - frame->begin.cpu;
	row->interrupted += end.interrupted - frame->begin.interrupted;
	row->wait_cpu += end.wait_cpu - frame->begin.wait_cpu;
	row->wait += end.wait - frame->begin.wait;
}

void frames_pop(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, unsigned int depth, int64_t ret)
{
	while (thread->depth > depth) {
		if (thread->nr_pending || thread->keeps_waits)
			pending_decide(a, thread, thread->depth - 1u);
		thread->depth--;
		if (__builtin_expect(a->window != NULL, 0))
			window_call(a, thread, ns, &thread->frames[thread->depth], ret);
		if (__builtin_expect(a->hooks.tables != NULL, 0))
			a->hooks.tables->call(a->hooks.tables_data, thread, ns, &thread->frames[thread->depth], ret);
		frame_account(a, thread, ns, &thread->frames[thread->depth], ret);
	}
}
