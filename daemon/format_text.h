/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_FORMAT_TEXT_H
#define DAEMON_FORMAT_TEXT_H
/* format_text.h - numbers, sizes and times, to and from text; words for a shell. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "error_set.h"

/** struct text - a small string returned by value, so that several fit into one printf */
struct text {
	char s[40];
};

struct text text_count(uint64_t count);	    /* "1 234 567" */
struct text text_events(uint64_t count);    /* "1 event", "27 550 events" */
struct text text_bytes(uint64_t bytes);	    /* "12.3 MB" */
struct text text_seconds(uint64_t time_ns); /* "60.0 s", "2 min 05 s" */

/** text_trace_name() - a name for a trace that nobody named: trace-2026-11-21-120000.trace */
struct text text_trace_name(void);

/**
 * text_shell() - @path as a shell takes it for one word, and no program for an option: as it is if it can be, with ./ before a dash, or in quotes
 * Returns false when @size bytes are too few; then @word is empty.
 */
bool text_shell(const char *path, char *word, size_t size);

/**
 * text_parse_number() - a decimal or 0x number, nothing else around it
 * Returns 0, or -EINVAL / -ERANGE above @max.
 */
int text_parse_number(const char *text, uint64_t max, uint64_t *ret_number);
/** text_parse_size() - bytes, with k, M or G (powers of 1024) if given */
int text_parse_size(const char *text, uint64_t max, uint64_t *ret_bytes);
/** text_parse_time() - "90", "1.5s", "250ms", "10us", "5m", "1h"; without a unit it is seconds */
int text_parse_time(const char *text, uint64_t *ret_ns);
#endif
