/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_view_growth.c - a trace that grows while it is shown: its states are shown before its bills,
 * unless there are servers, and readings take at most a fifth of a CPU
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <trace/events.h>
#include <unistd.h>
#include "builder.h"
#include "example_traces.h"
#include "unit.h"
#include "view_bills.h"
#include "view_growth.h"

#define SECOND	   UINT64_C(1000000000)
#define END_BYTES  16 /* at least, of the end of a trace that is missing at first */
#define NR_STEPS   5
#define NR_GROWING 1000

static const struct visualizer_options options = {
	.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};

/* struct growing - a file of @bytes, without its last END_BYTES at first */
struct growing {
	char path[32];
	int fd;
	char tail[END_BYTES];
	struct trace *trace;
	struct view_shared shared;
};

static void read_all(struct view_shared *shared)
{
	int result = 0;

	for (unsigned int i = 1; result == 0; i++)
		result = view_shared_step(shared, i, NR_STEPS);
	CU_ASSERT_EQUAL_FATAL(result, 1);
}

static void growing_begin(struct growing *growing, void (*write_trace)(int fd))
{
	off_t bytes;

	strcpy(growing->path, "/tmp/view_growth.XXXXXX");
	growing->fd = mkstemp(growing->path);
	CU_ASSERT_FATAL(growing->fd >= 0);
	write_trace(growing->fd);
	bytes = lseek(growing->fd, 0, SEEK_END) - END_BYTES;
	CU_ASSERT_EQUAL_FATAL(pread(growing->fd, growing->tail, END_BYTES, bytes), END_BYTES);
	CU_ASSERT_EQUAL_FATAL(ftruncate(growing->fd, bytes), 0);
	growing->trace = trace_open(growing->path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(growing->trace);
	CU_ASSERT_EQUAL_FATAL(view_shared_begin(&growing->shared, growing->trace, &options), 0);
	read_all(&growing->shared);
	CU_ASSERT_PTR_NULL(view_growth_begin(&growing->shared));
	CU_ASSERT_EQUAL_FATAL(pwrite(growing->fd, growing->tail, END_BYTES, bytes), END_BYTES);
}

/* Reads the grown file until something can be shown, and shows it. */
static void growing_show(struct growing *growing)
{
	struct view_growth *growth = view_growth_begin(&growing->shared);
	int result = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(growth);
	for (unsigned int i = 1; result == 0; i++) {
		CU_ASSERT_EQUAL(growing->shared.session->version, 0);
		result = view_growth_step(growth, i, NR_STEPS);
	}
	CU_ASSERT_EQUAL_FATAL(result, 1);
	view_growth_end(growth, true);
	CU_ASSERT_EQUAL(growing->shared.session->version, 1);
	CU_ASSERT(growing->shared.session->is_complete);
}

static void growing_end(struct growing *growing)
{
	view_shared_end(&growing->shared);
	trace_close(growing->trace);
	close(growing->fd);
	unlink(growing->path);
}

static void write_plain_trace(int fd)
{
	struct tb *tb = tb_new();

	tb_thread(tb, 10, 10, 1, "alone", 0, true);
	for (uint64_t i = 1; i <= NR_GROWING; i++) {
		tb_sys_enter(tb, 0, i * 1000, SYS_getpid);
		tb_sys_exit(tb, 0, i * 1000 + 500, 10);
	}
	tb_write(tb, fd, true);
	tb_free(tb);
}

static void states_are_shown_before_the_bills(void)
{
	static struct growing growing;

	growing_begin(&growing, write_plain_trace);
	growing_show(&growing);
	CU_ASSERT(!growing.shared.session->is_billed);
	CU_ASSERT(view_shared_has_work(&growing.shared));
	read_all(&growing.shared);
	CU_ASSERT(growing.shared.session->is_billed);
	growing_end(&growing);
}

static void clients_do_not_disappear_meanwhile(void)
{
	static struct growing growing;

	growing_begin(&growing, write_server_trace);
	CU_ASSERT_PTR_NOT_NULL(view_bills(growing.shared.session));
	growing_show(&growing);
	CU_ASSERT(growing.shared.session->is_billed);
	CU_ASSERT_PTR_NOT_NULL(view_bills(growing.shared.session));
	growing_end(&growing);
}

static void readings_take_a_fifth_of_a_cpu_at_most(void)
{
	CU_ASSERT_EQUAL(view_growth_rest(0), 0);
	CU_ASSERT_EQUAL(view_growth_rest(SECOND / 5), SECOND * 9 / 5);
	CU_ASSERT_EQUAL(view_growth_rest(2 * SECOND), 10 * SECOND);
	CU_ASSERT_EQUAL(view_growth_rest(1000 * SECOND), 4000 * SECOND);
	CU_ASSERT_EQUAL(view_growth_rest(UINT64_MAX), UINT64_MAX);
	for (uint64_t cpu_ns = SECOND / 100; cpu_ns < 100 * SECOND; cpu_ns += cpu_ns / 7)
		CU_ASSERT(4 * cpu_ns <= view_growth_rest(cpu_ns));
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* The file grows again at once. The pause is that of all the CPU time since the reading began. */
static void the_pause_counts_the_bills(void)
{
	static struct growing growing;
	uint64_t begun, states;

	growing_begin(&growing, write_plain_trace);
	begun = cpu_ns();
	growing_show(&growing);
	states = cpu_ns() - begun;
	CU_ASSERT_PTR_NULL(view_growth_begin(&growing.shared)); /* no bills yet */
	CU_ASSERT_EQUAL(growing.shared.session->rest_ns, 0);
	read_all(&growing.shared);
	while (cpu_ns() - begun < 2 * states)
		; /* as bills of a larger trace */
	CU_ASSERT_PTR_NULL(view_growth_begin(&growing.shared));
	CU_ASSERT(growing.shared.session->rest_ns >= view_growth_rest(2 * states) * 9 / 10);
	growing_end(&growing);
}

/* No descriptor is free for the file that has grown. */
static void a_reading_that_fails_says_why(void)
{
	static struct growing growing;
	struct rlimit before, limit;
	int said = memfd_create("said", 0), own = dup(STDERR_FILENO);
	char text[512] = "";

	growing_begin(&growing, write_plain_trace);
	CU_ASSERT_FATAL(said >= 0 && own >= 0);
	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = 0;
	dup2(said, STDERR_FILENO);
	setrlimit(RLIMIT_NOFILE, &limit);
	CU_ASSERT_PTR_NULL(view_growth_begin(&growing.shared));
	setrlimit(RLIMIT_NOFILE, &before);
	dup2(own, STDERR_FILENO);
	CU_ASSERT(pread(said, text, sizeof(text) - 1, 0) > 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "no longer follows the trace: "));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "Too many open files"));
	CU_ASSERT_PTR_NULL(view_growth_begin(&growing.shared)); /* it is not tried again */
	CU_ASSERT_PTR_NOT_NULL(strstr(growing.shared.session->unread, "Too many open files"));
	close(said);
	close(own);
	growing_end(&growing);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(states_are_shown_before_the_bills),      CASE(clients_do_not_disappear_meanwhile),
		CASE(readings_take_a_fifth_of_a_cpu_at_most), CASE(the_pause_counts_the_bills),
		CASE(a_reading_that_fails_says_why),	      {NULL, NULL},
	};

	return unit_main("view_growth", cases, argc, argv);
}
