/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* index_bytes.c - numbers and texts as bytes. */
#include <stdlib.h>
#include <string.h>
#include "index_bytes.h"

/* ---- write ---- */

void *bytes_room(struct bytes_out *out, size_t bytes)
{
	if (!out->failed && bytes > out->room - out->nr) {
		size_t room = out->nr + bytes + out->room / 2 + 64;
		uint8_t *bigger = realloc(out->at, room);

		out->failed = !bigger;
		if (bigger) {
			out->at = bigger;
			out->room = room;
		}
	}
	if (out->failed)
		return NULL;
	out->nr += bytes;
	return out->at + out->nr - bytes;
}

void bytes_put(struct bytes_out *out, const void *bytes, size_t nr)
{
	void *room = bytes_room(out, nr);

	if (room && nr)
		memcpy(room, bytes, nr);
}

void bytes_put_number(struct bytes_out *out, uint64_t number)
{
	uint8_t bytes[10];
	size_t nr = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[nr++] = (uint8_t)(number | 0x80);
	bytes[nr++] = (uint8_t)number;
	bytes_put(out, bytes, nr);
}

void bytes_put_text(struct bytes_out *out, const char *text)
{
	size_t length = strlen(text);

	bytes_put_number(out, length);
	bytes_put(out, text, length);
}

void bytes_free(struct bytes_out *out)
{
	free(out->at);
	*out = (struct bytes_out){0};
}

/* ---- read ---- */

const uint8_t *bytes_take(struct bytes_in *in, uint64_t nr)
{
	const uint8_t *at = in->at;

	if (in->failed || nr > (uint64_t)(in->end - in->at)) {
		in->failed = true;
		return NULL;
	}
	in->at += nr;
	return at;
}

uint64_t bytes_number(struct bytes_in *in)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; shift < 64 && !in->failed && in->at < in->end; shift += 7) {
		uint8_t byte = *in->at++;

		if (shift == 63 && byte > 1)
			break;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
	in->failed = true;
	return 0;
}

uint64_t bytes_below(struct bytes_in *in, uint64_t limit)
{
	uint64_t number = bytes_number(in);

	if (number < limit)
		return number;
	in->failed = true;
	return 0;
}

uint32_t bytes_count(struct bytes_in *in, size_t least)
{
	uint64_t number = bytes_number(in);

	if (number < UINT32_MAX / 2 && number <= (uint64_t)(in->end - in->at) / least)
		return (uint32_t)number;
	in->failed = true;
	return 0;
}

const char *bytes_text(struct bytes_in *in, size_t *ret_length)
{
	uint64_t length = bytes_number(in);
	const char *text = (const char *)bytes_take(in, length);

	*ret_length = text ? (size_t)length : 0;
	return text ? text : "";
}
