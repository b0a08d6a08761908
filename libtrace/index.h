/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_INDEX_H
#define LIBTRACE_INDEX_H
/* index.h - find all chunks of a file when it is opened. */
#include <stdbool.h>
#include <stdint.h>

struct trace;

/**
 * index_load() - fill trace->table from the table chunks, else from the index, else by walking the
 * file
 * @first: offset of the first chunk
 * @header_is_good: trace->trace_id is valid; otherwise the trace id of the first chunk is used
 */
int index_load(struct trace *trace, uint64_t first, bool header_is_good);

/**
 * index_continue() - add the whole chunks that a growing file has since the last call
 * @at: end of the last one; moves on. The bytes after it may be the begin of a chunk
 * @ret_ended: the end mark is reached
 */
int index_continue(struct trace *trace, uint64_t *at, bool *ret_ended);
/** index_end() - the file ends without an end mark, and the last chunk may be cut */
int index_end(struct trace *trace, uint64_t at);

/**
 * index_verify() - check what opening skipped: the index that the end mark points to
 * Returns NULL, or what is wrong (static string).
 */
const char *index_verify(const struct trace *trace);

#endif
