/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_CHUNK_H
#define LIBTRACE_CHUNK_H
/* chunk.h - look up, check and decode the chunks of a trace, and add those that opening finds. */
#include <trace/error.h>
#include "event_block.h"
#include "plausible.h"
#include "trace.h"

struct span;

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
		  struct trace_chunk_header *ret_header, const unsigned char **ret_raw,
		  const char **ret_reason) TRACE_NODISCARD;

/** chunk_block() - decode a chunk of events; span_block() - the same for a span of a timeline */
int chunk_block(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker, struct block *block,
		const char **ret_reason);
int span_block(const struct trace *trace, const struct span *span, struct unpacker *unpacker, struct block *block,
	       const char **ret_reason);

/** trace_array_grow() - make room for one more element. Returns false when there is no memory */
bool trace_array_grow(void **array, size_t nr, size_t *room, size_t element_bytes);
/** trace_add_entry() - add the next chunk of the table. 0 or -ENOMEM */
int trace_add_entry(struct trace *trace, const struct table_entry *entry) TRACE_NODISCARD;
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
int trace_mark_unusable(struct trace *trace, size_t idx) TRACE_NODISCARD;
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

#endif
