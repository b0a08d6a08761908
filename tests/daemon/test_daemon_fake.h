/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_TEST_DAEMON_FAKE_H
#define TESTS_TEST_DAEMON_FAKE_H
/*
 * test_daemon_fake.h - a tracer on plain memory, to test the daemon without a kernel, root, or luck.
 *
 * Two CPUs, four rings. Records are written by fake_switch() and fake_exec(), with the producers' real code; or, when the
 * environment says so, by a thread for each CPU between tracer_start() and tracer_stop():
 *
 *   TRACE_FAKE_EVENTS    sched_switch events for each CPU
 *   TRACE_FAKE_PAUSE_US  pause after every 64 of them
 *
 * With TRACE_FAKE_FORBIDDEN there is none: the right is missing.
 *
 * The k-th event of a CPU has next_tid k, from 1, so a reader can tell which are missing.
 */
#include <trace/tracer.h>

#define FAKE_CPUS 2u

/** fake_switch() - the next sched_switch of @cpu; false: no room, and counted */
bool fake_switch(struct tracer *tracer, uint32_t cpu);
/** fake_delay() - a sched_switch of @cpu is held back: tracer_settle() writes it */
void fake_delay(struct tracer *tracer, uint32_t cpu);
/** fake_exec() - a structural event */
bool fake_exec(struct tracer *tracer, uint32_t cpu, const char *path);
/** fake_attempted() - calls of fake_switch() for @cpu, or by its thread */
uint64_t fake_attempted(const struct tracer *tracer, uint32_t cpu);
/** fake_hold() - reserve a record in @cpu's ring and leave it open, as a writer that is held up; fake_release() finishes it */
void fake_hold(struct tracer *tracer, uint32_t cpu);
void fake_release(struct tracer *tracer, uint32_t cpu);
/** fake_miss() - the kernel skipped event @id @count times more */
void fake_miss(struct tracer *tracer, uint32_t id, uint64_t count);
/** fake_unfollow() - a child that there was no place for among the followed began */
void fake_unfollow(struct tracer *tracer);
/** fake_crowd() - of the start state there are @nr records more; ten sched_switch of CPU 0 come before each */
void fake_crowd(struct tracer *tracer, uint32_t nr);
/** fake_not_traced() - what could not be attached since the start. @text: static */
void fake_not_traced(struct tracer *tracer, const char *text);
#endif
