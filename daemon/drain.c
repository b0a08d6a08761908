/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/saturate.h>
#include <unistd.h>

#include "clock.h"
#include "drain_ended.h"
#include "drain_ring.h"
#include "error_set.h"

/*
 * How much the daemon does for programs in one drain_run(), while signals and requests wait:
 * DRAIN_SLICE_BYTES bytes, and whatever they cost, DRAIN_SLICE_NS. Each sub-buffer counts as
 * DRAIN_SUBBUF_BYTES more.
 */
#define DRAIN_SLICE_BYTES  (16u << 20)
#define DRAIN_SUBBUF_BYTES 4096u
#define DRAIN_SLICE_NS	   100000000ull

/**
 * struct drain - all rings of a recording
 * @rings: all of them, the kernel's first, @nr_kernel of them
 * @read: @nr_read of them, in that order: those that are not retired. Each drain_run() looks at
 *     these, so that its time does not grow with the programs that have ended
 * @next_program: the program's ring to look at first
 * @work: the work for programs in this drain_run(), of DRAIN_SLICE_BYTES
 * @slice_end_ns: when drain_run() leaves the rest of that work to the next one
 * @announces_always: see drain_announce_always()
 * @has_more: that limit left sub-buffers of programs in their rings
 * @ended_batch: the batch of retired rings that goes into the trace
 * @nr_retired: those in @rings; at @batch_at of them the next batch begins
 * @gone, @gone_losses: the sums of the rings of which the trace has the statistics
 */
struct drain {
	struct tracer *tracer;	      /* borrowed; NULL: only programs are recorded */
	struct trace_writer *writer;  /* borrowed */
	struct writer_thread *thread; /* borrowed */
	unsigned char *scratch;	      /* owned; copies of programs' sub-buffers, after free space for one record */
	size_t scratch_bytes;
	bool ended;
	struct drain_ring **rings; /* owned, and the rings too */
	struct drain_ring **read;  /* owned */
	size_t nr_rings;
	size_t nr_read;
	size_t nr_kernel;
	size_t rings_room;
	size_t next_program;
	size_t work;
	uint64_t slice_end_ns;
	bool announces_always;
	bool has_more;
	struct drain_ended ended_batch;
	size_t nr_retired;
	size_t batch_at;
	struct drain_totals gone;
	struct drain_losses gone_losses;
	drain_watch_fn watch; /* NULL: none */
	void *watch_context;
};

/* ---- rings ---- */

static struct drain_ring *ring_new(struct drain *drain)
{
	size_t room = drain->rings_room ? 2 * drain->rings_room : 16;
	struct drain_ring **rings, **read, *ring;

	if (drain->nr_rings == drain->rings_room) {
		rings = realloc(drain->rings, room * sizeof(struct drain_ring *));
		drain->rings = rings ? rings : drain->rings;
		read = realloc(drain->read, room * sizeof(struct drain_ring *));
		drain->read = read ? read : drain->read;
		if (!rings || !read)
			return NULL;
		drain->rings_room = room;
	}
	ring = calloc(1, sizeof(*ring));
	if (ring)
		drain->rings[drain->nr_rings++] = drain->read[drain->nr_read++] = ring;
	return ring;
}

/* Flush the deferred entries, before sub-buffers are closed. */
static void flush_deferred(const struct drain *drain)
{
	if (drain->tracer)
		tracer_flush_rings(drain->tracer);
}

struct drain *drain_new(struct tracer *tracer, struct trace_error *ret_error)
{
	size_t nr_rings = tracer ? tracer_nr_rings(tracer) : 0;
	struct drain *drain = calloc(1, sizeof(*drain));

	if (drain) {
		drain->tracer = tracer;
		flush_deferred(drain);
	}
	for (size_t i = 0; drain && i < nr_rings; i++) {
		const struct tracer_ring *source = tracer_get_ring(tracer, i);
		struct drain_ring *ring = ring_new(drain);

		if (!ring) {
			drain = drain_free(drain);
			break;
		}
		ring->ring = source->ring;
		ring->stream = source->stream;
		ring->cpu = source->cpu;
		drain_ring_begin(ring, false);
		drain->nr_kernel++;
	}
	if (!drain)
		error_set(ret_error, -ENOMEM, "no memory for the statistics of %zu rings", nr_rings);
	return drain;
}

