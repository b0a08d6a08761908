/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* longest_waits TRACE - the ten longest waits that ended within the trace, and their causes. */
#include <stdio.h>
#include <trace/analysis.h>

#define NR 10

static struct trace_interval longest[NR + 1]; /* longest first; the last element is scratch space */

static uint64_t length(const struct trace_interval *interval)
{
	return interval->to_ns - interval->from_ns;
}

static void keep_if_long(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	uint64_t start, end;
	int idx = NR;

	trace_analysis_window(analysis, &start, &end);
	if (interval->state != TRACE_STATE_BLOCKED || interval->to_ns == end ||
	    trace_thread_is_kernel(interval->thread))
		return;
	for (; idx > 0 && length(&longest[idx - 1]) < length(interval); idx--)
		longest[idx] = longest[idx - 1];
	longest[idx] = *interval; /* its pointers stay valid as long as the analysis */
}

int main(int argc, char **argv)
{
	struct trace_error error = {0};
	struct trace *trace = argc == 2 ? trace_open(argv[1], &error) : NULL;
	struct trace_analysis *analysis = trace ? trace_analysis_new(trace, NULL, &error) : NULL;

	if (!analysis || trace_analysis_on_interval(analysis, keep_if_long, NULL) < 0 ||
	    trace_analysis_run(analysis, &error) < 0) {
		fprintf(stderr, "%s\n", argc == 2 ? error.message : "usage: longest_waits TRACE");
		return 1;
	}
	for (int i = 0; i < NR && longest[i].thread; i++)
		printf("%10.3f ms  %-15s %7u  in %-12s for %s %s\n", length(&longest[i]) / 1e6,
		       trace_thread_comm(longest[i].thread), trace_thread_tid(longest[i].thread),
		       longest[i].name ? longest[i].name : "-", trace_wait_kind_name(longest[i].kind),
		       longest[i].target);
	trace_analysis_free(analysis);
	trace_close(trace);
}
