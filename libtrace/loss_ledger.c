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
 *
 * The ledger has an account for each stream. It is written while the table of chunks is read, in
 * file order. If the chunks of a stream are not in the order of their numbers (the file is
 * damaged), the ledger starts again with the sorted chunks.
 */
#include "loss_ledger.h"

#include "chunk.h"
#include "plausible.h"
#include "stream_map.h"
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** struct ledger_account - the account of one stream, up to the last chunk seen */
struct ledger_account {
	uint32_t stream;
	uint32_t cpu;
	uint16_t kind;
	bool started;
	uint64_t last_ns;
	/*
	 * The undecodable events of the last chunk are at or after this time: the begin of that
	 * chunk, or the end of the chunk before it.
	 */
	uint64_t undecodable_ns;
	uint64_t nr_undecodable; /* number of these undecodable events */
	uint64_t number;	 /* expected number of the next event */
	uint64_t missed_ns;	 /* end of the last chunk with trace_missed events */
	uint64_t seen_lost_before;
	uint64_t seen_lost_write;
	uint64_t seen_undecodable;
};

enum { NR_NEAR = 64 };

/**
 * struct loss_ledger - all accounts
 * @near: a cache, by the low bits of the stream: the index of the account that was used last
 * @by_number: the chunks come by stream and number; otherwise they come in file order
 * @is_out_of_order: the file order is not the order of the numbers, so the pass must be repeated
 */
struct loss_ledger {
	struct trace *trace;
	struct ledger_account *accounts; /* owned */
	size_t nr;
	size_t room;
	struct stream_map map; /* from stream to index in @accounts */
	uint32_t near[NR_NEAR];
	bool by_number;
	bool is_out_of_order;
};

static struct ledger_account *account_find(struct loss_ledger *ledger, uint16_t kind, uint32_t stream, uint32_t cpu)
{
	uint32_t idx = ledger->near[stream % NR_NEAR] = stream_map_find(&ledger->map, kind, stream);

	if (idx != STREAM_NONE)
		return &ledger->accounts[idx];
	if (!trace_array_grow((void **)&ledger->accounts, ledger->nr, &ledger->room, sizeof(*ledger->accounts)) ||
	    !stream_map_put(&ledger->map, kind, stream, (uint32_t)ledger->nr))
		return NULL;
	ledger->accounts[ledger->nr] = (struct ledger_account){.stream = stream, .cpu = cpu, .kind = kind};
	return &ledger->accounts[ledger->nr++];
}

/* The account of the chunk's stream from the cache. NULL: the caller must look it up. */
static inline struct ledger_account *account_near(const struct loss_ledger *ledger, const struct table_entry *entry)
{
	uint32_t idx = ledger->near[entry->of.stream % NR_NEAR];
	struct ledger_account *account = idx < ledger->nr ? &ledger->accounts[idx] : NULL;

	return account && account->stream == entry->of.stream && account->kind == entry->of.kind ? account : NULL;
}

static int add_gap(struct loss_ledger *ledger, const struct ledger_account *account, uint64_t start_ns, uint64_t end_ns,
		   uint64_t lost, enum trace_gap_cause cause)
{
	const struct trace *trace = ledger->trace;
	bool is_of_cpu = !stream_is_of_program(account->stream) || account->cpu < trace->limit_cpus;

	end_ns = end_ns < trace->limit_ns ? end_ns : trace->limit_ns;
	start_ns = start_ns < trace->limit_ns ? start_ns : trace->limit_ns;
	return trace_add_gap(ledger->trace, &(struct trace_gap){.stream = account->stream,
								.cpu = is_of_cpu ? account->cpu : UINT32_MAX,
								.start_ns = start_ns,
								.end_ns = end_ns > start_ns ? end_ns : start_ns,
								.lost = lost,
								.cause = cause});
}

/* The part of @a above @b; 0: none. */
static uint64_t excess(uint64_t a, uint64_t b)
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

