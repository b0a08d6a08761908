/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_waits.c - on whose behalf a wakeup was made, and what a wait was for that nothing ended.
 *
 * Thread 10 ("one") runs on CPU 0 and blocks from 3000 to 6000 unless a test says otherwise; 20 ("two") runs on CPU 1.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include "analysis_case.h"
#include "state_waits_case.h"
#include "unit.h"

/* ---- wakeups that were for something else ---- */

static void a_wakeup_while_running_does_not_end_a_later_sleep(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_pause);
	tb_waking(c.tb, 1, 2500, 10, TRACE_CONTEXT_TASK); /* it stays on its CPU, then sleeps after all */
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 100);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "signal");
}

static void a_signal_is_told_after_its_wakeup(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 5, 9, 70, 0, "[signalfd]");
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0, 1, 0);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_kill, 10, SIGUSR1, 0);
	wake(&c, TRACE_CONTEXT_TASK);
	signal_to(&c, 6050, 10, SIGUSR1, 0);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "signal");
}

static void an_ignored_signal_ended_nothing(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_flock, 3, 2, 0);
	block(&c);
	tb_exit(c.tb, 1, 5000, 20, 20, true);
	wake(&c, TRACE_CONTEXT_TASK);
	signal_to(&c, 6050, 10, SIGCHLD, 1);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "lock");
}

static void a_death_ends_a_lock_by_the_lock(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_flock, 3, 2, 0);
	block(&c);
	tb_exit(c.tb, 1, 5000, 20, 20, true);
	wake(&c, TRACE_CONTEXT_TASK);
	signal_to(&c, 6050, 10, SIGCHLD, 0); /* there is a handler */
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "lock");
}

/* ---- on whose behalf ---- */

static void receive_by(struct analysis_case *c, uint32_t ifindex)
{
	struct trace_start_socket sock = {.tgid = 10, .fd = 3, .ino = 500, .family = AF_INET, .type = SOCK_DGRAM, .local_port = 53, .protocol = 17};
	struct trace_net_rx rx = {.ifindex = ifindex, .bytes = 60};
	struct trace_sock_ready ready = {.ino = 500, .family = AF_INET, .protocol = 17};

	tb_string(c->tb, TRACE_STRING_NETDEV, 1, "lo");
	tb_string(c->tb, TRACE_STRING_NETDEV, 2, "eth0");
	tb_fd(c->tb, 10, 3, 9, 500, S_IFSOCK, "socket:[500]");
	tb_start(c->tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_sys_enter(c->tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	block(c);
	tb_sys_enter(c->tb, 1, 5000, SYS_sendto, 4, 0, 0);
	tb_softirq(c->tb, 1, 5500, SOFTIRQ_NET_RX);
	tb_event(c->tb, 1, 5600, TRACE_EV_net_rx, &rx, sizeof(rx), NULL);
	tb_event(c->tb, 1, 5700, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
	wake(c, TRACE_CONTEXT_SOFTIRQ);
	finish(c);
}

static void a_packet_on_loopback_is_its_senders(void)
{
	struct analysis_case c = begin();

	receive_by(&c, 1);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "udp");
}

/* The other end was made by "one" itself, and two got it by fork. */
static void a_local_connection_names_who_used_it_just_now(void)
{
	static const uint64_t ends[2] = {500, 501};
	struct trace_net_rx rx = {.ifindex = 1};
	struct trace_sock_ready ready = {.ino = 500, .family = AF_INET, .protocol = 6};
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_NETDEV, 1, "lo");
	for (uint16_t i = 0; i < 2; i++) {
		struct trace_start_socket sock = {.tgid = 10, .fd = 3 + i, .ino = ends[i], .family = AF_INET, .type = SOCK_STREAM, .protocol = 6,
						  .local_port = 80 + i, .remote_port = 81 - i, .local_lo = 1, .remote_lo = 1};

		tb_fd(c.tb, 10, 3 + i, 9, ends[i], S_IFSOCK, "socket:");
		tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	}
	tb_fd(c.tb, 20, 4, 9, 501, S_IFSOCK, "socket:");
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_sendto, 4, 0, 0);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	tb_event(c.tb, 1, 5600, TRACE_EV_net_rx, &rx, sizeof(rx), NULL);
	tb_event(c.tb, 1, 5700, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "tcp");
}

static void a_packet_from_elsewhere_is_not_of_who_was_interrupted(void)
{
	struct analysis_case c = begin();

	receive_by(&c, 2);
	expect(&c, TRACE_WAIT_NETWORK, "local port 53", 0, "");
}

