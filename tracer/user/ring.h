/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_USER_RING_H
#define TRACER_USER_RING_H
/*
 * ring.h - one record of a program into a ring. The includer defines what tracer/subbuf_write.h needs, includes it, and defines
 *   USER_MOVED(w)   is the thread on another CPU than w->cpu now?
 * SUBBUF_PRELIMINARY() leaves in *w->place where it wrote, so that the last reservation is there.
 *
 * Here stands the common case, a second time beside subbuf_reserve(), because of what it waits for. All that is derived from the position
 * (the sub-buffer's address, its lap) is derived from the position as it was *before* the add, and the add's result is only compared with it: the
 * processor predicts that comparison, and so the second locked instruction, in the sub-buffer's header, need not wait for
 * the first. Measured beside a bare rdtsc of 11.7 ns: 14.5 instead of 17.2.
 */

/**
 * user_ring_write() - the common case of a record
 * @w: the ring; @payload: @words 32-bit words, of which the first is replaced by @tid
 * Returns true when the record was written. Otherwise the caller takes the long way with *ret_position: what the add that was
 * made returned, or SUBBUF_NO_POSITION.
 */
SUBBUF_INLINE bool user_ring_write(const struct subbuf_writer *w, trace_u32 id, trace_u32 tid, const trace_u32 *payload, trace_u32 words,
				   trace_u64 *ret_position)
{
	trace_u64 size = 8 + (words + 1) / 2 * 8, offset;
	trace_u32 *place;
	trace_u64 before = SUBBUF_LOAD(&w->control->position), seq = before >> SUBBUF_OFFSET_BITS, position, now;
	struct subbuf_header *header = SUBBUF_HEADER(w, seq);
	trace_u8 lap = subbuf_lap(w, seq);

	*ret_position = SUBBUF_NO_POSITION;
	/* No room in an open sub-buffer; or the ring was never set up: its position is 0, while records stand behind a header. */
	if (__builtin_expect((before & SUBBUF_OFFSET_MASK) - 1 >= (trace_u64)w->subbuf_bytes - size - 1, 0))
		return false;
	position = SUBBUF_ADD(&w->control->position, size);
	offset = position & SUBBUF_OFFSET_MASK;
	if (__builtin_expect(position >> SUBBUF_OFFSET_BITS != seq || offset + size >= w->subbuf_bytes, 0)) {
		*ret_position = position;
		return false;
	}
	SUBBUF_PRELIMINARY(w, seq, offset, size);
	now = SUBBUF_CLOCK();
	/* As in subbuf_reserve(): a base that is not ours yet is one of an earlier use, and earlier. */
	if (__builtin_expect((now - SUBBUF_LOAD(&header->base)) >> 32 != 0, 0)) {
		*ret_position = position;
		return false;
	}
	place = (trace_u32 *)((unsigned char *)header + offset + sizeof(struct trace_record));
	place[0] = tid;
	for (trace_u32 i = 1; i < words; i++)
		place[i] = payload[i];
	if (words & 1)
		place[words] = 0;
	if (__builtin_expect(USER_MOVED(w), 0)) {
		/* The time may be another CPU's, whose ring has later ones already: leave padding, and begin again there. */
		SUBBUF_WRITE_HEADER(w, seq, offset, subbuf_record_word(0, 0, (trace_u32)size, lap));
		SUBBUF_ADD(&header->commit, size);
		return false;
	}
	SUBBUF_WRITE_HEADER(w, seq, offset, subbuf_record_word((trace_u32)now, id, (trace_u32)size, lap));
	SUBBUF_ADD(&header->commit, size + SUBBUF_COMMIT_RECORD); /* [W2]; nobody is woken, the daemon looks by itself */
	return true;
}

/**
 * user_ring_write_slow() - a record in any case: opens, closes, discards
 * @position: what an add for this record returned, or SUBBUF_NO_POSITION. False: discarded, and counted.
 */
SUBBUF_INLINE bool user_ring_write_slow(const struct subbuf_writer *w, trace_u32 id, trace_u32 tid, const trace_u32 *payload, trace_u32 words,
					trace_u64 position)
{
	trace_u32 size = 8 + (words + 1) / 2 * 8, *place;
	struct subbuf_reservation r;

	if (!subbuf_reserve_slow(w, size, position, &r))
		return false;
	place = *w->place + sizeof(struct trace_record) / sizeof(*place);
	place[0] = tid;
	for (trace_u32 i = 1; i < words; i++)
		place[i] = payload[i];
	if (words & 1)
		place[words] = 0;
	subbuf_commit(w, &r, id);
	return true;
}
#endif
