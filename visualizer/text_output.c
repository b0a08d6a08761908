/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* text_output.c - titles, lines and paragraphs of text reports, as wide as the terminal. */
#include <glib.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "charset.h"
#include "checked_memory.h"
#include "text_output.h"

#define NARROW	   8   /* columns in which three dots would leave too little of a name */
#define WIDTH_MIN  8   /* a line is not cut to fewer columns */
#define LINE_WIDTH 100 /* of a paragraph; a narrower terminal has its own */

size_t text_width(const char *text)
{
	bool has_columns = charset_has_columns();
	size_t width = 0;

	for (; *text; text = g_utf8_next_char(text)) {
		gunichar c;

		if (*text >= ' ' && *text <= '~') { /* nearly all */
			width++;
			continue;
		}
		c = g_utf8_get_char(text);
		width += !has_columns		    ? 1
			 : *text == '\t'	    ? 8 - width % 8
			 : g_unichar_iszerowidth(c) ? 0
			 : g_unichar_iswide(c)	    ? 2
						    : 1;
	}
	return width;
}

static const char *skip_width(const char *text, size_t width)
{
	while (*text && text_width(text) > width)
		text = g_utf8_next_char(text);
	return text;
}

static const char *left_out_mark(size_t width)
{
	return charset_is_utf8() ? "\xe2\x80\xa6" : width < NARROW ? "." : "...";
}

char *text_cut(const char *text, size_t width)
{
	const char *left_out = left_out_mark(width);
	struct string cut = {0};

	if (text_width(text) <= width) {
		string_add(&cut, text);
		return string_take(&cut);
	}
	if (*text == '/') {
		string_add(&cut, left_out);
		string_add(&cut, skip_width(text, width - text_width(left_out)));
		return string_take(&cut);
	}
	for (width -= text_width(left_out); *text && text_width(string_text(&cut)) < width;
	     text = g_utf8_next_char(text))
		string_add_bytes(&cut, text, (size_t)(g_utf8_next_char(text) - text));
	string_add(&cut, left_out);
	return string_take(&cut);
}

/*
 * The last word and its blank, if it is the number of a process; else NULL. The name of a thread is
 * worth more than its number, and is between two of them.
 */
static const char *last_number(const char *text)
{
	const char *blank = strrchr(text, ' '), *word = blank ? blank + 1 : "";
	size_t digits;

	word += *word == '(';
	digits = strspn(word, "0123456789");
	return digits && !strstr(text, "thread ") && (!word[digits] || strcmp(word + digits, ")") == 0) ? blank : NULL;
}

/* The word with the first slash: a path; NULL: none. */
static const char *path_in(const char *text)
{
	const char *path = strchr(text, '/');

	while (path && path > text && path[-1] != ' ')
		path--;
	return path;
}

char *text_cut_cell(const char *text, size_t width)
{
	const char *number, *path, *left_out = left_out_mark(width);
	struct string cut = {0};
	char *head, *shown;

	if (*text == '/' || text_width(text) <= width)
		return text_cut(text, width);
	number = last_number(text);
	path = path_in(text);
	if (number && text_width(number) + 2 * NARROW <= width) {
		head = memory_copy(text, (size_t)(number - text));
		shown = text_cut_cell(head, width - text_width(number));
		string_addf(&cut, "%s%s", shown, number);
		free(head);
		free(shown);
		return string_take(&cut);
	}
	if (!path || text_width(text) - text_width(path) + 2 * NARROW > width)
		return text_cut(text, width);
	string_add_bytes(&cut, text, (size_t)(path - text));
	string_add(&cut, left_out);
	string_add(&cut, skip_width(path, width - text_width(string_text(&cut))));
	return string_take(&cut);
}

static void add_cut_word(struct string *s, const char *word, size_t bytes, size_t width)
{
	size_t behind = bytes;
	char *copy, *cut;

	while (behind && strchr(".,;:)", word[behind - 1]))
		behind--;
	copy = memory_copy(word, behind);
	cut = text_cut(copy, width > bytes - behind ? width - (bytes - behind) : width);
	string_add(s, cut);
	string_add_bytes(s, word + behind, bytes - behind);
	free(cut);
	free(copy);
}

char *text_cut_words(const char *text, size_t width)
{
	struct string cut = {0};

	while (*text) {
		size_t blanks = strspn(text, " \n" UNBROKEN_BLANK), bytes;

		string_add_bytes(&cut, text, blanks);
		text += blanks;
		bytes = strcspn(text, " \n" UNBROKEN_BLANK);
		add_cut_word(&cut, text, bytes, width);
		text += bytes;
	}
	return string_take(&cut);
}

char *output_cut(const struct text_output *output, size_t before, const char *text)
{
	return output->width && output->width > before + WIDTH_MIN ? text_cut(text, output->width - before)
								   : memory_copy(text, strlen(text));
}

/* Writes @text, wrapped at the width of the terminal. */
static void put_words(const struct text_output *output, const char *indent, const char *text)
{
	size_t left = text_width(indent), at = left;
	bool more = *text;

	for (size_t i = 0; more; i++) {
		size_t bytes = strcspn(text, " ");
		char *whole = memory_copy(text, bytes), *word = output_cut(output, left + 4, whole);
		size_t length = text_width(word);

		if (i && output->width && at + 1 + length > output->width) {
			fprintf(output->out, "\n%s    ", indent);
			at = left + 4;
		} else if (i) {
			fputs(" ", output->out);
			at++;
		}
		fputs(word, output->out);
		at += length;
		free(word);
		free(whole);
		more = text[bytes];
		text += bytes + 1;
	}
}

void output_title(const struct text_output *output, const char *indent, const char *text)
{
	fprintf(output->out, "%s%s", indent, output->colour ? "\033[1m" : "");
	put_words(output, indent, text);
	fprintf(output->out, "%s\n", output->colour ? "\033[0m" : "");
}

void output_line(const struct text_output *output, const char *indent, const char *format, ...)
{
	struct string text = {0};
	va_list arguments;

	va_start(arguments, format);
	string_addv(&text, format, arguments);
	va_end(arguments);
	fputs(indent, output->out);
	put_words(output, indent, string_text(&text));
	fputs("\n", output->out);
	string_free(&text);
}

void output_paragraph(const struct text_output *output, char *text)
{
	size_t width = output->width && output->width < LINE_WIDTH ? output->width : LINE_WIDTH, at = 0;

	for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		char *shown = output_cut(output, 0, g_strdelimit(word, UNBROKEN_BLANK, ' '));
		size_t length = text_width(shown);

		if (at && at + 1 + length > width) {
			fputs("\n", output->out);
			at = 0;
		}
		fprintf(output->out, "%s%s", at ? " " : "", shown);
		at += length + (at ? 1 : 0);
		free(shown);
	}
	fputs("\n\n", output->out);
}
