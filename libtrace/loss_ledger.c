/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * loss_ledger.c - finds the missing events of each stream, by its chunks in the order of their
 * numbers.
 *
 * The field events_before of a chunk counts all earlier events of its stream, stored or lost. So
 *
 *	events_before - (events_before + events + undecodable of the previous chunk)
 *	        = lost_before + lost_write + events of missing chunks
 *
 * The header declares lost_before and lost_write. The remainder was in chunks that the file no
 * longer has. After the last chunk the statistics of the stream take the place of the next header.
 *
 * An example. A chunk has events_before 0 and 100 events. The next chunk has events_before 130 and
 * lost_before 20. So 30 events are missing between them: 20 were discarded, and 10 were in a chunk
 * that the file no longer has.
 *
 * A chunk with events_before below the end of the previous chunk is a copy, and is not used.
 */
#include "trace.h"

#include "stream_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** struct ledger - the account of one stream, up to the last chunk seen */
struct ledger {
	uint32_t stream;
	uint32_t cpu;
	uint16_t kind;
	bool started;
	uint64_t last_ns;
	/*
	 * Undecodable events of the last chunk are at or after this time: the begin of that chunk,
	 * or the end of the chunk before it.
	 */
	uint64_t inside_ns;
	uint64_t inside;    /* number of these undecodable events */
	uint64_t number;    /* expected number of the next event */
	uint64_t missed_ns; /* end of the last chunk with trace_missed events */
	uint64_t seen_lost_before;
	uint64_t seen_lost_write;
	uint64_t seen_undecodable;
};

enum { NR_NEAR = 64 };

/**
 * struct follower - all ledgers
 * @near: a cache, by the low bits of the stream: the index of the ledger that was used last
 * @in_order: the chunks come by stream and number; otherwise they come in file order
 * @is_other: the file order is not the order of the numbers, so the pass must be repeated
 */
struct follower {
	struct trace *trace;
	struct ledger *ledgers; /* owned */
	size_t nr;
	size_t room;
	struct stream_map map; /* from stream to index in @ledgers */
	uint32_t near[NR_NEAR];
	bool in_order;
	bool is_other;
};

static struct ledger *ledger_find(struct follower *books, uint16_t kind, uint32_t stream, uint32_t cpu)
{
	uint32_t idx = books->near[stream % NR_NEAR] = stream_map_find(&books->map, kind, stream);

	if (idx != STREAM_NONE)
		return &books->ledgers[idx];
	if (!trace_array_grow((void **)&books->ledgers, books->nr, &books->room, sizeof(*books->ledgers)) ||
	    !stream_map_put(&books->map, kind, stream, (uint32_t)books->nr))
		return NULL;
	books->ledgers[books->nr] = (struct ledger){.stream = stream, .cpu = cpu, .kind = kind};
	return &books->ledgers[books->nr++];
}

/* The ledger of the chunk's stream from the cache. NULL: the caller must look it up. */
static inline struct ledger *ledger_near(const struct follower *books, const struct table_entry *entry)
{
	uint32_t idx = books->near[entry->of.stream % NR_NEAR];
	struct ledger *ledger = idx < books->nr ? &books->ledgers[idx] : NULL;

	return ledger && ledger->stream == entry->of.stream && ledger->kind == entry->of.kind ? ledger : NULL;
}

static int add_gap(struct follower *books, const struct ledger *ledger, uint64_t start_ns, uint64_t end_ns,
		   uint64_t lost, enum trace_gap_cause cause)
{
	const struct trace *trace = books->trace;
	bool is_of_cpu = !stream_is_of_program(ledger->stream) || ledger->cpu < trace->limit_cpus;

	end_ns = end_ns < trace->limit_ns ? end_ns : trace->limit_ns;
	start_ns = start_ns < trace->limit_ns ? start_ns : trace->limit_ns;
	return trace_add_gap(books->trace, &(struct trace_gap){.stream = ledger->stream,
							       .cpu = is_of_cpu ? ledger->cpu : UINT32_MAX,
							       .start_ns = start_ns,
							       .end_ns = end_ns > start_ns ? end_ns : start_ns,
							       .lost = lost,
							       .cause = cause});
}

