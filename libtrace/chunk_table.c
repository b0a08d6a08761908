/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * chunk_table.c - finds the chunks of the file in its table: 64 bytes for each, where the index has
 * 160.
 *
 * Opening a trace goes through all of its chunks. Its time depends on the bytes read and checked,
 * and even more on the bytes written. For a 16 MB table (10 GB of trace) reading and checking took
 * 2 to 3 ms, and writing 8 MB of memory took as long again. So the reader keeps only the position
 * of the entries. The index holds whole headers. chunk_header() checks the header of a chunk when
 * it is read; index_verify() checks the index as a whole.
 */
#include "chunk_table.h"

#include "checksum.h"
#include "chunk.h"
#include "loss_ledger.h"
#include "pages.h"
#include "trace.h"

#include <errno.h>
#include <string.h>

/*
 * Up to this many bytes of the table are mapped in advance, enough for 40 GB of trace. The limit
 * keeps a crafted root from bringing more into memory.
 */
#define TABLE_AHEAD_BYTES (64u << 20)

/** struct table_walk - a pass over the table. @end: end of the previous chunk */
struct table_walk {
	const struct trace_end_mark *mark;
	struct trace_table_root root;
	uint64_t end;
};

/*
 * Finds an uncompressed chunk of @kind with a good checksum at @at. Returns its payload; NULL:
 * there is none.
 */
static const unsigned char *plain_chunk(const struct trace *trace, uint64_t at, uint16_t kind, uint64_t stop,
					uint32_t *ret_bytes)
{
	struct trace_chunk_header header;

	if (chunk_header_read(trace, at, &header) || header.kind != kind || header.trace_id != trace->trace_id ||
	    header.compression != TRACE_COMPRESSION_NONE || header.encoding != TRACE_ENCODING_PLAIN ||
	    (uint64_t)header.header_bytes + header.packed_bytes > stop - at ||
	    checksum_of(trace->data + at + header.header_bytes, header.packed_bytes) != header.payload_checksum)
		return NULL;
	*ret_bytes = header.packed_bytes;
	return trace->data + at + header.header_bytes;
}

static bool root_read(const struct trace *trace, struct table_walk *walk)
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
	return root->offset >= walk->end && root->offset <= stop - bytes &&
	       root->nr_entries <= stop / sizeof(struct trace_chunk_header) &&
	       root->entry_bytes >= sizeof(struct trace_table_entry) &&
	       root->header_bytes >= sizeof(struct trace_chunk_header) &&
	       root->header_bytes <= TRACE_CHUNK_HEADER_MAX_BYTES && root->index_entries;
}

static inline bool entry_is_good(const struct table_walk *walk, const struct table_entry *entry)
{
	uint64_t room = walk->root.offset - walk->end, offset = entry->of.offset;

	return offset >= walk->end && offset - walk->end <= room && entry->of.events <= TRACE_CHUNK_EVENTS_MAX &&
	       chunk_cpu_is_good(entry->of.kind, entry->of.cpu) &&
	       (uint64_t)walk->root.header_bytes + entry->of.packed_bytes <= room - (offset - walk->end);
}

/* loss_ledger.c reads the losses from this chunk's header, so it must be good. */
static int check_losses(const struct trace *trace, size_t idx)
{
	struct chunk chunk;

	return chunk_make(trace, idx, &chunk) ? 0 : -EBADMSG;
}

static int entry_load(struct trace *trace, struct table_walk *walk, const struct table_entry *entry)
{
	int error = 0;

	if (!entry_is_good(walk, entry))
		return -EBADMSG;
	if (entry->of.offset > walk->end)
		error = trace_add_unfinished(trace, walk->end, entry->of.offset);
	walk->end = entry->of.offset + walk->root.header_bytes + entry->of.packed_bytes;
	if (!error)
		error = trace_add_entry(trace, entry);
	return !error && entry->of.flags & TRACE_TABLE_LOSS ? check_losses(trace, trace->nr_chunks - 1) : error;
}

/*
 * Does the chunk continue the run? It has no losses, and no bytes between it and the previous
 * chunk. Then it is good if it ends before the table begins.
 */
