/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_WRITER_STRINGS_H
#define LIBTRACE_WRITER_STRINGS_H
/* writer_strings.h - the names of numbers that a writer records. */
struct trace_writer;

void writer_strings_write_again(struct trace_writer *writer);

#endif
