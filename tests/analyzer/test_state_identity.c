/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_identity.c - processes change their user, group, control group and name.
 *
 * Traces begin at 1000 and end at 9000; thread 10 is "one", 20 is "two". All times are ns.
 */
#include "identity_case.h"
#include "unit.h"

static void ids(struct tb *tb, uint64_t ts_ns, uint32_t tid, uint32_t uid, uint32_t gid)
{
	tb_add(tb, 0, ts_ns, sched_ids, NULL, .tid = tid, .tgid = 10, .uid = uid, .gid = gid, .passes = true);
}

static void attach(struct tb *tb, uint64_t ts_ns, uint32_t tid, uint64_t cgroup, const char *path)
{
	tb_add(tb, 0, ts_ns, cgroup_attach, path, .cgroup = cgroup, .tid = tid);
}

static void a_process_that_drops_its_privileges_has_the_time_of_each_user(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	size_t nr;

	start_as(c.tb, 1000, 10, 1, 0, 0);
	tb_sys_enter(c.tb, 0, 3000, SYS_getpid);
	ids(c.tb, 3100, 10, 0, 65534);
	tb_sys_exit(c.tb, 0, 3100, 0);
	tb_sys_enter(c.tb, 0, 3500, SYS_getpid);
	ids(c.tb, 3600, 10, 65534, 65534);
	tb_sys_exit(c.tb, 0, 3600, 0);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_uid(case_process(&c, 10)), 65534);
	CU_ASSERT_EQUAL(trace_process_gid(case_process(&c, 10)), 65534);
	list = identities(&c, 10, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 3);
	CU_ASSERT_EQUAL(list[0].uid, 0);
	CU_ASSERT_EQUAL(list[0].gid, 0);
	CU_ASSERT_EQUAL(elapsed(&list[0]), 2100);
	CU_ASSERT_EQUAL(list[0].times.syscall_ns, 100);
	CU_ASSERT_EQUAL(list[1].gid, 65534);
	CU_ASSERT_EQUAL(elapsed(&list[1]), 500);
	CU_ASSERT_EQUAL(list[2].uid, 65534);
	CU_ASSERT_EQUAL(list[2].first_ns, 3600);
	CU_ASSERT_EQUAL(list[2].times.user_ns, 5400);
	free(list);
	case_free(&c);
}

static void run_window(struct analysis_case *c, uint64_t from_ns, uint64_t to_ns)
{
	struct trace_analysis_options options = {
		.size = sizeof(options), .from_ns = from_ns, .to_ns = to_ns, .verify = true};

	c->trace = tb_open_trace(c->tb);
	c->analysis = trace_analysis_new(c->trace, &options, NULL);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(c->analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(c->analysis, NULL), 0);
}

/* User 0 until 3000, 7 until 5000, 8 until 7000, then 9. */
static void a_window_has_the_identities_in_it(void)
{
	static const struct {
		uint64_t from, to;
		size_t nr;
		uint32_t first;
		uint64_t ns[4];
	} windows[] = {
		{2000, 8000, 4, 0, {1000, 2000, 2000, 1000}},
		{3500, 4500, 1, 7, {1000}},
		{4000, 6000, 2, 7, {1000, 1000}},
		{1000, 2500, 1, 0, {1500}},
		{7500, 9000, 1, 9, {1500}},
		{5500, 9000, 2, 8, {1500, 2000}},
	};

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		struct analysis_case c = case_new();
		struct trace_identity *list;
		size_t nr;

		start_as(c.tb, 1000, 10, 1, 0, 0);
		for (uint32_t user = 7; user < 10; user++)
			ids(c.tb, 3000 + 2000ull * (user - 7), 10, user, 0);
		tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
		run_window(&c, windows[i].from, windows[i].to);
		list = identities(&c, 10, &nr);
		CU_ASSERT_EQUAL_FATAL(nr, windows[i].nr);
		CU_ASSERT_EQUAL(list[0].uid, windows[i].first);
		CU_ASSERT_EQUAL(list[0].first_ns, windows[i].from);
		CU_ASSERT_EQUAL(list[nr - 1].last_ns, windows[i].to);
		for (size_t k = 0; k < nr; k++) {
			CU_ASSERT_EQUAL(elapsed(&list[k]), windows[i].ns[k]);
			CU_ASSERT_EQUAL(list[k].count, 1);
		}
		free(list);
		case_free(&c);
	}
}

