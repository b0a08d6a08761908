/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_share.c - where in time the billed CPU time is
 *
 * Example: a thread has a CPU from 10 to 30 us and from 50 to 60 us: 20 us of CPU time at 30 us,
 * 30 us at 60 us. Then it answers A, and the CPU time from 5 to 25 us is billed to A. The shares
 * are 15 to 30 us and 50 to 55 us. The bill before it, until 5 us, was background and is not kept.
 */
#include "servers_share.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "servers_process.h"
#include "servers_thread.h"

/*
 * A thread without requests gets no bill, so millions of stretches may wait. @gap_ns: from the end
 * of the stretch before it. A longer gap needs several entries, the first of which have no @ns
 */
struct share_stretch {
	uint32_t gap_ns, ns;
};
/* @until: CPU time of the thread */
struct share_bill {
	uint64_t until;
	uint32_t who, proof, at;
};

/* Entries before the first one of a queue are used up. */
struct share_thread {
	uint64_t until;			 /* CPU time; all of it has its bill and its stretch */
	uint64_t first_ns, last_ns;	 /* time: the first stretch begins its gap after it; the last one ends */
	struct share_stretch *stretches; /* owned; after join(), these are used up, or @bills are */
	struct share_bill *bills;	 /* owned */
	uint32_t nr_stretches, max_stretches, first_stretch;
	uint32_t nr_bills, max_bills, first_bill;
	struct share_list shares; /* owned */
};

enum proof_fate { PROOF_WAITS, PROOF_HOLDS, PROOF_REFUTED };
struct share_proof {
	const struct servers_process *doubter;
	uint32_t process; /* servers_process.idx */
	uint8_t fate;	  /* enum proof_fate */
};

struct servers_shares {
	size_t nr, max; /* all entries of all threads */
	int failed;
	struct share_thread *threads; /* owned; by trace_thread_index() */
	uint32_t nr_threads;
	struct share_proof *proofs; /* owned; number n is at n - 1 */
	uint32_t nr_proofs, max_proofs;
	uint32_t *refuted; /* owned; by process: the proofs until this number are refuted */
	uint32_t nr_processes;
	uint32_t *lists; /* owned; origins of shares that have several: their number, and they */
	uint32_t nr_lists, max_lists;
	uint32_t last_list; /* the latest of these */
};

struct servers_shares *shares_new(size_t max)
{
	struct servers_shares *shares = calloc(1, sizeof(*shares));

	if (shares)
		shares->max = max;
	return shares;
}

static void drop(struct servers_shares *shares)
{
	for (uint32_t i = 0; i < shares->nr_threads; i++) {
		free(shares->threads[i].stretches);
		free(shares->threads[i].bills);
		free(shares->threads[i].shares.items);
	}
	free(shares->threads);
	free(shares->proofs);
	free(shares->refuted);
	free(shares->lists);
	*shares = (struct servers_shares){.failed = shares->failed};
}

struct servers_shares *shares_free(struct servers_shares *shares)
{
	if (shares)
		drop(shares);
	free(shares);
	return NULL;
}

int shares_failed(const struct servers_shares *shares)
{
	return shares->failed;
}

static void fail(struct servers_shares *shares, int error)
{
	shares->failed = error;
	drop(shares);
}

/* Returns @array of @nr with room for one more; NULL: there is none, and the shares are dropped. */
static void *grow(struct servers_shares *shares, void *array, uint32_t nr, uint32_t *max, size_t bytes)
{
	uint32_t more = *max ? *max * 2 : 8;
	void *bigger;

	if (nr < *max)
		return array;
	bigger = more > nr && more < SHARE_SEVERAL ? reallocarray(array, more, bytes) : NULL;
	if (!bigger) {
		fail(shares, -ENOMEM);
		return NULL;
	}
	memset((char *)bigger + nr * bytes, 0, (more - nr) * bytes);
	*max = more;
	return bigger;
}

static bool counts(struct servers_shares *shares)
{
	if (++shares->nr <= shares->max)
		return true;
	fail(shares, -E2BIG);
	return false;
}

static struct share_thread *thread_of(struct servers_shares *shares, uint32_t index)
{
	while (!shares->failed && index >= shares->nr_threads) {
		void *threads = grow(shares, shares->threads, shares->nr_threads, &shares->nr_threads,
				     sizeof(*shares->threads));

		if (threads)
			shares->threads = threads;
	}
	return shares->failed ? NULL : &shares->threads[index];
}

/* ---- shares ---- */

