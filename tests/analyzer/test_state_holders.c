/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_holders.c - waits on files, directories and memory that a process ended: the process
 * and the path are told.
 *
 * Thread 10 ("one") waits on CPU 0 from 3000 to 6000. 20 ("two") on CPU 1 ends the wait.
 */
#include <sys/mman.h>
#include "state_waits_case.h"
#include "unit.h"

#define FUSE_MODE (S_IFCHR | 0600)
#define DATA_MODE (S_IFREG | 0644)

static struct analysis_case begin_files(void)
{
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_mkdir, "mkdir");
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_rename, "rename");
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_getdents64, "getdents64");
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_writev, "writev");
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_truncate, "truncate");
	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_bind, "bind");
	return c;
}

static void block_on(struct analysis_case *c, uint32_t state)
{
	tb_switch(c->tb, 0, 3000, 10, 0, state);
}

/* The row of the wait, checked in every key. */
static void expect_on(struct analysis_case *c, uint32_t pid, const char *via, const char *path)
{
	const struct trace_wait *wait = c->one->nr_waits ? &c->one->waits[0] : NULL;

	CU_ASSERT_EQUAL_FATAL(c->one->nr_waits, 1);
	CU_ASSERT_EQUAL(wait->kind, TRACE_WAIT_PROCESS);
	CU_ASSERT_EQUAL(wait->pid, pid);
	CU_ASSERT_STRING_EQUAL(wait->via, via);
	CU_ASSERT_STRING_EQUAL(wait->path, path);
	CU_ASSERT_EQUAL(wait->ns, BLOCKED_NS);
	case_free(c);
}

static void two_calls(struct analysis_case *c, uint32_t call, uint64_t arg0, const char *path)
{
	tb_sys_enter(c->tb, 1, 5000, call, arg0, 1, 1);
	if (path)
		tb_sys_path(c->tb, 1, 5001, call, path);
}

/* ---- file systems of programs ---- */

static void a_read_of_a_served_file_is_for_the_server(void)
{
	static const struct {
		const char *path;
		uint32_t mode;
		bool serves;
	} devices[] = {{"/dev/fuse", FUSE_MODE, true},
		       {"/dev/cuse", FUSE_MODE, true},
		       {"/dev/null", FUSE_MODE, false},
		       {"/home/fuse", DATA_MODE, false}};

	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		struct analysis_case c = begin_files();

		tb_fd(c.tb, 10, 3, 50, 2, DATA_MODE, "/mnt/slow");
		tb_fd(c.tb, 20, 7, 5, 88, devices[i].mode, devices[i].path);
		tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 4096);
		block_on(&c, TRACE_TASK_INTERRUPTIBLE);
		two_calls(&c, SYS_writev, 7, NULL);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		if (devices[i].serves)
			expect_on(&c, 20, "fuse", "/mnt/slow");
		else
			expect(&c, TRACE_WAIT_FILE, "/mnt/slow", 0, "");
	}
}

/* The path has no descriptor yet. */
static void a_look_up_in_a_served_file_system_is_for_the_server(void)
{
	static const uint32_t calls[] = {SYS_open, SYS_stat, SYS_mkdir};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct analysis_case c = begin_files();

		tb_fd(c.tb, 20, 7, 5, 88, FUSE_MODE, "/dev/fuse");
		tb_sys_enter(c.tb, 0, 2000, calls[i], 1, 0, 0);
		tb_sys_path(c.tb, 0, 2001, calls[i], "/mnt/slow");
		block_on(&c, TRACE_TASK_INTERRUPTIBLE);
		two_calls(&c, SYS_writev, 7, NULL);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect_on(&c, 20, "fuse", "/mnt/slow");
	}
}

static void a_page_of_a_served_file_is_from_the_server(void)
{
	struct analysis_case c = begin_files();
	struct trace_start_map map = {.tgid = 10, .start = 0x7000, .end = 0x9000, .dev = 50, .ino = 2};

	tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/mnt/slow");
	tb_fd(c.tb, 20, 7, 5, 88, FUSE_MODE, "/dev/fuse");
	tb_fault(c.tb, 0, 2000, 0x7100, true);
	block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
	two_calls(&c, SYS_writev, 7, NULL);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_fault_end(c.tb, 0, 6200, true);
	case_run(&c);
	expect_on(&c, 20, "fuse", "/mnt/slow");
}

