/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait_alone.c - the cause of a wait without a waker: see wait_alone.h */
#include <string.h>
#include "kernel_numbers.h"
#include "lock_log.h"
#include "potential_wakers.h"
#include "state_end.h"
#include "wait_alone.h"
#include "wait_context.h"

/* The number that the call returned may be that of the child in a pid namespace. */
static bool is_returned(const struct trace_process *child, int64_t number)
{
	return child->pid == (uint64_t)number || child->ns_pid == (uint64_t)number;
}

static struct trace_process *own_child(const struct wait_context *ctx, int64_t number)
{
	struct trace_process *child = process_find(&ctx->a->threads, (uint32_t)number);

	if (child && child->ppid == ctx->thread->process->pid)
		return child;
	for (child = ctx->thread->process->children; child; child = child->next_sibling)
		if (is_returned(child, number))
			return child;
	return NULL;
}

#define WAIT_STOPPED   2 /* WUNTRACED of the kernel's linux/wait.h */
#define WAIT_CONTINUED 8

/* A wait4() for ends alone returned @child. The next wait of the thread is for another one. */
static uint32_t reap(const struct wait_context *ctx, struct trace_process *child)
{
	if (ctx->a->filter.is_on && ctx->frame->nr_args > 2 && !(ctx->frame->args[2] & (WAIT_STOPPED | WAIT_CONTINUED)))
		child->is_reaped = true;
	return child->idx;
}

/*
 * The call returns the child that ended, which may be dead by now. A recording of some processes
 * has no exit of the others.
 */
static uint32_t returned_child(const struct wait_context *ctx)
{
	struct trace_process *child;
	int64_t number = ctx->thread->ret;

	if (!(ctx->a->filter.is_on || ctx->result) || number <= 0 || !returns_from_wait(ctx))
		return PROCESS_UNKNOWN;
	child = own_child(ctx, number);
	return child ? reap(ctx, child) : (uint32_t)PROCESS_UNKNOWN;
}

/* The pid of the child that a wait4() returned, or for which the call waits; 0: any child */
static uint32_t named_child(const struct wait_context *ctx)
{
	bool is_waitid = strcmp(strings_text(&ctx->a->strings, ctx->a->calls[ctx->frame->call].name), "waitid") == 0;
	int32_t named = is_waitid	      ? 0
			: ctx->result > 0     ? (int32_t)ctx->result
			: ctx->frame->nr_args ? (int32_t)ctx->frame->args[0]
					      : 0;

	if (is_waitid && ctx->frame->nr_args > 1 && ctx->frame->args[0] == LINUX_P_PID)
		named = (int32_t)ctx->frame->args[1];
	return named > 0 ? (uint32_t)named : 0;
}

/* wait4(), waitpid(), waitid(): the child that the caller named, or its only child. */
static uint32_t awaited_child(const struct wait_context *ctx)
{
	uint32_t child = returned_child(ctx);

	if (child != PROCESS_UNKNOWN)
		return child;
	return wakers_child(ctx->a, ctx->thread->process, named_child(ctx), ctx->pending->to);
}

uint32_t wait_child_of_call(const struct wait_context *ctx)
{
	uint32_t named = named_child(ctx);
	const struct trace_process *child = named ? own_child(ctx, named) : NULL;

	return child ? child->idx : (uint32_t)PROCESS_UNKNOWN;
}

#define FUTEX_PRIVATE 128 /* FUTEX_PRIVATE_FLAG of the operation */

/*
 * A private futex belongs to an address space, so that any process with that space can wake it
 * (CLONE_VM), and any other thread of the own process.
 */
static uint32_t space_holder(const struct wait_context *ctx)
{
	const struct trace_process *self = ctx->thread->process;
	uint32_t other = wakers_of_space(ctx->a, self, ctx->thread->memory, ctx->pending->to);

	if (other == PROCESS_UNKNOWN)
		return self->idx;
	return self->nr_living > 1 ? (uint32_t)PROCESS_SEVERAL : other;
}

/*
 * A process can wake a futex if it shares the memory that contains it. Shared memory of System V is
 * not followed: it has no file in the state.
 */
static uint32_t futex_holder(const struct wait_context *ctx)
{
	const struct call *call = &ctx->a->calls[ctx->frame->call];
	uint64_t offset;
	file_idx shared = memory_shared(ctx->thread->memory, ctx->frame->args[0], &offset);
	/* futex_wait(2) has flags of its own, futex(2) has them in the operation */
	int flags = call->flags_arg >= 0 ? call->flags_arg : 1;

	if (ctx->frame->nr_args <= flags || (call->addresses & 1)) /* futex_waitv(2): of several */
		return PROCESS_UNKNOWN;
	if (futex_was_moved(ctx->a, ctx->thread, ctx->frame))
		return PROCESS_UNKNOWN;
	if ((ctx->frame->args[flags] & FUTEX_PRIVATE) ||
	    (!shared && !(ctx->thread->memory && ctx->thread->memory->has_foreign)))
		return space_holder(ctx);
	return wakers_sharer(ctx->a, ctx->thread->process, shared, ctx->pending->to);
}

