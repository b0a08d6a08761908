/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait_places.c - in which function a thread waited, and in which it used a CPU.
 *
 * Each share of a profile with a stack of a wait is counted for its process, for its thread, and
 * for all threads of its name, below the words that the tables of waits have. A share of CPU time
 * is counted for its process and its thread. The stacks of a row are translated to functions when
 * a report asks for the row.
 */
#include "wait_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "profile_names.h"
#include "profile_waker.h"
#include "thread_choice.h"
#include "value_text.h"

#define ALL_OF_IT 99.5 /* percent: less is printed */
#define MOSTLY	  25   /* percent of CPU time: less is not printed */

/** struct stack_time - a stack by its innermost frame, and the time of waits with it and a waker */
struct stack_time {
	uint32_t frame;
	uint64_t ns;
	enum trace_profile_waker waker_kind;
	uint32_t waker_frame;
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
	bool has_waits, has_cpu;
	struct hash_table cpu; /* struct place_row by owner and part */
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

static void add_program_key(struct string *key, const struct trace_thread *thread, const struct trace_wait *wait)
{
	string_addf(key, "%s\x01%d %u %s\x01%s", trace_thread_comm(thread), (int)wait->kind, wait->pid,
		    wait->target ? wait->target : "", wait->via ? wait->via : "");
}

static struct place_row *row_of_program(struct wait_places *places, const struct trace_thread *thread,
					const struct trace_wait *wait)
{
	struct string key = {0};

	add_program_key(&key, thread, wait);
	return row_of(places, &key);
}

static void add_stack(struct place_row *row, const struct trace_profile_share *share)
{
	row->ns += share->ns;
	if (share->frame == TRACE_PROFILE_NO_FRAME)
		return;
	row->stacks = memory_grow(row->stacks, row->nr, &row->room, sizeof(*row->stacks));
	row->stacks[row->nr++] = (struct stack_time){.frame = share->frame,
						     .ns = share->ns,
						     .waker_kind = share->waker_kind,
						     .waker_frame = share->waker_frame};
}

static enum cpu_part part_of(enum trace_state state)
{
	switch (state) {
	case TRACE_STATE_USER:
	case TRACE_STATE_RUNNING:
		return CPU_OWN_CODE;
	case TRACE_STATE_SYSCALL:
		return CPU_KERNEL;
	case TRACE_STATE_TRAP:
		return CPU_TRAPS;
	default:
		return CPU_ALL; /* no CPU time of the thread */
	}
}

/* Owners are at addresses of 8 bytes. */
static uint64_t cpu_key(const void *owner, enum cpu_part part)
{
	return (uintptr_t)owner | (unsigned int)part;
}

static void add_cpu_share(struct wait_places *places, const struct trace_profile_share *share)
{
	const void *const owners[] = {share->thread, trace_thread_process(share->thread)};
	enum cpu_part part = part_of(share->state);

	for (size_t i = 0; places->has_cpu && part != CPU_ALL && i < sizeof(owners) / sizeof(owners[0]); i++)
		add_stack(memory_row(&places->cpu, sizeof(struct place_row), cpu_key(owners[i], part)), share);
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

	add_cpu_share(places, share);
	if (share->state != TRACE_STATE_BLOCKED || !places->has_waits)
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
	places->has_waits = numbers.wait_stacks;
	places->has_cpu = numbers.samples;
	profile_names_begin(&places->names, report);
	for (size_t i = 0; trace_profile_get_share(report->profile, i, &share); i++)
		if (thread_is_chosen(report, share.thread))
			add_share(places, &share);
	return places;
}

struct wait_places *wait_places_told(void)
{
	struct wait_places *places = memory_take(1, sizeof(*places));

	places->has_cpu = true;
	return places;
}

static struct wait_place row_tell(struct wait_places *places, struct place_row *row, const struct wait_place *place)
{
	row->place = *place;
	row->place.function = memory_text(&places->keys, place->function);
	row->place.file = "";
	row->place.woken_in = memory_text(&places->keys, place->woken_in ? place->woken_in : "");
	row->is_known = true;
	return row->place;
}

struct wait_place wait_places_tell(struct wait_places *places, const struct trace_thread *thread,
				   const struct wait_place *place)
{
	return row_tell(places, memory_row(&places->cpu, sizeof(struct place_row), cpu_key(thread, CPU_OWN_CODE)),
			place);
}

struct wait_place wait_places_tell_wait(struct wait_places *places, const char *key, const struct wait_place *place)
{
	places->has_waits = true;
	return row_tell(places, memory_row(&places->rows, sizeof(struct place_row), memory_key(&places->keys, key)),
			place);
}

struct wait_places *wait_places_free(struct wait_places *places)
{
	struct place_row *row = NULL;

