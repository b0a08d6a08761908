/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_SUBBUF_H
#define TRACE_SUBBUF_H
/*
 * subbuf.h - the one layout of the buffers that producers and the daemon share, and the consumer's side of it.
 *
 * A ring is a control page followed by N sub-buffers (N a power of two >= 2) of S bytes (a power of two, 16 KiB .. 16 MiB).
 * A sub-buffer is a header followed by records. The kernel's rings lie in an mmap-able BPF array map, one value per
 * CPU; a program's in a memfd. The producer's side is tracer/subbuf_write.h, compiled for BPF and for user space.
 *
 * Position. One 64-bit word per ring, control.position = (seq << 26) | offset, tells where the next record goes:
 * byte `offset` of sub-buffer number `seq`. Reserving is one atomic add of the record's size, which returns sub-buffer
 * and place together, so that a writer that was interrupted or preempted in between cannot mistake a later use of
 * the same memory for its own. Sub-buffer `seq` lives in slot seq % N. The first one is seq 1; a new ring stands at the
 * end of an imaginary full sub-buffer 0.
 *
 * Completion. header.commit only grows: every writer adds what it reserved, the opener the header too, and the one whose
 * record did not fit adds the rest, S in all per use. So use number seq / N of a slot is complete when the low 40 bits of
 * commit equal (seq / N + 1) * S, and nothing ever has to be reset. The upper 24 bits count records.
 *
 * Blocks. A program's ring can have what is left of one sub-buffer reserved for whoever runs on its CPU, without a locked instruction: control.block says how
 * far that is filled. Whoever closes the block notes the sub-buffer's end, and adds all of the block to commit.
 *
 * Who may run beside whom, each barrier with its partner, and how it was checked: tracer/CONCURRENCY.md.
 */
#include <trace/events.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SUBBUF_OFFSET_BITS 26
#define SUBBUF_OFFSET_MASK ((1ULL << SUBBUF_OFFSET_BITS) - 1)
#define SUBBUF_MIN_BYTES (16u << 10)
#define SUBBUF_MAX_BYTES (16u << 20)
#define SUBBUF_COMMIT_RECORD (1ULL << 40) /* one record in the upper bits of commit */
#define SUBBUF_COMMIT_MASK (SUBBUF_COMMIT_RECORD - 1)
#define SUBBUF_CONTROL_BYTES 4096u
/* control.block: where the next record goes in its sub-buffer, that one's number (its low bits: a ring has no more sub-buffers), how many records are in it. */
#define SUBBUF_BLOCK_SEQ_SHIFT 32
#define SUBBUF_BLOCK_SEQ_MASK 0xfffu
#define SUBBUF_BLOCK_RECORDS_SHIFT 44
#define SUBBUF_BLOCK_NONE (1ULL << 31) /* an offset that no sub-buffer has, whatever is added */
#define SUBBUF_HELD_PATH_BYTES 1920
/* The time of a record's preliminary header, whose id is 0: the place is taken, its record not yet written. Padding has 0. */
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
	/* The opener was held up for so long that records written meanwhile may be 2^32 ns off: their times are unknown. */
	SUBBUF_FLAG_TIME_SUSPECT = 1,
};

/**
 * struct subbuf_header - the first 64 bytes of a sub-buffer
 * @seq: number of the sub-buffer in its ring, from 1. Written by the opener.
 * @base: full time of the opening; no record of the sub-buffer is earlier, none 2^32 ns later. Opener.
 * @lost: events discarded in this ring before the sub-buffer was opened, ever. Opener.
 * @records_ever: records that all earlier uses of this slot committed, ever: commit's 24 bits without their wrapping. Opener, in one store, so
 *         that together with commit it tells the truth at any moment: see subbuf_records_before().
 * @commit: bytes (low 40 bits) and records (upper 24) committed in this slot, ever. Every writer, by atomic add.
 * @records_before: the upper 24 bits of commit at the opening. Opener.
 * @end: bytes in use, this header included. Written by the closer before its last add to commit.
 * @cpu, @producer, @clock, @flags: whose it is. Opener.
 * @base_ns: CLOCK_MONOTONIC of the host at @base, by the opener of a program's that counts ticks and overwrites; 0: not known.
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
 * Three cache lines that are written by the producers, one by the consumer; the rest is set up once.
 */
