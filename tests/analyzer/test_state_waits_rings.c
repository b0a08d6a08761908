/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_waits_rings.c - the cause of a wait, from the object that the call works on: requests
 * of io_uring and of asynchronous I/O.
 *
 * Thread 10 ("one") runs on CPU 0 and blocks from 3000 to 6000 unless a test says otherwise; 20
 * ("two") runs on CPU 1.
 */
#include "state_waits_ends.h"
#include "unit.h"

/* The worker waits on behalf of its process. It may be older than the trace. */
static void a_ring_inherits_the_wait_cause_of_its_worker(void)
{
	struct trace_start_thread worker = {.tid = 11,
					    .tgid = 10,
					    .ppid = 1,
					    .nr = -1,
					    .cpu = 1,
					    .state = TRACE_TASK_INTERRUPTIBLE,
					    .flags = TRACE_THREAD_IO_WORKER};
	struct trace_block_complete done = {.dev = DISK, .bytes = 4096};
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_DEVICE, DISK, "vda");
	tb_start(c.tb, 1000, TRACE_EV_start_thread, &worker, sizeof(worker), "iou-wrk-10");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_waking(c.tb, 0, 2500, 11, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 2700, 20, 11, TRACE_TASK_RUNNING);
	block(&c);
	tb_switch(c.tb, 1, 3500, 11, 20, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(c.tb, 1, 5000, 7);
	tb_event(c.tb, 1, 5050, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(c.tb, 1, 5100, 11, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(c.tb, 1, 5200, 7);
	tb_switch(c.tb, 1, 5500, 20, 11, TRACE_TASK_RUNNING);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "vda", 0, ""), 1600); /* the worker's */
	CU_ASSERT_EQUAL(c.one->syscall_ns, 1100 + 800 + 3500); /* its time is kernel time, in a call that never ends */
	CU_ASSERT_EQUAL(c.one->nr_syscalls_rows, 1);
	expect(&c, TRACE_WAIT_FILE, "vda", 0, "io_uring");
}

/* The worker waited for the disk, but the file of the request says more. */
static void a_ring_waits_for_the_file_that_its_worker_reads(void)
{
	struct trace_start_thread worker = {.tid = 11,
					    .tgid = 10,
					    .ppid = 1,
					    .nr = -1,
					    .cpu = 1,
					    .state = TRACE_TASK_INTERRUPTIBLE,
					    .flags = TRACE_THREAD_IO_WORKER};
	struct trace_uring_submit submit = {.req = 0xf00, .opcode = 22, .fd = 4};
	struct trace_uring_complete complete = {.req = 0xf00, .res = 512};
	struct trace_block_complete done = {.dev = DISK, .bytes = 4096};
	struct analysis_case c = begin();

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &worker, sizeof(worker), "iou-wrk-10");
	tb_fd(c.tb, 10, 4, 9, 80, S_IFREG | 0600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_event(c.tb, 0, 2100, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	tb_waking(c.tb, 0, 2500, 11, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 2700, 20, 11, TRACE_TASK_RUNNING);
	block(&c);
	tb_switch(c.tb, 1, 3500, 11, 20, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(c.tb, 1, 5000, 7);
	tb_event(c.tb, 1, 5050, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(c.tb, 1, 5100, 11, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(c.tb, 1, 5200, 7);
	tb_switch(c.tb, 1, 5500, 20, 11, TRACE_TASK_RUNNING);
	tb_event(c.tb, 1, 5600, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_FILE, "/data", 0, "io_uring");
}

/* A thread of the own process that is no worker, or a worker that had waited before: the cause of
 * its wait does not apply. */
static void a_ring_does_not_inherit_wait_causes_of_other_threads(void)
{
	for (int is_worker = 0; is_worker < 2; is_worker++) {
		struct trace_start_thread other = {.tid = 11,
						   .tgid = 10,
						   .ppid = 1,
						   .nr = -1,
						   .cpu = 1,
						   .state = TRACE_TASK_INTERRUPTIBLE,
						   .flags = is_worker ? TRACE_THREAD_IO_WORKER : 0};
		struct analysis_case c = begin();
		uint64_t slept = is_worker ? 1200 : 3500;

		tb_start(c.tb, 1000, TRACE_EV_start_thread, &other, sizeof(other),
			 is_worker ? "iou-wrk-10" : "one too");
		tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
		block(&c);
		tb_waking(c.tb, 1, 1050, 11, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 1, 1100, 20, 11, TRACE_TASK_RUNNING);
		if (!is_worker) {
			tb_sys_exit(c.tb, 1, 1150, 0);
			tb_sys_enter(c.tb, 1, 3400, SYS_nanosleep, 0, 0);
		}
		tb_switch(c.tb, 1, slept, 11, 20, TRACE_TASK_INTERRUPTIBLE);
		tb_vector(c.tb, 1, slept + 100, TRACE_VECTOR_LOCAL_TIMER);
		tb_waking(c.tb, 1, slept + 110, 11, TRACE_CONTEXT_HARDIRQ);
		tb_vector_exit(c.tb, 1, slept + 120, TRACE_VECTOR_LOCAL_TIMER);
		tb_switch(c.tb, 1, slept + 200, 20, 11, TRACE_TASK_RUNNING);
		if (!is_worker)
			tb_sys_exit(c.tb, 1, slept + 300, 0);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		CU_ASSERT(is_worker || !c.one->waits[0].idle);
		expect(&c, TRACE_WAIT_PROCESS, "one", 10, "io_uring");
	}
}

/* Its process gives it work. A waker of another process has released a file or lock that the work
 * needs. */
static void a_worker_of_a_ring_is_idle_until_its_process_wakes_it(void)
{
	for (uint32_t by = 0; by < 2; by++) {
		struct trace_start_thread worker = {.tid = 11,
						    .tgid = 10,
						    .ppid = 1,
						    .nr = -1,
						    .cpu = 1,
						    .state = TRACE_TASK_INTERRUPTIBLE,
						    .flags = TRACE_THREAD_IO_WORKER};
		struct analysis_case c = begin();

		tb_start(c.tb, 1000, TRACE_EV_start_thread, &worker, sizeof(worker), "iou-wrk-10");
		tb_waking(c.tb, by, 5000, 11, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 1, 5100, 20, 11, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(c.one->waits[0].idle, by == 0);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, by ? "two" : "one", by ? 20 : 10, "io_uring"),
				4000);
		case_free(&c);
	}
}

static void a_ring_woken_by_a_kernel_thread_waited_for_it(void)
{
	struct trace_start_thread kernel = {
		.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .cpu = 1, .state = 1};
	struct analysis_case c = begin();

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), "md0_raid1");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_waking(c.tb, 1, 2500, 30, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 2600, 20, 30, TRACE_TASK_RUNNING);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_KERNEL, "md0_raid1", 0, "io_uring");
}

