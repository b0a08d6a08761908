/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_PROCESS_NAME_H
#define DAEMON_PROCESS_NAME_H
/* process_name.h - the running process that has a name */
#include <stdbool.h>
#include <sys/types.h>
#include <trace/error.h>

/**
 * process_of_name() - the one process that is called @name, as program_is_called() says
 * If none is, the one that has @name in its arguments, but no ancestor of the caller.
 * Returns -EINVAL if none is, or if several are; the message lists these.
 */
int process_of_name(const char *name, pid_t *ret_pid, struct trace_error *ret_error);

/** process_is_called() - does the thread or its program have this name now, as above? */
bool process_is_called(pid_t tid, const char *name);

#define PROCESS_NAME_BYTES 64
/** process_print_name() - its title, or the kernel's name of it; "a thread" if it has ended */
void process_print_name(pid_t tid, char name[PROCESS_NAME_BYTES]);
#endif
