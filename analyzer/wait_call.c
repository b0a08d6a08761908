/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait_call.c - the cause of a wait by the class of its system call: see wait_call.h */
#include <errno.h>
#include <string.h>
#include "kernel_numbers.h"
#include "state_request.h"
#include "state_socket.h"
#include "wait_alone.h"
#include "wait_call.h"
#include "wait_context.h"
#include "wait_file.h"
#include "wait_path.h"
#include "wait_poll.h"
#include "wait_socket.h"

/* Places of a wait that are no address of a futex: a file, a semaphore or message queue */
#define PLACE_OF_FILE(file) (1ull << 63 | (uint64_t)(file) << 8)
#define PLACE_OF_IPC(id)    (1ull << 62 | ((uint64_t)(id)&UINT32_MAX) << 8)

static bool waits_for_turn(const struct wait_context *ctx, const struct wait_cause *v, uint64_t place)
{
	bool is_one = v->kind == TRACE_WAIT_PROCESS && v->target >= NR_PSEUDO_PROCESSES;

	return v->kind == TRACE_WAIT_PROCESS && accept_lock_rests(ctx->a, ctx->thread, ctx->pending, place,
								  is_one ? ctx->a->threads.processes[v->target] : NULL);
}

/* A thread of the pool's own process brings the jobs, or did so before. */
static bool waits_for_job(const struct wait_context *ctx, const struct wait_cause *v, uint64_t place)
{
	const struct trace_process *own = ctx->thread->process;
	bool by_own = !ctx->pending->cut && woken_by_task(ctx) && ctx->waker->thread->process == own;

	return v->kind == TRACE_WAIT_PROCESS && (v->target == own->idx || by_own) &&
	       pool_rests(ctx->a, ctx->thread, ctx->pending, place);
}

static struct wait_cause call_other(const struct wait_context *ctx)
{
	return ctx->frame->has_path ? wait_by_path(ctx) : wait_by_waker(ctx, VIA_NONE);
}

/*
 * A thread sleeps interruptibly while another process has the file locked. In a sleep that signals
 * do not end, it waits for a lock of the kernel: a reader of /proc/locks holds the one of all locks
 * of files.
 */
static struct wait_cause by_file_lock(const struct wait_context *ctx)
{
	bool is_of_kernel = ctx->pending->task_state & TRACE_TASK_UNINTERRUPTIBLE;
	struct wait_cause v = wait_by_waker(ctx, VIA_LOCK);

	v.idle = !is_of_kernel && waits_for_turn(ctx, &v, PLACE_OF_FILE(ctx->frame->file));
	return wait_cause_with_path(ctx->a, v,
				    is_of_kernel ? strings_intern(&ctx->a->strings, "[lock of the kernel]")
						 : file_path(ctx->a, ctx->frame->file));
}

static struct wait_cause call_on_file(const struct wait_context *ctx)
{
	if (ctx->a->calls[ctx->frame->call].flags & CALL_IS_LOCK)
		return by_file_lock(ctx);
	return wait_by_file(ctx, ctx->frame->file);
}

/* True if the waker acted on this pipe or on the peer of this socket. */
static bool used_by_waker(const struct wait_context *ctx, file_idx idx)
{
	const struct socket_state *sock = sock_of_file(ctx->a, idx), *peer = sock ? sock_peer(ctx->a, sock) : NULL;

	return waker_used_file(ctx, idx) ||
	       (peer && woken_by_task(ctx) && !ctx->pending->cut && sock_of_file(ctx->a, ctx->waker->file) == peer);
}

/*
 * True if the wakeup came by a socket, and the file @idx is none: then it came by the other file.
 */
static bool came_by_other_file(const struct wait_context *ctx, file_idx idx)
{
	return (ctx->waker->cause == CAUSE_SOCKET || ctx->waker->cause == CAUSE_NETWORK) && !ctx->pending->cut &&
	       !sock_of_file(ctx->a, idx);
}

