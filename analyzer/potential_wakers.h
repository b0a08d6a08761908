/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_POTENTIAL_WAKERS_H
#define ANALYZER_POTENTIAL_WAKERS_H
/* potential_wakers.h - who could have ended a wait: each a process other than @self; PROCESS_SEVERAL; PROCESS_UNKNOWN: none known. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "state_file.h"

struct trace_analysis;
struct trace_process;

/* What is known of who could end a wait: potential_wakers.c. */
enum ender_kind { ENDER_CHILDREN, ENDER_OTHER_ENDS, ENDER_SHARERS, ENDER_REQUESTS, NR_ENDER_KINDS };
struct ender;
struct enders {
	struct ender *list; /* owned; sorted, no two alike */
	size_t nr, room;
	bool whole; /* all there are; else what was asked for last: */
	uint64_t asked_what, asked_more;
};

/** ender_child() - the living child of @self with the number @named, in its own namespace or ours; 0: with any */
uint32_t ender_child(struct trace_analysis *a, const struct trace_process *self, uint32_t named);
/** ender_holder() - who has the other end of @file open now */
uint32_t ender_holder(struct trace_analysis *a, const struct trace_process *self, file_idx file);
/** ender_sharer() - who has @file mapped */
uint32_t ender_sharer(struct trace_analysis *a, const struct trace_process *self, file_idx file);
/** ender_request() - the @nr-th file on which @process has requests of io_uring in progress; 0: there are not so many */
file_idx ender_request(struct trace_analysis *a, const struct trace_process *process, size_t nr);
/** ender_closed() - the end of a pipe or a socket that @dead closes, of which @poller has the other; of a pipe @poller has not both. 0: none */
file_idx ender_closed(struct trace_analysis *a, const struct trace_thread *dead, const struct trace_thread *poller);
void enders_free(struct trace_analysis *a);
#endif