static bool scratch_reserve(struct drain *drain, size_t bytes)
{
	unsigned char *scratch;

	if (bytes <= drain->scratch_bytes)
		return true;
	scratch = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
	if (!scratch)
		return false;
	free(drain->scratch);
	drain->scratch = scratch;
	drain->scratch_bytes = bytes;
	return true;
}

enum { DRAIN_ROOM_BEFORE = 2048 }; /* TRACE_RECORD_MAX_BYTES, rounded up so that the copy is aligned to 64 bytes */

struct drain_ring *drain_add(struct drain *drain, const struct drain_source *source, bool count_all)
{
	struct drain_ring *ring;

	if (!scratch_reserve(drain, DRAIN_ROOM_BEFORE + source->ring.subbuf_bytes) || !(ring = ring_new(drain)))
		return NULL;
	ring->ring = source->ring;
	ring->stream = source->stream;
	ring->cpu = source->cpu;
	ring->translate = source->translate;
	ring->context = source->context;
	ring->fd = source->fd;
	ring->offset = source->offset;
	ring->budget = source->budget;
	ring->uid = source->uid;
	ring->is_mapped = source->is_mapped;
	ring->start_ns = source->start_ns;
	drain_ring_begin(ring, count_all);
	if (drain->ended)
		drain_ring_end(ring); /* its program died before the daemon looked */
	return ring;
}

void drain_connect(struct drain *drain, struct trace_writer *writer, struct writer_thread *thread)
{
	drain->writer = writer;
	drain->thread = thread;
}

void drain_end(struct drain *drain)
{
	flush_deferred(drain);
	for (size_t i = 0; i < drain->nr_read; i++)
		drain_ring_end(drain->read[i]);
	drain->ended = true;
}

struct drain *drain_free(struct drain *drain)
{
	if (!drain)
		return NULL;
	for (size_t i = 0; i < drain->nr_rings; i++)
		free(drain->rings[i]);
	drain_ended_release(&drain->ended_batch);
	free(drain->rings);
	free(drain->read);
	free(drain->scratch);
	free(drain);
	return NULL;
}

/* ---- one sub-buffer ---- */

static void push(struct drain *drain, struct drain_ring *ring, const struct trace_source *source,
		 struct trace_packed *packed, bool suspect)
{
	ring->suspect = suspect;
	if (packed && writer_thread_push(drain->thread, packed, source->nr_records, &ring->abandoned) == 0) {
		ring->blocks++;
		ring->stored += source->nr_records;
		ring->last_lost = source->lost_total;
		if (ring->consumed <= ring->mark) {
			ring->marked_blocks = ring->blocks;
			ring->marked_lost = source->lost_total;
		}
	} else {
		ring->lost_here += source->nr_records; /* no memory, or times unknown */
		ring->unqueued += !suspect;
	}
}

/*
 * Packs directly from shared memory. The producers get the sub-buffer back before anything is
 * written to the file.
 */
static void take_trusted(struct drain *drain, struct drain_ring *ring, const struct subbuf_header *header)
{
	struct trace_source source = drain_ring_source(ring, header);
	bool suspect = header->flags & SUBBUF_FLAG_TIME_SUSPECT;
	struct trace_packed *packed;

	if (drain->watch && !suspect)
		drain->watch(drain->watch_context, &source, -1);
	packed = suspect ? NULL : trace_writer_pack(drain->writer, &source, NULL);
	drain_ring_release(ring);
	push(drain, ring, &source, packed, suspect);
}

/* ---- a program's sub-buffer ---- */

__attribute__((no_sanitize_thread, noinline)) static void copy_racing(void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
}

/*
 * Copy the first @bytes of a sub-buffer. The program may write there concurrently, so only the copy
 * is checked, and nothing is read twice. The bytes of the copy after @bytes keep their old content.
 */
