/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_critical_path.c - each rule of the walk, on a trace of a few events.
 *
 * A test compares a path as text, with a line for each segment:
 *
 * 	2000 20 user <waitpid        thread 20 in user mode from 2000 ns on, reached by waitpid
 * 	3000 20 timeout              a wait without a waker
 * 	4000 10 wait-cpu 20          thread 20 was on the CPU
 * 	9000                         the end
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include "critical_path_case.h"
#include "critical_path_text.h"
#include "unit.h"

#define SOFTIRQ_TIMER  1
#define SOFTIRQ_NET_RX 3

static uint64_t contributed(const struct path_case *p, enum trace_contributor_by by, uint32_t pid,
			    enum trace_state state, const char *target)
{
	const struct trace_contributor *row;

	for (size_t i = 0; (row = trace_critical_path_contributor(p->path, i)); i++)
		if (row->by == by && row->pid == pid && row->state == state && strcmp(row->target, target) == 0)
			return row->ns;
	return 0;
}

/* ---- one thread ---- */

static void running_is_its_own_path(void)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(p.c.tb, 0, 2000, SYS_getpid);
	tb_sys_exit(p.c.tb, 0, 3000, 10);
	tb_sys_enter(p.c.tb, 0, 4000, SYS_getpid);
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"2000 10 syscall getpid\n"
		"3000 10 user\n"
		"4000 10 syscall getpid\n"
		"9000\n");
	path_free(&p);
}

static void a_sleep_stays_a_sleep(void)
{
	struct path_case p = path_new();

	tb_thread_in(p.c.tb, 10, 10, 1, "one", 0, true, SYS_nanosleep);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	timer_wakes(p.c.tb, 0, 5000, 10);
	tb_sys_exit(p.c.tb, 0, 6000, 0);
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 syscall\n"
		"2000 10 timeout\n"
		"5000 10 wait-cpu idle CPU\n"
		"5020 10 syscall nanosleep\n"
		"6000 10 user\n"
		"9000\n");
	CU_ASSERT_EQUAL(contributed(&p, TRACE_BY_TARGET, 0, TRACE_STATE_BLOCKED, ""), 3000);
	CU_ASSERT_EQUAL(contributed(&p, TRACE_BY_COMMAND, 10, TRACE_STATE_RUNNING, ""), 4980);
	path_free(&p);
}

/* A disk's interrupt woke the thread. The thread that it interrupted is no waker. */
static void a_file_stays_a_file(void)
{
	struct trace_block_complete complete = {.dev = 8};
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 1, "two", 1, true);
	tb_fd(p.c.tb, 10, 3, 8, 77, 0100644, "/data");
	tb_sys_enter(p.c.tb, 0, 1500, SYS_read, 3, 0, 100);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(p.c.tb, 1, 5980, 7);
	tb_event(p.c.tb, 1, 5990, TRACE_EV_block_complete, &complete, sizeof(complete), NULL);
	tb_waking(p.c.tb, 1, 6000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(p.c.tb, 1, 6010, 7);
	tb_switch(p.c.tb, 1, 6500, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 1, 7000, 100);
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"1500 10 syscall read\n"
		"2000 10 file /data\n"
		"6000 10 wait-cpu interrupts\n"
		"6010 10 wait-cpu 20\n"
		"6500 10 syscall read\n"
		"7000 10 user\n"
		"9000\n");
	CU_ASSERT_EQUAL(contributed(&p, TRACE_BY_TARGET, 0, TRACE_STATE_BLOCKED, "/data"), 4000);
	CU_ASSERT_EQUAL(contributed(&p, TRACE_BY_COMPETITOR, 20, TRACE_STATE_WAIT_CPU, ""), 490);
	path_free(&p);
}

/*
 * The other end had sent before, and Nagle's algorithm kept the data. A timer's softirq sends it,
 * while a thread of the other end computes something else.
 */
