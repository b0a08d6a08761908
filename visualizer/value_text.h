/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VALUE_TEXT_H
#define VISUALIZER_VALUE_TEXT_H
/* value_text.h - times, sizes, names and percentages as text. */
#include <stddef.h>
#include <stdint.h>
#include "text_output.h"

/* room for one formatted value */
struct value_text {
	char bytes[64];
};

/** text_ns() - "1.234 ms", or "1234567" with --ns */
const char *text_ns(const struct text_output *output, uint64_t ns, struct value_text *text);
/** text_difference() - b - a: "+1.234 ms"; "-" or "0": none */
const char *text_difference(const struct text_output *output, uint64_t a, uint64_t b, struct value_text *text);
/** text_bytes() - "812 B", "1.2 MiB", or "1258291" with --ns */
const char *text_bytes(const struct text_output *output, uint64_t bytes, struct value_text *text);
/** text_count() - "1,234,567", or "1234567" with --ns */
const char *text_count(const struct text_output *output, uint64_t count, struct value_text *text);
/**
 * text_name() - format @name for a terminal: control characters and invalid UTF-8 become \xNN
 * Cut to @size. Returns @buffer.
 */
const char *text_name(const char *name, char *buffer, size_t size);
/**
 * text_comm() - the same for a thread or process; "(no name)" if its name could not be read at the
 * start
 */
const char *text_comm(const char *comm, char *buffer, size_t size);
/** text_process() - "make (4711)"; "process 4711" without a name; the name alone if the pid is 0 */
const char *text_process(const char *comm, uint32_t pid, char *buffer, size_t size);
/**
 * text_unidentified() - words for the target of a wait for processes that is none: "several
 * processes", "an unknown process"
 * NULL: @comm is a name. A process of that name has a pid, so ask only if there is none.
 */
const char *text_unidentified(const char *comm);
double percent(uint64_t part, uint64_t whole);
#endif
