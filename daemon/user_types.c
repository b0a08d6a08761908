/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/writer.h>

#include "clock.h"
#include "error_set.h"
#include "format_text.h"
#include "user_conditions.h"
#include "user_program_state.h"

#define EVENTS_MIN 32 /* the first allocation; each further one is twice as large */

static bool is_wanted(const struct user_program *program, const char *name)
{
	const struct user_recording *recording = program->recording;

	return !program->off && !recording->halted && select_wants_user(recording->selection, name);
}

/* The entry of event @id. NULL: no memory, or the user has used up the budget. */
static struct user_local *local_of(struct user_program *program, uint32_t id)
{
	uint32_t nr = program->nr_events ? program->nr_events : EVENTS_MIN;
	struct user_local *events;
	uint64_t bytes;

	if (id < program->nr_events)
		return &program->events[id];
	while (nr <= id)
		nr *= 2;
	nr = nr < program->mapping.max_events ? nr : program->mapping.max_events;
	bytes = (nr - program->nr_events) * sizeof(*events);
	if (!budget_charge(program->recording->budget, program->payer, BUDGET_HEAP, bytes))
		return NULL;
	program->heap_bytes += bytes;
	events = realloc(program->events, nr * sizeof(*events));
	if (!events)
		return NULL;
	memset(events + program->nr_events, 0, bytes);
	program->events = events;
	program->nr_events = nr;
	return &events[id];
}

static char *keep_name(struct user_program *program, const char *name)
{
	uint64_t bytes = strlen(name) + 1 + sizeof(void *); /* and the overhead of malloc() */

	if (!budget_charge(program->recording->budget, program->payer, BUDGET_HEAP, bytes))
		return NULL;
	program->heap_bytes += bytes;
	return strdup(name);
}

/* Charges one event type to the program and to its user. */
static int charge_type(const struct user_program *program, struct trace_error *ret_error)
{
	struct budget *budget = program->recording->budget;
	uint64_t max = budget_types_per_program(budget, program->payer);

	if (program->nr_types >= max)
		return error_set(ret_error, -EDQUOT, "process %d (%s) reached the limit of one program, %s event types",
				 (int)program->identity.pid, program->identity.exe, text_count(max).s);
	if (!budget_charge(budget, program->payer, BUDGET_TYPES, 1))
		return error_set(ret_error, -EDQUOT, "user %u, or all users together, reached the limit of event types",
				 (unsigned int)program->payer);
	return 0;
}

/*
 * Gets the id of an event in the trace. A program and the programs of one user may add a limited
 * number of types; a type that the trace has already costs nothing. The writer numbers types in
 * sequence: a new type has a higher number than all before.
 */
static int describe(struct user_program *program, const struct trace_event_type *type, uint16_t *ret_global,
		    struct trace_error *ret_error)
{
	struct user_recording *recording = program->recording;
	int err = charge_type(program, ret_error);

	if (err) {
		*ret_global = trace_writer_known_type(recording->writer, type);
		return *ret_global ? 0 : err;
	}
	err = trace_writer_event_type(recording->writer, type, ret_global, ret_error);
	if (err || *ret_global <= recording->last_type) {
		budget_release(recording->budget, program->payer, BUDGET_TYPES, 1);
	} else {
		recording->last_type = *ret_global;
		program->nr_types++;
	}
	return err;
}

/*
 * If an event's type gets no id in the trace, the program records the event nevertheless. Each such
 * record counts as lost.
 */
static void take_event(struct user_program *program, const struct user_description *description)
{
	struct user_local *event = local_of(program, description->id);
	bool is_new = event && !event->name;
	struct trace_error error;

	if (!event || event->global || (!is_new && !program->recording->flight))
		return; /* an id is never used again */
	if (is_new)
		event->name = keep_name(program, description->name);
	if (event->name && program->recording->writer &&
	    describe(program, &description->type, &event->global, &error)) {
		event->global = 0;
		if (!program->recording->undescribed++)
			program->recording->why = error;
	}
	if (!event->name || !is_new)
		return;
	event->unfit = !user_condition_set(program, event, description);
	if (!event->unfit)
		select_note_user(program->recording->selection, event->name);
	event->wanted = !event->unfit && is_wanted(program, event->name);
	if (!program->released)
		user_mapping_set_flag(&program->mapping, description->id,
				      event->wanted ? user_condition_flag(program, event) : 0);
}

/* Ids ascend in the registry, so all events up to the last one have their flags. */
static void publish_seen(const struct user_program *program, uint32_t id)
{
	struct user_memory *memory = user_mapping_memory(&program->mapping);

	if (!program->released && id > __atomic_load_n(&memory->seen_id, __ATOMIC_RELAXED))
		__atomic_store_n(&memory->seen_id, id, __ATOMIC_RELEASE);
}

bool user_types_look(struct user_program *program)
{
	struct user_description description;
	bool found = false;

	if (program->released || program->counts_closed)
		return false;
	while (user_mapping_next_event(&program->mapping, &description)) {
		take_event(program, &description);
		publish_seen(program, description.id);
		found = true;
	}
	return found;
}

void user_types_set_new_flag(const struct user_program *program)
{
	struct user_memory *memory = user_mapping_memory(&program->mapping);
	bool on = !program->off && !program->recording->halted && select_wants_any_user(program->recording->selection);

	__atomic_store_n(&memory->new_flag, on, __ATOMIC_RELAXED);
}

/*
 * Records made before a flag went off are still in the rings, and they are wanted. So a flag that
 * goes off does not filter them. Only records made before the event was selected for the first time
 * are left out.
 */
void user_types_switch(struct user_program *program)
{
	user_types_set_new_flag(program);
	user_conditions_switch(program);
	for (uint32_t id = 1; id < program->nr_events; id++) {
		struct user_local *event = &program->events[id];
		bool on;

		if (!event->name)
			continue;
		if (!event->unfit)
			select_note_user(program->recording->selection, event->name);
		on = !event->unfit && is_wanted(program, event->name);
		if (on && !event->wanted)
			event->wanted_ns = clock_now();
		event->wanted |= on;
		user_mapping_set_flag(&program->mapping, id, on ? user_condition_flag(program, event) : 0);
	}
}

void user_types_describe_again(struct user_program *program)
{
	struct user_description description;

	program->nr_types = 0;
	for (uint32_t id = 1; id < program->nr_events; id++)
		program->events[id].global = 0;
	program->mapping.registry_used = 0;
	program->mapping.registry_broken = false;
	while (user_mapping_next_event(&program->mapping, &description))
		take_event(program, &description);
}

void user_types_free(struct user_program *program)
{
	for (uint32_t id = 0; id < program->nr_events; id++) {
		free(program->events[id].name);
		user_condition_drop(program, &program->events[id]);
	}
	free(program->events);
	budget_release(program->recording->budget, program->payer, BUDGET_HEAP, program->heap_bytes);
}
