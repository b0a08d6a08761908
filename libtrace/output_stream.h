/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_OUTPUT_STREAM_H
#define LIBTRACE_OUTPUT_STREAM_H
/*
 * output_stream.h - write bytes to a file, pipe or socket: all of them or, in a regular file, none.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <trace/error.h>

/**
 * struct output_stream - the destination of a trace
 * @bytes: written so far, from the beginning of the trace
 * @begin: offset in the file where the trace begins; -1: not a regular file, so that nothing can be
 *	removed
 */
struct output_stream {
	int fd; /* borrowed */
	uint64_t bytes;
	int64_t begin;
};

void output_init(struct output_stream *output, int fd);

/**
 * output_write() - write all bytes of @parts in order; changes @parts
 * Continues after interrupted and short writes, and waits for a full non-blocking pipe. On failure
 * it truncates a regular file to its length before the call. The reader of a pipe has received a
 * part, which @bytes counts. Returns 0 or the negative errno of the write.
 */
int output_write(struct output_stream *output, struct iovec *parts, int nr_parts,
		 struct trace_error *ret_error) TRACE_NODISCARD;

#endif
