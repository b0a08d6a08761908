/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SLICE_LOG_H
#define ANALYZER_SLICE_LOG_H
/*
 * slice_log.h - which process had a CPU, and when: a wait for a CPU is charged to those processes.
 * slice_log.c explains the mechanism.
 */
#include "state_cpu.h"
#include "state_thread.h"

static inline struct cpu_log_entry *cpu_slice(const struct cpu *cpu, uint64_t slice)
{
	return &cpu->log[slice & cpu->log_mask];
}
int slice_log_prepare(struct cpu *cpu);
void slice_log_free(struct cpu *cpu);
/** slice_log_begin() - begin a time slice of @cpu's current thread at @ns */
void slice_log_begin(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/** slice_log_leave() - @thread leaves @cpu at @ns and waits for it from then on */
void slice_log_leave(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns);
/** slice_log_queue() - @thread, so far off the CPUs, waits for @cpu from @ns on */
static inline void slice_log_queue(const struct cpu *cpu, struct trace_thread *thread, uint64_t ns, uint64_t irq_ns)
{
	thread->queued_ns = ns;
	thread->queued_irq = irq_ns;
	thread->queued_slice = cpu->log_pos;
}
/**
 * slice_log_charge() - charge the wait of @thread for its CPU to the processes that had the CPU
 * @onto: as in acct_queued()
 */
void slice_log_charge(struct trace_analysis *a, struct trace_thread *thread, uint64_t from, uint64_t to,
		      struct cpu *onto);
/**
 * slice_log_flush() - flush the charges of @thread into its sums, by acct_flush() at the latest
 * Does nothing at the end of the trace: then acct_of() does it on demand.
 */
void slice_log_flush(struct trace_analysis *a, struct trace_thread *thread);
/** slice_log_add() - add the charges of @thread that are not in its sums; false: out of memory */
bool slice_log_add(const struct trace_analysis *a, const struct trace_thread *thread, struct hash_table *rows);
typedef void (*holder_fn)(void *data, uint32_t process, uint64_t ns);
/**
 * slice_log_holders() - call @fn for each process that had @cpu from @from to @to, latest first
 * Time that its log does not reach is passed as PROCESS_SEVERAL.
 */
void slice_log_holders(const struct cpu *cpu, uint64_t now, uint64_t from, uint64_t to, holder_fn fn, void *data);
/**
 * slice_log_irq_at() - interrupt time of @cpu until @ns, an instant in the past; inside a slice in
 * proportion
 */
uint64_t slice_log_irq_at(const struct cpu *cpu, uint64_t now, uint64_t ns);
#endif
