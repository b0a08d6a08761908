/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "thread_rare.h"
#include <errno.h>
#include <stdlib.h>
#include "state.h"

struct thread_rare *thread_rare(struct trace_analysis *a, struct trace_thread *thread)
{
	if (!thread->rare)
		thread->rare = calloc(1, sizeof(*thread->rare));
	if (!thread->rare)
		a->failed = -ENOMEM;
	return thread->rare;
}
