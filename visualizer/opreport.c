/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "opreport.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "checked_memory.h"
#include "profile_contexts.h"
#include "profile_rows.h"
#include "report.h"
#include "value_text.h"

#define NAME_BYTES 1024
#define RULE	   "-------------------------------------------------------------------------------\n"

/* The places of the keys in a row: opreport_options_check(). A line is the last one. */
enum { APP, IMAGE, SYMBOL, ADDRESS };

/* The order of rows, by keys. With -c symbols are those of all programs. */
static const size_t by_app[] = {APP, IMAGE, SYMBOL}, by_image[] = {IMAGE, SYMBOL, APP};
enum { OF_APP = 1, OF_IMAGE, OF_SYMBOL, OF_ALL_APPS = 2 }; /* as many keys are equal in a group */

/** struct group - @nr rows from @rows on with the same first keys, and their samples */
struct group {
	const struct profile_by_row *const *rows;
	size_t nr;
	uint64_t samples;
};

/**
 * struct opreport - @rows: owned; those of the report, by the texts of their keys
 * @all: samples, also those of rows that -e, -i and -x leave out
 * @nr_keys: of each row. @order: of its first three
 */
struct opreport {
	const struct opreport_choice *choice;
	const struct profile_rows *profile;
	FILE *out;
	struct pointers rows;
	uint64_t all, accumulated;
	size_t nr_keys;
	const size_t *order;
};

/* ---- names ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

struct symbol_names opreport_names(const struct profile_by_row *row)
{
	const char *symbol = row->values[SYMBOL];

	return (struct symbol_names){.app = base_name(row->values[APP]),
				     .image = row->values[IMAGE],
				     .symbol = strncmp(symbol, "(no name", strlen("(no name")) ? symbol
											       : "(no symbols)"};
}

void opreport_put_name(FILE *out, int width, const char *name)
{
	char text[NAME_BYTES];

	fprintf(out, width ? "%-*s " : "%-*s", width, text_name(name, text, sizeof(text)));
}

static bool is_listed(const char *list, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *at = list; *at; at += strcspn(at, ","), at += strspn(at, ","))
		if (strcspn(at, ",") == bytes && !strncmp(at, name, bytes))
			return true;
	return false;
}

bool opreport_shows(const struct opreport_choice *choice, const struct symbol_names *names)
{
	if (choice->alone && strcmp(names->app, names->image) != 0)
		return false;
	if (choice->included && !is_listed(choice->included, names->symbol))
		return false;
	return !choice->excluded || !is_listed(choice->excluded, names->symbol);
}

/* ---- groups ---- */

static int compare(const struct opreport *op, const struct profile_by_row *l, const struct profile_by_row *r, size_t nr)
{
	int order = 0;

	for (size_t i = 0; i < nr && !order; i++) {
		size_t key = i < ADDRESS ? op->order[i] : i;

		order = strcmp(l->values[key], r->values[key]);
	}
	return order;
}

static int by_texts(const void *left, const void *right, void *data)
{
	const struct opreport *op = data;

	return compare(op, *(struct profile_by_row *const *)left, *(struct profile_by_row *const *)right, op->nr_keys);
}

static int by_samples(const void *left, const void *right, void *data)
{
	const struct group *l = left, *r = right;
	int order = (l->samples < r->samples) - (l->samples > r->samples);

	return *(const bool *)data ? -order : order;
}

/*
 * The groups of @nr rows, which are in order, by their first @nr_equal keys; the most samples
 * first. The caller frees the list.
 */
static struct group *groups_of(const struct opreport *op, const struct profile_by_row *const *rows, size_t nr,
			       size_t nr_equal, size_t *ret_nr)
{
	struct group *groups = memory_take(nr + 1, sizeof(*groups));
	size_t nr_groups = 0;
	bool reverse = op->choice->reverse;

	for (size_t i = 0; i < nr; i++) {
		if (!i || compare(op, rows[i], rows[i - 1], nr_equal) != 0)
			groups[nr_groups++].rows = &rows[i];
		groups[nr_groups - 1].nr++;
		groups[nr_groups - 1].samples += rows[i]->time.samples;
	}
	memory_sort(groups, nr_groups, sizeof(*groups), by_samples, &reverse);
	*ret_nr = nr_groups;
	return groups;
}