struct subbuf_control {
	/* producers */
	trace_u64 position;    /* (seq << 26) | offset; atomic add and compare-and-swap */
	/* the kernel's: an entry of a system call that has no record yet, and the record of a call in the making (tracer/kernel/held.h) */
	trace_u64 held_ns;     /* its time; 0: there is none; HELD_BUSY, HELD_PLAIN: somebody is about to record it */
	trace_u64 held_thread; /* whose: no other thread has the same at the same time */
	trace_u64 held_call;   /* the first word of struct trace_sys_enter */
	trace_u64 held_kind;   /* its id less TRACE_EV_sys_enter, HELD_MORE; << 8: bytes of held_path, NUL included, 0: it has none */
	trace_u64 plain_bytes; /* so many are being taken at the position; 0: none */
	trace_u64 ahead;       /* the position as those have it who interrupted that; 0: nobody did */
	trace_u64 uncommitted; /* of records of calls: bytes, events << 26, the low bits of their sub-buffer's number << 50 */
	trace_u64 held_args[6];
	trace_u64 nr_settled;  /* how often one was recorded by somebody else than its exit */
	trace_u64 ahead_begin; /* where that began */
	/* seldom */
	trace_u64 discarded;   /* events that found no room; atomic add */
	trace_u64 overwritten; /* records of sub-buffers that were used again before anybody took them; by the opener */
	trace_u64 filtered;    /* events of this CPU that the filters refused; atomic add */
	/* programs': the block. On its CPU, in a restartable sequence; the consumer when it is there itself */
	trace_u64 block;
	trace_u64 block_begin;	/* offset in its sub-buffer; written while there is none */
	trace_u64 block_moving; /* the program is about to open this block, or to close it; 0: it is not */
	trace_u64 pad0[2];
	/* consumer */
	trace_u64 consumed; /* every sub-buffer up to this one may be used again; store-release */
	trace_u64 flushing; /* the position at which subbuf_flush() is about to close the sub-buffer in use; 0: it is not */
	trace_u64 wake_at;  /* of the kernel's ring: so many sub-buffers that are full wake the consumer */
	trace_u64 flushing_block; /* the block that subbuf_flush_block() is about to close, which began there; 0: it is not */
	trace_u64 flushing_block_begin;
	trace_u64 pad2[3];
	/* set up before the first record */
	trace_u32 subbuf_bytes;
	trace_u32 nr_subbufs;
	trace_u32 overwrite; /* 0 discard when full, 1 overwrite the oldest; of programs' rings: user_memory.overwrite */
	trace_u32 cpu;
	trace_u32 producer;
	trace_u32 clock;
	/* the kernel's, set up later */
	trace_u64 run_queue;	 /* address of the CPU's; 0: not known. Its programs find the current thread by it */
	trace_u64 stolen_before; /* 1 more than what the CPU's host had taken at the last switch of threads, in ns; 0: not known yet */
	trace_u32 holds;	 /* may entries of system calls be held? */
	trace_u32 pad3;
	trace_u64 pad4[2];
	/* the kernel's: what the call that is held was given */
	char held_path[SUBBUF_HELD_PATH_BYTES];
};

#if !defined(__bpf__) && !defined(__BPF__)
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/**
 * struct subbuf_ring - a consumer's view of a ring
 * @control: borrowed; the ring in shared memory
 * @data: sub-buffer 0 of the ring
 * @subbuf_bytes, @nr_subbufs: the consumer's own copy: never read again from memory that a producer can write
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

/** subbuf_slot() - the memory that sub-buffer @seq uses */
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
 * The acquire load is [R1]; it pairs with the last writer's add to commit, [W2] of tracer/subbuf_write.h.
 */
