/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_frames.h"

#include <errno.h>
#include <stdlib.h>
#include "array_room.h"
#include "hash_table.h"

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

static uint64_t hash_of(const struct stack_frame *frame)
{
	return hash_u64(hash_u64(frame->address) ^
			((uint64_t)frame->caller << 32 | (uint64_t)frame->owner << FRAME_FLAG_BITS | frame->flags));
}

static uint64_t hash_of_number(const void *tree, uint32_t number)
{
	return hash_of(&((const struct frame_tree *)tree)->frames[number]);
}

static bool is_same(const struct stack_frame *a, const struct stack_frame *b)
{
	return a->address == b->address && a->caller == b->caller && a->owner == b->owner && a->flags == b->flags;
}

uint32_t frame_add(struct frame_tree *tree, const struct stack_frame *frame)
{
	uint64_t hash = hash_of(frame);
	uint32_t number;

	if (tree->failed) /* its owner may be missing */
		return NO_FRAME;
	if (!number_index_room(&tree->by_content, hash_of_number, tree)) {
		tree->failed = -ENOMEM;
		return NO_FRAME;
	}
	for (uint32_t step = 0; number_index_has(&tree->by_content, hash, step, &number); step++)
		if (is_same(&tree->frames[number], frame))
			return number;
	if (!make_room(tree, (void **)&tree->frames, tree->nr, &tree->room, sizeof(*tree->frames)))
		return NO_FRAME;
	tree->frames[tree->nr] = *frame;
	number_index_add(&tree->by_content, hash, tree->nr);
	return tree->nr++;
}

void frame_tree_end(struct frame_tree *tree)
{
	number_index_clear(&tree->by_content);
}

void frame_tree_clear(struct frame_tree *tree)
{
	free(tree->frames);
	free(tree->owners);
	number_index_clear(&tree->by_content);
	*tree = (struct frame_tree){0};
}
