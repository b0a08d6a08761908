/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_CHUNK_TABLE_H
#define LIBTRACE_CHUNK_TABLE_H
/* chunk_table.h - load the list of all chunks from the table chunks of the file. */
#include <stdint.h>
#include <trace/error.h>

struct trace;
struct trace_end_mark;

/**
 * table_load() - fill trace->table from the table chunks
 * Returns -EBADMSG when the file has no table or an impossible one.
 */
int table_load(struct trace *trace, const struct trace_end_mark *mark, uint64_t first) TRACE_NODISCARD;

#endif
