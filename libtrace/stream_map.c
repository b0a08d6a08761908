/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stream_map.h"

#include <stdlib.h>

static uint64_t key_of(uint32_t kind, uint32_t stream)
{
	return (uint64_t)kind << 32 | stream;
}

/* The key's slot, or the free one where it belongs. The table is never full. */
static struct stream_slot *slot_of(const struct stream_map *map, uint64_t key)
{
	size_t at = (size_t)(key * 0x9e3779b97f4a7c15 >> 32) & (map->nr_slots - 1);

	while (map->slots[at].place && map->slots[at].key != key)
		at = (at + 1) & (map->nr_slots - 1);
	return &map->slots[at];
}

static bool grow(struct stream_map *map)
{
	struct stream_map larger = { .nr_slots = map->nr_slots ? 2 * map->nr_slots : 64, .nr = map->nr };

	larger.slots = calloc(larger.nr_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < map->nr_slots; i++)
		if (map->slots[i].place)
			*slot_of(&larger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = larger;
	return true;
}

uint32_t stream_map_find(const struct stream_map *map, uint32_t kind, uint32_t stream)
{
	const struct stream_slot *slot = map->nr_slots ? slot_of(map, key_of(kind, stream)) : NULL;

	return slot && slot->place ? slot->place - 1 : STREAM_NONE;
}

bool stream_map_put(struct stream_map *map, uint32_t kind, uint32_t stream, uint32_t idx)
{
	uint64_t key = key_of(kind, stream);

	if (2 * (map->nr + 1) > map->nr_slots && !grow(map))
		return false;
	*slot_of(map, key) = (struct stream_slot){ key, idx + 1 };
	map->nr++;
	return true;
}

void stream_map_release(struct stream_map *map)
{
	free(map->slots);
	*map = (struct stream_map){ 0 };
}
