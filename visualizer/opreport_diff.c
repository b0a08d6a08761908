/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opreport_diff.c - the symbols of two traces: the samples of the second, and their change. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "checked_memory.h"
#include "opreport.h"
#include "profile_rows.h"
#include "report.h"
#include "value_text.h"

struct opreport_change {
	uint64_t key; /* of its names */
	struct symbol_names names;
	uint64_t samples[2];
};

static void add_side(const struct opreport_choice *choice, const struct profile_rows *rows, int side,
		     struct hash_table *changes, struct strings *texts)
{
	for (size_t i = 0; i < rows->by.rows.nr; i++) {
		const struct profile_by_row *row = rows->by.rows.at[i];
		struct symbol_names names = opreport_names(row);
		struct string text = {0};
		struct opreport_change *change;

		if (!row->time.samples || !opreport_shows(choice, &names))
			continue;
		string_addf(&text, "%s\x01%s", names.app, names.image);
		if (choice->symbols)
			string_addf(&text, "\x01%s", names.symbol);
		change = memory_row(changes, sizeof(*change), memory_key(texts, string_text(&text)));
		string_free(&text);
		change->names = names;
		change->samples[side] += row->time.samples;
	}
}

static int by_names(const struct symbol_names *l, const struct symbol_names *r)
{
	int order = strcmp(l->app, r->app);

	order = order ? order : strcmp(l->image, r->image);
	return order ? order : strcmp(l->symbol, r->symbol);
}

static int by_samples(const void *left, const void *right, void *data)
{
	const struct opreport_change *l = *(struct opreport_change *const *)left,
				     *r = *(struct opreport_change *const *)right;
	int order = (l->samples[1] < r->samples[1]) - (l->samples[1] > r->samples[1]);

	if (!order)
		order = (l->samples[0] < r->samples[0]) - (l->samples[0] > r->samples[0]);
	if (!order)
		return by_names(&l->names, &r->names);
	return *(const bool *)data ? -order : order;
}

/* "+12.5000", "+++" for a symbol that is new, "---" for one that is gone */
static void put_change(FILE *out, const struct opreport_change *change, uint64_t all)
{
	double before = (double)change->samples[0], after = (double)change->samples[1];

	if (!change->samples[1])
		fprintf(out, "%-8" PRIu64 " %-8s %-10s ", change->samples[0], "---", "---");
	else if (!change->samples[0])
		fprintf(out, "%-8" PRIu64 " %-8.4f %-10s ", change->samples[1], percent(change->samples[1], all),
			"+++");
	else
		fprintf(out, "%-8" PRIu64 " %-8.4f %-+10.4f ", change->samples[1], percent(change->samples[1], all),
			100 * (after - before) / before);
}

void opreport_diff(const struct report *sides, const struct profile_rows *rows)
{
	const struct opreport_choice *choice = &sides[0].options->opreport;
	FILE *out = sides[0].output.out;
	struct hash_table changes = {0};
	struct strings texts = {0};
	struct pointers list = {0};
	bool reverse = choice->reverse;
	uint64_t all = rows[1].sum.samples;

	for (int side = 0; side < 2; side++)
		add_side(choice, &rows[side], side, &changes, &texts);
	for (void *row = NULL; (row = table_next(&changes, sizeof(struct opreport_change), row));)
		pointers_add(&list, row);
	memory_sort(list.at, list.nr, sizeof(*list.at), by_samples, &reverse);
	if (!choice->no_header)
		fprintf(out, "samples  %%        diff %%     image name               app name%s\n",
			choice->symbols ? "                 symbol name" : "");
	for (size_t i = 0; i < list.nr; i++) {
		const struct opreport_change *change = list.at[i];

		if (percent(change->samples[1], all) < choice->threshold)
			continue;
		put_change(out, change, all);
		opreport_put_name(out, 24, change->names.image);
		opreport_put_name(out, choice->symbols ? 24 : 0, change->names.app);
		opreport_put_name(out, 0, choice->symbols ? change->names.symbol : "");
		putc('\n', out);
	}
	pointers_free(&list);
	table_clear(&changes);
	strings_clear(&texts);
}
