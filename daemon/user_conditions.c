/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_conditions.c - conditions of the events of traced programs
 *
 * The program evaluates them before it records, and the daemon again when it takes the records: a
 * program may have recorded events before the daemon gave it the condition, or have a libtracer
 * that knows none. So a condition holds for each event in the trace.
 */
#include "user_conditions.h"

#include <stdlib.h>
#include <string.h>

#include "condition_text.h"
#include "message.h"
#include "user_program_state.h"

void user_condition_drop(struct user_program *program, struct user_local *event)
{
	if (!event->condition)
		return;
	free(event->condition);
	event->condition = NULL;
	program->heap_bytes -= sizeof(*event->condition);
	budget_release(program->recording->budget, program->payer, BUDGET_HEAP, sizeof(*event->condition));
}

static bool take_condition(struct user_program *program, struct user_local *event,
			   const struct trace_condition *condition)
{
	if (event->condition && !memcmp(event->condition, condition, sizeof(*condition)))
		return true;
	user_condition_drop(program, event);
	if (!budget_charge(program->recording->budget, program->payer, BUDGET_HEAP, sizeof(*condition)))
		return false;
	program->heap_bytes += sizeof(*condition);
	event->condition = malloc(sizeof(*condition));
	if (event->condition)
		*event->condition = *condition;
	return event->condition;
}

/* One message for a recording: a pattern with a wildcard matches many events without the field. */
static void report(struct user_recording *recording, const struct trace_error *error)
{
	if (!recording->nr_unfit++)
		message_note("%s: this event is off", error->message);
}

bool user_condition_set(struct user_program *program, struct user_local *event,
			const struct user_description *description)
{
	const char *name = description->name, *text = select_condition(program->recording->selection, &name, 1);
	struct condition_text parsed;
	struct trace_condition condition;
	struct trace_error error;
	size_t missing;

	if (!*text) {
		user_condition_drop(program, event);
		return true;
	}
	if (!condition_parse(text, &parsed, &error) &&
	    !condition_compile(&parsed, &description->type, &condition, &missing, &error))
		return take_condition(program, event, &condition);
	report(program->recording, &error);
	return false;
}

/*
 * An entry is never written twice, because the program may be reading it. When all are used the
 * program records without a condition.
 */
unsigned int user_condition_flag(struct user_program *program, const struct user_local *event)
{
	uint32_t idx = program->nr_conditions;

	if (!event->condition || !program->mapping.conditions_offset || idx == USER_MAX_CONDITIONS)
		return 1;
	program->nr_conditions++;
	user_mapping_set_condition(&program->mapping, idx, event->condition);
	return USER_FLAG_CONDITION + idx;
}

void user_conditions_switch(struct user_program *program)
{
	struct user_mapping again = program->mapping;
	struct user_description description;

	if (program->released)
		return;
	again.registry_used = 0;
	again.registry_broken = false;
	while (user_mapping_next_event(&again, &description)) {
		struct user_local *event = description.id < program->nr_events ? &program->events[description.id]
									       : NULL;

		if (event && event->name)
			event->unfit = !user_condition_set(program, event, &description);
	}
}
