/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TIMES_H
#define LIBTRACE_TIMES_H
/*
 * times.h - the times of a block's events.
 *
 * Times are in ns, but many clocks go on in larger steps: the time-stamp counter of AMD's processors counts a clock of
 * 100 MHz, and so every time is a multiple of 10.02 ns (as the kernel has calibrated it), rounded down. Who knows the step writes
 * how many of them went by, which is 3.3 bits less for each event, and gets the exact ns back. What steps there are
 * is found in the times themselves: see times.c.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/format.h>

#define TIMES_NS (1ULL << 32) /* one ns, as steps are measured */

/**
 * struct clock_model - what was learned of the clock's steps from the blocks so far
 * @step: ns, times 2^32; TIMES_NS: none are known. @seen_ns: time from which it was learned
 * @blocks, @next_search: large blocks so far without steps, and which of them is searched for steps next
 * Zeroed = nothing yet; the lock as for any static one.
 */
struct clock_model {
	pthread_mutex_t lock;
	uint64_t step;
	double seen_ns;
	uint32_t blocks;
	uint32_t next_search;
	uint32_t misfits; /* blocks in a row that did not fit */
};

/** times_bound() - bytes that times_encode() writes at most for @n times */
static inline size_t times_bound(size_t n)
{
	return n + 2 * n + 4 * n + 16;
}

/**
 * times_encode() - append the times of a block
 * @times: ns since the first, ascending; @n: at least 1. @counts: room for @n numbers
 * @model: used, and improved; NULL: steps of 1 ns
 * @ret_times: what the head of the block has to say. @ret_bits: where the bits begin, which no compression makes smaller
 * Returns the end of what it wrote.
 */
unsigned char *times_encode(unsigned char *out, const uint32_t *times, size_t n, uint32_t *counts, struct clock_model *model,
			    struct trace_columns_times *ret_times, unsigned char **ret_bits);

/**
 * times_decode() - the reverse
 * @in: where they begin; they must end at @end. @ret_ns: @n times, the first of them @first_ns
 * Returns false, with @ret_ns undefined, when they do not end there, do not begin with the first, or go back.
 */
bool times_decode(const unsigned char *in, const unsigned char *end, const struct trace_columns_times *times, uint64_t first_ns, size_t n,
		  uint64_t *ret_ns);

#endif
