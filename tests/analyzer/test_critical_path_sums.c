/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_critical_path_sums.c - the sums of a path, and its unknown parts: critical_path_case.h. The
 * walk: test_critical_path.c. */
#include "critical_path_case.h"
#include "unit.h"

/* The path of thread 10 over the whole trace. */
static void path_of_one(struct path_case *p)
{
	struct trace_error error = {0};

	path_analyze(p);
	p->path = trace_critical_path_new(p->history, trace_find_thread(p->c.analysis, 10), 0, UINT64_MAX, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p->path);
	CU_ASSERT_EQUAL(trace_critical_path_verify(p->path, &error), 0);
}

static struct trace_contributor contributor(const struct path_case *p, enum trace_contributor_by by, uint32_t pid,
					    enum trace_state state)
{
	const struct trace_contributor *row;

	for (size_t i = 0; (row = trace_critical_path_contributor(p->path, i)); i++)
		if (row->by == by && row->pid == pid && row->state == state)
			return *row;
	return (struct trace_contributor){.target = "(none)", .via = "(none)"};
}

/* Thread 10 waits from 2000 to 6000 in @call for 20, which has been in @call itself since 5000. */
static struct path_case waits_for_two(uint32_t call)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 1, "two", 1, true);
	tb_fd(p.c.tb, 10, 7, 0, 99, 0010600, "pipe:[99]");
	tb_sys_enter(p.c.tb, 0, 1900, call, 7, 0, 1);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(p.c.tb, 1, 5000, call, 8, 0, 1);
	tb_waking(p.c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 0, 6200, 0);
	return p;
}

static void locks_are_distinguished_from_other_links(void)
{
	static const struct {
		uint32_t call;
		const char *via;
		enum trace_contributor_by by, not_by;
	} links[] = {{SYS_semop, "semaphore", TRACE_BY_LOCK, TRACE_BY_LINK},
		     {SYS_read, "pipe", TRACE_BY_LINK, TRACE_BY_LOCK}};

	for (size_t i = 0; i < 2; i++) {
		struct path_case p = waits_for_two(links[i].call);

		path_of_one(&p);
		CU_ASSERT_EQUAL(contributor(&p, links[i].by, 20, TRACE_STATE_BLOCKED).ns, 4000);
		CU_ASSERT_STRING_EQUAL(contributor(&p, links[i].by, 20, TRACE_STATE_BLOCKED).via, links[i].via);
		CU_ASSERT_EQUAL(contributor(&p, links[i].not_by, 20, TRACE_STATE_BLOCKED).ns, 0);
		path_free(&p);
	}
}

/* The end of the wait was not recorded, so the path follows no thread. */
static void a_process_that_was_waited_for_has_its_number(void)
{
	struct path_case p = path_new();

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(p.c.tb, 20, 20, 10, "two", 1, false);
	tb_sys_enter(p.c.tb, 0, 1900, SYS_wait4, 20, 0, 0);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	path_of_one(&p);
	CU_ASSERT_EQUAL(contributor(&p, TRACE_BY_TARGET, 20, TRACE_STATE_BLOCKED).ns, 7000);
	CU_ASSERT_STRING_EQUAL(contributor(&p, TRACE_BY_TARGET, 20, TRACE_STATE_BLOCKED).target, "two");
	path_free(&p);
}

static void contributors_are_ordered_by_kind_and_size(void)
{
	struct path_case p = waits_for_two(SYS_read);
	const struct trace_contributor *row, *before = NULL;

	path_of_one(&p);
	for (size_t i = 0; (row = trace_critical_path_contributor(p.path, i)); i++, before = row)
		CU_ASSERT(!before || before->by < row->by || (before->by == row->by && before->ns >= row->ns));
	CU_ASSERT_EQUAL(contributor(&p, TRACE_BY_COMMAND, 10, TRACE_STATE_RUNNING).ns, 1000 + 2900);
	CU_ASSERT_EQUAL(contributor(&p, TRACE_BY_COMMAND, 20, TRACE_STATE_RUNNING).ns, 4000);
	path_free(&p);
}

/*
 * Thread 30 was born while events were missing, or without an event: its parent is not known. A
 * segment of it before its birth would be in no account of a thread.
 */
static void before_an_unrecorded_birth_the_path_is_the_wait(void)
{
	struct path_case p = path_new();
	struct trace_path_segment s;

	tb_thread(p.c.tb, 10, 10, 1, "one", 0, true);
	tb_fd(p.c.tb, 10, 7, 0, 99, 0010600, "pipe:[99]");
	tb_sys_enter(p.c.tb, 0, 1900, SYS_read, 7, 0, 1);
	tb_switch(p.c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(p.c.tb, 1, 5000, 0, 30, TRACE_TASK_RUNNING);
	tb_waking(p.c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
	tb_switch(p.c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(p.c.tb, 0, 6200, 1);
	path_of_one(&p);
	trace_critical_path_segment(p.path, 2, &s);
	CU_ASSERT_EQUAL(trace_thread_tid(s.thread), 10);
	CU_ASSERT_EQUAL(s.from_ns, 2000);
	CU_ASSERT_EQUAL(s.to_ns, 5000);
	CU_ASSERT_EQUAL(s.state, TRACE_STATE_BLOCKED);
	CU_ASSERT_STRING_EQUAL(s.via, "pipe");
	CU_ASSERT_PTR_NULL(s.waiter);
	CU_ASSERT_EQUAL(contributor(&p, TRACE_BY_LINK, 30, TRACE_STATE_BLOCKED).ns, 1000);
	path_free(&p);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(locks_are_distinguished_from_other_links),
		CASE(a_process_that_was_waited_for_has_its_number),
		CASE(contributors_are_ordered_by_kind_and_size),
		CASE(before_an_unrecorded_birth_the_path_is_the_wait),
		{NULL, NULL},
	};

	return unit_main("sums of a critical path", cases, argc, argv);
}
