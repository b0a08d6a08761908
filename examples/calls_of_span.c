/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* calls_of_span TRACE COMM - the calls of each process of this name, in each half of the trace. */
#include <stdio.h>
#include <string.h>
#include <trace/tables.h>

static void print(const struct trace_span_tables *span, const struct trace_process *process)
{
	struct trace_figures *figures = trace_span_tables_figures(span, process);

	for (size_t i = 0; figures && i < figures->nr_syscalls_rows; i++)
		printf("%7u %s %llu ns\n", trace_process_pid(process), figures->syscalls[i].name,
		       (unsigned long long)figures->syscalls[i].elapsed_ns);
	trace_figures_free(figures);
}

static int half(const struct trace_analysis *analysis, const struct trace_tables *tables, int second, const char *comm,
		struct trace_error *error)
{
	struct trace_span_tables *span = NULL;
	uint64_t from, to;
	int result;

	trace_analysis_window(analysis, &from, &to);
	*(second ? &from : &to) = from + (to - from) / 2;
	result = trace_tables_of_span(tables, from, to, &span, error);
	if (result < 0)
		return result;
	printf("%s half:\n", second ? "second" : "first");
	for (size_t i = 0; i < trace_nr_processes(analysis); i++)
		if (strcmp(trace_process_comm(trace_get_process(analysis, i)), comm) == 0)
			print(span, trace_get_process(analysis, i));
	trace_span_tables_free(span);
	return 0;
}

int main(int argc, char **argv)
{
	struct trace_error error = {.message = "usage: calls_of_span TRACE COMM"};
	struct trace *trace = argc == 3 ? trace_open(argv[1], &error) : NULL;
	struct trace_analysis *analysis = trace ? trace_analysis_new(trace, NULL, &error) : NULL;
	struct trace_tables *tables = analysis ? trace_tables_new(analysis, NULL, &error) : NULL;
	int result = tables ? trace_analysis_run(analysis, &error) : -1;

	for (int second = 0; second < 2 && result == 0; second++)
		result = half(analysis, tables, second, argv[2], &error);
	if (result < 0)
		fprintf(stderr, "%s\n", error.message);
	trace_tables_free(tables); /* before the analysis */
	trace_analysis_free(analysis);
	trace_close(trace);
	return result < 0;
}