	if (!places)
		return NULL;
	while ((row = table_next(&places->rows, sizeof(*row), row)))
		free(row->stacks);
	while ((row = table_next(&places->cpu, sizeof(*row), row)))
		free(row->stacks);
	table_clear(&places->rows);
	table_clear(&places->cpu);
	strings_clear(&places->keys);
	profile_names_clear(&places->names);
	free(places->stack.functions);
	free(places);
	return NULL;
}

bool wait_places_know(const struct wait_places *places, bool of_cpu)
{
	return places && (of_cpu ? places->has_cpu : places->has_waits);
}

/* ---- functions ---- */

/* The innermost function of the program: of libc only if there is no other. */
static bool find_function(struct wait_places *places, uint32_t frame, struct wait_place *ret_place)
{
	const struct frame_name *name;

	profile_stack_of(&places->names, frame, &places->stack);
	name = profile_place_in(&places->names, &places->stack);
	if (name)
		*ret_place = (struct wait_place){.function = name->name, .file = name->file};
	return name != NULL;
}

struct function_time {
	uint64_t key; /* of its texts */
	struct wait_place place;
};

static struct wait_place longest_of(struct wait_places *places, struct place_row *row)
{
	struct hash_table functions = {0};
	struct wait_place longest = {.file = "", .of_ns = row->ns};
	struct trace_error error;

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
	/* without stacks there may be no symbols: wait_places_told() */
	if (row->nr && trace_symbols_error(places->names.symbols, &error) == -ENOMEM)
		memory_end();
	return longest;
}

/* The function in which most of the waits of @row were ended. */
static void find_waker(struct wait_places *places, const struct place_row *row, struct wait_place *place)
{
	struct pointers owner = {0};
	struct woken_in *list = NULL;
	const struct woken_in *most;

	for (size_t i = 0; i < row->nr; i++) {
		const struct trace_profile_share share = {.waker_kind = row->stacks[i].waker_kind,
							  .waker_frame = row->stacks[i].waker_frame};

		woken_in_add(&list, profile_waker_name(&places->names, &share, &places->stack), row->stacks[i].ns,
			     &owner);
	}
	most = woken_in_most(list);
	place->woken_in = most ? most->name : "";
	place->woken_in_ns = most ? most->ns : 0;
	pointers_free_all(&owner);
}

static struct wait_place place_of(struct wait_places *places, struct place_row *row)
{
	if (row->is_known)
		return row->place;
	row->place = longest_of(places, row);
	find_waker(places, row, &row->place);
	row->is_known = true;
	return row->place;
}

struct wait_place wait_place_of_process(struct wait_places *places, const struct trace_process *process,
					const struct trace_wait *wait)
{
	if (!wait_places_know(places, false))
		return (struct wait_place){.file = ""};
	return place_of(places, row_of_owner(places, process, wait));
}

struct wait_place wait_place_of_thread(struct wait_places *places, const struct trace_thread *thread,
				       const struct trace_wait *wait)
{
	if (!wait_places_know(places, false))
		return (struct wait_place){.file = ""};
	return place_of(places, row_of_owner(places, thread, wait));
}

static struct trace_wait wait_of(const struct trace_path_segment *segment)
{
	return (struct trace_wait){.kind = segment->kind,
				   .target = segment->target,
				   .pid = segment->other ? trace_process_pid(segment->other) : 0,
				   .via = segment->via};
}

void wait_place_key(const struct trace_path_segment *segment, struct string *key)
{
	const struct trace_wait wait = wait_of(segment);

	add_program_key(key, segment->thread, &wait);
}

struct wait_place wait_place_of_program(struct wait_places *places, const struct trace_path_segment *segment)
{
	const struct trace_wait wait = wait_of(segment);

	if (!wait_places_know(places, false) || segment->state != TRACE_STATE_BLOCKED)
		return (struct wait_place){.file = ""};
	return place_of(places, row_of_program(places, segment->thread, &wait));
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

void wait_place_waker_text(const struct wait_place *place, struct string *text)
{
	const struct woken_in one = {.name = place->woken_in, .ns = place->woken_in_ns};

	woken_in_text(place->woken_in_ns ? &one : NULL, place->of_ns, text);
}

/* ---- CPU time ---- */

static void add_row(struct place_row *sum, const struct place_row *row)
{
	for (size_t i = 0; i < row->nr; i++) {
		sum->stacks = memory_grow(sum->stacks, sum->nr, &sum->room, sizeof(*sum->stacks));
		sum->stacks[sum->nr++] = row->stacks[i];
	}
	sum->ns += row->ns;
}

static void add_parts(struct wait_places *places, struct place_row *sum, const void *owner, enum cpu_part part)
{
	for (enum cpu_part one = CPU_OWN_CODE; one < NR_CPU_PARTS; one++) {
		const struct place_row *row = one == part || part == CPU_ALL
						      ? table_find(&places->cpu, sizeof(*row), cpu_key(owner, one))
						      : NULL;

		if (row)
			add_row(sum, row);
	}
}

static struct wait_place place_of_sum(struct wait_places *places, struct place_row *sum)
{
	struct wait_place place = longest_of(places, sum);

	free(sum->stacks);
	return place;
}

static struct wait_place cpu_place_of(struct wait_places *places, const void *owner, enum cpu_part part)
{
	const struct place_row *told;
	struct place_row sum = {0};

	if (!wait_places_know(places, true))
		return (struct wait_place){.file = ""};
	told = table_find(&places->cpu, sizeof(*told), cpu_key(owner, part));
	if (told && told->is_known)
		return told->place;
	add_parts(places, &sum, owner, part);
	return place_of_sum(places, &sum);
}

struct wait_place cpu_place_of_process(struct wait_places *places, const struct trace_process *process,
				       enum cpu_part part)
{
	return cpu_place_of(places, process, part);
}

struct wait_place cpu_place_of_thread(struct wait_places *places, const struct trace_thread *thread, enum cpu_part part)
{
	return cpu_place_of(places, thread, part);
}

struct wait_place cpu_place_of_title(struct wait_places *places, const struct trace_analysis *analysis,
				     const char *title)
{
	struct place_row sum = {0};

	if (!wait_places_know(places, true))
		return (struct wait_place){.file = ""};
	for (size_t i = 0; i < trace_nr_processes(analysis); i++) {
		const struct trace_process *process = trace_get_process(analysis, i);

		if (!strcmp(trace_process_title(process), title))
			add_parts(places, &sum, process, CPU_ALL);
	}
	return place_of_sum(places, &sum);
}

void cpu_place_text(const struct wait_place *place, struct string *text)
{
	if (place->function && *place->function && percent(place->ns, place->of_ns) >= MOSTLY)
		wait_place_text(place, text);
}
