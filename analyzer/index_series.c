/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* index_series.c - series as columns: index_series.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "index_bits.h"
#include "index_series.h"
#include "index_threads.h"
#include "index_times.h"
#include "pages.h"
#include "view_rows.h"

#define BLOCK_ENTRIES (1u << 18)
#define MAX_COLUMNS   (1u << 30) /* bytes of the columns of a block */
#define LEVEL	      3		 /* of the compression */
#define MAX_SYMBOL    247u	 /* of a duration of 63 bits */
#define IS_PIECE      0u	 /* a value of a thread: the next piece; others are activities + 1 */
#define NR_SPECIAL    9u	 /* the highest values of a CPU's series become the lowest */
_Static_assert(RUN_ALONE + NR_SPECIAL == 0, "the values that are no timelines become 0 to 8");

/* the columns of durations: by the class of a thread's entry, or by what a CPU did */
enum duration_kind {
	OF_PIECE = TRACE_NR_CLASSES,
	OF_THREAD_ON_CPU,
	OF_CPU_ALONE,
	OF_STATE, /* + the state of a piece that is not the first */
	NR_DURATIONS = OF_STATE + PIECE_STATES,
};
#define NR_COLUMNS (NR_DURATIONS + 2) /* after those of values and exceptions */

/* ---- write ---- */

struct block_out {
	struct bytes_out values, exceptions;
	struct bytes_out symbols[NR_DURATIONS];
	struct bits_out bits;
	uint32_t nr_series, nr_entries;
	uint32_t next; /* entry that would be an exception with the number 1 */
	bool failed;
};

/*
 * In an index that has the times of events: which entries end by an event, unless they are
 * exceptions. The last one ends with its thread, or with the trace.
 */
static inline bool ends_by_event(uint8_t class_of_time, bool is_last)
{
	bool is_on_cpu = class_of_time <= TRACE_CLASS_INTERRUPTED || class_of_time == TRACE_CLASS_RUNNING;

	return !is_last && (is_on_cpu || class_of_time == TRACE_CLASS_WAIT_CPU);
}

/*
 * Does entry @idx of series @nr end by an event? Notes it if that is an exception: each has the
 * number of entries since the one before it, and 0 ends them.
 */
static bool put_end(struct block_out *block, const struct index_times *times, size_t nr, uint32_t idx, bool usual)
{
	bool by_event = times && times_is_by_event(times, nr, idx);

	if (times && by_event != usual) {
		bytes_put_number(&block->exceptions, idx + 1ull - block->next);
		block->next = idx + 1;
	}
	return by_event;
}

static void end_series(struct block_out *block, const struct index_times *times)
{
	if (times)
		bytes_put_number(&block->exceptions, 0);
	block->next = 0;
	block->nr_series++;
}

/*
 * The first three bits of a duration are in its symbol, because durations of one kind are similar;
 * those below 8 have no others. Example: 37 = 0b100101 has the symbol 4 * 3 + 0b100 = 16; its 3
 * other bits, 101, follow.
 */
static void put_duration(struct block_out *block, unsigned int kind, uint64_t ns)
{
	unsigned int more = ns < 8 ? 0 : 61u - (unsigned int)__builtin_clzll(ns);
	uint8_t symbol = (uint8_t)(4 * more + (ns >> more));

	block->failed |= ns > INT64_MAX;
	bytes_put(&block->symbols[kind], &symbol, 1);
	if (more)
		bits_put(&block->bits, ns, more);
}

/* The first state is the rest of the duration. */
static void put_piece(struct block_out *block, const struct history_piece *piece, uint64_t ns)
{
	uint64_t sum = 0;

	for (int i = 0; i < PIECE_STATES; i++) {
		sum += piece->ns[i];
		if (i)
			put_duration(block, OF_STATE + (unsigned int)i, piece->ns[i]);
	}
	block->failed |= sum != ns;
}

