/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SHELL_H
#define TESTS_SHELL_H
/* shell.h - run a command of any length, as printf() writes it */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* Returns the command's exit status, 128 + the signal that ended it, or -1 without memory. */
static inline int shell_run_va(const char *format, va_list arguments)
{
	char *command;
	int status;

	if (vasprintf(&command, format, arguments) < 0)
		return -1;
	status = system(command);
	free(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline int shell_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline int shell_run(const char *format, ...)
{
	va_list arguments;
	int status;

	va_start(arguments, format);
	status = shell_run_va(format, arguments);
	va_end(arguments);
	return status;
}
#endif