static void a_kworker_wakes_for_who_queued_its_work(void)
{
	struct trace_start_thread kworker = {.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .cpu = 1, .state = 1};
	struct trace_work_queue queue = {.work = 0xabc0};
	struct trace_work_start start = {.work = 0xabc0};
	struct analysis_case c = begin();

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &kworker, sizeof(kworker), "kworker/1:0");
	tb_fd(c.tb, 10, 0, 8, 3, S_IFCHR | 0620, "/dev/pts/0");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 0, 0, 1);
	block(&c);
	tb_sys_enter(c.tb, 1, 4000, SYS_write, 5, 0, 1);
	tb_event(c.tb, 1, 4500, TRACE_EV_work_queue, &queue, sizeof(queue), NULL);
	tb_waking(c.tb, 1, 4600, 30, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 5000, 20, 30, TRACE_TASK_RUNNING);
	tb_event(c.tb, 1, 5500, TRACE_EV_work_start, &start, sizeof(start), NULL);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 7000, 30, 20, TRACE_TASK_NOLOAD);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "tty");
}

static void a_ring_waits_for_the_file_of_its_request(void)
{
	struct trace_uring_submit submit = {.req = 0xf00, .opcode = 22, .fd = 4};
	struct trace_uring_complete complete = {.req = 0xf00, .res = 512};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 4, 9, 80, S_IFREG | 0600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_event(c.tb, 0, 2100, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	block(&c);
	tb_irq(c.tb, 1, 5000, 7);
	wake(&c, TRACE_CONTEXT_HARDIRQ);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_event(c.tb, 0, 6150, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	tb_sys_exit(c.tb, 0, 6200, 1);
	case_run(&c);
	expect(&c, TRACE_WAIT_FILE, "/data", 0, "io_uring");
}

/* Who writes has the file to itself. Its name does not matter, it may have several. */
static void who_let_go_of_a_file_is_named(void)
{
	static const struct {
		uint64_t ino;
		enum trace_wait_kind kind;
		const char *target, *via;
		uint32_t pid;
	} others[] = {{80, TRACE_WAIT_PROCESS, "two", "lock", 20}, {81, TRACE_WAIT_FILE, "/data", "", 0}};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct analysis_case c = begin();

		tb_fd(c.tb, 10, 4, 9, 80, S_IFREG | 0600, "/data");
		tb_fd(c.tb, 20, 5, 9, others[i].ino, S_IFREG | 0600, "/link");
		tb_sys_enter(c.tb, 0, 2000, SYS_write, 4, 0, 1);
		block(&c);
		tb_sys_enter(c.tb, 1, 5000, SYS_write, 5, 0, 1);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect(&c, others[i].kind, others[i].target, others[i].pid, others[i].via);
	}
}

/* libaio: the kernel's older way. */
static void asynchronous_io_is_no_ring(void)
{
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_io_getevents, "io_getevents");
	tb_fd(c.tb, 10, 4, 9, 80, PIPE_MODE, "pipe:[80]");
	tb_fd(c.tb, 20, 5, 9, 80, PIPE_MODE, "pipe:[80]");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_getevents, 0, 1, 1);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_write, 5, 0, 1);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
}

/* openpty() makes the slave by an ioctl(). */
static void a_terminal_may_be_known_by_its_other_end(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 20, 5, 8, 2, S_IFCHR | 0666, "/dev/ptmx");
	tb_sys_enter(c.tb, 0, 2000, SYS_write, 4, 0, 1);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_read, 5, 0, 1);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "tty");
}

static const struct trace_file_use *file_use(const struct analysis_case *c, const char *path)
{
	static const struct trace_file_use none;

	for (size_t i = 0; i < c->one->nr_files; i++)
		if (strcmp(c->one->files[i].path, path) == 0)
			return &c->one->files[i];
	return &none;
}

