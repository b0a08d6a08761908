/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "objdump.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "error_set.h"
#include "read_end.h"

#define LINE_BYTES 4096
#define NOBODY	   65534
#define NOT_FOUND  127 /* as a shell says it */

/* ---- the process ---- */

static void run_child(int fd, int out, uint64_t from)
{
	char start[64];
	int null = open("/dev/null", O_WRONLY | O_NOCTTY);

	snprintf(start, sizeof(start), "--start-address=0x%" PRIx64, from);
	if (dup2(fd, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || (null >= 0 && dup2(null, STDERR_FILENO) < 0))
		_exit(1);
	if (geteuid() == 0 && (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY)))
		_exit(1);
	setenv("LC_ALL", "C", 1);
	/* the open file: its path may lead to another one, or be readable with rights only */
	execlp("objdump", "objdump", "--disassemble", "--demangle", "--line-numbers", "--no-show-raw-insn", start,
	       "/proc/self/fd/0", (char *)NULL);
	_exit(errno == ENOENT ? NOT_FOUND : 1);
}

static pid_t start(int fd, uint64_t from, FILE **ret_out)
{
	int fds[2];
	pid_t child;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	child = fork();
	if (child == 0)
		run_child(fd, fds[1], from);
	close(fds[1]);
	*ret_out = child > 0 ? fdopen(fds[0], "r") : NULL;
	if (!*ret_out)
		close(fds[0]);
	return child;
}

static int end_of(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ---- its lines ---- */

/* "0000000000001169 <spin>:" */
static bool take_symbol(char *text, struct objdump_line *line)
{
	char *rest, *end;

	line->address = strtoull(text, &rest, 16);
	end = rest + strlen(rest);
	if (rest == text || strncmp(rest, " <", 2) != 0 || end - rest < 4 || strcmp(end - 2, ">:") != 0)
		return false;
	end[-2] = '\0';
	line->text = rest + 2;
	line->kind = OBJDUMP_SYMBOL;
	return true;
}

/* "    1169:\tpush   %rbx" */
static bool take_instruction(char *text, struct objdump_line *line)
{
	char *rest;

	line->address = strtoull(text, &rest, 16);
	if (*text != ' ' || rest == text || strncmp(rest, ":\t", 2) != 0)
		return false;
	line->text = rest + 2;
	line->kind = OBJDUMP_INSTRUCTION;
	return true;
}

/* "/src/spin.c:7", "/src/spin.c:7 (discriminator 5)" */
static bool take_source(char *text, struct objdump_line *line)
{
	char *number, *end, *discriminator = strstr(text, " (discriminator ");

	if (discriminator)
		*discriminator = '\0';
	number = strrchr(text, ':');
	if (!number || number == text || !number[1])
		return false;
	line->line = (uint32_t)strtoul(number + 1, &end, 10);
	if (*end)
		return false;
	*number = '\0';
	line->text = text;
	line->kind = OBJDUMP_SOURCE;
	return true;
}

/* Returns 1: @fn needs no more lines; 0: there are no more; or the negative errno of a read. */
static int read_lines(FILE *out, objdump_fn fn, void *context)
{
	char text[LINE_BYTES];
	bool is_code = false, is_begin = true;

	while (fgets(text, sizeof(text), out)) {
		struct objdump_line line = {0};
		bool is_whole = strchr(text, '\n'), begins = is_begin;

		is_begin = is_whole;
		text[strcspn(text, "\n")] = '\0';
		if (!begins)
			continue;
		is_code |= strncmp(text, "Disassembly of section ", 23) == 0;
		if (is_code &&
		    (take_symbol(text, &line) || take_instruction(text, &line) || take_source(text, &line)) &&
		    !fn(context, &line))
			return 1;
	}
	return read_error(out);
}

int objdump_run(int fd, uint64_t from, objdump_fn fn, void *context, struct trace_error *ret_error)
{
	FILE *out = NULL;
	pid_t child = start(fd, from, &out);
	int read, status;

	if (!out) {
		if (child > 0)
			end_of(child);
		return error_set(ret_error, -EINVAL, "objdump could not be started: %s", strerror(errno));
	}
	read = read_lines(out, fn, context);
	fclose(out); /* it ends if it has more to write */
	status = end_of(child);
	if (status == NOT_FOUND)
		return error_set(ret_error, -ENOENT,
				 "there is no objdump on this machine: install the package binutils");
	if (read < 0)
		return error_set(ret_error, read, "the output of objdump could not be read: %s", strerror(-read));
	if (!read && status)
		return error_set(ret_error, -EINVAL, "objdump could not read the file");
	return 0;
}