/*
 * Locks of flock(2) and of open file descriptions belong to a descriptor: another one of the same
 * process may have the lock. Those of F_SETLKW belong to a process.
 */
static bool may_have_it_itself(const struct wait_context *ctx)
{
	bool is_fcntl = frame_class(ctx->a, ctx->frame) == CALL_FCNTL && ctx->frame->nr_args > 1;
	uint32_t command = is_fcntl ? (uint32_t)ctx->frame->args[1] : 0, nr = 0;

	if (command == LINUX_F_SETLKW || command == LINUX_F_SETLKW64)
		return false;
	for (uint32_t i = 0; ctx->thread->fds && i < ctx->thread->fds->nr; i++)
		nr += fd_file(ctx->thread, i) == ctx->frame->file;
	return nr > 1;
}

/*
 * A file's lock ends with the last descriptor of its holder. In a sleep that signals do not end the
 * thread waits for a lock of the kernel: call_on_file().
 */
static uint32_t only_opener(const struct wait_context *ctx)
{
	if ((ctx->pending->task_state & TRACE_TASK_UNINTERRUPTIBLE) || may_have_it_itself(ctx))
		return PROCESS_UNKNOWN;
	return wakers_opener(ctx->a, ctx->thread->process, ctx->frame->file, ctx->pending->to);
}

/*
 * A process without known descriptors may have any file. Its threads have one table of them, but
 * for rare programs, so the leader is asked: to find another living thread of many takes long.
 */
static bool may_have_open(const struct wait_context *ctx, const struct trace_process *process)
{
	const struct traced_file *file = ctx->frame->file ? &ctx->a->files.list[ctx->frame->file] : NULL, *other;
	const struct trace_thread *leader = thread_find(&ctx->a->threads, process->pid);

	if (!file || !leader || leader->sched_state == SCHED_DEAD || !leader->fds)
		return true;
	for (uint32_t i = 0; i < leader->fds->nr; i++) {
		other = &ctx->a->files.list[fd_file(leader, i)];
		if (fd_file(leader, i) && other->ino == file->ino && other->dev == file->dev)
			return true;
	}
	return false;
}

/*
 * The lock's holder, as the kernel reported it at the end of the recording: the process that took
 * it. It may have left the lock to its children: it has ended since, or closed its descriptor.
 */
static uint32_t lock_holder(const struct wait_context *ctx)
{
	const struct end_wait *end = lasts_until_end(ctx) ? end_wait_of(ctx->a, ctx->thread, ctx->frame) : NULL;
	const struct trace_process *holder = end && end->holder ? process_find(&ctx->a->threads, end->holder) : NULL;

	return holder && holder->nr_living && may_have_open(ctx, holder) ? holder->idx : only_opener(ctx);
}

static uint32_t process_by_call(const struct wait_context *ctx, enum via via)
{
	switch (via) {
	case VIA_WAITPID:
		return awaited_child(ctx);
	case VIA_PIPE:
	case VIA_UNIX:
		return wakers_holder(ctx->a, ctx->thread->process, ctx->frame->file, ctx->pending->to);
	case VIA_FUTEX:
		return futex_holder(ctx);
	case VIA_LOCK:
		return lock_holder(ctx);
	case VIA_URING:
		return ctx->thread->flags & THREAD_IO_WORKER ? ctx->thread->process->idx : (uint32_t)PROCESS_UNKNOWN;
	default:
		return PROCESS_UNKNOWN;
	}
}

static bool only_processes_end(enum via via)
{
	switch (via) {
	case VIA_PIPE:
	case VIA_UNIX:
	case VIA_FUTEX:
	case VIA_JOIN:
	case VIA_SIGNAL:
	case VIA_EVENTFD:
	case VIA_LOCK:
	case VIA_SEMAPHORE:
	case VIA_MQUEUE:
	case VIA_PIDFD:
	case VIA_INOTIFY:
	case VIA_MEMORY: /* userfaultfd */
	case VIA_TTY:
		return true;
	default:
		return false;
	}
}

struct wait_cause wait_by_call_alone(const struct wait_context *ctx, enum via via)
{
	uint32_t process = process_by_call(ctx, via);

	return process == PROCESS_UNKNOWN && !only_processes_end(via) ? cause_other_call(ctx, via)
								      : wait_cause_of(TRACE_WAIT_PROCESS, via, process);
}
