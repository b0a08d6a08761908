/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* text_stream.c - a stream into memory that tells when bytes are missing: text_stream.h. */
#include "text_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 256u

/* Makes room for @more bytes and a NUL. */
static bool reserve(struct text_stream *stream, size_t more)
{
	size_t room = stream->room ? stream->room : FIRST_BYTES, needed;
	char *bigger;

	if (__builtin_add_overflow(stream->bytes, more, &needed) || needed > SIZE_MAX / 2 - 1)
		return false;
	while (room <= needed)
		room *= 2;
	bigger = room > stream->room ? realloc(stream->text, room) : stream->text;
	if (!bigger)
		return false;
	stream->text = bigger;
	stream->room = room;
	return true;
}

/* After a failure nothing more is taken: a text with a hole would look like a whole one. */
static ssize_t put(void *cookie, const char *bytes, size_t size)
{
	struct text_stream *stream = cookie;

	if (!stream->error && !reserve(stream, size))
		stream->error = -ENOMEM;
	if (stream->error)
		return 0;
	memcpy(stream->text + stream->bytes, bytes, size);
	stream->bytes += size;
	return (ssize_t)size;
}

int text_stream_begin(struct text_stream *stream)
{
	*stream = (struct text_stream){0};
	stream->out = fopencookie(stream, "w", (cookie_io_functions_t){.write = put});
	return stream->out ? 0 : -ENOMEM;
}

int text_stream_end(struct text_stream *stream, char **ret_text, size_t *ret_bytes)
{
	bool failed = ferror(stream->out);

	failed |= fclose(stream->out) != 0;
	stream->out = NULL;
	if (failed || stream->error || !reserve(stream, 0)) {
		free(stream->text);
		*stream = (struct text_stream){0};
		return -ENOMEM;
	}
	stream->text[stream->bytes] = 0;
	*ret_text = stream->text;
	if (ret_bytes)
		*ret_bytes = stream->bytes;
	*stream = (struct text_stream){0};
	return 0;
}
