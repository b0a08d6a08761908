/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SLICE_LOG_H
#define ANALYZER_SLICE_LOG_H
/* slice_log.h - who had a CPU, and when: what a wait for it is charged to. The mechanism is told in slice_log.c. */
#include "state_cpu.h"
#include "state_thread.h"

static inline struct cpu_log_entry *cpu_turn(const struct cpu *cpu, uint64_t turn)
{
	return &cpu->log[turn & cpu->log_mask];
}
int turns_prepare(struct cpu *cpu);
void turns_free(struct cpu *cpu);
/** books_log() - from @ns on, @cpu belongs to its current thread */
void books_log(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/** turns_leave() - @thread leaves @cpu, and waits for it from now on */
void turns_leave(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns);
/** turns_queue() - @thread waits for @cpu from now on */
static inline void turns_queue(const struct cpu *cpu, struct trace_thread *thread, uint64_t ns, uint64_t irq_ns)
{
	thread->queued_ns = ns;
	thread->queued_irq = irq_ns;
	thread->queued_turn = cpu->log_pos;
}
/** turns_charge() - @thread waited for its CPU: charge that to those who had it. @onto: as in books_queued() */
void turns_charge(struct trace_analysis *a, struct trace_thread *thread, uint64_t from, uint64_t to, struct cpu *onto);
/** turns_settle() - what @thread was charged for is in its books now, or with books_settle(). Not at the end of the trace: books_of() does it for who asks */
void turns_settle(struct trace_analysis *a, struct trace_thread *thread);
/** turns_add() - what @thread is charged for and is not in its books, added to @who; false: out of memory */
bool turns_add(const struct trace_analysis *a, const struct trace_thread *thread, struct table *who);
typedef void (*holder_fn)(void *data, uint32_t process, uint64_t ns);
/** books_holders() - who had @cpu from @from to @to, latest first; what its log does not reach is PROCESS_SEVERAL's */
void books_holders(const struct cpu *cpu, uint64_t now, uint64_t from, uint64_t to, holder_fn fn, void *data);
/** books_irq_at() - interrupt time of @cpu until @ns, some time ago; of a turn in proportion */
uint64_t books_irq_at(const struct cpu *cpu, uint64_t now, uint64_t ns);
#endif
