/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TRACE_H
#define LIBTRACE_TRACE_H
/*
 * trace.h - the data structures of an open trace; private to the reader.
 *
 * A trace does not change after trace_open(), with two exceptions: the timelines and the public
 * list of chunks are made on first use. Each is complete before its pointer is published, so a
 * thread that sees the pointer sees all of it.
 */
#include <trace/format.h>
#include <trace/reader.h>

#include "event_block.h"
#include "plausible.h"
#include "schema.h"
#include "string_table.h"
#include "event_text.h"

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

/** struct span - a chunk in a timeline, with all that a gap needs when the chunk cannot be read */
struct span {
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t idx; /* chunk number */
	uint32_t events;
	uint32_t stream;
	uint32_t cpu;
};

/**
 * struct timeline - the good chunks of one kind, sorted by first_ns
 * @latest_ns: for each group of TIMELINE_GROUP spans, the latest last_ns up to the group's end
 */
struct timeline {
	size_t nr;
	struct span *spans;  /* owned */
	uint64_t *latest_ns; /* owned */
};

struct trace {
	char *path;		   /* owned */
	int fd;			   /* owned */
	const unsigned char *data; /* mapped */
	size_t bytes;
	uint64_t window; /* part of the file that was last read from; written by all threads */
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
	struct trace_clock *clocks; /* owned */
	size_t nr_clocks;
	bool has_index; /* an index chunk exists, if not an end mark: the recorder finished */
};

/* ---- chunk.c ---- */

/**
 * chunk_cpu_is_good() - is the CPU number possible?
 * The reader keeps arrays for all CPUs below the highest number, so an impossible number would cost
 * gigabytes.
 */
static inline bool chunk_cpu_is_good(uint16_t kind, uint32_t cpu)
{
	return kind != TRACE_CHUNK_EVENTS || cpu < TRACE_CPUS_MAX || cpu == UINT32_MAX;
}

/**
 * chunk_header_read() - read and check the header at offset @at of the file
 * Returns NULL when it is good, else the reason (static string).
 */
const char *chunk_header_read(const struct trace *trace, uint64_t at, struct trace_chunk_header *ret_header);

/**
 * chunk_header() - chunk_header_read() for a known chunk: the index's copy, or the chunk's own
 * header if the copy is damaged
 */
const char *chunk_header(const struct trace *trace, const struct chunk *chunk, struct trace_chunk_header *ret_header);

/** chunk_header_is_of() - does the header agree with what the trace knows about the chunk? */
bool chunk_header_is_of(const struct trace_chunk_header *header, const struct chunk *chunk);

/** chunk_header_copy() - the header, for its times, counts and losses; opening has checked it */
struct trace_chunk_header chunk_header_copy(const struct trace *trace, const struct chunk *chunk);

/**
 * chunk_get() - look up chunk @idx
 * Returns NULL, or the reason why the trace cannot be used any more (static string). The file may
 * have become shorter since it was mapped, and a read beyond its end would kill the process.
 */
const char *chunk_get(const struct trace *trace, size_t idx, struct chunk *ret_chunk);

/** trace_is_complete() - is the file still as long as when it was opened? */
bool trace_is_complete(const struct trace *trace);

/**
 * chunk_make() - chunk_get() while the trace is being opened
 * Returns false when the chunk's header is needed but damaged.
 */
bool chunk_make(const struct trace *trace, size_t idx, struct chunk *ret_chunk);

/**
 * chunk_of_span() - chunk_get() for a chunk of a timeline; checks that it has not changed since the
 * timeline was made
 */
const char *chunk_of_span(const struct trace *trace, const struct span *span, struct chunk *ret_chunk);

/**
 * chunk_entries() - the entries from chunk @idx (below trace->nr_chunks) on that are consecutive in
 * the file
 */
struct entries chunk_entries(const struct trace *trace, size_t idx);
static inline const struct table_entry *chunk_entry(const struct trace *trace, size_t idx)
{
	return (const struct table_entry *)chunk_entries(trace, idx).at;
}

/** chunk_is_unusable() - is its content unusable? */
static inline bool chunk_is_unusable(const struct trace *trace, size_t idx)
{
	return trace->nr_unusable && idx / 64 < trace->unusable_room && trace->unusable[idx / 64] >> (idx % 64) & 1;
}

/**
 * chunk_payload() - check and decompress a payload; @ret_raw is borrowed from @unpacker or from the
 * file
 * Returns 0, -ENOMEM, or -EBADMSG with @ret_reason.
 */
int chunk_payload(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker,
		  struct trace_chunk_header *ret_header, const unsigned char **ret_raw, const char **ret_reason);

