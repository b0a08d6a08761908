/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_CRITICAL_PATH_TEXT_H
#define TESTS_CRITICAL_PATH_TEXT_H
/* critical_path_text.h - a critical path as text, a line for each segment: test_critical_path.c */
#include <stdio.h>
#include "critical_path_case.h"

/* The @nth thread that had this number. */
static inline const struct trace_thread *thread_of(const struct path_case *p, uint32_t tid, int nth)
{
	for (size_t i = 0; i < trace_nr_processes(p->c.analysis); i++)
		for (const struct trace_thread *t = NULL;
		     (t = trace_next_thread(trace_get_process(p->c.analysis, i), t));)
			if (trace_thread_tid(t) == tid && nth-- == 0)
				return t;
	return NULL;
}

static inline void describe(const struct trace_path_segment *s, char *text, size_t size)
{
	if (s->state == TRACE_STATE_BLOCKED)
		snprintf(text, size, "%s%s%s", trace_wait_kind_name(s->kind), *s->target ? " " : "", s->target);
	else if (s->state == TRACE_STATE_WAIT_CPU && s->holder)
		snprintf(text, size, "wait-cpu %u", trace_thread_tid(s->holder));
	else if (s->state == TRACE_STATE_WAIT_CPU)
		snprintf(text, size, "wait-cpu %s", s->holder_name);
	else
		snprintf(text, size, "%s%s%s", trace_state_name(s->state), *s->name ? " " : "", s->name);
}

static inline const char *path_text(struct path_case *p)
{
	struct trace_path_segment s;
	uint64_t from, to;
	size_t used = 0;
	char what[128];

	for (size_t i = 0; i < trace_critical_path_nr_segments(p->path); i++) {
		trace_critical_path_segment(p->path, i, &s);
		describe(&s, what, sizeof(what));
		used += (size_t)snprintf(p->text + used, sizeof(p->text) - used, "%llu %u %s%s%s\n",
					 (unsigned long long)s.from_ns, trace_thread_tid(s.thread), what,
					 s.waiter ? " <" : "", s.waited_via);
	}
	trace_critical_path_window(p->path, &from, &to);
	snprintf(p->text + used, sizeof(p->text) - used, "%llu\n", (unsigned long long)to);
	return p->text;
}

static inline void path_find(struct path_case *p, const struct trace_thread *thread, uint64_t from, uint64_t to)
{
	struct trace_error error = {0};

	CU_ASSERT_PTR_NOT_NULL_FATAL(thread);
	p->path = trace_critical_path_free(p->path);
	p->path = trace_critical_path_new(p->history, thread, from, to, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p->path);
	CU_ASSERT_EQUAL(trace_critical_path_verify(p->path, &error), 0);
}

static inline void path_is(struct path_case *p, uint32_t tid, const char *expected)
{
	path_find(p, thread_of(p, tid, 0), 0, UINT64_MAX);
	if (strcmp(path_text(p), expected) != 0)
		printf("\n--- expected\n%s--- got\n%s", expected, p->text);
	CU_ASSERT_STRING_EQUAL(p->text, expected);
}

/* A timer's softirq on an idle CPU wakes @tid, which runs there at once. */
static inline void timer_wakes(struct tb *tb, uint32_t cpu, uint64_t ns, uint32_t tid)
{
	tb_softirq(tb, cpu, ns - 20, 1);
	tb_waking(tb, cpu, ns, tid, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq_exit(tb, cpu, ns + 10, 1);
	tb_switch(tb, cpu, ns + 20, 0, tid, TRACE_TASK_RUNNING);
}
#endif