static inline bool run_goes_on(const struct table_entry *entry, uint64_t end, uint64_t next, uint64_t stop)
{
	return entry->of.kind == TRACE_CHUNK_EVENTS && !(entry->of.flags & TRACE_TABLE_LOSS) &&
	       entry->of.offset == end && next <= stop && entry->of.events <= TRACE_CHUNK_EVENTS_MAX &&
	       entry->of.cpu < TRACE_CPUS_MAX;
}

/* Keeps all sums in registers: 10 GB of trace have a quarter of a million entries. */
static inline void run_add(struct chunk_run *run, const struct table_entry *entry)
{
	run->nr++;
	run->events += entry->of.events;
	run->first_ns = run->first_ns < entry->of.first_ns ? run->first_ns : entry->of.first_ns;
	chunk_run_extend(run, entry->of.stream, entry->of.cpu, entry->of.last_ns);
}

/* Loads one run. Returns its end; NULL: there are too many chunks. */
static const unsigned char *run_load(struct trace *trace, struct table_walk *walk, const unsigned char *at,
				     const unsigned char *entries_end)
{
	uint64_t end = walk->end, stop = walk->root.offset, header_bytes = walk->root.header_bytes;
	struct chunk_run run = {.first_ns = UINT64_MAX};
	size_t stride = trace->table.stride;

	for (; at < entries_end; at += stride) {
		const struct table_entry *entry = (const struct table_entry *)at;
		uint64_t next = end + header_bytes + entry->of.packed_bytes;

		if (!run_goes_on(entry, end, next, stop))
			break;
		run_add(&run, entry);
		end = next;
	}
	walk->end = end;
	return trace_add_run(trace, &run) < 0 ? NULL : at;
}

static int piece_load(struct trace *trace, struct table_walk *walk, const unsigned char *entries, uint32_t bytes)
{
	const unsigned char *end = entries + bytes;
	struct chunk_table *table = &trace->table;
	int error = 0;

	if (bytes % table->stride)
		return -EBADMSG;
	if (!bytes)
		return 0;
	if (!trace_array_grow((void **)&table->pieces, table->nr_pieces, &table->pieces_room, sizeof(*table->pieces)))
		return -ENOMEM;
	table->pieces[table->nr_pieces++] = (struct table_piece){entries, trace->nr_chunks};
	for (const unsigned char *at = entries; !error && at < end; at += table->stride) {
		at = run_load(trace, walk, at, end);
		error = !at ? -ENOMEM : at < end ? entry_load(trace, walk, (const struct table_entry *)at) : 0;
	}
	return error;
}

int table_load(struct trace *trace, const struct trace_end_mark *mark, uint64_t first)
{
	struct table_walk walk = {.mark = mark, .end = first};
	uint64_t at, stop = mark->index_offset - sizeof(struct trace_chunk_header) - sizeof(walk.root);
	int error = 0;

	if (!root_read(trace, &walk))
		return -EBADMSG;
	trace->table.stride = walk.root.entry_bytes;
	trace->table.header_bytes = walk.root.header_bytes;
	trace->table.index_entries = walk.root.index_entries;
	trace->table.headers_at = mark->index_offset + walk.root.header_bytes +
				  offsetof(struct trace_index_entry, header);
	at = walk.root.offset;
	pages_look_at(trace->data + at, stop - at < TABLE_AHEAD_BYTES ? stop - at : TABLE_AHEAD_BYTES);
	for (uint32_t i = 0; !error && i < walk.root.nr_chunks; i++) {
		uint32_t bytes;
		const unsigned char *entries = plain_chunk(trace, at, TRACE_CHUNK_TABLE, stop, &bytes);

		if (!entries)
			return -EBADMSG;
		error = piece_load(trace, &walk, entries, bytes);
		if (!error)
			error = ledger_add_chunks(trace);
		at = (uint64_t)(entries - trace->data) + bytes;
	}
	if (!error && (at != stop || walk.end != walk.root.offset || trace->nr_chunks != walk.root.nr_entries))
		return -EBADMSG;
	return error;
}
