/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "source_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "code_file.h"
#include "read_end.h"

#define TAB	   8
#define LINE_BYTES 4096
#define MAX_LINES  1000000

FILE *source_open(const char *folder, const char *source)
{
	int fd = code_file_open(folder, source);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd == -ENOMEM || (fd >= 0 && !in)) /* without memory there is no stream, too */
		memory_end();
	errno = fd < 0 ? -fd : 0;
	return in;
}

void source_expand(const char *line, struct string *text)
{
	size_t column = 0;

	for (; *line && *line != '\n'; line++) {
		if (*line != '\t') {
			string_add_bytes(text, line, 1);
			column++;
			continue;
		}
		do
			string_add(text, " ");
		while (++column % TAB);
	}
}

/* One file at a time: a function is mostly in one. */
static void read_file(struct source_lines *sources, const char *path)
{
	FILE *in = source_open(sources->folder, path);
	char line[LINE_BYTES];
	bool is_begin = true;

	pointers_free_all(&sources->lines);
	sources->lines = (struct pointers){0};
	free(sources->path);
	sources->path = memory_copy(path, strlen(path));
	for (; in && sources->lines.nr < MAX_LINES && fgets(line, sizeof(line), in); is_begin = strchr(line, '\n')) {
		struct string text = {0};

		if (!is_begin)
			continue;
		source_expand(line, &text);
		pointers_add(&sources->lines, memory_copy(string_text(&text), strlen(string_text(&text))));
		string_free(&text);
	}
	sources->error = read_end(in) ?: sources->error;
}

const char *source_line(struct source_lines *sources, const char *path, uint32_t line)
{
	if (!sources->path || strcmp(sources->path, path) != 0)
		read_file(sources, path);
	return line && line <= sources->lines.nr ? sources->lines.at[line - 1] : "";
}

void source_lines_clear(struct source_lines *sources)
{
	pointers_free_all(&sources->lines);
	free(sources->path);
}