/* From the opening by the ring on, there is no descriptor. */
static void a_ring_knows_what_it_opened_into_a_slot(void)
{
	struct trace_uring_open open = {.slot = 1, .dev = 8, .mode = S_IFREG | 0600, .ino = 81};
	struct trace_uring_submit submit = {.req = 0xf00, .opcode = 22, .fd = 1, .flags = 1};
	struct trace_uring_file registered = {.req = 0xf00, .dev = 8, .mode = S_IFREG | 0600, .ino = 81};
	struct trace_uring_complete complete = {.req = 0xf00, .res = 512};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 1, 9, 82, S_IFREG | 0600, "/not this one");
	tb_event(c.tb, 0, 1500, TRACE_EV_uring_open, &open, sizeof(open), "/slot");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_event(c.tb, 0, 2100, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	block(&c);
	tb_irq(c.tb, 1, 5000, 7);
	wake(&c, TRACE_CONTEXT_HARDIRQ);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_event(c.tb, 0, 6140, TRACE_EV_uring_file, &registered, sizeof(registered), NULL);
	tb_event(c.tb, 0, 6150, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	tb_sys_exit(c.tb, 0, 6200, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(file_use(&c, "/slot")->read_bytes, 512);
	expect(&c, TRACE_WAIT_FILE, "/slot", 0, "io_uring");
}

/* Its descriptor is a new one's after that. */
static void a_ring_may_close_a_descriptor(void)
{
	struct trace_uring_close close = {.fd = 4};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 4, 9, 80, S_IFREG | 0600, "/data");
	tb_event(c.tb, 0, 1500, TRACE_EV_uring_close, &close, sizeof(close), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 4, 0, 1);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "");
}

static void a_listener_that_waits_in_a_ring_is_at_rest(void)
{
	struct trace_start_socket sock = {.tgid = 10, .fd = 4, .ino = 500, .family = AF_UNIX, .type = SOCK_STREAM, .state = 10};
	struct trace_uring_submit submit = {.req = 0xf00, .opcode = 13, .fd = 4};
	struct trace_uring_complete complete = {.req = 0xf00, .res = 5};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 4, 9, 500, S_IFSOCK, "socket:[500]");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_event(c.tb, 0, 2100, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_connect, 4, 0, 16);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_event(c.tb, 0, 6150, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	tb_sys_exit(c.tb, 0, 6200, 1);
	case_run(&c);
	CU_ASSERT(c.one->waits[0].idle);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "io_uring");
}

static void poll_until_two_dies(struct analysis_case *c)
{
	tb_sys_enter(c->tb, 0, 2000, SYS_poll, 0, 2, 0);
	block(c);
	tb_exit(c->tb, 1, 5000, 20, 20, true);
	wake(c, TRACE_CONTEXT_TASK);
	finish(c);
}

static void pipe_fd(struct analysis_case *c, uint32_t tgid, int fd, uint64_t ino, uint32_t flags)
{
	struct trace_start_fd start = {.tgid = tgid, .fd = fd, .dev = 12, .mode = PIPE_MODE, .ino = ino, .flags = flags};

	tb_start(c->tb, 1000, TRACE_EV_start_fd, &start, sizeof(start), "pipe:");
}

static void a_poll_that_a_death_ends_names_the_pipe_it_closed(void)
{
	struct analysis_case c = begin();

	pipe_fd(&c, 10, 5, 90, O_RDONLY);
	pipe_fd(&c, 20, 1, 90, O_WRONLY);
	poll_until_two_dies(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
}

static void a_shared_end_of_a_pipe_connects_nobody(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 6, 13, 91, 0, "[pidfd]");
	pipe_fd(&c, 10, 1, 90, O_WRONLY);
	pipe_fd(&c, 20, 1, 90, O_WRONLY);
	poll_until_two_dies(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pidfd");
}

static void eventfds_have_the_kernels_name(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 20, 7, 14, 1, 0, "[eventfd]");
	tb_sys_enter(c.tb, 0, 2000, SYS_epoll_wait, 4, 0, 1);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_write, 7, 0, 8);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "eventfd");
}

static void a_vfork_is_over_with_its_call(void)
{
	struct trace_sched_fork fork = {.parent_tid = 10, .tid = 30, .tgid = 30, .clone_flags = CLONE_VFORK | CLONE_VM};
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 1500, SYS_vfork);
	tb_event(c.tb, 0, 1600, TRACE_EV_sched_fork, &fork, sizeof(fork), "one");
	tb_sys_exit(c.tb, 0, 1700, 30);
	tb_sys_enter(c.tb, 0, 2000, SYS_fork);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "fork");
}

/* ---- waits that nothing ended ---- */

static void until_the_end(struct analysis_case *c)
{
	tb_switch(c->tb, 0, 6000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c->tb, 1, 9000, 20, 0, TRACE_TASK_RUNNING);
	case_run(c);
}

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
static void a_child_may_be_asked_for_by_the_number_that_its_parent_knows(void)
{
	struct trace_start_thread child = {.tid = 41, .tgid = 41, .ppid = 10, .ns_tid = 2, .ns_tgid = 2, .state = TRACE_TASK_INTERRUPTIBLE};
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 10, "first", 1, false);
	tb_start(c.tb, 1000, TRACE_EV_start_thread, &child, sizeof(child), "second");
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, 2, 0, 0);
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

