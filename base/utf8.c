/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* utf8.c - characters of text in any encoding. */
#include "utf8.h"

uint32_t utf8_char(const char *text, size_t most, size_t *ret_bytes)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000}; /* of characters with so many bytes */
	unsigned char first = (unsigned char)*text;
	size_t bytes = first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf8 ? 4 : 0;
	uint32_t c = first & (0x7fu >> bytes);

	*ret_bytes = 1;
	if (first < 0x80)
		return first;
	if (!bytes)
		return UTF8_INVALID;
	for (size_t i = 1; i < bytes; i++) {
		if (i >= most || ((unsigned char)text[i] & 0xc0) != 0x80)
			return UTF8_INVALID;
		c = c << 6 | ((unsigned char)text[i] & 0x3f);
	}
	if (c < smallest[bytes] || c > 0x10ffff || (c & ~0x7ffu) == 0xd800)
		return UTF8_INVALID;
	*ret_bytes = bytes;
	return c;
}
