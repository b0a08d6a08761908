/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_WRITER_TYPES_H
#define LIBTRACE_WRITER_TYPES_H
/* writer_types.h - the descriptions of the types of programs in the file. */
struct trace_error;
struct trace_writer;

/** writer_types_write() - append the descriptions that the file does not have yet */
int writer_types_write(struct trace_writer *writer, struct trace_error *ret_error);

#endif
