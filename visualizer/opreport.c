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

#define RULE "-------------------------------------------------------------------------------\n"

/* The places of the keys in a row: opreport_options_check() */
enum { APP, IMAGE, SYMBOL, LINE };

/** enum level - how many of the first keys of two rows have to be equal */
enum level { OF_APP = 1, OF_IMAGE, OF_SYMBOL };

/** struct group - @nr rows from @rows on with the same first keys, and their samples */
struct group {
	const struct profile_by_row *const *rows;
	size_t nr;
	uint64_t samples;
};

/**
 * struct opreport - @rows: owned; those of the report, by the texts of their keys
 * @all: samples, also those of rows that -e, -i and -x leave out
 * @nr_keys: of each row
 */
struct opreport {
	const struct opreport_choice *choice;
	const struct profile_rows *profile;
	FILE *out;
	struct pointers rows;
	uint64_t all, accumulated;
	size_t nr_keys;
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

static int by_texts(const void *left, const void *right, void *data)
{
	const struct profile_by_row *l = *(struct profile_by_row *const *)left,
				    *r = *(struct profile_by_row *const *)right;
	size_t nr = *(const size_t *)data;
	int order = 0;

	for (size_t i = 0; i < nr && !order; i++)
		order = strcmp(l->values[i], r->values[i]);
	return order;
}

static int by_samples(const void *left, const void *right, void *data)
{
	const struct group *l = left, *r = right;
	int order = (l->samples < r->samples) - (l->samples > r->samples);

	return *(const bool *)data ? -order : order;
}

static bool is_same(const struct profile_by_row *a, const struct profile_by_row *b, enum level level)
{
	for (size_t i = 0; i < (size_t)level; i++)
		if (strcmp(a->values[i], b->values[i]) != 0)
			return false;
	return true;
}

/* The groups of @nr rows, which are in order; the most samples first. The caller frees the list. */
static struct group *groups_of(const struct opreport *op, const struct profile_by_row *const *rows, size_t nr,
			       enum level level, size_t *ret_nr)
{
	struct group *groups = memory_take(nr + 1, sizeof(*groups));
	size_t nr_groups = 0;
	bool reverse = op->choice->reverse;

	for (size_t i = 0; i < nr; i++) {
		if (!i || !is_same(rows[i], rows[i - 1], level))
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
		fprintf(op->out, "%9" PRIu64 " %7.4f %s\n", apps[i].samples, percent(apps[i].samples, op->all),
			opreport_names(apps[i].rows[0]).app);
		images = groups_of(op, apps[i].rows, apps[i].nr, OF_IMAGE, &nr_images);
		for (size_t k = 0; k < nr_images && !op->choice->alone; k++)
			fprintf(op->out, "\t%9" PRIu64 " %7.4f %s\n", images[k].samples,
				percent(images[k].samples, apps[i].samples), opreport_names(images[k].rows[0]).image);
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
	return op->choice->lines ? most->values[LINE] : NULL;
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

/* Addresses, lines, or lines of addresses; in the order of their texts. */
static void put_details(const struct opreport *op, const struct group *group)
{
	for (size_t i = 0; i < group->nr; i++) {
		const struct profile_by_row *row = group->rows[i];

		fprintf(op->out, "  %s  %-8" PRIu64 " %.4f", row->values[op->nr_keys - 1], row->time.samples,
			percent(row->time.samples, group->samples));
		if (op->choice->lines)
			fprintf(op->out, " %s", row->values[LINE]);
		putc('\n', op->out);
	}
}

static void put_neighbours(const struct opreport *op, const char *symbol, bool callers)
{
	struct profile_neighbours neighbours = profile_neighbours_make(op->profile, symbol, callers);

	for (size_t i = 0; i < neighbours.list.nr; i++) {
		const struct profile_neighbour *neighbour = neighbours.list.at[i];
		struct string text = {0};

		if (!neighbour->time.samples)
			continue;
		if (neighbour->row)
			profile_row_text(neighbour->row, &text);
		fprintf(op->out, "  %-8" PRIu64 " %-8.4f %-24s %s%s\n", neighbour->time.samples,
			percent(neighbour->time.samples, neighbours.total.samples),
			neighbour->row ? neighbour->row->file : "", neighbour->row ? string_text(&text) : symbol,
			neighbour->row ? "" : " [self]");
		string_free(&text);
	}
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
		fprintf(op->out, "%-27s ", line);
	fprintf(op->out, "%-24s %-24s %s\n", names.image, names.app, names.symbol);
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
	struct group *groups = groups_of(op, (const struct profile_by_row *const *)op->rows.at, op->rows.nr, OF_SYMBOL,
					 &nr);

	if (!op->choice->no_header)
		fprintf(op->out,
			"samples  %s%%        %s%simage name               app name                 symbol name\n",
			op->choice->accumulated ? "cum. samples  " : "", op->choice->accumulated ? "cum. %     " : "",
			op->choice->lines ? "linenr info                 " : "");
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
			      .nr_keys = options->profile.by.nr};

	for (size_t i = 0; i < rows->by.rows.nr; i++) {
		struct profile_by_row *row = rows->by.rows.at[i];
		struct symbol_names names = opreport_names(row);

		op.all += row->time.samples;
		if (row->time.samples && opreport_shows(op.choice, &names))
			pointers_add(&op.rows, row);
	}
	memory_sort(op.rows.at, op.rows.nr, sizeof(*op.rows.at), by_texts, &op.nr_keys);
	if (!op.choice->no_header)
		fprintf(op.out, "Counted %s: %" PRIu64 " samples\n", event ? event : "TIMER", op.all);
	if (op.choice->symbols || op.choice->details || op.choice->lines || op.choice->callgraph)
		put_symbols(&op);
	else
		put_images(&op);
	pointers_free(&op.rows);
}
