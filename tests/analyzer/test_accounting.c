/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_accounting.c - every kind of wait gets its name.
 *
 * In each test "one" enters a call at 2000, blocks from 3000 to 6000, runs again at 6100 and
 * returns at 6200. So a wait is always 3000 ns.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include "analysis_case.h"
#include "unit.h"

#define BLOCKED_NS 3000

static struct analysis_case begin(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 10, "two", 1, true);
	return c;
}

static void block(struct analysis_case *c, uint32_t state)
{
	tb_switch(c->tb, 0, 3000, 10, 0, state);
}

/* The last actions of the waker go between block() and end(). */
static void end(struct analysis_case *c, uint32_t cpu, enum trace_context context, int64_t ret)
{
	tb_waking(c->tb, cpu, 6000, 10, context);
	tb_switch(c->tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, 6200, ret);
	tb_switch(c->tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	tb_switch(c->tb, 1, 9000, 20, 0, TRACE_TASK_RUNNING);
	case_run(c);
	CU_ASSERT_EQUAL(c->one->blocked_ns, BLOCKED_NS);
	CU_ASSERT_EQUAL(c->one->wait_cpu_ns, 100);
}

static void block_done(struct tb *tb, uint64_t ts_ns)
{
	struct trace_block_complete done = {.dev = 0xfe00000, .bytes = 4096};

	tb_irq(tb, 0, ts_ns, 7);
	tb_event(tb, 0, ts_ns + 1, TRACE_EV_block_complete, &done, sizeof(done), NULL);
}

static void expect(struct analysis_case *c, enum trace_wait_kind kind, const char *target, uint32_t pid,
		   const char *via)
{
	CU_ASSERT_EQUAL(case_wait(c->one, kind, target, pid, via), BLOCKED_NS);
	case_free(c);
}

/* ---- files ---- */

static void a_read_of_a_disk_file_waits_for_the_file(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 1, 100, S_IFREG | 0644, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 4096);
	block(&c, TRACE_TASK_UNINTERRUPTIBLE);
	block_done(c.tb, 5990);
	end(&c, 0, TRACE_CONTEXT_HARDIRQ, 4096);
	CU_ASSERT_EQUAL(c.one->nr_files, 1);
	CU_ASSERT_EQUAL(c.one->files[0].wait_ns, BLOCKED_NS);
	CU_ASSERT_EQUAL(c.one->read_bytes, 4096);
	expect(&c, TRACE_WAIT_FILE, "/data", 0, "");
}

static void an_open_waits_for_the_path_known_at_its_exit(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_openat, 0, 0, 0, 0);
	tb_sys_path(c.tb, 0, 2000, SYS_openat, "../data");
	block(&c, TRACE_TASK_UNINTERRUPTIBLE);
	block_done(c.tb, 5990);
	tb_open(c.tb, 0, 6150, 3, 1, 100, S_IFREG | 0644, "/srv/data");
	end(&c, 0, TRACE_CONTEXT_HARDIRQ, 3);
	expect(&c, TRACE_WAIT_FILE, "/srv/data", 0, "");
}

static void a_failed_stat_waits_for_the_path_it_asked_for(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_stat, 0, 0);
	tb_sys_path(c.tb, 0, 2000, SYS_stat, "/missing");
	block(&c, TRACE_TASK_UNINTERRUPTIBLE);
	block_done(c.tb, 5990);
	end(&c, 0, TRACE_CONTEXT_HARDIRQ, -2);
	CU_ASSERT_EQUAL(case_call(c.one, "stat")->errors, 1);
	expect(&c, TRACE_WAIT_FILE, "/missing", 0, "");
}

static void a_fault_on_a_mapped_file_waits_for_the_file(void)
{
	struct analysis_case c = case_new();
	struct trace_start_map map = {.tgid = 10, .dev = 1, .start = 0x10000, .end = 0x20000, .ino = 100};

	/* mappings belong to the process: here they come from a thread that is not the first */
	tb_thread(c.tb, 9, 10, 1, "one", 1, false);
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/lib/libc.so");
	tb_fault(c.tb, 0, 2000, 0x12345, true);
	block(&c, TRACE_TASK_UNINTERRUPTIBLE);
	block_done(c.tb, 5990);
	tb_waking(c.tb, 0, 6000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_fault_end(c.tb, 0, 6150, true);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->traps[0].wait_ns, BLOCKED_NS);
	CU_ASSERT_EQUAL(c.one->traps[0].errors, 1);
	expect(&c, TRACE_WAIT_FILE, "/lib/libc.so", 0, "");
}