/* The files of a call that copies from one to another. Either may not be known. */
struct copy {
	file_idx in, out;
};

static struct copy copy_of(const struct wait_context *ctx, const struct frame *frame)
{
	file_idx first = frame->file, second = call_second_file(ctx->a, ctx->thread, frame);

	return frame_class(ctx->a, frame) == CALL_SENDFILE ? (struct copy){.in = second, .out = first}
							   : (struct copy){.in = first, .out = second};
}

static bool is_regular(const struct wait_context *ctx, file_idx idx)
{
	return LINUX_S_ISREG(ctx->a->files.list[idx].mode);
}

static struct wait_cause by_two_files(const struct wait_context *ctx, struct copy copy)
{
	bool may_be_lock = ctx->pending->task_state & TRACE_TASK_UNINTERRUPTIBLE;
	bool disk = ctx->waker->cause == CAUSE_BLOCK;

	if (!copy.in || !copy.out) {
		file_idx known = copy.in ? copy.in : copy.out;

		return wait_by_file(ctx, came_by_other_file(ctx, known) ? 0 : known);
	}
	if (may_be_lock) {
		struct wait_cause v = wait_by_file(ctx, copy.in);

		if (v.via == VIA_LOCK)
			return v;
		v = wait_by_file(ctx, copy.out);
		if (v.via == VIA_LOCK)
			return v;
	}
	if (is_regular(ctx, copy.in) && is_regular(ctx, copy.out))
		return wait_by_file(ctx, ctx->thread->flags & THREAD_THROTTLED ? copy.out : copy.in);
	if (!is_regular(ctx, copy.in) && !is_regular(ctx, copy.out))
		return wait_by_file(ctx, used_by_waker(ctx, copy.out) ? copy.out : copy.in);
	return wait_by_file(ctx, is_regular(ctx, copy.in) == disk ? copy.in : copy.out);
}

/*
 * Calls that copy from one file to another. A waker that held the lock of one of them shows which
 * it was. With one regular file: a disk's completion is for the regular file, any other wakeup is
 * for the other one. With two: the one that is read, as the pages that are written wait in memory.
 * With none: the file that the waker used, or else the one that is read.
 */
static struct wait_cause call_copy(const struct wait_context *ctx)
{
	return by_two_files(ctx, copy_of(ctx, ctx->frame));
}

#define MAJOR_BITS_BELOW 20 /* of a dev_t of the kernel */

/* A file system without a disk has a device of major number 0. */
static bool may_be_served(const struct wait_context *ctx, file_idx idx)
{
	const struct traced_file *file = &ctx->a->files.list[idx];

	return idx && (is_regular(ctx, idx) || LINUX_S_ISDIR(file->mode)) && file->dev >> MAJOR_BITS_BELOW == 0;
}

file_idx wait_served_file(const struct wait_context *ctx, const struct frame *frame)
{
	enum call_class class = frame_class(ctx->a, frame);
	struct copy copy;

	if (class != CALL_SENDFILE && class != CALL_SPLICE)
		return frame->file;
	copy = copy_of(ctx, frame);
	return may_be_served(ctx, copy.in) || !may_be_served(ctx, copy.out) ? copy.in : copy.out;
}

static struct wait_cause call_fcntl(const struct wait_context *ctx)
{
	return by_file_lock(ctx);
}

static struct wait_cause call_sleep(const struct wait_context *ctx)
{
	return cause_timeout();
}

/*
 * A join waits until the kernel clears the id of the thread that ends, in its memory
 * (CLONE_CHILD_CLEARTID). A mutex of a thread that dies has FUTEX_WAITERS set beside the id.
 */
static bool is_join(const struct wait_context *ctx)
{
	const struct trace_thread *ended = ctx->waker->thread;
	uint32_t expected = (uint32_t)ctx->frame->args[2];

	if (ctx->frame->nr_args < 3 || !expected || (expected & ~LINUX_FUTEX_TID_MASK))
		return false;
	if (ctx->pending->cut)
		ended = thread_find(&ctx->a->threads, expected);
	if (!ended || ended->process != ctx->thread->process || ended == ctx->thread)
		return false;
	return ended->tid == expected || (!ctx->pending->cut && ctx->a->calls[ctx->waker->call].class == CALL_EXIT);
}

