/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_state_again.c - the start state, read again after a pause: the analysis uses it and counts
 * nothing twice. Also threads that share descriptors. Times and threads as in test_state.c. */
#include <fcntl.h>
#include <linux/sched.h>
#include "identity_case.h"
#include "unit.h"

#define ALL_OF_IT                          \
	{                                  \
		~0ull, ~0ull, ~0ull, ~0ull \
	}

/* Nothing is recorded from @from to @to. Then start state records follow until tell_end(). */
static void pause_recording(struct analysis_case *c, uint64_t from, uint64_t to)
{
	uint64_t all[TRACE_MASK_WORDS] = ALL_OF_IT, none[TRACE_MASK_WORDS] = {1ull << TRACE_EV_trace_mask};

	tb_event(c->tb, 0, 1000, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	tb_event(c->tb, 0, from, TRACE_EV_trace_mask, none, sizeof(none), NULL);
	tb_event(c->tb, 0, to, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	tb_add(c->tb, 0, to, start_again, NULL, .done = 0);
}

static void tell_thread(struct analysis_case *c, uint64_t ns, uint32_t tid, uint32_t tgid, uint64_t born_ns, int nr,
			const char *comm)
{
	tb_add(c->tb, 0, ns, start_thread, comm, .tid = tid, .tgid = tgid, .ppid = 1, .nr = nr,
	       .state = TRACE_TASK_INTERRUPTIBLE, .start_ns = born_ns);
}

static void tell_fd(struct analysis_case *c, uint64_t ns, uint32_t tgid, int fd, uint64_t ino, const char *path)
{
	tb_add(c->tb, 0, ns, start_fd, path, .tgid = tgid, .fd = fd, .dev = 1, .ino = ino, .mode = 0100644);
}

static void tell_end(struct analysis_case *c, uint64_t ns)
{
	tb_add(c->tb, 0, ns, start_again, NULL, .done = 1);
}

/* @tid, which runs on CPU 0, reads 100 bytes. */
static void reads(struct analysis_case *c, uint64_t ns, int fd)
{
	tb_sys_enter(c->tb, 0, ns, SYS_read, (uint64_t)fd, 1, 100);
	tb_sys_exit(c->tb, 0, ns + 10, 100);
}

static uint64_t read_bytes(const struct trace_figures *f, const char *path)
{
	for (size_t i = 0; f && i < f->nr_files; i++)
		if (strcmp(f->files[i].path, path) == 0)
			return f->files[i].read_bytes;
	return 0;
}

static void open_files_have_their_names_again_after_a_pause(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 3, 1, 100, 0100644, "/same");
	tb_fd(c.tb, 10, 4, 1, 101, 0100644, "/old");
	tb_fd(c.tb, 10, 5, 1, 102, 0100644, "/closed");
	pause_recording(&c, 2000, 4000);
	tell_thread(&c, 4010, 10, 10, 1, -1, "one");
	tell_fd(&c, 4020, 10, 3, 100, "/same");
	tell_fd(&c, 4020, 10, 4, 103, "/new");
	tell_end(&c, 4030);
	tb_switch(c.tb, 0, 5000, 0, 10, TRACE_TASK_RUNNING);
	for (int fd = 3; fd <= 5; fd++)
		reads(&c, 5000 + 100 * (uint64_t)fd, fd);
	case_run(&c);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/same"), 100);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/new"), 100);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/old"), 0);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/closed"), 0);
	CU_ASSERT_EQUAL(c.one->nr_files, 2);
	case_free(&c);
}

static void tell_group(struct analysis_case *c, uint64_t ns, uint32_t tid, uint64_t cgroup)
{
	tb_add(c->tb, 0, ns, start_thread, "one", .tid = tid, .tgid = 10, .ppid = 1, .nr = -1,
	       .state = TRACE_TASK_INTERRUPTIBLE, .start_ns = 1, .cgroup = cgroup);
}

