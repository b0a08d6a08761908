/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* checked_memory.c - memory for the reports, or the end of the program; two containers */
#include "sort.h"
#include "checked_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress_line.h"
#include "report_file.h"

#define FIRST_ROOM  16u
#define FIRST_BYTES 256u

/* Does not use stdio: flushing a buffer now could complete what looks like a whole report. */
void memory_end(void)
{
	static const char line[] = "tracevisualizer: " OUT_OF_MEMORY "\n";

	report_file_take_back();
	progress_line_erase();
	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		_exit(1);
	_exit(1);
}

void *memory_take(size_t nr, size_t bytes)
{
	void *memory = calloc(nr ? nr : 1, bytes);

	if (!memory)
		memory_end();
	return memory;
}

void *memory_grow(void *array, size_t nr, size_t *room, size_t bytes)
{
	size_t more = *room ? 2 * *room : FIRST_ROOM;

	if (array && nr < *room)
		return array;
	array = reallocarray(array, more, bytes);
	if (!array)
		memory_end();
	*room = more;
	return array;
}

void *memory_resize(void *array, size_t nr, size_t more, size_t bytes)
{
	array = reallocarray(array, more, bytes);
	if (!array)
		memory_end();
	memset((char *)array + nr * bytes, 0, (more - nr) * bytes);
	return array;
}

char *memory_copy(const char *text, size_t bytes)
{
	char *copy = memory_take(bytes + 1, 1);

	memcpy(copy, text, bytes);
	return copy;
}

void *memory_row(struct hash_table *table, size_t row_bytes, uint64_t key)
{
	void *row = table_add(table, row_bytes, key);

	if (!row)
		memory_end();
	return row;
}

FILE *memory_stream_begin(struct text_stream *stream)
{
	if (text_stream_begin(stream) < 0)
		memory_end();
	return stream->out;
}

char *memory_stream_end(struct text_stream *stream, size_t *ret_bytes)
{
	char *text = NULL;

	if (text_stream_end(stream, &text, ret_bytes) < 0)
		memory_end();
	return text;
}

const char *memory_text(struct strings *strings, const char *text)
{
	string_id id = strings_intern(strings, text);

	if (strings->failed)
		memory_end();
	return strings_text(strings, id);
}

uint64_t memory_key(struct strings *strings, const char *text)
{
	string_id id = strings_intern(strings, text);

	if (!id && *text)
		memory_end();
	return id + 1ull;
}

void memory_sort(void *array, size_t nr, size_t bytes, int (*compare)(const void *, const void *, void *), void *data)
{
	if (!sort_stable(array, nr, bytes, compare, data))
		memory_end();
}

/* ---- pointers ---- */

void pointers_add(struct pointers *list, const void *pointer)
{
	list->at = memory_grow(list->at, list->nr, &list->room, sizeof(*list->at));
	list->at[list->nr++] = (void *)pointer;
}

void pointers_free(struct pointers *list)
{
	free(list->at);
	*list = (struct pointers){0};
}

void pointers_free_all(struct pointers *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->at[i]);
	pointers_free(list);
}

/* ---- text ---- */

/* Makes room for @bytes more and a NUL. */
static void reserve(struct string *s, size_t bytes)
{
	size_t room = s->room ? s->room : FIRST_BYTES;
	char *larger;

	while (room <= s->len + bytes)
		room *= 2;
	if (room == s->room)
		return;
	larger = realloc(s->bytes, room);
	if (!larger)
		memory_end();
	s->bytes = larger;
	s->room = room;
}

void string_add_bytes(struct string *s, const char *text, size_t bytes)
{
	reserve(s, bytes);
	memcpy(s->bytes + s->len, text, bytes);
	s->len += bytes;
	s->bytes[s->len] = 0;
}

void string_add(struct string *s, const char *text)
{
	string_add_bytes(s, text, strlen(text));
}

/* printf() allocates memory for some numbers, and may fail. */
void string_addv(struct string *s, const char *format, va_list arguments)
{
	va_list again;
	int bytes;

	va_copy(again, arguments);
	bytes = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (bytes < 0)
		memory_end();
	reserve(s, (size_t)bytes);
	if (vsnprintf(s->bytes + s->len, (size_t)bytes + 1, format, arguments) != bytes)
		memory_end();
	s->len += (size_t)bytes;
}

void string_addf(struct string *s, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	string_addv(s, format, arguments);
	va_end(arguments);
}

char *string_text(struct string *s)
{
	reserve(s, 0);
	s->bytes[s->len] = 0;
	return s->bytes;
}

char *string_take(struct string *s)
{
	char *text = string_text(s);

	*s = (struct string){0};
	return text;
}

void string_free(struct string *s)
{
	free(s->bytes);
	*s = (struct string){0};
}
