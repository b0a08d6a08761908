/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_NUMBER_INDEX_H
#define BASE_NUMBER_INDEX_H
/*
 * number_index.h - finds an entry of an array by its content
 *
 * A hash_table has at least 16 bytes for each of its rows, free or not. An entry that is found by
 * its content has its key in the array itself, so the index only needs its number: 4 bytes. A
 * profile of a million samples has hundreds of thousands of such entries.
 *
 *	for (uint32_t step = 0; number_index_has(index, hash, step, &number); step++)
 *		if (is_same(&array[number], wanted))
 *			return number;
 *	number_index_add(index, hash, new);
 */
#include <stdbool.h>
#include <stdint.h>

/** struct number_index - zeroed: empty. @slots: owned; a number + 1; 0: free */
struct number_index {
	uint32_t *slots;
	uint32_t used, capacity; /* of slots: 0, or a power of two */
};

/** number_hash_fn() - the hash of entry @number of the array that @context has */
typedef uint64_t (*number_hash_fn)(const void *context, uint32_t number);

/**
 * number_index_room() - make room for one more entry, before the search for it
 * Returns false without memory. Then nothing has changed.
 */
bool number_index_room(struct number_index *index, number_hash_fn hash_of, const void *context);

/** number_index_has() - the entry at step @step of the search for @hash; false: there is no more */
static inline bool number_index_has(const struct number_index *index, uint64_t hash, uint32_t step,
				    uint32_t *ret_number)
{
	uint32_t slot = index->capacity ? index->slots[((uint32_t)hash + step) & (index->capacity - 1)] : 0;

	*ret_number = slot - 1;
	return slot;
}

/** number_index_add() - after number_index_room() and a search that ended */
void number_index_add(struct number_index *index, uint64_t hash, uint32_t number);
void number_index_clear(struct number_index *index);

#endif
