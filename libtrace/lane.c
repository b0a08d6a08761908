/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lane.c - find the row of a payload by its hash, or append it; and write the rows as columns.
 *
 * Example: the payloads A, B, A, A become the rows A, B and the row numbers 0, 1, 0, 0.
 */
#include "lane.h"

#include "clones.h"
#include "columns.h"
#include "stacks.h"
#include "syscall_args.h"

#include <string.h>

static size_t round_up_8(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

enum {
	LANE_WORDS_MAX = 255,
	TABLE_MIN_BITS = 6,
	TABLE_GROWS_BITS = 3,
};

/*
 * Bits of a table for @nr_rows rows. It is at most half full, so that most searches end at the
 * first slot.
 */
static uint8_t table_bits(uint32_t nr_rows)
{
	uint8_t bits = 1;

	while (1ULL << bits < 2ULL * nr_rows)
		bits++;
	return bits;
}

size_t lane_bytes(const struct lane *lane, size_t string_bytes)
{
	size_t nr = lane->nr_events,
	       bytes = 8 * nr * lane->nr_words + round_up_8(4 * nr) + ((size_t)4 << table_bits(lane->nr_events));

	return bytes + (lane->has_string ? 16 * nr + round_up_8(string_bytes) : 0);
}

static void table_clear(struct lane *lane, uint8_t bits)
{
	lane->table_bits = bits;
	lane->table_rows = 1u << bits >> 1;
	memset(lane->table, 0, (size_t)4 << bits);
}

void lane_init(struct lane *lane, void *memory, size_t string_bytes)
{
	size_t nr = lane->nr_events;
	unsigned char *at = memory;
	uint8_t max_bits = table_bits(lane->nr_events), bits = table_bits(lane->nr_rows + lane->nr_rows / 4);

	lane->nr_rows = 0;
	lane->rows = (uint64_t *)at;
	at += 8 * nr * lane->nr_words;
	lane->rows_of = lane->next_row_of = (uint32_t *)at;
	at += round_up_8(4 * nr);
	lane->table = (uint32_t *)at;
	at += (size_t)4 << max_bits;
	bits = bits > TABLE_MIN_BITS ? bits : TABLE_MIN_BITS;
	table_clear(lane, bits < max_bits ? bits : max_bits);
	if (!lane->has_string)
		return;
	lane->lengths = (uint64_t *)at;
	at += 8 * nr;
	lane->starts = (uint32_t *)at;
	lane->hashes = lane->starts + nr;
	at += 8 * nr;
	lane->texts = lane->next_text = at;
	lane->end_text = at + string_bytes;
}

/* ---- rows ---- */

static const uint64_t hash_keys[8] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93,
				      0xa0761d6478bd642f, 0xe7037ed1a0b428db, 0x8ebc6af09c88c6e3, 0x589965cc75374cc3};

/*
 * Hashes two words: the XOR of both halves of their 128-bit product, which depends on each bit of
 * both.
 */
static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * Hashes two words at a time. The products do not wait for each other, and their sum is as good a
 * hash.
 */
static inline __attribute__((always_inline)) uint64_t row_hash(const uint64_t *words, size_t nr_words)
{
	uint64_t hash = 0;

#pragma GCC unroll 8
	for (size_t i = 0; i + 1 < nr_words; i += 2)
		hash += hash_pair(words[i] ^ hash_keys[i % 8], words[i + 1] ^ hash_keys[(i + 1) % 8]);
	return nr_words % 2 ? hash + hash_pair(words[nr_words - 1] ^ hash_keys[0], hash_keys[7]) : hash;
}

/* Compares without a branch for each word, because the rows are usually equal. */
static inline __attribute__((always_inline)) bool row_is(const uint64_t *row, const uint64_t *words, size_t nr_words)
{
	uint64_t differs = 0;

#pragma GCC unroll 8
	for (size_t i = 0; i < nr_words; i++)
		differs |= row[i] ^ words[i];
	return !differs;
}

/* four words of a system call, or masks for them */
typedef uint64_t words4 __attribute__((vector_size(32)));

#define MASK(bits, bit) (-(uint64_t)((bits) >> (bit)&1))
#define MASKS(bits)                                                        \
	{                                                                  \
		MASK(bits, 0), MASK(bits, 1), MASK(bits, 2), MASK(bits, 3) \
	}
static const words4 masks_of[16] = {MASKS(0),  MASKS(1),  MASKS(2),  MASKS(3), MASKS(4),  MASKS(5),
				    MASKS(6),  MASKS(7),  MASKS(8),  MASKS(9), MASKS(10), MASKS(11),
				    MASKS(12), MASKS(13), MASKS(14), MASKS(15)};

typedef uint64_t words2 __attribute__((vector_size(16)));
typedef uint32_t halves8 __attribute__((vector_size(32)));

