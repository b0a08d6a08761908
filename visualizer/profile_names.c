/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profile_names.c - the functions of frames, and which of the frames of a stack count.
 *
 * Callers that unwind tables led to are right, also if the stack ends before the begin of its
 * thread.
 *
 * A frame pointer is a number in a register. In a function that was built without, the register has
 * anything, and the recorded callers are no callers. A chain of frame pointers that reaches the
 * function with which a thread begins is right. The callers of any other chain are not used, except
 * those of a chain that is longer than what is recorded.
 */
#include "profile_names.h"

#include <string.h>

const char *profile_names_keep(struct profile_names *names, const char *text)
{
	string_id id = strings_intern(&names->texts, text);

	if (names->texts.failed)
		memory_end();
	return strings_text(&names->texts, id);
}

/* ---- functions ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void find_name(struct profile_names *names, uint32_t number, struct frame_name *name)
{
	struct trace_profile_frame frame = {0};
	struct trace_symbol symbol;

	trace_profile_get_frame(names->profile, number, &frame);
	name->name = "";
	/* the address of a caller is behind its call, where another function may begin */
	frame.address -= frame.is_caller && frame.address;
	if (!trace_symbols_find(names->symbols, frame.tid, frame.ts_ns, frame.address, &symbol)) {
		name->file = frame.in_kernel ? "[kernel]" : "";
		name->why = frame.in_kernel ? "the recorder could not read its name"
					    : "no file is known to be mapped there";
		return;
	}
	name->name = profile_names_keep(names, symbol.function);
	name->file = profile_names_keep(names, base_name(symbol.file));
	name->why = *symbol.function ? ""
		    : *symbol.why    ? profile_names_keep(names, symbol.why)
				     : "the file has no symbol there";
}

const struct frame_name *profile_name_of(struct profile_names *names, uint32_t number)
{
	struct frame_name *name = memory_row(&names->by_frame, sizeof(*name), (uint64_t)number + 1);

	if (!name->name)
		find_name(names, number, name);
	return name;
}

void profile_names_clear(struct profile_names *names)
{
	names->symbols = trace_symbols_free(names->symbols);
	table_clear(&names->by_frame);
	strings_clear(&names->texts);
}

/* ---- stacks ---- */

/* The functions with which threads begin, of glibc, musl, Go and the kernel; * is any end. */
static bool begins_thread(const char *function)
{
	static const char *const starts[] = {
		"_start",	   "_start_c",	     "__libc_start_main*", "__libc_start_call_main",
		"start_thread",	   "clone",	     "__clone*",	   "clone3",
		"thread_start",	   "_dl_start_user", "runtime.rt0_go*",	   "runtime.goexit*",
		"runtime.mstart*", "ret_from_fork*", "secondary_startup*"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		size_t bytes = strlen(starts[i]);

		if (starts[i][bytes - 1] == '*' ? !strncmp(function, starts[i], bytes - 1)
						: !strcmp(function, starts[i]))
			return true;
	}
	return false;
}

static void add_frame(struct profile_stack *stack, uint32_t number)
{
	stack->frames = memory_grow(stack->frames, stack->nr, &stack->room, sizeof(*stack->frames));
	stack->frames[stack->nr++] = number;
}

enum stack_end profile_stack_of(struct profile_names *names, uint32_t number, struct profile_stack *stack)
{
	struct trace_profile_frame frame;
	size_t nr_certain = 0, nr_to_main = 0;

	stack->nr = 0;
	stack->end = TRACE_PROFILE_END_POINTERS;
	for (; trace_profile_get_frame(names->profile, number, &frame); number = frame.caller) {
		const char *function = profile_name_of(names, number)->name;

		add_frame(stack, number);
		stack->end = frame.end;
		if (frame.end == TRACE_PROFILE_END_WHOLE || begins_thread(function))
			return STACK_WHOLE;
		if (frame.is_cut)
			return STACK_CUT;
		nr_certain += !frame.is_claimed;
		if (!frame.in_kernel && !strcmp(function, "main"))
			nr_to_main = stack->nr;
	}
	/* libc calls main(), in a function whose name a stripped libc does not have */
	if (nr_to_main && stack->nr <= nr_to_main + 1)
		return STACK_WHOLE;
	stack->nr = nr_certain;
	return STACK_LOST;
}