static void a_read_until_the_end_names_who_holds_the_other_end(void)
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

/* What the waiter has of it does not count, however many descriptors the others have is one. */
static void a_read_until_the_end_is_for_several_if_others_hold_the_other_end(void)
{
	for (int several = 0; several < 2; several++) {
		struct analysis_case c = begin();

		tb_thread(c.tb, 40, 40, 1, "writer too", 1, false);
		pipe_fd(&c, 10, 3, 90, O_RDONLY);
		pipe_fd(&c, 10, 4, 90, O_WRONLY);
		pipe_fd(&c, 20, 4, 90, O_WRONLY);
		pipe_fd(&c, 20, 5, 90, O_WRONLY);
		pipe_fd(&c, 40, 5, several ? 90 : 91, O_WRONLY);
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
static void a_futex_in_own_memory_is_the_own_process(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "one", 10, "futex");
}

static void a_futex_in_shared_memory_names_who_shares_it(void)
{
	static const uint32_t tgids[] = {10, 20};
	struct analysis_case c = begin();

	for (size_t i = 0; i < 2; i++) {
		struct trace_start_map map = {.tgid = tgids[i], .dev = 1, .ino = 77, .start = 0x1000 << i, .end = 0x2000 << i};

		tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/dev/shm/x");
	}
	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "futex");
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

/* What is read at the end. */
static void end_wait(struct analysis_case *c, uint32_t tid, int nr, int fd, uint32_t holder, uint64_t arg0, uint64_t arg1)
{
	struct trace_end_wait wait = {.tid = tid, .nr = nr, .fd = fd, .pid = holder, .arg0 = arg0, .arg1 = arg1, .complete = fd >= 0 || !arg1};

	tb_start(c->tb, 9000, TRACE_EV_end_wait, &wait, sizeof(wait), NULL);
}

static void a_poll_until_the_end_is_for_what_its_descriptors_are(void)
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

static void a_poll_of_nothing_is_a_sleep(void)
{
	struct analysis_case c = begin();

	end_wait(&c, 10, SYS_poll, -1, 0, 0x700, 0);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_TIMEOUT, "", 0, "");
}

/* Of where the program wants its events no more is recorded with the call than that it wants them somewhere; what is read at the end has the address. */
static void a_call_is_known_at_the_end_without_its_addresses(void)
{
	struct analysis_case c = begin();

	pipe_fd(&c, 10, 5, 90, O_RDONLY);
	pipe_fd(&c, 20, 1, 90, O_WRONLY);
	end_wait(&c, 10, SYS_epoll_wait, 5, 0, 4, 0x7f0000001000);
	tb_sys_enter(c.tb, 0, 2000, SYS_epoll_wait, 4, 0x7f0000001000, 0, 0);
	until_the_end(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
}

/* A moment after the end it was in the next one. */
static void what_was_read_of_another_call_does_not_count(void)
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

static void a_call_that_was_not_seen_may_be_read_at_the_end(void)
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

/* A flight recorder reads the state after the events: what a thread is in then, it may not have been in before. */
static void what_was_read_after_a_call_was_over_does_not_count_for_it(void)
{
	static const uint64_t read[] = {2000, 8000};

	for (int i = 0; i < 2; i++) {
		struct trace_start_thread start = {.tid = 10, .tgid = 10, .ppid = 1, .nr = SYS_nanosleep, .state = TRACE_TASK_INTERRUPTIBLE};
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

static void a_ring_until_the_end_waits_for_its_requests(void)
{
	struct trace_uring_submit submit = {.req = 0xf00, .opcode = 22, .fd = 5}, done = {.req = 0xf10, .opcode = 22, .fd = 6};
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

/* 70 leaves no events: whatever happened on its CPU until the next one, its end of the wait too, was not seen. The call returns @ret. */
static void end_unseen(struct analysis_case *c, int64_t ret)
{
	block(c);
	tb_switch(c->tb, 0, 5000, 0, 70, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, 6000, ret);
	tb_switch(c->tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(c);
}

#define UNSEEN_NS 2000 /* of the wait; and then 1000 in which it is not known when it ended */

static void a_wait_that_ended_unseen_is_unknown(void)
{
	static const int64_t interrupted = -4;
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 10, "child", 1, false);
	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0);
	end_unseen(&c, interrupted);
	expect(&c, TRACE_WAIT_UNKNOWN, "", 0, "");
}

static void the_result_may_tell_what_ended_a_wait_unseen(void)
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
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "several", 0, "pipe"), UNSEEN_NS); /* one that cannot be told */
	case_free(&c);
}

