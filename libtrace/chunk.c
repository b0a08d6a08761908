/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* chunk.c - one chunk of the file: check its header and its payload, and decode its events. */
#include "chunk.h"

#include "checksum.h"
#include "table_entry.h"
#include "timeline.h"
#include "trace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
	if (header.raw_bytes > TRACE_RAW_MAX || header.packed_bytes > TRACE_RAW_MAX ||
	    header.events > TRACE_CHUNK_EVENTS_MAX)
		return "a chunk is larger than the format allows";
	if (!chunk_cpu_is_good(header.kind, header.cpu))
		return "a chunk has an impossible CPU number";
	*ret_header = header;
	return NULL;
}

bool chunk_header_is_of(const struct trace_chunk_header *header, const struct chunk *chunk)
{
	const struct trace_chunk *public = &chunk->public;

	return header->kind == public->kind && header->encoding == public->encoding &&
	       header->stream == public->stream && header->cpu == public->cpu && header->events == public->events &&
	       header->seq == public->seq && header->first_ns == public->first_ns &&
	       header->last_ns == public->last_ns && header->events_before == chunk->events_before &&
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

/*
 * Returns the header without checking it again. A plain chunk of the table has all of it in its
 * entry. Otherwise this function relies on earlier checks: the index's copy of a chunk with losses
 * was checked when the table was loaded, all other headers when the file was walked.
 *
 * SECURITY: a chunk of the table can be refused later, because its times are impossible. The place
 * of its copy in the index has not been checked by then, and may be outside of the file.
 */
struct trace_chunk_header chunk_header_copy(const struct trace *trace, const struct chunk *chunk)
{
	struct trace_chunk_header header = {.header_bytes = sizeof(header),
					    .kind = chunk->public.kind,
					    .stream = chunk->public.stream,
					    .cpu = chunk->public.cpu,
					    .events = chunk->public.events,
					    .first_ns = chunk->public.first_ns,
					    .last_ns = chunk->public.last_ns,
					    .events_before = chunk->events_before,
					    .packed_bytes = chunk->public.packed_bytes};

	if (!chunk->is_plain || (chunk->public.damaged && trace->table.unlisted))
		memcpy(&header, trace->data + chunk->header_at, sizeof(header));
	return header;
}

/* ---- from the entry in the table ---- */

struct entries chunk_entries(const struct trace *trace, size_t idx)
{
	const struct chunk_table *table = &trace->table;
	size_t low = 0, high = table->nr_pieces;

	if (table->unlisted)
		return (struct entries){(const unsigned char *)&table->unlisted[idx], trace->nr_chunks - idx,
					sizeof(*table->unlisted)};
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (table->pieces[middle].first <= idx)
			low = middle;
		else
			high = middle;
	}
	return (struct entries){.at = table->pieces[low].entries + (idx - table->pieces[low].first) * table->stride,
				.nr = (low + 1 < table->nr_pieces ? table->pieces[low + 1].first : trace->nr_chunks) -
				      idx,
				.stride = table->stride};
}

/*
 * Offset of the best copy of the header. The index has only a part of a header of a newer version.
 */
static uint64_t header_offset(const struct trace *trace, size_t idx, uint64_t offset)
{
	const struct chunk_table *table = &trace->table;

	if (table->unlisted)
		return table->unlisted[idx].header_at;
	if (table->header_bytes != sizeof(struct trace_chunk_header))
		return offset;
	return table->headers_at + idx * sizeof(struct trace_index_entry) +
	       idx / table->index_entries * table->header_bytes;
}

/*
 * Reads the losses of the chunk from its header. A header that the table leads to has not been
 * checked yet. Without a table it has, or it is in an index that has.
 */
static bool chunk_with_losses(const struct trace *trace, struct chunk *chunk)
{
	const uint64_t offsets[] = {chunk->header_at, chunk->public.offset};
	struct trace_chunk_header header;

	if (trace->table.unlisted) {
		memcpy(&header, trace->data + chunk->header_at, sizeof(header));
		chunk->public.lost_before = header.lost_before;
		return true;
	}
	for (int i = 0; i < 2; i++) {
		if (chunk_header_read(trace, offsets[i], &header))
			continue;
		chunk->public.lost_before = header.lost_before;
		chunk->header_at = offsets[i];
		if (chunk_header_is_of(&header, chunk))
			return true;
	}
	return false;
}

