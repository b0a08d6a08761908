/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait.c - decide what a blocked thread waited for: the wait cause.
 *
 * Terms. A wait cause has a kind (file, process, network, timeout, device, memory, stopped, other,
 * unknown, kernel, quota), a target (a process or a name) and a via: the means, such as pipe or
 * futex. The waker is the task or interrupt that woke the thread. A frame is a system call or a
 * page fault that the thread is in.
 *
 * The cause is decided when the frame in which the thread blocked ends. By then the path, the
 * descriptor and the result of the call are known. Three things decide:
 * - the class of the call, and the file that the call acts on;
 * - the waker: a task and the call that the task was in, or what an interrupt had just done;
 * - the state in which the thread slept.
 *
 * Example: a thread blocks in read() of a pipe for 3 ms. A task of process 42 wakes it, while that
 * task is in write() to the same pipe. The class of read() leads to the file, the type of the file
 * to "pipe", and the waker to the process: kind `process`, via "pipe", target process 42.
 *
 * The first line that applies decides:
 *
 *	stopped  The task state says so: job control, ptrace, freezer.
 *	memory   The thread was reclaiming memory.
 *	signal   The waker had just sent a signal to the thread's process: `process`, via "signal".
 *	fault    A page of a file: `file`. Otherwise `memory`, or the process that held the lock
 *	         of the address space.
 *	call     By the class of the call, see the table by_class[] of wait_call.c:
 *	         - files on a disk: `file`, whichever task woke the thread, because a kernel thread
 *	           may do the I/O for it, or another process may have begun that I/O. If the waker
 *	           was in a call on the same file: `process`, because a reader or writer holds the
 *	           lock of the file;
 *	         - pipes, futexes, children: `process`, the waker;
 *	         - sockets: the process at the other end if that is on this machine, else `network`;
 *	         - sleeps: `timeout`.
 *
 * Interrupts. If an interrupt woke the thread, the cause is what the interrupt did: a timer is
 * `timeout`, a packet is `network`, a disk is `file`. The task that was interrupted does not
 * matter. A process that writes packets into a device (tun) plays the network card: this is
 * `network`, too.
 *
 * Kernel threads as wakers. A wakeup by a kernel thread, or by one of its interrupts that belongs
 * to no device, is `kernel`. The target is the name of that thread without numbers. It is "RCU
 * grace period" if all CPUs had to pass a quiescent state first: membarrier(), some calls of
 * close() and umount(), writes to files of control groups.
 *
 * Work for others. A kworker wakes threads for the task that queued its work. The softirq that
 * delivers a local packet wakes them for the sender. A wakeup in io_uring_enter() is for the file
 * of the completed request. If an io_uring worker completed that request, the cause is the one for
 * which the worker had waited.
 *
 * Cut waits. A wait is cut if it crosses a gap or if its end was not recorded. The analysis then
 * ignores the waker. The cause is `unknown`, with two exceptions: the call alone decides (a sleep,
 * a file), or its result does (it timed out, or it returned what it waited for).
 *
 * A wait that lasts until the end of the trace had no waker. The call alone decides, and the via
 * is the one that the wait would have had. The target is
 * - the child, if there is exactly one;
 * - the other process that has the pipe or the peer socket open;
 * - the thread's own process, for a futex that no other process can wake; the other process with
 *   the same address space, if the thread is the only one of its own;
 * - the holder of the lock, or what the descriptors of a poll are. The recorder read both at the
 *   end of the recording (state_end.c);
 * - the other process that has the locked file open.
 *
 * The target is "several" if several processes are possible. It is "unknown" if only a process can
 * end the wait but the analysis cannot tell which: a signal, a semaphore, a pipe with an unknown
 * other end. In all other cases the cause is `other`, by system call.
 *
 * Kernel threads that wait: `kernel`. The target is "next job" (idle) if a signal or work may end
 * the wait, and "work" otherwise.
 *
 * Idle waits. A wait is idle if the call waits for new work and the thread has no request open.
 * The calls: accept(); poll, select, epoll, pause and io_uring of a process with a socket at
 * which requests come in; a read of such a socket; a condition or an eventfd where a thread of
 * such a process gets its jobs. Which requests are open: state_request.c. io_uring that waited
 * for a file is not idle, nor is a poll without descriptors, which is a sleep.
 */