static void a_wait_since_the_start_may_end_unseen(void)
{
	struct trace_start_thread start = {.tid = 10, .tgid = 10, .ppid = 1, .nr = SYS_futex, .state = TRACE_TASK_INTERRUPTIBLE};
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

static void a_result_may_tell_that_time_was_up(void)
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

static void a_semaphore_has_a_row_among_the_locks(void)
{
	struct analysis_case c = begin();
	struct trace_lock_wait *locks;
	size_t nr = 0;

	tb_sys_enter(c.tb, 0, 2000, SYS_semop, 5, 0x7000, 1);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_semop, 5, 0x7000, 1);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	locks = trace_lock_waits(c.analysis, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 1);
	CU_ASSERT_STRING_EQUAL(locks[0].path, "semaphore 5");
	CU_ASSERT_STRING_EQUAL(locks[0].via, "semaphore");
	CU_ASSERT_EQUAL(trace_process_pid(locks[0].holder), 20);
	free(locks);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "semaphore");
}

/* Its CPU had nothing else to do: it must have slept until somebody unseen woke it. */
static void who_is_switched_in_by_an_idle_cpu_was_woken_unseen(void)
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

static void a_signal_of_a_colleague_is_no_rest(void)
{
	struct trace_start_socket sock = {.tgid = 10, .fd = 4, .ino = 500, .family = AF_UNIX, .type = SOCK_STREAM, .state = 10};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 4, 9, 500, S_IFSOCK, "socket:[500]");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0, 1, 0);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_kill, 10, SIGUSR1, 0);
	signal_to(&c, 5900, 10, SIGUSR1, 0);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	CU_ASSERT_FALSE(c.one->waits[0].idle);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "signal");
}

/* ---- the kernel's threads ---- */

static bool kernel_thread_is_idle(uint32_t state)
{
	struct trace_start_thread kernel = {.tid = 10, .tgid = 10, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .running = 1};
	struct analysis_case c = case_new();
	bool idle;

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), "kworker/0:0");
	tb_switch(c.tb, 0, 3000, 10, 0, state);
	case_run(&c);
	idle = c.one->waits[0].idle;
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_KERNEL, idle ? "next job" : "work", 0, ""), 6000);
	case_free(&c);
	return idle;
}

static void a_kernel_thread_rests_unless_it_cannot_be_interrupted(void)
{
	CU_ASSERT_TRUE(kernel_thread_is_idle(TRACE_TASK_INTERRUPTIBLE));
	CU_ASSERT_TRUE(kernel_thread_is_idle(TRACE_TASK_UNINTERRUPTIBLE | TRACE_TASK_NOLOAD));
	CU_ASSERT_FALSE(kernel_thread_is_idle(TRACE_TASK_UNINTERRUPTIBLE));
}

/* What the disk has done is the next job of one at rest; one that cannot be interrupted waited for it. */
static void expect_kernel_thread_after_a_disk(uint32_t state, enum trace_wait_kind kind, const char *target)
{
	struct trace_start_thread start = {.tid = 10, .tgid = 10, .nr = -1, .running = 1, .flags = TRACE_THREAD_KERNEL};
	struct trace_block_complete complete = {.dev = 9};
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_DEVICE, 9, "vda");
	tb_start(c.tb, 1000, TRACE_EV_start_thread, &start, sizeof(start), "kworker/0:1");
	tb_switch(c.tb, 0, 3000, 10, 0, state);
	tb_softirq(c.tb, 1, 5900, 4);
	tb_event(c.tb, 1, 5950, TRACE_EV_block_complete, &complete, sizeof(complete), NULL);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq_exit(c.tb, 1, 6050, 4);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	expect(&c, kind, target, 0, "");
}

static void a_disk_that_gives_a_kernel_thread_a_job_was_not_waited_for(void)
{
	expect_kernel_thread_after_a_disk(TRACE_TASK_UNINTERRUPTIBLE, TRACE_WAIT_FILE, "vda");
	expect_kernel_thread_after_a_disk(TRACE_TASK_UNINTERRUPTIBLE | TRACE_TASK_NOLOAD, TRACE_WAIT_KERNEL, "next job");
}

/* ---- containers, 32-bit programs ---- */

