/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_waits_locks.c - the cause of a wait, from the object that the call works on: locks,
 * semaphores, memory, and what has no object.
 *
 * Thread 10 ("one") runs on CPU 0 and blocks from 3000 to 6000 unless a test says otherwise; 20
 * ("two") runs on CPU 1.
 */
#include <sys/file.h>
#include "state_waits_ends.h"
#include "unit.h"

/* The first argument of ipc() is the call, with its version in the upper half. Calls up to 4 are
 * those of semaphores. */
static void semaphores_of_32_bit_programs_are_in_ipc(void)
{
	static const struct {
		uint64_t call;
		const char *via, *lock;
	} calls[] = {{0x10001 /* semop */, "semaphore", "semaphore 5"},
		     {4 /* semtimedop */, "semaphore", "semaphore 5"},
		     {11 /* msgsnd */, "mqueue", NULL}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct trace_sys_enter6 enter = {.nr = 117, .abi = TRACE_ABI_32, .arg0 = calls[i].call, .arg1 = 5};
		struct analysis_case c = begin();
		struct trace_lock_wait *locks;
		size_t nr = 0;

		tb_string(c.tb, TRACE_STRING_SYSCALL_32, 117, "ipc");
		tb_event(c.tb, 0, 2000, TRACE_EV_sys_enter6, &enter, sizeof(enter), NULL);
		by_two(&c, SYS_semop);
		locks = trace_lock_waits(c.analysis, &nr);
		CU_ASSERT_EQUAL_FATAL(nr, calls[i].lock ? 1 : 0);
		if (nr)
			CU_ASSERT_STRING_EQUAL(locks[0].path, calls[i].lock);
		free(locks);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, calls[i].via);
	}
}

static void one_sleeps(struct analysis_case *c, uint64_t ns, uint64_t for_ns, uint32_t call, uint64_t arg0,
		       uint64_t arg1, uint32_t state)
{
	tb_sys_enter(c->tb, 0, ns, call, arg0, arg1, 0);
	tb_switch(c->tb, 0, ns + 10, 10, 0, state);
	tb_waking(c->tb, 1, ns + 10 + for_ns, 10, TRACE_CONTEXT_TASK);
	tb_switch(c->tb, 0, ns + 20 + for_ns, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, ns + 30 + for_ns, 0);
}

static void one_waits(struct analysis_case *c, uint64_t ns, uint64_t for_ns, uint32_t call, uint64_t arg0,
		      uint64_t arg1)
{
	one_sleeps(c, ns, for_ns, call, arg0, arg1, TRACE_TASK_INTERRUPTIBLE);
}

/* Locks with the same waiting time: files by their paths, then futexes by their addresses. */
static void the_lock_that_was_waited_for_longest_comes_first(void)
{
	static const struct {
		const char *path;
		uint64_t address, ns, count;
	} rows[] = {{"/b", 0, 600, 1},	  {"", 0x9000, 500, 2}, {"/a", 0, 300, 1},
		    {"/c", 0, 300, 1},	  {"/d", 0, 300, 1},	{"", 0x1000, 300, 1},
		    {"", 0x2000, 300, 1}, {"", 0x3000, 300, 1}, {"", 0x800, 200, 1}};
	struct analysis_case c = begin();
	struct trace_lock_wait *locks;
	size_t nr = 0;

	for (int i = 0; i < 4; i++) {
		char path[] = {'/', (char)('a' + i), '\0'};

		tb_fd(c.tb, 10, 3 + i, 9, 80 + (uint64_t)i, S_IFREG | 0600, path);
	}
	one_waits(&c, 1100, 300, SYS_futex, 0x3000, 0);
	one_waits(&c, 1500, 300, SYS_flock, 6, 2);
	one_waits(&c, 1900, 300, SYS_futex, 0x1000, 0);
	one_waits(&c, 2300, 250, SYS_futex, 0x9000, 0);
	one_waits(&c, 2700, 300, SYS_flock, 3, 2);
	one_waits(&c, 3100, 600, SYS_flock, 4, 2);
	one_waits(&c, 3800, 300, SYS_flock, 5, 2);
	one_waits(&c, 4200, 200, SYS_futex, 0x800, 0);
	one_waits(&c, 4600, 300, SYS_futex, 0x2000, 0);
	one_waits(&c, 5000, 250, SYS_futex, 0x9000, 0);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	locks = trace_lock_waits(c.analysis, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, sizeof(rows) / sizeof(rows[0]));
	for (size_t i = 0; i < nr; i++) {
		CU_ASSERT_STRING_EQUAL(locks[i].path, rows[i].path);
		CU_ASSERT_STRING_EQUAL(locks[i].via, *rows[i].path ? "lock" : "futex");
		CU_ASSERT_EQUAL(locks[i].address, rows[i].address);
		CU_ASSERT_EQUAL(locks[i].ns, rows[i].ns);
		CU_ASSERT_EQUAL(locks[i].count, rows[i].count);
		CU_ASSERT_EQUAL(trace_process_pid(locks[i].waiter), 10);
		CU_ASSERT_EQUAL(trace_process_pid(locks[i].holder), 20);
	}
	free(locks);
	case_free(&c);
}

