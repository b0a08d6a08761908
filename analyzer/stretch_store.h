/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STRETCH_STORE_H
#define ANALYZER_STRETCH_STORE_H
/* stretch_store.h - compressed bytes in a file or in memory: stretches.h */
#include <stddef.h>
#include <stdint.h>
#include "index_bytes.h"

struct ZSTD_DCtx_s;

/*
 * struct stretch_store - @fd: a file of its own, borrowed; -1: @memory
 * @error: of the first write that failed
 */
struct stretch_store {
	int fd;
	uint64_t end;
	struct bytes_out memory;
	int error;
};

/* struct stretch_place - where @packed bytes are, which become @bytes */
struct stretch_place {
	uint64_t at;
	uint32_t packed, bytes;
};

/** stretch_store_put() - append @bytes, compressed */
struct stretch_place stretch_store_put(struct stretch_store *store, const struct bytes_out *bytes);
/**
 * stretch_store_get() - the bytes at @place, to be freed; several threads may read
 * Returns NULL if there is no memory, or if the file does not have them any more.
 */
uint8_t *stretch_store_get(const struct stretch_store *store, const struct stretch_place *place);
void stretch_store_clear(struct stretch_store *store);

/* struct store_reader - the memory of a thread that reads many places; zeroed = new */
struct store_reader {
	struct ZSTD_DCtx_s *context;
	uint8_t *packed, *bytes;
	size_t packed_room, bytes_room;
};

/** store_reader_get() - as stretch_store_get(); the bytes are valid until the next call */
const uint8_t *store_reader_get(struct store_reader *reader, const struct stretch_store *store,
				const struct stretch_place *place);
void store_reader_clear(struct store_reader *reader);
#endif
