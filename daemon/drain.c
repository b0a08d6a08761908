/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drain.h"

#include <errno.h>
#include <stdlib.h>

#include "ring.h"
#include "text.h"

/**
 * struct drain_ring - the books of one ring
 * @blocks: given to the writer; numbers them
 * @stored: records in those blocks
 * @lost_here: records that were taken, or were to be taken, and did not get that far
 * @abandoned: of @stored, what was taken out of the queue again
 * @first, @last: the sub-buffers of the recording
 * @discarded_before, @filtered_before: the ring's counters before the first; @discarded, @filtered: after the last, once it is
 * known
 * @suspect: the last sub-buffer was dropped because its times are unknown
 */
struct drain_ring {
	const struct tracer_ring *source; /* borrowed from the tracer */
	uint64_t blocks;
	uint64_t stored;
	uint64_t lost_here;
	uint64_t abandoned;
	uint64_t first;
	uint64_t last;
	uint64_t discarded_before;
	uint64_t filtered_before;
	uint64_t discarded;
	uint64_t filtered;
	bool suspect;
};

struct drain {
	struct trace_writer *writer;  /* borrowed */
	struct writer_thread *thread; /* borrowed */
	bool ended;
	size_t nr_rings;
	struct drain_ring rings[];
};

/* ---- the borders of the recording ---- */

