/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lookahead.c - a second cursor over one CPU's scheduling changes, ahead of the main one. The
 * analysis and the list of events use it.
 */
#include "lookahead.h"
#include "running_name.h"

#include <errno.h>

#define FAR_NS 20000000u /* ns; for a longer distance a seek is cheaper than reading on */
/*
 * After each 64 seeks the distance that justifies a seek doubles. Seeking is slow where many chunks
 * overlap, as in a crafted file.
 */
#define SEEKS_AT_ONCE 64u

static bool is_far(const struct lookahead *ahead, uint64_t ns)
{
	uint32_t doubled = ahead->seeks / SEEKS_AT_ONCE;

	return ns > ahead->ns && ns - ahead->ns > (uint64_t)FAR_NS << (doubled < 32 ? doubled : 32);
}

/*
 * No further change: the end of the trace is reached, or memory ran out. A damaged chunk is a loss,
 * not an error.
 */
static bool end_of(struct lookahead *ahead)
{
	int error = ahead->cursor ? trace_cursor_error(ahead->cursor, NULL) : -ENOMEM;

	if (error && error != -EBADMSG)
		ahead->error = error;
	return false;
}

static bool begin(struct lookahead *ahead, const struct trace *trace, uint32_t cpu)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {.size = sizeof(options), .mask = mask, .cpus = &cpu, .nr_cpus = 1};

	if (ahead->by_name)
		running_name_mask(mask);
	mask[TRACE_EV_sched_switch / 64] |= 1ull << TRACE_EV_sched_switch % 64;
	mask[TRACE_EV_sched_exec / 64] |= 1ull << TRACE_EV_sched_exec % 64;
	mask[TRACE_EV_trace_lost / 64] |= 1ull << TRACE_EV_trace_lost % 64;
	if (!ahead->cursor)
		ahead->cursor = trace_cursor_new(trace, &options, NULL);
	return ahead->cursor;
}

static void set_change(struct lookahead *ahead, uint32_t prev, uint32_t renamed)
{
	ahead->prev = prev;
	ahead->renamed = renamed;
	ahead->exec.tid = 0;
}

/* The thread of an exec had its old number since the last switch, if it leaves at the next one. */
static void note_exec(struct lookahead *ahead, const struct trace_sched_exec *exec)
{
	if (!ahead->exec.tid)
		ahead->exec.old_tid = exec->old_tid;
	if (!ahead->exec.tid || exec->old_tid == ahead->exec.tid)
		ahead->exec.tid = exec->tid;
}

static void take(struct lookahead *ahead, const struct trace_event *event, uint32_t prev)
{
	const struct trace_sched_exec *exec = event->id == TRACE_EV_sched_exec ? event->payload : NULL;

	if (exec && !ahead->by_name) {
		note_exec(ahead, exec);
		return;
	}
	if (event->ts_ns != ahead->ns)
		ahead->nr = 0;
	ahead->ns = event->ts_ns;
	if (event->id == TRACE_EV_trace_lost) {
		ahead->lost = !ahead->exec.tid;
		if (ahead->exec.tid)
			set_change(ahead, ahead->exec.old_tid, ahead->exec.tid);
		return;
	}
	ahead->nr += event->id == TRACE_EV_sched_switch;
	if (ahead->exec.tid && prev == ahead->exec.tid)
		set_change(ahead, ahead->exec.old_tid, prev);
	else
		set_change(ahead, prev, exec ? exec->tid : 0);
}

/* The end of the trace ends the last exec's slice. */
static bool take_end(struct lookahead *ahead)
{
	end_of(ahead);
	if (ahead->error || !ahead->exec.tid)
		return false;
	set_change(ahead, ahead->exec.old_tid, ahead->exec.tid);
	ahead->ns = UINT64_MAX;
	return true;
}

bool lookahead_switch(struct lookahead *ahead, const struct trace *trace, uint32_t cpu, uint64_t ns, uint32_t nr,
		      uint32_t *ret_prev)
{
	const struct trace_event *event;
	uint32_t prev = 0;

	if (!begin(ahead, trace, cpu))
		return end_of(ahead);
	if (is_far(ahead, ns)) {
		ahead->seeks++;
		if (trace_cursor_seek(ahead->cursor, ns) < 0)
			return end_of(ahead);
		ahead->nr = 0;
		ahead->exec.tid = 0;
	}
	while (ahead->ns < ns || (ahead->ns == ns && ahead->nr <= nr)) {
		event = trace_cursor_next(ahead->cursor);
		if (!event) {
			if (!take_end(ahead))
				return false;
			break;
		}
		ahead->lost = is_loss_of_switches(event, trace_get_info(trace)->nr_cpus);
		if (ahead->lost || running_name(event, &prev))
			take(ahead, event, prev);
	}
	if (ahead->lost)
		return false;
	*ret_prev = ahead->prev;
	return true;
}

void lookahead_end(struct lookahead *ahead)
{
	ahead->cursor = trace_cursor_free(ahead->cursor);
}
