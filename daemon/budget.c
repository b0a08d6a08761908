/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "cpus.h"
#include "message.h"

#define SECOND_NS      1000000000ull
#define ACCOUNTS       1024 /* a power of two; further users share the account of BUDGET_EVERYBODY */
#define ACCOUNT_PROBES 16

uint64_t (*budget_clock)(void) = clock_now;

/**
 * struct account - the account of one user
 * @empty_ns: for each rate, the time at which all that was taken will be refilled (generic cell
 *     rate algorithm, ITU-T I.371)
 * @suppressed: messages refused since the last one that was written
 */
struct account {
	uid_t uid;
	bool in_use;
	uint64_t used[BUDGET_NR_AMOUNTS];
	uint64_t empty_ns[BUDGET_NR_RATES];
	uint64_t suppressed;
};

struct budget {
	struct budget_limits limits;
	uint64_t together[BUDGET_NR_AMOUNTS];
	struct account everybody;
	bool is_shared; /* that account has another user's costs */
	struct account accounts[ACCOUNTS];
};

/* ---- the limits ---- */

static uint64_t at_max(uint64_t value, uint64_t max)
{
	return value < max ? value : max;
}

static uint64_t memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes : 1ull << 32;
}

static uint64_t descriptors(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
}

/*
 * A program needs two descriptors. One user may use a quarter of all descriptors, all users
 * together three quarters. Larger machines run more programs, and each program has a ring for each
 * CPU.
 */
void budget_default_limits(struct budget_limits *ret_limits)
{
	uint64_t cpus = possible_cpus(), memory = memory_bytes(), files = descriptors();

	*ret_limits = (struct budget_limits){
		.per_uid =
			{
				[BUDGET_PROGRAMS] = at_max(256 + 64 * cpus, files / 8),
				[BUDGET_DEAD] = 1024,
				[BUDGET_ADDRESS] = 8ull << 40,
				[BUDGET_MAPPED] = memory / 64,
				[BUDGET_PAGES] = memory / 4 > 1ull << 30 ? memory / 4 : 1ull << 30,
				[BUDGET_HEAP] = 32ull << 20,
				[BUDGET_TYPES] = 4096,
				[BUDGET_CONNECTIONS] = 64,
			},
		.together =
			{
				[BUDGET_PROGRAMS] = files * 3 / 8,
				[BUDGET_DEAD] = 8192,
				[BUDGET_ADDRESS] = 64ull << 40,
				[BUDGET_MAPPED] = memory / 32,
				[BUDGET_PAGES] = memory / 2 > 2ull << 30 ? memory / 2 : 2ull << 30,
				[BUDGET_HEAP] = 256ull << 20,
				[BUDGET_TYPES] = 32768,
				[BUDGET_CONNECTIONS] = 768,
			},
		.per_s =
			{
				[BUDGET_ACCEPTS] = 1000 + 200 * cpus,
				[BUDGET_OFFERS] = 200 + 100 * cpus,
				[BUDGET_MESSAGES] = 1,
				[BUDGET_SCANS] = 1,
				[BUDGET_MAPPINGS] = 50000,
				[BUDGET_LOOKUPS] = 200000,
				[BUDGET_VISITS] = 1000 + 64 * cpus,
				[BUDGET_WAITS] = 10,
			},
		.burst =
			{
				[BUDGET_ACCEPTS] = 4096,
				[BUDGET_OFFERS] = 2048,
				[BUDGET_MESSAGES] = 30,
				[BUDGET_SCANS] = 4,
				[BUDGET_MAPPINGS] = 200000,
				[BUDGET_LOOKUPS] = 200000,
				[BUDGET_VISITS] = 1000 + 64 * cpus,
				[BUDGET_WAITS] = 100,
			},
		.types_per_program = 2048,
	};
}

/* ---- accounts ---- */

struct budget *budget_new(const struct budget_limits *limits)
{
	struct budget *budget = calloc(1, sizeof(*budget));

	if (!budget)
		return NULL;
	if (limits)
		budget->limits = *limits;
	else
		budget_default_limits(&budget->limits);
	budget->everybody.uid = BUDGET_EVERYBODY;
	return budget;
}

struct budget *budget_free(struct budget *budget)
{
	free(budget);
	return NULL;
}

/* An account is never given to another uid, so a search may end at the first free slot. */
static struct account *account_of(struct budget *budget, uid_t uid)
{
	uint32_t at = uid * 2654435761u;