static void a_file_server_rests_until_its_client_asks(void)
{
	struct analysis_case c = begin_files();

	tb_fd(c.tb, 10, 7, 5, 88, FUSE_MODE, "/dev/fuse");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 7, 1, 4096);
	block_on(&c, TRACE_TASK_INTERRUPTIBLE);
	two_calls(&c, SYS_open, 1, "/mnt/slow");
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	CU_ASSERT_TRUE(c.one->waits[0].idle);
	expect_on(&c, 20, "fuse", "");
}

/* ---- pages ---- */

/* The process that provides a page of a file in shared memory comes before the file. */
static void a_page_by_userfaultfd_is_from_its_provider(void)
{
	struct analysis_case c = begin_files();
	struct trace_start_map map = {.tgid = 10, .start = 0x7000, .end = 0x9000, .dev = 5, .ino = 2};

	tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/memfd:guest");
	tb_fd(c.tb, 20, 7, 5, 88, 0, "anon_inode:[userfaultfd]");
	tb_fault(c.tb, 0, 2000, 0x7100, true);
	block_on(&c, TRACE_TASK_INTERRUPTIBLE);
	two_calls(&c, SYS_ioctl, 7, NULL);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_fault_end(c.tb, 0, 6200, false);
	case_run(&c);
	expect_on(&c, 20, "memory", "/memfd:guest");
}

/*
 * Thread 10 waits for a page of a file. The waker on CPU 1 is in @call, or in no call if that is
 * UINT32_MAX.
 */
static void fault_until_woken_in(struct analysis_case *c, uint32_t call)
{
	struct trace_start_map map = {.tgid = 10, .start = 0x7000, .end = 0x9000, .dev = 5, .ino = 2};

	tb_start(c->tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/data");
	tb_fault(c->tb, 0, 2000, 0x7100, true);
	block_on(c, TRACE_TASK_UNINTERRUPTIBLE);
	if (call != UINT32_MAX)
		tb_sys_enter(c->tb, 1, 5000, call, 0x100000, 0x1000, 0);
	wake(c, TRACE_CONTEXT_TASK);
	tb_switch(c->tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_fault_end(c->tb, 0, 6200, false);
	case_run(c);
}

static void expect_fault(struct analysis_case *c, bool for_lock, const char *comm, uint32_t pid)
{
	if (for_lock)
		CU_ASSERT_EQUAL(case_wait(c->one, TRACE_WAIT_PROCESS, comm, pid, "memory"), BLOCKED_NS);
	if (!for_lock)
		CU_ASSERT_EQUAL(case_wait(c->one, TRACE_WAIT_FILE, "/data", 0, ""), BLOCKED_NS);
	case_free(c);
}

/* A thread of the same process changes the address space; the fault is in a file's page. */
static void a_fault_waits_for_the_thread_that_locked_the_memory(void)
{
	static const struct {
		uint32_t call;
		const char *name;
		bool locks;
	} calls[] = {{SYS_munmap, "munmap", true},  {SYS_mmap, "mmap", true},	  {SYS_brk, "brk", true},
		     {SYS_mremap, "mremap", true},  {SYS_shmat, "shmat", true},	  {SYS_mprotect, "mprotect", true},
		     {SYS_fork, "fork", true},	    {SYS_execve, "execve", true}, {SYS_exit_group, "exit_group", true},
		     {SYS_getpid, "getpid", false}, {SYS_write, "write", false}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct analysis_case c = case_new();

		tb_string(c.tb, TRACE_STRING_SYSCALL, calls[i].call, calls[i].name);
		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_thread(c.tb, 11, 10, 1, "one", 1, true);
		fault_until_woken_in(&c, calls[i].call);
		expect_fault(&c, calls[i].locks, "one", 10);
	}
}

/* The wait is decided when the fault ends, and the thread has ended by then. */
static void the_thread_that_locked_the_memory_may_have_ended(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 11, 10, 1, "one", 1, true);
	tb_sys_exit(c.tb, 1, 6010, 0);
	tb_exit(c.tb, 1, 6020, 11, 10, false);
	tb_switch(c.tb, 1, 6030, 11, 0, TRACE_TASK_DEAD);
	fault_until_woken_in(&c, SYS_munmap);
	expect_fault(&c, true, "one", 10);
}

/* The other process has its own memory, or that of the process that has forked it (CLONE_VM). */
static void another_process_locks_the_memory_if_it_shares_that(void)
{
	for (int shares = 0; shares < 2; shares++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_add(c.tb, 0, 1500, sched_fork, "two", .parent_tid = 10, .tid = 20, .tgid = 20, .ns_tid = 20,
		       .clone_flags = shares ? CLONE_VM : 0);
		tb_switch(c.tb, 1, 1600, 0, 20, TRACE_TASK_RUNNING);
		fault_until_woken_in(&c, SYS_munmap);
		expect_fault(&c, shares, "two", 20);
	}
}

static void the_memory_of_another_process_may_be_locked(void)
{
	static const struct {
		const char *path, *via;
	} files[] = {{"/proc/20/maps", "memory"},   {"/proc/20/cmdline", "memory"}, {"/proc/20/smaps_rollup", "memory"},
		     {"/proc/30/maps", "lock"},	    {"/proc/20/stat", "lock"},	    {"/proc/20/mapsa", "lock"},
		     {"/sys/kernel/debug", "lock"}, {"/proc/mounts", "lock"},	    {"/sys/x20/maps", "lock"}};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct analysis_case c = begin_files();

		tb_fd(c.tb, 10, 3, 20, 2, S_IFREG | 0444, files[i].path);
		tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 4096);
		block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
		tb_sys_enter(c.tb, 1, 5000, SYS_fork);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect_on(&c, 20, files[i].via, files[i].path);
	}
}

