/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_TEXT_OUTPUT_H
#define VISUALIZER_TEXT_OUTPUT_H
/*
 * text_output.h - where a text report goes, and its titles, lines and paragraphs, which are not
 * wider than the terminal.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/**
 * struct text_output - the output of a report and its form
 * @out: borrowed
 * @width: columns of the terminal; 0: no limit
 * @exact: --ns: times in nanoseconds and sizes in bytes, without units
 */
struct text_output {
	FILE *out;
	size_t width;
	bool colour;
	bool exact;
};

/** output_title() - a line above a table, bold on a terminal, wrapped and indented there */
void output_title(const struct text_output *output, const char *indent, const char *text);
/** output_line() - the same, not bold */
void output_line(const struct text_output *output, const char *indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/**
 * output_paragraph() - write a paragraph and an empty line; modifies @text
 * UNBROKEN_BLANK in @text is a blank at which no line breaks.
 */
void output_paragraph(const struct text_output *output, char *text);
#define UNBROKEN_BLANK "\x01" /* text_name() keeps it out of names */
/**
 * output_cut() - @text, cut to the width of the terminal after @before columns; the caller frees it
 */
char *output_cut(const struct text_output *output, size_t before, const char *text);
/**
 * text_cut() - @text, cut to @width columns: a path at its beginning, other text at its end; the
 * caller frees it
 */
char *text_cut(const char *text, size_t width);
/**
 * text_cut_cell() - the same for a cell of a table: the number of a process at the end stays, and a
 * path inside, "file /usr/lib/libc.so in read", is cut at its beginning
 */
char *text_cut_cell(const char *text, size_t width);
/**
 * text_cut_words() - the same for each word of a sentence that is wider than @width; what is behind
 * the name, such as a comma, stays
 */
char *text_cut_words(const char *text, size_t width);
/** text_width() - the width of @text in columns of a terminal */
size_t text_width(const char *text);
#endif
