/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_CHECKED_MEMORY_H
#define VISUALIZER_CHECKED_MEMORY_H
/*
 * checked_memory.h - memory for the reports of tracevisualizer: an allocation succeeds, or the
 * program ends.
 *
 * A report that lacks a row looks like a complete one. So without memory the program writes one
 * line to stderr, takes back its output in the file of --output, and exits with status 1. GLib's
 * containers would abort instead, and its messages need memory themselves. The libraries do not use
 * this: they return -ENOMEM.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "hash_table.h"
#include "text_stream.h"

/** OUT_OF_MEMORY - the line, without the program's name */
#define OUT_OF_MEMORY                                                                                                \
	"out of memory: the output is not complete; give the program more memory (ulimit -v), or ask for less with " \
	"--from, --to or --pid"

/**
 * memory_end() - end the program for lack of memory: a line on stderr, exit status 1. Allocates
 * nothing
 */
void memory_end(void) __attribute__((noreturn));
/** memory_take() - @nr zeroed elements of @bytes each; the caller frees them */
void *memory_take(size_t nr, size_t bytes) __attribute__((returns_nonnull, warn_unused_result));
/**
 * memory_grow() - make room in @array for one more than @nr elements of @bytes each; @array: from
 * malloc() or NULL
 */
void *memory_grow(void *array, size_t nr, size_t *room, size_t bytes)
	__attribute__((returns_nonnull, warn_unused_result));
/** memory_resize() - @array of @nr elements of @bytes each has @more now: the new ones are 0 */
void *memory_resize(void *array, size_t nr, size_t more, size_t bytes)
	__attribute__((returns_nonnull, warn_unused_result));
/** memory_copy() - a copy of the first @bytes of @text, with a NUL; the caller frees it */
char *memory_copy(const char *text, size_t bytes) __attribute__((returns_nonnull, warn_unused_result));
/** memory_sort() - like sort_stable() */
void memory_sort(void *array, size_t nr, size_t bytes, int (*compare)(const void *, const void *, void *), void *data);
/** memory_row() - like table_add() */
void *memory_row(struct hash_table *table, size_t row_bytes, uint64_t key) __attribute__((returns_nonnull));
/** memory_stream_begin() - like text_stream_begin(); returns the stream to write to */
FILE *memory_stream_begin(struct text_stream *stream) __attribute__((returns_nonnull));
/** memory_stream_end() - like text_stream_end(): all that was written; the caller frees it */
char *memory_stream_end(struct text_stream *stream, size_t *ret_bytes)
	__attribute__((returns_nonnull, warn_unused_result));
/** memory_text() - a copy of @text, which lives as long as @strings */
const char *memory_text(struct strings *strings, const char *text) __attribute__((returns_nonnull));
/** memory_key() - a key for @text in a table: equal texts have the same key; never 0 */
uint64_t memory_key(struct strings *strings, const char *text);

/**
 * struct pointers - a list of pointers; zeroed = empty
 * @at: owned; the targets are owned only with pointers_free_all()
 */
struct pointers {
	void **at;
	size_t nr;
	size_t room;
};
void pointers_add(struct pointers *list, const void *pointer);
void pointers_free(struct pointers *list);
void pointers_free_all(struct pointers *list);

/**
 * struct string - a growing text; zeroed = empty
 * @bytes: owned, with a NUL; NULL until something is added
 */
struct string {
	char *bytes;
	size_t len;
	size_t room;
};
/**
 * string_add() - append @text; string_add_bytes(): its first @bytes; string_addf(), string_addv():
 * formatted like printf()
 */
void string_add(struct string *s, const char *text);
void string_add_bytes(struct string *s, const char *text, size_t bytes);
void string_addf(struct string *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void string_addv(struct string *s, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
/**
 * string_text() - the text, "" if nothing was added; the caller may change bytes, but not add any
 */
char *string_text(struct string *s);
/** string_take() - the same, owned by the caller */
char *string_take(struct string *s);
void string_free(struct string *s);
#endif
