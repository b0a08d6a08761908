/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_CONDITIONS_H
#define DAEMON_USER_CONDITIONS_H
/* user_conditions.h - conditions of the events of traced programs */
#include <stdbool.h>

struct user_description;
struct user_local;
struct user_program;

/**
 * user_condition_set() - give @event the condition that the recording's selection has for it
 * Returns false if the event lacks a field of the condition, and is not to be recorded.
 */
bool user_condition_set(struct user_program *program, struct user_local *event,
			const struct user_description *description);
/** user_condition_flag() - the flag of an event in the program's memory when it is on */
unsigned int user_condition_flag(struct user_program *program, const struct user_local *event);
/** user_conditions_switch() - the same for all events, after a change of the selection */
void user_conditions_switch(struct user_program *program);
void user_condition_drop(struct user_program *program, struct user_local *event);

#endif
