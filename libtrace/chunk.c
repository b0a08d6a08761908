/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* chunk.c - a chunk of the file: is its header good, is its payload, and what is in it. */
#include "trace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

enum { HUGE_LEAST_BYTES = 4 << 20 }; /* two huge pages, of which one is certain to lie in it */

const char *chunk_header_read(const struct trace *trace, uint64_t at, struct trace_chunk_header *ret_header)
{
	struct trace_chunk_header header;
	uint64_t checksum;

	if (at > trace->bytes || trace->bytes - at < sizeof(header))
		return "the file ends within a chunk's header";
	memcpy(&header, trace->data + at, sizeof(header));
	if (memcmp(header.magic, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES) != 0)
		return "there is no chunk";
	if (header.header_bytes < sizeof(header) || header.header_bytes > TRACE_CHUNK_HEADER_MAX_BYTES ||
	    header.header_bytes > trace->bytes - at)
		return "a chunk's header has an impossible size";
	memcpy(&checksum, trace->data + at + header.header_bytes - sizeof(checksum), sizeof(checksum));
	if (XXH3_64bits(trace->data + at, header.header_bytes - sizeof(checksum)) != checksum)
		return "a chunk's header has a wrong checksum";
	if (header.raw_bytes > TRACE_RAW_MAX || header.packed_bytes > TRACE_RAW_MAX || header.events > TRACE_CHUNK_EVENTS_MAX)
		return "a chunk is larger than the format allows";
	if (!chunk_cpu_is_good(header.kind, header.cpu))
		return "a chunk is of a CPU that cannot be";
	*ret_header = header;
	return NULL;
}

static bool header_is_plain(const struct trace_chunk_header *header)
{
	return !(header->lost_before | header->lost_write | header->missed | header->lost_inside | (header->flags & TRACE_CHUNK_FLAG_JUMP));
}

bool chunk_header_is_of(const struct trace_chunk_header *header, const struct chunk *chunk)
{
	const struct trace_chunk *public = &chunk->public;

	return header->kind == public->kind && header->encoding == public->encoding && header->stream == public->stream &&
	       header->cpu == public->cpu && header->events == public->events && header->seq == public->seq &&
	       header->first_ns == public->first_ns && header->last_ns == public->last_ns && header->events_before == chunk->events_before &&
	       header->lost_before == public->lost_before && header->raw_bytes == public->raw_bytes &&
	       header->packed_bytes == public->packed_bytes && header_is_plain(header) == chunk->is_plain;
}

const char *chunk_header(const struct trace *trace, const struct chunk *chunk, struct trace_chunk_header *ret_header)
{
	struct trace_chunk_header header;
	const char *reason = chunk_header_read(trace, chunk->header_at, &header);

	if (reason || !chunk_header_is_of(&header, chunk))
		reason = chunk_header_read(trace, chunk->public.offset, &header);
	if (!reason && !chunk_header_is_of(&header, chunk))
		reason = "its header and the table of chunks differ";
	if (!reason)
		*ret_header = header;
	return reason;
}

/* The index's copy was looked at only where it has more to say than the table; the file's own, of a damaged chunk, when the file was walked. */
struct trace_chunk_header chunk_header_copy(const struct trace *trace, const struct chunk *chunk)
{
	struct trace_chunk_header header = { .header_bytes = sizeof(header),
					     .kind = chunk->public.kind,
					     .stream = chunk->public.stream,
					     .cpu = chunk->public.cpu,
					     .events = chunk->public.events,
					     .first_ns = chunk->public.first_ns,
					     .last_ns = chunk->public.last_ns,
					     .events_before = chunk->events_before,
					     .packed_bytes = chunk->public.packed_bytes };

	if (!chunk->is_plain || chunk->public.damaged)
		memcpy(&header, trace->data + chunk->header_at, sizeof(header));
	return header;
}

/* The file may have shrunk since it was mapped; reading beyond its end would end the program. */
static bool still_there(const struct trace *trace, uint64_t end)
{
	struct stat stat;

	return fstat(trace->fd, &stat) == 0 && (uint64_t)stat.st_size >= end;
}

/* ---- memory ---- */

#define WINDOW_BITS 22

static void unmap_window(const struct trace *trace, uint64_t window)
{
	uint64_t from = window << WINDOW_BITS, bytes = 1ull << WINDOW_BITS;

	if (from >= trace->bytes)
		return;
	madvise((void *)(trace->data + from), trace->bytes - from < bytes ? trace->bytes - from : bytes, MADV_DONTNEED);
}

