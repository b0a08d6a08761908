/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_SOURCE_LINES_H
#define VISUALIZER_SOURCE_LINES_H
/* source_lines.h - lines of source files, in any order. */
#include <stdint.h>
#include <stdio.h>
#include "checked_memory.h"

/** source_open() - the file, below @folder if it is there; NULL: errno tells why */
FILE *source_open(const char *folder, const char *source);
/** source_expand() - a line with blanks instead of tabs, without its end */
void source_expand(const char *line, struct string *text);

/**
 * struct source_lines - @folder: borrowed, NULL: none; the rest is zeroed
 * @path, @lines: of the file that was read last
 * @error: the last negative errno of a read: then a line may be missing
 */
struct source_lines {
	const char *folder;
	char *path;	       /* owned */
	struct pointers lines; /* owned */
	int error;
};

/** source_line() - a line; "" if it is not there. Borrowed until the next call */
const char *source_line(struct source_lines *sources, const char *path, uint32_t line);
void source_lines_clear(struct source_lines *sources);
#endif
