/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * iterate TRACE - read all events in order of time.
 *
 * It prints the number of events, the seconds, and the sum of the events' times.
 */
#include <stdio.h>
#include <time.h>
#include <trace/reader.h>

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct trace_cursor_options options = {.size = sizeof(options), .decode_ahead = 4};
	double begin = now_s();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace_error error;
	uint64_t events = 0, sum = 0;
	struct trace *trace;

	if (argc != 2)
		return 2;
	trace = trace_open(argv[1], &error);
	cursor = trace ? trace_cursor_new(trace, &options, &error) : NULL;
	if (!cursor) {
		fprintf(stderr, "iterate: %s\n", error.message);
		return 1;
	}
	while ((event = trace_cursor_next(cursor))) {
		events++;
		sum += event->ts_ns;
	}
	printf("%llu %.6f %llx\n", (unsigned long long)events, now_s() - begin, (unsigned long long)sum);
	if (trace_cursor_end(cursor, &error) < 0) {
		fprintf(stderr, "iterate: %s\n", error.message);
		return 1;
	}
	trace_close(trace);
	return 0;
}
