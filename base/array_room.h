/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_ARRAY_ROOM_H
#define BASE_ARRAY_ROOM_H
/* array_room.h - room for one more entry of an array that grows */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/**
 * array_room() - room for one more than @nr entries of @bytes each
 * @array: owned; may move. @room: entries that it has room for. Returns false: no memory.
 */
static inline bool array_room(void **array, uint32_t nr, uint32_t *room, size_t bytes)
{
	uint32_t more = *room ? 2 * *room : 64;
	void *bigger;

	if (nr < *room)
		return true;
	bigger = more > *room ? reallocarray(*array, more, bytes) : NULL;
	if (!bigger)
		return false;
	*array = bigger;
	*room = more;
	return true;
}
#endif
