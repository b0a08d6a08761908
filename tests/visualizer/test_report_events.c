/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_report_events.c - events as JSON, one object a line: tracevisualizer -d --json
 *
 * Each line is compared with the event that the library reads, field by field.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <trace/reader.h>
#include <unistd.h>
#include "random_story.h"
#include "report_case.h"
#include "user_events_case.h"
#include "visualizer.h"

static FILE *list_open(const char *path, const char *options)
{
	char command[256];

	snprintf(command, sizeof(command), TRACE_BIN "/tracevisualizer -d --json %s %s 2>/dev/null", options, path);
	return popen(command, "r");
}

static bool is_hex(enum trace_field_kind kind)
{
	return kind == TRACE_KIND_HEX || kind == TRACE_KIND_ADDR;
}

static bool is_text(const struct trace_field *field)
{
	return !field->bytes || field->kind == TRACE_KIND_STRING || field->kind == TRACE_KIND_BYTES ||
	       field->kind == TRACE_KIND_CHAR;
}

static void check_number(const struct trace_event *event, const struct trace_field *field, const json_t *is)
{
	uint64_t wanted = trace_event_u64(event, field);
	char hex[32];

	snprintf(hex, sizeof(hex), "0x%" PRIx64, wanted);
	if (field->kind == TRACE_KIND_FLOAT)
		CU_ASSERT(json_is_real(is) || json_is_null(is) || json_is_integer(is))
	else if (is_hex(field->kind))
		CU_ASSERT_STRING_EQUAL(json_string_value(is), hex)
	else if (field->kind == TRACE_KIND_BOOL)
		CU_ASSERT_EQUAL(json_is_true(is), wanted != 0)
	else if (wanted <= INT64_MAX || field->is_signed)
		CU_ASSERT_EQUAL(json_integer_value(is), (json_int_t)wanted)
}

static void check_fields(const struct trace_event *event, const json_t *fields)
{
	size_t nr = 0;

	for (size_t i = 0; i < event->type->nr_fields; i++) {
		const struct trace_field *field = &event->type->fields[i];
		const json_t *is = json_object_get(fields, field->name);

		if (field->kind == TRACE_KIND_PAD)
			continue;
		nr++;
		CU_ASSERT_PTR_NOT_NULL(is);
		if (!is_text(field))
			check_number(event, field, is);
		else if (!field->bytes && json_is_string(is) && !strstr(json_string_value(is), "\xef\xbf\xbd"))
			CU_ASSERT_STRING_EQUAL(json_string_value(is), trace_event_string(event));
	}
	CU_ASSERT_EQUAL(json_object_size(fields), nr);
}

/* json_loads() reads integers of 63 bits */
static json_t *line_parse(const char *line)
{
	json_error_t error;
	json_t *json = json_loads(line, 0, &error);

	if (!json && strstr(error.text, "too big"))
		return NULL;
	CU_ASSERT_PTR_NOT_NULL(json);
	if (!json)
		printf("%s: %s", error.text, line);
	return json;
}

static void check_list(const char *path)
{
	struct trace *trace = trace_open(path, NULL);
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	FILE *pipe = list_open(path, "");
	char *line = NULL;
	size_t room = 0;

	while ((event = trace_cursor_next(cursor))) {
		json_t *json;

		CU_ASSERT_FATAL(getline(&line, &room, pipe) > 0);
		json = line_parse(line);
		if (!json)
			continue;
		CU_ASSERT_EQUAL(json_integer_value(json_object_get(json, "ts_ns")), (json_int_t)event->ts_ns);
		CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json, "event")),
				       event->type ? event->type->name : "");
		if (event->cpu != UINT32_MAX)
			CU_ASSERT_EQUAL(json_integer_value(json_object_get(json, "cpu")), event->cpu);
		if (event->type)
			check_fields(event, json_object_get(json, "fields"));
		json_decref(json);
	}
	CU_ASSERT(getline(&line, &room, pipe) <= 0);
	CU_ASSERT_EQUAL(pclose(pipe), 0);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	free(line);
	trace_close(trace);
}

static void check_story(struct tb *tb)
{
	char path[] = "/tmp/report_events_XXXXXX";
	int fd = mkstemp(path);

	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	check_list(path);
	unlink(path);
}

