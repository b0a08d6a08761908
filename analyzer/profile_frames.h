/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_PROFILE_FRAMES_H
#define ANALYZER_PROFILE_FRAMES_H
/*
 * profile_frames.h - the stacks of samples as a tree: a frame is an address and its caller. Stacks
 * that have their outer frames in common share these.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/profile.h>
#include "number_index.h"

#define NO_FRAME TRACE_PROFILE_NO_FRAME

/** struct frame_owner - a process while it maps no other code: its addresses mean the same */
struct frame_owner {
	uint64_t ts_ns;
	uint32_t tid;
};

/* FRAME_IS_CALLER: behind a call. FRAME_END: enum trace_profile_end, of the outermost frame */
enum { FRAME_IN_KERNEL = 1, FRAME_IS_CLAIMED = 2, FRAME_IS_CUT = 4, FRAME_IS_CALLER = 8, FRAME_END = 16 };
#define FRAME_FLAG_BITS 7
#define FRAME_MAX_OWNER ((1u << (32 - FRAME_FLAG_BITS)) - 1)
/** struct stack_frame - @flags: FRAME_* */
struct stack_frame {
	uint64_t address;
	uint32_t caller;
	uint32_t owner : 32 - FRAME_FLAG_BITS;
	uint32_t flags : FRAME_FLAG_BITS;
};

/** struct frame_tree - zeroed: empty. @failed: -ENOMEM */
struct frame_tree {
	struct stack_frame *frames; /* owned */
	uint32_t nr, room;
	struct frame_owner *owners; /* owned */
	uint32_t nr_owners, owners_room;
	struct number_index by_content;
	int failed;
};

/** frame_owner_add() - the number of a new owner; 0 without memory, and @tree->failed */
uint32_t frame_owner_add(struct frame_tree *tree, uint32_t tid, uint64_t ts_ns);
/**
 * frame_add() - the frame with this content, which is added if it is missing; NO_FRAME: no memory
 */
uint32_t frame_add(struct frame_tree *tree, const struct stack_frame *frame);
/** frame_tree_end() - no frame is added any more: releases what only frame_add() needs */
void frame_tree_end(struct frame_tree *tree);
void frame_tree_clear(struct frame_tree *tree);
#endif
