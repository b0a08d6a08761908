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

#include <stdlib.h>
#include <string.h>

struct trace_symbols *profile_symbols_new(const struct report *report)
{
	struct trace_error error;
	struct trace_symbols *symbols = trace_symbols_new(report->trace, &error);

	if (!symbols)
		memory_end();
	trace_symbols_set_folder(symbols, report->options->symbols.folder);
	trace_symbols_want_debuginfod(symbols, report->options->symbols.debuginfod);
	return symbols;
}

void profile_names_begin(struct profile_names *names, const struct report *report)
{
	names->profile = report->profile;
	if (!report->symbols)
		names->owned_symbols = profile_symbols_new(report);
	names->symbols = report->symbols ? report->symbols : names->owned_symbols;
}

const char *profile_names_keep(struct profile_names *names, const char *text)
{
	return memory_text(&names->texts, text);
}

/* ---- functions ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool get_frame(const struct profile_names *names, uint32_t number, struct trace_profile_frame *ret_frame)
{
	if (names->profile)
		return trace_profile_get_frame(names->profile, number, ret_frame);
	if (number >= names->nr_frames)
		return false;
	*ret_frame = names->frames[number];
	return true;
}

/* The address behind a call may be of another function. All processes have the kernel's code. */
static struct trace_symbol_place place_of(const struct trace_profile_frame *frame)
{
	return (struct trace_symbol_place){.address = frame->address - (frame->is_caller && frame->address),
					   .ts_ns = frame->in_kernel ? 0 : frame->ts_ns,
					   .tid = frame->in_kernel ? 0 : frame->tid,
					   .hits = 1};
}

/**
 * struct names_place - code at @place of a process, or of the kernel
 * Places with the same hash have neighbouring keys.
 * @first: number of its first function + 1; 0: not known yet. @is_asked: was looked up with others
 */
struct names_place {
	uint64_t key;
	struct trace_symbol_place place; /* @hits 0: the row is new */
	uint32_t first;
	bool in_kernel, is_asked;
};

static bool is_same_place(const struct trace_symbol_place *a, const struct trace_symbol_place *b)
{
	return a->address == b->address && a->ts_ns == b->ts_ns && a->tid == b->tid;
}

/* Valid until the next call. */
static struct names_place *row_of_place(struct profile_names *names, const struct trace_profile_frame *frame)
{
	struct trace_symbol_place place = place_of(frame);
	uint64_t key = hash_u64(hash_u64(place.address) ^ place.ts_ns) ^ place.tid;
	struct names_place *row;

	for (;; key++) {
		key += !key;
		row = memory_row(&names->by_place, sizeof(*row), key);
		if (!row->place.hits)
			break;
		if (is_same_place(&row->place, &place) && row->in_kernel == frame->in_kernel)
			return row;
	}
	row->place = place;
	row->in_kernel = frame->in_kernel;
	return row;
}

/** struct functions_row - functions in the list; those with the same hash have neighbouring keys */
struct functions_row {
	uint64_t key;
	uint32_t first; /* + 1 */
};

static uint64_t name_hash(uint64_t hash, const struct frame_name *name)
{
	const uint64_t parts[] = {(uintptr_t)name->name,
				  (uintptr_t)name->path,
				  (uintptr_t)name->why,
				  (uintptr_t)name->source,
				  name->begin,
				  name->address,
				  (uint64_t)name->line << 1 | name->is_inlined};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		hash = hash_u64(hash ^ parts[i]);
	return hash;
}

/* Their texts belong to profile_names: equal ones are the same pointer. */
static bool is_same(const struct frame_name *a, const struct frame_name *b)
{
	return a->name == b->name && a->path == b->path && a->why == b->why && a->source == b->source &&
	       a->begin == b->begin && a->address == b->address && a->line == b->line && a->is_inlined == b->is_inlined;
}

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

