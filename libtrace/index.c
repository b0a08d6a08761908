/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * index.c - finds the chunks of the file: from its table or index, or else by walking from one
 * chunk to the next.
 *
 * The end mark leads to the table, which has all data of each chunk that opening needs
 * (chunk_table.c). If the table is damaged, the end mark leads to the index, which holds a copy of
 * each chunk's header. Either way opening touches no chunk.
 * If the index is missing or damaged too, walk() goes through the file. Where it finds no good
 * header, it searches the next magic with a good header after it. The bytes between are listed as
 * damage. The loss ledger finds the events of the lost chunks later, from the cumulative numbers of
 * the streams (loss_ledger.c).
 */
#include "index.h"

#include "chunk.h"
#include "chunk_table.h"
#include "loss_ledger.h"
#include "number_text.h"
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- by table or index ---- */

static bool end_mark_read(const struct trace *trace, uint64_t at, struct trace_end_mark *ret_mark)
{
	struct trace_end_mark mark;

	if (at > trace->bytes || trace->bytes - at < sizeof(mark))
		return false;
	memcpy(&mark, trace->data + at, sizeof(mark));
	if (memcmp(mark.magic, TRACE_END_MAGIC, TRACE_MAGIC_BYTES) != 0 || mark.file_bytes != at + sizeof(mark) ||
	    XXH3_64bits(&mark, offsetof(struct trace_end_mark, checksum)) != mark.checksum)
		return false;
	*ret_mark = mark;
	return true;
}

static bool index_entry_is_good(const struct trace *trace, const struct trace_index_entry *entry, uint64_t end)
{
	const struct trace_chunk_header *header = &entry->header;
	uint64_t room = trace->bytes - end;

	return entry->offset >= end && entry->offset - end <= room && header->trace_id == trace->trace_id &&
	       header->header_bytes >= sizeof(*header) && header->events <= TRACE_CHUNK_EVENTS_MAX &&
	       chunk_cpu_is_good(header->kind, header->cpu) &&
	       (uint64_t)header->header_bytes + header->packed_bytes <= room - (entry->offset - end);
}

static bool is_about_chunks(uint16_t kind)
{
	return kind == TRACE_CHUNK_INDEX || kind == TRACE_CHUNK_TABLE || kind == TRACE_CHUNK_ROOT;
}

/* Reports a damaged table: if it were good, the index would not have been read. */
static int table_damaged(struct trace *trace, const struct trace_index_entry *root)
{
	return trace_add_damage(trace, root->offset, (uint64_t)root->header.header_bytes + root->header.packed_bytes,
				"offset %llu: the table of chunks is damaged; the index was read instead",
				(unsigned long long)root->offset);
}

/*
 * Loads one chunk of the index. @end: end of the previous chunk; moves on. Returns -EBADMSG for an
 * impossible index. The checksum of the index has been checked. Those of the single headers in it
 * are checked when a chunk is read.
 */
static int index_chunk_load(struct trace *trace, uint64_t payload, uint32_t bytes, uint64_t *end)
{
	int error = 0;

	if (bytes % sizeof(struct trace_index_entry))
		return -EBADMSG;
	for (uint64_t at = payload; !error && at < payload + bytes; at += sizeof(struct trace_index_entry)) {
		struct trace_index_entry entry;
		uint64_t header_at = at + offsetof(struct trace_index_entry, header);

		memcpy(&entry, trace->data + at, sizeof(entry));
		if (!index_entry_is_good(trace, &entry, *end))
			return -EBADMSG;
		/* header of a newer version: the index has only a part of it */
		if (entry.header.header_bytes > sizeof(entry.header)) {
			header_at = entry.offset;
			if (chunk_header_read(trace, header_at, &entry.header))
				return -EBADMSG;
		}
		if (entry.offset > *end)
			error = trace_add_unfinished(trace, *end, entry.offset);
		if (!error && entry.header.kind == TRACE_CHUNK_ROOT)
			error = table_damaged(trace, &entry);
		if (!error && !is_about_chunks(entry.header.kind))
			error = trace_add_chunk(trace, entry.offset, header_at, &entry.header);
		*end = entry.offset + entry.header.header_bytes + entry.header.packed_bytes;
	}
	return error;
}

