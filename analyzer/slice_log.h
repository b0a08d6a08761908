/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SLICE_LOG_H
#define ANALYZER_SLICE_LOG_H
/*
 * slice_log.h - which process had a CPU, and when: a wait for a CPU is charged to those processes.
 * slice_log.c explains the mechanism.
 */
#include "state_cpu.h"
#include "state_thread.h"

static inline struct cpu_log_entry *cpu_turn(const struct cpu *cpu, uint64_t turn)
{
	return &cpu->log[turn & cpu->log_mask];
}
int turns_prepare(struct cpu *cpu);
void turns_free(struct cpu *cpu);
/** books_log() - begin a time slice of @cpu's current thread at @ns */
void books_log(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/** turns_leave() - @thread leaves @cpu at @ns and waits for it from then on */
void turns_leave(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns);
/** turns_queue() - @thread, so far off the CPUs, waits for @cpu from @ns on */
static inline void turns_queue(const struct cpu *cpu, struct trace_thread *thread, uint64_t ns, uint64_t irq_ns)
{
	thread->queued_ns = ns;
	thread->queued_irq = irq_ns;
	thread->queued_turn = cpu->log_pos;
}
/**
 * turns_charge() - charge the wait of @thread for its CPU to the processes that had the CPU
 * @onto: as in books_queued()
 */
void turns_charge(struct trace_analysis *a, struct trace_thread *thread, uint64_t from, uint64_t to, struct cpu *onto);
/**
 * turns_settle() - flush what @thread is charged for into its sums, by books_settle() at the latest
 * Does nothing at the end of the trace: then books_of() does it on demand.
 */
void turns_settle(struct trace_analysis *a, struct trace_thread *thread);
/** turns_add() - add the charges of @thread that are not in its sums; false: out of memory */
bool turns_add(const struct trace_analysis *a, const struct trace_thread *thread, struct hash_table *who);
typedef void (*holder_fn)(void *data, uint32_t process, uint64_t ns);
/**
 * books_holders() - call @fn for each process that had @cpu from @from to @to, latest first Time
 * that its log does not reach is passed as PROCESS_SEVERAL.
 */
void books_holders(const struct cpu *cpu, uint64_t now, uint64_t from, uint64_t to, holder_fn fn, void *data);
/**
 * books_irq_at() - interrupt time of @cpu until @ns, an instant in the past; inside a slice in
 * proportion
 */
uint64_t books_irq_at(const struct cpu *cpu, uint64_t now, uint64_t ns);
#endif