#include <string.h>
#include <errno.h>
#include "kernel_numbers.h"
#include "state.h"
#include "state_container.h"
#include "state_device.h"
#include "state_frame.h"
#include "wait.h"
#include "wait_call.h"
#include "wait_context.h"
#include "wait_file.h"
#include "wait_holder.h"
#include "wait_poll.h"
#include "wait_socket.h"
#include "wait_waker.h"

static struct wait_cause by_fault(const struct wait_context *ctx, const struct frame *fault)
{
	file_idx file = fault->file ? fault->file : memory_find(ctx->thread->memory, fault->args[0]);

	if (woken_by_task(ctx) && !ctx->pending->cut &&
	    (provides_pages(ctx->a, ctx->waker->file) || held_memory(ctx->a, ctx->thread, ctx->waker)))
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_MEMORY), file_path(ctx->a, file));
	if (file)
		return wait_cause_of(TRACE_WAIT_FILE, VIA_NONE, file_path(ctx->a, file));
	if (fault->dev) {
		device_learn(ctx->a, device_name(ctx->a, fault->dev), fault->dev, false);
		return wait_cause_of(TRACE_WAIT_FILE, VIA_NONE, device_name(ctx->a, fault->dev));
	}
	if (ctx->gap)
		return wait_cause_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0);
	if (woken_by_task(ctx))
		return cause_is_waker(ctx, VIA_MEMORY);
	return wait_cause_of(TRACE_WAIT_MEMORY, VIA_NONE, 0);
}

static struct wait_cause new_child(const struct wait_context *ctx)
{
	struct trace_process *own = ctx->thread->process,
			     *parent = own->pid == ctx->thread->tid ? process_find(&ctx->a->threads, own->ppid) : own;

	return wait_cause_of(TRACE_WAIT_PROCESS, VIA_FORK, parent ? parent->idx : (uint32_t)PROCESS_UNKNOWN);
}

#define STOPPED_STATES (TRACE_TASK_STOPPED | TRACE_TASK_TRACED | TRACE_TASK_FROZEN)

/*
 * The freezer of control groups v2 has no task state. A frozen thread sleeps outside of all calls
 * until a task writes to cgroup.freeze.
 */
static bool is_thawed(const struct wait_context *ctx)
{
	return woken_by_task(ctx) && wakes_frozen(ctx->a, ctx->waker);
}

/*
 * A stopped thread waits for the process that continues it: its tracer, the sender of SIGCONT, or
 * the one that thaws its control group. If the stop was not over, it is the process that stopped
 * the thread.
 */
static struct wait_cause by_stop(const struct wait_context *ctx)
{
	struct trace_process *own = ctx->thread->process;
	bool is_traced = ctx->pending->task_state & TRACE_TASK_TRACED;
	enum via via = is_traced ? VIA_PTRACE : VIA_SIGNAL;
	struct wait_cause v;

	if (woken_by_task(ctx) && wakes_frozen(ctx->a, ctx->waker))
		via = VIA_FREEZER;
	else if (!(ctx->pending->task_state & (TRACE_TASK_TRACED | TRACE_TASK_STOPPED)))
		via = VIA_NONE;
	if (woken_by_task(ctx) && !ctx->pending->cut && !(is_traced && ctx->waker->by_signal))
		own->stopped_by = ctx->waker->thread->process->idx;
	v = wait_cause_of(TRACE_WAIT_STOPPED, via, own->stopped_by);
	/* a tracer that has ended leaves the thread stopped by an older signal */
	if (ctx->gap || !own->stopped_by || via == VIA_NONE || ended_before(ctx, wait_process(ctx->a, &v)))
		return wait_cause_of(TRACE_WAIT_STOPPED, VIA_NONE, 0);
	return v;
}

/* The server of a file system, whatever the call waited for on it. */
static struct wait_cause by_file_server(const struct wait_context *ctx, const struct frame *top)
{
	file_idx file = top->kind == FRAME_TRAP ? top->file : wait_served_file(ctx, top);