static bool is_above(const struct opreport *op, uint64_t samples)
{
	return percent(samples, op->all) >= op->choice->threshold;
}

/* ---- a line for each program, and its files ---- */

static void put_images(const struct opreport *op)
{
	size_t nr_apps, nr_images;
	struct group *apps = groups_of(op, (const struct profile_by_row *const *)op->rows.at, op->rows.nr, OF_APP,
				       &nr_apps);

	if (!op->choice->no_header)
		fputs("  samples|      %|\n------------------\n", op->out);
	for (size_t i = 0; i < nr_apps; i++) {
		struct group *images;

		if (!is_above(op, apps[i].samples))
			continue;
		fprintf(op->out, "%9" PRIu64 " %7.4f ", apps[i].samples, percent(apps[i].samples, op->all));
		opreport_put_name(op->out, 0, opreport_names(apps[i].rows[0]).app);
		putc('\n', op->out);
		images = groups_of(op, apps[i].rows, apps[i].nr, OF_IMAGE, &nr_images);
		for (size_t k = 0; k < nr_images && !op->choice->alone; k++) {
			fprintf(op->out, "\t%9" PRIu64 " %7.4f ", images[k].samples,
				percent(images[k].samples, apps[i].samples));
			opreport_put_name(op->out, 0, opreport_names(images[k].rows[0]).image);
			putc('\n', op->out);
		}
		free(images);
	}
	free(apps);
}

/* ---- a line for each symbol ---- */

/* The line with the most samples, or NULL. */
static const char *line_of(const struct opreport *op, const struct group *group)
{
	const struct profile_by_row *most = group->rows[0];

	for (size_t i = 1; i < group->nr; i++)
		if (group->rows[i]->time.samples > most->time.samples)
			most = group->rows[i];
	return op->choice->lines ? most->values[op->nr_keys - 1] : NULL;
}

static void put_numbers(struct opreport *op, uint64_t samples)
{
	op->accumulated += samples;
	fprintf(op->out, "%-8" PRIu64 " ", samples);
	if (op->choice->accumulated)
		fprintf(op->out, "%-12" PRIu64 "  ", op->accumulated);
	fprintf(op->out, "%-8.4f ", percent(samples, op->all));
	if (op->choice->accumulated)
		fprintf(op->out, "%-9.4f  ", percent(op->accumulated, op->all));
}

static void put_details(const struct opreport *op, const struct group *group)
{
	for (size_t i = 0; i < group->nr; i++) {
		const struct profile_by_row *row = group->rows[i];

		fprintf(op->out, "  %s  %-8" PRIu64 " %.4f", row->values[ADDRESS], row->time.samples,
			percent(row->time.samples, group->samples));
		if (op->choice->lines) {
			putc(' ', op->out);
			opreport_put_name(op->out, 0, row->values[op->nr_keys - 1]);
		}
		putc('\n', op->out);
	}
}

/** struct neighbour - of a symbol, in all programs; @symbol: owned */
struct neighbour {
	const char *image;
	char *symbol;
	uint64_t samples;
};

static int by_name(const void *left, const void *right, void *data)
{
	const struct neighbour *l = left, *r = right;
	int order = strcmp(l->image, r->image);

	(void)data;
	return order ? order : strcmp(l->symbol, r->symbol);
}

static int most_first(const void *left, const void *right, void *data)
{
	const struct neighbour *l = left, *r = right;

	(void)data;
	return (l->samples < r->samples) - (l->samples > r->samples);
}

/* A function is a row of each program that has it: here it is one. Returns the new number. */
static size_t join(struct neighbour *list, size_t nr)
{
	size_t kept = 0;

	memory_sort(list, nr, sizeof(*list), by_name, NULL);
	for (size_t i = 0; i < nr; i++) {
		if (kept && !by_name(&list[kept - 1], &list[i], NULL)) {
			list[kept - 1].samples += list[i].samples;
			free(list[i].symbol);
		} else {
			list[kept++] = list[i];
		}
	}
	memory_sort(list, kept, sizeof(*list), most_first, NULL);
	return kept;
}

static struct neighbour neighbour_of(const struct profile_neighbour *neighbour, const char *symbol)
{
	struct neighbour named = {.image = neighbour->row ? neighbour->row->file : "",
				  .samples = neighbour->time.samples};
	struct string text = {0};