static struct subbuf_header *copy_subbuf(struct drain *drain, const struct drain_ring *ring, uint64_t seq, size_t bytes,
					 bool has_pages)
{
	struct subbuf_header *copy = (struct subbuf_header *)(drain->scratch + DRAIN_ROOM_BEFORE);

	if (has_pages && ring->is_mapped)
		copy_racing(copy, subbuf_slot(&ring->ring, seq), bytes);
	else
		drain_ring_read(ring, seq, copy, bytes);
	drain->work += bytes + DRAIN_SUBBUF_BYTES;
	return copy;
}

static uint64_t unwritten(const struct drain *drain, const struct drain_ring *ring)
{
	return writer_thread_lost(drain->thread) + ring->unqueued + (drain->announces_always ? ring->blocks : 0);
}

/* @nr_records: as the program counted them, or as salvaging found them. */
static void take_copy(struct drain *drain, struct drain_ring *ring, struct subbuf_header *header, uint32_t nr_records)
{
	struct trace_source source;
	struct drain_copy copy = {.header = header, .unwritten = unwritten(drain, ring)};
	bool suspect = header->flags & SUBBUF_FLAG_TIME_SUSPECT;

	drain_ring_counted(ring);
	if (header->lost > ring->counter.highest)
		header->lost = ring->counter.highest;
	source = drain_ring_source(ring, header);
	copy.records = (unsigned char *)(header + 1);
	copy.bytes = source.bytes & ~(size_t)7;
	copy.base_ns = header->base;
	copy.nr_records = nr_records <= copy.bytes / 8 ? nr_records : (uint32_t)(copy.bytes / 8);
	if (!suspect)
		suspect = !ring->translate(ring->context, &copy);
	ring->filtered += copy.filtered;
	ring->lost_here += suspect ? 0 : copy.untyped;
	source.records = copy.records;
	source.bytes = copy.bytes;
	source.base_ns = copy.base_ns;
	source.nr_records = copy.nr_records;
	if (drain->watch && !suspect)
		drain->watch(drain->watch_context, &source, ring->fd);
	if (source.nr_records)
		push(drain, ring, &source, suspect ? NULL : trace_writer_pack(drain->writer, &source, NULL), suspect);
}

/* The bytes of a sub-buffer with records, as its header states them now. */
static size_t stated_bytes(const struct drain_ring *ring, uint64_t seq)
{
	struct subbuf_header header;

	drain_ring_read(ring, seq, &header, sizeof(header));
	if (header.end < sizeof(header))
		return sizeof(header);
	return header.end < ring->ring.subbuf_bytes ? header.end : ring->ring.subbuf_bytes;
}

static void take_untrusted(struct drain *drain, struct drain_ring *ring, uint64_t seq)
{
	size_t present_bytes = drain_ring_bytes_present(ring, seq, stated_bytes(ring, seq));
	struct subbuf_header *copy = copy_subbuf(drain, ring, seq,
						 present_bytes >= sizeof(*copy) ? present_bytes : sizeof(*copy),
						 present_bytes >= sizeof(*copy));

	drain_ring_release(ring);
	if (copy->seq != seq || copy->end > present_bytes) /* a record writer never leaves a page out */
		drain_ring_break(ring);
	else
		take_copy(drain, ring, copy, subbuf_records(&ring->ring, copy));
}

static void take_subbuf(struct drain *drain, struct drain_ring *ring, uint64_t seq)
{
	if (ring->translate)
		take_untrusted(drain, ring, seq);
	else
		take_trusted(drain, ring, subbuf_slot(&ring->ring, seq));
}

/* Take an incomplete sub-buffer: its program is dead and will not complete it. */
static void salvage_subbuf(struct drain *drain, struct drain_ring *ring, uint64_t seq, uint64_t position)
{
	bool is_hole = !drain_ring_has_page(ring, seq, 0);
	struct subbuf_header *copy = copy_subbuf(drain, ring, seq, is_hole ? sizeof(*copy) : ring->ring.subbuf_bytes,
						 false);
	struct subbuf_salvaged salvaged;
	bool something = !is_hole && subbuf_salvage(copy, ring->ring.subbuf_bytes, ring->ring.nr_subbufs, seq, position,
						    UINT16_MAX, &salvaged);

	drain_ring_release(ring);
	if (!something || seq < ring->first)
		return;
	if (salvaged.opened)
		take_copy(drain, ring, copy, salvaged.records);
	else
		ring->lost_here += salvaged.records; /* the opener died before it stored the base of their times */
	ring->lost_here += salvaged.in_flight + salvaged.lost;
}

