/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * accounting.c - the only place where time is added.
 *
 * Terms. A CPU has columns: user, system, irq, softirq, idle, unknown. A thread has states: user,
 * syscall, trap, interrupted, wait for a CPU, blocked. An interval is a time in one of them.
 *
 * Rule: double entry. An interval on a CPU is added to one column of the CPU and to one state of
 * its thread. An interval off the CPUs is added to one state of the thread. The caller decides when
 * an interval ends and what it was. The caller does not pass its begin: that is the end of the
 * interval before (cpu->accounted_ns, thread->since). Therefore no time can be lost or counted
 * twice.
 *
 * Example: CPU 0 has accounted_ns 100 and runs thread A in user mode. A enters a system call at 130
 * ns, and the caller calls acct_cpu(130): 30 ns are added to A's `user` and to the CPU's `user`,
 * and accounted_ns becomes 130. A blocks at 150: acct_cpu(150) adds 20 ns to A's `syscall` and to
 * the CPU's `system`, and A's `since` becomes 150. A is woken at 400: pending_wait(400) adds 250 ns
 * to A's `blocked`, and `since` becomes 400.
 *
 * Two facts are known late:
 * - The mode of a thread that ran at the start of the recording is unknown until the thread enters
 *   or leaves the kernel. Its CPU time is kept in `shares` until acct_mode() accounts it.
 * - wait.c decides the cause of a wait at the end of the system call. Until then the interval is
 *   pending (pending.c): its time is in acct.blocked at once, its row in acct.waits follows.
 *
 * Waits for files are kept with the other uses of files: accounting_files.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "accounting.h"
#include "slice_log.h"
#include "state.h"
#include "state_frame.h"
#include "wait_cause.h"
#include "window.h"

static void emit_on_cpu(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t from,
			uint64_t to, enum trace_state state)
{
	const struct frame *call = frame_outermost(thread);
	const char *name = NULL, *type;

	if (state == TRACE_STATE_INTERRUPTED)
		name = strings_text(&a->strings, nest_name(a, nest_key(&cpu->nest[cpu->nested - 1]), &type));
	else if (call && state != TRACE_STATE_USER)
		name = strings_text(&a->strings, a->calls[call->call].name);
	if (a->hooks.on_cpu)
		a->hooks.on_cpu(a->hooks.on_cpu_data, a, thread, cpu->cpu, from, to, state, name);
	if (a->hooks.first_of_state[state] != a->hooks.first_of_state[state + 1]) {
		struct trace_interval interval = {.thread = thread,
						  .from_ns = from,
						  .to_ns = to,
						  .state = state,
						  .cpu = (int32_t)cpu->cpu,
						  .name = name,
						  .target = "",
						  .via = ""};

		interval_emit(a, &interval);
	}
}

/* ---- on a CPU ---- */

static void share_add(struct trace_analysis *a, struct trace_thread *thread, uint32_t cpu, uint64_t ns)
{
	struct cpu_share *bigger;

	for (uint32_t i = 0; i < thread->nr_shares; i++)
		if (thread->shares[i].cpu == cpu) {
			thread->shares[i].ns += ns;
			return;
		}
	bigger = reallocarray(thread->shares, thread->nr_shares + 1, sizeof(*bigger));
	if (!bigger) {
		a->failed = -ENOMEM;
		return;
	}
	thread->shares = bigger;
	thread->shares[thread->nr_shares++] = (struct cpu_share){.cpu = cpu, .ns = ns};
}

void acct_mode(struct trace_analysis *a, struct trace_thread *thread, bool in_syscall)
{
	if (!(thread->flags & THREAD_MODE_UNKNOWN))
		return;
	thread->flags &= ~THREAD_MODE_UNKNOWN;
	hooks_mode(a, thread, in_syscall);
	if (a->window)
		window_mode(a, thread, in_syscall);
	for (uint32_t i = 0; i < thread->nr_shares; i++) {
		struct trace_cpu_figures *figures = &a->cpus[thread->shares[i].cpu].figures;

		*(in_syscall ? &thread->acct.syscall : &thread->acct.user) += thread->shares[i].ns;
		*(in_syscall ? &figures->system_ns : &figures->user_ns) += thread->shares[i].ns;
	}
	free(thread->shares);
	thread->shares = NULL;
	thread->nr_shares = 0;
	if (in_syscall)
		thread->depth = 1;
}

static enum trace_state running_state(const struct trace_analysis *a, const struct trace_thread *thread)
{
	unsigned int depth = thread->depth;

	if (thread->flags & THREAD_KERNEL)
		return TRACE_STATE_SYSCALL;
	if (thread->flags & THREAD_MODE_UNKNOWN)
		return TRACE_STATE_RUNNING;
	while (depth && a->masks.no_fault_exit && thread->frames[depth - 1].kind == FRAME_TRAP)
		depth--; /* a fault without a recorded end does not show when it ended */
	if (!depth)
		/* an io_uring worker never leaves the kernel, nor does a thread that exits */
		return (thread->flags & THREAD_IO_WORKER) || thread->is_dying ? TRACE_STATE_SYSCALL : TRACE_STATE_USER;
	return thread->frames[depth - 1].kind == FRAME_TRAP ? TRACE_STATE_TRAP : TRACE_STATE_SYSCALL;
}