static uint64_t positive(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* ---- from chunk to chunk ---- */

static enum trace_gap_cause declared_cause(const struct trace_chunk_header *header)
{
	return header->lost_cause == TRACE_GAP_OVERWRITTEN || header->lost_cause == TRACE_GAP_SUSPECT
		       ? (enum trace_gap_cause)header->lost_cause
		       : TRACE_GAP_DISCARDED;
}

static int gaps_before(struct follower *books, const struct ledger *ledger, const struct trace_chunk_header *header)
{
	uint64_t start = ledger->started ? ledger->last_ns : books->trace->info.start_ns, end = header->first_ns;
	uint64_t gone = header->events_before - ledger->number, unwritten = header->lost_write;
	int error = 0;

	if (start > end)
		start = end; /* nested writers: the chunks overlap a little */
	/*
	 * A block that was written only in part, with a good header, already counts as a damaged
	 * chunk.
	 */
	if (unwritten > positive(gone, header->lost_before))
		unwritten = positive(gone, header->lost_before);
	if (header->lost_before)
		error = add_gap(books, ledger, start, end, header->lost_before, declared_cause(header));
	if (!error && unwritten)
		error = add_gap(books, ledger, start, end, unwritten, TRACE_GAP_UNWRITTEN);
	if (!error && positive(gone, header->lost_before) > unwritten)
		error = add_gap(books, ledger, start, end, gone - header->lost_before - unwritten, TRACE_GAP_DAMAGED);
	if (!error && (header->flags & TRACE_CHUNK_FLAG_JUMP))
		error = add_gap(books, ledger, start, end, 0, TRACE_GAP_SUSPECT);
	return error;
}

static int gaps_within(struct follower *books, struct ledger *ledger, const struct chunk *chunk,
		       const struct trace_chunk_header *header)
{
	const struct trace *trace = books->trace;
	uint64_t missed_from = ledger->missed_ns ? ledger->missed_ns : trace->info.start_ns;
	bool is_cut = chunk->public.offset + header->header_bytes + header->packed_bytes > trace->bytes;
	int error = 0;

	if (chunk->public.damaged)
		error = add_gap(books, ledger, header->first_ns, header->last_ns, header->events,
				is_cut ? TRACE_GAP_CUT : TRACE_GAP_DAMAGED);
	if (!error && header->missed) {
		error = add_gap(books, ledger, missed_from < header->last_ns ? missed_from : header->last_ns,
				header->last_ns, header->missed, TRACE_GAP_MISSED);
		ledger->missed_ns = header->last_ns;
	}
	return error;
}

/*
 * Adds the gap of the undecodable events: they may have been anywhere in their chunk or after it,
 * up to @end_ns.
 */
static int gap_inside(struct follower *books, const struct ledger *ledger, uint64_t end_ns)
{
	return ledger->inside ? add_gap(books, ledger, ledger->inside_ns, end_ns, ledger->inside, TRACE_GAP_SUSPECT)
			      : 0;
}

static uint64_t inside_begin(const struct follower *books, const struct ledger *ledger,
			     const struct trace_chunk_header *header)
{
	uint64_t before = ledger->started ? ledger->last_ns : books->trace->info.start_ns;

	return header->flags & TRACE_CHUNK_FLAG_INSIDE_BEFORE && before < header->first_ns ? before : header->first_ns;
}

static int books_copy_found(struct follower *books, size_t idx, const struct chunk *chunk)
{
	int error = trace_spoil_chunk(books->trace, idx);

	return error ? error
		     : trace_add_damage(books->trace, chunk->public.offset,
					(uint64_t)chunk->public.packed_bytes + sizeof(struct trace_chunk_header),
					"offset %llu: this chunk repeats events of another chunk",
					(unsigned long long)chunk->public.offset);
}

/*
 * The numbers of lost events in the header are impossible, and would spoil all sums, so the chunk
 * is not used. Its events count as missing before the next chunk of the stream, or after its last
 * one.
 */
static int books_impossible_chunk(struct follower *books, size_t idx, const struct chunk *chunk)
{
	int error;

	if (chunk_is_spoiled(books->trace, idx))
		return 0;
	error = trace_spoil_chunk(books->trace, idx);
	return error ? error
		     : trace_add_damage(books->trace, chunk->public.offset, chunk->public.packed_bytes,
					"offset %llu: stream %u declares more lost events than possible",
					(unsigned long long)chunk->public.offset, chunk->public.stream);
}

/*
 * The fast path for nearly all chunks: no event is missing before the chunk or in it, and none was
 * undecodable. False: the caller takes the slow path.
 */
static inline bool books_chunk_follows(struct ledger *ledger, const struct table_entry *entry, bool is_spoiled)
{
	if (entry->of.flags & TRACE_TABLE_LOSS || is_spoiled || ledger->inside ||
	    entry->of.events_before != ledger->number || entry->of.last_ns < entry->of.first_ns)
		return false;
	ledger->started = true;
	ledger->cpu = entry->of.cpu;
	ledger->number += entry->of.events;
	ledger->last_ns = entry->of.last_ns;
	ledger->inside_ns = entry->of.first_ns;
	return true;
}

static int books_odd_chunk(struct follower *books, struct ledger *ledger, size_t idx)
{
	struct trace_chunk_header header;
	struct chunk chunk;
	uint64_t inside_ns;
	int error;

	chunk_make(books->trace, idx, &chunk);
	header = chunk_header_copy(books->trace, &chunk);
	if (!plausible_chunk(&header))
		return books_impossible_chunk(books, idx, &chunk);
	if (header.events_before < ledger->number || header.last_ns < header.first_ns)
		return books->in_order ? books_copy_found(books, idx, &chunk) : -EAGAIN;
	inside_ns = inside_begin(books, ledger, &header);
	error = gap_inside(books, ledger, header.first_ns);
	if (!error)
		error = gaps_before(books, ledger, &header);
	if (!error)
		error = gaps_within(books, ledger, &chunk, &header);
	ledger->started = true;
	ledger->cpu = header.cpu;
	ledger->number = header.events_before + header.events + header.undecodable;
	ledger->last_ns = header.last_ns;
	ledger->inside_ns = inside_ns;
	ledger->inside = header.undecodable;
	ledger->seen_undecodable += header.undecodable;
	ledger->seen_lost_before += header.lost_before;
	ledger->seen_lost_write += header.lost_write;
	return error;
}

static int books_chunk(struct follower *books, const struct table_entry *entry, size_t idx)
{
	struct ledger *ledger = ledger_find(books, entry->of.kind, entry->of.stream, entry->of.cpu);

	if (!ledger)
		return -ENOMEM;
	return books_chunk_follows(ledger, entry, chunk_is_spoiled(books->trace, idx))
		       ? 0
		       : books_odd_chunk(books, ledger, idx);
}

/* ---- after the last chunk ---- */

static const uint16_t stream_kinds[] = {TRACE_CHUNK_START_STATE, TRACE_CHUNK_EVENTS};

/*
 * Adds the losses of one stream that its statistics declare and its chunks, of both kinds together,
 * do not show.
 */
static int gaps_behind(struct follower *books, const struct trace_statistics_stream *disk)
{
	struct ledger sum = {.stream = disk->stream, .cpu = disk->cpu, .last_ns = books->trace->info.start_ns};
	uint64_t end = books->trace->info.end_ns, declared, unwritten, inside, total, lost;
	int error = 0;

	for (size_t i = 0; i < sizeof(stream_kinds) / sizeof(stream_kinds[0]); i++) {
		uint32_t idx = stream_map_find(&books->map, stream_kinds[i], disk->stream);
		const struct ledger *ledger;

		if (idx == STREAM_NONE)
			continue;
		ledger = &books->ledgers[idx];
		sum.number += ledger->number;
		sum.seen_lost_before += ledger->seen_lost_before;
		sum.seen_lost_write += ledger->seen_lost_write;
		sum.seen_undecodable += ledger->seen_undecodable;
		sum.last_ns = sum.last_ns > ledger->last_ns ? sum.last_ns : ledger->last_ns;
	}
	if (!plausible_statistics(disk, end, books->trace->info.nr_cpus)) {
		error = trace_add_damage(books->trace, books->trace->statistics_at, 0,
					 "offset %llu: the statistics of stream %u count more events than possible",
					 (unsigned long long)books->trace->statistics_at, disk->stream);
		return error ? error : add_gap(books, &sum, sum.last_ns, end, 0, TRACE_GAP_DAMAGED);
	}
	total = positive(disk->written + disk->lost_write + disk->undecodable + disk->lost_before, sum.number);
	declared = positive(disk->lost_before, sum.seen_lost_before);
	unwritten = positive(disk->lost_write, sum.seen_lost_write);
	inside = positive(disk->undecodable, sum.seen_undecodable);
	lost = positive(disk->discarded + disk->overwritten, sum.seen_lost_before);
	if (lost)
		error = add_gap(books, &sum, sum.last_ns, end, lost,
				disk->discarded ? TRACE_GAP_DISCARDED : TRACE_GAP_OVERWRITTEN);
	if (!error && unwritten)
		error = add_gap(books, &sum, sum.last_ns, end, unwritten, TRACE_GAP_UNWRITTEN);
	if (!error && inside)
		error = add_gap(books, &sum, sum.last_ns, end, inside, TRACE_GAP_SUSPECT);
	if (!error && positive(total, declared + unwritten + inside))
		error = add_gap(books, &sum, sum.last_ns, end, total - declared - unwritten - inside,
				TRACE_GAP_DAMAGED);
	return error;
}

/*
 * No statistics say how many events a stream had. So the number of events after its last chunk is
 * unknown.
 */
static int gaps_unknown(struct follower *books, enum trace_gap_cause cause)
{
	const struct trace *trace = books->trace;
	struct ledger no_stream = {.stream = UINT32_MAX, .cpu = UINT32_MAX};
	int error = 0;

	if (!books->nr)
		return add_gap(books, &no_stream, trace->info.start_ns, trace->info.end_ns, 0, cause);
	for (size_t i = 0; !error && i < books->nr; i++)
		error = add_gap(books, &books->ledgers[i], books->ledgers[i].last_ns, trace->info.end_ns, 0, cause);
	return error;
}

static int gaps_at_end(struct follower *books)
{
	const struct trace *trace = books->trace;
	int error = 0;

	for (size_t i = 0; !error && i < books->nr; i++)
		error = gap_inside(books, &books->ledgers[i], trace->info.end_ns);
	for (size_t i = 0; !error && trace->books && i < trace->nr_streams; i++)
		error = gaps_behind(books, &trace->books[i]);
	if (!error && !trace->info.clean_end && !trace->has_index)
		error = gaps_unknown(books, TRACE_GAP_CUT);
	else if (!error && !trace->books && trace->nr_damages)
		error = gaps_unknown(books, TRACE_GAP_DAMAGED);
	return error;
}

/* ---- streams that no statistics describe ---- */

static int streams_from_chunks(struct follower *books)
{
	struct trace *trace = books->trace;

	if (trace->books)
		return 0;
	trace->streams = calloc(books->nr + 1, sizeof(*trace->streams));
	if (!trace->streams)
		return -ENOMEM;
	for (size_t i = 0; i < books->nr; i++) {
		struct trace_stream_stats *stats = &trace->streams[trace->nr_streams++];

		*stats = (struct trace_stream_stats){.stream = books->ledgers[i].stream, .cpu = books->ledgers[i].cpu};
		stats->discarded = books->ledgers[i].seen_lost_before;
		stats->attempted = books->ledgers[i].number;
		stats->stored = stats->attempted - stats->discarded;
	}
	return 0;
}

/* ---- all ---- */

struct order {
	uint64_t number;
	uint32_t stream;
	uint32_t idx;
};

static int compare_order(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->idx < y->idx ? -1 : x->idx > y->idx;
}

static inline bool is_of_stream(const struct table_entry *entry)
{
	return entry->of.kind == TRACE_CHUNK_EVENTS || entry->of.kind == TRACE_CHUNK_START_STATE;
}

/*
 * Sorts the chunks by stream and number. After damage their order in the file may differ from the
 * order in which they were written.
 */
static struct order *books_order(const struct trace *trace, size_t *ret_nr)
{
	struct order *orders = malloc((trace->nr_chunks + 1) * sizeof(*orders));
	size_t nr = 0;

	for (size_t i = 0; orders && i < trace->nr_chunks; i++) {
		const struct table_entry *entry = chunk_entry(trace, i);

		if (is_of_stream(entry))
			orders[nr++] = (struct order){.number = entry->of.events_before,
						      .stream = entry->of.stream,
						      .idx = (uint32_t)i};
	}
	if (orders)
		qsort(orders, nr, sizeof(*orders), compare_order);
	*ret_nr = nr;
	return orders;
}

static int books_entries(struct follower *books, struct entries entries, size_t from)
{
	int error = 0;

	for (size_t i = 0; !error && i < entries.nr; i++, entries.at += entries.stride) {
		const struct table_entry *entry = (const struct table_entry *)entries.at;

		struct ledger *ledger = ledger_near(books, entry);

		if (ledger && is_of_stream(entry) &&
		    books_chunk_follows(ledger, entry, chunk_is_spoiled(books->trace, from + i)))
			continue;
		if (is_of_stream(entry))
			error = books_chunk(books, entry, from + i);
	}
	return error;
}

int books_follow(struct trace *trace)
{
	struct follower *books = trace->follower;
	struct entries entries;
	int error = 0;

	books->trace = trace;
	for (size_t i = trace->nr_followed; !error && !books->is_other && i < trace->nr_chunks; i += entries.nr) {
		entries = chunk_entries(trace, i);
		error = books_entries(books, entries, i);
	}
	trace->nr_followed = trace->nr_chunks;
	books->is_other |= error == -EAGAIN;
	return error == -EAGAIN ? 0 : error;
}

void books_follow_again(struct trace *trace)
{
	free(trace->follower->ledgers);
	stream_map_release(&trace->follower->map);
	*trace->follower = (struct follower){.trace = trace};
	trace->nr_followed = 0;
	trace->nr_gaps = 0;
}

static int books_in_number_order(struct follower *books)
{
	struct trace *trace = books->trace;
	size_t nr;
	struct order *orders = books_order(trace, &nr);
	int error = orders ? 0 : -ENOMEM;

	books_follow_again(trace);
	books->in_order = true;
	for (size_t i = 0; !error && i < nr; i++)
		error = books_chunk(books, chunk_entry(trace, orders[i].idx), orders[i].idx);
	free(orders);
	return error;
}

int books_load(struct trace *trace)
{
	struct follower *books = trace->follower;
	int error = books->is_other ? books_in_number_order(books) : 0;

	if (!error)
		error = gaps_at_end(books);
	if (!error)
		error = streams_from_chunks(books);
	return error;
}

struct follower *follower_new(void)
{
	return calloc(1, sizeof(struct follower));
}

struct follower *follower_free(struct follower *books)
{
	if (!books)
		return NULL;
	free(books->ledgers);
	stream_map_release(&books->map);
	free(books);
	return NULL;
}
