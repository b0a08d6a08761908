/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PACKED_H
#define VISUALIZER_PACKED_H
/* packed.h - bytes as gzip. */
#include <stdbool.h>
#include <stddef.h>

/** struct packed - @bytes: owned, gzip */
struct packed {
	unsigned char *bytes;
	size_t size;
};

/** packed_make() - pack @raw; false, with nothing written: it would have more than @most bytes */
bool packed_make(const void *raw, size_t bytes, size_t most, struct packed *ret_packed);
#endif
