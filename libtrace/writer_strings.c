/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writer_strings.c - names of numbers: any thread adds them, and the writing thread appends them to
 * the file.
 */
#include "writer_strings.h"

#include "writer_chunk.h"
#include "writer_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int trace_writer_string(struct trace_writer *writer, enum trace_string_space space, uint64_t key, const char *text)
{
	size_t bytes = strnlen(text, TRACE_STRING_MAX_BYTES);
	struct trace_string_entry entry = {.space = (uint16_t)space, .text_bytes = (uint16_t)bytes, .key = key};
	unsigned char *bytes_at;

	syscall_args_name(&writer->packing.args, space, key, text);
	pthread_mutex_lock(&writer->strings_lock);
	bytes_at = writer_buffer_reserve(&writer->strings, sizeof(entry) + bytes);
	if (bytes_at) {
		memcpy(mempcpy(bytes_at, &entry, sizeof(entry)), text, bytes);
		writer->strings.bytes += sizeof(entry) + bytes;
		if (space == TRACE_STRING_NOT_TRACED && key >= writer->next_note)
			writer->next_note = key + 1;
	} else {
		writer->misses_strings = true;
		if (space == TRACE_STRING_NOT_TRACED && key < writer->missing_note)
			writer->missing_note = key;
	}
	pthread_mutex_unlock(&writer->strings_lock);
	return bytes_at ? 0 : -ENOMEM;
}

/* The number of bytes of entries from @at on that fit one chunk. */
static size_t strings_portion(const struct writer_buffer *strings, size_t at)
{
	size_t end = at;

	while (end < strings->bytes) {
		struct trace_string_entry entry;
		size_t bytes;

		memcpy(&entry, strings->data + end, sizeof(entry));
		bytes = sizeof(entry) + entry.text_bytes;
		if (end + bytes - at > TRACE_RAW_MAX)
			break;
		end += bytes;
	}
	return end - at;
}

/*
 * Take the next strings to write once the previous ones are written. The order is kept, because the
 * last of two strings with the same key is valid.
 */
static bool strings_take(struct trace_writer *writer)
{
	if (writer->unwritten_at < writer->unwritten.bytes)
		return true;
	free(writer->unwritten.data);
	pthread_mutex_lock(&writer->strings_lock);
	writer->unwritten = writer->strings;
	writer->strings = (struct writer_buffer){0};
	pthread_mutex_unlock(&writer->strings_lock);
	writer->unwritten_at = 0;
	return writer->unwritten.bytes;
}

static int strings_write(struct trace_writer *writer, struct trace_error *ret_error)
{
	size_t bytes = strings_portion(&writer->unwritten, writer->unwritten_at);
	int error = writer_chunk_write_plain(writer, TRACE_CHUNK_STRINGS, writer->unwritten.data + writer->unwritten_at,
					     bytes, ret_error);

	if (!error)
		writer->unwritten_at += bytes;
	return error;
}

int trace_writer_flush_strings(struct trace_writer *writer, struct trace_error *ret_error)
{
	int error = 0;

	while (!error && strings_take(writer))
		error = strings_write(writer, ret_error);
	return error;
}

/*
 * The disk has room again. If the write fails again the strings stay queued; the error has already
 * been reported.
 */
void writer_strings_write_again(struct trace_writer *writer)
{
	while (writer->unwritten_at < writer->unwritten.bytes && !strings_write(writer, NULL))
		;
}

int writer_strings_tell_missing(struct trace_writer *writer, struct trace_error *ret_error)
{
	static const char text[] = "names or notes for which the recorder had no memory: the trace lacks them";
	bool has_hole = writer->missing_note != UINT64_MAX; /* readers would stop there */
	struct {
		struct trace_string_entry entry;
		char text[sizeof(text) - 1];
	} told = {.entry = {.space = TRACE_STRING_NOT_TRACED,
			    .text_bytes = sizeof(told.text),
			    .key = has_hole ? writer->missing_note : writer->next_note}};

	memcpy(told.text, text, sizeof(told.text));
	return writer_chunk_write_plain(writer, TRACE_CHUNK_STRINGS, &told,
					offsetof(__typeof__(told), text) + sizeof(told.text), ret_error);
}