/* A /proc of a container has its own numbers. No recorder of before told them. */
static void the_memory_of_a_process_in_a_container_may_be_locked(void)
{
	static const struct {
		const char *path, *via;
		uint32_t ns_tgid;
	} files[] = {{"/proc/5/maps", "memory", 5},
		     {"/proc/20/maps", "memory", 5},
		     {"/proc/20/maps", "memory", 0},
		     {"/proc/6/maps", "lock", 5},
		     {"/proc/self/maps", "lock", 0}};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct analysis_case c = case_new();
		struct trace_start_thread start = {.tid = 20,
						   .tgid = 20,
						   .ns_tgid = files[i].ns_tgid,
						   .ppid = 1,
						   .nr = -1,
						   .prio = 120,
						   .running = true,
						   .cpu = 1};

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_start(c.tb, 1000, TRACE_EV_start_thread, &start, sizeof(start), "two");
		tb_fd(c.tb, 10, 3, 20, 2, S_IFREG | 0444, files[i].path);
		tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 4096);
		block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
		tb_sys_enter(c.tb, 1, 5000, SYS_fork);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect_on(&c, 20, files[i].via, files[i].path);
	}
}

/* ---- locks of directories ---- */

static void a_directory_is_locked_by_the_process_that_works_in_it(void)
{
	static const struct {
		const char *own, *its, *directory;
		uint32_t call;
	} paths[] = {
		{"/data/b", "/data/a", "/data", SYS_mkdir},
		{"/data/sub/b", "/data/a", "/data", SYS_mkdir},
		{"/data/b", "/data/a/", "/data", SYS_mkdir},
		{"/data", "/data/a", "/data", SYS_rename},
		{"/b", "/a", "/", SYS_mkdir},
		{"/data/b", "/data/a", "/data", SYS_open},
		{"/data/b", "/data/a", "/data", SYS_execve},
		{"/data/b", "/data/a", "/data", SYS_bind},
		{"/tmp/b", "/a", NULL, SYS_mkdir},
		{"/data/b", "/data2/a", NULL, SYS_mkdir},
		{"/data/b", "/data/sub/a", NULL, SYS_mkdir},
		{"/database/b", "/data/a", NULL, SYS_mkdir},
		{"/data/b", "/data/a", NULL, SYS_read},
		/* of unknown directories */
		{".../b", "a", NULL, SYS_mkdir},
		{".../sub/b", "sub/a", NULL, SYS_mkdir},
		{".../b", "/a", NULL, SYS_mkdir},
		{"/data/b", "a", NULL, SYS_mkdir},
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct analysis_case c = begin_files();

		tb_sys_enter(c.tb, 0, 2000, SYS_mkdir, 1, 0, 0);
		tb_sys_path(c.tb, 0, 2001, SYS_mkdir, paths[i].own + (*paths[i].own == '.' ? 4 : 0));
		block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
		two_calls(&c, paths[i].call, 1, paths[i].its);
		wake(&c, TRACE_CONTEXT_TASK);
		/* its next call has another path before 10 returns */
		tb_sys_exit(c.tb, 1, 6010, 0);
		tb_sys_enter(c.tb, 1, 6020, SYS_mkdir, 1, 0, 0);
		tb_sys_path(c.tb, 1, 6030, SYS_mkdir, "/elsewhere/c");
		finish(&c);
		if (paths[i].directory)
			expect_on(&c, 20, "lock", paths[i].directory);
		else
			expect(&c, TRACE_WAIT_FILE, paths[i].own, 0, "");
	}
}