/* True if programs had their share of work until the next drain_run(). */
static bool slice_is_used_up(const struct drain *drain)
{
	return drain->work >= DRAIN_SLICE_BYTES || (drain->work && clock_now() > drain->slice_end_ns);
}

bool drain_salvage(struct drain *drain, struct drain_ring *ring)
{
	uint64_t position, seq;

	if (!ring->retired && !ring->broken && drain_ring_has_pages_to_flush(ring))
		subbuf_reap_block(&ring->ring);
	while (!ring->retired && !ring->broken) {
		if (writer_thread_full(drain->thread) || slice_is_used_up(drain))
			return false;
		seq = drain_ring_next(ring);
		position = ring->broken ? 0 : drain_ring_position(ring);
		if (seq)
			take_subbuf(drain, ring, seq);
		else if (position >> SUBBUF_OFFSET_BITS > ring->consumed && ring->consumed < ring->last)
			salvage_subbuf(drain, ring, ring->consumed + 1, position);
		else
			break;
	}
	return true;
}

void drain_retire(struct drain *drain, struct drain_ring *ring)
{
	size_t at = drain->nr_kernel;

	ring->discarded = drain_ring_counted(ring);
	ring->retired = true;
	while (at < drain->nr_read && drain->read[at] != ring)
		at++;
	if (at == drain->nr_read)
		return;
	drain->nr_read--;
	memmove(drain->read + at, drain->read + at + 1, (drain->nr_read - at) * sizeof(struct drain_ring *));
	drain->next_program -= drain->nr_kernel + drain->next_program > at;
	drain->nr_retired++;
}

bool drain_is_broken(const struct drain_ring *ring)
{
	return ring->broken;
}

void drain_set_read_only(struct drain_ring *ring, bool read_only)
{
	ring->read_only = read_only;
}

bool drain_is_distrusted(const struct drain_ring *ring)
{
	return ring->counter.impossible;
}

uint64_t drain_taken(const struct drain_ring *ring)
{
	return ring->consumed;
}

void drain_count_lost(struct drain_ring *ring, uint64_t nr)
{
	ring->lost_here = trace_add_saturated(ring->lost_here, nr);
	ring->claimed = trace_add_saturated(ring->claimed, nr);
}

bool drain_is_late(const struct drain *drain)
{
	for (size_t i = 0; i < drain->nr_kernel; i++) /* a program can write any position */
		if (drain_ring_is_late(drain->rings[i]))
			return true;
	return false;
}

/* Takes all complete sub-buffers of the kernel's rings, one of each ring in turn. */
static enum drain_result take_kernel(struct drain *drain)
{
	enum drain_result result = DRAIN_IDLE;
	uint64_t seq;
	bool took;

	do {
		took = false;
		for (size_t i = 0; i < drain->nr_kernel; i++) {
			seq = drain_ring_next(drain->rings[i]);
			if (!seq)
				continue;
			if (writer_thread_full(drain->thread))
				return DRAIN_BLOCKED;
			take_subbuf(drain, drain->rings[i], seq);
			took = true;
			result = DRAIN_TOOK;
		}
	} while (took);
	return result;
}

/*
 * The next sub-buffer of a program's ring that was opened before drain_run() began. Sub-buffers
 * opened later wait for the next drain_run().
 */
static uint64_t next_of_program(struct drain_ring *ring)
{
	return ring->consumed < ring->until ? drain_ring_next(ring) : 0;
}

/* Takes one sub-buffer of each program's ring, and drains the kernel's rings after each. */
static enum drain_result take_programs_once(struct drain *drain)
{
	size_t nr = drain->nr_read - drain->nr_kernel;
	enum drain_result result = DRAIN_IDLE;
	struct drain_ring *ring;
	uint64_t seq;