enum trace_state acct_state_now(struct trace_analysis *a, const struct cpu *cpu, unsigned int nested,
				const char **ret_name)
{
	struct trace_thread *thread = cpu->current;
	const struct nest *top = nested ? &cpu->nest[nested - 1] : NULL;
	const struct frame *call = frame_outermost(thread);
	enum trace_state state = running_state(a, thread);
	const char *type;

	*ret_name = call && state != TRACE_STATE_USER ? strings_text(&a->strings, a->calls[call->call].name) : NULL;
	/* as interrupted() says */
	if (!top || ((thread->flags & THREAD_SOFTIRQ_DAEMON) && top->type == NEST_SOFTIRQ))
		return state;
	*ret_name = strings_text(&a->strings, nest_name(a, nest_key(top), &type));
	return TRACE_STATE_INTERRUPTED;
}

static void acct_running(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t from,
			 uint64_t to)
{
	enum trace_state state = running_state(a, thread);
	uint64_t ns = to - from;

	switch (state) {
	case TRACE_STATE_USER:
		thread->acct.user += ns;
		cpu->figures.user_ns += ns;
		break;
	case TRACE_STATE_TRAP:
		thread->acct.trap += ns;
		cpu->figures.system_ns += ns;
		break;
	case TRACE_STATE_RUNNING:
		share_add(a, thread, cpu->cpu, ns);
		break;
	default:
		thread->acct.syscall += ns;
		cpu->figures.system_ns += ns;
	}
	if (WATCHED_ON_CPU(a, state, from, to))
		emit_on_cpu(a, cpu, thread, from, to, state);
}

static inline void cpu_alone(struct trace_analysis *a, const struct cpu *cpu, uint64_t from, uint64_t to,
			     enum cpu_alone what)
{
	if (a->hooks.cpu_time)
		a->hooks.cpu_time(a->hooks.cpu_time_data, cpu->cpu, from, to, what);
}

static void acct_interrupted(struct trace_analysis *a, struct cpu *cpu, uint64_t from, uint64_t to)
{
	const struct nest *top = &cpu->nest[cpu->nested - 1];
	struct trace_thread *thread = cpu->current;
	struct interrupt_row *row;

	*(top->type == NEST_SOFTIRQ ? &cpu->figures.softirq_ns : &cpu->figures.irq_ns) += to - from;
	cpu->irq_ns += to - from;
	((struct interrupt_row *)acct_row(a, &a->interrupts, sizeof(*row), nest_key(top)))->ns += to - from;
	if (thread == &cpu->idle) {
		cpu_alone(a, cpu, from, to, CPU_INTERRUPTED);
		return;
	}
	thread->acct.interrupted += to - from;
	row = acct_row(a, &thread->acct.interrupts, sizeof(*row), nest_key(top));
	row->ns += to - from;
	if (WATCHED_ON_CPU(a, TRACE_STATE_INTERRUPTED, from, to))
		emit_on_cpu(a, cpu, thread, from, to, TRACE_STATE_INTERRUPTED);
}

static void softirq_add(struct cpu *cpu, uint64_t ns)
{
	const struct nest *softirq = softirq_of(cpu);

	if (softirq)
		cpu->softirq_ns[softirq->number] += ns;
}

void acct_cpu(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	uint64_t from = cpu->accounted_ns;

	if (ns <= from)
		return;
	cpu->accounted_ns = ns;
	if (cpu->nested)
		softirq_add(cpu, ns - from);
	if (!cpu->current) {
		cpu->figures.unknown_ns += ns - from;
		cpu_alone(a, cpu, from, ns, CPU_UNKNOWN);
	} else if (interrupted(cpu)) {
		acct_interrupted(a, cpu, from, ns);
	} else if (cpu->current == &cpu->idle) {
		cpu->figures.idle_ns += ns - from;
		cpu_alone(a, cpu, from, ns, CPU_IDLE);
	} else {
		acct_running(a, cpu, cpu->current, from, ns);
	}
}

static void unknown_add(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	struct wait_cause unknown = wait_unknown_cause(a, thread);
	struct wait_row *row;

	if (!ns)
		return;
	row = acct_row(a, &thread->acct.waits, sizeof(*row), wait_key(&unknown));
	row->ns += ns;
	row->count++;
}

void acct_cpu_unknown(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	struct trace_interval interval = {.thread = cpu->current,
					  .from_ns = cpu->accounted_ns,
					  .to_ns = ns,
					  .state = TRACE_STATE_BLOCKED,
					  .cpu = -1,
					  .kind = TRACE_WAIT_UNKNOWN,
					  .via = ""};

	if (ns <= cpu->accounted_ns)
		return;
	interval.target = strings_text(&a->strings, wait_unknown_cause(a, cpu->current).target);
	if (cpu->nested) /* a caller may have read the sum already: it must not decrease */
		softirq_add(cpu, ns - cpu->accounted_ns);
	cpu->figures.unknown_ns += ns - cpu->accounted_ns;
	cpu_alone(a, cpu, cpu->accounted_ns, ns, CPU_UNKNOWN);
	if (cpu->current && cpu->current != &cpu->idle) {
		cpu->current->acct.blocked += ns - cpu->accounted_ns;
		unknown_add(a, cpu->current, ns - cpu->accounted_ns);
		if (WATCHED(a, TRACE_STATE_BLOCKED))
			interval_emit(a, &interval);
	}
	cpu->accounted_ns = ns;
}

