/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_TEST_DAEMON_FAKE_H
#define TESTS_TEST_DAEMON_FAKE_H
/*
 * test_daemon_fake.h - a tracer in plain memory, to test the daemon without a kernel, root, or
 * luck.
 *
 * It has two CPUs and four rings. fake_switch() and fake_exec() write records with the producers'
 * real code. If the environment says so, a thread per CPU writes them between tracer_start() and
 * tracer_stop():
 *
 *     TRACE_FAKE_EVENTS    sched_switch events for each CPU
 *     TRACE_FAKE_PAUSE_US  pause after every 64 of them
 *
 * With TRACE_FAKE_FORBIDDEN tracer_new() fails for lack of permission.
 *
 * The k-th event of a CPU has next_tid k, from 1, so a reader can tell which events are missing.
 */
#include <trace/tracer.h>

#define FAKE_CPUS 2u

/**
 * fake_switch() - write the next sched_switch of @cpu
 * Returns false if the ring had no room; the event is then counted as lost.
 */
bool fake_switch(struct tracer *tracer, uint32_t cpu);
/**
 * fake_delay() - defer a sched_switch of @cpu until tracer_flush_rings() writes it
 */
void fake_delay(struct tracer *tracer, uint32_t cpu);
/**
 * fake_exec() - write a structural event
 */
bool fake_exec(struct tracer *tracer, uint32_t cpu, const char *path);
/**
 * fake_attempted() - the number of fake_switch() calls for @cpu, including those of its thread
 */
uint64_t fake_attempted(const struct tracer *tracer, uint32_t cpu);
/**
 * fake_hold() - reserve a record in @cpu's ring and leave it uncommitted, as a preempted writer
 * does, until fake_release() commits it
 */
void fake_hold(struct tracer *tracer, uint32_t cpu);
void fake_release(struct tracer *tracer, uint32_t cpu);
/**
 * fake_miss() - add @count to the events of type @id that the kernel missed
 */
void fake_miss(struct tracer *tracer, uint32_t id, uint64_t count);
/**
 * fake_unfollow() - count a new child that did not fit into the table of followed processes
 */
void fake_unfollow(struct tracer *tracer);
/**
 * fake_start_records() - add @nr records to the start state, with ten sched_switch events of CPU 0
 * before each
 */
void fake_start_records(struct tracer *tracer, uint32_t nr);
/**
 * fake_bell() - a program calls the daemon; client_bell_take() takes the call
 */
void fake_bell(const struct tracer_bell *bell);
/**
 * fake_code_map() - a process maps code now; once more when the daemon asks after tracer_stop()
 */
void fake_code_map(struct tracer *tracer);
/**
 * fake_not_traced() - set the text about events that could not be attached since the start
 * @text: static
 */
void fake_not_traced(struct tracer *tracer, const char *text);
/** fake_limit() - set the text about a bound that was passed: static */
void fake_limit(struct tracer *tracer, const char *text);
/** fake_no_states() - let the states at the start and at the end end with an error */
void fake_no_states(struct tracer *tracer);
#endif
