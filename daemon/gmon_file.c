/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gmon_file.c - writes gmon.out of the kernel: histograms and arcs (gmon_records.h)
 *
 * Each function with samples is a histogram of its own: gprof refuses a function that is in two. A
 * bin is for 2 bytes, the least that gprof can divide.
 */
#include "gmon_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "error_set.h"
#include "gmon_records.h"
#include "whole_file.h"

#define BIN_BYTES 2u

/* ---- histograms ---- */

/** struct gmon_span - the samples of a function: counts[first] to before counts[first + nr] */
struct gmon_span {
	uint64_t from, to;
	size_t first, nr;
};

/*
 * While the period stayed the same, samples are counted, as gprof always had it. A sample of
 * another period counts as much more as its period is longer than the shortest.
 */
static uint64_t units_of(const struct gmon_counts *counts, const struct gmon_count *count)
{
	return counts->is_mixed ? (count->sum + counts->period / 2) / counts->period : count->count;
}

static struct gmon_histogram head_of(const struct gmon_counts *counts, const struct gmon_span *span)
{
	uint32_t nr_bins = (uint32_t)((span->to - span->from) / BIN_BYTES);

	if (!counts->by_event)
		return gmon_seconds(span->from, span->to, nr_bins, counts->period);
	return (struct gmon_histogram){.from = span->from,
				       .to = span->to,
				       .nr_bins = nr_bins,
				       .rate = 1,
				       .unit = "samples",
				       .unit_letter = 'n'};
}

/*
 * Writes what remains in @units, at most GMON_MAX_BIN of each bin. 1: more remains; or 0, or
 * -ENOMEM
 */
static int put_histogram(FILE *file, const struct gmon_histogram *head, const struct gmon_counts *counts,
			 const struct gmon_span *span, uint64_t *units)
{
	uint16_t *bins = calloc(head->nr_bins, sizeof(*bins));
	bool remains = false;

	if (!bins)
		return -ENOMEM;
	for (size_t i = 0; i < span->nr; i++) {
		uint64_t bin = (counts->counts[span->first + i].key - span->from) / BIN_BYTES;
		uint16_t *into = &bins[bin < head->nr_bins ? bin : head->nr_bins - 1];
		uint64_t room = GMON_MAX_BIN - *into, put = units[i] < room ? units[i] : room;

		*into = (uint16_t)(*into + put);
		units[i] -= put;
		remains |= units[i] != 0;
	}
	gmon_put_histogram(file, head, bins);
	free(bins);
	return remains;
}

static int put_function(FILE *file, const struct gmon_counts *counts, const struct gmon_span *span)
{
	struct gmon_histogram head = head_of(counts, span);
	uint64_t *units = calloc(span->nr, sizeof(*units));
	int more = units ? 1 : -ENOMEM;

	for (size_t i = 0; units && i < span->nr; i++)
		units[i] = units_of(counts, &counts->counts[span->first + i]);
	while (more > 0)
		more = put_histogram(file, &head, counts, span, units);
	free(units);
	return more;
}

/* The samples are sorted by their addresses. A bin in which one function ends and another begins is
 * the other's. False: they are in code without a name. */
static bool next_span(const struct gmon_counts *counts, const struct kernel_symbols *symbols, size_t at,
		      struct gmon_span *ret_span)
{
	uint64_t address = counts->counts[at].key, end = 0;
	size_t idx = kernel_symbols_find(symbols, address);
	struct gmon_span span = {.first = at};

	if (idx < symbols->nr) {
		end = kernel_symbols_end(symbols, idx);
		span.from = symbols->symbols[idx].address & ~(uint64_t)(BIN_BYTES - 1);
		span.to = end & ~(uint64_t)(BIN_BYTES - 1);
	}
	if (address >= end || span.to <= span.from) {
		*ret_span = (struct gmon_span){.first = at, .nr = 1};
		return false;
	}
	while (at < counts->nr && counts->counts[at].kind == TRACER_COUNT_SAMPLE && counts->counts[at].key < end)
		at++;
	span.nr = at - span.first;
	*ret_span = span;
	return true;
}

/* ---- the list of functions ---- */

/** struct gmon_marks - the functions that are in the file; @is_in: by number */
struct gmon_marks {
	bool *is_in; /* owned */
	const struct kernel_symbols *symbols;
};

