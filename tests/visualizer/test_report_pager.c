/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_pager.c - reports on a terminal of 24 lines */
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "builder.h"
#include "report_case.h"
#include "unit.h"
#include "visualizer.h"

#define TEXT_BYTES (1u << 20)

/* tracevisualizer on a terminal. Returns the exit status; the caller frees the text. */
static int on_terminal(const char *pager, const char *arguments, char **ret_text)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	char *text = calloc(TEXT_BYTES, 1), command[512];
	size_t used = 0;
	int fd, status;
	ssize_t got;
	pid_t pid;

	snprintf(command, sizeof(command), "exec " TRACE_BIN "/tracevisualizer %s", arguments);
	pid = forkpty(&fd, NULL, NULL, &size);
	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0) {
		setenv("TERM", "dumb", 1);
		setenv("TRACE_PAGER", pager, 1);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	while ((got = read(fd, text + used, TEXT_BYTES - used - 1)) > 0)
		used += (size_t)got;
	close(fd);
	waitpid(pid, &status, 0);
	*ret_text = text;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_report_on_a_terminal_goes_through_the_pager(void)
{
	static const struct {
		const char *pager, *options;
		bool paged;
	} cases[] = {
		{"sed s/^/paged:/", "-a", true},
		{"sed s/^/paged:/", "-d", true},
		{"sed s/^/paged:/", "--critical-path=10", true},
		{"sed s/^/paged:/", "-a --no-pager", false},
		{"sed s/^/paged:/", "", false}, /* one screen */
		{"", "-a", false},
		{"cat", "-a", false},
		{"no-such-pager -R", "-a", false}, /* the report is not lost */
	};
	char arguments[256], *text;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(arguments, sizeof(arguments), "%s %s", cases[i].options, story_path);
		CU_ASSERT_EQUAL(on_terminal(cases[i].pager, arguments, &text), 0);
		CU_ASSERT_EQUAL(strncmp(text, "paged:", 6) == 0, cases[i].paged);
		CU_ASSERT(strlen(text) > 100);
		free(text);
	}
}

static void a_pipe_or_a_file_has_no_pager(void)
{
	char arguments[256], *text;

	snprintf(arguments, sizeof(arguments), "-a %s | grep -c paged:", story_path);
	CU_ASSERT_EQUAL(on_terminal("sed s/^/paged:/", arguments, &text), 1);
	CU_ASSERT_STRING_EQUAL(text, "0\r\n");
	free(text);
	snprintf(arguments, sizeof(arguments), "-a --output=/dev/null %s", story_path);
	CU_ASSERT_EQUAL(on_terminal("sed s/^/paged:/", arguments, &text), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(text);
}

/* The list is larger than a pipe, so the program writes after the pager has ended. */
static void the_program_ends_quietly_when_the_user_leaves_the_pager(void)
{
	char path[] = "/tmp/test_report_pager_XXXXXX", arguments[64], *text;
	struct tb *tb = tb_new();
	int fd = mkstemp(path);

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	for (uint64_t ts = 1000; ts < 10001000; ts += 1000)
		tb_waking(tb, 0, ts, 10, TRACE_CONTEXT_TASK);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(arguments, sizeof(arguments), "-d %s", path);
	CU_ASSERT_EQUAL(on_terminal("head -n 1 | wc -l", arguments, &text), 0);
	CU_ASSERT_STRING_EQUAL(text, "1\r\n");
	free(text);
	unlink(path);
}

static void the_first_screen_fits_a_small_terminal(void)
{
	size_t lines = 0;
	char *text;

	CU_ASSERT_EQUAL(on_terminal("", story_path, &text), 0);
	for (const char *c = text; (c = strchr(c, '\n')); c++)
		lines++;
	CU_ASSERT(lines > 5 && lines <= 23);
	CU_ASSERT(widest_line(text) <= 80 + 1 /* the carriage return of the terminal */);
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_report_on_a_terminal_goes_through_the_pager),
		CASE(a_pipe_or_a_file_has_no_pager),
		CASE(the_program_ends_quietly_when_the_user_leaves_the_pager),
		CASE(the_first_screen_fits_a_small_terminal),
		{NULL, NULL},
	};

	unsetenv("COLUMNS");
	return report_main("report_pager", cases, argc, argv);
}
