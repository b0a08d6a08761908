/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* servers_proof.c - which CPU time was certainly spent on one client */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "servers_state.h"

void tally_add(struct tally *tally, uint32_t origin)
{
	tally->nr++;
	tally->sum += origin;
	tally->squares += (unsigned __int128)origin * origin;
}

void tally_remove(struct tally *tally, uint32_t origin)
{
	tally->nr--;
	tally->sum -= origin;
	tally->squares -= (unsigned __int128)origin * origin;
}

/* Numbers are all equal to their mean if their variance is 0. */
bool tally_is_only(const struct tally *tally, uint32_t origin)
{
	return !tally->unsure && tally->sum == (uint64_t)tally->nr * origin &&
	       tally->squares == (unsigned __int128)tally->sum * origin;
}

/* True if a thread that works on requests of @origin has no other request in hand. */
static bool is_apart(const struct servers_thread *thread, uint32_t origin)
{
	return thread->fresh && !thread->trails && !thread->ring.polled && thread->seen_held == thread->held_version &&
	       tally_is_only(&thread->held, origin) && tally_is_only(&thread->trailing, origin);
}

static bool is_alone(const struct servers_thread *thread, uint32_t origin)
{
	const struct servers_process *process = thread->process;

	return thread->seen_open == process->open_version && tally_is_only(&process->open, origin);
}

/* The entry of @thread, or the one that it takes: a free one, or the one with less time. */
static struct pending_of *pending_of(struct pending_proof *pending, const struct servers_thread *thread)
{
	struct pending_of *found = &pending->of[0];

	for (uint32_t i = 0; i < PROOF_WORKERS; i++) {
		if (pending->of[i].worker == thread)
			return &pending->of[i];
		if (pending->of[i].proof.apart < found->proof.apart)
			found = &pending->of[i];
	}
	return found;
}

/*
 * True if the thread has no request in hand but @request, also none of the same client. In the call
 * that answers it, @request is one of those that are answered.
 */
static bool is_own(const struct servers_thread *thread, const struct server_request *request)
{
	return thread->held.nr + thread->trailing.nr == 1 && request->window && request->window->holder == thread;
}

uint32_t proof_add(struct trace_servers *s, struct servers_thread *thread, const struct set *set, uint32_t origin,
		   uint64_t ns)
{
	struct server_request *request = set->items[set->nr - 1];
	const struct proofs *proofs = thread->process->proofs;
	struct pending_of *pending;
	bool alone;

	if (!request->counted || !is_apart(thread, origin))
		return SHARE_UNPROVEN;
	if (!request->pending)
		request->pending = calloc(1, sizeof(*request->pending));
	if (!request->pending) {
		s->failed = -ENOMEM;
		return SHARE_UNPROVEN;
	}
	pending = pending_of(request->pending, thread);
	if (pending->worker != thread || (proofs && pending->since_ns <= proofs->refuted_ns))
		*pending = (struct pending_of){.worker = thread,
					       .since_ns = trace_analysis_now(s->analysis),
					       .share_proof = shares_new_proof(s->shares, thread->process)};
	alone = is_alone(thread, origin);
	pending->proof.apart += ns;
	if (alone)
		pending->proof.alone += ns;
	if (__builtin_expect(s->kept != NULL, 0) && set->nr == 1 && is_own(thread, request)) {
		pending->own.apart += ns;
		pending->own.alone += alone && thread->process->open.nr == 1 ? ns : 0;
	}
	return pending->share_proof << 1 | alone;
}

bool proof_is_doubtful(const struct servers_thread *thread, const struct set *set)
{
	const struct tally *tally = process_crosses(thread->process) ? &thread->process->open : &thread->held;

	if (!thread->process->open.nr && !thread->process->open.unsure)
		return false;
	if ((thread->by_guess && !thread->fresh) || thread_guesses(thread))
		return true;
	for (uint32_t i = 0; set && i < set->nr; i++)
		if (!tally_is_only(tally, set->items[i]->origin))
			return true;
	return !set && tally->nr;
}

void proof_seen(struct servers_thread *thread)
{
	thread->seen_held = thread->held_version;
	thread->seen_open = thread->process->open_version;
}

bool proof_is_unsure(const struct server_request *request, const struct servers_process **ret_doubter)
{
	const struct servers_process *doubter = NULL;
	bool unsure = false, several = false;

	for (; request; request = request->parent) {
		if (!request->unsure)
			continue;
		several |= unsure && request->sender != doubter;
		doubter = request->sender;
		unsure = true;
	}
	*ret_doubter = several ? NULL : doubter;
	return unsure;
}

struct proof_taken *proof_take(struct trace_servers *s, const struct servers_thread *thread,
			       struct server_request *request)
{
	struct proofs *proofs = thread->process->proofs;
	struct proof_taken *taken;
	struct pending_of pending;
	const struct servers_process *doubter;

	if (!request->pending)
		return NULL;
	pending = *pending_of(request->pending, thread);
	if (pending.worker != thread)
		return NULL;
	free(request->pending);
	request->pending = NULL;
	if (!proofs)
		proofs = thread->process->proofs = calloc(1, sizeof(*proofs));
	if (!proofs)
		s->failed = -ENOMEM;
	if (!proofs || (proofs->refuted_ns && pending.since_ns <= proofs->refuted_ns))
		return NULL;
	if (proof_is_unsure(request, &doubter) && !doubter)
		return NULL;
	taken = &proofs->items[proofs->nr++ % PROOFS];
	*taken = (struct proof_taken){.ns = trace_analysis_now(s->analysis),
				      .origin = request->origin,
				      .share_proof = pending.share_proof,
				      .doubter = doubter,
				      .proof = pending.proof,
				      .own = pending.own,
				      .kept = request->kept};
	shares_proven(s->shares, taken->share_proof, doubter);
	return taken;
}
