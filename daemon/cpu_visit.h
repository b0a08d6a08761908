/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CPU_VISIT_H
#define DAEMON_CPU_VISIT_H
/*
 * cpu_visit.h - run on another CPU for some microseconds. Words that threads of that CPU change in
 * restartable sequences may be changed there, because every thread of that CPU that was in a
 * sequence has been preempted and restarts (tracer/CONCURRENCY.md, "Blocks").
 */
#include <stdbool.h>
#include <stdint.h>

/**
 * cpu_visit() - run the calling thread on @cpu until cpu_leave(), before all other threads there if
 * permitted
 * Returns false, without a change, if the thread cannot run there, for example because @cpu is not
 * in its cpuset. Returns true if @cpu is offline: then no thread runs there.
 */
bool cpu_visit(uint32_t cpu);
void cpu_leave(void);
#endif