	if (neighbour->row)
		profile_row_text(neighbour->row, &text);
	else
		string_addf(&text, "%s [self]", symbol);
	named.symbol = memory_copy(string_text(&text), strlen(string_text(&text)));
	string_free(&text);
	return named;
}

static void put_neighbours(const struct opreport *op, const char *symbol, bool callers)
{
	struct profile_neighbours neighbours = profile_neighbours_make(op->profile, symbol, callers);
	struct neighbour *list = memory_take(neighbours.list.nr + 1, sizeof(*list));
	size_t nr = 0;

	for (size_t i = 0; i < neighbours.list.nr; i++) {
		const struct profile_neighbour *neighbour = neighbours.list.at[i];

		if (neighbour->time.samples)
			list[nr++] = neighbour_of(neighbour, symbol);
	}
	nr = join(list, nr);
	for (size_t i = 0; i < nr; i++) {
		fprintf(op->out, "  %-8" PRIu64 " %-8.4f ", list[i].samples,
			percent(list[i].samples, neighbours.total.samples));
		opreport_put_name(op->out, 24, list[i].image);
		opreport_put_name(op->out, 0, list[i].symbol);
		putc('\n', op->out);
		free(list[i].symbol);
	}
	free(list);
	profile_neighbours_free(&neighbours);
}

static void put_symbol(struct opreport *op, const struct group *group)
{
	struct symbol_names names = opreport_names(group->rows[0]);
	const char *line = line_of(op, group);

	if (op->choice->callgraph)
		put_neighbours(op, group->rows[0]->values[SYMBOL], true);
	put_numbers(op, group->samples);
	if (line)
		opreport_put_name(op->out, 27, line);
	opreport_put_name(op->out, 24, names.image);
	if (!op->choice->callgraph)
		opreport_put_name(op->out, 24, names.app);
	opreport_put_name(op->out, 0, names.symbol);
	putc('\n', op->out);
	if (op->choice->details)
		put_details(op, group);
	if (op->choice->callgraph) {
		put_neighbours(op, group->rows[0]->values[SYMBOL], false);
		fputs(RULE, op->out);
	}
}

static void put_symbols(struct opreport *op)
{
	size_t nr;
	struct group *groups = groups_of(op, (const struct profile_by_row *const *)op->rows.at, op->rows.nr,
					 op->choice->callgraph ? OF_ALL_APPS : OF_SYMBOL, &nr);

	if (!op->choice->no_header)
		fprintf(op->out, "samples  %s%%        %s%simage name               %ssymbol name\n",
			op->choice->accumulated ? "cum. samples  " : "", op->choice->accumulated ? "cum. %     " : "",
			op->choice->lines ? "linenr info                 " : "",
			op->choice->callgraph ? "" : "app name                 ");
	if (op->choice->callgraph)
		fputs(RULE, op->out);
	for (size_t i = 0; i < nr; i++)
		if (is_above(op, groups[i].samples))
			put_symbol(op, &groups[i]);
	free(groups);
}

void opreport_put(const struct report *report, const struct profile_rows *rows)
{
	const struct visualizer_options *options = report->options;
	const char *event = trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_SAMPLED_BY);
	struct opreport op = {.choice = &options->opreport,
			      .profile = rows,
			      .out = report->output.out,
			      .nr_keys = options->profile.by.nr,
			      .order = options->opreport.callgraph ? by_image : by_app};

	for (size_t i = 0; i < rows->by.rows.nr; i++) {
		struct profile_by_row *row = rows->by.rows.at[i];
		struct symbol_names names = opreport_names(row);

		op.all += row->time.samples;
		if (row->time.samples && opreport_shows(op.choice, &names))
			pointers_add(&op.rows, row);
	}
	memory_sort(op.rows.at, op.rows.nr, sizeof(*op.rows.at), by_texts, &op);
	if (!op.choice->no_header)
		fprintf(op.out, "Counted %s: %" PRIu64 " samples\n", event ? event : "TIMER", op.all);
	if (op.choice->symbols || op.choice->details || op.choice->lines || op.choice->callgraph)
		put_symbols(&op);
	else
		put_images(&op);
	pointers_free(&op.rows);
}
