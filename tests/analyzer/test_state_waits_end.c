/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_waits_end.c - the cause of a wait without a recorded end: the trace ended before it,
 * or the waker leaves no events.
 *
 * Thread 10 ("one") runs on CPU 0 and blocks from 3000 to 6000 unless a test says otherwise; 20
 * ("two") runs on CPU 1.
 */
#include <sys/wait.h>
#include "state_waits_case.h"
#include "unit.h"

/* ---- waits without an end ---- */

static void a_wait_until_the_end_names_the_only_child(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 10, "child", 1, false);
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "child", 40, "waitpid");
}

static void a_wait_until_the_end_names_the_child_that_was_asked_for(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 10, "first", 1, false);
	tb_thread(c.tb, 41, 41, 10, "second", 1, false);
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, 41, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "second", 41, "waitpid");
}

/* In a container children have other numbers. */
static void a_child_may_be_waited_for_by_its_number_in_the_namespace(void)
{
	struct trace_start_thread child = {
		.tid = 41, .tgid = 41, .ppid = 10, .ns_tid = 2, .ns_tgid = 2, .state = TRACE_TASK_INTERRUPTIBLE};
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 10, "first", 1, false);
	tb_start(c.tb, 1000, TRACE_EV_start_thread, &child, sizeof(child), "second");
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, 2, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "second", 41, "waitpid");
}

/* The first argument of waitid() says what the second one is. */
static void a_kind_of_number_is_no_childs_number(void)
{
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_waitid, "waitid");
	tb_thread(c.tb, 40, 40, 10, "child", 1, false);
	tb_sys_enter(c.tb, 0, 2000, SYS_waitid, P_PID, 40, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "child", 40, "waitpid");
}

static void a_dead_child_is_not_waited_for(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 10, "first", 1, false);
	tb_thread(c.tb, 41, 41, 10, "second", 1, false);
	tb_switch(c.tb, 1, 1500, 20, 40, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 1, 1600, 40, 40, true);
	tb_switch(c.tb, 1, 1700, 40, 20, TRACE_TASK_DEAD);
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "second", 41, "waitpid");
}

static void a_wait_until_the_end_for_any_child_is_for_several(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 10, "first", 1, false);
	tb_thread(c.tb, 41, 41, 10, "second", 1, false);
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "several", 0, "waitpid");
}

static void a_wait_without_children_is_other(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_OTHER, "wait4", 0, "waitpid");
}

static void a_read_until_the_end_names_the_holder_of_the_other_end(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 1, "reader too", 1, false);
	pipe_fd(&c, 10, 3, 90, O_RDONLY);
	pipe_fd(&c, 20, 4, 90, O_WRONLY);
	pipe_fd(&c, 40, 5, 90, O_RDONLY);
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
}

/* The waiter's own descriptors of the pipe do not count. However many descriptors another process
 * has, it counts once. */
static void a_read_until_the_end_is_for_several_holders_of_the_other_end(void)
{
	for (int several = 0; several < 2; several++) {
		struct analysis_case c = begin();

		tb_thread(c.tb, 40, 40, 1, "writer too", 1, false);
		pipe_fd(&c, 10, 3, 90, O_RDONLY);
		pipe_fd(&c, 10, 4, 90, O_WRONLY);
		pipe_fd(&c, 20, 4, 90, O_WRONLY);
		pipe_fd(&c, 20, 5, 90, O_WRONLY);
		pipe_fd(&c, 40, 5, several ? 90 : 89, O_WRONLY);
		tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
		until_the_end(&c);
		expect(&c, TRACE_WAIT_PROCESS, several ? "several" : "two", several ? 0 : 20, "pipe");
	}
}

static void a_private_futex_until_the_end_is_the_own_process(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 128, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "one", 10, "futex");
}

/* A join waits so: the kernel wakes as if the memory were shared. */
static void a_futex_in_private_memory_is_the_own_process(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "one", 10, "futex");
}

static void share_memory(struct analysis_case *c)
{
	static const uint32_t tgids[] = {10, 20};

	for (size_t i = 0; i < 2; i++) {
		struct trace_start_map map = {
			.tgid = tgids[i], .dev = 1, .ino = 77, .start = 0x1000 << i, .end = 0x2000 << i};

		tb_start(c->tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/dev/shm/x");
	}
}

static void a_futex_in_shared_memory_names_the_process_that_shares_it(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 1, "of no known memory", 1, false);
	share_memory(&c);
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "futex");
}