static inline bool subbuf_complete(const struct subbuf_ring *ring, trace_u64 seq)
{
	const struct subbuf_header *header = subbuf_slot(ring, seq);
	trace_u64 commit = __atomic_load_n(&header->commit, __ATOMIC_ACQUIRE); /* [R1] */
	trace_u64 target = subbuf_commit_target(ring->subbuf_bytes, ring->nr_subbufs, seq);

	return ((commit - target) & SUBBUF_COMMIT_MASK) == 0;
}

/**
 * subbuf_records() - records in the complete sub-buffer @header, as its writers counted them
 */
static inline trace_u32 subbuf_records(const struct subbuf_ring *ring, const struct subbuf_header *header)
{
	trace_u64 target = subbuf_commit_target(ring->subbuf_bytes, ring->nr_subbufs, header->seq);
	trace_u64 commit = __atomic_load_n(&header->commit, __ATOMIC_RELAXED);

	return (trace_u32)(((commit - target) >> 40) - header->records_before) & 0xffffff;
}

/** struct subbuf_count - records that sub-buffers committed. @exact: all of these were complete, and none was opened again too early */
struct subbuf_count {
	trace_u64 records;
	bool exact;
};

/**
 * subbuf_records_before() - all records of the ring in sub-buffers before @seq, ever, kept or not
 * Beside running writers, which may have come as far as @seq - 1 + N; once @seq is closed the count stays what it is. It is not @exact
 * while a writer is inside one of the last N before @seq, or has just opened the place of one of them: later it may be.
 */