	for (size_t i = 0; i < nr; i++) {
		ring = drain->read[drain->nr_kernel + drain->next_program % nr];
		seq = next_of_program(ring);
		if (seq && writer_thread_is_nearly_full(drain->thread))
			return DRAIN_BLOCKED;
		if (seq && slice_is_used_up(drain)) {
			drain->has_more = true;
			return DRAIN_IDLE;
		}
		drain->next_program = (drain->next_program + 1) % nr;
		if (!seq)
			continue;
		take_subbuf(drain, ring, seq);
		result = DRAIN_TOOK;
		if (take_kernel(drain) == DRAIN_BLOCKED)
			return DRAIN_BLOCKED;
	}
	return result;
}

static enum drain_result take_programs(struct drain *drain)
{
	enum drain_result result = DRAIN_IDLE, once;

	for (size_t i = drain->nr_kernel; i < drain->nr_read; i++)
		drain->read[i]->until = drain_ring_position(drain->read[i]) >> SUBBUF_OFFSET_BITS;
	while ((once = take_programs_once(drain)) == DRAIN_TOOK)
		result = DRAIN_TOOK;
	return once == DRAIN_BLOCKED ? once : drain->has_more ? DRAIN_TOOK : result;
}

static void end_rings(struct drain *drain);

enum drain_result drain_run(struct drain *drain)
{
	enum drain_result kernel, programs;

	drain->work = 0;
	drain->slice_end_ns = clock_now() + DRAIN_SLICE_NS;
	drain->has_more = false;
	end_rings(drain);
	kernel = take_kernel(drain);
	if (kernel == DRAIN_BLOCKED)
		return kernel;
	programs = take_programs(drain);
	return programs == DRAIN_IDLE ? kernel : programs;
}

void drain_kernel(struct drain *drain)
{
	take_kernel(drain);
}

bool drain_has_more(const struct drain *drain)
{
	return drain->has_more;
}

bool drain_wake_at(struct drain *drain, bool half)
{
	bool less = false;

	for (size_t i = 0; i < drain->nr_kernel; i++) {
		const struct subbuf_ring *ring = &drain->rings[i]->ring;
		trace_u64 wake_at = half ? ring->nr_subbufs / 2 : 1;

		/*
		 * Store wake_at before loading position: a writer moves position first and then
		 * loads wake_at.
		 */
		less |= __atomic_exchange_n(&ring->control->wake_at, wake_at, __ATOMIC_SEQ_CST) > wake_at;
	}
	return less;
}

/* ---- incomplete sub-buffers ---- */

uint32_t drain_flush(struct drain *drain)
{
	struct drain_ring *ring;
	uint64_t bytes, fill, fullest = 0;

	for (size_t i = 0; i < drain->nr_read; i++)
		drain->read[i]->fill = drain->read[i]->broken ? 0 : drain_ring_fill(drain->read[i]);
	flush_deferred(drain); /* this closes some of them */
	for (size_t i = 0; i < drain->nr_read; i++) {
		ring = drain->read[i];
		if (ring->broken)
			continue;
		bytes = drain_ring_flush(ring);
		drain_ring_note_flush(ring);
		if (ring->fill > bytes)
			bytes = ring->fill;
		if (!bytes)
			continue;
		fill = bytes * 1024 / ring->ring.subbuf_bytes + 1; /* more than 0 for any content */
		if (fill > fullest)
			fullest = fill;
	}
	return fullest > 1024 ? 1024 : (uint32_t)fullest;
}

bool drain_is_flushed(const struct drain *drain, bool programs)
{
	for (size_t i = 0; i < (programs ? drain->nr_read : drain->nr_kernel); i++)
		if (!drain_ring_is_flushed(drain->read[i]))
			return false;
	return true;
}

bool drain_is_empty(const struct drain *drain)
{
	for (size_t i = 0; i < drain->nr_read; i++)
		if (!drain_ring_is_empty(drain->read[i]))
			return false;
	return true;
}

