/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_trap.c - page faults, in user mode and inside system calls
 *
 * The event of a fault's end comes when the kernel has served the fault. A fault that ends in a
 * signal or in an exception table has no such event. A fault's frame therefore also ends with any
 * event that shows that the thread is past it: a fault from user mode, a signal that is delivered,
 * or the entry or the exit of a system call. Right after the end, a second event may say that the
 * fault was a major one.
 *
 * The events do not have all of a fault: the CPU's exception comes before the first one, and the
 * way back to user mode behind the last one. The recorder measures how long both take at least
 * (fault_cost). If no event is between two faults of a thread, the second one begins that much
 * earlier. Example: a thread touches one new page after another. A fault ends at 1000 ns, and the
 * events of the next one are at 1570 and 2570 ns. The way takes 430 ns. So 140 ns are the program's
 * own code, and the second fault lasts from 1140 to 2570 ns.
 *
 * A program's fault on an address of the kernel brings in no page, so a signal follows. In the old
 * vsyscall page the kernel does the call for the program instead, and no event tells the end: that
 * fault is over at once.
 */
#include <string.h>
#include "frame_end.h"
#include "kernel_work.h"
#include "state.h"
#include "state_frame.h"
#include "state_trap.h"
#include "window.h"

static struct trace_thread *current_user_thread(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	struct trace_thread *thread = cpu->current;

	acct_cpu(a, cpu, ns);
	cpu->touched = true;
	if (!thread || thread == &cpu->idle || (thread->flags & THREAD_KERNEL))
		return NULL;
	return thread;
}

#define VSYSCALL_PAGE 0xffffffffff600000u

static void fault_in_user_mode(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	frames_pop(a, thread, ns, 0, 0);
	thread->is_fresh = false;
	thread->is_dying = false; /* as in on_sys_enter() */
}

void fault_cost_learn(struct trace_analysis *a, const struct trace_event *event)
{
	a->fault_way_ns = ((const struct trace_fault_cost *)event->payload)->ns;
}

/* The begin of a fault in user mode, with its first event at @ns. */
static uint64_t begin_of_fault(const struct trace_analysis *a, const struct cpu *cpu, uint64_t ns)
{
	const struct trace_thread *thread = cpu->current;
	uint64_t since = cpu->accounted_ns;

	if (!thread || thread->depth || cpu->nested || (thread->flags & THREAD_MODE_UNKNOWN) ||
	    thread->fault_end_ns != since || ns <= since)
		return ns;
	return ns - since > a->fault_way_ns ? ns - a->fault_way_ns : since;
}

void on_fault_entry(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_fault_entry *fault = event->payload;
	struct trace_thread *thread;
	struct frame *frame;

	if (fault->user && cpu->current && returns_untold(cpu->current) && !cpu->current->is_fresh)
		account_before_user(a, cpu, ns);
	if (fault->user)
		ns = begin_of_fault(a, cpu, ns);
	thread = current_user_thread(a, cpu, ns);
	if (!thread)
		return;
	thread->flags &= ~THREAD_FAULT_OVER;
	acct_mode(a, thread, !fault->user);
	if (fault->user)
		fault_in_user_mode(a, thread, ns);
	else if (thread->depth == MAX_FRAMES)
		frames_pop(a, thread, ns, thread->depth - 1, 0);
	frame = &thread->frames[thread->depth++];
	memset(frame, 0, sizeof(*frame));
	frame->kind = FRAME_TRAP;
	frame->call = CALL_UNKNOWN;
	frame->args[0] = fault->address;
	thread_snapshot(thread, ns, &frame->begin);
	if (fault->user && (fault->address & ~0xfffull) == VSYSCALL_PAGE)
		frames_pop(a, thread, ns, 0, 0);
}

static void count_major(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	struct call_row *row = acct_row(a, &thread->acct.traps, sizeof(*row), 1);

	row->errors++;
	if (a->window)
		window_major(a, thread, ns);
	if (a->hooks.tables)
		a->hooks.tables->major(a->hooks.tables_data, thread, ns);
}

void on_fault_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_fault_exit *fault = event->payload;
	struct trace_thread *thread = current_user_thread(a, cpu, ns);
	struct frame *top;

	if (!thread)
		return;
	if (fault->major && (thread->flags & THREAD_FAULT_OVER))
		count_major(a, thread, ns);
	thread->flags &= ~THREAD_FAULT_OVER;
	top = frame_top(thread);
	thread->fault_end_ns = ns;
	if (!top || top->kind != FRAME_TRAP)
		return;
	top->major = fault->major;
	frames_pop(a, thread, ns, thread->depth - 1, 0);
	if (!fault->major)
		thread->flags |= THREAD_FAULT_OVER;
}
