/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_SYSCALLS_H
#define TRACER_SYSCALLS_H
/* syscalls.h - names of system calls, and what their entries record. */
#include <trace/tracer.h>
#include "config.h"

void tracer_syscall_actions(unsigned int actions[2][TRACER_NR_SYSCALLS]);

#endif