static void mark(struct gmon_marks *marks, uint64_t address)
{
	size_t idx = kernel_symbols_find(marks->symbols, address);

	if (idx < marks->symbols->nr)
		marks->is_in[idx] = true;
}

/* A function may have several names: that of a system call counts, because arcs have it. */
static const char *best_name(const struct kernel_symbols *symbols, size_t idx)
{
	for (size_t i = idx; i < symbols->nr && symbols->symbols[i].address == symbols->symbols[idx].address; i++)
		if (!strncmp(kernel_symbols_name(symbols, i), "__x64_sys_", strlen("__x64_sys_")))
			return kernel_symbols_name(symbols, i);
	return kernel_symbols_name(symbols, idx);
}

/* gprof reads a name up to its first blank. The end of a function is one of no function. */
static void put_list(FILE *list, const struct gmon_marks *marks, struct gmon_numbers *numbers)
{
	const struct kernel_symbols *symbols = marks->symbols;

	for (size_t i = 0; i < symbols->nr; i++) {
		const char *name;
		uint64_t end;
		size_t next = i + 1;

		if (!marks->is_in[i])
			continue;
		name = best_name(symbols, i);
		end = kernel_symbols_end(symbols, i);
		fprintf(list, "%016" PRIx64 " T %.*s%s\n", symbols->symbols[i].address, (int)strcspn(name, " "), name,
			strchr(name, ' ') ? strchr(name, ' ') + 1 : "");
		numbers->functions++;
		while (next < symbols->nr && symbols->symbols[next].address < end)
			next++;
		if (next >= symbols->nr || !marks->is_in[next] || symbols->symbols[next].address != end)
			fprintf(list, "%016" PRIx64 " T (others)\n", end);
	}
}

/* ---- the file ---- */

static int put_samples(FILE *file, const struct gmon_counts *counts, struct gmon_marks *marks,
		       struct gmon_numbers *numbers)
{
	struct gmon_span span;
	int err = 0;

	for (size_t i = 0; !err && i < counts->nr && counts->counts[i].kind == TRACER_COUNT_SAMPLE; i += span.nr) {
		bool is_named = next_span(counts, marks->symbols, i, &span);

		for (size_t k = span.first; k < span.first + span.nr; k++)
			*(is_named ? &numbers->samples : &numbers->nameless) += counts->counts[k].count;
		if (!is_named)
			continue;
		err = put_function(file, counts, &span);
		mark(marks, counts->counts[span.first].key);
	}
	return err;
}

int gmon_file_write(FILE *file, FILE *list, const struct gmon_counts *counts, const struct gmon_arcs *arcs,
		    const struct kernel_symbols *symbols, struct gmon_numbers *ret_numbers)
{
	struct gmon_marks marks = {.is_in = calloc(symbols->nr + 1, 1), .symbols = symbols};
	struct gmon_numbers numbers = {0};
	int err;

	if (!marks.is_in)
		return -ENOMEM;
	gmon_put_head(file);
	err = put_samples(file, counts, &marks, &numbers);
	for (size_t i = 0; i < arcs->nr; i++) {
		gmon_put_arc(file, arcs->arcs[i].from, arcs->arcs[i].self, arcs->arcs[i].count);
		mark(&marks, arcs->arcs[i].from);
		mark(&marks, arcs->arcs[i].self);
	}
	put_list(list, &marks, &numbers);
	free(marks.is_in);
	if (!err)
		*ret_numbers = numbers;
	return err;
}

/* ---- both files ---- */

int gmon_files_write(const struct gmon_counts *counts, const struct gmon_arcs *arcs,
		     const struct kernel_symbols *symbols, struct gmon_numbers *ret_numbers,
		     struct trace_error *ret_error)
{
	static const char *const names[2] = {GMON_LIST, GMON_FILE};
	struct whole_file files[2];
	struct gmon_numbers numbers;
	size_t idx = 1;
	int err = whole_files_open(files, names, 2, &idx);

	if (!err) {
		err = gmon_file_write(files[1].out, files[0].out, counts, arcs, symbols, &numbers);
		err = whole_files_close(files, 2, err, &idx);
	}
	if (err)
		return error_set(ret_error, err, "%s cannot be written: %s", names[idx], strerror(-err));
	*ret_numbers = numbers;
	return 0;
}
