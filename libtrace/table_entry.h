/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TABLE_ENTRY_H
#define LIBTRACE_TABLE_ENTRY_H
/*
 * table_entry.h - the summary of a chunk header that the table of chunks contains. The writer makes
 * the table from it, and the reader makes its own where the file has none.
 */
#include <stdbool.h>
#include <trace/format.h>

/** header_is_plain() - does the header declare no losses? */
static inline bool header_is_plain(const struct trace_chunk_header *header)
{
	return !(header->lost_before | header->lost_write | header->missed | header->undecodable |
		 (header->flags & TRACE_CHUNK_FLAG_JUMP));
}

static inline struct trace_table_entry table_entry_of(uint64_t offset, const struct trace_chunk_header *header)
{
	return (struct trace_table_entry){.offset = offset,
					  .seq = header->seq,
					  .first_ns = header->first_ns,
					  .last_ns = header->last_ns,
					  .events_before = header->events_before,
					  .events = header->events,
					  .stream = header->stream,
					  .cpu = header->cpu,
					  .raw_bytes = header->raw_bytes,
					  .packed_bytes = header->packed_bytes,
					  .kind = header->kind,
					  .encoding = header->encoding,
					  .flags = header_is_plain(header) ? 0 : TRACE_TABLE_LOSS};
}

#endif