/* @nr: number of the series */
static void put_thread_series(struct block_out *block, const struct trace_history *history,
			      const struct thread_timeline *timeline, const struct index_times *times, size_t nr)
{
	const struct series *series = &timeline->series;
	uint32_t nr_pieces = 0;

	for (uint32_t i = 0; i < series->nr; i++) {
		uint32_t value = series->value[i];
		uint64_t ns = series_to(series, i) - series->from[i];

		if (!(value & PIECE)) {
			bytes_put_number(&block->values, value + 1ull);
			if (!put_end(block, times, nr, i, ends_by_event(history->classes[value], i + 1 == series->nr)))
				put_duration(block, history->classes[value], ns);
			continue;
		}
		block->failed |= value != (PIECE | nr_pieces) || times;
		bytes_put_number(&block->values, IS_PIECE);
		put_duration(block, OF_PIECE, ns);
		if (nr_pieces < timeline->nr_pieces)
			put_piece(block, &timeline->pieces[nr_pieces++], ns);
	}
	block->failed |= nr_pieces != timeline->nr_pieces;
}

static void put_cpu_series(struct block_out *block, const struct series *series, const struct index_times *times,
			   size_t nr)
{
	for (uint32_t i = 0; i < series->nr; i++) {
		uint32_t code = series->value[i] + NR_SPECIAL; /* wraps around */

		bytes_put_number(&block->values, code);
		if (!put_end(block, times, nr, i, i + 1 < series->nr))
			put_duration(block, code < NR_SPECIAL ? OF_CPU_ALONE : OF_THREAD_ON_CPU,
				     series_to(series, i) - series->from[i]);
	}
}

static const struct bytes_out *column_out(const struct block_out *block, int i)
{
	return i == 0 ? &block->values : i == 1 ? &block->exceptions : &block->symbols[i - 2];
}

static void put_columns(struct block_out *block, struct bytes_out *out)
{
	size_t bytes = 0, room, packed;
	uint8_t *columns, *at, *frame = NULL;

	for (int i = 0; i < NR_COLUMNS; i++)
		bytes += column_out(block, i)->nr;
	room = ZSTD_compressBound(bytes);
	columns = at = malloc(bytes + 1);
	if (columns)
		frame = malloc(room);
	out->failed |= !frame || bytes > MAX_COLUMNS;
	for (int i = 0; frame && i < NR_COLUMNS; i++) {
		const struct bytes_out *column = column_out(block, i);

		bytes_put_number(out, column->nr);
		if (column->nr)
			at = (uint8_t *)memcpy(at, column->at, column->nr) + column->nr;
	}
	packed = frame ? ZSTD_compress(frame, room, columns, bytes, LEVEL) : 0;
	out->failed |= ZSTD_isError(packed);
	if (!out->failed) {
		bytes_put_number(out, packed);
		bytes_put(out, frame, packed);
	}
	free(columns);
	free(frame);
}

static void put_block(struct block_out *block, struct bytes_out *out)
{
	bits_end(&block->bits);
	out->failed |= block->failed || block->bits.bytes.failed;
	for (int i = 0; i < NR_COLUMNS; i++)
		out->failed |= column_out(block, i)->failed;
	if (!out->failed) {
		bytes_put_number(out, block->nr_series);
		put_columns(block, out);
		bytes_put_number(out, block->bits.bytes.nr);
		bytes_put(out, block->bits.bytes.at, block->bits.bytes.nr);
	}
	bytes_free(&block->values);
	bytes_free(&block->exceptions);
	bytes_free(&block->bits.bytes);
	for (int i = 0; i < NR_DURATIONS; i++)
		bytes_free(&block->symbols[i]);
	*block = (struct block_out){0};
}

void series_save(const struct trace_history *history, const struct stored_series *list, size_t nr,
		 const struct index_times *times, struct bytes_out *out)
{
	struct block_out block = {0};

	for (size_t i = 0; i < nr && !out->failed; i++) {
		if (list[i].timeline)
			put_thread_series(&block, history, list[i].timeline, times, i);
		else
			put_cpu_series(&block, list[i].series, times, i);
		end_series(&block, times);
		block.nr_entries += list[i].series->nr;
		if (block.nr_entries >= BLOCK_ENTRIES || i + 1 == nr)
			put_block(&block, out);
	}
	put_block(&block, &(struct bytes_out){.failed = true}); /* releases it */
}