static void a_timer_of_tcp_is_no_work_of_the_other_end(void)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 1, "two", 1, true);
	tb_tcp_end(p.c.tb, 10, 500);
	tb_tcp_end(p.c.tb, 20, 501);
	tb_sys_enter(p.c.tb, 0, 1500, SYS_recvfrom, 3, 0, 0);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_softirq(p.c.tb, 1, 5900, SOFTIRQ_TIMER);
	tb_add(p.c.tb, 1, 5910, net_tx, NULL, .ifindex = 1, .bytes = 60, .protocol = 0x800, .packet = 77);
	tb_softirq_exit(p.c.tb, 1, 5920, SOFTIRQ_TIMER);
	tb_softirq(p.c.tb, 1, 5930, SOFTIRQ_NET_RX);
	tb_add(p.c.tb, 1, 5940, net_rx, NULL, .ifindex = 1, .bytes = 60, .protocol = 0x800, .packet = 77);
	tb_add(p.c.tb, 1, 5950, sock_ready, NULL, .ino = 500, .family = AF_INET, .protocol = 6);
	tb_waking(p.c.tb, 1, 6000, 10, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq_exit(p.c.tb, 1, 6050, SOFTIRQ_NET_RX);
	tb_switch(p.c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 0, 7000, 60);
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"1500 10 syscall recvfrom\n"
		"2000 10 process two\n"
		"6000 10 wait-cpu interrupts\n"
		"6050 10 wait-cpu 20\n"
		"6100 10 syscall recvfrom\n"
		"7000 10 user\n"
		"9000\n");
	path_free(&p);
}

static void a_kernel_thread_that_handled_a_file_is_not_followed(void)
{
	struct path_case p = path_new();
	struct trace_sched_fork kthread = {.parent_tid = 2, .tid = 30, .tgid = 30, .kthread = 1};

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_event(p.c.tb, 1, 1100, TRACE_EV_sched_fork, &kthread, sizeof(kthread), "jbd2");
	wakeup_new(p.c.tb, 1, 1110, 30);
	tb_switch(p.c.tb, 1, 1120, 0, 30, TRACE_TASK_RUNNING);
	tb_fd(p.c.tb, 10, 3, 8, 77, 0100644, "/data");
	tb_sys_enter(p.c.tb, 0, 1500, SYS_fsync, 3);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_waking(p.c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 1, 6000, 30, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 1, 7000, 0);
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"1500 10 syscall fsync\n"
		"2000 10 file /data\n"
		"6000 10 syscall fsync\n"
		"7000 10 user\n"
		"9000\n");
	path_free(&p);
}

/* ---- through kernel threads ---- */

/* Thread 10 reads a terminal. Thread 20 writes to it at 4500 and continues. kworker 30 passes the
 * data on from 5000 on. */
