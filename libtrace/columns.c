/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * columns.c - converts words into byte planes and back.
 *
 * Both directions work tile by tile, so that the words of a tile stay in the first-level cache
 * while its planes are split or joined. The compiler can vectorise the simple loops over a tile
 * (this file is built with -O3).
 *
 * Most words of a block have few different values (system call numbers, descriptors, thread ids),
 * or few different upper halves (addresses). Such a column becomes a table of the values and one
 * byte per event instead of up to eight. That gives zstd less work in both directions. It also
 * compresses better, because the bytes of a word depend on each other. Measured on a real mix
 * (gzip, find, gcc): 16.9 bytes per event before zstd without it. Differences of consecutive values
 * were tried, for all fields and for addresses alone. They gained 3 % at best, and are not worth
 * their code. Differences for each socket are: see "steps".
 */
#include "columns.h"

#include <string.h>

enum {
	TILE = 512,
	DICTIONARY_MAX = 256,
	DICTIONARY_SLOTS = 1024, /* size of the hash table; a power of two */
	DICTIONARY_MIN_WORDS = 64,
};

/* ---- encode ---- */

/** struct dictionary - a hash table of the values so far. @slots: index + 1; 0: free */
struct dictionary {
	uint64_t values[DICTIONARY_MAX];
	uint16_t slots[DICTIONARY_SLOTS];
	unsigned int nr;
};

static inline unsigned int dictionary_slot(uint64_t value)
{
	return (unsigned int)((value * 0x9e3779b97f4a7c15) >> 54);
}

/*
 * The index of @value, which becomes a new entry if necessary. DICTIONARY_MAX: there is no room.
 */
static inline unsigned int dictionary_index(struct dictionary *dictionary, uint64_t value)
{
	unsigned int slot = dictionary_slot(value);

	for (; dictionary->slots[slot]; slot = (slot + 1) % DICTIONARY_SLOTS)
		if (dictionary->values[dictionary->slots[slot] - 1] == value)
			return dictionary->slots[slot] - 1u;
	if (dictionary->nr == DICTIONARY_MAX)
		return DICTIONARY_MAX;
	dictionary->values[dictionary->nr] = value;
	dictionary->slots[slot] = (uint16_t)++dictionary->nr;
	return dictionary->nr - 1;
}

/*
 * Fills in the table and @indexes for the words without their @low lowest bytes. Returns false if
 * there are too many values.
 */
static bool dictionary_build(struct dictionary *dictionary, unsigned char *indexes, const uint64_t *words, size_t n,
			     unsigned int low)
{
	memset(dictionary->slots, 0, sizeof(dictionary->slots));
	dictionary->nr = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned int index = dictionary_index(dictionary, words[i] >> (8 * low));

		if (index == DICTIONARY_MAX)
			return false;
		indexes[i] = (unsigned char)index;
	}
	return true;
}

static unsigned int nr_bytes(uint64_t varying)
{
	unsigned int nr = 0;

	for (; varying; varying >>= 8)
		nr += (varying & 0xff) != 0;
	return nr;
}

/* Number of low bytes to leave out of the dictionary. 8: no dictionary would save anything. */
static unsigned int dictionary_find(struct dictionary *dictionary, unsigned char *indexes, const uint64_t *words,
				    size_t n, uint64_t varying)
{
	if (n < DICTIONARY_MIN_WORDS)
		return 8;
	for (unsigned int low = 0; low < 7 && nr_bytes(varying >> (8 * low)) > 1; low++)
		if (dictionary_build(dictionary, indexes, words, n, low))
			return low;
	return 8;
}

static uint64_t column_varying(const uint64_t *words, size_t n)
{
	uint64_t varying = 0, first = words[0];

	for (size_t i = 0; i < n; i++)
		varying |= words[i] ^ first;
	return varying;
}

/* Writes planes 0 to @nr - 1; a constant plane has one byte. Returns the end. */
static unsigned char *put_planes(unsigned char *out, const uint64_t *words, size_t n, uint64_t varying, unsigned int nr)
{
	unsigned char *planes[8];
	unsigned int nr_planes = 0, shifts[8];

	for (unsigned int plane = 0; plane < nr; plane++) {
		if ((uint8_t)(varying >> (8 * plane))) {
			planes[nr_planes] = out;
			shifts[nr_planes++] = 8 * plane;
			out += n;
		} else {
			*out++ = (unsigned char)(words[0] >> (8 * plane));
		}
	}
	for (size_t at = 0; nr_planes && at < n; at += TILE) {
		size_t count = n - at < TILE ? n - at : TILE;

		for (unsigned int p = 0; p < nr_planes; p++) {
			unsigned char *restrict plane = planes[p] + at;
			unsigned int shift = shifts[p];

			for (size_t i = 0; i < count; i++)
				plane[i] = (unsigned char)(words[at + i] >> shift);
		}
	}
	return out;
}

