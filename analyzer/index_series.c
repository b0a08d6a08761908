/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* index_series.c - series as columns: index_series.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "index_bits.h"
#include "index_frame.h"
#include "index_series.h"
#include "index_threads.h"
#include "index_times.h"
#include "pages.h"
#include "view_rows.h"

#define MAX_COLUMNS (16u * INDEX_BLOCK) /* bytes: a value and an exception of 11, five durations */
#define BEGIN_BYTES 16u			/* that have the two numbers at the begin of a block */
#define MAX_SYMBOL  247u		/* of a duration of 63 bits */
#define IS_PIECE    0u			/* a value of a thread: the next piece; others are activities + 1 */
#define NR_SPECIAL  9u			/* the highest values of a CPU's series become the lowest */
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

/*
 * struct block_out - @begin, @piece: of the first entry, and the next piece of its series, if the
 * block before has entries of that series; otherwise 0
 */
struct block_out {
	struct bytes_out values, exceptions;
	struct bytes_out symbols[NR_DURATIONS];
	struct bits_out bits;
	uint64_t begin;
	uint32_t piece;
	uint32_t nr_entries, max_entries;
	uint32_t next; /* entry that would be an exception with the number 1 */
	bool failed;
};

/* struct block_part - the entries of series @nr from @from to before @to */
struct block_part {
	size_t nr;
	uint32_t from, to;
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

static void put_thread_entry(struct block_out *block, const struct trace_history *history, const struct series *series,
			     const struct index_times *times, size_t nr, uint32_t idx)
{
	uint8_t class_of_time = history->classes[series->value[idx]];

	bytes_put_number(&block->values, series->value[idx] + 1ull);
	if (!put_end(block, times, nr, idx, ends_by_event(class_of_time, idx + 1 == series->nr)))
		put_duration(block, class_of_time, series_to(series, idx) - series->from[idx]);
}

/* @piece: the next one of the thread; becomes the one after the part */
static void put_thread_part(struct block_out *block, const struct trace_history *history,
			    const struct thread_timeline *timeline, const struct index_times *times,
			    struct block_part part, uint32_t *piece)
{
	const struct series *series = &timeline->series;

