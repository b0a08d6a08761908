/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_COMMAND_H
#define DAEMON_COMMAND_H
/*
 * command.h - the command after "--": started early, so that its pid is known, and released when
 * events are recorded.
 */
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <trace/error.h>

#define COMMAND_NOT_FOUND      127
#define COMMAND_NOT_EXECUTABLE 126

/**
 * struct command - zeroed: none. @release_fd: the daemon's end of the pipe that the child waits on.
 * @ended: reaped, with @wait_status
 */
struct command {
	pid_t pid;
	int release_fd;
	bool ended;
	int wait_status;
};

/**
 * command_check() - can @name be executed? Called before recording begins
 * Returns 0, or the exit status that a shell would give, with the reason in @ret_error.
 */
int command_check(const char *name, struct trace_error *ret_error);

struct command_user;

/**
 * command_spawn() - create a child that waits for command_release()
 * @words: NULL-terminated, borrowed until the command runs
 * @user: the child becomes this user first; NULL: it stays the daemon's user
 * @mask: the signal mask of the command
 */
int command_spawn(struct command *ret_command, char *const *words, const struct command_user *user,
		  const sigset_t *mask, struct trace_error *ret_error);

void command_release(struct command *command);

/** command_cancel() - end and reap the child of a command that was never released */
void command_cancel(struct command *command);

/** command_reap() - has the command ended? Waits for it only with @wait */
bool command_reap(struct command *command, bool wait);

/** command_exit_status() - as a shell gives it: 128 + n for signal n */
int command_exit_status(const struct command *command);
#endif