bool chunk_make(const struct trace *trace, size_t idx, struct chunk *ret_chunk)
{
	struct trace_table_entry entry = chunk_entry(trace, idx)->of;

	*ret_chunk = (struct chunk){
		.public = {.offset = entry.offset,
			   .seq = entry.seq,
			   .first_ns = entry.first_ns,
			   .last_ns = entry.last_ns,
			   .events = entry.events,
			   .stream = entry.stream,
			   .cpu = entry.cpu,
			   .raw_bytes = entry.raw_bytes,
			   .packed_bytes = entry.packed_bytes,
			   .kind = entry.kind,
			   .encoding = entry.encoding,
			   .damaged = chunk_is_unusable(trace, idx)},
		.header_at = header_offset(trace, idx, entry.offset),
		.events_before = entry.events_before,
		.is_plain = !(entry.flags & TRACE_TABLE_LOSS),
	};
	return ret_chunk->is_plain || chunk_with_losses(trace, ret_chunk);
}

/* A file system that does not tell the size tells of no cut: checksums judge what is read. */
static bool file_has(const struct trace *trace, uint64_t end)
{
	struct stat stat;

	if (trace->fd < 0) /* memory stays as it is */
		return end <= trace->bytes;
	return fstat(trace->fd, &stat) < 0 || (uint64_t)stat.st_size >= end;
}

bool trace_is_complete(const struct trace *trace)
{
	return file_has(trace, trace->bytes);
}

/* End of all data of the chunk. The table is after all chunks. */
static uint64_t chunk_end(const struct trace *trace, size_t idx)
{
	const struct unlisted_chunk *unlisted = trace->table.unlisted ? &trace->table.unlisted[idx] : NULL;
	uint64_t header_end, end;

	if (!unlisted)
		return trace->bytes;
	header_end = unlisted->header_at + sizeof(struct trace_chunk_header);
	end = unlisted->entry.offset + sizeof(struct trace_chunk_header) + unlisted->entry.packed_bytes;
	return end > header_end ? end : header_end;
}

const char *chunk_get(const struct trace *trace, size_t idx, struct chunk *ret_chunk)
{
	if (!file_has(trace, chunk_end(trace, idx)))
		return "the file was truncated after it was opened";
	return chunk_make(trace, idx, ret_chunk) ? NULL : "its header and the table of chunks differ";
}

const char *chunk_of_span(const struct trace *trace, const struct span *span, struct chunk *ret_chunk)
{
	const char *reason = chunk_get(trace, span->idx, ret_chunk);
	const struct trace_chunk *public = &ret_chunk->public;

	if (!reason && (public->first_ns != span->first_ns || public->last_ns != span->last_ns ||
			public->events != span->events || public->stream != span->stream || public->cpu != span->cpu))
		reason = "the table of chunks has changed since the file was opened";
	return reason;
}

