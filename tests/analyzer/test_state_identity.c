/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_identity.c - processes change their user, group, control group, parent and name.
 *
 * Traces begin at 1000 and end at 9000; thread 10 is "one", 20 is "two". All times are ns.
 */
#include <signal.h>
#include "analysis_case.h"
#include "unit.h"

static void ids(struct tb *tb, uint64_t ts_ns, uint32_t tid, uint32_t uid, uint32_t gid)
{
	tb_add(tb, 0, ts_ns, sched_ids, NULL, .tid = tid, .tgid = 10, .uid = uid, .gid = gid, .passes = true);
}

static void adopt(struct tb *tb, uint64_t ts_ns, uint32_t parent, uint32_t reaper)
{
	tb_add(tb, 0, ts_ns, sched_adopt, NULL, .parent = parent, .reaper = reaper);
}

static void attach(struct tb *tb, uint64_t ts_ns, uint32_t tid, uint64_t cgroup, const char *path)
{
	tb_add(tb, 0, ts_ns, cgroup_attach, path, .cgroup = cgroup, .tid = tid);
}

/* A thread of the start state that runs on CPU 0, read at @read_ns. */
static void start_as(struct tb *tb, uint64_t read_ns, uint32_t tid, uint32_t ppid, uint32_t uid, uint64_t cgroup)
{
	struct trace_start_thread start = {.tid = tid,
					   .tgid = tid,
					   .ns_tid = tid,
					   .ns_tgid = tid,
					   .ppid = ppid,
					   .uid = uid,
					   .gid = uid,
					   .nr = -1,
					   .prio = 120,
					   .running = true,
					   .cgroup = cgroup};

	tb_start(tb, read_ns, TRACE_EV_start_thread, &start, sizeof(start), tid == 10 ? "one" : "two");
}

static uint64_t elapsed(const struct trace_identity *identity)
{
	const struct trace_times *t = &identity->times;

	return t->user_ns + t->syscall_ns + t->trap_ns + t->interrupted_ns + t->wait_cpu_ns + t->blocked_ns;
}

/* The identities of process @pid; checks that they add up to its figures. */
static struct trace_identity *identities(const struct analysis_case *c, uint32_t pid, size_t *ret_nr)
{
	struct trace_identity *list = trace_process_identities(c->analysis, case_process(c, pid), ret_nr);
	struct trace_figures *figures = trace_process_figures(c->analysis, case_process(c, pid));
	uint64_t sum = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(list);
	for (size_t i = 0; i < *ret_nr; i++)
		sum += elapsed(&list[i]);
	CU_ASSERT_EQUAL(sum, figures->elapsed_ns);
	trace_figures_free(figures);
	return list;
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

/* 5 is a subreaper. Its child 10 forks 20 and ends. */
static void family(struct tb *tb)
{
	start_as(tb, 1000, 5, 1, 0, 0);
	tb_thread(tb, 10, 10, 5, "one", 1, true);
	tb_fork(tb, 1, 2000, 10, 20, 20, "two");
	tb_exit(tb, 1, 3000, 10, 10, true);
}

static void the_reaper_is_the_parent_of_an_orphan_and_waits_for_it(void)
{
	struct analysis_case c = case_new();
	struct trace_figures *reaper;
	struct trace_identity *list;
	size_t nr;

	family(c.tb);
	adopt(c.tb, 3000, 10, 5);
	tb_switch(c.tb, 1, 3100, 10, 0, TRACE_TASK_DEAD);
	tb_sys_enter(c.tb, 0, 4000, SYS_wait4, (uint64_t)-1);
	tb_switch(c.tb, 0, 4100, 5, 0, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 5);
	reaper = trace_process_figures(c.analysis, case_process(&c, 5));
	CU_ASSERT_EQUAL(case_wait(reaper, TRACE_WAIT_PROCESS, "two", 20, "waitpid"), 4900);
	trace_figures_free(reaper);
	list = identities(&c, 20, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 1); /* it had not run yet */
	free(list);
	case_free(&c);
}

static void fork_and_leave(struct analysis_case *c)
{
	start_as(c->tb, 1000, 5, 1, 0, 0);
	tb_thread(c->tb, 10, 10, 5, "one", 1, true);
	tb_fork(c->tb, 1, 2000, 10, 20, 20, "two");
	tb_lost(c->tb, 1, 1); /* the adoption */
	tb_exit(c->tb, 1, 3000, 10, 10, true);
	tb_switch(c->tb, 1, 3100, 10, 20, TRACE_TASK_DEAD);
}

/* The event of the adoption was lost with others. The dead process is not the parent. */
static void without_the_event_the_parent_of_an_orphan_is_unknown(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	size_t nr;

	fork_and_leave(&c);
	tb_switch(c.tb, 1, 8100, 20, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 0);
	CU_ASSERT_EQUAL(trace_process_pid(trace_process_starter(case_process(&c, 20))), 10);
	list = identities(&c, 20, &nr);
	CU_ASSERT_EQUAL(list[nr - 1].ppid, 0);
	CU_ASSERT_EQUAL(list[nr - 1].first_ns, nr > 1 ? 3100 : 2000);
	free(list);
	case_free(&c);
}

/* The exit of the parent was lost, too: its end shows by the next process of its number. */
static void a_parent_whose_number_is_used_again_has_no_children(void)
{
	struct analysis_case c = case_new();

	start_as(c.tb, 1000, 5, 1, 0, 0);
	tb_thread(c.tb, 10, 10, 5, "one", 1, true);
	tb_fork(c.tb, 1, 2000, 10, 20, 20, "two");
	tb_fork(c.tb, 0, 6000, 5, 10, 10, "three");
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 0);
	case_free(&c);
}

