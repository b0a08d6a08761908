/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_BUDGET_H
#define DAEMON_BUDGET_H
/*
 * budget.h - what the programs of one user may cost the daemon.
 *
 * A program chooses how often it connects, how many memories it offers, how large they are, how many events it
 *registers. The daemon pays for each with time, memory and descriptors. So each user (uid) has an account:
 *
 *	amounts   what is held now, such as programs or bytes: budget_charge(), given back by budget_release()
 *	rates     what happens again and again, such as offers or messages: budget_take(), refilled by time
 *
 * All users that are not trusted share a second bound of each amount, for a user of many uids (user namespaces). Root
 *and the daemon's own user are trusted: their amounts and rates have no bound, except messages. The bounds are above
 *what programs need that mean no harm; whoever refuses something tells it, and counts what is lost by it.
 *
 * One thread.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum budget_amount {
	BUDGET_PROGRAMS, /* memories of living programs: two descriptors each */
	BUDGET_DEAD,	 /* memories of dead programs, kept for their children */
	BUDGET_ADDRESS,	 /* bytes of address space */
	BUDGET_MAPPED, /* bytes of rings that are read where they are mapped; those of the others are read from their
			  files */
	BUDGET_PAGES,  /* bytes of memory that memories have: st_blocks */
	BUDGET_HEAP,   /* bytes of the daemon's own memory */
	BUDGET_TYPES,  /* event types that the trace has because of the user */
	BUDGET_CONNECTIONS, /* that have not said anything yet */
	BUDGET_NR_AMOUNTS
};

enum budget_rate {
	BUDGET_ACCEPTS,	 /* connections */
	BUDGET_OFFERS,	 /* memories that are offered */
	BUDGET_MESSAGES, /* lines about the user's programs */
	BUDGET_SCANS,	 /* of /proc, for reasons that a program can make; of BUDGET_EVERYBODY */
	BUDGET_MAPPINGS, /* of processes, looked at one by one */
	BUDGET_LOOKUPS,	 /* of rings that are perhaps in use */
	BUDGET_VISITS,	 /* to CPUs, to close blocks */
	BUDGET_WAITS,	 /* ms that the daemon waits for a writer */
	BUDGET_NR_RATES
};

#define BUDGET_EVERYBODY ((uid_t)-1) /* an account of what is not one user's */

/**
 * struct budget_limits - @per_uid, @together: of each amount, one user's and that of all who are not trusted
 * @per_s, @burst: of each rate, each second, and at once after a pause
 * @trusts_none: root and the daemon's own user are as all others
 */
struct budget_limits {
	uint64_t per_uid[BUDGET_NR_AMOUNTS];
	uint64_t together[BUDGET_NR_AMOUNTS];
	uint64_t per_s[BUDGET_NR_RATES];
	uint64_t burst[BUDGET_NR_RATES];
	bool trusts_none;
};

/** budget_default_limits() - for this machine: its CPUs, memory and this process's limit of descriptors */
void budget_default_limits(struct budget_limits *ret_limits);

struct budget;

/** budget_new() - @limits: copied; NULL: the default. NULL: no memory */
struct budget *budget_new(const struct budget_limits *limits);
struct budget *budget_free(struct budget *budget); /* NULL is fine; returns NULL */

/** budget_is_bounded() - is there any bound for @uid but that of messages? */
bool budget_is_bounded(const struct budget *budget, uid_t uid);

/** budget_charge() - @nr more; false: that would be too many, nothing has changed. A NULL @budget has no bounds, here
 * and below */
bool budget_charge(struct budget *budget, uid_t uid, enum budget_amount amount, uint64_t nr);
/** budget_release() - @nr fewer, of those that were charged */
void budget_release(struct budget *budget, uid_t uid, enum budget_amount amount, uint64_t nr);
/** budget_used() - how many are charged */
uint64_t budget_used(const struct budget *budget, uid_t uid, enum budget_amount amount);
/** budget_forget() - nothing is charged any more of @amount, for any user */
void budget_forget(struct budget *budget, enum budget_amount amount);

/** budget_take() - may @nr happen now? True counts them */
bool budget_take(struct budget *budget, uid_t uid, enum budget_rate rate, uint64_t nr);

/** budget_spend() - @nr have happened. The excess over what was left is refilled before anything can be
 * taken again */
void budget_spend(struct budget *budget, uid_t uid, enum budget_rate rate, uint64_t nr);

/**
 * budget_may_tell() - may a line about a program of @uid be written now?
 * False counts it; the next one that may be written is preceded by a line that says how many were left out.
 */
bool budget_may_tell(struct budget *budget, uid_t uid);

/** budget_clock - what rates are refilled by, in ns; tests set it */
extern uint64_t (*budget_clock)(void);
#endif
