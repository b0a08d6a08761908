/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stacks.c - code the stacks of samples, and decode them. docs/FORMAT.md, "Stacks", defines the
 * bytes.
 *
 * Each address of the chunk has a number, in the order of the first occurrence. The callees of an
 * address are in a list of CALLEES numbers, the latest first. There are lists for SLOTS hashes of
 * addresses; two addresses with one hash share a list, which costs some bytes and no correctness,
 * because the reader has the same lists.
 *
 * Tried on 65,000 different stacks of a compiler and what ran beside it, 17 frames: 15.4 bytes
 * each, where the lists of addresses as text took 26. With the numbers of all chunks before they
 * would be 12.1: half of the addresses are new in a chunk of a second. Those have 2.5 bytes, and
 * the difference to the nearest known one of all would have 2.3.
 */
#include "stacks.h"

#include "columns.h"

#include <string.h>
#include <trace/user_memory.h>

enum {
	SLOT_BITS = 12,
	SLOTS = 1 << SLOT_BITS,
	CALLEES = 16,
	REGIONS = 4,
	REGION_SHIFT = 24,
	MAX_ADDRESSES = 65536,
	KNOWN = CALLEES,     /* symbol of an address of the chunk that is not in the list */
	NEW = KNOWN + 1,     /* first symbol of new addresses: 8 for each base */
	BASES = 2 + REGIONS, /* the first callee, the caller, regions */
	SYMBOLS = NEW + 8 * BASES,
};

/**
 * struct stacks_state - what both sides know of the stacks so far
 * @callees: numbers, the latest first; @nr_callees of them. @latest: by slot of the thread
 * @regions: the latest new address of each, the latest first
 * @addresses: by number
 */
struct stacks_state {
	uint16_t callees[SLOTS][CALLEES];
	uint8_t nr_callees[SLOTS];
	struct stack_frames latest[COLUMN_SLOTS];
	uint8_t nr_latest[COLUMN_SLOTS];
	uint64_t regions[REGIONS];
	uint32_t nr_addresses;
	uint64_t addresses[];
};

static void state_init(struct stacks_state *state)
{
	memset(state->nr_callees, 0, sizeof(state->nr_callees));
	memset(state->nr_latest, 0, sizeof(state->nr_latest));
	memset(state->regions, 0, sizeof(state->regions));
	state->nr_addresses = 0;
}

static inline uint32_t slot_of(uint64_t address)
{
	return (uint32_t)((address * 0x9e3779b97f4a7c15) >> (64 - SLOT_BITS));
}

static inline uint32_t nr_frames(const struct stack_frames *stack)
{
	return stack->kernel + stack->user + 1;
}

/* Frame @i from the outermost one on: the list from its end, and the innermost address last. */
static inline uint64_t frame_of(const struct stack_frames *stack, uint32_t i)
{
	uint32_t callers = stack->kernel + stack->user;
	uint64_t address;

	if (i == callers)
		return stack->ip;
	memcpy(&address, stack->list + 8 * (size_t)(callers - 1 - i), 8);
	return address;
}

static inline uint64_t fold(uint64_t difference)
{
	return difference >> 63 ? 2 * ~difference + 1 : 2 * difference;
}

static inline uint64_t unfold(uint64_t folded)
{
	return folded & 1 ? ~(folded >> 1) : folded >> 1;
}

/* ---- the lists of callees ---- */

/* Move entry @at to the front. */
static inline void move_to_front(uint16_t *callees, uint32_t at)
{
	uint16_t number = callees[at];

	for (; at; at--)
		callees[at] = callees[at - 1];
	callees[0] = number;
}

static inline void add_callee(struct stacks_state *state, uint32_t slot, uint32_t number)
{
	uint32_t nr = state->nr_callees[slot];

	if (nr < CALLEES)
		state->nr_callees[slot] = (uint8_t)++nr;
	state->callees[slot][nr - 1] = (uint16_t)number;
	move_to_front(state->callees[slot], nr - 1);
}

static inline uint64_t base_of(const struct stacks_state *state, uint32_t slot, uint64_t caller, uint32_t base)
{
	if (base == 0)
		return state->nr_callees[slot] ? state->addresses[state->callees[slot][0]] : 0;
	return base == 1 ? caller : state->regions[base - 2];
}

static inline void note_region(struct stacks_state *state, uint64_t address)
{
	uint32_t at = 0;

	while (at < REGIONS - 1 && (state->regions[at] ^ address) >> REGION_SHIFT)
		at++;
	for (; at; at--)
		state->regions[at] = state->regions[at - 1];
	state->regions[0] = address;
}

