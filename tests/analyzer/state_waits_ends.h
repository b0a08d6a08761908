/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_STATE_WAITS_ENDS_H
#define TESTS_STATE_WAITS_ENDS_H
/* state_waits_ends.h - what ends the wait of "one" in state_waits_case.h: a disk, "two", a timer */
#include "state_waits_case.h"

#define DISK 8

static inline void by_disk(struct analysis_case *c)
{
	struct trace_block_complete done = {.dev = DISK, .bytes = 4096};

	block(c);
	tb_irq(c->tb, 1, 5000, 7);
	tb_event(c->tb, 1, 5900, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	wake(c, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(c->tb, 1, 6050, 7);
	finish(c);
}

/* "two" is in @call on its descriptor 5. */
static inline void by_two(struct analysis_case *c, uint32_t call)
{
	block(c);
	tb_sys_enter(c->tb, 1, 5000, call, 5, 0, 1);
	wake(c, TRACE_CONTEXT_TASK);
	finish(c);
}

static inline void by_timer(struct analysis_case *c)
{
	block(c);
	tb_vector(c->tb, 1, 5000, TRACE_VECTOR_LOCAL_TIMER);
	wake(c, TRACE_CONTEXT_HARDIRQ);
	tb_vector_exit(c->tb, 1, 6050, TRACE_VECTOR_LOCAL_TIMER);
	finish(c);
}
#endif