/* The functions from @first to the end of the list are in it before, or stay. */
static uint32_t keep_once(struct profile_names *names, uint32_t first)
{
	size_t nr = names->nr - first;
	uint64_t key = 0;

	for (size_t i = 0; i < nr; i++)
		key = name_hash(key, &names->list[first + i]);
	for (;; key++) {
		struct functions_row *row;
		size_t i = 0;

		key += !key;
		row = memory_row(&names->by_content, sizeof(*row), key);
		if (!row->first) {
			row->first = first + 1;
			for (; i < nr; i++)
				names->list[first + i].begins_thread = begins_thread(names->list[first + i].name);
			return first;
		}
		while (i < nr && is_same(&names->list[row->first - 1 + i], &names->list[first + i]))
			i++;
		if (i < nr)
			continue;
		names->nr = first;
		return row->first - 1;
	}
}

/* The number of the first of the functions at @place. The last of them is not inlined. */
static uint32_t add_names(struct profile_names *names, const struct trace_symbol_place *place, bool in_kernel)
{
	uint32_t first = (uint32_t)names->nr;
	const struct trace_symbol_level *levels, unknown = {.function = "", .source = ""};
	struct trace_symbol symbol = {.file = "", .why = ""};
	size_t nr = trace_symbols_find_levels(names->symbols, place->tid, place->ts_ns, place->address, &symbol,
					      &levels);

	if (!nr) {
		levels = &unknown;
		symbol.file = in_kernel ? "[kernel]" : "";
		symbol.why = in_kernel ? "hidden from the recorder; see kernel.kptr_restrict"
				       : "in no file, and not in /tmp/perf-PID.map";
	}
	for (size_t i = 0; i < nr + !nr; i++) {
		struct frame_name name = {.line = levels[i].line, .is_inlined = i + 1 < nr};

		name.name = profile_names_keep(names, levels[i].function);
		name.source = profile_names_keep(names, levels[i].source);
		name.file = profile_names_keep(names, base_name(symbol.file));
		name.path = profile_names_keep(names, symbol.file);
		name.address = symbol.file_address;
		name.begin = symbol.file_address - symbol.offset;
		name.why = *levels[i].function	 ? ""
			   : *symbol.why	 ? profile_names_keep(names, symbol.why)
			   : *symbol.file == '[' ? "no symbol there"
						 : "no symbol in the file; see --debuginfod";
		names->list = memory_grow(names->list, names->nr, &names->room, sizeof(*names->list));
		names->list[names->nr++] = name;
	}
	return keep_once(names, first);
}

static uint32_t functions_at(struct profile_names *names, uint32_t number)
{
	struct trace_profile_frame frame = {0};
	struct names_place *row;

	get_frame(names, number, &frame);
	row = row_of_place(names, &frame);
	if (!row->first)
		row->first = add_names(names, &row->place, frame.in_kernel) + 1;
	return row->first - 1;
}

bool frame_set_add(struct frame_set *set, uint32_t frame)
{
	size_t word = frame / 64, nr = set->nr_words;
	uint64_t bit = 1ull << frame % 64;

	if (word >= nr) {
		set->nr_words = word + nr / 2 + 64;
		set->words = memory_resize(set->words, nr, set->nr_words, sizeof(*set->words));
	}
	if (set->words[word] & bit)
		return false;
	set->words[word] |= bit;
	return true;
}

static bool has_frame(const struct frame_set *set, uint32_t frame)
{
	return frame / 64 < set->nr_words && set->words[frame / 64] >> frame % 64 & 1;
}

/* About two frames, of different callers, are at one place. */
static void reserve_places(struct profile_names *names, const struct frame_set *wanted)
{
	size_t nr = 0;

	for (size_t i = 0; wanted && i < wanted->nr_words; i++)
		nr += (size_t)__builtin_popcountll(wanted->words[i]);
	table_reserve(&names->by_place, sizeof(struct names_place), (uint32_t)(nr / 2));
}

