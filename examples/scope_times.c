/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* scope_times TRACE - the scopes and requests of programs, and where their time went. */
#include <stdio.h>
#include <trace/user_events.h>

static void print(struct trace_user_events *user)
{
	const struct trace_span *span;

	for (size_t i = 0; (span = trace_get_span(user, i)); i++)
		if (span->kind != TRACE_SPAN_BETWEEN)
			printf("%s %s: %llu times, %.3f us; on a CPU %.3f us, for a CPU %.3f us, blocked %.3f us%s%s\n",
			       trace_span_kind_name(span->kind), span->name, (unsigned long long)span->elapsed.count,
			       span->elapsed.sum_ns / 1e3, (span->user_ns + span->system_ns) / 1e3,
			       span->wait_cpu_ns / 1e3, span->blocked_ns / 1e3,
			       span->nr_waits ? ", most of it for " : "",
			       span->nr_waits ? trace_wait_kind_name(span->waits[0].kind) : "");
}

int main(int argc, char **argv)
{
	struct trace_error error = {0};
	struct trace *trace = argc == 2 ? trace_open(argv[1], &error) : NULL;
	struct trace_analysis *analysis = trace ? trace_analysis_new(trace, NULL, &error) : NULL;
	struct trace_user_events *user = analysis ? trace_user_events_new(trace, analysis, &error) : NULL;
	int status = !user || trace_analysis_run(analysis, &error) < 0 || trace_user_events_verify(user, &error) < 0;

	if (!status)
		print(user);
	else
		fprintf(stderr, "%s\n", argc == 2 ? error.message : "usage: scope_times TRACE");
	trace_user_events_free(user);
	trace_analysis_free(analysis);
	trace_close(trace);
	return status;
}