uint64_t drain_abandon(struct drain *drain)
{
	uint64_t lost = 0, here;

	for (size_t i = 0; i < drain->nr_read; i++) {
		struct drain_ring *ring = drain->read[i];

		while (!drain_ring_is_empty(ring)) {
			here = ring->consumed + 1 < ring->first ? 0 : drain_ring_committed(ring, ring->consumed + 1);
			ring->lost_here += here;
			ring->given_up += here;
			lost += here;
			drain_ring_release(ring);
		}
	}
	return lost;
}

/* ---- statistics ---- */

static uint64_t ring_full(const struct drain *drain, struct drain_ring *ring)
{
	return drain->ended || ring->retired ? ring->discarded : drain_ring_counted(ring);
}

static uint64_t ring_discarded(const struct drain *drain, struct drain_ring *ring)
{
	return trace_add_saturated(ring_full(drain, ring), ring->lost_here);
}

/* The losses of a program's ring that only the program counted, in memory that it can write. */
static uint64_t ring_claimed(const struct drain *drain, struct drain_ring *ring)
{
	return ring->translate ? trace_add_saturated(ring_full(drain, ring), ring->claimed) : 0;
}

static uint64_t ring_filtered(const struct drain *drain, const struct drain_ring *ring)
{
	if (ring->translate)
		return ring->filtered;
	return (drain->ended ? ring->filtered : drain_ring_counter(&ring->ring.control->filtered)) -
	       ring->filtered_before;
}

/* ---- up to a mark ---- */

void drain_mark(struct drain *drain)
{
	flush_deferred(drain);
	for (size_t i = 0; i < drain->nr_rings; i++) {
		struct drain_ring *ring = drain->rings[i];

		/* blocks that were taken before may be the last ones */
		ring->marked_blocks = ring->blocks;
		ring->marked_lost = ring->last_lost;
		drain_ring_mark(ring);
	}
}

bool drain_is_past_mark(const struct drain *drain)
{
	for (size_t i = 0; i < drain->nr_read; i++) {
		const struct drain_ring *ring = drain->read[i];

		if (!ring->broken && ring->consumed < ring->mark)
			return false;
	}
	return true;
}

void drain_get_marked(const struct drain *drain, size_t idx, struct drain_marked *ret_marked)
{
	const struct drain_ring *ring = drain->rings[idx];
	uint64_t lost = trace_add_saturated(ring->marked_full, ring->lost_here);

	/*
	 * a writer is inside the next sub-buffer: what the ring has before the mark is not in the
	 * save
	 */
	for (uint64_t seq = ring->consumed + 1; !ring->retired && !ring->broken && seq <= ring->mark; seq++)
		lost = trace_add_saturated(lost, drain_ring_committed(ring, seq));
	*ret_marked = (struct drain_marked){
		.stream = ring->stream,
		.cpu = ring->cpu,
		.blocks = ring->marked_blocks,
		.lost_after = lost > ring->marked_lost ? lost - ring->marked_lost : 0,
		.filtered = ring_filtered(drain, ring),
	};
}

void drain_watch(struct drain *drain, drain_watch_fn watch, void *context)
{
	drain->watch = watch;
	drain->watch_context = context;
}

void drain_announce_always(struct drain *drain)
{
	drain->announces_always = true;
}

static void add_totals(const struct drain *drain, struct drain_ring *ring, struct drain_totals *totals)
{
	totals->events += ring->stored - ring->abandoned;
	totals->lost = trace_add_saturated(totals->lost, ring_discarded(drain, ring));
	totals->lost = trace_add_saturated(totals->lost, ring->abandoned);
	totals->claimed = trace_add_saturated(totals->claimed, ring_claimed(drain, ring));
	totals->filtered += ring_filtered(drain, ring);
}

void drain_get_totals(const struct drain *drain, struct drain_totals *ret_totals)
{
	struct drain_totals totals = drain->gone;

	for (size_t i = 0; i < drain->nr_rings; i++)
		add_totals(drain, drain->rings[i], &totals);
	*ret_totals = totals;
}

size_t drain_nr_rings(const struct drain *drain)
{
	return drain->nr_rings;
}

size_t drain_nr_read(const struct drain *drain)
{
	return drain->nr_read;
}

