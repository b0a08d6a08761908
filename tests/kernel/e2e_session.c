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
#include <trace/events.h>
#include <trace/reader.h>
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

/* By the tid as text, what the kernel counted for each thread that ended. */
static json_t *read_run_ns(const struct session *s)
{
	uint64_t mask[4] = {[TRACE_EV_exit_times / 64] = 1ull << TRACE_EV_exit_times % 64};
	struct trace_cursor_options options = {.size = sizeof(options), .mask = mask};
	struct trace *trace = trace_open(s->trace, NULL);
	struct trace_cursor *cursor = trace ? trace_cursor_new(trace, &options, NULL) : NULL;
	const struct trace_event *event;
	json_t *run_ns = json_object();

	CU_ASSERT_PTR_NOT_NULL_FATAL(cursor);
	while ((event = trace_cursor_next(cursor))) {
		const struct trace_exit_times *times = event->payload;
		char tid[16];

		snprintf(tid, sizeof(tid), "%u", times->tid);
		json_object_set_new(run_ns, tid, json_integer((json_int_t)times->run_ns));
	}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	return run_ns;
}

long long session_clocks_apart_ns(struct session *s, long long pid)
{
	json_t *threads = json_object_get(json_process(s->report, pid), "threads"), *thread;
	long long apart = 0;
	size_t i;

	if (!s->run_ns)
		s->run_ns = read_run_ns(s);
	json_array_foreach(threads, i, thread) {
		long long ns = json_number(thread, "user_ns") + json_number(thread, "system_ns") +
			       json_number(thread, "interrupted_ns");
		char tid[16];
		json_t *run;

		snprintf(tid, sizeof(tid), "%lld", json_number(thread, "tid"));
		run = json_object_get(s->run_ns, tid);
		apart += run ? llabs(json_integer_value(run) - ns) : 0;
	}
	return apart;
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
	json_decref(s->run_ns);
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