/*
 * What was read once stays mapped and counts as memory of this process: of a long trace, sooner or later all of the file. So when reading
 * goes on to the next 4 MiB, those before the last are given back, and when it jumps, those it leaves. Whoever wants them again finds them
 * in the page cache: data does not change, and no pointer becomes invalid.
 */
static void give_back(const struct trace *trace, uint64_t at)
{
	uint64_t *last_window = (uint64_t *)&trace->window; /* a hint, for all threads */
	uint64_t window = at >> WINDOW_BITS, last = __atomic_load_n(last_window, __ATOMIC_RELAXED);

	if (window == last)
		return;
	__atomic_store_n(last_window, window, __ATOMIC_RELAXED);
	if (window + 1 == last) /* streams are not cut in the same places: to and fro at the border */
		return;
	if (last)
		unmap_window(trace, last - 1);
	if (window != last + 1)
		unmap_window(trace, last);
}

int chunk_payload(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker, struct payload *payload,
		  struct trace_chunk_header *ret_header, const unsigned char **ret_raw, const char **ret_reason)
{
	uint64_t at, header_end = chunk->header_at + sizeof(*ret_header), end = chunk->public.offset + sizeof(*ret_header) + chunk->public.packed_bytes;
	const unsigned char *packed;

	if (!still_there(trace, end > header_end ? end : header_end)) {
		*ret_reason = "the file has become shorter since it was opened";
		return -EBADMSG;
	}
	*ret_reason = chunk_header(trace, chunk, ret_header);
	if (*ret_reason)
		return -EBADMSG;
	at = chunk->public.offset + ret_header->header_bytes;
	*ret_reason = "the file ends within its payload";
	if (at > trace->bytes || trace->bytes - at < ret_header->packed_bytes)
		return -EBADMSG;
	give_back(trace, at);
	packed = trace->data + at;
	*ret_reason = "its payload has a wrong checksum";
	if (XXH3_64bits(packed, ret_header->packed_bytes) != ret_header->payload_checksum)
		return -EBADMSG;
	return unpack(unpacker, payload, ret_header, packed, ret_raw, ret_reason);
}

int chunk_block(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker, struct block *block, const char **ret_reason)
{
	struct trace_chunk_header header;
	const unsigned char *raw;
	int error = chunk_payload(trace, chunk, unpacker, &block->payload, &header, &raw, ret_reason);

	if (error)
		return error;
	*ret_reason = "its encoding is unknown; a newer version of this program may read it";
	if (header.encoding != TRACE_ENCODING_COLUMNS)
		return -EBADMSG;
	return block_decode(block, &trace->schema, &header, raw, ret_reason);
}

/* ---- lists ---- */

bool trace_array_grow(void **array, size_t nr, size_t *room, size_t element_bytes)
{
	size_t more = *room ? 2 * *room : 64;
	void *larger;

	if (nr < *room)
		return true;
	larger = reallocarray(*array, more, element_bytes);
	if (!larger)
		return false;
	*array = larger;
	*room = more;
	return true;
}

static bool is_metadata(uint16_t kind)
{
	return kind == TRACE_CHUNK_SCHEMA || kind == TRACE_CHUNK_STRINGS || kind == TRACE_CHUNK_CLOCK || kind == TRACE_CHUNK_STATISTICS;
}

static int add_metadata(struct trace *trace)
{
	if (!trace_array_grow((void **)&trace->metadata, trace->nr_metadata, &trace->metadata_room, sizeof(*trace->metadata)))
		return -ENOMEM;
	trace->metadata[trace->nr_metadata++] = (uint32_t)trace->nr_chunks;
	return 0;
}

/* What trace_get_info() tells of all chunks is gathered here: a large trace has hundreds of thousands, and opening goes through
 * them as few times as can be. */
static void add_to_info(struct trace *trace, const struct trace_chunk *chunk)
{
	trace->first_ns = trace->first_ns < chunk->first_ns ? trace->first_ns : chunk->first_ns;
	trace->last_ns = trace->last_ns > chunk->last_ns ? trace->last_ns : chunk->last_ns;
	trace->info.events += chunk->events;
	if (chunk->cpu >= trace->info.nr_cpus && chunk->cpu != UINT32_MAX)
		trace->info.nr_cpus = chunk->cpu + 1;
}