/* Even if other processes share the memory: the kernel looks for a private futex in the own address
 * space only. */
static void a_private_futex_in_shared_memory_is_the_own_process(void)
{
	struct analysis_case c = begin();

	share_memory(&c);
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 128, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "one", 10, "futex");
}

static void shared_memory_may_be_moved(void)
{
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_mremap, "mremap");
	share_memory(&c);
	tb_sys_enter(c.tb, 0, 1100, SYS_mremap, 0x1000, 0x1000, 0x2000, 1, 0, 0);
	tb_sys_exit(c.tb, 0, 1200, 0x7000);
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x8010, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "futex");
}

/* System V memory may be mapped anywhere, and no event shows the processes that share it. */
static void a_futex_may_be_in_memory_that_others_share_unrecorded(void)
{
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_shmat, "shmat");
	tb_sys_enter(c.tb, 0, 1100, SYS_mmap, 0, 4096, 3, 0x22, -1, 0); /* MAP_PRIVATE | MAP_ANONYMOUS */
	tb_sys_exit(c.tb, 0, 1200, 0x5000);
	tb_sys_enter(c.tb, 0, 1300, SYS_shmat, 7, 0, 0);
	tb_sys_exit(c.tb, 0, 1400, 0x9000);
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x9000, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "unknown", 0, "futex");
}

static void memory_that_is_shared_by_fork_is_known(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 1100, SYS_mmap, 0, 4096, 3, 0x21, -1, 0); /* MAP_SHARED | MAP_ANONYMOUS */
	tb_sys_exit(c.tb, 0, 1200, 0x5000);
	tb_sys_enter(c.tb, 0, 1300, SYS_fork);
	tb_fork(c.tb, 0, 1400, 10, 30, 30, "child");
	tb_sys_exit(c.tb, 0, 1500, 30);
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x5010, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "child", 30, "futex");
}

/* Process 30 is born with the memory of process 10. */
static void fork_with_memory(struct analysis_case *c, uint32_t child)
{
	tb_sys_enter(c->tb, 0, 1300, SYS_clone, CLONE_VM, 0, 0);
	tb_add(c->tb, 0, 1400, sched_fork, "child", .parent_tid = 10, .tid = child, .tgid = child,
	       .clone_flags = CLONE_VM);
	tb_sys_exit(c->tb, 0, 1500, child);
}

/* The key of a private futex is the address space, not the process. */
static void a_private_futex_is_of_the_process_with_the_same_memory(void)
{
	for (uint64_t operation = 0; operation <= 128; operation += 128) {
		struct analysis_case c = begin();

		fork_with_memory(&c, 30);
		tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, operation, 0);
		until_the_end(&c);
		expect(&c, TRACE_WAIT_PROCESS, "child", 30, "futex");
	}
}

static void several_processes_may_have_the_same_memory(void)
{
	struct analysis_case c = begin();

	fork_with_memory(&c, 30);
	tb_add(c.tb, 0, 1600, sched_fork, "another", .parent_tid = 10, .tid = 31, .tgid = 31, .clone_flags = CLONE_VM);
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 128, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "several", 0, "futex");
}

/* A thread of the own process may wake it, or the other process. */
static void a_thread_and_another_process_are_several(void)
{
	struct analysis_case c = begin();

	fork_with_memory(&c, 30);
	tb_fork(c.tb, 0, 1600, 10, 11, 10, "thread");
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 128, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "several", 0, "futex");
}

/* exec gives the child a memory of its own, as after vfork. */
static void after_exec_the_memory_is_not_shared(void)
{
	struct analysis_case c = begin();

	fork_with_memory(&c, 30);
	tb_exec(c.tb, 1, 1600, 30, "/bin/true");
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 128, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "one", 10, "futex");
}

/* By a hard link, or a mount in another place. */
static void shared_memory_may_have_two_paths(void)
{
	struct trace_start_map map = {.tgid = 10, .dev = 1, .ino = 77, .start = 0x1000, .end = 0x2000};
	struct analysis_case c = begin();

	tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/dev/shm/x");
	map.tgid = 20;
	tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/container/shm/x");
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "futex");
}

