/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_report_user.c - programs' own events in tracevisualizer's output: their scopes, counters and
 * requests, in the report, the list and the JSON.
 *
 * The shop of user_events_case.h.
 */
#include <jansson.h>
#include <unistd.h>
#include "unit.h"
#include "user_events_case.h"
#include "visualizer.h"

static char *report_as(struct tb *tb, const char *options, int status)
{
	char path[] = "/tmp/test_user_events_XXXXXX", arguments[256], *text;
	int fd = mkstemp(path);

	tb_write(tb, fd, true);
	close(fd);
	snprintf(arguments, sizeof(arguments), "%s %s", options, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), status);
	unlink(path);
	return text;
}

static char *report(struct tb *tb, const char *options)
{
	return report_as(tb, options, 0);
}

static struct tb *shop(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:checkout.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:checkout.end", TRACE_ROLE_END);
	uint16_t take = event_type(s.tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
		 done = event_type(s.tb, "shop:order.end", TRACE_ROLE_REQUEST_END);
	uint16_t paid = event_type(s.tb, "shop:paid", TRACE_ROLE_EVENT),
		 queue = event_type(s.tb, "shop:queue", TRACE_ROLE_COUNTER);

	emit(s.tb, 0, 1400, paid, 10, 0);
	emit(s.tb, 0, 1500, open, 10, 0);
	emit(s.tb, 0, 1600, take, 10, 5);
	emit(s.tb, 0, 1700, queue, 10, 3);
	read_orders(s.tb);
	emit(s.tb, 0, 6500, done, 10, 5);
	emit(s.tb, 0, 7000, close, 10, 0);
	emit(s.tb, 0, 7400, paid, 10, 0);
	emit(s.tb, 0, 7500, open, 10, 0);
	return s.tb;
}

static const char golden[] =
	"Scopes of programs (the time between begin and end, and where it went):\n"
	"  count  time  ~median  ~99th %   CPU  CPU wait  blocked  name           process\n"
	"      1  5500     5500     5500  2400       100     3000  shop:checkout  shop (10)\n"
	"\n"
	"  1 had no end in the trace.\n"
	"\n"
	"  shop:checkout waited 3000 for file /orders.db\n"
	"\n"
	"Requests of programs (the time between begin and end, on any thread; queued: no thread worked on it):\n"
	"  count  time  ~median  ~99th %   CPU  CPU wait  blocked  queued  name        process\n"
	"      1  4900     4900     4900  1800       100     3000       0  shop:order  shop (10)\n"
	"\n"
	"  shop:order waited 3000 for file /orders.db\n"
	"\n";

static const char golden_between[] =
	"Time between consecutive events of programs (of one thread and provider):\n"
	"  count  time  ~median  ~99th %   CPU  CPU wait  blocked  name               process\n"
	"      1  6000     6000     6000  2900       100     3000  shop:paid .. paid  shop (10)\n";

/* Process 20 takes the CPU of 11, and waits within a scope of the same name. */
static void waits_in_scopes_of_one_name_show_their_process(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:checkout.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:checkout.end", TRACE_ROLE_END);
	uint16_t paid = event_type(s.tb, "shop:paid", TRACE_ROLE_EVENT);
	char *text;

	tb_thread(s.tb, 20, 20, 1, "till", 1, false);
	emit(s.tb, 0, 1500, open, 10, 0);
	read_orders(s.tb);
	emit(s.tb, 0, 7000, close, 10, 0);
	emit(s.tb, 0, 7100, paid, 10, 0);
	tb_switch(s.tb, 1, 7500, 11, 20, TRACE_TASK_INTERRUPTIBLE);
	stream_at(s.tb, 1, 7600, 20);
	emit(s.tb, 1, 8000, open, 20, 0);
	tb_sys_enter(s.tb, 1, 8500, SYS_pause);
	tb_switch(s.tb, 1, 9000, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(s.tb, 0, 12000, 20, TRACE_CONTEXT_TASK);
	tb_switch(s.tb, 1, 12000, 0, 20, TRACE_TASK_RUNNING);
	tb_sys_exit(s.tb, 1, 12500, 0);
	emit(s.tb, 1, 13000, close, 20, 0);
	text = report(s.tb, "-a --ns");
	contains(text, "\n  shop:checkout of shop (10) waited 3000 for file /orders.db\n");
	contains(text, "\n  shop:checkout of till (20) waited 3000 for process 10 shop\n");
	contains(text, "\n      1  52632            -        -  shop:paid  shop (10)\n"); /* no time in between */
	free(text);
	tb_free(s.tb);
}

static void scopes_that_never_ended_are_shown(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:checkout.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:checkout.end", TRACE_ROLE_END);
	char *text;

	emit(s.tb, 0, 1500, close, 10, 0);
	emit(s.tb, 0, 1600, open, 10, 0);
	text = report(s.tb, "-a");
	contains(text, "\n\nScopes of programs (the time between begin and end, and where it went):\n"
		       "  1 had no end in the trace.\n"
		       "  1 had no beginning in the trace, or are beyond the 64 open scopes that are followed.\n\n");
	free(text);
	tb_free(s.tb);
}

static void the_report_divides_the_time_in_scopes(void)
{
	struct tb *tb = shop();
	char *text = report(tb, "-a --ns");

	contains(text, golden);
	contains(text, golden_between);
	contains(text, "  samples  lowest  mean  highest  last  counter     process\n"
		       "        1       3     3        3     3  shop:queue  shop (10)\n");
	CU_ASSERT_PTR_NULL(strstr(text, "shop:checkout.begin")); /* counted as scopes */
	free(text);
	text = report_as(tb, "-a --ns --pid=999", 1);
	CU_ASSERT_PTR_NULL(strstr(text, "shop:checkout"));
	free(text);
	text = report(tb, "--verify");
	contains(text, "verified");
	free(text);
	tb_free(tb);
}

/* Each in a column of its own, so that the columns add up to the time. */
static void interruptions_are_distinguished_from_waiting_for_a_cpu(void)
{
	struct story s = begin();
	uint16_t open = event_type(s.tb, "shop:checkout.begin", TRACE_ROLE_BEGIN),
		 close = event_type(s.tb, "shop:checkout.end", TRACE_ROLE_END);
	char *text;

	emit(s.tb, 0, 1500, open, 10, 0);
	read_orders(s.tb);
	tb_vector(s.tb, 0, 6500, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(s.tb, 0, 6570, TRACE_VECTOR_LOCAL_TIMER);
	emit(s.tb, 0, 7000, close, 10, 0);
	text = report(s.tb, "-a --ns");
	contains(text,
		 "  count  time  ~median  ~99th %   CPU  interrupted  CPU wait  blocked  name           process\n"
		 "      1  5500     5500     5500  2330           70       100     3000  shop:checkout  shop (10)\n");
	free(text);
	tb_free(s.tb);
}

static void the_report_shows_unrecorded_time_of_a_scope(void)
{
	struct tb *tb = tb_new();
	uint16_t open = event_type(tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(tb, "shop:a.end", TRACE_ROLE_END);
	uint16_t take = event_type(tb, "shop:b.begin", TRACE_ROLE_REQUEST_BEGIN),
		 done = event_type(tb, "shop:b.end", TRACE_ROLE_REQUEST_END);
	char *text;

	stream(tb, 0, 10);
	emit(tb, 0, 1500, open, 10, 0);
	emit(tb, 0, 1600, take, 10, 5);
	emit(tb, 0, 6600, done, 10, 5);
	emit(tb, 0, 7000, close, 10, 0);
	text = report(tb, "-a --ns");
	contains(text, "  count  time  ~median  ~99th %  CPU  CPU wait  blocked  unknown  name    process\n"
		       "      1  5500     5500     5500    0         0        0     5500  shop:a  shop (10)\n");
	contains(text, "  count  time  ~median  ~99th %  CPU  CPU wait  blocked  queued  unknown  name    process\n"
		       "      1  5000     5000     5000    0         0        0       0     5000  shop:b  shop (10)\n");
	free(text);
	text = report(tb, "--json");
	contains(text, "\"name\":\"shop:a\",\"from\":\"\",\"pid\":10,\"comm\":\"shop\"");
	free(text);
	tb_free(tb);
}

/* Without permission to record the kernel there are no processes, but the programs have names and
 * numbers. */
static void without_the_kernel_programs_are_selected_by_name_and_number(void)
{
	struct tb *tb = tb_new();
	uint16_t open = event_type(tb, "shop:a.begin", TRACE_ROLE_BEGIN),
		 close = event_type(tb, "shop:a.end", TRACE_ROLE_END);
	static const char *const theirs[] = {"-a --ns --comm=shop", "-a --ns --pid=10", "-a --ns"};
	char *text;

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_KERNEL);
	stream(tb, 0, 10);
	emit(tb, 0, 1500, open, 10, 0);
	emit(tb, 0, 7000, close, 10, 0);
	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++) {
		text = report(tb, theirs[i]);
		CU_ASSERT_PTR_EQUAL(strstr(text, "The kernel was not recorded, only events of programs: "),
				    answer_of(text));
		contains(text, "  count  time  ~median  ~99th %  name    process\n"
			       "      1  5500     5500     5500  shop:a  shop (10)\n");
		contains(text, "Scheduling changes: not recorded\n");
		CU_ASSERT_PTR_NULL(strstr(text, "No process"));
		CU_ASSERT_PTR_NULL(strstr(text, "% busy"));
		CU_ASSERT_PTR_NULL(strstr(text, "CPUs (%"));
		free(text);
	}
	text = report_as(tb, "-a --comm=absent", 1);
	CU_ASSERT_STRING_EQUAL(text, "tracevisualizer: no program that has events here is called absent; without "
				     "--pid, --tid, --comm and --cgroup all are listed\n");
	free(text);
	text = report(tb, "--json");
	contains(text, "\"sees_wakeups\":false,\"sees_calls\":false,\"sees_traps\":false,\"sees_interrupts\":false,");
	free(text);
	tb_free(tb);
	tb = tb_new();
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_KERNEL);
	text = report(tb, "-a");
	contains(text, " The trace has no such events.\n");
	contains(text, "\tScheduling changes: not recorded\n"); /* and the other notes about missing events */
	free(text);
	tb_free(tb);
}

static size_t nr_lines(const char *text, const char *with)
{
	size_t nr = 0;

	for (; (text = strstr(text, with)); text += strlen(with))
		nr++;
	return nr;
}

static void the_list_has_the_selected_events_of_programs(void)
{
	static const struct {
		const char *options;
		size_t nr; /* of eight */
	} cases[] = {{"-d", 8},
		     {"-d -tsched", 0},
		     {"-d -tuser", 8},
		     {"-d -ouser", 0},
		     {"-d -tshop:paid", 2},
		     {"-d -oshop:paid", 6},
		     {"-d '-tshop:*'", 8},
		     {"-d '-tshop:q*' -tsched", 1},
		     {"-d -tshop:checkout", 3},
		     {"-d -tshop:checkout.end", 1},
		     {"-d '-oshop:*'", 0}};
	struct tb *tb = shop();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = report(tb, cases[i].options);

		CU_ASSERT_EQUAL(nr_lines(text, "\tshop:") + nr_lines(text, " shop:"), cases[i].nr);
		CU_ASSERT_EQUAL(nr_lines(text, "Sched change") > 0, strcmp(cases[i].options, "-d") == 0 ||
									    strstr(cases[i].options, "sched") ||
									    strstr(cases[i].options, "-o"));
		if (nr_lines(text, "\tshop:") + nr_lines(text, " shop:") != cases[i].nr)
			printf("\n%s\n%s\n", cases[i].options, text);
		free(text);
	}
	tb_free(tb);
}

