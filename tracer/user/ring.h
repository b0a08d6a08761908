/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_USER_RING_H
#define TRACER_USER_RING_H
/*
 * ring.h - one record of a program into a ring
 *
 * The includer defines what tracer/subbuf_write.h needs, includes it, and defines:
 *   USER_APPEND(window, where, now, word, payload)  append a record to the block of a CPU, in a
 *   restartable sequence; false: the thread was preempted, or there is no room
 *   USER_SWAP(where, cpu, at, from, to)             replace the value `from` of a word of that CPU
 *   by `to`, in the same way; false also if the word has another value
 * SUBBUF_PRELIMINARY() stores in *w->place where it wrote, which is the
 * place of the last reservation.
 *
 * <trace/tracepoint_inline.h> explains the common case. The program itself writes small records;
 * this file has the code for records of any size.
 */
#include <trace/tracepoint_inline.h>

_Static_assert(SUBBUF_BLOCK_RECORDS_SHIFT == TRACE_BLOCK_RECORD_SHIFT && (int)SUBBUF_CLOCK_TSC == TRACE_CLOCK_TSC,
	       "what programs were compiled with");

/**
 * struct user_payload - the payload of a record
 * @words: number of 32-bit words; the first is the thread's number
 * @first: the first two words
 * @image: all words; the first two are not used
 */
struct user_payload {
	trace_u32 words;
	trace_u64 first;
	const trace_u32 *image;
};

SUBBUF_INLINE trace_u32 user_payload_bytes(const struct user_payload *payload)
{
	return (payload->words + 1) / 2 * 8;
}

SUBBUF_INLINE void user_payload_store(const struct user_payload *payload, void *to)
{
	trace_u32 *words = (trace_u32 *)to;

	*(trace_u64 *)to = payload->first;
	for (trace_u32 i = 2; i < payload->words; i++)
		words[i] = payload->image[i];
	if (payload->words & 1)
		words[payload->words] = 0;
}

/**
 * user_ring_write() - the common case of a record, by a thread that finds its CPU at @where
 * Returns false if the record is not written and must take the slow path.
 */
SUBBUF_INLINE bool user_ring_write(const struct subbuf_writer *w, const struct trace_window *window,
				   const volatile trace_u32 *where, trace_u32 id, const struct user_payload *payload)
{
	trace_u64 now = SUBBUF_CLOCK();
	trace_u32 size = (trace_u32)sizeof(struct trace_record) + user_payload_bytes(payload);

	return USER_APPEND(window, where, now, subbuf_record_word(0, id, size, 0), payload);
}

/* ---- blocks ---- */

#ifndef USER_BLOCK_ROOM
#define USER_BLOCK_ROOM 256u /* a smaller rest is not worth a block */
#endif

SUBBUF_INLINE struct subbuf_ring user_ring_view(const struct subbuf_writer *w)
{
	return (struct subbuf_ring){w->control, w->data, w->subbuf_bytes, 1u << w->nr_subbufs_log2};
}

/* One try: a thread that does not get the window leaves the block as it is. */
SUBBUF_INLINE bool user_window_lock(struct trace_window *window)
{
	return __atomic_load_n(&window->moving, __ATOMIC_RELAXED) == 0 && SUBBUF_CAS(&window->moving, 0, 1) == 0;
}

/**
 * user_block_close() - close the block, if there is one, of the CPU that the thread runs on; before
 * a record on the slow path
 * A thread that is disturbed here, or finds another thread at it, leaves the block open. Then later
 * records can be in earlier sub-buffers; readers sort them.
 */
SUBBUF_INLINE void user_block_close(const struct subbuf_writer *w, struct trace_window *window,
				    const volatile trace_u32 *where)
{
	struct subbuf_control *control = w->control;
	struct subbuf_ring ring = user_ring_view(w);
	trace_u64 block;

	if (!subbuf_block_is_open(SUBBUF_LOAD(&control->block)) || !user_window_lock(window))
		return;
	block = SUBBUF_LOAD(&control->block);
	if (subbuf_block_is_open(block)) {
		SUBBUF_STORE(&control->block_moving, block); /* [B1] for subbuf_reap_block(), if we die here */
		if (USER_SWAP(where, w->cpu, &control->block, block, SUBBUF_BLOCK_NONE))
			subbuf_block_close(&ring, block, SUBBUF_LOAD(&control->block_begin));
		SUBBUF_STORE(&control->block_moving, 0);
	}
	SUBBUF_STORE(&window->moving, 0);
}