#define LOWER(words) __builtin_shufflevector(words, words, 0, 1)
#define UPPER(words) __builtin_shufflevector(words, words, 2, 3)

/*
 * Writes the four words from number @first on in the form that is kept: a kept word as it is, an
 * address only as NULL or not NULL, any other word as 0.
 */
static inline __attribute__((always_inline)) void call_words(const unsigned char *payload, size_t first,
							     struct syscall_form form, words4 *ret_words)
{
	words4 words, not_null;

	memcpy(&words, payload + 8 * first, sizeof(words));
	not_null = ~(words4)(words == 0) & TRACE_ARG_ADDRESS;
	*ret_words = (words & masks_of[form.kept >> first & 15]) | (not_null & masks_of[form.addresses >> first & 15]);
}

static inline __attribute__((always_inline)) bool call_is(const uint64_t *row, size_t nr_words, const words4 *lower,
							  const words4 *upper)
{
	words4 row_lower, row_upper, differ;
	words2 any;

	memcpy(&row_lower, row, sizeof(row_lower));
	memcpy(&row_upper, row + nr_words - 4, sizeof(row_upper));
	differ = (row_lower ^ *lower) | (row_upper ^ *upper);
	any = LOWER(differ) | UPPER(differ);
	return !(any[0] | any[1]);
}

static const halves8 call_keys[2] = {
	{0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1, 0xbf58476d, 0x94d049bb, 0xd6e8feb9},
	{0xa0761d65, 0xe7037ed1, 0x8ebc6af1, 0x589965cd, 0x133111eb, 0x1ce4e5b9, 0x4f2cdbb5, 0x2545f491}};

/*
 * Hashes a call: the sum of the products of both halves of each word, computed in vector registers.
 * The uppermost bits depend on each bit of the call.
 */
static inline __attribute__((always_inline)) uint64_t call_hash(size_t nr_words, const words4 *lower,
								const words4 *upper)
{
	words4 products = (words4)((halves8)*lower * call_keys[0]);
	words2 half;
	uint64_t sum;

	if (nr_words > 4)
		products = (words4)((halves8)products + (halves8)*upper * call_keys[1]);
	half = LOWER(products) + UPPER(products);
	sum = half[0] + half[1];
	return sum + (sum << 32);
}

static uint64_t call_hash_of_row(const uint64_t *row, size_t nr_words)
{
	words4 lower, upper;

	memcpy(&lower, row, sizeof(lower));
	memcpy(&upper, row + nr_words - 4, sizeof(upper));
	return call_hash(nr_words, &lower, &upper);
}

static uint64_t hash_again(const struct lane *lane, uint32_t row)
{
	const uint64_t *words = lane->rows + (size_t)row * lane->nr_words;

	if (lane->has_string)
		return (uint64_t)lane->hashes[row] << 32;
	return lane->has_calls ? call_hash_of_row(words, lane->nr_words) : row_hash(words, lane->nr_words);
}

/* Enlarges the table and enters all rows again. */
static __attribute__((noinline)) void table_grow(struct lane *lane)
{
	uint8_t bits = table_bits(lane->nr_events), grown = lane->table_bits + TABLE_GROWS_BITS;
	uint32_t mask;

	table_clear(lane, grown < bits ? grown : bits);
	mask = (1u << lane->table_bits) - 1;
	for (uint32_t row = 0; row < lane->nr_rows; row++) {
		uint32_t slot = (uint32_t)(hash_again(lane, row) >> (64 - lane->table_bits));

		while (lane->table[slot])
			slot = (slot + 1) & mask;
		lane->table[slot] = row + 1;
	}
}

/* Enters the row that was just appended into @slot of the table. Returns the number of rows. */
static inline __attribute__((always_inline)) uint32_t row_added(struct lane *lane, uint32_t slot)
{
	lane->table[slot] = ++lane->nr_rows;
	if (lane->nr_rows > lane->table_rows)
		table_grow(lane);
	return lane->nr_rows;
}

static inline __attribute__((always_inline)) uint32_t row_add(struct lane *lane, uint32_t slot, const uint64_t *words,
							      size_t nr_words)
{
	memcpy(lane->rows + lane->nr_rows * nr_words, words, 8 * nr_words);
	return row_added(lane, slot);
}

/*
 * Prefetches a payload several events ahead: another CPU has written it, and the scan passed it
 * long ago.
 * @payload: its position; may be any number after the last event
 */
static inline __attribute__((always_inline)) void prefetch_payload(const unsigned char *records, uint32_t payload)
{
	__builtin_prefetch(records + 8 * (size_t)payload);
}

/*
 * Adds @nr events. The usual sizes pass @nr_words as a constant, so that the words are in
 * registers.
 * An alternative was to guess the next row from the row that followed the same payload the last
 * time. That saves the hash, but is right for only half of the payloads in a real mix, and the
 * mispredictions cost more than it saves.
 */
