/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_doubt.c - a name that a lost event may have changed is unknown. Times and threads as
 * in test_state.c; descriptor 3 of process 10 is /data.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "analysis_case.h"
#include "unit.h"

#define REGULAR (S_IFREG | 0600)

static void beat(struct analysis_case *c, uint32_t cpu, uint64_t ns)
{
	struct trace_trace_heartbeat heartbeat = {0};

	tb_event(c->tb, cpu, ns, TRACE_EV_trace_heartbeat, &heartbeat, sizeof(heartbeat), NULL);
}

/* CPU 1 loses events from @from_ns to @to_ns. */
static void cpu_1_loses(struct analysis_case *c, uint64_t from_ns, uint64_t to_ns)
{
	beat(c, 1, from_ns);
	tb_lost(c->tb, 1, 5);
	beat(c, 1, to_ns);
}

/* Thread 10 runs on CPU 0. */
static struct analysis_case begin(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(c.tb, 10, 3, 1, 100, REGULAR, "/data");
	return c;
}

static void sleeps(struct analysis_case *c, uint64_t from_ns, uint64_t to_ns)
{
	tb_switch(c->tb, 0, from_ns, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c->tb, 0, to_ns, 10, TRACE_CONTEXT_SOFTIRQ);
	tb_switch(c->tb, 0, to_ns, 0, 10, TRACE_TASK_RUNNING);
}

static void reads_3(struct analysis_case *c, uint64_t ns)
{
	tb_sys_enter(c->tb, 0, ns, SYS_read, 3, 0, 100);
	tb_sys_exit(c->tb, 0, ns + 10, 7);
}

/* Thread 10 opens @path as descriptor @fd. */
static void opens(struct analysis_case *c, uint64_t ns, int fd, const char *path)
{
	tb_sys_enter(c->tb, 0, ns, SYS_openat, AT_FDCWD, 0, 0);
	tb_open(c->tb, 0, ns + 1, fd, 1, 200, REGULAR, path);
	tb_sys_exit(c->tb, 0, ns + 2, fd);
}

/* Descriptor @fd of thread 10 at the end; NULL: it is not known. */
static void expect_name(struct analysis_case *c, int fd, const char *path)
{
	const struct trace_thread *thread = trace_find_thread(c->analysis, 10);
	const char *found = thread ? trace_thread_file(c->analysis, thread, fd) : NULL;

	CU_ASSERT((path && found && strcmp(path, found) == 0) || (!path && !found));
	if (found && (!path || strcmp(path, found)))
		printf("descriptor %d is told as %s ", fd, found);
}

static uint64_t bytes_read(const struct analysis_case *c, const char *path)
{
	uint64_t sum = 0;

	for (size_t i = 0; c->one && i < c->one->nr_files; i++)
		if (strcmp(c->one->files[i].path, path) == 0)
			sum += c->one->files[i].read_bytes;
	return sum;
}

static void a_descriptor_may_be_another_file_after_a_loss(void)
{
	struct analysis_case c = begin();

	reads_3(&c, 1500);
	tb_sys_enter(c.tb, 0, 1600, SYS_getpid);
	tb_lost(c.tb, 0, 5);
	tb_switch(c.tb, 0, 3000, 0, 10, TRACE_TASK_RUNNING);
	reads_3(&c, 3500);
	case_run(&c);
	expect_name(&c, 3, NULL);
	CU_ASSERT_EQUAL(bytes_read(&c, "/data"), 7);
	case_free(&c);
}

static void an_open_after_the_loss_tells_it_again(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 1500, SYS_getpid);
	tb_sys_exit(c.tb, 0, 1510, 10);
	tb_lost(c.tb, 0, 5);
	tb_switch(c.tb, 0, 3000, 0, 10, TRACE_TASK_RUNNING);
	opens(&c, 3100, 3, "/log");
	reads_3(&c, 3500);
	case_run(&c);
	expect_name(&c, 3, "/log");
	CU_ASSERT_EQUAL(bytes_read(&c, "/log"), 7);
	case_free(&c);
}

static void so_does_a_call_that_connects_a_socket(void)
{
	struct trace_sock_endpoints ends = {.fd = 3, .ino = 91, .family = AF_INET, .type = SOCK_STREAM, .protocol = 6};
	struct analysis_case c = begin();
	struct trace_file_id id = {0};

	sleeps(&c, 1900, 3100);
	cpu_1_loses(&c, 2000, 3000);
	tb_sys_enter(c.tb, 0, 3500, SYS_connect, 3, TRACE_ARG_ADDRESS, 16);
	tb_event(c.tb, 0, 3510, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
	tb_sys_exit(c.tb, 0, 3520, 0);
	case_run(&c);
	CU_ASSERT(trace_thread_file_id(c.analysis, trace_find_thread(c.analysis, 10), 3, &id));
	CU_ASSERT_EQUAL(id.ino, 91);
	case_free(&c);
}

static void a_thread_that_slept_may_have_run_on_the_cpu_of_the_loss(void)
{
	struct analysis_case c = begin();

	sleeps(&c, 1900, 3100);
	cpu_1_loses(&c, 2000, 3000);
	reads_3(&c, 3500);
	case_run(&c);
	expect_name(&c, 3, NULL);
	CU_ASSERT_EQUAL(bytes_read(&c, "/data"), 0);
	case_free(&c);
}

static void the_events_of_a_thread_on_another_cpu_are_there(void)
{
	struct analysis_case c = begin();

	cpu_1_loses(&c, 2000, 3000);
	opens(&c, 2500, 4, "/log");
	reads_3(&c, 3500);
	case_run(&c);
	expect_name(&c, 3, "/data");
	expect_name(&c, 4, "/log");
	CU_ASSERT_EQUAL(bytes_read(&c, "/data"), 7);
	case_free(&c);
}

static void another_thread_of_the_process_may_have_run_there(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 11, 10, 1, "second", 1, false);
	cpu_1_loses(&c, 2000, 3000);
	opens(&c, 2500, 4, "/log");
	reads_3(&c, 2600);
	case_run(&c);
	expect_name(&c, 3, NULL);
	expect_name(&c, 4, NULL);
	CU_ASSERT_EQUAL(bytes_read(&c, "/data"), 0);
	case_free(&c);
}

