/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * times_letters.c - find the first words that many events of a type have, and their letters.
 *
 * Payloads are in the order of their first use, so the words of many events are among the first. A
 * table of 256 of them suffices: of all others no one is frequent, or the type has none that is.
 */
#include "times_letters.h"

#include <string.h>

enum {
	WORDS_MAX = 256, /* of a type, that are counted */
	SLOTS = 1024,	 /* a power of two; the table is never full */
	NO_WORD = WORDS_MAX,
	SAMPLE_EVENTS = 2048,	 /* of a type, at most, that are counted */
	LETTER_MIN_EVENTS = 512, /* with fewer, its code takes more than it saves */
	OWN_MAX = 31,		 /* letters with many events, with the types: each has a code of its own */
};

/** struct words - different first words. @slots: the number of a word plus 1; 0: free */
struct words {
	unsigned int nr;
	uint64_t words[WORDS_MAX];
	uint32_t rows[WORDS_MAX]; /* the first one with the word */
	uint16_t slots[SLOTS];
};

static void words_init(struct words *words)
{
	words->nr = 0;
	memset(words->slots, 0, sizeof(words->slots));
}

/* The slot of @word; a free one if it is not among the words. */
static uint16_t *words_slot(struct words *words, uint64_t word)
{
	unsigned int slot = (unsigned int)(word * 0x9e3779b97f4a7c15 >> 54) % SLOTS;

	while (words->slots[slot] && words->words[words->slots[slot] - 1] != word)
		slot = (slot + 1) % SLOTS;
	return &words->slots[slot];
}

static void words_add(struct words *words, uint16_t *slot, uint64_t word, uint32_t row)
{
	words->words[words->nr] = word;
	words->rows[words->nr] = row;
	*slot = (uint16_t)++words->nr;
}

/* ---- choose ---- */

/** struct letters_chooser - @nr_own: letters with a code of their own */
struct letters_chooser {
	struct letters *letters;
	unsigned int nr_own;
	struct words words;
	uint32_t counted[WORDS_MAX + 1];
	uint8_t letter_of[WORDS_MAX + 1];
};

/* Where most payloads differ, so do first words, such as the addresses of page faults. */
static bool has_letters(const struct letters_type *type)
{
	return type->rows && type->nr_rows > 1 && type->nr_rows <= type->nr_events / 2 &&
	       type->nr_events >= LETTER_MIN_EVENTS;
}

/* Rows of one word differ in it. @ret_words: as in count_words(). */
static void number_rows(struct words *words, const struct letters_type *type, uint16_t *ret_words)
{
	words->nr = type->nr_rows < WORDS_MAX ? type->nr_rows : WORDS_MAX;
	memcpy(words->words, type->rows, words->nr * sizeof(*words->words));
	for (uint32_t row = 0; row < type->nr_rows; row++)
		ret_words[row] = (uint16_t)(row < NO_WORD ? row : NO_WORD);
	for (uint32_t row = 0; row < words->nr; row++)
		words->rows[row] = row;
}

static void number_words(struct words *words, const struct letters_type *type, uint16_t *ret_words)
{
	words_init(words);
	for (uint32_t row = 0; row < type->nr_rows; row++) {
		uint64_t word = type->rows[row * type->stride];
		uint16_t *slot = words_slot(words, word);

		if (!*slot && words->nr < WORDS_MAX)
			words_add(words, slot, word, row);
		ret_words[row] = *slot ? (uint16_t)(*slot - 1) : NO_WORD;
	}
}

/* Count the events with each word in a sample. @ret_words: the word of each row, or NO_WORD. */
static void count_words(struct letters_chooser *chooser, const struct letters_type *type, uint16_t *ret_words)
{
	uint32_t every = type->nr_events / SAMPLE_EVENTS + 1;

	if (type->stride == 1)
		number_rows(&chooser->words, type, ret_words);
	else
		number_words(&chooser->words, type, ret_words);
	memset(chooser->counted, 0, sizeof(chooser->counted));
	/* not each n-th, because calls may alternate */
	for (uint32_t i = 0; i < type->nr_events; i += 1 + (i * 0x9e3779b1 >> 16) % (2 * every - 1))
		chooser->counted[ret_words[type->rows_of[i]]] += every;
}

/* The same number in each block, and mostly another one than that of other letters. */
static uint16_t letter_id(uint16_t id, uint64_t word)
{
	uint64_t hash = (word ^ (uint64_t)id << 48) * 0x9e3779b97f4a7c15;

	return (uint16_t)(256 + (hash >> 48) % (UINT16_MAX - 255));
}

