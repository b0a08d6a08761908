/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_files.c - the file that a descriptor refers to, and what each process read and wrote
 * there.
 *
 * Traces begin at 1000 and end at 9000 unless a test says otherwise; thread 10 is "one", 20 is
 * "two". All times are ns.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include "analysis_case.h"
#include "unit.h"

#define MANY (1 << 30) /* bytes that calls ask for */

static uint64_t bytes_read_from(const struct trace_figures *f, const char *path)
{
	for (size_t i = 0; i < f->nr_files; i++)
		if (strcmp(f->files[i].path, path) == 0)
			return f->files[i].read_bytes;
	return 0;
}

static void read_on(struct tb *tb, uint32_t cpu, uint64_t ts_ns, int fd, int64_t bytes)
{
	tb_sys_enter(tb, cpu, ts_ns, SYS_read, (uint64_t)fd, 0, MANY);
	tb_sys_exit(tb, cpu, ts_ns + 10, bytes);
}

/* A read of 200 ns that waits for the disk for 100 of them. */
static void slow_read_on(struct tb *tb, uint64_t ts_ns, int fd, int64_t bytes)
{
	struct trace_block_complete done = {.dev = 0xfe00000, .bytes = 4096};

	tb_sys_enter(tb, 0, ts_ns, SYS_read, (uint64_t)fd, 0, MANY);
	tb_switch(tb, 0, ts_ns + 50, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(tb, 0, ts_ns + 148, 7);
	tb_event(tb, 0, ts_ns + 149, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(tb, 0, ts_ns + 150, 10, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 0, ts_ns + 151, 7);
	tb_switch(tb, 0, ts_ns + 160, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, ts_ns + 200, bytes);
}

#define NR_USED	    1100 /* files: with so many rows the sums are added later */
#define ALL_USED_NS (2000 + 300 * NR_USED)

/* How process 10 has used /3 and /4 so far, whichever is asked first. */
struct uses_asked {
	int nr; /* marks read so far */
	struct {
		uint64_t reads, read_bytes, writes, written_bytes, wait_ns;
	} of[2];
};

static void uses_check(struct trace_figures *f, const struct uses_asked *want)
{
	CU_ASSERT_EQUAL(f->nr_files, NR_USED);
	for (size_t i = 0; i < f->nr_files; i++) {
		const struct trace_file_use *use = &f->files[i];
		int of = strcmp(use->path, "/3") == 0 ? 0 : strcmp(use->path, "/4") == 0 ? 1 : -1;

		if (of < 0)
			continue;
		CU_ASSERT_EQUAL(use->reads, want->of[of].reads);
		CU_ASSERT_EQUAL(use->read_bytes, want->of[of].read_bytes);
		CU_ASSERT_EQUAL(use->writes, want->of[of].writes);
		CU_ASSERT_EQUAL(use->written_bytes, want->of[of].written_bytes);
		CU_ASSERT_EQUAL(use->wait_ns, want->of[of].wait_ns);
		CU_ASSERT_EQUAL(case_wait(f, TRACE_WAIT_FILE, use->path, 0, ""), want->of[of].wait_ns);
	}
	trace_figures_free(f);
}

/* Each mark asks about another reader: it must not profit from what the mark before it has
 * flushed. */
static void ask_uses(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, 0);
	const struct trace_process *process = thread ? trace_thread_process(thread) : NULL;
	struct uses_asked *want = data;

	if (event->id != TRACE_EV_sched_comm || !process)
		return;
	want->of[0].reads++;
	want->of[0].read_bytes += 100;
	want->of[0].wait_ns += 100;
	want->of[1].writes++;
	want->of[1].written_bytes += 7;
	switch (want->nr++) {
	case 0:
		uses_check(trace_thread_figures(analysis, thread), want);
		break;
	case 1:
		uses_check(trace_process_figures(analysis, process), want);
		break;
	default:
		uses_check(trace_system_figures(analysis), want);
	}
}

/* Two processes read one file alternately, and one of them also reads another of the same path.
 * That process dies, and its row is reused for another file. */
static void uses_of_a_shared_file_are_counted_per_process(void)
{
	struct analysis_case c = case_new();
	struct trace_figures *three;
	uint64_t at = 2000;
	char path[16];

	tb_window(c.tb, 1000, 30000);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	for (int i = 0; i < NR_USED; i++) {
		snprintf(path, sizeof(path), "/%d", 3 + i);
		tb_fd(c.tb, 10, 3 + i, 1, 100 + (uint64_t)i, 0100644, path);
	}
	tb_fd(c.tb, 20, 3, 1, 100, 0100644, "/3");
	tb_fd(c.tb, 20, 4, 1, 99, 0100644, "/3");
	tb_fd(c.tb, 20, 5, 1, 101, 0100644, "/4");
	for (int i = 0; i < 100; i++, at += 100) {
		read_on(c.tb, 0, at, 3, 100);
		read_on(c.tb, 1, at + 20, 3, 1);
		read_on(c.tb, 1, at + 40, 4, 10);
		read_on(c.tb, 1, at + 60, 5, 2);
	}
	tb_exit(c.tb, 1, at, 20, 20, true);
	tb_switch(c.tb, 1, at + 10, 20, 0, TRACE_TASK_DEAD);
	tb_fork(c.tb, 0, at + 20, 10, 30, 30, "three");
	tb_switch(c.tb, 1, at + 30, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, at + 40, 0);
	for (int i = 0; i < 100; i++, at += 100) {
		read_on(c.tb, 1, at + 120, 6 - i % 4, 7);
	}
	for (int i = 0; i < 100; i++, at += 20)
		read_on(c.tb, 0, at + 100, 4, 5);
	tb_switch(c.tb, 0, 30000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/3"), 10000);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/4"), 500);
	CU_ASSERT_EQUAL(c.one->nr_files, 2);
	CU_ASSERT_EQUAL(bytes_read_from(c.two, "/3"), 100);
	CU_ASSERT_EQUAL(bytes_read_from(c.two, "/3 (2nd inode)"), 1000);
	CU_ASSERT_EQUAL(bytes_read_from(c.two, "/4"), 200);
	CU_ASSERT_EQUAL(c.two->nr_files, 3);
	three = trace_process_figures(c.analysis, case_process(&c, 30));
	CU_ASSERT_EQUAL(three->nr_files, 4);
	for (size_t i = 0; i < three->nr_files; i++) {
		CU_ASSERT_EQUAL(three->files[i].reads, 25);
		CU_ASSERT_EQUAL(three->files[i].read_bytes, 175);
		CU_ASSERT_EQUAL(three->files[i].wait_ns, 0); /* of a row that belonged to another file */
	}
	trace_figures_free(three);
	case_free(&c);
}

