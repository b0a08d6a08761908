/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_SUBBUF_WRITE_H
#define TRACER_SUBBUF_WRITE_H
/*
 * subbuf_write.h - the producers' side of a ring: reserve, write, commit
 * One source for BPF, for libtracer and for the tests that run every interleaving of it.
 *
 * The includer defines, before this file:
 *   SUBBUF_LOAD(p) SUBBUF_STORE(p, v)  acquire and release, never torn (on x86 a volatile access is
 *                                      both)
 *   SUBBUF_ADD(p, v)            fetch-and-add, fully ordered (BPF's with a result always are)
 *   SUBBUF_CAS(p, old, new)     compare-and-swap, fully ordered, returns the old value
 *   SUBBUF_CLOCK()              the ring's clock, monotonic on each CPU
 *   SUBBUF_HEADER(w, seq)       the header of sub-buffer seq, or NULL (only for the BPF verifier)
 *   SUBBUF_WRITE_HEADER(w, seq, offset, word)  store a record's 64-bit header
 *   SUBBUF_PRELIMINARY(w, seq, offset, size)   optional: what to store in reserved bytes at once.
 *                               Programs store subbuf_preliminary_word(), so that subbuf_salvage()
 *                               can step over the bytes if the program dies
 *   SUBBUF_OVERWRITES(w)        optional: may a sub-buffer be reused before the consumer took it?
 *                               Read at each opening, after a load of the position [R5]
 *   SUBBUF_POSITION(w)          optional: the word that this writer uses as the ring's position
 *   SUBBUF_NOW(w)               optional: the time of the record, if that is not SUBBUF_CLOCK()
 *   SUBBUF_OPEN_CLOCK(w, ret_ns)  optional: SUBBUF_CLOCK() for an opener, with CLOCK_MONOTONIC of
 *                               the same instant, or 0
 *   SUBBUF_RESERVE_SLOW(w, size, position, ret_reservation)  optional: calls subbuf_reserve_slow()
 *                               out of line
 *   SUBBUF_RESERVE_TRY(w, size, position, ret_reservation)   optional: the same for
 *                               subbuf_reserve_try()
 *   struct subbuf_writer        with the members control, subbuf_bytes, nr_subbufs_log2, overwrite,
 *                               cpu, producer, clock
 *
 * Writers of one ring may interrupt or preempt each other anywhere, and may finish in any order: no
 * code here assumes that the last to enter is the first to leave. No writer waits for another, and
 * every loop is bounded.
 *
 * A writer reads the clock after it has reserved. The opener read the base before it published the
 * sub-buffer, so a record's time is never before its base. The price: of two nested records the
 * outer one may have the later time, so readers sort. A writer reads the clock once per event, and
 * an opener once more.
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
#define SUBBUF_TRIES 8 /* a try fails only if another writer closed or opened a sub-buffer meanwhile */
#endif

/* A record's header, as one word for a single store. */
static __attribute__((always_inline)) inline trace_u64 subbuf_record_word(trace_u32 time, trace_u32 id, trace_u32 size,
									  trace_u8 lap)
{
	return (trace_u64)lap << 56 | (trace_u64)(size / 8) << 48 | (trace_u64)id << 32 | time;
}

static __attribute__((always_inline)) inline trace_u8 subbuf_lap(const struct subbuf_writer *w, trace_u64 seq)
{
	return (trace_u8)(seq >> w->nr_subbufs_log2);
}

/* The preliminary header: it stands where the record will be, until the record's own header is.
 * It holds the size, so that salvage can step over the record if its writer dies. */
static __attribute__((always_inline)) inline trace_u64 subbuf_preliminary_word(const struct subbuf_writer *w,
									       trace_u64 seq, trace_u32 size)
{
	return subbuf_record_word(SUBBUF_TIME_PRELIMINARY, 0, size, subbuf_lap(w, seq));
}

/**
 * struct subbuf_reservation - room for one record
 * @position: number of the sub-buffer and offset in it, as in control.position. Everything else is
 *     computed from it when needed: a value that lives across the call of the clock costs a BPF
 *     program, with its four callee-saved registers, a store and a load.
 * @time: for the record's header
 * @size: size of the record, a multiple of 8
 * @completed: a sub-buffer became complete, so the caller wakes the daemon;
 *     valid also if reserving failed
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

/* Add to commit; returns true if that completed the sub-buffer. [W2] pairs with [R1] in
 * subbuf_complete(): a consumer that reads the complete sum sees every record, because each
 * writer's add comes after its record, and the adds are ordered. */
