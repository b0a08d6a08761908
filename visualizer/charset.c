/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * charset.c - the characters that the reader's terminal shows.
 *
 * The program itself stays in the C locale: its numbers are the same everywhere. Only the character
 * set of the environment's locale matters.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include "charset.h"
#include "checked_memory.h"

static bool hides, is_page;

static bool ask_locale(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool is_utf8;

	if (!locale && errno == ENOMEM)
		memory_end();
	is_utf8 = locale && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	if (locale)
		freelocale(locale);
	return is_utf8;
}

bool charset_is_utf8(void)
{
	static enum { NOT_ASKED, ASCII, UTF8 } answer;

	if (is_page)
		return true;
	if (answer == NOT_ASKED)
		answer = ask_locale() ? UTF8 : ASCII;
	return answer == UTF8;
}

void charset_begin(bool to_terminal)
{
	hides = to_terminal && !charset_is_utf8();
}

void charset_for_page(void)
{
	is_page = true;
	hides = false;
}

bool charset_has_columns(void)
{
	return !is_page;
}

bool charset_hides(void)
{
	return hides;
}

void charset_write(const char *text, size_t bytes, FILE *out)
{
	if (!hides) {
		fwrite(text, 1, bytes, out);
		return;
	}
	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)text[i] < 0x80)
			putc(text[i], out);
		else
			fprintf(out, "\\x%02x", (unsigned char)text[i]);
}
