/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_KEPT_RESTS_H
#define ANALYZER_KEPT_RESTS_H
/* kept_rests.h - waits that look idle, until it is known whether they were */
#include <stdbool.h>
#include <stdint.h>

struct pending;
struct trace_analysis;
struct trace_thread;
struct wait_cause;

/**
 * rest_is_kept() - keep the wait @pending of @thread, with the cause @v, which looks idle, until
 * it is known whether an answer went on
 * Returns false if that is known already: the caller accounts the wait.
 */
bool rest_is_kept(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		  const struct wait_cause *v);
/** rests_end() - account all kept waits of @thread, which may be NULL: they were rests */
void rests_end(struct trace_analysis *a, struct trace_thread *thread);
/** rests_mark() - mark the files of the kept waits of @thread in the bit set @files */
void rests_mark(const struct trace_thread *thread, uint64_t *files);
#endif
