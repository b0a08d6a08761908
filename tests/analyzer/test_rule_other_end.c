/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_rule_other_end.c - trace_analysis_verify() finds waits for a process that never had the
 * other end
 *
 * Thread 10 ("one") waits in a call on CPU 0, and 20 ("two"), which is in a write to another file,
 * wakes it.
 */
#include <linux/futex.h>
#include <sys/mman.h>
#include "state_waits_case.h"
#include "unit.h"

/* A trace with the files of 20 in it, so that its descriptors are known. */
static struct analysis_case begin_known(void)
{
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_sendmsg, "sendmsg");
	tb_fd(c.tb, 10, 9, 9, 900, S_IFREG | 0600, "/own");
	tb_fd(c.tb, 20, 9, 9, 900, S_IFREG | 0600, "/own");
	tb_sys_enter(c.tb, 1, 1500, SYS_open, 1, 0, 0);
	tb_open(c.tb, 1, 1510, 8, 9, 901, S_IFREG | 0600, "/opened");
	tb_sys_exit(c.tb, 1, 1520, 8);
	return c;
}

static void wait_for_two(struct analysis_case *c, uint32_t call, uint64_t arg0, uint64_t arg1)
{
	tb_sys_enter(c->tb, 0, 2000, call, arg0, arg1, 1);
	block(c);
	tb_sys_enter(c->tb, 1, 5000, SYS_write, 9, 0, 1);
	wake(c, TRACE_CONTEXT_TASK);
	tb_switch(c->tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, 6200, 1);
}

static const char moved_there[] = "moved data of socket 500 in a call on descriptor 3";

/* @what: what 20 never had; NULL: no violation */
static void verify(struct analysis_case *c, const char *what)
{
	const char *found = case_violation(c);

	CU_ASSERT(what || !*found);
	if (what) {
		CU_ASSERT_PTR_NOT_NULL(strstr(found, what));
		CU_ASSERT_PTR_NOT_NULL(strstr(found, "at 0.000005000 s thread 10 (one) waited in "));
		CU_ASSERT_PTR_NOT_NULL(strstr(found, "process 20 (two)"));
		CU_ASSERT_PTR_NOT_NULL(strstr(found, ", found at event "));
	} else if (*found) {
		printf("%s\n", found);
	}
}

static void a_waker_without_the_pipe_is_a_violation(void)
{
	for (int has = 0; has < 2; has++) {
		struct analysis_case c = begin_known();

		pipe_fd(&c, 10, 3, 70, O_RDONLY);
		if (has)
			pipe_fd(&c, 20, 4, 70, O_WRONLY);
		wait_for_two(&c, SYS_read, 3, 1);
		verify(&c, has ? NULL : "never had the other end of its pipe");
	}
}

/* It may have closed its end before the wait is decided. */
static void an_end_that_was_closed_counts(void)
{
	struct analysis_case c = begin_known();

	pipe_fd(&c, 10, 3, 70, O_RDONLY);
	pipe_fd(&c, 20, 4, 70, O_WRONLY);
	tb_sys_enter(c.tb, 1, 1600, SYS_close, 4);
	tb_sys_exit(c.tb, 1, 1610, 0);
	wait_for_two(&c, SYS_read, 3, 1);
	verify(&c, NULL);
}

/* 30 is the child of 20. Thread 21 closes the end while the kernel copies the descriptors. */
static void an_end_that_another_thread_closes_during_a_fork_may_be_the_childs(void)
{
	struct analysis_case c = begin_known();

	tb_thread(c.tb, 21, 20, 1, "two", 2, true);
	pipe_fd(&c, 10, 3, 70, O_RDONLY);
	pipe_fd(&c, 20, 4, 70, O_WRONLY);
	tb_sys_enter(c.tb, 1, 1600, SYS_fork);
	tb_sys_enter(c.tb, 2, 1650, SYS_close_range, 4, 4, 0);
	tb_sys_exit(c.tb, 2, 1660, 0);
	tb_fork(c.tb, 1, 1700, 20, 30, 30, "three");
	tb_switch(c.tb, 1, 1800, 20, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, 1810, 0);
	wait_for_two(&c, SYS_read, 3, 1);
	verify(&c, NULL);
}

/* An execve() before the trace closed the file; it is released on the way to user mode. */
static void a_waker_in_a_call_from_before_may_have_had_it(void)
{
	for (int has_entered = 0; has_entered < 2; has_entered++) {
		struct analysis_case c = begin();

		tb_fd(c.tb, 10, 9, 9, 900, S_IFREG | 0600, "/own");
		tb_fd(c.tb, 20, 9, 9, 900, S_IFREG | 0600, "/own");
		tb_open(c.tb, 1, 1510, 8, 9, 901, S_IFREG | 0600, "/opened");
		pipe_fd(&c, 10, 3, 70, O_RDONLY);
		if (has_entered) {
			wait_for_two(&c, SYS_read, 3, 1);
			verify(&c, "never had the other end of its pipe");
			continue;
		}
		tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 1, 1);
		block(&c);
		wake(&c, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 0, 6200, 0);
		verify(&c, NULL);
	}
}

