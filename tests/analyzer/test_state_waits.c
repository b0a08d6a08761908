/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_waits.c - which thread a wakeup was made for, and so the cause of the wait.
 *
 * Thread 10 ("one") runs on CPU 0 and blocks from 3000 to 6000 unless a test says otherwise; 20
 * ("two") runs on CPU 1.
 */
#include "state_waits_case.h"
#include "unit.h"

/* ---- wakeups for another reason ---- */

static void a_wakeup_while_running_does_not_end_a_later_sleep(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_pause);
	tb_waking(c.tb, 1, 2500, 10, TRACE_CONTEXT_TASK); /* it stays on its CPU, and sleeps later */
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	CU_ASSERT_EQUAL(c.one->wait_cpu_ns, 100);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "signal");
}

static void a_signal_event_follows_its_wakeup(void)
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
	struct trace_signal_generate end = {.tid = 10, .signal = SIGCHLD, .code = CLD_EXITED, .group = 1};
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_flock, 3, 2, 0);
	block(&c);
	tb_exit(c.tb, 1, 5000, 20, 20, true);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_event(c.tb, 1, 6050, TRACE_EV_signal_generate, &end, sizeof(end), NULL); /* there is a handler */
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "lock");
}

/*
 * The child of a thread of "one" exits, and its signal wakes "one", which waits for a futex. The
 * child has a copy of the memory, or the memory itself (CLONE_VM).
 */
static void a_death_ends_no_futex_of_other_memory(void)
{
	for (int shares = 0; shares < 2; shares++) {
		struct trace_start_map map = {.tgid = 10, .start = 0x7000, .end = 0x9000, .dev = 5, .ino = 2};
		struct analysis_case c = begin();

		tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/bin/one");
		tb_switch(c.tb, 1, 1100, 20, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_add(c.tb, 0, 1200, sched_fork, "child", .parent_tid = 10, .tid = 40, .tgid = 40,
		       .clone_flags = shares ? CLONE_VM : 0);
		tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x20000, 265, 40, 0, 0, 0);
		block(&c);
		tb_switch(c.tb, 1, 4000, 0, 40, TRACE_TASK_RUNNING);
		tb_exit(c.tb, 1, 5000, 40, 40, true);
		wake(&c, TRACE_CONTEXT_TASK);
		signal_to(&c, 6050, 10, SIGCHLD, 0);
		finish(&c);
		expect(&c, TRACE_WAIT_PROCESS, shares ? "child" : "one", shares ? 40 : 10, "futex");
	}
}

/*
 * The exit of "two" wakes "one", which waits for a private futex. They have had one address space
 * since before the recording, or each its own, or "two" leaves it by an exec. The mappings are
 * recorded after that.
 */
static void processes_with_one_memory_at_the_start_have_the_same_futexes(void)
{
	enum { APART, SHARE, LEAVE };

	for (int how = APART; how <= LEAVE; how++) {
		struct trace_start_memory memory = {.tgid = 20, .as = 10};
		struct trace_start_map map = {.tgid = 20, .start = 0x7000, .end = 0x9000, .dev = 5, .ino = 2};
		struct analysis_case c = begin();

		if (how != APART)
			tb_start(c.tb, 1000, TRACE_EV_start_memory, &memory, sizeof(memory), NULL);
		tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/bin/one");
		if (how == LEAVE)
			tb_exec(c.tb, 1, 1500, 20, "/bin/two");
		tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x20000, 128 /* private wait */, 2, 0, 0, 0);
		block(&c);
		tb_exit(c.tb, 1, 5000, 20, 20, true);
		wake(&c, TRACE_CONTEXT_TASK);
		signal_to(&c, 6050, 10, SIGCHLD, 0);
		finish(&c);
		expect(&c, TRACE_WAIT_PROCESS, how == SHARE ? "two" : "one", how == SHARE ? 20 : 10, "futex");
	}
}

/* "two" sends a signal to 40 and releases the lock in the same call, or one call later. */
static void a_signal_to_another_ended_nothing(void)
{
	for (int earlier = 0; earlier < 2; earlier++) {
		struct analysis_case c = begin();

		tb_thread(c.tb, 40, 40, 1, "forty", 1, false);
		tb_sys_enter(c.tb, 0, 2000, SYS_flock, 3, 2, 0);
		block(&c);
		tb_sys_enter(c.tb, 1, 4000, SYS_kill, earlier ? 10 : 40, SIGUSR1, 0);
		signal_to(&c, 4500, earlier ? 10 : 40, SIGUSR1, 0);
		if (earlier) {
			tb_sys_exit(c.tb, 1, 4600, 0);
			tb_sys_enter(c.tb, 1, 5000, SYS_flock, 4, 8, 0);
		}
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, "lock");
	}
}

