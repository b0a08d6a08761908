/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_STREAM_MAP_H
#define LIBTRACE_STREAM_MAP_H
/*
 * stream_map.h - map from kind of chunk and stream number to the index of the stream's accounting.
 *
 * Each ring of each program is a stream of its own. A recording of a build, with a preloaded
 * library in every process, has 100,000 of them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "hash.h"

struct stream_slot {
	uint64_t key;
	uint32_t idx_plus_1; /* idx + 1; 0: free */
};

/**
 * struct stream_map - a hash table, at most half full; nearly full if there is no memory for a
 * larger one. Initialise with zeroes.
 */
struct stream_map {
	struct stream_slot *slots; /* owned */
	size_t nr_slots;	   /* a power of two */
	size_t nr;
};

enum { STREAM_NONE = UINT32_MAX };

static inline uint64_t stream_map_key(uint32_t kind, uint32_t stream)
{
	return (uint64_t)kind << 32 | stream;
}

/* The key's slot, or the free slot where it belongs. The table is never full. */
static inline struct stream_slot *stream_map_slot(const struct stream_map *map, uint64_t key)
{
	size_t at = (size_t)hash_u64(key) & (map->nr_slots - 1);

	while (map->slots[at].idx_plus_1 && map->slots[at].key != key)
		at = (at + 1) & (map->nr_slots - 1);
	return &map->slots[at];
}

/**
 * stream_map_find() - the index that was put; STREAM_NONE: none. Opening a trace calls it for every
 * chunk
 */
static inline uint32_t stream_map_find(const struct stream_map *map, uint32_t kind, uint32_t stream)
{
	const struct stream_slot *slot = map->nr_slots ? stream_map_slot(map, stream_map_key(kind, stream)) : NULL;

	return slot && slot->idx_plus_1 ? slot->idx_plus_1 - 1 : STREAM_NONE;
}

/**
 * stream_map_begin() - allocate room for the first streams, so that they need no memory later.
 * Returns false when there is no memory
 */
bool stream_map_begin(struct stream_map *map);

/**
 * stream_map_put() - add a stream that is not in the map yet. Returns false when there is no memory
 */
bool stream_map_put(struct stream_map *map, uint32_t kind, uint32_t stream, uint32_t idx);

/** stream_map_clear() - remove all streams; as many as before find room without memory */
void stream_map_clear(struct stream_map *map);
void stream_map_release(struct stream_map *map);

#endif
