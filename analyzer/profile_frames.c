/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_frames.h"

#include <errno.h>
#include <stdlib.h>
#include "array_room.h"

struct frame_row {
	uint64_t key; /* hash of the content; if it is in use, the next free number */
	uint32_t number;
};

static bool make_room(struct frame_tree *tree, void **array, uint32_t nr, uint32_t *room, size_t bytes)
{
	if (array_room(array, nr, room, bytes))
		return true;
	tree->failed = -ENOMEM;
	return false;
}

uint32_t frame_owner_add(struct frame_tree *tree, uint32_t tid, uint64_t ts_ns)
{
	if (!make_room(tree, (void **)&tree->owners, tree->nr_owners, &tree->owners_room, sizeof(*tree->owners)))
		return 0;
	tree->owners[tree->nr_owners] = (struct frame_owner){.tid = tid, .ts_ns = ts_ns};
	return tree->nr_owners++;
}

uint32_t frame_add(struct frame_tree *tree, const struct stack_frame *frame)
{
	uint64_t key = hash_u64(frame->address) ^ hash_u64((uint64_t)frame->caller << 32 |
							   (uint64_t)frame->owner << FRAME_FLAG_BITS | frame->flags);
	struct frame_row *row;

	for (;; key++) {
		const struct stack_frame *old;

		key += !key;
		row = table_add(&tree->by_content, sizeof(*row), key);
		if (!row)
			break;
		if (!row->number) {
			if (!make_room(tree, (void **)&tree->frames, tree->nr, &tree->room, sizeof(*tree->frames)))
				return NO_FRAME;
			tree->frames[tree->nr] = *frame;
			row->number = ++tree->nr;
			return row->number - 1;
		}
		old = &tree->frames[row->number - 1];
		if (old->address == frame->address && old->caller == frame->caller && old->owner == frame->owner &&
		    old->flags == frame->flags)
			return row->number - 1;
	}
	tree->failed = -ENOMEM;
	return NO_FRAME;
}

void frame_tree_clear(struct frame_tree *tree)
{
	free(tree->frames);
	free(tree->owners);
	table_clear(&tree->by_content);
	*tree = (struct frame_tree){0};
}
