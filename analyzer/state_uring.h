/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_URING_H
#define ANALYZER_STATE_URING_H
/* state_uring.h - requests of io_uring on files */
#include <stdint.h>
#include "handler.h"
#include "state_file.h"

struct trace_analysis;
struct trace_process;
struct trace_thread;
struct waker;

/**
 * uring_next() - iterate over the requests in progress with a known file
 * @at: the request before; NULL: begin with the first one
 *
 * Returns NULL after the last one.
 */
const void *uring_next(const struct hash_table *requests, const void *at, const struct trace_process **ret_process,
		       file_idx *ret_file);

/** uring_mark() - set the bits of the files of all requests in progress */
void uring_mark(const struct hash_table *requests, uint64_t *marks);

/**
 * uring_file_of_wakeup() - 1 + the file of the request that the waker of @thread completed while
 * @thread slept; 0: none
 */
uint32_t uring_file_of_wakeup(const struct trace_analysis *a, const struct trace_thread *thread, const struct waker *waker);
/** uring_worker_file() - the file for which a worker of @process waits; 0: not known */
file_idx uring_worker_file(const struct trace_process *process);

event_handler on_uring_enter, on_uring_submit, on_uring_async, on_uring_open, on_uring_close, on_uring_file,
	on_uring_complete;
#endif