static struct wait_cause call_futex(const struct wait_context *ctx)
{
	struct wait_cause v = wait_by_waker(ctx, VIA_FUTEX);

	if (v.kind == TRACE_WAIT_PROCESS && v.via == VIA_FUTEX && is_join(ctx))
		v.via = VIA_JOIN;
	else if (v.kind != TRACE_WAIT_UNKNOWN && ctx->frame->nr_args)
		v.idle = futex_is_lock(ctx->a, ctx->thread, ctx->frame)
				 ? waits_for_turn(ctx, &v, ctx->frame->args[0])
				 : pool_rests(ctx->a, ctx->thread, ctx->pending, ctx->frame->args[0]);
	return v;
}

/*
 * A signal woke the thread, and a child ended before the thread ran: the call returned that child.
 * The sender of another signal than SIGCHLD is not what the call waited for, unless it is a child
 * whose end sends that signal (clone()).
 */
static bool came_with_signal(const struct wait_context *ctx)
{
	return woken_by_task(ctx) && !ctx->pending->cut && ctx->waker->by_signal &&
	       ctx->waker->by_signal != LINUX_SIGCHLD && ctx->waker->thread->process->ppid != ctx->thread->process->pid;
}

/*
 * The end of a child that is traced is told to its tracer first. The parent is woken when the
 * tracer has waited for it, too.
 */
static bool came_after_tracer(const struct wait_context *ctx)
{
	return woken_by_task(ctx) && !ctx->pending->cut && ctx->a->calls[ctx->waker->call].class == CALL_WAIT;
}

/* With the child that the call returned; waitid() does not return it. */
static struct wait_context with_returned_child(const struct wait_context *ctx)
{
	struct wait_context returned = *ctx;

	returned.result = returns_from_wait(ctx) ? ctx->thread->ret : 0;
	return returned;
}

static struct wait_cause call_wait(const struct wait_context *ctx)
{
	struct wait_context returned;
	struct wait_cause v;
	uint32_t child;

	if (came_with_signal(ctx)) {
		returned = with_returned_child(ctx);
		return returned.result ? wait_by_call_alone(&returned, VIA_WAITPID)
				       : cause_other_call(ctx, VIA_WAITPID);
	}
	if (came_after_tracer(ctx)) {
		returned = with_returned_child(ctx);
		child = wait_child_of_call(&returned);
		v = child == PROCESS_UNKNOWN ? cause_other_call(ctx, VIA_WAITPID)
					     : wait_cause_of(TRACE_WAIT_PROCESS, VIA_WAITPID, child);
		/* a child that had ended: the tracer had not waited for it yet */
		if (!ended_before(ctx, wait_process(ctx->a, &v)))
			return v;
	}
	return wait_by_waker(ctx, VIA_WAITPID);
}

static struct wait_cause call_fork(const struct wait_context *ctx)
{
	return wait_by_waker(ctx, ctx->pending->flags & THREAD_VFORK ? VIA_VFORK : VIA_FORK);
}

static struct wait_cause call_pause(const struct wait_context *ctx)
{
	struct wait_cause v = wait_by_waker(ctx, VIA_SIGNAL);

	v.idle = v.kind != TRACE_WAIT_UNKNOWN && wait_rests(ctx);
	return v;
}

static struct wait_cause call_ptrace(const struct wait_context *ctx)
{
	return wait_by_waker(ctx, VIA_PTRACE);
}

/* <linux/ipc.h>: operations up to SEMTIMEDOP are on semaphores, the next ones on messages */
#define IPC_SEMTIMEDOP 4
#define IPC_MSGRCV     12