/* ---- read ---- */

struct block_in {
	struct bytes_in values, exceptions;
	struct bytes_in symbols[NR_DURATIONS];
	struct bits_in bits;
	uint8_t *columns; /* owned */
	uint32_t nr_series;
	uint64_t exception; /* the next one; UINT64_MAX: none */
	bool has_times;	    /* entries end by events */
	bool failed;
};

/* The next exception is at least at @from. */
static inline void take_exception(struct block_in *block, uint64_t from)
{
	uint64_t more = block->has_times ? bytes_number(&block->exceptions) : 0;

	block->exception = more ? from + more - 1 : UINT64_MAX;
	block->failed |= block->exceptions.failed || (more && more - 1 > UINT32_MAX);
}

/* Does the entry end by an event? */
static inline bool take_end(struct block_in *block, uint32_t idx, bool usual)
{
	if (!block->has_times)
		return false;
	if (idx != block->exception)
		return usual;
	take_exception(block, idx + 1ull);
	return !usual;
}

static inline uint64_t take_duration(struct block_in *block, unsigned int kind)
{
	struct bytes_in *symbols = &block->symbols[kind];
	unsigned int symbol = symbols->at < symbols->end ? *symbols->at : UINT8_MAX, more;

	if (symbol > MAX_SYMBOL) {
		block->failed = true;
		return 0;
	}
	symbols->at++;
	more = symbol < 8 ? 0 : symbol / 4 - 1;
	return (uint64_t)(symbol - 4 * more) << more | bits_take(&block->bits, more);
}

static inline uint64_t take_value(struct block_in *block)
{
	if (block->values.at < block->values.end && *block->values.at < 0x80)
		return *block->values.at++;
	return bytes_number(&block->values);
}

/* The next entry of @series begins at its end; or it gets its duration: times_fill() */
static inline void take_entry(struct block_in *block, struct series *series, uint32_t idx, uint32_t value, uint64_t ns)
{
	series->from[idx] = block->has_times ? ns : series->end;
	series->value[idx] = value;
	block->failed |= !ns || ns > INT64_MAX || series->end > INT64_MAX;
	series->end += block->has_times ? 0 : ns;
}

/* An entry that ends by an event. */
static inline void take_open_entry(struct series *series, uint32_t idx, uint32_t value)
{
	series->from[idx] = 0;
	series->value[idx] = value;
}

static void take_piece(struct block_in *block, struct history_piece *piece, uint64_t ns)
{
	uint64_t sum = 0;

	for (unsigned int i = 1; i < PIECE_STATES; i++) {
		uint64_t part = take_duration(block, OF_STATE + i);

		block->failed |= part > UINT32_MAX;
		sum += piece->ns[i] = (uint32_t)part;
	}
	block->failed |= sum > ns || ns > UINT32_MAX;
	piece->ns[0] = (uint32_t)(ns - sum);
}

static void take_thread_entry(struct block_in *block, const struct trace_history *history, struct series *series,
			      uint32_t idx, uint32_t value)
{
	uint8_t class_of_time = history->classes[value];

	if (take_end(block, idx, ends_by_event(class_of_time, idx + 1 == series->nr)))
		take_open_entry(series, idx, value);
	else
		take_entry(block, series, idx, value, take_duration(block, class_of_time));
}

static void take_thread_series(struct block_in *block, const struct trace_history *history,
			       struct thread_timeline *timeline)
{
	struct series *series = &timeline->series;
	uint32_t nr_pieces = 0;