/* Locks of files are waited for in sleeps that signals end. */
static void a_sleep_without_signals_is_for_a_lock_of_the_kernel(void)
{
	static const uint32_t states[] = {TRACE_TASK_INTERRUPTIBLE, TRACE_TASK_UNINTERRUPTIBLE};
	static const char *const paths[] = {"/a", "[lock of the kernel]"};

	for (int i = 0; i < 2; i++) {
		struct analysis_case c = begin();
		struct trace_lock_wait *locks;
		size_t nr = 0;

		tb_fd(c.tb, 10, 3, 9, 80, S_IFREG | 0600, "/a");
		one_sleeps(&c, 1500, 300, SYS_flock, 3, 2, states[i]);
		tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		locks = trace_lock_waits(c.analysis, &nr);
		CU_ASSERT_EQUAL_FATAL(nr, 1);
		CU_ASSERT_STRING_EQUAL(locks[0].path, paths[i]);
		CU_ASSERT_STRING_EQUAL(locks[0].via, "lock");
		CU_ASSERT_EQUAL(locks[0].ns, 300);
		CU_ASSERT_EQUAL(trace_process_pid(locks[0].holder), 20);
		free(locks);
		case_free(&c);
	}
}

static void a_ptraced_thread_waits_for_its_tracer(void)
{
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_ptrace, "ptrace");
	tb_sys_enter(c.tb, 0, 2000, SYS_ptrace, 7, 40, 0, 0);
	by_two(&c, SYS_kill);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "ptrace");
}

/* A call on memory waits for another process with the same address space, or for a kernel thread
 * that frees memory. */
static void calls_on_memory_wait_for_the_releasing_thread(void)
{
	static const struct {
		uint32_t nr;
		const char *name;
	} calls[] = {{SYS_brk, "brk"},
		     {SYS_mremap, "mremap"},
		     {SYS_shmat, "shmat"},
		     {SYS_munmap, "munmap"},
		     {SYS_mprotect, "mprotect"}};
	struct trace_start_thread kernel = {
		.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .cpu = 1, .state = 1};

	for (size_t i = 0; i < 2 * sizeof(calls) / sizeof(calls[0]); i++) {
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL, calls[i / 2].nr, calls[i / 2].name);
		tb_start(c.tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), "kcompactd0");
		tb_sys_enter(c.tb, 0, 2000, calls[i / 2].nr, 0x5000, 0x1000, 0);
		if (i % 2) {
			tb_waking(c.tb, 1, 2500, 30, TRACE_CONTEXT_TASK);
			tb_switch(c.tb, 1, 4000, 20, 30, TRACE_TASK_RUNNING);
			block(&c);
			wake(&c, TRACE_CONTEXT_TASK);
			finish(&c);
			expect(&c, TRACE_WAIT_KERNEL, "kcompactd0", 0, "memory");
		} else {
			by_two(&c, SYS_getpid);
			expect(&c, TRACE_WAIT_PROCESS, "two", 20, "memory");
		}
	}
}

static void fcntl_waits_for_a_lock(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 9, 80, S_IFREG | 0600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_fcntl, 3, F_SETLKW, 0x7000);
	by_two(&c, SYS_getpid);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "lock");
}

static void a_wait_outside_calls_is_for_its_waker(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 2100, 10);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "");

	c = begin();
	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 2100, 10);
	tb_switch(c.tb, 0, 6000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	case_run(&c);
	expect(&c, TRACE_WAIT_UNKNOWN, "", 0, "");
}

/*
 * 10 waits for the locks of eight files. When the last wait is over, 20 begins so many processes
 * that one of them has the number of that lock's row.
 */
static void a_lock_is_of_its_owner_whatever_begins_after_the_wait(void)
{
	enum { LOCKS = 8 };
	struct analysis_case c = begin();
	char path[16];

	for (uint64_t i = 0; i < LOCKS; i++) {
		snprintf(path, sizeof(path), "/lock%d", (int)i);
		tb_fd(c.tb, 10, 3 + (int)i, 1, 100 + i, S_IFREG | 0600, path);
		tb_fd(c.tb, 20, 3 + (int)i, 1, 100 + i, S_IFREG | 0600, path);
	}
	for (uint64_t i = 0, ns = 2000; i < LOCKS; i++, ns += 500) {
		tb_sys_enter(c.tb, 0, ns, SYS_flock, 3 + i, LOCK_EX, 0);
		tb_switch(c.tb, 0, ns + 10, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_sys_enter(c.tb, 1, ns + 100, SYS_flock, 3 + i, LOCK_UN, 0);
		tb_waking(c.tb, 1, ns + 110, 10, TRACE_CONTEXT_TASK);
		tb_sys_exit(c.tb, 1, ns + 120, 0);
		tb_switch(c.tb, 0, ns + 150, 0, 10, TRACE_TASK_RUNNING);
		for (uint32_t k = 0; i == LOCKS - 1 && k < 2 * LOCKS; k++)
			tb_fork(c.tb, 1, ns + 160 + k, 20, 30 + k, 30 + k, "three");
		tb_sys_exit(c.tb, 0, ns + 200, 0);
	}
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->nr_waits, LOCKS);
	for (size_t i = 0; i < c.one->nr_waits; i++) {
		CU_ASSERT_EQUAL(c.one->waits[i].pid, 20);
		CU_ASSERT_EQUAL(c.one->waits[i].ns, 100);
		CU_ASSERT_EQUAL(c.one->waits[i].count, 1);
	}
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(semaphores_of_32_bit_programs_are_in_ipc),
		CASE(the_lock_that_was_waited_for_longest_comes_first),
		CASE(a_sleep_without_signals_is_for_a_lock_of_the_kernel),
		CASE(a_ptraced_thread_waits_for_its_tracer),
		CASE(a_wait_outside_calls_is_for_its_waker),
		CASE(calls_on_memory_wait_for_the_releasing_thread),
		CASE(fcntl_waits_for_a_lock),
		CASE(a_lock_is_of_its_owner_whatever_begins_after_the_wait),
		{NULL, NULL},
	};

	return unit_main("waits for locks", cases, argc, argv);
}