static int gaps_before(struct loss_ledger *ledger, const struct ledger_account *account,
		       const struct trace_chunk_header *header)
{
	uint64_t start = account->started ? account->last_ns : ledger->trace->info.start_ns, end = header->first_ns;
	uint64_t missing = header->events_before - account->number, unwritten = header->lost_write;
	int error = 0;

	if (start > end)
		start = end; /* nested writers: the chunks overlap a little */
	/*
	 * A block that was written only in part, with a good header, already counts as a damaged
	 * chunk.
	 */
	if (unwritten > excess(missing, header->lost_before))
		unwritten = excess(missing, header->lost_before);
	if (header->lost_before)
		error = add_gap(ledger, account, start, end, header->lost_before, declared_cause(header));
	if (!error && unwritten)
		error = add_gap(ledger, account, start, end, unwritten, TRACE_GAP_UNWRITTEN);
	if (!error && excess(missing, header->lost_before) > unwritten)
		error = add_gap(ledger, account, start, end, missing - header->lost_before - unwritten,
				TRACE_GAP_DAMAGED);
	if (!error && (header->flags & TRACE_CHUNK_FLAG_JUMP))
		error = add_gap(ledger, account, start, end, 0, TRACE_GAP_SUSPECT);
	return error;
}

static int gaps_within(struct loss_ledger *ledger, struct ledger_account *account, const struct chunk *chunk,
		       const struct trace_chunk_header *header)
{
	const struct trace *trace = ledger->trace;
	uint64_t missed_from = account->missed_ns ? account->missed_ns : trace->info.start_ns;
	bool is_cut = chunk->public.offset + header->header_bytes + header->packed_bytes > trace->bytes;
	int error = 0;

	if (chunk->public.damaged)
		error = add_gap(ledger, account, header->first_ns, header->last_ns, header->events,
				is_cut ? TRACE_GAP_CUT : TRACE_GAP_DAMAGED);
	if (!error && header->missed) {
		error = add_gap(ledger, account, missed_from < header->last_ns ? missed_from : header->last_ns,
				header->last_ns, header->missed, TRACE_GAP_MISSED);
		account->missed_ns = header->last_ns;
	}
	return error;
}

/*
 * Adds the gap of the undecodable events: they may have been anywhere in their chunk or after it,
 * up to @end_ns.
 */
static int gap_of_undecodable(struct loss_ledger *ledger, const struct ledger_account *account, uint64_t end_ns)
{
	return account->nr_undecodable ? add_gap(ledger, account, account->undecodable_ns, end_ns,
						 account->nr_undecodable, TRACE_GAP_SUSPECT)
				       : 0;
}

static uint64_t undecodable_since(const struct loss_ledger *ledger, const struct ledger_account *account,
				  const struct trace_chunk_header *header)
{
	uint64_t before = account->started ? account->last_ns : ledger->trace->info.start_ns;

	return header->flags & TRACE_CHUNK_FLAG_INSIDE_BEFORE && before < header->first_ns ? before : header->first_ns;
}

static int refuse_repeated_chunk(struct loss_ledger *ledger, size_t idx, const struct chunk *chunk)
{
	int error = trace_mark_unusable(ledger->trace, idx);

	return error ? error
		     : trace_add_damage(ledger->trace, chunk->public.offset,
					(uint64_t)chunk->public.packed_bytes + sizeof(struct trace_chunk_header),
					"offset %llu: this chunk repeats events of another chunk",
					(unsigned long long)chunk->public.offset);
}

/*
 * The numbers of lost events in the header are impossible, and would spoil all sums, so the chunk
 * is not used. Its events count as missing before the next chunk of the stream, or after its last
 * one.
 */
static int refuse_impossible_chunk(struct loss_ledger *ledger, size_t idx, const struct chunk *chunk)
{
	int error;

	if (chunk_is_unusable(ledger->trace, idx))
		return 0;
	error = trace_mark_unusable(ledger->trace, idx);
	return error ? error
		     : trace_add_damage(ledger->trace, chunk->public.offset, chunk->public.packed_bytes,
					"offset %llu: stream %u declares more lost events than possible",
					(unsigned long long)chunk->public.offset, chunk->public.stream);
}