	for (uint32_t i = 0; i < series->nr && !block->failed; i++) {
		uint64_t code = take_value(block), ns;

		if (code == IS_PIECE) {
			ns = take_duration(block, OF_PIECE);
			block->failed |= nr_pieces >= timeline->nr_pieces || block->has_times;
			if (!block->failed) {
				take_piece(block, &timeline->pieces[nr_pieces], ns);
				take_entry(block, series, i, PIECE | nr_pieces++, ns);
			}
		} else if (code <= history->nr_activities) {
			take_thread_entry(block, history, series, i, (uint32_t)code - 1);
		} else {
			block->failed = true;
		}
	}
	block->failed |= nr_pieces != timeline->nr_pieces;
}

static void take_cpu_series(struct block_in *block, const struct trace_history *history, struct series *series)
{
	for (uint32_t i = 0; i < series->nr && !block->failed; i++) {
		uint64_t code = take_value(block);
		uint32_t value = (uint32_t)code - NR_SPECIAL;

		block->failed |= code >= history->nr_timelines + (uint64_t)NR_SPECIAL;
		if (take_end(block, i, i + 1 < series->nr))
			take_open_entry(series, i, value);
		else
			take_entry(block, series, i, value,
				   take_duration(block, code < NR_SPECIAL ? OF_CPU_ALONE : OF_THREAD_ON_CPU));
	}
}

static struct bytes_in *column_in(struct block_in *block, int i)
{
	return i == 0 ? &block->values : i == 1 ? &block->exceptions : &block->symbols[i - 2];
}

/* Returns 0 or -ENOMEM. */
static int take_columns(struct block_in *block, struct bytes_in *in)
{
	size_t sizes[NR_COLUMNS], bytes = 0, packed;
	const uint8_t *frame, *at;

	for (int i = 0; i < NR_COLUMNS; i++) {
		sizes[i] = (size_t)bytes_below(in, MAX_COLUMNS);
		bytes += sizes[i];
	}
	packed = (size_t)bytes_number(in);
	frame = bytes_take(in, packed);
	if (!frame || bytes > MAX_COLUMNS || ZSTD_getFrameContentSize(frame, packed) != bytes) {
		in->failed = true;
		return 0;
	}
	block->columns = malloc(bytes + 1);
	if (!block->columns)
		return -ENOMEM;
	in->failed |= ZSTD_decompress(block->columns, bytes, frame, packed) != bytes;
	at = block->columns;
	for (int i = 0; i < NR_COLUMNS; at += sizes[i++])
		*column_in(block, i) = (struct bytes_in){.at = at, .end = at + sizes[i]};
	return 0;
}

/* Is nothing left that was not read? */
static bool is_read(struct block_in *block)
{
	for (int i = 0; i < NR_COLUMNS; i++)
		if (column_in(block, i)->at != column_in(block, i)->end)
			return false;
	return bits_are_read(&block->bits);
}

/* The bytes of the arrays of a series, each at a multiple of 8. */
static size_t bytes_of(const struct stored_series *stored)
{
	size_t bytes = stored->series->nr * sizeof(*stored->series->from) +
		       ((stored->series->nr + 1ull) / 2) * 2 * sizeof(*stored->series->value);

	if (stored->timeline)
		bytes += (stored->timeline->nr_pieces * sizeof(*stored->timeline->pieces) + 7) / 8 * 8;
	return bytes;
}

/* The arrays of a series are at @at. They have room for no more: they are not its own. */
static void place_series(const struct stored_series *stored, uint8_t *at)
{
	struct series *series = stored->series;

	if (!series->nr)
		return;
	series->from = (uint64_t *)(void *)at;
	at += series->nr * sizeof(*series->from);
	series->value = (uint32_t *)(void *)at;
	at += ((series->nr + 1ull) / 2) * 2 * sizeof(*series->value);
	if (stored->timeline && stored->timeline->nr_pieces)
		stored->timeline->pieces = (struct history_piece *)(void *)at;
}

/*
 * One piece of memory for the @nr series of a block. Thousands of arrays, each with page faults of
 * its own, would cost a tenth of the time to open an index. Returns 0 or -ENOMEM.
 */
