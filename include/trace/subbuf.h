/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_SUBBUF_H
#define TRACE_SUBBUF_H
/*
 * subbuf.h - the layout of the buffers that producers and the daemon share, and the consumer's code
 *
 * Terms. A ring is a control page followed by N sub-buffers (N is a power of two >= 2) of S bytes
 * each (a power of two, 16 KiB .. 16 MiB). A sub-buffer is a 64-byte header followed by records.
 * Each ring belongs to one CPU and one producer. The kernel's rings are in an mmap-able BPF array
 * map, one value per CPU; a program's rings are in a memfd. The producer's code is
 * tracer/subbuf_write.h, compiled for BPF and for user space.
 *
 * Position. One 64-bit word per ring, control.position = (seq << 26) | offset, says where the next
 * record goes: to byte `offset` of sub-buffer number `seq`. A writer reserves its bytes with one
 * atomic add of the record's size. The add returns sub-buffer and offset together, so a writer that
 * is interrupted or preempted afterwards cannot mistake a later use of the same memory for its own.
 * Sub-buffer `seq` is in slot seq % N. The first sub-buffer is number 1; the position of a new ring
 * is the end of an imaginary full sub-buffer 0.
 *
 * Completion. header.commit only grows. Each writer adds the bytes that it reserved, the opener
 * also adds the header, and the writer that finds too little room adds the rest. These are S bytes
 * in all per use. So use number seq / N of a slot is complete when the low 40 bits of commit equal
 * (seq / N + 1) * S, and commit is never reset. The upper 24 bits count records.
 *
 * Example. N = 4, S = 16384, position = (7 << 26) | 16304. Sub-buffer 7 is in slot 3, as use number
 * 1 of it (use 0 was sub-buffer 3).
 * - Writer A adds 40. The add returns offset 16304, and 16304 + 40 <= 16384, so A writes its record
 *   there and adds 40 to commit.
 * - Writer B adds 48. The add returns offset 16344, and 16344 + 48 > 16384: B's add crossed the
 *   end, so B closes sub-buffer 7. B stores header.end = 16344 and adds 16384 - 16344 = 40 to
 *   commit.
 * - When A and B have both committed, in either order, commit is (7 / 4 + 1) * 16384 = 32768:
 *   complete.
 * - B opens sub-buffer 8 in slot 0: its compare-and-swap moves position to (8 << 26) | (64 + 48),
 *   which reserves the header and B's own record. This succeeds only if slot 0 is free: its last
 *   use is complete, and the consumer has released it (or the ring overwrites).
 *
 * Blocks. In a program's ring the opener can reserve the rest of a sub-buffer, a block, for the
 * writers of that CPU. They append to it without a locked instruction; control.block says how far
 * the block is filled. The thread or consumer that closes the block stores the sub-buffer's end and
 * adds the whole block to commit.
 *
 * tracer/CONCURRENCY.md says which operations may run concurrently, pairs the barriers, and lists
 * how each was checked.
 */
#include <trace/events.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SUBBUF_OFFSET_BITS   26
#define SUBBUF_OFFSET_MASK   ((1ULL << SUBBUF_OFFSET_BITS) - 1)
#define SUBBUF_MIN_BYTES     (16u << 10)
#define SUBBUF_MAX_BYTES     (16u << 20)
#define SUBBUF_COMMIT_RECORD (1ULL << 40) /* one record in the upper bits of commit */
#define SUBBUF_COMMIT_MASK   (SUBBUF_COMMIT_RECORD - 1)
#define SUBBUF_CONTROL_BYTES 4096u
/* The fields of control.block: the offset of the next record in its sub-buffer, the low bits of the
 * sub-buffer's number (enough, because a ring has fewer sub-buffers), and the number of records in
 * the block. */
#define SUBBUF_BLOCK_SEQ_SHIFT	   32
#define SUBBUF_BLOCK_SEQ_MASK	   0xfffu
#define SUBBUF_BLOCK_RECORDS_SHIFT 44
#define SUBBUF_BLOCK_NONE	   (1ULL << 31) /* no sub-buffer has this offset, even after additions */
#define SUBBUF_DEFERRED_PATH_BYTES 1920
/* A preliminary header has id 0 and this time: the bytes are reserved, but the record is not
 * written yet. Padding has time 0. */
#define SUBBUF_TIME_PRELIMINARY 1u

enum subbuf_producer {
	SUBBUF_PRODUCER_KERNEL = 0,
	SUBBUF_PRODUCER_USER = 1,
};

enum subbuf_clock {
	SUBBUF_CLOCK_MONOTONIC = 0, /* ns of the host's CLOCK_MONOTONIC */
	SUBBUF_CLOCK_TSC = 1,	    /* ticks of the invariant TSC */
};

enum subbuf_flag {
	/* The opener was delayed so long that the times of records written meanwhile may be wrong
	 * by 2^32 ns. */
	SUBBUF_FLAG_TIME_SUSPECT = 1,
};