/* Two threads may both make the list; the first one to store it wins. */
const struct trace_chunk *trace_public_chunks(const struct trace *trace)
{
	struct trace_chunk **published = (struct trace_chunk **)&trace->public_chunks,
			   *chunks = __atomic_load_n(published, __ATOMIC_ACQUIRE), *others = NULL;
	struct chunk chunk;

	if (chunks || !trace_is_complete(trace))
		return chunks;
	chunks = malloc((trace->nr_chunks + 1) * sizeof(*chunks));
	for (size_t i = 0; chunks && i < trace->nr_chunks; i++) {
		chunk_make(trace, i, &chunk);
		chunks[i] = chunk.public;
	}
	if (!chunks ||
	    __atomic_compare_exchange_n(published, &others, chunks, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return chunks;
	free(chunks);
	return others;
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
 * Pages that were read stay mapped and count as memory of this process, which for a long trace
 * would be the size of the file. So when reading moves on to the next 4 MiB window, the windows
 * before the last one are released. When it jumps, it releases the windows that it leaves. A later
 * read finds the data in the page cache: it does not change, and pointers stay valid.
 */
static void release_windows(const struct trace *trace, uint64_t at)
{
	uint64_t *last_window = (uint64_t *)&trace->window; /* a hint, for all threads */
	uint64_t window = at >> WINDOW_BITS, last = __atomic_load_n(last_window, __ATOMIC_RELAXED);

	if (window == last || trace->fd < 0) /* memory of the caller is not released */
		return;
	__atomic_store_n(last_window, window, __ATOMIC_RELAXED);
	/* the boundaries of streams differ, so reads near a border alternate */
	if (window + 1 == last)
		return;
	if (last)
		unmap_window(trace, last - 1);
	if (window != last + 1)
		unmap_window(trace, last);
}

int chunk_payload(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker,
		  struct trace_chunk_header *ret_header, const unsigned char **ret_raw, const char **ret_reason)
{
	const unsigned char *packed;
	uint64_t at;

	*ret_reason = chunk_header(trace, chunk, ret_header);
	if (*ret_reason)
		return -EBADMSG;
	at = chunk->public.offset + ret_header->header_bytes;
	*ret_reason = "the file ends within its payload";
	if (at > trace->bytes || trace->bytes - at < ret_header->packed_bytes)
		return -EBADMSG;
	release_windows(trace, at);
	packed = trace->data + at;
	*ret_reason = "its payload has a wrong checksum";
	if (checksum_of(packed, ret_header->packed_bytes) != ret_header->payload_checksum)
		return -EBADMSG;
	return unpack(unpacker, ret_header, packed, ret_raw, ret_reason);
}

int span_block(const struct trace *trace, const struct span *span, struct unpacker *unpacker, struct block *block,
	       const char **ret_reason)
{
	struct chunk chunk;

	*ret_reason = chunk_of_span(trace, span, &chunk);
	return *ret_reason ? -EBADMSG : chunk_block(trace, &chunk, unpacker, block, ret_reason);
}

int chunk_block(const struct trace *trace, const struct chunk *chunk, struct unpacker *unpacker, struct block *block,
		const char **ret_reason)
{
	struct trace_chunk_header header;
	const unsigned char *raw;
	int error = chunk_payload(trace, chunk, unpacker, &header, &raw, ret_reason);

	if (error)
		return error;
	*ret_reason = "its encoding is unknown; a newer version of this program may read it";
	if (header.encoding != TRACE_ENCODING_COLUMNS)
		return -EBADMSG;
	return block_decode(block, &unpacker->tables, &trace->schema, &header, raw, ret_reason);
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
	return kind == TRACE_CHUNK_SCHEMA || kind == TRACE_CHUNK_STRINGS || kind == TRACE_CHUNK_CLOCK ||
	       kind == TRACE_CHUNK_STATISTICS;
}

static int add_metadata(struct trace *trace)
{
	if (!trace_array_grow((void **)&trace->metadata, trace->nr_metadata, &trace->metadata_room,
			      sizeof(*trace->metadata)))
		return -ENOMEM;
	trace->metadata[trace->nr_metadata++] = (uint32_t)trace->nr_chunks;
	return 0;
}

/*
 * Gathers here what trace_get_info() returns about all chunks. A large trace has hundreds of
 * thousands, so opening passes over them as few times as possible.
 */
int trace_add_run(struct trace *trace, const struct chunk_run *run)
{
	if (trace->nr_chunks > UINT32_MAX - run->nr)
		return -ENOMEM;
	trace->first_ns = trace->first_ns < run->first_ns ? trace->first_ns : run->first_ns;
	trace->last_ns = trace->last_ns > run->last_ns ? trace->last_ns : run->last_ns;
	trace->user_last_ns = trace->user_last_ns > run->user_last_ns ? trace->user_last_ns : run->user_last_ns;
	trace->info.events += run->events;
	trace->info.nr_cpus = trace->info.nr_cpus > run->nr_cpus ? trace->info.nr_cpus : run->nr_cpus;
	trace->user_nr_cpus = trace->user_nr_cpus > run->user_nr_cpus ? trace->user_nr_cpus : run->user_nr_cpus;
	trace->nr_of_kind[TRACE_CHUNK_EVENTS] += run->nr;
	trace->nr_chunks += run->nr;
	return 0;
}

int trace_add_entry(struct trace *trace, const struct table_entry *entry)
{
	uint16_t kind = entry->of.kind;

	if (kind == TRACE_CHUNK_EVENTS) {
		struct chunk_run run = {.nr = 1, .events = entry->of.events, .first_ns = entry->of.first_ns};

		chunk_run_extend(&run, entry->of.stream, entry->of.cpu, entry->of.last_ns);
		return trace_add_run(trace, &run);
	}
	if (trace->nr_chunks == UINT32_MAX || (is_metadata(kind) && add_metadata(trace) < 0))
		return -ENOMEM;
	trace->nr_chunks++;
	if (kind < TRACE_NR_CHUNK_KINDS)
		trace->nr_of_kind[kind]++;
	return 0;
}

int trace_add_chunk(struct trace *trace, uint64_t offset, uint64_t header_at, const struct trace_chunk_header *header)
{
	struct chunk_table *table = &trace->table;
	struct unlisted_chunk *unlisted;

	if (!trace_array_grow((void **)&table->unlisted, trace->nr_chunks, &table->unlisted_room, sizeof(*unlisted)))
		return -ENOMEM;
	unlisted = &table->unlisted[trace->nr_chunks];
	*unlisted = (struct unlisted_chunk){.entry = table_entry_of(offset, header), .header_at = header_at};
	return trace_add_entry(trace, (const struct table_entry *)&unlisted->entry);
}

int trace_mark_unusable(struct trace *trace, size_t idx)
{
	const struct table_entry *entry = chunk_entry(trace, idx);

	if (chunk_is_unusable(trace, idx))
		return 0;
	if (idx / 64 >= trace->unusable_room) {
		size_t room = trace->nr_chunks / 64 + 1 + trace->unusable_room;
		uint64_t *unusable = reallocarray(trace->unusable, room, sizeof(*unusable));

		if (!unusable)
			return -ENOMEM;
		memset(unusable + trace->unusable_room, 0, (room - trace->unusable_room) * sizeof(*unusable));
		trace->unusable = unusable;
		trace->unusable_room = room;
	}
	if (entry->of.kind == TRACE_CHUNK_EVENTS)
		trace->info.events -= entry->of.events;
	trace->unusable[idx / 64] |= 1ull << (idx % 64);
	trace->nr_unusable++;
	return 0;
}

int trace_add_damage(struct trace *trace, uint64_t offset, uint64_t bytes, const char *format, ...)
{
	va_list arguments;
	char *message;
	int length;

	if (!trace_array_grow((void **)&trace->damages, trace->nr_damages, &trace->damages_room,
			      sizeof(*trace->damages)))
		return -ENOMEM;
	va_start(arguments, format);
	length = vasprintf(&message, format, arguments);
	va_end(arguments);
	if (length < 0)
		return -ENOMEM;
	trace->damages[trace->nr_damages++] =
		(struct trace_damage){.offset = offset, .bytes = bytes, .message = message};
	return 0;
}

int trace_add_unfinished(struct trace *trace, uint64_t from, uint64_t to)
{
	return trace_add_damage(trace, from, to - from,
				"offset %llu: %llu bytes between two chunks come from a failed write",
				(unsigned long long)from, (unsigned long long)(to - from));
}

int trace_add_gap(struct trace *trace, const struct trace_gap *gap)
{
	if (!trace_array_grow((void **)&trace->gaps, trace->nr_gaps, &trace->gaps_room, sizeof(*trace->gaps)))
		return -ENOMEM;
	trace->gaps[trace->nr_gaps++] = *gap;
	return 0;
}
