/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_CHARSET_H
#define VISUALIZER_CHARSET_H
/* charset.h - the characters that the reader's terminal shows. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** charset_is_utf8() - does the locale of the environment use UTF-8? Else only ASCII is certain */
bool charset_is_utf8(void);
/** charset_begin() - call it before the output: does that go to a terminal? */
void charset_begin(bool to_terminal);
/**
 * charset_hides() - true if names must be ASCII: the output goes to a terminal without UTF-8. A
 * pipe or file gets the bytes of the names in each locale
 */
bool charset_hides(void);
/** charset_write() - fwrite() with bytes that the terminal does not show as \xNN */
void charset_write(const char *text, size_t bytes, FILE *out);
/**
 * charset_for_page() - the texts go to a page in a browser: UTF-8, whatever the locale is, and a
 * character is one column wide, whatever it is on a terminal
 */
void charset_for_page(void);
/** charset_has_columns() - false for a page */
bool charset_has_columns(void);
#endif