/*
 * The recorder reads a path at the exit of the call: its page was not in memory before. The process
 * ends before 10 returns.
 */
static void a_path_may_be_known_after_the_wakeup(void)
{
	struct analysis_case c = begin_files();

	tb_sys_enter(c.tb, 0, 2000, SYS_mkdir, 1, 0, 0);
	tb_sys_path(c.tb, 0, 2001, SYS_mkdir, "/data/b");
	block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
	two_calls(&c, SYS_mkdir, 1, NULL);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_add(c.tb, 1, 6010, sys_path, "/data/a", .nr = SYS_mkdir, .late = 1);
	tb_sys_exit(c.tb, 1, 6011, 0);
	tb_exit(c.tb, 1, 6020, 20, 20, true);
	tb_switch(c.tb, 1, 6030, 20, 0, TRACE_TASK_DEAD);
	finish(&c);
	expect_on(&c, 20, "lock", "/data");
}

/* 20 wakes 10 in a call; its path is never known. The path of another call of 20 comes late. */
static void a_late_path_is_not_that_of_another_call(void)
{
	for (int is_before = 0; is_before < 2; is_before++) {
		uint64_t late_ns = is_before ? 2500 : 6020;
		struct analysis_case c = begin_files();

		tb_sys_enter(c.tb, 0, 2000, SYS_mkdir, 1, 0, 0);
		tb_sys_path(c.tb, 0, 2001, SYS_mkdir, "/data/b");
		block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
		tb_sys_enter(c.tb, 1, late_ns, SYS_mkdir, 1, 0, 0);
		tb_add(c.tb, 1, late_ns + 10, sys_path, "/data/a", .nr = SYS_mkdir, .late = 1);
		tb_sys_exit(c.tb, 1, late_ns + 11, 0);
		two_calls(&c, SYS_mkdir, 1, NULL);
		wake(&c, TRACE_CONTEXT_TASK);
		tb_sys_exit(c.tb, 1, 6010, 0);
		finish(&c);
		expect(&c, TRACE_WAIT_FILE, "/data/b", 0, "");
	}
}

/*
 * Three waits, more than are pending at a time, and the path comes with the exit: each wait is
 * decided with it. 20 holds the directory first, then serves the file system twice.
 */
static void a_late_path_is_that_of_all_waits(void)
{
	struct analysis_case c = begin_files();

	tb_thread(c.tb, 30, 30, 1, "three", 1, false);
	tb_fd(c.tb, 30, 7, 5, 88, FUSE_MODE, "/dev/fuse");
	tb_sys_enter(c.tb, 0, 2000, SYS_mkdir, 1, 0, 0);
	block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
	two_calls(&c, SYS_mkdir, 1, "/data/a");
	tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6005, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 1, 6010, 20, 30, TRACE_TASK_INTERRUPTIBLE);
	for (uint64_t ns = 6100; ns < 6500; ns += 100) {
		tb_switch(c.tb, 0, ns, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_sys_enter(c.tb, 1, ns + 10, SYS_writev, 7, 1, 1);
		tb_waking(c.tb, 1, ns + 50, 10, TRACE_CONTEXT_TASK);
		tb_sys_exit(c.tb, 1, ns + 60, 1);
		tb_switch(c.tb, 0, ns + 55, 0, 10, TRACE_TASK_RUNNING);
	}
	tb_add(c.tb, 0, 6600, sys_path, "/data/b", .nr = SYS_mkdir, .late = 1);
	tb_sys_exit(c.tb, 0, 6601, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "lock"), 3000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "three", 30, "fuse"), 4 * 50);
	for (size_t i = 0; i < c.one->nr_waits; i++)
		CU_ASSERT_STRING_EQUAL(c.one->waits[i].path, c.one->waits[i].pid == 20 ? "/data" : "/data/b");
	case_free(&c);
}

