/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEB_GLIB_H
#define WEB_GLIB_H
/*
 * glib.h - for WebAssembly: what text_output.c takes from GLib. It asks for the width of characters
 * only for terminals: charset_has_columns().
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t gunichar;

static inline const char *g_utf8_next_char(const char *text)
{
	text++;
	while (((unsigned char)*text & 0xc0) == 0x80)
		text++;
	return text;
}

static inline gunichar g_utf8_get_char(const char *text)
{
	return (unsigned char)*text;
}

static inline bool g_unichar_iszerowidth(gunichar c)
{
	return false;
}

static inline bool g_unichar_iswide(gunichar c)
{
	return false;
}

static inline char *g_strdelimit(char *text, const char *delimiters, char replacement)
{
	for (char *at = text; (at = strpbrk(at, delimiters)); at++)
		*at = replacement;
	return text;
}

#endif