static struct wait_cause call_ipc(const struct wait_context *ctx)
{
	const char *name = strings_text(&ctx->a->strings, ctx->a->calls[ctx->frame->call].name);
	bool semaphore = strncmp(name, "sem", 3) == 0, is_ipc = strcmp(name, "ipc") == 0,
	     receives = strcmp(name, "msgrcv") == 0 || strncmp(name, "mq_timedreceive", 15) == 0;
	uint64_t place = PLACE_OF_IPC(ctx->frame->args[is_ipc]);
	struct wait_cause v;

	if (is_ipc) {
		semaphore = (ctx->frame->args[0] & 0xffff) <= IPC_SEMTIMEDOP;
		receives = (ctx->frame->args[0] & 0xffff) == IPC_MSGRCV;
	}
	v = wait_by_waker(ctx, semaphore ? VIA_SEMAPHORE : VIA_MQUEUE);
	v.idle = semaphore ? waits_for_turn(ctx, &v, place) : receives && waits_for_job(ctx, &v, place);
	return v;
}

static struct wait_cause call_exec(const struct wait_context *ctx)
{
	if (woken_by_task(ctx) && ctx->waker->thread->process == ctx->thread->process)
		return wait_by_waker(ctx, VIA_EXEC); /* the other threads of the process had to exit first */
	return wait_by_path(ctx);
}

static struct wait_cause call_sync_all(const struct wait_context *ctx)
{
	return wait_cause_of(TRACE_WAIT_FILE, VIA_NONE, strings_intern(&ctx->a->strings, "(all files)"));
}

#define MAP_ANONYMOUS_FLAG 0x20 /* MAP_ANONYMOUS of x86 */

/*
 * The file that the call pages in. mmap() names it; for the other calls it is the file of the last
 * page.
 */
static file_idx populated_file(const struct wait_context *ctx)
{
	const struct frame *frame = ctx->frame;

	if (frame_class(ctx->a, frame) != CALL_MMAP)
		return frame->file;
	return frame->nr_args == 6 && !(frame->args[3] & MAP_ANONYMOUS_FLAG)
		       ? fd_file(ctx->thread, (int32_t)frame->args[4])
		       : 0;
}

static struct wait_cause call_memory(const struct wait_context *ctx)
{
	file_idx file = populated_file(ctx);

	if (ctx->pending->cut || woken_by_task(ctx) || ctx->waker->cause != CAUSE_BLOCK)
		return wait_by_waker(ctx, VIA_MEMORY);
	return file ? wait_by_file(ctx, file) : wait_cause_of(TRACE_WAIT_MEMORY, VIA_NONE, 0);
}

static struct wait_cause call_msync(const struct wait_context *ctx)
{
	return wait_by_file(ctx, memory_find(ctx->thread->memory, ctx->frame->args[0]));
}

static struct wait_cause call_accept(const struct wait_context *ctx)
{
	struct wait_cause v = wait_by_file(ctx, ctx->frame->file);

	v.idle = v.kind != TRACE_WAIT_UNKNOWN && !wait_is_asked(ctx->a, ctx->thread, ctx->pending);
	return v;
}

/*
 * read(), recv(): of a client's next request, of an eventfd or a pipe by which a pool's thread gets
 * jobs, or of a socket by which a process gets accepted connections.
 */
static struct wait_cause call_receive(const struct wait_context *ctx)
{
	struct wait_cause v = call_on_file(ctx);
	const struct socket_state *sock = sock_of_file(ctx->a, ctx->frame->file);

	if (v.kind == TRACE_WAIT_UNKNOWN || v.via == VIA_SIGNAL || v.via == VIA_LOCK)
		return v;
	if (sock)
		v.idle = (socket_serves(ctx->a, ctx->thread, sock) ||
			  socket_brings_connections(ctx->a, ctx->thread, sock)) &&
			 !wait_is_asked(ctx->a, ctx->thread, ctx->pending);
	else if (v.via == VIA_PIPE)
		v.idle = waits_for_job(ctx, &v, PLACE_OF_FILE(ctx->frame->file));
	else if (file_via(ctx->a, ctx->frame->file) == VIA_EVENTFD)
		v.idle = pool_rests(ctx->a, ctx->thread, ctx->pending, PLACE_OF_FILE(ctx->frame->file));
	return v;
}

