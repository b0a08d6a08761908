/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz_analysis.c - libFuzzer target: any trace (fuzz_file.c) through the whole analysis.
 *
 * Whatever the trace contains, the accounting must add up to the nanosecond, as tracevisualizer
 * --verify checks, and so must the critical paths of some threads.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace/analysis.h>
#include <trace/critical_path.h>
#include <trace/servers.h>
#include <trace/user_events.h>

#include "fuzz_file.h"

enum { MOST_PATHS = 8 };

static void expect(int result, const struct trace_error *error)
{
	if (result == 0)
		return;
	fprintf(stderr, "does not balance: %s\n", error->message);
	abort();
}

static void follow_paths(struct trace_history *history, const struct trace_analysis *analysis)
{
	struct trace_error error = {0};
	int left = MOST_PATHS;

	for (size_t i = 0; i < trace_nr_processes(analysis); i++) {
		const struct trace_process *process = trace_get_process(analysis, i);

		for (const struct trace_thread *thread = trace_next_thread(process, NULL); thread && left > 0;
		     thread = trace_next_thread(process, thread), left--) {
			struct trace_critical_path *path = trace_critical_path_new(history, thread, 0, UINT64_MAX,
										   &error);

			if (path)
				expect(trace_critical_path_verify(path, &error), &error);
			trace_critical_path_free(path);
		}
	}
}

static void look_at_results(const struct trace_analysis *analysis)
{
	for (size_t i = 0; i < trace_nr_processes(analysis); i++)
		trace_figures_free(trace_process_figures(analysis, trace_get_process(analysis, i)));
	trace_figures_free(trace_system_figures(analysis));
}

const bool fuzz_behind_schema = true;

void fuzz_trace(const struct trace *trace)
{
	struct trace_error error = {0};
	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, &error);
	struct trace_servers *servers = trace_servers_new(trace, analysis, &error);
	struct trace_user_events *user = trace_user_events_new(trace, analysis, &error);
	struct trace_history *history = trace_history_new(analysis, NULL, &error);

	expect(trace_analysis_run(analysis, &error), &error);
	expect(trace_analysis_verify(analysis, &error), &error);
	expect(trace_servers_verify(servers, &error), &error);
	expect(trace_user_events_verify(user, &error), &error);
	look_at_results(analysis);
	follow_paths(history, analysis);
	trace_history_free(history);
	trace_user_events_free(user);
	trace_servers_free(servers);
	trace_analysis_free(analysis);
}
