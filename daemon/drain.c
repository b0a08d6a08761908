/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drain.h"

#include <errno.h>
#include <stdlib.h>

#include "text.h"

/**
 * struct drain_ring - the books of one ring
 * @blocks: given to the writer; numbers them
 * @stored: records in those blocks
 * @lost_here: records that were taken, or were to be taken, and did not get that far
 * @abandoned: of @stored, what was taken out of the queue again
 * @suspect: the last sub-buffer was dropped because its times are unknown
 */
struct drain_ring {
	const struct tracer_ring *source; /* borrowed from the tracer */
	uint64_t blocks;
	uint64_t stored;
	uint64_t lost_here;
	uint64_t abandoned;
	bool suspect;
};

struct drain {
	struct trace_writer *writer;  /* borrowed */
	struct writer_thread *thread; /* borrowed */
	size_t nr_rings;
	struct drain_ring rings[];
};

struct drain *drain_new(struct tracer *tracer, struct trace_writer *writer, struct writer_thread *thread, struct trace_error *ret_error)
{
	size_t nr_rings = tracer_nr_rings(tracer);
	struct drain *drain = calloc(1, sizeof(*drain) + nr_rings * sizeof(drain->rings[0]));

	if (!drain) {
		text_error(ret_error, -ENOMEM, "no memory for the books of %zu rings", nr_rings);
		return NULL;
	}
	drain->writer = writer;
	drain->thread = thread;
	drain->nr_rings = nr_rings;
	for (size_t i = 0; i < nr_rings; i++)
		drain->rings[i].source = tracer_get_ring(tracer, i);
	return drain;
}

struct drain *drain_free(struct drain *drain)
{
	free(drain);
	return NULL;
}

/* ---- one sub-buffer ---- */

/* The bytes of records in @header: its own word, but never outside of the sub-buffer. */
static size_t record_bytes(const struct subbuf_ring *ring, const struct subbuf_header *header)
{
	uint32_t end = __atomic_load_n(&header->end, __ATOMIC_RELAXED);

	if (end < sizeof(*header) || end > ring->subbuf_bytes)
		return 0;
	return end - sizeof(*header);
}

static struct trace_source ring_source(const struct drain_ring *ring, const struct subbuf_header *header)
{
	return (struct trace_source){
		.records = header + 1,
		.bytes = record_bytes(&ring->source->ring, header),
		.base_ns = header->base,
		.seq = ring->blocks + 1,
		.lost_total = header->lost + ring->lost_here,
		.stream = ring->source->stream,
		.cpu = ring->source->cpu,
		.nr_records = subbuf_records(&ring->source->ring, header),
		.kind = TRACE_CHUNK_EVENTS,
		.lost_cause = ring->suspect ? TRACE_GAP_SUSPECT : TRACE_GAP_DISCARDED,
	};
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
			header = subbuf_take(&drain->rings[i].source->ring);
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

/* ---- flushing, and the end ---- */

static uint64_t ring_position(const struct drain_ring *ring)
{
	return __atomic_load_n(&ring->source->ring.control->position, __ATOMIC_ACQUIRE);
}

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

static bool ring_is_empty(const struct drain_ring *ring)
{
	uint64_t position = ring_position(ring);

	return (position & SUBBUF_OFFSET_MASK) >= ring->source->ring.subbuf_bytes &&
	       position >> SUBBUF_OFFSET_BITS <= ring->source->ring.control->consumed;
}

bool drain_is_empty(const struct drain *drain)
{
	for (size_t i = 0; i < drain->nr_rings; i++)
		if (!ring_is_empty(&drain->rings[i]))
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
		while (ring->control->consumed < ring_position(&drain->rings[i]) >> SUBBUF_OFFSET_BITS) {
			here = committed_records(ring, ring->control->consumed + 1);
			drain->rings[i].lost_here += here;
			lost += here;
			subbuf_release(ring);
		}
	}
	return lost;
}

/* ---- the books ---- */

static uint64_t read_counter(const trace_u64 *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

void drain_get_totals(const struct drain *drain, struct drain_totals *ret_totals)
{
	struct drain_totals totals = {0};
	const struct drain_ring *ring;

	for (size_t i = 0; i < drain->nr_rings; i++) {
		ring = &drain->rings[i];
		totals.events += ring->stored;
		totals.lost += read_counter(&ring->source->ring.control->discarded) + ring->lost_here;
		totals.filtered += read_counter(&ring->source->ring.control->filtered);
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
	const struct subbuf_control *control = ring->source->ring.control;
	struct trace_stream_stats stats = {
		.stream = ring->source->stream,
		.cpu = ring->source->cpu,
		.stored = ring->stored - ring->abandoned,
		.discarded = read_counter(&control->discarded) + ring->lost_here + ring->abandoned,
		.overwritten = read_counter(&control->overwritten),
		.filtered = read_counter(&control->filtered),
	};

	stats.attempted = stats.stored + stats.discarded + stats.overwritten + stats.missed + stats.filtered;
	*ret_stats = stats;
}