/* chmod() and truncate() lock the file itself, not its directory. */
static void a_file_is_locked_by_a_call_on_its_path(void)
{
	static const struct {
		const char *its, *lock;
		uint32_t call;
	} calls[] = {{"/data/f", "/data/f", SYS_chmod},
		     {"/data/f", "/data/f", SYS_truncate},
		     {"/data/f", "/data", SYS_unlink},
		     {"/data/g", "/data", SYS_chmod}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct analysis_case c = begin_files();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_chmod, "chmod");
		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_unlink, "unlink");
		tb_fd(c.tb, 10, 3, 9, 77, DATA_MODE, "/data/f");
		tb_sys_enter(c.tb, 0, 2000, SYS_write, 3, 1, 16);
		block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
		two_calls(&c, calls[i].call, 1, calls[i].its);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect_on(&c, 20, "lock", calls[i].lock);
	}
}

/* The processes may have other working directories. */
static void the_same_name_in_unknown_directories_is_no_lock(void)
{
	struct analysis_case c = begin_files();

	tb_sys_enter(c.tb, 0, 2000, SYS_truncate, 1, 0, 0);
	tb_sys_path(c.tb, 0, 2001, SYS_truncate, "f");
	block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
	two_calls(&c, SYS_truncate, 1, "f");
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_FILE, ".../f", 0, "");
}

/* The wait has a path, the call of the waker a descriptor of that file. */
static void a_file_is_locked_by_a_call_on_its_descriptor(void)
{
	static const struct {
		const char *own, *its;
		uint32_t mode;
		bool is_lock;
	} files[] = {{"/data/f", "/data/f", DATA_MODE, true},
		     {"/data/f", "/data/g", DATA_MODE, false},
		     {"/dev/line", "/dev/line", S_IFCHR | 0600, false}};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct analysis_case c = begin_files();

		tb_fd(c.tb, 20, 5, 9, 77, files[i].mode, files[i].its);
		tb_sys_enter(c.tb, 0, 2000, SYS_truncate, 1, 0, 0);
		tb_sys_path(c.tb, 0, 2001, SYS_truncate, files[i].own);
		block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
		two_calls(&c, SYS_write, 5, NULL);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		if (files[i].is_lock)
			expect_on(&c, 20, "lock", files[i].own);
		else
			expect(&c, TRACE_WAIT_FILE, files[i].own, 0, "");
	}
}

/* ---- two files ---- */

/* sendfile(out, in), copy_file_range(in, offset, out): 20 writes to the file that is written. */
static void the_lock_of_either_file_of_a_copy_has_its_path(void)
{
	for (int i = 0; i < 4; i++) {
		int locked = i & 1 ? 3 : 4;
		struct analysis_case c = begin_files();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_sendfile, "sendfile");
		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_copy_file_range, "copy_file_range");
		tb_fd(c.tb, 10, 3, 9, 73, DATA_MODE, "/data/3");
		tb_fd(c.tb, 10, 4, 9, 74, DATA_MODE, "/data/4");
		tb_fd(c.tb, 20, 5, 9, 70 + (uint64_t)locked, DATA_MODE, locked == 3 ? "/data/3" : "/data/4");
		if (i & 2)
			tb_sys_enter(c.tb, 0, 2000, SYS_sendfile, 3, 4, 0, 100);
		else
			tb_sys_enter(c.tb, 0, 2000, SYS_copy_file_range, 3, 0, 4, 0, 100, 0);
		block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
		two_calls(&c, SYS_write, 5, NULL);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect_on(&c, 20, "lock", locked == 3 ? "/data/3" : "/data/4");
	}
}

/* The file of a splice() to a file is locked, and no process waits for the pipe. */
static void a_splice_waits_for_the_lock_of_its_file(void)
{
	struct analysis_case c = begin_files();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_splice, "splice");
	pipe_fd(&c, 10, 3, 70, O_RDONLY);
	tb_fd(c.tb, 10, 4, 9, 74, DATA_MODE, "/data/4");
	tb_fd(c.tb, 20, 5, 9, 74, DATA_MODE, "/data/4");
	tb_sys_enter(c.tb, 0, 2000, SYS_splice, 3, 0, 4, 0, 100, 0);
	block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
	two_calls(&c, SYS_write, 5, NULL);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect_on(&c, 20, "lock", "/data/4");
}

