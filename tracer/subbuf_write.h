/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_SUBBUF_WRITE_H
#define TRACER_SUBBUF_WRITE_H
/*
 * subbuf_write.h - the producers' side of a ring: reserve, write, commit. One source for BPF, for libtracer and for the
 * tests that run every interleaving of it.
 *
 * The includer defines, before this file:
 *   SUBBUF_LOAD(p) SUBBUF_STORE(p, v)  acquire and release, never torn (on x86 a volatile access is both)
 *   SUBBUF_ADD(p, v)                   fetch-and-add, fully ordered (BPF's atomics with a result always are)
 *   SUBBUF_CAS(p, old, new)            compare-and-swap, fully ordered, returns the old value
 *   SUBBUF_CLOCK()                     the ring's clock, monotonic on each CPU
 *   SUBBUF_HEADER(w, seq)              the header of sub-buffer seq, or NULL (only to satisfy the BPF verifier)
 *   SUBBUF_WRITE_HEADER(w, seq, offset, word)  store a record's 64-bit header
 *   SUBBUF_PRELIMINARY(w, seq, offset, size)  optional: what to leave at once in a place that was reserved; programs store
 *                                      subbuf_preliminary_word(), by which subbuf_salvage() finds its way when they die
 *   SUBBUF_OVERWRITES(w)               optional: may sub-buffers that nobody has taken be used again? Asked each time, after a load of the position [R5]
 *   SUBBUF_POSITION(w)                 optional: the word that is the ring's position to this writer
 *   SUBBUF_NOW(w)                      optional: the time of the record to be written, when that is not SUBBUF_CLOCK()
 *   SUBBUF_OPEN_CLOCK(w, ret_ns)       optional: SUBBUF_CLOCK() for whoever opens a sub-buffer, with CLOCK_MONOTONIC of the same instant, or 0
 *   SUBBUF_RESERVE_SLOW(w, size, position, ret_reservation)  optional: how to call subbuf_reserve_slow() out of line
 *   SUBBUF_RESERVE_TRY(w, size, position, ret_reservation)   optional: the same for subbuf_reserve_try()
 *   struct subbuf_writer               with the members control, subbuf_bytes, nr_subbufs_log2, overwrite, cpu, producer, clock
 *
 * Writers of one ring may interrupt or preempt each other anywhere, in any order: nothing here assumes that
 * the last to come is the first to leave, nobody waits for anybody, and every loop is bounded.
 *
 * Reading the clock comes after reserving. So a record's time is never before its sub-buffer's base, which the opener read
 * before it published the sub-buffer; the price is that of two nested records the outer may carry the later
 * time: readers sort. The clock is read once per event, and once more by whoever opens a sub-buffer.
 */
#include <trace/subbuf.h>

#ifndef SUBBUF_PRELIMINARY
#define SUBBUF_PRELIMINARY(w, seq, offset, size) ((void)0)
#endif
#ifndef SUBBUF_OVERWRITES
#define SUBBUF_OVERWRITES(w) ((w)->overwrite)
#endif
#ifndef SUBBUF_POSITION
#define SUBBUF_POSITION(w) (&(w)->control->position)
#endif
#ifndef SUBBUF_NOW
#define SUBBUF_NOW(w) SUBBUF_CLOCK()
#endif
#ifndef SUBBUF_OPEN_CLOCK
#define SUBBUF_OPEN_CLOCK(w, ret_ns) (*(ret_ns) = 0, SUBBUF_NOW(w))
#endif
#ifndef SUBBUF_TRIES
#define SUBBUF_TRIES 8 /* a try fails only when another writer closed or opened a sub-buffer in between */
#endif

/* A record's header as the one word that is stored. */
static __attribute__((always_inline)) inline trace_u64 subbuf_record_word(trace_u32 time, trace_u32 id, trace_u32 size, trace_u8 lap)
{
	return (trace_u64)lap << 56 | (trace_u64)(size / 8) << 48 | (trace_u64)id << 32 | time;
}

static __attribute__((always_inline)) inline trace_u8 subbuf_lap(const struct subbuf_writer *w, trace_u64 seq)
{
	return (trace_u8)(seq >> w->nr_subbufs_log2);
}

/* What stands in a record's place until its own header does: its size, so that a reader of what the dead left can step over it. */
static __attribute__((always_inline)) inline trace_u64 subbuf_preliminary_word(const struct subbuf_writer *w, trace_u64 seq, trace_u32 size)
{
	return subbuf_record_word(SUBBUF_TIME_PRELIMINARY, 0, size, subbuf_lap(w, seq));
}