/* A timer delays the call for 100 of its 200 ns. */
static void throttled_write_on(struct tb *tb, uint64_t ts_ns, int fd, int64_t bytes)
{
	struct trace_fs_throttle throttle = {0};

	tb_sys_enter(tb, 0, ts_ns, SYS_write, (uint64_t)fd, 0, MANY);
	tb_event(tb, 0, ts_ns + 20, TRACE_EV_fs_throttle, &throttle, sizeof(throttle), NULL);
	tb_switch(tb, 0, ts_ns + 50, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_vector(tb, 0, ts_ns + 148, TRACE_VECTOR_LOCAL_TIMER);
	tb_waking(tb, 0, ts_ns + 150, 10, TRACE_CONTEXT_HARDIRQ);
	tb_vector_exit(tb, 0, ts_ns + 151, TRACE_VECTOR_LOCAL_TIMER);
	tb_switch(tb, 0, ts_ns + 160, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, ts_ns + 200, bytes);
}

/* @nr_files: how many are open */
static void wait_in_two_ways(int nr_files)
{
	struct analysis_case c = case_new();
	char path[16];

	tb_window(c.tb, 1000, 9000);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	for (int i = 0; i < nr_files; i++) {
		snprintf(path, sizeof(path), "/%d", 3 + i);
		tb_fd(c.tb, 10, 3 + i, 1, 100 + (uint64_t)i, 0100644, path);
	}
	for (uint64_t at = 2000; at < 5000; at += 1000) {
		slow_read_on(c.tb, at, 3, 100);
		throttled_write_on(c.tb, at + 500, 3, 7);
	}
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/3", 0, ""), 300);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/3", 0, "throttle"), 300);
	CU_ASSERT_EQUAL(c.one->nr_waits, 2);
	for (size_t i = 0; i < c.one->nr_waits; i++)
		CU_ASSERT_EQUAL(c.one->waits[i].count, 3);
	CU_ASSERT_EQUAL_FATAL(c.one->nr_files, 1);
	CU_ASSERT_EQUAL(c.one->files[0].wait_ns, 600);
	CU_ASSERT_EQUAL(c.one->files[0].reads, 3);
	CU_ASSERT_EQUAL(c.one->files[0].writes, 3);
	CU_ASSERT_EQUAL(c.one->files[0].written_bytes, 21);
	case_free(&c);
}

