/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* fuzz_reader.c - libFuzzer target: read any trace (fuzz_file.c), seek in it, and copy it. */
#include <fcntl.h>
#include <stdlib.h>
#include <trace/writer.h>
#include <unistd.h>

#include "fuzz_file.h"

const bool fuzz_behind_schema = false;

static void copy(const struct trace *trace)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct trace_error error = {0};

	if (trace_write_unpacked(trace, fd, 64 << 20, &error) < 0 && !error.message[0])
		abort();
	close(fd);
}

void fuzz_trace(const struct trace *trace)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	struct trace_error error = {0};
	char text[512];

	for (uint32_t i = 0; (event = trace_cursor_next(cursor)); i++) {
		for (size_t j = 0; j < event->type->nr_fields; j++)
			trace_event_u64(event, &event->type->fields[j]);
		if (i < 1000)
			trace_event_format(trace, event, text, sizeof(text));
	}
	if (trace_cursor_seek(cursor, trace_get_info(trace)->start_ns / 2 + trace_get_info(trace)->end_ns / 2) == 0)
		trace_cursor_next(cursor);
	if (trace_cursor_end(cursor, &error) < 0 && !error.message[0])
		abort();
	if (trace_verify(trace, &error) < 0 && !error.message[0])
		abort();
	copy(trace);
}
