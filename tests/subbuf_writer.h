/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SUBBUF_WRITER_H
#define TESTS_SUBBUF_WRITER_H
/*
 * subbuf_writer.h - tracer/subbuf_write.h for tests: a writer whose ring is ordinary memory
 *
 * Before it includes this file, a test may define any SUBBUF_ macro of subbuf_write.h, and:
 *
 *   WRITER_POINT()       called before each access to memory that other writers or the reader see;
 *                        may run anything, other writers included
 *   WRITER_OWN_POINT()   called before each store into the bytes of the writer's own record
 *   WRITER_SUBBUF_WRITE_H  the file to test; tests/ring/mutants defines it as its broken copy
 */
#include <time.h>
#include <trace/subbuf.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

/**
 * struct subbuf_writer - a producer's access to one ring
 * @overwrites: the mode, as a program's memory has it; NULL: @overwrite applies
 * @preliminary: where to store the address of each preliminary header, for tracer/user/ring.h; or
 * NULL
 * @at: time of the record, for a SUBBUF_NOW() of the test
 * @position: for a SUBBUF_POSITION() of the test
 */
struct subbuf_writer {
	struct subbuf_control *control;
	unsigned char *data;
	trace_u32 subbuf_bytes;
	trace_u32 nr_subbufs_log2;
	trace_u32 cpu;
	trace_u16 producer;
	trace_u8 clock;
	trace_u8 overwrite;
	const trace_u32 *overwrites;
	trace_u32 **preliminary;
	trace_u64 at;
	trace_u64 *position;
};

/* The slot of sub-buffer @seq. */
static inline unsigned char *writer_slot(const struct subbuf_writer *w, trace_u64 seq)
{
	return w->data + (seq & ((1ULL << w->nr_subbufs_log2) - 1)) * w->subbuf_bytes;
}

/* The memory that a control.position or the position of a reservation refers to. */
static inline unsigned char *writer_at(const struct subbuf_writer *w, trace_u64 position)
{
	return writer_slot(w, position >> SUBBUF_OFFSET_BITS) + (position & SUBBUF_OFFSET_MASK);
}

/* The time on the ring's clock. */
static inline trace_u64 writer_now(enum subbuf_clock clock)
{
	struct timespec now;

#ifdef __x86_64__
	if (clock == SUBBUF_CLOCK_TSC)
		return __rdtsc();
#endif
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (trace_u64)now.tv_sec * 1000000000 + (trace_u64)now.tv_nsec;
}

#ifndef WRITER_POINT
#define WRITER_POINT() ((void)0)
#endif
#ifndef WRITER_OWN_POINT
#define WRITER_OWN_POINT() WRITER_POINT()
#endif
#define SUBBUF_LOAD(p)		(WRITER_POINT(), __atomic_load_n(p, __ATOMIC_ACQUIRE))
#define SUBBUF_STORE(p, v)	(WRITER_POINT(), __atomic_store_n(p, v, __ATOMIC_RELEASE))
#define SUBBUF_ADD(p, v)	(WRITER_POINT(), __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL))
#define SUBBUF_CAS(p, old, new) (WRITER_POINT(), __sync_val_compare_and_swap(p, old, new))
#ifndef SUBBUF_CLOCK
#define SUBBUF_CLOCK() (WRITER_POINT(), writer_now((enum subbuf_clock)w->clock))
#endif
#define SUBBUF_OVERWRITES(w)  ((w)->overwrites ? SUBBUF_LOAD((w)->overwrites) : (w)->overwrite)
#define SUBBUF_HEADER(w, seq) ((struct subbuf_header *)writer_slot(w, seq))
#define SUBBUF_WRITE_HEADER(w, seq, offset, word) \
	(WRITER_OWN_POINT(), __atomic_store_n((trace_u64 *)(writer_slot(w, seq) + (offset)), word, __ATOMIC_RELAXED))
#ifndef SUBBUF_PRELIMINARY /* as programs do; the kernel's writers define it as ((void)0) */
#define SUBBUF_PRELIMINARY(w, seq, offset, size)                                            \
	do {                                                                                \
		if ((w)->preliminary)                                                       \
			*(w)->preliminary = (trace_u32 *)(writer_slot(w, seq) + (offset));  \
		SUBBUF_WRITE_HEADER(w, seq, offset, subbuf_preliminary_word(w, seq, size)); \
	} while (0)
#endif

#ifndef WRITER_SUBBUF_WRITE_H
#define WRITER_SUBBUF_WRITE_H "../tracer/subbuf_write.h"
#endif
#include WRITER_SUBBUF_WRITE_H

#endif