static void waits_of_two_kinds_for_a_file_are_two_waits_and_one_file(void)
{
	wait_in_two_ways(1);
	wait_in_two_ways(NR_USED);
}

/* Reads, writes and waits are buffered and added to the rows of the files later. Callers that ask
 * for the figures must not notice. */
static void uses_of_files_are_known_at_any_time(void)
{
	struct analysis_case c = case_new();
	struct trace_sched_comm comm = {.tid = 10};
	struct uses_asked want = {.of = {{1, 100, 0, 0, 100}, {1, 100, 0, 0, 100}}};
	char path[16];

	tb_window(c.tb, 1000, ALL_USED_NS + 10000);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 11, 10, 1, "other", 1, false);
	for (int i = 0; i < NR_USED; i++) {
		snprintf(path, sizeof(path), "/%d", 3 + i);
		tb_fd(c.tb, 10, 3 + i, 1, 100 + (uint64_t)i, 0100644, path);
		slow_read_on(c.tb, 2000 + 300 * (uint64_t)i, 3 + i, 100);
	}
	for (uint64_t at = ALL_USED_NS + 1000; at < ALL_USED_NS + 4000; at += 1000) {
		slow_read_on(c.tb, at, 3, 100);
		tb_sys_enter(c.tb, 0, at + 300, SYS_write, 4, 0, 7);
		tb_sys_exit(c.tb, 0, at + 310, 7);
		tb_event(c.tb, 0, at + 400, TRACE_EV_sched_comm, &comm, sizeof(comm), "one");
	}
	for (uint64_t at = ALL_USED_NS + 4000; at < ALL_USED_NS + 6000; at += 20)
		read_on(c.tb, 0, at, 4, 3);
	slow_read_on(c.tb, ALL_USED_NS + 6000, 3, 100);
	tb_switch(c.tb, 0, ALL_USED_NS + 10000, 10, 0, TRACE_TASK_RUNNING);
	c.trace = tb_open_trace(c.tb);
	c.analysis = trace_analysis_new(c.trace, NULL, NULL);
	CU_ASSERT_EQUAL(trace_analysis_on_event(c.analysis, NULL, ask_uses, &want), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(c.analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(c.analysis, NULL), 0); /* before the next query */
	CU_ASSERT_EQUAL(want.nr, 3);
	want.of[0].reads++;
	want.of[0].read_bytes += 100;
	want.of[0].wait_ns += 100;
	want.of[1].reads += 100;
	want.of[1].read_bytes += 300;
	uses_check(trace_process_figures(c.analysis, case_process(&c, 10)), &want);
	case_free(&c);
}

/* With more files than fit into a cache, rows of the coming calls are prefetched as if those calls
 * came from the same thread and their descriptors were open. */
static void prefetched_calls_may_be_of_other_threads_or_invalid_files(void)
{
	struct analysis_case c = case_new();
	char path[16];

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 0, false);
	for (int fd = 3; fd < 2000; fd++) {
		snprintf(path, sizeof(path), "/%d", fd);
		tb_fd(c.tb, 10, fd, 1, 100 + (uint64_t)fd, 0100644, path);
	}
	read_on(c.tb, 0, 2000, 1999, 1);
	read_on(c.tb, 0, 2020, 2048, 10); /* the table ends there */
	read_on(c.tb, 0, 2040, -1, 100);
	read_on(c.tb, 0, 2060, INT32_MAX, 1000);
	read_on(c.tb, 0, 2080, 2000, 10000);	      /* not open */
	tb_sys_enter(c.tb, 0, 2100, 100000, 3, 0, 0); /* no call has this number */
	tb_sys_exit(c.tb, 0, 2110, 0);
	read_on(c.tb, 0, 2120, 1999, 2);
	tb_switch(c.tb, 0, 3000, 10, 20, TRACE_TASK_RUNNING);
	read_on(c.tb, 0, 3020, 1999, 100000); /* of "two", which has no such descriptor */
	read_on(c.tb, 0, 3040, 3, 1000000);
	tb_switch(c.tb, 0, 4000, 20, 10, TRACE_TASK_RUNNING);
	read_on(c.tb, 0, 4020, 3, 4);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->read_bytes, 7);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/1999"), 3);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/3"), 4);
	CU_ASSERT_EQUAL(c.two->read_bytes, 0);
	case_free(&c);
}