/* In the pause, the thread 11 is moved alone, or its leader, or their process. */
static void threads_and_processes_may_be_moved_in_a_pause(void)
{
	for (int moved = 1; moved < 4; moved++) {
		struct analysis_case c = case_new();
		struct trace_identity *list;
		size_t nr;

		tb_start(c.tb, 1000, TRACE_EV_start_cgroup, &(struct trace_start_cgroup){.cgroup = 5},
			 sizeof(struct trace_start_cgroup), "/before");
		tb_start(c.tb, 1000, TRACE_EV_start_cgroup, &(struct trace_start_cgroup){.cgroup = 6},
			 sizeof(struct trace_start_cgroup), "/after");
		start_as(c.tb, 1000, 10, 1, 0, 5);
		tb_fork(c.tb, 0, 1500, 10, 11, 10, "one");
		pause_recording(&c, 2000, 4000);
		tell_group(&c, 4010, 10, moved & 2 ? 6 : 5);
		tell_group(&c, 4010, 11, moved & 1 ? 6 : 5);
		tell_end(&c, 4030);
		case_run(&c);
		list = identities(&c, 10, &nr);
		CU_ASSERT_EQUAL_FATAL(nr, 2);
		CU_ASSERT_STRING_EQUAL(list[1].cgroup, "/after");
		CU_ASSERT_EQUAL(list[1].first_ns, 4030);
		CU_ASSERT_EQUAL(elapsed(&list[1]), (9000 - 4030) * (moved == 3 ? 2 : 1));
		free(list);
		case_free(&c);
	}
}

/* The pause gives the process another user or another name, or neither. Its thread has its own. */
static void users_and_names_may_change_in_a_pause(void)
{
	for (int changed = 0; changed < 3; changed++) {
		struct analysis_case c = case_new();
		struct trace_identity *list;
		size_t nr;

		start_as(c.tb, 1000, 10, 1, 0, 0);
		tb_fork(c.tb, 0, 1500, 10, 11, 10, "one");
		pause_recording(&c, 2000, 4000);
		tb_add(c.tb, 0, 4010, start_thread, changed == 2 ? "new" : "one", .tid = 10, .tgid = 10, .ppid = 1,
		       .nr = -1, .uid = changed == 1 ? 33 : 0, .gid = changed == 1 ? 33 : 0,
		       .state = TRACE_TASK_INTERRUPTIBLE, .start_ns = 1);
		tb_add(c.tb, 0, 4020, start_thread, "other", .tid = 11, .tgid = 10, .ppid = 1, .nr = -1, .uid = 7,
		       .gid = 7, .state = TRACE_TASK_INTERRUPTIBLE, .start_ns = 1500);
		tell_end(&c, 4030);
		case_run(&c);
		list = identities(&c, 10, &nr);
		CU_ASSERT_EQUAL_FATAL(nr, changed ? 2 : 1);
		CU_ASSERT_EQUAL(list[0].uid, 0);
		CU_ASSERT_STRING_EQUAL(list[0].comm, "one");
		CU_ASSERT_EQUAL(list[nr - 1].first_ns, changed ? 4010 : 1000);
		CU_ASSERT_EQUAL(list[nr - 1].uid, changed == 1 ? 33 : 0);
		CU_ASSERT_EQUAL(list[nr - 1].gid, changed == 1 ? 33 : 0);
		CU_ASSERT_STRING_EQUAL(list[nr - 1].comm, changed == 2 ? "new" : "one");
		free(list);
		case_free(&c);
	}
}

/* A file that is opened while the state is read has an event of its own, before or after its start
 * state record. */
static void the_later_of_open_event_and_start_record_counts(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	pause_recording(&c, 2000, 4000);
	tb_switch(c.tb, 0, 4005, 0, 10, TRACE_TASK_RUNNING);
	tb_open(c.tb, 0, 4010, 3, 1, 100, 0100644, "/first");
	tb_open(c.tb, 0, 4010, 4, 1, 100, 0100644, "/first");
	tell_thread(&c, 4015, 10, 10, 1, -1, "one");
	tell_fd(&c, 4020, 10, 3, 101, "/second");
	tell_fd(&c, 4020, 10, 5, 102, "/third");
	tb_sys_enter(c.tb, 0, 4025, SYS_close, 5);
	tb_sys_exit(c.tb, 0, 4026, 0);
	tell_end(&c, 4030);
	for (int fd = 3; fd <= 5; fd++)
		reads(&c, 5000 + 100 * (uint64_t)fd, fd);
	case_run(&c);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/second"), 100);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/first"), 100);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/third"), 0);
	case_free(&c);
}