static void a_mapping_made_by_mmap_names_its_file(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 1, 100, S_IFREG | 0644, "/data");
	tb_sys_enter(c.tb, 0, 1500, SYS_mmap, 0, 0x4000, 1, 2, 3, 0);
	tb_sys_exit(c.tb, 0, 1510, 0x70000);
	tb_sys_enter(c.tb, 0, 1520, SYS_munmap, 0x71000, 0x1000); /* a hole in the mapping */
	tb_sys_exit(c.tb, 0, 1530, 0);
	tb_fault(c.tb, 0, 2000, 0x72000, true);
	block(&c, TRACE_TASK_UNINTERRUPTIBLE);
	block_done(c.tb, 5990);
	tb_fault_end(c.tb, 0, 6150, true);
	end(&c, 0, TRACE_CONTEXT_HARDIRQ, 0);
	expect(&c, TRACE_WAIT_FILE, "/data", 0, "");
}

static void a_fault_of_no_file_waits_for_memory(void)
{
	struct analysis_case c = begin();

	tb_fault(c.tb, 0, 2000, 0x12345, true);
	block(&c, TRACE_TASK_UNINTERRUPTIBLE);
	block_done(c.tb, 5990);
	tb_fault_end(c.tb, 0, 6150, true);
	end(&c, 0, TRACE_CONTEXT_HARDIRQ, 0);
	expect(&c, TRACE_WAIT_MEMORY, "", 0, "");
}

static void reclaim_is_a_wait_for_memory(void)
{
	struct analysis_case c = begin();
	struct trace_reclaim_begin reclaim = {0};

	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
	tb_event(c.tb, 0, 2500, TRACE_EV_reclaim_begin, &reclaim, sizeof(reclaim), NULL);
	block(&c, TRACE_TASK_UNINTERRUPTIBLE);
	end(&c, 1, TRACE_CONTEXT_TASK, 1);
	expect(&c, TRACE_WAIT_MEMORY, "", 0, "");
}

/* ---- processes ---- */

static void a_pipe_waits_for_its_writer(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 1, 100, S_IFIFO | 0600, "pipe:[100]");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 1, 5900, SYS_write, 4, 0, 1);
	end(&c, 1, TRACE_CONTEXT_TASK, 1);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
}

static void an_interrupted_task_is_not_the_waker(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 1, 100, S_IFIFO | 0600, "pipe:[100]");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	tb_string(c.tb, TRACE_STRING_IRQ, 9, "usb");
	tb_irq(c.tb, 1, 5900, 9); /* while "two" runs */
	end(&c, 1, TRACE_CONTEXT_HARDIRQ, 1);
	expect(&c, TRACE_WAIT_DEVICE, "usb", 0, "");
}

static void waitpid_waits_for_the_child_that_exits(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_wait4, (uint64_t)-1, 0, 0, 0);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 1, 5800, SYS_exit_group, 0);
	tb_exit(c.tb, 1, 5900, 20, 20, true);
	end(&c, 1, TRACE_CONTEXT_TASK, 20);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "waitpid");
}

static void a_futex_waits_for_the_thread_that_releases_it(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x1000, 0, 0, 0, 0, 0);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	end(&c, 1, TRACE_CONTEXT_TASK, 0);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "futex");
}

static void a_signal_names_its_sender(void)
{
	struct analysis_case c = begin();
	struct trace_signal_generate signal = {.tid = 10, .signal = 15};

	tb_sys_enter(c.tb, 0, 2000, SYS_pause);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 1, 5900, SYS_kill, 10, 15);
	tb_event(c.tb, 1, 5950, TRACE_EV_signal_generate, &signal, sizeof(signal), NULL);
	end(&c, 1, TRACE_CONTEXT_TASK, -4);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "signal");
}

