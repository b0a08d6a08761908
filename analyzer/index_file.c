/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* index_file.c - an index in pieces: index_file.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include "index_file.h"

#define PIECE_BYTES (256u << 10) /* of a file whose checksum is made */

/* ---- write ---- */

struct index_out index_out_begin(int fd)
{
	struct index_out out = {.fd = fd, .checksum = XXH3_createState()};

	if (!out.checksum || XXH3_64bits_reset(out.checksum) == XXH_ERROR)
		out.error = -ENOMEM;
	return out;
}

static void write_all(struct index_out *out, const uint8_t *bytes, size_t nr)
{
	while (nr && !out->error) {
		ssize_t written = write(out->fd, bytes, nr);

		if (written >= 0) {
			bytes += written;
			nr -= (size_t)written;
		} else if (errno != EINTR) {
			out->error = -errno;
		}
	}
}

static void put_bytes(struct index_out *out, const void *bytes, size_t nr)
{
	if (out->fd >= 0) {
		write_all(out, bytes, nr);
		return;
	}
	bytes_put(&out->bytes, bytes, nr);
	if (out->bytes.failed)
		out->error = -ENOMEM;
}

void index_put(struct index_out *out, const void *bytes, size_t nr)
{
	if (out->error || !nr)
		return;
	XXH3_64bits_update(out->checksum, bytes, nr);
	put_bytes(out, bytes, nr);
}

void index_put_section(struct index_out *out, uint64_t nr)
{
	index_put(out, &nr, sizeof(nr));
}

void index_out_end(struct index_out *out)
{
	uint64_t checksum;

	if (!out->error) {
		checksum = XXH3_64bits_digest(out->checksum);
		put_bytes(out, &checksum, sizeof(checksum));
	}
	XXH3_freeState(out->checksum);
	out->checksum = NULL;
}

/* ---- read ---- */

static int read_failed(const struct index_in *in, int error)
{
	if (in->read_error)
		__atomic_store_n(in->read_error, error, __ATOMIC_RELAXED);
	return error;
}

static int read_all(const struct index_in *in, uint8_t *bytes, size_t nr, uint64_t at)
{
	while (nr) {
		ssize_t got = pread(in->fd, bytes, nr, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return read_failed(in, -errno);
		if (!got)
			return -EBADMSG;
		bytes += got;
		nr -= (size_t)got;
		at += (uint64_t)got;
	}
	return 0;
}

int index_read(const struct index_in *in, uint64_t at, uint64_t nr, struct index_piece *ret)
{
	const uint8_t *bytes = in->bytes ? in->bytes + at : NULL;
	uint8_t *memory = NULL;
	int error = 0;

	if (at > in->size || nr > in->size - at)
		return -EBADMSG;
	if (!bytes) {
		bytes = memory = malloc((size_t)nr + 1);
		error = memory ? read_all(in, memory, (size_t)nr, at) : -ENOMEM;
	}
	if (error) {
		free(memory);
		return error;
	}
	*ret = (struct index_piece){.bytes = {.at = bytes, .end = bytes + nr}, .memory = memory};
	return 0;
}

int index_section(const struct index_in *in, uint64_t *at, uint64_t *ret_nr)
{
	struct index_piece piece;
	uint64_t nr;
	int error = index_read(in, *at, sizeof(nr), &piece);

	if (error)
		return error;
	memcpy(&nr, piece.bytes.at, sizeof(nr));
	index_piece_end(&piece);
	if (nr > in->size - *at - sizeof(nr))
		return -EBADMSG;
	*at += sizeof(nr);
	*ret_nr = nr;
	return 0;
}

int index_read_section(const struct index_in *in, uint64_t *at, struct index_piece *ret)
{
	uint64_t begin = *at, nr;
	int error = index_section(in, &begin, &nr);

	if (!error)
		error = index_read(in, begin, nr, ret);
	if (!error)
		*at = begin + nr;
	return error;
}

void index_piece_end(struct index_piece *piece)
{
	free(piece->memory);
	*piece = (struct index_piece){0};
}

static bool add_to_checksum(const struct index_in *in, XXH3_state_t *state)
{
	for (uint64_t at = 0; at < in->size;) {
		uint64_t nr = in->size - at < PIECE_BYTES ? in->size - at : PIECE_BYTES;
		struct index_piece piece;

		if (index_read(in, at, nr, &piece))
			return false;
		XXH3_64bits_update(state, piece.bytes.at, (size_t)nr);
		index_piece_end(&piece);
		at += nr;
	}
	return true;
}

bool index_is_whole(const struct index_in *in)
{
	const struct index_in with_checksum = {
		.bytes = in->bytes, .fd = in->fd, .size = in->size + sizeof(uint64_t), .read_error = in->read_error};
	XXH3_state_t *state = XXH3_createState();
	struct index_piece piece;
	uint64_t checksum;
	bool is_whole;

	if (!state || index_read(&with_checksum, in->size, sizeof(checksum), &piece)) {
		XXH3_freeState(state);
		return false;
	}
	memcpy(&checksum, piece.bytes.at, sizeof(checksum));
	index_piece_end(&piece);
	is_whole = XXH3_64bits_reset(state) == XXH_OK && add_to_checksum(in, state) &&
		   XXH3_64bits_digest(state) == checksum;
	XXH3_freeState(state);
	return is_whole;
}
