/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_WRITER_STRINGS_H
#define LIBTRACE_WRITER_STRINGS_H
/* writer_strings.h - the names of numbers that a writer records. */
#include <trace/error.h>

struct trace_writer;

void writer_strings_write_again(struct trace_writer *writer);
/**
 * writer_strings_tell_missing() - write that names are missing, because trace_writer_string() had
 * no memory for one
 * Returns 0 or the error of the write.
 */
int writer_strings_tell_missing(struct trace_writer *writer, struct trace_error *ret_error) TRACE_NODISCARD;

#endif