/* The sender of the signal is not the writer, which is not known here. */
static void a_read_that_a_signal_ends_was_for_the_other_end(void)
{
	struct analysis_case c = begin();
	struct trace_signal_generate signal = {.tid = 10, .signal = 15};

	tb_fd(c.tb, 10, 3, 1, 100, S_IFIFO | 0600, "pipe:[100]");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(c.tb, 1, 5900, SYS_kill, 10, 15);
	tb_event(c.tb, 1, 5950, TRACE_EV_signal_generate, &signal, sizeof(signal), NULL);
	end(&c, 1, TRACE_CONTEXT_TASK, -4);
	expect(&c, TRACE_WAIT_PROCESS, "unknown", 0, "pipe");
}

static void a_lock_on_a_file_waits_for_its_holder(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 1, 100, S_IFREG | 0644, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_flock, 3, 2);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	end(&c, 1, TRACE_CONTEXT_TASK, 0);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "lock");
}

static void vfork_waits_for_the_child(void)
{
	struct analysis_case c = case_new();
	struct trace_sched_fork fork = {.parent_tid = 10, .tid = 20, .tgid = 20, .clone_flags = 0x4000 | 0x100};

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(c.tb, 0, 2000, SYS_vfork);
	tb_event(c.tb, 0, 2500, TRACE_EV_sched_fork, &fork, sizeof(fork), "one");
	block(&c, TRACE_TASK_UNINTERRUPTIBLE);
	tb_switch(c.tb, 1, 3100, 0, 20, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, 3200, 0);
	tb_sys_enter(c.tb, 1, 5000, SYS_execve, 0, 0, 0);
	end(&c, 1, TRACE_CONTEXT_TASK, 20);
	expect(&c, TRACE_WAIT_PROCESS, "one", 20, "vfork");
}

/* ---- sockets ---- */

static void put_socket(struct tb *tb, uint32_t tgid, int fd, uint64_t ino, uint64_t peer_ino, uint16_t family,
		       uint16_t local, uint16_t remote, const unsigned char *remote_host)
{
	static const unsigned char localhost[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
	struct trace_start_socket socket = {.tgid = tgid,
					    .fd = fd,
					    .ino = ino,
					    .peer_ino = peer_ino,
					    .family = family,
					    .type = SOCK_STREAM,
					    .local_port = local,
					    .remote_port = remote,
					    .protocol = 6,
					    .state = 1};
	char path[32];

	memcpy(&socket.local_hi, localhost, 16);
	memcpy(&socket.remote_hi, remote_host ? remote_host : localhost, 16);
	snprintf(path, sizeof(path), "socket:[%llu]", (unsigned long long)ino);
	tb_fd(tb, tgid, fd, 8, ino, S_IFSOCK | 0777, path);
	tb_start(tb, 1000, TRACE_EV_start_socket, &socket, sizeof(socket), NULL);
}

static void net_rx_wakes(struct tb *tb, uint64_t ino)
{
	struct trace_sock_ready ready = {.ino = ino};

	tb_softirq(tb, 1, 5900, 3);
	tb_event(tb, 1, 5950, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
}

static void a_unix_socket_waits_for_its_peer(void)
{
	struct analysis_case c = begin();

	put_socket(c.tb, 10, 3, 500, 501, AF_UNIX, 0, 0, NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 1, 0, 0, 0);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	end(&c, 1, TRACE_CONTEXT_TASK, 1);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "unix");
}

static void tcp_on_this_machine_waits_for_the_process_at_the_other_end(void)
{
	struct analysis_case c = begin();

	put_socket(c.tb, 10, 3, 500, 0, AF_INET, 40000, 80, NULL);
	put_socket(c.tb, 20, 4, 501, 0, AF_INET, 80, 40000, NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 1, 0, 0, 0);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	net_rx_wakes(c.tb, 500); /* in the sender's system call: the softirq runs there */
	end(&c, 1, TRACE_CONTEXT_SOFTIRQ, 1);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "tcp");
}

