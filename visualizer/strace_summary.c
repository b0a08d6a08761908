/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "strace_summary.h"
#include <inttypes.h>
#include <string.h>
#include "checked_memory.h"

/* As wide as strace(1) makes them; the last column, the name, is as long as it is. */
static const struct {
	const char *title;
	int width;
} columns[NR_SUMMARY_COLUMNS] = {
	[SUMMARY_PERCENT] = {"% time", 6}, [SUMMARY_TOTAL] = {"seconds", 11},	  [SUMMARY_MIN] = {"shortest", 11},
	[SUMMARY_MAX] = {"longest", 11},   [SUMMARY_AVG] = {"usecs/call", 11},	  [SUMMARY_CALLS] = {"calls", 9},
	[SUMMARY_ERRORS] = {"errors", 9},  [SUMMARY_NAME] = {"syscall", 16},	  [SUMMARY_CPU] = {"cpu", 11},
	[SUMMARY_WAIT] = {"wait", 11},	   [SUMMARY_RUNNABLE] = {"runnable", 11},
};
static const uint8_t default_columns[] = {SUMMARY_PERCENT, SUMMARY_TOTAL,  SUMMARY_AVG,
					  SUMMARY_CALLS,   SUMMARY_ERRORS, SUMMARY_NAME};

void call_sums_add(struct call_sums *sums, uint64_t time_ns, uint64_t cpu_ns, uint64_t wait_ns, uint64_t runnable_ns,
		   bool is_error)
{
	if (!sums->calls || time_ns < sums->min_ns)
		sums->min_ns = time_ns;
	if (time_ns > sums->max_ns)
		sums->max_ns = time_ns;
	sums->calls++;
	sums->errors += is_error;
	sums->total_ns += time_ns;
	sums->cpu_ns += cpu_ns;
	sums->wait_ns += wait_ns;
	sums->runnable_ns += runnable_ns;
}

static uint64_t average(const struct call_sums *row)
{
	return row->calls ? row->total_ns / row->calls : 0;
}

static uint64_t key_of(const struct call_sums *row, int column)
{
	switch (column) {
	case SUMMARY_MIN:
		return row->min_ns;
	case SUMMARY_MAX:
		return row->max_ns;
	case SUMMARY_AVG:
		return average(row);
	case SUMMARY_CALLS:
		return row->calls;
	case SUMMARY_ERRORS:
		return row->errors;
	case SUMMARY_CPU:
		return row->cpu_ns;
	case SUMMARY_WAIT:
		return row->wait_ns;
	case SUMMARY_RUNNABLE:
		return row->runnable_ns;
	default:
		return row->total_ns;
	}
}

static int compare(const void *left, const void *right, void *data)
{
	const struct call_sums *a = left, *b = right;
	int column = *(const int *)data;
	uint64_t key_a = key_of(a, column), key_b = key_of(b, column);

	if (column == SUMMARY_NAME)
		return strcmp(a->name, b->name);
	return key_a < key_b ? 1 : key_a > key_b ? -1 : 0;
}

static void print_seconds(FILE *out, uint64_t ns)
{
	fprintf(out, "%11.6f", (double)ns / 1e9);
}

static void print_cell(FILE *out, int column, const struct call_sums *row, uint64_t whole_ns)
{
	switch (column) {
	case SUMMARY_PERCENT:
		fprintf(out, "%6.2f", whole_ns ? 100.0 * (double)row->total_ns / (double)whole_ns : 0);
		break;
	case SUMMARY_AVG:
		fprintf(out, "%11" PRIu64, average(row) / 1000);
		break;
	case SUMMARY_CALLS:
		fprintf(out, "%9" PRIu64, row->calls);
		break;
	case SUMMARY_ERRORS:
		if (row->errors)
			fprintf(out, "%9" PRIu64, row->errors);
		else
			fprintf(out, "%9s", "");
		break;
	case SUMMARY_NAME:
		fputs(row->name, out);
		break;
	default:
		print_seconds(out, key_of(row, column));
	}
}

static void print_row(FILE *out, const uint8_t *shown, size_t nr, const struct call_sums *row, uint64_t whole_ns)
{
	for (size_t i = 0; i < nr; i++) {
		fputs(i ? " " : "", out);
		print_cell(out, shown[i], row, whole_ns);
	}
	fputs("\n", out);
}

static void print_rule(FILE *out, const uint8_t *shown, size_t nr)
{
	static const char dashes[] = "----------------";

	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%.*s", i ? " " : "", columns[shown[i]].width, dashes);
	fputs("\n", out);
}

static void print_titles(FILE *out, const uint8_t *shown, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%*s", i ? " " : "", shown[i] == SUMMARY_NAME ? 0 : columns[shown[i]].width,
			columns[shown[i]].title);
	fputs("\n", out);
}

static void add_row(struct call_sums *total, const struct call_sums *row)
{
	if (!total->calls || row->min_ns < total->min_ns)
		total->min_ns = row->min_ns;
	if (row->max_ns > total->max_ns)
		total->max_ns = row->max_ns;
	total->calls += row->calls;
	total->errors += row->errors;
	total->total_ns += row->total_ns;
	total->cpu_ns += row->cpu_ns;
	total->wait_ns += row->wait_ns;
	total->runnable_ns += row->runnable_ns;
}

void strace_summary_print(FILE *out, const struct strace_choice *choice, struct call_sums *rows, size_t nr)
{
	const uint8_t *shown = choice->nr_summary_columns ? choice->summary_columns : default_columns;
	size_t nr_shown = choice->nr_summary_columns ? choice->nr_summary_columns : sizeof(default_columns);
	struct call_sums total = {.name = "total"};
	int column = choice->sort;

	for (size_t i = 0; i < nr; i++)
		if (rows[i].calls)
			add_row(&total, &rows[i]);
	if (column >= 0)
		memory_sort(rows, nr, sizeof(*rows), compare, &column);
	print_titles(out, shown, nr_shown);
	print_rule(out, shown, nr_shown);
	for (size_t i = 0; i < nr; i++)
		if (rows[i].calls)
			print_row(out, shown, nr_shown, &rows[i], total.total_ns);
	print_rule(out, shown, nr_shown);
	print_row(out, shown, nr_shown, &total, total.total_ns);
}