/**
 * struct subbuf_header - the first 64 bytes of a sub-buffer
 * @seq: number of the sub-buffer in its ring, from 1. Written by the opener.
 * @base: full time of the opening. No record of the sub-buffer is earlier, none is 2^32 ns later.
 *     Written by the opener.
 * @lost: events discarded in this ring before the sub-buffer was opened, in total. Opener.
 * @records_ever: records that all earlier uses of this slot committed: the 24 bits of commit
 *     without their wrapping. The opener writes it in one store, so @records_ever and @commit are
 *     consistent at any moment: see subbuf_records_before().
 * @commit: bytes (low 40 bits) and records (upper 24 bits) committed in this slot, in total.
 *     Written by every writer with an atomic add.
 * @records_before: the upper 24 bits of commit at the opening. Opener.
 * @end: bytes in use, this header included. Written by the closer before its last add to commit.
 * @cpu, @producer, @clock, @flags: CPU and producer of the ring, and its clock. Opener.
 * @base_ns: CLOCK_MONOTONIC of the host at @base; 0: not known. Written by the opener in an
 *     overwriting ring of a program that counts ticks.
 */
struct subbuf_header {
	trace_u64 seq;
	trace_u64 base;
	trace_u64 lost;
	trace_u64 records_ever;
	trace_u64 commit;
	trace_u32 records_before;
	trace_u32 end;
	trace_u32 cpu;
	trace_u16 producer;
	trace_u8 clock;
	trace_u8 flags;
	trace_u64 base_ns;
};

/**
 * struct subbuf_control - the page before the sub-buffers
 * Producers write the first three groups, the consumer writes the next; the rest is set up once.
 */
struct subbuf_control {
	/* producers */
	trace_u64 position; /* (seq << 26) | offset; atomic add and compare-and-swap */
	/* The kernel's rings: the deferred entry of a system call, and the record that a call's
	 * exit is writing (tracer/kernel/deferred.h). */
	/* its time; 0: none is deferred; DEFERRED_BUSY, DEFERRED_TAKEN: a program records it */
	trace_u64 deferred_ns;
	trace_u64 deferred_thread; /* its thread: no two threads have the same value at the same time */
	trace_u64 deferred_call;   /* the first word of struct trace_sys_enter */
	/* event id - TRACE_EV_sys_enter, DEFERRED_MORE; << 8: bytes of deferred_path, 0: none */
	trace_u64 deferred_kind;
	trace_u64 tail_reserved; /* bytes that an exit is reserving at the position; 0: none */
	trace_u64 shadow;	 /* the position for programs that interrupted that exit; 0: none did */
	/* of records of calls: bytes, events << 26, low bits of the sub-buffer's number << 50 */
	trace_u64 uncommitted;
	trace_u64 deferred_args[6];
	trace_u64 nr_flushed;	/* deferred entries that another program than their exit recorded */
	trace_u64 shadow_begin; /* first value of @shadow */
	/* rarely written */
	trace_u64 discarded;   /* events that found no room; atomic add */
	trace_u64 overwritten; /* records of sub-buffers that were reused before a consumer took them; opener */
	trace_u64 filtered;    /* events of this CPU that the filters refused; atomic add */
	/* Programs' rings: the block. Written on its CPU, by writers in a restartable sequence or
	 * by the consumer while it runs there. */
	trace_u64 block;
	trace_u64 block_begin;	/* its offset in its sub-buffer; written while no block is open */
	trace_u64 block_moving; /* the block that the program is opening or closing; 0: none */
	trace_u64 pad0[2];
	/* consumer */
	trace_u64 consumed; /* every sub-buffer up to this one may be reused; store-release */
	trace_u64 flushing; /* position at which subbuf_flush() is closing the sub-buffer; 0: none */
	trace_u64 wake_at;  /* the kernel's rings: number of full sub-buffers that wakes the consumer */
	/* block that subbuf_flush_block() is closing; 0: none. The next word: where it began */
	trace_u64 flushing_block;
	trace_u64 flushing_block_begin;
	trace_u64 pad2[3];
	/* set up before the first record */
	trace_u32 subbuf_bytes;
	trace_u32 nr_subbufs;
	trace_u32 overwrite; /* full: 0 discard, 1 overwrite the oldest; programs' rings use user_memory.overwrite */
	trace_u32 cpu;
	trace_u32 producer;
	trace_u32 clock;
	/* the kernel's rings, set up later */
	/* address of the CPU's run queue, for finding the current thread; 0: not known */
	trace_u64 run_queue;
	trace_u64 stolen_before; /* 1 + the CPU's steal time at the last thread switch, ns; 0: not known yet */
	trace_u32 defers;	 /* may BPF programs defer entries of system calls? */
	trace_u32 pad3;
	trace_u64 pad4[2];
	/* the kernel's rings: the path of the deferred entry */
	char deferred_path[SUBBUF_DEFERRED_PATH_BYTES];
};

#if !defined(__bpf__) && !defined(__BPF__)
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/**
 * struct subbuf_ring - a consumer's view of a ring
 * @control: borrowed; the ring in shared memory
 * @data: slot 0 of the ring
 * @subbuf_bytes, @nr_subbufs: the consumer's own copy, because a producer can write the shared one
 */
struct subbuf_ring {
	struct subbuf_control *control;
	unsigned char *data;
	trace_u32 subbuf_bytes;
	trace_u32 nr_subbufs;
};

/** subbuf_ring_bytes() - size in bytes of a ring, control page included */
static inline size_t subbuf_ring_bytes(trace_u32 subbuf_bytes, trace_u32 nr_subbufs)
{
	return SUBBUF_CONTROL_BYTES + (size_t)subbuf_bytes * nr_subbufs;
}