static void a_queue_of_messages_is_one_in_a_poll(void)
{
	static const struct {
		uint32_t call, wait;
		const char *name, *via;
	} cases[] = {{SYS_mq_timedsend, SYS_poll, "mq_timedsend", "mqueue"},
		     {SYS_mq_timedreceive, SYS_epoll_wait, "mq_timedreceive", "mqueue"},
		     {SYS_fsync, SYS_poll, "fsync", "poll"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL, cases[i].call, cases[i].name);
		tb_fd(c.tb, 20, 5, 20, 80, S_IFREG | 0600, "/jobs");
		tb_sys_enter(c.tb, 0, 2000, cases[i].wait, 0x700, 1, 1, 0);
		block(&c);
		tb_sys_enter(c.tb, 1, 5000, cases[i].call, 5, 0, 1, 0, 0);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, cases[i].via);
	}
}

static void a_signal_of_a_child_ends_the_wait_for_it(void)
{
	struct analysis_case c = begin_family(10);

	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, -1, 0, 0);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_kill, 10, SIGCHLD, 0);
	signal_to(&c, 5900, 10, SIGCHLD, 0);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "waitpid");
}

/*
 * "two" exits, and its child "one" asked for SIGKILL then (PR_SET_PDEATHSIG): it wakes both threads
 * of "one". Thread 10 waits for process 40, which ends before that thread runs.
 */
static void a_signal_of_a_parent_that_exits_is_no_end_of_a_child(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct trace_signal_generate end = {.tid = 10, .signal = SIGCHLD, .code = CLD_EXITED, .group = 1};
		struct trace_sched_adopt adopt = {.parent = 20, .reaper = 1};
		struct analysis_case c = case_new();

		tb_thread(c.tb, 10, 10, 20, "one", 0, true);
		tb_thread(c.tb, 11, 10, 20, "one", 0, false);
		tb_thread(c.tb, 20, 20, 1, "two", 1, true);
		tb_thread(c.tb, 40, 40, 10, "child", 1, false);
		tb_sys_enter(c.tb, 0, 2000, SYS_wait4, 40, 0, 0);
		block(&c);
		tb_event(c.tb, 1, 4900, TRACE_EV_sched_adopt, &adopt, sizeof(adopt), NULL);
		tb_exit(c.tb, 1, 5000, 20, 20, true);
		tb_waking(c.tb, 1, 6000, 10 + i, TRACE_CONTEXT_TASK);
		tb_waking(c.tb, 1, 6000, 11 - i, TRACE_CONTEXT_TASK);
		signal_to(&c, 6010, 10, SIGKILL, 0);
		tb_switch(c.tb, 1, 6020, 20, 40, TRACE_TASK_DEAD);
		tb_exit(c.tb, 1, 6030, 40, 40, true);
		tb_event(c.tb, 1, 6040, TRACE_EV_signal_generate, &end, sizeof(end), NULL);
		tb_switch(c.tb, 1, 6050, 40, 0, TRACE_TASK_DEAD);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 0, 6200, 40);
		case_run(&c);
		expect(&c, TRACE_WAIT_PROCESS, "child", 40, "waitpid");
	}
}

/* alarm(): "two", which the timer interrupts, has nothing to do with it. */
static void a_signal_of_a_timer_is_of_no_process(void)
{
	static const uint32_t calls[] = {SYS_poll, SYS_pause};

	for (size_t i = 0; i < 2; i++) {
		struct analysis_case c = begin();

		tb_sys_enter(c.tb, 0, 2000, calls[i], 0, 0, 0);
		block(&c);
		tb_vector(c.tb, 1, 5000, TRACE_VECTOR_LOCAL_TIMER);
		signal_to(&c, 5900, 10, SIGALRM, 0);
		wake(&c, TRACE_CONTEXT_HARDIRQ);
		tb_vector_exit(c.tb, 1, 6050, TRACE_VECTOR_LOCAL_TIMER);
		finish(&c);
		expect(&c, TRACE_WAIT_TIMEOUT, "", 0, "");
	}
}

/* ---- wakeups on behalf of another thread ---- */

static void a_kworker_wakes_for_the_thread_that_queued_its_work(void)
{
	struct trace_start_thread kworker = {
		.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .cpu = 1, .state = 1};
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

/* A writer locks the file. The name of the file does not matter, it may have several. */
static void the_thread_that_released_a_file_is_named(void)
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

/* libaio: the kernel's older interface. */
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

static void a_named_pipe_is_a_pipe_in_a_poll(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 20, 5, 9, 80, PIPE_MODE, "/run/initctl");
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 1, 0);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_write, 5, 0, 1);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
}

