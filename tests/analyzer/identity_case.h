/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_IDENTITY_CASE_H
#define TESTS_IDENTITY_CASE_H
/* identity_case.h - shared by the tests of identities and of families: processes of the start
 * state, and what each of them was. */
#include "analysis_case.h"

static inline void adopt(struct tb *tb, uint64_t ts_ns, uint32_t parent, uint32_t reaper)
{
	tb_add(tb, 0, ts_ns, sched_adopt, NULL, .parent = parent, .reaper = reaper);
}

/* A thread of the start state that runs on CPU 0, read at @read_ns. */
static inline void start_as(struct tb *tb, uint64_t read_ns, uint32_t tid, uint32_t ppid, uint32_t uid, uint64_t cgroup)
{
	struct trace_start_thread start = {.tid = tid,
					   .tgid = tid,
					   .ns_tid = tid,
					   .ns_tgid = tid,
					   .ppid = ppid,
					   .uid = uid,
					   .gid = uid,
					   .nr = -1,
					   .prio = 120,
					   .running = true,
					   .cgroup = cgroup};

	tb_start(tb, read_ns, TRACE_EV_start_thread, &start, sizeof(start), tid == 10 ? "one" : "two");
}

static inline uint64_t elapsed(const struct trace_identity *identity)
{
	const struct trace_times *t = &identity->times;

	return t->user_ns + t->syscall_ns + t->trap_ns + t->interrupted_ns + t->wait_cpu_ns + t->blocked_ns;
}

/* The identities of process @pid; checks that they add up to its figures. */
static inline struct trace_identity *identities(const struct analysis_case *c, uint32_t pid, size_t *ret_nr)
{
	struct trace_identity *list = trace_process_identities(c->analysis, case_process(c, pid), ret_nr);
	struct trace_figures *figures = trace_process_figures(c->analysis, case_process(c, pid));
	uint64_t sum = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(list);
	for (size_t i = 0; i < *ret_nr; i++)
		sum += elapsed(&list[i]);
	CU_ASSERT_EQUAL(sum, figures->elapsed_ns);
	trace_figures_free(figures);
	return list;
}
#endif