static void a_ring_until_the_end_waits_for_its_requests(void)
{
	struct trace_uring_submit submit = {.req = 0xf00, .opcode = 22, .fd = 5},
				  done = {.req = 0xf10, .opcode = 22, .fd = 6};
	struct trace_uring_complete complete = {.req = 0xf10, .res = 1};
	struct analysis_case c = begin();

	pipe_fd(&c, 10, 5, 90, O_RDONLY);
	pipe_fd(&c, 20, 1, 90, O_WRONLY);
	pipe_fd(&c, 10, 6, 91, O_RDONLY);
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_event(c.tb, 0, 2100, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	tb_event(c.tb, 0, 2200, TRACE_EV_uring_submit, &done, sizeof(done), NULL);
	tb_event(c.tb, 0, 2300, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "io_uring");
}

static void a_ring_without_requests_is_other(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_OTHER, "io_uring_enter", 0, "io_uring");
}

/* A descriptor of "two" that is only for writing is not the other end of the pipe that "one" writes
 * to. Neither is a pipe of the same number on another device. */
static void a_holder_of_the_same_end_of_a_pipe_is_no_potential_waker(void)
{
	static const struct {
		uint32_t flags;
		uint32_t dev;
		const char *target;
		uint32_t pid;
	} twos[] = {{O_RDONLY, 12, "two", 20}, {O_WRONLY, 12, "unknown", 0}, {O_RDONLY, 11, "unknown", 0}};

	for (size_t i = 0; i < sizeof(twos) / sizeof(twos[0]); i++) {
		struct trace_start_fd start = {
			.tgid = 20, .fd = 1, .dev = twos[i].dev, .mode = PIPE_MODE, .ino = 90, .flags = twos[i].flags};
		struct analysis_case c = begin();

		pipe_fd(&c, 10, 5, 90, O_WRONLY);
		tb_start(c.tb, 1000, TRACE_EV_start_fd, &start, sizeof(start), "pipe:");
		tb_sys_enter(c.tb, 0, 2000, SYS_write, 5, 0, 1);
		until_the_end(&c);
		expect(&c, TRACE_WAIT_PROCESS, twos[i].target, twos[i].pid, "pipe");
	}
}

/* Thread 70 leaves no events: what happened on its CPU until the next event was not recorded, and
 * neither was the end of the wait. The call returns @ret. */
static void end_unseen(struct analysis_case *c, int64_t ret)
{
	block(c);
	tb_switch(c->tb, 0, 5000, 0, 70, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, 6000, ret);
	tb_switch(c->tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(c);
}

#define UNSEEN_NS 2000 /* of the wait, followed by 1000 ns within which it ended */

static void a_wait_with_an_unrecorded_end_is_unknown(void)
{
	static const int64_t interrupted = -4;
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 10, "child", 1, false);
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0);
	end_unseen(&c, interrupted);
	expect(&c, TRACE_WAIT_UNKNOWN, "", 0, "");
}

static void the_result_may_name_the_cause_of_an_unrecorded_end(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 10, "child", 1, false);
	tb_thread(c.tb, 41, 41, 10, "other", 1, false);
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0);
	end_unseen(&c, 40);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "child", 40, "waitpid"), UNSEEN_NS);
	case_free(&c);

	c = begin();
	pipe_fd(&c, 10, 3, 90, O_RDONLY);
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
	end_unseen(&c, 1);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "unknown", 0, "pipe"), UNSEEN_NS);
	case_free(&c);
}

/* A result of 0 means that the wait was ended only for a futex. For a read it is the end of the
 * file, which does not name the writer. */
static void a_result_of_0_names_the_cause_only_for_a_futex(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 128, 0);
	end_unseen(&c, 0);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "one", 10, "futex"), UNSEEN_NS);
	case_free(&c);

	c = begin();
	pipe_fd(&c, 10, 3, 90, O_RDONLY);
	pipe_fd(&c, 20, 4, 90, O_WRONLY);
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
	end_unseen(&c, 0);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), BLOCKED_NS);
	case_free(&c);
}

/* A successful poll does not say which of its descriptors was ready. */
static void a_successful_poll_does_not_name_its_cause(void)
{
	struct analysis_case c = begin();

	pipe_fd(&c, 10, 5, 90, O_RDONLY);
	pipe_fd(&c, 20, 1, 90, O_WRONLY);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 1, 0);
	end_unseen(&c, 1);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), BLOCKED_NS);
	case_free(&c);
}

/* A request that is still in progress need not be the one that the ring waited for. */
static void a_ring_wait_with_an_unrecorded_end_has_no_known_cause(void)
{
	struct trace_uring_submit submit = {.req = 0xf00, .opcode = 22, .fd = 5};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 5, 9, 80, S_IFREG | 0600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_event(c.tb, 0, 2100, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	end_unseen(&c, -4);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), BLOCKED_NS);
	case_free(&c);
}

