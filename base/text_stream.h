/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_TEXT_STREAM_H
#define BASE_TEXT_STREAM_H
/*
 * text_stream.h - a stream whose bytes become a text in memory.
 *
 * It replaces open_memstream(). Without memory that of glibc leaves bytes out, or returns no text
 * at all, while ferror() and fclose() return 0 (glibc 2.36). Its user then takes a part for the
 * whole.
 */
#include <stddef.h>
#include <stdio.h>
#include <trace/error.h>

/**
 * struct text_stream - @out: to write to, until text_stream_end(); NULL: not open
 * The rest is private. The structure stays where it is while the stream is open.
 */
struct text_stream {
	FILE *out;
	char *text;
	size_t bytes;
	size_t room;
	int error;
};

/** text_stream_begin() - open @stream, whatever it was before. Returns 0 or -ENOMEM. */
int text_stream_begin(struct text_stream *stream) TRACE_NODISCARD;
/**
 * text_stream_end() - close it and take its text
 * @ret_text: all that was written, with a NUL behind it; the caller frees it
 * @ret_bytes: without the NUL; may be NULL
 * Returns 0; -ENOMEM: something that was written is missing, and there is no text.
 */
int text_stream_end(struct text_stream *stream, char **ret_text, size_t *ret_bytes) TRACE_NODISCARD;

#endif
