/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_FORMAT_TEXT_H
#define DAEMON_FORMAT_TEXT_H
/* format_text.h - numbers, sizes and times, to and from text; words for a shell. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "error_set.h"
#include "number_text.h"

static inline struct text text_count(uint64_t count)
{
	return number_count(count);
}
static inline struct text text_events(uint64_t count)
{
	return number_events(count);
}
static inline struct text text_bytes(uint64_t bytes)
{
	return number_bytes(bytes);
}
struct text text_seconds(uint64_t time_ns); /* "60.000 s", "2 min 05 s" */

/**
 * text_trace_name() - a default name for a trace: trace-2026-11-21-120000.trace, or
 * trace-2026-11-21-120000-2.trace if the working directory has that file
 */
struct text text_trace_name(void);

/**
 * text_shell() - print @path so that a shell reads it as one word, and a program does not take it
 * for an option
 * The word is unquoted if possible, begins with ./ instead of a dash, and is quoted otherwise.
 * Returns false if @size bytes are too few; then @word is empty.
 */
bool text_shell(const char *path, char *word, size_t size);

/**
 * text_parse_time() - parse "90", "1.5s", "250ms", "10us", "5m" or "1h"; a number without unit is
 * in seconds
 */
int text_parse_time(const char *text, uint64_t *ret_ns);
#endif
