/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_UNREADY_H
#define DAEMON_USER_UNREADY_H
/*
 * user_unready.h - events that never had a ring. The program and its children count them in its
 * memory, on all CPUs, even after the program's death.
 */
#include <stdbool.h>
#include <stdint.h>

struct user_program;

/** user_unready_begin() - count from now on, or (@all) from the program's beginning */
void user_unready_begin(struct user_program *program, bool all);
/** user_unready_sum() - such events of the recording so far */
uint64_t user_unready_sum(struct user_program *program);
/** user_unready_take() - the part of them that is not accounted yet; it is accounted now */
uint64_t user_unready_take(struct user_program *program);
#endif