static void children_are_born_into_the_cgroup_and_moved(void)
{
	struct trace_start_thread start = {.tid = 10, .tgid = 10, .ppid = 1, .nr = -1, .running = 1, .ns_tid = 3, .ns_tgid = 3, .cgroup = 77};
	struct trace_start_cgroup known = {.cgroup = 77};
	struct trace_sched_fork fork = {.parent_tid = 10, .tid = 20, .tgid = 20, .ns_tid = 4};
	struct trace_cgroup_attach attach = {.cgroup = 78, .tid = 30};
	struct analysis_case c = case_new();

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &start, sizeof(start), "one");
	tb_start(c.tb, 1000, TRACE_EV_start_cgroup, &known, sizeof(known), "/box");
	tb_event(c.tb, 0, 2000, TRACE_EV_sched_fork, &fork, sizeof(fork), "two");
	fork.tid = fork.tgid = 30;
	tb_event(c.tb, 0, 3000, TRACE_EV_sched_fork, &fork, sizeof(fork), "three");
	tb_event(c.tb, 0, 4000, TRACE_EV_cgroup_attach, &attach, sizeof(attach), "/other");
	case_run(&c);
	CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 10)), "/box");
	CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 20)), "/box");
	CU_ASSERT_STRING_EQUAL(trace_process_cgroup(case_process(&c, 30)), "/other");
	CU_ASSERT_EQUAL(trace_process_ns_pid(case_process(&c, 10)), 3);
	CU_ASSERT_EQUAL(trace_process_ns_pid(case_process(&c, 20)), 4);
	case_free(&c);
}

static void calls_of_32_bit_programs_have_their_own_numbers(void)
{
	struct trace_sys_enter3 enter = {.nr = 162, .abi = TRACE_ABI_32};
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL_32, 162, "nanosleep");
	tb_event(c.tb, 0, 2000, TRACE_EV_sys_enter3, &enter, sizeof(enter), NULL);
	block(&c);
	wake(&c, TRACE_CONTEXT_HARDIRQ);
	finish(&c);
	CU_ASSERT_EQUAL(case_call(c.one, "nanosleep")->calls, 1);
	expect(&c, TRACE_WAIT_TIMEOUT, "", 0, "");
}

static void threads_that_are_woken_to_die_waited_for_the_exit(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 11, 10, 1, "worker", 1, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0, 1, 0);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_exit_group, 0);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "one", 10, "exit");
}

static void unshared_descriptors_are_ones_own(void)
{
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_unshare, "unshare");
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 11, 10, 1, "worker", 1, true);
	pipe_fd(&c, 10, 3, 90, O_RDONLY);
	tb_sys_enter(c.tb, 0, 1100, SYS_unshare, CLONE_FILES);
	tb_sys_exit(c.tb, 0, 1200, 0);
	tb_sys_enter(c.tb, 1, 1300, SYS_close, 3);
	tb_sys_exit(c.tb, 1, 1400, 0);
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1); /* its own is still open */
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "one", 10, "pipe");
}

/* The tracer records three arguments of dup2, which has two. */
static void an_argument_that_a_call_does_not_have_means_nothing(void)
{
	struct analysis_case c = begin();

	pipe_fd(&c, 10, 3, 90, O_RDONLY);
	tb_sys_enter(c.tb, 0, 1100, SYS_dup2, 3, 0, -1);
	tb_sys_exit(c.tb, 0, 1200, 0);
	tb_exec(c.tb, 0, 1500, 10, "/bin/tail");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 0, 0, 1);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
}

/* The ends of calls are not recorded. */
static void a_number_is_not_what_it_was_before_another_was_put_there(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	struct analysis_case c = begin();

	mask[TRACE_EV_sys_exit / 64] &= ~(1ull << TRACE_EV_sys_exit % 64);
	tb_event(c.tb, 0, 1000, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
	pipe_fd(&c, 10, 3, 90, O_RDONLY);
	tb_fd(c.tb, 10, 7, 1, 100, S_IFREG | 0644, "/before");
	tb_sys_enter(c.tb, 0, 1100, SYS_dup2, 3, 7, -1);
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 7, 0, 1);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
}

static void calls_that_only_32_bit_programs_have_are_known(void)
{
	struct trace_sys_enter6 enter = {.nr = 422, .abi = TRACE_ABI_32, .arg0 = 0x1000};
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL_32, 422, "futex_time64");
	tb_event(c.tb, 0, 2000, TRACE_EV_sys_enter6, &enter, sizeof(enter), NULL);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "futex");
}

/* ---- the dead ---- */