/* The ids of each exec, exit and change of the user have the parent of that time. */
static void an_orphan_tells_its_parent_later(void)
{
	struct analysis_case c = case_new();
	struct trace_identity *list;
	size_t nr;

	fork_and_leave(&c);
	tb_add(c.tb, 1, 5000, sched_ids, NULL, .tid = 20, .tgid = 20, .ppid = 5, .passes = true);
	tb_switch(c.tb, 1, 8100, 20, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 5);
	list = identities(&c, 20, &nr);
	CU_ASSERT_TRUE_FATAL(nr >= 2);
	CU_ASSERT_EQUAL(list[nr - 2].ppid, 0);
	CU_ASSERT_EQUAL(list[nr - 1].ppid, 5);
	CU_ASSERT_EQUAL(list[nr - 1].first_ns, 5000);
	free(list);
	case_free(&c);
}

/* A process that the exit of its parent does not concern keeps its parent. */
static void the_exit_of_a_thread_that_is_not_the_last_adopts_nothing(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 5, "one", 0, true);
	tb_fork(c.tb, 0, 2000, 10, 11, 10, "one");
	tb_fork(c.tb, 0, 2100, 10, 20, 20, "two");
	tb_exit(c.tb, 0, 3000, 10, 10, false);
	tb_switch(c.tb, 0, 3100, 10, 0, TRACE_TASK_DEAD);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 10);
	case_free(&c);
}

/* The last thread of process @pid, which runs on CPU @cpu, exits from @ns to @end_ns. */
static void last_exits(struct tb *tb, uint32_t cpu, uint64_t ns, uint32_t pid, uint64_t end_ns)
{
	tb_exit(tb, cpu, ns, pid, pid, true);
	tb_switch(tb, cpu, end_ns, pid, 0, TRACE_TASK_DEAD);
}

static void expect_parent_until(const struct analysis_case *c, uint32_t pid, uint64_t ns)
{
	size_t nr = 0;
	struct trace_identity *list = identities(c, pid, &nr);

	CU_ASSERT_EQUAL_FATAL(nr, 2);
	CU_ASSERT_EQUAL(list[0].ppid, 10);
	CU_ASSERT_EQUAL(list[0].last_ns, ns);
	CU_ASSERT_EQUAL(list[1].ppid, 5);
	free(list);
}

/*
 * 10 exits from 3000 to 7000. It tells its parent at 6000; without that event its last switch
 * counts. Its child 20 ends at 5000, and 30 lives.
 */
