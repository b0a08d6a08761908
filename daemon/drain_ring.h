/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_DRAIN_RING_H
#define DAEMON_DRAIN_RING_H
/*
 * drain_ring.h - one ring that the drain reads: its position, its limits in the recording, and the
 * memory of a program, which is read with care. Private to the drain.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/subbuf.h>
#include <trace/writer.h>

#include "untrusted.h"

struct budget;
struct drain_copy;

/**
 * struct drain_ring - one ring and its counters
 * @translate, @context: of a program's ring; NULL: a kernel ring
 * @fd, @offset, @is_mapped: of a program's ring, as in struct drain_source
 * @budget, @uid: the account that pays for visits to CPUs
 * @consumed: the last sub-buffer that was taken or skipped. This is the daemon's own copy of the
 *     word in the control page, which a program can overwrite.
 * @until: during drain_run(): the newest sub-buffer that was open when it began
 * @blocks: number of blocks given to the writer; also their sequence number
 * @stored: records in those blocks
 * @lost_here: records lost on the way from the ring to the writer's queue
 * @given_up: the part of @lost_here that was left in the ring
 * @claimed: the part of @lost_here that the program counted: they never reached the ring
 * @abandoned: the part of @stored that was dropped from the queue
 * @unqueued: blocks lost because there was no memory
 * @first, @last: the first and last sub-buffer of the recording
 * @counter: the ring's counter of discarded events
 * @start_ns: of a program's ring: start of the recording
 * @filtered_before: the ring's counter of filtered events when the recording began
 * @discarded, @filtered: events of the recording, set once its last sub-buffer is known
 * @last_lost: lost_total of the last block
 * @mark, @marked_full: at drain_mark(): the last closed sub-buffer, and the events discarded so far
 * @marked_blocks, @marked_lost: of the last block up to @mark: its number, and its lost_total
 * @fill: during drain_flush(): bytes in the open sub-buffer
 * @flushed: after it: the last closed sub-buffer
 * @read_only: write nothing into the sub-buffers any more, see drain_set_read_only()
 * @suspect: the last sub-buffer was dropped because its times are unknown
 * @broken: the content of the ring is not believed any more
 * @retired: the ring's memory is gone
 * @in_batch: its statistics are on the way to the trace, see drain_ended.h
 */
struct drain_ring {
	struct subbuf_ring ring;
	uint32_t stream;
	uint32_t cpu;
	bool (*translate)(void *context, struct drain_copy *copy);
	void *context;
	int fd;
	off_t offset;
	struct budget *budget; /* borrowed */
	uid_t uid;
	bool is_mapped;
	uint64_t consumed;
	uint64_t until;
	uint64_t blocks;
	uint64_t stored;
	uint64_t lost_here;
	uint64_t given_up;
	uint64_t claimed;
	uint64_t abandoned;
	uint64_t unqueued;
	uint64_t first;
	uint64_t last;
	struct untrusted_counter counter;
	uint64_t start_ns;
	uint64_t filtered_before;
	uint64_t discarded;
	uint64_t filtered;
	uint64_t last_lost;
	uint64_t mark;
	uint64_t marked_full;
	uint64_t marked_blocks;
	uint64_t marked_lost;
	uint64_t flushed;
	uint32_t fill;
	bool read_only;
	bool suspect;
	bool broken;
	bool retired;
	bool in_batch;
};

static inline uint64_t drain_ring_counter(const trace_u64 *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/** drain_ring_counted() - events of the recording that the ring has discarded so far */
uint64_t drain_ring_counted(struct drain_ring *ring);
uint64_t drain_ring_position(const struct drain_ring *ring);
/** drain_ring_release() - give the next sub-buffer back to the writers */
void drain_ring_release(struct drain_ring *ring);

/* ---- a program's memory ---- */

/**
 * drain_ring_read() - read the beginning of a sub-buffer; bytes that cannot be read become zeros
 */
void drain_ring_read(const struct drain_ring *ring, uint64_t seq, void *to, size_t bytes);
/** drain_ring_has_page() - is there memory at byte @at of the sub-buffer? */
bool drain_ring_has_page(const struct drain_ring *ring, uint64_t seq, uint32_t at);
/**
 * drain_ring_bytes_present() - number of bytes from the beginning of the sub-buffer to its first
 * hole, at most @bytes
 */
size_t drain_ring_bytes_present(const struct drain_ring *ring, uint64_t seq, size_t bytes);

/* ---- flushes ---- */

/** drain_ring_has_pages_to_flush() - have all words that a flush writes to pages? */
bool drain_ring_has_pages_to_flush(const struct drain_ring *ring);
/** drain_ring_flush() - close the open sub-buffer, if that is permitted. Returns the bytes in it */
uint32_t drain_ring_flush(const struct drain_ring *ring);
/** drain_ring_note_flush() - note the last closed sub-buffer, for drain_ring_is_flushed() */
void drain_ring_note_flush(struct drain_ring *ring);
bool drain_ring_is_flushed(const struct drain_ring *ring);
/**
 * drain_ring_fill() - bytes in the open sub-buffer; its full size if a complete sub-buffer waits
 */
uint32_t drain_ring_fill(const struct drain_ring *ring);

/* ---- beginning and end ---- */

/**
 * drain_ring_begin(), drain_ring_end() - the recording begins or ends. @count_all: as for
 * drain_add()
 */
void drain_ring_begin(struct drain_ring *ring, bool count_all);
void drain_ring_end(struct drain_ring *ring);
/**
 * drain_ring_mark() - close the open sub-buffer, if that is permitted, and set the mark behind it
 */
void drain_ring_mark(struct drain_ring *ring);
/** drain_ring_committed() - number of records committed in a sub-buffer, complete or not */
uint64_t drain_ring_committed(const struct drain_ring *ring, uint64_t seq);
/** drain_ring_is_empty() - after drain_ring_end(): is nothing of the recording left in it? */
bool drain_ring_is_empty(const struct drain_ring *ring);

/* ---- sub-buffers ---- */

/** drain_ring_next() - number of the next complete sub-buffer of the recording; 0: there is none */
uint64_t drain_ring_next(struct drain_ring *ring);
/** drain_ring_source() - a sub-buffer as an argument of the writer; borrows its records */
struct trace_source drain_ring_source(const struct drain_ring *ring, const struct subbuf_header *header);
/** drain_ring_break() - stop reading the ring: its content is not believed any more */
void drain_ring_break(struct drain_ring *ring);
/** drain_ring_is_late() - should the daemon have drained the ring earlier? */
bool drain_ring_is_late(const struct drain_ring *ring);
#endif