static void tcp_from_elsewhere_waits_for_an_address(void)
{
	static const unsigned char host[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 7};
	struct analysis_case c = begin();

	put_socket(c.tb, 10, 3, 500, 0, AF_INET, 40000, 443, host);
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 1, 0, 0, 0);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	net_rx_wakes(c.tb, 500);
	end(&c, 1, TRACE_CONTEXT_SOFTIRQ, 1);
	expect(&c, TRACE_WAIT_NETWORK, "192.0.2.7:443", 0, "");
}

static void a_poll_is_charged_to_the_socket_that_became_ready(void)
{
	static const unsigned char host[16] = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
	struct analysis_case c = begin();

	put_socket(c.tb, 10, 3, 500, 0, AF_INET6, 40000, 443, host);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0, 1, (uint64_t)-1);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	net_rx_wakes(c.tb, 500);
	end(&c, 1, TRACE_CONTEXT_SOFTIRQ, 1);
	CU_ASSERT_FALSE(c.one->waits[0].idle);
	expect(&c, TRACE_WAIT_NETWORK, "[2001:db8::1]:443", 0, "");
}

static void an_event_loop_of_a_listener_is_idle(void)
{
	struct analysis_case c = begin();
	struct trace_start_socket listening = {
		.tgid = 10, .fd = 3, .ino = 500, .family = AF_UNIX, .type = SOCK_STREAM, .state = 10};

	tb_fd(c.tb, 10, 3, 8, 500, S_IFSOCK | 0777, "socket:[500]");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &listening, sizeof(listening), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_epoll_wait, 5, 0, 1, (uint64_t)-1);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	end(&c, 1, TRACE_CONTEXT_TASK, 1);
	CU_ASSERT_TRUE(c.one->waits[0].idle);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "poll");
}

/* ---- time, devices, the rest ---- */

static void timer_wakes(struct tb *tb)
{
	struct trace_hrtimer_expire expire = {0};

	tb_vector(tb, 1, 5900, TRACE_VECTOR_LOCAL_TIMER);
	tb_event(tb, 1, 5950, TRACE_EV_hrtimer_expire, &expire, sizeof(expire), NULL);
}

static void a_sleep_is_a_timeout(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_nanosleep, 0, 0);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	timer_wakes(c.tb);
	end(&c, 1, TRACE_CONTEXT_HARDIRQ, 0);
	expect(&c, TRACE_WAIT_TIMEOUT, "", 0, "");
}

static void a_poll_that_timed_out_is_a_timeout(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0, 1, 5);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	timer_wakes(c.tb);
	end(&c, 1, TRACE_CONTEXT_HARDIRQ, 0);
	expect(&c, TRACE_WAIT_TIMEOUT, "", 0, "");
}

static void a_terminal_is_a_device(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 0, 8, 3, S_IFCHR | 0620, "/dev/ttyS0");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 0, 0, 1);
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	end(&c, 1, TRACE_CONTEXT_TASK, 1);
	expect(&c, TRACE_WAIT_DEVICE, "/dev/ttyS0", 0, "");
}

static void a_stopped_thread_is_stopped(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	block(&c, TRACE_TASK_STOPPED);
	end(&c, 1, TRACE_CONTEXT_TASK, 1);
	expect(&c, TRACE_WAIT_STOPPED, "two", 20, "signal");
}

static void a_kernel_thread_as_waker_is_the_kernel(void)
{
	struct analysis_case c = begin();
	struct trace_start_thread kernel = {.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL};

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), "rcu_sched");
	tb_sys_enter(c.tb, 0, 2000, SYS_membarrier, 0);
	block(&c, TRACE_TASK_UNINTERRUPTIBLE);
	tb_switch(c.tb, 0, 5500, 0, 30, TRACE_TASK_RUNNING);
	tb_waking(c.tb, 0, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 30, 10, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(c.tb, 0, 6200, 0);
	case_run(&c);
	expect(&c, TRACE_WAIT_KERNEL, "RCU grace period", 0, "");
}

