/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_FIND_H
#define DAEMON_USER_FIND_H
/* user_find.h - find running programs with tracepoints, and the identity of a process */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user_identity.h"

/**
 * user_find_identity() - find the identity of a process
 * @identity: holds its pid, pid_fd (or -1), uid and gid, which stay; the rest is filled in
 * A dead process has no exe. Neither has a process without pid_fd: the kernel may have reused the
 * pid.
 */
void user_find_identity(struct user_identity *identity);

/**
 * user_find_has_pid() - does the process of @identity->pid_fd still have its pid?
 * A dead process keeps its pid until its parent has waited for it. Without pid_fd the answer is for
 * any process with that pid.
 */
bool user_find_has_pid(const struct user_identity *identity);

/** user_find_owner() - the current user and group of a process. False: it is gone */
bool user_find_owner(pid_t pid, uid_t *ret_uid, gid_t *ret_gid);

/**
 * user_find_programs() - find each process that maps the memory of a program with tracepoints, its
 * own or its parent's
 * @found: called with a descriptor of the memory and the identity of the process; it owns both
 * Returns 0. -EMFILE, -ENFILE or -ENOMEM: some processes could not be examined, although they exist
 * and the daemon has the permission. -ETIME: the scan skipped processes of a user that had used up
 * the time limit.
 */
int user_find_programs(void (*found)(void *context, int fd, struct user_identity *identity), void *context);

/**
 * user_find_process() - the same for the process @pid alone; @ret_looked_at: how many mappings it
 * examined
 */
int user_find_process(pid_t pid, void (*found)(void *context, int fd, struct user_identity *identity), void *context,
		      uint32_t *ret_looked_at);

/**
 * user_find_error_text() - the cause of an error of user_find_programs(), for messages
 * Returns a text that is valid until the next strerror() of this thread.
 */
const char *user_find_error_text(int err);

/** user_find_parent() - the parent of a process; 0: not known */
pid_t user_find_parent(pid_t pid);

/** user_find_inner_pid() - the pid of a process in its own pid namespace; 0: not known */
pid_t user_find_inner_pid(pid_t pid);

/**
 * user_find_maps() - does the process still map that file? An exec ends the mapping. Unknown counts
 * as yes
 */
bool user_find_maps(pid_t pid, ino_t ino);

/**
 * user_find_open() - open the program memory that @path, a link in /proc, refers to
 * @ino: its inode
 * Returns a descriptor, the caller's; -1 with errno: the link refers to another file now, which was
 * not opened. Then user_mapping_open() checks the seals.
 */
int user_find_open(const char *path, ino_t ino);

/**
 * user_find_which_maps() - user_find_maps() for @nr files. Returns how many mappings it examined
 */
uint32_t user_find_which_maps(pid_t pid, const ino_t *inos, bool *ret_mapped, size_t nr);

/**
 * user_find_use_text() - for tests: parse the text of /proc/PID/maps from now on, as on kernels
 * before 6.11. Any thread
 */
void user_find_use_text(bool wanted);
#endif
