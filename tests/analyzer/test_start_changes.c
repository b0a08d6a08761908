/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_start_changes.c - what of the start state had changed before the recorder read it: it is
 * true from the change on, and unknown before.
 *
 * Traces begin at 1000 and end at 9000. Thread 10 ("one") runs on CPU 0, thread 20 ("two") on CPU
 * 1. All times are ns.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include "analysis_case.h"
#include "unit.h"

#define FILE_MODE (S_IFREG | 0644)

static void reads(struct analysis_case *c, uint32_t cpu, uint64_t ts_ns, int fd, int64_t bytes)
{
	tb_sys_enter(c->tb, cpu, ts_ns, SYS_read, (uint64_t)fd, 0, 4096);
	tb_sys_exit(c->tb, cpu, ts_ns + 10, bytes);
}

static void closes(struct analysis_case *c, uint32_t cpu, uint64_t ts_ns, int fd)
{
	tb_sys_enter(c->tb, cpu, ts_ns, SYS_close, (uint64_t)fd, 0, 0);
	tb_sys_exit(c->tb, cpu, ts_ns + 10, 0);
}

/* A descriptor of the start state, read at @read_ns. The first letter of its path is its inode. */
static void fd_read_at(struct analysis_case *c, uint64_t read_ns, uint32_t pid, int fd, uint32_t flags,
		       const char *path)
{
	struct trace_start_fd start = {
		.tgid = pid, .fd = fd, .dev = 1, .mode = FILE_MODE, .ino = (uint64_t)path[1] << 8, .flags = flags};

	tb_start(c->tb, read_ns, TRACE_EV_start_fd, &start, sizeof(start), path);
}

static void opens(struct analysis_case *c, uint32_t cpu, uint64_t ts_ns, int fd, const char *path)
{
	tb_sys_enter(c->tb, cpu, ts_ns, SYS_open, 0, 0, 0);
	tb_open(c->tb, cpu, ts_ns + 5, fd, 1, (uint64_t)path[1] << 8, FILE_MODE, path);
	tb_sys_exit(c->tb, cpu, ts_ns + 10, fd);
}

static struct analysis_case begin(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	return c;
}

static void finish(struct analysis_case *c)
{
	tb_switch(c->tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	tb_switch(c->tb, 1, 9000, 20, 0, TRACE_TASK_RUNNING);
	case_run(c);
}

static uint64_t bytes_from(const struct trace_figures *f, const char *path)
{
	for (size_t i = 0; f && i < f->nr_files; i++)
		if (strcmp(f->files[i].path, path) == 0)
			return f->files[i].read_bytes;
	return 0;
}

/* Process 10 read 1 byte at 2000, 10 at 4500, 100 at 6000 and 1000 at 8000. */
static void reads_four_times(struct analysis_case *c, uint32_t cpu, int fd)
{
	reads(c, cpu, 2000, fd, 1);
	reads(c, cpu, 4500, fd, 10);
	reads(c, cpu, 6000, fd, 100);
	reads(c, cpu, 8000, fd, 1000);
}

static void what_did_not_change_is_true_from_the_start_on(void)
{
	struct analysis_case c = begin();

	fd_read_at(&c, 5000, 10, 3, 0, "/a");
	closes(&c, 0, 3000, 4); /* another one */
	closes(&c, 1, 3000, 3); /* of another process */
	closes(&c, 0, 7000, 3); /* after it was read */
	reads_four_times(&c, 0, 3);
	finish(&c);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/a"), 111);
	case_free(&c);
}

static void a_descriptor_is_unknown_before_it_was_opened_again(void)
{
	static const uint64_t read_at[] = {5000, 8999}; /* a flight recorder reads it at the end */

	for (size_t i = 0; i < sizeof(read_at) / sizeof(read_at[0]); i++) {
		struct analysis_case c = begin();

		fd_read_at(&c, read_at[i], 10, 3, 0, "/new");
		closes(&c, 0, 3000, 3);
		opens(&c, 0, 3500, 3, "/new");
		reads_four_times(&c, 0, 3);
		finish(&c);
		CU_ASSERT_EQUAL(bytes_from(c.one, "/new"), 1110);
		case_free(&c);
	}
}

/*
 * An unknown descriptor is copied to 3. The call has no event with the file, so the record tells
 * it.
 */
static void a_copy_has_another_file_than_the_descriptor_had_before(void)
{
	struct analysis_case c = begin();

	fd_read_at(&c, 5000, 10, 3, 0, "/new");
	tb_sys_enter(c.tb, 0, 3000, SYS_dup2, 7, 3, 0);
	tb_sys_exit(c.tb, 0, 3000, 3);
	reads_four_times(&c, 0, 3);
	finish(&c);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/new"), 1110);
	case_free(&c);
}

static void a_range_that_was_closed_had_other_files(void)
{
	struct analysis_case c = begin();

	fd_read_at(&c, 5000, 10, 3, 0, "/a");
	fd_read_at(&c, 5000, 10, 5, 0, "/b");
	tb_sys_enter(c.tb, 0, 3000, SYS_close_range, 4, 0xffffffff, 0);
	tb_sys_exit(c.tb, 0, 3010, 0);
	opens(&c, 0, 3500, 5, "/b");
	reads_four_times(&c, 0, 3);
	reads(&c, 0, 2100, 5, 1);
	reads(&c, 0, 8100, 5, 10);
	finish(&c);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/a"), 1111);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/b"), 10);
	case_free(&c);
}