static void a_waker_without_the_socket_is_a_violation(void)
{
	for (int has = 0; has < 2; has++) {
		struct trace_start_socket sock = {
			.tgid = 10, .fd = 3, .ino = 500, .peer_ino = 501, .family = AF_UNIX, .type = SOCK_STREAM};
		struct analysis_case c = begin_known();

		tb_fd(c.tb, 10, 3, 9, 500, S_IFSOCK | 0777, "socket:[500]");
		tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
		if (has)
			tb_fd(c.tb, 20, 4, 9, 501, S_IFSOCK | 0777, "socket:[501]");
		wait_for_two(&c, SYS_recvfrom, 3, 1);
		verify(&c, has ? NULL : "never had the other end of its socket");
	}
}

static void a_waker_without_the_memory_is_a_violation(void)
{
	for (int has = 0; has < 2; has++) {
		struct trace_start_map map = {.tgid = 10, .start = 0x7000, .end = 0x9000, .dev = 5, .ino = 2};
		struct analysis_case c = begin_known();

		tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/shared");
		map.tgid = 20;
		if (has)
			tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/shared");
		wait_for_two(&c, SYS_futex, 0x7100, 0);
		verify(&c, has ? NULL : "never had the memory of its futex");
	}
}

/* The memory of the waiter is known from the start, and 20 attaches it in the trace. */
static void a_waker_may_have_attached_the_memory(void)
{
	for (int fails = 0; fails < 2; fails++) {
		struct trace_start_map map = {.tgid = 10, .start = 0x7000, .end = 0x9000, .dev = 5, .ino = 2};
		struct analysis_case c = begin_known();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_shmat, "shmat");
		tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/SYSV00000001");
		tb_sys_enter(c.tb, 1, 1600, SYS_shmat, 7, 0, 0);
		tb_sys_exit(c.tb, 1, 1700, fails ? -EINVAL : 0x5000);
		wait_for_two(&c, SYS_futex, 0x7100, 0);
		verify(&c, fails ? "never had the memory of its futex" : NULL);
	}
}

static void map_at_start(struct analysis_case *c, uint32_t tgid, uint64_t start, uint64_t ino)
{
	struct trace_start_map map = {.tgid = tgid, .start = start, .end = start + 0x2000, .dev = 5, .ino = ino};

	tb_start(c->tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/shared");
}

/* ipc() of 32-bit programs attaches memory if its first argument says that. */
static void a_32_bit_waker_may_have_attached_the_memory(void)
{
	static const struct {
		uint64_t call;
		bool attaches;
	} calls[] = {{21 /* SHMAT */, true}, {22 /* SHMDT */, false}, {1 /* SEMOP */, false}, {0x10015, true}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct trace_sys_enter6 enter = {.nr = 117, .abi = TRACE_ABI_32, .arg0 = calls[i].call, .arg1 = 5};
		struct analysis_case c = begin_known();

		tb_string(c.tb, TRACE_STRING_SYSCALL_32, 117, "ipc");
		map_at_start(&c, 10, 0x7000, 2);
		tb_event(c.tb, 1, 1600, TRACE_EV_sys_enter6, &enter, sizeof(enter), NULL);
		tb_sys_exit(c.tb, 1, 1700, 0);
		wait_for_two(&c, SYS_futex, 0x7100, 0);
		verify(&c, calls[i].attaches ? NULL : "never had the memory of its futex");
	}
}

/* "two" is in shmat() while it wakes "one". */
static void a_waker_may_be_attaching_the_memory(void)
{
	for (int attaches = 0; attaches < 2; attaches++) {
		struct analysis_case c = begin_known();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_shmat, "shmat");
		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_getpid, "getpid");
		tb_thread(c.tb, 21, 20, 1, "two", 2, true);
		map_at_start(&c, 10, 0x7000, 2);
		tb_sys_enter(c.tb, 2, 1600, attaches ? SYS_shmat : SYS_getpid, 7, 0, 0);
		wait_for_two(&c, SYS_futex, 0x7100, 0);
		verify(&c, attaches ? NULL : "never had the memory of its futex");
	}
}

/* 20 becomes a child of 30 at 1400. 30 has a thread 31 on CPU 3. */
static struct analysis_case begin_parent(void)
{
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_shmat, "shmat");
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 30, 30, 1, "three", 2, true);
	tb_thread(c.tb, 31, 30, 1, "three", 3, true);
	tb_fd(c.tb, 10, 9, 9, 900, S_IFREG | 0600, "/own");
	tb_fd(c.tb, 30, 9, 9, 900, S_IFREG | 0600, "/own");
	tb_open(c.tb, 0, 1100, 8, 9, 901, S_IFREG | 0600, "/opened");
	map_at_start(&c, 10, 0x7000, 2);
	return c;
}

