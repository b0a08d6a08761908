/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_work.c - the kernel's work for a thread outside of its calls and page faults
 *
 * Such work has a frame of its own, FRAME_KERNEL, and a row beside those of calls:
 *
 *	exit       From sched_exit, or from a fatal signal that leaves no core dump, to the last
 *	           switch: the kernel releases memory, files and descriptors. A thread that called
 *	           exit or exit_group stays in that call.
 *	signal     The delivery of a signal, from the event before it; from an exception's signal
 *	           to its delivery, or to the stop of a debugged thread; and from a fatal signal
 *	           that dumps core by default, to sched_exit.
 *	core dump  The same, if sched_exit tells that there was one.
 *	task work  From an exit of a call behind which task_work says that work is queued, to the
 *	           return to user mode. The kernel puts off the last release of a file until then
 *	           (munmap, dup2, close_range), and all of an unmount.
 *	stop       From a switch by which a thread outside of its calls is stopped, by job
 *	           control or ptrace, to the return to user mode, or to the call that ptrace had
 *	           stopped.
 *
 * A signal is delivered on the way back to user mode. A page fault or call that still has a
 * frame is therefore over: its end was not recorded, or it has none, as a fault on a bad
 * address. If the signal has a handler, the program's own code runs next. A worker of io_uring has
 * no way back to user mode: it takes a signal between two requests, so its page fault is over, too.
 *
 * Three rules say when task work and a stop are over:
 * 1. task_work_end with `exact`: it is over at that time.
 * 2. task_work_end without it, and any event that a thread makes in user mode (a call's entry,
 *    its own page fault, a signal): the thread has returned to user mode since its last event,
 *    but when is unknown. So the time since that event is unknown. There is at most a timer tick
 *    between two events of a thread that computes. Exception: a thread that is known to have
 *    exact ends does not return to user mode from a stop without one, so it was in the kernel
 *    until now.
 * 3. Any other event in between, such as an interrupt or a switch, shows that the work still
 *    goes on, because task_work_end would have come before it.
 *
 * Example. dup2 returns at 5 ms, with task_work. An interrupt comes at 8 ms, task_work_end (not
 * exact) and an interrupt at 12 ms. From 5 to 8 ms the thread was in task work. From 8 to 12 ms
 * it left the kernel at some time: unknown. From 12 ms on it is in its own code.
 *
 * The first page fault after exec is exact, too: no page of the new program was in memory before
 * it.
 */
#include <string.h>
#include "frame_end.h"
#include "interrupted.h"
#include "kernel_work.h"
#include "kernel_numbers.h"
#include "start_records.h"
#include "state.h"
#include "state_uring.h"

/* The thread on @cpu, if it is of a program: a worker of io_uring is, and has no user mode. */
static struct trace_thread *program_thread(const struct cpu *cpu)
{
	struct trace_thread *thread = cpu->current;

	return is_thread(cpu, thread) && !(thread->flags & THREAD_KERNEL) ? thread : NULL;
}

/* The thread on @cpu, if it has a user mode. */
static struct trace_thread *user_thread(const struct cpu *cpu)
{
	struct trace_thread *thread = program_thread(cpu);

	return thread && !(thread->flags & THREAD_IO_WORKER) ? thread : NULL;
}

static void work_begins(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, uint32_t call)
{
	struct frame *frame = &thread->frames[0];

	frames_pop(a, thread, ns, 0, 0);
	memset(frame, 0, sizeof(*frame));
	frame->kind = FRAME_KERNEL;
	frame->call = call;
	thread_snapshot(thread, ns, &frame->begin);
	thread->depth = 1;
}

static bool sees(const struct trace_analysis *a, uint32_t id)
{
	return a->handlers[id] && (!a->masks.any || (a->masks.recorded[id / 64] >> id % 64 & 1));
}

/* Without task_work_end, such work would have no end while the thread computes. */
static bool sees_returns(const struct trace_analysis *a)
{
	return sees(a, TRACE_EV_task_work_end);
}

/* ---- task work ---- */