static struct path_case through_a_kworker(void)
{
	struct path_case p = path_new();
	struct trace_start_thread kworker = {
		.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .cpu = 1, .state = 1};
	struct trace_work_queue queue = {.work = 0xabc0};
	struct trace_work_start start = {.work = 0xabc0};
	struct trace_work_end end = {.work = 0xabc0};

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 1, "two", 1, true);
	tb_start(p.c.tb, 1000, TRACE_EV_start_thread, &kworker, sizeof(kworker), "kworker/1:0");
	tb_fd(p.c.tb, 10, 0, 8, 3, 0020620, "/dev/pts/0");
	tb_sys_enter(p.c.tb, 0, 2000, SYS_read, 0, 0, 1);
	tb_switch(p.c.tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(p.c.tb, 1, 4000, SYS_write, 5, 0, 1);
	tb_event(p.c.tb, 1, 4400, TRACE_EV_work_queue, &queue, sizeof(queue), NULL);
	tb_waking(p.c.tb, 1, 4500, 30, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 1, 5000, 20, 30, TRACE_TASK_RUNNING);
	tb_event(p.c.tb, 1, 5500, TRACE_EV_work_start, &start, sizeof(start), NULL);
	tb_waking(p.c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_event(p.c.tb, 1, 6500, TRACE_EV_work_end, &end, sizeof(end), NULL);
	tb_switch(p.c.tb, 1, 7000, 30, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(p.c.tb, 0, 6010, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 0, 8000, 1);
	return p;
}

static void a_kworker_as_waker_is_followed_to_the_thread_that_queued_its_work(void)
{
	struct path_case p = through_a_kworker();

	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"2000 10 syscall read\n"
		"3000 20 user <kernel\n"
		"4000 20 syscall write <kernel\n"
		"4500 30 wait-cpu 20 <tty\n"
		"5000 30 syscall <tty\n"
		"6000 10 wait-cpu 30\n"
		"6010 10 syscall read\n"
		"8000 10 user\n"
		"9000\n");
	path_free(&p);
}

/* The time before an interrupt gave the kernel thread its work belongs to the wait itself. */
static void an_idle_kernel_thread_is_not_on_the_path(void)
{
	struct path_case p = path_new();
	struct trace_start_thread kernel = {
		.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .cpu = 1, .state = 1};

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_start(p.c.tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), "rcu_preempt");
	tb_sys_enter(p.c.tb, 0, 1500, SYS_membarrier, 0);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(p.c.tb, 1, 4000, 7);
	tb_waking(p.c.tb, 1, 4100, 30, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(p.c.tb, 1, 4200, 7);
	tb_switch(p.c.tb, 1, 5000, 0, 30, TRACE_TASK_RUNNING);
	tb_waking(p.c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 0, 6010, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(p.c.tb, 1, 6500, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(p.c.tb, 0, 7000, 0);
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"1500 10 syscall membarrier\n"
		"2000 10 kernel RCU grace period\n"
		"4100 30 wait-cpu idle CPU <kernel\n"
		"5000 30 syscall <kernel\n"
		"6000 10 wait-cpu 30\n"
		"6010 10 syscall membarrier\n"
		"7000 10 user\n"
		"9000\n");
	path_free(&p);
}

/* ---- through wakers ---- */

/* Thread 10 waits for its child 20, which works, sleeps and works. */
static void a_wait_for_a_child_is_the_childs_work(void)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 10, "two", 1, true);
	tb_sys_enter(p.c.tb, 1, 1100, SYS_getpid);
	tb_sys_exit(p.c.tb, 1, 1200, 0);
	tb_sys_enter(p.c.tb, 0, 1500, SYS_wait4, 20, 0, 0, 0);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(p.c.tb, 1, 3000, SYS_nanosleep, 0, 0);
	tb_switch(p.c.tb, 1, 3100, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	timer_wakes(p.c.tb, 1, 5000, 20);
	tb_sys_exit(p.c.tb, 1, 5200, 0);
	tb_sys_enter(p.c.tb, 1, 6000, SYS_exit_group, 0);
	tb_exit(p.c.tb, 1, 6100, 20, 20, true);
	tb_waking(p.c.tb, 1, 6200, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 1, 6300, 20, 10, TRACE_TASK_DEAD);
	tb_sys_exit(p.c.tb, 1, 6500, 20);
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"1500 10 syscall wait4\n"
		"2000 20 user <waitpid\n"
		"3000 20 syscall nanosleep <waitpid\n"
		"3100 20 timeout <waitpid\n"
		"5000 20 wait-cpu idle CPU <waitpid\n"
		"5020 20 syscall nanosleep <waitpid\n"
		"5200 20 user <waitpid\n"
		"6000 20 syscall exit_group <waitpid\n"
		"6200 10 wait-cpu 20\n"
		"6300 10 syscall wait4\n"
		"6500 10 user\n"
		"9000\n");
	CU_ASSERT_EQUAL(contributed(&p, TRACE_BY_COMMAND, 20, TRACE_STATE_RUNNING, ""), 1000 + 100 + 180 + 800 + 200);
	CU_ASSERT_EQUAL(contributed(&p, TRACE_BY_COMMAND, 20, TRACE_STATE_BLOCKED, ""), 1900);
	CU_ASSERT_EQUAL(contributed(&p, TRACE_BY_LINK, 20, TRACE_STATE_BLOCKED, ""), 4200);
	path_free(&p);
}

/* @waiter blocks in a read of a pipe at @from, and @next gets the CPU. */
static void pipe_wait(struct tb *tb, uint32_t cpu, uint64_t from, uint32_t waiter, uint32_t next)
{
	tb_sys_enter(tb, cpu, from - 50, SYS_read, 0, 0, 1);
	tb_switch(tb, cpu, from, waiter, next, TRACE_TASK_INTERRUPTIBLE);
}

