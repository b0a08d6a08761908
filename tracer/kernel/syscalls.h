/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_SYSCALLS_H
#define TRACER_SYSCALLS_H
/* syscalls.h - names of system calls, and what their entries record. */
#include <stdbool.h>
#include <trace/tracer.h>
#include "config.h"

/**
 * tracer_syscall_actions() - what to record for each call, by ABI and number
 *
 * @is_filtering: of some processes only, so that wakers may be missing
 */
void tracer_syscall_actions(unsigned int actions[2][TRACER_NR_SYSCALLS], bool is_filtering);
/** tracer_data_rules() - what --args copies of the arguments of each native call */
void tracer_data_rules(struct tracer_data_rule rules[TRACER_NR_SYSCALLS][TRACER_NR_ARGS]);

#endif
