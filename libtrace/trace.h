/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TRACE_H
#define LIBTRACE_TRACE_H
/*
 * trace.h - what an open trace consists of; private to the reader.
 *
 * Nothing of it changes after trace_open(), but that the timelines and the public list of chunks are made when somebody first asks for them: whoever
 * sees the pointer sees all of it.
 */
#include <trace/format.h>
#include <trace/reader.h>

#include "event_block.h"
#include "plausible.h"
#include "schema.h"
#include "string_table.h"
#include "event_text.h"

enum { TRACE_NR_CHUNK_KINDS = TRACE_CHUNK_ROOT + 1 };

/** struct entry - of the table, where it stands: nothing in the file is aligned */
struct entry {
	struct trace_table_entry of;
} __attribute__((packed));

/** struct known - a chunk that no table lists: what a table would say of it, and where its header is, or the index's copy of it */
struct known {
	struct trace_table_entry entry;
	uint64_t header_at;
};

/** struct table_piece - the entries of a table chunk, in the file. @first: number of the first one's chunk */
struct table_piece {
	const unsigned char *entries;
	size_t first;
};

/**
 * struct table - which chunks there are, in file order. They are not copied out of the file: of a large trace, who only wants some of the events needs few
 * @pieces: of the table that the file has. Without: @known
 * @headers_at: of the first header in the index; @header_bytes, @index_entries: as the root has them
 */
struct table {
	struct table_piece *pieces; /* owned */
	size_t nr_pieces;
	size_t pieces_room;
	size_t stride;
	uint64_t headers_at;
	uint32_t header_bytes;
	uint32_t index_entries;
	struct known *known; /* owned */
	size_t known_room;
};

/** struct entries - @nr of them behind each other, @stride bytes apart */
struct entries {
	const unsigned char *at;
	size_t nr;
	size_t stride;
};

/**
 * struct chunk - what is known of a chunk: made of its entry, when it is wanted
 * @header_at: offset of its header, or of the index's copy of it, which need not have been looked at yet: chunk_header()
 * @events_before: as its header has it. @is_plain: nothing was lost before or within it, and its header has nothing more to say of that
 */
struct chunk {
	struct trace_chunk public;
	uint64_t header_at;
	uint64_t events_before;
	bool is_plain;
};

/** struct span - a chunk in a timeline, with all that has to be told of it when it cannot be read */
struct span {
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t idx; /* of the chunk */
	uint32_t events;
	uint32_t stream;
	uint32_t cpu;
};