static void what_comes_after_a_death_is_added_to_its_books(void)
{
	struct trace_uring_submit submit = {.req = 0x1000, .opcode = 22, .fd = 3};
	struct trace_uring_complete complete = {.req = 0x1000, .res = 4096};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 9, 70, S_IFREG | 0600, "/late");
	tb_sys_enter(c.tb, 0, 1500, SYS_read, 3, 0, 100);
	tb_sys_exit(c.tb, 0, 1600, 100);
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 4, 1, 0, 0, 0, 0);
	tb_event(c.tb, 0, 2100, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	tb_sys_exit(c.tb, 0, 2200, 1);
	tb_sys_enter(c.tb, 0, 2300, SYS_exit_group, 0, 0, 0);
	tb_exit(c.tb, 0, 2400, 10, 10, true);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_DEAD);
	tb_event(c.tb, 1, 4000, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	case_run(&c);
	CU_ASSERT_EQUAL_FATAL(c.one->nr_files, 1);
	CU_ASSERT_STRING_EQUAL(c.one->files[0].path, "/late");
	CU_ASSERT_EQUAL(c.one->files[0].read_bytes, 4196);
	CU_ASSERT_EQUAL(c.one->files[0].reads, 2);
	CU_ASSERT_EQUAL(case_call(c.one, "read")->calls, 1);
	CU_ASSERT_EQUAL(case_call(c.one, "read")->min_ns, 100);
	CU_ASSERT_EQUAL(case_call(c.one, "read")->max_ns, 100);
	CU_ASSERT_EQUAL(c.one->elapsed_ns, 2000);
	case_free(&c);
}

static void a_connection_that_failed_names_who_was_asked(void)
{
	struct trace_start_socket sock = {.tgid = 10, .fd = 3, .ino = 500, .family = AF_INET, .type = SOCK_STREAM, .protocol = 6};
	struct trace_sock_asks asks = {.ino = 500, .remote_lo = 0x0202090affff0000ull, .remote_port = 4000, .family = AF_INET, .protocol = 6};
	struct trace_net_rx packet = {.ifindex = 2};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 8, 500, S_IFSOCK | 0777, "");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_connect, 3, 0, 16);
	tb_event(c.tb, 0, 2100, TRACE_EV_sock_asks, &asks, sizeof(asks), NULL);
	block(&c);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	tb_event(c.tb, 1, 5600, TRACE_EV_net_rx, &packet, sizeof(packet), NULL);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq_exit(c.tb, 1, 6010, SOFTIRQ_NET_RX);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, -111);
	case_run(&c);
	expect(&c, TRACE_WAIT_NETWORK, "10.9.2.2:4000", 0, "");
}

/* ---- many ---- */

#define MANY 5000u

/* Each has the writing end of the next one's pipe, shares memory with another, and is the child of the one before. */
static void one_of_many(struct analysis_case *c, uint32_t nr)
{
	struct trace_start_map map = {.tgid = 100 + nr, .dev = 1, .ino = 7000 + nr / 2, .start = 0x1000, .end = 0x2000};
	char path[32];

	tb_thread(c->tb, 100 + nr, 100 + nr, 99 + nr, "many", 0, !nr);
	pipe_fd(c, 100 + nr, 3, 90 + nr, O_RDONLY);
	pipe_fd(c, 100 + nr, 500, 80, O_RDONLY); /* its table of descriptors is large */
	pipe_fd(c, 100 + nr, 4, 90 + (nr + 1) % MANY, O_WRONLY);
	snprintf(path, sizeof(path), "/dev/shm/%u", nr / 2);
	tb_start(c->tb, 1000, TRACE_EV_start_map, &map, sizeof(map), path);
}

/* All of them wait in @call. Returns the CPU time of the analysis. */
static double time_of_many(struct analysis_case *c, uint32_t call, uint64_t arg0)
{
	struct timespec begin, end;

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
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(c->analysis, NULL), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
}

/* For each of thousands of waits that nothing ended all processes were looked through: 20 times as long as for those that tell by themselves, sleeps. */
static void whom_many_wait_for_until_the_end_is_looked_up(void)
{
	static const struct {
		uint32_t call, arg0, pid;
		const char *via;
	} calls[] = {{SYS_read, 3, 100 + 4, "pipe"}, {SYS_futex, 0x1010, 100 + 4, "futex"}, {SYS_wait4, -1u, 100 + 6, "waitpid"}};
	struct analysis_case c;
	double sleeps = time_of_many(&c, SYS_nanosleep, 0x10), waits;

	case_free(&c);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		waits = time_of_many(&c, calls[i].call, calls[i].arg0);
		c.one = trace_process_figures(c.analysis, case_process(&c, 100 + 5));
		CU_ASSERT_PTR_NOT_NULL_FATAL(c.one);
		CU_ASSERT(case_wait(c.one, TRACE_WAIT_PROCESS, "many", calls[i].pid, calls[i].via) > 0);
		CU_ASSERT(waits < 8 * sleeps);
		if (waits >= 8 * sleeps)
			printf("\n%s: %.3f s, sleeps %.3f s\n", calls[i].via, waits, sleeps);
		case_free(&c);
	}
}