static void kinds_of_spans_that_are_left_out_are_told(void)
{
	for (uint32_t nr = 2; nr <= MANY_KINDS; nr += MANY_KINDS - 2) {
		struct story s = begin();
		char *text;

		emit_pairs(s.tb, nr);
		text = report(s.tb, "-a --section=programs");
		CU_ASSERT_EQUAL(strstr(text, "more than 65,536 kinds of scopes") != NULL, nr > 2);
		free(text);
		if (nr == 2) { /* the other report has 65,536 objects */
			text = report(s.tb, "--json");
			CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"spans_left_out\":false"));
			free(text);
		}
		tb_free(s.tb);
	}
}

static void the_json_has_all_program_events(void)
{
	struct tb *tb = shop();
	char *text = report(tb, "--json");
	json_error_t error;
	json_t *root = json_loads(text, 0, &error), *spans = json_object_get(root, "spans"),
	       *first = json_array_get(spans, 0);
	json_int_t sum = 0;

	CU_ASSERT_EQUAL(json_array_size(spans), 3);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(root, "user_events")), 6);
	contains(text, "{\"name\":\"shop:checkout.begin\",\"role\":\"begin\",\"pid\":10,\"comm\":\"shop\",\"count\":2,"
		       "\"first_ns\":1500,\"last_ns\":7500,\"interval\":{\"count\":1,\"sum_ns\":6000,\"min_ns\":6000,"
		       "\"p50_ns\":6000,\"p99_ns\":6000,\"max_ns\":6000}}");
	/* the counter has more fields */
	contains(text, "\"max_ns\":0},\"last\":3,\"lowest\":3,\"highest\":3,\"mean\":3}");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(first, "name")), "shop:checkout");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(first, "kind")), "scope");
	for (size_t i = 0; i < 7; i++)
		sum += json_integer_value(json_object_get(
			first, (const char *const[]){"user_ns", "system_ns", "interrupted_ns", "wait_cpu_ns",
						     "blocked_ns", "queued_ns", "unseen_ns"}[i]));
	CU_ASSERT_EQUAL(sum, 5500);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(first, "sum_ns")), 5500);
	CU_ASSERT_STRING_EQUAL(json_string_value(
				       json_object_get(json_array_get(json_object_get(first, "waits"), 0), "target")),
			       "/orders.db");
	json_decref(root);
	free(text);
	tb_free(tb);
}

