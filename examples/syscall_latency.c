/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* syscall_latency TRACE NAME - a histogram of the latency of one system call, in powers of two. */
#include <stdio.h>
#include <string.h>
#include <trace/analysis.h>

static uint64_t entered[1 << 22]; /* by thread id (Linux allows 4 Mi): time of the entry, 0 outside of a call */
static uint64_t calls[64];	  /* calls[n]: from 2^n ns to less than 2^(n+1) ns */

static void on_syscall(void *name, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, event->cpu); /* the state before the event */
	const char *call;
	uint64_t *since;

	if (!thread)
		return;
	since = &entered[trace_thread_tid(thread)];
	call = trace_thread_syscall(analysis, thread);
	if (event->id == TRACE_EV_sys_exit && *since && call && strcmp(call, name) == 0 && event->ts_ns > *since)
		calls[63 - __builtin_clzll(event->ts_ns - *since)]++;
	*since = event->id == TRACE_EV_sys_exit ? 0 : event->ts_ns;
}

int main(int argc, char **argv)
{
	static const uint32_t ids[] = {TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6, TRACE_EV_sys_exit};
	struct trace_error error = {0};
	struct trace *trace = argc == 3 ? trace_open(argv[1], &error) : NULL;
	struct trace_analysis *analysis = trace ? trace_analysis_new(trace, NULL, &error) : NULL;
	uint64_t mask[4] = {0};

	for (int i = 0; i < 4; i++)
		mask[ids[i] / 64] |= 1ull << ids[i] % 64;
	if (!analysis || trace_analysis_on_event(analysis, mask, on_syscall, argv[2]) < 0 ||
	    trace_analysis_run(analysis, &error) < 0) {
		fprintf(stderr, "%s\n", argc == 3 ? error.message : "usage: syscall_latency TRACE NAME");
		return 1;
	}
	for (int i = 0; i < 64; i++)
		if (calls[i])
			printf("%12.3f us or more %9llu\n", (double)(1ull << i) / 1e3, (unsigned long long)calls[i]);
	trace_analysis_free(analysis);
	trace_close(trace);
}
