/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_state_expire.c - the state machine forgets files that no process has open, and keeps the
 * others. Times and threads as in test_state.c. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "analysis_case.h"
#include "state_waits_case.h"
#include "unit.h"

/* ---- unused files are forgotten, used ones are kept ---- */

#define NR_STRANGERS 60000 /* the first search for unused files runs after 16384 */

/* "two" opens this many files and pipes, one after the other as the same descriptor. */
static void unrelated_processes_begin_and_end(struct analysis_case *c, uint64_t ns)
{
	char path[32];

	for (uint32_t i = 0; i < NR_STRANGERS; i++) {
		snprintf(path, sizeof(path), "/tmp/%u", i);
		if (i % 2)
			tb_open(c->tb, 1, ns, 5, 9, 100000 + i, S_IFREG | 0600, path);
		else
			tb_open(c->tb, 1, ns, 5, 13, 100000 + i, PIPE_MODE, "");
		if (i % 5000 == 0)
			tb_cut(c->tb, 1);
	}
}

static void a_file_that_is_open_is_not_released(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 9, 70, S_IFREG | 0600, "/kept");
	unrelated_processes_begin_and_end(&c, 2500);
	tb_sys_enter(c.tb, 0, 2900, SYS_read, 3, 0, 10);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_FILE, "/kept", 0, "");
}

static void a_file_that_is_mapped_is_not_released(void)
{
	struct trace_start_map map = {.tgid = 10, .dev = 9, .ino = 70, .start = 0x10000, .end = 0x20000};
	struct analysis_case c = begin();

	tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/mapped");
	unrelated_processes_begin_and_end(&c, 2500);
	tb_fault(c.tb, 0, 2900, 0x10123, true);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_fault_end(c.tb, 0, 6200, true);
	case_run(&c);
	expect(&c, TRACE_WAIT_FILE, "/mapped", 0, "");
}

static void a_file_that_is_waited_for_is_not_released_when_it_is_closed(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 9, 70, S_IFREG | 0600, "/kept");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 10);
	tb_switch(c.tb, 0, 2100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_fork(c.tb, 1, 2150, 10, 11, 10, "one"); /* shares its descriptors */
	tb_switch(c.tb, 1, 2200, 20, 11, TRACE_TASK_RUNNING);
	tb_sys_enter(c.tb, 1, 2210, SYS_close, 3, 0, 0);
	tb_sys_exit(c.tb, 1, 2220, 0);
	tb_switch(c.tb, 1, 2300, 11, 20, TRACE_TASK_RUNNING);
	unrelated_processes_begin_and_end(&c, 2500);
	tb_waking(c.tb, 1, 5100, 10, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_FILE, "/kept", 0, "");
}

static void a_file_of_a_request_in_progress_is_not_released(void)
{
	struct trace_uring_submit submit = {.req = 0x1000, .opcode = 22, .fd = 3};
	struct trace_uring_complete complete = {.req = 0x1000, .res = 4096};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 9, 70, S_IFREG | 0600, "/kept");
	tb_sys_enter(c.tb, 0, 1500, SYS_io_uring_enter, 4, 1, 0, 0, 0, 0);
	tb_event(c.tb, 0, 1600, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	tb_sys_exit(c.tb, 0, 1700, 1);
	tb_sys_enter(c.tb, 0, 1800, SYS_close, 3, 0, 0);
	tb_sys_exit(c.tb, 0, 1900, 0);
	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 2100, 10);
	unrelated_processes_begin_and_end(&c, 2500);
	tb_event(c.tb, 0, 4000, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	case_run(&c);
	CU_ASSERT_EQUAL_FATAL(c.one->nr_files, 1);
	CU_ASSERT_STRING_EQUAL(c.one->files[0].path, "/kept");
	case_free(&c);
}

static void a_file_by_which_a_thread_was_woken_is_not_released(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 20, 4, 9, 70, 0, "anon_inode:[eventfd]");
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0, 1, 0);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_write, 4, 0, 8);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_sys_exit(c.tb, 1, 6010, 8);
	tb_sys_enter(c.tb, 1, 6020, SYS_close, 4, 0, 0);
	tb_sys_exit(c.tb, 1, 6030, 0);
	tb_sys_enter(c.tb, 1, 6040, SYS_getpid);
	tb_sys_exit(c.tb, 1, 6050, 20);
	unrelated_processes_begin_and_end(&c, 6060);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "eventfd");
}

static void both_ends_of_a_connection_are_kept_if_one_is_open(void)
{
	struct trace_start_socket sock = {
		.tgid = 10, .fd = 3, .ino = 500, .peer_ino = 501, .family = AF_UNIX, .type = SOCK_STREAM, .state = 1};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 8, 500, S_IFSOCK | 0777, "");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_thread(c.tb, 30, 30, 1, "third", 0, false);
	sock = (struct trace_start_socket){
		.tgid = 30, .fd = 4, .ino = 501, .peer_ino = 500, .family = AF_UNIX, .type = SOCK_STREAM, .state = 1};
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL); /* and no known descriptor */
	unrelated_processes_begin_and_end(&c, 2500);
	tb_sys_enter(c.tb, 0, 2900, SYS_recvfrom, 3, 0, 10, 0, 0, 0);
	block(&c);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "third", 30, "unix");
}

