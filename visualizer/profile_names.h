/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_NAMES_H
#define VISUALIZER_PROFILE_NAMES_H
/* profile_names.h - the functions of a profile's frames, and the stacks that are known wholly. */
#include <trace/profile.h>
#include <trace/symbols.h>
#include "checked_memory.h"

/**
 * struct frame_name - of a frame; its texts belong to profile_names
 * @why: why the function has no name; "" if it has one
 */
struct frame_name {
	uint64_t key; /* number of the frame + 1 */
	const char *name;
	const char *file;
	const char *why;
};

/** struct profile_names - @profile: borrowed; @symbols: owned */
struct profile_names {
	const struct trace_profile *profile;
	struct trace_symbols *symbols;
	struct hash_table by_frame;
	struct strings texts;
};

/** profile_names_keep() - a copy of @text that lives as long as @names; equal texts have one */
const char *profile_names_keep(struct profile_names *names, const char *text);
/** profile_name_of() - the function of frame @number; valid until the next call */
const struct frame_name *profile_name_of(struct profile_names *names, uint32_t number);
void profile_names_clear(struct profile_names *names);

/**
 * enum stack_end - where the callers of a sample end
 * STACK_WHOLE: at the function with which its thread began. STACK_CUT: there are more than were
 * recorded. STACK_LOST: not known further; then what frame pointers led to is not used
 */
enum stack_end { STACK_WHOLE, STACK_CUT, STACK_LOST, NR_STACK_ENDS };

/**
 * struct profile_stack - @frames: owned; the numbers of the frames that count, innermost first
 * @end: where the way by unwind tables ended
 */
struct profile_stack {
	uint32_t *frames;
	size_t nr, room;
	enum trace_profile_end end;
};
/** profile_stack_of() - the stack whose innermost frame is @number */
enum stack_end profile_stack_of(struct profile_names *names, uint32_t number, struct profile_stack *stack);
#endif
