/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flight.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "clock.h"
#include "probe.h"
#include "ring.h"
#include "start_state.h"
#include "text.h"
#include "tracefile.h"
#include "writer_thread.h"

#define FLIGHT_HISTORY_BYTES   (16u << 20) /* of structural events, all CPUs */
#define FLIGHT_QUEUE_BYTES     (64u << 20)
#define FLIGHT_NOTES	       64
#define FLIGHT_NOTE_TEXT       200
#define FLIGHT_STRAGGLER_TRIES 100 /* a writer that was in the middle of its record when we flushed */

/** struct saved - a sub-buffer of structural events, copied out. @lost: header.lost of it */
struct saved {
	struct saved *next; /* owned */
	size_t ring;
	size_t bytes;
	uint64_t base_ns;
	uint64_t lost;
	uint32_t nr_records;
	unsigned char records[];
};

/**
 * struct flight_ring - one ring
 * @forgotten: sub-buffers up to this one do not count any more; the other three: the counters at that time
 * @dropped: records that left the history because it was full
 */
struct flight_ring {
	const struct tracer_ring *source; /* borrowed from the tracer */
	uint64_t forgotten;
	uint64_t discarded_before;
	uint64_t filtered_before;
	uint64_t dropped;
};

/** struct flight_note - a trace_mark or trace_mask, to be written with every snapshot. @text: empty for a mask */
struct flight_note {
	uint64_t ts_ns;
	uint64_t mask[TRACE_MASK_WORDS];
	char text[FLIGHT_NOTE_TEXT];
};

struct flight {
	struct tracer *tracer; /* borrowed */
	const struct trace_probes *probes; /* borrowed; NULL = none */
	struct saved *history; /* owned; oldest first */
	struct saved **history_end;
	size_t history_bytes;
	uint64_t begin_ns; /* nothing older is in memory */
	struct flight_note notes[FLIGHT_NOTES];
	uint64_t nr_notes; /* ever */
	uint64_t missed_before;
	size_t nr_rings;
	struct flight_ring rings[];
};

/* ---- begin and end ---- */

static uint64_t all_missed(const struct tracer *tracer)
{
	uint64_t missed = 0;

	for (uint32_t id = 1; id < TRACE_EV_MAX; id++)
		missed += tracer_missed(tracer, id);
	return missed;
}

static struct flight_note *new_note(struct flight *flight)
{
	struct flight_note *note = &flight->notes[flight->nr_notes++ % FLIGHT_NOTES];

	memset(note, 0, sizeof(*note));
	note->ts_ns = clock_now();
	return note;
}

static void note_mask(struct flight *flight)
{
	tracer_get_mask(flight->tracer, new_note(flight)->mask);
}

struct flight *flight_begin(struct tracer *tracer, struct trace_error *ret_error)
{
	size_t nr_rings = tracer_nr_rings(tracer);
	struct flight *flight = calloc(1, sizeof(*flight) + nr_rings * sizeof(flight->rings[0]));

	if (!flight) {
		text_error(ret_error, -ENOMEM, "no memory for a flight recorder");
		return NULL;
	}
	flight->tracer = tracer;
	flight->history_end = &flight->history;
	flight->nr_rings = nr_rings;
	for (size_t i = 0; i < nr_rings; i++)
		flight->rings[i].source = tracer_get_ring(tracer, i);
	if (tracer_start(tracer, ret_error))
		return flight_free(flight);
	flight_reset(flight); /* while programs were being attached, some events came and others did not yet */
	return flight;
}

int flight_attach_probes(struct flight *flight, const struct trace_probes *probes, struct trace_error *ret_error)
{
	flight->probes = probes;
	return probe_attach_unwritten(flight->tracer, probes, ret_error);
}

static void drop_oldest(struct flight *flight)
{
	struct saved *saved = flight->history;

	flight->history = saved->next;
	if (!flight->history)
		flight->history_end = &flight->history;
	flight->history_bytes -= saved->bytes;
	flight->rings[saved->ring].dropped += saved->nr_records;
	free(saved);
}