static void a_file_is_found_by_its_inode_for_a_while_after_it_was_closed(void)
{
	struct trace_fs_fault fault = {.ino = 70, .dev = 9};
	struct analysis_case c = begin();

	tb_open(c.tb, 0, 1500, 3, 9, 70, S_IFREG | 0755, "/bin/made");
	tb_sys_enter(c.tb, 0, 1600, SYS_close, 3, 0, 0);
	tb_sys_exit(c.tb, 0, 1700, 0);
	tb_sys_enter(c.tb, 0, 1800, SYS_getpid); /* now it is in a call on no file */
	tb_sys_exit(c.tb, 0, 1900, 10);
	for (uint32_t i = 0; i < 20000; i++)
		tb_open(c.tb, 1, 2500, 5, 13, 100000 + i, PIPE_MODE, "");
	tb_fault(c.tb, 0, 2900, 0x10123, true);
	tb_event(c.tb, 0, 2910, TRACE_EV_fs_fault, &fault, sizeof(fault), NULL);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_fault_end(c.tb, 0, 6200, true);
	case_run(&c);
	expect(&c, TRACE_WAIT_FILE, "/bin/made", 0, "");
}

static void a_fault_for_a_file_without_a_name_waits_for_its_disk(void)
{
	struct trace_fs_fault fault = {.ino = 70, .dev = 9};
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_DEVICE, 9, "vda1");
	tb_fault(c.tb, 0, 2900, 0x10123, true);
	tb_event(c.tb, 0, 2910, TRACE_EV_fs_fault, &fault, sizeof(fault), NULL);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_fault_end(c.tb, 0, 6200, true);
	case_run(&c);
	expect(&c, TRACE_WAIT_FILE, "vda1", 0, "");
}

#define FIRST_STRANGER 100000
static unsigned int times_gone[NR_STRANGERS], others_gone;

static void note_gone(void *data, const struct trace_file_id *id)
{
	CU_ASSERT_EQUAL(id->dev, 13);
	CU_ASSERT_EQUAL(id->mode, PIPE_MODE);
	if (id->ino >= FIRST_STRANGER && id->ino < FIRST_STRANGER + NR_STRANGERS)
		times_gone[id->ino - FIRST_STRANGER]++;
	else
		others_gone++;
}

static void hooks_are_called_once_for_each_released_pipe(void)
{
	struct trace_error error = {0};
	struct analysis_case c = begin();
	uint32_t told = 0;

	tb_fd(c.tb, 10, 3, 13, 70, PIPE_MODE, "pipe:[70]"); /* its other end is on another machine, or hidden */
	for (uint32_t i = 0; i < NR_STRANGERS; i++) {
		tb_open(c.tb, 1, 2500, 5, 13, FIRST_STRANGER + i, PIPE_MODE, "");
		tb_event(c.tb, 1, 2500, TRACE_EV_fs_open,
			 &(struct trace_fs_open){
				 .fd = 6, .flags = O_WRONLY, .dev = 13, .ino = FIRST_STRANGER + i, .mode = PIPE_MODE},
			 sizeof(struct trace_fs_open), "");
		if (i % 5000 == 0)
			tb_cut(c.tb, 1);
	}
	c.trace = tb_open_trace(c.tb);
	c.analysis = trace_analysis_new(c.trace, NULL, &error);
	CU_ASSERT_EQUAL(trace_analysis_on_release(c.analysis, note_gone, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(c.analysis, &error), 0);
	for (uint32_t i = 0; i < NR_STRANGERS; i++) {
		CU_ASSERT(times_gone[i] <= 1);
		told += times_gone[i];
	}
	CU_ASSERT(told > NR_STRANGERS / 2);
	CU_ASSERT_EQUAL(others_gone, 0);
	CU_ASSERT_STRING_EQUAL(trace_thread_file(c.analysis, trace_find_thread(c.analysis, 10), 3), "pipe:[70]");
	CU_ASSERT_EQUAL(trace_analysis_on_release(c.analysis, note_gone, NULL), -EBUSY);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_file_that_is_open_is_not_released),
		CASE(a_file_that_is_mapped_is_not_released),
		CASE(a_file_that_is_waited_for_is_not_released_when_it_is_closed),
		CASE(a_file_of_a_request_in_progress_is_not_released),
		CASE(a_file_by_which_a_thread_was_woken_is_not_released),
		CASE(both_ends_of_a_connection_are_kept_if_one_is_open),
		CASE(a_file_is_found_by_its_inode_for_a_while_after_it_was_closed),
		CASE(a_fault_for_a_file_without_a_name_waits_for_its_disk),
		CASE(hooks_are_called_once_for_each_released_pipe),
		{NULL, NULL},
	};

	return unit_main("state_expire", cases, argc, argv);
}