static void add_letter(struct letters *letters, uint8_t type_idx, uint32_t row)
{
	unsigned char *at = letters->list + letters_bytes(letters->list[0]++);

	*at++ = type_idx;
	*at++ = (unsigned char)row;
	*at++ = (unsigned char)(row >> 8);
	*at++ = (unsigned char)(row >> 16);
	letters->list_bytes = (size_t)(at - letters->list);
	letters->nr++;
}

/* Returns false when the type gets no letters. */
static bool choose_of_type(struct letters_chooser *chooser, const struct letters_type *type, uint8_t type_idx,
			   uint16_t *words_of)
{
	struct letters *letters = chooser->letters;
	uint32_t first = letters->nr;

	count_words(chooser, type, words_of);
	memset(chooser->letter_of, type_idx, sizeof(chooser->letter_of));
	for (unsigned int i = 0; i < chooser->words.nr && chooser->nr_own < OWN_MAX; i++) {
		uint32_t left = letters->events[type_idx],
			 events = chooser->counted[i] < left ? chooser->counted[i] : left;

		if (events < LETTER_MIN_EVENTS || letters->nr == LETTERS_MAX)
			continue;
		chooser->nr_own++;
		chooser->letter_of[i] = (uint8_t)letters->nr;
		letters->ids[letters->nr] = letter_id(type->id, chooser->words.words[i]);
		letters->events[letters->nr] = events;
		letters->events[type_idx] -= events;
		add_letter(letters, type_idx, chooser->words.rows[i]);
	}
	return letters->nr > first;
}

/** struct letters_lane - @map: the letter of each row, or of all rows where @mask is 0 */
struct letters_lane {
	const uint32_t *next;
	const uint8_t *map;
	uint32_t mask;
};

/* Without branches, because types alternate in a way that no branch predictor can learn. */
static void apply(struct letters_lane *lanes, const unsigned char *type_idxs, size_t n, unsigned char *ret_idxs)
{
	for (size_t i = 0; i < n; i++) {
		struct letters_lane *lane = &lanes[type_idxs[i]];

		ret_idxs[i] = lane->map[*lane->next++ & lane->mask];
	}
}

bool letters_choose(struct letters *letters, const struct letters_type *types, uint32_t nr_types,
		    const unsigned char *type_idxs, size_t n, unsigned char *memory, unsigned char *ret_idxs)
{
	uint16_t *words_of = (uint16_t *)memory;
	uint8_t *map = memory + n * sizeof(*words_of), own[LETTERS_MAX];
	struct letters_lane lanes[LETTERS_MAX];
	struct letters_chooser chooser = {.letters = letters};

	letters->nr = nr_types;
	letters->list[0] = 0;
	for (uint32_t i = 0; i < nr_types; i++) {
		own[i] = (uint8_t)i;
		lanes[i] = (struct letters_lane){.next = types[i].rows_of, .map = &own[i]};
		letters->ids[i] = types[i].id;
		letters->events[i] = types[i].nr_events;
		chooser.nr_own += types[i].nr_events >= LETTER_MIN_EVENTS;
	}
	for (uint32_t i = 0; i < nr_types; i++) {
		if (!has_letters(&types[i]) || !choose_of_type(&chooser, &types[i], (uint8_t)i, words_of))
			continue;
		for (uint32_t row = 0; row < types[i].nr_rows; row++)
			map[row] = chooser.letter_of[words_of[row]];
		lanes[i].map = map;
		lanes[i].mask = UINT32_MAX;
		map += types[i].nr_rows;
	}
	if (letters->nr == nr_types)
		return false;
	apply(lanes, type_idxs, n, ret_idxs);
	return true;
}

/* ---- read ---- */

bool letters_of_rows(const unsigned char *list, uint32_t nr_types, uint8_t type, const uint64_t *rows, size_t stride,
		     uint32_t nr_rows, unsigned char *ret_letters)
{
	uint8_t letter_of[WORDS_MAX];
	struct words words;

	words_init(&words);
	for (unsigned int i = 0; i < list[0]; i++) {
		struct letter letter = letter_at(list, i);
		uint64_t word = letter.type == type ? rows[letter.row * stride] : 0;
		uint16_t *slot = letter.type == type ? words_slot(&words, word) : NULL;

		if (!slot)
			continue;
		if (*slot)
			return false;
		letter_of[words.nr] = (uint8_t)(nr_types + i);
		words_add(&words, slot, word, letter.row);
	}
	for (uint32_t row = 0; row < nr_rows; row++) {
		uint16_t slot = *words_slot(&words, rows[row * stride]);

		ret_letters[row] = slot ? letter_of[slot - 1] : type;
	}
	return true;
}
