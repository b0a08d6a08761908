/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CPU_VISIT_H
#define DAEMON_CPU_VISIT_H
/*
 * cpu_visit.h - to be on another CPU for some microseconds: what is written there in restartable sequences may be changed by who is there, for then
 * nobody is in one (tracer/CONCURRENCY.md, "Blocks").
 */
#include <stdbool.h>
#include <stdint.h>

/**
 * cpu_visit() - the calling thread runs on @cpu, in front of everybody else if it may, until cpu_leave()
 * False, and nothing has changed: it cannot get there, as outside of its cpuset. A CPU that is offline nobody else gets to either: true.
 */
bool cpu_visit(uint32_t cpu);
void cpu_leave(void);
#endif
