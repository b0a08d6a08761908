/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_OUTPUT_STREAM_H
#define LIBTRACE_OUTPUT_STREAM_H
/* output_stream.h - bytes to a file, pipe or socket: all of them, or as if there had been none. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <trace/error.h>

/**
 * struct output - where a trace goes
 * @bytes: written so far, from the beginning of the trace
 * @begin: offset in the file where the trace begins; -1: not a regular file, nothing can be taken back
 */
struct output {
	int fd; /* borrowed */
	uint64_t bytes;
	int64_t begin;
};

void output_init(struct output *output, int fd);

/**
 * output_write() - all bytes of @parts, which it changes, in order
 * Interrupted and short writes go on, a full non-blocking pipe is waited for. On failure a regular file is cut back to where
 * it was; of a pipe the reader has seen a piece, which @bytes counts. Returns 0 or the negative errno of the write.
 */
int output_write(struct output *output, struct iovec *parts, int nr_parts, struct trace_error *ret_error);

#endif
