/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TIMES_H
#define LIBTRACE_TIMES_H
/*
 * times.h - the times of a block's events.
 *
 * Times are in ns, but many clocks go on in larger steps: the time-stamp counter of AMD's processors counts a clock of
 * 100 MHz, and so every time is a multiple of 10.02 ns (as the kernel has calibrated it), rounded down. Who knows the step writes
 * how many of them went by, which is 3.3 bits less for each event, and gets the exact ns back. What steps there are
 * is found in the times themselves: step.h.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/format.h>

#define TIMES_NS (1ULL << 32) /* one ns, as steps are measured */

/**
 * struct clock_model - what was learned of the clock's steps from the blocks so far
 * @step: ns, times 2^32; 0: none are known. @seen_ns: time from which it was learned. @odd: ns, times 2^16, by which odd steps are longer
 * @blocks, @next_search: large blocks so far without steps, and which of them is searched for steps next
 * Zeroed = nothing yet; the lock as for any static one.
 */
struct clock_model {
	pthread_mutex_t lock;
	uint64_t step;
	double seen_ns;
	double odd;
	uint32_t blocks;
	uint32_t next_search;
	uint32_t misfits; /* blocks in a row that did not fit */
};

enum {
	TIMES_CONTEXTS = 32, /* codes of a block, at most */
	TIMES_STREAMS = TRACE_TIMES_STREAMS,
	TIMES_PADDING = 8, /* bytes behind the bits */
	TIMES_CODE_BYTES = 4,
	TIMES_DECODE_BYTES = TIMES_CONTEXTS * (1 << 10) * TIMES_CODE_BYTES,
};

/**
 * struct times_block - the events of a block
 * @times: ns since any instant, ascending; encoding only
 * @places: of each event, its type; below @nr_types, which is at most 255
 * @n: events, at least 1; @events: of each type
 * @scratch: room for a uint64_t of each event when encoding, for TIMES_DECODE_BYTES when decoding
 */
struct times_block {
	const uint32_t *times;
	const unsigned char *places;
	const uint32_t *events;
	size_t n;
	uint32_t nr_types;
	void *scratch;
};

/** times_bound() - bytes that times_encode() writes at most for @n times */
static inline size_t times_bound(size_t n)
{
	return n / 2 + TIMES_CONTEXTS * 64 + 5 * n + TIMES_STREAMS * 8 + TIMES_PADDING;
}

/**
 * times_encode() - append the times of a block
 * @model: used, and improved; NULL: steps of 1 ns
 * @ret_times: what the head of the block has to say. @ret_codes: what begins there no compression makes smaller
 * Returns the end of what it wrote.
 */
unsigned char *times_encode(unsigned char *out, const struct times_block *block, struct clock_model *model, struct trace_columns_times *ret_times,
			    unsigned char **ret_codes);

/** times_bytes() - what the times take, by the head of the block */
uint64_t times_bytes(const struct trace_columns_times *times);

/**
 * times_decode() - the reverse
 * @in: where they begin; they must end at @end. @ret_ns: the times, the first of them @first_ns
 * Returns false, with @ret_ns undefined, when they do not end there, do not begin with the first, or go back.
 */
bool times_decode(const unsigned char *in, const unsigned char *end, const struct trace_columns_times *times, const struct times_block *block,
		  uint64_t first_ns, uint64_t *ret_ns);

#endif
