/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_PROFILE_WAITS_H
#define ANALYZER_PROFILE_WAITS_H
/*
 * profile_waits.h - which wait a recorded stack is of
 * The recorder takes a stack at the end of the wait. The cause of the wait, its stratum, may be
 * known before or after that.
 */
#include <stdint.h>
#include <trace/profile.h>
#include "hash_table.h"
#include "profile_strata.h"

#define WAIT_ALWAYS_NS 1000000u /* a wait of that length always has a stack */

/** struct waited - a blocked interval; @ns: the part in the window */
struct waited {
	const struct trace_thread *thread;
	uint64_t from_ns, to_ns, ns;
	uint32_t stratum;
};

/**
 * struct wait_record - @ts_ns: of the end of the wait. @frame: its stack, NO_FRAME: no memory
 * @is_woken: its length until the wakeup was what counted, at @woken_ns. @waker: number of
 *     profile_wakers.h. 0: not known
 */
struct wait_record {
	uint64_t ts_ns, woken_ns;
	uint32_t frame, waker;
	bool is_woken;
};

/** struct waits - zeroed: empty. @failed: -ENOMEM */
struct waits {
	struct hash_table threads; /* its rows own more */
	int failed;
};

/** waits_is_on_cpu() - is a thread in @state on a CPU? */
static inline bool waits_is_on_cpu(enum trace_state state)
{
	return state != TRACE_STATE_WAIT_CPU && state != TRACE_STATE_BLOCKED;
}
/** waits_ran() - @thread was on a CPU until @to_ns */
void waits_ran(struct waits *waits, const struct trace_thread *thread, uint64_t to_ns);
/** waits_add() - a blocked interval */
void waits_add(struct waits *waits, struct strata *strata, const struct waited *waited);
/**
 * waits_add_stack() - a stack of @thread, whose wait ended at @record->ts_ns
 * waits_since() - when that wait began: the thread was last on a CPU then; 0: not known
 */
uint64_t waits_since(struct waits *waits, const struct trace_thread *thread);
void waits_add_stack(struct waits *waits, struct strata *strata, const struct trace_thread *thread, uint64_t since_ns,
		     const struct wait_record *record);
/** waits_end() - no interval and no stack follow */
void waits_end(struct waits *waits, struct strata *strata);
void waits_clear(struct waits *waits);
#endif
