/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_view_symbols.c - questions about functions read the file of a program once. */
#include "symbol_files_case.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "view_session.h"

#define MS 1000000ull

static const struct visualizer_options options = {
	.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};

void named_function(void);

__attribute__((noinline)) void named_function(void)
{
}

/* A process is in named_function(), which @file has. */
static struct trace *samples_in(const char *file)
{
	struct trace_sample sample = {.tid = 10, .in_user = 1, .ip = MAPPED + offset_in_file(file, " named_function$")};
	struct tb *tb = tb_new();
	struct trace *trace;

	sample.kernel = sample.user = sizeof(sample); /* no callers, behind the fixed part */
	tb_window(tb, MS, 20 * MS);
	start_file(tb, 10, file);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_event(tb, 0, 2 * MS, TRACE_EV_sample, &sample, sizeof(sample), NULL);
	tb_event(tb, 0, 3 * MS, TRACE_EV_sample, &sample, sizeof(sample), NULL);
	trace = tb_open_trace(tb);
	tb_free(tb);
	return trace;
}

static bool has(const struct view_answer *answer, const char *text)
{
	return memmem(answer->bytes, answer->size, text, strlen(text));
}

/* Another question finds the names without the file, and no process that reads it is left. */
static void names_are_kept_for_the_next_question(void)
{
	char file[] = "/tmp/test_view_symbols.XXXXXX";
	struct view_answer first, second;
	struct view_session session;
	struct trace *trace;

	CU_ASSERT_NOT_EQUAL_FATAL(mkstemp(file), -1);
	shell("cp /proc/%d/exe %s", getpid(), file);
	trace = samples_in(file);
	CU_ASSERT_EQUAL_FATAL(view_session_begin(&session, trace, &options), 0);
	for (unsigned int i = 0; view_session_step(&session, i, 4) == 0; i++)
		;
	first = view_answer(&session, "functions?from=0&to=19000000");
	CU_ASSERT(has(&first, "\"named_function\""));
	CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
	CU_ASSERT_EQUAL(errno, ECHILD);
	unlink(file);
	second = view_answer(&session, "functions?from=0&to=10000000");
	CU_ASSERT(has(&second, "\"named_function\""));
	free(first.bytes);
	free(second.bytes);
	view_session_end(&session);
	trace_close(trace);
}

static const struct unit_case cases[] = {
	CASE(names_are_kept_for_the_next_question),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("view_symbols", cases, argc, argv);
}
