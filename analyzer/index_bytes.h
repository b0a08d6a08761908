/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_INDEX_BYTES_H
#define ANALYZER_INDEX_BYTES_H
/*
 * index_bytes.h - numbers and texts as bytes, for the index of a view. A reader believes nothing:
 * after the first thing that cannot be, it has @failed, and all that it returns is 0 or empty.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct bytes_out - a growing array; zeroed = empty. @failed: out of memory, or an unfit value */
struct bytes_out {
	uint8_t *at; /* owned */
	size_t nr, room;
	bool failed;
};
/** bytes_room() - room for @bytes more, which it counts; NULL: no memory */
void *bytes_room(struct bytes_out *out, size_t bytes);
void bytes_put(struct bytes_out *out, const void *bytes, size_t nr);
/** bytes_put_number() - LEB128: seven bits in each byte, the lowest first */
void bytes_put_number(struct bytes_out *out, uint64_t number);
void bytes_put_text(struct bytes_out *out, const char *text);
void bytes_free(struct bytes_out *out);

/** struct bytes_in - borrowed bytes */
struct bytes_in {
	const uint8_t *at, *end;
	bool failed;
};
/** bytes_take() - the next @nr bytes; NULL: there are fewer */
const uint8_t *bytes_take(struct bytes_in *in, uint64_t nr);
uint64_t bytes_number(struct bytes_in *in);
/** bytes_below() - a number that must be less than @limit */
uint64_t bytes_below(struct bytes_in *in, uint64_t limit);
/** bytes_count() - a number of things of which each has at least @least bytes here */
uint32_t bytes_count(struct bytes_in *in, size_t least);
/** bytes_text() - a text without its 0; never NULL */
const char *bytes_text(struct bytes_in *in, size_t *ret_length);
#endif
