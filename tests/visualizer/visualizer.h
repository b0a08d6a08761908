/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_VISUALIZER_H
#define TESTS_VISUALIZER_H
/* visualizer.h - run tracevisualizer and check its output. TRACE_BIN: the folder of the
 * programs. */
#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Its stderr follows its stdout. Returns the exit status; the caller frees the text. */
static inline int visualizer_run(const char *arguments, char **ret_text)
{
	size_t used = 0, room = 1 << 16;
	char *text = malloc(room), *command = NULL;
	FILE *pipe;
	int status;

	if (asprintf(&command, TRACE_BIN "/tracevisualizer %s 2>&1", arguments) < 0)
		abort();
	pipe = popen(command, "r");
	free(command);
	while (!feof(pipe) && used + 1 < room)
		used += fread(text + used, 1, room - used - 1, pipe);
	text[used] = 0;
	status = pclose(pipe);
	*ret_text = text;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The report -a after its first line, the time of the trace by the wall clock */
static inline const char *answer_of(const char *text)
{
	const char *end = *text >= '0' && *text <= '9' ? strchr(text, '\n') : NULL;

	return end ? end + 1 : text;
}

static inline void contains(const char *text, const char *wanted)
{
	bool found = strstr(text, wanted) != NULL;

	CU_ASSERT_TRUE(found);
	if (!found)
		printf("\n--- wanted:\n%s\n--- in:\n%s\n", wanted, text);
}
#endif