/** subbuf_slot() - the slot of sub-buffer @seq */
static inline struct subbuf_header *subbuf_slot(const struct subbuf_ring *ring, trace_u64 seq)
{
	return (struct subbuf_header *)(ring->data + (size_t)(seq & (ring->nr_subbufs - 1)) * ring->subbuf_bytes);
}

/** subbuf_commit_target() - the low 40 bits of commit when sub-buffer @seq is complete */
static inline trace_u64 subbuf_commit_target(trace_u32 subbuf_bytes, trace_u32 nr_subbufs, trace_u64 seq)
{
	return (seq / nr_subbufs + 1) * subbuf_bytes;
}

/**
 * subbuf_complete() - may sub-buffer @seq be read?
 * The acquire load is [R1]; it pairs with [W2], the last writer's add to commit in
 * tracer/subbuf_write.h.
 */
static inline bool subbuf_complete(const struct subbuf_ring *ring, trace_u64 seq)
{
	const struct subbuf_header *header = subbuf_slot(ring, seq);
	trace_u64 commit = __atomic_load_n(&header->commit, __ATOMIC_ACQUIRE); /* [R1] */
	trace_u64 target = subbuf_commit_target(ring->subbuf_bytes, ring->nr_subbufs, seq);

	return ((commit - target) & SUBBUF_COMMIT_MASK) == 0;
}

/**
 * subbuf_records() - number of records in the complete sub-buffer @header, as its writers counted
 * them
 */
static inline trace_u32 subbuf_records(const struct subbuf_ring *ring, const struct subbuf_header *header)
{
	trace_u64 target = subbuf_commit_target(ring->subbuf_bytes, ring->nr_subbufs, header->seq);
	trace_u64 commit = __atomic_load_n(&header->commit, __ATOMIC_RELAXED);

	return (trace_u32)(((commit - target) >> 40) - header->records_before) & 0xffffff;
}

/**
 * struct subbuf_count - number of records that sub-buffers committed
 * @exact: all of these sub-buffers were complete, and none was reopened too early
 */
struct subbuf_count {
	trace_u64 records;
	bool exact;
};

/**
 * subbuf_records_before() - number of records of the ring in all sub-buffers before @seq, kept or
 * not
 * Safe while writers run, as long as they have not passed @seq - 1 + N. Once @seq is closed the
 * count does not change.
 * The count is not @exact while a writer is inside one of the N sub-buffers before @seq, or has
 * just opened the slot of one of them. A later call may be exact. If a writer died while it opened
 * such a slot, the count may include records of that later use.
 */
static inline struct subbuf_count subbuf_records_before(const struct subbuf_ring *ring, trace_u64 seq)
{
	trace_u64 nr = ring->nr_subbufs;
	struct subbuf_count count = {0, true};

	for (trace_u64 use = seq > nr ? seq - nr : 1; use < seq; use++) {
		const struct subbuf_header *header = subbuf_slot(ring, use);
		trace_u64 now = __atomic_load_n(&header->seq, __ATOMIC_ACQUIRE); /* [R3] */
		trace_u64 ever = __atomic_load_n(&header->records_ever, __ATOMIC_RELAXED), commit;

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		commit = __atomic_load_n(&header->commit, __ATOMIC_ACQUIRE);
		count.records += ever;
		if (now > use) /* @ever was stored by a later opening of the slot, so it includes this use */
			continue;
		count.records += (((commit - use / nr * ring->subbuf_bytes) >> 40) - ever) & 0xffffff;
		count.exact &= now == use &&
			       ((commit - subbuf_commit_target(ring->subbuf_bytes, ring->nr_subbufs, use)) &
				SUBBUF_COMMIT_MASK) == 0;
	}
	count.exact &= (__atomic_load_n(&ring->control->position, __ATOMIC_ACQUIRE) >> SUBBUF_OFFSET_BITS) < seq + nr;
	return count;
}

/**
 * subbuf_take() - the next complete sub-buffer of a ring in discard mode
 * @ring: one consumer at a time
 * Returns the sub-buffer in place, borrowed until subbuf_release(); NULL when none is complete.
 */
static inline const struct subbuf_header *subbuf_take(const struct subbuf_ring *ring)
{
	trace_u64 seq = ring->control->consumed + 1; /* written by the consumer only */
	trace_u64 position = __atomic_load_n(&ring->control->position, __ATOMIC_ACQUIRE);

	if ((position >> SUBBUF_OFFSET_BITS) < seq || !subbuf_complete(ring, seq))
		return NULL;
	return subbuf_slot(ring, seq);
}

/**
 * subbuf_release() - give the sub-buffer that subbuf_take() returned back to the producers
 * [W4] pairs with [R4], the opener's load of consumed: all our reads of the sub-buffer come before
 * its next use.
 */
static inline void subbuf_release(const struct subbuf_ring *ring)
{
	__atomic_store_n(&ring->control->consumed, ring->control->consumed + 1, __ATOMIC_RELEASE); /* [W4] */
}

static inline bool subbuf_block_is_open(trace_u64 block)
{
	return (trace_u32)block >= sizeof(struct subbuf_header) && (trace_u32)block <= SUBBUF_MAX_BYTES;
}

/**
 * subbuf_block_seq() - the number of a block's sub-buffer: the newest one in the ring with these
 * low bits
 */