/* Thread 10 waits for 20, and 20 for 30 in between, all on one CPU. */
static void a_chain_is_followed_to_its_end(void)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 1, "two", 0, false);
	tb_thread(p.c.tb, 30, 30, 1, "three", 0, false);
	for (uint32_t tid = 10; tid <= 30; tid += 10)
		tb_fd(p.c.tb, tid, 0, 0, 99, 0010600, "pipe:[99]");
	tb_waking(p.c.tb, 0, 1100, 20, TRACE_CONTEXT_TASK);
	tb_waking(p.c.tb, 0, 1200, 30, TRACE_CONTEXT_TASK);
	tb_sys_enter(p.c.tb, 0, 1300, SYS_getpid);
	tb_sys_exit(p.c.tb, 0, 1400, 0);
	pipe_wait(p.c.tb, 0, 2000, 10, 20);
	tb_sys_exit(p.c.tb, 0, 2100, 1);
	pipe_wait(p.c.tb, 0, 3000, 20, 30);
	tb_sys_exit(p.c.tb, 0, 3100, 1);
	tb_waking(p.c.tb, 0, 5000, 20, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 0, 5000, 30, 20, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 0, 5100, 1);
	tb_waking(p.c.tb, 0, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 0, 6100, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 0, 6200, 1);
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"1300 10 syscall getpid\n"
		"1400 10 user\n"
		"1950 10 syscall read\n"
		"2000 20 syscall (not seen) <pipe\n"
		"2100 20 user <pipe\n"
		"2950 20 syscall read <pipe\n"
		"3000 30 syscall (not seen) <pipe\n"
		"3100 30 user <pipe\n"
		"5000 20 syscall read <pipe\n"
		"5100 20 user <pipe\n"
		"6000 10 wait-cpu 20\n"
		"6100 10 syscall read\n"
		"6200 10 user\n"
		"9000\n");
	path_free(&p);
}

/* Threads 30 and 20 slept before 10 began to wait: neither sleep explains the time of 10 before
 * 4000. */
static void nothing_before_the_wait_explains_it(void)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 1, "two", 1, true);
	tb_thread_in(p.c.tb, 30, 30, 1, "three", 1, false, SYS_nanosleep);
	tb_fd(p.c.tb, 10, 0, 0, 99, 0010600, "pipe:[99]");
	tb_fd(p.c.tb, 20, 0, 0, 98, 0010600, "pipe:[98]");
	pipe_wait(p.c.tb, 1, 2000, 20, 0);
	pipe_wait(p.c.tb, 0, 4000, 10, 0);
	timer_wakes(p.c.tb, 1, 5000, 30);
	tb_sys_exit(p.c.tb, 1, 5100, 0);
	tb_waking(p.c.tb, 1, 6000, 20, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 1, 6000, 30, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(p.c.tb, 1, 6100, 1);
	tb_waking(p.c.tb, 1, 7000, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 1, 7000, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 1, 7100, 1);
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"3950 10 syscall read\n"
		"4000 30 timeout <pipe\n"
		"5000 30 wait-cpu idle CPU <pipe\n"
		"5020 30 syscall nanosleep <pipe\n"
		"5100 30 user <pipe\n"
		"6000 20 syscall read <pipe\n"
		"6100 20 user <pipe\n"
		"7000 10 syscall read\n"
		"7100 10 user\n"
		"9000\n");
	path_free(&p);
}

/* The waker was born during the wait: before its birth the path follows its parent. */
static void before_its_birth_a_waker_is_its_parent(void)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 10, "two", 1, true);
	tb_fd(p.c.tb, 10, 0, 0, 99, 0010600, "pipe:[99]");
	pipe_wait(p.c.tb, 0, 2000, 10, 0);
	tb_sys_enter(p.c.tb, 1, 3000, SYS_fork);
	tb_fork(p.c.tb, 1, 3200, 20, 30, 30, "three");
	wakeup_new(p.c.tb, 0, 3300, 30);
	tb_switch(p.c.tb, 0, 3400, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 0, 3500, 0);
	tb_sys_exit(p.c.tb, 1, 3500, 30);
	tb_waking(p.c.tb, 0, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 0, 6000, 30, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 0, 6100, 1);
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"1950 10 syscall read\n"
		"2000 20 user <fork\n"
		"3000 20 syscall fork <fork\n"
		"3300 30 wait-cpu idle CPU <pipe\n"
		"3400 30 syscall fork <pipe\n"
		"3500 30 user <pipe\n"
		"6000 10 syscall read\n"
		"6100 10 user\n"
		"9000\n");
	path_free(&p);
}

