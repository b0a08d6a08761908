/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * follow_list.c - list the events of a trace as they come: follow_list TRACE; or of a finished one:
 * follow_list --open TRACE. Both lists are the same.
 *
 * The last line on standard error has the number of calls that brought events, and the events that
 * were there before the trace ended.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trace/reader.h>
#include <unistd.h>

enum { PAUSE_US = 20000, TRIES = 500 };

/* Lists what can be read now. Returns the number of events; *ret_code: 0 or an error. */
static unsigned long list(const struct trace *trace, struct trace_cursor *cursor, int *ret_code,
			  struct trace_error *ret_error)
{
	const struct trace_event *event;
	unsigned long nr = 0;
	char text[4096];

	for (; (event = trace_cursor_next(cursor)); nr++) {
		trace_event_format(trace, event, text, sizeof(text));
		printf("%llu %u %x %s\n", (unsigned long long)event->ts_ns, event->cpu, event->stream, text);
	}
	*ret_code = trace_cursor_error(cursor, ret_error);
	return nr;
}

static struct trace *begin(const char *path, struct trace_error *ret_error)
{
	struct trace *trace = NULL;

	for (int i = 0; !trace && i < TRIES; i++) {
		trace = trace_follow(path, ret_error);
		if (!trace && ret_error->code != -EAGAIN && ret_error->code != -ENOENT)
			break;
		if (!trace)
			usleep(PAUSE_US);
	}
	return trace;
}

static int follow(const char *path, struct trace_error *ret_error)
{
	struct trace *trace = begin(path, ret_error);
	struct trace_cursor *cursor = trace ? trace_cursor_new(trace, NULL, ret_error) : NULL;
	unsigned long calls = 0, before = 0, nr;
	int more = 1, code = 0;

	if (!cursor)
		return -1;
	while (more > 0 && code == 0) {
		nr = list(trace, cursor, &code, ret_error);
		before += nr;
		calls += nr > 0;
		usleep(PAUSE_US);
		if (code == 0)
			more = trace_follow_more(trace, ret_error);
	}
	if (more == 0 && code == 0)
		list(trace, cursor, &code, ret_error);
	fprintf(stderr, "%lu %lu\n", calls, before);
	trace_cursor_free(cursor);
	trace_close(trace);
	return more < 0 ? more : code;
}

static int list_file(const char *path, struct trace_error *ret_error)
{
	struct trace *trace = trace_open(path, ret_error);
	struct trace_cursor *cursor = trace ? trace_cursor_new(trace, NULL, ret_error) : NULL;
	int code;

	if (!cursor)
		return -1;
	list(trace, cursor, &code, ret_error);
	trace_cursor_free(cursor);
	trace_close(trace);
	return code;
}

int main(int argc, char **argv)
{
	struct trace_error error = {.message = "usage: follow_list [--open] TRACE"};
	int result = -1;

	if (argc == 3 && strcmp(argv[1], "--open") == 0)
		result = list_file(argv[2], &error);
	else if (argc == 2)
		result = follow(argv[1], &error);
	if (result < 0)
		fprintf(stderr, "%s\n", error.message);
	return result < 0;
}