/* 20 copies to the file that 10 wants to write. */
static void a_copy_locks_the_file_that_it_writes(void)
{
	for (int by_path = 0; by_path < 2; by_path++) {
		struct analysis_case c = begin_files();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_sendfile, "sendfile");
		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_splice, "splice");
		tb_fd(c.tb, 10, 3, 9, 74, DATA_MODE, "/data/4");
		pipe_fd(&c, 20, 4, 70, O_RDONLY);
		tb_fd(c.tb, 20, 5, 9, 74, DATA_MODE, "/data/4");
		tb_sys_enter(c.tb, 0, 2000, by_path ? SYS_truncate : SYS_write, 3, 1, 100);
		if (by_path)
			tb_sys_path(c.tb, 0, 2001, SYS_truncate, "/data/4");
		block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
		tb_sys_enter(c.tb, 1, 5000, SYS_splice, 4, 0, 5, 0, 100, 0);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect_on(&c, 20, "lock", "/data/4");
	}
}

/* From a file system of a program to another place, or the other way round. */
static void a_copy_of_a_served_file_has_the_served_file(void)
{
	static const struct {
		uint32_t in_dev, out_mode, out_dev;
		const char *path;
	} copies[] = {{50, S_IFCHR | 0666, 5, "/mnt/in"},
		      {50, S_IFREG | 0666, 8 << 20, "/mnt/in"},
		      {8 << 20, S_IFREG | 0666, 50, "/out"}};

	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		struct analysis_case c = begin_files();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_sendfile, "sendfile");
		tb_fd(c.tb, 10, 3, copies[i].out_dev, 73, copies[i].out_mode, "/out");
		tb_fd(c.tb, 10, 4, copies[i].in_dev, 74, DATA_MODE, "/mnt/in");
		tb_fd(c.tb, 20, 7, 5, 88, FUSE_MODE, "/dev/fuse");
		tb_sys_enter(c.tb, 0, 2000, SYS_sendfile, 3, 4, 0, 100);
		block_on(&c, TRACE_TASK_INTERRUPTIBLE);
		two_calls(&c, SYS_writev, 7, NULL);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect_on(&c, 20, "fuse", copies[i].path);
	}
}

/* ---- turns ---- */

/*
 * 20 sleeps from 2600 on in a write to descriptor 5 of CPU 1. 30 runs on CPU 0 when 10 sleeps, and
 * wakes 20 at 5900 in a write to descriptor 6.
 */
static void two_waits_for_three(struct analysis_case *c)
{
	tb_sys_enter(c->tb, 1, 2000, SYS_write, 5, 1, 16);
	tb_switch(c->tb, 1, 2600, 20, 0, TRACE_TASK_UNINTERRUPTIBLE);
	block_on(c, TRACE_TASK_UNINTERRUPTIBLE);
	tb_switch(c->tb, 0, 3010, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_enter(c->tb, 0, 3020, SYS_write, 6, 1, 16);
	tb_waking(c->tb, 0, 5900, 20, TRACE_CONTEXT_TASK);
	tb_switch(c->tb, 1, 5920, 0, 20, TRACE_TASK_RUNNING);
	tb_switch(c->tb, 0, 5950, 30, 0, TRACE_TASK_INTERRUPTIBLE);
}

static void a_lock_of_the_kernel_is_waited_for_in_turn(void)
{
	for (int own = 0; own < 2; own++) {
		struct analysis_case c = begin_files();
		struct trace_lock_wait *locks;
		size_t nr = 0;

		tb_fd(c.tb, 10, 3, 9, 77, DATA_MODE, "/data/f");
		tb_fd(c.tb, 20, 5, 9, 77, DATA_MODE, "/data/f");
		tb_thread(c.tb, 30, 30, 1, "three", 0, false);
		tb_fd(c.tb, 30, 6, 9, own ? 78 : 77, DATA_MODE, own ? "/data/g" : "/data/f");
		tb_sys_enter(c.tb, 0, 2000, SYS_write, 3, 1, 16);
		two_waits_for_three(&c);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		/* what 20 waited for with another file is none of the turns */
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "three", 30, "lock"), own ? 0 : 2900);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "lock"), own ? 3000 : 100);
		locks = trace_lock_waits(c.analysis, &nr);
		CU_ASSERT_EQUAL(nr, own ? 1 : 3);
		for (size_t i = 0; i < nr; i++)
			CU_ASSERT_STRING_EQUAL(locks[i].path, "/data/f");
		free(locks);
		case_free(&c);
	}
}