struct flight *flight_free(struct flight *flight)
{
	if (!flight)
		return NULL;
	while (flight->history)
		drop_oldest(flight);
	free(flight);
	return NULL;
}

/* ---- the history of structural events ---- */

static bool overwrites(const struct flight_ring *ring)
{
	return ring->source->ring.control->overwrite;
}

static void save(struct flight *flight, size_t idx, const struct subbuf_header *header)
{
	struct flight_ring *ring = &flight->rings[idx];
	size_t bytes = ring_record_bytes(&ring->source->ring, header);
	uint32_t nr_records = subbuf_records(&ring->source->ring, header);
	struct saved *saved = malloc(sizeof(*saved) + bytes);

	if (!saved) {
		ring->dropped += nr_records;
		return;
	}
	*saved = (struct saved){
		.ring = idx, .bytes = bytes, .base_ns = header->base, .lost = header->lost, .nr_records = nr_records};
	memcpy(saved->records, header + 1, bytes);
	*flight->history_end = saved;
	flight->history_end = &saved->next;
	flight->history_bytes += bytes;
	while (flight->history_bytes > FLIGHT_HISTORY_BYTES)
		drop_oldest(flight);
}

void flight_drain(struct flight *flight)
{
	const struct subbuf_header *header;

	for (size_t i = 0; i < flight->nr_rings; i++) {
		if (overwrites(&flight->rings[i]))
			continue;
		while ((header = subbuf_take(&flight->rings[i].source->ring))) {
			if (header->seq > flight->rings[i].forgotten)
				save(flight, i, header);
			subbuf_release(&flight->rings[i].source->ring);
		}
	}
}

/* ---- sub-buffers that may be overwritten while we look ---- */

static uint64_t newest_subbuf(const struct flight_ring *ring)
{
	return __atomic_load_n(&ring->source->ring.control->position, __ATOMIC_ACQUIRE) >> SUBBUF_OFFSET_BITS;
}

static uint64_t oldest_subbuf(const struct flight_ring *ring)
{
	uint64_t newest = newest_subbuf(ring), nr = ring->source->ring.nr_subbufs;
	uint64_t oldest = newest >= nr ? newest - nr + 1 : 1;

	return oldest > ring->forgotten ? oldest : ring->forgotten + 1;
}

static bool wait_until_complete(const struct subbuf_ring *ring, uint64_t seq)
{
	for (int i = 0; i < FLIGHT_STRAGGLER_TRIES; i++) {
		if (subbuf_complete(ring, seq))
			return true;
		poll(NULL, 0, 1);
	}
	return false;
}

/*
 * Read memory that a producer may be writing. What was torn is found out afterwards and thrown away, as with a sequence lock; so
 * the sanitizer, which has no word for that, must not look.
 */
__attribute__((no_sanitize_thread, noinline)) static void copy_racing(void *to, const void *from, size_t bytes)
{
	trace_u64 *to_words = to;
	const trace_u64 *from_words = from;

	for (size_t i = 0; i < bytes / sizeof(*to_words); i++)
		to_words[i] = __atomic_load_n(&from_words[i], __ATOMIC_RELAXED);
}

/*
 * Copy sub-buffer @seq. As with a sequence lock: it is whole when its slot was not opened for seq + N by the time
 * we had read it, and an opener moves the position before it writes anything there.
 */
static bool copy_subbuf(const struct flight_ring *ring, uint64_t seq, struct subbuf_header *ret_copy)
{
	const struct subbuf_ring *source = &ring->source->ring;

	if (!wait_until_complete(source, seq))
		return false;
	copy_racing(ret_copy, subbuf_slot(source, seq), source->subbuf_bytes);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return ret_copy->seq == seq && newest_subbuf(ring) < seq + source->nr_subbufs;
}

/* Records overwritten before @seq, the oldest that is left: as counted by whoever overwrote its predecessor. */
static uint64_t overwritten_before(const struct flight_ring *ring, uint64_t seq)
{
	const struct subbuf_ring *source = &ring->source->ring;
	uint64_t overwriter_seq = seq - 1 + source->nr_subbufs;
	struct subbuf_header overwriter;

	if (seq == ring->forgotten + 1)
		return 0; /* nothing before it counts */
	copy_racing(&overwriter, subbuf_slot(source, overwriter_seq), sizeof(overwriter));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (overwriter.seq == overwriter_seq && newest_subbuf(ring) < overwriter_seq + source->nr_subbufs)
		return overwriter.overwritten;
	return __atomic_load_n(&source->control->overwritten, __ATOMIC_RELAXED);
}

