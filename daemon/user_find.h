/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_FIND_H
#define DAEMON_USER_FIND_H
/* user_find.h - programs with tracepoints that run already, and who a process is. */
#include "user_program.h"

/**
 * user_find_identity() - who a process is
 * @identity: with its pid, its pid_fd (or -1), and its uid and gid, which stay; the rest is filled in. A process that is gone has no exe,
 *            nor has one for which there is no pid_fd: the number alone could be another's by now
 */
void user_find_identity(struct user_identity *identity);

/**
 * user_find_is_there() - does the process of @identity.pid_fd still have its number? A dead one has until its parent has waited for it. Without pid_fd: does
 * any process have the number?
 */
bool user_find_is_there(const struct user_identity *identity);

/** user_find_owner() - the user and group of a process, now. False: it is gone */
bool user_find_owner(pid_t pid, uid_t *ret_uid, gid_t *ret_gid);

/**
 * user_find_programs() - every process that maps the memory of a program with tracepoints, its own or its parent's
 * @found: called with a descriptor of the memory and who the process is, which are the callee's
 * Returns 0; -EMFILE, -ENFILE or -ENOMEM: not all processes could be looked at, though they are there and we may.
 */
int user_find_programs(void (*found)(void *context, int fd, struct user_identity *identity), void *context);

/** user_find_parent() - of a process; 0: not known */
pid_t user_find_parent(pid_t pid);

/** user_find_inner_pid() - how a process calls itself, in its namespace; 0: not known */
pid_t user_find_inner_pid(pid_t pid);

/** user_find_maps() - does the process still map that file? An exec does away with it. When it cannot be told: yes */
bool user_find_maps(pid_t pid, ino_t ino);

/**
 * user_find_open() - open the memory that @path, a link in /proc, leads to
 * @ino: its inode. Returns a descriptor, the caller's; -1 with errno: the link leads to something else by now, and that was not opened.
 * user_mapping_open() then demands the seals.
 */
int user_find_open(const char *path, ino_t ino);

/** user_find_which_maps() - the same of @nr files at once. Returns how many mappings were looked at */
uint32_t user_find_which_maps(pid_t pid, const ino_t *inos, bool *ret_mapped, size_t nr);

/** user_find_in_text - for tests: read what processes map as text, as on kernels before 6.11 */
extern bool user_find_in_text;
#endif
