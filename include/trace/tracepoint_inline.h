/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_TRACEPOINT_INLINE_H
#define TRACE_TRACEPOINT_INLINE_H
/*
 * tracepoint_inline.h - the common case of an event, as <trace/tracepoint.h> leaves it in the program itself. Not for direct use.
 *
 * It costs little more than the reading of the clock that stands at its beginning, because of what it does not wait for. That is the time stamp
 * counter where the kernel keeps its own time by it; elsewhere, as in many virtual machines, libtracer tells the time, by a call.
 *
 * - The clock comes first. A processor hardly overlaps the reading of its counter with a locked add that stands before it, but very well with
 *   those behind it. So a record carries the time at which it was begun, and a few stores after the add that reserves its place its
 *   header stands there: only a death between the two leaves a hole of unknown size.
 * - Nothing is worked out of the ring's position. libtracer keeps a window for each CPU: the sub-buffer that is being filled. While the position lies in
 *   it the address is one addition away; otherwise libtracer is called, records the event the long way and moves the window.
 *
 * Why the window may be moved while others look through it. What is read of it is believed only if the add finds the position where it
 * was: in the sub-buffer whose number the window had. libtracer moves a window, one thread at a time, only to the sub-buffer in which it has seen the
 * position; positions only grow; so who reads anything of the new sub-buffer finds, adding later, the position beyond the old one.
 *
 * A time is never before the base of its sub-buffer, which stands in the window. Who was held up between the clock and the add for so long
 * that the ring has gone on takes the long way, with a new time. The CPU is looked at before the clock and after it: the time is
 * of the CPU whose ring it is. Who is moved after that writes to the ring of the CPU where the event was.
 *
 * All this is fixed for programs that were compiled with it: TRACE_TRACEPOINT_VERSION. libtracer records events of its own version and switches
 * others off; a libtracer that cannot keep what is here gets another soname.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct trace_window - the sub-buffer that one CPU fills; libtracer's, a cache line
 * @ring: its first word is the position, which is (number of the sub-buffer << 26) + offset. NULL: nothing to be seen, as in a child after a fork
 * @begin: position of the sub-buffer's first byte; @bytes: of the sub-buffer. Behind @begin all the rest is at least as new
 * @base: its full time. @lap: what the headers of its records have in their upper 8 bits
 * @subbuf: its header, of which the program needs to know the count of committed bytes and records
 * @moving: somebody moves it
 */
struct trace_window {
	unsigned char *ring;
	uint64_t begin;
	uint64_t base;
	uint64_t lap;
	unsigned char *subbuf;
	uint64_t bytes;
	uint32_t moving;
	uint32_t pad[3];
} __attribute__((aligned(64)));

/**
 * struct trace_thread - what a thread knows
 * @cpu: where the kernel keeps its CPU: twice, as in struct rseq; the second is none while it is not known
 * @windows: by CPU. @tid: the thread's number
 * @clock: what its records' times are, enum subbuf_clock: TRACE_CLOCK_TSC, or what trace_tracepoint_clock() says
 */
struct trace_thread {
	const volatile uint32_t *cpu;
	struct trace_window *windows;
	uint32_t tid;
	uint32_t clock;
};

#define TRACE_CLOCK_TSC 1

#define TRACE_WINDOW_COMMIT 32			   /* offset of the count in a sub-buffer's header */
#define TRACE_WINDOW_COMMIT_RECORD (1ULL << 40)	   /* one record in it */
#define TRACE_NO_POSITION (~0ULL)

/* The tests that run all interleavings of this define their own. */
#ifndef TRACE_RING_LOAD
#define TRACE_RING_LOAD(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define TRACE_RING_ADD(p, v) __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
#endif
#ifndef TRACE_WINDOW_LOAD
#define TRACE_WINDOW_LOAD(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#endif
#ifndef TRACE_RING_WRITE_HEADER
/* Release: when the program is killed, what stands before a header in the program stands before it in memory. */
#define TRACE_RING_WRITE_HEADER(p, word) __atomic_store_n(p, word, __ATOMIC_RELEASE)
#endif

/** struct trace_place - room for one record. @position: what the add returned, or TRACE_NO_POSITION when there was none */
struct trace_place {
	uint64_t position;
	unsigned char *subbuf;
	unsigned char *record;
	uint64_t lap;
};

/* Room for @bytes through the window, at time @now. False: the long way, with place->position. */
static inline __attribute__((always_inline)) bool trace_place_reserve(struct trace_window *window, uint64_t bytes, uint64_t now, struct trace_place *place)
{
	unsigned char *ring = TRACE_WINDOW_LOAD(&window->ring);
	uint64_t before, offset;

	place->position = TRACE_NO_POSITION;
	if (__builtin_expect(!ring, 0))
		return false;
	/* In this order [I1]: then, what follows it, and the position after it. Pairs with [I2] in user_window_move(). */
	offset = 0 - TRACE_RING_LOAD(&window->begin);
	before = TRACE_RING_LOAD((uint64_t *)(void *)ring);
	offset += before;
	if (__builtin_expect(offset + bytes >= TRACE_WINDOW_LOAD(&window->bytes), 0))
		return false; /* it would have to be closed, or is another one */
	if (__builtin_expect((now - TRACE_WINDOW_LOAD(&window->base)) >> 32 != 0, 0))
		return false;
	place->subbuf = TRACE_WINDOW_LOAD(&window->subbuf);
	place->record = place->subbuf + offset;
	place->lap = TRACE_WINDOW_LOAD(&window->lap);
	place->position = TRACE_RING_ADD((uint64_t *)(void *)ring, bytes);
	return __builtin_expect(place->position == before, 1);
}

/* The payload stands there: the header, in one store, and then the record belongs to its sub-buffer. @word: without lap and time. */
static inline __attribute__((always_inline)) void trace_place_commit(const struct trace_place *place, uint64_t bytes, uint64_t now, uint64_t word)
{
	TRACE_RING_WRITE_HEADER((uint64_t *)(void *)place->record, place->lap | word | (uint32_t)now);
	TRACE_RING_ADD((uint64_t *)(void *)(place->subbuf + TRACE_WINDOW_COMMIT), bytes + TRACE_WINDOW_COMMIT_RECORD);
}

#ifdef __cplusplus
}
#endif
#endif