static void a_wait_since_the_start_may_have_an_unrecorded_end(void)
{
	struct trace_start_thread start = {
		.tid = 10, .tgid = 10, .ppid = 1, .nr = SYS_futex, .state = TRACE_TASK_INTERRUPTIBLE};
	struct analysis_case c = case_new();

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &start, sizeof(start), "one");
	tb_switch(c.tb, 0, 5000, 0, 70, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6000, -110);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_TIMEOUT, "", 0, ""), 4000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 1000);
	case_free(&c);
}

static void a_result_may_show_a_timeout(void)
{
	static const struct {
		int nr;
		int64_t ret;
	} calls[] = {{SYS_futex, -110}, {SYS_poll, 0}, {SYS_select, 0}, {SYS_epoll_wait, 0}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct analysis_case c = begin();

		tb_sys_enter(c.tb, 0, 2000, (uint32_t)calls[i].nr, 0x1000, 0, 1);
		end_unseen(&c, calls[i].ret);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_TIMEOUT, "", 0, ""), UNSEEN_NS);
		case_free(&c);
	}
}

/* Its CPU had nothing else to do, so it must have slept until an unrecorded thread woke it. */
static void a_thread_switched_in_by_an_idle_cpu_had_an_unrecorded_wakeup(void)
{
	struct analysis_case c = begin();

	tb_window(c.tb, 1000, 9000000);
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 5003000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 5004000, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 0);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 5000000);
	case_free(&c);
}

/* CPU 1 was idle for long, but not for long after "one" went to sleep on CPU 0: "one" was migrating
 * to it. */
static void idle_time_before_a_sleep_says_nothing_about_it(void)
{
	struct analysis_case c = begin();

	tb_window(c.tb, 1000, 9000000);
	tb_switch(c.tb, 1, 2000, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 0, 5000000, SYS_wait4, -1, 0, 0);
	tb_switch(c.tb, 0, 5001000, 10, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 5301000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, 5302000, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 300000);
	CU_ASSERT_EQUAL(c.one->blocked_ns, 0);
	case_free(&c);

	c = begin(); /* nor did its work for others */
	tb_window(c.tb, 1000, 9000000);
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0);
	tb_switch(c.tb, 0, 3000, 10, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 5003000, 30, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 5000000);
	case_free(&c);
}

/* ---- many ---- */

#define MANY 500u

/* Each thread has the writing end of the next one's pipe, shares memory with another, and is the
 * child of the one before. */
static void one_of_many(struct analysis_case *c, uint32_t nr)
{
	struct trace_start_map map = {.tgid = 100 + nr, .dev = 1, .ino = 7000 + nr / 2, .start = 0x1000, .end = 0x2000};
	char path[32];

	tb_thread(c->tb, 100 + nr, 100 + nr, 99 + nr, "many", 0, !nr);
	pipe_fd(c, 100 + nr, 3, 90 + nr, O_RDONLY);
	pipe_fd(c, 100 + nr, 500, 80, O_RDONLY); /* a large table of descriptors */
	pipe_fd(c, 100 + nr, 4, 90 + (nr + 1) % MANY, O_WRONLY);
	snprintf(path, sizeof(path), "/dev/shm/%u", nr / 2);
	tb_start(c->tb, 1000, TRACE_EV_start_map, &map, sizeof(map), path);
}

/* All of them wait in @call, until the end. */
static void run_many(struct analysis_case *c, uint32_t call, uint64_t arg0)
{
	*c = case_new();
	tb_window(c->tb, 1000, 10000 + 1000ull * MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t ns = 2000 + 1000ull * i;

		one_of_many(c, i);
		tb_sys_enter(c->tb, 0, ns, call, arg0, 0, 0);
		tb_switch(c->tb, 0, ns + 500, 100 + i, i + 1 < MANY ? 101 + i : 0, TRACE_TASK_INTERRUPTIBLE);
	}
	c->trace = tb_open_trace(c->tb);
	c->analysis = trace_analysis_new(c->trace, NULL, NULL);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(c->analysis, NULL), 0);
}

