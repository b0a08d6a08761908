/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_CLOSE_H
#define ANALYZER_STATE_CLOSE_H
/*
 * state_close.h - close the intervals of a thread: at its end, at the end of the trace, and when an
 * event contradicts the state
 */
#include <stdint.h>

struct cpu;
struct trace_analysis;
struct trace_thread;

/** thread_close() - close the last interval at the end of the trace */
void thread_close(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);

void thread_end(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
/** cpu_evict() - the thread on @cpu is not the one in the state: its time is not known */
void cpu_evict(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);

/**
 * thread_evict() - a thread that the state has on a CPU runs elsewhere
 *
 * Its time on that CPU is unknown since the CPU's time was last closed.
 */
void thread_evict(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);

/**
 * thread_found_on_cpu() - a thread is or was on a CPU, in contradiction to the state
 *
 * Closes its time until now.
 */
void thread_found_on_cpu(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
#endif
