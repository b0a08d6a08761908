/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_OPENING_H
#define LIBTRACE_OPENING_H
/* opening.h - the parts of opening that trace_open() and trace_follow() share. */
#include <stdbool.h>
#include <stdint.h>

struct trace;
struct trace_error;

/** trace_new() - a trace without a file, to be released with trace_close(); NULL: no memory */
struct trace *trace_new(const char *name, struct trace_error *ret_error);
/**
 * file_header_read() - read the header of the file
 * @ret_first: offset of the first chunk. @ret_good: false: the header is damaged, and chunks follow
 */
int file_header_read(struct trace *trace, uint64_t *ret_first, bool *ret_good, struct trace_error *ret_error);
int templates_load(struct trace *trace); /* of types that have none yet */
void window_load(struct trace *trace, bool header_is_good);
/** chunks_are_known() - all chunks are in the table: load what depends on all of them */
int chunks_are_known(struct trace *trace, bool header_is_good);
void info_load(struct trace *trace);

#endif
