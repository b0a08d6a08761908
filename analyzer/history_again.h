/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_HISTORY_AGAIN_H
#define ANALYZER_HISTORY_AGAIN_H
/*
 * history_again.h - waits that timed out and began again
 *
 * Terms. A thread asks again if its wait timed out, and it then waits for the same: the same call,
 * with the same futex, or with the same first two arguments if it polls. Between the two it runs
 * for less than AGAIN_NS, and does not block.
 *
 * Rule. If a thread ended the last wait of such a series, the critical path goes on with that
 * thread at the end of each of these waits. The accounts do not change: each wait that timed out
 * remains one for a timer.
 *
 * Example: python3 waits up to 5 ms for its interpreter lock, and asks again. Its thread hog has
 * the lock for 12 ms. The waits of 5, 5 and 2 ms are all for hog.
 *
 * An idle wait ends no series, because the thread did not need what ended it.
 */
#include <stdint.h>

struct trace_history;
struct trace_interval;

#define AGAIN_NS 1000000u

/**
 * struct asked - the latest wait of a thread
 * @call: its name; NULL: no wait that may begin again
 * @from_ns: the begin of the first wait of the series
 * @ran_ns: what the thread ran since the latest wait
 */
struct asked {
	const char *call;
	uint64_t object, more;
	uint64_t from_ns, ran_ns;
};

/**
 * history_note_again() - @interval, a wait, is the entry @value of the timeline; call before the
 * system call of the thread ends
 */
void history_note_again(struct trace_history *history, uint32_t timeline, const struct trace_interval *interval,
			uint32_t value);
#endif