static inline trace_u64 subbuf_block_seq(const struct subbuf_ring *ring, trace_u64 block)
{
	trace_u64 newest = __atomic_load_n(&ring->control->position, __ATOMIC_ACQUIRE) >> SUBBUF_OFFSET_BITS;

	return newest - ((newest - (block >> SUBBUF_BLOCK_SEQ_SHIFT)) & SUBBUF_BLOCK_SEQ_MASK);
}

/* The sub-buffer that the program is filling through a block, or is about to; 0: none. */
static inline trace_u64 subbuf_block_in_use(const struct subbuf_ring *ring)
{
	/* Load in this order: a block that is being opened is in block_moving until it is in
	 * block. */
	trace_u64 moving = __atomic_load_n(&ring->control->block_moving, __ATOMIC_ACQUIRE),
		  block = __atomic_load_n(&ring->control->block, __ATOMIC_ACQUIRE);

	if (!subbuf_block_is_open(block))
		block = moving;
	return subbuf_block_is_open(block) ? subbuf_block_seq(ring, block) : 0;
}

/**
 * subbuf_flush() - close the sub-buffer in use, so that subbuf_take() can deliver its records
 * Safe while producers are writing; only one flush at a time. If the caller dies halfway, the
 * sub-buffer stays incomplete until the next consumer calls subbuf_finish_flush().
 * Returns true if it closed a sub-buffer; false if none was open. The sub-buffer may still be
 * incomplete, because a writer is in the middle of its record.
 */