/* The first thread sleeps in a call, the second has ended, the third is new. So is the fourth,
 * which has the number of one that ended. */
static void threads_that_ended_or_began_in_a_pause_are_noticed(void)
{
	struct analysis_case c = case_new();
	struct trace_figures *third, *old;
	const struct trace_process *process;

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_thread(c.tb, 40, 40, 1, "four", 0, false);
	tb_sys_enter(c.tb, 1, 1500, SYS_pause);
	tb_switch(c.tb, 1, 1600, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 0, 1500, SYS_nanosleep, 1, 0);
	tb_switch(c.tb, 0, 1600, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	pause_recording(&c, 2000, 4000);
	tell_thread(&c, 4010, 10, 10, 1, SYS_nanosleep, "one");
	tell_thread(&c, 4011, 30, 30, 3000, SYS_pause, "three");
	tell_thread(&c, 4012, 31, 30, 3500, SYS_pause, "three");
	tell_thread(&c, 4013, 40, 40, 3600, SYS_pause, "new four");
	tell_end(&c, 4030);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_nr_processes(c.analysis), 5);
	CU_ASSERT_EQUAL(trace_nr_threads(case_process(&c, 20)), 1);
	CU_ASSERT_EQUAL(c.two->elapsed_ns, 3000);
	/* the end of its wait within the pause is unknown */
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_UNKNOWN, "", 0, ""), 2000 + 400);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_TIMEOUT, "", 0, ""), 400 + 5000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 2000);
	process = case_process(&c, 30);
	third = trace_process_figures(c.analysis, process);
	CU_ASSERT_EQUAL(trace_nr_threads(process), 2);
	CU_ASSERT_EQUAL(third->elapsed_ns, 6000 + 5500);
	trace_figures_free(third);
	process = case_process(&c, 40); /* the first process of that number */
	old = trace_process_figures(c.analysis, process);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(process), "four");
	CU_ASSERT_EQUAL(old->elapsed_ns, 3000);
	trace_figures_free(old);
	case_free(&c);
}

/* It slept in one call before the pause and sleeps in another one after it, so it did something in
 * between. */
static void a_thread_in_another_call_after_a_pause_ran_in_between(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 1500, SYS_nanosleep, 1, 0);
	tb_switch(c.tb, 0, 1600, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	pause_recording(&c, 2000, 4000);
	tell_thread(&c, 4100, 10, 10, 1, SYS_pause, "one");
	tell_end(&c, 4200);
	tb_waking(c.tb, 0, 7000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 7100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 7200, -4);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_call(c.one, "pause")->calls, 1);
	CU_ASSERT_EQUAL(case_call(c.one, "nanosleep")->calls, 1);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 8000);
	CU_ASSERT_EQUAL(c.one->blocked_ns, 400 + 2100 + 2900);
	case_free(&c);
}

/* Threads run before the recorder reads them, and while programs are attached: one that began in
 * the pause, a thread of it, and one that has called exec meanwhile. */
static void a_thread_that_runs_before_its_start_record_has_name_and_process(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, false);
	pause_recording(&c, 2000, 4000);
	tb_waking(c.tb, 1, 3990, 32, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 4005, 0, 30, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 4006, 30, 31, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 4007, 31, 10, TRACE_TASK_INTERRUPTIBLE);
	tell_thread(&c, 4010, 10, 10, 1, -1, "exec");
	tell_thread(&c, 4011, 30, 30, 3000, SYS_pause, "three");
	tell_thread(&c, 4012, 31, 30, 3500, SYS_pause, "three");
	tell_thread(&c, 4013, 32, 30, 3600, SYS_pause, "three");
	tell_end(&c, 4030);
	pause_recording(&c, 5000, 6000);
	tb_waking(c.tb, 1, 5990, 51, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6004, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 6005, 10, 51, TRACE_TASK_INTERRUPTIBLE);
	tb_fork(c.tb, 0, 6006, 51, 60, 60, "child");
	tell_thread(&c, 6010, 10, 10, 1, -1, "exec");
	tell_thread(&c, 6011, 50, 50, 5500, SYS_pause, "five");
	tell_thread(&c, 6012, 51, 50, 5600, SYS_pause, "five");
	tell_thread(&c, 6013, 60, 60, 6006, SYS_pause, "child");
	tell_end(&c, 6030);
	case_run(&c);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 10)), "exec");
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 30)), "three");
	CU_ASSERT_EQUAL(trace_nr_threads(case_process(&c, 30)), 3);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 50)), "five");
	CU_ASSERT_EQUAL(trace_nr_threads(case_process(&c, 50)), 2);
	CU_ASSERT_EQUAL(trace_process_start_ns(case_process(&c, 60)), 6006);
	CU_ASSERT_EQUAL(trace_nr_processes(c.analysis), 4);
	case_free(&c);
}