static bool index_chunk_is_good(const struct trace *trace, uint64_t at, struct trace_chunk_header *ret_header)
{
	uint64_t payload;

	if (chunk_header_read(trace, at, ret_header) || ret_header->kind != TRACE_CHUNK_INDEX ||
	    ret_header->compression != TRACE_COMPRESSION_NONE)
		return false;
	payload = at + ret_header->header_bytes;
	return trace->bytes - payload >= ret_header->packed_bytes &&
	       XXH3_64bits(trace->data + payload, ret_header->packed_bytes) == ret_header->payload_checksum;
}

static int index_follow(struct trace *trace, const struct trace_end_mark *mark, uint64_t first)
{
	uint64_t at = mark->index_offset, end = first;
	int error = 0;

	for (uint32_t i = 0; !error && i < mark->nr_index_chunks; i++) {
		struct trace_chunk_header header;
		uint64_t payload;

		if (!index_chunk_is_good(trace, at, &header))
			return -EBADMSG;
		payload = at + header.header_bytes;
		error = index_chunk_load(trace, payload, header.packed_bytes, &end);
		if (!error)
			error = ledger_add_chunks(trace);
		at = payload + header.packed_bytes;
	}
	if (!error && (end != mark->index_offset || at + sizeof(*mark) != trace->bytes))
		return -EBADMSG;
	return error;
}

/*
 * Checks the whole index. When the file was opened by its table, only single entries of the index
 * have been read so far.
 */
const char *index_verify(const struct trace *trace)
{
	struct trace_end_mark mark;
	uint64_t at, idx = 0;

	if (!trace->info.clean_end || trace->info.index_rebuilt ||
	    !end_mark_read(trace, trace->bytes - sizeof(mark), &mark))
		return NULL;
	at = mark.index_offset;
	for (uint32_t i = 0; i < mark.nr_index_chunks; i++) {
		struct trace_chunk_header header;
		struct trace_index_entry entry;
		uint64_t stop;

		if (!index_chunk_is_good(trace, at, &header) || header.packed_bytes % sizeof(entry))
			return "one of its chunks is damaged";
		at += header.header_bytes;
		stop = at + header.packed_bytes;
		for (; at < stop; at += sizeof(entry), idx++) {
			memcpy(&entry, trace->data + at, sizeof(entry));
			if (idx < trace->nr_chunks && entry.offset != chunk_entry(trace, idx)->of.offset)
				return "it and the table differ";
		}
	}
	return at + sizeof(mark) == trace->bytes && idx >= trace->nr_chunks
		       ? NULL
		       : "its list of chunks differs from the chunks of the file";
}

static void drop_chunks(struct trace *trace, size_t nr_damages)
{
	trace->nr_chunks = trace->nr_unusable = trace->unusable_room = trace->table.nr_pieces = 0;
	memset(trace->nr_of_kind, 0, sizeof(trace->nr_of_kind));
	trace->nr_metadata = 0;
	trace->info.events = 0;
	trace->info.nr_cpus = 0;
	ledger_restart(trace);
	trace->first_ns = UINT64_MAX;
	trace->last_ns = trace->user_last_ns = 0;
	trace->user_nr_cpus = 0;
	while (trace->nr_damages > nr_damages)
		free((char *)trace->damages[--trace->nr_damages].message);
}

/* ---- by walking ---- */

/* Offset of the chunk, if an index entry is at @entry_at. */
static uint64_t entry_offset(const struct trace *trace, uint64_t entry_at)
{
	uint64_t offset;

	memcpy(&offset, trace->data + entry_at, sizeof(offset));
	return offset;
}

/*
 * Are these two consecutive index entries? Then the second chunk's offset follows from the first
 * one's. This holds even if the chunks are elsewhere now, or missing.
 */
static bool are_entries(const struct trace *trace, uint64_t first, uint64_t second)
{
	uint64_t offset, next, at = offsetof(struct trace_index_entry, header);
	struct trace_chunk_header header, next_header;

	if (chunk_header_read(trace, first + at, &header) || header.trace_id != trace->trace_id ||
	    chunk_header_read(trace, second + at, &next_header))
		return false;
	offset = entry_offset(trace, first);
	next = entry_offset(trace, second);
	/* a failed write may have left bytes between the chunks */
	return next > offset && next - offset >= (uint64_t)header.header_bytes + header.packed_bytes &&
	       next - offset <= 2ull * TRACE_RAW_MAX;
}

static bool index_begins(const struct trace *trace, uint64_t entry_at)
{
	struct trace_chunk_header header;

	return entry_at >= sizeof(header) && !chunk_header_read(trace, entry_at - sizeof(header), &header) &&
	       header.kind == TRACE_CHUNK_INDEX && header.header_bytes == sizeof(header) &&
	       header.trace_id == trace->trace_id;
}