static void two_begins(struct analysis_case *c, uint64_t clone_flags)
{
	tb_add(c->tb, 2, 1400, sched_fork, "two", .parent_tid = 30, .tid = 20, .tgid = 20, .clone_flags = clone_flags);
	tb_switch(c->tb, 1, 1500, 0, 20, TRACE_TASK_RUNNING);
}

/* 30 attaches the memory before the fork, or after it. */
static void a_child_has_the_memory_that_its_parent_attached(void)
{
	for (int shares = 0; shares < 2; shares++) {
		for (int before = 0; before < 2; before++) {
			uint64_t ns = before ? 1200 : 1600;
			struct analysis_case c = begin_parent();

			tb_sys_enter(c.tb, 2, ns, SYS_shmat, 7, 0, 0);
			tb_sys_exit(c.tb, 2, ns + 10, 0x5000);
			two_begins(&c, shares ? CLONE_VM : 0);
			wait_for_two(&c, SYS_futex, 0x7100, 0);
			verify(&c, shares || before ? NULL : "never had the memory of its futex");
		}
	}
}

/* Thread 31 maps a file. The kernel copies the memory while it does, or after it. */
static void a_child_may_have_memory_that_a_thread_maps_during_the_fork(void)
{
	static const struct {
		uint64_t ret_ns, flags;
		uint32_t call;
		int fd;
		bool has;
	} maps[] = {
		{1450, MAP_SHARED, SYS_mmap, 33, true}, /* its file is not known */
		{1450, MAP_SHARED, SYS_mmap, 9, false}, /* another file */
		{1450, MAP_PRIVATE, SYS_mmap, 33, false},
		{1450, 0, SYS_shmat, 0, true},
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct analysis_case c = begin_parent();

		tb_sys_enter(c.tb, 2, 1270, SYS_fork);
		tb_sys_enter(c.tb, 3, 1300, maps[i].call, 0, 0x2000, PROT_READ, maps[i].flags, maps[i].fd, 0);
		tb_sys_exit(c.tb, 3, maps[i].ret_ns, 0x20000);
		two_begins(&c, 0);
		wait_for_two(&c, SYS_futex, 0x7100, 0);
		verify(&c, maps[i].has ? NULL : "never had the memory of its futex");
	}
}

/* A thread of "one" maps memory without a file while "one" makes its child "two". */
static void a_child_may_have_memory_without_a_file_from_a_fork(void)
{
	for (int during = 0; during < 2; during++) {
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		tb_thread(c.tb, 11, 10, 1, "one", 2, true);
		tb_fd(c.tb, 10, 9, 9, 900, S_IFREG | 0600, "/own");
		tb_open(c.tb, 0, 1100, 8, 9, 901, S_IFREG | 0600, "/opened");
		tb_sys_enter(c.tb, 0, 1200, SYS_fork);
		tb_sys_enter(c.tb, 2, during ? 1300 : 1600, SYS_mmap, 0, 0x2000, PROT_READ, MAP_SHARED | MAP_ANONYMOUS,
			     -1, 0);
		tb_fork(c.tb, 0, 1400, 10, 20, 20, "two");
		tb_sys_exit(c.tb, 2, 1650, 0x20000);
		tb_sys_exit(c.tb, 0, 1660, 20);
		tb_switch(c.tb, 1, 1700, 0, 20, TRACE_TASK_RUNNING);
		wait_for_two(&c, SYS_futex, 0x20100, 0);
		verify(&c, during ? NULL : "never had the memory of its futex");
	}
}

/* The event of the fork comes after the kernel has copied the memory. */
static void a_child_may_have_memory_that_a_thread_unmaps_during_the_fork(void)
{
	for (int before = 0; before < 2; before++) {
		struct analysis_case c = begin_parent();

		map_at_start(&c, 30, 0x7000, 3);
		tb_sys_enter(c.tb, 2, 1300, SYS_fork);
		tb_sys_enter(c.tb, 3, before ? 1200 : 1310, SYS_munmap, 0x7000, 0x2000);
		tb_sys_exit(c.tb, 3, before ? 1220 : 1350, 0);
		two_begins(&c, 0);
		wait_for_two(&c, SYS_futex, 0x7100, 0);
		verify(&c, before ? "never had the memory of its futex" : NULL);
	}
}