/* A file server takes the id of each client, and its own again. */
static void an_identity_that_returns_has_one_row(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	size_t nr;

	start_as(c.tb, 1000, 10, 1, 0, 0);
	for (uint64_t ns = 2000; ns < 8000; ns += 1000) {
		ids(c.tb, ns, 10, 7, 0);
		ids(c.tb, ns + 300, 10, 0, 0);
	}
	case_run(&c);
	list = identities(&c, 10, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 2);
	CU_ASSERT_EQUAL(elapsed(&list[1]), 1800);
	CU_ASSERT_EQUAL(list[1].count, 6);
	CU_ASSERT_EQUAL(list[1].last_ns, 7300);
	CU_ASSERT_EQUAL(trace_process_uid(case_process(&c, 10)), 0);
	free(list);
	case_free(&c);
}

static void the_ids_of_one_more_thread_are_not_those_of_its_process(void)
{
	struct analysis_case c = case_new();
	const struct trace_thread *thread;
	size_t nr;

	start_as(c.tb, 1000, 10, 1, 0, 0);
	tb_fork(c.tb, 0, 2000, 10, 11, 10, "one");
	ids(c.tb, 3000, 11, 33, 33);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_uid(case_process(&c, 10)), 0);
	free(identities(&c, 10, &nr));
	CU_ASSERT_EQUAL(nr, 1);
	thread = trace_next_thread(case_process(&c, 10), NULL);
	CU_ASSERT_EQUAL(trace_thread_uid(thread), 0);
	CU_ASSERT_EQUAL(trace_thread_uid(trace_next_thread(case_process(&c, 10), thread)), 33);
	case_free(&c);
}

static void more_users_than_rows_are_one_row_without_a_user(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	size_t nr;

	start_as(c.tb, 1000, 10, 1, 0, 0);
	for (uint32_t i = 1; i <= 100; i++)
		ids(c.tb, 2000 + i * 10, 10, 1000 + i, 0);
	case_run(&c);
	list = identities(&c, 10, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 64);
	CU_ASSERT_EQUAL(list[62].uid, 1062);
	CU_ASSERT_EQUAL(list[63].uid, TRACE_ID_UNKNOWN);
	CU_ASSERT_EQUAL(trace_process_uid(case_process(&c, 10)), 1100);
	free(list);
	case_free(&c);
}

/* The changes and threads pay for 64 reads of a thread each. Here a change reads 200 threads. */
static void many_threads_that_change_often_have_time_without_a_user(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	uint64_t changes = 0;
	size_t nr;

	start_as(c.tb, 1000, 10, 1, 0, 0);
	for (uint32_t tid = 11; tid < 210; tid++)
		tb_thread(c.tb, tid, 10, 1, "one", 0, false);
	for (uint32_t i = 1; i <= 500; i++)
		ids(c.tb, 2000 + i * 10, 10, i % 2, 0);
	case_run(&c);
	list = identities(&c, 10, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 3);
	for (size_t i = 0; i < nr; i++)
		changes += list[i].count;
	CU_ASSERT_EQUAL(changes, 501);
	CU_ASSERT_EQUAL(list[2].uid, TRACE_ID_UNKNOWN);
	CU_ASSERT_TRUE(list[2].first_ns >= 2000 + 63 * 10);
	CU_ASSERT_TRUE(elapsed(&list[0]) > 0 && elapsed(&list[1]) > 0 && elapsed(&list[2]) > 0);
	CU_ASSERT_EQUAL(trace_process_uid(case_process(&c, 10)), 0);
	free(list);
	case_free(&c);
}

/* A flight recorder reads the start state at the end: it has the user after the change. */
static void the_user_before_a_change_that_the_start_state_has_already_is_unknown(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	size_t nr;

	start_as(c.tb, 8000, 10, 1, 65534, 0);
	ids(c.tb, 4000, 10, 65534, 65534);
	case_run(&c);
	list = identities(&c, 10, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 2); /* the call may have changed nothing; nothing tells */
	CU_ASSERT_EQUAL(list[0].uid, TRACE_ID_UNKNOWN);
	CU_ASSERT_EQUAL(list[1].uid, 65534);
	free(list);
	case_free(&c);
	c = case_new();
	start_as(c.tb, 8000, 10, 1, 65534, 0);
	ids(c.tb, 4000, 10, 33, 65534);
	ids(c.tb, 5000, 10, 65534, 65534);
	case_run(&c);
	list = identities(&c, 10, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 3);
	CU_ASSERT_EQUAL(list[0].uid, TRACE_ID_UNKNOWN);
	CU_ASSERT_EQUAL(list[1].uid, 33);
	CU_ASSERT_EQUAL(list[2].uid, 65534);
	free(list);
	case_free(&c);
}