static void so_may_a_thread_that_begins_in_the_loss(void)
{
	struct analysis_case c = begin();

	cpu_1_loses(&c, 2000, 3000);
	tb_fork(c.tb, 0, 2400, 10, 11, 10, "second");
	reads_3(&c, 2600);
	case_run(&c);
	expect_name(&c, 3, NULL);
	CU_ASSERT_EQUAL(bytes_read(&c, "/data"), 0);
	case_free(&c);
}

static void a_thread_that_leaves_its_cpu_in_the_loss_may_have_been_there(void)
{
	struct analysis_case c = begin();

	cpu_1_loses(&c, 2000, 3000);
	opens(&c, 2300, 4, "/log");
	sleeps(&c, 2400, 2700);
	reads_3(&c, 2800);
	opens(&c, 2850, 5, "/late");
	case_run(&c);
	expect_name(&c, 3, NULL);
	expect_name(&c, 4, NULL);
	expect_name(&c, 5, "/late"); /* it has stayed on CPU 0 since */
	CU_ASSERT_EQUAL(bytes_read(&c, "/data"), 0);
	case_free(&c);
}

/* Opens, forks and execs have a ring of their own. */
static void a_loss_of_opens_on_its_own_cpu_concerns_a_thread(void)
{
	struct analysis_case c = begin();

	opens(&c, 1500, 4, "/log");
	tb_structural_cut(c.tb, 0);
	tb_structural_event(c.tb, 0, 2000, TRACE_EV_trace_heartbeat, &(struct trace_trace_heartbeat){0},
			    sizeof(struct trace_trace_heartbeat), NULL);
	tb_structural_lost(c.tb, 0, 5);
	tb_structural_event(c.tb, 0, 3000, TRACE_EV_trace_heartbeat, &(struct trace_trace_heartbeat){0},
			    sizeof(struct trace_trace_heartbeat), NULL);
	reads_3(&c, 3500);
	case_run(&c);
	expect_name(&c, 3, NULL);
	expect_name(&c, 4, NULL);
	CU_ASSERT_EQUAL(bytes_read(&c, "/data"), 0);
	CU_ASSERT_EQUAL(case_cpu(&c, 0).unknown_ns, 0);
	case_free(&c);
}

static void the_result_of_a_call_before_the_loss_is_of_an_unknown_file(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 1800, SYS_read, 3, 0, 100);
	sleeps(&c, 1900, 3100);
	cpu_1_loses(&c, 2000, 3000);
	tb_sys_exit(c.tb, 0, 3200, 100);
	case_run(&c);
	CU_ASSERT_EQUAL(bytes_read(&c, "/data"), 0);
	case_free(&c);
}

static void a_copy_of_an_unknown_descriptor_is_unknown(void)
{
	struct analysis_case c = begin();

	sleeps(&c, 1900, 3100);
	cpu_1_loses(&c, 2000, 3000);
	tb_sys_enter(c.tb, 0, 3200, SYS_dup, 3);
	tb_sys_exit(c.tb, 0, 3210, 4);
	case_run(&c);
	expect_name(&c, 4, NULL);
	case_free(&c);
}

static void the_working_directory_may_be_another_one(void)
{
	struct trace_fs_dir dir = {
		.ino = 70, .dev = 9, .mode = S_IFDIR | 0700, .tid = 10, .fd = TRACE_FD_WORKING_DIRECTORY};
	struct analysis_case c = begin();

	tb_event(c.tb, 0, 1100, TRACE_EV_fs_dir, &dir, sizeof(dir), "/home");
	for (uint64_t ns = 1500; ns < 5000; ns += 2000) {
		tb_sys_enter(c.tb, 0, ns, SYS_openat, AT_FDCWD, 0, 0);
		tb_sys_path(c.tb, 0, ns + 5, SYS_openat, "conf");
		tb_sys_exit(c.tb, 0, ns + 10, ns < 2000 ? 4 : 5); /* its fs_open was not recorded */
		if (ns < 2000)
			sleeps(&c, 1900, 3100);
	}
	cpu_1_loses(&c, 2000, 3000);
	case_run(&c);
	expect_name(&c, 5, ".../conf");
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_descriptor_may_be_another_file_after_a_loss),
		CASE(an_open_after_the_loss_tells_it_again),
		CASE(so_does_a_call_that_connects_a_socket),
		CASE(a_thread_that_slept_may_have_run_on_the_cpu_of_the_loss),
		CASE(the_events_of_a_thread_on_another_cpu_are_there),
		CASE(another_thread_of_the_process_may_have_run_there),
		CASE(so_may_a_thread_that_begins_in_the_loss),
		CASE(a_thread_that_leaves_its_cpu_in_the_loss_may_have_been_there),
		CASE(a_loss_of_opens_on_its_own_cpu_concerns_a_thread),
		CASE(the_result_of_a_call_before_the_loss_is_of_an_unknown_file),
		CASE(a_copy_of_an_unknown_descriptor_is_unknown),
		CASE(the_working_directory_may_be_another_one),
		{NULL, NULL},
	};
	return unit_main("names after a loss", cases, argc, argv);
}