/* recv, recvfrom, recvmsg and recvmmsg among the operations of <linux/net.h> */
#define SOCKETCALLS_THAT_RECEIVE (1u << 10 | 1u << 12 | 1u << 17 | 1u << 19)

static struct wait_cause call_socketcall(const struct wait_context *ctx)
{
	uint64_t operation = ctx->frame->nr_args ? ctx->frame->args[0] : 0;

	if (call_accepts(ctx->a, ctx->frame))
		return call_accept(ctx);
	return operation < 32 && (SOCKETCALLS_THAT_RECEIVE >> operation & 1) ? call_receive(ctx) : call_on_file(ctx);
}

static struct wait_cause (*const by_class[NR_CALL_CLASSES])(const struct wait_context *) = {
	[CALL_OTHER] = call_other,	 [CALL_ACCEPT] = call_accept,	 [CALL_AIO] = wait_by_aio,
	[CALL_BIND] = call_on_file,	 [CALL_BRK] = call_memory,	 [CALL_CLOSE] = call_on_file,
	[CALL_CLOSE_RANGE] = call_other, [CALL_CONNECT] = call_on_file,	 [CALL_DUP] = call_on_file,
	[CALL_DUP2] = call_on_file,	 [CALL_EPOLL_CTL] = call_other,	 [CALL_EPOLL_WAIT] = wait_by_poll,
	[CALL_EXEC] = call_exec,	 [CALL_EXIT] = call_other,	 [CALL_FCNTL] = call_fcntl,
	[CALL_FD_META] = call_on_file,	 [CALL_FD_NEW] = call_other,	 [CALL_FORK] = call_fork,
	[CALL_FUTEX] = call_futex,	 [CALL_GETDENTS] = call_on_file, [CALL_IOCTL] = call_on_file,
	[CALL_IPC] = call_ipc,		 [CALL_KILL] = call_other,	 [CALL_MEMORY] = call_memory,
	[CALL_MMAP] = call_memory,	 [CALL_MREMAP] = call_memory,	 [CALL_MSYNC] = call_msync,
	[CALL_MUNMAP] = call_memory,	 [CALL_OPEN] = wait_by_path,	 [CALL_PATH] = wait_by_path,
	[CALL_INODE] = wait_by_path,	 [CALL_PAUSE] = call_pause,	 [CALL_PIPE] = call_other,
	[CALL_POLL] = wait_by_poll,	 [CALL_PTRACE] = call_ptrace,	 [CALL_READ] = call_receive,
	[CALL_RECV] = call_receive,	 [CALL_SEEK] = call_on_file,	 [CALL_SELECT] = wait_by_poll,
	[CALL_SEND] = call_on_file,	 [CALL_SHMAT] = call_memory,	 [CALL_SENDFILE] = call_copy,
	[CALL_SLEEP] = call_sleep,	 [CALL_SOCKET] = call_other,	 [CALL_SOCKETCALL] = call_socketcall,
	[CALL_SOCKETPAIR] = call_other,	 [CALL_SPLICE] = call_copy,	 [CALL_SYNC] = call_on_file,
	[CALL_SYNC_ALL] = call_sync_all, [CALL_UNSHARE] = call_other,	 [CALL_URING_ENTER] = wait_by_uring,
	[CALL_WAIT] = call_wait,	 [CALL_WRITE] = call_on_file,	 [CALL_YIELD] = call_other,
};

struct wait_cause wait_by_call(const struct wait_context *ctx)
{
	return ctx->pending->by_request ? wait_by_uring(ctx) : by_class[frame_class(ctx->a, ctx->frame)](ctx);
}
