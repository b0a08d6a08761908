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

static void move_alone(struct tb *tb, uint64_t ts_ns, uint32_t tid, uint64_t cgroup, const char *path)
{
	tb_add(tb, 0, ts_ns, cgroup_attach, path, .cgroup = cgroup, .tid = tid, .alone = true);
}

/* Process 10 is in the group "/before". Its thread 11 is on CPU 1 from 2000 on. */
static struct analysis_case begin_threads(void)
{
	struct analysis_case c = case_new();

	tb_start(c.tb, 1000, TRACE_EV_start_cgroup, &(struct trace_start_cgroup){.cgroup = 5},
		 sizeof(struct trace_start_cgroup), "/before");
	start_as(c.tb, 1000, 10, 1, 0, 5);
	tb_fork(c.tb, 0, 2000, 10, 11, 10, "one");
	tb_switch(c.tb, 1, 2000, 0, 11, TRACE_TASK_RUNNING);
	return c;
}

/* The time of process @pid in control group @path, of all its identities. */
static uint64_t time_in(const struct analysis_case *c, uint32_t pid, const char *path)
{
	uint64_t ns = 0;
	size_t nr;
	struct trace_identity *list = identities(c, pid, &nr);

	for (size_t i = 0; i < nr; i++)
		ns += strcmp(list[i].cgroup, path) == 0 ? elapsed(&list[i]) : 0;
	free(list);
	return ns;
}

static void finish_threads(struct analysis_case *c)
{
	tb_switch(c->tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	tb_switch(c->tb, 1, 9000, 11, 0, TRACE_TASK_RUNNING);
	case_run(c);
}

static void a_thread_that_is_moved_alone_has_its_time_in_its_group(void)
{
	struct analysis_case c = begin_threads();

	move_alone(c.tb, 4000, 11, 6, "/thread");
	finish_threads(&c);
	CU_ASSERT_EQUAL(time_in(&c, 10, "/before"), 8000 + 2000);
	CU_ASSERT_EQUAL(time_in(&c, 10, "/thread"), 5000);
	CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 10)), "/before");
	CU_ASSERT_TRUE(trace_process_ever_was(case_process(&c, 10), is_in, "/thread"));
	case_free(&c);
}

/* The quota is that of the group of the thread. */
static void a_thread_waits_for_the_quota_of_its_own_group(void)
{
	struct analysis_case c = begin_threads();

	move_alone(c.tb, 4000, 11, 6, "/thread");
	tb_add(c.tb, 1, 5000, sched_quota, NULL, .tid = 11, .ns = 500000000);
	tb_switch(c.tb, 1, 5000, 11, 0, TRACE_TASK_RUNNING);
	tb_add(c.tb, 1, 7000, sched_quota, NULL, .tid = 11, .over = true, .ns = 2000);
	tb_switch(c.tb, 1, 7000, 0, 11, TRACE_TASK_RUNNING);
	finish_threads(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_QUOTA, "/thread", 0, ""), 2000);
	CU_ASSERT_EQUAL(trace_process_cpu_limit(case_process(&c, 10)), 0);
	case_free(&c);
}

/* It is moved on, its process gets other ids meanwhile, and it comes back. */
static void a_thread_may_be_moved_often(void)
{
	struct analysis_case c = begin_threads();
	struct trace_identity *list;
	uint64_t as_33 = 0;
	size_t nr;

	move_alone(c.tb, 3000, 11, 6, "/first");
	ids(c.tb, 3500, 10, 33, 33);
	move_alone(c.tb, 4000, 11, 7, "/second");
	move_alone(c.tb, 6000, 11, 5, "/before");
	finish_threads(&c);
	CU_ASSERT_EQUAL(time_in(&c, 10, "/first"), 1000);
	list = identities(&c, 10, &nr);
	for (size_t i = 0; i < nr; i++)
		as_33 += list[i].uid == 33 && strcmp(list[i].cgroup, "/first") == 0 ? elapsed(&list[i]) : 0;
	CU_ASSERT_EQUAL(as_33, 500);
	free(list);
	CU_ASSERT_EQUAL(time_in(&c, 10, "/second"), 2000);
	CU_ASSERT_EQUAL(time_in(&c, 10, "/before"), 8000 + 1000 + 3000);
	case_free(&c);
}

/* The leader is moved alone; or the process is, and with it the thread that was apart. */
static void a_leader_may_be_moved_alone_or_with_its_process(void)
{
	for (int alone = 0; alone < 2; alone++) {
		struct analysis_case c = begin_threads();

		if (!alone)
			move_alone(c.tb, 3000, 11, 6, "/thread");
		if (alone)
			move_alone(c.tb, 4000, 10, 7, "/after");
		else
			attach(c.tb, 4000, 10, 7, "/after");
		finish_threads(&c);
		CU_ASSERT_EQUAL(time_in(&c, 10, "/thread"), alone ? 0 : 1000);
		CU_ASSERT_EQUAL(time_in(&c, 10, "/after"), alone ? 5000 : 10000);
		CU_ASSERT_EQUAL(time_in(&c, 10, "/before"), alone ? 3000 + 7000 : 3000 + 1000);
		CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 10)), "/after");
		case_free(&c);
	}
}

