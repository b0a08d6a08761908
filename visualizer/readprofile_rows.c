/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * readprofile_rows.c - the functions of the kernel, with their hits
 *
 * A trace names the functions that samples hit. A map, of a file or of this machine, names all of
 * the kernel, and some have no modules: then the trace names those.
 */
#include <stdlib.h>
#include <string.h>
#include "checked_memory.h"
#include "readprofile.h"

static void add_row(struct kernel_rows *rows, uint64_t address, uint64_t bytes, const char *name)
{
	rows->rows = memory_grow(rows->rows, rows->nr, &rows->room, sizeof(*rows->rows));
	rows->rows[rows->nr++] =
		(struct kernel_row){.address = address, .bytes = bytes, .name = memory_copy(name, strlen(name))};
}

static int by_address(const void *left, const void *right)
{
	const struct kernel_row *l = left, *r = right;

	return (l->address > r->address) - (l->address < r->address);
}

static void sort(struct kernel_rows *rows)
{
	if (rows->nr)
		qsort(rows->rows, rows->nr, sizeof(*rows->rows), by_address);
}

/* The row that has @address, or NULL. */
static struct kernel_row *row_of(const struct kernel_rows *rows, size_t nr, uint64_t address)
{
	size_t from = 0, to = nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (rows->rows[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from && address - rows->rows[from - 1].address < rows->rows[from - 1].bytes ? &rows->rows[from - 1]
											   : NULL;
}

/* "ffffffff81000000 64 name", "ffffffffc0000000 64 name [module]", "ffffffff81000000 0 _stext". A
 * function at an address that has a name already is left out. */
static void take_text(struct kernel_rows *rows, const char *text, size_t nr_known)
{
	char *at;
	uint64_t address = strtoull(text, &at, 16), bytes = *at == ' ' ? strtoull(at + 1, &at, 10) : 0;

	if (*at != ' ' || !at[1])
		return;
	if (bytes && !row_of(rows, nr_known, address))
		add_row(rows, address, bytes, at + 1);
	else if (!bytes && !rows->begin && !strcmp(at + 1, "_stext"))
		rows->begin = address;
	else if (!bytes && !rows->end && !strcmp(at + 1, "_etext"))
		rows->end = address;
}

void rows_take(struct kernel_rows *rows, const struct trace *trace)
{
	const char *text;
	size_t nr_known = rows->nr;

	for (size_t i = 0; (text = trace_string(trace, TRACE_STRING_KERNEL_CODE, i)); i++)
		take_text(rows, text, nr_known);
	sort(rows);
}

/* An address may have several names: the first counts. */
void rows_of_symbols(struct kernel_rows *rows, const struct kernel_symbols *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		uint64_t address = list->symbols[i].address;

		if (i && list->symbols[i - 1].address == address)
			continue;
		add_row(rows, address, kernel_symbols_end(list, i) - address, kernel_symbols_name(list, i));
	}
	rows->begin = list->begin;
	rows->end = list->end;
}

/* A function that begins inside of a step has all of it, as in readprofile: so the last byte of a
 * step decides. */
void rows_count(struct kernel_rows *rows, const struct hits *hits)
{
	rows->unknown = hits->outside;
	for (size_t i = 0; i < hits->nr; i++) {
		struct kernel_row *row = row_of(rows, rows->nr, hits->hits[i].address + hits->step - 1);

		if (!row) {
			rows->unknown += hits->hits[i].count;
			continue;
		}
		if (!row->count)
			row->first = i;
		row->count += hits->hits[i].count;
		row->nr++;
	}
}

void rows_free(struct kernel_rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++)
		free(rows->rows[i].name);
	free(rows->rows);
	*rows = (struct kernel_rows){0};
}
