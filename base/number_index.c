/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "number_index.h"

#include <stdlib.h>
#include <string.h>
#include "pages.h"

#define FIRST_CAPACITY 64u

static void put(uint32_t *slots, uint32_t capacity, uint64_t hash, uint32_t slot)
{
	uint32_t at = (uint32_t)hash & (capacity - 1);

	while (slots[at])
		at = (at + 1) & (capacity - 1);
	slots[at] = slot;
}

bool number_index_room(struct number_index *index, number_hash_fn hash_of, const void *context)
{
	uint32_t capacity = index->capacity ? 2 * index->capacity : FIRST_CAPACITY, *slots;

	if ((index->used + 1) * 4ull <= index->capacity * 3ull)
		return true;
	slots = capacity ? pages_large(capacity * sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	memset(slots, 0, capacity * sizeof(*slots));
	for (uint32_t i = 0; i < index->capacity; i++)
		if (index->slots[i])
			put(slots, capacity, hash_of(context, index->slots[i] - 1), index->slots[i]);
	free(index->slots);
	index->slots = slots;
	index->capacity = capacity;
	return true;
}

void number_index_add(struct number_index *index, uint64_t hash, uint32_t number)
{
	put(index->slots, index->capacity, hash, number + 1);
	index->used++;
}

void number_index_clear(struct number_index *index)
{
	free(index->slots);
	*index = (struct number_index){0};
}
