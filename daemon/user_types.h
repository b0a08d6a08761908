/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_TYPES_H
#define DAEMON_USER_TYPES_H
/*
 * user_types.h - the events in a program's registry: the trace gets their types, and the program
 * their flags
 */
#include <stdbool.h>

struct user_program;

/**
 * user_types_look() - take the events that the program registered since. Returns true if there
 * were some
 */
bool user_types_look(struct user_program *program);
/** user_types_set_new_flag() - set the flag that events have until the daemon has seen them */
void user_types_set_new_flag(const struct user_program *program);
/** user_types_switch() - set the flags of all events after the selection changed */
void user_types_switch(struct user_program *program);
/**
 * user_types_describe_again() - give all types to another writer: each snapshot has its own ids
 */
void user_types_describe_again(struct user_program *program);
void user_types_free(struct user_program *program);
#endif
