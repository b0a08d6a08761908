/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stretch_store.c - compressed bytes in a file or in memory: stretch_store.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include "stretch_store.h"

#define LEVEL 1

/* Returns 0 or an error. */
static int write_all(int fd, const uint8_t *bytes, size_t nr, uint64_t at)
{
	while (nr) {
		ssize_t written = pwrite(fd, bytes, nr, (off_t)at);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -ENOSPC;
		bytes += written;
		nr -= (size_t)written;
		at += (uint64_t)written;
	}
	return 0;
}

struct stretch_place stretch_store_put(struct stretch_store *store, const struct bytes_out *bytes)
{
	size_t room = ZSTD_compressBound(bytes->nr), packed;
	struct stretch_place place = {.at = store->end, .bytes = (uint32_t)bytes->nr};
	uint8_t *frame = malloc(room ? room : 1);

	if (!frame || bytes->failed || bytes->nr > UINT32_MAX / 2) {
		store->error = store->error ? store->error : -ENOMEM;
		free(frame);
		return (struct stretch_place){0};
	}
	packed = ZSTD_compress(frame, room, bytes->at, bytes->nr, LEVEL);
	place.packed = ZSTD_isError(packed) ? 0 : (uint32_t)packed;
	if (ZSTD_isError(packed))
		store->error = -ENOMEM;
	else if (store->fd >= 0 && !store->error)
		store->error = write_all(store->fd, frame, packed, store->end);
	else if (store->fd < 0)
		bytes_put(&store->memory, frame, packed);
	store->error = store->memory.failed ? -ENOMEM : store->error;
	store->end += place.packed;
	free(frame);
	return place;
}

static bool has_room(uint8_t **memory, size_t *room, size_t bytes)
{
	uint8_t *more = bytes < *room ? *memory : malloc(bytes + 1);

	if (!more)
		return false;
	if (more != *memory) {
		free(*memory); /* what it had is not needed */
		*memory = more;
		*room = bytes + 1;
	}
	return true;
}

/* The packed bytes; NULL: they cannot be read. */
static const uint8_t *read_packed(struct store_reader *reader, const struct stretch_store *store,
				  const struct stretch_place *place)
{
	size_t nr = 0;
	ssize_t got = 1;

	if (store->fd < 0)
		return store->memory.at + place->at;
	if (!has_room(&reader->packed, &reader->packed_room, place->packed))
		return NULL;
	while (nr < place->packed && got > 0) {
		got = pread(store->fd, reader->packed + nr, place->packed - nr, (off_t)(place->at + nr));
		if (got < 0 && errno == EINTR)
			got = 1;
		else
			nr += got > 0 ? (size_t)got : 0;
	}
	return nr == place->packed ? reader->packed : NULL;
}

const uint8_t *store_reader_get(struct store_reader *reader, const struct stretch_store *store,
				const struct stretch_place *place)
{
	const uint8_t *packed = read_packed(reader, store, place);

	reader->context = reader->context ? reader->context : ZSTD_createDCtx();
	if (!packed || !reader->context || !has_room(&reader->bytes, &reader->bytes_room, place->bytes) ||
	    ZSTD_decompressDCtx(reader->context, reader->bytes, place->bytes, packed, place->packed) != place->bytes)
		return NULL;
	return reader->bytes;
}

void store_reader_clear(struct store_reader *reader)
{
	ZSTD_freeDCtx(reader->context);
	free(reader->packed);
	free(reader->bytes);
	*reader = (struct store_reader){0};
}

uint8_t *stretch_store_get(const struct stretch_store *store, const struct stretch_place *place)
{
	struct store_reader reader = {0};
	uint8_t *bytes = NULL;

	if (store_reader_get(&reader, store, place)) {
		bytes = reader.bytes;
		reader.bytes = NULL;
	}
	store_reader_clear(&reader);
	return bytes;
}

void stretch_store_clear(struct stretch_store *store)
{
	bytes_free(&store->memory);
}
