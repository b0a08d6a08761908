/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TRACE_H
#define LIBTRACE_TRACE_H
/* trace.h - what an open trace consists of; private to the reader. Nothing of it changes after trace_open(). */
#include <trace/format.h>
#include <trace/reader.h>

#include "block.h"
#include "schema.h"
#include "strings.h"
#include "text.h"

enum { TRACE_NR_CHUNK_KINDS = TRACE_CHUNK_ROOT + 1 };

/**
 * struct chunk - a chunk that the trace has
 * @header_at: offset of its header, or of the index's copy of it, which need not have been looked at yet: chunk_header()
 * @events_before: as its header has it. @is_plain: nothing was lost before or within it, and its header has nothing more to say of that
 */
struct chunk {
	struct trace_chunk public;
	uint64_t header_at;
	uint64_t events_before;
	bool is_plain;
};

/** struct timeline - the chunks of a kind by their first time. @moves: that it took to get there, while opening */
struct timeline {
	uint32_t *chunks;    /* owned */
	uint64_t *latest_ns; /* owned; the latest last_ns up to here */
	size_t nr;
	size_t room;
	size_t moves;
};

struct trace {
	char *path; /* owned */
	int fd;	    /* owned */
	const unsigned char *data; /* mapped */
	size_t bytes;
	uint64_t window; /* of the file, where a payload was read last; written by all threads */
	uint32_t trace_id;
	uint64_t schema_checksum;
	struct trace_info info;
	struct chunk *chunks; /* owned; in file order */
	size_t nr_chunks;
	size_t chunks_room;
	size_t nr_of_kind[TRACE_NR_CHUNK_KINDS]; /* chunks */
	size_t nr_spoiled;
	uint32_t *metadata; /* owned; the chunks that are read at once: schema, strings ... */
	size_t nr_metadata;
	size_t metadata_room;
	uint64_t first_ns; /* of all events; UINT64_MAX: none */
	uint64_t last_ns;
	struct timeline events;
	struct timeline start_state;
	struct follower *follower; /* owned; while opening */
	size_t nr_followed;	   /* chunks that are in the books and the timelines */
	struct trace_gap *gaps; /* owned; by start */
	size_t nr_gaps;
	size_t gaps_room;
	uint32_t *gaps_by_end; /* owned; without cause MISSED, whose events are in the trace */
	size_t nr_gaps_by_end;
	struct trace_damage *damages; /* owned, with their messages */
	size_t nr_damages;
	size_t damages_room;
	struct trace_stream_stats *streams; /* owned */
	struct trace_statistics_stream *books; /* owned; as in the last statistics chunk; NULL: none */
	size_t nr_streams;
	struct schema schema;
	struct text_template *templates; /* owned; by id, up to the highest of the schema */
	uint32_t nr_templates;
	struct strings strings;
	struct trace_clock *clocks; /* owned */
	size_t nr_clocks;
	bool has_index; /* an index chunk was there, if not an end mark: the recorder finished */
};

/* ---- chunk.c ---- */

/** chunk_cpu_is_good() - what is kept for each CPU is kept for all below the highest: a number that cannot be would cost gigabytes */
static inline bool chunk_cpu_is_good(uint16_t kind, uint32_t cpu)
{
	return kind != TRACE_CHUNK_EVENTS || cpu < TRACE_CPUS_MAX || cpu == UINT32_MAX;
}

/** chunk_header_read() - the header at @at of the file. Returns NULL when it is good, else why not (static) */
const char *chunk_header_read(const struct trace *trace, uint64_t at, struct trace_chunk_header *ret_header);

/** chunk_header() - the same for a chunk that the trace has: the index's copy, or if that is damaged the chunk's own */
const char *chunk_header(const struct trace *trace, const struct chunk *chunk, struct trace_chunk_header *ret_header);

/** chunk_header_is_of() - does the header say of the chunk what the trace knows of it? */
bool chunk_header_is_of(const struct trace_chunk_header *header, const struct chunk *chunk);

/** chunk_header_copy() - what a header says of times, numbers and losses; it was found good when the trace was opened */
struct trace_chunk_header chunk_header_copy(const struct trace *trace, const struct chunk *chunk);

/** chunk_payload() - check and decompress a payload; borrowed from @payload or the file. 0, -ENOMEM, -EBADMSG with @ret_reason */
int chunk_payload(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker, struct payload *payload,
		  struct trace_chunk_header *ret_header, const unsigned char **ret_raw, const char **ret_reason);

/** chunk_block() - decode a chunk of events */
int chunk_block(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker, struct block *block, const char **ret_reason);

/** trace_array_grow() - room for one more element. Returns false when there is no memory */
bool trace_array_grow(void **array, size_t nr, size_t *room, size_t element_bytes);
bool trace_reserve_chunks(struct trace *trace, size_t nr);
/** trace_next_chunk() - a place behind the last chunk, to be filled in; NULL: no memory. trace_take_chunk() - it is; 0 or -ENOMEM */
struct chunk *trace_next_chunk(struct trace *trace);
int trace_take_chunk(struct trace *trace);
/** trace_add_chunk() - one more, as its header has it */
int trace_add_chunk(struct trace *trace, uint64_t offset, uint64_t header_at, const struct trace_chunk_header *header);
/** trace_spoil_chunk() - its content cannot be used */
void trace_spoil_chunk(struct trace *trace, struct chunk *chunk);
int trace_add_damage(struct trace *trace, uint64_t offset, uint64_t bytes, const char *format, ...) __attribute__((format(printf, 4, 5)));
/** trace_add_unfinished() - bytes between two chunks, of a write that failed: damage, but no events are missing that were not counted */
int trace_add_unfinished(struct trace *trace, uint64_t from, uint64_t to);
int trace_add_gap(struct trace *trace, const struct trace_gap *gap);

/* ---- index.c ---- */

/**
 * index_load() - fill in trace->chunks from the table, or from the index, or else by walking the file
 * @first: where the first chunk begins. @header_is_good: trace->trace_id is known; otherwise the first chunk's counts
 */
int index_load(struct trace *trace, uint64_t first, bool header_is_good);

/** index_verify() - what opening did not look at: is the index that the end mark leads to good? Returns NULL, or why not (static) */
const char *index_verify(const struct trace *trace);

/* ---- table.c ---- */

/** table_load() - fill in trace->chunks from the table, if there is one. Returns -EBADMSG when there is none, or none that can be true */
int table_load(struct trace *trace, const struct trace_end_mark *mark, uint64_t first);

/* ---- books.c ---- */

/**
 * trace_follow() - enter the chunks that were found since the last time into the books and the timelines
 * A part at a time, because then they are still at hand: all of a large trace's do not fit into a cache.
 */
int trace_follow(struct trace *trace);
void trace_follow_again(struct trace *trace); /* from the first chunk on */

/** books_load() - streams and gaps, from what was followed and the statistics */
int books_load(struct trace *trace);
struct follower *follower_new(void);
struct follower *follower_free(struct follower *follower);
int books_follow(struct trace *trace, size_t from);
void books_follow_again(struct trace *trace);

/* ---- timeline.c ---- */

/** timeline_follow() - insert the chunks of @kind from number @from on; timeline_load() then has the last word */
int timeline_follow(const struct trace *trace, uint16_t kind, struct timeline *timeline, size_t from);
int timeline_load(const struct trace *trace, uint16_t kind, struct timeline *timeline);

/* ---- spool.c ---- */

/** spool_open() - a file descriptor of @path that can be mapped. Negative errno */
int spool_open(const char *path, struct trace_error *ret_error);

#endif