static void descriptors_follow_dup_close_and_fcntl(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 3, 1, 100, 0100644, "/a");
	read_on(c.tb, 0, 2000, 3, 1);
	tb_sys_enter(c.tb, 0, 2100, SYS_dup2, 3, 7);
	tb_sys_exit(c.tb, 0, 2110, 7);
	tb_sys_enter(c.tb, 0, 2200, SYS_close, 3);
	tb_sys_exit(c.tb, 0, 2210, 0);
	read_on(c.tb, 0, 2300, 3, 10); /* closed: no file's */
	read_on(c.tb, 0, 2400, 7, 100);
	tb_sys_enter(c.tb, 0, 2420, SYS_dup, 7);
	tb_sys_exit(c.tb, 0, 2430, 11);
	read_on(c.tb, 0, 2440, 11, 100000);
	tb_sys_enter(c.tb, 0, 2500, SYS_fcntl, 7, F_DUPFD, 9);
	tb_sys_exit(c.tb, 0, 2510, 9);
	read_on(c.tb, 0, 2600, 9, 1000);
	tb_sys_enter(c.tb, 0, 2700, SYS_close_range, 7, 9, 0);
	tb_sys_exit(c.tb, 0, 2710, 0);
	read_on(c.tb, 0, 2800, 9, 10000);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/a"), 101101);
	case_free(&c);
}

static void a_thread_may_have_had_its_own_descriptors_before(void)
{
	struct trace_start_fd own = {.tgid = 10, .tid = 12, .fd = 3, .dev = 1, .ino = 200, .mode = 0100644};
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 11, 10, 1, "one", 1, true);
	tb_thread(c.tb, 12, 10, 1, "one", 2, true);
	tb_fd(c.tb, 10, 3, 1, 100, 0100644, "/a");
	tb_start(c.tb, 1000, TRACE_EV_start_fd, &own, sizeof(own), "/own");
	read_on(c.tb, 0, 2000, 3, 1);
	read_on(c.tb, 1, 2000, 3, 10);
	read_on(c.tb, 2, 2000, 3, 100);
	tb_sys_enter(c.tb, 2, 2100, SYS_close, 3);
	tb_sys_exit(c.tb, 2, 2110, 0);
	read_on(c.tb, 0, 2200, 3, 1000);
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		tb_switch(c.tb, cpu, 9000, 10 + cpu, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/a"), 1011);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/own"), 100);
	case_free(&c);
}

static void fork_copies_exec_closes_and_threads_share(void)
{
	struct analysis_case c = case_new();
	struct trace_sched_fork thread = {
		.parent_tid = 10, .tid = 11, .tgid = 10, .clone_flags = CLONE_THREAD | CLONE_FILES | CLONE_VM};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_open, 0, O_CLOEXEC, 0);
	tb_open(c.tb, 0, 2010, 3, 1, 100, 0100644, "/shared");
	tb_sys_exit(c.tb, 0, 2020, 3);
	tb_sys_enter(c.tb, 0, 2030, SYS_dup, 3);
	tb_sys_exit(c.tb, 0, 2040, 4);
	tb_sys_enter(c.tb, 0, 2050, SYS_fcntl, 4, F_SETFD, FD_CLOEXEC);
	tb_sys_exit(c.tb, 0, 2060, 0);
	tb_fork(c.tb, 0, 2100, 10, 20, 20, "two");
	tb_event(c.tb, 0, 2200, TRACE_EV_sched_fork, &thread, sizeof(thread), "one");
	tb_switch(c.tb, 1, 2300, 0, 11, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, 2310, 0);
	tb_sys_enter(c.tb, 1, 2320, SYS_open, 0, 0, 0);
	tb_open(c.tb, 1, 2330, 5, 1, 101, 0100644, "/by the thread");
	tb_sys_exit(c.tb, 1, 2340, 5);
	read_on(c.tb, 0, 2400, 5, 5); /* the leader sees it */
	tb_switch(c.tb, 1, 3000, 11, 20, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, 3010, 0);
	read_on(c.tb, 1, 3100, 3, 7); /* the child's copy */
	read_on(c.tb, 1, 3200, 5, 7); /* opened after the fork: not in the child */
	tb_exec(c.tb, 1, 3300, 20, "/bin/two");
	read_on(c.tb, 1, 3400, 4, 7); /* closed by exec */
	/* the dup() of no descriptor closes nothing on exec; the event of open does not include
	 * O_CLOEXEC */
	read_on(c.tb, 1, 3500, 3, 9);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/by the thread"), 5);
	CU_ASSERT_EQUAL(bytes_read_from(c.two, "/shared"), 7 + 9);
	CU_ASSERT_EQUAL(bytes_read_from(c.two, "/by the thread"), 0);
	case_free(&c);
}