static int take_memory(const struct stored_series *list, size_t nr, void **ret_memory)
{
	size_t bytes = 0;
	uint8_t *at;

	for (size_t i = 0; i < nr; i++)
		bytes += bytes_of(&list[i]);
	*ret_memory = at = pages_whole(bytes + 1);
	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		place_series(&list[i], at);
		at += bytes_of(&list[i]);
	}
	return 0;
}

static int take_block(const struct trace_history *history, const struct stored_series *list, size_t nr, bool has_times,
		      struct bytes_in *in, size_t *ret_nr, void **ret_memory)
{
	struct block_in block = {.has_times = has_times};
	int error;

	*ret_nr = (size_t)bytes_below(in, nr + 1);
	error = take_columns(&block, in);
	block.bits.nr_bytes = (size_t)bytes_number(in);
	block.bits.bytes = bytes_take(in, block.bits.nr_bytes);
	in->failed |= !*ret_nr;
	if (!in->failed && !error)
		error = take_memory(list, *ret_nr, ret_memory);
	for (size_t i = 0; i < *ret_nr && !in->failed && !error; i++) {
		take_exception(&block, 0);
		if (list[i].timeline)
			take_thread_series(&block, history, list[i].timeline);
		else
			take_cpu_series(&block, history, list[i].series);
		in->failed |= block.failed || block.values.failed || block.exception != UINT64_MAX;
	}
	in->failed |= !error && !in->failed && !is_read(&block);
	free(block.columns);
	return error;
}

/* struct block_at - where a block of an index is, and which series it has */
struct block_at {
	struct bytes_in in;
	size_t first, nr;
};

/* struct load - several threads read the blocks. @error, @failed: read when they have ended */
struct load {
	const struct trace_history *history;
	const struct stored_series *list;
	struct block_at *blocks; /* owned */
	void **memory;		 /* of the history; of each block */
	size_t nr_blocks;
	bool has_times;
	int error;
	bool failed;
};

/* Returns the number of its series; 0: there is no block. */
static size_t skip_block(struct bytes_in *in, size_t nr)
{
	size_t taken = (size_t)bytes_below(in, nr + 1);

	for (int i = 0; i < NR_COLUMNS; i++)
		bytes_number(in);
	bytes_take(in, bytes_number(in));
	bytes_take(in, bytes_number(in));
	return in->failed ? 0 : taken;
}

static void find_blocks(struct load *load, size_t nr, struct bytes_in *in)
{
	for (size_t first = 0; first < nr && !in->failed;) {
		struct block_at *block = &load->blocks[load->nr_blocks++];

		*block = (struct block_at){.in = *in, .first = first, .nr = skip_block(in, nr - first)};
		block->in.end = in->at;
		in->failed |= !block->nr;
		first += block->nr;
	}
}

/* The last blocks are those of CPUs, the largest ones: they come first. */
static void load_block(void *data, size_t i)
{
	struct load *load = data;
	size_t idx = load->nr_blocks - 1 - i, taken;
	struct block_at *block = &load->blocks[idx];
	int error = take_block(load->history, load->list + block->first, block->nr, load->has_times, &block->in, &taken,
			       &load->memory[idx]);

	if (error)
		__atomic_store_n(&load->error, error, __ATOMIC_RELAXED);
	if (block->in.failed || block->in.at != block->in.end || taken != block->nr)
		__atomic_store_n(&load->failed, true, __ATOMIC_RELAXED);
}

int series_load(struct trace_history *history, const struct stored_series *list, size_t nr, bool has_times,
		struct bytes_in *in)
{
	struct load load = {.history = history,
			    .list = list,
			    .blocks = calloc(nr + 1, sizeof(*load.blocks)),
			    .has_times = has_times};

	if (!load.blocks)
		return -ENOMEM;
	find_blocks(&load, nr, in);
	history->memory = load.memory = calloc(load.nr_blocks + 1, sizeof(*load.memory));
	history->nr_memory = load.memory ? load.nr_blocks : 0;
	if (!load.memory)
		load.error = -ENOMEM;
	else if (!in->failed)
		index_in_threads(load_block, &load, load.nr_blocks);
	free(load.blocks);
	in->failed |= load.failed;
	return load.error;
}