/* Fresh memory costs a fault for each page of it, which was a third of what opening 10 GB took: so few and large ones, where the kernel has them. */
static void prefer_huge_pages(void *memory, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = ((uintptr_t)memory + page - 1) / page * page;

	if (bytes >= HUGE_LEAST_BYTES)
		madvise((void *)begin, (bytes - (begin - (uintptr_t)memory)) / page * page, MADV_HUGEPAGE);
}

bool trace_reserve_chunks(struct trace *trace, size_t nr)
{
	struct chunk *chunks = nr > trace->chunks_room ? reallocarray(trace->chunks, nr, sizeof(*chunks)) : trace->chunks;

	if (nr && !chunks)
		return false;
	if (nr > trace->chunks_room)
		prefer_huge_pages(chunks, nr * sizeof(*chunks));
	trace->chunks_room = nr > trace->chunks_room ? nr : trace->chunks_room;
	trace->chunks = chunks;
	return true;
}

struct chunk *trace_next_chunk(struct trace *trace)
{
	if (trace->nr_chunks == UINT32_MAX ||
	    !trace_array_grow((void **)&trace->chunks, trace->nr_chunks, &trace->chunks_room, sizeof(*trace->chunks)))
		return NULL;
	return &trace->chunks[trace->nr_chunks];
}

int trace_take_chunk(struct trace *trace)
{
	const struct chunk *chunk = &trace->chunks[trace->nr_chunks];

	if (is_metadata(chunk->public.kind) && add_metadata(trace) < 0)
		return -ENOMEM;
	if (chunk->public.kind == TRACE_CHUNK_EVENTS)
		add_to_info(trace, &chunk->public);
	trace->nr_chunks++;
	if (chunk->public.kind < TRACE_NR_CHUNK_KINDS)
		trace->nr_of_kind[chunk->public.kind]++;
	return 0;
}

int trace_add_chunk(struct trace *trace, uint64_t offset, uint64_t header_at, const struct trace_chunk_header *header)
{
	struct chunk *chunk = trace_next_chunk(trace);

	if (!chunk)
		return -ENOMEM;
	*chunk = (struct chunk){
		.public = { .offset = offset,
			    .seq = header->seq,
			    .first_ns = header->first_ns,
			    .last_ns = header->last_ns,
			    .events = header->events,
			    .lost_before = header->lost_before,
			    .stream = header->stream,
			    .cpu = header->cpu,
			    .raw_bytes = header->raw_bytes,
			    .packed_bytes = header->packed_bytes,
			    .kind = header->kind,
			    .encoding = header->encoding },
		.header_at = header_at,
		.events_before = header->events_before,
		.is_plain = header_is_plain(header),
	};
	return trace_take_chunk(trace);
}

void trace_spoil_chunk(struct trace *trace, struct chunk *chunk)
{
	if (!chunk->public.damaged && chunk->public.kind == TRACE_CHUNK_EVENTS)
		trace->info.events -= chunk->public.events;
	chunk->public.damaged = true;
	trace->nr_spoiled++;
}

int trace_add_damage(struct trace *trace, uint64_t offset, uint64_t bytes, const char *format, ...)
{
	va_list arguments;
	char *message;
	int length;

	if (!trace_array_grow((void **)&trace->damages, trace->nr_damages, &trace->damages_room, sizeof(*trace->damages)))
		return -ENOMEM;
	va_start(arguments, format);
	length = vasprintf(&message, format, arguments);
	va_end(arguments);
	if (length < 0)
		return -ENOMEM;
	trace->damages[trace->nr_damages++] = (struct trace_damage){ .offset = offset, .bytes = bytes, .message = message };
	return 0;
}

int trace_add_unfinished(struct trace *trace, uint64_t from, uint64_t to)
{
	return trace_add_damage(trace, from, to - from, "offset %llu: %llu bytes between two chunks are of a write that failed",
				(unsigned long long)from, (unsigned long long)(to - from));
}

int trace_add_gap(struct trace *trace, const struct trace_gap *gap)
{
	if (!trace_array_grow((void **)&trace->gaps, trace->nr_gaps, &trace->gaps_room, sizeof(*trace->gaps)))
		return -ENOMEM;
	trace->gaps[trace->nr_gaps++] = *gap;
	return 0;
}