/* The file of a control group, to which a process is written: no data is transferred. */
static void a_grace_period_is_no_wait_for_the_file(void)
{
	static const char *const names[] = {"rcu_preempt", "jbd2/vda-8"};

	for (int i = 0; i < 2; i++) {
		struct analysis_case c = begin();
		struct trace_start_thread kernel = {
			.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL};

		tb_start(c.tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), names[i]);
		tb_fd(c.tb, 10, 3, 31, 7, S_IFREG | 0644, "/sys/fs/cgroup/it/cgroup.procs");
		tb_sys_enter(c.tb, 0, 2000, SYS_write, 3, 0, 2);
		block(&c, TRACE_TASK_UNINTERRUPTIBLE);
		tb_switch(c.tb, 0, 5500, 0, 30, TRACE_TASK_RUNNING);
		tb_waking(c.tb, 0, 6000, 10, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, 6100, 30, 10, TRACE_TASK_INTERRUPTIBLE);
		tb_sys_exit(c.tb, 0, 6200, 2);
		case_run(&c);
		if (i)
			expect(&c, TRACE_WAIT_FILE, "/sys/fs/cgroup/it/cgroup.procs", 0, "");
		else
			expect(&c, TRACE_WAIT_KERNEL, "RCU grace period", 0, "");
	}
}

static void a_kernel_thread_waits_for_the_kernel(void)
{
	struct analysis_case c = case_new();
	struct trace_start_thread kernel = {
		.tid = 10, .tgid = 10, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .running = 1};

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), "kworker/0:1");
	block(&c, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	expect(&c, TRACE_WAIT_KERNEL, "next job", 0, "");
}

static void a_wait_without_end_that_a_process_will_end_is_for_an_unknown_one(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 1, 100, S_IFIFO | 0600, "pipe:[100]");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
	tb_switch(c.tb, 0, 6000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	case_run(&c);
	CU_ASSERT_EQUAL(case_call(c.one, "read")->wait_ns, BLOCKED_NS);
	expect(&c, TRACE_WAIT_PROCESS, "unknown", 0, "pipe");
}

static void a_call_that_blocks_many_times_keeps_every_nanosecond(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 1, 100, S_IFREG | 0644, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1 << 20);
	for (uint64_t t = 2100; t < 5100; t += 100) {
		tb_switch(c.tb, 0, t, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
		block_done(c.tb, t + 40);
		tb_waking(c.tb, 0, t + 50, 10, TRACE_CONTEXT_HARDIRQ);
		tb_irq_exit(c.tb, 0, t + 52, 7);
		tb_switch(c.tb, 0, t + 60, 0, 10, TRACE_TASK_RUNNING);
	}
	tb_sys_exit(c.tb, 0, 6000, 1 << 20);
	case_run(&c);
	CU_ASSERT_EQUAL(c.one->waits[0].count, 30);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/data", 0, ""), 30 * 50);
	case_free(&c);
}

/* ---- the window of a custom analysis ---- */

struct seen {
	uint64_t blocked_ns;
	const char *waker;
	unsigned int in_read;
};

static void see_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct seen *seen = data;

	if (interval->state != TRACE_STATE_BLOCKED || trace_thread_tid(interval->thread) != 10)
		return;
	seen->blocked_ns += interval->to_ns - interval->from_ns;
	seen->waker = interval->waker ? trace_thread_comm(interval->waker) : NULL;
	CU_ASSERT_STRING_EQUAL(interval->via, "pipe");
	CU_ASSERT_STRING_EQUAL(interval->name, "read");
}

static void see_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct seen *seen = data;
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, event->cpu);

	if (event->id != TRACE_EV_sys_exit || !thread || trace_thread_tid(thread) != 10)
		return;
	seen->in_read += strcmp(trace_thread_syscall(analysis, thread), "read") == 0;
	CU_ASSERT_STRING_EQUAL(trace_thread_file(analysis, thread, (int)trace_thread_syscall_arg(thread, 0)),
			       "pipe:[100]");
}

