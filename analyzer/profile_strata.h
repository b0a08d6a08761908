/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_PROFILE_STRATA_H
#define ANALYZER_PROFILE_STRATA_H
/*
 * profile_strata.h - the strata of a profile: the exact time of a thread in one state, and the
 * samples that fell into it, grouped by their innermost frame
 */
#include <stdint.h>
#include <trace/error.h>
#include <trace/profile.h>
#include "hash_table.h"
#include "number_index.h"

#define NO_GROUP UINT32_MAX

/**
 * struct stratum - its texts and processes belong to the analysis: equal ones are the same pointer
 * @cpu: its number + 1; 0: of all. @label: 0: none
 * @first, @last: its groups, in the order of their first sample; NO_GROUP: none
 * @unsampled_ns: of waits that certainly have no stack
 */
struct stratum {
	const struct trace_thread *thread;
	const char *name;
	const char *target;
	const char *via;
	const char *path;
	const struct trace_process *other;
	const struct trace_thread *other_thread;
	enum trace_state state;
	enum trace_wait_kind kind;
	bool idle;
	uint32_t cpu, label;
	uint32_t first, last;
	uint64_t ns;
	uint64_t intervals;
	uint64_t samples;
	uint64_t unsampled_ns;
};

/** struct group_place - @waker: of a wait, a number of profile_wakers.h; 0: none */
struct group_place {
	uint32_t frame, waker;
};

/**
 * struct sample_group - the samples of a stratum with the same innermost frame and waker
 * @exact_ns: of waits; this much of the stratum is the group's
 * @weight: what it counts when the rest is divided; for time on a CPU the number of samples
 * @ns: its part of the stratum; strata_split() writes it over the weight
 */
struct sample_group {
	uint32_t stratum;
	struct group_place place;
	uint32_t next;
	uint64_t samples;
	uint64_t exact_ns;
	union {
		uint64_t weight;
		uint64_t ns;
	};
};

/** struct strata - zeroed: empty. @failed: -ENOMEM */
struct strata {
	struct stratum *list; /* owned */
	uint32_t nr, room;
	struct sample_group *groups; /* owned */
	uint32_t nr_groups, groups_room;
	struct hash_table by_content;
	struct number_index by_frame; /* groups */
	int failed;
};

/**
 * stratum_of() - the stratum with the content of @wanted, which is added if it is missing; NULL: no
 * memory
 */
struct stratum *stratum_of(struct strata *strata, const struct stratum *wanted);
/** stratum_add_samples() - @samples more with the innermost @frame */
void stratum_add_samples(struct strata *strata, struct stratum *stratum, uint32_t frame, uint64_t samples);
/** stratum_add_wait() - the stack of a wait: @exact_ns is its time, or @weight counts */
void stratum_add_wait(struct strata *strata, struct stratum *stratum, const struct group_place *place,
		      uint64_t exact_ns, uint64_t weight);
/** stratum_merge() - the time and the samples of @from are those of @to from now on */
void stratum_merge(struct strata *strata, struct stratum *to, struct stratum *from);
/** strata_split() - divide the time of each stratum among its groups. Returns 0 or -ENOMEM */
int strata_split(struct strata *strata) TRACE_NODISCARD;
/**
 * split_ns() - divide @ns in proportion to @parts, which add up to @whole > 0, into integers that
 * add up to @ns
 * Each gets its part rounded down. The rest goes, 1 ns each, to those with the largest remainders,
 * of equal ones to the first. Returns 0, or -ENOMEM with nothing written.
 */
int split_ns(uint64_t ns, const uint64_t *parts, size_t nr, uint64_t whole, uint64_t *ret_ns) TRACE_NODISCARD;
void strata_clear(struct strata *strata);
#endif
