/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_end.c - the cause of a wait that the trace ends in, from what the recorder read when
 * it stopped: the descriptors of a poll, the call, the holder of a lock.
 *
 * Thread 10 ("one") runs on CPU 0 and blocks from 3000 to 6000 unless a test says otherwise; 20
 * ("two") runs on CPU 1.
 */
#include <sys/wait.h>
#include "state_waits_case.h"
#include "unit.h"

/* The end state record of a thread. */
static void end_wait(struct analysis_case *c, uint32_t tid, int nr, int fd, uint32_t holder, uint64_t arg0,
		     uint64_t arg1)
{
	struct trace_end_wait wait = {.tid = tid,
				      .nr = nr,
				      .fd = fd,
				      .pid = holder,
				      .arg0 = arg0,
				      .arg1 = arg1,
				      .complete = fd >= 0 || !arg1};

	tb_start(c->tb, 9000, TRACE_EV_end_wait, &wait, sizeof(wait), NULL);
}

static void without_system_calls(struct tb *tb)
{
	struct trace_trace_mask mask = {
		.mask0 = UINT64_MAX, .mask1 = UINT64_MAX, .mask2 = UINT64_MAX, .mask3 = UINT64_MAX};
	uint64_t *words[] = {&mask.mask0, &mask.mask1, &mask.mask2, &mask.mask3};
	static const uint32_t calls[] = {TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6,
					 TRACE_EV_sys_exit};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		*words[calls[i] / 64] &= ~(1ull << calls[i] % 64);
	tb_event(tb, 0, 1001, TRACE_EV_trace_mask, &mask, sizeof(mask), NULL);
}

/* Without system calls no event tells where the call began that the thread is in at the end. */
static void the_call_at_the_end_is_not_that_of_earlier_waits(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	without_system_calls(c.tb);
	tb_fork(c.tb, 1, 1500, 20, 10, 10, "one");
	tb_switch(c.tb, 0, 2000, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_fork(c.tb, 0, 6200, 10, 40, 40, "child");
	end_wait(&c, 10, SYS_wait4, -1, 0, 40, 0);
	tb_switch(c.tb, 0, 7000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 9000, 20, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, ""), 3000);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "child", 40, "waitpid"), 2000);
	case_free(&c);
}

/* Nor where the call ended in which it was at the start: it is in a later one when it is read. */
static void a_call_that_was_read_later_is_not_that_of_earlier_waits(void)
{
	for (int is_late = 0; is_late < 2; is_late++) {
		struct trace_start_thread start = {.tid = 10,
						   .tgid = 10,
						   .ppid = 1,
						   .ns_tid = 10,
						   .ns_tgid = 10,
						   .state = TRACE_TASK_INTERRUPTIBLE,
						   .nr = SYS_wait4,
						   .arg0 = 20};
		struct analysis_case c = case_new();

		tb_thread(c.tb, 20, 20, 10, "two", 1, true);
		tb_start(c.tb, is_late ? 7500 : 1000, TRACE_EV_start_thread, &start, sizeof(start), "one");
		without_system_calls(c.tb);
		wake(&c, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		tb_switch(c.tb, 0, 7000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_switch(c.tb, 1, 9000, 20, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, is_late ? "" : "waitpid"), 5000);
		case_free(&c);
	}
}

static void a_poll_until_the_end_is_for_its_kind_of_descriptors(void)
{
	struct analysis_case c = begin();

	pipe_fd(&c, 10, 5, 90, O_RDONLY);
	pipe_fd(&c, 20, 1, 90, O_WRONLY);
	tb_fd(c.tb, 10, 6, 14, 1, S_IFREG, "/not a thing that one waits for");
	end_wait(&c, 10, SYS_poll, 5, 0, 0x700, 1);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 1, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
}

static void a_poll_of_different_things_until_the_end_is_for_several(void)
{
	struct analysis_case c = begin();

	pipe_fd(&c, 10, 5, 90, O_RDONLY);
	pipe_fd(&c, 20, 1, 90, O_WRONLY);
	tb_fd(c.tb, 10, 6, 14, 1, 0, "[eventfd]");
	end_wait(&c, 10, SYS_poll, 5, 0, 0x700, 2);
	end_wait(&c, 10, SYS_poll, 6, 0, 0x700, 2);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 2, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "several", 0, "poll");
}

/* An epoll within a poll, and a descriptor that is not known. */
static void unknown_descriptors_do_not_make_a_poll_for_several(void)
{
	static const int orders[][3] = {{5, 6, 99}, {99, 6, 5}, {6, 5, 99}};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		struct analysis_case c = begin();

		pipe_fd(&c, 10, 5, 90, O_RDONLY);
		pipe_fd(&c, 20, 1, 90, O_WRONLY);
		tb_fd(c.tb, 10, 6, 14, 1, 0, "anon_inode:[eventpoll]");
		for (int j = 0; j < 3; j++)
			end_wait(&c, 10, SYS_poll, orders[i][j], 0, 0x700, 3);
		tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 3, 0);
		until_the_end(&c);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
	}
}

