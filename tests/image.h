/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_IMAGE_H
#define TESTS_IMAGE_H
/* image.h - a trace file in memory, to be damaged, and what should come out of it. */
#include <trace/format.h>

#include "builder.h"

/**
 * struct image - the bytes of a trace file
 * @fd: memory file that holds them; @path: how to open it
 */
struct image {
	int fd;
	char path[64];
	unsigned char *data; /* the file, mapped; change it in place */
	size_t bytes;
};

struct image image_new(struct tb *tb, bool finish);
struct image image_of(const void *data, size_t bytes);
void image_free(struct image *image);

/** image_chunk() - offset of chunk number @idx; @ret_header: a copy of its header. -1 past the last */
long image_chunk(const struct image *image, size_t idx, struct trace_chunk_header *ret_header);
/** image_find() - offset of the @nth chunk (from 0) of @kind */
long image_find(const struct image *image, enum trace_chunk_kind kind, size_t nth, struct trace_chunk_header *ret_header);
/** image_spoil() - change the payload of a chunk: chunk @nth (from 0) of @kind, so that its header is good and it cannot be read. False: there is none */
bool image_spoil(struct image *image, enum trace_chunk_kind kind, size_t nth);
/** image_with_pieces() - the same file with a piece only of each chunk of events whose payload is not good: that is known as soon as it is opened */
struct image image_with_pieces(const struct image *image);
/** image_put_chunk() - replace the header at @at by @header, with good checksums of it and of the payload behind it */
void image_put_chunk(struct image *image, size_t at, struct trace_chunk_header *header);

/** struct seen - all events of a trace, as one number each; those of gaps apart */
struct seen {
	uint64_t *events; /* owned */
	size_t nr;
	uint64_t lost; /* sum over trace_lost events */
	size_t nr_lost; /* such events */
	int error;     /* of the cursor */
};
struct seen seen_of(const struct trace *trace, const struct trace_cursor_options *options);
void seen_free(struct seen *seen);
/** seen_missing() - how many of @all are not in @part, which has to be @all with some left out; -1: it is not */
long seen_missing(const struct seen *all, const struct seen *part);

#endif