/* The same with the kernel's older interface: idle until a client's data arrives, but not while the
 * disk works. */
static void a_listener_is_idle_in_asynchronous_io_unless_on_a_disk(void)
{
	for (int disk = 0; disk < 2; disk++) {
		struct trace_start_socket sock = {
			.tgid = 10, .fd = 5, .ino = 500, .family = AF_UNIX, .type = SOCK_STREAM, .state = 10};
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_io_getevents, "io_getevents");
		tb_string(c.tb, TRACE_STRING_DEVICE, DISK, "vda");
		tb_fd(c.tb, 10, 5, 9, 500, S_IFSOCK, "socket:[500]");
		tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
		tb_fd(c.tb, 20, 5, 9, 80, PIPE_MODE, "pipe:[80]");
		tb_sys_enter(c.tb, 0, 2000, SYS_io_getevents, 0, 1, 1);
		if (disk)
			by_disk(&c);
		else
			by_two(&c, SYS_write);
		CU_ASSERT_EQUAL(c.one->waits[0].idle, !disk);
		expect(&c, disk ? TRACE_WAIT_FILE : TRACE_WAIT_PROCESS, disk ? "vda" : "two", disk ? 0 : 20,
		       disk ? "" : "pipe");
	}
}

/* A database that listens has work as long as its disk has. */
static void a_listener_that_waits_in_a_ring_for_a_disk_has_work(void)
{
	struct trace_start_socket sock = {
		.tgid = 10, .fd = 5, .ino = 500, .family = AF_UNIX, .type = SOCK_STREAM, .state = 10};
	struct trace_uring_submit submit = {.req = 0xf00, .opcode = 22, .fd = 4};
	struct trace_uring_complete complete = {.req = 0xf00, .res = 512};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 5, 9, 500, S_IFSOCK, "socket:[500]");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_fd(c.tb, 10, 4, 9, 80, S_IFREG | 0600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_event(c.tb, 0, 2100, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	block(&c);
	tb_irq(c.tb, 1, 5000, 7);
	tb_event(c.tb, 1, 5500, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	wake(&c, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(c.tb, 1, 6050, 7);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_event(c.tb, 0, 6150, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	tb_sys_exit(c.tb, 0, 6200, 1);
	case_run(&c);
	CU_ASSERT_FALSE(c.one->waits[0].idle);
	expect(&c, TRACE_WAIT_FILE, "/data", 0, "io_uring");
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_ring_inherits_the_wait_cause_of_its_worker),
		CASE(a_ring_waits_for_the_file_that_its_worker_reads),
		CASE(a_ring_does_not_inherit_wait_causes_of_other_threads),
		CASE(a_listener_that_waits_in_a_ring_for_a_disk_has_work),
		CASE(a_worker_of_a_ring_is_idle_until_its_process_wakes_it),
		CASE(a_ring_woken_by_a_kernel_thread_waited_for_it),
		CASE(a_listener_is_idle_in_asynchronous_io_unless_on_a_disk),
		{NULL, NULL},
	};

	return unit_main("waits for rings", cases, argc, argv);
}