	if (!file && top->kind == FRAME_TRAP)
		file = memory_find(ctx->thread->memory, top->args[0]);
	return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_FUSE),
				    file ? file_path(ctx->a, file) : path_argument(ctx));
}

/*
 * A call may need a page of another process (process_vm_readv, ptrace, /proc/PID/mem), or pin one
 * of its own (O_DIRECT): without a page fault of the thread, and the page's provider wakes it.
 */
static bool got_page(const struct wait_context *ctx, const struct frame *top)
{
	return woken_by_task(ctx) && !ctx->pending->cut && ctx->a->calls[ctx->waker->call].class == CALL_IOCTL &&
	       provides_pages(ctx->a, ctx->waker->file) && !provides_pages(ctx->a, top->file);
}

/* True if the call waits for signals, too; its class decides. */
static bool waits_for_signals(const struct wait_context *ctx)
{
	enum call_class class = frame_class(ctx->a, ctx->frame);

	return class == CALL_WAIT || class == CALL_PAUSE || wait_polls(ctx);
}

/*
 * A kernel thread's own wait. The trace does not show for which task it works. It shows a disk,
 * unless that disk's completion is the next job of the thread.
 */
static struct wait_cause kernel_thread(const struct wait_context *ctx)
{
	struct wait_cause v = {.kind = TRACE_WAIT_KERNEL};

	v.idle = ctx->pending->task_state & (TRACE_TASK_INTERRUPTIBLE | TRACE_TASK_NOLOAD | TRACE_TASK_PARKED);
	if (!v.idle && !ctx->pending->cut && !ctx->waker->thread && ctx->waker->cause == CAUSE_BLOCK)
		return wait_cause_of(TRACE_WAIT_FILE, VIA_NONE, device_name(ctx->a, ctx->waker->detail));
	v.target = strings_intern(&ctx->a->strings, v.idle ? "next job" : "work");
	return v;
}

/* ---- the end was not recorded, but the result of the call was ---- */

/* The call timed out: no process and no file would make it return this. */
static bool timed_out(const struct wait_context *ctx)
{
	return ctx->thread->ret == -LINUX_ETIMEDOUT || (wait_polls(ctx) && ctx->thread->ret == 0);
}

/* The call returned what it waited for, so that ended the wait. */
static bool succeeded(const struct wait_context *ctx)
{
	return !wait_polls(ctx) &&
	       (ctx->thread->ret > 0 || (ctx->thread->ret == 0 && frame_class(ctx->a, ctx->frame) == CALL_FUTEX));
}

/* Does the call return from its last wait, this one? */
static bool returns_from(const struct wait_context *ctx)
{
	return returns_from_wait(ctx) && ctx->frame->kind == FRAME_SYSCALL;
}

/* The path of the group of @thread; 0: not known, or the root, which has no quota */
static string_id group_below_root(const struct trace_analysis *a, const struct trace_thread *thread)
{
	string_id path = thread->is_apart ? cgroup_path_of(a, thread->cgroup) : thread->process->cgroup_path;

	return strcmp(strings_text(&a->strings, path), "/") == 0 ? 0 : path;
}

/* A limit of a class of the scheduler has a name, a quota has a control group. */
static struct wait_cause by_quota(struct trace_analysis *a, const struct trace_thread *thread, uint32_t state)
{
	const char *limit = state & TASK_STATE_LIMIT_DEADLINE	 ? "runtime of SCHED_DEADLINE"
			    : state & TASK_STATE_LIMIT_REAL_TIME ? "limit of real-time threads"
								 : NULL;

	return limit ? wait_cause_of(TRACE_WAIT_KERNEL, VIA_NONE, strings_intern(&a->strings, limit))
		     : wait_cause_of(TRACE_WAIT_QUOTA, VIA_NONE, group_below_root(a, thread));
}

static struct wait_cause decide(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending)
{
	static const struct frame none = {.call = CALL_UNKNOWN};
	const struct frame *top = pending->depth ? &thread->frames[pending->depth - 1] : NULL;
	struct wait_context ctx = {.a = a,
				   .thread = thread,
				   .pending = pending,
				   .waker = &pending->waker,
				   .frame = frame_outermost(thread)};

