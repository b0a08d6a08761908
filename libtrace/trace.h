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

enum { TRACE_NR_CHUNK_KINDS = TRACE_CHUNK_INDEX + 1 };

/**
 * struct chunk - a chunk that the trace has
 * @header_at: offset of its header, or of the index's copy of it
 * @events_before: as its header has it. @is_plain: nothing was lost before or within it, and its header has nothing more to say of that
 */
struct chunk {
	struct trace_chunk public;
	uint64_t header_at;
	uint64_t events_before;
	bool is_plain;
};

/** struct timeline - the chunks of a kind by their first time */
struct timeline {
	uint32_t *chunks;    /* owned */
	uint64_t *latest_ns; /* owned; the latest last_ns up to here */
	size_t nr;
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
	uint32_t *metadata; /* owned; the chunks that are read at once: schema, strings ... */
	size_t nr_metadata;
	size_t metadata_room;
	uint64_t first_ns; /* of all events; UINT64_MAX: none */
	uint64_t last_ns;
	struct timeline events;
	struct timeline start_state;
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
static inline bool chunk_cpu_is_good(const struct trace_chunk_header *header)
{
	return header->kind != TRACE_CHUNK_EVENTS || header->cpu < TRACE_CPUS_MAX || header->cpu == UINT32_MAX;
}

/** chunk_header_read() - the header at @at of the file. Returns NULL when it is good, else why not (static) */
const char *chunk_header_read(const struct trace *trace, uint64_t at, struct trace_chunk_header *ret_header);

/** chunk_header_copy() - the same for a chunk that the trace has: it was found good when the trace was opened */
struct trace_chunk_header chunk_header_copy(const struct trace *trace, const struct chunk *chunk);

/** chunk_payload() - check and decompress a payload; borrowed from @payload or the file. 0, -ENOMEM, -EBADMSG with @ret_reason */
int chunk_payload(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker, struct payload *payload,
		  struct trace_chunk_header *ret_header, const unsigned char **ret_raw, const char **ret_reason);

/** chunk_block() - decode a chunk of events */
int chunk_block(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker, struct block *block, const char **ret_reason);

/** trace_array_grow() - room for one more element. Returns false when there is no memory */
bool trace_array_grow(void **array, size_t nr, size_t *room, size_t element_bytes);
int trace_add_chunk(struct trace *trace, uint64_t offset, uint64_t header_at, const struct trace_chunk_header *header);
/** trace_spoil_chunk() - its content cannot be used */
void trace_spoil_chunk(struct trace *trace, struct chunk *chunk);
int trace_add_damage(struct trace *trace, uint64_t offset, uint64_t bytes, const char *format, ...) __attribute__((format(printf, 4, 5)));
int trace_add_gap(struct trace *trace, const struct trace_gap *gap);

/* ---- index.c ---- */

/**
 * index_load() - fill in trace->chunks from the index, or else by walking the file
 * @first: where the first chunk begins. @header_is_good: trace->trace_id is known; otherwise the first chunk's counts
 */
int index_load(struct trace *trace, uint64_t first, bool header_is_good);

/* ---- books.c ---- */

/** books_load() - streams and gaps, from the chunks' headers and the statistics */
int books_load(struct trace *trace);

/* ---- spool.c ---- */

/** spool_open() - a file descriptor of @path that can be mapped. Negative errno */
int spool_open(const char *path, struct trace_error *ret_error);

#endif