/*
 * The fast path for nearly all chunks: no event is missing before the chunk or in it, and none was
 * undecodable. False: the caller takes the slow path.
 */
static inline bool account_plain_chunk(struct ledger_account *account, const struct table_entry *entry,
				       bool is_unusable)
{
	if (entry->of.flags & TRACE_TABLE_LOSS || is_unusable || account->nr_undecodable ||
	    entry->of.events_before != account->number || entry->of.last_ns < entry->of.first_ns)
		return false;
	account->started = true;
	account->cpu = entry->of.cpu;
	account->number += entry->of.events;
	account->last_ns = entry->of.last_ns;
	account->undecodable_ns = entry->of.first_ns;
	return true;
}

static int account_chunk_with_losses(struct loss_ledger *ledger, struct ledger_account *account, size_t idx)
{
	struct trace_chunk_header header;
	struct chunk chunk;
	uint64_t undecodable_ns;
	int error;

	chunk_make(ledger->trace, idx, &chunk);
	header = chunk_header_copy(ledger->trace, &chunk);
	if (!plausible_chunk(&header))
		return refuse_impossible_chunk(ledger, idx, &chunk);
	if (header.events_before < account->number || header.last_ns < header.first_ns)
		return ledger->by_number ? refuse_repeated_chunk(ledger, idx, &chunk) : -EAGAIN;
	undecodable_ns = undecodable_since(ledger, account, &header);
	error = gap_of_undecodable(ledger, account, header.first_ns);
	if (!error)
		error = gaps_before(ledger, account, &header);
	if (!error)
		error = gaps_within(ledger, account, &chunk, &header);
	account->started = true;
	account->cpu = header.cpu;
	account->number = header.events_before + header.events + header.undecodable;
	account->last_ns = header.last_ns;
	account->undecodable_ns = undecodable_ns;
	account->nr_undecodable = header.undecodable;
	account->seen_undecodable += header.undecodable;
	account->seen_lost_before += header.lost_before;
	account->seen_lost_write += header.lost_write;
	return error;
}

static int account_chunk(struct loss_ledger *ledger, const struct table_entry *entry, size_t idx)
{
	struct ledger_account *account = account_find(ledger, entry->of.kind, entry->of.stream, entry->of.cpu);

	if (!account)
		return -ENOMEM;
	return account_plain_chunk(account, entry, chunk_is_unusable(ledger->trace, idx))
		       ? 0
		       : account_chunk_with_losses(ledger, account, idx);
}

/* ---- after the last chunk ---- */

static const uint16_t stream_kinds[] = {TRACE_CHUNK_START_STATE, TRACE_CHUNK_EVENTS};

/*
 * Adds the losses of one stream that its statistics declare and its chunks, of both kinds together,
 * do not show.
 */
