/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_START_CHANGES_H
#define ANALYZER_START_CHANGES_H
/* start_changes.h - what of the start state had changed before the recorder read it */
#include <trace/error.h>
struct first_thread;
struct start_missing;
struct trace_analysis;
struct trace_error;

/**
 * start_changes_find() - find the changes, and make unknown what was read after them
 * @firsts: of each CPU; the pass sets those that it meets
 * @missing: gets the ends of threads that have no record
 *
 * Returns 0, or a negative errno with the cause in @ret_error.
 */
int start_changes_find(struct trace_analysis *a, struct first_thread *firsts, struct start_missing *missing,
		       struct trace_error *ret_error) TRACE_NODISCARD;
#endif
