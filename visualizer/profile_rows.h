/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_ROWS_H
#define VISUALIZER_PROFILE_ROWS_H
/* profile_rows.h - a profile as rows: the time of the chosen threads by function, and what has
 * none. */
#include <stdint.h>
#include <trace/profile.h>
#include "checked_memory.h"
#include "report.h"

/** enum profile_row_kind - in the order of the words of profile_kind_word() */
enum profile_row_kind {
	PROFILE_FUNCTION,
	PROFILE_NOT_SAMPLED, /* on a CPU, in a state that no sample hit */
	PROFILE_WAIT_CPU,
	PROFILE_BLOCKED,
	PROFILE_REST, /* blocked, and waits for new work */
};
const char *profile_kind_word(enum profile_row_kind kind);

/**
 * struct profile_row - elapsed = on a CPU + waiting for a CPU + blocked
 * @name: the function; "" if it has none. For other kinds what the time was spent in, or waited for
 * @file: of the function; "" if not known. @program: the title of the process; "" for rests
 * @is_late: samples of code that ran with interrupts off are in this function of the kernel, which
 *     switches them on again
 * @why: why a function has no name; "" if it has one
 * @on_cpu_ns: with interrupts that took the CPU
 * @variance: of the time, ns^2
 */
struct profile_row {
	enum profile_row_kind kind;
	const char *name;
	const char *file;
	const char *program;
	const char *why;
	bool is_late;
	uint64_t on_cpu_ns;
	uint64_t wait_cpu_ns;
	uint64_t blocked_ns;
	uint64_t samples;
	uint64_t pending; /* while rows are made */
	double variance;
};

/** struct profile_rows - @rows: the longest first, and rests last; @sum: of all of them */
struct profile_rows {
	struct pointers rows; /* owned */
	struct strings texts; /* owned; those of the rows */
	struct hash_table index;
	struct profile_row sum;
	uint64_t rest_ns;
	uint64_t nr_threads;
	uint64_t unnamed_ns; /* of functions without a name */
};

/** profile_elapsed() - the time of a row */
static inline uint64_t profile_elapsed(const struct profile_row *row)
{
	return row->on_cpu_ns + row->wait_cpu_ns + row->blocked_ns;
}
/** profile_deviation() - the standard deviation of the time of a row by sampling, ns */
uint64_t profile_deviation(const struct profile_row *row);

/**
 * profile_rows_make() - the rows of the chosen threads
 * @of: only those of these processes; NULL: of all
 * Returns 0; -ENOMEM or -EBADMSG with the reason, as trace_symbols_error(): rows lack names then
 */
int profile_rows_make(const struct report *report, const struct pointers *of, struct profile_rows *ret_rows,
		      struct trace_error *ret_error);
void profile_rows_free(struct profile_rows *rows);
#endif