const uint32_t *shares_origins(const struct servers_shares *shares, const struct share *share, uint32_t *ret_nr)
{
	if (share->who < SHARE_SEVERAL) {
		*ret_nr = 1;
		return &share->who;
	}
	*ret_nr = shares->lists[share->who - SHARE_SEVERAL];
	return &shares->lists[share->who - SHARE_SEVERAL + 1];
}

/* True if @after goes on where @before ends. */
static bool continues(const struct servers_shares *shares, const struct share *before, const struct share *after)
{
	uint32_t nr;

	if (before->to_ns != after->from_ns || before->who != after->who || before->proof != after->proof)
		return false;
	shares_origins(shares, before, &nr);
	return (before->at + (before->to_ns - before->from_ns)) % nr == after->at;
}

static void keep(struct servers_shares *shares, struct share_list *list, const struct share *share)
{
	struct share *items;

	if (list->nr && continues(shares, &list->items[list->nr - 1], share)) {
		list->items[list->nr - 1].to_ns = share->to_ns;
		return;
	}
	items = counts(shares) ? grow(shares, list->items, list->nr, &list->max, sizeof(*share)) : NULL;
	if (!items)
		return;
	list->items = items;
	list->items[list->nr++] = *share;
}

/* The heads of both queues make a share. */
static void join_one(struct servers_shares *shares, struct share_thread *thread)
{
	struct share_stretch *stretch = &thread->stretches[thread->first_stretch];
	struct share_bill *bill = &thread->bills[thread->first_bill];
	uint64_t ns = stretch->ns, from_ns = thread->first_ns + stretch->gap_ns;
	struct share share;

	if (bill->until - thread->until < ns)
		ns = bill->until - thread->until;
	share = (struct share){from_ns, from_ns + ns, bill->who, bill->proof, bill->at};
	if (bill->who != SHARE_NOBODY) {
		uint32_t nr;

		shares_origins(shares, &share, &nr);
		bill->at = (uint32_t)((bill->at + ns) % nr);
	}
	thread->first_ns = from_ns + ns;
	stretch->gap_ns = 0;
	stretch->ns -= (uint32_t)ns;
	thread->until += ns;
	if (!stretch->ns) {
		thread->first_stretch++;
		shares->nr--;
	}
	if (thread->until == bill->until) {
		thread->first_bill++;
		shares->nr--;
	}
	if (thread->first_stretch == thread->nr_stretches)
		thread->first_stretch = thread->nr_stretches = 0;
	if (thread->first_bill == thread->nr_bills)
		thread->first_bill = thread->nr_bills = 0;
	if (ns && share.who != SHARE_NOBODY)
		keep(shares, &thread->shares, &share);
}

static void join(struct servers_shares *shares, struct share_thread *thread)
{
	while (!shares->failed && thread->nr_stretches && thread->nr_bills)
		join_one(shares, thread);
}

static void add_stretch(struct servers_shares *shares, struct share_thread *thread, uint32_t gap_ns, uint32_t ns)
{
	struct share_stretch *stretches = NULL;

	if (!shares->failed && counts(shares))
		stretches = grow(shares, thread->stretches, thread->nr_stretches, &thread->max_stretches,
				 sizeof(*stretches));
	if (!stretches)
		return;
	thread->stretches = stretches;
	thread->stretches[thread->nr_stretches++] = (struct share_stretch){gap_ns, ns};
}

/* The part of @ns that an entry can have. */
static uint32_t most_of(uint64_t ns)
{
	return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* @thread, with an empty queue or with stretches until before @from_ns. The time of a damaged trace
 * may need more entries than the limit. */
static void add_stretches(struct servers_shares *shares, struct share_thread *thread, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t gap_ns = from_ns - thread->last_ns, ns = to_ns - from_ns;

	for (; gap_ns > UINT32_MAX && !shares->failed; gap_ns -= UINT32_MAX)
		add_stretch(shares, thread, UINT32_MAX, 0);
	add_stretch(shares, thread, (uint32_t)gap_ns, most_of(ns));
	for (ns -= most_of(ns); ns && !shares->failed; ns -= most_of(ns))
		add_stretch(shares, thread, 0, most_of(ns));
}

void shares_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	uint64_t from_ns = interval->from_ns, to_ns = interval->to_ns;
	struct servers_shares *shares = data;
	struct share_thread *thread;
	struct share_stretch *last;

	if (shares->failed || trace_process_is_kernel(trace_thread_process(interval->thread)))
		return;
	thread = thread_of(shares, trace_thread_index(interval->thread));
	if (!thread)
		return;
	last = thread->nr_stretches ? &thread->stretches[thread->nr_stretches - 1] : NULL;
	if (last && thread->last_ns == from_ns && to_ns - from_ns <= UINT32_MAX - last->ns) {
		last->ns += (uint32_t)(to_ns - from_ns);
		thread->last_ns = to_ns;
		return;
	}
	if (!last)
		thread->first_ns = thread->last_ns = from_ns;
	add_stretches(shares, thread, from_ns, to_ns);
	if (shares->failed)
		return;
	thread->last_ns = to_ns;
	join(shares, thread);
}