/* Both changes came before the start state was read: before its own, each value is unknown. */
static void the_group_and_the_name_before_a_change_are_unknown(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	size_t nr;

	tb_start(c.tb, 1000, TRACE_EV_start_cgroup, &(struct trace_start_cgroup){.cgroup = 5},
		 sizeof(struct trace_start_cgroup), "/after");
	start_as(c.tb, 8000, 10, 1, 33, 5);
	tb_sys_enter(c.tb, 0, 3000, SYS_getpid); /* in place of prctl() */
	tb_comm(c.tb, 0, 3500, 10, "one");
	tb_sys_exit(c.tb, 0, 3600, 0);
	attach(c.tb, 5000, 10, 5, "/after");
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	list = identities(&c, 10, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 3);
	CU_ASSERT_STRING_EQUAL(list[0].comm, "");
	CU_ASSERT_STRING_EQUAL(list[0].cgroup, "");
	CU_ASSERT_STRING_EQUAL(list[1].comm, "one");
	CU_ASSERT_STRING_EQUAL(list[1].cgroup, "");
	CU_ASSERT_STRING_EQUAL(list[2].cgroup, "/after");
	CU_ASSERT_EQUAL(list[0].uid, 33);
	CU_ASSERT_EQUAL(list[0].last_ns, 3500);
	CU_ASSERT_EQUAL(list[1].last_ns, 5000);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 10)), "one");
	free(list);
	case_free(&c);
}

static void note_program(void *data, struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_thread_on_cpu(a, 0);
	const struct trace_process *process = thread ? trace_thread_process(thread) : NULL;
	char *texts = data;

	if (process && (event->id == TRACE_EV_fault_entry || event->id == TRACE_EV_irq_entry))
		snprintf(texts + (event->id == TRACE_EV_irq_entry ? 40 : 0), 40, "%s %s %s",
			 trace_process_comm(process), trace_process_exe(process), trace_process_args(process));
}

/* The process executes another program at 4000. The start state has the name of that one. */
static void the_program_before_an_exec_is_unknown(void)
{
	struct analysis_case c = case_new();
	char texts[80] = ""; /* before, after */

	start_as(c.tb, 7000, 10, 1, 0, 0);
	tb_start(c.tb, 7000, TRACE_EV_start_exe, &(struct trace_start_exe){.tgid = 10}, sizeof(struct trace_start_exe),
		 "/bin/one");
	tb_start(c.tb, 7000, TRACE_EV_start_args, &(struct trace_start_args){.tgid = 10, .bytes = 3},
		 sizeof(struct trace_start_args), "one");
	tb_fault(c.tb, 0, 2000, 0x1000, true);
	tb_fault_end(c.tb, 0, 2100, false);
	tb_sys_enter(c.tb, 0, 3000, SYS_execve, 0, 0, 0);
	tb_comm(c.tb, 0, 3900, 10, "one");
	tb_exec(c.tb, 0, 4000, 10, "/bin/one");
	tb_add(c.tb, 0, 4001, sched_args, "one", .tid = 10, .bytes = 3);
	tb_sys_exit(c.tb, 0, 4100, 0);
	tb_irq(c.tb, 0, 5000, 7);
	tb_irq_exit(c.tb, 0, 5100, 7);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_open(&c);
	CU_ASSERT_EQUAL(trace_analysis_on_event(c.analysis, NULL, note_program, texts), 0);
	case_run(&c);
	CU_ASSERT_STRING_EQUAL(texts, "  ");
	CU_ASSERT_STRING_EQUAL(texts + 40, "one /bin/one one");
	case_free(&c);
}

static void a_child_may_be_born_in_another_control_group(void)
{
	struct analysis_case c = case_new();
	size_t nr;

	tb_start(c.tb, 1000, TRACE_EV_start_cgroup, &(struct trace_start_cgroup){.cgroup = 5},
		 sizeof(struct trace_start_cgroup), "/parents");
	start_as(c.tb, 1000, 10, 1, 0, 5);
	tb_fork(c.tb, 0, 2000, 10, 20, 20, "two");
	attach(c.tb, 2001, 20, 6, "/children");
	tb_fork(c.tb, 0, 3000, 10, 30, 30, "three");
	case_run(&c);
	CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 10)), "/parents");
	CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 20)), "/children");
	CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 30)), "/parents");
	free(identities(&c, 20, &nr));
	CU_ASSERT_EQUAL(nr, 1);
	case_free(&c);
}

static bool is_in(const void *group, const struct trace_identity *identity)
{
	return strcmp(identity->cgroup, group) == 0;
}

