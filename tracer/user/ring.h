/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_USER_RING_H
#define TRACER_USER_RING_H
/*
 * ring.h - one record of a program into a ring. The includer defines what tracer/subbuf_write.h needs, includes it, and defines
 *   USER_MOVED(w)   is the thread on another CPU than w->cpu now?
 * SUBBUF_PRELIMINARY() leaves in *w->place where it wrote, so that the last reservation is there.
 *
 * Here stands the common case, a second time beside subbuf_reserve(), because of what it waits for:
 *
 * The clock comes first. A processor hardly overlaps the reading of the time stamp counter with a locked add that stands before it; behind
 * it the adds cost next to nothing. So a record carries the time at which it was begun, and between the reservation and
 * the record's header, where a death leaves a hole, stand only a few stores. A time is never before the base of its sub-buffer: the
 * base is compared, and it is the sub-buffer's own because its number is ([R3] pairs with [W1]), which must stand there before the add. Who was
 * held up between the clock and the add for so long that the ring has gone on takes the long way, with a new time.
 * The CPU is looked at before the clock and after it: the time is of the CPU whose ring it is. Who is moved later writes
 * to the ring of the CPU where the event was.
 *
 * All that is derived from the position (the record's address, the sub-buffer's, its lap) is derived from the position as it was *before*
 * the add, and the add's result is only compared with it: the processor predicts that comparison, and so the second locked instruction, in the
 * sub-buffer's header, need not wait for the first. Should another writer have come in between, the long way goes on with what the add returned.
 */

/**
 * struct user_payload - what a record holds behind its header
 * @words: 32-bit words, the thread's number first
 * @first: the words, two in each, the thread's number in the lower half of the first; when they are few: handed over in registers
 * @image: all words instead, of which the first is replaced; NULL when they are in @first
 */
struct user_payload {
	trace_u32 words;
	trace_u64 first[3];
	const trace_u32 *image;
};

SUBBUF_INLINE trace_u32 user_payload_bytes(const struct user_payload *payload)
{
	return (payload->words + 1) / 2 * 8;
}

SUBBUF_INLINE void user_payload_store(const struct user_payload *payload, void *to)
{
	trace_u64 *pairs = (trace_u64 *)to;
	trace_u32 *words = (trace_u32 *)to;

	pairs[0] = payload->first[0];
	if (!payload->image) {
		if (payload->words > 2)
			pairs[1] = payload->first[1];
		if (payload->words > 4)
			pairs[2] = payload->first[2];
		return;
	}
	for (trace_u32 i = 1; i < payload->words; i++)
		words[i] = payload->image[i];
	if (payload->words & 1)
		words[payload->words] = 0;
}

/**
 * user_ring_write() - the common case of a record
 * Returns true when the record was written. Otherwise the caller takes the long way with *ret_position: what the add that was
 * made returned, or SUBBUF_NO_POSITION.
 */
SUBBUF_INLINE bool user_ring_write(const struct subbuf_writer *w, trace_u32 id, const struct user_payload *payload, trace_u64 *ret_position)
{
	trace_u64 size = sizeof(struct trace_record) + user_payload_bytes(payload), now = SUBBUF_CLOCK();
	bool moved = USER_MOVED(w);
	trace_u64 before = SUBBUF_LOAD(&w->control->position), seq = before >> SUBBUF_OFFSET_BITS, offset = before & SUBBUF_OFFSET_MASK;
	struct subbuf_header *header = SUBBUF_HEADER(w, seq);
	trace_u64 word = subbuf_record_word((trace_u32)now, id, (trace_u32)size, subbuf_lap(w, seq));

	*ret_position = SUBBUF_NO_POSITION;
	/* No room in an open sub-buffer; or the ring was never set up: its position is 0, while records stand behind a header. */
	if (__builtin_expect(moved || offset - 1 >= (trace_u64)w->subbuf_bytes - size - 1, 0))
		return false;
	/* The number first [R3]: then the base is of this use, and stays while the position is in it. */
	if (__builtin_expect(SUBBUF_LOAD(&header->seq) != seq || (now - SUBBUF_LOAD(&header->base)) >> 32 != 0, 0))
		return false;
	*ret_position = SUBBUF_ADD(&w->control->position, size);
	if (__builtin_expect(*ret_position != before, 0))
		return false;
	/* Few words stand there as soon as their preliminary header would. */
	if (payload->image)
		SUBBUF_PRELIMINARY(w, seq, offset, (trace_u32)size);
	user_payload_store(payload, (unsigned char *)header + offset + sizeof(struct trace_record));
	SUBBUF_WRITE_HEADER(w, seq, offset, word);
	SUBBUF_ADD(&header->commit, size + SUBBUF_COMMIT_RECORD); /* [W2]; nobody is woken, the daemon looks by itself */
	return true;
}

/**
 * user_ring_write_slow() - a record in any case: opens, closes, discards
 * @position: what an add for this record returned, or SUBBUF_NO_POSITION. False: discarded, and counted.
 */
SUBBUF_INLINE bool user_ring_write_slow(const struct subbuf_writer *w, trace_u32 id, const struct user_payload *payload, trace_u64 position)
{
	struct subbuf_reservation r;

	if (!subbuf_reserve_slow(w, (trace_u32)sizeof(struct trace_record) + user_payload_bytes(payload), position, &r))
		return false;
	user_payload_store(payload, *w->place + sizeof(struct trace_record) / sizeof(**w->place));
	subbuf_commit(w, &r, id);
	return true;
}
#endif
