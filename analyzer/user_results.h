/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_USER_RESULTS_H
#define ANALYZER_USER_RESULTS_H
/* user_results.h - the rows that are made of the sums of programs. */
#include <stdbool.h>
#include <stddef.h>

struct span_sum;
struct trace_span;
struct trace_user_events;
struct user_results;

/** span_row() - the row of @sum, without its waits. Returns false when out of memory */
bool span_row(const struct trace_user_events *user, const struct span_sum *sum, struct trace_span *ret_span);
/** span_rows_sort() - in the order of trace_get_span(). Returns false when out of memory */
bool span_rows_sort(struct trace_span *spans, size_t nr);

/** user_results_free() - free the rows that were made of the sums */
struct user_results *user_results_free(struct user_results *results);

#endif
