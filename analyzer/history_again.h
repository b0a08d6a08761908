/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_HISTORY_AGAIN_H
#define ANALYZER_HISTORY_AGAIN_H
/*
 * history_again.h - waits that timed out and began again
 *
 * Terms. A thread asks again if its wait timed out, and it then waits for the same: the same call,
 * with the same futex, or with the same first two arguments if it polls. Between the two it does
 * nothing else for longer than AGAIN_NS: it runs, and gets the mutex of a condition.
 *
 * Rule. If a thread ended the last wait of such a series, the critical path goes on with that
 * thread at the end of each of these waits. If the last wait timed out, too, that thread is the one
 * of the same process that signalled the condition before the waiter had looked at it: it called
 * FUTEX_WAKE for it before the waiter had run for AGAIN_NS. The waiter may have waited for a CPU
 * meanwhile, and later signals of other futexes do not hide that one (NR_SIGNALS). Such a signal
 * ends the series, even if the thread waits for the same again at once: it had its answer.
 * The accounts do not change: each wait that timed out remains one for a timer.
 *
 * Example: python3 waits up to 5 ms for its interpreter lock, and asks again. Its thread hog has
 * the lock for 12 ms. The waits of 5, 5 and 2 ms are all for hog.
 *
 * An idle wait ends no series, because the thread did not need what ended it.
 */
#include <stdbool.h>
#include <stdint.h>

struct trace_history;
struct trace_interval;

#define AGAIN_NS 200000u

/**
 * struct asked - the latest wait of a thread
 * @call: its name; NULL: no wait that may begin again
 * @from_ns: the begin of the first wait of the series
 * @last_from_ns, @last_to_ns: its latest wait
 * @other_ns: what the thread did since then: it ran, or waited for other futexes
 */
struct asked {
	const char *call;
	uint64_t object, more;
	uint64_t from_ns, last_from_ns, last_to_ns, other_ns;
};

/** history_is_futex() - true if the system call is one of the futex calls */
bool history_is_futex(const char *call);
/**
 * history_note_again() - @interval, a wait, is the entry @value of the timeline; call before the
 * system call of the thread ends
 */
void history_note_again(struct trace_history *history, uint32_t timeline, const struct trace_interval *interval,
			uint32_t value);
#endif