SUBBUF_INLINE int subbuf_commit_add(const struct subbuf_writer *w, struct subbuf_header *header, trace_u64 seq,
				    trace_u64 amount)
{
	trace_u64 commit = SUBBUF_ADD(&header->commit, amount) + amount; /* [W2] */

	return ((commit - subbuf_slot_base(w, seq) - w->subbuf_bytes) & SUBBUF_COMMIT_MASK) == 0;
}

/* Close the sub-buffer. The writer that crossed the end with its add owns the rest of the
 * sub-buffer, so only this writer stores where the records end. */
SUBBUF_INLINE int subbuf_close(const struct subbuf_writer *w, trace_u64 seq, trace_u32 end)
{
	struct subbuf_header *header = SUBBUF_HEADER(w, seq);

	if (!header)
		return 0;
	SUBBUF_STORE(&header->end, end); /* before [W2] */
	return subbuf_commit_add(w, header, seq, w->subbuf_bytes - end);
}

/* May the slot be opened for @seq? Its earlier use must be complete. The consumer must have
 * released it, unless we overwrite. */
SUBBUF_INLINE int subbuf_slot_free(const struct subbuf_writer *w, trace_u64 commit, trace_u64 seq)
{
	if (((commit - subbuf_slot_base(w, seq)) & SUBBUF_COMMIT_MASK) != 0)
		return 0; /* a writer is still inside */
	if (seq >> (64 - SUBBUF_OFFSET_BITS))
		return 0;	  /* position has no bits for the number: the ring ends here, after at least 4 PiB */
	if (SUBBUF_OVERWRITES(w)) /* [R5] after the position; pairs with [W5] before subbuf_keep() */
		return 1;
	return seq - SUBBUF_LOAD(&w->control->consumed) <= (1ULL << w->nr_subbufs_log2); /* [R4] pairs with [W4] */
}

/* Fill in the header of the sub-buffer that our compare-and-swap opened. @commit is the slot's
 * commit before it. @base and @lost were read before it, so they never decrease from one sub-buffer
 * to the next, however late we run. No other writer stores to these fields. Other writers may
 * already add records after ours; these need none of the fields, and cannot complete the sub-buffer
 * before our own record is committed. */
SUBBUF_INLINE void subbuf_open(const struct subbuf_writer *w, struct subbuf_header *header, trace_u64 seq,
			       trace_u64 base, trace_u64 base_ns, trace_u64 commit, trace_u64 lost)
{
	trace_u64 records = (commit - subbuf_slot_base(w, seq)) >> 40;

	if (w->overwrite && header->seq) /* the consumer never reads the records in the slot */
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
	/* [W1] after base; before our record's commit [W2]. Pairs with
	 * [R3] in subbuf_reserve_try(). */
	SUBBUF_STORE(&header->seq, seq);
	if (SUBBUF_CLOCK() - base >= 1ULL << 31)
		header->flags = SUBBUF_FLAG_TIME_SUSPECT;
	SUBBUF_ADD(&header->commit, sizeof(*header)); /* cannot complete it: our record is not committed yet */
}

/* A record's 32 bits cannot hold its time. Turn the reservation into padding, and close the
 * sub-buffer, so that the next try opens one with a new base. Do not close it if other writers have
 * done so, or have just moved the position. This is a compare-and-swap, not an add: several late
 * writers that all reach this point could otherwise push the offset over its 26 bits. */
SUBBUF_INLINE int subbuf_expire(const struct subbuf_writer *w, struct subbuf_header *header, trace_u64 seq,
				trace_u32 offset, trace_u32 size)
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

SUBBUF_INLINE int subbuf_reserved(trace_u64 position, trace_u32 size, trace_u64 now,
				  struct subbuf_reservation *ret_reservation)
{
	ret_reservation->position = position;
	ret_reservation->size = (trace_u16)size;
	ret_reservation->time = (trace_u32)now;
	return 1;
}

#define SUBBUF_NO_POSITION (~0ULL)