/* "two" shares its memory with 30, which maps the file, or has a copy. */
static void a_waker_has_what_another_process_maps_in_its_memory(void)
{
	for (int shares = 0; shares < 2; shares++) {
		struct analysis_case c = begin_parent();

		two_begins(&c, shares ? CLONE_VM : 0);
		tb_sys_enter(c.tb, 3, 1530, SYS_open, 1, 0, 0);
		tb_open(c.tb, 3, 1540, 4, 5, 2, S_IFREG | 0600, "/shared");
		tb_sys_exit(c.tb, 3, 1550, 4);
		tb_sys_enter(c.tb, 3, 1600, SYS_mmap, 0, 0x2000, PROT_READ, MAP_SHARED, 4, 0);
		tb_sys_exit(c.tb, 3, 1610, 0x20000);
		wait_for_two(&c, SYS_futex, 0x7100, 0);
		verify(&c, shares ? NULL : "never had the memory of its futex");
	}
}

/* The file of descriptor 33 is not known. So "two" may have the memory, or "one" that of "two". */
static void a_file_that_is_not_known_may_be_the_memory(void)
{
	for (int maps = 0; maps < 2; maps++) {
		for (int shared = 0; shared < 2; shared++) {
			struct analysis_case c = begin_known();

			map_at_start(&c, 10, 0x7000, 2);
			tb_sys_enter(c.tb, maps, 1600, SYS_mmap, 0, 0x2000, PROT_READ,
				     shared ? MAP_SHARED : MAP_PRIVATE, 33, 0);
			tb_sys_exit(c.tb, maps, 1610, 0x20000);
			wait_for_two(&c, SYS_futex, maps ? 0x7100 : 0x20100, 0);
			verify(&c, shared ? NULL : "never had the memory of its futex");
		}
	}
}

/* Memory is no pipe. */
static void attached_memory_excuses_only_futexes(void)
{
	struct analysis_case c = begin_known();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_shmat, "shmat");
	pipe_fd(&c, 10, 3, 70, O_RDONLY);
	tb_sys_enter(c.tb, 1, 1600, SYS_shmat, 7, 0, 0);
	tb_sys_exit(c.tb, 1, 1700, 0x5000);
	wait_for_two(&c, SYS_read, 3, 1);
	verify(&c, "never had the other end of its pipe");
}

/*
 * "one" waits at a futex in file 2. "two" wakes it at one in file 3: thread 31 of process 30 has
 * moved the waiters there, at once or in two steps, or the call of "one" has that as second futex.
 */
static void a_waker_may_have_the_memory_to_which_the_waiter_was_moved(void)
{
	static const struct {
		uint64_t operation, from, to, from_2, to_2;
		const char *call;
		bool may;
	} moves[] = {
		{FUTEX_CMP_REQUEUE, 0x7100, 0xb100, 0, 0, "futex", true},
		{FUTEX_REQUEUE, 0x7100, 0xb100, 0, 0, "futex", true},
		{FUTEX_CMP_REQUEUE_PI, 0x7100, 0xb100, 0, 0, "futex", true},
		{FUTEX_CMP_REQUEUE_PRIVATE, 0x7100, 0xb100, 0, 0, "futex", false},
		{FUTEX_WAKE_OP, 0x7100, 0xb100, 0, 0, "futex", false},
		{FUTEX_CMP_REQUEUE, 0xb100, 0x7100, 0, 0, "futex", false},
		{FUTEX_CMP_REQUEUE, 0xf100, 0xb100, 0, 0, "futex", false},
		{FUTEX_CMP_REQUEUE, 0x7100, 0x7200, 0, 0, "futex", false},
		{FUTEX_CMP_REQUEUE, 0x7100, 0xf100, 0xf100, 0xb100, "futex", true},
		{FUTEX_CMP_REQUEUE, 0xf100, 0xb100, 0x7100, 0xf100, "futex", true},
		{FUTEX_CMP_REQUEUE, 0x7100, 0xf100, 0xf200, 0x7200, "futex", false},
		{0, 0xf000, 0, 0, 0, "futex_requeue", true},
	};

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		struct analysis_case c = begin_known();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_shmat, moves[i].call);
		tb_thread(c.tb, 30, 30, 1, "three", 2, true);
		map_at_start(&c, 10, 0x7000, 2);
		map_at_start(&c, 20, 0x3000, 3);
		map_at_start(&c, 30, 0x7000, 2);
		map_at_start(&c, 30, 0xb000, 3);
		map_at_start(&c, 30, 0xf000, 4);
		tb_sys_enter(c.tb, 2, 1600, SYS_shmat, moves[i].from, moves[i].operation, 1, 1, moves[i].to, 0);
		tb_sys_exit(c.tb, 2, 1610, 1);
		if (moves[i].from_2) {
			tb_sys_enter(c.tb, 2, 1620, SYS_shmat, moves[i].from_2, moves[i].operation, 1, 1, moves[i].to_2,
				     0);
			tb_sys_exit(c.tb, 2, 1630, 1);
		}
		wait_for_two(&c, SYS_futex, 0x7100, 0);
		verify(&c, moves[i].may ? NULL : "never had the memory of its futex");
	}
}

