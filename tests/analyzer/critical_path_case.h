/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_CRITICAL_PATH_CASE_H
#define TESTS_CRITICAL_PATH_CASE_H
/* critical_path_case.h - shared by the tests of critical paths: a built trace, its analysis with
 * the history, and a path. */
#include <trace/critical_path.h>
#include "analysis_case.h"

struct path_case {
	struct analysis_case c;
	struct trace_history *history;
	struct trace_critical_path *path;
	char text[8192];
};

static inline struct path_case path_new(void)
{
	struct path_case p = {.c = case_new()};

	return p;
}

static inline void path_analyze_with(struct path_case *p, const struct trace_history_options *options)
{
	struct trace_error error = {0};

	p->c.trace = tb_open_trace(p->c.tb);
	p->c.analysis = trace_analysis_new(p->c.trace, NULL, &error);
	p->history = trace_history_new(p->c.analysis, options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(p->history);
	CU_ASSERT_EQUAL(trace_analysis_run(p->c.analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(p->c.analysis, &error), 0);
}

static inline void path_analyze(struct path_case *p)
{
	path_analyze_with(p, NULL);
}

static inline void path_free(struct path_case *p)
{
	trace_critical_path_free(p->path);
	trace_history_free(p->history);
	case_free(&p->c);
}

static inline void wakeup_new(struct tb *tb, uint32_t cpu, uint64_t ns, uint32_t tid)
{
	struct trace_sched_wakeup_new event = {.tid = tid, .target_cpu = (uint16_t)cpu};

	tb_event(tb, cpu, ns, TRACE_EV_sched_wakeup_new, &event, sizeof(event), NULL);
}
#endif
