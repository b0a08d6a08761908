/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RESULT_ORDER_H
#define ANALYZER_RESULT_ORDER_H
/*
 * result_order.h - the order of results, for the comparison functions of sort_rows()
 *
 * Rows come from hash tables, in another order in each run (base/hash.h). So a comparison goes on
 * until the rows differ in no printed field.
 */
#include <stdint.h>
#include <string.h>
#include <trace/analysis.h>

static inline int ascending(uint64_t left, uint64_t right)
{
	return left < right ? -1 : left > right;
}

static inline int descending(uint64_t left, uint64_t right)
{
	return ascending(right, left);
}

/**
 * by_process() - in the order in which the analysis met them; none (NULL) first
 * by_thread() - the same for threads
 */
int by_process(const struct trace_process *left, const struct trace_process *right);
int by_thread(const struct trace_thread *left, const struct trace_thread *right);

/** order_waits() - compares struct trace_wait: the longest first, then by name */
int order_waits(const void *left, const void *right);

#endif
