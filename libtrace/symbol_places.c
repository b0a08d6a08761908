/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol_places.c - look up many places, file by file.
 *
 * Each file has a reader, a process of its own, and only some of them run at a time. Places in the
 * order of time alternate between files: the make of a compiler, an assembler and their libraries
 * uses more files than there may be readers, and each would begin anew for each few places.
 */
#include "symbol_places.h"

#include <stdlib.h>
#include <time.h>

#define LOOK_AT_CLOCK 16u /* look-ups */

/**
 * struct placed - a place in a file
 * @is_last: nothing hit it. @is_kept: the file may be gone, so no later look-up finds it
 * @file_hits: of all unknown places in the file
 * @place: its number in the list of the caller
 */
struct placed {
	bool is_last;
	bool is_kept;
	uint64_t file_hits;
	size_t file;
	uint64_t offset;
	size_t place;
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int by_file(const void *left, const void *right)
{
	const struct placed *l = left, *r = right;

	if (l->is_last != r->is_last)
		return l->is_last ? 1 : -1;
	if (l->is_kept != r->is_kept)
		return l->is_kept ? -1 : 1;
	if (l->file_hits != r->file_hits)
		return l->file_hits > r->file_hits ? -1 : 1;
	if (l->file != r->file)
		return l->file < r->file ? -1 : 1;
	return (l->offset > r->offset) - (l->offset < r->offset);
}

/* The unknown places in files, in the order in which they are looked up; NULL: no memory */
static struct placed *in_order(struct trace_symbols *symbols, const struct trace_symbol_place *places, size_t nr,
			       size_t *ret_nr)
{
	size_t nr_files = symbols_nr_files(symbols), nr_placed = 0;
	struct placed *list = calloc(nr + 1, sizeof(*list));
	uint64_t *hits = calloc(nr_files + 1, sizeof(*hits));

	for (size_t i = 0; list && hits && i < nr; i++) {
		struct placed *placed = &list[nr_placed];

		placed->file = symbols_file_of(symbols, &places[i], &placed->offset);
		if (placed->file < nr_files && symbols_is_known(symbols, placed->file, placed->offset))
			continue;
		placed->place = i;
		placed->is_last = !places[i].hits;
		hits[placed->file] += places[i].hits;
		nr_placed += placed->file < nr_files;
	}
	for (size_t i = 0; list && hits && i < nr_placed; i++) {
		list[i].file_hits = hits[list[i].file];
		list[i].is_kept = symbols_is_kept(symbols, list[i].file);
	}
	if (list && hits)
		qsort(list, nr_placed, sizeof(*list), by_file);
	else
		free(list);
	*ret_nr = nr_placed;
	list = hits ? list : NULL;
	free(hits);
	return list;
}

uint64_t trace_symbols_look_up(struct trace_symbols *symbols, const struct trace_symbol_place *places, size_t nr,
			       uint64_t limit_ns)
{
	uint64_t begin_ns = clock_ns();
	size_t nr_placed, i = 0;
	struct placed *list = in_order(symbols, places, nr, &nr_placed);

	if (!list)
		return nr;
	for (; i < nr_placed && (i % LOOK_AT_CLOCK || clock_ns() - begin_ns < limit_ns); i++) {
		const struct trace_symbol_place *place = &places[list[i].place];
		const struct trace_symbol_level *levels;
		struct trace_symbol symbol;

		if (i && list[i].file == list[i - 1].file && list[i].offset == list[i - 1].offset)
			continue;
		trace_symbols_find_levels(symbols, place->tid, place->ts_ns, place->address, &symbol, &levels);
	}
	free(list);
	return nr_placed - i;
}