static unsigned char constant_planes(uint64_t varying)
{
	unsigned int constant = 0;

	for (unsigned int plane = 0; plane < 8; plane++)
		if (!(uint8_t)(varying >> (8 * plane)))
			constant |= 1u << plane;
	return (unsigned char)constant;
}

unsigned char *column_encode(unsigned char *out, const uint64_t *words, size_t n)
{
	uint64_t varying = column_varying(words, n);
	struct dictionary dictionary;
	unsigned int low = dictionary_find(&dictionary, out + 4, words, n, varying);

	out[0] = low < 8 ? TRACE_COLUMN_DICTIONARY : TRACE_COLUMN_PLAIN;
	out[1] = constant_planes(varying);
	if (low == 8)
		return put_planes(out + 2, words, n, varying, 8);
	out[2] = (unsigned char)low;
	out[3] = (unsigned char)(dictionary.nr - 1);
	out = put_planes(out + 4 + n, words, n, varying, low);
	return mempcpy(out, dictionary.values, dictionary.nr * sizeof(dictionary.values[0]));
}

/* ---- steps ---- */

enum {
	STEPS_SAMPLE = 256,   /* words that are tried, at most */
	STEPS_MIN_TRIED = 32, /* of them, the ones with a word before them; after these few most give up */
	SHORT_STEP = 1 << 16,
};

/*
 * True if nearly all words of the sample are a short step behind the latest one of their slot. A
 * step of 0 is none: the code that causes page faults is the same for a while, and no position.
 */
static bool steps_are_short(const uint64_t *words, const uint64_t *keys, size_t stride, size_t n)
{
	uint64_t latest[COLUMN_SLOTS] = {0};
	size_t nr_tried = 0, nr_short = 0;

	for (size_t i = 0; i < n && i < STEPS_SAMPLE; i++) {
		uint64_t *slot = &latest[column_slot(keys[i * stride])];

		nr_tried += *slot != 0;
		nr_short += *slot && words[i] - *slot - 1 < SHORT_STEP;
		if (nr_tried == STEPS_MIN_TRIED && nr_short * 8 < nr_tried * 7)
			return false;
		*slot = words[i];
	}
	return nr_tried >= STEPS_MIN_TRIED && nr_short * 8 >= nr_tried * 7;
}

/* True if the column has one byte a word or less, before zstd: steps have as many. */
static bool column_is_short(const unsigned char *column, size_t bytes, size_t n)
{
	return bytes < 2 * n || (column[0] == TRACE_COLUMN_DICTIONARY && column[2] == 0);
}

unsigned char *column_encode_behind(unsigned char *out, uint64_t *words, const uint64_t *keys, size_t stride, size_t n)
{
	unsigned char *end = column_encode(out, words, n);
	uint64_t latest[COLUMN_SLOTS] = {0};

	if (n < DICTIONARY_MIN_WORDS || column_is_short(out, (size_t)(end - out), n) ||
	    !steps_are_short(words, keys, stride, n))
		return end;
	for (size_t i = 0; i < n; i++) {
		uint64_t *slot = &latest[column_slot(keys[i * stride])], word = words[i];

		words[i] -= *slot;
		*slot = word;
	}
	*out = TRACE_COLUMN_STEPS;
	return column_encode(out + 1, words, n);
}

static void add_steps(uint64_t *words, const uint64_t *keys, size_t stride, size_t n)
{
	uint64_t latest[COLUMN_SLOTS] = {0};

	for (size_t i = 0; i < n; i++) {
		uint64_t *slot = &latest[column_slot(keys[i * stride])];

		*slot = words[i * stride] += *slot;
	}
}

/* ---- decode ---- */

/**
 * struct planes - a column in the file
 * @constant: the constant bytes, as one word. @planes, @shifts: the planes that vary
 * @indexes: NULL without a dictionary. @entries: shifted to their position in the word, with the
 *	constant bytes; 0 for indexes that the file has no entry for
 */
