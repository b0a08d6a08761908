/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "format_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAMES_MAX 100 /* files of one second */

struct text text_seconds(uint64_t time_ns)
{
	struct text out;
	unsigned long long seconds = time_ns / 1000000000;

	if (seconds < 120)
		snprintf(out.s, sizeof(out.s), "%.3f s", (double)time_ns / 1e9);
	else if (seconds < 7200)
		snprintf(out.s, sizeof(out.s), "%llu min %02llu s", seconds / 60, seconds % 60);
	else
		snprintf(out.s, sizeof(out.s), "%llu h %02llu min", seconds / 3600, seconds / 60 % 60);
	return out;
}

struct text text_trace_name(void)
{
	time_t now = time(NULL);
	char when[sizeof("2026-11-21-120000")];
	struct text out;
	struct tm local;

	strftime(when, sizeof(when), "%Y-%m-%d-%H%M%S", localtime_r(&now, &local));
	snprintf(out.s, sizeof(out.s), "trace-%s.trace", when);
	for (int number = 2; access(out.s, F_OK) == 0 && number <= NAMES_MAX; number++)
		snprintf(out.s, sizeof(out.s), "trace-%s-%d.trace", when, number);
	return out;
}

/* ---- words for a shell ---- */

static bool is_plain(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,:@%";

	return *path && !path[strspn(path, plain)];
}

static bool has_control(const char *path)
{
	for (; *path; path++)
		if ((unsigned char)*path < ' ' || *path == 0x7f)
			return true;
	return false;
}

/*
 * Prints a character between quotes. Control characters such as \n must not reach the terminal, so
 * a word with one is quoted as $'...', in which \ is special too.
 */
static int print_quoted(char *text, size_t size, char character, bool escapes)
{
	if (escapes && ((unsigned char)character < ' ' || character == 0x7f))
		return snprintf(text, size, "\\%03o", (unsigned int)character);
	if (escapes && (character == '\'' || character == '\\'))
		return snprintf(text, size, "\\%c", character);
	return snprintf(text, size, character == '\'' ? "'\\''" : "%c", character);
}

bool text_shell(const char *path, char *word, size_t size)
{
	bool plain = is_plain(path), escapes = has_control(path);
	size_t used;

	used = (size_t)snprintf(word, size, "%s%s", plain ? "" : escapes ? "$'" : "'", *path == '-' ? "./" : "");
	for (; *path && used < size; path++)
		used += plain ? (size_t)snprintf(word + used, size - used, "%c", *path)
			      : (size_t)print_quoted(word + used, size - used, *path, escapes);
	if (!plain && used < size)
		used += (size_t)snprintf(word + used, size - used, "'");
	if (used < size)
		return true;
	*word = '\0';
	return false;
}

/* ---- parsing ---- */

int text_parse_time(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
		     {"ns", 1}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
	char *rest;
	double value;

	if ((*text < '0' || *text > '9') && *text != '.')
		return -EINVAL;
	value = strtod(text, &rest);
	if (rest != text + strspn(text, "0123456789.") || rest == text || !isfinite(value)) /* not 1e3, 0x10 */
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(rest, units[i].name))
			continue;
		if (value * units[i].ns >= 9e18)
			return -ERANGE;
		*ret_ns = (uint64_t)(value * units[i].ns + 0.5);
		return 0;
	}
	return -EINVAL;
}
