/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_start_parents.c - processes may have been adopted before the recorder read their parent: it
 * is true from the last adoption by that parent on, and unknown before.
 *
 * Traces begin at 1000 and end at 9000. 5 is a subreaper, 20 ("two") its child in the start state.
 * 40 has ended when the start state is read. All times are ns.
 */
#include "analysis_case.h"
#include "unit.h"

static void thread_read_at(struct tb *tb, uint64_t read_ns, uint32_t tid, uint32_t ppid)
{
	struct trace_start_thread start = {.tid = tid,
					   .tgid = tid,
					   .ns_tid = tid,
					   .ns_tgid = tid,
					   .ppid = ppid,
					   .state = TRACE_TASK_INTERRUPTIBLE,
					   .nr = -1,
					   .cpu = 1};

	tb_start(tb, read_ns, TRACE_EV_start_thread, &start, sizeof(start), tid == 20 ? "two" : "other");
}

static struct analysis_case begin(uint64_t read_ns)
{
	struct analysis_case c = case_new();

	thread_read_at(c.tb, read_ns, 5, 1);
	thread_read_at(c.tb, read_ns, 20, 5);
	thread_read_at(c.tb, 8999, 60, 1); /* the last one */
	return c;
}

static void adopt(struct analysis_case *c, uint64_t ns, uint32_t parent, uint32_t reaper)
{
	tb_add(c->tb, 0, ns, sched_adopt, NULL, .parent = parent, .reaper = reaper);
}

static void ends(struct analysis_case *c, uint64_t ns, uint32_t pid)
{
	tb_exit(c->tb, 0, ns, pid, pid, true);
	tb_switch(c->tb, 0, ns + 10, pid, 0, TRACE_TASK_DEAD);
}

/* Process 20 has the parent 5 from @since_ns on, and none that is known before. */
static void expect_known_since(struct analysis_case *c, uint64_t since_ns)
{
	struct trace_identity *list;
	size_t nr = 0;

	case_run(c);
	list = trace_process_identities(c->analysis, case_process(c, 20), &nr);
	CU_ASSERT_EQUAL_FATAL(nr, since_ns > 1000 ? 2 : 1);
	CU_ASSERT_EQUAL(list[nr - 1].ppid, 5);
	CU_ASSERT_EQUAL(list[nr - 1].first_ns, since_ns);
	if (nr == 2) {
		CU_ASSERT_EQUAL(list[0].ppid, 0);
		CU_ASSERT_EQUAL(list[0].last_ns, since_ns);
		CU_ASSERT_EQUAL(list[0].times.blocked_ns, since_ns - 1000);
	}
	CU_ASSERT_EQUAL(trace_process_ppid(case_process(c, 20)), 5);
	CU_ASSERT_PTR_EQUAL(trace_process_starter(case_process(c, 20)), case_process(c, 5));
	free(list);
	case_free(c);
}

static void a_parent_that_was_read_after_an_adoption_is_unknown_before_it(void)
{
	static const uint64_t read_at[] = {5000, 8999}; /* a flight recorder reads it at the end */

	for (size_t i = 0; i < sizeof(read_at) / sizeof(read_at[0]); i++) {
		struct analysis_case c = begin(read_at[i]);

		adopt(&c, 3000, 40, 5);
		expect_known_since(&c, 3000);
	}
}

/* The adoption comes after the reading, so that it concerns another child. */
static void a_parent_that_was_read_before_the_adoption_is_its_parent_from_the_start_on(void)
{
	struct analysis_case c = begin(2000);

	adopt(&c, 3000, 40, 5);
	expect_known_since(&c, 1000);
}

/* A later thread of the process tells no parent. */
static void the_parent_is_read_with_the_first_thread(void)
{
	struct trace_start_thread other = {.tid = 21, .tgid = 20, .ppid = 5, .nr = -1, .state = 1};
	struct analysis_case c = begin(2000);

	tb_start(c.tb, 5000, TRACE_EV_start_thread, &other, sizeof(other), "other");
	adopt(&c, 3000, 40, 5);
	expect_known_since(&c, 1000);
}

static void a_parent_is_unknown_until_the_last_of_two_adoptions(void)
{
	struct analysis_case c = begin(5000);

	adopt(&c, 2000, 40, 5);
	adopt(&c, 3000, 41, 5);
	adopt(&c, 6000, 42, 5); /* after the reading */
	expect_known_since(&c, 3000);
}

static void the_adoption_by_another_reaper_changes_nothing(void)
{
	struct analysis_case c = begin(5000);

	adopt(&c, 3000, 40, 1);
	expect_known_since(&c, 1000);
}