static void every_event_is_a_line_with_all_its_fields(void)
{
	for (uint64_t seed = 1; seed <= 3; seed++)
		check_story(random_story(seed, &(struct mood){.noise = 30,
							      .nr_tids = 12,
							      .switches = 25,
							      .sleeps = 50,
							      .programs = true,
							      .losses = true,
							      .nr_events = 1500}));
	check_list(trace_path);
	check_list(story_path);
}

static void a_line_has_the_thread_the_process_and_the_call(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 9000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(tb, 0, 2000, SYS_read, 3, 0x1000, 1);
	tb_fork(tb, 0, 3000, 10, 11, 10, "one");
	tb_comm(tb, 0, 4000, 11, "a\"\\\x01\xff");
	tb_switch(tb, 0, 5000, 10, 11, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(tb, 0, 6000, -4);
	tb_switch(tb, 0, 7000, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_irq(tb, 0, 8000, 7);
	text = report_of(tb, "-d --json --from=1us");
	contains(text, "{\"ts_ns\":2000,\"time\":\"2023-11-14T22:13:20.000001000Z\",\"cpu\":0,\"pid\":10,\"tid\":10,"
		       "\"comm\":\"one\",\"event\":\"sys_enter3\",\"call\":\"read\",\"fields\":{\"nr\":0,\"abi\":0,");
	contains(text, "\"pid\":10,\"tid\":11,\"comm\":\"a\\\"\\\\\\u0001\xef\xbf\xbd\",\"event\":\"sys_exit\","
		       "\"fields\":{\"ret\":-4}}\n");
	contains(text, "\"pid\":0,\"tid\":0,\"comm\":\"\",\"event\":\"irq_entry\"");
	free(text);
}

/* A thread that was named before the window has its name in it. */
static void a_window_and_a_choice_of_events_have_their_lines_only(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 9000);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_comm(tb, 0, 2000, 10, "later");
	tb_irq(tb, 0, 5000, 7);
	tb_irq_exit(tb, 0, 6000, 7);
	tb_switch(tb, 0, 7000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "-d --json --from=3us -tirq_entry");
	contains(text, "{\"ts_ns\":5000,");
	contains(text, "\"comm\":\"later\",\"event\":\"irq_entry\"");
	CU_ASSERT_PTR_NULL(strstr(text, "irq_exit"));
	CU_ASSERT_PTR_NULL(strstr(text, "sched_comm"));
	CU_ASSERT_PTR_NULL(strstr(text, "####"));
	free(text);
}

static void programs_read_the_lines(void)
{
	char command[512], answer[64] = "";
	FILE *pipe;

	if (system("python3 -c 'import json' 2>/dev/null") != 0)
		return;
	snprintf(command, sizeof(command),
		 TRACE_BIN "/tracevisualizer -d --json %s | python3 -c '"
			   "import json, sys\n"
			   "events = [json.loads(line) for line in sys.stdin]\n"
			   "print(len(events), sum(e[\"event\"] == \"sched_switch\" for e in events), "
			   "[e[\"fields\"][\"ret\"] for e in events if e[\"event\"] == \"sys_exit\"])'",
		 trace_path);
	pipe = popen(command, "r");
	CU_ASSERT_PTR_NOT_NULL(fgets(answer, sizeof(answer), pipe));
	CU_ASSERT_EQUAL(pclose(pipe), 0);
	CU_ASSERT_STRING_EQUAL(answer, "11 3 [4096]\n");
}

static void events_and_figures_are_not_mixed(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-a -d --json", &text), 2);
	contains(text, "option --json writes events, or figures; leave out -d, or the report");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d --json --time=wall", &text), 0);
	contains(text, "warning: --time has no effect here: it chooses what lists (-d) show");
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(every_event_is_a_line_with_all_its_fields),
		CASE(a_line_has_the_thread_the_process_and_the_call),
		CASE(a_window_and_a_choice_of_events_have_their_lines_only),
		CASE(programs_read_the_lines),
		CASE(events_and_figures_are_not_mixed),
		{NULL, NULL},
	};

	return report_main("report_events", cases, argc, argv);
}
