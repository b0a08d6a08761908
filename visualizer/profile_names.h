/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_NAMES_H
#define VISUALIZER_PROFILE_NAMES_H
/* profile_names.h - the functions of a profile's frames, and the stacks that are known wholly. */
#include <trace/profile.h>
#include <trace/symbols.h>
#include "checked_memory.h"
#include "report.h"

/**
 * struct frame_name - a function at a frame; its texts belong to profile_names
 * @why: why the function has no name; "" if it has one
 * @source, @line: of the address in it, or of its call of the inlined function; "", 0: not known
 * @path: of the file. @begin, @address: of the containing function and of the code, in the file
 * @is_inlined: the compiler built it into the next one, which follows in the list
 * @begins_thread: threads begin with it
 */
struct frame_name {
	const char *name;
	const char *file;
	const char *path;
	const char *why;
	const char *source;
	uint64_t begin, address;
	uint32_t line;
	bool is_inlined;
	bool begins_thread;
};

/**
 * struct profile_names - @profile: borrowed
 * @symbols: of the report, or @owned_symbols
 * @frames, @nr_frames: borrowed; instead of those of the profile, if @profile is NULL
 * @list: owned; the functions of an address in sequence, the innermost first. All frames at this
 *     address have the same ones: a stack is many frames, and a profile has many stacks
 * @by_content: their first numbers, by all that they have. @by_place: by where a process has the
 *     code, which is at many places of the tree of stacks
 * @first: owned; for each of the first @nr_first frames the number of its innermost function + 1;
 *     0: not known yet
 */
struct profile_names {
	const struct trace_profile *profile;
	const struct trace_profile_frame *frames;
	size_t nr_frames;
	struct trace_symbols *symbols, *owned_symbols;
	struct hash_table by_content, by_place;
	uint32_t *first;
	size_t nr_first;
	struct frame_name *list;
	size_t nr, room;
	struct strings texts;
};

/** struct frame_set - a bit for each frame; zeroed: empty. @words: owned */
struct frame_set {
	uint64_t *words;
	size_t nr_words;
};
/** frame_set_add() - returns false if @frame is in it already */
bool frame_set_add(struct frame_set *set, uint32_t frame);

/** enum profile_owner - the code in a file: of the kernel, of libc and its loader, of a program */
enum profile_owner { OWNER_KERNEL, OWNER_LIBC, OWNER_PROGRAM };
enum profile_owner profile_owner_of(const char *file);

/** profile_symbols_new() - the symbols that @report names code by; owned by the caller */
struct trace_symbols *profile_symbols_new(const struct report *report);
/** profile_names_begin() - names of the profile of @report, by its symbols if it has some */
void profile_names_begin(struct profile_names *names, const struct report *report);
/** profile_names_keep() - a copy of @text that lives as long as @names; equal texts have one */
const char *profile_names_keep(struct profile_names *names, const char *text);
/**
 * profile_functions_of() - the functions of frame @frame: inlined ones, and the one that contains
 * them
 * Returns the number of the innermost one; those of the others follow, if there are @ret_nr > 1.
 */
uint32_t profile_functions_of(struct profile_names *names, uint32_t frame, size_t *ret_nr);
/** profile_name_of() - the function with this number; valid until the next call of the former */
const struct frame_name *profile_name_of(const struct profile_names *names, uint32_t function);
/**
 * profile_names_look_up() - the names of many frames at once, which reads each file once
 * @wanted: a bit for each frame. NULL: all frames
 */
void profile_names_look_up(struct profile_names *names, const struct frame_set *wanted);
/** profile_names_forget() - @names->frames is another list: frames have other numbers now */
void profile_names_forget(struct profile_names *names);
void profile_names_clear(struct profile_names *names);

/**
 * enum stack_end - where the callers of a sample end
 * STACK_WHOLE: at the function with which its thread began. STACK_CUT: there are more than were
 * recorded. STACK_LOST: not known further; then what frame pointers led to is not used
 */
enum stack_end { STACK_WHOLE, STACK_CUT, STACK_LOST, NR_STACK_ENDS };

/**
 * struct profile_stack - @functions: owned; those of the frames that count, innermost first
 * @end: where the way by unwind tables ended
 */
struct profile_stack {
	uint32_t *functions;
	size_t nr, room;
	enum trace_profile_end end;
};
/** profile_stack_of() - the stack whose innermost frame is @number */
enum stack_end profile_stack_of(struct profile_names *names, uint32_t number, struct profile_stack *stack);
/**
 * profile_place_in() - the innermost function of the program in @stack: of libc only if there is no
 * other. NULL: the stack is in the kernel
 */
const struct frame_name *profile_place_in(const struct profile_names *names, const struct profile_stack *stack);
#endif