/* Returns where the list of these origins is. */
static uint32_t list_of(struct servers_shares *shares, const uint32_t *origins, uint32_t nr)
{
	if (shares->nr_lists && shares->lists[shares->last_list] == nr &&
	    memcmp(&shares->lists[shares->last_list + 1], origins, nr * sizeof(*origins)) == 0)
		return SHARE_SEVERAL + shares->last_list;
	shares->last_list = shares->nr_lists;
	for (uint32_t i = 0; i <= nr; i++) {
		uint32_t *lists = grow(shares, shares->lists, shares->nr_lists, &shares->max_lists,
				       sizeof(*shares->lists));

		if (!lists)
			return SHARE_NOBODY;
		shares->lists = lists;
		shares->lists[shares->nr_lists++] = i ? origins[i - 1] : nr;
	}
	return SHARE_SEVERAL + shares->last_list;
}

void shares_bill(struct servers_shares *shares, const struct servers_thread *billed, uint64_t until,
		 const uint32_t *origins, uint32_t nr, uint32_t at, uint32_t proof)
{
	struct share_thread *thread = thread_of(shares, trace_thread_index(billed->thread));
	struct share_bill bill = {until, SHARE_NOBODY, proof, at}, *last, *bills;

	if (thread && nr)
		bill.who = nr == 1 ? origins[0] : list_of(shares, origins, nr);
	if (!thread || shares->failed)
		return;
	last = thread->nr_bills ? &thread->bills[thread->nr_bills - 1] : NULL;
	if (last && last->who == SHARE_NOBODY && !nr) {
		last->until = until;
		return;
	}
	bills = counts(shares) ? grow(shares, thread->bills, thread->nr_bills, &thread->max_bills, sizeof(*bills))
			       : NULL;
	if (!bills)
		return;
	thread->bills = bills;
	thread->bills[thread->nr_bills++] = bill;
	join(shares, thread);
}

const struct share_list *shares_of(const struct servers_shares *shares, uint32_t thread)
{
	static const struct share_list none;

	return thread < shares->nr_threads ? &shares->threads[thread].shares : &none;
}

/* ---- proofs ---- */

uint32_t shares_new_proof(struct servers_shares *shares, const struct servers_process *process)
{
	struct share_proof *proofs;

	if (!shares || shares->failed || !counts(shares))
		return 0;
	proofs = grow(shares, shares->proofs, shares->nr_proofs, &shares->max_proofs, sizeof(*proofs));
	if (!proofs)
		return 0;
	shares->proofs = proofs;
	shares->proofs[shares->nr_proofs] = (struct share_proof){.process = process->idx};
	return ++shares->nr_proofs;
}

void shares_proven(struct servers_shares *shares, uint32_t number, const struct servers_process *doubter)
{
	if (!shares || !number || number > shares->nr_proofs)
		return;
	shares->proofs[number - 1].fate = PROOF_HOLDS;
	shares->proofs[number - 1].doubter = doubter;
}

void shares_refuted(struct servers_shares *shares, uint32_t number)
{
	if (shares && number && number <= shares->nr_proofs)
		shares->proofs[number - 1].fate = PROOF_REFUTED;
}

void shares_refuted_all(struct servers_shares *shares, const struct servers_process *process)
{
	if (!shares || shares->failed)
		return;
	while (process->idx >= shares->nr_processes) {
		uint32_t *refuted = grow(shares, shares->refuted, shares->nr_processes, &shares->nr_processes,
					 sizeof(*refuted));

		if (!refuted)
			return;
		shares->refuted = refuted;
	}
	shares->refuted[process->idx] = shares->nr_proofs;
}

bool shares_is_exact(const struct servers_shares *shares, const struct share *share,
		     const struct servers_process *process)
{
	uint32_t number = share->proof / 2;
	const struct share_proof *proof;

	if (share->proof == SHARE_NAMED)
		return true;
	if (!number || number > shares->nr_proofs)
		return false;
	proof = &shares->proofs[number - 1];
	if (proof->process < shares->nr_processes && number <= shares->refuted[proof->process])
		return false;
	return proof->fate == PROOF_HOLDS && !(proof->doubter && process_is_server(proof->doubter)) &&
	       (!process_crosses(process) || share->proof & 1);
}