/* Give @address the next number; there is room. */
static inline void add_address(struct stacks_state *state, uint32_t slot, uint64_t address)
{
	add_callee(state, slot, state->nr_addresses);
	state->addresses[state->nr_addresses++] = address;
	note_region(state, address);
}

/* ---- encode ---- */

/**
 * struct stacks_encoder - @values: of each symbol from KNOWN on, the number or the difference
 * @table: by hash, the number of an address + 1; 0: free
 */
struct stacks_encoder {
	struct stacks_state *state;
	uint32_t *table;
	uint32_t table_mask;
	unsigned char *symbol;
	uint64_t *values, *value;
};

static size_t most_frames(const struct stacks_rows *rows)
{
	return rows->nr + rows->text_bytes / 8;
}

static size_t table_entries(size_t frames)
{
	size_t entries = 64;

	while (entries < 2 * frames && entries < 2 * MAX_ADDRESSES)
		entries *= 2;
	return entries;
}

static size_t round_up_8(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

static size_t state_bytes(size_t addresses)
{
	return sizeof(struct stacks_state) + 8 * (addresses < MAX_ADDRESSES ? addresses : MAX_ADDRESSES);
}

size_t stacks_encode_room(const struct stacks_rows *rows)
{
	size_t frames = most_frames(rows);

	return state_bytes(frames) + 4 * table_entries(frames) + 16 * frames + round_up_8(3 * (size_t)rows->nr) +
	       round_up_8(frames);
}

/* Two lists of addresses, the program's behind the kernel's, and nothing else. */
static bool is_stack(const struct stacks_rows *rows, uint32_t row, struct stack_frames *ret_stack)
{
	const uint64_t *words = rows->rows + (size_t)row * STACKS_WORDS;
	struct user_reference references[2];

	memcpy(references, &words[1], sizeof(references));
	*ret_stack = (struct stack_frames){.list = rows->texts + rows->starts[row],
					   .kernel = references[0].bytes / 8,
					   .user = references[1].bytes / 8,
					   .ip = words[2]};
	return references[0].offset == sizeof(struct trace_sample) &&
	       references[1].offset == sizeof(struct trace_sample) + references[0].bytes &&
	       !(references[0].bytes % 8) && rows->lengths[row] == 8 * (uint64_t)(nr_frames(ret_stack) - 1) &&
	       nr_frames(ret_stack) <= STACKS_MAX_FRAMES;
}

/* The number of @address + 1 is, or is to be, in the entry that is returned. */
static inline uint32_t *table_entry(const struct stacks_encoder *encoder, uint64_t address)
{
	uint32_t at = (uint32_t)((address * 0xbf58476d1ce4e5b9) >> 32);

	for (;; at++) {
		uint32_t *entry = &encoder->table[at & encoder->table_mask];

		if (!*entry || encoder->state->addresses[*entry - 1] == address)
			return entry;
	}
}

static inline unsigned int bytes_of(uint64_t value)
{
	return value ? (71u - (unsigned int)__builtin_clzll(value)) / 8 : 1;
}

/* The base with the shortest difference. */
static void put_new(struct stacks_encoder *encoder, uint32_t slot, uint64_t caller, uint64_t address)
{
	uint64_t best = UINT64_MAX;
	uint32_t best_base = 0;

	for (uint32_t base = 0; base < BASES; base++) {
		uint64_t difference = fold(address - base_of(encoder->state, slot, caller, base));

		if (!base || bytes_of(difference) < bytes_of(best)) {
			best = difference;
			best_base = base;
		}
	}
	*encoder->symbol++ = (unsigned char)(NEW + 8 * best_base + bytes_of(best) - 1);
	*encoder->value++ = best;
	add_address(encoder->state, slot, address);
}

static bool put_frame(struct stacks_encoder *encoder, uint64_t caller, uint64_t address)
{
	struct stacks_state *state = encoder->state;
	uint32_t slot = slot_of(caller), *entry = table_entry(encoder, address);

	if (!*entry) {
		if (state->nr_addresses == MAX_ADDRESSES)
			return false;
		put_new(encoder, slot, caller, address);
		*entry = state->nr_addresses;
		return true;
	}
	for (uint32_t i = 0; i < state->nr_callees[slot]; i++) {
		if (state->callees[slot][i] != *entry - 1)
			continue;
		*encoder->symbol++ = (unsigned char)i;
		move_to_front(state->callees[slot], i);
		return true;
	}
	*encoder->symbol++ = KNOWN;
	*encoder->value++ = state->nr_addresses - *entry;
	add_callee(state, slot, *entry - 1);
	return true;
}

static bool put_stack(struct stacks_encoder *encoder, const struct stack_frames *stack, uint64_t first,
		      unsigned char *counts, size_t stride)
{
	struct stacks_state *state = encoder->state;
	uint32_t thread = column_slot((uint32_t)first), nr = nr_frames(stack), same = 0;
	const struct stack_frames *before = &state->latest[thread];

	while (same < state->nr_latest[thread] && same < nr && frame_of(before, same) == frame_of(stack, same))
		same++;
	counts[0] = (unsigned char)stack->kernel;
	counts[stride] = (unsigned char)(state->nr_latest[thread] - same);
	counts[2 * stride] = (unsigned char)(nr - same);
	for (uint32_t i = same; i < nr; i++)
		if (!put_frame(encoder, i ? frame_of(stack, i - 1) : 0, frame_of(stack, i)))
			return false;
	state->latest[thread] = *stack;
	state->nr_latest[thread] = (uint8_t)nr;
	return true;
}

/* Byte 0 of all differences, byte 1 of all that have it, and so on; then both bytes of numbers. */
static unsigned char *put_literals(unsigned char *out, const struct stacks_encoder *encoder,
				   const unsigned char *symbols)
{
	const uint64_t *value;

	for (unsigned int plane = 0; plane < 8; plane++) {
		value = encoder->values;
		for (const unsigned char *symbol = symbols; symbol < encoder->symbol; symbol++) {
			if (*symbol >= NEW && (*symbol - NEW) % 8u >= plane)
				*out++ = (unsigned char)(*value >> 8 * plane);
			value += *symbol >= KNOWN;
		}
	}
	for (unsigned int plane = 0; plane < 2; plane++) {
		value = encoder->values;
		for (const unsigned char *symbol = symbols; symbol < encoder->symbol; symbol++) {
			if (*symbol == KNOWN)
				*out++ = (unsigned char)(*value >> 8 * plane);
			value += *symbol >= KNOWN;
		}
	}
	return out;
}

bool stacks_encode(const struct stacks_rows *rows, void *memory, struct stacks_coded *ret_coded)
{
	size_t frames = most_frames(rows), entries = table_entries(frames);
	unsigned char *at = memory, *counts, *symbols, *literals;
	struct stacks_encoder encoder = {.state = memory, .table_mask = (uint32_t)entries - 1};
	struct stack_frames stack;

	at += state_bytes(frames);
	encoder.table = memset(at, 0, 4 * entries);
	at += 4 * entries;
	encoder.value = encoder.values = (uint64_t *)at;
	at += 8 * frames;
	literals = at;
	at += 8 * frames;
	counts = at;
	symbols = encoder.symbol = at + round_up_8(3 * (size_t)rows->nr);
	state_init(encoder.state);
	for (uint32_t row = 0; row < rows->nr; row++)
		if (!is_stack(rows, row, &stack) ||
		    !put_stack(&encoder, &stack, rows->rows[(size_t)row * STACKS_WORDS], counts + row, rows->nr))
			return false;
	*ret_coded = (struct stacks_coded){.counts = counts,
					   .symbols = symbols,
					   .literals = literals,
					   .nr_counts = 3 * (size_t)rows->nr,
					   .nr_symbols = (size_t)(encoder.symbol - symbols)};
	ret_coded->nr_literals = (size_t)(put_literals(literals, &encoder, symbols) - literals);
	return true;
}

/* ---- decode ---- */

size_t stacks_decode_room(size_t literal_bytes)
{
	return state_bytes(literal_bytes); /* each new address has a byte at least */
}

/* Count the bytes of each plane; false: no such symbol. */
static bool count_literals(const unsigned char *symbols, size_t nr, size_t ret_planes[8], size_t *ret_known)
{
	size_t count[SYMBOLS] = {0};

	for (size_t i = 0; i < nr; i++) {
		if (symbols[i] >= SYMBOLS)
			return false;
		count[symbols[i]]++;
	}
	*ret_known = count[KNOWN];
	for (unsigned int plane = 8; plane--;) {
		ret_planes[plane] = plane < 7 ? ret_planes[plane + 1] : 0;
		for (uint32_t base = 0; base < BASES; base++)
			ret_planes[plane] += count[NEW + 8 * base + plane];
	}
	return true;
}

bool stacks_open(struct stacks_reader *reader, const unsigned char **columns, const unsigned char *columns_end,
		 const unsigned char **texts, const unsigned char *texts_end, uint32_t nr, void *memory)
{
	size_t nr_symbols = 0, planes[8], known, literals = 0;

	if ((size_t)(columns_end - *columns) / 3 < nr)
		return false;
	*reader = (struct stacks_reader){
		.state = memory, .counts = *columns, .symbols = *columns + 3 * (size_t)nr, .nr = nr};
	for (uint32_t i = 0; i < nr; i++)
		nr_symbols += reader->counts[2 * (size_t)nr + i];
	if ((size_t)(columns_end - reader->symbols) < nr_symbols ||
	    !count_literals(reader->symbols, nr_symbols, planes, &known))
		return false;
	for (unsigned int plane = 0; plane < 8; plane++) {
		reader->planes[plane] = *texts + literals;
		literals += planes[plane];
	}
	reader->known[0] = *texts + literals;
	reader->known[1] = reader->known[0] + known;
	literals += 2 * known;
	if (literals > (size_t)(texts_end - *texts) || planes[0] > MAX_ADDRESSES)
		return false;
	*columns = reader->symbols + nr_symbols;
	*texts += literals;
	state_init(reader->state);
	return true;
}

static bool next_frame(struct stacks_reader *reader, uint64_t caller, uint64_t *ret_address)
{
	struct stacks_state *state = reader->state;
	uint32_t slot = slot_of(caller), symbol = *reader->symbols++;
	uint64_t value = 0;

	if (symbol < KNOWN) {
		if (symbol >= state->nr_callees[slot])
			return false;
		move_to_front(state->callees[slot], symbol);
	} else if (symbol == KNOWN) {
		value = *reader->known[0]++;
		value |= (uint64_t)*reader->known[1]++ << 8;
		if (value >= state->nr_addresses)
			return false;
		add_callee(state, slot, state->nr_addresses - 1 - (uint32_t)value);
	} else {
		for (unsigned int plane = 0; plane <= (symbol - NEW) % 8; plane++)
			value |= (uint64_t)*reader->planes[plane]++ << 8 * plane;
		add_address(state, slot, base_of(state, slot, caller, (symbol - NEW) / 8) + unfold(value));
	}
	*ret_address = state->addresses[state->callees[slot][0]];
	return true;
}

/* The frames that the stack has from the one before, and those that it adds. */
static bool read_frames(struct stacks_reader *reader, const struct stack_frames *before, struct stack_frames *stack,
			unsigned char *list, uint32_t same)
{
	uint32_t nr = nr_frames(stack);
	uint64_t address = 0;

	for (uint32_t i = 0; i < nr; i++) {
		if (i < same)
			address = frame_of(before, i);
		else if (!next_frame(reader, address, &address))
			return false;
		if (i < nr - 1)
			memcpy(list + 8 * (size_t)(nr - 2 - i), &address, 8);
	}
	stack->ip = address;
	return true;
}

bool stacks_next(struct stacks_reader *reader, uint64_t first, unsigned char *list, size_t room, uint64_t ret_words[2],
		 size_t *ret_bytes)
{
	struct stacks_state *state = reader->state;
	const unsigned char *counts = reader->counts + reader->next++;
	uint32_t thread = column_slot((uint32_t)first), kernel = counts[0], dropped = counts[reader->nr],
		 added = counts[2 * (size_t)reader->nr], same = state->nr_latest[thread] - dropped, nr = same + added;
	struct stack_frames stack = {.list = list, .kernel = kernel};
	struct user_reference references[2] = {
		{.offset = sizeof(struct trace_sample), .bytes = (uint16_t)(8 * kernel)}};

	if (dropped > state->nr_latest[thread] || nr > STACKS_MAX_FRAMES || kernel >= nr || 8 * (size_t)(nr - 1) > room)
		return false;
	stack.user = nr - 1 - kernel;
	if (!read_frames(reader, &state->latest[thread], &stack, list, same))
		return false;
	references[1] = (struct user_reference){.offset = (uint16_t)(references[0].offset + references[0].bytes),
						.bytes = (uint16_t)(8 * stack.user)};
	memcpy(&ret_words[0], references, sizeof(references));
	ret_words[1] = stack.ip;
	*ret_bytes = 8 * (size_t)(nr - 1);
	state->latest[thread] = stack;
	state->nr_latest[thread] = (uint8_t)nr;
	return true;
}