static char *diff_with_itself(struct tb *tb, const char *options)
{
	char path[] = "/tmp/report_user_XXXXXX", arguments[128], *text;
	int fd = mkstemp(path);

	tb_write(tb, fd, true);
	close(fd);
	snprintf(arguments, sizeof(arguments), "%s %s %s", options, path, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	unlink(path);
	return text;
}

#define CLAIM "1,023 events (1,020 of them counted by programs only)"

static struct tb *shop_with_claims(void)
{
	struct tb *tb = shop();

	tb_lost(tb, 0, 3);
	tb_user_lost(tb, 0, 1020);
	tb_keep_end(tb);
	return tb;
}

/* A recorder cannot check the losses that a program counts by itself: reports tell them apart. */
static void losses_that_only_programs_counted_are_told_apart(void)
{
	static const struct {
		const char *options, *contained;
	} outputs[] = {{"-a", CLAIM " were lost"},
		       {"", CLAIM " were lost"},
		       {"-s", "Lost: " CLAIM " in "},
		       {"--verify", "; lost: " CLAIM "\n"},
		       {"--critical-path=10", CLAIM " were lost"},
		       {"--json", "\"lost\":1023,\"claimed\":1020,"},
		       {"--critical-path=10 --json", "\"lost\":1023,\"claimed\":1020,"},
		       {"--timeline", "\"lost\":1023,\"claimed\":1020,"}};
	struct tb *tb = shop_with_claims();
	char *text;

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		text = report(tb, outputs[i].options);
		contains(text, outputs[i].contained);
		free(text);
	}
	text = diff_with_itself(tb, "--diff");
	contains(text, "lost: " CLAIM "\n");
	free(text);
	text = diff_with_itself(tb, "--diff --json");
	contains(text, "\"claimed\":{\"a\":1020,\"b\":1020,");
	free(text);
	tb_free(tb);
}