/* ---- a snapshot ---- */

/** struct snapshot - one being written. @stats: one for each ring, and one for the notes. @scratch: a sub-buffer */
struct snapshot {
	struct flight *flight;
	struct trace_writer *writer;	  /* owned */
	struct writer_thread *thread;	  /* owned */
	struct trace_stream_stats *stats; /* owned */
	struct subbuf_header *scratch;	  /* owned */
	uint64_t events;
	uint64_t overwritten;
};

static int push(struct snapshot *snapshot, const struct trace_source *source)
{
	struct pollfd wake = {.fd = writer_thread_wake_fd(snapshot->thread), .events = POLLIN};
	struct trace_packed *packed;

	while (writer_thread_full(snapshot->thread)) {
		poll(&wake, 1, 100);
		writer_thread_acknowledge(snapshot->thread);
	}
	packed = trace_writer_pack(snapshot->writer, source, NULL);
	return packed ? writer_thread_push(snapshot->thread, packed, source->nr_records, NULL) : -ENOMEM;
}

/* What happened in a ring, as far as the snapshot sees it. */
static void settle(struct snapshot *snapshot, size_t idx, uint64_t stored, uint64_t overwritten)
{
	const struct flight_ring *ring = &snapshot->flight->rings[idx];
	const struct subbuf_control *control = ring->source->ring.control;
	struct trace_stream_stats *stats = &snapshot->stats[idx];

	stats->stream = ring->source->stream;
	stats->cpu = ring->source->cpu;
	stats->stored = stored;
	stats->overwritten = overwritten;
	stats->discarded = __atomic_load_n(&control->discarded, __ATOMIC_RELAXED) - ring->discarded_before;
	stats->filtered = __atomic_load_n(&control->filtered, __ATOMIC_RELAXED) - ring->filtered_before;
	stats->attempted = stats->stored + stats->overwritten + stats->discarded + stats->filtered;
	snapshot->events += stored;
	snapshot->overwritten += overwritten;
}

static struct trace_source ring_source(const struct flight_ring *ring, uint64_t seq)
{
	return (struct trace_source){
		.seq = seq,
		.stream = ring->source->stream,
		.cpu = ring->source->cpu,
		.kind = TRACE_CHUNK_EVENTS,
		.lost_cause = TRACE_GAP_OVERWRITTEN,
	};
}

static int push_overwriting_ring(struct snapshot *snapshot, size_t idx)
{
	const struct flight_ring *ring = &snapshot->flight->rings[idx];
	struct subbuf_header *copy = snapshot->scratch;
	uint64_t stored = 0, blocks = 0, overwritten = 0, newest;
	struct trace_source source;
	int err = 0;

	subbuf_flush(&ring->source->ring);
	newest = newest_subbuf(ring);
	for (uint64_t seq = oldest_subbuf(ring); !err && seq <= newest; seq++) {
		if (!copy_subbuf(ring, seq, copy))
			continue; /* overwritten meanwhile, and counted there; or a writer is stuck in it */
		if (!blocks)
			overwritten = overwritten_before(ring, seq);
		source = ring_source(ring, ++blocks);
		source.records = copy + 1;
		source.bytes = ring_record_bytes(&ring->source->ring, copy);
		source.base_ns = copy->base;
		source.nr_records = subbuf_records(&ring->source->ring, copy);
		source.lost_total = overwritten + copy->lost - ring->discarded_before;
		err = push(snapshot, &source);
		stored += source.nr_records;
	}
	settle(snapshot, idx, stored, overwritten);
	return err;
}

