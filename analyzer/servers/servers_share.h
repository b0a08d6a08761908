/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_SHARE_H
#define ANALYZER_SERVERS_SERVERS_SHARE_H
/*
 * servers_share.h - where in time the billed CPU time is, for callers that asked to keep it
 *
 * A bill is from one CPU time of a thread to another one, and may come long after it. So the
 * stretches in which a thread had a CPU wait here for their bill, or bills for their stretch. The
 * time that both cover is a share: an interval, and its origin or origins. Whether it is proven is
 * decided even later, so a share keeps the number of its proof.
 *
 * Several origins take turns at each ns, as bill_several() counts them. So each part of such a
 * share is divided, too, and the parts add up.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/analysis.h>

struct servers_process;
struct servers_thread;
struct servers_shares;

/* the proof of a bill: the number of the proof * 2 + alone, or one of these */
#define SHARE_UNPROVEN 0u
#define SHARE_NAMED    1u

#define SHARE_NOBODY  UINT32_MAX /* share.who: background */
#define SHARE_SEVERAL 0x80000000u

/*
 * @who: an origin; or SHARE_SEVERAL + where its number of origins is in servers_shares.lists, and
 *     they follow
 * @at: several: which of them the first ns is for
 */
struct share {
	uint64_t from_ns, to_ns;
	uint32_t who;
	uint32_t proof;
	uint32_t at;
};

/* row of a growing array: the shares of a thread, in order of time */
struct share_list {
	struct share *items;
	uint32_t nr, max;
};

/** shares_new() - keep at most @max shares; NULL: out of memory */
struct servers_shares *shares_new(size_t max);
struct servers_shares *shares_free(struct servers_shares *shares); /* NULL is fine; returns NULL */
/** shares_interval() - interval hook for the states SHARES_STATES; @data: the shares */
#define SHARES_STATES \
	(1u << TRACE_STATE_USER | 1u << TRACE_STATE_SYSCALL | 1u << TRACE_STATE_TRAP | 1u << TRACE_STATE_RUNNING)
void shares_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval);
/**
 * shares_bill() - the CPU time of @thread since its last bill, until @until, is billed
 * @nr: of @origins; 0: background. @at: which of several gets the first ns
 */
void shares_bill(struct servers_shares *shares, const struct servers_thread *thread, uint64_t until,
		 const uint32_t *origins, uint32_t nr, uint32_t at, uint32_t proof);

/** shares_new_proof() - the number of a proof that waits for its answer; 0: @shares is NULL */
uint32_t shares_new_proof(struct servers_shares *shares, const struct servers_process *process);
/** shares_proven() - the answer came; see struct proof_taken for @doubter */
void shares_proven(struct servers_shares *shares, uint32_t number, const struct servers_process *doubter);
/**
 * shares_refuted() - it proves nothing
 * shares_refuted_all() - nor does any proof of @process so far
 */
void shares_refuted(struct servers_shares *shares, uint32_t number);
void shares_refuted_all(struct servers_shares *shares, const struct servers_process *process);

/* For reading: servers_share_list.c. */
/** shares_failed() - 0, -E2BIG or -ENOMEM */
int shares_failed(const struct servers_shares *shares) TRACE_NODISCARD;
const struct share_list *shares_of(const struct servers_shares *shares, uint32_t thread);
/** shares_origins() - the origins of @share */
const uint32_t *shares_origins(const struct servers_shares *shares, const struct share *share, uint32_t *ret_nr);
/** shares_is_exact() - true if @share of @process is proven, by what is known now */
bool shares_is_exact(const struct servers_shares *shares, const struct share *share,
		     const struct servers_process *process);
#endif
