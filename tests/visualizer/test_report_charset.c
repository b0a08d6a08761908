/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_charset.c - a terminal without UTF-8 gets ASCII only, in every report. */
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "report_case.h"
#include "visualizer.h"

#define CAFE	  "caf\xc3\xa9"
#define LONG_PATH "/srv/" CAFE "/a-name-that-is-longer-than-any-column-of-a-terminal-of-sixty-columns/data"
#define ELLIPSIS  "\xe2\x80\xa6"
#define COLUMNS	  60

static char path[] = "/tmp/report_charset_XXXXXX";

/* A thread with a name outside of ASCII reads a file with a long one. */
static void write_trace(void)
{
	struct tb *tb = tb_new();
	int fd = mkstemp(path);

	tb_window(tb, 1000000, 1060000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_thread(tb, 10, 10, 1, CAFE, 0, true);
	tb_thread(tb, 20, 20, 1, "two", 0, false);
	tb_fd(tb, 10, 3, 1, 200, S_IFREG | 0600, LONG_PATH);
	tb_sys_enter(tb, 0, 1001000, SYS_read, 3, 0x10000, 100);
	tb_switch(tb, 0, 1002000, 10, 20, TRACE_TASK_UNINTERRUPTIBLE);
	tb_waking(tb, 0, 1040000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 1050000, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1052000, 100);
	tb_switch(tb, 0, 1058000, 10, 20, TRACE_TASK_RUNNING);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
}

/* The output of tracevisualizer with @options on a terminal; the caller frees it. */
static char *on_terminal(const char *locale, const char *options)
{
	struct winsize size = {.ws_col = COLUMNS, .ws_row = 24};
	size_t used = 0, room = 1 << 18;
	char command[512], *text = malloc(room);
	int terminal, status;
	ssize_t nr;
	pid_t child = forkpty(&terminal, NULL, NULL, &size);

	if (!child) {
		snprintf(command, sizeof(command), TRACE_BIN "/tracevisualizer --no-pager %s %s", options, path);
		setenv("LC_ALL", locale, 1);
		setenv("TERM", "dumb", 1);
		unsetenv("COLUMNS");
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	while (used + 1 < room && (nr = read(terminal, text + used, room - used - 1)) > 0)
		used += (size_t)nr;
	text[used] = 0;
	for (char *at = text; (at = strchr(at, '\r'));) /* a terminal gets \r\n */
		memmove(at, at + 1, strlen(at));
	close(terminal);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return text;
}

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

static void every_report_is_ascii_without_utf8(void)
{
	static const char *const locales[] = {"C", "POSIX", "en_US.ISO-8859-1"};
	static const char *const reports[] = {"",
					      "-a",
					      "-a --all",
					      "-s",
					      "-d",
					      "-d --time=classic",
					      "-d --time=wall",
					      "--critical-path=10 --all",
					      "--help",
					      "-h"};
	char both[sizeof(path) + 16];
	char *text;

	for (size_t i = 0; i < sizeof(locales) / sizeof(locales[0]); i++) {
		for (size_t k = 0; k < sizeof(reports) / sizeof(reports[0]); k++) {
			text = on_terminal(locales[i], reports[k]);
			CU_ASSERT(strlen(text) > 100);
			if (!is_ascii(text))
				printf("not ASCII: %s in %s\n", reports[k], locales[i]);
			CU_ASSERT(is_ascii(text));
			free(text);
		}
		snprintf(both, sizeof(both), "--diff %s", path);
		text = on_terminal(locales[i], both);
		CU_ASSERT(is_ascii(text));
		free(text);
	}
}

static void names_are_cut_by_dots_without_utf8(void)
{
	char *text = on_terminal("C", "-a");

	contains(text, "caf\\xc3\\xa9");
	contains(text, "  ...");
	contains(text, "-columns/data\n");
	CU_ASSERT(widest_line(text) <= COLUMNS);
	free(text);
	text = on_terminal("C.UTF-8", "-a");
	contains(text, CAFE);
	contains(text, ELLIPSIS);
	free(text);
}

/* A program that reads the report gets the same bytes in each locale. */
static void a_pipe_gets_the_bytes_of_names(void)
{
	char options[64], *ascii, *utf8;

	snprintf(options, sizeof(options), "-a %s", path);
	setenv("LC_ALL", "C", 1);
	CU_ASSERT_EQUAL(visualizer_run(options, &ascii), 0);
	setenv("LC_ALL", "C.UTF-8", 1);
	CU_ASSERT_EQUAL(visualizer_run(options, &utf8), 0);
	unsetenv("LC_ALL");
	contains(ascii, CAFE);
	CU_ASSERT_STRING_EQUAL(ascii, utf8);
	free(ascii);
	free(utf8);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(every_report_is_ascii_without_utf8),
		CASE(names_are_cut_by_dots_without_utf8),
		CASE(a_pipe_gets_the_bytes_of_names),
		{NULL, NULL},
	};
	int status;

	write_trace();
	status = report_main("report_charset", cases, argc, argv);
	unlink(path);
	return status;
}
