/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_rules.c - a result that breaks a rule is reported, with its time and thread.
 *
 * The analysis makes no such result, so the test gives the rules intervals and events that it made
 * up (rules_case.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "rules_case.h"
#include "unit.h"

/* "two" lives from 2500 to 6000; "one" all the time. @lose: events are missing at 7000 */
static struct analysis_case two_ends(bool lose)
{
	struct analysis_case c = case_new();
	struct trace_sched_wakeup_new wakeup = {.tid = 20, .target_cpu = 1};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_fork);
	tb_fork(c.tb, 0, 2500, 10, 20, 20, "two");
	tb_event(c.tb, 0, 2600, TRACE_EV_sched_wakeup_new, &wakeup, sizeof(wakeup), NULL);
	tb_sys_exit(c.tb, 0, 2700, 20);
	tb_switch(c.tb, 1, 3000, 0, 20, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, 3100, 0);
	tb_exit(c.tb, 1, 5000, 20, 20, true);
	tb_switch(c.tb, 1, 6000, 20, 0, TRACE_TASK_DEAD);
	if (lose)
		tb_lost(c.tb, 1, 1);
	tb_switch(c.tb, 1, 8000, 0, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	return c;
}

/*
 * The rules judge an interval in which "one" waited for "two", or "two" woke it.
 *
 * Returns the result of rules_verify().
 */
static int judge(const struct analysis_case *c, uint64_t from, uint64_t to, bool waited, bool woken,
		 struct trace_error *ret_error)
{
	struct trace_interval wait = {
		.thread = first_thread(c, 10),
		.from_ns = from,
		.to_ns = to,
		.state = TRACE_STATE_BLOCKED,
		.kind = TRACE_WAIT_PROCESS,
		.other = waited ? case_process(c, 20) : NULL,
		.waker = woken ? first_thread(c, 20) : NULL,
	};
	struct rules *rules = rules_case_begin(c);

	feed_interval(c, &wait);
	return rules_case_end(rules, ret_error);
}

static void a_process_that_lives_may_be_waited_for(void)
{
	struct analysis_case c = two_ends(false);
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(judge(&c, 4000, 7000, true, true, &error), 0);
	CU_ASSERT_EQUAL(judge(&c, 2000, 2500, true, true, &error), 0);
	CU_ASSERT_EQUAL(judge(&c, 6000, 7000, true, true, &error), 0);
	case_free(&c);
}

static void a_process_that_has_ended_is_not_waited_for(void)
{
	struct analysis_case c = two_ends(false);
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(judge(&c, 6001, 7000, true, false, &error), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(
		error.message,
		"at 0.000006000 s thread 10 (one) waited for process 20 (two), which did not live during the wait");
	CU_ASSERT_EQUAL(judge(&c, 2000, 2499, true, false, &error), -EBADMSG);
	case_free(&c);
}

static void a_thread_that_has_ended_wakes_no_other(void)
{
	struct analysis_case c = two_ends(false);
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(judge(&c, 6001, 7000, true, true, &error), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(error.message,
			       "at 0.000006000 s thread 10 (one) was woken by thread 20 (two), which did "
			       "not live then (and 1 more violation of rules)");
	CU_ASSERT_EQUAL(judge(&c, 6001, 7000, false, true, &error), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(
		error.message,
		"at 0.000006000 s thread 10 (one) was woken by thread 20 (two), which did not live then");
	case_free(&c);
}

static void a_rule_is_silent_where_events_are_missing(void)
{
	struct analysis_case c = two_ends(true);
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(judge(&c, 6001, 7000, true, true, &error), 0);
	CU_ASSERT_EQUAL(judge(&c, 1500, 1600, true, true, &error), -EBADMSG);
	case_free(&c);
}

/* The rules see @event and the one behind it only, if it is not NULL, and judge the results. */
static int judge_results(const struct analysis_case *c, const struct trace_event *event, struct trace_error *ret_error)
{
	struct rules *rules = rules_case_begin(c);

	for (int i = 0; event && i < 2; i++)
		feed(c, event[i].id, event[i].ts_ns, event[i].cpu, event[i].payload);
	return rules_case_end(rules, ret_error);
}

static void a_process_has_the_parent_that_the_events_give_it(void)
{
	struct trace_sched_adopt adopt = {.parent = 10, .reaper = 5};
	struct trace_exit_times last = {.tid = 10};
	struct trace_event events[] = {{.id = TRACE_EV_sched_adopt, .ts_ns = 4000, .payload = &adopt},
				       {.id = TRACE_EV_exit_times, .ts_ns = 4100, .payload = &last}};
	struct analysis_case c = two_ends(false);
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(judge_results(&c, NULL, &error), 0);
	CU_ASSERT_EQUAL(judge_results(&c, events, &error), 0); /* 5 is not known */
	adopt.reaper = 20;
	adopt.parent = 1; /* of 10, and not known */
	CU_ASSERT_EQUAL(judge_results(&c, events, &error), 0);
	case_free(&c);
	c = case_new();
	tb_thread(c.tb, 5, 5, 1, "five", 1, false);
	tb_thread(c.tb, 10, 10, 5, "one", 0, true);
	tb_thread(c.tb, 20, 20, 10, "two", 1, true);
	case_run(&c);
	adopt = (struct trace_sched_adopt){.parent = 10, .reaper = 5};
	CU_ASSERT_EQUAL(judge_results(&c, events, &error), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(error.message, "at 0.000003000 s: process 20 has process 10 as parent in the results, "
					      "but process 5 by its events");
	last.tid = 11; /* it has not passed its children on yet */
	CU_ASSERT_EQUAL(judge_results(&c, events, &error), 0);
	case_free(&c);
}

static void the_bytes_of_a_file_are_those_of_calls_on_it(void)
{
	struct analysis_case c = case_new();
	struct trace_error error = {0};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 3, 9, 77, 0100600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 100);
	tb_sys_exit(c.tb, 0, 3000, 60);
	case_run(&c);
	CU_ASSERT_EQUAL(judge_results(&c, NULL, &error), -EBADMSG); /* the rule has seen no call */
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "thread 10 (one) has 60 bytes of /data, but its calls moved 0"));
	case_free(&c);
}

/* ---- the other end of a socket ---- */

/* Socket @ino of a connection between the ports 40000 and 80 of this machine; or of a pair. */
static void connected(const struct analysis_case *c, uint64_t ino, uint64_t peer_ino, uint16_t local_port)
{
	struct trace_sock_endpoints ends = {.fd = 3,
					    .ino = ino,
					    .peer_ino = peer_ino,
					    .family = peer_ino ? AF_UNIX : AF_INET,
					    .type = SOCK_STREAM,
					    .local_port = local_port,
					    .remote_port = local_port == 80 ? 40000 : 80,
					    .local_lo = 1,
					    .remote_lo = 1};

	feed(c, TRACE_EV_sock_endpoints, 2000, 0, &ends);
}

/* "one" waits in a read of socket 500 for @other, which had socket @had. */
static int judge_read(const struct analysis_case *c, const char *via, uint32_t other, uint64_t had,
		      struct trace_error *ret_error)
{
	struct trace_sys_enter3 enter = {.nr = SYS_read, .arg0 = 3};
	struct trace_file_id known = {.dev = (uint32_t)RULES_DEV_KNOWN, .ino = 1000},
			     end = {.ino = had, .mode = S_IFSOCK};
	struct trace_interval wait = {.thread = first_thread(c, 10),
				      .from_ns = 4000,
				      .to_ns = 5000,
				      .state = TRACE_STATE_BLOCKED,
				      .kind = TRACE_WAIT_PROCESS,
				      .via = via,
				      .other = case_process(c, other)};
	struct rules *rules = rules_case_begin(c);

	if (strcmp(via, "tcp") == 0) {
		connected(c, 500, 0, 40000);
		connected(c, 501, 0, 80);
	} else {
		connected(c, 500, 501, 0);
	}
	rules_touch(rules, wait.other, &known);
	rules_touch(rules, wait.other, &end);
	feed(c, TRACE_EV_sys_enter3, 3000, 0, &enter);
	feed_interval(c, &wait);
	return rules_case_end(rules, ret_error);
}

/* Whatever the state takes for the other end. */
static void the_other_end_of_a_socket_is_that_of_the_events(void)
{
	static const char *const vias[] = {"tcp", "unix"};
	struct trace_error error = {0};
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_fd(c.tb, 10, 3, 9, 500, S_IFSOCK | 0777, "socket:[500]");
	case_run(&c);
	for (size_t i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(judge_read(&c, vias[i], 20, 501, &error), 0);
		CU_ASSERT_EQUAL(judge_read(&c, vias[i], 20, 502, &error), -EBADMSG);
		CU_ASSERT_EQUAL(judge_read(&c, vias[i], 10, 500, &error), -EBADMSG);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "for process 10 (one) via "));
		CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "but it never had the other end of its socket"));
	}
	case_free(&c);
}