static int gaps_by_statistics(struct loss_ledger *ledger, const struct trace_statistics_stream *stats)
{
	struct ledger_account sum = {.stream = stats->stream,
				     .cpu = stats->cpu,
				     .last_ns = ledger->trace->info.start_ns};
	uint64_t end = ledger->trace->info.end_ns, declared, unwritten, undecodable, total, lost;
	int error = 0;

	for (size_t i = 0; i < sizeof(stream_kinds) / sizeof(stream_kinds[0]); i++) {
		uint32_t idx = stream_map_find(&ledger->map, stream_kinds[i], stats->stream);
		const struct ledger_account *account;

		if (idx == STREAM_NONE)
			continue;
		account = &ledger->accounts[idx];
		sum.number += account->number;
		sum.seen_lost_before += account->seen_lost_before;
		sum.seen_lost_write += account->seen_lost_write;
		sum.seen_undecodable += account->seen_undecodable;
		sum.last_ns = sum.last_ns > account->last_ns ? sum.last_ns : account->last_ns;
	}
	if (!plausible_statistics(stats, end, ledger->trace->info.nr_cpus)) {
		error = trace_add_damage(ledger->trace, ledger->trace->statistics_at, 0,
					 "offset %llu: the statistics of stream %u count more events than possible",
					 (unsigned long long)ledger->trace->statistics_at, stats->stream);
		return error ? error : add_gap(ledger, &sum, sum.last_ns, end, 0, TRACE_GAP_DAMAGED);
	}
	total = excess(stats->written + stats->lost_write + stats->undecodable + stats->lost_before, sum.number);
	declared = excess(stats->lost_before, sum.seen_lost_before);
	unwritten = excess(stats->lost_write, sum.seen_lost_write);
	undecodable = excess(stats->undecodable, sum.seen_undecodable);
	lost = excess(stats->discarded + stats->overwritten, sum.seen_lost_before);
	if (lost)
		error = add_gap(ledger, &sum, sum.last_ns, end, lost,
				stats->discarded ? TRACE_GAP_DISCARDED : TRACE_GAP_OVERWRITTEN);
	if (!error && unwritten)
		error = add_gap(ledger, &sum, sum.last_ns, end, unwritten, TRACE_GAP_UNWRITTEN);
	if (!error && undecodable)
		error = add_gap(ledger, &sum, sum.last_ns, end, undecodable, TRACE_GAP_SUSPECT);
	if (!error && excess(total, declared + unwritten + undecodable))
		error = add_gap(ledger, &sum, sum.last_ns, end, total - declared - unwritten - undecodable,
				TRACE_GAP_DAMAGED);
	return error;
}

/*
 * No statistics say how many events a stream had. So the number of events after its last chunk is
 * unknown.
 */
static int gaps_of_unknown_size(struct loss_ledger *ledger, enum trace_gap_cause cause)
{
	const struct trace *trace = ledger->trace;
	struct ledger_account no_stream = {.stream = UINT32_MAX, .cpu = UINT32_MAX};
	int error = 0;

	if (!ledger->nr)
		return add_gap(ledger, &no_stream, trace->info.start_ns, trace->info.end_ns, 0, cause);
	for (size_t i = 0; !error && i < ledger->nr; i++)
		error = add_gap(ledger, &ledger->accounts[i], ledger->accounts[i].last_ns, trace->info.end_ns, 0,
				cause);
	return error;
}

static int gaps_at_end(struct loss_ledger *ledger)
{
	const struct trace *trace = ledger->trace;
	int error = 0;

	for (size_t i = 0; !error && i < ledger->nr; i++)
		error = gap_of_undecodable(ledger, &ledger->accounts[i], trace->info.end_ns);
	for (size_t i = 0; !error && trace->statistics && i < trace->nr_streams; i++)
		error = gaps_by_statistics(ledger, &trace->statistics[i]);
	if (!error && !trace->info.clean_end && !trace->has_index)
		error = gaps_of_unknown_size(ledger, TRACE_GAP_CUT);
	else if (!error && !trace->statistics && trace->nr_damages)
		error = gaps_of_unknown_size(ledger, TRACE_GAP_DAMAGED);
	return error;
}

/* ---- streams that no statistics describe ---- */

static int streams_from_chunks(struct loss_ledger *ledger)
{
	struct trace *trace = ledger->trace;

	if (trace->statistics)
		return 0;
	trace->streams = calloc(ledger->nr + 1, sizeof(*trace->streams));
	if (!trace->streams)
		return -ENOMEM;
	for (size_t i = 0; i < ledger->nr; i++) {
		struct trace_stream_stats *stats = &trace->streams[trace->nr_streams++];

		*stats = (struct trace_stream_stats){.stream = ledger->accounts[i].stream,
						     .cpu = ledger->accounts[i].cpu};
		stats->discarded = ledger->accounts[i].seen_lost_before;
		stats->attempted = ledger->accounts[i].number;
		stats->stored = stats->attempted - stats->discarded;
		if (stats->discarded && stats->stream >= STREAM_USER_FIRST)
			stats->claimed = TRACE_CLAIMED_UNKNOWN;
	}
	return 0;
}