/* Thread 11 is in a group of its own, and makes a thread and a process. */
static void a_child_begins_in_the_group_of_the_thread_that_makes_it(void)
{
	struct analysis_case c = begin_threads();

	move_alone(c.tb, 3000, 11, 6, "/thread");
	tb_fork(c.tb, 1, 4000, 11, 12, 10, "one");
	tb_fork(c.tb, 1, 4000, 11, 30, 30, "three");
	tb_fork(c.tb, 0, 4000, 10, 40, 40, "four");
	finish_threads(&c);
	CU_ASSERT_EQUAL(time_in(&c, 10, "/thread"), 6000 + 5000);
	CU_ASSERT_EQUAL(time_in(&c, 10, "/before"), 8000 + 1000);
	CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 30)), "/thread");
	CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 40)), "/before");
	case_free(&c);
}

/* It ends at 6000. Later its process gets other ids, or none. */
static void a_thread_that_ends_leaves_its_group(void)
{
	for (int changes = 0; changes < 2; changes++) {
		struct analysis_case c = begin_threads();
		struct trace_identity *list;
		size_t nr;

		move_alone(c.tb, 4000, 11, 6, "/thread");
		tb_exit(c.tb, 1, 6000, 11, 10, false);
		tb_switch(c.tb, 1, 6000, 11, 0, TRACE_TASK_DEAD);
		if (changes)
			ids(c.tb, 7000, 10, 33, 33);
		tb_fork(c.tb, 0, 7500, 10, 11, 10, "one"); /* another one */
		tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		list = identities(&c, 10, &nr);
		CU_ASSERT_EQUAL_FATAL(nr, changes ? 3 : 2);
		CU_ASSERT_STRING_EQUAL(list[1].cgroup, "/thread");
		CU_ASSERT_EQUAL(list[1].first_ns, 4000);
		CU_ASSERT_EQUAL(list[1].last_ns, 6000);
		CU_ASSERT_EQUAL(elapsed(&list[1]), 2000);
		if (changes)
			CU_ASSERT_EQUAL(elapsed(&list[2]), 2000 + 1500);
		free(list);
		case_free(&c);
	}
}

/* exec ends the leader. */
static void a_thread_that_executes_a_program_brings_its_group(void)
{
	struct analysis_case c = begin_threads();

	move_alone(c.tb, 3000, 11, 6, "/thread");
	tb_sys_enter(c.tb, 1, 3500, SYS_execve);
	tb_exit(c.tb, 0, 4000, 10, 10, false);
	tb_switch(c.tb, 0, 4000, 10, 0, TRACE_TASK_DEAD);
	tb_add(c.tb, 1, 5000, sched_exec, "/bin/program", .tid = 10, .old_tid = 11);
	tb_fork(c.tb, 1, 5500, 10, 30, 30, "three");
	tb_switch(c.tb, 1, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 10)), "/thread");
	CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 30)), "/thread");
	CU_ASSERT_EQUAL(time_in(&c, 10, "/before"), 3000 + 1000);
	CU_ASSERT_EQUAL(time_in(&c, 10, "/thread"), 6000);
	case_free(&c);
}

/* The kernel names the leader of a process that is moved, also if it has ended. */
static void a_process_without_its_leader_may_be_moved(void)
{
	for (int alone = 0; alone < 2; alone++) {
		struct analysis_case c = begin_threads();

		tb_exit(c.tb, 0, 3000, 10, 10, false);
		tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_DEAD);
		if (alone)
			move_alone(c.tb, 4000, 11, 7, "/after");
		else
			attach(c.tb, 4000, 10, 7, "/after");
		tb_switch(c.tb, 1, 9000, 11, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(time_in(&c, 10, "/before"), 2000 + 2000);
		CU_ASSERT_EQUAL(time_in(&c, 10, "/after"), 5000);
		CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 10)), alone ? "/before" : "/after");
		case_free(&c);
	}
}

/* It is moved at 3000. */
static void a_window_has_the_time_of_a_thread_in_its_group(void)
{
	struct analysis_case c = begin_threads();

	tb_sys_enter(c.tb, 0, 2500, SYS_getpid); /* 11 is in a call, too */
	move_alone(c.tb, 3000, 11, 6, "/thread");
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 9000, 11, 0, TRACE_TASK_RUNNING);
	run_window(&c, 4000, 6000);
	CU_ASSERT_EQUAL(time_in(&c, 10, "/before"), 2000);
	CU_ASSERT_EQUAL(time_in(&c, 10, "/thread"), 2000);
	case_free(&c);
}