/* Two children have the number 20, one after the other. */
static void a_number_used_again_is_another_thread(void)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	for (uint64_t at = 1000; at <= 4000; at += 3000) {
		tb_sys_enter(p.c.tb, 0, at + 100, SYS_fork);
		tb_fork(p.c.tb, 0, at + 150, 10, 20, 20, at == 1000 ? "first" : "second");
		wakeup_new(p.c.tb, 1, at + 160, 20);
		tb_switch(p.c.tb, 1, at + 200, 0, 20, TRACE_TASK_RUNNING);
		tb_sys_exit(p.c.tb, 1, at + 250, 0);
		tb_sys_exit(p.c.tb, 0, at + 250, 20);
		tb_sys_enter(p.c.tb, 0, at + 300, SYS_wait4, 20, 0, 0, 0);
		tb_switch(p.c.tb, 0, at + 400, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_exit(p.c.tb, 1, at + 2000, 20, 20, true);
		tb_waking(p.c.tb, 1, at + 2000, 10, TRACE_CONTEXT_TASK);
		tb_switch(p.c.tb, 0, at + 2010, 0, 10, TRACE_TASK_RUNNING);
		tb_switch(p.c.tb, 1, at + 2100, 20, 0, TRACE_TASK_DEAD);
		tb_sys_exit(p.c.tb, 0, at + 2200, 20);
		tb_free_thread(p.c.tb, 0, at + 2300, 20);
	}
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"1100 10 syscall fork\n"
		"1250 10 user\n"
		"1300 10 syscall wait4\n"
		"1400 20 user <waitpid\n"
		"3000 10 wait-cpu 20\n"
		"3010 10 syscall wait4\n"
		"3200 10 user\n"
		"4100 10 syscall fork\n"
		"4250 10 user\n"
		"4300 10 syscall wait4\n"
		"4400 20 user <waitpid\n"
		"6000 10 wait-cpu 20\n"
		"6010 10 syscall wait4\n"
		"6200 10 user\n"
		"9000\n");
	for (int nth = 0; nth < 2; nth++) {
		struct trace_path_segment s;

		trace_critical_path_segment(p.path, nth ? 11 : 4, &s);
		CU_ASSERT_PTR_EQUAL(s.thread, thread_of(&p, 20, nth));
	}
	path_free(&p);
}