int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_wakeup_while_running_does_not_end_a_later_sleep),
		CASE(a_signal_is_told_after_its_wakeup),
		CASE(an_ignored_signal_ended_nothing),
		CASE(a_death_ends_a_lock_by_the_lock),
		CASE(a_packet_on_loopback_is_its_senders),
		CASE(a_local_connection_names_who_used_it_just_now),
		CASE(a_packet_from_elsewhere_is_not_of_who_was_interrupted),
		CASE(a_kworker_wakes_for_who_queued_its_work),
		CASE(who_let_go_of_a_file_is_named),
		CASE(a_terminal_may_be_known_by_its_other_end),
		CASE(asynchronous_io_is_no_ring),
		CASE(a_ring_waits_for_the_file_of_its_request),
		CASE(a_ring_knows_what_it_opened_into_a_slot),
		CASE(a_ring_may_close_a_descriptor),
		CASE(a_listener_that_waits_in_a_ring_is_at_rest),
		CASE(a_poll_that_a_death_ends_names_the_pipe_it_closed),
		CASE(a_shared_end_of_a_pipe_connects_nobody),
		CASE(eventfds_have_the_kernels_name),
		CASE(a_vfork_is_over_with_its_call),
		CASE(a_wait_until_the_end_names_the_only_child),
		CASE(a_wait_until_the_end_names_the_child_that_was_asked_for),
		CASE(a_wait_until_the_end_for_any_child_is_for_several),
		CASE(a_child_may_be_asked_for_by_the_number_that_its_parent_knows),
		CASE(a_wait_without_children_is_other),
		CASE(a_read_until_the_end_names_who_holds_the_other_end),
		CASE(a_read_until_the_end_is_for_several_if_others_hold_the_other_end),
		CASE(a_private_futex_until_the_end_is_the_own_process),
		CASE(a_futex_in_own_memory_is_the_own_process),
		CASE(a_futex_in_shared_memory_names_who_shares_it),
		CASE(memory_that_is_shared_by_fork_is_known),
		CASE(a_poll_until_the_end_is_for_what_its_descriptors_are),
		CASE(a_poll_of_different_things_until_the_end_is_for_several),
		CASE(who_is_switched_in_by_an_idle_cpu_was_woken_unseen),
		CASE(a_signal_of_a_colleague_is_no_rest),
		CASE(a_poll_of_nothing_is_a_sleep),
		CASE(a_semaphore_has_a_row_among_the_locks),
		CASE(a_call_is_known_at_the_end_without_its_addresses),
		CASE(what_was_read_of_another_call_does_not_count),
		CASE(a_lock_until_the_end_names_its_holder),
		CASE(a_call_that_was_not_seen_may_be_read_at_the_end),
		CASE(what_was_read_after_a_call_was_over_does_not_count_for_it),
		CASE(a_ring_until_the_end_waits_for_its_requests),
		CASE(a_wait_that_ended_unseen_is_unknown),
		CASE(the_result_may_tell_what_ended_a_wait_unseen),
		CASE(a_result_may_tell_that_time_was_up),
		CASE(a_wait_since_the_start_may_end_unseen),
		CASE(a_kernel_thread_rests_unless_it_cannot_be_interrupted),
		CASE(a_disk_that_gives_a_kernel_thread_a_job_was_not_waited_for),
		CASE(children_are_born_into_the_cgroup_and_moved),
		CASE(calls_of_32_bit_programs_have_their_own_numbers),
		CASE(a_number_is_not_what_it_was_before_another_was_put_there),
		CASE(calls_that_only_32_bit_programs_have_are_known),
		CASE(threads_that_are_woken_to_die_waited_for_the_exit),
		CASE(unshared_descriptors_are_ones_own),
		CASE(an_argument_that_a_call_does_not_have_means_nothing),
		CASE(a_connection_that_failed_names_who_was_asked),
		CASE(what_comes_after_a_death_is_added_to_its_books),
		CASE(whom_many_wait_for_until_the_end_is_looked_up),
		{NULL, NULL},
	};

	return unit_main("waits", cases, argc, argv);
}
