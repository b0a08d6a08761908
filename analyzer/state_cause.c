/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_cause.c - the cause of wakeups by an interrupt, and signals
 *
 * The cause of an interrupt is a completed block request, an expired timer or an arrived packet.
 * The CPU keeps it until the interrupt ends: a wakeup from interrupt context gets this cause, and
 * never the interrupted thread.
 */
#include <string.h>
#include "interrupted.h"
#include "kernel_numbers.h"
#include "kernel_work.h"
#include "lock_log.h"
#include "state.h"
#include "state_cause.h"
#include "state_family.h"
#include "state_frame.h"
#include "thread_rare.h"

static void caused(struct cpu *cpu, enum cause cause, uint64_t detail)
{
	cpu->cause = cause;
	cpu->cause_detail = detail;
}

void block_caused(struct cpu *cpu, uint32_t dev)
{
	caused(cpu, CAUSE_BLOCK, dev);
}

void on_timer(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	caused(cpu, CAUSE_TIMER, 0);
}

void on_sock_ready(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	caused(cpu, CAUSE_SOCKET, ((const struct trace_sock_ready *)event->payload)->ino);
}

/* TRACE_SIGNAL_DELIVERED, include/trace/events/signal.h: not ignored, not already pending */
#define SIGNAL_DELIVERED 0

static bool waits_for_signal(const struct trace_analysis *a, struct trace_thread *thread)
{
	static const bool classes[NR_CALL_CLASSES] = {
		[CALL_EPOLL_WAIT] = true, [CALL_PAUSE] = true,	[CALL_POLL] = true,
		[CALL_READ] = true,	  [CALL_SELECT] = true, [CALL_SLEEP] = true,
	};
	const struct frame *frame = frame_syscall(thread);

	return frame && classes[frame_class(a, frame)];
}

/* A call on a path breaks the lease of another process: the kernel sends that process a signal. */
static void learn_lease(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_thread *holder)
{
	struct trace_thread *thread = cpu->current;
	const struct frame *frame = is_thread(cpu, thread) && !cpu->nested && holder ? frame_syscall(thread) : NULL;
	enum call_class class = frame ? frame_class(a, frame) : CALL_OTHER;
	struct thread_rare *rare;

	if (class != CALL_OPEN && class != CALL_PATH && class != CALL_INODE)
		return;
	rare = thread_rare(a, thread);
	if (!rare)
		return;
	rare->path_signal = holder->process->idx;
	rare->path_signal_ns = ns;
}

/* If the task on @cpu woke @woken in its present call, and by no known channel, a signal did. */
static void signal_woke(const struct cpu *cpu, struct trace_thread *woken)
{
	struct waker *waker = woken->nr_pending ? &woken->pending[woken->nr_pending - 1].waker : NULL;
	const struct frame *frame = waker && is_thread(cpu, cpu->current) ? frame_outermost(cpu->current) : NULL;

	if (waker && waker->thread == cpu->current && !waker->file && !waker->via &&
	    (!frame || waker->ns >= frame->begin.ns))
		waker->by_signal = cpu->signal;
}

#define LAST_CODE_OF_CHILD 6 /* CLD_CONTINUED of <signal.h>; the first one is 1 */

/*
 * Does a thread that exits tell a parent of an end? It may send other signals, too: those that its
 * children asked for (PR_SET_PDEATHSIG), and SIGKILL to all processes of a pid namespace.
 */
static bool tells_parent(const struct cpu *cpu, const struct trace_signal_generate *signal)
{
	return cpu->current && (cpu->current->flags & THREAD_EXITING) && signal->code > 0 &&
	       signal->code <= LAST_CODE_OF_CHILD;
}

/*
 * The kernel reports a signal after it has woken the target for it. More wakeups for the same
 * reason may follow in the same context (the death of a child ends its parent's wait). A wakeup
 * with a known channel was not for the signal. A fatal signal wakes all threads of the target; the
 * other wakeups of a thread that exits are not for the signal to its parent.
 */
void on_signal_generate(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_signal_generate *signal = event->payload;
	struct trace_thread *target = thread_find(&a->threads, signal->tid);
	bool is_exit = tells_parent(cpu, signal);
	struct trace_thread *woken = cpu->woken;
	struct waker *waker;

	learn_lease(a, cpu, ns, target);
	if (is_exit && target && signal->signal == LINUX_SIGCHLD)
		family_signalled(a, cpu->current, target->process, ns);
	if (signal->result != SIGNAL_DELIVERED)
		return;
	exception_signals(a, cpu, ns, signal);
	cpu->signalled = signal->tid;
	cpu->signal = (uint8_t)signal->signal;
	if (target && signal_stops(signal->signal) && is_thread(cpu, cpu->current) && !cpu->nested)
		target->process->stopped_by = cpu->current->process->idx;
	if (!woken || !target || woken->process != target->process || !woken->nr_pending)
		return;
	if (is_exit && !waits_for_signal(a, woken) && !futex_is_foreign(a, woken, cpu->current))
		return; /* the death of the child ended the wait */
	waker = &woken->pending[woken->nr_pending - 1].waker;
	if (!waker->thread && waker->context != TRACE_CONTEXT_TASK && cpu->nested) /* a timer's */
		waker->by_signal = cpu->signal;
	signal_woke(cpu, woken);
	if (!cpu->woke_several || is_exit)
		return;
	for (woken = target->process->first; woken; woken = woken->next)
		signal_woke(cpu, woken);
}

/* The cause of a softirq without an event that gives more detail. include/linux/interrupt.h */
static const uint8_t softirq_causes[10] = {
	CAUSE_KERNEL /* HI */,
	CAUSE_TIMER,
	CAUSE_NETWORK /* TX */,
	CAUSE_NETWORK /* RX */,
	CAUSE_BLOCK,
	CAUSE_BLOCK /* IRQ_POLL */,
	CAUSE_KERNEL /* TASKLET */,
	CAUSE_KERNEL /* SCHED */,
	CAUSE_TIMER /* HRTIMER */,
	CAUSE_RCU,
};

void irq_waker(struct trace_analysis *a, const struct cpu *cpu, uint32_t context, struct waker *waker)
{
	const struct nest *top = cpu->nested ? &cpu->nest[cpu->nested - 1] : NULL;
	const char *type;

	waker->cause = cpu->cause;
	waker->detail = cpu->cause_detail;
	if (waker->cause != CAUSE_NONE)
		return;
	waker->cause = top || trace_analysis_sees_interrupts(a) ? CAUSE_KERNEL : CAUSE_UNSEEN;
	if (top && top->type == NEST_SOFTIRQ && top->number < 10) {
		waker->cause = softirq_causes[top->number];
	} else if (top && top->type == NEST_IRQ) {
		waker->cause = CAUSE_DEVICE;
		waker->detail = nest_name(a, nest_key(top), &type);
	} else if (top && top->type == NEST_VECTOR && top->number == TRACE_VECTOR_LOCAL_TIMER) {
		waker->cause = CAUSE_TIMER;
	}
	waker->is_bare = !top;
	if (waker->cause == CAUSE_KERNEL)
		waker->detail = top ? nest_name(a, nest_key(top), &type) : strings_intern(&a->strings, "interrupt");
}
