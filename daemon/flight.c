/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flight.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/saturate.h>

#include "overwrite_reader.h"
#include "own_records.h"
#include "clock.h"
#include "code_history.h"
#include "error_set.h"
#include "flight_metadata.h"
#include "program_names.h"
#include "session_probes.h"
#include "ring_reader.h"
#include "start_state_writer.h"
#include "snapshot_notes.h"
#include "tracefile.h"
#include "user_snapshot.h"
#include "writer_thread.h"

#define FLIGHT_HISTORY_BYTES (16u << 20) /* of structural events of all CPUs */
#define FLIGHT_QUEUE_BYTES   (64u << 20)
/*
 * Time between two reads of the missed events, which cost one system call for each BPF program, as
 * in recording.c. Each snapshot reads them too.
 */
#define FLIGHT_MISSED_NS    5000000000ull
#define FLIGHT_STRAGGLER_MS 1000	 /* as at the end of a recording */
#define FLIGHT_NAMES_NS	    300000000ull /* the names of code; events are not taken meanwhile */

/** struct flight_saved - a copy of a sub-buffer with structural events. @lost: its header.lost */
struct flight_saved {
	struct flight_saved *next; /* owned */
	size_t ring;
	size_t bytes;
	uint64_t seq;
	uint64_t base_ns;
	uint64_t lost;
	uint32_t nr_records;
	unsigned char records[];
};

/**
 * struct flight_ring - one ring of the kernel
 * @last_dropped: the last sub-buffer before the recording or the last reset
 * @records_before: records up to that sub-buffer, in total
 * @discarded_before, @filtered_before: the counters at that time
 * @dropped: records dropped because the history was full
 * @last: the last sub-buffer of the snapshot being written
 * @records: records up to @last, in total
 * @has_writer_inside: a writer has not completed one of the snapshot's sub-buffers yet
 */
struct flight_ring {
	const struct tracer_ring *source; /* borrowed from the tracer */
	uint64_t last_dropped;
	uint64_t records_before;
	uint64_t discarded_before;
	uint64_t filtered_before;
	uint64_t dropped;
	uint64_t last;
	uint64_t records;
	bool has_writer_inside;
};

struct flight {
	struct tracer *tracer;		     /* borrowed; NULL: no permission */
	struct clients *clients;	     /* borrowed; NULL: none */
	const struct tracer_options *filter; /* borrowed; NULL: all processes */
	const struct trace_probes *probes;   /* borrowed; NULL: none */
	struct flight_saved *history;	     /* owned; oldest first */
	struct flight_saved **history_end;
	size_t history_bytes;
	uint64_t begin_ns;		  /* no older event is in memory */
	struct flight_metadata *metadata; /* owned */
	struct code_history code;
	uint64_t missed_ns; /* when the missed events were read last */
	int straggler_ms;   /* flight_set_patience() */
	/* the selected events of programs and probes; empty: not known */
	char selected[TRACE_RECORD_MAX_BYTES - sizeof(struct trace_record)];
	size_t nr_rings;
	struct flight_ring rings[];
};

/* ---- beginning and end ---- */

static void note_mask(struct flight *flight)
{
	uint64_t mask[TRACE_MASK_WORDS];
	struct trace_trace_mask note;

	if (!flight->tracer)
		return;
	tracer_get_mask(flight->tracer, mask);
	note = (struct trace_trace_mask){mask[0], mask[1], mask[2], mask[3]};
	flight_metadata_add(flight->metadata, TRACE_EV_trace_mask, &note, sizeof(note), NULL);
}

static void note_selected(struct flight *flight)
{
	flight_metadata_add(flight->metadata, TRACE_EV_trace_select, NULL, 0, flight->selected);
}

static void note_missed(struct flight *flight)
{
	flight->missed_ns = clock_now();
	flight_metadata_missed(flight->metadata, flight->tracer);
}

struct flight *flight_begin(struct tracer *tracer, struct clients *clients, struct trace_error *ret_error)
{
	size_t nr_rings = tracer ? tracer_nr_rings(tracer) : 0;
	struct clock_sample start;
	struct flight *flight = calloc(1, sizeof(*flight) + nr_rings * sizeof(flight->rings[0]));