/* Threads come and go in a group of their own. */
static void a_group_may_have_many_threads_one_after_another(void)
{
	struct analysis_case c = begin_threads();

	move_alone(c.tb, 3000, 11, 6, "/thread");
	for (uint32_t i = 0; i < 20; i++) {
		tb_fork(c.tb, 1, 4000 + 100 * i, 11, 50 + i, 10, "one");
		tb_switch(c.tb, 1, 4010 + 100 * i, 11, 50 + i, TRACE_TASK_INTERRUPTIBLE);
		tb_exit(c.tb, 1, 4050 + 100 * i, 50 + i, 10, false);
		tb_waking(c.tb, 1, 4050 + 100 * i, 11, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 1, 4050 + 100 * i, 50 + i, 11, TRACE_TASK_DEAD);
	}
	finish_threads(&c);
	CU_ASSERT_EQUAL(time_in(&c, 10, "/before"), 8000 + 1000);
	CU_ASSERT_EQUAL(time_in(&c, 10, "/thread"), 6000 + 20 * 50);
	case_free(&c);
}

static void start_thread(struct tb *tb, uint64_t ts_ns, uint64_t cgroup)
{
	struct trace_start_thread thread = {
		.tid = 11, .tgid = 10, .ns_tid = 11, .ns_tgid = 10, .ppid = 1, .nr = -1, .cpu = 1, .running = 1};

	thread.cgroup = cgroup;
	tb_start(tb, ts_ns, TRACE_EV_start_thread, &thread, sizeof(thread), "one");
}

/*
 * 11 is a thread of 10, in a group of its own when it was read, before or after its leader. If it
 * had been moved before, that group is unknown until then.
 */
static void the_start_state_has_the_group_of_each_thread(void)
{
	for (int i = 0; i < 4; i++) {
		bool moved = i & 1, is_first = i & 2;
		struct analysis_case c = case_new();

		tb_start(c.tb, 1000, TRACE_EV_start_cgroup, &(struct trace_start_cgroup){.cgroup = 5},
			 sizeof(struct trace_start_cgroup), "/before");
		tb_start(c.tb, 1000, TRACE_EV_start_cgroup, &(struct trace_start_cgroup){.cgroup = 6},
			 sizeof(struct trace_start_cgroup), "/thread");
		if (is_first)
			start_thread(c.tb, 5000, 6);
		start_as(c.tb, 1000, 10, 1, 0, 5);
		if (!is_first)
			start_thread(c.tb, 5000, 6);
		if (moved)
			move_alone(c.tb, 4000, 11, 6, "/thread");
		finish_threads(&c);
		CU_ASSERT_EQUAL(time_in(&c, 10, "/before"), 8000);
		CU_ASSERT_EQUAL(time_in(&c, 10, "/thread"), moved ? 5000 : 8000);
		CU_ASSERT_EQUAL(time_in(&c, 10, ""), moved ? 3000 : 0);
		case_free(&c);
	}
}

/* The process, or its leader alone, had been moved from "/before" when both threads were read. */
static void a_move_before_the_reading_shows_no_group_of_that_time(void)
{
	for (int alone = 0; alone < 2; alone++) {
		struct analysis_case c = case_new();

		tb_start(c.tb, 1000, TRACE_EV_start_cgroup, &(struct trace_start_cgroup){.cgroup = 5},
			 sizeof(struct trace_start_cgroup), "/before");
		tb_start(c.tb, 1000, TRACE_EV_start_cgroup, &(struct trace_start_cgroup){.cgroup = 7},
			 sizeof(struct trace_start_cgroup), "/after");
		start_as(c.tb, 5000, 10, 1, 0, 7);
		start_thread(c.tb, 5000, alone ? 5 : 7);
		tb_add(c.tb, 0, 4000, cgroup_attach, "/after", .cgroup = 7, .tid = 10, .alone = alone);
		finish_threads(&c);
		CU_ASSERT_EQUAL(time_in(&c, 10, ""), alone ? 3000 : 6000);
		CU_ASSERT_EQUAL(time_in(&c, 10, "/after"), alone ? 5000 : 10000);
		CU_ASSERT_EQUAL(time_in(&c, 10, "/before"), alone ? 8000 : 0);
		case_free(&c);
	}
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
		CASE(a_thread_that_is_moved_alone_has_its_time_in_its_group),
		CASE(a_thread_waits_for_the_quota_of_its_own_group),
		CASE(a_thread_may_be_moved_often),
		CASE(a_leader_may_be_moved_alone_or_with_its_process),
		CASE(a_child_begins_in_the_group_of_the_thread_that_makes_it),
		CASE(a_thread_that_ends_leaves_its_group),
		CASE(a_thread_that_executes_a_program_brings_its_group),
		CASE(a_process_without_its_leader_may_be_moved),
		CASE(a_window_has_the_time_of_a_thread_in_its_group),
		CASE(a_group_may_have_many_threads_one_after_another),
		CASE(the_start_state_has_the_group_of_each_thread),
		CASE(a_move_before_the_reading_shows_no_group_of_that_time),
		CASE(a_name_set_by_prctl_is_an_identity_and_one_set_by_exec_is_not),
		CASE(a_process_keeps_the_name_of_a_leader_that_has_ended),
		CASE(the_time_of_a_program_has_its_name),
		{NULL, NULL},
	};

	return unit_main("identity", cases, argc, argv);
}
