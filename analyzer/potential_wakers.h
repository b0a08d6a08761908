/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_POTENTIAL_WAKERS_H
#define ANALYZER_POTENTIAL_WAKERS_H
/*
 * potential_wakers.h - the potential wakers of a wait. The functions return a process other than
 * @self, PROCESS_SEVERAL, or PROCESS_UNKNOWN if none is known.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "state_file.h"

struct trace_analysis;
struct trace_process;

/* The potential wakers of one kind: potential_wakers.c. */
enum ender_kind { ENDER_CHILDREN, ENDER_OTHER_ENDS, ENDER_SHARERS, ENDER_REQUESTS, NR_ENDER_KINDS };
struct ender;
struct enders {
	struct ender *list; /* owned; sorted, without duplicates */
	size_t nr, room;
	bool whole; /* complete; else it has only the answers to the last query: */
	uint64_t asked_what, asked_more;
};

/**
 * ender_child() - the living child of @self with the pid @named, in its own namespace or in the
 * recorder's; 0: any pid
 */
uint32_t ender_child(struct trace_analysis *a, const struct trace_process *self, uint32_t named);
/** ender_holder() - the process that has the other end of @file open now */
uint32_t ender_holder(struct trace_analysis *a, const struct trace_process *self, file_idx file);
/** ender_sharer() - the process that has @file mapped */
uint32_t ender_sharer(struct trace_analysis *a, const struct trace_process *self, file_idx file);
/**
 * ender_request() - the @nr-th file on which @process has io_uring requests in progress; 0: no more
 */
file_idx ender_request(struct trace_analysis *a, const struct trace_process *process, size_t nr);
/**
 * ender_closed() - find an end of a pipe or socket that @dead closes and @poller waits for @poller
 * has the other end of it. A pipe does not count if @poller has both ends.
 * Returns the end that @dead closes; 0: none.
 */
file_idx ender_closed(struct trace_analysis *a, const struct trace_thread *dead, const struct trace_thread *poller);
void enders_free(struct trace_analysis *a);
#endif
