/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait_places.c - in which function a thread waited.
 *
 * Each share of a profile with a stack of a wait is counted for its process, for its thread, and
 * for all threads of its name, below the words that the tables of waits have. The stacks of a row
 * are translated to functions when a report asks for the row.
 */
#include "wait_places.h"

#include <stdlib.h>
#include <string.h>
#include "profile_names.h"
#include "thread_choice.h"
#include "value_text.h"

#define ALL_OF_IT 99.5 /* percent: less is printed */

/** struct stack_time - a stack by its innermost frame, and the time of waits with it */
struct stack_time {
	uint32_t frame;
	uint64_t ns;
};

struct place_row {
	uint64_t key;		   /* of owner and words */
	struct stack_time *stacks; /* owned */
	size_t nr, room;
	uint64_t ns; /* with or without stacks */
	bool is_known;
	struct wait_place place;
};

struct wait_places {
	struct profile_names names;
	struct strings keys;
	struct hash_table rows;
	struct profile_stack stack;
};

/* ---- rows ---- */

static struct place_row *row_of(struct wait_places *places, struct string *key)
{
	struct place_row *row = memory_row(&places->rows, sizeof(*row), memory_key(&places->keys, string_text(key)));

	string_free(key);
	return row;
}

static struct place_row *row_of_owner(struct wait_places *places, const void *owner, const struct trace_wait *wait)
{
	struct string key = {0};

	string_addf(&key, "%p %d %d %u %p %s\x01%s\x01%s", owner, (int)wait->kind, wait->idle, wait->pid,
		    (const void *)wait->thread, wait->target ? wait->target : "", wait->via ? wait->via : "",
		    wait->path ? wait->path : "");
	return row_of(places, &key);
}

static struct place_row *row_of_program(struct wait_places *places, const struct trace_thread *thread,
					const struct trace_wait *wait)
{
	struct string key = {0};

	string_addf(&key, "%s\x01%d %u %s\x01%s", trace_thread_comm(thread), (int)wait->kind, wait->pid,
		    wait->target ? wait->target : "", wait->via ? wait->via : "");
	return row_of(places, &key);
}

static struct place_row *row_of_own_code(struct wait_places *places, const struct trace_process *process)
{
	struct string key = {0};

	string_addf(&key, "%p own code", (const void *)process);
	return row_of(places, &key);
}

static void add_stack(struct place_row *row, const struct trace_profile_share *share)
{
	row->ns += share->ns;
	if (share->frame == TRACE_PROFILE_NO_FRAME)
		return;
	row->stacks = memory_grow(row->stacks, row->nr, &row->room, sizeof(*row->stacks));
	row->stacks[row->nr++] = (struct stack_time){.frame = share->frame, .ns = share->ns};
}

static void add_share(struct wait_places *places, const struct trace_profile_share *share)
{
	const struct trace_wait wait = {.kind = share->kind,
					.target = share->target,
					.pid = share->other ? trace_process_pid(share->other) : 0,
					.via = share->via,
					.path = share->path,
					.idle = share->idle,
					.thread = share->other_thread};

	if (share->state == TRACE_STATE_USER)
		add_stack(row_of_own_code(places, trace_thread_process(share->thread)), share);
	if (share->state != TRACE_STATE_BLOCKED)
		return;
	add_stack(row_of_owner(places, trace_thread_process(share->thread), &wait), share);
	add_stack(row_of_owner(places, share->thread, &wait), share);
	add_stack(row_of_program(places, share->thread, &wait), share);
}

struct wait_places *wait_places_new(const struct report *report)
{
	struct trace_profile_numbers numbers = {0};
	struct trace_profile_share share;
	struct wait_places *places;

	if (report->profile)
		trace_profile_get_numbers(report->profile, &numbers);
	if (!numbers.wait_stacks && !numbers.samples)
		return NULL;
	places = memory_take(1, sizeof(*places));
	profile_names_begin(&places->names, report);
	for (size_t i = 0; trace_profile_get_share(report->profile, i, &share); i++)
		if (thread_is_chosen(report, share.thread))
			add_share(places, &share);
	return places;
}

