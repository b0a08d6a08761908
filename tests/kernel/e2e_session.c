/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "e2e_session.h"
#include "shell.h"
#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static long long stolen_ns(void)
{
	FILE *file = fopen("/proc/stat", "re");
	long long ticks = 0;

	if (file && fscanf(file, "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &ticks) != 1)
		ticks = 0;
	if (file)
		fclose(file);
	return ticks * (1000000000 / sysconf(_SC_CLK_TCK));
}

long long session_stolen_ns(const struct session *s)
{
	return stolen_ns() - s->stolen_before;
}

void session_begin(struct session *s)
{
	memset(s, 0, sizeof(*s));
	s->stolen_before = stolen_ns();
	snprintf(s->folder, sizeof(s->folder), "/var/tmp/trace-e2e-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(s->folder));
	snprintf(s->trace, sizeof(s->trace), "%s/t.trace", s->folder);
	snprintf(s->truth, sizeof(s->truth), "%s/truth", s->folder);
}

void session_end(struct session *s)
{
	static unsigned int nr;
	const char *keep = getenv("TRACE_KEEP");

	json_decref(s->report);
	if (keep)
		session_run("! test -f '%s' || cp '%s' '%s/%s-%u.trace'", s->trace, s->trace, keep,
			    program_invocation_short_name, ++nr);
	session_run("rm -rf '%s'", s->folder);
}

int session_run(const char *format, ...)
{
	va_list arguments;
	int status;

	va_start(arguments, format);
	status = shell_run_va(format, arguments);
	va_end(arguments);
	return status;
}

json_t *session_load(const struct session *s, const char *options)
{
	json_error_t error = {0};
	json_t *report = NULL;
	char *command = NULL;
	FILE *pipe = NULL;

	if (asprintf(&command, "%s/tracevisualizer --json %s %s", TRACE_BIN, options, s->trace) >= 0)
		pipe = popen(command, "r");
	free(command);
	if (pipe) {
		report = json_loadf(pipe, 0, &error);
		pclose(pipe);
	}
	if (!report)
		fprintf(stderr, "report: line %d: %s\n", error.line, error.text);
	return report;
}

long long session_truth(const struct session *s, const char *key)
{
	FILE *file = fopen(s->truth, "r");
	long long value, found = -1;
	char name[64];

	while (file && fscanf(file, "%63s %lld", name, &value) == 2)
		if (strcmp(name, key) == 0)
			found = value;
	if (file)
		fclose(file);
	return found;
}

long long json_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

const char *json_text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

json_t *json_with_pid(const json_t *object, const char *array, long long pid)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(object, array), i, row)
		if (json_number(row, "pid") == pid)
			return row;
	return NULL;
}

json_t *json_process(const json_t *report, long long pid)
{
	return json_with_pid(report, "processes", pid);
}

json_t *json_row(const json_t *object, const char *array, const char *key, const char *value)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(object, array), i, row)
		if (strcmp(json_text(row, key), value) == 0)
			return row;
	return NULL;
}