void account_before_user(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	struct trace_thread *thread = user_thread(cpu);

	if (!thread || !returns_untold(thread) || (thread->has_rseq && thread->frames[0].call == CALL_STOP)) {
		acct_cpu(a, cpu, ns);
		return;
	}
	thread->is_fresh = false;
	frames_pop(a, thread, cpu->accounted_ns, 0, 0);
	acct_cpu_unknown(a, cpu, ns);
}

void on_task_work(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	struct trace_thread *thread = user_thread(cpu);

	acct_cpu(a, cpu, ns);
	if (!thread || thread->is_dying || !sees_returns(a))
		return;
	acct_mode(a, thread, true);
	work_begins(a, thread, ns, CALL_TASK_WORK);
}

void on_task_work_end(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_task_work_end *end = event->payload;
	struct trace_thread *thread = user_thread(cpu);

	if (!thread || !returns_untold(thread))
		return;
	thread->has_rseq |= end->exact;
	if (end->exact)
		acct_cpu(a, cpu, ns);
	else
		account_before_user(a, cpu, ns);
	frames_pop(a, thread, ns, 0, 0);
}

/*
 * A thread that completes a request of io_uring outside of a call has not been in user mode since
 * its last event: the return from a call or an interrupt completes requests, and both have events.
 */
static void completion_account(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	struct trace_thread *thread = user_thread(cpu);

	if (!thread || interrupted(cpu) || thread->depth || thread->is_dying || (thread->flags & THREAD_MODE_UNKNOWN) ||
	    !trace_analysis_sees_interrupts(a))
		return;
	work_begins(a, thread, cpu->accounted_ns, CALL_TASK_WORK);
	acct_cpu(a, cpu, ns);
	frames_pop(a, thread, ns, 0, 0);
}

void on_completion(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	completion_account(a, cpu, ns);
	on_uring_complete(a, cpu, ns, event);
}

/* ---- stops ---- */

void stop_begins(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	/* an interrupted call may go on: interrupted.c */
	bool in_call = frame_syscall(thread) || thread->is_interrupted || (thread->flags & THREAD_MODE_UNKNOWN);

	if (in_call || thread->is_dying || !sees_returns(a) || (thread->flags & (THREAD_KERNEL | THREAD_IO_WORKER)))
		return;
	work_begins(a, thread, ns, CALL_STOP);
}

/* ---- signals ---- */

/* Signals that are ignored by default, or stop the process: signal(7). */
static bool kills_by_default(uint32_t number)
{
	switch (number) {
	case LINUX_SIGCHLD:
	case LINUX_SIGCONT:
	case LINUX_SIGURG:
	case LINUX_SIGWINCH:
	case LINUX_SIGSTOP:
	case LINUX_SIGTSTP:
	case LINUX_SIGTTIN:
	case LINUX_SIGTTOU:
		return false;
	default:
		return true;
	}
}

static bool dumps_by_default(uint32_t number)
{
	switch (number) {
	case LINUX_SIGQUIT:
	case LINUX_SIGILL:
	case LINUX_SIGTRAP:
	case LINUX_SIGABRT:
	case LINUX_SIGFPE:
	case LINUX_SIGSEGV:
	case LINUX_SIGBUS:
	case LINUX_SIGSYS:
	case LINUX_SIGXCPU:
	case LINUX_SIGXFSZ:
		return true;
	default:
		return false;
	}
}

#define LAST_FORCED_CODE 0x7f /* SEGV_MAPERR and the like: sigaction(2); above: SI_KERNEL */

/*
 * A fault of the thread itself. int3, and faults without an address, have no code of their own; nor
 * have signals that timers and limits cause (SIGXCPU).
 */
static bool is_forced(uint32_t number, int32_t code)
{
	switch (number) {
	case LINUX_SIGSEGV:
	case LINUX_SIGBUS:
	case LINUX_SIGTRAP:
	case LINUX_SIGILL:
	case LINUX_SIGFPE:
		return code > 0; /* not sent by a program */
	default:
		return dumps_by_default(number) && code > 0 && code <= LAST_FORCED_CODE;
	}
}