static inline __attribute__((always_inline)) void add(struct lane *lane, const unsigned char *records,
						      const uint32_t *payloads, size_t nr, size_t nr_words)
{
	const uint64_t *rows = lane->rows;
	uint32_t *table = lane->table, *next_row_of = lane->next_row_of, shift = 64u - lane->table_bits;

	for (size_t i = 0; i < nr; i++) {
		uint64_t words[LANE_WORDS_MAX];
		uint32_t slot, row;

		prefetch_payload(records, payloads[i + LANE_AHEAD]);
		memcpy(words, records + 8 * (size_t)payloads[i], 8 * nr_words);
		slot = (uint32_t)(row_hash(words, nr_words) >> shift);
		while ((row = table[slot]) && !row_is(rows + (row - 1) * nr_words, words, nr_words))
			slot = (slot + 1) & (2 * lane->table_rows - 1);
		if (__builtin_expect(!row, 0)) {
			row = row_add(lane, slot, words, nr_words);
			shift = 64u - lane->table_bits;
		}
		next_row_of[i] = row - 1;
	}
	lane->next_row_of += nr;
}

/*
 * Adds calls: sys_enter3 with four words, sys_enter6 with seven. A call is handled as two vectors
 * of four words, which overlap, and stays in registers.
 */
static inline __attribute__((always_inline)) void add_calls(struct lane *lane, const unsigned char *records,
							    const uint32_t *payloads, size_t nr, size_t nr_words,
							    const struct syscall_args *args)
{
	const uint64_t *rows = lane->rows;
	uint32_t *table = lane->table, *next_row_of = lane->next_row_of, shift = 64u - lane->table_bits;

	for (size_t i = 0; i < nr; i++) {
		const unsigned char *payload = records + 8 * (size_t)payloads[i];
		uint64_t first;
		struct syscall_form form;
		words4 lower, upper;
		uint32_t slot, row;

		prefetch_payload(records, payloads[i + LANE_AHEAD]);
		memcpy(&first, payload, 8);
		form = syscall_args_of(args, first);
		call_words(payload, 0, form, &lower);
		call_words(payload, nr_words - 4, form, &upper);
		slot = (uint32_t)(call_hash(nr_words, &lower, &upper) >> shift);
		while ((row = table[slot]) && !call_is(rows + (row - 1) * nr_words, nr_words, &lower, &upper))
			slot = (slot + 1) & (2 * lane->table_rows - 1);
		if (__builtin_expect(!row, 0)) {
			memcpy(lane->rows + lane->nr_rows * nr_words, &lower, sizeof(lower));
			memcpy(lane->rows + lane->nr_rows * nr_words + nr_words - 4, &upper, sizeof(upper));
			row = row_added(lane, slot);
			shift = 64u - lane->table_bits;
		}
		next_row_of[i] = row - 1;
	}
	lane->next_row_of += nr;
}

/* Each size has a function of its own, so that it can use all registers. */
#define ADD(nr_words)                                                                            \
	TRACE_CLONES static void add_##nr_words(struct lane *lane, const unsigned char *records, \
						const uint32_t *payloads, size_t nr)             \
	{                                                                                        \
		add(lane, records, payloads, nr, nr_words);                                      \
	}
ADD(1)
ADD(2)
ADD(3)
ADD(4)
ADD(5)
ADD(7)

TRACE_CLONES static void add_any(struct lane *lane, const unsigned char *records, const uint32_t *payloads, size_t nr)
{
	add(lane, records, payloads, nr, lane->nr_words);
}

TRACE_CLONES static void add_calls3(struct lane *lane, const unsigned char *records, const uint32_t *payloads,
				    size_t nr, const struct syscall_args *args)
{
	add_calls(lane, records, payloads, nr, 4, args);
}

TRACE_CLONES static void add_calls6(struct lane *lane, const unsigned char *records, const uint32_t *payloads,
				    size_t nr, const struct syscall_args *args)
{
	add_calls(lane, records, payloads, nr, 7, args);
}

_Static_assert(sizeof(struct trace_sys_enter3) == 4 * 8 && sizeof(struct trace_sys_enter6) == 7 * 8,
	       "as add_calls() has it");

void lane_add(struct lane *lane, const unsigned char *records, const uint32_t *payloads, size_t nr)
{
	static void (*const adds[])(struct lane * lane, const unsigned char *records, const uint32_t *payloads,
				    size_t nr) = {add_any, add_1, add_2, add_3, add_4, add_5, add_any, add_7};

	(lane->nr_words < sizeof(adds) / sizeof(adds[0]) ? adds[lane->nr_words] : add_any)(lane, records, payloads, nr);
}

