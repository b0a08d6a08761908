/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command_user.h"
#include "format_text.h"

/* ---- does the command exist? ---- */

/*
 * Returns 0, -ENOENT, or the reason why the file cannot be executed. access(2) accepts directories
 * as executable.
 */
static int check_file(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return access(path, X_OK) < 0 ? -errno : 0;
}

/*
 * Searches PATH as execvp(3) does: it skips files that cannot be executed, and remembers the error.
 */
static int search_path(const char *name)
{
	const char *path = getenv("PATH");
	char candidate[PATH_MAX];
	int err, found = -ENOENT;
	size_t chars;

	for (path = path ? path : "/bin:/usr/bin";; path += chars + 1) {
		chars = strcspn(path, ":");
		snprintf(candidate, sizeof(candidate), "%.*s%s%s", (int)chars, path, chars ? "/" : "./", name);
		err = check_file(candidate);
		if (!err)
			return 0;
		if (err == -EACCES)
			found = err;
		if (!path[chars])
			return found;
	}
}

static int shell_status(int err)
{
	return err == -ENOENT || err == -ENOTDIR ? COMMAND_NOT_FOUND : COMMAND_NOT_EXECUTABLE;
}

int command_check(const char *name, struct trace_error *ret_error)
{
	int err = strchr(name, '/') ? check_file(name) : search_path(name);

	if (!err)
		return 0;
	if (err == -ENOENT)
		error_set(ret_error, err, "%s: command not found; nothing was recorded", name);
	else
		error_set(ret_error, err, "%s cannot be run: %s; nothing was recorded", name, strerror(-err));
	return shell_status(err);
}

/* ---- the child ---- */

static void child_main(int wait_fd, char *const *words, const struct command_user *user, const sigset_t *mask)
{
	char go;
	int err;

	if (read(wait_fd, &go, 1) != 1)
		_exit(COMMAND_NOT_FOUND); /* the parent gave up */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	err = user ? command_user_become(user) : 0;
	if (err) {
		dprintf(STDERR_FILENO, "tracedaemon: cannot run %s as another user: %s\n", words[0], strerror(-err));
		_exit(COMMAND_NOT_EXECUTABLE);
	}
	execvp(words[0], words);
	dprintf(STDERR_FILENO, "tracedaemon: cannot run %s: %s\n", words[0], strerror(errno));
	_exit(shell_status(-errno));
}

int command_spawn(struct command *ret_command, char *const *words, const struct command_user *user,
		  const sigset_t *mask, struct trace_error *ret_error)
{
	struct command command = {0};
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(ret_error, -errno, "cannot make a pipe: %s", strerror(errno));
	command.pid = fork();
	if (command.pid < 0) {
		close(ends[0]);
		close(ends[1]);
		return error_set(ret_error, -errno, "cannot start %s: %s", words[0], strerror(errno));
	}
	if (command.pid == 0) {
		close(ends[1]);
		child_main(ends[0], words, user, mask);
	}
	close(ends[0]);
	command.release_fd = ends[1];
	*ret_command = command;
	return 0;
}

void command_release(struct command *command)
{
	if (write(command->release_fd, "", 1) < 0)
		return; /* killed before it began: command_reap() returns its status */
	close(command->release_fd);
	command->release_fd = -1;
}

void command_cancel(struct command *command)
{
	if (!command->pid || command->ended)
		return;
	close(command->release_fd);
	command->release_fd = -1;
	command_reap(command, true);
}

bool command_reap(struct command *command, bool wait)
{
	pid_t pid;

	if (!command->pid || command->ended)
		return command->ended;
	do {
		pid = waitpid(command->pid, &command->wait_status, wait ? 0 : WNOHANG);
	} while (pid < 0 && errno == EINTR);
	command->ended = pid == command->pid;
	return command->ended;
}

int command_exit_status(const struct command *command)
{
	if (WIFSIGNALED(command->wait_status))
		return 128 + WTERMSIG(command->wait_status);
	return WEXITSTATUS(command->wait_status);
}