static void hooks_see_the_state_and_the_intervals(void)
{
	struct analysis_case c = begin();
	struct seen seen = {0};
	struct trace_error error;

	tb_fd(c.tb, 10, 3, 1, 100, S_IFIFO | 0600, "pipe:[100]");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, 1);
	c.trace = tb_open_trace(c.tb);
	c.analysis = trace_analysis_new(c.trace, NULL, &error);
	CU_ASSERT_EQUAL(trace_analysis_on_event(c.analysis, NULL, see_event, &seen), 0);
	CU_ASSERT_EQUAL(trace_analysis_on_interval(c.analysis, see_interval, &seen), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(c.analysis, &error), 0);
	CU_ASSERT_EQUAL(seen.blocked_ns, BLOCKED_NS);
	CU_ASSERT_PTR_NOT_NULL_FATAL(seen.waker);
	CU_ASSERT_STRING_EQUAL(seen.waker, "two");
	CU_ASSERT_EQUAL(seen.in_read, 1);
	CU_ASSERT_EQUAL(trace_analysis_run(c.analysis, &error), -16); /* EBUSY: once only */
	CU_ASSERT_EQUAL(trace_analysis_on_event(c.analysis, NULL, see_event, &seen), -16);
	case_free(&c);
}

static void see_queued(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	CU_ASSERT_EQUAL(interval->state, TRACE_STATE_WAIT_CPU);
	*(uint64_t *)data += interval->to_ns - interval->from_ns;
}

/* A hook gets the waits that it asks for, even if that is one state only. */
static void a_hook_may_want_waits_for_a_cpu_only(void)
{
	struct analysis_case c = begin();
	struct trace_error error;
	uint64_t queued_ns = 0;

	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
	tb_switch(c.tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	c.trace = tb_open_trace(c.tb);
	c.analysis = trace_analysis_new(c.trace, NULL, &error);
	CU_ASSERT_EQUAL(trace_analysis_on_interval_of(c.analysis, 1u << TRACE_STATE_WAIT_CPU, see_queued, &queued_ns),
			0);
	CU_ASSERT_EQUAL(trace_analysis_run(c.analysis, &error), 0);
	CU_ASSERT_EQUAL(queued_ns, 100);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_read_of_a_disk_file_waits_for_the_file),
		CASE(an_open_waits_for_the_path_known_at_its_exit),
		CASE(a_failed_stat_waits_for_the_path_it_asked_for),
		CASE(a_fault_on_a_mapped_file_waits_for_the_file),
		CASE(a_mapping_made_by_mmap_names_its_file),
		CASE(a_fault_of_no_file_waits_for_memory),
		CASE(reclaim_is_a_wait_for_memory),
		CASE(a_pipe_waits_for_its_writer),
		CASE(an_interrupted_task_is_not_the_waker),
		CASE(waitpid_waits_for_the_child_that_exits),
		CASE(a_futex_waits_for_the_thread_that_releases_it),
		CASE(a_signal_names_its_sender),
		CASE(a_read_that_a_signal_ends_was_for_the_other_end),
		CASE(a_lock_on_a_file_waits_for_its_holder),
		CASE(vfork_waits_for_the_child),
		CASE(a_unix_socket_waits_for_its_peer),
		CASE(tcp_on_this_machine_waits_for_the_process_at_the_other_end),
		CASE(tcp_from_elsewhere_waits_for_an_address),
		CASE(a_poll_is_charged_to_the_socket_that_became_ready),
		CASE(an_event_loop_of_a_listener_is_idle),
		CASE(a_sleep_is_a_timeout),
		CASE(a_poll_that_timed_out_is_a_timeout),
		CASE(a_terminal_is_a_device),
		CASE(a_stopped_thread_is_stopped),
		CASE(a_kernel_thread_as_waker_is_the_kernel),
		CASE(a_grace_period_is_no_wait_for_the_file),
		CASE(a_kernel_thread_waits_for_the_kernel),
		CASE(a_wait_without_end_that_a_process_will_end_is_for_an_unknown_one),
		CASE(a_call_that_blocks_many_times_keeps_every_nanosecond),
		CASE(hooks_see_the_state_and_the_intervals),
		CASE(a_hook_may_want_waits_for_a_cpu_only),
		{NULL, NULL},
	};

	return unit_main("accounting", cases, argc, argv);
}