struct planes {
	uint64_t constant;
	const unsigned char *planes[8];
	unsigned int shifts[8];
	unsigned int nr_planes;
	const unsigned char *indexes;
	uint64_t entries[DICTIONARY_MAX];
};

/* Steps over @bytes of the column. NULL: the column has fewer. */
static const unsigned char *take(const unsigned char **at, const unsigned char *end, size_t bytes)
{
	const unsigned char *begin = *at;

	if ((size_t)(end - begin) < bytes)
		return NULL;
	*at += bytes;
	return begin;
}

static bool parse_planes(struct planes *planes, const unsigned char **at, const unsigned char *end, size_t n,
			 unsigned int constant, unsigned int nr)
{
	for (unsigned int plane = 0; plane < nr; plane++) {
		bool is_constant = constant >> plane & 1;
		const unsigned char *bytes = take(at, end, is_constant ? 1 : n);

		if (!bytes)
			return false;
		if (is_constant) {
			planes->constant |= (uint64_t)*bytes << (8 * plane);
		} else {
			planes->planes[planes->nr_planes] = bytes;
			planes->shifts[planes->nr_planes++] = 8 * plane;
		}
	}
	return true;
}

static bool parse_dictionary(struct planes *planes, const unsigned char **at, const unsigned char *end, size_t n,
			     unsigned int constant)
{
	const unsigned char *head = take(at, end, 2), *entries;
	size_t nr;

	if (!head || head[0] > 7)
		return false;
	nr = head[1] + 1u;
	planes->indexes = take(at, end, n);
	if (!planes->indexes || !parse_planes(planes, at, end, n, constant, head[0]))
		return false;
	entries = take(at, end, nr * 8);
	if (!entries)
		return false;
	memcpy(planes->entries, entries, nr * 8);
	memset(planes->entries + nr, 0, (DICTIONARY_MAX - nr) * 8);
	for (size_t i = 0; i < nr; i++)
		planes->entries[i] = planes->entries[i] << (8 * head[0]) | planes->constant;
	return true;
}

static bool parse(struct planes *planes, const unsigned char **at, const unsigned char *end, size_t n)
{
	const unsigned char *head = take(at, end, 2);

	planes->constant = 0;
	planes->nr_planes = 0;
	planes->indexes = NULL;
	if (!head || head[0] > TRACE_COLUMN_DICTIONARY)
		return false;
	return head[0] == TRACE_COLUMN_DICTIONARY ? parse_dictionary(planes, at, end, n, head[1])
						  : parse_planes(planes, at, end, n, head[1], 8);
}

static void assemble(uint64_t *restrict words, const struct planes *planes, size_t at, size_t n)
{
	if (planes->indexes)
		for (size_t i = 0; i < n; i++)
			words[i] = planes->entries[planes->indexes[at + i]];
	else
		for (size_t i = 0; i < n; i++)
			words[i] = planes->constant;
	for (unsigned int p = 0; p < planes->nr_planes; p++) {
		const unsigned char *restrict plane = planes->planes[p] + at;
		unsigned int shift = planes->shifts[p];

		for (size_t i = 0; i < n; i++)
			words[i] |= (uint64_t)plane[i] << shift;
	}
}

static bool decode_planes(const unsigned char **in, const unsigned char *end, uint64_t *words, size_t stride, size_t n)
{
	struct planes planes;
	uint64_t tile[TILE];

	if (!parse(&planes, in, end, n))
		return false;
	if (stride == 1) {
		for (size_t at = 0; at < n; at += TILE)
			assemble(words + at, &planes, at, n - at < TILE ? n - at : TILE);
		return true;
	}
	for (size_t at = 0; at < n; at += TILE) {
		size_t count = n - at < TILE ? n - at : TILE;

		assemble(tile, &planes, at, count);
		for (size_t i = 0; i < count; i++)
			words[(at + i) * stride] = tile[i];
	}
	return true;
}

bool column_decode(const unsigned char **in, const unsigned char *end, uint64_t *words, const uint64_t *keys,
		   size_t stride, size_t n)
{
	if (*in == end || **in != TRACE_COLUMN_STEPS)
		return decode_planes(in, end, words, stride, n);
	++*in;
	if (!keys || !decode_planes(in, end, words, stride, n))
		return false;
	add_steps(words, keys, stride, n);
	return true;
}