/**
 * struct subbuf_reservation - room for one record
 * @position: number of the sub-buffer and offset in it, as in control.position. The rest is worked out of it when it is needed: what
 *            lives across the call of the clock costs a BPF program, with its four registers, a store and a load
 * @time: for the record's header
 * @size: of the record, a multiple of 8
 * @completed: a sub-buffer became complete; the caller wakes the daemon, also when reserving failed
 */
struct subbuf_reservation {
	trace_u64 position;
	trace_u32 time;
	trace_u16 size;
	trace_u8 completed;
};

#define SUBBUF_INLINE static __attribute__((always_inline)) inline

/* Bytes that all uses of the slot before @seq committed. */
SUBBUF_INLINE trace_u64 subbuf_slot_base(const struct subbuf_writer *w, trace_u64 seq)
{
	return (seq >> w->nr_subbufs_log2) * w->subbuf_bytes;
}

/* Add to commit; true when that completed the sub-buffer. [W2] pairs with [R1] in subbuf_complete(): who sees the sum
 * complete sees every record, because each writer's add comes after its record and the adds are ordered. */
SUBBUF_INLINE int subbuf_commit_add(const struct subbuf_writer *w, struct subbuf_header *header, trace_u64 seq, trace_u64 amount)
{
	trace_u64 commit = SUBBUF_ADD(&header->commit, amount) + amount; /* [W2] */

	return ((commit - subbuf_slot_base(w, seq) - w->subbuf_bytes) & SUBBUF_COMMIT_MASK) == 0;
}

/* The writer whose add crossed the end owns the rest of the sub-buffer: it alone notes where the records end. */
SUBBUF_INLINE int subbuf_close(const struct subbuf_writer *w, trace_u64 seq, trace_u32 end)
{
	struct subbuf_header *header = SUBBUF_HEADER(w, seq);

	if (!header)
		return 0;
	SUBBUF_STORE(&header->end, end); /* before [W2] */
	return subbuf_commit_add(w, header, seq, w->subbuf_bytes - end);
}

/* May the slot be used for @seq? Its earlier use must be complete, and taken by the consumer unless we overwrite. */
SUBBUF_INLINE int subbuf_slot_free(const struct subbuf_writer *w, trace_u64 commit, trace_u64 seq)
{
	if (((commit - subbuf_slot_base(w, seq)) & SUBBUF_COMMIT_MASK) != 0)
		return 0; /* a writer is still inside */
	if (seq >> (64 - SUBBUF_OFFSET_BITS))
		return 0; /* position has no room for the number: end of the ring's life, after 4 PiB at least */
	if (SUBBUF_OVERWRITES(w)) /* [R5] after the position; pairs with [W5] before subbuf_keep() */
		return 1;
	return seq - SUBBUF_LOAD(&w->control->consumed) <= (1ULL << w->nr_subbufs_log2); /* [R4] pairs with [W4] */
}

/* Fill in the header of the sub-buffer that our compare-and-swap opened; @commit is what the slot held before it, @base and
 * @lost were read before it, so that they never decrease from one sub-buffer to the next, however late we run. Nobody
 * else writes these fields. Others may already add records behind ours, which need none of them, but they cannot
 * complete the sub-buffer before our own record is committed. */
SUBBUF_INLINE void subbuf_open(const struct subbuf_writer *w, struct subbuf_header *header, trace_u64 seq, trace_u64 base, trace_u64 base_ns,
			       trace_u64 commit, trace_u64 lost)
{
	trace_u64 records = (commit - subbuf_slot_base(w, seq)) >> 40;

	if (w->overwrite && header->seq) /* the slot held records that nobody will read any more */
		SUBBUF_ADD(&w->control->overwritten, (records - header->records_before) & 0xffffff);
	SUBBUF_STORE(&header->records_ever, header->records_ever + ((records - header->records_ever) & 0xffffff));
	SUBBUF_STORE(&header->base, base);
	header->lost = lost;
	header->records_before = (trace_u32)records & 0xffffff;
	header->base_ns = base_ns;
	header->cpu = w->cpu;
	header->producer = w->producer;
	header->clock = w->clock;
	header->flags = 0;
	SUBBUF_STORE(&header->seq, seq); /* [W1] after base; before our record's commit [W2]. Pairs with [R3] in subbuf_reserve() */
	if (SUBBUF_CLOCK() - base >= 1ULL << 31)
		header->flags = SUBBUF_FLAG_TIME_SUSPECT;
	SUBBUF_ADD(&header->commit, sizeof(*header)); /* cannot complete it: our record is still to come */
}

/* A record's 32 bits cannot hold its time: turn the reservation into padding, and close the sub-buffer unless others have
 * done so or are adding to it just now, so that the next try opens a new base. A compare-and-swap, not an add: late
 * writers that all come to the same conclusion could otherwise push the offset over its 26 bits. */