/* The recorder read its state, and the thread then left its CPU for the last time, before the time
 * of its record. */
static void a_thread_that_ends_while_it_is_read_has_ended(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, false);
	pause_recording(&c, 2000, 4000);
	tb_switch(c.tb, 0, 4005, 0, 10, TRACE_TASK_RUNNING);
	tb_fork(c.tb, 0, 4006, 10, 20, 20, "two");
	tb_switch(c.tb, 0, 4007, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_exit(c.tb, 0, 4010, 20, 20, true);
	tb_switch(c.tb, 0, 4011, 20, 0, TRACE_TASK_DEAD);
	tell_thread(&c, 4009, 10, 10, 1, SYS_pause, "one");
	tb_add(c.tb, 0, 4012, start_thread, "two", .tid = 20, .tgid = 20, .ppid = 10, .nr = -1, .running = 1,
	       .start_ns = 4006);
	tell_end(&c, 4030);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_nr_processes(c.analysis), 2);
	CU_ASSERT_EQUAL(c.two->elapsed_ns, 5);
	case_free(&c);
}

/* The recorder read a child that was just being created. Its fork event follows. */
static void a_thread_that_is_being_created_begins_at_its_fork(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	pause_recording(&c, 2000, 4000);
	tb_switch(c.tb, 0, 4005, 0, 10, TRACE_TASK_RUNNING);
	tell_thread(&c, 4010, 10, 10, 1, -1, "one");
	tb_add(c.tb, 0, 4011, start_thread, "one", .tid = 20, .tgid = 20, .ppid = 10, .nr = -1, .state = 0x800,
	       .start_ns = 4009);
	tb_fork(c.tb, 0, 4020, 10, 20, 20, "two");
	tell_end(&c, 4030);
	case_run(&c);
	CU_ASSERT_EQUAL(trace_nr_processes(c.analysis), 2);
	CU_ASSERT_EQUAL(c.two->elapsed_ns, 4980);
	case_free(&c);
}

/* The recorder could not read all of the state: threads without a record may still exist. */
static void after_an_incomplete_reading_no_thread_has_ended(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, false);
	pause_recording(&c, 2000, 4000);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 8000);
	case_free(&c);
}

/* Start state records that were not announced belong to no pause and are ignored. */
static void start_records_without_an_announcement_change_nothing(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 3, 1, 100, 0100644, "/right");
	tell_thread(&c, 2000, 10, 10, 1, SYS_pause, "wrong");
	tell_fd(&c, 2001, 10, 3, 101, "/wrong");
	tell_end(&c, 2002);
	reads(&c, 3000, 3);
	case_run(&c);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/right"), 100);
	CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 10)), "one");
	case_free(&c);
}

/* ---- shared descriptors ---- */

static void tell_files(struct analysis_case *c, uint64_t ns, uint32_t tid, uint32_t as)
{
	struct trace_start_files files = {.tid = tid, .as = as};

	if (ns)
		tb_event(c->tb, 0, ns, TRACE_EV_start_files, &files, sizeof(files), NULL);
	else
		tb_start(c->tb, 1000, TRACE_EV_start_files, &files, sizeof(files), NULL);
}

/* Thread 20 opens 3 and closes 4, then thread 10 reads both. */
static void one_opens_another_reads(struct analysis_case *c)
{
	tb_switch(c->tb, 0, 5000, 0, 20, TRACE_TASK_RUNNING);
	tb_open(c->tb, 0, 5100, 3, 1, 101, 0100644, "/opened");
	tb_sys_enter(c->tb, 0, 5200, SYS_close, 4);
	tb_sys_exit(c->tb, 0, 5210, 0);
	tb_switch(c->tb, 0, 5300, 20, 10, TRACE_TASK_RUNNING);
	reads(c, 5400, 3);
	reads(c, 5500, 4);
}

