/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_progress.c - progress is on the terminal behind stderr only, and gone when the work is done
 *
 * TRACE_PROGRESS_MS=0 shows it at once; the trace has enough events for several looks at the clock.
 */
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "builder.h"
#include "progress_line.h"
#include "unit.h"

#define TEXT_BYTES (1u << 20)
#define ERASED	   "\r\033[K"
#define S	   1000000000ull

static char path[] = "/tmp/test_progress_XXXXXX";

static void make_trace(void)
{
	struct tb *tb = tb_new();
	int fd = mkstemp(path);

	tb_window(tb, 1000, 20000000);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	for (uint64_t i = 1; i < 10000; i++)
		tb_switch(tb, 0, 1000 + i * 1000, i % 2 ? 10 : 0, i % 2 ? 0 : 10, TRACE_TASK_INTERRUPTIBLE);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
}

/* The text that "tracevisualizer ARGUMENTS" writes to stderr on a terminal; the caller frees it. */
static char *on_terminal(const char *term, const char *arguments)
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
		setenv("TERM", term, 1);
		setenv("TRACE_PROGRESS_MS", "0", 1);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	while ((got = read(fd, text + used, TEXT_BYTES - used - 1)) > 0)
		used += (size_t)got;
	close(fd);
	waitpid(pid, &status, 0);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return text;
}

static bool ends_erased(const char *text)
{
	size_t bytes = strlen(text), end = strlen(ERASED);

	return bytes > end && strcmp(text + bytes - end, ERASED) == 0;
}

static void each_long_work_shows_its_progress_and_removes_it(void)
{
	static const struct {
		const char *options, *what;
	} cases[] = {
		{"-a %s >/dev/null", "\rtracevisualizer: analysis "},
		{"--json %s >/dev/null", "\rtracevisualizer: analysis "},
		{"--verify %s >/dev/null", "\rtracevisualizer: verification "},
		{"--timeline --output=/dev/null %s", "\rtracevisualizer: analysis "},
		{"--slowest=command:one %s >/dev/null", "\rtracevisualizer: waits of the longest "},
		{"-d %s >/dev/null", "\rtracevisualizer: list "},
		{"-d --json --output=/dev/null %s", "\rtracevisualizer: list "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char arguments[256], *text;

		snprintf(arguments, sizeof(arguments), cases[i].options, path);
		text = on_terminal("xterm", arguments);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, cases[i].what));
		CU_ASSERT_PTR_NOT_NULL(strstr(text, " %"));
		CU_ASSERT(ends_erased(text));
		if (!ends_erased(text))
			printf("%s: %s\n", arguments, text);
		free(text);
	}
}

/* A terminal that shows the output, one that cannot erase, and a pipe have none. */
static void no_progress_is_in_an_output(void)
{
	static const struct {
		const char *term, *options;
	} cases[] = {
		{"dumb", "-a %s >/dev/null"},
		{"xterm", "-a %s 2>&1 >/dev/null | cat"},
		{"xterm", "-d -fctpl --no-pager %s"},
		{"xterm", "-d %s | cat >/dev/null"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char arguments[256], *text;

		snprintf(arguments, sizeof(arguments), cases[i].options, path);
		text = on_terminal(cases[i].term, arguments);
		CU_ASSERT_PTR_NULL(strstr(text, " %"));
		CU_ASSERT_PTR_NULL(strstr(text, ERASED));
		free(text);
	}
}

/* The line that work_progress_at() writes to a terminal. */
static void line_at(uint64_t done, uint64_t of, char *text, size_t size)
{
	struct work_progress progress;
	int own = dup(STDERR_FILENO), fds[2];
	ssize_t got;

	CU_ASSERT_EQUAL_FATAL(openpty(&fds[0], &fds[1], NULL, NULL, NULL), 0);
	dup2(fds[1], STDERR_FILENO);
	setenv("TERM", "xterm", 1);
	setenv("TRACE_PROGRESS_MS", "0", 1);
	progress = work_progress_begin("work");
	work_progress_at(&progress, done, of);
	got = read(fds[0], text, size - 1);
	text[got > 0 ? got : 0] = '\0';
	dup2(own, STDERR_FILENO);
	close(own);
	close(fds[0]);
	close(fds[1]);
}

static void the_time_left_needs_a_part_that_is_done(void)
{
	char text[256];

	line_at(1, 100, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "\rwork 1 %\033[K");
	line_at(2, 100, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "\rwork 2 %, 0 s left\033[K");
}

static void a_rate_is_an_average_of_a_second_at_least(void)
{
	struct rate_meter meter = {0};
	uint64_t rate = 7;

	CU_ASSERT_FALSE(rate_meter_per_second(&meter, 5 * S, 100, &rate));
	CU_ASSERT_FALSE(rate_meter_per_second(&meter, 5 * S + S / 2, 1000, &rate));
	CU_ASSERT_EQUAL(rate, 7);
	CU_ASSERT_TRUE(rate_meter_per_second(&meter, 6 * S, 1100, &rate));
	CU_ASSERT_EQUAL(rate, 1000);
	/* a count that changes once a second has no rate of 0 in between */
	CU_ASSERT_TRUE(rate_meter_per_second(&meter, 6 * S + S / 4, 1100, &rate));
	CU_ASSERT_EQUAL(rate, 800);
	CU_ASSERT_TRUE(rate_meter_per_second(&meter, 7 * S, 1100, &rate));
	CU_ASSERT_EQUAL(rate, 0);
	CU_ASSERT_TRUE(rate_meter_per_second(&meter, 8 * S, 3100, &rate));
	CU_ASSERT_EQUAL(rate, 2000);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(each_long_work_shows_its_progress_and_removes_it),
		CASE(no_progress_is_in_an_output),
		CASE(the_time_left_needs_a_part_that_is_done),
		CASE(a_rate_is_an_average_of_a_second_at_least),
		{NULL, NULL},
	};
	int result;

	make_trace();
	result = unit_main("progress", cases, argc, argv);
	unlink(path);
	return result;
}
