/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * columns.c - words into byte planes and back.
 *
 * Both ways go through a tile of words that stays in the first-level cache: the loops over a tile are plain enough for
 * the compiler to make vector code of them (this file is built with -O3).
 */
#include "columns.h"

#include <string.h>

enum { TILE = 512 };

/* ---- differences ---- */

static void diff64(uint64_t *words, size_t n, uint64_t before)
{
	for (size_t i = n; i-- > 1;)
		words[i] -= words[i - 1];
	words[0] -= before;
}

static void sum64(uint64_t *words, size_t n, uint64_t before)
{
	for (size_t i = 0; i < n; i++)
		before = words[i] += before;
}

static inline uint64_t halves(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static inline uint64_t sub32(uint64_t a, uint64_t b)
{
	return halves((uint32_t)(a >> 32) - (uint32_t)(b >> 32), (uint32_t)a - (uint32_t)b);
}

static inline uint64_t add32(uint64_t a, uint64_t b)
{
	return halves((uint32_t)(a >> 32) + (uint32_t)(b >> 32), (uint32_t)a + (uint32_t)b);
}

static void diff32(uint64_t *words, size_t n, uint64_t before)
{
	for (size_t i = n; i-- > 1;)
		words[i] = sub32(words[i], words[i - 1]);
	words[0] = sub32(words[0], before);
}

static void sum32(uint64_t *words, size_t n, uint64_t before)
{
	for (size_t i = 0; i < n; i++)
		before = words[i] = add32(words[i], before);
}

/* ---- encode ---- */

/** struct tile - the next words of a column, gathered and coded. @before: the word before them, uncoded */
struct tile {
	uint64_t words[TILE];
	uint64_t before;
};

static void tile_gather(struct tile *tile, const uint64_t *words, size_t stride, size_t n, enum trace_column_coding coding)
{
	uint64_t last = words[(n - 1) * stride];

	for (size_t i = 0; i < n; i++)
		tile->words[i] = words[i * stride];
	if (coding == TRACE_COLUMN_DIFF64)
		diff64(tile->words, n, tile->before);
	else if (coding == TRACE_COLUMN_DIFF32)
		diff32(tile->words, n, tile->before);
	tile->before = last;
}

static uint64_t tile_varying(const struct tile *tile, size_t n, uint64_t first)
{
	uint64_t varying = 0;

	for (size_t i = 0; i < n; i++)
		varying |= tile->words[i] ^ first;
	return varying;
}

/* Which bits are not the same in all words; @ret_first: the first word, coded */
static uint64_t column_varying(const uint64_t *words, size_t stride, size_t n, enum trace_column_coding coding, uint64_t *ret_first)
{
	struct tile tile = { .before = 0 };
	uint64_t varying = 0;

	for (size_t at = 0; at < n; at += TILE) {
		size_t count = n - at < TILE ? n - at : TILE;

		tile_gather(&tile, words + at * stride, stride, count, coding);
		if (at == 0)
			*ret_first = tile.words[0];
		varying |= tile_varying(&tile, count, *ret_first);
	}
	return varying;
}

unsigned char *column_encode(unsigned char *out, const uint64_t *words, size_t stride, size_t n, enum trace_column_coding coding)
{
	struct tile tile = { .before = 0 };
	unsigned char *planes[8];
	uint64_t first = 0, varying = column_varying(words, stride, n, coding, &first);
	unsigned char *constant;
	unsigned int nr_planes = 0, shifts[8];

	*out++ = (unsigned char)coding;
	constant = out++;
	*constant = 0;
	for (unsigned int plane = 0; plane < 8; plane++) {
		if ((uint8_t)(varying >> (8 * plane))) {
			planes[nr_planes] = out;
			shifts[nr_planes++] = 8 * plane;
			out += n;
		} else {
			*constant |= (unsigned char)(1u << plane);
			*out++ = (unsigned char)(first >> (8 * plane));
		}
	}
	for (size_t at = 0; nr_planes && at < n; at += TILE) {
		size_t count = n - at < TILE ? n - at : TILE;

		tile_gather(&tile, words + at * stride, stride, count, coding);
		for (unsigned int i = 0; i < nr_planes; i++) {
			unsigned char *restrict plane = planes[i] + at;
			unsigned int shift = shifts[i];

			for (size_t j = 0; j < count; j++)
				plane[j] = (unsigned char)(tile.words[j] >> shift);
		}
	}
	return out;
}

/* ---- decode ---- */

/** struct planes - a column in the file: the constant bytes in one word, and the planes that vary */
struct planes {
	uint64_t constant;
	const unsigned char *planes[8];
	unsigned int shifts[8];
	unsigned int nr_planes;
	enum trace_column_coding coding;
};

static bool planes_parse(struct planes *planes, const unsigned char **in, const unsigned char *end, size_t n)
{
	const unsigned char *at = *in;
	size_t room = (size_t)(end - at);
	unsigned int constant, nr_constant;

	if (room < 2 || at[0] >= TRACE_NR_COLUMN_CODINGS)
		return false;
	planes->coding = (enum trace_column_coding)at[0];
	constant = at[1];
	nr_constant = (unsigned int)__builtin_popcount(constant);
	if (room - 2 < nr_constant + (8 - nr_constant) * n)
		return false;
	at += 2;
	planes->constant = 0;
	planes->nr_planes = 0;
	for (unsigned int plane = 0; plane < 8; plane++) {
		if (constant >> plane & 1) {
			planes->constant |= (uint64_t)*at++ << (8 * plane);
		} else {
			planes->planes[planes->nr_planes] = at;
			planes->shifts[planes->nr_planes++] = 8 * plane;
			at += n;
		}
	}
	*in = at;
	return true;
}

static void tile_assemble(struct tile *tile, const struct planes *planes, size_t at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		tile->words[i] = planes->constant;
	for (unsigned int p = 0; p < planes->nr_planes; p++) {
		const unsigned char *plane = planes->planes[p] + at;
		unsigned int shift = planes->shifts[p];

		for (size_t i = 0; i < n; i++)
			tile->words[i] |= (uint64_t)plane[i] << shift;
	}
	if (planes->coding == TRACE_COLUMN_DIFF64)
		sum64(tile->words, n, tile->before);
	else if (planes->coding == TRACE_COLUMN_DIFF32)
		sum32(tile->words, n, tile->before);
	tile->before = tile->words[n - 1];
}

bool column_decode(const unsigned char **in, const unsigned char *end, uint64_t *words, size_t stride, size_t n)
{
	struct tile tile = { .before = 0 };
	struct planes planes;

	if (!planes_parse(&planes, in, end, n))
		return false;
	for (size_t at = 0; at < n; at += TILE) {
		size_t count = n - at < TILE ? n - at : TILE;

		tile_assemble(&tile, &planes, at, count);
		for (size_t i = 0; i < count; i++)
			words[(at + i) * stride] = tile.words[i];
	}
	return true;
}

bool column_skip(const unsigned char **in, const unsigned char *end, size_t n)
{
	struct planes planes;

	return planes_parse(&planes, in, end, n);
}
