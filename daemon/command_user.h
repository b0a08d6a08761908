/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_COMMAND_USER_H
#define DAEMON_COMMAND_USER_H
/* command_user.h - the user as whom the command runs (--user) */
#include <stdbool.h>
#include <trace/error.h>

/** struct command_user - opaque: ids, groups, home folder and shell of a user */
struct command_user;

/**
 * command_user_find() - look up @name, a name or a number, before the command is forked
 * Returns the user, to be released with command_user_free(); NULL with -EPERM: the daemon is not
 * root's; -ENOENT: there is no such user; -ENOMEM.
 */
struct command_user *command_user_find(const char *name, struct trace_error *ret_error);

/**
 * command_user_owns() - does the file of @fd belong to the user @name, a name or a number?
 * Also false if there is no such user.
 */
bool command_user_owns(const char *name, int fd);

/** command_user_free() - NULL is fine. Returns NULL */
struct command_user *command_user_free(struct command_user *user);

/**
 * command_user_become() - in the child: take the user's ids and groups, and HOME, USER, LOGNAME
 * and SHELL. Returns 0, or the negative errno: then the command may not run
 */
int command_user_become(const struct command_user *user);
#endif
