/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * log_to_trace - turn a log into a trace: standard input has lines "NANOSECONDS TEXT" in time
 * order, standard output gets a trace with one event log:line for each of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <trace/user_memory.h>
#include <trace/writer.h>

/* one record: header, fixed part, text; a multiple of 8 bytes */
struct line {
	struct trace_record header;
	struct user_reference text;
	uint32_t unused;
	char bytes[240];
};

static const struct trace_field text_field = {.name = "text", .bytes = 4, .kind = TRACE_KIND_STRING};
static const struct trace_event_type line_type = {.name = "log:line",
						  .classic = "NONE",
						  .text = "",
						  .doc = "a line of the log",
						  .program = "NONE",
						  .source = "",
						  .fields = &text_field,
						  .nr_fields = 1,
						  .fixed_bytes = 8,
						  .has_string = true,
						  .category = TRACE_CATEGORY_USER,
						  .flags = TRACE_EVENT_ON};

/* Writes one block with one record. A real program puts many records into a block. */
static int write_line(struct trace_writer *writer, uint16_t id, uint64_t ns, uint64_t seq, const char *text,
		      struct trace_error *error)
{
	struct line line = {.header = {.time = (uint32_t)ns, .id = id, .words = sizeof(line) / 8},
			    .text = {.offset = 8}};
	struct trace_source source = {.records = &line,
				      .bytes = sizeof(line),
				      .base_ns = ns,
				      .seq = seq,
				      .stream = 0x10000,
				      .nr_records = 1,
				      .kind = TRACE_CHUNK_EVENTS};
	struct trace_packed *packed;

	line.text.bytes = (uint16_t)strnlen(text, sizeof(line.bytes));
	memcpy(line.bytes, text, line.text.bytes);
	packed = trace_writer_pack(writer, &source, error);
	return packed ? trace_writer_write(writer, packed, error) : error->code;
}

int main(void)
{
	struct trace_error error = {0};
	struct trace_writer_options options = {.size = sizeof(options)};
	struct trace_writer *writer = NULL;
	struct trace_stream_stats sums = {.stream = 0x10000};
	char line[256];
	uint64_t ns = 0;
	uint16_t id = 0;

	while (!error.code && fgets(line, sizeof(line), stdin)) {
		char *text = line;

		ns = strtoull(line, &text, 10);
		text[strcspn(text, "\n")] = '\0';
		if (!writer) { /* the trace starts with the first line */
			options.start_ns = ns;
			writer = trace_writer_new(STDOUT_FILENO, &options, &error);
			if (!writer || trace_writer_event_type(writer, &line_type, &id, &error) < 0)
				break;
		}
		sums.stored = ++sums.attempted;
		write_line(writer, id, ns, sums.stored, text + (*text == ' '), &error);
	}
	if (!error.code && ferror(stdin)) { /* else a part of the lines would look like all of them */
		error.code = -EIO;
		snprintf(error.message, sizeof(error.message), "standard input cannot be read: %s", strerror(errno));
	}
	if (writer && !error.code && trace_writer_statistics(writer, &sums, 1, ns, &error) == 0)
		error.code = trace_writer_finish(writer, &error);
	if (writer && !error.code)
		fprintf(stderr, "%llu events %s\n", (unsigned long long)sums.stored,
			trace_writer_type(writer, id)->name);
	trace_writer_free(writer);
	if (error.code || !writer)
		fprintf(stderr, "log_to_trace: %s\n", error.code ? error.message : "no lines");
	return error.code || !writer;
}
