/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TRACE_H
#define LIBTRACE_TRACE_H
/*
 * trace.h - the data structures of an open trace; private to the reader.
 *
 * A trace does not change after trace_open(), with two exceptions: the timelines and the public
 * list of chunks are made on first use. Each is complete before its pointer is published, so a
 * thread that sees the pointer sees all of it. A trace of trace_follow() changes in
 * trace_follow_more() only.
 */
#include <trace/format.h>
#include <trace/reader.h>

#include "event_text.h"
#include "schema.h"
#include "string_table.h"

enum { TRACE_NR_CHUNK_KINDS = TRACE_CHUNK_ROOT + 1 };

/** struct table_entry - a table entry in the mapped file, where nothing is aligned */
struct table_entry {
	struct trace_table_entry of;
} __attribute__((packed));

/**
 * struct unlisted_chunk - a chunk that no table lists: the reader found it in the index or by
 * walking
 * @entry: what a table would say about the chunk
 * @header_at: offset of the chunk's header, or of the copy of it in the index
 */
struct unlisted_chunk {
	struct trace_table_entry entry;
	uint64_t header_at;
};

/**
 * struct table_piece - the entries of one table chunk, in the file
 * @first: chunk number of the first entry
 */
struct table_piece {
	const unsigned char *entries;
	size_t first;
};

/**
 * struct chunk_table - the list of all chunks, in file order
 * The entries are not copied out of the file: a caller that wants some events of a large trace
 * needs few of them.
 * @pieces: the table of the file; a file without a table has @unlisted instead
 * @stride: bytes from one entry to the next
 * @headers_at: offset of the first header in the index
 * @header_bytes, @index_entries: from the root chunk
 */
struct chunk_table {
	struct table_piece *pieces; /* owned */
	size_t nr_pieces;
	size_t pieces_room;
	size_t stride;
	uint64_t headers_at;
	uint32_t header_bytes;
	uint32_t index_entries;
	struct unlisted_chunk *unlisted; /* owned */
	size_t unlisted_room;
};

/** struct entries - @nr consecutive entries, @stride bytes apart */
struct entries {
	const unsigned char *at;
	size_t nr;
	size_t stride;
};

/**
 * struct chunk - what the trace knows about a chunk; made from its table entry on demand
 * @header_at: offset of the chunk's header, or of its copy in the index. Opening may not have read
 *             that header yet: chunk_header().
 * @events_before: from the header
 * @is_plain: no loss before or inside the chunk; its header adds nothing about losses
 */
struct chunk {
	struct trace_chunk public;
	uint64_t header_at;
	uint64_t events_before;
	bool is_plain;
};

/** struct known_clock - a reading of the clocks, and the offset of its chunk */
struct known_clock {
	struct trace_clock of;
	uint64_t offset;
};

struct follow;

struct trace {
	struct follow *follow;	   /* owned; NULL: trace_open(), or the end of the file is reached: growing.h */
	uint64_t safe_ns;	   /* all events before it are known; UINT64_MAX: all */
	char *path;		   /* owned */
	int fd;			   /* owned; -1: the data is memory of the caller */
	const unsigned char *data; /* mapped, or borrowed from the caller */
	size_t bytes;
	size_t mapped_bytes; /* more than @bytes while it is followed */
	uint64_t mtime_ns;   /* of the file, when it was opened; 0: the data is memory of the caller */
	uint64_t head;	     /* checksum of its first bytes then: stored_file.h */
	uint64_t window;     /* part of the file that was last read from; written by all threads */
	uint32_t trace_id;
	uint64_t schema_checksum;
	struct trace_info info;
	struct chunk_table table;
	size_t nr_chunks;
	size_t nr_of_kind[TRACE_NR_CHUNK_KINDS]; /* chunks of each kind */
	uint64_t *unusable;			 /* owned; one bit per chunk, set: its content cannot be used */
	size_t unusable_room;			 /* in units of 64 chunks */
	size_t nr_unusable;
	uint32_t *metadata; /* owned; the chunks that opening reads: schema, strings ... */
	size_t nr_metadata;
	size_t metadata_room;
	uint64_t first_ns; /* of all events; UINT64_MAX: none */
	uint64_t last_ns;
	/*
	 * last_ns of programs' chunks, which first_ns and last_ns leave out; until plausible_load()
	 */
	uint64_t user_last_ns;
	uint32_t user_nr_cpus;
	uint32_t limit_cpus;		   /* every CPU number is below it */
	uint64_t limit_ns;		   /* no gap ends later */
	uint64_t statistics_at;		   /* offset of the last statistics chunk */
	struct timeline *timelines[2];	   /* owned; NULL until trace_timeline() makes it */
	struct trace_chunk *public_chunks; /* owned; NULL until trace_public_chunks() makes it */
	struct loss_ledger *ledger;	   /* owned; only while opening */
	size_t nr_in_ledger;		   /* chunks in the loss ledger so far */
	struct trace_gap *gaps;		   /* owned; sorted by start */
	size_t nr_gaps;
	size_t gaps_room;
	uint32_t *gaps_by_end; /* owned; without cause MISSED: the trace has events for those */
	size_t nr_gaps_by_end;
	struct trace_damage *damages; /* owned, with their messages */
	size_t nr_damages;
	size_t damages_room;
	struct trace_stream_stats *streams;	    /* owned */
	struct trace_statistics_stream *statistics; /* owned; streams of the last statistics chunk; NULL: none */
	size_t nr_streams;
	struct schema schema;
	struct text_template *templates; /* owned; by id, up to the highest id of the schema */
	uint32_t nr_templates;
	struct string_table strings;
	struct known_clock *clocks; /* owned; in file order */
	size_t nr_clocks;
	bool has_index; /* an index chunk exists, if not an end mark: the recorder finished */
};

/**
 * struct limit - how many bytes decoded chunks may need: @bytes plus @times the size of the file
 * SECURITY: a chunk of some hundred bytes can expand to 16 MiB of events, and a file can have any
 * number of such chunks for the same moment. Recorders stay far below the limits: a file of some MB
 * needs about 50 times its size in one pass.
 */
struct limit {
	uint64_t bytes;
	uint64_t times;
};
static const struct limit limit_metadata = {64u << 20, 256};   /* names, types, clocks, statistics */
static const struct limit limit_at_a_time = {256u << 20, 128}; /* chunks of events that overlap in time */
/* events of all chunks: costs time (some s), not memory; 100 M events are below it in any file */
static const struct limit limit_in_a_pass = {4ull << 30, 1024};
static inline bool is_beyond(const struct limit *limit, const struct trace *trace, uint64_t bytes)
{
	return bytes > limit->bytes && (bytes - limit->bytes) / limit->times > trace->bytes;
}

#endif