void profile_names_look_up(struct profile_names *names, const struct frame_set *wanted)
{
	struct trace_symbol_place *places = NULL;
	struct trace_profile_frame frame;
	size_t nr = 0, room = 0;

	reserve_places(names, wanted);
	for (uint32_t number = 0; get_frame(names, number, &frame); number++) {
		struct names_place *row;

		if ((wanted && !has_frame(wanted, number)) || frame.in_kernel)
			continue;
		row = row_of_place(names, &frame);
		if (row->is_asked)
			continue;
		row->is_asked = true;
		places = memory_grow(places, nr, &room, sizeof(*places));
		places[nr++] = row->place;
	}
	if (nr)
		(void)trace_symbols_look_up(names->symbols, places, nr, UINT64_MAX);
	free(places);
}

uint32_t profile_functions_of(struct profile_names *names, uint32_t frame, size_t *ret_nr)
{
	size_t nr = names->nr_first;
	uint32_t first, last;

	if (frame >= nr) {
		names->nr_first = frame + nr / 2 + 64;
		names->first = memory_resize(names->first, nr, names->nr_first, sizeof(*names->first));
	}
	if (!names->first[frame])
		names->first[frame] = functions_at(names, frame) + 1;
	first = last = names->first[frame] - 1;
	while (names->list[last].is_inlined)
		last++;
	*ret_nr = last - first + 1;
	return first;
}

void profile_names_forget(struct profile_names *names)
{
	for (size_t i = 0; i < names->nr_first; i++)
		names->first[i] = 0;
}

const struct frame_name *profile_name_of(const struct profile_names *names, uint32_t function)
{
	return &names->list[function];
}

void profile_names_clear(struct profile_names *names)
{
	names->symbols = NULL;
	names->owned_symbols = trace_symbols_free(names->owned_symbols);
	table_clear(&names->by_content);
	table_clear(&names->by_place);
	free(names->first);
	free(names->list);
	strings_clear(&names->texts);
}

enum profile_owner profile_owner_of(const char *file)
{
	static const char *const stems[] = {"libc.so", "libc-", "libpthread", "ld-linux", "ld-musl", "ld-2"};

	for (size_t i = 0; i < sizeof(stems) / sizeof(stems[0]); i++)
		if (!strncmp(file, stems[i], strlen(stems[i])))
			return OWNER_LIBC;
	return file[0] == '[' ? OWNER_KERNEL : OWNER_PROGRAM;
}

/* ---- stacks ---- */

static void add_functions(struct profile_stack *stack, uint32_t first, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		stack->functions = memory_grow(stack->functions, stack->nr, &stack->room, sizeof(*stack->functions));
		stack->functions[stack->nr++] = first + (uint32_t)i;
	}
}

enum stack_end profile_stack_of(struct profile_names *names, uint32_t number, struct profile_stack *stack)
{
	struct trace_profile_frame frame;
	size_t nr_certain = 0, nr_beyond_main = SIZE_MAX / 2;

	stack->nr = 0;
	stack->end = TRACE_PROFILE_END_POINTERS;
	for (; get_frame(names, number, &frame); number = frame.caller) {
		size_t nr;
		uint32_t first = profile_functions_of(names, number, &nr);
		const struct frame_name *outermost = profile_name_of(names, first + (uint32_t)nr - 1);

		add_functions(stack, first, nr);
		stack->end = frame.end;
		if (frame.end == TRACE_PROFILE_END_WHOLE || outermost->begins_thread)
			return STACK_WHOLE;
		if (frame.is_cut)
			return STACK_CUT;
		if (!frame.is_claimed)
			nr_certain = stack->nr;
		nr_beyond_main++;
		if (!frame.in_kernel && !strcmp(outermost->name, "main"))
			nr_beyond_main = 0;
	}
	/* libc calls main(), in a function whose name a stripped libc does not have */
	if (nr_beyond_main <= 1)
		return STACK_WHOLE;
	stack->nr = nr_certain;
	return STACK_LOST;
}

const struct frame_name *profile_place_in(const struct profile_names *names, const struct profile_stack *stack)
{
	const struct frame_name *found = NULL;

	for (size_t i = 0; i < stack->nr; i++) {
		const struct frame_name *name = profile_name_of(names, stack->functions[i]);
		enum profile_owner owner = profile_owner_of(name->file);

		if (owner == OWNER_PROGRAM)
			return name;
		if (owner == OWNER_LIBC && !found)
			found = name;
	}
	return found;
}
