/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_BUDGET_H
#define DAEMON_BUDGET_H
/*
 * budget.h - limits on what the programs of one user may cost the daemon.
 *
 * A program chooses how often it connects, how many memories it offers, how large they are, and how
 * many events it registers. The daemon pays for each with time, memory and descriptors. So each
 * user (uid) has an account:
 *
 *	amounts   used now, such as programs or bytes: budget_charge() adds,
 *	          budget_release() gives back
 *	rates     what happens repeatedly, such as offers or messages: budget_take() takes,
 *	          and time refills
 *
 * All users that are not trusted share a second limit on each amount, because one user may have
 * many uids (user namespaces). One program may bring only a part of its user's event types into the
 * trace, so that the user's other programs find room for theirs. Root and the daemon's own user are
 * trusted: their amounts and rates have no limit, except messages. The limits are above what honest
 * programs need. A caller that refuses something reports it, and counts what is lost.
 *
 * One thread.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum budget_amount {
	BUDGET_PROGRAMS,    /* memories of living programs: two descriptors each */
	BUDGET_DEAD,	    /* memories of dead programs, kept for their children */
	BUDGET_ADDRESS,	    /* bytes of address space */
	BUDGET_MAPPED,	    /* bytes of rings read through their mapping; other rings are read from the file */
	BUDGET_PAGES,	    /* bytes of pages that the memories have: st_blocks */
	BUDGET_HEAP,	    /* bytes of the daemon's own memory */
	BUDGET_TYPES,	    /* event types that the trace has because of the user */
	BUDGET_CONNECTIONS, /* connections without an offer yet */
	BUDGET_NR_AMOUNTS
};

enum budget_rate {
	BUDGET_ACCEPTS,	 /* accepted connections */
	BUDGET_OFFERS,	 /* offered memories */
	BUDGET_MESSAGES, /* messages about the user's programs */
	BUDGET_SCANS,	 /* scans of /proc that a program can cause; account: BUDGET_EVERYBODY */
	BUDGET_MAPPINGS, /* mappings of processes that are examined */
	BUDGET_LOOKUPS,	 /* examinations of rings that may be in use */
	BUDGET_VISITS,	 /* visits to CPUs, to close blocks */
	BUDGET_WAITS,	 /* ms that the daemon waits for a writer */
	BUDGET_NR_RATES
};

#define BUDGET_EVERYBODY ((uid_t)-1) /* the account of costs that belong to no single user */

/**
 * struct budget_limits
 * @per_uid, @together: maximum of each amount, for one user and for all users that are not trusted
 * @per_s, @burst: maximum of each rate, per second and at once after a pause
 * @types_per_program: maximum of the event types that the trace has because of one program
 * @trusts_none: root and the daemon's own user have the same limits as all others
 */
struct budget_limits {
	uint64_t per_uid[BUDGET_NR_AMOUNTS];
	uint64_t together[BUDGET_NR_AMOUNTS];
	uint64_t per_s[BUDGET_NR_RATES];
	uint64_t burst[BUDGET_NR_RATES];
	uint64_t types_per_program;
	bool trusts_none;
};

/**
 * budget_default_limits() - for this machine: from its CPUs, its memory and this process's limit on
 * descriptors
 */
void budget_default_limits(struct budget_limits *ret_limits);

struct budget;

/** budget_new() - @limits: copied; NULL: the defaults. Returns NULL if there is no memory */
struct budget *budget_new(const struct budget_limits *limits);
struct budget *budget_free(struct budget *budget); /* NULL is fine; returns NULL */

/** budget_is_bounded() - does @uid have any limit other than messages? */
bool budget_is_bounded(const struct budget *budget, uid_t uid);
/** budget_is_shared() - were there so many users that some of them had one account together? */
bool budget_is_shared(const struct budget *budget);

/**
 * budget_charge() - add @nr to an amount. Returns false, without a change, if that exceeds a limit
 * Here and below, a NULL @budget has no limits.
 */
bool budget_charge(struct budget *budget, uid_t uid, enum budget_amount amount, uint64_t nr);
/** budget_release() - subtract @nr that were charged */
void budget_release(struct budget *budget, uid_t uid, enum budget_amount amount, uint64_t nr);
/** budget_used() - the amount charged now */
uint64_t budget_used(const struct budget *budget, uid_t uid, enum budget_amount amount);
/** budget_reset() - set @amount to 0 for all users */
void budget_reset(struct budget *budget, enum budget_amount amount);

/**
 * budget_types_per_program() - maximum of the event types that one program of @uid may add to the
 * trace
 */
uint64_t budget_types_per_program(const struct budget *budget, uid_t uid);

/** budget_take() - may @nr happen now? If so, they are counted */
bool budget_take(struct budget *budget, uid_t uid, enum budget_rate rate, uint64_t nr);

/**
 * budget_spend() - count @nr that have happened. If they exceed the rest, budget_take() refuses
 * until time has refilled the excess
 */
void budget_spend(struct budget *budget, uid_t uid, enum budget_rate rate, uint64_t nr);

/**
 * budget_may_report() - may a message about a program of @uid be written now?
 * A refused message is counted; a line before the next allowed message gives the number.
 */
bool budget_may_report(struct budget *budget, uid_t uid);

/** budget_clock - the clock that refills rates, in ns; tests replace it */
extern uint64_t (*budget_clock)(void);
#endif
