/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_OVERVIEW_WAITS_H
#define VISUALIZER_OVERVIEW_WAITS_H
/* overview_waits.h - what processes waited for, in words. */
#include "process_sum.h"

/**
 * struct overview_scale - how the waits of a sum are told
 * @reference_ns: waits below one percent of it are left out; the parts are shares of it
 * @own_pid: the only process of the sum; 0: it has several
 * @is_family: the sum has several processes, and the parts are times
 */
struct overview_scale {
	uint64_t reference_ns;
	uint32_t own_pid;
	bool is_family;
};

/** overview_percent() - append "34 %" or "under 0.1 %", with a blank that no line ends at */
void overview_percent(struct string *s, uint64_t part, uint64_t whole);
/** overview_ns() - append a time, with such a blank */
void overview_ns(struct string *s, const struct text_output *output, uint64_t ns);
/** overview_name() - append a name that a program chose */
void overview_name(struct string *s, const char *name);
/** overview_wait() - append what @wait was for: "the file /x", "process 12 sh via pipe" */
void overview_wait(struct string *s, const struct trace_analysis *analysis, const struct trace_wait *wait);
/**
 * overview_waits() - append what the waits of @sum were for, behind their time
 * All of it is explained: one wait, or the longest ones and "others".
 */
void overview_waits(struct string *s, const struct report *report, const struct process_sum *sum,
		    const struct overview_scale *scale);
#endif