static inline bool subbuf_flush(const struct subbuf_ring *ring)
{
	struct subbuf_control *control = ring->control;
	volatile trace_u64 *flushing = &control->flushing; /* no producer reads it */
	trace_u64 position = __atomic_load_n(&control->position, __ATOMIC_RELAXED);
	trace_u64 offset, closed;
	struct subbuf_header *header;

	do {
		offset = position & SUBBUF_OFFSET_MASK;
		if (offset >= ring->subbuf_bytes) {
			*flushing = 0;
			return false; /* closed already */
		}
		*flushing = position;
		closed = (position & ~SUBBUF_OFFSET_MASK) | ring->subbuf_bytes;
	} while (!__atomic_compare_exchange_n(&control->position, &position, closed, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	header = subbuf_slot(ring, position >> SUBBUF_OFFSET_BITS);
	__atomic_store_n(&header->end, (trace_u32)offset, __ATOMIC_RELAXED);
	__atomic_fetch_add(&header->commit, ring->subbuf_bytes - offset, __ATOMIC_RELEASE); /* [W2] */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*flushing = 0;
	return true;
}

/**
 * subbuf_finish_flush() - complete the flush of a consumer that died in subbuf_flush()
 * @sure: attribute missing bytes to the dead consumer; see below
 * The next consumer calls this before its own first flush. If the dead consumer had closed the
 * sub-buffer, it owed commit all bytes from that offset to the end. When all writers have left,
 * exactly those bytes are missing in commit. If a record is at that offset, a writer got there
 * first and the consumer had closed nothing.
 * A writer that is still inside, with exactly as many bytes reserved, cannot be distinguished from
 * the dead consumer. So the caller first repeats the call for a while with @sure false, and makes
 * the last call with @sure true.
 * Returns true when nothing is left to do; false: not yet, because writers are inside.
 */
static inline bool subbuf_finish_flush(const struct subbuf_ring *ring, bool sure)
{
	struct subbuf_control *control = ring->control;
	volatile trace_u64 *flushing = &control->flushing;
	trace_u64 from = *flushing, position = __atomic_load_n(&control->position, __ATOMIC_ACQUIRE),
		  seq = from >> SUBBUF_OFFSET_BITS, missing;
	trace_u32 offset = (trace_u32)(from & SUBBUF_OFFSET_MASK);
	struct subbuf_header *header = subbuf_slot(ring, seq);
	struct trace_record record;

	if (from == 0)
		return true;
	if (subbuf_block_in_use(ring) == seq) { /* a program closed it there, to take the rest as a block */
		*flushing = 0;
		return true;
	}
	missing = (subbuf_commit_target(ring->subbuf_bytes, ring->nr_subbufs, seq) -
		   __atomic_load_n(&header->commit, __ATOMIC_ACQUIRE)) &
		  SUBBUF_COMMIT_MASK;
	if (offset >= sizeof(*header) && offset < ring->subbuf_bytes && position >= from && missing != 0 &&
	    missing <= ring->subbuf_bytes &&
	    !(position >> SUBBUF_OFFSET_BITS == seq && (position & SUBBUF_OFFSET_MASK) < ring->subbuf_bytes)) {
		memcpy(&record, (const unsigned char *)header + offset, sizeof(record));
		if (missing != ring->subbuf_bytes - offset ||
		    (record.words != 0 && record.lap == (trace_u8)(seq / ring->nr_subbufs)) || !sure)
			return false;
		__atomic_store_n(&header->end, offset, __ATOMIC_RELAXED);
		__atomic_fetch_add(&header->commit, missing, __ATOMIC_RELEASE); /* [W2] */
	}
	*flushing = 0;
	return true;
}

/* ---- blocks of programs ---- */

/* A program may store anything in these words. */
static inline bool subbuf_block_is_sane(const struct subbuf_ring *ring, trace_u64 block, trace_u64 begin)
{
	trace_u32 end = (trace_u32)block;

	return begin >= sizeof(struct subbuf_header) && begin <= end && end <= ring->subbuf_bytes && begin % 8 == 0 &&
	       end % 8 == 0;
}

/**
 * subbuf_block_close() - commit the records in @block to its sub-buffer and close the sub-buffer
 * @begin: offset of the block. The caller has detached the block, so no writer can still append to
 *     it.
 */
static inline void subbuf_block_close(const struct subbuf_ring *ring, trace_u64 block, trace_u64 begin)
{
	struct subbuf_header *header = subbuf_slot(ring, subbuf_block_seq(ring, block));
	trace_u32 end = (trace_u32)block;

	/* A writer that was preempted in mid-record may have left bytes here that look like a
	 * record's header: end the list of records with a zero word. */
	if (end < ring->subbuf_bytes)
		__atomic_store_n((trace_u64 *)(void *)((unsigned char *)header + end), 0, __ATOMIC_RELAXED);
	__atomic_store_n(&header->end, end, __ATOMIC_RELAXED);
	/* [W2] */
	__atomic_fetch_add(&header->commit,
			   ring->subbuf_bytes - begin + (block >> SUBBUF_BLOCK_RECORDS_SHIFT) * SUBBUF_COMMIT_RECORD,
			   __ATOMIC_RELEASE);
}

/**
 * subbuf_flush_block() - close the block, so that subbuf_take() can deliver its records
 * Call this only on the ring's CPU: then any writer that was in mid-record there has been
 * preempted, and its sequence will restart. One flush at a time; subbuf_flush() is to follow.
 * Returns true if it closed a block.
 */
static inline bool subbuf_flush_block(const struct subbuf_ring *ring)
{
	struct subbuf_control *control = ring->control;
	volatile trace_u64 *flushing = &control->flushing_block; /* no producer reads it */
	trace_u64 block = __atomic_load_n(&control->block, __ATOMIC_ACQUIRE), begin;

	do {
		begin = __atomic_load_n(&control->block_begin, __ATOMIC_ACQUIRE);
		if (!subbuf_block_is_open(block) || !subbuf_block_is_sane(ring, block, begin)) {
			*flushing = 0;
			return false;
		}
		control->flushing_block_begin = begin;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		*flushing = block;
	} while (!__atomic_compare_exchange_n(&control->block, &block, SUBBUF_BLOCK_NONE, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	subbuf_block_close(ring, block, begin);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*flushing = 0;
	return true;
}

/* Are exactly the bytes of @block and the rest of its sub-buffer missing in commit? */
static inline bool subbuf_block_is_missing(const struct subbuf_ring *ring, trace_u64 block, trace_u64 begin)
{
	trace_u64 seq = subbuf_block_seq(ring, block);
	trace_u64 commit = __atomic_load_n(&subbuf_slot(ring, seq)->commit, __ATOMIC_ACQUIRE);

	return subbuf_block_is_sane(ring, block, begin) && seq > 0 &&
	       ((subbuf_commit_target(ring->subbuf_bytes, ring->nr_subbufs, seq) - commit) & SUBBUF_COMMIT_MASK) ==
		       ring->subbuf_bytes - begin;
}

/**
 * subbuf_finish_flush_block() - complete the flush of a consumer that died in subbuf_flush_block()
 * @sure: as for subbuf_finish_flush(): the missing bytes may be those of a writer that is still
 *     inside, unless the caller has waited long enough
 * Returns true when nothing is left to do. Returns false, even if @sure, while the program itself
 * is opening or closing that block.
 */
static inline bool subbuf_finish_flush_block(const struct subbuf_ring *ring, bool sure)
{
	struct subbuf_control *control = ring->control;
	volatile trace_u64 *flushing = &control->flushing_block;
	trace_u64 block = *flushing, begin = control->flushing_block_begin, moving, now, seq;

	if (subbuf_block_is_open(block)) {
		/* Load in this order: a program announces the block in block_moving before it
		 * detaches it, and until it has closed it. */
		now = __atomic_load_n(&control->block, __ATOMIC_ACQUIRE);
		moving = __atomic_load_n(&control->block_moving, __ATOMIC_ACQUIRE);
		seq = subbuf_block_seq(ring, block);
		if (subbuf_block_is_open(now) && subbuf_block_seq(ring, now) == seq) {
			*flushing = 0; /* the dead consumer had not detached it */
			return true;
		}
		if (subbuf_block_is_open(moving) && subbuf_block_seq(ring, moving) == seq)
			return false;
		if (!sure && !subbuf_complete(ring, seq))
			return false;
		if (subbuf_block_is_missing(ring, block, begin))
			subbuf_block_close(ring, block, begin);
	}
	*flushing = 0;
	return true;
}

/**
 * subbuf_reap_block() - release the block of a dead program: close it if it was open, or if the
 * program died while opening or closing it
 * Call this before subbuf_salvage().
 */
static inline void subbuf_reap_block(const struct subbuf_ring *ring)
{
	struct subbuf_control *control = ring->control;
	trace_u64 block = control->block, moving = control->block_moving, begin = control->block_begin;

	control->block = SUBBUF_BLOCK_NONE;
	control->block_moving = 0;
	if (subbuf_block_is_open(block)) {
		if (subbuf_block_is_sane(ring, block, begin))
			subbuf_block_close(ring, block, begin);
	} else if (subbuf_block_is_open(moving) && subbuf_block_is_missing(ring, moving, begin)) {
		subbuf_block_close(ring, moving, begin);
	}
}

/**
 * subbuf_newest_closed() - the newest sub-buffer such that no writer adds to it or to any before it
 * A writer may already have opened later ones. With blocks the result can be smaller than the
 * position suggests.
 */
static inline trace_u64 subbuf_newest_closed(const struct subbuf_ring *ring)
{
	trace_u64 position = __atomic_load_n(&ring->control->position, __ATOMIC_ACQUIRE),
		  in_use = subbuf_block_in_use(ring);
	trace_u64 closed = (position >> SUBBUF_OFFSET_BITS) - ((position & SUBBUF_OFFSET_MASK) < ring->subbuf_bytes);

	return in_use > 0 && in_use <= closed ? in_use - 1 : closed;
}

/**
 * subbuf_keep() - stop overwriting: from now on writers reuse a sub-buffer only after its release
 * The consumer need not read the records that the ring holds already.
 * Precondition: the caller switched overwriting off, followed by a full barrier [W5], and the
 * writers check the switch before they open a sub-buffer [R5]. A writer that still saw it on had
 * loaded `position` before that, so its compare-and-swap succeeds only if `position` has not moved
 * since. Then `position` is as we find it here, and its next sub-buffer may be opened in either
 * mode.
 * Called by the consumer, not between subbuf_take() and subbuf_release(). It flushes.
 */
static inline void subbuf_keep(const struct subbuf_ring *ring)
{
	subbuf_flush(ring);
	/* A sub-buffer that writers have already reopened must be read. */
	__atomic_store_n(&ring->control->consumed, subbuf_newest_closed(ring), __ATOMIC_RELEASE);
}

/**
 * subbuf_ring_init() - set up a ring in zeroed memory, before the caller writes to it
 * Several threads may do this at once with the same arguments. All store the same constants, and
 * move the three words that change later only from 0. So no thread has to wait for another.
 */
static inline void subbuf_ring_init(struct subbuf_ring *ring, void *memory, trace_u32 subbuf_bytes,
				    trace_u32 nr_subbufs, trace_u32 cpu, enum subbuf_producer producer,
				    enum subbuf_clock clock, bool overwrite)
{
	struct subbuf_control *control = (struct subbuf_control *)memory;
	trace_u64 none = 0;

	ring->control = control;
	ring->data = (unsigned char *)memory + SUBBUF_CONTROL_BYTES;
	ring->subbuf_bytes = subbuf_bytes;
	ring->nr_subbufs = nr_subbufs;
	__atomic_store_n(&control->subbuf_bytes, subbuf_bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&control->nr_subbufs, nr_subbufs, __ATOMIC_RELAXED);
	__atomic_store_n(&control->overwrite, overwrite, __ATOMIC_RELAXED);
	__atomic_store_n(&control->cpu, cpu, __ATOMIC_RELAXED);
	__atomic_store_n(&control->producer, producer, __ATOMIC_RELAXED);
	__atomic_store_n(&control->clock, clock, __ATOMIC_RELAXED);
	__atomic_compare_exchange_n(&control->block, &none, SUBBUF_BLOCK_NONE, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	none = 0;
	/* The imaginary sub-buffer 0 is complete. */
	__atomic_compare_exchange_n(&subbuf_slot(ring, 0)->commit, &none, subbuf_bytes, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
	none = 0;
	__atomic_compare_exchange_n(&control->position, &none, (trace_u64)subbuf_bytes, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
}
/**
 * struct subbuf_salvaged - what subbuf_salvage() found in a sub-buffer that its writers, now dead,
 * left incomplete
 * @records: complete records
 * @lost: committed records that several holes hide: all records after the first of these holes
 * @in_flight: reservations with an unfinished record, as far as the bytes show. A signal
 *     handler that dies with the thread that it interrupted leaves two. Adjacent holes, or a hole
 *     at the very end, can look like one or none.
 * @hole_bytes: total size of those reservations
 * @opened: the header is of this use. If not (the opener died at once), base, lost, cpu and so on
 *     are of an earlier use. Then, with several holes, the number of records is only what the bytes
 *     show, except in a slot that was never used before.
 */
struct subbuf_salvaged {
	trace_u32 records;
	trace_u32 lost;
	trace_u32 in_flight;
	trace_u32 hole_bytes;
	bool opened;
};

/* Read the header at @offset. Returns true if it can be the header of a record of use @lap. */
static inline bool subbuf_salvage_record(const unsigned char *copy, trace_u32 offset, trace_u32 limit, trace_u8 lap,
					 trace_u32 max_ids, struct trace_record *ret_record)
{
	memcpy(ret_record, copy + offset, sizeof(*ret_record));
	return ret_record->lap == lap && ret_record->words != 0 && ret_record->words * 8u <= limit - offset &&
	       ret_record->id < max_ids && (ret_record->id != 0 || ret_record->time <= SUBBUF_TIME_PRELIMINARY);
}

static inline void subbuf_salvage_pad(unsigned char *copy, trace_u32 offset, trace_u32 end, trace_u8 lap)
{
	while (offset < end) {
		trace_u32 words = (end - offset) / 8 < 255 ? (end - offset) / 8 : 255;
		struct trace_record padding = {0, 0, (trace_u8)words, lap};

		memcpy(copy + offset, &padding, sizeof(padding));
		offset += words * 8;
	}
}

#define SUBBUF_ANY_NUMBER (~0u) /* the opener died before it stored records_before: only the bytes show it */

/* There is one hole of unknown size, at @offset. Find the offset after it from which records follow
 * without a gap to @end, such that they are @records in number and @bytes in size. With
 * @is_open_end they may also end earlier, where no record's header follows. Returns 0 if no offset
 * fits.
 * The hole may contain bytes that look like records, such as the dead writer's payload; but one
 * record too many makes the sums wrong. */
static inline trace_u32 subbuf_salvage_exactly(const unsigned char *copy, trace_u32 offset, trace_u32 missing,
					       trace_u32 end, trace_u8 lap, trace_u32 max_ids, trace_u64 bytes,
					       trace_u32 records, bool is_open_end, trace_u32 *budget)
{
	trace_u32 last = missing < end - offset ? offset + missing : end;
	struct trace_record record;

	for (trace_u32 at = offset + 8; at <= last; at += 8) {
		trace_u32 next = at, whole = 0, nr = 0;

		for (; next < end && *budget && subbuf_salvage_record(copy, next, end, lap, max_ids, &record);
		     --*budget) {
			if (record.id != 0 || record.time == 0)
				whole += record.words * 8u;
			nr += record.id != 0;
			next += record.words * 8u;
		}
		if (!*budget || !--*budget)
			return 0;
		if (whole == bytes && (nr == records || records == SUBBUF_ANY_NUMBER) &&
		    (next == end || (is_open_end && whole)))
			return at;
	}
	return 0;
}

/*
 * The walk of subbuf_salvage() over the bytes of a copy.
 * @limit: end of the bytes that writers reserved. @offset: the next byte to look at
 * @committed: bytes; @nr: committed records, or SUBBUF_ANY_NUMBER
 * @found: bytes found of those that were committed; the opener commits the header
 * @rest: the rest that the closer committed in one piece
 * @missing: bytes that no writer committed, not found yet
 * @budget: how many more headers the search for the end of a hole may read
 */
struct subbuf_salvage_walk {
	unsigned char *bytes;
	trace_u64 committed;
	trace_u32 limit, offset, nr, found, rest, missing, budget, max_ids;
	trace_u8 lap;
	bool is_closed, opener_died;
	struct subbuf_salvaged salvaged;
};

/* Set the walk's limit. Returns false if no writer reserved anything. */
static inline bool subbuf_salvage_limit(struct subbuf_salvage_walk *walk, trace_u32 subbuf_bytes, trace_u64 seq,
					trace_u64 position)
{
	walk->limit = subbuf_bytes;
	if (position >> SUBBUF_OFFSET_BITS < seq)
		return false;
	if (position >> SUBBUF_OFFSET_BITS == seq && (position & SUBBUF_OFFSET_MASK) < subbuf_bytes)
		/* still open: all bytes before the position were reserved */
		walk->limit = position & SUBBUF_OFFSET_MASK & ~7u;
	walk->is_closed = walk->limit == subbuf_bytes;
	return walk->limit >= sizeof(struct subbuf_header);
}

/* Set what the header of the sub-buffer tells; @before: commit count at the begin of its use. */
static inline void subbuf_salvage_begin(struct subbuf_salvage_walk *walk, trace_u32 subbuf_bytes, trace_u64 seq,
					trace_u64 before)
{
	const struct subbuf_header *header = (const struct subbuf_header *)walk->bytes;
	bool is_counted;

	walk->salvaged.opened = header->seq == seq;
	walk->offset = sizeof(*header);
	walk->budget = subbuf_bytes;
	walk->committed = (header->commit - before) & SUBBUF_COMMIT_MASK;
	walk->found = walk->salvaged.opened ? sizeof(*header) : 0;
	walk->missing = walk->committed < walk->limit ? walk->limit - (trace_u32)walk->committed : 0;
	/* The number of records is known for a slot that was never used before, too. Openers die
	 * there most easily, because the kernel still has to allocate the memory. */
	is_counted = walk->salvaged.opened || header->seq == 0;
	walk->nr = is_counted ? (trace_u32)(((header->commit - before) >> 40) - header->records_before) & 0xffffff
			      : SUBBUF_ANY_NUMBER;
	/* If the closer died before it committed the rest, the sums will not match. */
	if (walk->is_closed && header->end >= sizeof(*header) && header->end < subbuf_bytes && header->end % 8 == 0)
		walk->rest = subbuf_bytes - header->end;
}

/* Step over @bytes that no writer committed, and make padding of them. */
static inline void subbuf_salvage_uncommitted(struct subbuf_salvage_walk *walk, trace_u32 bytes)
{
	walk->salvaged.in_flight++;
	walk->salvaged.hole_bytes += bytes;
	walk->missing -= bytes < walk->missing ? bytes : walk->missing;
	subbuf_salvage_pad(walk->bytes, walk->offset, walk->offset + bytes, walk->lap);
	walk->offset += bytes;
}

/* Step over a record, padding or a preliminary header. Returns false at a hole. */
static inline bool subbuf_salvage_step(struct subbuf_salvage_walk *walk)
{
	struct trace_record record;
	trace_u32 bytes;

	if (!subbuf_salvage_record(walk->bytes, walk->offset, walk->limit, walk->lap, walk->max_ids, &record))
		return false;
	bytes = record.words * 8u;
	if (record.id == 0 && record.time != 0) {
		walk->opener_died |= walk->offset == sizeof(struct subbuf_header);
		subbuf_salvage_uncommitted(walk, bytes);
		return true;
	}
	walk->salvaged.records += record.id != 0;
	walk->found += bytes;
	walk->offset += bytes;
	return true;
}

/* Is the offset at the end of all records? @left: committed records that were not found yet */
static inline bool subbuf_salvage_is_end(const struct subbuf_salvage_walk *walk, trace_u32 left)
{
	trace_u64 all = walk->found + (trace_u64)(walk->limit - walk->offset);

	if (!walk->is_closed)
		return false;
	if (left == 0 && walk->salvaged.records > walk->nr && walk->committed < all)
		return true; /* complete records; their writers died before they committed them */
	/* the rest, which the closer committed in one piece */
	return (left == 0 || left == SUBBUF_ANY_NUMBER) &&
	       (walk->committed == all || (walk->opener_died && walk->committed + sizeof(struct subbuf_header) == all));
}

/* Find the offset at which records go on after the hole; 0: the sums do not tell. */
static inline trace_u32 subbuf_salvage_hole_end(struct subbuf_salvage_walk *walk, trace_u32 left)
{
	trace_u32 exact = 0, end = walk->limit - walk->rest;

	if (walk->missing && walk->committed >= walk->found + walk->rest && walk->offset < end)
		exact = subbuf_salvage_exactly(walk->bytes, walk->offset, walk->missing, end, walk->lap, walk->max_ids,
					       walk->committed - walk->found - walk->rest, left, false, &walk->budget);
	if (walk->missing && walk->committed >= walk->found && !exact && walk->is_closed) /* the closer died, too */
		exact = subbuf_salvage_exactly(walk->bytes, walk->offset, walk->missing, walk->limit, walk->lap,
					       walk->max_ids, walk->committed - walk->found, left, true, &walk->budget);
	return exact;
}

/*
 * Count what a hole without a known end hides. If nothing after the hole was committed, it is the
 * rest that the closer did not commit, or the end, which may hold one unfinished record.
 */
static inline void subbuf_salvage_give_up(struct subbuf_salvage_walk *walk, trace_u32 left)
{
	struct subbuf_salvaged *salvaged = &walk->salvaged;

	if (left == SUBBUF_ANY_NUMBER) /* count them as one */
		left = walk->committed > walk->found + walk->rest;
	salvaged->lost = left <= (walk->limit - walk->offset) / sizeof(struct trace_record) ? left : 0;
	salvaged->in_flight += salvaged->lost != 0 || salvaged->in_flight == 0 || !walk->is_closed;
	salvaged->hole_bytes += walk->is_closed && !salvaged->lost ? 0 : walk->limit - walk->offset;
}

/* Step over the hole at the offset. Returns false at the end of what can be salvaged. */
static inline bool subbuf_salvage_hole(struct subbuf_salvage_walk *walk)
{
	trace_u32 records = walk->salvaged.records, left = walk->nr, exact;

	if (left != SUBBUF_ANY_NUMBER)
		left = left > records ? left - records : 0;
	if (subbuf_salvage_is_end(walk, left))
		return false;
	exact = subbuf_salvage_hole_end(walk, left);
	if (!exact) {
		subbuf_salvage_give_up(walk, left);
		return false;
	}
	subbuf_salvage_uncommitted(walk, exact - walk->offset);
	return true;
}

/**
 * subbuf_salvage() - repair a copy of a sub-buffer that stays incomplete because the program that
 * wrote it is dead
 * @copy: @subbuf_bytes of private memory, with any content
 * @seq: its number, > consumed. @position: the ring's control.position, read once
 * @max_ids: record ids are smaller
 * Afterwards @copy reads like a complete sub-buffer: seq and end are right, and only records and
 * padding are between header and end. The commit count is left as it is; *@ret_salvaged has the
 * counts. Do not call this for a ring with living writers.
 * Returns false, and leaves @copy alone, when no writer ever reserved anything there.
 *
 * A writer stores a preliminary header right after it reserved; salvage steps over it. Only a
 * writer that died in the few instructions between the two leaves a hole of unknown size. If there
 * is one such hole, commit shows where records continue after it, because commit has the number of
 * records and of bytes. If there are several, or if another writer died after it wrote its header
 * and before it committed, these sums are not enough. Then salvage counts the records after the
 * first hole as lost.
 */
static inline bool subbuf_salvage(void *copy, trace_u32 subbuf_bytes, trace_u32 nr_subbufs, trace_u64 seq,
				  trace_u64 position, trace_u32 max_ids, struct subbuf_salvaged *ret_salvaged)
{
	struct subbuf_header *header = (struct subbuf_header *)copy;
	struct subbuf_salvage_walk walk;

	memset(&walk, 0, sizeof(walk));
	walk.bytes = (unsigned char *)copy;
	walk.max_ids = max_ids;
	walk.lap = (trace_u8)(seq / nr_subbufs);
	if (!subbuf_salvage_limit(&walk, subbuf_bytes, seq, position))
		return false;
	subbuf_salvage_begin(&walk, subbuf_bytes, seq, seq / nr_subbufs * subbuf_bytes);
	while (walk.offset < walk.limit)
		if (!subbuf_salvage_step(&walk) && !subbuf_salvage_hole(&walk))
			break;
	header->seq = seq;
	header->end = walk.offset;
	*ret_salvaged = walk.salvaged;
	return true;
}
#endif /* user space */

#ifdef __cplusplus
}
#endif
#endif
