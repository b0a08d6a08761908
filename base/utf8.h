/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H
/* utf8.h - characters of text in any encoding: names come from the kernel and from programs. */
#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX

/**
 * utf8_char() - the character at @text, which ends with a NUL or after @most bytes
 * @ret_bytes: its bytes; 1 if they are no character
 * Returns UTF8_INVALID for bytes that are no character: overlong, a surrogate, cut off.
 */
uint32_t utf8_char(const char *text, size_t most, size_t *ret_bytes);

#endif
