/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

static struct image image_map(int fd)
{
	struct image image = {.fd = fd};
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		abort();
	image.bytes = (size_t)stat.st_size;
	image.data = mmap(NULL, image.bytes + 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (image.data == MAP_FAILED)
		abort();
	snprintf(image.path, sizeof(image.path), "/proc/self/fd/%d", fd);
	return image;
}

struct image image_new(struct tb *tb, bool finish)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	tb_write(tb, fd, finish);
	return image_map(fd);
}

struct image image_of(const void *data, size_t bytes)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	if (write(fd, data, bytes) != (ssize_t)bytes)
		abort();
	return image_map(fd);
}

void image_free(struct image *image)
{
	munmap(image->data, image->bytes + 1);
	close(image->fd);
}

long image_chunk(const struct image *image, size_t idx, struct trace_chunk_header *ret_header)
{
	size_t at = sizeof(struct trace_file_header);

	for (size_t i = 0; at + sizeof(*ret_header) <= image->bytes; i++) {
		memcpy(ret_header, image->data + at, sizeof(*ret_header));
		if (memcmp(ret_header->magic, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES) != 0)
			break;
		if (i == idx)
			return (long)at;
		at += ret_header->header_bytes + ret_header->packed_bytes;
	}
	return -1;
}

long image_find(const struct image *image, enum trace_chunk_kind kind, size_t nth,
		struct trace_chunk_header *ret_header)
{
	long at;

	for (size_t i = 0; (at = image_chunk(image, i, ret_header)) >= 0; i++)
		if (ret_header->kind == kind && nth-- == 0)
			return at;
	return -1;
}

bool image_spoil(struct image *image, enum trace_chunk_kind kind, size_t nth)
{
	struct trace_chunk_header header;
	long at = image_find(image, kind, nth, &header);

	if (at < 0)
		return false;
	image->data[(size_t)at + header.header_bytes] ^= 1;
	return true;
}

struct image image_with_pieces(const struct image *image)
{
	unsigned char *data = malloc(image->bytes);
	struct trace_chunk_header header;
	size_t bytes = sizeof(struct trace_file_header);
	struct image pieces;
	long at;

	memcpy(data, image->data, bytes);
	for (size_t i = 0; (at = image_chunk(image, i, &header)) >= 0; i++) {
		const unsigned char *chunk = image->data + at, *payload = chunk + header.header_bytes;
		size_t chunk_bytes = header.header_bytes + header.packed_bytes;

		chunk_bytes -= header.kind == TRACE_CHUNK_EVENTS &&
			       XXH3_64bits(payload, header.packed_bytes) != header.payload_checksum;
		memcpy(data + bytes, chunk, chunk_bytes);
		bytes += chunk_bytes;
	}
	pieces = image_of(data, bytes);
	free(data);
	return pieces;
}

void image_put_chunk(struct image *image, size_t at, struct trace_chunk_header *header)
{
	header->payload_checksum = XXH3_64bits(image->data + at + header->header_bytes, header->packed_bytes);
	header->checksum = XXH3_64bits(header, offsetof(struct trace_chunk_header, checksum));
	memcpy(image->data + at, header, sizeof(*header));
}

struct seen seen_of(const struct trace *trace, const struct trace_cursor_options *options)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, options, NULL);
	const struct trace_event *event;
	struct seen seen = {0};
	size_t room = 0;

	while ((event = trace_cursor_next(cursor))) {
		uint64_t head[4] = {event->ts_ns, event->cpu, event->stream, event->id};

		if (event->id == TRACE_EV_trace_lost) {
			seen.lost += ((const struct trace_trace_lost *)event->payload)->lost;
			seen.nr_lost++;
			continue;
		}
		if (seen.nr == room) {
			room = room ? 2 * room : 256;
			seen.events = realloc(seen.events, room * sizeof(*seen.events));
		}
		seen.events[seen.nr++] = XXH3_64bits_withSeed(event->payload, event->payload_bytes,
							      XXH3_64bits(head, sizeof(head)));
	}
	seen.error = trace_cursor_error(cursor, NULL);
	trace_cursor_free(cursor);
	return seen;
}

void seen_free(struct seen *seen)
{
	free(seen->events);
}

long seen_missing(const struct seen *all, const struct seen *part)
{
	size_t at = 0;

	for (size_t i = 0; i < part->nr; i++, at++) {
		while (at < all->nr && all->events[at] != part->events[i])
			at++;
		if (at == all->nr)
			return -1;
	}
	return (long)(all->nr - part->nr);
}