/*
 * Is this header a copy in the index, where no chunk begins? The offset before a copy leads to the
 * original header with the same content. If bytes were cut out of the file, the original may be
 * elsewhere or missing, but then the copy is among other index entries.
 */
static bool is_copy_in_index(const struct trace *trace, uint64_t at, const struct trace_chunk_header *header)
{
	uint64_t entry_at = at - offsetof(struct trace_index_entry, header), stride = sizeof(struct trace_index_entry),
		 original;

	if (at < sizeof(original) || header->kind == TRACE_CHUNK_INDEX)
		return false;
	original = entry_offset(trace, entry_at);
	return (original < at && memcmp(trace->data + original, header, sizeof(*header)) == 0) ||
	       are_entries(trace, entry_at, entry_at + stride) ||
	       (entry_at >= stride && are_entries(trace, entry_at - stride, entry_at)) || index_begins(trace, entry_at);
}

/* Offset of the next chunk from @at on, before @stop; @stop if there is none. */
static uint64_t resync(const struct trace *trace, uint64_t at, uint64_t stop)
{
	while (at < stop) {
		const unsigned char *found = memmem(trace->data + at, stop - at, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES);
		struct trace_chunk_header header;

		if (!found)
			break;
		at = (uint64_t)(found - trace->data);
		if (!chunk_header_read(trace, at, &header) && header.trace_id == trace->trace_id &&
		    !is_copy_in_index(trace, at, &header))
			return at;
		at++;
	}
	return stop;
}

/* A good header without its whole payload: the number of its events and their times are known. */
static int walk_cut_chunk(struct trace *trace, uint64_t at, uint64_t next, const struct trace_chunk_header *header)
{
	int error = trace_add_damage(trace, at, next - at, "offset %llu: a chunk of %s is incomplete",
				     (unsigned long long)at, number_events(header->events).s);

	if (!error)
		error = trace_add_chunk(trace, at, at, header);
	return error ? error : trace_mark_unusable(trace, trace->nr_chunks - 1);
}

static int walk_damage(struct trace *trace, uint64_t at, uint64_t next, const char *reason)
{
	return trace_add_damage(trace, at, next - at, "offset %llu: %llu bytes cannot be used: %s",
				(unsigned long long)at, (unsigned long long)(next - at), reason);
}

static bool is_small_index(const struct trace_chunk_header *header)
{
	return header->kind == TRACE_CHUNK_INDEX &&
	       header->packed_bytes <= TRACE_INDEX_ENTRIES * sizeof(struct trace_index_entry);
}

/*
 * Is the whole chunk there? After a failed write to a pipe a good header may precede only a part of
 * its payload. Then no chunk begins at the expected end, but often one begins before it.
 *
 *	a chunk begins at the expected end       whole; no checksum needed
 *	another chunk begins inside              not whole; no checksum needed
 *	neither                                  the checksum decides
 *
 * If the checksum were computed with a chunk inside, the walk would compute it again for that
 * chunk, and its payload may reach as far: quadratic work. An index contains copies of headers,
 * which look like chunks inside if bytes were cut out of the file. So the checksum alone decides
 * for an index of normal size.
 */
static bool is_whole(const struct trace *trace, uint64_t at, const struct trace_chunk_header *header, uint64_t stop)
{
	uint64_t payload = at + header->header_bytes, end;
	struct trace_chunk_header next;

	if (header->packed_bytes > stop - payload)
		return false;
	end = payload + header->packed_bytes;
	if (end == stop || !chunk_header_read(trace, end, &next))
		return true;
	return (is_small_index(header) || resync(trace, payload, end) == end) &&
	       XXH3_64bits(trace->data + payload, header->packed_bytes) == header->payload_checksum;
}

