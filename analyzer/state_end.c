/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_end.c - the waits of threads at the end of the recording, as the recorder read them
 *
 * A poll has its descriptors in the program's memory, and an epoll has them in the kernel: no event
 * records them. If an event ended a wait, the waker in it is enough. For waits that did not end,
 * the recorder reads the descriptors when it stops. It also reads two other things then: the call
 * of a thread that entered it before the recording, and the process that holds the lock of a file.
 * The reading is a moment after the end, so it is used only for a thread that was in the same call.
 */
#include <errno.h>
#include <stdlib.h>
#include "call_file.h"
#include "state.h"
#include "state_frame.h"
#include "state_end.h"

static void add_fd(struct trace_analysis *a, struct end_wait *end, int32_t fd)
{
	if (a->end.nr_fds >= a->end.max_fds) {
		uint32_t max = a->end.max_fds ? a->end.max_fds * 2 : 64;
		int32_t *bigger = reallocarray(a->end.fds, max, sizeof(*bigger));

		if (!bigger) {
			a->failed = -ENOMEM;
			return;
		}
		a->end.fds = bigger;
		a->end.max_fds = max;
	}
	if (!end->nr_fds)
		end->first_fd = a->end.nr_fds;
	if (end->first_fd + end->nr_fds != a->end.nr_fds)
		return; /* the records of a thread are adjacent */
	a->end.fds[a->end.nr_fds++] = fd;
	end->nr_fds++;
}

/* A wait has one record for each descriptor, or a single one with descriptor -1. */
void end_load(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_end_wait *wait = event->payload;
	struct end_wait *end = acct_row(a, &a->end.waits, sizeof(*end), wait->tid + 1ull);

	end->ns = event->ts_ns;
	end->call = call_get(a, (uint32_t)wait->nr, wait->abi);
	end->args[0] = wait->arg0;
	end->args[1] = wait->arg1;
	end->args[2] = wait->arg2;
	end->args[3] = wait->arg3;
	end->holder = wait->pid;
	end->counts_fds |= wait->complete;
	if (wait->fd >= 0)
		add_fd(a, end, wait->fd);
}

/*
 * Compares the arguments, too: the next call may have the same number, as with one poll after
 * another.
 */
static bool is_same_call(const struct trace_analysis *a, const struct end_wait *end, const struct frame *frame)
{
	unsigned int addresses = a->calls[frame->call].addresses;

	for (int i = 0; i < 4 && i < frame->nr_args; i++)
		if (addresses >> i & 1 ? !end->args[i] != !frame->args[i] : end->args[i] != frame->args[i])
			return false;
	return end->call == frame->call;
}

const struct end_wait *end_wait_of(const struct trace_analysis *a, const struct trace_thread *thread,
				   const struct frame *frame)
{
	const struct end_wait *end = table_find(&a->end.waits, sizeof(*end), thread->tid + 1ull);

	return end && is_same_call(a, end, frame) ? end : NULL;
}

void end_learn_call(struct trace_analysis *a, struct trace_thread *thread)
{
	const struct end_wait *end = table_find(&a->end.waits, sizeof(*end), thread->tid + 1ull);
	struct frame *frame = &thread->frames[0];

	if (!end || thread->depth > 1 || frame->kind != FRAME_SYSCALL || frame->call != CALL_UNKNOWN ||
	    thread->since > end->ns)
		return;
	frame->call = end->call;
	for (int i = 0; i < 4; i++)
		frame->args[i] = end->args[i];
	frame->nr_args = 4;
	frame->file = call_file(a, thread, frame);
}

void end_state_clear(struct end_state *end)
{
	table_clear(&end->waits);
	free(end->fds);
}