static void endpoints(struct tb *tb, uint32_t cpu, uint64_t ns, uint64_t ino, uint16_t local_port, uint16_t remote_port)
{
	struct trace_sock_endpoints ends = {.fd = 3,
					    .state = 1,
					    .ino = ino,
					    .family = 2,
					    .type = 1,
					    .local_port = local_port,
					    .remote_port = remote_port,
					    .protocol = 6};

	tb_event(tb, cpu, ns, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
}

/* A local peer's packet comes through a softirq, which does not name the sender. One of the peer's
 * threads slept, so the other one sent it. */
static void a_local_tcp_peer_is_followed(void)
{
	struct trace_sock_ready ready = {.ino = 71, .family = 2, .protocol = 6};

	for (uint32_t sender = 20; sender <= 21; sender++) {
		struct path_case p = path_new();
		char expected[512];

		tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
		for (uint32_t tid = 20; tid <= 21; tid++)
			tb_thread_in(p.c.tb, tid, 20, 1, "two", 1, tid == sender, tid == sender ? -1 : SYS_nanosleep);
		tb_fd(p.c.tb, 10, 3, 0, 71, 0140644, "socket:[71]");
		endpoints(p.c.tb, 0, 1100, 71, 1000, 2000);
		endpoints(p.c.tb, 1, 1100, 72, 2000, 1000);
		tb_sys_enter(p.c.tb, 0, 1900, SYS_read, 3, 0, 1);
		tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_sys_enter(p.c.tb, 1, 5900, SYS_write, 3, 0, 1);
		tb_softirq(p.c.tb, 1, 5990, 3);
		tb_event(p.c.tb, 1, 5995, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
		tb_waking(p.c.tb, 1, 6000, 10, TRACE_CONTEXT_SOFTIRQ);
		tb_softirq_exit(p.c.tb, 1, 6020, 3);
		tb_sys_exit(p.c.tb, 1, 6100, 1);
		tb_switch(p.c.tb, 0, 6200, 0, 10, TRACE_TASK_RUNNING);
		path_analyze(&p);
		path_find(&p, thread_of(&p, 10, 0), 1900, 6300);
		snprintf(expected, sizeof(expected),
			 "1900 10 syscall read\n"
			 "2000 %u user <tcp\n"
			 "5900 %u syscall write <tcp\n"
			 "5990 %u interrupted softirq 3 <tcp\n"
			 "6000 10 wait-cpu interrupts\n"
			 "6020 10 wait-cpu %u\n"
			 "6200 10 syscall read\n"
			 "6300\n",
			 sender, sender, sender, sender);
		CU_ASSERT_STRING_EQUAL(path_text(&p), expected);
		path_free(&p);
	}
}

/* Thread 30 released 10, which waited for its peer all the same: the path follows the peer. */
static void a_waker_that_is_not_the_peer_is_not_followed(void)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 1, "two", 1, true);
	tb_thread(p.c.tb, 30, 30, 1, "three", 1, false);
	tb_fd(p.c.tb, 10, 3, 0, 71, 0140644, "socket:[71]");
	endpoints(p.c.tb, 0, 1100, 71, 1000, 2000);
	endpoints(p.c.tb, 1, 1100, 72, 2000, 1000);
	tb_sys_enter(p.c.tb, 0, 1900, SYS_read, 3, 0, 1);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(p.c.tb, 1, 5000, 20, 30, TRACE_TASK_RUNNING);
	tb_sys_enter(p.c.tb, 1, 5900, SYS_getpid);
	tb_waking(p.c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 0, 6200, 0, 10, TRACE_TASK_RUNNING);
	path_analyze(&p);
	path_find(&p, thread_of(&p, 10, 0), 1900, 6300);
	CU_ASSERT_STRING_EQUAL(path_text(&p), "1900 10 syscall read\n"
					      "2000 20 user <tcp\n"
					      "5000 20 wait-cpu 30 <tcp\n"
					      "6000 10 wait-cpu 30\n"
					      "6200 10 syscall read\n"
					      "6300\n");
	path_free(&p);
}

/* Job control: the sender of SIGCONT is not the cause of the stop. Nor does the thread that a timer
 * interrupts explain the time. */
