/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * table.c - which chunks the file has, from its table: 64 bytes of each, where the index has 160.
 *
 * Opening a trace goes through all of its chunks, and that takes as long as the bytes that it has to read and to check. The index holds whole
 * headers: those are looked at one by one, when somebody reads the chunk (chunk_header()), and all of them by index_verify().
 */
#include "trace.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

/** struct walk - through the table. @end: of the chunk before. @header_at: of the next one's header, in the index */
struct walk {
	const struct trace_end_mark *mark;
	struct trace_table_root root;
	uint64_t end;
	uint64_t header_at;
	uint64_t nr;
};

/* A plain chunk of this kind at @at, with a good checksum. Returns where its payload is; NULL: there is none. */
static const unsigned char *plain_chunk(const struct trace *trace, uint64_t at, uint16_t kind, uint64_t stop, uint32_t *ret_bytes)
{
	struct trace_chunk_header header;

	if (chunk_header_read(trace, at, &header) || header.kind != kind || header.trace_id != trace->trace_id ||
	    header.compression != TRACE_COMPRESSION_NONE || header.encoding != TRACE_ENCODING_PLAIN ||
	    (uint64_t)header.header_bytes + header.packed_bytes > stop - at ||
	    XXH3_64bits(trace->data + at + header.header_bytes, header.packed_bytes) != header.payload_checksum)
		return NULL;
	*ret_bytes = header.packed_bytes;
	return trace->data + at + header.header_bytes;
}

static bool root_read(const struct trace *trace, struct walk *walk)
{
	uint64_t bytes = sizeof(struct trace_chunk_header) + sizeof(walk->root), stop = walk->mark->index_offset;
	struct trace_table_root *root = &walk->root;
	const unsigned char *payload;
	uint32_t payload_bytes;

	if (stop < bytes)
		return false;
	payload = plain_chunk(trace, stop - bytes, TRACE_CHUNK_ROOT, stop, &payload_bytes);
	if (!payload || payload_bytes != sizeof(*root))
		return false;
	memcpy(root, payload, sizeof(*root));
	return root->offset >= walk->end && root->offset <= stop - bytes && root->nr_entries <= stop / sizeof(struct trace_chunk_header) && root->entry_bytes >= sizeof(struct trace_table_entry) &&
	       root->header_bytes >= sizeof(struct trace_chunk_header) && root->header_bytes <= TRACE_CHUNK_HEADER_MAX_BYTES && root->index_entries;
}

static bool entry_is_good(const struct walk *walk, const struct trace_table_entry *entry)
{
	uint64_t room = walk->root.offset - walk->end;

	return entry->offset >= walk->end && entry->offset - walk->end <= room && entry->events <= TRACE_CHUNK_EVENTS_MAX &&
	       chunk_cpu_is_good(entry->kind, entry->cpu) &&
	       (uint64_t)walk->root.header_bytes + entry->packed_bytes <= room - (entry->offset - walk->end);
}

/* Of a newer version the index's copy is not all of the header. */
static uint64_t header_place(const struct walk *walk, const struct trace_table_entry *entry)
{
	return walk->root.header_bytes == sizeof(struct trace_chunk_header) ? walk->header_at : entry->offset;
}

static void header_step(struct walk *walk)
{
	walk->header_at += sizeof(struct trace_index_entry);
	if (++walk->nr % walk->root.index_entries == 0)
		walk->header_at += walk->root.header_bytes; /* of the next index chunk */
}

/* What was lost is in the header, of which books.c reads the copy: it has to be good. */
static int chunk_with_losses(const struct trace *trace, struct chunk *chunk)
{
	const uint64_t places[] = { chunk->header_at, chunk->public.offset };

	for (int i = 0; i < 2; i++) {
		struct trace_chunk_header header;

		if (chunk_header_read(trace, places[i], &header))
			continue;
		chunk->public.lost_before = header.lost_before;
		chunk->header_at = places[i];
		if (chunk_header_is_of(&header, chunk))
			return 0;
	}
	return -EBADMSG;
}

/* Field by field: what is set as a whole is cleared first, and there are a quarter of a million of them in 10 GB. */
static inline void chunk_fill(struct chunk *chunk, const struct trace_table_entry *entry, uint64_t header_at)
{
	struct trace_chunk *public = &chunk->public;

	public->offset = entry->offset;
	public->seq = entry->seq;
	public->first_ns = entry->first_ns;
	public->last_ns = entry->last_ns;
	public->lost_before = 0;
	public->events = entry->events;
	public->stream = entry->stream;
	public->cpu = entry->cpu;
	public->raw_bytes = entry->raw_bytes;
	public->packed_bytes = entry->packed_bytes;
	public->kind = entry->kind;
	public->encoding = entry->encoding;
	public->damaged = false;
	chunk->header_at = header_at;
	chunk->events_before = entry->events_before;
	chunk->is_plain = !(entry->flags & TRACE_TABLE_LOSS);
}

static int entry_load(struct trace *trace, struct walk *walk, const struct trace_table_entry *entry)
{
	struct chunk *chunk = trace_next_chunk(trace);
	int error = 0;

	if (!chunk)
		return -ENOMEM;
	if (!entry_is_good(walk, entry))
		return -EBADMSG;
	chunk_fill(chunk, entry, header_place(walk, entry));
	if (!chunk->is_plain)
		error = chunk_with_losses(trace, chunk);
	if (!error && entry->offset > walk->end)
		error = trace_add_unfinished(trace, walk->end, entry->offset);
	walk->end = entry->offset + walk->root.header_bytes + entry->packed_bytes;
	header_step(walk);
	return error ? error : trace_take_chunk(trace);
}

static int entries_load(struct trace *trace, struct walk *walk, const unsigned char *entries, uint32_t bytes)
{
	int error = bytes % walk->root.entry_bytes ? -EBADMSG : 0;

	for (uint32_t at = 0; !error && at < bytes; at += walk->root.entry_bytes) {
		struct trace_table_entry entry;

		memcpy(&entry, entries + at, sizeof(entry));
		error = entry_load(trace, walk, &entry);
	}
	return error;
}

int table_load(struct trace *trace, const struct trace_end_mark *mark, uint64_t first)
{
	struct walk walk = { .mark = mark, .end = first };
	uint64_t at, stop = mark->index_offset - sizeof(struct trace_chunk_header) - sizeof(walk.root);
	int error = 0;

	if (!root_read(trace, &walk))
		return -EBADMSG;
	walk.header_at = mark->index_offset + walk.root.header_bytes + offsetof(struct trace_index_entry, header);
	at = walk.root.offset;
	if (!trace_reserve_chunks(trace, walk.root.nr_entries))
		return -ENOMEM;
	for (uint32_t i = 0; !error && i < walk.root.nr_chunks; i++) {
		uint32_t bytes;
		const unsigned char *entries = plain_chunk(trace, at, TRACE_CHUNK_TABLE, stop, &bytes);

		if (!entries)
			return -EBADMSG;
		error = entries_load(trace, &walk, entries, bytes);
		if (!error)
			error = trace_follow(trace);
		at = (uint64_t)(entries - trace->data) + bytes;
	}
	if (!error && (at != stop || walk.end != walk.root.offset || walk.nr != walk.root.nr_entries))
		return -EBADMSG;
	return error;
}