/* These outputs have no place for losses. The warning in front of them has the same words. */
static void the_warning_of_every_output_tells_claimed_losses_apart(void)
{
	static const char *const options[] = {"-d",	    "-s",	 "--strace",	   "--profile",
					      "--json",	    "--verify",	 "--timeline",	   "--critical-path",
					      "--flame=- ", "--pprof=-", "--slowest=read", "--html=-"};
	char path[] = "/tmp/report_user_XXXXXX", arguments[128], *text;
	struct tb *tb = shop_with_claims();
	int fd = mkstemp(path);

	tb_write(tb, fd, true);
	close(fd);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		snprintf(arguments, sizeof(arguments), "%s %s", options[i], path);
		visualizer_run(arguments, &text);
		contains(text, "warning: " CLAIM " were lost in 2 gaps; the affected times are shown as unknown\n");
		free(text);
	}
	unlink(path);
	tb_free(tb);
}

/* A trace of an older version, or of --keep, does not tell which losses only programs counted. */
static void an_unknown_claim_is_said_to_be_unknown(void)
{
	struct tb *tb = shop_with_claims();
	char *text;

	tb_claims_unknown(tb);
	text = report(tb, "-a");
	contains(text, "1,023 events (an unknown part of them counted by programs only) were lost");
	free(text);
	text = report(tb, "--timeline");
	contains(text, "\"lost\":1023,\"claimed\":null,");
	free(text);
	tb_free(tb);
}