/* test_steps checks the cost of this. */
static void each_of_many_waits_until_the_end_has_a_cause(void)
{
	static const struct {
		uint32_t call, arg0, pid;
		const char *via;
	} calls[] = {{SYS_read, 3, 100 + 4, "pipe"},
		     {SYS_futex, 0x1010, 100 + 4, "futex"},
		     {SYS_wait4, -1u, 100 + 6, "waitpid"}};
	struct analysis_case c;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		run_many(&c, calls[i].call, calls[i].arg0);
		c.one = trace_process_figures(c.analysis, case_process(&c, 100 + 5));
		CU_ASSERT_PTR_NOT_NULL_FATAL(c.one);
		CU_ASSERT(case_wait(c.one, TRACE_WAIT_PROCESS, "many", calls[i].pid, calls[i].via) > 0);
		case_free(&c);
	}
}

/* The tracer ends, and leaves the thread to the stop signal from before. */
static void a_tracer_that_has_ended_does_not_stop_the_thread_again(void)
{
	struct analysis_case c = begin();

	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_TRACED);
	tb_exit(c.tb, 1, 4000, 20, 20, true);
	tb_waking(c.tb, 1, 4000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 4100, 20, 0, TRACE_TASK_DEAD);
	tb_switch(c.tb, 0, 4200, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 5000, 10, 0, TRACE_TASK_STOPPED);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_STOPPED, "two", 20, "ptrace"), 1000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_STOPPED, "", 0, ""), 4000);
	case_free(&c);
}

/* Thread 11 was killed in wait4 by a core dump of its process, before the recording. */
static void a_process_is_no_child_of_its_own(void)
{
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_wait4, "wait4");
	tb_thread_in(c.tb, 11, 10, 1, "one", 2, false, SYS_wait4);
	tb_waking(c.tb, 0, 6000, 11, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 2, 6100, 0, 11, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 2, 6200, 11, 10, false);
	tb_switch(c.tb, 2, 6300, 11, 0, TRACE_TASK_DEAD);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 5000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "one", 10, "waitpid"), 0);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_wait_until_the_end_names_the_only_child),
		CASE(a_wait_until_the_end_names_the_child_that_was_asked_for),
		CASE(a_wait_until_the_end_for_any_child_is_for_several),
		CASE(a_child_may_be_waited_for_by_its_number_in_the_namespace),
		CASE(a_wait_without_children_is_other),
		CASE(a_read_until_the_end_names_the_holder_of_the_other_end),
		CASE(a_read_until_the_end_is_for_several_holders_of_the_other_end),
		CASE(a_private_futex_until_the_end_is_the_own_process),
		CASE(a_futex_in_private_memory_is_the_own_process),
		CASE(a_futex_in_shared_memory_names_the_process_that_shares_it),
		CASE(memory_that_is_shared_by_fork_is_known),
		CASE(a_private_futex_is_of_the_process_with_the_same_memory),
		CASE(several_processes_may_have_the_same_memory),
		CASE(a_thread_and_another_process_are_several),
		CASE(after_exec_the_memory_is_not_shared),
		CASE(shared_memory_may_have_two_paths),
		CASE(a_thread_switched_in_by_an_idle_cpu_had_an_unrecorded_wakeup),
		CASE(a_ring_until_the_end_waits_for_its_requests),
		CASE(a_ring_without_requests_is_other),
		CASE(a_holder_of_the_same_end_of_a_pipe_is_no_potential_waker),
		CASE(a_wait_with_an_unrecorded_end_is_unknown),
		CASE(the_result_may_name_the_cause_of_an_unrecorded_end),
		CASE(a_result_may_show_a_timeout),
		CASE(a_wait_since_the_start_may_have_an_unrecorded_end),
		CASE(each_of_many_waits_until_the_end_has_a_cause),
		CASE(a_kind_of_number_is_no_childs_number),
		CASE(a_dead_child_is_not_waited_for),
		CASE(a_private_futex_in_shared_memory_is_the_own_process),
		CASE(a_futex_may_be_in_memory_that_others_share_unrecorded),
		CASE(a_result_of_0_names_the_cause_only_for_a_futex),
		CASE(a_successful_poll_does_not_name_its_cause),
		CASE(idle_time_before_a_sleep_says_nothing_about_it),
		CASE(shared_memory_may_be_moved),
		CASE(a_ring_wait_with_an_unrecorded_end_has_no_known_cause),
		CASE(a_tracer_that_has_ended_does_not_stop_the_thread_again),
		CASE(a_process_is_no_child_of_its_own),
		{NULL, NULL},
	};

	return unit_main("waits without an end", cases, argc, argv);
}