static void a_call_that_is_moved_names_the_memory_itself(void)
{
	for (int shared = 0; shared < 2; shared++) {
		struct analysis_case c = begin_known();

		map_at_start(&c, 10, 0x7000, 2);
		map_at_start(&c, 10, 0xb000, 3);
		map_at_start(&c, 20, 0x3000, 3);
		tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x7100,
			     shared ? FUTEX_WAIT_REQUEUE_PI : FUTEX_WAIT_REQUEUE_PI_PRIVATE, 1, 0, 0xb100, 0);
		block(&c);
		tb_sys_enter(c.tb, 1, 5000, SYS_write, 9, 0, 1);
		wake(&c, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 0, 6200, 0);
		verify(&c, shared ? NULL : "never had the memory of its futex");
	}
}

/* chmod() takes the lock of the file without a descriptor. */
static void a_waker_that_acts_on_the_path_needs_no_descriptor(void)
{
	struct analysis_case c = begin_known();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_chmod, "chmod");
	tb_fd(c.tb, 10, 3, 9, 77, S_IFREG | 0600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_write, 3, 1, 1);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_sys_enter(c.tb, 1, 5000, SYS_chmod, 1, 0600, 0);
	tb_sys_path(c.tb, 1, 5001, SYS_chmod, "/data");
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, 1);
	verify(&c, NULL);
}

static void a_waker_without_the_file_is_a_violation(void)
{
	for (int has = 0; has < 2; has++) {
		struct analysis_case c = begin_known();

		tb_fd(c.tb, 10, 3, 9, 77, S_IFREG | 0600, "/data");
		if (has)
			tb_fd(c.tb, 20, 4, 9, 77, S_IFREG | 0600, "/data");
		wait_for_two(&c, SYS_flock, 3, 2);
		verify(&c, has ? NULL : "never had the file of its lock");
	}
}

/*
 * Process 20 began before the recording and ended before its descriptors were read. So the end of
 * the pipe that it had is not known, although it opened another file meanwhile.
 */
static void a_process_that_ended_before_it_was_read_is_not_judged(void)
{
	for (int was_read = 0; was_read < 2; was_read++) {
		struct analysis_case c = begin();

		if (was_read)
			tb_fd(c.tb, 20, 9, 9, 900, S_IFREG | 0600, "/own");
		tb_open(c.tb, 1, 1510, 8, 9, 901, S_IFREG | 0600, "/opened");
		pipe_fd(&c, 10, 3, 70, O_RDONLY);
		wait_for_two(&c, SYS_read, 3, 1);
		verify(&c, was_read ? "never had the other end of its pipe" : NULL);
	}
}

/* The recorder reads the descriptors at 1000 to 4000; 20 may have closed the pipe before. */
static void a_wait_that_began_before_the_descriptors_were_read_is_not_judged(void)
{
	struct trace_start_fd late = {.tgid = 10, .fd = 6, .dev = 9, .mode = S_IFREG | 0600, .ino = 902};
	struct analysis_case c = begin_known();

	pipe_fd(&c, 10, 3, 70, O_RDONLY);
	tb_start(c.tb, 4000, TRACE_EV_start_fd, &late, sizeof(late), "/late");
	wait_for_two(&c, SYS_read, 3, 1);
	verify(&c, NULL);
}

/* 20 is a child that has the memory of 10 (CLONE_VM), and exits before 10 runs again. */
static void a_child_that_shared_the_memory_may_have_ended(void)
{
	struct trace_start_map map = {.tgid = 10, .start = 0x7000, .end = 0x9000, .dev = 5, .ino = 2};
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 9, 9, 900, S_IFREG | 0600, "/own");
	tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/one");
	tb_add(c.tb, 0, 1200, sched_fork, "two", .parent_tid = 10, .tid = 20, .tgid = 20, .clone_flags = CLONE_VM);
	tb_switch(c.tb, 1, 1300, 0, 20, TRACE_TASK_RUNNING);
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0xa000, 0, 1);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_futex, 0xa000, 1, 1);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_sys_exit(c.tb, 1, 6010, 1);
	tb_exit(c.tb, 1, 6020, 20, 20, true);
	tb_switch(c.tb, 1, 6050, 20, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, 0);
	verify(&c, NULL);
}

/* With a loss before, a descriptor may be unknown. */
static void a_loss_excuses(void)
{
	struct analysis_case c = begin_known();

	pipe_fd(&c, 10, 3, 70, O_RDONLY);
	tb_lost(c.tb, 1, 3);
	wait_for_two(&c, SYS_read, 3, 1);
	verify(&c, NULL);
}

