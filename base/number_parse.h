/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_NUMBER_PARSE_H
#define BASE_NUMBER_PARSE_H
/* number_parse.h - numbers and sizes as users type them: all programs read them in one way. */
#include <stdint.h>

/**
 * number_parse() - parse a decimal or 0x number, with nothing before or after it
 * Returns 0, -EINVAL, or -ERANGE if it exceeds @max.
 */
int number_parse(const char *text, uint64_t max, uint64_t *ret_number);
/**
 * size_parse() - parse a number of bytes, with an optional k, M or G (powers of 1024), in upper or
 * lower case, and with B or iB behind it
 */
int size_parse(const char *text, uint64_t max, uint64_t *ret_bytes);
#endif
