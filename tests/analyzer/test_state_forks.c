/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_forks.c - the kernel copies the descriptors of a process some time before its fork is
 * recorded. A change by another thread during the call is in the copy or not.
 *
 * Thread 10 on CPU 0 and thread 11 on CPU 1 are "one", with the files of NR_FDS descriptors from 3
 * on. Thread 10 calls fork() at CALL_NS, and the event of its child 30 comes at FORK_NS.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include "analysis_case.h"
#include "unit.h"

#define CALL_NS	   2000
#define FORK_NS	   7000
#define NR_FDS	   4
#define REMEMBERED 512 /* changes: NR_FD_CHANGES of analyzer/state_file.h */

static struct analysis_case begin(void)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 11, 10, 1, "one", 1, true);
	for (int fd = 3; fd < 3 + NR_FDS; fd++)
		tb_fd(c.tb, 10, fd, 1, 100 + (uint64_t)fd, S_IFREG | 0600, "/old");
	tb_sys_enter(c.tb, 0, CALL_NS, SYS_fork);
	return c;
}

/* Thread 11 makes @call, which takes 2 ns. */
static void other_calls(struct analysis_case *c, uint64_t ns, uint32_t call, uint64_t from, uint64_t to)
{
	tb_sys_enter(c->tb, 1, ns, call, from, to, 0);
	tb_sys_exit(c->tb, 1, ns + 2, call == SYS_dup2 ? (int64_t)to : 0);
}

static void fork_and_run(struct analysis_case *c)
{
	tb_fork(c->tb, 0, FORK_NS, 10, 30, 30, "one");
	tb_sys_exit(c->tb, 0, FORK_NS + 10, 30);
	case_run(c);
}

static bool has(const struct analysis_case *c, uint32_t tid, int fd)
{
	const struct trace_thread *thread = trace_find_thread(c->analysis, tid);

	CU_ASSERT_PTR_NOT_NULL_FATAL(thread);
	return trace_thread_file(c->analysis, thread, fd) != NULL;
}

static void a_descriptor_that_another_thread_replaces_during_a_fork_is_unknown(void)
{
	struct analysis_case c = begin();

	other_calls(&c, 3000, SYS_dup2, 3, 4);
	fork_and_run(&c);
	CU_ASSERT(has(&c, 10, 4));
	CU_ASSERT_FALSE(has(&c, 30, 4));
	CU_ASSERT(has(&c, 30, 3));
	CU_ASSERT(has(&c, 30, 5));
	case_free(&c);
}

static void what_it_changed_before_the_fork_is_known(void)
{
	struct analysis_case c = begin();

	other_calls(&c, 1500, SYS_dup2, 3, 4);
	fork_and_run(&c);
	CU_ASSERT(has(&c, 30, 4));
	case_free(&c);
}

/* 20 and 21 change their own descriptor 4. */
static void the_changes_of_another_process_are_not_those_of_the_copy(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 20, 20, 1, "two", 2, true);
	tb_thread(c.tb, 21, 20, 1, "two", 3, true);
	tb_fd(c.tb, 20, 3, 1, 200, S_IFREG | 0600, "/other");
	tb_sys_enter(c.tb, 2, 3000, SYS_dup2, 3, 4);
	tb_sys_exit(c.tb, 2, 3010, 4);
	fork_and_run(&c);
	CU_ASSERT(has(&c, 30, 4));
	case_free(&c);
}

/* Only the latest changes are remembered. */
static void after_very_many_changes_during_a_fork_all_are_unknown(void)
{
	for (uint64_t extra = 0; extra < 2; extra++) {
		struct analysis_case c = begin();

		for (uint64_t i = 0; i < REMEMBERED + extra; i++)
			other_calls(&c, 2100 + 4 * i, SYS_dup2, 3, 4);
		fork_and_run(&c);
		CU_ASSERT_FALSE(has(&c, 30, 4));
		CU_ASSERT_EQUAL(has(&c, 30, 5), !extra);
		CU_ASSERT(has(&c, 10, 5));
		case_free(&c);
	}
}

/* As many before the fork as are remembered, and one during it. */
static void changes_before_a_fork_make_nothing_unknown(void)
{
	struct analysis_case c = begin();

	for (uint64_t i = 0; i < REMEMBERED; i++)
		other_calls(&c, 1001 + i, SYS_dup2, 3, 4);
	other_calls(&c, 2100, SYS_dup2, 3, 4);
	fork_and_run(&c);
	CU_ASSERT_FALSE(has(&c, 30, 4));
	CU_ASSERT(has(&c, 30, 5));
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_descriptor_that_another_thread_replaces_during_a_fork_is_unknown),
		CASE(what_it_changed_before_the_fork_is_known),
		CASE(the_changes_of_another_process_are_not_those_of_the_copy),
		CASE(after_very_many_changes_during_a_fork_all_are_unknown),
		CASE(changes_before_a_fork_make_nothing_unknown),
		{NULL, NULL},
	};

	return unit_main("descriptors that change during a fork", cases, argc, argv);
}