static void a_process_that_exits_has_its_children_until_the_end_of_the_exit(void)
{
	for (int tells = 0; tells < 2; tells++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 4, 4, 1, "four", 1, false);
		tb_thread(c.tb, 5, 5, 1, "five", 1, false);
		tb_thread(c.tb, 10, 10, 4, "one", 0, true);
		tb_thread(c.tb, 20, 20, 10, "two", 1, true);
		tb_thread(c.tb, 30, 30, 10, "three", 1, false);
		adopt(c.tb, 3000, 10, 5);
		tb_exit(c.tb, 0, 3000, 10, 10, true);
		last_exits(c.tb, 1, 4900, 20, 5000);
		tb_switch(c.tb, 1, 5100, 0, 30, TRACE_TASK_RUNNING);
		if (tells)
			tb_add(c.tb, 0, 6000, signal_generate, NULL, .tid = 4, .signal = SIGCHLD, .code = CLD_EXITED);
		tb_switch(c.tb, 0, 7000, 10, 0, TRACE_TASK_DEAD);
		case_run(&c);
		CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 10);
		expect_parent_until(&c, 30, tells ? 6000 : 7000);
		case_free(&c);
	}
}

/* Threads 10 and 11 exit together, from 3000 and 3100 on. 10 has forked 20, and 11 30. */
static struct analysis_case two_threads_exit(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 4, 4, 1, "four", 1, false);
	tb_thread(c.tb, 5, 5, 1, "five", 1, false);
	tb_thread(c.tb, 10, 10, 4, "one", 0, true);
	tb_thread(c.tb, 11, 10, 4, "one", 1, true);
	tb_fork(c.tb, 0, 2000, 10, 20, 20, "two");
	tb_fork(c.tb, 1, 2000, 11, 30, 30, "three");
	tb_switch(c.tb, 0, 2100, 10, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 2100, 11, 30, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 2200, 20, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 2200, 30, 11, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 0, 3000, 10, 10, false);
	adopt(c.tb, 3100, 10, 5);
	tb_exit(c.tb, 1, 3100, 11, 10, true);
	return c;
}

/* Thread 10 is preempted in its exit. The signal of 11 shows that it had passed its child on. */
static void the_signal_to_the_parent_comes_when_all_threads_have_passed_their_children_on(void)
{
	struct analysis_case c = two_threads_exit();

	tb_switch(c.tb, 0, 3200, 10, 20, TRACE_TASK_RUNNING);
	tb_add(c.tb, 1, 4000, signal_generate, NULL, .tid = 4, .signal = SIGCHLD, .code = CLD_EXITED);
	tb_switch(c.tb, 1, 6000, 11, 30, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 8000, 20, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 8000, 30, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	expect_parent_until(&c, 20, 4000);
	expect_parent_until(&c, 30, 4000);
	case_free(&c);
}

/* 20 exits before the trace shows that it has another parent. */
static void a_child_that_exits_signals_its_parent(void)
{
	struct analysis_case c = two_threads_exit();

	tb_switch(c.tb, 0, 3200, 10, 20, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 0, 3300, 20, 20, true);
	tb_add(c.tb, 0, 3400, signal_generate, NULL, .tid = 5, .signal = SIGCHLD, .code = CLD_EXITED);
	tb_switch(c.tb, 0, 3500, 20, 10, TRACE_TASK_DEAD);
	case_run(&c);
	expect_parent_until(&c, 20, 3400);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 30)), 10);
	case_free(&c);
}

