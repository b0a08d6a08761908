/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_PROCESS_DUMP_H
#define DAEMON_PROCESS_DUMP_H
/* process_dump.h - what tracectl gcov and tracectl gprof share: PID [DIR]. */
#include <stdbool.h>
#include <sys/types.h>
#include <trace/error.h>

/** process_dump_pid() - the number in @text; 0, and a message that begins with @verb: it is none */
pid_t process_dump_pid(const char *verb, const char *text);
/** process_dump_why() - why file_opener_memory() failed: a static string, or of strerror() */
const char *process_dump_why(int err);
/**
 * process_dump_folder() - make the folder @path unless it is there, and open it
 * SECURITY: a name that the user has not chosen is known to others before, so there it is refused
 * if it is a link or belongs to another user.
 * Returns a descriptor or a negative errno.
 */
int process_dump_folder(const char *path, bool is_chosen, struct trace_error *ret_error);
#endif
