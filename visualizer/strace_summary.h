/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_STRACE_SUMMARY_H
#define VISUALIZER_STRACE_SUMMARY_H
/* strace_summary.h - the table of --strace -c. */
#include <stdio.h>
#include "strace_options.h"

/**
 * struct call_sums - all calls of one name; total, min and max are CPU times, or elapsed ones with
 * -w
 */
struct call_sums {
	const char *name; /* borrowed */
	uint64_t calls;
	uint64_t errors;
	uint64_t total_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t cpu_ns;
	uint64_t wait_ns;
	uint64_t runnable_ns;
};

/** call_sums_add() - one call: @time_ns is what the columns of times are about */
void call_sums_add(struct call_sums *sums, uint64_t time_ns, uint64_t cpu_ns, uint64_t wait_ns, uint64_t runnable_ns,
		   bool is_error);
/** strace_summary_print() - the rows with calls, sorted, and their total; sorts @rows */
void strace_summary_print(FILE *out, const struct strace_choice *choice, struct call_sums *rows, size_t nr);
#endif