/* Each passes the children on that it has forked. */
static void a_thread_that_exits_passes_on_its_own_children(void)
{
	struct analysis_case c = two_threads_exit();

	tb_switch(c.tb, 0, 4000, 10, 20, TRACE_TASK_DEAD);
	tb_switch(c.tb, 1, 6000, 11, 30, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 8000, 20, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 8000, 30, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	expect_parent_until(&c, 20, 4000);
	expect_parent_until(&c, 30, 6000);
	case_free(&c);
}

/* 10 had ended when the reaper of its children, 5, was chosen: then 5 ends before 10 does. */
static void a_reaper_that_has_ended_adopts_no_children(void)
{
	for (int leaves = 0; leaves < 2; leaves++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 4, 4, 1, "four", 0, false);
		tb_thread(c.tb, 5, 5, 4, "five", 1, true);
		tb_thread(c.tb, 10, 10, 5, "one", 0, true);
		tb_thread(c.tb, 20, 20, 10, "two", 0, false);
		adopt(c.tb, 3000, 10, 5);
		tb_exit(c.tb, 0, 3000, 10, 10, true);
		if (leaves)
			adopt(c.tb, 4000, 5, 4);
		last_exits(c.tb, 1, 4000, 5, 4100);
		tb_switch(c.tb, 0, 7000, 10, 0, TRACE_TASK_DEAD);
		case_run(&c);
		CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), leaves ? 4 : 0);
		case_free(&c);
	}
}

static void an_adopted_process_is_adopted_again(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 5, "one", 0, true);
	tb_thread(c.tb, 5, 5, 1, "five", 1, true);
	tb_thread(c.tb, 4, 4, 1, "four", 0, false);
	tb_thread(c.tb, 20, 20, 10, "two", 0, false);
	tb_thread(c.tb, 30, 30, 10, "three", 0, false);
	adopt(c.tb, 3000, 10, 5);
	last_exits(c.tb, 0, 3000, 10, 3100);
	adopt(c.tb, 4000, 5, 4);
	last_exits(c.tb, 1, 4000, 5, 4100);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 10)), 5); /* it had ended before */
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 20)), 4);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 30)), 4);
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(&c, 5)), 1);
	case_free(&c);
}

static int verify(struct analysis_case *c, struct trace_error *ret_error)
{
	struct trace_analysis_options options = {.size = sizeof(options), .verify = true};

	c->trace = tb_open_trace(c->tb);
	c->analysis = trace_analysis_new(c->trace, &options, ret_error);
	CU_ASSERT_EQUAL(trace_analysis_run(c->analysis, ret_error), 0);
	return trace_analysis_verify(c->analysis, ret_error);
}

static void verify_reports_a_child_of_a_dead_parent(void)
{
	struct analysis_case c = case_new();
	struct trace_error error = {0};

	family(c.tb);
	tb_switch(c.tb, 1, 3100, 10, 0, TRACE_TASK_DEAD);
	CU_ASSERT_EQUAL(verify(&c, &error), -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(error.message, "process 10 ends (sched_exit), and no process has adopted its child 20"));
	case_free(&c);
	c = case_new();
	family(c.tb);
	tb_switch(c.tb, 1, 3100, 10, 0, TRACE_TASK_DEAD);
	adopt(c.tb, 4000, 5, 10); /* by a dead process */
	tb_thread(c.tb, 30, 30, 5, "three", 0, false);
	CU_ASSERT_EQUAL(verify(&c, &error), -EBADMSG);
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
		CASE(without_the_event_the_parent_of_an_orphan_is_unknown),
		CASE(a_parent_whose_number_is_used_again_has_no_children),
		CASE(an_orphan_tells_its_parent_later),
		CASE(the_reaper_is_the_parent_of_an_orphan_and_waits_for_it),
		CASE(the_exit_of_a_thread_that_is_not_the_last_adopts_nothing),
		CASE(a_process_that_exits_has_its_children_until_the_end_of_the_exit),
		CASE(a_thread_that_exits_passes_on_its_own_children),
		CASE(the_signal_to_the_parent_comes_when_all_threads_have_passed_their_children_on),
		CASE(a_child_that_exits_signals_its_parent),
		CASE(a_reaper_that_has_ended_adopts_no_children),
		CASE(an_adopted_process_is_adopted_again),
		CASE(verify_reports_a_child_of_a_dead_parent),
		CASE(a_name_set_by_prctl_is_an_identity_and_one_set_by_exec_is_not),
		CASE(a_process_keeps_the_name_of_a_leader_that_has_ended),
		CASE(the_time_of_a_program_has_its_name),
		{NULL, NULL},
	};

	return unit_main("identity", cases, argc, argv);
}