static void call(struct tb *tb, uint64_t ts_ns, uint32_t nr, uint64_t arg0, uint64_t arg1, uint64_t arg2, int64_t ret)
{
	tb_sys_enter(tb, 0, ts_ns, nr, arg0, arg1, arg2);
	tb_sys_exit(tb, 0, ts_ns + 10, ret);
}

static void exec_closes_what_any_call_set_close_on_exec(void)
{
	static const bool kept[] = {
		[3] = false, [4] = false, [5] = true, [6] = true, [7] = false, [8] = false, [9] = true, [10] = true};
	struct analysis_case c = case_new();
	char path[16];

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	for (int fd = 3; fd <= 10; fd++) {
		snprintf(path, sizeof(path), "/%d", fd);
		tb_fd(c.tb, 10, fd, 1, 100 + (uint64_t)fd, 0100644, path);
	}
	call(c.tb, 2000, SYS_fcntl, 3, F_SETFD, FD_CLOEXEC, 0);
	call(c.tb, 2100, SYS_dup2, 3, 3, 0, 3); /* changes nothing */
	call(c.tb, 2200, SYS_ioctl, 4, FIOCLEX, 0, 0);
	call(c.tb, 2300, SYS_fcntl, 5, F_SETFD, FD_CLOEXEC, 0);
	call(c.tb, 2400, SYS_ioctl, 5, FIONCLEX, 0, 0);
	call(c.tb, 2500, SYS_ioctl, 6, FIOCLEX, 0, -EBADF);
	/* CLOSE_RANGE_CLOEXEC; the kernel takes 32 bits */
	call(c.tb, 2600, SYS_close_range, 0x700000007, 0x100000008, 4, 0);
	call(c.tb, 2700, SYS_dup2, 9, 9, 0, 9);
	call(c.tb, 2800, SYS_close_range, 10, 11, 4, -EINVAL);
	tb_exec(c.tb, 0, 3000, 10, "/bin/one");
	for (int fd = 3; fd <= 10; fd++)
		read_on(c.tb, 0, 4000 + 100 * (uint64_t)fd, fd, fd);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	for (int fd = 3; fd <= 10; fd++) {
		snprintf(path, sizeof(path), "/%d", fd);
		CU_ASSERT_EQUAL(bytes_read_from(c.one, path), kept[fd] ? (uint64_t)fd : 0);
	}
	case_free(&c);
}

/* dup3() and fcntl() may set close-on-exec at once. */
static void exec_closes_a_copy_only_if_it_is_close_on_exec(void)
{
	static const uint64_t kept[] = {0, 100, 0, 10000};
	struct analysis_case c = case_new();
	uint64_t sum = 0;

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_dup3, "dup3");
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 3, 1, 100, 0100644, "/a");
	call(c.tb, 2000, SYS_dup3, 3, 4, O_CLOEXEC, 4);
	call(c.tb, 2100, SYS_dup3, 3, 5, 0, 5);
	call(c.tb, 2200, SYS_fcntl, 3, F_DUPFD_CLOEXEC, 6, 6);
	call(c.tb, 2300, SYS_fcntl, 3, F_DUPFD, 7, 7);
	read_on(c.tb, 0, 2400, 6, 1);
	tb_exec(c.tb, 0, 3000, 10, "/bin/one");
	for (uint64_t fd = 4, bytes = 10; fd <= 7; fd++, bytes *= 10) {
		read_on(c.tb, 0, 4000 + 100 * fd, (int)fd, (int64_t)bytes);
		sum += kept[fd - 4];
	}
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/a"), sum + 1);
	case_free(&c);
}

