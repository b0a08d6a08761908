/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_USER_RING_H
#define TRACER_USER_RING_H
/*
 * ring.h - one record of a program into a ring. The includer defines what tracer/subbuf_write.h needs, includes it, and defines
 *   USER_MOVED(w)   is the thread on another CPU than w->cpu now?
 * SUBBUF_PRELIMINARY() leaves in *w->place where it wrote, so that the last reservation is there.
 *
 * The common case is <trace/tracepoint_inline.h>, which says how it works. Here it stands for records of any size; the small ones are written by
 * the program itself.
 */
#ifndef TRACE_RING_LOAD
#define TRACE_RING_LOAD(p) SUBBUF_LOAD(p)
#define TRACE_RING_ADD(p, v) SUBBUF_ADD(p, v)
#endif
#include <trace/tracepoint_inline.h>

_Static_assert(offsetof(struct subbuf_control, position) == 0 && offsetof(struct subbuf_header, commit) == TRACE_WINDOW_COMMIT &&
		       SUBBUF_COMMIT_RECORD == TRACE_WINDOW_COMMIT_RECORD && SUBBUF_NO_POSITION == TRACE_NO_POSITION &&
		       (int)SUBBUF_CLOCK_TSC == TRACE_CLOCK_TSC,
	       "what programs were compiled with");

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
SUBBUF_INLINE bool user_ring_write(const struct subbuf_writer *w, struct trace_window *window, trace_u32 id, const struct user_payload *payload,
				   trace_u64 *ret_position)
{
	trace_u64 size = sizeof(struct trace_record) + user_payload_bytes(payload), now = SUBBUF_CLOCK();
	struct trace_place place = { .position = SUBBUF_NO_POSITION };

	*ret_position = SUBBUF_NO_POSITION;
	if (__builtin_expect(USER_MOVED(w), 0))
		return false;
	if (!trace_place_reserve(window, size, now, &place)) {
		*ret_position = place.position;
		return false;
	}
	/* Few words, which are no image, stand there as soon as their preliminary header would. */
	if (payload->image)
		TRACE_RING_WRITE_HEADER((trace_u64 *)(void *)place.record, place.lap | subbuf_record_word(SUBBUF_TIME_PRELIMINARY, 0, (trace_u32)size, 0));
	user_payload_store(payload, place.record + sizeof(struct trace_record));
	trace_place_commit(&place, size, now, subbuf_record_word(0, id, (trace_u32)size, 0)); /* [W2]; nobody is woken, the daemon looks by itself */
	return true;
}

/**
 * user_window_move() - let the common case see the sub-buffer that is being filled
 * Who does not get to move it leaves that to somebody who comes later. After each record that took the long way.
 */
SUBBUF_INLINE void user_window_move(const struct subbuf_writer *w, struct trace_window *window)
{
	trace_u64 position = SUBBUF_LOAD(&w->control->position), seq = position >> SUBBUF_OFFSET_BITS, begin = seq << SUBBUF_OFFSET_BITS, base;
	struct subbuf_header *header = SUBBUF_HEADER(w, seq);

	if (__atomic_load_n(&window->begin, __ATOMIC_RELAXED) == begin || (position & SUBBUF_OFFSET_MASK) >= w->subbuf_bytes ||
	    __atomic_load_n(&window->moving, __ATOMIC_RELAXED) || SUBBUF_CAS(&window->moving, 0, 1) != 0)
		return;
	base = SUBBUF_LOAD(&header->seq) == seq ? SUBBUF_LOAD(&header->base) : 0; /* [R3] */
	/* It never goes back: whoever moved it meanwhile saw a later position. */
	if (base && __atomic_load_n(&window->begin, __ATOMIC_RELAXED) < begin) {
		SUBBUF_STORE(&window->base, base);
		SUBBUF_STORE(&window->lap, (trace_u64)subbuf_lap(w, seq) << 56);
		SUBBUF_STORE(&window->subbuf, (unsigned char *)header);
		SUBBUF_STORE(&window->bytes, w->subbuf_bytes);
		SUBBUF_STORE(&window->begin, begin); /* [I2] */
		SUBBUF_STORE(&window->ring, (unsigned char *)w->control);
	}
	SUBBUF_STORE(&window->moving, 0);
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