static int push_history(struct snapshot *snapshot, size_t idx)
{
	const struct flight_ring *ring = &snapshot->flight->rings[idx];
	uint64_t stored = 0, blocks = 0;
	struct trace_source source;
	int err = 0;

	for (const struct saved *saved = snapshot->flight->history; !err && saved; saved = saved->next) {
		if (saved->ring != idx)
			continue;
		source = ring_source(ring, ++blocks);
		source.records = saved->records;
		source.bytes = saved->bytes;
		source.base_ns = saved->base_ns;
		source.nr_records = saved->nr_records;
		source.lost_total = ring->dropped + saved->lost - ring->discarded_before;
		err = push(snapshot, &source);
		stored += saved->nr_records;
	}
	settle(snapshot, idx, stored, ring->dropped);
	return err;
}

static int push_rings(struct snapshot *snapshot)
{
	struct flight *flight = snapshot->flight;
	int err = 0;

	for (size_t i = 0; i < flight->nr_rings; i++)
		if (!overwrites(&flight->rings[i]))
			subbuf_flush(&flight->rings[i].source->ring);
	flight_drain(flight);
	for (size_t i = 0; !err && i < flight->nr_rings; i++)
		err = overwrites(&flight->rings[i]) ? push_overwriting_ring(snapshot, i) : push_history(snapshot, i);
	return err;
}

static int add_note(struct block *block, const struct flight_note *note)
{
	struct trace_trace_mask mask = {note->mask[0], note->mask[1], note->mask[2], note->mask[3]};

	if (*note->text)
		return block_add_event(block, TRACE_EV_trace_mark, NULL, 0, note->text, note->ts_ns);
	return block_add_event(block, TRACE_EV_trace_mask, &mask, sizeof(mask), NULL, note->ts_ns);
}

static int push_notes(struct snapshot *snapshot)
{
	const struct flight *flight = snapshot->flight;
	struct trace_stream_stats *stats = &snapshot->stats[flight->nr_rings];
	uint64_t first = flight->nr_notes > FLIGHT_NOTES ? flight->nr_notes - FLIGHT_NOTES : 0, blocks = 0;
	struct block block = {0};
	struct trace_source source;
	int err = 0;

	for (uint64_t i = first; !err && i < flight->nr_notes; i++) { /* one block each: they may be days apart */
		block_clear(&block);
		err = add_note(&block, &flight->notes[i % FLIGHT_NOTES]);
		source = block_source(&block, TRACE_CHUNK_EVENTS, BLOCK_STREAM_DAEMON, ++blocks);
		if (!err)
			err = push(snapshot, &source);
	}
	block_release(&block);
	*stats = (struct trace_stream_stats){.stream = BLOCK_STREAM_DAEMON, .stored = blocks};
	stats->missed = all_missed(flight->tracer) - flight->missed_before;
	stats->attempted = stats->stored + stats->missed;
	return err;
}

/* The trace begins with the oldest ordinary event: older structural events only tell who is who. */
static uint64_t oldest_ns(const struct flight *flight)
{
	uint64_t oldest = UINT64_MAX, seq;
	struct subbuf_header header;
	const struct flight_ring *ring;

	for (size_t i = 0; i < flight->nr_rings; i++) {
		ring = &flight->rings[i];
		seq = oldest_subbuf(ring);
		if (!overwrites(ring) || seq > newest_subbuf(ring))
			continue;
		copy_racing(&header, subbuf_slot(&ring->source->ring, seq), sizeof(header));
		if (header.seq == seq && header.base < oldest)
			oldest = header.base;
	}
	return oldest == UINT64_MAX || oldest < flight->begin_ns ? flight->begin_ns : oldest;
}

