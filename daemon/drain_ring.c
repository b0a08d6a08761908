/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drain_ring.h"

#include <string.h>
#include <trace/saturate.h>
#include <unistd.h>

#include "budget.h"
#include "bytes_present.h"
#include "ring_reader.h"

/* ---- counters ---- */

/*
 * Events of the recording that the ring has discarded so far. The maximum is what one CPU can
 * count, because a ring belongs to one CPU.
 */
uint64_t drain_ring_counted(struct drain_ring *ring)
{
	uint64_t max = ring->translate ? untrusted_max_events(ring->start_ns, 1) : UINT64_MAX;

	if (!ring->retired)
		untrusted_counter_take(&ring->counter, drain_ring_counter(&ring->ring.control->discarded), max);
	return untrusted_counter_sum(&ring->counter);
}

uint64_t drain_ring_position(const struct drain_ring *ring)
{
	return __atomic_load_n(&ring->ring.control->position, __ATOMIC_ACQUIRE);
}

void drain_ring_release(struct drain_ring *ring)
{
	ring->consumed++;
	/* [W4], as subbuf_release() */
	__atomic_store_n(&ring->ring.control->consumed, ring->consumed, __ATOMIC_RELEASE);
}

/* ---- a program's memory ---- */

/*
 * SECURITY: a program can punch a hole into the file of its memory. Reading the hole through a
 * mapping allocates pages, which are charged to the daemon; pread() allocates none. Writing
 * allocates them in any case, so the daemon checks with lseek() before it writes.
 */
static off_t file_offset(const struct drain_ring *ring, uint64_t seq)
{
	return ring->offset + (off_t)SUBBUF_CONTROL_BYTES +
	       (off_t)(seq & (ring->ring.nr_subbufs - 1)) * ring->ring.subbuf_bytes;
}

/*
 * Reads at most @bytes of sub-buffer @seq, from its beginning. Bytes that cannot be read become
 * zeros.
 */
void drain_ring_read(const struct drain_ring *ring, uint64_t seq, void *to, size_t bytes)
{
	ssize_t got = pread(ring->fd, to, bytes, file_offset(ring, seq));

	got = got > 0 ? got : 0;
	memset((char *)to + got, 0, bytes - (size_t)got);
}

bool drain_ring_has_page(const struct drain_ring *ring, uint64_t seq, uint32_t at)
{
	off_t at_byte = file_offset(ring, seq) + at;

	return at < ring->ring.subbuf_bytes && lseek(ring->fd, at_byte, SEEK_DATA) == at_byte;
}

size_t drain_ring_bytes_present(const struct drain_ring *ring, uint64_t seq, size_t bytes)
{
	return bytes_present(ring->fd, file_offset(ring, seq), bytes);
}

/* ---- flushes ---- */

/*
 * True if all words that a flush writes to have pages: the header of the open sub-buffer, the
 * header of the block's sub-buffer, and the end of the block. The word after the block's last
 * record may be in the next page; then the flush allocates one page.
 */
bool drain_ring_has_pages_to_flush(const struct drain_ring *ring)
{
	uint64_t block = drain_ring_counter(&ring->ring.control->block),
		 seq = drain_ring_position(ring) >> SUBBUF_OFFSET_BITS;

	if (!drain_ring_has_page(ring, seq, 0))
		return false;
	if (!subbuf_block_is_open(block))
		return true;
	seq = subbuf_block_seq(&ring->ring, block);
	return drain_ring_has_page(ring, seq, 0) && drain_ring_has_page(ring, seq, (uint32_t)block - 8);
}

/*
 * Closing a block requires running on its CPU, before all other tasks there. The program's user
 * pays for this visit.
 */
static bool may_flush(const struct drain_ring *ring)
{
	if (!ring->translate)
		return true;
	if (ring->read_only || !drain_ring_has_pages_to_flush(ring))
		return false;
	return !subbuf_block_is_open(drain_ring_counter(&ring->ring.control->block)) ||
	       budget_take(ring->budget, ring->uid, BUDGET_VISITS, 1);
}