SUBBUF_INLINE int subbuf_expire(const struct subbuf_writer *w, struct subbuf_header *header, trace_u64 seq, trace_u32 offset,
				trace_u32 size)
{
	trace_u64 position, closed;
	int completed;

	SUBBUF_WRITE_HEADER(w, seq, offset, subbuf_record_word(0, 0, size, subbuf_lap(w, seq)));
	completed = subbuf_commit_add(w, header, seq, size);
	position = SUBBUF_LOAD(SUBBUF_POSITION(w));
	closed = seq << SUBBUF_OFFSET_BITS | w->subbuf_bytes;
	if (position >> SUBBUF_OFFSET_BITS == seq && position < closed &&
	    SUBBUF_CAS(SUBBUF_POSITION(w), position, closed) == position)
		completed |= subbuf_close(w, seq, position & SUBBUF_OFFSET_MASK);
	return completed;
}

SUBBUF_INLINE int subbuf_reserved(trace_u64 position, trace_u32 size, trace_u64 now, struct subbuf_reservation *ret_reservation)
{
	ret_reservation->position = position;
	ret_reservation->size = (trace_u16)size;
	ret_reservation->time = (trace_u32)now;
	return 1;
}

#define SUBBUF_NO_POSITION (~0ULL)

/**
 * subbuf_reserve_try() - close a sub-buffer, open the next, or add to the one that is open; once
 * @position: what an add for this record returned already, or SUBBUF_NO_POSITION
 * Returns 1 with @ret_reservation filled in; 0: all sub-buffers are full; -1: another writer came between, and the next try will see what it has done.
 */
SUBBUF_INLINE int subbuf_reserve_try(const struct subbuf_writer *w, trace_u32 size, trace_u64 position, struct subbuf_reservation *ret_reservation)
{
	struct subbuf_control *control = w->control;
	struct subbuf_header *header;
	trace_u64 seq, now, open_ns, base, commit, lost;
	trace_u32 offset;

	if (position == SUBBUF_NO_POSITION && (SUBBUF_LOAD(SUBBUF_POSITION(w)) & SUBBUF_OFFSET_MASK) < w->subbuf_bytes)
		position = SUBBUF_ADD(SUBBUF_POSITION(w), size);
	if (position != SUBBUF_NO_POSITION) {
		seq = position >> SUBBUF_OFFSET_BITS;
		offset = position & SUBBUF_OFFSET_MASK;
		if (offset + size <= w->subbuf_bytes) {
			header = SUBBUF_HEADER(w, seq);
			if (!header)
				return 0;
			SUBBUF_PRELIMINARY(w, seq, offset, size);
			if (offset + size == w->subbuf_bytes)
				SUBBUF_STORE(&header->end, offset + size); /* we fill it: we close it */
			now = SUBBUF_NOW(w);
			/* [R3] pairs with [W1]. A header that is not open yet is being opened now: our time is next to its base. */
			base = SUBBUF_LOAD(&header->seq) == seq ? SUBBUF_LOAD(&header->base) : now;
			if ((now - base) >> 32 == 0)
				return subbuf_reserved(seq << SUBBUF_OFFSET_BITS | offset, size, now, ret_reservation);
			/* The kernel's fast clock may step back by some ns when its rate is changed. */
			if ((trace_s64)(now - base) < 0)
				return subbuf_reserved(seq << SUBBUF_OFFSET_BITS | offset, size, base, ret_reservation);
			ret_reservation->completed |= subbuf_expire(w, header, seq, offset, size);
			return -1;
		}
		if (offset < w->subbuf_bytes)
			ret_reservation->completed |= subbuf_close(w, seq, offset);
	}
	position = SUBBUF_LOAD(SUBBUF_POSITION(w));
	if ((position & SUBBUF_OFFSET_MASK) < w->subbuf_bytes)
		return -1;
	seq = (position >> SUBBUF_OFFSET_BITS) + 1;
	header = SUBBUF_HEADER(w, seq);
	if (!header)
		return 0;
	commit = SUBBUF_LOAD(&header->commit);
	if (!subbuf_slot_free(w, commit, seq))
		return SUBBUF_LOAD(SUBBUF_POSITION(w)) == position ? 0 : -1; /* or it is in use because somebody opened it meanwhile, for us too */
	lost = SUBBUF_LOAD(&control->discarded);
	now = SUBBUF_OPEN_CLOCK(w, &open_ns);
	offset = sizeof(struct subbuf_header);
	if (SUBBUF_CAS(SUBBUF_POSITION(w), position, seq << SUBBUF_OFFSET_BITS | (offset + size)) != position)
		return -1;
	SUBBUF_PRELIMINARY(w, seq, offset, size);
	subbuf_open(w, header, seq, now, open_ns, commit, lost);
	return subbuf_reserved(seq << SUBBUF_OFFSET_BITS | offset, size, now, ret_reservation);
}