	if (flight) {
		flight->history_end = &flight->history;
		flight->metadata = flight_metadata_new();
	}
	if (!flight || !flight->metadata) {
		error_set(ret_error, -ENOMEM, "no memory for a flight recorder");
		return flight_free(flight);
	}
	flight->tracer = tracer;
	flight->straggler_ms = FLIGHT_STRAGGLER_MS;
	flight->nr_rings = nr_rings;
	for (size_t i = 0; i < nr_rings; i++)
		flight->rings[i].source = tracer_get_ring(tracer, i);
	if (tracer && tracer_start(tracer, ret_error))
		return flight_free(flight);
	start = clock_take_sample();
	if (clients)
		clients_begin(clients, NULL, NULL, &start);
	flight->clients = clients;
	flight_reset(flight); /* during attachment some event types were recorded and others not yet */
	return flight;
}

void flight_set_patience(struct flight *flight, int ms)
{
	flight->straggler_ms = ms;
}

void flight_set_filter(struct flight *flight, const struct tracer_options *filter)
{
	flight->filter = filter;
}

int flight_attach_probes(struct flight *flight, const struct trace_probes *probes, const struct selection *selection,
			 struct trace_error *ret_error)
{
	flight->probes = probes;
	return flight->tracer ? session_probes_attach_unwritten(flight->tracer, probes, selection, ret_error) : 0;
}

static void drop_oldest(struct flight *flight)
{
	struct flight_saved *saved = flight->history;

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
	flight_metadata_free(flight->metadata);
	code_history_clear(&flight->code);
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
	struct flight_saved *saved = malloc(sizeof(*saved) + bytes);

	if (!saved) {
		ring->dropped += nr_records;
		return;
	}
	*saved = (struct flight_saved){.ring = idx,
				       .bytes = bytes,
				       .seq = header->seq,
				       .base_ns = header->base,
				       .lost = header->lost,
				       .nr_records = nr_records};
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

	if (clock_now() - flight->missed_ns >= FLIGHT_MISSED_NS)
		note_missed(flight);
	for (size_t i = 0; i < flight->nr_rings; i++) {
		if (overwrites(&flight->rings[i]))
			continue;
		while ((header = subbuf_take(&flight->rings[i].source->ring))) {
			if (header->seq > flight->rings[i].last_dropped)
				save(flight, i, header);
			subbuf_release(&flight->rings[i].source->ring);
		}
	}
}

/* ---- a snapshot ---- */

/**
 * struct flight_snapshot - a snapshot being written
 * @stats: one for each ring of the kernel, one for each ring of a program, and one for the daemon's
 *     stream of metadata events
 * @scratch: space for one sub-buffer
 */
struct flight_snapshot {
	struct flight *flight;
	struct trace_writer *writer;	  /* owned */
	struct writer_thread *thread;	  /* owned */
	struct trace_stream_stats *stats; /* owned */
	size_t nr_stats;
	struct subbuf_header *scratch; /* owned */
	int patience;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t events;
	uint64_t overwritten;
	uint64_t missed;	     /* events of programs that never had a ring */
	uint64_t claimed;	     /* the part of them that only programs counted */
	struct build_ids *build_ids; /* owned */
};

static int push(struct flight_snapshot *snapshot, const struct trace_source *source)
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