static void the_waker_of_a_stop_or_a_timeout_is_not_followed(void)
{
	for (int stop = 0; stop < 2; stop++) {
		struct path_case p = path_new();
		char expected[512];

		tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
		tb_thread(p.c.tb, 20, 20, 1, "two", 1, true);
		tb_fd(p.c.tb, 10, 3, 14, 1, 0, "anon_inode:[timerfd]");
		tb_sys_enter(p.c.tb, 0, 1500, SYS_read, 3, 0, 8);
		tb_switch(p.c.tb, 0, 3000, 10, 0, stop ? TRACE_TASK_STOPPED : TRACE_TASK_INTERRUPTIBLE);
		tb_sys_enter(p.c.tb, 1, 5000, SYS_kill, 10, 18);
		tb_waking(p.c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
		tb_switch(p.c.tb, 0, 6010, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(p.c.tb, 0, 6500, 8);
		path_analyze(&p);
		snprintf(expected, sizeof(expected),
			 "1000 10 user\n"
			 "1500 10 syscall read\n"
			 "3000 10 %s\n"
			 "6000 10 wait-cpu 20\n"
			 "6010 10 syscall read\n"
			 "6500 10 user\n"
			 "9000\n",
			 stop ? "stopped two" : "timeout");
		path_is(&p, 10, expected);
		path_free(&p);
	}
}

/* Two threads of a process and a mutex: the holder works, and the mutex is identified by its
 * address. */
static void a_lock_is_identified_by_its_address(void)
{
	const struct trace_contributor *row, *lock = NULL;
	struct trace_path_segment s;
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 11, 10, 1, "one", 1, true);
	tb_sys_enter(p.c.tb, 0, 1500, SYS_futex, 0xabc0, 128, 2, 0, 0, 0);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(p.c.tb, 1, 5000, SYS_futex, 0xabc0, 129, 1, 0, 0, 0);
	tb_waking(p.c.tb, 1, 5100, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(p.c.tb, 1, 5200, 1);
	tb_switch(p.c.tb, 0, 5300, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 0, 5400, 0);
	path_analyze(&p);
	path_is(&p, 10,
		"1000 10 user\n"
		"1500 10 syscall futex\n"
		"2000 11 user <futex\n"
		"5000 11 syscall futex <futex\n"
		"5100 10 wait-cpu 11\n"
		"5300 10 syscall futex\n"
		"5400 10 user\n"
		"9000\n");
	trace_critical_path_segment(p.path, 2, &s);
	CU_ASSERT_EQUAL(s.waited_address, 0xabc0);
	for (size_t i = 0; (row = trace_critical_path_contributor(p.path, i)); i++)
		if (row->by == TRACE_BY_LOCK)
			lock = row;
	CU_ASSERT_PTR_NOT_NULL_FATAL(lock);
	CU_ASSERT_EQUAL(lock->address, 0xabc0);
	CU_ASSERT_EQUAL(lock->ns, 3100);
	CU_ASSERT_EQUAL(lock->count, 1);
	CU_ASSERT_EQUAL(lock->tid, 11);
	path_free(&p);
}

/* A lock on a file has no address, but a path. */
static void a_lock_on_a_file_is_identified_by_its_path(void)
{
	const struct trace_contributor *row, *lock = NULL;
	struct trace_path_segment s;
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 1, "two", 1, true);
	tb_fd(p.c.tb, 10, 3, 8, 77, 0100644, "/lock");
	tb_sys_enter(p.c.tb, 0, 1500, SYS_flock, 3, 2, 0);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(p.c.tb, 1, 5000, SYS_flock, 4, 8, 0);
	tb_waking(p.c.tb, 1, 5100, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 0, 5300, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 0, 5400, 0);
	path_analyze(&p);
	path_find(&p, thread_of(&p, 10, 0), 0, UINT64_MAX);
	trace_critical_path_segment(p.path, 2, &s);
	CU_ASSERT_STRING_EQUAL(s.waited_path, "/lock");
	for (size_t i = 0; (row = trace_critical_path_contributor(p.path, i)); i++)
		if (row->by == TRACE_BY_LOCK)
			lock = row;
	CU_ASSERT_PTR_NOT_NULL_FATAL(lock);
	CU_ASSERT_STRING_EQUAL(lock->target, "/lock");
	CU_ASSERT_EQUAL(lock->ns, 3100);
	path_free(&p);
}

/* Like the programs that a build starts again and again: the name then has no number. */
static void processes_of_one_name_are_one_command(void)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 1, "worker", 1, true);
	tb_thread(p.c.tb, 30, 30, 1, "worker", 1, false);
	tb_fd(p.c.tb, 10, 0, 0, 99, 0010600, "pipe:[99]");
	pipe_wait(p.c.tb, 0, 2000, 10, 0);
	tb_waking(p.c.tb, 1, 3000, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 0, 3010, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 0, 3100, 1);
	tb_switch(p.c.tb, 1, 3500, 20, 30, TRACE_TASK_RUNNING);
	pipe_wait(p.c.tb, 0, 4000, 10, 0);
	tb_waking(p.c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 0, 6200, 1);
	path_analyze(&p);
	path_find(&p, thread_of(&p, 10, 0), 0, UINT64_MAX);
	CU_ASSERT_EQUAL(contributed(&p, TRACE_BY_COMMAND, 0, TRACE_STATE_RUNNING, ""), 1000 + 2000);
	CU_ASSERT_EQUAL(contributed(&p, TRACE_BY_LINK, 20, TRACE_STATE_BLOCKED, ""), 1000);
	CU_ASSERT_EQUAL(contributed(&p, TRACE_BY_LINK, 30, TRACE_STATE_BLOCKED, ""), 2000);
	path_free(&p);
}

/*
 * The window ends before the wakeup: until then the wait was for the thread that ended it later,
 * in a history of the whole trace and in one of the window.
 */