#ifndef SUBBUF_RESERVE_TRY
#define SUBBUF_RESERVE_TRY subbuf_reserve_try
#endif

/* The whole of reserving, a discarded record included. @position: as subbuf_reserve_try() has it. Out of line in programs: it runs once per sub-buffer. */
SUBBUF_INLINE int subbuf_reserve_slow(const struct subbuf_writer *w, trace_u32 size, trace_u64 position, struct subbuf_reservation *ret_reservation)
{
	int reserved = -1;

	ret_reservation->completed = 0;
	for (int i = 0; i < SUBBUF_TRIES && reserved < 0; i++) {
		reserved = SUBBUF_RESERVE_TRY(w, size, position, ret_reservation);
		position = SUBBUF_NO_POSITION;
	}
	if (reserved > 0)
		return 1;
	SUBBUF_ADD(&w->control->discarded, 1);
	return 0;
}

#ifndef SUBBUF_RESERVE_SLOW
#define SUBBUF_RESERVE_SLOW subbuf_reserve_slow
#endif

/**
 * subbuf_reserve() - room for one record of @size bytes, and its time
 * @size: header included, a multiple of 8, at most TRACE_RECORD_MAX_BYTES
 * Returns 1 with @ret_reservation filled in, to be followed by subbuf_commit(); 0 when the event is discarded, and counted.
 * In both cases ret_reservation->completed tells whether a sub-buffer became complete.
 * Here stands only the common case, a record in the middle of an open sub-buffer.
 */
SUBBUF_INLINE int subbuf_reserve(const struct subbuf_writer *w, trace_u32 size, struct subbuf_reservation *ret_reservation)
{
	trace_u64 position = SUBBUF_NO_POSITION, seq, now;
	struct subbuf_header *header;

	if ((SUBBUF_LOAD(SUBBUF_POSITION(w)) & SUBBUF_OFFSET_MASK) + size < w->subbuf_bytes)
		position = SUBBUF_ADD(SUBBUF_POSITION(w), size);
	if ((position & SUBBUF_OFFSET_MASK) + size < w->subbuf_bytes) {
		seq = position >> SUBBUF_OFFSET_BITS;
		header = SUBBUF_HEADER(w, seq);
		if (!header)
			return 0;
		SUBBUF_PRELIMINARY(w, seq, position & SUBBUF_OFFSET_MASK, size);
		now = SUBBUF_NOW(w);
		/* A base that is not ours yet is one of an earlier use, and earlier: what fits it fits ours. */
		if ((now - SUBBUF_LOAD(&header->base)) >> 32 == 0) {
			ret_reservation->completed = 0;
			return subbuf_reserved(position, size, now, ret_reservation);
		}
	}
	return SUBBUF_RESERVE_SLOW(w, size, position, ret_reservation);
}

/**
 * subbuf_commit() - make a written record part of its sub-buffer
 * The payload stands already; this writes the record's header, in one store, then adds the record to commit.
 * Returns true when the daemon should be woken: some sub-buffer became complete since the reservation began.
 */
SUBBUF_INLINE int subbuf_commit(const struct subbuf_writer *w, struct subbuf_reservation *r, trace_u32 id)
{
	trace_u64 seq = r->position >> SUBBUF_OFFSET_BITS;

	SUBBUF_WRITE_HEADER(w, seq, r->position & SUBBUF_OFFSET_MASK, subbuf_record_word(r->time, id, r->size, subbuf_lap(w, seq)));
	return r->completed | subbuf_commit_add(w, SUBBUF_HEADER(w, seq), seq, r->size + SUBBUF_COMMIT_RECORD);
}

/**
 * subbuf_cancel() - instead of subbuf_commit(): the reservation becomes padding, which counts as no record
 * Returns as subbuf_commit() does.
 */
SUBBUF_INLINE int subbuf_cancel(const struct subbuf_writer *w, struct subbuf_reservation *r)
{
	trace_u64 seq = r->position >> SUBBUF_OFFSET_BITS;

	SUBBUF_WRITE_HEADER(w, seq, r->position & SUBBUF_OFFSET_MASK, subbuf_record_word(0, 0, r->size, subbuf_lap(w, seq)));
	return r->completed | subbuf_commit_add(w, SUBBUF_HEADER(w, seq), seq, r->size);
}
#endif