static struct drain_losses losses_of(const struct drain *drain, struct drain_ring *ring)
{
	return (struct drain_losses){
		.cpu = ring->cpu,
		.is_program = ring->translate,
		.full = ring->translate ? ring_claimed(drain, ring) : ring_full(drain, ring),
		.given_up = ring->given_up,
		.other = ring->lost_here - ring->given_up - ring->claimed + ring->abandoned,
	};
}

void drain_get_losses(const struct drain *drain, size_t idx, struct drain_losses *ret_losses)
{
	*ret_losses = losses_of(drain, drain->rings[idx]);
}

void drain_get_gone_losses(const struct drain *drain, struct drain_losses *ret_losses)
{
	*ret_losses = drain->gone_losses;
}

static struct trace_stream_stats statistics_of(const struct drain *drain, struct drain_ring *ring)
{
	struct trace_stream_stats stats = {
		.stream = ring->stream,
		.cpu = ring->cpu,
		.stored = ring->stored - ring->abandoned,
		.discarded = trace_add_saturated(ring_discarded(drain, ring), ring->abandoned),
		.filtered = ring_filtered(drain, ring),
		.claimed = ring_claimed(drain, ring),
	};

	stats.attempted = trace_add_saturated(trace_add_saturated(stats.stored, stats.discarded), stats.filtered);
	return stats;
}

void drain_statistics(const struct drain *drain, size_t idx, struct trace_stream_stats *ret_stats)
{
	*ret_stats = statistics_of(drain, drain->rings[idx]);
}

/* ---- rings that have ended ---- */

static void free_ended(struct drain *drain, struct drain_ring *ring)
{
	struct drain_losses losses = losses_of(drain, ring), *gone = &drain->gone_losses;

	add_totals(drain, ring, &drain->gone);
	gone->is_program = true;
	gone->full = trace_add_saturated(gone->full, losses.full);
	gone->given_up = trace_add_saturated(gone->given_up, losses.given_up);
	gone->other = trace_add_saturated(gone->other, losses.other);
	free(ring);
	drain->nr_retired--;
}

/* Frees the rings of a batch that the writer has written. */
void drain_free_ended(struct drain *drain)
{
	size_t kept = drain->nr_kernel;

	if (!drain_ended_take(&drain->ended_batch))
		return;
	for (size_t i = kept; i < drain->nr_rings; i++) {
		if (drain->rings[i]->in_batch)
			free_ended(drain, drain->rings[i]);
		else
			drain->rings[kept++] = drain->rings[i];
	}
	drain->nr_rings = kept;
}

/* Fills the batch with retired rings. False: no memory. */
static bool fill_batch(struct drain *drain)
{
	struct drain_ended *ended = &drain->ended_batch;

	if (!ended->streams)
		ended->streams = malloc(DRAIN_ENDED_BATCH * sizeof(*ended->streams));
	ended->nr = 0;
	for (size_t i = drain->nr_kernel; ended->streams && i < drain->nr_rings; i++) {
		struct drain_ring *ring = drain->rings[i];

		ring->in_batch = ring->retired && ended->nr < DRAIN_ENDED_BATCH;
		if (ring->in_batch)
			ended->streams[ended->nr++] = statistics_of(drain, ring);
	}
	return ended->nr;
}

/*
 * The rings of all programs that have ended would take memory until the end of the recording. A
 * recorder that keeps only the latest events drops blocks later, and their losses with them.
 */
static void end_rings(struct drain *drain)
{
	if (drain->nr_retired < DRAIN_ENDED_BATCH)
		return;
	drain_free_ended(drain);
	if (drain->ended || drain->announces_always || !drain->thread || drain->nr_retired < drain->batch_at ||
	    !drain_ended_is_free(&drain->ended_batch))
		return;
	/* without memory, or if the writer cannot write, not again for each ring */
	drain->batch_at = drain->nr_retired + DRAIN_ENDED_BATCH;
	if (fill_batch(drain) && !drain_ended_push(&drain->ended_batch, drain->thread))
		drain->batch_at = DRAIN_ENDED_BATCH;
}

void drain_cancel_ended(struct drain *drain)
{
	drain_ended_cancel(&drain->ended_batch);
}