/* The recorder reads the descriptor between the entry of close() and its effect. */
static void a_close_in_progress_leaves_no_file_behind(void)
{
	struct analysis_case c = begin();

	fd_read_at(&c, 3005, 10, 3, 0, "/a");
	closes(&c, 0, 3000, 3);
	reads(&c, 0, 8000, 3, 1000);
	finish(&c);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/a"), 0);
	case_free(&c);
}

/* Thread 11 of the process closes the descriptor, and exits before the recorder reads threads. */
static void a_thread_that_has_ended_changed_it(void)
{
	struct analysis_case c = begin();

	fd_read_at(&c, 5000, 10, 3, 0, "/new");
	tb_switch(c.tb, 1, 1500, 20, 11, TRACE_TASK_RUNNING);
	closes(&c, 1, 3000, 3);
	tb_exit(c.tb, 1, 3200, 11, 10, false);
	tb_switch(c.tb, 1, 3300, 11, 20, TRACE_TASK_DEAD);
	opens(&c, 0, 3500, 3, "/new");
	reads_four_times(&c, 0, 3);
	finish(&c);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/new"), 1110);
	case_free(&c);
}

/* Thread 31 of process 30 closes its own descriptors, and exits before the recorder reads them. */
static void many_changes_of_others_change_nothing(void)
{
	struct analysis_case c = begin();

	fd_read_at(&c, 5000, 10, 3, 0, "/kept");
	tb_switch(c.tb, 1, 1500, 20, 31, TRACE_TASK_RUNNING);
	for (uint64_t i = 0; i < 10000; i++) {
		tb_sys_enter(c.tb, 1, 1600 + i / 8, SYS_close, 3, 0, 0);
		tb_sys_exit(c.tb, 1, 1600 + i / 8, 0);
	}
	tb_exit(c.tb, 1, 3200, 31, 30, true);
	tb_switch(c.tb, 1, 3300, 31, 20, TRACE_TASK_DEAD);
	reads_four_times(&c, 0, 3);
	finish(&c);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/kept"), 1111);
	case_free(&c);
}

static void a_thread_shares_the_descriptors_of_its_process(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 11, 10, 1, "one", 1, true);
	fd_read_at(&c, 5000, 10, 3, 0, "/new");
	closes(&c, 1, 3000, 3);
	opens(&c, 1, 3500, 3, "/new");
	reads_four_times(&c, 0, 3);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 9000, 11, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/new"), 1110);
	case_free(&c);
}