/* Reserve the rest of the open sub-buffer as a block, and fill in the window. The caller holds the
 * window, and no block is open. Returns false if there is no rest to reserve. */
SUBBUF_INLINE bool user_block_reserve(const struct subbuf_writer *w, struct trace_window *window, trace_u64 *ret_block)
{
	struct subbuf_control *control = w->control;
	trace_u64 position = SUBBUF_LOAD(&control->position), seq = position >> SUBBUF_OFFSET_BITS,
		  begin = position & SUBBUF_OFFSET_MASK, base;
	struct subbuf_header *header = SUBBUF_HEADER(w, seq);

	/* The load of seq is [R3]. */
	if (begin + USER_BLOCK_ROOM > w->subbuf_bytes || begin < sizeof(*header) || SUBBUF_LOAD(&header->seq) != seq)
		return false;
	base = SUBBUF_LOAD(&header->base);
	*ret_block = (seq & SUBBUF_BLOCK_SEQ_MASK) << SUBBUF_BLOCK_SEQ_SHIFT | begin;
	SUBBUF_STORE(&control->block_begin, begin);
	SUBBUF_STORE(&control->block_moving, *ret_block); /* [B1] */
	if (SUBBUF_CAS(&control->position, position, seq << SUBBUF_OFFSET_BITS | w->subbuf_bytes) != position)
		return false;
	SUBBUF_STORE(&window->base, base);
	SUBBUF_STORE(&window->lap, (trace_u64)subbuf_lap(w, seq) << 56);
	SUBBUF_STORE(&window->subbuf, (unsigned char *)header);
	SUBBUF_STORE(&window->bytes, w->subbuf_bytes);
	SUBBUF_STORE(&window->cpu, w->cpu);
	SUBBUF_STORE(&window->record, 1ULL << TRACE_BLOCK_RECORD_SHIFT);
	/* [B2] no sequence reads it before the word is stored */
	SUBBUF_STORE(&window->block, (uint64_t *)(void *)&control->block);
	return true;
}

/**
 * user_block_open() - reserve the rest of the open sub-buffer for the common case; after
 * each record on the slow path
 */
SUBBUF_INLINE void user_block_open(const struct subbuf_writer *w, struct trace_window *window,
				   const volatile trace_u32 *where)
{
	struct subbuf_control *control = w->control;
	struct subbuf_ring ring = user_ring_view(w);
	trace_u64 none, block;

	if (where[1] != w->cpu || subbuf_block_is_open(SUBBUF_LOAD(&control->block)) || !user_window_lock(window))
		return;
	none = SUBBUF_LOAD(&control->block);
	if (!subbuf_block_is_open(none)) {
		/* The swap is [B2]. */
		if (user_block_reserve(w, window, &block) && !USER_SWAP(where, w->cpu, &control->block, none, block))
			subbuf_block_close(&ring, block, (trace_u32)block);
		SUBBUF_STORE(&control->block_moving, 0);
	}
	SUBBUF_STORE(&window->moving, 0);
}

/**
 * user_ring_write_slow() - write a record in any case: opens and closes sub-buffers, or discards
 * Returns false if the record was discarded, and counted.
 */
SUBBUF_INLINE bool user_ring_write_slow(const struct subbuf_writer *w, trace_u32 id, const struct user_payload *payload)
{
	struct subbuf_reservation r;

	if (!subbuf_reserve_slow(w, (trace_u32)sizeof(struct trace_record) + user_payload_bytes(payload),
				 SUBBUF_NO_POSITION, &r))
		return false;
	user_payload_store(payload, *w->place + sizeof(struct trace_record) / sizeof(**w->place));
	subbuf_commit(w, &r, id);
	return true;
}
#endif