/* 20 waited for the same lock in an earlier call: it had it from before the wait on. */
static void a_turn_begins_in_the_call_that_ends_it(void)
{
	struct analysis_case c = begin_files();

	tb_fd(c.tb, 10, 3, 9, 77, DATA_MODE, "/data/f");
	tb_fd(c.tb, 20, 5, 9, 77, DATA_MODE, "/data/f");
	tb_thread(c.tb, 30, 30, 1, "three", 0, false);
	tb_fd(c.tb, 30, 6, 9, 77, DATA_MODE, "/data/f");
	tb_sys_enter(c.tb, 0, 2000, SYS_write, 3, 1, 16);
	two_waits_for_three(&c);
	tb_sys_exit(c.tb, 1, 5960, 16);
	tb_sys_enter(c.tb, 1, 5970, SYS_write, 5, 1, 16);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect_on(&c, 20, "lock", "/data/f");
}

/* The rows of locks have the directory, too. */
static void a_listed_directory_is_a_lock(void)
{
	struct analysis_case c = begin_files();
	struct trace_lock_wait *locks;
	size_t nr = 0;

	tb_fd(c.tb, 20, 5, 9, 77, S_IFDIR | 0755, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_mkdir, 1, 0, 0);
	tb_sys_path(c.tb, 0, 2001, SYS_mkdir, "/data/b");
	block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
	two_calls(&c, SYS_getdents64, 5, NULL);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	locks = trace_lock_waits(c.analysis, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 1);
	CU_ASSERT_STRING_EQUAL(locks[0].path, "/data");
	CU_ASSERT_EQUAL(trace_process_pid(locks[0].holder), 20);
	free(locks);
	expect_on(&c, 20, "lock", "/data");
}

/* 20 makes a directory in the one that 10 lists. */
static void the_root_directory_is_a_lock(void)
{
	struct analysis_case c = begin_files();

	tb_fd(c.tb, 10, 5, 9, 2, S_IFDIR | 0755, "/");
	tb_sys_enter(c.tb, 0, 2000, SYS_getdents64, 5, 1, 4096);
	block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
	two_calls(&c, SYS_mkdir, 1, "/a");
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect_on(&c, 20, "lock", "/");
}

static void a_locked_file_has_its_path(void)
{
	for (int flock = 0; flock < 2; flock++) {
		struct analysis_case c = begin_files();

		tb_fd(c.tb, 10, 3, 9, 77, DATA_MODE, "/data");
		tb_fd(c.tb, 20, 5, 9, 77, DATA_MODE, "/data");
		tb_sys_enter(c.tb, 0, 2000, flock ? SYS_flock : SYS_write, 3, 2, 16);
		block_on(&c, flock ? TRACE_TASK_INTERRUPTIBLE : TRACE_TASK_UNINTERRUPTIBLE);
		two_calls(&c, flock ? SYS_flock : SYS_write, 5, NULL);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect_on(&c, 20, "lock", "/data");
	}
}

/* ---- pipes ---- */

/* Two writers, and 30 reads. The reader wakes the first writer, and that one wakes the second. */
static void a_writer_that_passes_a_wakeup_on_is_not_the_reader(void)
{
	for (int locked = 0; locked < 2; locked++) {
		struct analysis_case c = begin_files();

		tb_thread(c.tb, 30, 30, 1, "three", 1, false);
		pipe_fd(&c, 10, 3, 70, O_WRONLY);
		pipe_fd(&c, 20, 4, 70, O_WRONLY);
		pipe_fd(&c, 30, 5, 70, O_RDONLY);
		tb_sys_enter(c.tb, 0, 2000, SYS_write, 3, 1, 4096);
		block_on(&c, locked ? TRACE_TASK_UNINTERRUPTIBLE : TRACE_TASK_INTERRUPTIBLE);
		two_calls(&c, SYS_write, 4, NULL);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		if (locked)
			expect_on(&c, 20, "lock", "pipe:");
		else
			expect(&c, TRACE_WAIT_PROCESS, "three", 30, "pipe");
	}
}

/*
 * Signals do not end the sleep, so it is none for data: the other end had the lock, as this end
 * may.
 */
