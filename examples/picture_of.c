/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* picture_of TRACE COMM - a line for each thread of this name: what took most of each column. */
#include <stdio.h>
#include <string.h>
#include <trace/view.h>

#define COLUMNS 60

static char letter_of(const uint64_t *ns)
{
	int most = 0;

	for (int class = 1; class < TRACE_NR_CLASSES; class ++)
		if (ns[class] > ns[most])
			most = class;
	return most == TRACE_CLASS_ABSENT ? ' ' : *trace_class_name((enum trace_class)most);
}

static int print(struct trace_view *view, const struct trace_row *row, uint64_t from, uint64_t to)
{
	uint64_t ns[COLUMNS][TRACE_NR_CLASSES];
	int error = trace_view_columns(view, row->id, from, to, COLUMNS, ns[0]);

	if (error)
		return error;
	printf("%7u ", trace_thread_tid(row->thread));
	for (int i = 0; i < COLUMNS; i++)
		putchar(letter_of(ns[i]));
	putchar('\n');
	return 0;
}

int main(int argc, char **argv)
{
	struct trace_error error = {.message = "usage: picture_of TRACE COMM"};
	struct trace *trace = argc == 3 ? trace_open(argv[1], &error) : NULL;
	struct trace_analysis *analysis = trace ? trace_analysis_new(trace, NULL, &error) : NULL;
	struct trace_view *view = analysis ? trace_view_new(analysis, NULL, &error) : NULL;
	int result = view ? trace_analysis_run(analysis, &error) : -1;
	struct trace_row row;
	uint64_t from, to;

	if (result < 0)
		fprintf(stderr, "%s\n", error.message);
	else
		trace_analysis_window(analysis, &from, &to);
	for (uint32_t i = 0; result == 0 && i < trace_view_nr_rows(view, TRACE_ROW_THREAD); i++)
		if (trace_view_get_row(view, (struct trace_row_id){TRACE_ROW_THREAD, i}, &row) &&
		    strcmp(trace_thread_comm(row.thread), argv[2]) == 0)
			result = print(view, &row, from, to);
	trace_view_free(view); /* before the analysis */
	trace_analysis_free(analysis);
	trace_close(trace);
	return result < 0;
}