	if (!ctx.frame)
		ctx.frame = &none;
	ctx.gap = pending->cut && !pending->interrupted &&
		  (pending->known_ns != pending->to - pending->from || pending->to < a->end_ns);
	if (thread->flags & THREAD_HIDDEN)
		return wait_hidden_cause(a, thread);
	if (pending->task_state == TASK_STATE_NEW)
		return new_child(&ctx);
	if (pending->task_state & TASK_STATE_QUOTA)
		return by_quota(a, thread, pending->task_state);
	if (thread->flags & THREAD_KERNEL)
		return kernel_thread(&ctx);
	if (pending->task_state & STOPPED_STATES)
		return by_stop(&ctx);
	if (pending->flags & THREAD_RECLAIM)
		return wait_cause_of(TRACE_WAIT_MEMORY, VIA_NONE, 0);
	if (ctx.gap && returns_from(&ctx)) {
		if (timed_out(&ctx))
			return cause_timeout();
		ctx.gap = !succeeded(&ctx);
		ctx.result = thread->ret;
	}
	if (wait_waker_is_filtered(&ctx) && returns_from(&ctx) && timed_out(&ctx))
		return cause_timeout();
	if (pending->waker.by_signal && woken_by_task(&ctx) && top && !waits_for_signals(&ctx))
		return cause_is_waker(&ctx, VIA_SIGNAL);
	if ((thread->flags & THREAD_IO_WORKER) && !thread->is_dying)
		return wait_of_io_worker(&ctx);
	if (!top && is_thawed(&ctx))
		return by_stop(&ctx);
	if (!top)
		return wait_by_waker(&ctx, VIA_NONE);
	if (woken_by_task(&ctx) && !pending->cut && serves_files(a, pending->waker.file) && !serves_files(a, top->file))
		return by_file_server(&ctx, top);
	if (top->kind != FRAME_TRAP && got_page(&ctx, top))
		return cause_is_waker(&ctx, VIA_MEMORY);
	return top->kind == FRAME_TRAP ? by_fault(&ctx, top) : wait_by_call(&ctx);
}

/*
 * A process that a filter excludes made the wakeup. Only its name is recorded, so it is the cause
 * where the call tells no more than that it was another process; and at the end of a unix
 * connection, which may belong to a child of the process that the start state saw there.
 */
static void name_filtered_waker(const struct pending *pending, struct wait_cause *v)
{
	bool is_process = v->kind == TRACE_WAIT_PROCESS && !v->has_path;

	if (!pending->waker.filtered || pending->waker.thread || pending->cut)
		return;
	if ((is_process && (v->target < NR_PSEUDO_PROCESSES || v->via == VIA_UNIX)) || v->kind == TRACE_WAIT_OTHER)
		*v = (struct wait_cause){
			.kind = TRACE_WAIT_PROCESS, .via = v->via, .idle = v->idle, .target = pending->waker.filtered};
}

/*
 * The end of a connection may belong to a child that was forked after the wait, and its parent has
 * closed it. The parent had it during the wait.
 */
static uint32_t living_at(const struct trace_analysis *a, uint32_t target, const struct pending *pending)
{
	const struct trace_process *process = a->threads.processes[target];

	while (process && process->first && process->first->start_ns > pending->to)
		process = process->starter;
	return process ? process->idx : (uint32_t)PROCESS_UNKNOWN;
}

struct wait_cause wait_decide_by(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
				 const struct waker *waker)
{
	struct pending other = *pending;

	other.waker = *waker;
	return decide(a, thread, &other);
}

struct wait_cause wait_decide(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending)
{
	struct wait_cause v = decide(a, thread, pending);

	name_filtered_waker(pending, &v);
	if (v.kind == TRACE_WAIT_PROCESS && !v.has_path && v.target >= NR_PSEUDO_PROCESSES)
		v.target = living_at(a, v.target, pending);
	if (v.kind == TRACE_WAIT_FILE && pending->waker.cause == CAUSE_BLOCK && !pending->waker.thread)
		device_learn(a, v.target, (uint32_t)pending->waker.detail, true);
	thread->last_wait = wait_key(&v);
	thread->last_wait_ns = pending->to;
	return v;
}
