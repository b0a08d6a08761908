/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drain_ended.h"

#include <stdlib.h>

#include "writer_thread.h"

static bool change(struct drain_ended *ended, int from, int to)
{
	return __atomic_compare_exchange_n(&ended->state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* In the writer's thread. */
static int write_streams(void *context, struct trace_writer *writer, struct trace_error *ret_error)
{
	struct drain_ended *ended = context;
	int err;

	if (!change(ended, ENDED_QUEUED, ENDED_WRITING))
		return 0;
	err = trace_writer_end_streams(writer, ended->streams, ended->nr, ret_error);
	__atomic_store_n(&ended->state, err ? ENDED_FREE : ENDED_WRITTEN, __ATOMIC_RELEASE);
	return err;
}

int drain_ended_push(struct drain_ended *ended, struct writer_thread *thread)
{
	int err;

	__atomic_store_n(&ended->state, ENDED_QUEUED, __ATOMIC_RELEASE);
	err = writer_thread_push_call(thread, write_streams, ended);
	if (err)
		__atomic_store_n(&ended->state, ENDED_FREE, __ATOMIC_RELEASE);
	return err;
}

bool drain_ended_is_free(const struct drain_ended *ended)
{
	return __atomic_load_n(&ended->state, __ATOMIC_ACQUIRE) == ENDED_FREE;
}

bool drain_ended_take(struct drain_ended *ended)
{
	return change(ended, ENDED_WRITTEN, ENDED_FREE);
}

void drain_ended_cancel(struct drain_ended *ended)
{
	change(ended, ENDED_QUEUED, ENDED_FREE);
}

void drain_ended_release(struct drain_ended *ended)
{
	free(ended->streams);
}