/* The program closed what had O_CLOEXEC: a descriptor that has it now is another one. */
static void exec_closed_what_had_the_flag(void)
{
	struct analysis_case c = begin();

	fd_read_at(&c, 5000, 10, 3, O_CLOEXEC, "/new");
	fd_read_at(&c, 5000, 10, 4, 0, "/kept");
	tb_exec(c.tb, 0, 3000, 10, "/bin/program");
	reads_four_times(&c, 0, 3);
	reads(&c, 0, 2100, 4, 1);
	reads(&c, 0, 8100, 4, 10);
	finish(&c);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/new"), 1110);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/kept"), 11);
	case_free(&c);
}

/* The child's descriptor 3 was its parent's until it opened another file. */
static void a_child_begins_with_the_descriptors_of_its_parent(void)
{
	struct analysis_case c = begin();
	struct trace_start_thread child = {
		.tid = 30, .tgid = 30, .ppid = 20, .uid = 7, .nr = -1, .running = true, .cpu = 1, .start_ns = 2500};

	fd_read_at(&c, 4000, 20, 3, 0, "/parents");
	tb_start(c.tb, 4100, TRACE_EV_start_thread, &child, sizeof(child), "three");
	fd_read_at(&c, 5000, 30, 3, 0, "/childs");
	fd_read_at(&c, 5000, 30, 4, 0, "/copied");
	tb_fork(c.tb, 1, 2500, 20, 30, 30, "two");
	tb_switch(c.tb, 1, 2600, 20, 30, TRACE_TASK_RUNNING);
	reads(&c, 1, 2700, 3, 1);
	reads(&c, 1, 2800, 4, 1000); /* nothing changed it since the fork */
	closes(&c, 1, 3000, 3);
	opens(&c, 1, 3100, 3, "/childs");
	reads(&c, 1, 3200, 3, 10);
	tb_switch(c.tb, 1, 9000, 30, 0, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	trace_figures_free(c.two);
	c.two = trace_process_figures(c.analysis, case_process(&c, 30));
	CU_ASSERT_EQUAL(bytes_from(c.two, "/parents"), 1);
	CU_ASSERT_EQUAL(bytes_from(c.two, "/childs"), 10);
	CU_ASSERT_EQUAL(bytes_from(c.two, "/copied"), 1000);
	/* of the fork: nothing tells when it became 7 */
	CU_ASSERT_EQUAL(trace_process_uid(case_process(&c, 30)), 0);
	case_free(&c);
}

/* A loss at 3000: an open or a close may be missing. */
static void after_a_loss_only_what_was_read_is_known(void)
{
	struct analysis_case c = begin();

	fd_read_at(&c, 5000, 10, 3, 0, "/a");
	reads(&c, 0, 2000, 3, 1);
	reads(&c, 1, 2500, 9, 1);
	tb_lost(c.tb, 1, 5);
	reads(&c, 1, 3000, 9, 1);
	reads(&c, 0, 4500, 3, 10);
	reads(&c, 0, 6000, 3, 100);
	finish(&c);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/a"), 100);
	case_free(&c);
}

/* "one" waits for a page at 2000 and at 6000. The file has two names. */
static void a_mapping_is_unknown_before_it_was_made(void)
{
	static const struct {
		uint32_t nr;
		uint64_t args[6];
		bool changes;
	} calls[] = {
		{SYS_munmap, {0x11000, 0x1000}, true},
		{SYS_munmap, {0x20000, 0x1000}, false},
		{SYS_mmap, {0x10000, 0x1000, PROT_READ, MAP_PRIVATE | MAP_FIXED, 5, 0}, true},
		{SYS_mmap, {0x10000, 0x1000, PROT_READ, MAP_PRIVATE, 5, 0}, false}, /* only a hint */
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct trace_start_map map = {.tgid = 20, .dev = 9, .ino = 70, .start = 0x10000, .end = 0x20000};
		struct trace_fs_fault fault = {.ino = 70, .dev = 9};
		struct analysis_case c = begin();

		tb_start(c.tb, 5000, TRACE_EV_start_map, &map, sizeof(map), "/mapped");
		tb_open(c.tb, 1, 1500, 5, 9, 70, S_IFREG | 0755, "/linked");
		for (uint64_t at = 2000; at < 7000; at += 4000) {
			tb_fault(c.tb, 1, at, 0x10123, true);
			tb_event(c.tb, 1, at + 10, TRACE_EV_fs_fault, &fault, sizeof(fault), NULL);
			tb_switch(c.tb, 1, at + 20, 20, 0, TRACE_TASK_UNINTERRUPTIBLE);
			tb_waking(c.tb, 1, at + 120, 20, TRACE_CONTEXT_HARDIRQ);
			tb_switch(c.tb, 1, at + 120, 0, 20, TRACE_TASK_RUNNING);
			tb_fault_end(c.tb, 1, at + 130, true);
		}
		tb_sys_enter_args(c.tb, 1, 3000, calls[i].nr, calls[i].args, 6);
		tb_sys_exit(c.tb, 1, 3010, -12); /* it changes nothing in the state of the analysis */
		finish(&c);
		CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_FILE, "/mapped", 0, ""), calls[i].changes ? 100 : 200);
		CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_FILE, "/linked", 0, ""), calls[i].changes ? 100 : 0);
		case_free(&c);
	}
}