static int walk(struct trace *trace, uint64_t at)
{
	struct trace_end_mark mark;
	bool has_end = trace->bytes >= sizeof(mark) && end_mark_read(trace, trace->bytes - sizeof(mark), &mark);
	uint64_t stop = trace->bytes - (has_end ? sizeof(mark) : 0);
	int error = 0;

	trace->info.clean_end = has_end;
	while (!error && at < stop) {
		struct trace_chunk_header header;
		const char *reason = chunk_header_read(trace, at, &header);

		if (!reason && header.trace_id != trace->trace_id)
			reason = "they belong to another trace";
		/* the recorder finished, and later bytes were appended */
		if (reason && end_mark_read(trace, at, &mark) && mark.trace_id == trace->trace_id) {
			trace->info.clean_end = true;
			at += sizeof(mark);
			reason = "they are after the end of the trace";
		}
		if (reason) {
			uint64_t next = resync(trace, at + 1, stop);

			error = walk_damage(trace, at, next, reason);
			at = next;
		} else if (!is_whole(trace, at, &header, stop)) {
			uint64_t next = resync(trace, at + 1, stop);

			error = walk_cut_chunk(trace, at, next, &header);
			at = next;
		} else {
			trace->has_index |= header.kind == TRACE_CHUNK_INDEX;
			if (!is_about_chunks(header.kind))
				error = trace_add_chunk(trace, at, at, &header);
			at += header.header_bytes + header.packed_bytes;
		}
	}
	return error;
}

/* ---- while the file grows ---- */

/* The chunk after it may not be there yet, so its own checksum decides. */
static bool is_written(const struct trace *trace, uint64_t at, const struct trace_chunk_header *header)
{
	uint64_t payload = at + header->header_bytes;

	return header->packed_bytes <= trace->bytes - payload &&
	       XXH3_64bits(trace->data + payload, header->packed_bytes) == header->payload_checksum;
}

static int continue_with(struct trace *trace, uint64_t *at, const struct trace_chunk_header *header)
{
	uint64_t offset = *at;

	*at += header->header_bytes + (uint64_t)header->packed_bytes;
	trace->has_index |= header->kind == TRACE_CHUNK_INDEX;
	return is_about_chunks(header->kind) ? 0 : trace_add_chunk(trace, offset, offset, header);
}

int index_continue(struct trace *trace, uint64_t *at, bool *ret_ended)
{
	struct trace_end_mark mark;
	int error = 0;

	while (!error && *at < trace->bytes) {
		struct trace_chunk_header header;
		bool is_good = !chunk_header_read(trace, *at, &header) && header.trace_id == trace->trace_id;
		uint64_t next;

		if (is_good && is_written(trace, *at, &header)) {
			error = continue_with(trace, at, &header);
			continue;
		}
		if (end_mark_read(trace, *at, &mark) && mark.trace_id == trace->trace_id) {
			*ret_ended = trace->info.clean_end = true;
			break;
		}
		next = resync(trace, *at + 1, trace->bytes);
		if (next == trace->bytes)
			break;
		if (is_good && next == *at + header.header_bytes + header.packed_bytes) {
			error = continue_with(trace, at, &header); /* its payload is damaged: the cursor says so */
			continue;
		}
		error = trace_add_unfinished(trace, *at, next);
		*at = next;
	}
	return error;
}

int index_end(struct trace *trace, uint64_t at)
{
	trace->info.index_rebuilt = true;
	return walk(trace, at);
}

/* Takes the trace id from the first chunk after @at, when the file's header is damaged. */
static void adopt_trace_id(struct trace *trace, uint64_t at)
{
	while (at < trace->bytes) {
		const unsigned char *found = memmem(trace->data + at, trace->bytes - at, TRACE_CHUNK_MAGIC,
						    TRACE_MAGIC_BYTES);
		struct trace_chunk_header header;

		if (!found)
			return;
		at = (uint64_t)(found - trace->data);
		if (!chunk_header_read(trace, at, &header)) {
			trace->trace_id = header.trace_id;
			return;
		}
		at++;
	}
}

int index_load(struct trace *trace, uint64_t first, bool header_is_good)
{
	struct trace_end_mark mark;
	int error;

	if (!header_is_good)
		adopt_trace_id(trace, first);
	if (trace->bytes >= sizeof(mark) && end_mark_read(trace, trace->bytes - sizeof(mark), &mark) &&
	    mark.trace_id == trace->trace_id && mark.index_offset <= trace->bytes - sizeof(mark)) {
		size_t nr_damages = trace->nr_damages;

		trace->info.clean_end = trace->has_index = true;
		error = table_load(trace, &mark, first);
		if (error == -EBADMSG) {
			drop_chunks(trace, nr_damages);
			error = index_follow(trace, &mark, first);
		}
		if (error != -EBADMSG)
			return error;
		drop_chunks(trace, nr_damages);
		error = trace_add_damage(
			trace, mark.index_offset, trace->bytes - sizeof(mark) - mark.index_offset,
			"offset %llu: the index of the trace is damaged; it was rebuilt from the chunks",
			(unsigned long long)mark.index_offset);
		if (error)
			return error;
	}
	trace->info.index_rebuilt = true;
	return walk(trace, first);
}