	for (uint32_t i = part.from; i < part.to; i++) {
		uint64_t ns = series_to(series, i) - series->from[i];

		if (!(series->value[i] & PIECE)) {
			put_thread_entry(block, history, series, times, part.nr, i);
			continue;
		}
		block->failed |= series->value[i] != (PIECE | *piece) || times;
		bytes_put_number(&block->values, IS_PIECE);
		put_duration(block, OF_PIECE, ns);
		if (*piece < timeline->nr_pieces)
			put_piece(block, &timeline->pieces[(*piece)++], ns);
	}
	block->failed |= part.to == series->nr && *piece != timeline->nr_pieces;
}

static void put_cpu_part(struct block_out *block, const struct series *series, const struct index_times *times,
			 struct block_part part)
{
	for (uint32_t i = part.from; i < part.to; i++) {
		uint32_t code = series->value[i] + NR_SPECIAL; /* wraps around */

		bytes_put_number(&block->values, code);
		if (!put_end(block, times, part.nr, i, i + 1 < series->nr))
			put_duration(block, code < NR_SPECIAL ? OF_CPU_ALONE : OF_THREAD_ON_CPU,
				     series_to(series, i) - series->from[i]);
	}
}

static const struct bytes_out *column_out(const struct block_out *block, int i)
{
	return i == 0 ? &block->values : i == 1 ? &block->exceptions : &block->symbols[i - 2];
}

static void put_columns(const struct block_out *block, struct bytes_out *head, struct bytes_out *packed)
{
	struct index_frame frame;
	size_t bytes = 0;

	for (int i = 0; i < NR_COLUMNS; i++) {
		bytes += column_out(block, i)->nr;
		head->failed |= column_out(block, i)->failed;
		bytes_put_number(head, column_out(block, i)->nr);
	}
	head->failed |= bytes > MAX_COLUMNS;
	frame = index_frame_begin(bytes, packed);
	for (int i = 0; i < NR_COLUMNS; i++)
		index_frame_put(&frame, column_out(block, i)->at, column_out(block, i)->nr);
	index_frame_end(&frame);
	bytes_put_number(head, packed->nr);
}

static void block_clear(struct block_out *block)
{
	bytes_free(&block->values);
	bytes_free(&block->exceptions);
	bytes_free(&block->bits.bytes);
	for (int i = 0; i < NR_DURATIONS; i++)
		bytes_free(&block->symbols[i]);
	*block = (struct block_out){.max_entries = block->max_entries};
}

static void put_block(struct block_out *block, struct index_out *out)
{
	struct bytes_out head = {0}, packed = {0};

	bits_end(&block->bits);
	bytes_put_number(&head, block->begin);
	bytes_put_number(&head, block->piece);
	put_columns(block, &head, &packed);
	if (!out->error && (block->failed || block->bits.bytes.failed || head.failed || packed.failed))
		out->error = -ENOMEM;
	index_put_section(out, head.nr + packed.nr + block->bits.bytes.nr);
	index_put(out, head.at, head.nr);
	index_put(out, packed.at, packed.nr);
	index_put(out, block->bits.bytes.at, block->bits.bytes.nr);
	bytes_free(&head);
	bytes_free(&packed);
	block_clear(block);
}

/* The next entries of series @nr, as many as the block has room for. */
static struct block_part next_part(struct block_out *block, const struct series *series, size_t nr, uint32_t from,
				   uint32_t piece, bool has_times)
{
	uint32_t room = block->max_entries - block->nr_entries, left = series->nr - from;

	if (!block->nr_entries && from) {
		block->begin = has_times ? 0 : series->from[from];
		block->piece = piece;
	}
	block->next = from;
	return (struct block_part){.nr = nr, .from = from, .to = from + (left < room ? left : room)};
}

static void save_series(struct block_out *block, const struct trace_history *history, const struct stored_series *list,
			size_t nr, const struct index_times *times, struct index_out *out)
{
	const struct series *series = list[nr].series;
	struct block_part part = {0};
	uint32_t piece = 0;

	while (part.to < series->nr && !out->error) {
		part = next_part(block, series, nr, part.to, piece, times);
		if (list[nr].timeline)
			put_thread_part(block, history, list[nr].timeline, times, part, &piece);
		else
			put_cpu_part(block, series, times, part);
		if (times)
			bytes_put_number(&block->exceptions, 0);
		block->nr_entries += part.to - part.from;
		if (block->nr_entries == block->max_entries)
			put_block(block, out);
	}
}

void series_save(const struct trace_history *history, const struct stored_series *list, size_t nr,
		 uint32_t block_entries, const struct index_times *times, struct index_out *out)
{
	struct block_out block = {.max_entries = block_entries};

	for (size_t i = 0; i < nr; i++)
		save_series(&block, history, list, i, times, out);
	if (block.nr_entries)
		put_block(&block, out);
	block_clear(&block);
}

/* ---- read ---- */

struct block_in {
	struct bytes_in values, exceptions;
	struct bytes_in symbols[NR_DURATIONS];
	struct bits_in bits;
	uint8_t *columns;   /* owned */
	uint64_t at;	    /* end of the last entry */
	uint32_t piece;	    /* the next one of the series */
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

/* The next entry begins where the last one ends; or it gets its duration: times_fill() */
static inline void take_entry(struct block_in *block, struct series *series, uint32_t idx, uint32_t value, uint64_t ns)
{
	series->from[idx] = block->has_times ? ns : block->at;
	series->value[idx] = value;
	block->failed |= !ns || ns > INT64_MAX || block->at > INT64_MAX;
	block->at += block->has_times ? 0 : ns;
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

static void take_thread_piece(struct block_in *block, struct thread_timeline *timeline, uint32_t idx,
			      uint32_t nr_pieces)
{
	uint64_t ns = take_duration(block, OF_PIECE);

	block->failed |= block->piece >= nr_pieces || block->has_times;
	if (block->failed)
		return;
	take_piece(block, &timeline->pieces[block->piece], ns);
	take_entry(block, &timeline->series, idx, PIECE | block->piece++, ns);
}

/* @nr_pieces: of the thread, up to the end of the part */
static void take_thread_part(struct block_in *block, const struct trace_history *history,
			     struct thread_timeline *timeline, struct block_part part, uint32_t nr_pieces)
{
	for (uint32_t i = part.from; i < part.to && !block->failed; i++) {
		uint64_t code = take_value(block);

		if (code == IS_PIECE)
			take_thread_piece(block, timeline, i, nr_pieces);
		else if (code <= history->nr_activities)
			take_thread_entry(block, history, &timeline->series, i, (uint32_t)code - 1);
		else
			block->failed = true;
	}
	block->failed |= block->piece != nr_pieces;
}

static void take_cpu_part(struct block_in *block, const struct trace_history *history, struct series *series,
			  struct block_part part)
{
	for (uint32_t i = part.from; i < part.to && !block->failed; i++) {
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
 * struct block_at - where a block of an index is, and which entries it has
 * @first, @entry: its first series, and the number of its first entry in that
 * @begin, @piece: as in struct block_out
 * @last_pieces: pieces of its last series, up to its end
 * @first_end, @last_end: ns; ends of the entries of its first and its last series
 */
struct block_at {
	uint64_t at, bytes;
	size_t first;
	uint32_t entry, nr_entries;
	uint32_t piece, last_pieces;
	uint64_t begin, first_end, last_end;
};

/* struct load - several threads read the blocks. @error: read when they have ended */
struct load {
	struct trace_history *history;
	const struct stored_series *list;
	const struct index_in *in;
	struct block_at *blocks; /* owned */
	size_t nr_blocks;
	uint32_t block_entries;
	bool has_times;
	int error;
};

/* ---- memory ---- */

/*
 * Each block has one piece of memory for the series that begin in it. Thousands of arrays, each
 * with page faults of its own, would cost a tenth of the time to open an index. The pages of an
 * entry are mapped by the thread that reads it. Returns 0 or -ENOMEM.
 */
static int take_memory(const struct stored_series *list, size_t nr, void **ret_memory)
{
	size_t bytes = 0;
	uint8_t *at;

	for (size_t i = 0; i < nr; i++)
		bytes += bytes_of(&list[i]);
	*ret_memory = at = pages_unmapped(bytes + 1);
	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		place_series(&list[i], at);
		at += bytes_of(&list[i]);
	}
	return 0;
}

/* The number of the first series that begins in block @idx or after it. */
static size_t first_of(const struct load *load, size_t idx, size_t nr)
{
	return idx < load->nr_blocks ? load->blocks[idx].first + (load->blocks[idx].entry != 0) : nr;
}

static int take_memories(struct load *load, size_t nr)
{
	void **memory = calloc(load->nr_blocks + 1, sizeof(*memory));
	int error = memory ? 0 : -ENOMEM;

	load->history->memory = memory;
	load->history->nr_memory = memory ? load->nr_blocks : 0;
	for (size_t i = 0; i < load->nr_blocks && !error; i++) {
		size_t first = first_of(load, i, nr);

		error = take_memory(load->list + first, first_of(load, i + 1, nr) - first, &memory[i]);
	}
	return error;
}

/* Map the pages of a series that is not wholly in a block. */
static void map_part(const struct stored_series *stored, struct block_part part, uint32_t piece, uint32_t nr_pieces)
{
	const struct series *series = stored->series;

	pages_populate(series->from + part.from, (part.to - part.from) * sizeof(*series->from));
	pages_populate(series->value + part.from, (part.to - part.from) * sizeof(*series->value));
	if (piece < nr_pieces)
		pages_populate(stored->timeline->pieces + piece,
			       (nr_pieces - piece) * sizeof(*stored->timeline->pieces));
}

/* ---- blocks ---- */

/* Which entries each block has. Blocks are equally long but for the last one. */
static void divide(struct load *load, size_t nr)
{
	struct block_at *block = load->blocks;
	uint64_t sum = 0, at = 0, length = load->block_entries;

	for (size_t i = 0; i < nr; i++)
		sum += load->list[i].series->nr;
	for (size_t i = 0; i < nr; at += load->list[i++].series->nr)
		for (uint64_t begin = (uint64_t)(block - load->blocks) * length; begin < at + load->list[i].series->nr;
		     begin += length)
			*block++ = (struct block_at){
				.first = i,
				.entry = (uint32_t)(begin - at),
				.nr_entries = (uint32_t)(sum - begin < length ? sum - begin : length),
			};
}

/* Read where the block before it has to end: time and piece. */
static int find_begin(const struct load *load, struct block_at *block)
{
	struct index_piece piece;
	const struct thread_timeline *timeline = load->list[block->first].timeline;
	int error = index_read(load->in, block->at, block->bytes < BEGIN_BYTES ? block->bytes : BEGIN_BYTES, &piece);

	if (error)
		return error;
	block->begin = bytes_below(&piece.bytes, block->entry && !load->has_times ? INT64_MAX : 1);
	block->piece = (uint32_t)bytes_below(&piece.bytes, block->entry && timeline ? timeline->nr_pieces + 1ull : 1);
	error = piece.bytes.failed ? -EBADMSG : 0;
	index_piece_end(&piece);
	return error;
}

/* The pieces of the last series of a block, up to the block @next, or all. */
static uint32_t pieces_until(const struct load *load, size_t last, const struct block_at *next)
{
	const struct thread_timeline *timeline = load->list[last].timeline;

	if (next && next->entry && next->first == last)
		return next->piece;
	return timeline ? timeline->nr_pieces : 0;
}

static int find_blocks(struct load *load, uint64_t at)
{
	int error = 0;

	for (size_t i = 0; i < load->nr_blocks && !error; i++) {
		struct block_at *block = &load->blocks[i];

		error = index_section(load->in, &at, &block->bytes);
		block->at = at;
		at += block->bytes;
		if (!error)
			error = find_begin(load, block);
	}
	return error || at == load->in->size ? error : -EBADMSG;
}

/* Which pieces each block has: its thread writes those only. Returns 0 or -EBADMSG. */
static int divide_pieces(struct load *load)
{
	for (size_t i = 0; i < load->nr_blocks; i++) {
		struct block_at *block = &load->blocks[i], *next = i + 1 < load->nr_blocks ? block + 1 : NULL;
		uint64_t left = block->nr_entries + (uint64_t)block->entry;
		size_t last = block->first;

		for (; left > load->list[last].series->nr; last++)
			left -= load->list[last].series->nr;
		block->last_pieces = pieces_until(load, last, next);
		if (last == block->first && block->last_pieces < block->piece)
			return -EBADMSG;
	}
	return 0;
}

/* Entries of one series. Returns false if they cannot be. */
static bool take_part(const struct load *load, struct block_in *block, const struct stored_series *stored,
		      struct block_part part, uint32_t nr_pieces)
{
	bool is_whole = !part.from && part.to == stored->series->nr;

	if (!part.from)
		block->at = load->has_times ? 0 : stored->series->end;
	if (!is_whole)
		map_part(stored, part, block->piece, nr_pieces);
	take_exception(block, part.from);
	if (stored->timeline)
		take_thread_part(block, load->history, stored->timeline, part, nr_pieces);
	else
		take_cpu_part(block, load->history, stored->series, part);
	if (is_whole && !load->has_times)
		stored->series->end = block->at;
	return !block->failed && !block->values.failed && block->exception == UINT64_MAX;
}

static bool take_parts(const struct load *load, struct block_at *at, struct block_in *block)
{
	uint32_t from = at->entry, left = at->nr_entries;
	bool is_good = true;

	block->at = at->begin;
	block->piece = at->piece;
	for (size_t i = at->first; left && is_good; i++) {
		const struct stored_series *stored = &load->list[i];
		uint32_t nr = stored->series->nr - from < left ? stored->series->nr - from : left;

		left -= nr;
		if (nr)
			is_good = take_part(load, block, stored, (struct block_part){i, from, from + nr},
					    left ? pieces_until(load, i, NULL) : at->last_pieces);
		if (i == at->first)
			at->first_end = block->at;
		from = block->piece = 0;
	}
	at->last_end = block->at;
	return is_good;
}

/* The series that are wholly in the block have memory side by side. */
static void map_whole_series(const struct load *load, const struct block_at *at)
{
	size_t begin = at->first + (at->entry != 0), bytes = 0, i = at->first;
	uint64_t left = at->nr_entries + (uint64_t)at->entry;

	for (; left && left >= load->list[i].series->nr; left -= load->list[i++].series->nr)
		bytes += i >= begin ? bytes_of(&load->list[i]) : 0;
	if (bytes)
		pages_populate(load->history->memory[at - load->blocks], bytes);
}

static int take_block(const struct load *load, struct block_at *at)
{
	struct block_in block = {.has_times = load->has_times};
	struct index_piece piece;
	int error = index_read(load->in, at->at, at->bytes, &piece);

	if (error)
		return error;
	bytes_number(&piece.bytes); /* find_begin() */
	bytes_number(&piece.bytes);
	error = take_columns(&block, &piece.bytes);
	if (!error && !piece.bytes.failed) {
		block.bits.nr_bytes = (size_t)(piece.bytes.end - piece.bytes.at);
		block.bits.bytes = piece.bytes.at;
		map_whole_series(load, at);
		piece.bytes.failed = !take_parts(load, at, &block) || !is_read(&block);
	}
	if (!error && piece.bytes.failed)
		error = -EBADMSG;
	free(block.columns);
	index_piece_end(&piece);
	return error;
}

static void load_block(void *data, size_t i)
{
	struct load *load = data;
	int error = take_block(load, &load->blocks[i]);

	if (error)
		__atomic_store_n(&load->error, error, __ATOMIC_RELAXED);
}

/* Series of several blocks: each begins where the one before it ends. Returns 0 or -EBADMSG. */
static int join_blocks(struct load *load)
{
	for (size_t i = 1; i < load->nr_blocks; i++) {
		const struct block_at *block = &load->blocks[i];
		struct series *series = load->list[block->first].series;

		if (!block->entry || load->has_times)
			continue;
		if (block[-1].last_end != block->begin)
			return -EBADMSG;
		if (series->nr - block->entry <= block->nr_entries)
			series->end = block->first_end;
	}
	return 0;
}

static int load_blocks(struct load *load, size_t nr, uint64_t at)
{
	int error;

	divide(load, nr);
	error = find_blocks(load, at);
	if (!error)
		error = divide_pieces(load);
	if (!error)
		error = take_memories(load, nr);
	if (error)
		return error;
	index_in_threads(load_block, load, load->nr_blocks);
	return load->error ? load->error : join_blocks(load);
}

int series_load(struct trace_history *history, const struct stored_series *list, size_t nr, uint32_t block_entries,
		bool has_times, const struct index_in *in, uint64_t at)
{
	struct load load = {
		.history = history, .list = list, .in = in, .block_entries = block_entries, .has_times = has_times};
	uint64_t sum = 0;
	int error;

	for (size_t i = 0; i < nr; i++)
		sum += list[i].series->nr;
	load.nr_blocks = (size_t)((sum + block_entries - 1) / block_entries);
	if (load.nr_blocks > in->size / sizeof(uint64_t)) /* each is a section */
		return -EBADMSG;
	load.blocks = calloc(load.nr_blocks + 1, sizeof(*load.blocks));
	error = load.blocks ? load_blocks(&load, nr, at) : -ENOMEM;
	free(load.blocks);
	return error;
}
