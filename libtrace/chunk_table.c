/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * chunk_table.c - which chunks the file has, from its table: 64 bytes of each, where the index has 160.
 *
 * Opening a trace goes through all of its chunks, and that takes as long as the bytes that it has to read and to check, and those it writes take
 * longer: of 16 MB of table (10 GB of trace) to read and check took 2 to 3 ms, to write 8 MB of memory as long again. So nothing is kept of an entry but
 * where it is. The index holds whole headers: those are looked at one by one, when somebody reads the chunk (chunk_header()), and all of them by index_verify().
 */
#include "trace.h"

#include "checksum.h"
#include "pages.h"

#include <errno.h>
#include <string.h>

/* Of so many bytes of the table, that of 40 GB of trace, the pages are asked for at once: a lying root does not bring more into memory. */
#define TABLE_AHEAD_BYTES (64u << 20)

/** struct walk - through the table. @end: of the chunk before */
struct walk {
	const struct trace_end_mark *mark;
	struct trace_table_root root;
	uint64_t end;
};

/* A plain chunk of this kind at @at, with a good checksum. Returns where its payload is; NULL: there is none. */
static const unsigned char *plain_chunk(const struct trace *trace, uint64_t at, uint16_t kind, uint64_t stop, uint32_t *ret_bytes)
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

static inline bool entry_is_good(const struct walk *walk, const struct entry *entry)
{
	uint64_t room = walk->root.offset - walk->end, offset = entry->of.offset;

	return offset >= walk->end && offset - walk->end <= room && entry->of.events <= TRACE_CHUNK_EVENTS_MAX &&
	       chunk_cpu_is_good(entry->of.kind, entry->of.cpu) &&
	       (uint64_t)walk->root.header_bytes + entry->of.packed_bytes <= room - (offset - walk->end);
}

/* Of what was lost, loss_ledger.c reads the header: it has to be good. */
static int check_losses(const struct trace *trace, size_t idx)
{
	struct chunk chunk;

	return chunk_make(trace, idx, &chunk) ? 0 : -EBADMSG;
}

static int entry_load(struct trace *trace, struct walk *walk, const struct entry *entry)
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

/* Nothing was lost, and nothing is between it and the one before: then it is good if it ends before the table begins. */
static inline bool run_goes_on(const struct entry *entry, uint64_t end, uint64_t next, uint64_t stop)
{
	return entry->of.kind == TRACE_CHUNK_EVENTS && !(entry->of.flags & TRACE_TABLE_LOSS) && entry->of.offset == end && next <= stop &&
	       entry->of.events <= TRACE_CHUNK_EVENTS_MAX && entry->of.cpu < TRACE_CPUS_MAX;
}

/* Everything on its way in registers: there are a quarter of a million of them in 10 GB. */
static inline void run_add(struct chunk_run *run, const struct entry *entry)
{
	run->nr++;
	run->events += entry->of.events;
	run->first_ns = run->first_ns < entry->of.first_ns ? run->first_ns : entry->of.first_ns;
	chunk_run_extend(run, entry->of.stream, entry->of.cpu, entry->of.last_ns);
}

/* Returns where it ends; NULL: there are too many. */
static const unsigned char *run_load(struct trace *trace, struct walk *walk, const unsigned char *at, const unsigned char *entries_end)
{
	uint64_t end = walk->end, stop = walk->root.offset, header_bytes = walk->root.header_bytes;
	struct chunk_run run = { .first_ns = UINT64_MAX };
	size_t stride = trace->table.stride;

	for (; at < entries_end; at += stride) {
		const struct entry *entry = (const struct entry *)at;
		uint64_t next = end + header_bytes + entry->of.packed_bytes;

		if (!run_goes_on(entry, end, next, stop))
			break;
		run_add(&run, entry);
		end = next;
	}
	walk->end = end;
	return trace_add_run(trace, &run) < 0 ? NULL : at;
}

static int piece_load(struct trace *trace, struct walk *walk, const unsigned char *entries, uint32_t bytes)
{
	const unsigned char *end = entries + bytes;
	struct table *table = &trace->table;
	int error = 0;

	if (bytes % table->stride)
		return -EBADMSG;
	if (!bytes)
		return 0;
	if (!trace_array_grow((void **)&table->pieces, table->nr_pieces, &table->pieces_room, sizeof(*table->pieces)))
		return -ENOMEM;
	table->pieces[table->nr_pieces++] = (struct table_piece){ entries, trace->nr_chunks };
	for (const unsigned char *at = entries; !error && at < end; at += table->stride) {
		at = run_load(trace, walk, at, end);
		error = !at ? -ENOMEM : at < end ? entry_load(trace, walk, (const struct entry *)at) : 0;
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
	trace->table.stride = walk.root.entry_bytes;
	trace->table.header_bytes = walk.root.header_bytes;
	trace->table.index_entries = walk.root.index_entries;
	trace->table.headers_at = mark->index_offset + walk.root.header_bytes + offsetof(struct trace_index_entry, header);
	at = walk.root.offset;
	pages_look_at(trace->data + at, stop - at < TABLE_AHEAD_BYTES ? stop - at : TABLE_AHEAD_BYTES);
	for (uint32_t i = 0; !error && i < walk.root.nr_chunks; i++) {
		uint32_t bytes;
		const unsigned char *entries = plain_chunk(trace, at, TRACE_CHUNK_TABLE, stop, &bytes);

		if (!entries)
			return -EBADMSG;
		error = piece_load(trace, &walk, entries, bytes);
		if (!error)
			error = books_follow(trace);
		at = (uint64_t)(entries - trace->data) + bytes;
	}
	if (!error && (at != stop || walk.end != walk.root.offset || trace->nr_chunks != walk.root.nr_entries))
		return -EBADMSG;
	return error;
}