static void a_process_that_is_moved_has_the_time_of_each_control_group(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	size_t nr;

	tb_start(c.tb, 1000, TRACE_EV_start_cgroup, &(struct trace_start_cgroup){.cgroup = 5},
		 sizeof(struct trace_start_cgroup), "/before");
	start_as(c.tb, 1000, 10, 1, 0, 5);
	tb_fork(c.tb, 0, 2000, 10, 11, 10, "one");
	attach(c.tb, 4000, 10, 6, "/after");
	attach(c.tb, 4010, 11, 6, "/after");
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	list = identities(&c, 10, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 2);
	CU_ASSERT_STRING_EQUAL(list[0].cgroup, "/before");
	CU_ASSERT_EQUAL(elapsed(&list[0]), 3000 + 2000); /* of both threads */
	CU_ASSERT_STRING_EQUAL(list[1].cgroup, "/after");
	CU_ASSERT_TRUE(trace_process_ever_was(case_process(&c, 10), is_in, "/before"));
	CU_ASSERT_TRUE(trace_process_ever_was(case_process(&c, 10), is_in, "/after"));
	CU_ASSERT_FALSE(trace_process_ever_was(case_process(&c, 10), is_in, "/other"));
	free(list);
	case_free(&c);
}

static void a_name_set_by_prctl_is_an_identity_and_one_set_by_exec_is_not(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	size_t nr;

	start_as(c.tb, 1000, 10, 1, 0, 0);
	tb_sys_enter(c.tb, 0, 3000, SYS_execve);
	tb_comm(c.tb, 0, 3100, 10, "program");
	tb_exec(c.tb, 0, 3200, 10, "/bin/program");
	tb_sys_exit(c.tb, 0, 3300, 0);
	tb_sys_enter(c.tb, 0, 5000, SYS_getpid); /* in place of prctl */
	tb_comm(c.tb, 0, 5100, 10, "worker");
	tb_sys_exit(c.tb, 0, 5200, 0);
	case_run(&c);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 10)), "worker");
	list = identities(&c, 10, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 2);
	CU_ASSERT_STRING_EQUAL(list[0].comm, "program");
	CU_ASSERT_EQUAL(elapsed(&list[0]), 4100);
	CU_ASSERT_STRING_EQUAL(list[1].comm, "worker");
	free(list);
	case_free(&c);
}

/* The kernel, too, goes on with the name of the first thread. A worker sets its own name. */
static void a_process_keeps_the_name_of_a_leader_that_has_ended(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 5, "one", 0, true);
	tb_fork(c.tb, 0, 2000, 10, 11, 10, "one");
	tb_exit(c.tb, 0, 3000, 10, 10, false);
	tb_switch(c.tb, 0, 3100, 10, 11, TRACE_TASK_DEAD);
	tb_sys_enter(c.tb, 0, 5000, SYS_getpid); /* in place of prctl */
	tb_comm(c.tb, 0, 5100, 11, "worker");
	tb_sys_exit(c.tb, 0, 5200, 0);
	case_run(&c);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 10)), "one");
	CU_ASSERT_STRING_EQUAL(trace_thread_comm(trace_find_thread(c.analysis, 11)), "worker");
	case_free(&c);
}

/* A child drops its privileges and then executes its program, as su does. */
static void the_time_of_a_program_has_its_name(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	size_t nr;

	start_as(c.tb, 1000, 10, 1, 0, 0);
	ids(c.tb, 2000, 10, 65534, 65534);
	tb_sys_enter(c.tb, 0, 3000, SYS_execve);
	tb_comm(c.tb, 0, 3100, 10, "sh");
	tb_add(c.tb, 0, 3200, sched_exec, "/bin/sh", .tid = 10, .old_tid = 10, .uid = 65534);
	tb_sys_exit(c.tb, 0, 3300, 0);
	case_run(&c);
	list = identities(&c, 10, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 3);
	CU_ASSERT_STRING_EQUAL(list[1].comm, "one");
	CU_ASSERT_EQUAL(elapsed(&list[1]), 1100);
	CU_ASSERT_STRING_EQUAL(list[2].comm, "sh");
	CU_ASSERT_EQUAL((int)list[2].uid, 65534);
	free(list);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_process_that_drops_its_privileges_has_the_time_of_each_user),
		CASE(a_window_has_the_identities_in_it),
		CASE(an_identity_that_returns_has_one_row),
		CASE(the_ids_of_one_more_thread_are_not_those_of_its_process),
		CASE(more_users_than_rows_are_one_row_without_a_user),
		CASE(many_threads_that_change_often_have_time_without_a_user),
		CASE(the_user_before_a_change_that_the_start_state_has_already_is_unknown),
		CASE(the_group_and_the_name_before_a_change_are_unknown),
		CASE(the_program_before_an_exec_is_unknown),
		CASE(a_child_may_be_born_in_another_control_group),
		CASE(a_process_that_is_moved_has_the_time_of_each_control_group),
		CASE(a_name_set_by_prctl_is_an_identity_and_one_set_by_exec_is_not),
		CASE(a_process_keeps_the_name_of_a_leader_that_has_ended),
		CASE(the_time_of_a_program_has_its_name),
		{NULL, NULL},
	};

	return unit_main("identity", cases, argc, argv);
}