/*
 * 10 waits three times in a call that began before the trace, and 20 ends each wait. The recorder
 * reads 10 at 8000, in the sleep that follows.
 */
static void a_wait_before_the_call_that_the_recorder_read_is_not_in_that_call(void)
{
	struct trace_start_thread start = {
		.tid = 10, .tgid = 10, .ppid = 1, .state = TRACE_TASK_INTERRUPTIBLE, .nr = SYS_nanosleep};
	struct analysis_case c = case_new();

	tb_start(c.tb, 8000, TRACE_EV_start_thread, &start, sizeof(start), "one");
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	for (uint64_t ns = 1500; ns < 5000; ns += 1000) {
		tb_waking(c.tb, 1, ns, 10, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, ns + 10, 0, 10, TRACE_TASK_RUNNING);
		if (ns < 4500)
			tb_switch(c.tb, 0, ns + 100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	}
	tb_sys_exit(c.tb, 0, 5000, 0);
	tb_sys_enter(c.tb, 0, 5100, SYS_nanosleep, 0, 0);
	tb_switch(c.tb, 0, 5200, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 9000, 20, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, ""), 500 + 3 * 900);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_TIMEOUT, "", 0, ""), 3800);
	case_free(&c);
}

/* A flight recorder of 10, 20 and 30. CPU 0 has events from 5000 on, CPU 1 from the start. */
static struct analysis_case begin_flight(uint64_t read_ns)
{
	static const char *const names[] = {"one", "two", "three"};
	struct analysis_case c = case_new();

	tb_window(c.tb, 1000, 9000);
	for (uint32_t tid = 10; tid <= 30; tid += 10) {
		struct trace_start_thread start = {
			.tid = tid, .tgid = tid, .ppid = 1, .state = TRACE_TASK_INTERRUPTIBLE, .nr = SYS_nanosleep};

		tb_start(c.tb, read_ns, TRACE_EV_start_thread, &start, sizeof(start), names[tid / 10 - 1]);
	}
	tb_overwritten(c.tb, 0, 100);
	return c;
}

/*
 * Descriptor 3 is read at 2000, 4 at 5500, both mappings at 2000 and 5500. The window begins at
 * 5000, because the events until then were overwritten.
 */
static void what_was_read_before_the_window_of_a_flight_recorder_may_have_changed(void)
{
	struct analysis_case c = begin_flight(2000);

	for (uint64_t i = 0; i < 2; i++) {
		struct trace_start_map map = {
			.tgid = 10, .dev = 9, .ino = 70 + i, .start = 0x10000 << i, .end = 0x20000 << i};

		tb_start(c.tb, i ? 5500 : 2000, TRACE_EV_start_map, &map, sizeof(map), i ? "/second" : "/first");
	}
	fd_read_at(&c, 2000, 10, 3, 0, "/a");
	fd_read_at(&c, 5500, 10, 4, 0, "/b");
	tb_switch(c.tb, 1, 1000, 0, 20, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 5000, 0, 10, TRACE_TASK_RUNNING);
	reads(&c, 0, 5100, 3, 1);
	reads(&c, 0, 5200, 4, 10);
	closes(&c, 0, 5300, 3);
	opens(&c, 0, 5400, 3, "/a");
	reads(&c, 0, 5600, 3, 100);
	for (uint64_t i = 0; i < 2; i++) {
		tb_fault(c.tb, 0, 6000 + i * 500, 0x10123 << i, true);
		tb_switch(c.tb, 0, 6020 + i * 500, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
		tb_waking(c.tb, 0, 6120 + i * 500, 10, TRACE_CONTEXT_HARDIRQ);
		tb_switch(c.tb, 0, 6120 + i * 500, 0, 10, TRACE_TASK_RUNNING);
		tb_fault_end(c.tb, 0, 6130 + i * 500, true);
	}
	finish(&c);
	CU_ASSERT_EQUAL(trace_get_info(c.trace)->complete_from_ns, 5000);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/a"), 100);
	CU_ASSERT_EQUAL(bytes_from(c.one, "/b"), 10);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/first", 0, ""), 0);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/second", 0, ""), 100);
	case_free(&c);
}

