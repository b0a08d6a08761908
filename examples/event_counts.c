/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* event_counts TRACE - count the events of each type, and list the gaps. */
#include <stdio.h>
#include <trace/reader.h>

static uint64_t counts[UINT16_MAX + 1]; /* by event id */

static void print(const struct trace *trace)
{
	for (size_t i = 0; i < trace_nr_types(trace); i++) {
		const struct trace_event_type *type = trace_get_type(trace, i);

		if (counts[type->id])
			printf("%9llu %s\n", (unsigned long long)counts[type->id], type->name);
	}
	for (size_t i = 0; i < trace_nr_gaps(trace); i++) {
		const struct trace_gap *gap = trace_get_gap(trace, i);

		printf("%9llu events lost on CPU %u\n", (unsigned long long)gap->lost, gap->cpu);
	}
}

int main(int argc, char **argv)
{
	struct trace_error error = {0};
	struct trace *trace = argc == 2 ? trace_open(argv[1], &error) : NULL;
	struct trace_cursor_options options = {.size = sizeof(options), .no_lost = true, .decode_ahead = 4};
	struct trace_cursor *cursor = trace ? trace_cursor_new(trace, &options, &error) : NULL;
	const struct trace_event *event;

	if (!cursor) {
		fprintf(stderr, "%s\n", argc == 2 ? error.message : "usage: event_counts TRACE");
		trace_close(trace);
		return 1;
	}
	while ((event = trace_cursor_next(cursor)))
		counts[event->id & UINT16_MAX]++;
	if (trace_cursor_error(cursor, &error) < 0) /* a damaged chunk, or no memory: all other events are counted */
		fprintf(stderr, "%s\n", error.message);
	print(trace);
	trace_cursor_free(cursor);
	trace_close(trace);
}