/* fcntl(F_GETFL) returns a number that is no descriptor, splice() reads from one and writes to the
 * other, and sendmmsg() and recvmmsg() return a number of messages. */
static void the_result_of_a_call_is_not_always_a_descriptor_or_bytes(void)
{
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_splice, "splice");
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_sendmmsg, "sendmmsg");
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_recvmmsg, "recvmmsg");
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 3, 1, 100, 0100644, "/a");
	tb_fd(c.tb, 10, 7, 1, 101, 0100644, "/b");
	call(c.tb, 2000, SYS_fcntl, 3, F_GETFL, 0, 7);
	read_on(c.tb, 0, 2100, 7, 1);
	call(c.tb, 2200, SYS_sendmmsg, 7, 0, 2, 2);
	call(c.tb, 2250, SYS_recvmmsg, 7, 0, 2, 2);
	tb_sys_enter(c.tb, 0, 2300, SYS_splice, 3, 0, 7, 0, 100, 0);
	tb_sys_exit(c.tb, 0, 2310, 100);
	call(c.tb, 2400, SYS_splice, 3, 0, 7, -EAGAIN); /* nothing */
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/a"), 100);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/b"), 1);
	CU_ASSERT_EQUAL(c.one->written_bytes, 100);
	case_free(&c);
}

/* The path from the program's arguments is used for files without a name from the kernel. */
static void a_file_has_the_kernels_name_if_there_is_one(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_openat, 0, 0, 0);
	tb_sys_path(c.tb, 0, 2010, SYS_openat, "../a");
	tb_open(c.tb, 0, 2020, 3, 1, 100, 0100644, "/home/a");
	tb_sys_exit(c.tb, 0, 2030, 3);
	read_on(c.tb, 0, 2100, 3, 1);
	tb_sys_enter(c.tb, 0, 2200, SYS_openat, 0, 0, 0); /* nothing is known about either */
	tb_sys_exit(c.tb, 0, 2210, 4);
	read_on(c.tb, 0, 2300, 4, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/home/a"), 1);
	CU_ASSERT_EQUAL(c.one->nr_files, 1);
	case_free(&c);
}

/* The entry's sub-buffer begins later than the event of the open. */
static void a_file_may_be_opened_before_the_entry_of_its_call(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_open(c.tb, 0, 1990, 3, 1, 100, 0100644, "/home/a");
	tb_sys_enter(c.tb, 0, 2000, SYS_openat, 0, 0, 0);
	tb_sys_path(c.tb, 0, 2010, SYS_openat, "../a");
	tb_sys_exit(c.tb, 0, 2030, 3);
	read_on(c.tb, 0, 2100, 3, 1);
	tb_sys_enter(c.tb, 0, 2200, SYS_openat, 0, 0, 0); /* of another file: its event was lost */
	tb_sys_path(c.tb, 0, 2210, SYS_openat, "/b");
	tb_sys_exit(c.tb, 0, 2230, 4);
	read_on(c.tb, 0, 2300, 4, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/home/a"), 1);
	CU_ASSERT_EQUAL(bytes_read_from(c.one, "/b"), 1);
	CU_ASSERT_EQUAL(c.one->nr_files, 2);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(waits_of_two_kinds_for_a_file_are_two_waits_and_one_file),
		CASE(uses_of_files_are_known_at_any_time),
		CASE(uses_of_a_shared_file_are_counted_per_process),
		CASE(prefetched_calls_may_be_of_other_threads_or_invalid_files),
		CASE(descriptors_follow_dup_close_and_fcntl),
		CASE(a_thread_may_have_had_its_own_descriptors_before),
		CASE(fork_copies_exec_closes_and_threads_share),
		CASE(exec_closes_what_any_call_set_close_on_exec),
		CASE(the_result_of_a_call_is_not_always_a_descriptor_or_bytes),
		CASE(a_file_has_the_kernels_name_if_there_is_one),
		CASE(a_file_may_be_opened_before_the_entry_of_its_call),
		CASE(exec_closes_a_copy_only_if_it_is_close_on_exec),
		{NULL, NULL},
	};

	return unit_main("files", cases, argc, argv);
}