	for (uint32_t i = 0; i < ACCOUNT_PROBES && uid != BUDGET_EVERYBODY; i++) {
		struct account *account = &budget->accounts[(at + i) % ACCOUNTS];

		if (!account->in_use)
			*account = (struct account){.uid = uid, .in_use = true};
		if (account->uid == uid)
			return account;
	}
	budget->is_shared |= uid != BUDGET_EVERYBODY;
	return &budget->everybody;
}

bool budget_is_shared(const struct budget *budget)
{
	return budget && budget->is_shared;
}

static bool is_trusted(const struct budget *budget, uid_t uid)
{
	return !budget || (!budget->limits.trusts_none && (uid == 0 || uid == geteuid()));
}

bool budget_is_bounded(const struct budget *budget, uid_t uid)
{
	return !is_trusted(budget, uid);
}

/* ---- amounts ---- */

bool budget_charge(struct budget *budget, uid_t uid, enum budget_amount amount, uint64_t nr)
{
	struct account *account;

	if (is_trusted(budget, uid))
		return true;
	account = account_of(budget, uid);
	if (nr > budget->limits.per_uid[amount] || account->used[amount] > budget->limits.per_uid[amount] - nr ||
	    nr > budget->limits.together[amount] || budget->together[amount] > budget->limits.together[amount] - nr)
		return false;
	account->used[amount] += nr;
	budget->together[amount] += nr;
	return true;
}

void budget_release(struct budget *budget, uid_t uid, enum budget_amount amount, uint64_t nr)
{
	struct account *account;

	if (is_trusted(budget, uid))
		return;
	account = account_of(budget, uid);
	nr = at_max(nr, account->used[amount]);
	account->used[amount] -= nr;
	budget->together[amount] -= at_max(nr, budget->together[amount]);
}

uint64_t budget_used(const struct budget *budget, uid_t uid, enum budget_amount amount)
{
	return is_trusted(budget, uid) ? 0 : account_of((struct budget *)budget, uid)->used[amount];
}

void budget_reset(struct budget *budget, enum budget_amount amount)
{
	if (!budget)
		return;
	for (size_t i = 0; i < ACCOUNTS; i++)
		budget->accounts[i].used[amount] = 0;
	budget->everybody.used[amount] = 0;
	budget->together[amount] = 0;
}

uint64_t budget_types_per_program(const struct budget *budget, uid_t uid)
{
	return is_trusted(budget, uid) ? UINT64_MAX : budget->limits.types_per_program;
}

/* ---- rates ---- */

static bool take(struct budget *budget, struct account *account, enum budget_rate rate, uint64_t nr)
{
	uint64_t now = budget_clock(),
		 interval = SECOND_NS / (budget->limits.per_s[rate] ? budget->limits.per_s[rate] : 1), empty;

	empty = account->empty_ns[rate] > now ? account->empty_ns[rate] : now;
	if (nr > budget->limits.burst[rate] || empty - now > (budget->limits.burst[rate] - nr) * interval)
		return false;
	account->empty_ns[rate] = empty + nr * interval;
	return true;
}

bool budget_take(struct budget *budget, uid_t uid, enum budget_rate rate, uint64_t nr)
{
	return is_trusted(budget, uid) || take(budget, account_of(budget, uid), rate, nr);
}

void budget_spend(struct budget *budget, uid_t uid, enum budget_rate rate, uint64_t nr)
{
	uint64_t now = budget_clock(), interval;
	struct account *account;

	if (is_trusted(budget, uid))
		return;
	account = account_of(budget, uid);
	interval = SECOND_NS / (budget->limits.per_s[rate] ? budget->limits.per_s[rate] : 1);
	account->empty_ns[rate] = (account->empty_ns[rate] > now ? account->empty_ns[rate] : now) + nr * interval;
}

bool budget_may_report(struct budget *budget, uid_t uid)
{
	struct account *account = budget ? account_of(budget, uid) : NULL;

	if (!account)
		return true;
	if (!take(budget, account, BUDGET_MESSAGES, 1)) {
		account->suppressed++;
		return false;
	}
	if (account->suppressed)
		message_note("%llu more messages about programs of user %u were suppressed",
			     (unsigned long long)account->suppressed, (unsigned int)uid);
	account->suppressed = 0;
	return true;
}