/* ---- all ---- */

struct chunk_order {
	uint64_t number;
	uint32_t stream;
	uint32_t idx;
};

static int compare_order(const void *a, const void *b)
{
	const struct chunk_order *x = a, *y = b;

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
static struct chunk_order *sort_by_number(const struct trace *trace, size_t *ret_nr)
{
	struct chunk_order *orders = malloc((trace->nr_chunks + 1) * sizeof(*orders));
	size_t nr = 0;

	for (size_t i = 0; orders && i < trace->nr_chunks; i++) {
		const struct table_entry *entry = chunk_entry(trace, i);

		if (is_of_stream(entry))
			orders[nr++] = (struct chunk_order){.number = entry->of.events_before,
							    .stream = entry->of.stream,
							    .idx = (uint32_t)i};
	}
	if (orders)
		qsort(orders, nr, sizeof(*orders), compare_order);
	*ret_nr = nr;
	return orders;
}

static int ledger_add_entries(struct loss_ledger *ledger, struct entries entries, size_t from)
{
	int error = 0;

	for (size_t i = 0; !error && i < entries.nr; i++, entries.at += entries.stride) {
		const struct table_entry *entry = (const struct table_entry *)entries.at;

		struct ledger_account *account = account_near(ledger, entry);

		if (account && is_of_stream(entry) &&
		    account_plain_chunk(account, entry, chunk_is_unusable(ledger->trace, from + i)))
			continue;
		if (is_of_stream(entry))
			error = account_chunk(ledger, entry, from + i);
	}
	return error;
}

int ledger_add_chunks(struct trace *trace)
{
	struct loss_ledger *ledger = trace->ledger;
	struct entries entries;
	int error = 0;

	ledger->trace = trace;
	for (size_t i = trace->nr_in_ledger; !error && !ledger->is_out_of_order && i < trace->nr_chunks;
	     i += entries.nr) {
		entries = chunk_entries(trace, i);
		error = ledger_add_entries(ledger, entries, i);
	}
	trace->nr_in_ledger = trace->nr_chunks;
	ledger->is_out_of_order |= error == -EAGAIN;
	return error == -EAGAIN ? 0 : error;
}

void ledger_restart(struct trace *trace)
{
	free(trace->ledger->accounts);
	stream_map_release(&trace->ledger->map);
	*trace->ledger = (struct loss_ledger){.trace = trace, .by_number = trace->ledger->by_number};
	trace->nr_in_ledger = 0;
	trace->nr_gaps = 0;
}

static int ledger_add_by_number(struct loss_ledger *ledger)
{
	struct trace *trace = ledger->trace;
	size_t nr;
	struct chunk_order *orders = sort_by_number(trace, &nr);
	int error = orders ? 0 : -ENOMEM;

	ledger_restart(trace);
	ledger->by_number = true;
	for (size_t i = 0; !error && i < nr; i++)
		error = account_chunk(ledger, chunk_entry(trace, orders[i].idx), orders[i].idx);
	free(orders);
	return error;
}

int ledger_load(struct trace *trace)
{
	struct loss_ledger *ledger = trace->ledger;
	int error = ledger->is_out_of_order ? ledger_add_by_number(ledger) : 0;

	if (!error)
		error = gaps_at_end(ledger);
	if (!error)
		error = streams_from_chunks(ledger);
	return error;
}

struct loss_ledger *ledger_new(void)
{
	return calloc(1, sizeof(struct loss_ledger));
}

void ledger_in_order(struct loss_ledger *ledger)
{
	ledger->by_number = true;
}

struct loss_ledger *ledger_free(struct loss_ledger *ledger)
{
	if (!ledger)
		return NULL;
	free(ledger->accounts);
	stream_map_release(&ledger->map);
	free(ledger);
	return NULL;
}
