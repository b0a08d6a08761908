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
/** slice_log_key() - the key of a holder's row: of a process (ANY_THREAD), or of one thread */
#define ANY_THREAD UINT32_MAX
static inline uint64_t slice_log_key(uint32_t process, uint32_t thread)
{
	return (uint64_t)(thread + 1u) << 32 | (process + 1u);
}
static inline uint32_t slice_log_process(uint64_t key)
{
	return (uint32_t)key - 1;
}
static inline uint32_t slice_log_thread(uint64_t key)
{
	return (uint32_t)(key >> 32) - 1;
}
/**
 * slice_log_key_of() - the key of the row for @thread's wait for a thread that had the CPU
 * Other threads of its own process have rows of their own, unless the process has too many.
 */
uint64_t slice_log_key_of(const struct trace_thread *thread, uint32_t process, uint32_t holder);
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
typedef void (*holder_fn)(void *data, uint32_t process, uint32_t thread, uint64_t ns);
/**
 * slice_log_holders() - call @fn for each thread that had @cpu from @from to @to, latest first
 * Time that its log does not reach is passed as PROCESS_SEVERAL.
 */
void slice_log_holders(const struct cpu *cpu, uint64_t now, uint64_t from, uint64_t to, holder_fn fn, void *data);
/**
 * slice_log_irq_at() - interrupt time of @cpu until @ns, an instant in the past; inside a slice in
 * proportion
 */
uint64_t slice_log_irq_at(const struct cpu *cpu, uint64_t now, uint64_t ns);
#endif
