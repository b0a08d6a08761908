/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pager.c - a pipe from standard output to the pager.
 *
 * The shell runs the pager, since the variables may have options. LESS has a value of ours only if
 * the user set none: F ends less if the report fits one screen, R lets colours through, X leaves
 * the report on the terminal.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "pager.h"

/* without less the report is written as if there were no pager */
#define DEFAULT_PAGER "command -v less >/dev/null 2>&1 && exec less -FRX; exec cat"

static pid_t pager; /* 0: none */

static const char *pager_command(void)
{
	const char *command = getenv("TRACE_PAGER");

	if (!command)
		command = getenv("PAGER");
	return command ? command : DEFAULT_PAGER;
}

static void wait_for_pager(void)
{
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The pager has closed the pipe: the user has seen enough. */
static void left_early(int signal)
{
	wait_for_pager();
	_exit(0);
}

/*
 * Without the program of @command the report would be lost, so then cat writes it. Commands with
 * quotes, assignments or pipes are left as they are.
 */
static void run_command(const char *command)
{
	char guarded[1024];
	int bytes = snprintf(guarded, sizeof(guarded), "command -v %.*s >/dev/null 2>&1 || exec cat; exec %s",
			     (int)strcspn(command, " \t"), command, command);

	if (!strpbrk(command, "=;&|<>()'\"\\$`\n") && bytes < (int)sizeof(guarded))
		command = guarded;
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
}

static void run_pager(const char *command, const int pipe_fds[2])
{
	dup2(pipe_fds[0], STDIN_FILENO);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	setenv("LESS", "FRX", 0);
	run_command(command);
	_exit(127);
}

void pager_begin(void)
{
	const char *command = pager_command();
	int fds[2];

	if (!isatty(STDOUT_FILENO) || !*command || strcmp(command, "cat") == 0 || pipe(fds) < 0)
		return;
	pager = fork();
	if (pager == 0)
		run_pager(command, fds);
	if (pager > 0) {
		dup2(fds[1], STDOUT_FILENO);
		signal(SIGPIPE, left_early);
		signal(SIGINT, SIG_IGN); /* it is for the pager, which goes on */
	} else {
		pager = 0;
	}
	close(fds[0]);
	close(fds[1]);
}

void pager_end(void)
{
	if (!pager)
		return;
	close(STDOUT_FILENO);
	wait_for_pager();
	pager = 0;
}