static uint64_t read_counter(const trace_u64 *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static uint64_t ring_position(const struct drain_ring *ring)
{
	return __atomic_load_n(&ring->source->ring.control->position, __ATOMIC_ACQUIRE);
}

/* Close the sub-buffer in use; returns its number: all records until now are in it or before it. */
static uint64_t close_subbuf(const struct drain_ring *ring)
{
	uint64_t position;

	subbuf_flush(&ring->source->ring);
	position = ring_position(ring);
	if ((position & SUBBUF_OFFSET_MASK) >= ring->source->ring.subbuf_bytes)
		return position >> SUBBUF_OFFSET_BITS;
	return (position >> SUBBUF_OFFSET_BITS) - 1; /* the next one is open already */
}

static void ring_begin(struct drain_ring *ring, const struct tracer_ring *source)
{
	ring->source = source;
	ring->first = close_subbuf(ring) + 1;
	ring->last = UINT64_MAX;
	ring->discarded_before = read_counter(&source->ring.control->discarded);
	ring->filtered_before = read_counter(&source->ring.control->filtered);
}

struct drain *drain_new(struct tracer *tracer, struct trace_error *ret_error)
{
	size_t nr_rings = tracer_nr_rings(tracer);
	struct drain *drain = calloc(1, sizeof(*drain) + nr_rings * sizeof(drain->rings[0]));

	if (!drain) {
		text_error(ret_error, -ENOMEM, "no memory for the books of %zu rings", nr_rings);
		return NULL;
	}
	drain->nr_rings = nr_rings;
	for (size_t i = 0; i < nr_rings; i++)
		ring_begin(&drain->rings[i], tracer_get_ring(tracer, i));
	return drain;
}

void drain_connect(struct drain *drain, struct trace_writer *writer, struct writer_thread *thread)
{
	drain->writer = writer;
	drain->thread = thread;
}

void drain_end(struct drain *drain)
{
	struct drain_ring *ring;

	for (size_t i = 0; i < drain->nr_rings; i++) {
		ring = &drain->rings[i];
		ring->last = close_subbuf(ring);
		ring->discarded = read_counter(&ring->source->ring.control->discarded);
		ring->filtered = read_counter(&ring->source->ring.control->filtered);
	}
	drain->ended = true;
}

struct drain *drain_free(struct drain *drain)
{
	free(drain);
	return NULL;
}

/* ---- one sub-buffer ---- */

/* Events of the recording that found no room before @total had been counted. */
static uint64_t discarded_since(const struct drain_ring *ring, uint64_t total)
{
	return total > ring->discarded_before ? total - ring->discarded_before : 0;
}

static struct trace_source ring_source(const struct drain_ring *ring, const struct subbuf_header *header)
{
	return (struct trace_source){
		.records = header + 1,
		.bytes = ring_record_bytes(&ring->source->ring, header),
		.base_ns = header->base,
		.seq = ring->blocks + 1,
		.lost_total = discarded_since(ring, header->lost) + ring->lost_here,
		.stream = ring->source->stream,
		.cpu = ring->source->cpu,
		.nr_records = subbuf_records(&ring->source->ring, header),
		.kind = TRACE_CHUNK_EVENTS,
		.lost_cause = ring->suspect ? TRACE_GAP_SUSPECT : TRACE_GAP_DISCARDED,
	};
}

/* The next complete sub-buffer of the recording. */
static const struct subbuf_header *next_subbuf(struct drain_ring *ring)
{
	const struct subbuf_ring *source = &ring->source->ring;
	const struct subbuf_header *header;

	while ((header = subbuf_take(source)) && source->control->consumed + 1 < ring->first)
		subbuf_release(source);
	return header && source->control->consumed + 1 <= ring->last ? header : NULL;
}

/* Packs straight out of shared memory; the sub-buffer goes back to the producers before anything is written. */
static void take_subbuf(struct drain *drain, struct drain_ring *ring, const struct subbuf_header *header)
{
	struct trace_source source = ring_source(ring, header);
	bool suspect = header->flags & SUBBUF_FLAG_TIME_SUSPECT;
	struct trace_packed *packed = suspect ? NULL : trace_writer_pack(drain->writer, &source, NULL);

	subbuf_release(&ring->source->ring);
	ring->suspect = suspect;
	if (packed && writer_thread_push(drain->thread, packed, source.nr_records, &ring->abandoned) == 0) {
		ring->blocks++;
		ring->stored += source.nr_records;
	} else {
		ring->lost_here += source.nr_records; /* no memory, or times unknown */
	}
}

enum drain_result drain_run(struct drain *drain)
{
	enum drain_result result = DRAIN_IDLE;
	const struct subbuf_header *header;
	bool took;

	do {
		took = false;
		for (size_t i = 0; i < drain->nr_rings; i++) {
			header = next_subbuf(&drain->rings[i]);
			if (!header)
				continue;
			if (writer_thread_full(drain->thread))
				return DRAIN_BLOCKED;
			take_subbuf(drain, &drain->rings[i], header);
			took = true;
			result = DRAIN_TOOK;
		}
	} while (took);
	return result;
}

/* ---- what is not complete ---- */

uint32_t drain_flush(struct drain *drain)
{
	const struct subbuf_ring *ring;
	uint64_t offset, fill, fullest = 0;

	for (size_t i = 0; i < drain->nr_rings; i++) {
		ring = &drain->rings[i].source->ring;
		offset = ring_position(&drain->rings[i]) & SUBBUF_OFFSET_MASK;
		if (!subbuf_flush(ring))
			continue;
		fill = offset * 1024 / ring->subbuf_bytes;
		if (fill > fullest)
			fullest = fill;
	}
	return fullest > 1024 ? 1024 : (uint32_t)fullest;
}

bool drain_is_empty(const struct drain *drain)
{
	for (size_t i = 0; i < drain->nr_rings; i++)
		if (drain->rings[i].source->ring.control->consumed < drain->rings[i].last)
			return false;
	return true;
}

/* Records that are committed in sub-buffer @seq, complete or not. */
static uint64_t committed_records(const struct subbuf_ring *ring, uint64_t seq)
{
	const struct subbuf_header *header = subbuf_slot(ring, seq);
	uint64_t commit = __atomic_load_n(&header->commit, __ATOMIC_ACQUIRE);
	uint64_t earlier_uses = subbuf_commit_target(ring->subbuf_bytes, ring->nr_subbufs, seq) - ring->subbuf_bytes;

	if (header->seq != seq)
		return 0; /* its opener has not come that far */
	return (((commit - earlier_uses) >> 40) - header->records_before) & 0xffffff;
}

uint64_t drain_abandon(struct drain *drain)
{
	const struct subbuf_ring *ring;
	uint64_t lost = 0, here;

	for (size_t i = 0; i < drain->nr_rings; i++) {
		ring = &drain->rings[i].source->ring;
		while (ring->control->consumed < drain->rings[i].last) {
			here = ring->control->consumed + 1 < drain->rings[i].first
				       ? 0
				       : committed_records(ring, ring->control->consumed + 1);
			drain->rings[i].lost_here += here;
			lost += here;
			subbuf_release(ring);
		}
	}
	return lost;
}

/* ---- the books ---- */

static uint64_t ring_discarded(const struct drain *drain, const struct drain_ring *ring)
{
	uint64_t total = drain->ended ? ring->discarded : read_counter(&ring->source->ring.control->discarded);

	return discarded_since(ring, total) + ring->lost_here;
}

static uint64_t ring_filtered(const struct drain *drain, const struct drain_ring *ring)
{
	return (drain->ended ? ring->filtered : read_counter(&ring->source->ring.control->filtered)) - ring->filtered_before;
}

void drain_get_totals(const struct drain *drain, struct drain_totals *ret_totals)
{
	struct drain_totals totals = {0};
	const struct drain_ring *ring;

	for (size_t i = 0; i < drain->nr_rings; i++) {
		ring = &drain->rings[i];
		totals.events += ring->stored - ring->abandoned;
		totals.lost += ring_discarded(drain, ring) + ring->abandoned;
		totals.filtered += ring_filtered(drain, ring);
	}
	*ret_totals = totals;
}

size_t drain_nr_rings(const struct drain *drain)
{
	return drain->nr_rings;
}

void drain_statistics(const struct drain *drain, size_t idx, struct trace_stream_stats *ret_stats)
{
	const struct drain_ring *ring = &drain->rings[idx];
	struct trace_stream_stats stats = {
		.stream = ring->source->stream,
		.cpu = ring->source->cpu,
		.stored = ring->stored - ring->abandoned,
		.discarded = ring_discarded(drain, ring) + ring->abandoned,
		.filtered = ring_filtered(drain, ring),
	};

	stats.attempted = stats.stored + stats.discarded + stats.filtered;
	*ret_stats = stats;
}