/*
 * Descriptor 3 of "one" is socket 500 until the recorder reads it, and socket 501 when it does. A
 * receive from 500 is no violation before that.
 */
static void a_descriptor_may_be_another_one_before_it_is_read(void)
{
	for (int before = 0; before < 2; before++) {
		struct trace_start_fd start = {.tgid = 10, .fd = 3, .dev = 9, .mode = S_IFSOCK | 0777, .ino = 501};
		struct analysis_case c = begin();

		tb_start(c.tb, 3000, TRACE_EV_start_fd, &start, sizeof(start), "socket:[501]");
		tb_sys_enter(c.tb, 0, before ? 2000 : 4000, SYS_recvfrom, 3, 0, 10);
		tb_add(c.tb, 0, before ? 2010 : 4010, sock_recv, NULL, .ino = 500, .ret = 5);
		tb_sys_exit(c.tb, 0, before ? 2020 : 4020, 5);
		case_verify(&c, before ? NULL : moved_there);
	}
}

/* Thread 11 puts socket 501 at descriptor 3 during the call of 10, or before it. */
static void a_call_keeps_the_socket_that_it_began_with(void)
{
	for (int before = 0; before < 2; before++) {
		struct analysis_case c = begin();

		tb_thread(c.tb, 11, 10, 1, "one", 2, true);
		tb_fd(c.tb, 10, 3, 9, 500, S_IFSOCK | 0777, "socket:[500]");
		tb_fd(c.tb, 10, 4, 9, 501, S_IFSOCK | 0777, "socket:[501]");
		tb_sys_enter(c.tb, 2, before ? 1500 : 2500, SYS_dup2, 4, 3);
		tb_sys_exit(c.tb, 2, before ? 1510 : 2510, 3);
		tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 10);
		tb_add(c.tb, 0, 3000, sock_recv, NULL, .ino = 500, .ret = 5);
		tb_sys_exit(c.tb, 0, 3010, 5);
		case_verify(&c, before ? moved_there : NULL);
	}
}

/* ---- waits that are reported later ---- */

enum { CLIENT = 5, BACKEND = 7, OTHER = 11 };

