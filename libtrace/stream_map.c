/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stream_map.c - the growth of the map from streams to indexes. */
#include "stream_map.h"

#include <stdlib.h>
#include <string.h>

static bool grow(struct stream_map *map)
{
	struct stream_map larger = {.nr_slots = map->nr_slots ? 2 * map->nr_slots : 64, .nr = map->nr};

	larger.slots = calloc(larger.nr_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < map->nr_slots; i++)
		if (map->slots[i].idx_plus_1)
			*stream_map_slot(&larger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = larger;
	return true;
}

bool stream_map_begin(struct stream_map *map)
{
	return map->nr_slots || grow(map);
}

bool stream_map_put(struct stream_map *map, uint32_t kind, uint32_t stream, uint32_t idx)
{
	uint64_t key = stream_map_key(kind, stream);

	if (2 * (map->nr + 1) > map->nr_slots && !grow(map) && map->nr + 1 >= map->nr_slots - map->nr_slots / 8)
		return false;
	*stream_map_slot(map, key) = (struct stream_slot){key, idx + 1};
	map->nr++;
	return true;
}

void stream_map_clear(struct stream_map *map)
{
	memset(map->slots, 0, map->nr_slots * sizeof(*map->slots));
	map->nr = 0;
}

void stream_map_release(struct stream_map *map)
{
	free(map->slots);
	*map = (struct stream_map){0};
}