static void a_pipe_is_locked_at_either_end(void)
{
	static const uint32_t calls[] = {SYS_read, SYS_write, SYS_ioctl};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct analysis_case c = begin_files();

		pipe_fd(&c, 10, 3, 70, calls[i] == SYS_write ? O_WRONLY : O_RDONLY);
		pipe_fd(&c, 20, 4, 70, O_WRONLY);
		tb_sys_enter(c.tb, 0, 2000, calls[i], 3, 1, 4096);
		block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
		two_calls(&c, SYS_write, 4, NULL);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect_on(&c, 20, "lock", "pipe:");
	}
}

/* ---- sockets ---- */

/* 20 holds the lock of the socket that it shares with 10, or is at the other end. */
static void a_socket_is_locked_by_a_call_on_the_same_end(void)
{
	for (int i = 0; i < 8; i++) {
		bool same = i & 1, unix_domain = i & 2, receives = i & 4;
		uint16_t family = unix_domain ? AF_UNIX : AF_INET;
		struct trace_start_socket socks[2] = {
			{.tgid = 10, .fd = 3, .ino = 500, .peer_ino = 501, .family = family, .type = SOCK_STREAM},
			{.tgid = 20, .fd = 4, .ino = 501, .peer_ino = 500, .family = family, .type = SOCK_STREAM}};
		struct analysis_case c = begin_files();

		if (same)
			socks[1].ino = 500, socks[1].peer_ino = 501;
		for (int j = 0; j < 2; j++) {
			tb_fd(c.tb, socks[j].tgid, socks[j].fd, 9, socks[j].ino, S_IFSOCK | 0777, "socket:[500]");
			tb_start(c.tb, 1000, TRACE_EV_start_socket, &socks[j], sizeof(socks[j]), NULL);
		}
		tb_sys_enter(c.tb, 0, 2000, receives ? SYS_read : SYS_write, 3, 1, 16);
		block_on(&c, TRACE_TASK_UNINTERRUPTIBLE);
		two_calls(&c, SYS_write, 4, NULL);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		CU_ASSERT_FALSE(c.one->waits[0].idle);
		if (same)
			expect_on(&c, 20, "lock", "socket:[500]");
		else if (unix_domain)
			expect(&c, TRACE_WAIT_PROCESS, "two", 20, "unix");
		else
			case_free(&c);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_read_of_a_served_file_is_for_the_server),
		CASE(a_look_up_in_a_served_file_system_is_for_the_server),
		CASE(a_page_of_a_served_file_is_from_the_server),
		CASE(a_file_server_rests_until_its_client_asks),
		CASE(a_page_by_userfaultfd_is_from_its_provider),
		CASE(a_fault_waits_for_the_thread_that_locked_the_memory),
		CASE(the_thread_that_locked_the_memory_may_have_ended),
		CASE(another_process_locks_the_memory_if_it_shares_that),
		CASE(the_memory_of_another_process_may_be_locked),
		CASE(the_memory_of_a_process_in_a_container_may_be_locked),
		CASE(a_directory_is_locked_by_the_process_that_works_in_it),
		CASE(a_path_may_be_known_after_the_wakeup),
		CASE(a_late_path_is_not_that_of_another_call),
		CASE(a_late_path_is_that_of_all_waits),
		CASE(a_file_is_locked_by_a_call_on_its_path),
		CASE(the_same_name_in_unknown_directories_is_no_lock),
		CASE(a_file_is_locked_by_a_call_on_its_descriptor),
		CASE(the_lock_of_either_file_of_a_copy_has_its_path),
		CASE(a_splice_waits_for_the_lock_of_its_file),
		CASE(a_copy_locks_the_file_that_it_writes),
		CASE(a_copy_of_a_served_file_has_the_served_file),
		CASE(a_lock_of_the_kernel_is_waited_for_in_turn),
		CASE(a_turn_begins_in_the_call_that_ends_it),
		CASE(a_listed_directory_is_a_lock),
		CASE(the_root_directory_is_a_lock),
		CASE(a_locked_file_has_its_path),
		CASE(a_writer_that_passes_a_wakeup_on_is_not_the_reader),
		CASE(a_pipe_is_locked_at_either_end),
		CASE(a_socket_is_locked_by_a_call_on_the_same_end),
		{NULL, NULL},
	};

	return unit_main("state_holders", cases, argc, argv);
}