/** struct timeline - the good chunks of a kind by their first time. @latest_ns: of each TIMELINE_GROUP of them, the latest last_ns up to its end */
struct timeline {
	size_t nr;
	struct span *spans; /* owned */
	uint64_t *latest_ns; /* owned */
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
	struct table table;
	size_t nr_chunks;
	size_t nr_of_kind[TRACE_NR_CHUNK_KINDS]; /* chunks */
	uint64_t *spoiled; /* owned; a bit for each chunk: its content cannot be used */
	size_t spoiled_room; /* 64 chunks each */
	size_t nr_spoiled;
	uint32_t *metadata; /* owned; the chunks that are read at once: schema, strings ... */
	size_t nr_metadata;
	size_t metadata_room;
	uint64_t first_ns; /* of all events; UINT64_MAX: none */
	uint64_t last_ns;
	uint64_t user_last_ns; /* until plausible_load(): of programs' chunks, which the other two numbers leave out */
	uint32_t user_nr_cpus;
	uint32_t limit_cpus;	 /* all CPUs have numbers below it */
	uint64_t limit_ns;	 /* gaps end there at the latest */
	uint64_t statistics_at; /* offset of the last such chunk */
	struct timeline *timelines[2]; /* owned; NULL: not made yet; trace_timeline() */
	struct trace_chunk *public_chunks; /* owned; likewise */
	struct follower *follower; /* owned; while opening */
	size_t nr_followed;	   /* chunks that are in the books */
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

/**
 * chunk_get() - what is known of chunk @idx
 * Returns NULL, or why nothing is any more (static): the file may have become shorter since it was mapped, and to read beyond its end would end the program.
 */
const char *chunk_get(const struct trace *trace, size_t idx, struct chunk *ret_chunk);

/** trace_is_there() - is all of the file that was opened still there? */
bool trace_is_there(const struct trace *trace);

/** chunk_make() - the same while the trace is being opened. Returns false when its header has to say something, but is damaged */
bool chunk_make(const struct trace *trace, size_t idx, struct chunk *ret_chunk);

/** chunk_of_span() - the same for a chunk of a timeline, which is as it was when the timeline was made */
const char *chunk_of_span(const struct trace *trace, const struct span *span, struct chunk *ret_chunk);

/** chunk_entries() - the entries from number @idx on, below trace->nr_chunks, as far as they lie behind each other */
struct entries chunk_entries(const struct trace *trace, size_t idx);
static inline const struct entry *chunk_entry(const struct trace *trace, size_t idx)
{
	return (const struct entry *)chunk_entries(trace, idx).at;
}

/** chunk_is_spoiled() - can its content not be used? */
static inline bool chunk_is_spoiled(const struct trace *trace, size_t idx)
{
	return trace->nr_spoiled && idx / 64 < trace->spoiled_room && trace->spoiled[idx / 64] >> (idx % 64) & 1;
}

/** chunk_payload() - check and decompress a payload; borrowed from @unpacker or the file. 0, -ENOMEM, -EBADMSG with @ret_reason */
int chunk_payload(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker, struct trace_chunk_header *ret_header,
		  const unsigned char **ret_raw, const char **ret_reason);

/** chunk_block() - decode a chunk of events; span_block() - of a timeline */
int chunk_block(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker, struct block *block, const char **ret_reason);
int span_block(const struct trace *trace, const struct span *span, struct unpacker *unpacker, struct block *block, const char **ret_reason);

/**
 * struct limit - how many bytes decoded chunks may take of a file: so many, and @times the file's own
 * SECURITY: a chunk of some hundred bytes can stand for 16 MiB of events, and any number of them for the same moment. What recorders write stays far
 * below: of a file of some MB, 50 times its size in one pass.
 */
struct limit {
	uint64_t bytes;
	uint64_t times;
};
static const struct limit limit_metadata = { 64u << 20, 256 };	    /* names, types, clocks, statistics */
static const struct limit limit_at_a_time = { 256u << 20, 128 };    /* events of chunks that overlap in time */
static const struct limit limit_in_a_pass = { 4ull << 30, 1024 };   /* events of all chunks: they take no memory, but time, some s; 100 M events are below in any file */
static inline bool is_beyond(const struct limit *limit, const struct trace *trace, uint64_t bytes)
{
	return bytes > limit->bytes && (bytes - limit->bytes) / limit->times > trace->bytes;
}

/** trace_array_grow() - room for one more element. Returns false when there is no memory */
bool trace_array_grow(void **array, size_t nr, size_t *room, size_t element_bytes);
/** trace_add_entry() - one more chunk, the table's next. 0 or -ENOMEM */
int trace_add_entry(struct trace *trace, const struct entry *entry);
/** struct chunk_run - chunks of events behind each other, which are nearly all: what they come to. trace_add_run() - that many more */
struct chunk_run {
	uint32_t nr;
	uint32_t nr_cpus;      /* of the kernel's streams, and the daemon's */
	uint32_t user_nr_cpus; /* of programs' */
	uint64_t events;
	uint64_t first_ns;
	uint64_t last_ns;      /* likewise */
	uint64_t user_last_ns;
};
static inline void chunk_run_extend(struct chunk_run *run, uint32_t stream, uint32_t cpu, uint64_t last_ns)
{
	bool is_user = stream_is_of_program(stream);
	uint64_t *end = is_user ? &run->user_last_ns : &run->last_ns;
	uint32_t *nr = is_user ? &run->user_nr_cpus : &run->nr_cpus;

	*end = *end > last_ns ? *end : last_ns;
	*nr = cpu == UINT32_MAX || *nr > cpu ? *nr : cpu + 1;
}
int trace_add_run(struct trace *trace, const struct chunk_run *run);
/** trace_add_chunk() - one more, as its header has it, of a file without a table */
int trace_add_chunk(struct trace *trace, uint64_t offset, uint64_t header_at, const struct trace_chunk_header *header);
/** trace_spoil_chunk() - its content cannot be used. 0 or -ENOMEM */
int trace_spoil_chunk(struct trace *trace, size_t idx);
/** trace_public_chunks() - all of them, as trace_get_chunk() gives them. NULL: no memory, or the file has become shorter */
const struct trace_chunk *trace_public_chunks(const struct trace *trace);
int trace_add_damage(struct trace *trace, uint64_t offset, uint64_t bytes, const char *format, ...) __attribute__((format(printf, 4, 5)));
/** trace_add_unfinished() - bytes between two chunks, of a write that failed: damage, but no events are missing that were not counted */
int trace_add_unfinished(struct trace *trace, uint64_t from, uint64_t to);
int trace_add_gap(struct trace *trace, const struct trace_gap *gap);

/* ---- index.c ---- */

/**
 * index_load() - fill in trace->table from the table, or from the index, or else by walking the file
 * @first: where the first chunk begins. @header_is_good: trace->trace_id is known; otherwise the first chunk's counts
 */
int index_load(struct trace *trace, uint64_t first, bool header_is_good);

/** index_verify() - what opening did not look at: is the index that the end mark leads to good? Returns NULL, or why not (static) */
const char *index_verify(const struct trace *trace);

/* ---- chunk_table.c ---- */

/** table_load() - fill in trace->table from the table, if there is one. Returns -EBADMSG when there is none, or none that can be true */
int table_load(struct trace *trace, const struct trace_end_mark *mark, uint64_t first);

/* ---- loss_ledger.c ---- */

/**
 * books_follow() - enter the chunks that were found since the last time into the books
 * A part at a time, because then they are still at hand: all of a large trace's do not fit into a cache.
 */
int books_follow(struct trace *trace);
void books_follow_again(struct trace *trace); /* from the first chunk on */

/** books_load() - streams and gaps, from what was followed and the statistics */
int books_load(struct trace *trace);
struct follower *follower_new(void);
struct follower *follower_free(struct follower *follower);

/* ---- timeline.c ---- */

/** trace_timeline() - of TRACE_CHUNK_EVENTS or TRACE_CHUNK_START_STATE, made when it is first asked for. NULL with -ENOMEM or -EBADMSG in @ret_error */
const struct timeline *trace_timeline(const struct trace *trace, uint16_t kind, struct trace_error *ret_error);

/** timeline_at() - the first place in it whose chunk can hold an event at or after @ts_ns */
size_t timeline_at(const struct timeline *timeline, uint64_t ts_ns);
struct timeline *timeline_free(struct timeline *timeline);

/* ---- spool.c ---- */

/* A file whose header is damaged is a trace if there is a chunk in so many bytes at its beginning. */
#define TRACE_SEARCHED_BYTES ((size_t)1 << 20)

/** spool_open() - a file descriptor of @path that can be mapped. Negative errno. Of what comes from a pipe and is no trace it has the beginning alone */
int spool_open(const char *path, struct trace_error *ret_error);

#endif