static void connection(struct analysis_case *c, uint64_t ns, uint32_t call, int fd, uint64_t peer_ino)
{
	struct trace_sock_endpoints ends = {.fd = fd,
					    .ino = 500 + (uint64_t)fd,
					    .peer_ino = peer_ino,
					    .family = AF_UNIX,
					    .type = SOCK_STREAM,
					    .state = 1};

	tb_fd(c->tb, 10, fd, 9, ends.ino, S_IFSOCK | 0777, "socket:");
	tb_sys_enter(c->tb, 0, ns, call, fd, 0, 0);
	tb_event(c->tb, 0, ns + 5, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
	tb_sys_exit(c->tb, 0, ns + 10, fd);
}

static void transfer(struct analysis_case *c, uint64_t ns, int fd, bool receives)
{
	struct trace_sock_send bytes = {.ino = 500 + (uint64_t)fd, .ret = 9, .family = AF_UNIX};

	tb_sys_enter(c->tb, 0, ns, receives ? SYS_recvfrom : SYS_sendto, fd, 0, 9, 0, 0, 0);
	tb_event(c->tb, 0, ns + 2, receives ? TRACE_EV_sock_recv : TRACE_EV_sock_send, &bytes, sizeof(bytes), NULL);
	tb_sys_exit(c->tb, 0, ns + 4, 9);
}

/*
 * "one" relays the answer of a backend to its client, and waits for the next request, or for both.
 * The analysis keeps this wait until it is known whether the answer goes on: here to the end of the
 * trace. Meanwhile "one" makes a call on another socket, which concerns that wait as little as the
 * descriptors and the memory that it has later. "two" ends the wait. It has the end of the client,
 * or only one of its own.
 */
static void a_wait_that_is_reported_later_is_judged_by_its_own_call(void)
{
	for (int has = 0; has < 2; has++) {
		for (int polls = 0; polls < 2; polls++) {
			struct trace_sock_ready ready = {.ino = 500 + CLIENT, .family = AF_UNIX};
			struct analysis_case c = begin_known();

			tb_window(c.tb, 1000, 20000);
			tb_fd(c.tb, 20, 4, 9, has ? 800 : 801, S_IFSOCK | 0777, "socket:");
			connection(&c, 1600, SYS_accept, CLIENT, 800);
			connection(&c, 1620, SYS_connect, BACKEND, 802);
			connection(&c, 1640, SYS_connect, OTHER, 803);
			transfer(&c, 1700, CLIENT, true);
			transfer(&c, 1710, BACKEND, false);
			transfer(&c, 1720, BACKEND, true);
			transfer(&c, 1730, CLIENT, false);
			if (polls)
				tb_sys_enter(c.tb, 0, 2000, SYS_epoll_wait, 3, 0, 9);
			else
				tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, CLIENT, 0, 9, 0, 0, 0);
			block(&c);
			tb_sys_enter(c.tb, 1, 5000, SYS_sendto, 4, 0, 1, 0, 0, 0);
			tb_event(c.tb, 1, 5990, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
			wake(&c, TRACE_CONTEXT_TASK);
			tb_sys_exit(c.tb, 1, 6050, 1);
			tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
			tb_sys_exit(c.tb, 0, 6200, 1);
			transfer(&c, 6300, OTHER, false);
			verify(&c, has || polls ? NULL : "never had the other end of its socket");
		}
	}
}

/*
 * "one" has a connection over a pair of devices: the other end, of "two", is in network namespace
 * 72, its own end in 64. Process 30 had an end in 64, too, with a port that differs from the other
 * one as the namespaces do. It is no end of this connection.
 */
static void connections_of_two_namespaces_are_two(void)
{
	static const struct {
		uint32_t cpu, netns;
		int fd;
		uint64_t ino;
		uint16_t local_port, remote_port;
	} sockets[] = {{0, 64, 5, 505, 60001, 7777}, {2, 72, 5, 605, 7777, 60001 ^ 8}, {1, 72, 4, 704, 7777, 60001}};
	struct trace_sock_ready ready = {.ino = 505, .family = AF_INET};
	struct analysis_case c = begin_known();

	tb_thread(c.tb, 30, 30, 1, "three", 2, true);
	for (size_t i = 0; i < 3; i++) {
		bool is_client = sockets[i].remote_port == 7777;
		struct trace_sock_endpoints ends = {.fd = sockets[i].fd,
						    .ino = sockets[i].ino,
						    .family = AF_INET,
						    .type = SOCK_STREAM,
						    .state = 1,
						    .protocol = 6,
						    .netns = sockets[i].netns,
						    .local_lo = is_client ? 1 : 2,
						    .remote_lo = is_client ? 2 : 1,
						    .local_port = sockets[i].local_port,
						    .remote_port = sockets[i].remote_port};
		uint64_t ns = 1600 + 20 * i;

		tb_fd(c.tb, (uint32_t[]){10, 30, 20}[i], ends.fd, 9, ends.ino, S_IFSOCK | 0777, "socket:");
		tb_sys_enter(c.tb, sockets[i].cpu, ns, is_client ? SYS_connect : SYS_accept, ends.fd, 0, 0);
		tb_event(c.tb, sockets[i].cpu, ns + 5, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
		tb_sys_exit(c.tb, sockets[i].cpu, ns + 10, ends.fd);
	}
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 5, 0, 9, 0, 0, 0);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_sendto, 4, 0, 1, 0, 0, 0);
	tb_event(c.tb, 1, 5990, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_sys_exit(c.tb, 1, 6050, 1);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, 1);
	verify(&c, NULL);
}

/* ---- files that no event told ---- */

#define NOTIF_ADDFD 0x40182103 /* SECCOMP_IOCTL_NOTIF_ADDFD */

static void request(struct analysis_case *c, uint64_t ns, uint32_t opcode)
{
	struct trace_uring_submit submit = {.req = 1, .opcode = opcode, .fd = 9};

	tb_sys_enter(c->tb, 1, ns, SYS_io_uring_enter, 8, 1, 0);
	tb_event(c->tb, 1, ns + 1, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	tb_sys_exit(c->tb, 1, ns + 2, 1);
}

static void call_of_two(struct analysis_case *c, uint64_t ns, uint32_t call, uint64_t fd, int64_t ret)
{
	tb_sys_enter(c->tb, 1, ns, call, fd, call == SYS_ioctl ? NOTIF_ADDFD : 0, 1);
	tb_sys_exit(c->tb, 1, ns + 2, ret);
}

/* "two" may have got the end of the pipe in a way that no event tells, or it has not. */
static void a_file_that_no_event_told_excuses(void)
{
	static const struct {
		uint32_t call; /* 0: a request of io_uring */
		uint64_t fd;
		int64_t ret; /* or the opcode */
		bool excuses;
	} ways[] = {
		{0, 9, 10, true}, /* IORING_OP_RECVMSG */
		{0, 9, 9, false}, /* IORING_OP_SENDMSG */
		{0, 9, 40, true}, /* IORING_OP_MSG_RING */
		{SYS_ioctl, 9, 0, true},
		{SYS_write, 33, 1, true},
		{SYS_close, 33, 0, true},
		{SYS_write, 33, -EBADF, false},
		{SYS_close, 33, -EBADF, false},
		{SYS_write, 9, 1, false},
		{SYS_sendmsg, 9, 1, false},
	};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct analysis_case c = begin_known();

		pipe_fd(&c, 10, 3, 70, O_RDONLY);
		if (ways[i].call)
			call_of_two(&c, 1600, ways[i].call, ways[i].fd, ways[i].ret);
		else
			request(&c, 1600, (uint32_t)ways[i].ret);
		wait_for_two(&c, SYS_read, 3, 1);
		verify(&c, ways[i].excuses ? NULL : "never had the other end of its pipe");
	}
}

