/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TIMES_LETTERS_H
#define LIBTRACE_TIMES_LETTERS_H
/*
 * times_letters.h - types of events for the codes of their times, finer than those of the schema.
 *
 * When a system call ends depends on which call it is, and when the next one begins on what the
 * last one returned. Both are the first word of a payload: number and ABI of the call, or its
 * result. A *letter* is one type with one first word. An event without a letter of its own has the
 * letter of its type, so the first letters are the types.
 *
 * Example: a block has 4,000 sys_enter3, of them 3,000 of read and 900 of close. With its 10 types
 * the letters are 0 to 9 for the types, 10 for read and 11 for close. The 100 other calls have the
 * letter of sys_enter3. The file names each letter by a payload that has its first word.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LETTERS_MAX = 255,    /* with the types */
	LETTER_BYTES = 1 + 3, /* in the file: the type, the number of a payload */
	LETTERS_BYTES = 1 + LETTERS_MAX * LETTER_BYTES,
};

/**
 * struct letters_type - the events of one type, for letters_choose()
 * @rows: first words of its payloads, @stride words apart; NULL: the type has no letters
 * @rows_of: for each event the number of its payload
 */
struct letters_type {
	uint16_t id;
	uint32_t nr_events;
	uint32_t nr_rows;
	const uint64_t *rows;
	size_t stride;
	const uint32_t *rows_of;
};

/**
 * struct letters - of a block
 * @nr: with the types. @ids: the same for a letter in all blocks. @events: about as many
 *     have the letter
 * @list: as in the file, @list_bytes of it
 */
struct letters {
	uint32_t nr;
	uint16_t ids[LETTERS_MAX];
	uint32_t events[LETTERS_MAX];
	size_t list_bytes;
	unsigned char list[LETTERS_BYTES];
};

/** letters_room() - bytes of memory to choose the letters of @n events */
static inline size_t letters_room(size_t n)
{
	return n * (sizeof(uint16_t) + 1);
}

/**
 * letters_choose() - the letters of a block of @n events
 * @memory: letters_room() bytes. @ret_idxs: the letter of each event, if there are more letters
 *     than types
 * Returns true if there are.
 */
bool letters_choose(struct letters *letters, const struct letters_type *types, uint32_t nr_types,
		    const unsigned char *type_idxs, size_t n, unsigned char *memory, unsigned char *ret_idxs);

/** struct letter - one in the file. @row: of its type, a payload with its first word */
struct letter {
	uint8_t type;
	uint32_t row;
};

/** letters_bytes() - the length of a list of @nr letters besides the types */
static inline size_t letters_bytes(unsigned int nr)
{
	return 1 + (size_t)nr * LETTER_BYTES;
}

static inline struct letter letter_at(const unsigned char *list, unsigned int idx)
{
	const unsigned char *at = list + letters_bytes(idx);

	return (struct letter){.type = at[0], .row = at[1] | (uint32_t)at[2] << 8 | (uint32_t)at[3] << 16};
}

/**
 * letters_of_rows() - the letter of each payload of type @type, from a checked list
 * @nr_types: the number of the first letter in the list
 * Returns false if two letters have the same first word.
 */
bool letters_of_rows(const unsigned char *list, uint32_t nr_types, uint8_t type, const uint64_t *rows, size_t stride,
		     uint32_t nr_rows, unsigned char *ret_letters);

#endif
