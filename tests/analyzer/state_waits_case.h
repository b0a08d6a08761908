/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_STATE_WAITS_CASE_H
#define TESTS_STATE_WAITS_CASE_H
/* state_waits_case.h - shared by the tests of waits: a thread that waits, and the cause of its
 * wait, in a few lines. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "kernel_numbers.h"
#include "analysis_case.h"

#define BLOCKED_NS 3000
#define PIPE_MODE  (S_IFIFO | 0600)

/* @parent: of "two" */
static inline struct analysis_case begin_family(uint32_t parent)
{
	struct analysis_case c = case_new();

	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, parent, "two", 1, true);
	return c;
}

static inline struct analysis_case begin(void)
{
	return begin_family(1);
}

static inline void block(struct analysis_case *c)
{
	tb_switch(c->tb, 0, 3000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
}

/* The thread is woken at 6000, runs at 6100, and returns. */
static inline void wake(struct analysis_case *c, enum trace_context context)
{
	tb_waking(c->tb, 1, 6000, 10, context);
}

/* The thread sleeps at 6000 and is not woken. */
static inline void until_the_end(struct analysis_case *c)
{
	tb_switch(c->tb, 0, 6000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c->tb, 1, 9000, 20, 0, TRACE_TASK_RUNNING);
	case_run(c);
}

static inline void finish(struct analysis_case *c)
{
	tb_switch(c->tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, 6200, 1);
	case_run(c);
}

static inline void expect(struct analysis_case *c, enum trace_wait_kind kind, const char *target, uint32_t pid,
			  const char *via)
{
	CU_ASSERT_EQUAL(case_wait(c->one, kind, target, pid, via), BLOCKED_NS);
	case_free(c);
}

static inline void signal_to(struct analysis_case *c, uint64_t ts_ns, uint32_t tid, uint16_t number, uint16_t result)
{
	struct trace_signal_generate generate = {.tid = tid, .signal = number, .result = result, .group = 1};

	tb_event(c->tb, 1, ts_ns, TRACE_EV_signal_generate, &generate, sizeof(generate), NULL);
}

static inline void pipe_fd(struct analysis_case *c, uint32_t tgid, int fd, uint64_t ino, uint32_t flags)
{
	struct trace_start_fd start = {
		.tgid = tgid, .fd = fd, .dev = 12, .mode = PIPE_MODE, .ino = ino, .flags = flags};

	tb_start(c->tb, 1000, TRACE_EV_start_fd, &start, sizeof(start), "pipe:");
}
#endif