/* ---- waiting for a CPU ---- */

void acct_queued(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, struct cpu *onto)
{
	uint64_t from = thread->since, lost;

	if (ns <= from)
		return;
	thread->since = ns;
	lost = gap_log_overlap(&a->gaps, from, ns);
	thread->acct.wait_cpu += ns - from - lost;
	thread->acct.blocked += lost;
	unknown_add(a, thread, lost);
	if (!lost) {
		slice_log_charge(a, thread, from, ns, onto);
	} else if (ns - from > lost) {
		slice_log_flush(a, thread);
		acct_defer(a, &thread->acct.cpu_holders, SUM_OF(cpu_holder_row, ns),
			   slice_log_key(PROCESS_UNKNOWN, ANY_THREAD), ns - from - lost);
	}
	if (WATCHED(a, TRACE_STATE_WAIT_CPU) || WATCHED(a, TRACE_STATE_BLOCKED)) {
		struct trace_interval interval = {.thread = thread,
						  .from_ns = from,
						  .to_ns = ns,
						  .state = TRACE_STATE_WAIT_CPU,
						  .cpu = (int32_t)thread->cpu,
						  .target = "",
						  .via = ""};

		emit_pieces(a, &interval);
	}
}

/* ---- blocked ---- */

void acct_blocked(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, uint64_t lost)
{
	thread->acct.blocked += ns - thread->since;
	thread->since = ns;
	unknown_add(a, thread, lost);
}

void acct_cause(struct trace_analysis *a, struct trace_thread *thread, const struct wait_cause *cause, file_idx file,
		uint64_t ns)
{
	if (cause->kind == TRACE_WAIT_FILE)
		acct_file_wait(a, thread, wait_key(cause), file, ns);
	else
		acct_defer(a, &thread->acct.waits, COUNTED_SUM_OF(wait_row, ns), wait_key(cause), ns);
}

void acct_unknown(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	struct trace_interval interval = {.thread = thread,
					  .from_ns = thread->since,
					  .to_ns = ns,
					  .state = TRACE_STATE_BLOCKED,
					  .cpu = -1,
					  .kind = TRACE_WAIT_UNKNOWN,
					  .via = ""};

	if (ns <= thread->since)
		return;
	interval.target = strings_text(&a->strings, wait_unknown_cause(a, thread).target);
	interval.idle = wait_unknown_cause(a, thread).idle;
	thread->acct.blocked += ns - thread->since;
	unknown_add(a, thread, ns - thread->since);
	thread->since = ns;
	if (WATCHED(a, TRACE_STATE_BLOCKED))
		interval_emit(a, &interval);
}

/* ---- reading ---- */

enum trace_state acct_open_state(const struct trace_analysis *a, const struct trace_thread *thread)
{
	if (thread->sched_state != SCHED_ON_CPU)
		return thread->sched_state == SCHED_RUNNABLE ? TRACE_STATE_WAIT_CPU : TRACE_STATE_BLOCKED;
	return interrupted(&a->cpus[thread->cpu < a->nr_cpus ? thread->cpu : 0]) ? TRACE_STATE_INTERRUPTED
										 : running_state(a, thread);
}

static uint64_t *column_of(struct trace_times *times, enum trace_state state)
{
	switch (state) {
	case TRACE_STATE_WAIT_CPU:
		return &times->wait_cpu_ns;
	case TRACE_STATE_BLOCKED:
		return &times->blocked_ns;
	case TRACE_STATE_INTERRUPTED:
		return &times->interrupted_ns;
	case TRACE_STATE_TRAP:
		return &times->trap_ns;
	case TRACE_STATE_SYSCALL:
		return &times->syscall_ns;
	default:
		return &times->user_ns;
	}
}

void trace_thread_times(const struct trace_analysis *a, const struct trace_thread *thread,
			struct trace_times *ret_times)
{
	const struct acct *acct = &thread->acct;
	const struct cpu *cpu = &a->cpus[thread->cpu < a->nr_cpus ? thread->cpu : 0];
	uint64_t since = thread->sched_state == SCHED_ON_CPU ? cpu->accounted_ns : thread->since;

	*ret_times = (struct trace_times){acct->user,	     acct->syscall,  acct->trap,
					  acct->interrupted, acct->wait_cpu, acct->blocked};
	for (uint32_t i = 0; i < thread->nr_shares; i++)
		ret_times->user_ns += thread->shares[i].ns;
	if (thread->sched_state != SCHED_DEAD && !a->done && a->now > since)
		*column_of(ret_times, acct_open_state(a, thread)) += a->now - since;
}