static void a_poll_of_unknown_descriptors_only_is_other(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 6, 14, 1, 0, "anon_inode:[eventpoll]");
	end_wait(&c, 10, SYS_poll, 6, 0, 0x700, 1);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 1, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_OTHER, "poll", 0, "poll");
}

static void a_poll_of_nothing_is_a_sleep(void)
{
	struct analysis_case c = begin();

	end_wait(&c, 10, SYS_poll, -1, 0, 0x700, 0);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_TIMEOUT, "", 0, "");
}

/* The call's record only says that the program wants its events somewhere; the end state has the
 * address. */
/* Only processes can end such a wait, but which one is not known. */
static void a_wait_that_only_processes_end_is_for_an_unknown_one(void)
{
	static const struct {
		uint32_t nr;
		const char *name, *path, *via;
	} waits[] = {{SYS_pause, "pause", "", "signal"},
		     {SYS_mq_timedreceive, "mq_timedreceive", "", "mqueue"},
		     {SYS_semop, "semop", "", "semaphore"},
		     {SYS_read, "read", "[eventfd]", "eventfd"},
		     {SYS_read, "read", "anon_inode:[signalfd]", "signal"},
		     {SYS_read, "read", "pidfd:[7]", "pidfd"},
		     {SYS_read, "read", "[pidfd]", "pidfd"},
		     {SYS_read, "read", "anon_inode:inotify", "inotify"},
		     {SYS_read, "read", "[inotify]", "inotify"},
		     {SYS_read, "read", "[fanotify]", "inotify"},
		     {SYS_read, "read", "anon_inode:[userfaultfd]", "memory"},
		     {SYS_read, "read", "pipe:[7]", "pipe"}};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL, waits[i].nr, waits[i].name);
		tb_fd(c.tb, 10, 3, 14, 7, 0, waits[i].path);
		tb_sys_enter(c.tb, 0, 2000, waits[i].nr, 3, 0, 0);
		until_the_end(&c);
		expect(&c, TRACE_WAIT_PROCESS, "unknown", 0, waits[i].via);
	}
}

static void the_holder_of_the_other_end_of_a_socket_may_be_unknown(void)
{
	struct trace_start_socket sock = {.tgid = 10, .fd = 3, .ino = 500, .family = AF_UNIX, .type = SOCK_STREAM};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 9, 500, S_IFSOCK | 0777, "socket:[500]");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "unknown", 0, "unix");

	c = begin();
	tb_fd(c.tb, 10, 3, 14, 7, 0, "socket:[7]");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_OTHER, "read", 0, "socket");
}

static void a_poll_of_things_that_agree_is_for_one(void)
{
	struct analysis_case c = begin();

	for (int fd = 5; fd <= 6; fd++) {
		pipe_fd(&c, 10, fd, 90 + (uint64_t)fd, O_RDONLY);
		pipe_fd(&c, 20, fd, 90 + (uint64_t)fd, O_WRONLY);
		end_wait(&c, 10, SYS_poll, fd, 0, 0x700, 2);
	}
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 2, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
}

/* The wait may have ended and begun again. */
static void a_wait_until_the_end_across_a_gap_is_unknown(void)
{
	struct trace_trace_heartbeat heartbeat = {0};
	struct analysis_case c = begin();

	tb_event(c.tb, 2, 7000, TRACE_EV_trace_heartbeat, &heartbeat, sizeof(heartbeat), NULL);
	tb_lost(c.tb, 2, 1);
	tb_event(c.tb, 2, 8000, TRACE_EV_trace_heartbeat, &heartbeat, sizeof(heartbeat), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 128, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_UNKNOWN, "", 0, "");
}

static void a_call_without_addresses_is_in_the_end_state(void)
{
	struct analysis_case c = begin();

	pipe_fd(&c, 10, 5, 90, O_RDONLY);
	pipe_fd(&c, 20, 1, 90, O_WRONLY);
	end_wait(&c, 10, SYS_epoll_wait, 5, 0, 4, 0x7f0000001000);
	tb_sys_enter(c.tb, 0, 2000, SYS_epoll_wait, 4, 0x7f0000001000, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
}

/* A moment after the end the thread was in the next call. */
static void an_end_state_of_another_call_does_not_count(void)
{
	struct analysis_case c = begin();

	pipe_fd(&c, 10, 5, 90, O_RDONLY);
	pipe_fd(&c, 20, 1, 90, O_WRONLY);
	end_wait(&c, 10, SYS_poll, 5, 0, 0x800, 1);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 1, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_OTHER, "poll", 0, "poll");
}