/* Appends the statistics of one stream. */
static int add_stats(struct flight_snapshot *snapshot, const struct trace_stream_stats *stats)
{
	struct trace_stream_stats *grown = realloc(snapshot->stats, (snapshot->nr_stats + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	snapshot->stats = grown;
	grown[snapshot->nr_stats++] = *stats;
	snapshot->events += stats->stored;
	snapshot->overwritten = trace_add_saturated(snapshot->overwritten, stats->overwritten);
	return 0;
}

/* The statistics of a ring, limited to the snapshot. */
static int finish_ring(struct flight_snapshot *snapshot, size_t idx, uint64_t stored, uint64_t overwritten)
{
	const struct flight_ring *ring = &snapshot->flight->rings[idx];
	const struct subbuf_control *control = ring->source->ring.control;
	struct trace_stream_stats stats = {
		.stream = ring->source->stream,
		.cpu = ring->source->cpu,
		.stored = stored,
		.overwritten = overwritten,
		.discarded = __atomic_load_n(&control->discarded, __ATOMIC_RELAXED) - ring->discarded_before,
		.filtered = __atomic_load_n(&control->filtered, __ATOMIC_RELAXED) - ring->filtered_before,
	};

	stats.attempted = stats.stored + stats.overwritten + stats.discarded + stats.filtered;
	return add_stats(snapshot, &stats);
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

/*
 * @total: header.lost of a sub-buffer. Its opener may have read the counter just before
 *     discarded_before was read.
 */
static uint64_t discarded_since(const struct flight_ring *ring, uint64_t total)
{
	return total > ring->discarded_before ? total - ring->discarded_before : 0;
}

/*
 * The number of the recording's records before sub-buffer @seq that are not among the @stored ones.
 */
static uint64_t missing_before(const struct flight_ring *ring, uint64_t seq, uint64_t stored, int *patience)
{
	uint64_t records = ring_records_before(&ring->source->ring, seq, patience),
		 known = ring->records_before + stored;

	return records > known ? records - known : 0;
}

/*
 * As missing_before(), for the end of the snapshot. If all slots of the ring were reused meanwhile,
 * their counts are newer, so use the count that close_rings() took.
 */
static uint64_t missing_at_end(const struct flight_ring *ring, uint64_t stored)
{
	int patience = 0;

	if (ring_newest(&ring->source->ring) <= ring->last + ring->source->ring.nr_subbufs)
		return missing_before(ring, ring->last + 1, stored, &patience);
	return ring->records > ring->records_before + stored ? ring->records - ring->records_before - stored : 0;
}

static int push_overwriting_ring(struct flight_snapshot *snapshot, size_t idx)
{
	const struct flight_ring *ring = &snapshot->flight->rings[idx];
	struct subbuf_header *copy = snapshot->scratch;
	uint64_t stored = 0, blocks = 0, overwritten = 0, before;
	struct trace_source source;
	uint64_t oldest = ring_oldest(&ring->source->ring, ring->last_dropped);
	bool skipped = oldest > ring->last && ring->last > ring->last_dropped;
	int err = 0;

	for (uint64_t seq = oldest; !err && seq <= ring->last; seq++) {
		if (!ring_wait_until_complete(&ring->source->ring, seq, &snapshot->patience) ||
		    !ring_copy(&ring->source->ring, seq, copy)) {
			skipped = true; /* overwritten meanwhile, or a writer is stuck in it */
			continue;
		}
		if (skipped || !blocks) {
			before = missing_before(ring, seq, stored, &snapshot->patience);
			skipped = ring_is_overwritten(&ring->source->ring, seq);
			if (skipped)
				/*
				 * The slot was reused while the records were counted: the count is
				 * not reliable, and this sub-buffer is gone too.
				 */
				continue;
			overwritten = before;
		}
		source = ring_source(ring, ++blocks);
		source.records = copy + 1;
		source.bytes = ring_record_bytes(&ring->source->ring, copy);
		source.base_ns = copy->base;
		source.nr_records = subbuf_records(&ring->source->ring, copy);
		source.lost_total = overwritten + discarded_since(ring, copy->lost);
		err = push(snapshot, &source);
		stored += source.nr_records;
	}
	if (skipped) /* no later chunk reports the missing records, so the statistics must */
		overwritten = missing_at_end(ring, stored);
	return err ? err : finish_ring(snapshot, idx, stored, overwritten);
}

static int push_history(struct flight_snapshot *snapshot, size_t idx)
{
	const struct flight_ring *ring = &snapshot->flight->rings[idx];
	uint64_t stored = 0, blocks = 0;
	struct trace_source source;
	int err = 0;

	for (uint64_t seq = ring->source->ring.control->consumed + 1; seq <= ring->last; seq++)
		if (!ring_wait_until_complete(&ring->source->ring, seq, &snapshot->patience))
			break;
	flight_drain(snapshot->flight);
	for (const struct flight_saved *saved = snapshot->flight->history; !err && saved; saved = saved->next) {
		/* sub-buffers completed after the end belong to the next snapshot */
		if (saved->ring != idx || saved->seq > ring->last)
			continue;
		source = ring_source(ring, ++blocks);
		source.records = saved->records;
		source.bytes = saved->bytes;
		source.base_ns = saved->base_ns;
		source.nr_records = saved->nr_records;
		source.lost_total = ring->dropped + discarded_since(ring, saved->lost);
		err = push(snapshot, &source);
		stored += saved->nr_records;
	}
	return err ? err
		   : finish_ring(snapshot, idx, stored, ring->dropped + missing_at_end(ring, stored + ring->dropped));
}

static int push_ring(struct flight_snapshot *snapshot, size_t idx)
{
	return overwrites(&snapshot->flight->rings[idx]) ? push_overwriting_ring(snapshot, idx)
							 : push_history(snapshot, idx);
}

/*
 * Rings with a stuck writer come last: while the daemon waits for that writer, complete sub-buffers
 * of other rings may be overwritten.
 */
static int push_rings(struct flight_snapshot *snapshot)
{
	struct flight *flight = snapshot->flight;
	int err = 0;

	for (size_t i = 0; !err && i < flight->nr_rings; i++)
		if (!flight->rings[i].has_writer_inside)
			err = push_ring(snapshot, i);
	for (size_t i = 0; !err && i < flight->nr_rings; i++)
		if (flight->rings[i].has_writer_inside)
			err = push_ring(snapshot, i);
	return err;
}

static bool writer_is_inside(const struct flight_ring *ring)
{
	uint64_t seq = overwrites(ring) ? ring_oldest(&ring->source->ring, ring->last_dropped)
					: ring->source->ring.control->consumed + 1;

	while (seq <= ring->last &&
	       (subbuf_complete(&ring->source->ring, seq) || ring_is_overwritten(&ring->source->ring, seq)))
		seq++;
	return seq <= ring->last;
}

/*
 * Closes all rings at one moment, which is the end of the snapshot. If each ring ended when it was
 * copied, CPU 0 might end 100 ms before CPU 1, and the last state of the threads on CPU 0 would
 * seem to last for these 100 ms.
 * The snapshot does not wait for sub-buffers opened after that: they complete only when they are
 * full.
 */
static void close_rings(struct flight_snapshot *snapshot)
{
	struct flight *flight = snapshot->flight;
	int patience = 0;

	note_missed(flight);
	snapshot->end_ns = clock_now();
	if (flight->tracer)
		tracer_flush_rings(flight->tracer); /* closes the rings that have deferred entries */
	for (size_t i = 0; i < flight->nr_rings; i++)
		flight->rings[i].last = ring_close(&flight->rings[i].source->ring);
	for (size_t i = 0; i < flight->nr_rings; i++) {
		flight->rings[i].records = ring_records_before(&flight->rings[i].source->ring,
							       flight->rings[i].last + 1, &patience);
		flight->rings[i].has_writer_inside = writer_is_inside(&flight->rings[i]);
	}
}

static int push_program_block(void *context, const struct trace_source *source)
{
	return push(context, source);
}

static int add_program_stats(void *context, const struct trace_stream_stats *stats)
{
	return add_stats(context, stats);
}

static int push_clients(struct flight_snapshot *snapshot)
{
	struct user_snapshot programs = {.writer = snapshot->writer,
					 .patience = RING_PATIENCE,
					 .push = push_program_block,
					 .add_stats = add_program_stats,
					 .context = snapshot};
	int err = snapshot->flight->clients ? clients_snapshot(snapshot->flight->clients, &programs) : 0;

	snapshot->missed = programs.missed;
	snapshot->claimed = programs.claimed;
	return err;
}

/**
 * struct own_stream - state while the daemon's own stream is written
 * @gone: the dropped programs; a mark reports them, between the metadata events in time order
 * @is_due: that mark is still to be written
 * @code: the next event fs_map
 * @blocks, @stored: blocks and records written so far
 */
struct own_stream {
	struct flight_snapshot *snapshot;
	struct clients_gone gone;
	bool is_due;
	const struct code_entry *code;
	uint64_t blocks;
	uint64_t stored;
	uint64_t lost_gone; /* lost events of @gone, once the mark is written */
};

/* Writes each metadata event as a block of its own, because they may be days apart. */
static int push_block(struct own_stream *stream, const struct own_records *block, uint64_t lost)
{
	struct trace_source source = own_records_source(block, TRACE_CHUNK_EVENTS, OWN_STREAM_DAEMON, ++stream->blocks);

	source.lost_total = trace_add_saturated(lost, stream->lost_gone);
	source.lost_cause = TRACE_GAP_OVERWRITTEN;
	stream->stored += source.nr_records;
	return push(stream->snapshot, &source);
}

/*
 * Writes a mark for programs of which nothing is kept, and which therefore have no stream. Their
 * records are older than the end of the last of them.
 */
static int push_gone(struct own_stream *stream, uint64_t lost)
{
	struct own_records block = {0};
	char text[128];
	int err;

	snprintf(text, sizeof(text), "the flight recorder no longer keeps events of %llu programs that have ended",
		 (unsigned long long)stream->gone.programs);
	err = own_records_add_event(&block, TRACE_EV_trace_mark, NULL, 0, text, stream->gone.ns);
	stream->is_due = false;
	stream->lost_gone = trace_add_saturated(stream->gone.overwritten, stream->gone.lost);
	if (!err)
		err = push_block(stream, &block, lost);
	own_records_release(&block);
	return err;
}

/* The events fs_map until @until_ns: a stream is in order of time. */
static int push_code(struct own_stream *stream, uint64_t until_ns, uint64_t lost)
{
	struct own_records block = {0};
	int err = 0;

	while (!err && code_history_block(&stream->code, until_ns, &block, &err))
		err = push_block(stream, &block, lost);
	own_records_release(&block);
	return err;
}

static int push_metadata_event(void *context, const struct own_records *block, uint64_t lost)
{
	struct own_stream *stream = context;
	int err = 0;

	if (stream->is_due && block->base_ns > stream->gone.ns) {
		err = push_code(stream, stream->gone.ns, lost);
		err = err ? err : push_gone(stream, lost);
	}
	err = err ? err : push_code(stream, block->base_ns, lost);
	return err ? err : push_block(stream, block, lost);
}

static int push_metadata(struct flight_snapshot *snapshot)
{
	struct own_stream stream = {.snapshot = snapshot, .code = snapshot->flight->code.first};
	struct trace_stream_stats stats = {.stream = OWN_STREAM_DAEMON};
	struct flight_metadata_totals totals = {0};
	int err;

	if (snapshot->flight->clients)
		clients_get_gone(snapshot->flight->clients, &stream.gone);
	stream.is_due = stream.gone.programs;
	err = flight_metadata_write(snapshot->flight->metadata, push_metadata_event, &stream, &totals);
	if (!err && stream.is_due)
		err = push_code(&stream, stream.gone.ns, totals.lost);
	if (!err && stream.is_due)
		err = push_gone(&stream, totals.lost);
	if (!err)
		err = push_code(&stream, UINT64_MAX, totals.lost);
	stats.stored = stream.stored;
	stats.missed = totals.missed;
	stats.overwritten = trace_add_saturated(stream.gone.overwritten, totals.lost);
	stats.discarded = trace_add_saturated(stream.gone.lost, snapshot->missed);
	stats.claimed = trace_add_saturated(stream.gone.claimed, snapshot->claimed);
	stats.attempted = trace_add_saturated(stats.overwritten, stats.discarded);
	stats.attempted = trace_add_saturated(stats.attempted, stats.stored + stats.missed);
	return err ? err : add_stats(snapshot, &stats);
}

/* When the oldest sub-buffer of a ring was opened; UINT64_MAX: it is empty. */
static uint64_t ring_since_ns(const struct flight_ring *ring, uint64_t oldest)
{
	struct subbuf_header header;

	if (oldest > ring_newest(&ring->source->ring))
		return UINT64_MAX;
	ring_copy_racing(&header, subbuf_slot(&ring->source->ring, oldest), sizeof(header));
	return header.seq == oldest ? header.base : UINT64_MAX;
}

void flight_get_held(const struct flight *flight, size_t idx, uint64_t *ret_since_ns, uint64_t *ret_bytes)
{
	const struct flight_ring *ring = &flight->rings[idx];
	uint64_t oldest = ring_oldest(&ring->source->ring, ring->last_dropped),
		 newest = ring_newest(&ring->source->ring), since = ring_since_ns(ring, oldest);

	/* nothing was overwritten since the reset: it reaches back to it */
	*ret_since_ns = oldest == ring->last_dropped + 1 || since == UINT64_MAX ? flight->begin_ns : since;
	*ret_bytes = newest >= oldest ? (newest + 1 - oldest) * ring->source->ring.subbuf_bytes : 0;
}

/*
 * The trace begins with the oldest ordinary event. Older structural events only describe threads
 * and processes.
 */
static uint64_t oldest_ns(const struct flight *flight)
{
	uint64_t oldest = flight->clients ? clients_oldest_ns(flight->clients) : UINT64_MAX, since;
	const struct flight_ring *ring;

	for (size_t i = 0; i < flight->nr_rings; i++) {
		ring = &flight->rings[i];
		since = ring_since_ns(ring, ring_oldest(&ring->source->ring, ring->last_dropped));
		if (overwrites(ring) && since < oldest)
			oldest = since;
	}
	return oldest == UINT64_MAX || oldest < flight->begin_ns ? flight->begin_ns : oldest;
}

static int snapshot_begin(struct flight_snapshot *snapshot, int fd, int level, struct trace_error *ret_error)
{
	const struct flight *flight = snapshot->flight;
	struct clock_sample now = clock_take_sample();
	struct trace_writer_options options = {.size = sizeof(options), .level = level, .start_ns = oldest_ns(flight)};

	options.start_realtime_ns = now.realtime_ns - (now.monotonic_ns - options.start_ns);
	snapshot->start_ns = options.start_ns;
	snapshot->scratch = malloc(SUBBUF_MAX_BYTES);
	if (!snapshot->scratch)
		return error_set(ret_error, -ENOMEM, "no memory for a snapshot");
	snapshot->writer = trace_writer_new(fd, &options, ret_error);
	if (!snapshot->writer || session_probes_describe(flight->probes, snapshot->writer, ret_error) ||
	    tracefile_describe(flight->tracer, snapshot->writer, NULL, flight->filter, ret_error))
		return ret_error->code;
	snapshot->thread = writer_thread_new(snapshot->writer, fd, FLIGHT_QUEUE_BYTES, ret_error);
	if (!snapshot->thread)
		return ret_error->code;
	return writer_thread_push_clock(snapshot->thread, &now)
		       ? error_set(ret_error, -ENOMEM, "no memory for a snapshot")
		       : 0;
}

/*
 * The state of the machine comes first, so that the trace has all that changes behind the reading.
 * Programs come next, so that none of their events is later than the end. Then the rings are
 * closed, and what threads wait for is read at once, because it belongs to that moment. The rings
 * come next, before anything else, because writers overwrite them meanwhile. The clock is last: a
 * reader refuses an end that is much later than all its readings.
 */
static int push_all(struct flight_snapshot *snapshot, struct trace_error *ret_error)
{
	const struct start_state_sink sink = {.writer = snapshot->writer,
					      .thread = snapshot->thread,
					      .build_ids = snapshot->build_ids};
	struct tracer *tracer = snapshot->flight->tracer;
	struct clock_sample now;
	uint64_t blocks = 0;
	int err;

	if (tracer && start_state_push(tracer, &sink, NULL, &blocks, ret_error))
		return ret_error->code;
	err = push_clients(snapshot);
	if (!err) {
		close_rings(snapshot);
		flight_take_code_maps(snapshot->flight);
		if (tracer && end_state_push(tracer, &sink, snapshot->end_ns, blocks, ret_error))
			return ret_error->code;
		err = push_rings(snapshot);
	}
	if (!err)
		err = push_metadata(snapshot);
	now = clock_take_sample();
	if (!err)
		err = writer_thread_push_clock(snapshot->thread, &now);
	return err ? error_set(ret_error, err, "no memory for the snapshot's blocks") : 0;
}

static bool has_samples(const struct flight *flight)
{
	return flight->tracer && flight->filter && flight->filter->sample_period;
}

void flight_take_code_maps(struct flight *flight)
{
	if (has_samples(flight))
		code_history_take(&flight->code, flight->tracer, oldest_ns(flight));
}

static int snapshot_write(struct flight_snapshot *snapshot, int fd, struct trace_error *ret_error)
{
	int err = push_all(snapshot, ret_error);
	uint64_t next_note;

	if (err)
		return err;
	writer_thread_stop(snapshot->thread);
	build_ids_wait(snapshot->flight->code.ids, 0);
	build_ids_add(snapshot->build_ids, snapshot->flight->code.ids);
	build_ids_wait(snapshot->build_ids, BUILD_IDS_END_WAIT_NS);
	build_ids_write(snapshot->build_ids, snapshot->writer);
	if (has_samples(snapshot->flight))
		tracefile_code_names(snapshot->writer, snapshot->flight->tracer);
	next_note = snapshot_notes_write(snapshot->writer,
					 &(struct snapshot_facts){.tracer = snapshot->flight->tracer,
								  .clients = snapshot->flight->clients,
								  .filter = snapshot->flight->filter,
								  .build_ids = snapshot->build_ids,
								  .nr_lost_maps = snapshot->flight->code.lost,
								  .start_ns = snapshot->start_ns});
	if (has_samples(snapshot->flight))
		program_names_write(snapshot->writer, fd, FLIGHT_NAMES_NS, snapshot->build_ids, next_note);
	err = writer_thread_error(snapshot->thread, ret_error);
	if (!err)
		err = trace_writer_statistics(snapshot->writer, snapshot->stats, snapshot->nr_stats, snapshot->end_ns,
					      ret_error);
	return err ? err : trace_writer_finish(snapshot->writer, ret_error);
}

int flight_snapshot(struct flight *flight, int fd, int level, struct flight_result *ret_result,
		    struct trace_error *ret_error)
{
	struct flight_snapshot snapshot = {.flight = flight,
					   .patience = flight->straggler_ms,
					   .build_ids = build_ids_new(false)};
	struct trace_writer_totals totals;
	int err = snapshot_begin(&snapshot, fd, level, ret_error);

	if (!err)
		err = snapshot_write(&snapshot, fd, ret_error);
	writer_thread_free(snapshot.thread);
	if (!err) {
		trace_writer_totals(snapshot.writer, &totals);
		*ret_result = (struct flight_result){snapshot.events, snapshot.overwritten, totals.file_bytes};
	}
	trace_writer_free(snapshot.writer);
	build_ids_free(snapshot.build_ids);
	free(snapshot.scratch);
	free(snapshot.stats);
	return err;
}

/* ---- requests of the user ---- */

static void ring_reset(struct flight_ring *ring)
{
	const struct subbuf_control *control = ring->source->ring.control;
	int patience = RING_PATIENCE;

	ring->last_dropped = ring_drop(&ring->source->ring, &ring->records_before, &patience);
	ring->dropped = 0;
	ring->discarded_before = __atomic_load_n(&control->discarded, __ATOMIC_RELAXED);
	ring->filtered_before = __atomic_load_n(&control->filtered, __ATOMIC_RELAXED);
}

void flight_reset(struct flight *flight)
{
	struct clock_sample now = clock_take_sample();

	flight->begin_ns = now.monotonic_ns;
	if (flight->clients)
		clients_reset(flight->clients, &now);
	while (flight->history)
		drop_oldest(flight);
	if (flight->tracer)
		tracer_flush_rings(flight->tracer);
	for (size_t i = 0; i < flight->nr_rings; i++)
		ring_reset(&flight->rings[i]);
	flight_metadata_reset(flight->metadata, flight->tracer);
	flight->missed_ns = now.monotonic_ns;
	note_mask(flight);
	if (*flight->selected)
		note_selected(flight);
}

int flight_set_mask(struct flight *flight, const uint64_t mask[TRACE_MASK_WORDS], struct trace_error *ret_error)
{
	int err = flight->tracer ? tracer_set_mask(flight->tracer, mask, ret_error) : 0;

	if (!err)
		note_mask(flight);
	return err;
}

void flight_mark(struct flight *flight, const char *text)
{
	flight_metadata_add(flight->metadata, TRACE_EV_trace_mark, NULL, 0, text);
}

/* The text is for people; a long list may lose its end. */
void flight_select(struct flight *flight, const char *text)
{
	bool fits = snprintf(flight->selected, sizeof(flight->selected), "%s", text) < (int)sizeof(flight->selected);

	if (!fits)
		memcpy(flight->selected + sizeof(flight->selected) - sizeof("..."), "...", sizeof("..."));
	note_selected(flight);
}