/* ---- descriptors ---- */

/* Descriptor 4 is of file @ino in the results, after a call that made it of 3. */
static int judge_duplicate(const char *call, uint64_t command, uint64_t ino, bool is_shared,
			   struct trace_error *ret_error)
{
	struct trace_sys_exit exit = {.ret = 4};
	struct trace_sys_enter enter = {.nr = SYS_getpid};
	struct trace_sched_fork fork = {.parent_tid = 10, .tid = 30, .tgid = 30, .clone_flags = CLONE_FILES};
	struct analysis_case c = case_new();
	struct rules *rules;
	int result;

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 3, 9, 77, S_IFREG | 0600, "/data");
	tb_fd(c.tb, 10, 4, 9, ino, S_IFREG | 0600, "/other");
	tb_sys_enter(c.tb, 0, 2000, SYS_fcntl, 3, command, 0);
	case_run(&c);
	rules = rules_case_begin(&c);
	call_in_progress = call;
	call_args[0] = 3;
	call_args[1] = command;
	if (is_shared)
		feed(&c, TRACE_EV_sched_fork, 2500, 0, &fork);
	feed(&c, TRACE_EV_sys_exit, 3000, 0, &exit);
	call_in_progress = NULL;
	feed(&c, TRACE_EV_sys_enter, 4000, 0, &enter);
	result = rules_case_end(rules, ret_error);
	case_free(&c);
	return result;
}