void lane_add_calls(struct lane *lane, const unsigned char *records, const uint32_t *payloads, size_t nr,
		    const struct syscall_args *args)
{
	lane->has_calls = true;
	(lane->nr_words == 4 ? add_calls3 : add_calls6)(lane, records, payloads, nr, args);
}

static inline __attribute__((always_inline)) void add_string(struct lane *lane, const unsigned char *payload,
							     size_t nr_words, size_t length, uint64_t hash)
{
	uint64_t words[LANE_WORDS_MAX];
	uint32_t mask = (1u << lane->table_bits) - 1, slot, row, upper;

	memcpy(words, payload, 8 * nr_words);
	hash += row_hash(words, nr_words);
	upper = (uint32_t)(hash >> 32);
	for (slot = (uint32_t)(hash >> (64 - lane->table_bits)); (row = lane->table[slot]); slot = (slot + 1) & mask)
		if (lane->hashes[row - 1] == upper && row_is(lane->rows + (row - 1) * nr_words, words, nr_words) &&
		    lane->lengths[row - 1] == length &&
		    !memcmp(lane->texts + lane->starts[row - 1], lane->next_text, length))
			break;
	if (!row) {
		lane->hashes[lane->nr_rows] = upper;
		lane->lengths[lane->nr_rows] = length;
		lane->starts[lane->nr_rows] = (uint32_t)(lane->next_text - lane->texts);
		lane->next_text += length;
		row = row_add(lane, slot, words, nr_words);
	}
	*lane->next_row_of++ = row - 1;
}

void lane_add_string(struct lane *lane, const unsigned char *payload, size_t length, uint64_t hash)
{
	switch (lane->nr_words) { /* the usual sizes */
	case 1:
		add_string(lane, payload, 1, length, hash);
		break;
	case 2:
		add_string(lane, payload, 2, length, hash);
		break;
	case 3:
		add_string(lane, payload, 3, length, hash);
		break;
	case 4:
		add_string(lane, payload, 4, length, hash);
		break;
	default:
		add_string(lane, payload, lane->nr_words, length, hash);
		break;
	}
}

/* ---- columns ---- */

size_t lane_text_bytes(const struct lane *lane)
{
	if (lane->stacks)
		return lane->stacks->nr_literals;
	return lane->has_string ? (size_t)(lane->next_text - lane->texts) : 0;
}

unsigned char *lane_put_texts(const struct lane *lane, unsigned char *out)
{
	size_t bytes = lane_text_bytes(lane);

	return bytes ? mempcpy(out, lane->stacks ? lane->stacks->literals : lane->texts, bytes) : out;
}

size_t lane_bound(const struct lane *lane)
{
	size_t indexes = (size_t)lane_index_planes(lane->nr_rows) * lane->nr_events;

	if (lane->stacks)
		return column_bound(lane->nr_rows) + lane->stacks->nr_counts + lane->stacks->nr_symbols + indexes;
	return (lane->nr_words + 1u) * column_bound(lane->nr_rows) + indexes;
}

static void put_plane(unsigned char *restrict out, const uint32_t *restrict rows_of, size_t nr, unsigned int shift)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = (unsigned char)(rows_of[i] >> shift);
}

static unsigned char *put_indexes(unsigned char *out, const struct lane *lane)
{
	for (unsigned int plane = 0; plane < lane_index_planes(lane->nr_rows); plane++, out += lane->nr_events)
		put_plane(out, lane->rows_of, lane->nr_events, 8 * plane);
	return out;
}

static unsigned char *put_words(const struct lane *lane, unsigned char *out, uint64_t *scratch)
{
	size_t nr_rows = lane->nr_rows, nr_words = lane->nr_words;

	for (size_t word = 0; word < nr_words; word++) {
		const uint64_t *rows = lane->rows + word;

		for (size_t row = 0; nr_words > 1 && row < nr_rows; row++)
			scratch[row] = rows[row * nr_words];
		out = word ? column_encode_behind(out, scratch, rows - 1, nr_words, nr_rows)
			   : column_encode(out, nr_words > 1 ? scratch : rows, nr_rows);
	}
	return out;
}

unsigned char *lane_put(const struct lane *lane, unsigned char *out, uint64_t *scratch)
{
	if (lane->stacks) {
		for (size_t row = 0; row < lane->nr_rows; row++)
			scratch[row] = stacks_fold_first(lane->rows[row * STACKS_WORDS],
							 lane->rows[row * STACKS_WORDS + 1]);
		out = column_encode(out, scratch, lane->nr_rows);
		out = mempcpy(out, lane->stacks->counts, lane->stacks->nr_counts);
		out = mempcpy(out, lane->stacks->symbols, lane->stacks->nr_symbols);
	} else {
		out = put_words(lane, out, scratch);
		if (lane->has_string)
			out = column_encode(out, lane->lengths, lane->nr_rows);
	}
	return lane->nr_rows < lane->nr_events ? put_indexes(out, lane) : out;
}