/*
 * The first process of a pid namespace survives signals for which it has no handler, except
 * SIGKILL, and those that its own fault causes.
 */
static bool is_fatal(const struct trace_thread *thread, const struct trace_signal_deliver *signal)
{
	if (signal->handler || !kills_by_default(signal->signal)) /* 0: SIG_DFL */
		return false;
	return thread->process->ns_pid != 1 || signal->signal == LINUX_SIGKILL ||
	       is_forced(signal->signal, signal->code);
}

/*
 * A CPU's exception has no event, but the signal that the kernel then sends to the thread has one:
 * a breakpoint, a single step, a division by zero, an instruction that is not allowed. The kernel
 * delivers it at once, or stops the thread for its debugger. The thread does not return to user
 * mode before.
 */
void exception_signals(struct trace_analysis *a, struct cpu *cpu, uint64_t ns,
		       const struct trace_signal_generate *signal)
{
	struct trace_thread *thread = user_thread(cpu);

	if (!thread || interrupted(cpu) || thread->tid != signal->tid || !is_forced(signal->signal, signal->code) ||
	    !sees(a, TRACE_EV_signal_deliver))
		return;
	account_before_user(a, cpu, ns);
	if (!thread->depth && !thread->is_dying && !(thread->flags & THREAD_MODE_UNKNOWN))
		work_begins(a, thread, ns, CALL_SIGNAL);
}

static bool in_exception(const struct trace_thread *thread)
{
	return thread && returns_untold(thread) && thread->frames[0].call == CALL_SIGNAL;
}

/*
 * The thread has not been in user mode since its last event: a signal from elsewhere is delivered
 * on the return from a call, a fault or an interrupt, and all of these have events. But the
 * exceptions behind a forced signal have none.
 */
static void delivery_account(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns,
			     bool is_forced)
{
	if (is_forced && in_exception(thread)) {
		acct_cpu(a, cpu, ns);
		return;
	}
	if (!thread || thread->depth || thread->is_dying || is_forced ||
	    (thread->flags & (THREAD_MODE_UNKNOWN | THREAD_IO_WORKER)) || !trace_analysis_sees_interrupts(a)) {
		account_before_user(a, cpu, ns);
		return;
	}
	work_begins(a, thread, cpu->accounted_ns, CALL_SIGNAL);
	acct_cpu(a, cpu, ns);
}

void on_signal_deliver(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_signal_deliver *signal = event->payload;
	struct trace_thread *thread = program_thread(cpu);

	delivery_account(a, cpu, thread, ns, is_forced(signal->signal, signal->code));
	cpu->touched = true;
	if (!thread)
		return;
	if (thread->is_interrupted)
		interrupted_signal(a, thread, signal);
	acct_mode(a, thread, false);
	if (thread->read_ns)
		start_call_ended(thread, ns);
	if (thread->is_dying)
		return;
	thread->flags &= ~THREAD_FAULT_OVER;
	frames_pop(a, thread, ns, 0, 0);
	if (!is_fatal(thread, signal))
		return;
	thread->is_dying = true;
	work_begins(a, thread, ns, dumps_by_default(signal->signal) ? CALL_SIGNAL : CALL_EXITING);
}

/* ---- exit ---- */

void exit_begins(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, struct trace_thread *thread, int32_t code)
{
	struct frame *frame;

	if (thread != program_thread(cpu))
		return;
	acct_cpu(a, cpu, ns);
	acct_mode(a, thread, frame_class(a, &thread->frames[0]) == CALL_EXIT); /* by the start state */
	thread->is_dying = true;
	frame = frame_outermost(thread);
	if (frame && (frame->call == CALL_EXITING || frame_class(a, frame) == CALL_EXIT)) {
		frames_pop(a, thread, ns, 1, 0);
		return;
	}
	if (frame && frame->call == CALL_SIGNAL && (code & LINUX_CORE_DUMPED))
		frame->call = CALL_CORE_DUMP;
	work_begins(a, thread, ns, CALL_EXITING);
}
