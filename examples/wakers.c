/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wakers TRACE COMM - the threads that ended the waits of a command, and by which means. */
#include <stdio.h>
#include <string.h>
#include <trace/analysis.h>

static struct row {
	char waker[16]; /* a copy, because the name of a thread can change */
	const char *via;
	uint64_t ns, count;
} rows[256]; /* the last row takes the waits that find no other row */

static void count(void *comm, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	const char *waker = interval->waker ? trace_thread_comm(interval->waker) : "(no thread)";
	const char *via = interval->via && *interval->via ? interval->via : trace_wait_kind_name(interval->kind);
	struct row *row = rows;

	if (interval->state != TRACE_STATE_BLOCKED || strcmp(trace_thread_comm(interval->thread), comm) != 0)
		return;
	while (row->count && row < &rows[255] && (strcmp(row->waker, waker) != 0 || strcmp(row->via, via) != 0))
		row++;
	snprintf(row->waker, sizeof(row->waker), "%s", waker);
	row->via = via;
	row->ns += interval->to_ns - interval->from_ns;
	row->count++;
}

int main(int argc, char **argv)
{
	struct trace_error error = {0};
	struct trace *trace = argc == 3 ? trace_open(argv[1], &error) : NULL;
	struct trace_analysis *analysis = trace ? trace_analysis_new(trace, NULL, &error) : NULL;

	if (!analysis || trace_analysis_on_interval(analysis, count, argv[2]) < 0 ||
	    trace_analysis_run(analysis, &error) < 0) {
		fprintf(stderr, "%s\n", argc == 3 ? error.message : "usage: wakers TRACE COMM");
		return 1;
	}
	for (struct row *row = rows; row < &rows[256] && row->count; row++)
		printf("%9llu times %12.3f ms  woken by %-15s  %s\n", (unsigned long long)row->count, row->ns / 1e6,
		       row->waker, row->via);
	trace_analysis_free(analysis);
	trace_close(trace);
}