static inline struct subbuf_count subbuf_records_before(const struct subbuf_ring *ring, trace_u64 seq)
{
	trace_u64 nr = ring->nr_subbufs;
	struct subbuf_count count = { 0, true };

	for (trace_u64 use = seq > nr ? seq - nr : 1; use < seq; use++) {
		const struct subbuf_header *header = subbuf_slot(ring, use);
		trace_u64 now = __atomic_load_n(&header->seq, __ATOMIC_ACQUIRE); /* [R3] */
		trace_u64 ever = __atomic_load_n(&header->records_ever, __ATOMIC_RELAXED), commit;

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		commit = __atomic_load_n(&header->commit, __ATOMIC_ACQUIRE);
		count.records += ever;
		if (now > use) /* the records before its next opening are those of this use, too */
			continue;
		count.records += (((commit - use / nr * ring->subbuf_bytes) >> 40) - ever) & 0xffffff;
		count.exact &= now == use && ((commit - subbuf_commit_target(ring->subbuf_bytes, ring->nr_subbufs, use)) & SUBBUF_COMMIT_MASK) == 0;
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
	trace_u64 seq = ring->control->consumed + 1; /* the consumer's own word */
	trace_u64 position = __atomic_load_n(&ring->control->position, __ATOMIC_ACQUIRE);

	if ((position >> SUBBUF_OFFSET_BITS) < seq || !subbuf_complete(ring, seq))
		return NULL;
	return subbuf_slot(ring, seq);
}

/**
 * subbuf_release() - give the sub-buffer that subbuf_take() returned back to the producers
 * [W4] pairs with [R4], the opener's look at consumed: all our reads of the sub-buffer come before its new use.
 */
static inline void subbuf_release(const struct subbuf_ring *ring)
{
	__atomic_store_n(&ring->control->consumed, ring->control->consumed + 1, __ATOMIC_RELEASE); /* [W4] */
}

static inline bool subbuf_block_is_open(trace_u64 block)
{
	return (trace_u32)block >= sizeof(struct subbuf_header) && (trace_u32)block <= SUBBUF_MAX_BYTES;
}

/** subbuf_block_seq() - the sub-buffer of a block: of those that the ring has, the one with these low bits */
static inline trace_u64 subbuf_block_seq(const struct subbuf_ring *ring, trace_u64 block)
{
	trace_u64 newest = __atomic_load_n(&ring->control->position, __ATOMIC_ACQUIRE) >> SUBBUF_OFFSET_BITS;

	return newest - ((newest - (block >> SUBBUF_BLOCK_SEQ_SHIFT)) & SUBBUF_BLOCK_SEQ_MASK);
}

/* The sub-buffer that the program fills by a block, or is about to; 0: none */
static inline trace_u64 subbuf_block_in_use(const struct subbuf_ring *ring)
{
	/* In this order: one that is being opened is moving until it is open. */
	trace_u64 moving = __atomic_load_n(&ring->control->block_moving, __ATOMIC_ACQUIRE), block = __atomic_load_n(&ring->control->block, __ATOMIC_ACQUIRE);

	if (!subbuf_block_is_open(block))
		block = moving;
	return subbuf_block_is_open(block) ? subbuf_block_seq(ring, block) : 0;
}

/**
 * subbuf_flush() - close the sub-buffer in use, so that subbuf_take() can deliver what it holds
 * Safe beside running producers, one at a time. Who dies in the middle of it leaves a sub-buffer that nobody completes: subbuf_finish_flush().
 * Returns true when it closed one; false when there was nothing to close. The sub-buffer may still be waiting
 * for a writer in the middle of its record.
 */
static inline bool subbuf_flush(const struct subbuf_ring *ring)
{
	struct subbuf_control *control = ring->control;
	volatile trace_u64 *flushing = &control->flushing; /* no producer looks at it */
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
	} while (!__atomic_compare_exchange_n(&control->position, &position, closed, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	header = subbuf_slot(ring, position >> SUBBUF_OFFSET_BITS);
	__atomic_store_n(&header->end, (trace_u32)offset, __ATOMIC_RELAXED);
	__atomic_fetch_add(&header->commit, ring->subbuf_bytes - offset, __ATOMIC_RELEASE); /* [W2] */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*flushing = 0;
	return true;
}

/**
 * subbuf_finish_flush() - what a consumer that died in subbuf_flush() left, its follower finishes, before it flushes itself
 * It owned all behind the place where it closed the sub-buffer, if it came to close it; that is missing in commit when all writers have left. Where a
 * record stands there a writer was faster. The caller asks again after a while, and a last time: @sure. For a writer that stays inside for so long, with a
 * place as large as that rest, would be taken for it.
 * Returns true when nothing is left to be done; false: not yet, for writers are inside.
 */
static inline bool subbuf_finish_flush(const struct subbuf_ring *ring, bool sure)
{
	struct subbuf_control *control = ring->control;
	volatile trace_u64 *flushing = &control->flushing;
	trace_u64 from = *flushing, position = __atomic_load_n(&control->position, __ATOMIC_ACQUIRE), seq = from >> SUBBUF_OFFSET_BITS, missing;
	trace_u32 offset = (trace_u32)(from & SUBBUF_OFFSET_MASK);
	struct subbuf_header *header = subbuf_slot(ring, seq);
	struct trace_record record;

	if (from == 0)
		return true;
	if (subbuf_block_in_use(ring) == seq) { /* a program closed it there, for a block */
		*flushing = 0;
		return true;
	}
	missing = (subbuf_commit_target(ring->subbuf_bytes, ring->nr_subbufs, seq) - __atomic_load_n(&header->commit, __ATOMIC_ACQUIRE)) & SUBBUF_COMMIT_MASK;
	if (offset >= sizeof(*header) && offset < ring->subbuf_bytes && position >= from && missing != 0 && missing <= ring->subbuf_bytes &&
	    !(position >> SUBBUF_OFFSET_BITS == seq && (position & SUBBUF_OFFSET_MASK) < ring->subbuf_bytes)) {
		memcpy(&record, (const unsigned char *)header + offset, sizeof(record));
		if (missing != ring->subbuf_bytes - offset || (record.words != 0 && record.lap == (trace_u8)(seq / ring->nr_subbufs)) || !sure)
			return false;
		__atomic_store_n(&header->end, offset, __ATOMIC_RELAXED);
		__atomic_fetch_add(&header->commit, missing, __ATOMIC_RELEASE); /* [W2] */
	}
	*flushing = 0;
	return true;
}

/* ---- blocks of programs ---- */

/* A program's words may be anything. */
static inline bool subbuf_block_is_sane(const struct subbuf_ring *ring, trace_u64 block, trace_u64 begin)
{
	trace_u32 end = (trace_u32)block;

	return begin >= sizeof(struct subbuf_header) && begin <= end && end <= ring->subbuf_bytes && begin % 8 == 0 && end % 8 == 0;
}

/**
 * subbuf_block_close() - what stands in @block, which nobody can add to any more, becomes part of its sub-buffer, which is closed by that
 * @begin: where it began. By the only one who took it away
 */
static inline void subbuf_block_close(const struct subbuf_ring *ring, trace_u64 block, trace_u64 begin)
{
	struct subbuf_header *header = subbuf_slot(ring, subbuf_block_seq(ring, block));
	trace_u32 end = (trace_u32)block;

	/* What somebody was about to write when he was disturbed can look like a record. */
	if (end < ring->subbuf_bytes)
		__atomic_store_n((trace_u64 *)(void *)((unsigned char *)header + end), 0, __ATOMIC_RELAXED);
	__atomic_store_n(&header->end, end, __ATOMIC_RELAXED);
	__atomic_fetch_add(&header->commit, ring->subbuf_bytes - begin + (block >> SUBBUF_BLOCK_RECORDS_SHIFT) * SUBBUF_COMMIT_RECORD, __ATOMIC_RELEASE); /* [W2] */
}

/**
 * subbuf_flush_block() - close the block, so that subbuf_take() can deliver what it holds
 * Only on the CPU of the ring: then nobody is in the middle of a record there, or will find out and begin again. One at a time, as subbuf_flush(), which is to
 * follow. Returns true when it closed one.
 */
static inline bool subbuf_flush_block(const struct subbuf_ring *ring)
{
	struct subbuf_control *control = ring->control;
	volatile trace_u64 *flushing = &control->flushing_block; /* no producer looks at it */
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
	} while (!__atomic_compare_exchange_n(&control->block, &block, SUBBUF_BLOCK_NONE, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	subbuf_block_close(ring, block, begin);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*flushing = 0;
	return true;
}

/* Is all of @block, and nothing else, missing in the commit of its sub-buffer? */
static inline bool subbuf_block_is_missing(const struct subbuf_ring *ring, trace_u64 block, trace_u64 begin)
{
	trace_u64 seq = subbuf_block_seq(ring, block);
	trace_u64 commit = __atomic_load_n(&subbuf_slot(ring, seq)->commit, __ATOMIC_ACQUIRE);

	return subbuf_block_is_sane(ring, block, begin) && seq > 0 &&
	       ((subbuf_commit_target(ring->subbuf_bytes, ring->nr_subbufs, seq) - commit) & SUBBUF_COMMIT_MASK) == ring->subbuf_bytes - begin;
}

/**
 * subbuf_finish_flush_block() - what a consumer that died in subbuf_flush_block() left, its follower finishes
 * As subbuf_finish_flush(), and with the same doubt: what is missing may be a writer's that stays inside, unless the caller has waited and is @sure. But for a
 * program that is opening or closing that block itself it waits in any case.
 */
static inline bool subbuf_finish_flush_block(const struct subbuf_ring *ring, bool sure)
{
	struct subbuf_control *control = ring->control;
	volatile trace_u64 *flushing = &control->flushing_block;
	trace_u64 block = *flushing, begin = control->flushing_block_begin, moving, now, seq;

	if (subbuf_block_is_open(block)) {
		/* In this order: a program says so before it takes the block away, and until it has closed it. */
		now = __atomic_load_n(&control->block, __ATOMIC_ACQUIRE);
		moving = __atomic_load_n(&control->block_moving, __ATOMIC_ACQUIRE);
		seq = subbuf_block_seq(ring, block);
		if (subbuf_block_is_open(now) && subbuf_block_seq(ring, now) == seq) {
			*flushing = 0; /* it has not been taken away */
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

/** subbuf_bury_block() - the program is dead: close the block that it left, or was about to close or to open. Before subbuf_salvage() */
static inline void subbuf_bury_block(const struct subbuf_ring *ring)
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
 * subbuf_newest_closed() - no record will be added any more to this sub-buffer and all before it
 * Behind it the next may have been opened already. With blocks, that can be earlier than the position tells.
 */
static inline trace_u64 subbuf_newest_closed(const struct subbuf_ring *ring)
{
	trace_u64 position = __atomic_load_n(&ring->control->position, __ATOMIC_ACQUIRE), in_use = subbuf_block_in_use(ring);
	trace_u64 closed = (position >> SUBBUF_OFFSET_BITS) - ((position & SUBBUF_OFFSET_MASK) < ring->subbuf_bytes);

	return in_use > 0 && in_use <= closed ? in_use - 1 : closed;
}

/**
 * subbuf_keep() - from now on no sub-buffer is used again before it is released: whatever stands in the ring already need not be read
 * For a ring whose writers ask each time whether they may overwrite, after they have been told, with a full barrier, that they may not [W5]. Who was told
 * otherwise before has looked at the position even earlier [R5], and opens the next sub-buffer only if the position has not moved since. Then it is as we
 * find it now, and that sub-buffer may be opened in any case. The consumer, not while a sub-buffer is taken; flushes.
 */
static inline void subbuf_keep(const struct subbuf_ring *ring)
{
	subbuf_flush(ring);
	__atomic_store_n(&ring->control->consumed, subbuf_newest_closed(ring), __ATOMIC_RELEASE); /* One that is in use again already is to be read. */
}

/**
 * subbuf_ring_init() - set up a ring in zeroed memory, before the caller writes to it
 * Several threads may do so at once, with the same arguments: all store the same constants, and the three words that move later are only
 * ever moved from 0. So nobody has to wait for anybody.
 */
static inline void subbuf_ring_init(struct subbuf_ring *ring, void *memory, trace_u32 subbuf_bytes, trace_u32 nr_subbufs,
				    trace_u32 cpu, enum subbuf_producer producer, enum subbuf_clock clock, bool overwrite)
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
	__atomic_compare_exchange_n(&control->block, &none, SUBBUF_BLOCK_NONE, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	none = 0;
	/* The imaginary sub-buffer 0 is complete. */
	__atomic_compare_exchange_n(&subbuf_slot(ring, 0)->commit, &none, subbuf_bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	none = 0;
	__atomic_compare_exchange_n(&control->position, &none, (trace_u64)subbuf_bytes, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}
/**
 * struct subbuf_salvaged - what subbuf_salvage() found in a sub-buffer that its writers, now dead, left incomplete
 * @records: whole ones
 * @lost: ones that were committed, and cannot be told from what lies in several holes: all behind the first of these
 * @in_flight: places where a record was begun and not finished, as far as can be seen. A signal handler that dies with the thread
 *             that it interrupted leaves two; neighbouring holes, or one at the very end, can look like one or none
 * @hole_bytes: what those places take up
 * @opened: the header is of this use. Without it (the opener died at once) its base, lost, cpu and so on are of an earlier one, and where there are
 *          several holes the number of records is what can be seen, no more, unless the place was never used before
 */
struct subbuf_salvaged {
	trace_u32 records;
	trace_u32 lost;
	trace_u32 in_flight;
	trace_u32 hole_bytes;
	bool opened;
};

/* The header of a record at @offset, if one of use @lap can stand there. */
static inline bool subbuf_salvage_record(const unsigned char *copy, trace_u32 offset, trace_u32 limit, trace_u8 lap, trace_u32 max_ids,
					 struct trace_record *ret_record)
{
	memcpy(ret_record, copy + offset, sizeof(*ret_record));
	return ret_record->lap == lap && ret_record->words != 0 && ret_record->words * 8u <= limit - offset && ret_record->id < max_ids &&
	       (ret_record->id != 0 || ret_record->time <= SUBBUF_TIME_PRELIMINARY);
}

static inline void subbuf_salvage_pad(unsigned char *copy, trace_u32 offset, trace_u32 end, trace_u8 lap)
{
	while (offset < end) {
		trace_u32 words = (end - offset) / 8 < 255 ? (end - offset) / 8 : 255;
		struct trace_record padding = { 0, 0, (trace_u8)words, lap };

		memcpy(copy + offset, &padding, sizeof(padding));
		offset += words * 8;
	}
}

#define SUBBUF_ANY_NUMBER (~0u) /* the opener died before it noted what there was: the bytes alone have to tell */

/* Behind the only hole of unknown size, at @offset: where records go on so that they are the @records that were committed behind it, and take up those
 * @bytes, as far as @end, or, with @is_open_end, to where no record stands any more. 0 when no place is so. What lies in the hole may look like
 * anything, the dead writer's payload may stand there; but what looks like one record too many makes the sums wrong. */
static inline trace_u32 subbuf_salvage_exactly(const unsigned char *copy, trace_u32 offset, trace_u32 missing, trace_u32 end, trace_u8 lap,
					       trace_u32 max_ids, trace_u64 bytes, trace_u32 records, bool is_open_end, trace_u32 *budget)
{
	trace_u32 last = missing < end - offset ? offset + missing : end;
	struct trace_record record;

	for (trace_u32 at = offset + 8; at <= last; at += 8) {
		trace_u32 next = at, whole = 0, nr = 0;

		for (; next < end && *budget && subbuf_salvage_record(copy, next, end, lap, max_ids, &record); --*budget) {
			if (record.id != 0 || record.time == 0)
				whole += record.words * 8u;
			nr += record.id != 0;
			next += record.words * 8u;
		}
		if (!*budget || !--*budget)
			return 0;
		if (whole == bytes && (nr == records || records == SUBBUF_ANY_NUMBER) && (next == end || (is_open_end && whole)))
			return at;
	}
	return 0;
}

/**
 * subbuf_salvage() - repair a copy of a sub-buffer that will never be complete, because the program that wrote it is dead
 * @copy: @subbuf_bytes of private memory; any bytes at all may stand in it
 * @seq: its number, > consumed. @position: the ring's control.position, read once
 * @max_ids: record ids are smaller
 * Afterwards @copy reads like a complete sub-buffer: seq and end are right, and between header and end stand records and padding.
 * The commit count is not touched: what is to be known of it is in *@ret_salvaged. Not for rings of living writers.
 * Returns false, and leaves @copy alone, when nothing was ever put there.
 *
 * A writer leaves a preliminary header where it reserved, which is stepped over. Only one that died in the few instructions between
 * the two leaves a hole of unknown size. Where records go on behind it commit tells, which knows how many there are, and how many bytes. With several such
 * holes, or a writer beside it who died with its header written, that is not enough: then nothing behind the first one is believed, but counted.
 */
static inline bool subbuf_salvage(void *copy, trace_u32 subbuf_bytes, trace_u32 nr_subbufs, trace_u64 seq, trace_u64 position, trace_u32 max_ids,
				  struct subbuf_salvaged *ret_salvaged)
{
	struct subbuf_header *header = (struct subbuf_header *)copy;
	unsigned char *bytes = (unsigned char *)copy;
	trace_u64 committed = (header->commit - seq / nr_subbufs * subbuf_bytes) & SUBBUF_COMMIT_MASK;
	trace_u32 limit = subbuf_bytes, offset = sizeof(*header), budget = subbuf_bytes, exact, rest = 0, missing, nr, left;
	trace_u32 found = header->seq == seq ? sizeof(*header) : 0; /* of what was committed; the opener commits the header */
	struct subbuf_salvaged salvaged = { 0, 0, 0, 0, header->seq == seq };
	trace_u8 lap = (trace_u8)(seq / nr_subbufs);
	struct trace_record record;
	bool is_closed, is_counted, opener_died = false; /* it commits the header, too */

	if (position >> SUBBUF_OFFSET_BITS < seq)
		return false;
	if (position >> SUBBUF_OFFSET_BITS == seq && (position & SUBBUF_OFFSET_MASK) < subbuf_bytes)
		limit = position & SUBBUF_OFFSET_MASK & ~7u; /* still open: all of it was reserved by somebody */
	if (limit < sizeof(*header))
		return false;
	is_closed = limit == subbuf_bytes;
	/* Of a place that was never used before the number is known, too: there its opener dies most easily, for its memory is still to come. */
	is_counted = salvaged.opened || header->seq == 0;
	nr = is_counted ? (trace_u32)(((header->commit - seq / nr_subbufs * subbuf_bytes) >> 40) - header->records_before) & 0xffffff : SUBBUF_ANY_NUMBER;
	missing = committed < limit ? limit - (trace_u32)committed : 0;
	/* What its closer committed in one piece, if it did; otherwise the sums will not be right. */
	if (is_closed && header->end >= sizeof(*header) && header->end < subbuf_bytes && header->end % 8 == 0)
		rest = subbuf_bytes - header->end;
	while (offset < limit) {
		trace_u32 next = limit;

		if (subbuf_salvage_record(bytes, offset, limit, lap, max_ids, &record)) {
			next = offset + record.words * 8u;
			if (record.id != 0) {
				salvaged.records++;
				found += next - offset;
			} else if (record.time == 0) {
				found += next - offset;
			} else {
				salvaged.in_flight++;
				salvaged.hole_bytes += next - offset;
				opener_died |= offset == sizeof(*header);
				missing -= next - offset < missing ? next - offset : missing;
				subbuf_salvage_pad(bytes, offset, next, lap);
			}
			offset = next;
			continue;
		}
		/* A hole; or, when it was closed, the rest: all there is behind it, committed in one piece. */
		left = nr == SUBBUF_ANY_NUMBER ? nr : nr > salvaged.records ? nr - salvaged.records : 0;
		if (is_closed && left == 0 && salvaged.records > nr && committed < found + (trace_u64)(limit - offset))
			break; /* whole ones, whose writers died before they committed them */
		if (is_closed && (left == 0 || left == SUBBUF_ANY_NUMBER) &&
		    (committed == found + (trace_u64)(limit - offset) || (opener_died && committed + sizeof(*header) == found + (trace_u64)(limit - offset))))
			break;
		exact = 0;
		if (missing && committed >= found + rest && offset < limit - rest)
			exact = subbuf_salvage_exactly(bytes, offset, missing, limit - rest, lap, max_ids, committed - found - rest, left, false, &budget);
		if (missing && committed >= found && !exact && is_closed) /* the one who was to close it died, too */
			exact = subbuf_salvage_exactly(bytes, offset, missing, limit, lap, max_ids, committed - found, left, true, &budget);
		if (!exact) {
			/* When nothing was committed behind it, it is the rest that its closer did not come to commit, or the end: perhaps a record there. */
			if (left == SUBBUF_ANY_NUMBER) /* one stands for them */
				left = committed > found + rest;
			salvaged.lost = left <= (limit - offset) / sizeof(record) ? left : 0;
			salvaged.in_flight += salvaged.lost != 0 || salvaged.in_flight == 0 || !is_closed;
			salvaged.hole_bytes += is_closed && !salvaged.lost ? 0 : limit - offset;
			break;
		}
		salvaged.in_flight++;
		salvaged.hole_bytes += exact - offset;
		missing -= exact - offset < missing ? exact - offset : missing;
		subbuf_salvage_pad(bytes, offset, exact, lap);
		offset = exact;
	}
	header->seq = seq;
	header->end = offset;
	*ret_salvaged = salvaged;
	return true;
}
#endif /* user space */

#ifdef __cplusplus
}
#endif
#endif