/*
 * All are read in nanosleep(), at 2000 or, in the window, at 5500. 10 gets another name at 3000 and
 * 30 ends at 3500, in a ring that keeps more. The first event in 20 is the exit of a call at 7100.
 */
static void threads_that_were_read_before_the_window_have_what_older_events_tell(void)
{
	static const struct trace_sched_comm name = {.tid = 10};

	for (uint64_t read_ns = 2000; read_ns <= 5500; read_ns += 3500) {
		bool is_outdated = read_ns == 2000;
		struct analysis_case c = begin_flight(read_ns);

		tb_structural_event(c.tb, 0, 1500, TRACE_EV_sched_comm, &name, sizeof(name), "older");
		tb_structural_event(c.tb, 0, 3000, TRACE_EV_sched_comm, &name, sizeof(name), "newer");
		if (is_outdated) {
			struct trace_sched_exit exit = {.tid = 30, .tgid = 30, .group_dead = 1};
			struct trace_sched_free gone = {.tid = 30};

			tb_structural_event(c.tb, 0, 3500, TRACE_EV_sched_exit, &exit, sizeof(exit), NULL);
			tb_structural_event(c.tb, 0, 3600, TRACE_EV_sched_free, &gone, sizeof(gone), NULL);
		}
		tb_switch(c.tb, 1, 1000, 0, 40, TRACE_TASK_RUNNING);
		tb_switch(c.tb, 0, 5000, 0, 10, TRACE_TASK_RUNNING);
		tb_waking(c.tb, 1, 6900, 20, TRACE_CONTEXT_HARDIRQ);
		tb_switch(c.tb, 1, 7000, 40, 20, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 1, 7100, 0);
		finish(&c);
		CU_ASSERT_STRING_EQUAL(trace_process_comm(case_process(&c, 10)), is_outdated ? "newer" : "one");
		CU_ASSERT_EQUAL(!case_process(&c, 30), is_outdated);
		CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_TIMEOUT, "", 0, ""), is_outdated ? 0 : 1900);
		case_free(&c);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(what_did_not_change_is_true_from_the_start_on),
		CASE(a_descriptor_is_unknown_before_it_was_opened_again),
		CASE(a_copy_has_another_file_than_the_descriptor_had_before),
		CASE(a_range_that_was_closed_had_other_files),
		CASE(a_close_in_progress_leaves_no_file_behind),
		CASE(a_thread_that_has_ended_changed_it),
		CASE(many_changes_of_others_change_nothing),
		CASE(a_thread_shares_the_descriptors_of_its_process),
		CASE(exec_closed_what_had_the_flag),
		CASE(a_child_begins_with_the_descriptors_of_its_parent),
		CASE(after_a_loss_only_what_was_read_is_known),
		CASE(a_mapping_is_unknown_before_it_was_made),
		CASE(a_wait_before_the_call_that_the_recorder_read_is_not_in_that_call),
		CASE(what_was_read_before_the_window_of_a_flight_recorder_may_have_changed),
		CASE(threads_that_were_read_before_the_window_have_what_older_events_tell),
		{NULL, NULL},
	};

	return unit_main("what had changed before the start state was read", cases, argc, argv);
}