/* openpty() creates the slave by an ioctl(). */
static void a_terminal_may_be_identified_by_its_other_end(void)
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

/* A file that the ring opens into a slot has no descriptor. */
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

/* The descriptor then belongs to a new file. */
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

static void a_listener_that_waits_in_a_ring_is_idle(void)
{
	struct trace_start_socket sock = {
		.tgid = 10, .fd = 4, .ino = 500, .family = AF_UNIX, .type = SOCK_STREAM, .state = 10};
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

static void a_listener_that_waits_in_a_ring_for_the_network_is_idle(void)
{
	struct trace_start_socket sock = {.tgid = 10,
					  .fd = 4,
					  .ino = 500,
					  .family = AF_INET,
					  .type = SOCK_STREAM,
					  .protocol = 6,
					  .state = 10,
					  .local_port = 80};
	struct trace_uring_submit submit = {.req = 0xf00, .opcode = 13, .fd = 4};
	struct trace_uring_complete complete = {.req = 0xf00, .res = 5};
	struct trace_net_rx rx = {.ifindex = 2};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 4, 9, 500, S_IFSOCK, "socket:[500]");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_event(c.tb, 0, 2100, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	block(&c);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	tb_event(c.tb, 1, 5600, TRACE_EV_net_rx, &rx, sizeof(rx), NULL);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq_exit(c.tb, 1, 6010, SOFTIRQ_NET_RX);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_event(c.tb, 0, 6150, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	tb_sys_exit(c.tb, 0, 6200, 1);
	case_run(&c);
	CU_ASSERT(c.one->waits[0].idle);
	expect(&c, TRACE_WAIT_NETWORK, "local port 80", 0, "");
}

static void in_call_until_two_dies(struct analysis_case *c, uint32_t call)
{
	tb_sys_enter(c->tb, 0, 2000, call, 0, 2, 0);
	block(c);
	tb_exit(c->tb, 1, 5000, 20, 20, true);
	wake(c, TRACE_CONTEXT_TASK);
	finish(c);
}

static void a_poll_that_a_death_ends_names_the_pipe_it_closed(void)
{
	static const uint32_t calls[] = {SYS_poll, SYS_select, SYS_epoll_wait};

	for (int fd = 0; fd < 3; fd++) {
		struct analysis_case c = begin();

		pipe_fd(&c, 10, 5, 90, O_RDONLY);
		pipe_fd(&c, 20, fd, 90, O_WRONLY);
		in_call_until_two_dies(&c, calls[fd]);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
	}
}

static void a_poll_that_a_death_ends_names_the_socket_it_closed(void)
{
	static const uint64_t ends[2] = {500, 501};
	struct analysis_case c = begin();

	for (uint32_t i = 0; i < 2; i++) {
		struct trace_start_socket sock = {.tgid = 10 + 10 * i,
						  .fd = 5,
						  .ino = ends[i],
						  .peer_ino = ends[!i],
						  .family = AF_UNIX,
						  .type = SOCK_STREAM};

		tb_fd(c.tb, sock.tgid, 5, 9, ends[i], S_IFSOCK | 0777, "socket:");
		tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	}
	in_call_until_two_dies(&c, SYS_poll);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "unix");
}

static void a_shared_end_of_a_pipe_connects_no_processes(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 6, 13, 91, 0, "[pidfd]");
	pipe_fd(&c, 10, 1, 90, O_WRONLY);
	pipe_fd(&c, 20, 1, 90, O_WRONLY);
	in_call_until_two_dies(&c, SYS_poll);
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

/* ---- locks and signals ---- */

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

/* ---- the kernel's threads ---- */

static bool kernel_thread_is_idle(uint32_t state)
{
	struct trace_start_thread kernel = {
		.tid = 10, .tgid = 10, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .running = 1};
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

static void a_kernel_thread_is_idle_unless_it_cannot_be_interrupted(void)
{
	CU_ASSERT_TRUE(kernel_thread_is_idle(TRACE_TASK_INTERRUPTIBLE));
	CU_ASSERT_TRUE(kernel_thread_is_idle(TRACE_TASK_UNINTERRUPTIBLE | TRACE_TASK_NOLOAD));
	CU_ASSERT_FALSE(kernel_thread_is_idle(TRACE_TASK_UNINTERRUPTIBLE));
}

/* An idle kernel thread gets its next job from the disk's completion; one in an uninterruptible
 * sleep waited for the disk. */
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
	expect_kernel_thread_after_a_disk(TRACE_TASK_UNINTERRUPTIBLE | TRACE_TASK_NOLOAD, TRACE_WAIT_KERNEL,
					  "next job");
}

/* ---- containers, 32-bit programs ---- */

/* A thread of version 2 of the control groups sleeps outside of all calls. */
static void a_thread_frozen_by_its_control_group_is_stopped(void)
{
	static const char *const files[] = {"/sys/fs/cgroup/group/cgroup.freeze",
					    "/sys/fs/cgroup/freezer/group/freezer.state"};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct analysis_case c = begin();

		tb_fd(c.tb, 20, 5, 9, 77, S_IFREG | 0600, files[i]);
		tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
		tb_sys_exit(c.tb, 0, 2100, 10);
		block(&c);
		tb_sys_enter(c.tb, 1, 5000, SYS_write, 5, 0, 1);
		wake(&c, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_enter(c.tb, 0, 6200, SYS_getpid);
		case_run(&c);
		expect(&c, TRACE_WAIT_STOPPED, "two", 20, "freezer");
	}
}

static void children_are_born_into_the_cgroup_and_moved(void)
{
	struct trace_start_thread start = {
		.tid = 10, .tgid = 10, .ppid = 1, .nr = -1, .running = 1, .ns_tid = 3, .ns_tgid = 3, .cgroup = 77};
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
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1); /* its own descriptor is still open */
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "one", 10, "pipe");
}