static int snapshot_begin(struct snapshot *snapshot, int fd, int level, struct trace_error *ret_error)
{
	const struct flight *flight = snapshot->flight;
	struct clock_sample now = clock_take_sample();
	struct trace_writer_options options = {.size = sizeof(options), .level = level, .start_ns = oldest_ns(flight)};

	options.start_realtime_ns = now.realtime_ns - (now.monotonic_ns - options.start_ns);
	snapshot->stats = calloc(flight->nr_rings + 1, sizeof(*snapshot->stats));
	snapshot->scratch = malloc(SUBBUF_MAX_BYTES);
	if (!snapshot->stats || !snapshot->scratch)
		return text_error(ret_error, -ENOMEM, "no memory for a snapshot");
	snapshot->writer = trace_writer_new(fd, &options, ret_error);
	if (!snapshot->writer || probe_describe(flight->probes, snapshot->writer, ret_error) || tracefile_describe(flight->tracer, snapshot->writer, NULL, ret_error))
		return ret_error->code;
	snapshot->thread = writer_thread_new(snapshot->writer, fd, FLIGHT_QUEUE_BYTES, ret_error);
	if (!snapshot->thread)
		return ret_error->code;
	return writer_thread_push_clock(snapshot->thread, &now) ? text_error(ret_error, -ENOMEM, "no memory for a snapshot") : 0;
}

/* The machine as it is now: what exists, and what threads wait for. */
static int push_state(struct snapshot *snapshot, uint64_t end_ns, struct trace_error *ret_error)
{
	struct tracer *tracer = snapshot->flight->tracer;
	uint64_t blocks;
	int err = start_state_push(tracer, snapshot->writer, snapshot->thread, NULL, &blocks, ret_error);

	return err ? err : end_state_push(tracer, snapshot->writer, snapshot->thread, end_ns, blocks, ret_error);
}

static int snapshot_write(struct snapshot *snapshot, struct trace_error *ret_error)
{
	size_t nr_rings = snapshot->flight->nr_rings;
	uint64_t end_ns;
	int err;

	err = push_rings(snapshot); /* first of all: this races with the recorder */
	end_ns = clock_now();
	if (!err)
		err = push_notes(snapshot);
	if (err)
		return text_error(ret_error, err, "no memory for the snapshot's blocks");
	err = push_state(snapshot, end_ns, ret_error);
	writer_thread_stop(snapshot->thread);
	if (!err)
		err = writer_thread_error(snapshot->thread, ret_error);
	if (!err)
		err = trace_writer_statistics(snapshot->writer, snapshot->stats, nr_rings + 1, end_ns, ret_error);
	return err ? err : trace_writer_finish(snapshot->writer, ret_error);
}

int flight_snapshot(struct flight *flight, int fd, int level, struct flight_result *ret_result, struct trace_error *ret_error)
{
	struct snapshot snapshot = {.flight = flight};
	struct trace_writer_totals totals;
	int err = snapshot_begin(&snapshot, fd, level, ret_error);

	if (!err)
		err = snapshot_write(&snapshot, ret_error);
	writer_thread_free(snapshot.thread);
	if (!err) {
		trace_writer_totals(snapshot.writer, &totals);
		*ret_result = (struct flight_result){snapshot.events, snapshot.overwritten, totals.file_bytes};
	}
	trace_writer_free(snapshot.writer);
	free(snapshot.scratch);
	free(snapshot.stats);
	return err;
}

/* ---- requests ---- */

static void ring_reset(struct flight_ring *ring)
{
	const struct subbuf_control *control = ring->source->ring.control;

	subbuf_flush(&ring->source->ring);
	ring->forgotten = newest_subbuf(ring);
	ring->dropped = 0;
	ring->discarded_before = __atomic_load_n(&control->discarded, __ATOMIC_RELAXED);
	ring->filtered_before = __atomic_load_n(&control->filtered, __ATOMIC_RELAXED);
}

void flight_reset(struct flight *flight)
{
	flight->begin_ns = clock_now();
	while (flight->history)
		drop_oldest(flight);
	for (size_t i = 0; i < flight->nr_rings; i++)
		ring_reset(&flight->rings[i]);
	flight->nr_notes = 0;
	flight->missed_before = all_missed(flight->tracer);
	note_mask(flight);
}

int flight_set_mask(struct flight *flight, const uint64_t mask[TRACE_MASK_WORDS], struct trace_error *ret_error)
{
	int err = tracer_set_mask(flight->tracer, mask, ret_error);

	if (!err)
		note_mask(flight);
	return err;
}

void flight_mark(struct flight *flight, const char *text)
{
	struct flight_note *note = new_note(flight);

	memcpy(note->text, text, strnlen(text, sizeof(note->text) - 1));
}