/* If the recorder says that a program wrote impossible numbers, not every event is accounted
 * for. */
static void a_trace_with_a_distrusted_program_is_verified_in_part(void)
{
	struct tb *tb = shop();
	char *text;

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_DISTRUSTED, "1");
	text = report(tb, "--verify");
	contains(text,
		 "verified in part: every recorded event is accounted for, but the number of lost events is uncertain");
	free(text);
	tb_free(tb);
	tb = shop();
	text = report(tb, "--verify");
	contains(text, "verified: every event is accounted for");
	free(text);
	tb_free(tb);
}

/* One event is of the future and one of a CPU that the machine does not have. They change neither
 * the time nor the CPUs of the report, and the trace is not verified. */
static void impossible_events_of_programs_change_no_report(void)
{
	for (int is_cpu = 0; is_cpu < 2; is_cpu++) {
		struct story s = begin();
		uint16_t id = event_type(s.tb, "shop:paid", TRACE_ROLE_EVENT);
		char *text;

		tb_keep_end(s.tb);
		tb_switch(s.tb, 0, 1500, 10, 10, TRACE_TASK_RUNNING);
		tb_switch(s.tb, 1, 1500, 11, 11, TRACE_TASK_RUNNING);
		emit(s.tb, is_cpu ? 1700 : 1, is_cpu ? 2000 : 3600000000000ull, id, 10, 0);
		text = report_as(s.tb, "--verify", 1);
		contains(text, is_cpu ? "offset " : "but the recording ended at 20000 ns");
		contains(text, is_cpu ? "stream 67236, of a program, has events of CPU 1700"
				      : "stream 65537, of a program, has events at 3600000000000 ns");
		CU_ASSERT_PTR_NULL(strstr(text, "verified"));
		free(text);
		text = report(s.tb, "--json");
		contains(text, "\"end_ns\":20000,\"elapsed_ns\":19000");
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"cpu\":1,"));
		CU_ASSERT_PTR_NULL(strstr(text, "\"cpu\":2,"));
		free(text);
		tb_free(s.tb);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_report_divides_the_time_in_scopes),
		CASE(waits_in_scopes_of_one_name_show_their_process),
		CASE(scopes_that_never_ended_are_shown),
		CASE(interruptions_are_distinguished_from_waiting_for_a_cpu),
		CASE(the_report_shows_unrecorded_time_of_a_scope),
		CASE(without_the_kernel_programs_are_selected_by_name_and_number),
		CASE(the_list_has_the_selected_events_of_programs),
		CASE(the_json_has_all_program_events),
		CASE(kinds_of_spans_that_are_left_out_are_told),
		CASE(losses_that_only_programs_counted_are_told_apart),
		CASE(the_warning_of_every_output_tells_claimed_losses_apart),
		CASE(an_unknown_claim_is_said_to_be_unknown),
		CASE(a_trace_with_a_distrusted_program_is_verified_in_part),
		CASE(impossible_events_of_programs_change_no_report),
		{NULL, NULL},
	};

	return unit_main("report user", cases, argc, argv);
}
