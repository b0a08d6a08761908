/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TIMES_H
#define LIBTRACE_TIMES_H
/*
 * times.h - encode and decode the times of a block's events.
 *
 * Times are in ns, but many clocks advance in larger steps. The time-stamp counter of AMD's
 * processors counts a clock of 100 MHz, so every time is a multiple of 10.02 ns (as calibrated by
 * the kernel), rounded down. The encoder stores the number of steps between events, which saves 3.3
 * bits per event, and the decoder computes the exact ns. The step is found from the times
 * themselves: step.h.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/format.h>

#define TIMES_NS (1ULL << 32) /* one ns in the unit of steps: ns times 2^32 */

/**
 * struct clock_model - what the blocks so far have taught about the steps of the clock
 * @step: ns, times 2^32; 0: unknown
 * @seen_ns: the time from which @step was learned
 * @odd: ns, times 2^16: how much longer odd steps are
 * @blocks: large blocks so far while the step was unknown
 * @next_search: number of the large block in which the step is searched for next
 * Initialise with zeroes, and @lock like any static mutex.
 */
struct clock_model {
	pthread_mutex_t lock;
	uint64_t step;
	double seen_ns;
	double odd;
	uint32_t blocks;
	uint32_t next_search;
	uint32_t misfits; /* consecutive blocks that the step did not fit */
};

enum {
	TIMES_STREAMS = TRACE_TIMES_STREAMS,
	TIMES_PADDING = 8, /* bytes after the bits */
	TIMES_KNOWN = 48,
	TIMES_LETTERS = 2, /* the coding with letters */
};

/**
 * struct times_known - a context of which it is known that it pays: events of type @ids[0] after
 * those of the types @ids[1] to @ids[@depth], the latest first
 */
struct times_known {
	uint16_t ids[4];
	uint8_t depth;
};

/**
 * struct times_learned - the contexts that the blocks so far have taught
 * @blocks: large blocks so far; @next: the number of the one that is searched next
 * Initialise like struct clock_model.
 */
struct times_learned {
	pthread_mutex_t lock;
	uint32_t blocks;
	uint32_t next;
	unsigned int nr;
	struct times_known known[TIMES_KNOWN];
};

/**
 * struct times_block - the events of a block
 * @times: ns since any instant, ascending; for encoding only
 * @type_idxs: the type of each event, below @nr_types, which is at most 255
 * @n: number of events, at least 1
 * @letters: list of letters (times_letters.h), of @letters_bytes; NULL: none. With it, @type_idxs,
 *     @nr_types, @ids and @events are of letters
 * @ids, @events: id of each type, for encoding only, and its number of events
 * @scratch: times_encode_room() or times_decode_room() bytes
 */
struct times_block {
	const uint32_t *times;
	const unsigned char *type_idxs;
	const uint16_t *ids;
	const uint32_t *events;
	size_t n;
	uint32_t nr_types;
	const unsigned char *letters;
	size_t letters_bytes;
	void *scratch;
};

/** times_bound() - most bytes that times_encode() writes for @n times, without letters */
size_t times_bound(size_t n);

/** times_encode_room() - bytes of scratch memory to encode @n times */
size_t times_encode_room(size_t n);

/** times_decode_room() - bytes of scratch memory to decode @n times */
size_t times_decode_room(size_t n);

/**
 * times_encode() - append the times of a block
 * @model: is used and updated; NULL: steps of 1 ns
 * @learned: the same; NULL: no codes that depend on the events before
 * @ret_times: the fields for the head of the block
 * @ret_codes: start of the coded part, which compression cannot shrink
 * Returns the end of what it wrote.
 */
unsigned char *times_encode(unsigned char *out, const struct times_block *block, struct clock_model *model,
			    struct times_learned *learned, struct trace_columns_times *ret_times,
			    unsigned char **ret_codes);

/** times_bytes() - the encoded size of the times, from the head of the block */
uint64_t times_bytes(const struct trace_columns_times *times);

/**
 * times_decode() - decode the times of a block
 * @in: start of the encoded times; they must end at @end
 * @ret_ns: the times; the first must be @first_ns
 * Returns false, with @ret_ns undefined, when the encoded times do not end at @end, do not begin
 * with @first_ns, or decrease.
 */
bool times_decode(const unsigned char *in, const unsigned char *end, const struct trace_columns_times *times,
		  const struct times_block *block, uint64_t first_ns, uint64_t *ret_ns);

#endif
