/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SPOOL_H
#define LIBTRACE_SPOOL_H
/* spool.h - open a trace as a file that can be mapped, also from a pipe. */
#include <stddef.h>

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
int spool_open(const char *path, struct trace_error *ret_error);

#endif