static void a_lock_until_the_end_names_its_holder(void)
{
	struct analysis_case c = begin();

	end_wait(&c, 10, SYS_flock, -1, 20, 3, 2);
	tb_sys_enter(c.tb, 0, 2000, SYS_flock, 3, 2);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "lock");
}

/* It may have left the lock to its children. */
static void a_dead_holder_is_not_waited_for(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 1, "holder", 1, false);
	end_wait(&c, 10, SYS_flock, -1, 40, 3, 2);
	tb_switch(c.tb, 1, 1500, 20, 40, TRACE_TASK_RUNNING);
	tb_exit(c.tb, 1, 1600, 40, 40, true);
	tb_switch(c.tb, 1, 1700, 40, 20, TRACE_TASK_DEAD);
	tb_sys_enter(c.tb, 0, 2000, SYS_flock, 3, 2);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "unknown", 0, "lock");
}

/* Its children have the lock, then: it is one of the descriptor that they inherited. */
static void a_holder_that_has_closed_the_file_is_not_waited_for(void)
{
	for (int closes = 0; closes < 2; closes++) {
		struct analysis_case c = begin();

		tb_fd(c.tb, 10, 3, 8, 77, S_IFREG | 0644, "/lock");
		tb_fd(c.tb, 20, 5, 8, 77, S_IFREG | 0644, "/lock, by another path");
		tb_fd(c.tb, 20, 6, 8, 78, S_IFREG | 0644, "/other");
		end_wait(&c, 10, SYS_flock, -1, 20, 3, 2);
		tb_sys_enter(c.tb, 1, 1500, SYS_close, closes ? 5 : 6, 0, 0);
		tb_sys_exit(c.tb, 1, 1510, 0);
		tb_sys_enter(c.tb, 0, 2000, SYS_flock, 3, 2);
		until_the_end(&c);
		expect(&c, TRACE_WAIT_PROCESS, closes ? "unknown" : "two", closes ? 0 : 20, "lock");
	}
}

static void an_unrecorded_call_may_be_in_the_end_state(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 50, 50, 1, "sleeper", 0, false);
	end_wait(&c, 50, SYS_nanosleep, -1, 0, 0x10, 0x20);
	until_the_end(&c);
	c.two = trace_figures_free(c.two);
	c.two = trace_process_figures(c.analysis, case_process(&c, 50));
	CU_ASSERT_EQUAL(case_wait(c.two, TRACE_WAIT_TIMEOUT, "", 0, ""), 8000);
	case_free(&c);
}

/* A flight recorder reads the state after the events: the thread may have entered its call only
 * then. */
static void an_end_state_read_after_the_call_does_not_count(void)
{
	static const uint64_t read[] = {2000, 8000};

	for (int i = 0; i < 2; i++) {
		struct trace_start_thread start = {
			.tid = 10, .tgid = 10, .ppid = 1, .nr = SYS_nanosleep, .state = TRACE_TASK_INTERRUPTIBLE};
		struct analysis_case c = case_new();

		tb_start(c.tb, read[i], TRACE_EV_start_thread, &start, sizeof(start), "one");
		tb_thread(c.tb, 20, 20, 1, "two", 1, true);
		tb_sys_enter(c.tb, 1, 1500, SYS_kill, 10, SIGUSR1, 0);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_TIMEOUT, "", 0, ""), i ? 0 : 5000);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, ""), i ? 5000 : 0);
		case_free(&c);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_call_at_the_end_is_not_that_of_earlier_waits),
		CASE(a_call_that_was_read_later_is_not_that_of_earlier_waits),
		CASE(a_poll_until_the_end_is_for_its_kind_of_descriptors),
		CASE(a_poll_of_different_things_until_the_end_is_for_several),
		CASE(unknown_descriptors_do_not_make_a_poll_for_several),
		CASE(a_poll_of_unknown_descriptors_only_is_other),
		CASE(a_poll_of_nothing_is_a_sleep),
		CASE(a_wait_that_only_processes_end_is_for_an_unknown_one),
		CASE(the_holder_of_the_other_end_of_a_socket_may_be_unknown),
		CASE(a_poll_of_things_that_agree_is_for_one),
		CASE(a_wait_until_the_end_across_a_gap_is_unknown),
		CASE(a_call_without_addresses_is_in_the_end_state),
		CASE(an_end_state_of_another_call_does_not_count),
		CASE(a_lock_until_the_end_names_its_holder),
		CASE(a_dead_holder_is_not_waited_for),
		CASE(a_holder_that_has_closed_the_file_is_not_waited_for),
		CASE(an_unrecorded_call_may_be_in_the_end_state),
		CASE(an_end_state_read_after_the_call_does_not_count),
		{NULL, NULL},
	};

	return unit_main("state_end", cases, argc, argv);
}
