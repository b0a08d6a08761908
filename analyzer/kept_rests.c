/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kept_rests.c - waits that look idle, until it is known whether they were: relay.c
 *
 * A thread keeps MAX_KEPT waits. If there are more, the oldest was a rest.
 */
#include <errno.h>
#include <stdlib.h>
#include "kept_rests.h"
#include "pending.h"
#include "relay.h"
#include "state.h"
#include "state_frame.h"
#include "wait_cause.h"

/* Account the first @nr kept waits in the frame of their call. */
static void account_first(struct trace_analysis *a, struct trace_thread *thread, uint32_t nr)
{
	struct kept_rests *rests = thread->requests.rests;
	struct frame frame = thread->frames[0];
	uint8_t depth = thread->depth;

	thread->depth = 1;
	for (; nr; nr--) {
		const struct kept_rest *kept = kept_at(rests, 0);

		thread->frames[0] = (struct frame){.kind = FRAME_SYSCALL,
						   .call = kept->call,
						   .file = kept->file,
						   .nr_args = 1,
						   .args = {kept->argument}};
		pending_account(a, thread, &kept->wait, &kept->cause);
		rests->first = (rests->first + 1) % MAX_KEPT;
		rests->nr--;
	}
	thread->frames[0] = frame;
	thread->depth = depth;
}

void rests_end(struct trace_analysis *a, struct trace_thread *thread)
{
	if (!thread || !thread->requests.rests)
		return;
	account_first(a, thread, thread->requests.rests->nr);
	free(thread->requests.rests);
	thread->requests.rests = NULL;
	a->nr_kept--;
}

/* Memory for the kept waits of @thread. */
static struct kept_rests *rests_get(struct trace_analysis *a, struct trace_thread *thread)
{
	if (!thread->requests.rests) {
		thread->requests.rests = calloc(1, sizeof(*thread->requests.rests));
		if (thread->requests.rests)
			a->nr_kept++;
		else
			a->failed = -ENOMEM;
	}
	return thread->requests.rests;
}

bool rest_is_kept(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		  const struct wait_cause *v)
{
	const struct frame *call = frame_outermost(thread);
	struct kept_rests *rests;

	if (!thread->requests.nr_relays)
		rests_end(a, thread);
	if (!thread->requests.nr_relays || pending->cut || pending->depth != 1 || !call)
		return false;
	rests = rests_get(a, thread);
	if (!rests)
		return false;
	if (rests->nr == MAX_KEPT)
		account_first(a, thread, 1);
	*kept_at(rests, rests->nr++) = (struct kept_rest){
		.wait = *pending, .cause = *v, .call = call->call, .file = call->file, .argument = call->args[0]};
	return true;
}

void rests_mark(const struct trace_thread *thread, uint64_t *files)
{
	struct kept_rests *rests = thread->requests.rests;

	for (uint32_t i = 0; rests && i < rests->nr; i++) {
		const struct kept_rest *kept = kept_at(rests, i);

		files[kept->file / 64] |= 1ull << kept->file % 64;
		files[kept->wait.waker.file / 64] |= 1ull << kept->wait.waker.file % 64;
		files[kept->wait.waker.second_file / 64] |= 1ull << kept->wait.waker.second_file % 64;
	}
}