/* The first argument is a descriptor, here with the value of CLONE_FILES. The thread keeps sharing
 * descriptors. */
static void setns_keeps_the_descriptors(void)
{
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_setns, "setns");
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 11, 10, 1, "worker", 1, true);
	pipe_fd(&c, 10, 4, 90, O_RDONLY);
	tb_sys_enter(c.tb, 0, 1100, SYS_setns, CLONE_FILES, 0);
	tb_sys_exit(c.tb, 0, 1200, 0);
	tb_sys_enter(c.tb, 1, 1300, SYS_dup2, 4, 3);
	tb_sys_exit(c.tb, 1, 1400, 3);
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1); /* the file that the other thread opened there */
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
static void a_descriptor_replaced_by_dup2_is_the_new_file(void)
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

static void events_after_a_death_are_added_to_the_dead_thread(void)
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

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_wakeup_while_running_does_not_end_a_later_sleep),
		CASE(a_signal_event_follows_its_wakeup),
		CASE(an_ignored_signal_ended_nothing),
		CASE(a_death_ends_a_lock_by_the_lock),
		CASE(a_death_ends_no_futex_of_other_memory),
		CASE(processes_with_one_memory_at_the_start_have_the_same_futexes),
		CASE(a_kworker_wakes_for_the_thread_that_queued_its_work),
		CASE(the_thread_that_released_a_file_is_named),
		CASE(a_terminal_may_be_identified_by_its_other_end),
		CASE(asynchronous_io_is_no_ring),
		CASE(a_ring_waits_for_the_file_of_its_request),
		CASE(a_ring_knows_what_it_opened_into_a_slot),
		CASE(a_ring_may_close_a_descriptor),
		CASE(a_listener_that_waits_in_a_ring_is_idle),
		CASE(a_listener_that_waits_in_a_ring_for_the_network_is_idle),
		CASE(a_poll_that_a_death_ends_names_the_pipe_it_closed),
		CASE(a_shared_end_of_a_pipe_connects_no_processes),
		CASE(eventfds_have_the_kernels_name),
		CASE(a_vfork_is_over_with_its_call),
		CASE(a_semaphore_has_a_row_among_the_locks),
		CASE(a_kernel_thread_is_idle_unless_it_cannot_be_interrupted),
		CASE(a_disk_that_gives_a_kernel_thread_a_job_was_not_waited_for),
		CASE(children_are_born_into_the_cgroup_and_moved),
		CASE(calls_of_32_bit_programs_have_their_own_numbers),
		CASE(a_descriptor_replaced_by_dup2_is_the_new_file),
		CASE(calls_that_only_32_bit_programs_have_are_known),
		CASE(threads_that_are_woken_to_die_waited_for_the_exit),
		CASE(unshared_descriptors_are_ones_own),
		CASE(setns_keeps_the_descriptors),
		CASE(an_argument_that_a_call_does_not_have_means_nothing),
		CASE(events_after_a_death_are_added_to_the_dead_thread),
		CASE(a_signal_to_another_ended_nothing),
		CASE(a_signal_of_a_timer_is_of_no_process),
		CASE(a_poll_that_a_death_ends_names_the_socket_it_closed),
		CASE(a_named_pipe_is_a_pipe_in_a_poll),
		CASE(a_queue_of_messages_is_one_in_a_poll),
		CASE(a_signal_of_a_child_ends_the_wait_for_it),
		CASE(a_signal_of_a_parent_that_exits_is_no_end_of_a_child),
		CASE(a_thread_frozen_by_its_control_group_is_stopped),
		{NULL, NULL},
	};

	return unit_main("waits", cases, argc, argv);
}
