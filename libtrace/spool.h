/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SPOOL_H
#define LIBTRACE_SPOOL_H
/* spool.h - open a trace as a file that can be mapped, also from a pipe. */
#include <stdbool.h>
#include <stddef.h>
#include <trace/error.h>

struct trace_error;

/*
 * A file with a damaged header counts as a trace if a chunk is found in its first bytes, this many.
 */
#define TRACE_SEARCHED_BYTES ((size_t)1 << 20)

/**
 * spool_open() - open @path as a file descriptor that can be mapped
 * Input from a pipe is copied to a temporary file. If it is not a trace, only its beginning is
 * copied.
 * Returns the descriptor or a negative errno.
 */
int spool_open(const char *path, struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * spool_begin() - open @path, of which more is written, as a file descriptor that can be mapped
 * @ret_input: a pipe that spool_more() copies into the descriptor; -1: the descriptor is the file
 * Returns the descriptor or a negative errno.
 */
int spool_begin(const char *path, int *ret_input, struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * spool_more() - copy what is in the pipe @from to the end of @to
 * @wait: until there is something
 * @ret_ended: the pipe has ended
 */
int spool_more(int from, int to, bool wait, bool *ret_ended);

#endif