static void a_wait_that_goes_on_after_the_window_is_followed(void)
{
	const struct trace_history_options options[] = {{.size = sizeof(options[0])},
							{.size = sizeof(options[0]), .from_ns = 1960, .to_ns = 5000}};

	for (int i = 0; i < 2; i++) {
		struct path_case p = path_new();

		tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
		tb_thread(p.c.tb, 20, 20, 1, "two", 1, true);
		tb_fd(p.c.tb, 10, 0, 0, 99, 0010600, "pipe:[99]");
		pipe_wait(p.c.tb, 0, 2000, 10, 0);
		tb_waking(p.c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
		tb_switch(p.c.tb, 0, 6010, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(p.c.tb, 0, 6100, 1);
		path_analyze_with(&p, &options[i]);
		path_find(&p, thread_of(&p, 10, 0), 1960, 5000);
		CU_ASSERT_STRING_EQUAL(path_text(&p), "1960 10 syscall read\n2000 20 user <pipe\n5000\n");
		if (i == 0) {
			path_find(&p, thread_of(&p, 10, 0), 3000, 6050);
			CU_ASSERT_STRING_EQUAL(path_text(&p),
					       "3000 20 user <pipe\n6000 10 wait-cpu 20\n6010 10 syscall read\n6050\n");
		}
		path_free(&p);
	}
}

/* Two threads each claim to have ended the other's wait at the same time: the wait stays a wait,
 * and the path does not loop. */
static void a_circle_of_waits_ends(void)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 1, "two", 1, true);
	tb_fd(p.c.tb, 10, 0, 0, 99, 0010600, "pipe:[99]");
	tb_fd(p.c.tb, 20, 0, 0, 99, 0010600, "pipe:[99]");
	pipe_wait(p.c.tb, 0, 2000, 10, 0);
	tb_waking(p.c.tb, 1, 3000, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 0, 3000, 0, 10, TRACE_TASK_RUNNING);
	pipe_wait(p.c.tb, 1, 3000, 20, 0);
	tb_waking(p.c.tb, 0, 5000, 20, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 1, 5000, 0, 20, TRACE_TASK_RUNNING);
	pipe_wait(p.c.tb, 0, 5000, 10, 0);
	tb_waking(p.c.tb, 1, 5000, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 0, 5000, 0, 10, TRACE_TASK_RUNNING);
	path_analyze(&p);
	path_find(&p, thread_of(&p, 10, 0), 0, UINT64_MAX);
	path_find(&p, thread_of(&p, 20, 0), 0, UINT64_MAX);
	path_free(&p);
}

static const struct unit_case cases[] = {
	{"running_is_its_own_path", running_is_its_own_path},
	{"a_sleep_stays_a_sleep", a_sleep_stays_a_sleep},
	{"a_file_stays_a_file", a_file_stays_a_file},
	{"a_timer_of_tcp_is_no_work_of_the_other_end", a_timer_of_tcp_is_no_work_of_the_other_end},
	{"a_kernel_thread_that_handled_a_file_is_not_followed", a_kernel_thread_that_handled_a_file_is_not_followed},
	{"a_kworker_as_waker_is_followed_to_the_thread_that_queued_its_work",
	 a_kworker_as_waker_is_followed_to_the_thread_that_queued_its_work},
	{"an_idle_kernel_thread_is_not_on_the_path", an_idle_kernel_thread_is_not_on_the_path},
	{"a_wait_for_a_child_is_the_childs_work", a_wait_for_a_child_is_the_childs_work},
	{"a_chain_is_followed_to_its_end", a_chain_is_followed_to_its_end},
	{"nothing_before_the_wait_explains_it", nothing_before_the_wait_explains_it},
	{"before_its_birth_a_waker_is_its_parent", before_its_birth_a_waker_is_its_parent},
	{"a_number_used_again_is_another_thread", a_number_used_again_is_another_thread},
	{"a_waker_that_is_not_the_peer_is_not_followed", a_waker_that_is_not_the_peer_is_not_followed},
	{"the_waker_of_a_stop_or_a_timeout_is_not_followed", the_waker_of_a_stop_or_a_timeout_is_not_followed},
	{"a_lock_is_identified_by_its_address", a_lock_is_identified_by_its_address},
	{"a_lock_on_a_file_is_identified_by_its_path", a_lock_on_a_file_is_identified_by_its_path},
	{"processes_of_one_name_are_one_command", processes_of_one_name_are_one_command},
	{"a_local_tcp_peer_is_followed", a_local_tcp_peer_is_followed},
	{"a_wait_that_goes_on_after_the_window_is_followed", a_wait_that_goes_on_after_the_window_is_followed},
	{"a_circle_of_waits_ends", a_circle_of_waits_ends},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("critical path", cases, argc, argv);
}
