/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* path_of TRACE COMM - the threads on the critical path of the first process of this name. */
#include <stdio.h>
#include <string.h>
#include <trace/critical_path.h>

static const struct trace_thread *find(const struct trace_analysis *analysis, const char *comm)
{
	for (size_t i = 0; i < trace_nr_processes(analysis); i++)
		if (strcmp(trace_process_comm(trace_get_process(analysis, i)), comm) == 0)
			return trace_next_thread(trace_get_process(analysis, i), NULL);
	return NULL;
}

static void print(const struct trace_critical_path *path)
{
	for (size_t i = 0; i < trace_critical_path_nr_contributors(path); i++) {
		const struct trace_contributor *row = trace_critical_path_contributor(path, i);

		if (row->by == TRACE_BY_THREAD)
			printf("%10.3f ms  %-15s %7u  %s\n", row->ns / 1e6, row->comm, row->tid,
			       row->state == TRACE_STATE_BLOCKED ? trace_wait_kind_name(row->kind)
								 : trace_state_name(row->state));
	}
}

int main(int argc, char **argv)
{
	struct trace_error error = {.message = "no process of this name"};
	struct trace *trace = argc == 3 ? trace_open(argv[1], &error) : NULL;
	struct trace_analysis *analysis = trace ? trace_analysis_new(trace, NULL, &error) : NULL;
	struct trace_history *history = analysis ? trace_history_new(analysis, NULL, &error) : NULL;
	struct trace_critical_path *path = NULL;

	if (history && trace_analysis_run(analysis, &error) == 0 && find(analysis, argv[2]))
		path = trace_critical_path_new(history, find(analysis, argv[2]), 0, UINT64_MAX, &error);
	if (path) {
		print(path);
		printf("from %zu intervals of threads and CPUs\n", trace_history_nr_intervals(history));
	} else {
		fprintf(stderr, "%s\n", argc == 3 ? error.message : "usage: path_of TRACE COMM");
	}
	trace_critical_path_free(path); /* each object before the one that it was made from */
	trace_history_free(history);
	trace_analysis_free(analysis);
	trace_close(trace);
	return !path;
}