uint32_t drain_ring_flush(const struct drain_ring *ring)
{
	return may_flush(ring) ? ring_flush(&ring->ring) : 0;
}

/*
 * As subbuf_complete(). Reading a program's header is a system call, so check the control page
 * first: it can show that the sub-buffer is still open.
 */
static bool is_complete(const struct drain_ring *ring, uint64_t seq)
{
	uint64_t position, block, target = subbuf_commit_target(ring->ring.subbuf_bytes, ring->ring.nr_subbufs, seq);
	struct subbuf_header header;

	if (!ring->translate)
		return subbuf_complete(&ring->ring, seq);
	position = drain_ring_position(ring);
	block = drain_ring_counter(&ring->ring.control->block);
	if (position >> SUBBUF_OFFSET_BITS == seq &&
	    ((position & SUBBUF_OFFSET_MASK) < ring->ring.subbuf_bytes ||
	     (subbuf_block_is_open(block) && subbuf_block_seq(&ring->ring, block) == seq)))
		return false;
	drain_ring_read(ring, seq, &header, sizeof(header)); /* [R1] */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return ((header.commit - target) & SUBBUF_COMMIT_MASK) == 0;
}

/* Bytes in the open sub-buffer; 0: none is open. The full size if a complete sub-buffer waits. */
uint32_t drain_ring_fill(const struct drain_ring *ring)
{
	uint32_t offset = (uint32_t)(drain_ring_position(ring) & SUBBUF_OFFSET_MASK);

	if (is_complete(ring, ring->consumed + 1))
		return ring->ring.subbuf_bytes;
	return offset < ring->ring.subbuf_bytes ? offset : 0;
}

/* ---- beginning and end ---- */

void drain_ring_begin(struct drain_ring *ring, bool count_all)
{
	ring->consumed = drain_ring_counter(&ring->ring.control->consumed);
	ring->first = ring->translate ? ring->consumed + 1 : ring_close(&ring->ring) + 1;
	ring->last = UINT64_MAX;
	untrusted_counter_begin(&ring->counter, count_all ? 0 : drain_ring_counter(&ring->ring.control->discarded));
	ring->filtered_before = ring->translate ? 0 : drain_ring_counter(&ring->ring.control->filtered);
}

/* Number of records committed in sub-buffer @seq, complete or not. */
uint64_t drain_ring_committed(const struct drain_ring *ring, uint64_t seq)
{
	const struct subbuf_ring *memory = &ring->ring;
	uint64_t earlier_uses = subbuf_commit_target(memory->subbuf_bytes, memory->nr_subbufs, seq) -
				memory->subbuf_bytes;
	uint64_t block = __atomic_load_n(&memory->control->block, __ATOMIC_RELAXED), commit, in_block = 0;
	struct subbuf_header header;
	uint64_t max = memory->subbuf_bytes / sizeof(struct trace_record); /* a program can write any count */

	if (ring->translate) {
		drain_ring_read(ring, seq, &header, sizeof(header));
		commit = header.commit;
	} else {
		commit = __atomic_load_n(&subbuf_slot(memory, seq)->commit, __ATOMIC_ACQUIRE);
		header = *subbuf_slot(memory, seq);
	}
	if (header.seq != seq)
		return 0; /* its opener has not written the header yet */
	if (subbuf_block_is_open(block) && subbuf_block_seq(memory, block) == seq)
		in_block = block >> SUBBUF_BLOCK_RECORDS_SHIFT;
	in_block += (((commit - earlier_uses) >> 40) - header.records_before) & 0xffffff;
	return in_block < max ? in_block : max;
}

/*
 * Count the records of a block as lost if the daemon can neither close it nor wait for it.
 * @is_open: the daemon chose not to close it.
 */
static void lose_block(struct drain_ring *ring, bool is_open)
{
	uint64_t block = __atomic_load_n(&ring->ring.control->block, __ATOMIC_ACQUIRE), here;

	if (!subbuf_block_is_open(block) || subbuf_block_seq(&ring->ring, block) != ring->last + 1 ||
	    (!is_open && !ring_is_out_of_reach(&ring->ring)))
		return;
	here = drain_ring_committed(ring, ring->last + 1);
	ring->given_up += here;
	ring->lost_here += here;
}