static void two_processes_that_shared_descriptors_continue_to(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, false);
	tb_thread(c.tb, 20, 20, 1, "two", 0, false);
	tb_thread(c.tb, 21, 20, 1, "two", 0, false);
	tell_files(&c, 0, 20, 10);
	for (uint32_t pid = 10; pid <= 20; pid += 10)
		tb_fd(c.tb, pid, 4, 1, 100, 0100644, "/closed");
	one_opens_another_reads(&c);
	tb_switch(c.tb, 0, 6000, 10, 21, TRACE_TASK_RUNNING);
	reads(&c, 6100, 3);
	case_run(&c);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/opened"), 100);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/closed"), 0);
	CU_ASSERT_EQUAL(read_bytes(c.two, "/opened"), 100);
	case_free(&c);
}

/* This includes a thread that has no descriptor open and therefore no start_fd record. */
static void a_thread_that_had_descriptors_of_its_own_keeps_them(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, false);
	tb_thread(c.tb, 20, 10, 1, "apart", 0, false);
	tell_files(&c, 0, 20, 20);
	tb_fd(c.tb, 10, 3, 1, 99, 0100644, "/own");
	tb_fd(c.tb, 10, 4, 1, 100, 0100644, "/kept");
	one_opens_another_reads(&c);
	case_run(&c);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/own"), 100);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/kept"), 100);
	CU_ASSERT_EQUAL(read_bytes(c.one, "/opened"), 0);
	case_free(&c);
}

/* Threads that shared before the pause do not any more, and the other way round. */
static void sharing_of_descriptors_may_change_in_a_pause(void)
{
	for (int shares_before = 0; shares_before <= 1; shares_before++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 1, "one", 0, false);
		tb_thread(c.tb, 20, 20, 1, "two", 0, false);
		if (shares_before)
			tell_files(&c, 0, 20, 10);
		pause_recording(&c, 2000, 4000);
		tell_thread(&c, 4010, 10, 10, 1, SYS_pause, "one");
		tell_thread(&c, 4011, 20, 20, 1, SYS_pause, "two");
		if (!shares_before)
			tell_files(&c, 4012, 20, 10);
		for (uint32_t pid = 10; pid <= 20; pid += 10) {
			tell_fd(&c, 4013, pid, 3, 99, "/own");
			tell_fd(&c, 4013, pid, 4, 100, "/kept");
		}
		tell_end(&c, 4030);
		one_opens_another_reads(&c);
		case_run(&c);
		CU_ASSERT_EQUAL(read_bytes(c.one, "/own"), shares_before ? 100 : 0);
		CU_ASSERT_EQUAL(read_bytes(c.one, "/kept"), shares_before ? 100 : 0);
		CU_ASSERT_EQUAL(read_bytes(c.one, "/opened"), shares_before ? 0 : 100);
		case_free(&c);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(open_files_have_their_names_again_after_a_pause),
		CASE(threads_and_processes_may_be_moved_in_a_pause),
		CASE(users_and_names_may_change_in_a_pause),
		CASE(the_later_of_open_event_and_start_record_counts),
		CASE(threads_that_ended_or_began_in_a_pause_are_noticed),
		CASE(a_thread_in_another_call_after_a_pause_ran_in_between),
		CASE(a_thread_that_runs_before_its_start_record_has_name_and_process),
		CASE(a_thread_that_ends_while_it_is_read_has_ended),
		CASE(a_thread_that_is_being_created_begins_at_its_fork),
		CASE(after_an_incomplete_reading_no_thread_has_ended),
		CASE(start_records_without_an_announcement_change_nothing),
		CASE(two_processes_that_shared_descriptors_continue_to),
		CASE(a_thread_that_had_descriptors_of_its_own_keeps_them),
		CASE(sharing_of_descriptors_may_change_in_a_pause),
		{NULL, NULL},
	};

	return unit_main("state_again", cases, argc, argv);
}