/**
 * subbuf_reserve_try() - close a sub-buffer, open the next, or add to the open one; one try
 * @position: the position that an add for this record already returned, or SUBBUF_NO_POSITION
 * Returns 1 with @ret_reservation filled in; 0 if all sub-buffers are full; -1 if another writer
 * moved the position meanwhile: the next try sees the change.
 */
SUBBUF_INLINE int subbuf_reserve_try(const struct subbuf_writer *w, trace_u32 size, trace_u64 position,
				     struct subbuf_reservation *ret_reservation)
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
				SUBBUF_STORE(&header->end, offset + size); /* we fill it, so we close it */
			now = SUBBUF_NOW(w);
			/* [R3] pairs with [W1]. If the header's number is not this one yet, its
			 * opener is just storing it: our time is close to the base. */
			base = SUBBUF_LOAD(&header->seq) == seq ? SUBBUF_LOAD(&header->base) : now;
			if ((now - base) >> 32 == 0)
				return subbuf_reserved(seq << SUBBUF_OFFSET_BITS | offset, size, now, ret_reservation);
			/* The kernel's fast clock may step back by some ns
			 * when its rate is adjusted. */
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
		/* If the position moved, another writer opened the slot meanwhile, and
		 * we can use it: try again. */
		return SUBBUF_LOAD(SUBBUF_POSITION(w)) == position ? 0 : -1;
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

/* Reserve in all cases; count the record if it is discarded. @position: as for
 * subbuf_reserve_try(). Programs call it out of line: it runs once per sub-buffer. */
SUBBUF_INLINE int subbuf_reserve_slow(const struct subbuf_writer *w, trace_u32 size, trace_u64 position,
				      struct subbuf_reservation *ret_reservation)
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
 * subbuf_reserve() - reserve room for one record of @size bytes, and read its time
 * @size: header included, a multiple of 8, at most TRACE_RECORD_MAX_BYTES
 * Returns 1 with @ret_reservation filled in; subbuf_commit() is to follow. Returns 0 if the event
 * is discarded, and counts it. In both cases ret_reservation->completed says whether a sub-buffer
 * became complete.
 * This function has only the common case, a record in the middle of an open sub-buffer.
 */
SUBBUF_INLINE int subbuf_reserve(const struct subbuf_writer *w, trace_u32 size,
				 struct subbuf_reservation *ret_reservation)
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
		/* The base may still be that of an earlier use of the slot. That base is earlier: a
		 * time that fits it fits ours, too. */
		if ((now - SUBBUF_LOAD(&header->base)) >> 32 == 0) {
			ret_reservation->completed = 0;
			return subbuf_reserved(position, size, now, ret_reservation);
		}
	}
	return SUBBUF_RESERVE_SLOW(w, size, position, ret_reservation);
}

/**
 * subbuf_commit() - make a written record part of its sub-buffer
 * The caller has stored the payload. This stores the record's header, in one store, then
 * adds the record to commit.
 * Returns true when the caller should wake the daemon: some sub-buffer became complete
 * since the reservation began.
 */
SUBBUF_INLINE int subbuf_commit(const struct subbuf_writer *w, struct subbuf_reservation *r, trace_u32 id)
{
	trace_u64 seq = r->position >> SUBBUF_OFFSET_BITS;

	SUBBUF_WRITE_HEADER(w, seq, r->position & SUBBUF_OFFSET_MASK,
			    subbuf_record_word(r->time, id, r->size, subbuf_lap(w, seq)));
	return r->completed | subbuf_commit_add(w, SUBBUF_HEADER(w, seq), seq, r->size + SUBBUF_COMMIT_RECORD);
}

/**
 * subbuf_cancel() - instead of subbuf_commit(): turn the reservation into padding,
 * which counts as no record
 * Returns as subbuf_commit() does.
 */
SUBBUF_INLINE int subbuf_cancel(const struct subbuf_writer *w, struct subbuf_reservation *r)
{
	trace_u64 seq = r->position >> SUBBUF_OFFSET_BITS;

	SUBBUF_WRITE_HEADER(w, seq, r->position & SUBBUF_OFFSET_MASK,
			    subbuf_record_word(0, 0, r->size, subbuf_lap(w, seq)));
	return r->completed | subbuf_commit_add(w, SUBBUF_HEADER(w, seq), seq, r->size);
}
#endif