/* 5 gets the children that subreaper 30 has from 40. */
static void a_subreaper_that_ends_passes_on_what_it_has_adopted(void)
{
	struct analysis_case c = begin(5000);

	adopt(&c, 2000, 40, 30);
	adopt(&c, 3000, 30, 5);
	expect_known_since(&c, 3000);
}

/* 40 is forked in the trace, so that it has no children from before. */
static void a_process_of_the_trace_leaves_only_children_of_the_trace(void)
{
	struct analysis_case c = begin(5000);

	tb_fork(c.tb, 0, 1500, 5, 40, 40, "shell");
	ends(&c, 3000, 40);
	adopt(&c, 3000, 40, 5);
	expect_known_since(&c, 1000);
}

/* It has such children if it is a subreaper: 40 is forked in the trace, and adopts those of 41. */
static void a_subreaper_of_the_trace_may_leave_older_children(void)
{
	struct analysis_case c = begin(5000);

	tb_fork(c.tb, 0, 1500, 5, 40, 40, "subreaper");
	adopt(&c, 2000, 41, 40);
	adopt(&c, 3000, 40, 5);
	ends(&c, 3000, 40);
	expect_known_since(&c, 3000);
}

/* The fork tells the parent of 20, and so does each adoption after it. */
static void a_child_of_the_trace_has_the_parent_of_its_fork(void)
{
	for (uint32_t parent = 10; parent <= 40; parent += 30) {
		struct analysis_case c = case_new();
		struct trace_identity *list;
		size_t nr = 0;

		tb_thread(c.tb, 10, 10, 1, "one", 0, true);
		thread_read_at(c.tb, 5000, 5, 1);
		thread_read_at(c.tb, 5000, 20, 5);
		adopt(&c, 1200, 50, 5);
		tb_fork(c.tb, 0, 1300, 10, 40, 40, "shell");
		tb_fork(c.tb, 0, 1500, parent, 20, 20, "two");
		tb_switch(c.tb, 1, 1600, 0, 20, TRACE_TASK_RUNNING);
		if (parent == 40)
			tb_switch(c.tb, 0, 2500, 10, 40, TRACE_TASK_RUNNING);
		adopt(&c, 3000, parent, 5);
		ends(&c, 3000, parent);
		tb_switch(c.tb, 1, 9000, 20, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		list = trace_process_identities(c.analysis, case_process(&c, 20), &nr);
		CU_ASSERT_EQUAL_FATAL(nr, 2);
		CU_ASSERT_EQUAL(list[0].ppid, parent);
		CU_ASSERT_EQUAL(list[0].last_ns, 3010);
		CU_ASSERT_EQUAL(list[1].ppid, 5);
		CU_ASSERT_PTR_EQUAL(trace_process_starter(case_process(&c, 20)), case_process(&c, parent));
		free(list);
		case_free(&c);
	}
}

/* A change of ids tells a parent. Nothing tells since when. */
static void ids_do_not_tell_the_parent_before_an_adoption(void)
{
	struct analysis_case c = begin(5000);
	struct trace_identity *list;
	size_t nr = 0;

	tb_add(c.tb, 0, 2000, sched_ids, NULL, .tid = 20, .tgid = 20, .ppid = 40, .passes = true);
	adopt(&c, 3000, 40, 5);
	case_run(&c);
	list = trace_process_identities(c.analysis, case_process(&c, 20), &nr);
	CU_ASSERT_EQUAL_FATAL(nr, 3); /* the ids before are unknown, too */
	CU_ASSERT_EQUAL(list[0].ppid, 0);
	CU_ASSERT_EQUAL(list[1].ppid, 0);
	CU_ASSERT_EQUAL(list[2].ppid, 5);
	CU_ASSERT_EQUAL(list[2].first_ns, 3000);
	free(list);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_parent_that_was_read_after_an_adoption_is_unknown_before_it),
		CASE(a_parent_that_was_read_before_the_adoption_is_its_parent_from_the_start_on),
		CASE(the_parent_is_read_with_the_first_thread),
		CASE(a_parent_is_unknown_until_the_last_of_two_adoptions),
		CASE(the_adoption_by_another_reaper_changes_nothing),
		CASE(a_subreaper_that_ends_passes_on_what_it_has_adopted),
		CASE(a_process_of_the_trace_leaves_only_children_of_the_trace),
		CASE(a_subreaper_of_the_trace_may_leave_older_children),
		CASE(a_child_of_the_trace_has_the_parent_of_its_fork),
		CASE(ids_do_not_tell_the_parent_before_an_adoption),
		{NULL, NULL},
	};

	return unit_main("parents that were read after an adoption", cases, argc, argv);
}