/*
 * "two" has the table of descriptors of 30, which gets the end of the pipe: 30 is its child, or
 * shared the table with it when the recording began.
 */
static void another_process_with_the_table_may_have_got_it(void)
{
	for (int shares = 0; shares < 2; shares++) {
		for (int at_start = 0; at_start < 2; at_start++) {
			struct trace_start_files files = {.tid = 30, .as = shares ? 20 : 30};
			struct analysis_case c = begin_known();

			pipe_fd(&c, 10, 3, 70, O_RDONLY);
			if (at_start) {
				tb_thread(c.tb, 30, 30, 1, "three", 0, false);
				tb_start(c.tb, 1000, TRACE_EV_start_files, &files, sizeof(files), NULL);
			} else {
				tb_add(c.tb, 1, 1600, sched_fork, "three", .parent_tid = 20, .tid = 30, .tgid = 30,
				       .clone_flags = shares ? CLONE_FILES : 0);
			}
			wait_for_two(&c, SYS_read, 3, 1);
			verify(&c, shares ? NULL : "never had the other end of its pipe");
		}
	}
}

/*
 * "one" may have sent the end of its pipe in a message that "two" does not receive: "two" ends the
 * wait if it closes the socket of the message, but not if it writes.
 */
static void a_file_in_a_message_may_be_closed_with_it(void)
{
	for (int sends = 0; sends < 2; sends++) {
		for (int closes = 0; closes < 2; closes++) {
			struct analysis_case c = begin_known();

			pipe_fd(&c, 10, 3, 70, O_RDONLY);
			tb_sys_enter(c.tb, 0, 1600, sends ? SYS_sendmsg : SYS_sendto, 9, 0, 1);
			tb_sys_exit(c.tb, 0, 1602, 1);
			tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
			block(&c);
			tb_sys_enter(c.tb, 1, 5000, closes ? SYS_close : SYS_write, 9, 0, 1);
			wake(&c, TRACE_CONTEXT_TASK);
			tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
			tb_sys_exit(c.tb, 0, 6200, 1);
			verify(&c, sends && closes ? NULL : "never had the other end of its pipe");
		}
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_waker_without_the_pipe_is_a_violation),
		CASE(an_end_that_was_closed_counts),
		CASE(an_end_that_another_thread_closes_during_a_fork_may_be_the_childs),
		CASE(a_waker_in_a_call_from_before_may_have_had_it),
		CASE(a_waker_without_the_socket_is_a_violation),
		CASE(a_waker_without_the_memory_is_a_violation),
		CASE(a_waker_without_the_file_is_a_violation),
		CASE(a_waker_may_have_attached_the_memory),
		CASE(a_32_bit_waker_may_have_attached_the_memory),
		CASE(a_waker_may_be_attaching_the_memory),
		CASE(a_child_has_the_memory_that_its_parent_attached),
		CASE(a_child_may_have_memory_that_a_thread_maps_during_the_fork),
		CASE(a_child_may_have_memory_without_a_file_from_a_fork),
		CASE(a_child_may_have_memory_that_a_thread_unmaps_during_the_fork),
		CASE(a_waker_has_what_another_process_maps_in_its_memory),
		CASE(a_file_that_is_not_known_may_be_the_memory),
		CASE(attached_memory_excuses_only_futexes),
		CASE(a_waker_may_have_the_memory_to_which_the_waiter_was_moved),
		CASE(a_call_that_is_moved_names_the_memory_itself),
		CASE(a_waker_that_acts_on_the_path_needs_no_descriptor),
		CASE(a_process_that_ended_before_it_was_read_is_not_judged),
		CASE(a_wait_that_began_before_the_descriptors_were_read_is_not_judged),
		CASE(a_child_that_shared_the_memory_may_have_ended),
		CASE(a_wait_that_is_reported_later_is_judged_by_its_own_call),
		CASE(connections_of_two_namespaces_are_two),
		CASE(a_file_that_no_event_told_excuses),
		CASE(another_process_with_the_table_may_have_got_it),
		CASE(a_file_in_a_message_may_be_closed_with_it),
		CASE(a_loss_excuses),
		CASE(a_descriptor_may_be_another_one_before_it_is_read),
		CASE(a_call_keeps_the_socket_that_it_began_with),
		{NULL, NULL},
	};

	return unit_main("rule_other_end", cases, argc, argv);
}