struct wait_places *wait_places_free(struct wait_places *places)
{
	struct place_row *row = NULL;

	if (!places)
		return NULL;
	while ((row = table_next(&places->rows, sizeof(*row), row)))
		free(row->stacks);
	table_clear(&places->rows);
	strings_clear(&places->keys);
	profile_names_clear(&places->names);
	free(places->stack.functions);
	free(places);
	return NULL;
}

/* ---- functions ---- */

/* The innermost function of the program: of libc only if there is no other. */
static bool find_function(struct wait_places *places, uint32_t frame, struct wait_place *ret_place)
{
	bool is_found = false;

	profile_stack_of(&places->names, frame, &places->stack);
	for (size_t i = 0; i < places->stack.nr; i++) {
		const struct frame_name *name = profile_name_of(&places->names, places->stack.functions[i]);
		enum profile_owner owner = profile_owner_of(name->file);

		if (owner == OWNER_KERNEL || (is_found && owner == OWNER_LIBC))
			continue;
		*ret_place = (struct wait_place){.function = name->name, .file = name->file};
		is_found = true;
		if (owner == OWNER_PROGRAM)
			break;
	}
	return is_found;
}

struct function_time {
	uint64_t key; /* of its texts */
	struct wait_place place;
};

static struct wait_place longest_of(struct wait_places *places, struct place_row *row)
{
	struct hash_table functions = {0};
	struct wait_place longest = {.file = "", .of_ns = row->ns};

	for (size_t i = 0; i < row->nr; i++) {
		struct function_time *time;
		struct wait_place place;
		struct string key = {0};

		if (!find_function(places, row->stacks[i].frame, &place))
			continue;
		string_addf(&key, "%s\x01%s", place.function, place.file);
		time = memory_row(&functions, sizeof(*time), memory_key(&places->keys, string_text(&key)));
		string_free(&key);
		place.ns = time->place.ns + row->stacks[i].ns;
		place.of_ns = row->ns;
		time->place = place;
		if (place.ns > longest.ns)
			longest = place;
	}
	table_clear(&functions);
	return longest;
}

static struct wait_place place_of(struct wait_places *places, struct place_row *row)
{
	if (!row->is_known)
		row->place = longest_of(places, row);
	row->is_known = true;
	return row->place;
}

struct wait_place wait_place_of_process(struct wait_places *places, const struct trace_process *process,
					const struct trace_wait *wait)
{
	return places ? place_of(places, row_of_owner(places, process, wait)) : (struct wait_place){.file = ""};
}

struct wait_place wait_place_of_thread(struct wait_places *places, const struct trace_thread *thread,
				       const struct trace_wait *wait)
{
	return places ? place_of(places, row_of_owner(places, thread, wait)) : (struct wait_place){.file = ""};
}

struct wait_place wait_place_of_program(struct wait_places *places, const struct trace_path_segment *segment)
{
	const struct trace_wait wait = {.kind = segment->kind,
					.target = segment->target,
					.pid = segment->other ? trace_process_pid(segment->other) : 0,
					.via = segment->via};

	if (!places || segment->state != TRACE_STATE_BLOCKED)
		return (struct wait_place){.file = ""};
	return place_of(places, row_of_program(places, segment->thread, &wait));
}

struct wait_place run_place_of_process(struct wait_places *places, const struct trace_process *process)
{
	return places ? place_of(places, row_of_own_code(places, process)) : (struct wait_place){.file = ""};
}

void wait_place_text(const struct wait_place *place, struct string *text)
{
	double part = percent(place->ns, place->of_ns);

	if (!place->function && place->of_ns)
		string_add(text, "(not known)"); /* other waits of the trace are */
	if (!place->function)
		return;
	string_add(text, *place->function ? place->function : "(no name)");
	if (part < ALL_OF_IT)
		string_addf(text, " %.0f %%", part);
}