/* The last closed sub-buffer. @is_open: the daemon does not close the open one. */
static uint64_t newest_closed(const struct drain_ring *ring, bool is_open)
{
	uint64_t max = ring->consumed + ring->ring.nr_subbufs,
		 newest = is_open ? subbuf_newest_closed(&ring->ring) : ring_close(&ring->ring);

	return ring->translate && newest > max ? max : newest; /* a program can write any position */
}

void drain_ring_note_flush(struct drain_ring *ring)
{
	ring->flushed = newest_closed(ring, true);
}

bool drain_ring_is_flushed(const struct drain_ring *ring)
{
	return ring->retired || ring->broken || ring->consumed >= ring->flushed;
}

void drain_ring_mark(struct drain_ring *ring)
{
	ring->mark = ring->consumed;
	ring->marked_full = ring->retired ? ring->discarded : drain_ring_counted(ring);
	if (!ring->retired && !ring->broken)
		ring->mark = newest_closed(ring, !may_flush(ring));
}

void drain_ring_end(struct drain_ring *ring)
{
	bool is_open = !may_flush(ring);

	ring->last = newest_closed(ring, is_open);
	if (ring->translate && !ring->broken)
		lose_block(ring, is_open);
	ring->discarded = drain_ring_counted(ring);
	if (!ring->translate)
		ring->filtered = drain_ring_counter(&ring->ring.control->filtered);
}

bool drain_ring_is_empty(const struct drain_ring *ring)
{
	return ring->retired || ring->broken || ring->consumed >= ring->last;
}

/* ---- sub-buffers ---- */

/* Events of the recording that were discarded before the counter reached @total. */
static uint64_t discarded_since(const struct drain_ring *ring, uint64_t total)
{
	return total > ring->counter.before ? total - ring->counter.before : 0;
}

struct trace_source drain_ring_source(const struct drain_ring *ring, const struct subbuf_header *header)
{
	return (struct trace_source){
		.records = header + 1,
		.bytes = ring_record_bytes(&ring->ring, header),
		.base_ns = header->base,
		.seq = ring->blocks + 1,
		.lost_total = trace_add_saturated(discarded_since(ring, header->lost), ring->lost_here),
		.stream = ring->stream,
		.cpu = ring->cpu,
		.nr_records = subbuf_records(&ring->ring, header),
		.kind = TRACE_CHUNK_EVENTS,
		.lost_cause = ring->suspect ? TRACE_GAP_SUSPECT : TRACE_GAP_DISCARDED,
	};
}

/* Stop reading the ring. The number of lost records is unknown; one event stands for them. */
void drain_ring_break(struct drain_ring *ring)
{
	ring->broken = true;
	ring->lost_here++;
}

/* Returns the number of the next complete sub-buffer of the recording; 0: there is none. */
uint64_t drain_ring_next(struct drain_ring *ring)
{
	uint64_t newest, seq;

	if (ring->retired || ring->broken)
		return 0;
	for (;;) {
		seq = ring->consumed + 1;
		newest = drain_ring_position(ring) >> SUBBUF_OFFSET_BITS;
		if (ring->translate && newest > ring->consumed + ring->ring.nr_subbufs) {
			drain_ring_break(ring);
			return 0;
		}
		if (newest < seq || seq > ring->last || !is_complete(ring, seq))
			return 0;
		if (seq >= ring->first)
			return seq;
		drain_ring_release(ring);
	}
}

/*
 * A ring wakes the daemon when it is half full, and at most another eighth fills until the daemon
 * runs. More than 5/8 is late.
 */
bool drain_ring_is_late(const struct drain_ring *ring)
{
	uint64_t open = drain_ring_position(ring) >> SUBBUF_OFFSET_BITS, room = ring->ring.nr_subbufs;

	return open > ring->consumed + 1 && open - 1 - ring->consumed > room * 5 / 8;
}
