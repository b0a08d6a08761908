/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_STACKS_H
#define LIBTRACE_STACKS_H
/*
 * stacks.h - the addresses of samples, written as the difference to the stack before.
 * docs/FORMAT.md, "Stacks"
 *
 * Frames are counted from the outermost one, because stacks of a thread have those in common. For
 * example, the stacks main, work, sort and main, work, print, write are coded as: three frames; the
 * frames of the stack before but one, and print and write. An added frame is mostly one of the last
 * callees of its caller, and takes a byte. An address that the chunk does not have yet takes a byte
 * and the bytes of a difference.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/events.h>

enum {
	STACKS_WORDS = sizeof(struct trace_sample) / 8,
	STACKS_MAX_FRAMES = 255,
};

/**
 * struct stack_frames - a stack
 * @list: the return addresses: @kernel of the kernel's, then @user of the program's, innermost
 * first, 8 bytes each, at any alignment
 * @ip: the innermost frame
 */
struct stack_frames {
	const unsigned char *list;
	uint32_t kernel;
	uint32_t user;
	uint64_t ip;
};

/**
 * struct stacks_coded - what is written
 * @counts: of all stacks: addresses of the kernel; frames that are dropped; frames that are added
 * @symbols: one for each added frame. @literals: behind the symbols, in planes
 */
struct stacks_coded {
	const unsigned char *counts, *symbols, *literals;
	size_t nr_counts, nr_symbols, nr_literals;
};

/** struct stacks_rows - payloads of samples: @rows of STACKS_WORDS words, and their strings */
struct stacks_rows {
	const uint64_t *rows;
	const uint64_t *lengths;
	const uint32_t *starts;
	const unsigned char *texts;
	uint32_t nr;
	size_t text_bytes;
};

/** stacks_encode_room() - the bytes of memory that stacks_encode() needs */
size_t stacks_encode_room(const struct stacks_rows *rows);

/**
 * stacks_encode() - code the words of all payloads except the first, and the strings
 * @memory: stacks_encode_room() bytes, aligned to 8. The result points into it
 * Returns false if the payloads are not two lists of addresses behind each other, or have too many
 * frames or addresses.
 */
bool stacks_encode(const struct stacks_rows *rows, void *memory, struct stacks_coded *ret_coded);

/*
 * The first word as it is written: without the number of the program's addresses in the upper byte,
 * which mostly has the same number (trace_sample.certain). @second: the word behind it
 */
static inline uint64_t stacks_fold_first(uint64_t first, uint64_t second)
{
	return first - (second >> 51 << 56);
}

static inline uint64_t stacks_unfold_first(uint64_t folded, uint64_t second)
{
	return folded + (second >> 51 << 56);
}

struct stacks_state;

/** struct stacks_reader - where the decoder is */
struct stacks_reader {
	struct stacks_state *state; /* borrowed */
	const unsigned char *counts, *symbols;
	const unsigned char *planes[8], *known[2];
	uint32_t nr, next;
};

/** stacks_decode_room() - the bytes of memory that a reader needs for literals of so many bytes */
size_t stacks_decode_room(size_t literal_bytes);

/**
 * stacks_open() - begin to decode
 * @columns: set to the end of the counts and symbols, which are before @columns_end
 * @texts: set to the end of the literals, which are before @texts_end
 * @nr: of payloads. @memory: stacks_decode_room(texts_end - texts), aligned to 8
 * Returns false if they do not fit.
 */
bool stacks_open(struct stacks_reader *reader, const unsigned char **columns, const unsigned char *columns_end,
		 const unsigned char **texts, const unsigned char *texts_end, uint32_t nr, void *memory);

/**
 * stacks_next() - the next stack, at most @nr of stacks_open() times
 * @first: first word of the payload, as it is written
 * @list: room for @room bytes of addresses; must stay unchanged until the last call
 * @ret_words: the other two words of the payload. @ret_bytes: of the list
 * Returns false if it is malformed or does not fit.
 */
bool stacks_next(struct stacks_reader *reader, uint64_t first, unsigned char *list, size_t room, uint64_t ret_words[2],
		 size_t *ret_bytes);

#endif
