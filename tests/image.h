/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_IMAGE_H
#define TESTS_IMAGE_H
/* image.h - a trace file in memory, for tests to damage, and the events that it should still
 * contain. */
#include <trace/format.h>

#include "builder.h"

/**
 * struct image - the bytes of a trace file
 * @fd: memory file that holds them
 * @path: a path to open it
 */
struct image {
	int fd;
	char path[64];
	unsigned char *data; /* the file, mapped; may be changed in place */
	size_t bytes;
};

struct image image_new(struct tb *tb, bool finish);
struct image image_of(const void *data, size_t bytes);
void image_free(struct image *image);

/**
 * image_chunk() - find chunk number @idx
 * @ret_header: a copy of its header
 * Returns its offset, or -1 past the last chunk.
 */
long image_chunk(const struct image *image, size_t idx, struct trace_chunk_header *ret_header);
/**
 * image_find() - return the offset of the @nth chunk (from 0) of @kind
 */
long image_find(const struct image *image, enum trace_chunk_kind kind, size_t nth,
		struct trace_chunk_header *ret_header);
/**
 * image_spoil() - damage the payload of the @nth chunk (from 0) of @kind; its header stays intact,
 * so it is found but cannot be read
 * Returns false if there is no such chunk.
 */
bool image_spoil(struct image *image, enum trace_chunk_kind kind, size_t nth);
/**
 * image_with_pieces() - copy the file, with each damaged chunk of events truncated, so that opening
 * the file finds the damage
 */
struct image image_with_pieces(const struct image *image);
/**
 * image_put_chunk() - replace the header at @at by @header, with correct checksums of the header
 * and of the payload after it
 */
void image_put_chunk(struct image *image, size_t at, struct trace_chunk_header *header);

/**
 * struct seen - all events of a trace as one number each, and those of gaps separately
 */
struct seen {
	uint64_t *events; /* owned */
	size_t nr;
	uint64_t lost;	/* sum over trace_lost events */
	size_t nr_lost; /* number of such events */
	int error;	/* of the cursor */
};
struct seen seen_of(const struct trace *trace, const struct trace_cursor_options *options);
void seen_free(struct seen *seen);
/**
 * seen_missing() - count the events of @all that @part lacks
 * Returns -1 if @part is not @all with some events left out.
 */
long seen_missing(const struct seen *all, const struct seen *part);

#endif