/** chunk_block() - decode a chunk of events; span_block() - the same for a span of a timeline */
int chunk_block(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker, struct block *block,
		const char **ret_reason);
int span_block(const struct trace *trace, const struct span *span, struct unpacker *unpacker, struct block *block,
	       const char **ret_reason);

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

/** trace_array_grow() - make room for one more element. Returns false when there is no memory */
bool trace_array_grow(void **array, size_t nr, size_t *room, size_t element_bytes);
/** trace_add_entry() - add the next chunk of the table. 0 or -ENOMEM */
int trace_add_entry(struct trace *trace, const struct table_entry *entry);
/**
 * struct chunk_run - consecutive chunks of events, summed up; nearly all chunks are in such runs.
 * trace_add_run() - add them to the trace
 */
struct chunk_run {
	uint32_t nr;
	uint32_t nr_cpus;      /* CPUs in streams of the kernel and of the daemon */
	uint32_t user_nr_cpus; /* CPUs in streams of programs */
	uint64_t events;
	uint64_t first_ns;
	uint64_t last_ns; /* kernel and daemon only */
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
/** trace_add_chunk() - add a chunk of a file without a table, as its header describes it */
int trace_add_chunk(struct trace *trace, uint64_t offset, uint64_t header_at, const struct trace_chunk_header *header);
/** trace_mark_unusable() - mark a chunk's content as unusable. 0 or -ENOMEM */
int trace_mark_unusable(struct trace *trace, size_t idx);
/**
 * trace_public_chunks() - all chunks, as trace_get_chunk() returns them
 * Returns NULL when there is no memory or the file has become shorter.
 */
const struct trace_chunk *trace_public_chunks(const struct trace *trace);
int trace_add_damage(struct trace *trace, uint64_t offset, uint64_t bytes, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/**
 * trace_add_unfinished() - report the bytes of a failed write between two chunks: damage, but the
 * writer has already counted the events that are missing
 */
int trace_add_unfinished(struct trace *trace, uint64_t from, uint64_t to);
int trace_add_gap(struct trace *trace, const struct trace_gap *gap);

/* ---- index.c ---- */

/**
 * index_load() - fill trace->table from the table chunks, else from the index, else by walking the
 * file
 * @first: offset of the first chunk
 * @header_is_good: trace->trace_id is valid; otherwise the trace id of the first chunk is used
 */
int index_load(struct trace *trace, uint64_t first, bool header_is_good);

/**
 * index_verify() - check what opening skipped: the index that the end mark points to
 * Returns NULL, or what is wrong (static string).
 */
const char *index_verify(const struct trace *trace);

/* ---- chunk_table.c ---- */

/**
 * table_load() - fill trace->table from the table chunks
 * Returns -EBADMSG when the file has no table or an impossible one.
 */
int table_load(struct trace *trace, const struct trace_end_mark *mark, uint64_t first);

/* ---- loss_ledger.c ---- */

/**
 * ledger_add_chunks() - add the chunks found since the last call to the loss ledger
 * Called for one part of the file at a time, while its entries are still in the CPU caches: those
 * of a large trace do not fit in them.
 */
int ledger_add_chunks(struct trace *trace);
void ledger_restart(struct trace *trace); /* restart from the first chunk */

/** ledger_load() - make streams and gaps from the loss ledger and the statistics chunk */
int ledger_load(struct trace *trace);
struct loss_ledger *ledger_new(void);
struct loss_ledger *ledger_free(struct loss_ledger *ledger);

/* ---- timeline.c ---- */

/**
 * trace_timeline() - the timeline of TRACE_CHUNK_EVENTS or TRACE_CHUNK_START_STATE; made on first
 * use
 * Returns NULL with -ENOMEM or -EBADMSG in @ret_error.
 */
const struct timeline *trace_timeline(const struct trace *trace, uint16_t kind, struct trace_error *ret_error);

/** timeline_at() - index of the first span that can hold an event at or after @ts_ns */
size_t timeline_at(const struct timeline *timeline, uint64_t ts_ns);
struct timeline *timeline_free(struct timeline *timeline);

/* ---- spool.c ---- */

/*
 * A file with a damaged header counts as a trace if a chunk is found in its first bytes, this many.
 */
#define TRACE_SEARCHED_BYTES ((size_t)1 << 20)

/**
 * spool_open() - open @path as a file descriptor that can be mapped
 * Input from a pipe is copied to a temporary file. If it is not a trace, only its beginning is
 * copied.
 * Returns the descriptor or a negative errno.
 */
int spool_open(const char *path, struct trace_error *ret_error);

#endif