static void a_duplicated_descriptor_is_of_the_same_file(void)
{
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(judge_duplicate("dup2", 4, 77, false, &error), 0);
	CU_ASSERT_EQUAL(judge_duplicate("dup2", 4, 78, false, &error), -EBADMSG);
	CU_ASSERT_STRING_EQUAL(error.message, "at 0.000002000 s thread 10 (one) has made descriptor 4 of 3, but they "
					      "are not of the same file in the results");
	CU_ASSERT_EQUAL(judge_duplicate("dup", 4, 78, false, &error), -EBADMSG);
	CU_ASSERT_EQUAL(judge_duplicate("dup3", 4, 78, false, &error), -EBADMSG);
	CU_ASSERT_EQUAL(judge_duplicate("fcntl", F_DUPFD_CLOEXEC, 78, false, &error), -EBADMSG);
	CU_ASSERT_EQUAL(judge_duplicate("fcntl64", F_DUPFD, 78, false, &error), -EBADMSG);
	CU_ASSERT_EQUAL(judge_duplicate("fcntl", F_SETFL, 78, false, &error), 0);
	CU_ASSERT_EQUAL(judge_duplicate("read", 0, 78, false, &error), 0);
	CU_ASSERT_EQUAL(judge_duplicate("dup2", 4, 78, true, &error), 0); /* the other process may have closed it */
}

static const struct unit_case cases[] = {
	CASE(a_process_that_lives_may_be_waited_for),
	CASE(a_process_that_has_ended_is_not_waited_for),
	CASE(a_thread_that_has_ended_wakes_no_other),
	CASE(a_rule_is_silent_where_events_are_missing),
	CASE(a_process_has_the_parent_that_the_events_give_it),
	CASE(the_bytes_of_a_file_are_those_of_calls_on_it),
	CASE(the_other_end_of_a_socket_is_that_of_the_events),
	CASE(a_duplicated_descriptor_is_of_the_same_file),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("rules", cases, argc, argv);
}
