/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_STREAM_MAP_H
#define LIBTRACE_STREAM_MAP_H
/*
 * stream_map.h - from a stream, a kind of chunks and a number, to where its books are.
 *
 * Every ring of every program is a stream of its own: a recording of a build, with a library before each of its processes, has 100,000 of them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream_slot {
	uint64_t key;
	uint32_t place; /* idx + 1; 0: free */
};

/** struct stream_map - a hash table that is at most half full; zeroed = empty */
struct stream_map {
	struct stream_slot *slots; /* owned */
	size_t nr_slots;	   /* a power of two */
	size_t nr;
};

enum { STREAM_NONE = UINT32_MAX };

/** stream_map_find() - what was put there; STREAM_NONE: nothing */
uint32_t stream_map_find(const struct stream_map *map, uint32_t kind, uint32_t stream);

/** stream_map_put() - a stream that is not there yet. Returns false when there is no memory */
bool stream_map_put(struct stream_map *map, uint32_t kind, uint32_t stream, uint32_t idx);

void stream_map_release(struct stream_map *map);

#endif
