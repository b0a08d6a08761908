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
 *	call     By the class of the call, see the table by_class[] below:
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
 *   end of the recording (state_end.c).
 *
 * The target is "several" if several processes are possible. It is also "several" if only a
 * process can end the wait but the analysis cannot tell which: a signal, a semaphore, a pipe with
 * an unknown other end. In all other cases the cause is `other`, by system call.
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
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "state.h"
#include "state_device.h"
#include "state_end.h"
#include "state_frame.h"
#include "state_request.h"
#include "state_uring.h"
#include "wait.h"
#include "wait_holder.h"

/* An eventfd as the place of a wait: no address of a futex. */
#define PLACE_OF_FILE(file) (1ull << 63 | (uint64_t)(file) << 8)

/* The wait context: a thread, its closed wait, and the frame in which it blocked. */
struct wait_context {
	struct trace_analysis *a;
	struct trace_thread *thread;
	const struct pending *pending;
	const struct waker *waker;
	const struct frame *frame; /* a system call, or the kernel's work outside of calls */
	bool gap;		   /* the end was not recorded: a gap, or the time of a hidden thread */
	int64_t result;		   /* result of the call if it replaces an unrecorded end; else 0 */
};

/*
 * If the entry was not recorded, the name of the call is unknown. A successful return does not
 * prove that the event that ended the wait was recorded.
 */
static struct wait_cause other_call(const struct wait_context *ctx, enum via via)
{
	if (ctx->frame->call == CALL_UNKNOWN || ctx->result)
		return wait_cause_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0);
	return wait_cause_of(TRACE_WAIT_OTHER, via, ctx->a->calls[ctx->frame->call].name);
}

static struct wait_cause cause_timeout(void)
{
	return wait_cause_of(TRACE_WAIT_TIMEOUT, VIA_NONE, 0);
}

static bool woken_by_task(const struct wait_context *ctx)
{
	return ctx->waker->thread && !(ctx->waker->thread->flags & THREAD_KERNEL) &&
	       ctx->waker->thread->process->idx >= NR_PSEUDO_PROCESSES;
}

static struct wait_cause cause_is_waker(const struct wait_context *ctx, enum via via)
{
	return wait_cause_of(TRACE_WAIT_PROCESS, via, ctx->waker->thread->process->idx);
}

/* The path that was passed to the call; 0: none. */
static string_id path_argument(const struct wait_context *ctx)
{
	const struct frame *frame = frame_syscall(ctx->thread);

	return frame && frame->has_path ? path_whole(ctx->a, ctx->thread, frame) : 0;
}

static struct wait_cause by_socket(const struct wait_context *ctx, const struct socket_state *sock);

/* ---- waits without a waker ---- */

/* wait4(), waitpid(), waitid(): the child that the caller named, or its only child. */
static uint32_t awaited_child(const struct wait_context *ctx)
{
	bool is_waitid = strcmp(strings_text(&ctx->a->strings, ctx->a->calls[ctx->frame->call].name), "waitid") == 0;
	int32_t named = ctx->result > 0 ? (int32_t)ctx->result : ctx->frame->nr_args ? (int32_t)ctx->frame->args[0] : 0;

	return wakers_child(ctx->a, ctx->thread->process, !is_waitid && named > 0 ? (uint32_t)named : 0);
}

#define FUTEX_PRIVATE 128 /* FUTEX_PRIVATE_FLAG of the operation */

/*
 * A private futex belongs to an address space, so that any process with that space can wake it
 * (CLONE_VM), and any other thread of the own process.
 */
static uint32_t space_holder(const struct wait_context *ctx)
{
	const struct trace_process *self = ctx->thread->process;
	uint32_t other = wakers_of_space(ctx->a, self, ctx->thread->memory);

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
	file_idx shared = memory_find(ctx->thread->memory, ctx->frame->args[0]);
	/* futex_wait(2) has flags of its own, futex(2) has them in the operation */
	int flags = call->flags_arg >= 0 ? call->flags_arg : 1;

	if (ctx->frame->nr_args <= flags || (call->addresses & 1)) /* futex_waitv(2): of several */
		return PROCESS_UNKNOWN;
	if ((ctx->frame->args[flags] & FUTEX_PRIVATE) ||
	    (!shared && !(ctx->thread->memory && ctx->thread->memory->has_foreign)))
		return space_holder(ctx);
	return wakers_sharer(ctx->a, ctx->thread->process, shared);
}

/* False for an interrupted wait: what the recorder read at the end is of another one. */
static bool lasts_until_end(const struct wait_context *ctx)
{
	return !ctx->pending->interrupted;
}

/*
 * The lock's holder, as the kernel reported it at the end of the recording. The holder may have
 * exited since and left the lock to its children.
 */
static uint32_t lock_holder(const struct wait_context *ctx)
{
	const struct end_wait *end = lasts_until_end(ctx) ? end_wait_of(ctx->a, ctx->thread, ctx->frame) : NULL;
	const struct trace_process *holder = end && end->holder ? process_find(&ctx->a->threads, end->holder) : NULL;

	return holder && holder->nr_living ? holder->idx : (uint32_t)PROCESS_UNKNOWN;
}

static uint32_t process_by_call(const struct wait_context *ctx, enum via via)
{
	switch (via) {
	case VIA_WAITPID:
		return awaited_child(ctx);
	case VIA_PIPE:
	case VIA_UNIX:
		return wakers_holder(ctx->a, ctx->thread->process, ctx->frame->file);
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
	case VIA_TTY:
		return true;
	default:
		return false;
	}
}

static struct wait_cause by_call_alone(const struct wait_context *ctx, enum via via)
{
	uint32_t process = process_by_call(ctx, via);

	if (process == PROCESS_UNKNOWN && only_processes_end(via))
		process = PROCESS_SEVERAL;
	return process == PROCESS_UNKNOWN ? other_call(ctx, via) : wait_cause_of(TRACE_WAIT_PROCESS, via, process);
}

/* ---- by the waker ---- */

static bool is_core_dump(uint32_t call)
{
	return call == CALL_SIGNAL || call == CALL_CORE_DUMP;
}

/* Is the thread in exit, or in other work of the kernel outside of calls? */
static bool is_past_calls(const struct wait_context *ctx)
{
	return ctx->frame->kind == FRAME_KERNEL || frame_class(ctx->a, ctx->frame) == CALL_EXIT;
}

/*
 * exit_group() and fatal signals wake all threads of the process so that they exit, whatever they
 * wait for.
 */
static bool woken_to_die(const struct wait_context *ctx)
{
	const struct call *call = &ctx->a->calls[ctx->waker->call];

	if (ctx->waker->thread->process != ctx->thread->process || is_past_calls(ctx))
		return false;
	return is_core_dump(ctx->waker->call) ||
	       (call->class == CALL_EXIT && strcmp(strings_text(&ctx->a->strings, call->name), "exit_group") == 0);
}

/*
 * The thread that dumps core waits until the others of its process have stopped, and for the
 * program that takes the dump. The others wait until the dump is complete.
 */
static bool waits_for_dump(const struct wait_context *ctx)
{
	return is_past_calls(ctx) &&
	       (is_core_dump(ctx->frame->call) ||
		(ctx->waker->thread->process == ctx->thread->process && is_core_dump(ctx->waker->call)));
}

#define RCU_NAME "RCU grace period"

static bool is_of_rcu(const struct trace_thread *thread)
{
	return (thread->flags & THREAD_KERNEL) && strncmp(thread->comm, "rcu", 3) == 0;
}

/*
 * An RCU grace period ended the wait, whichever file the call acts on. Such a call waits for all
 * CPUs and not for data: a write() to a file that moves a process to a control group, or to a
 * setting.
 */
static bool ended_by_rcu(const struct wait_context *ctx)
{
	return !ctx->pending->cut &&
	       (ctx->waker->thread ? is_of_rcu(ctx->waker->thread) : ctx->waker->cause == CAUSE_RCU);
}

/*
 * The name without the instance: "kworker/0:1-events" becomes "kworker", because it does not
 * matter which worker ran. The threads of RCU have many names, so they share one target.
 */
static struct wait_cause by_kernel_thread(const struct wait_context *ctx, enum via via)
{
	const char *comm = ctx->waker->thread->comm;
	char name[sizeof(ctx->waker->thread->comm)];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(comm, "/"), comm);
	if (is_of_rcu(ctx->waker->thread))
		return wait_cause_of(TRACE_WAIT_KERNEL, via, strings_intern(&ctx->a->strings, RCU_NAME));
	return wait_cause_of(TRACE_WAIT_KERNEL, via, strings_intern(&ctx->a->strings, *name ? name : "kernel thread"));
}

/*
 * A recording of some processes has only the switch to the woken thread, and no event of the task
 * or interrupt that woke it.
 */
static bool waker_is_filtered(const struct wait_context *ctx)
{
	const struct waker *waker = ctx->waker;

	return ctx->a->filter.is_on && !ctx->pending->cut && !waker->thread &&
	       (waker->cause == CAUSE_NONE || (waker->cause == CAUSE_KERNEL && waker->is_bare));
}

/* The call tells what the thread waited for, and not its waker. */
static struct wait_cause by_filtered_waker(const struct wait_context *ctx, enum via via)
{
	struct wait_cause v = by_call_alone(ctx, via);
	char text[64];

	if (v.kind != TRACE_WAIT_OTHER)
		return v;
	snprintf(text, sizeof(text), "%.24s (woken by: not recorded)", strings_text(&ctx->a->strings, v.target));
	v.target = strings_intern(&ctx->a->strings, text);
	return v;
}

/* Decide by the waker only. Ignores which socket the waker reported as ready. */
static struct wait_cause by_waker_alone(const struct wait_context *ctx, enum via via)
{
	if (ctx->pending->cut)
		return ctx->gap ? wait_cause_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0) : by_call_alone(ctx, via);
	if (woken_by_task(ctx))
		return cause_is_waker(ctx, woken_to_die(ctx) ? VIA_EXIT : waits_for_dump(ctx) ? VIA_COREDUMP : via);
	if (waker_is_filtered(ctx))
		return by_filtered_waker(ctx, via);
	switch (ctx->waker->cause) {
	case CAUSE_TIMER:
		return cause_timeout();
	case CAUSE_SOCKET:
	case CAUSE_NETWORK:
		return via == VIA_SOCKET ? other_call(ctx, via)
					 : wait_cause_of(TRACE_WAIT_NETWORK, VIA_NONE, sock_address(ctx->a, NULL));
	case CAUSE_BLOCK:
		return wait_cause_of(TRACE_WAIT_FILE, VIA_NONE,
				     path_argument(ctx) ? path_argument(ctx) : device_name(ctx->a, ctx->waker->detail));
	case CAUSE_DEVICE:
		return wait_cause_of(TRACE_WAIT_DEVICE, VIA_NONE, (string_id)ctx->waker->detail);
	case CAUSE_RCU:
		return wait_cause_of(TRACE_WAIT_KERNEL, via, strings_intern(&ctx->a->strings, RCU_NAME));
	case CAUSE_KERNEL:
		return wait_cause_of(TRACE_WAIT_KERNEL, via, (string_id)ctx->waker->detail);
	case CAUSE_UNSEEN:
		return wait_cause_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0);
	default:
		return ctx->waker->thread ? by_kernel_thread(ctx, via) : other_call(ctx, via);
	}
}

/* For calls that do not decide alone. */
static struct wait_cause by_waker(const struct wait_context *ctx, enum via via)
{
	const struct socket_state *ready = ctx->waker->cause == CAUSE_SOCKET ? sock_of_inode(ctx->a, ctx->waker->detail)
									     : NULL;

	return ready && !ctx->pending->cut && !woken_by_task(ctx) ? by_socket(ctx, ready) : by_waker_alone(ctx, via);
}

/* ---- by the object of the wait ---- */

static enum via via_of_socket(const struct socket_state *sock)
{
	if (sock->family == AF_UNIX)
		return VIA_UNIX;
	if (sock->family != AF_INET && sock->family != AF_INET6)
		return VIA_SOCKET;
	return sock->type == SOCK_STREAM ? VIA_TCP : VIA_UDP;
}

/*
 * A process that writes into a device (tun, tap) delivers packets. It is not the end of a
 * connection, so the wait is for the network.
 */
static bool waker_delivers_packets(const struct wait_context *ctx)
{
	return ctx->waker->file && S_ISCHR(ctx->a->files.list[ctx->waker->file].mode);
}

static struct wait_cause by_socket(const struct wait_context *ctx, const struct socket_state *sock)
{
	const struct socket_state *peer = sock_peer(ctx->a, sock),
				  *used = woken_by_task(ctx) ? sock_of_file(ctx->a, ctx->waker->file) : NULL;
	enum via via = via_of_socket(sock);

	if (ctx->waker->cause == CAUSE_TIMER && frame_class(ctx->a, ctx->frame) != CALL_CONNECT)
		/*
		 * SO_RCVTIMEO and similar. A connect() that times out waits for the peer that does
		 * not answer.
		 */
		return cause_timeout();
	if (via == VIA_SOCKET || (via == VIA_UNIX && woken_by_task(ctx)))
		return by_waker_alone(ctx, via);
	if (ctx->gap)
		return wait_cause_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0);
	if (ctx->waker->by_timer && via == VIA_TCP && peer && peer->owner >= NR_PSEUDO_PROCESSES)
		return wait_cause_of(TRACE_WAIT_PROCESS, VIA_TCP_TIMER, peer->owner);
	if (used && (used == sock || used == peer))
		/*
		 * The waker shut the socket down or just used the other end. The recorded owner
		 * may be a parent that used it earlier.
		 */
		return cause_is_waker(ctx, via);
	if (peer && peer->owner >= NR_PSEUDO_PROCESSES)
		return wait_cause_of(TRACE_WAIT_PROCESS, via, peer->owner);
	if (woken_by_task(ctx) && !waker_delivers_packets(ctx))
		return cause_is_waker(ctx, via);
	if (via == VIA_UNIX)
		return by_waker_alone(ctx, via);
	return wait_cause_of(TRACE_WAIT_NETWORK, VIA_NONE, sock_address(ctx->a, sock));
}

static const struct {
	const char *prefix;
	uint8_t via;
} anonymous_files[] = {
	{"[eventfd", VIA_EVENTFD},
	{"[signalfd", VIA_SIGNAL},
	{"[eventpoll", VIA_POLL},
	{"[io_uring", VIA_URING},
	{"[pidfd", VIA_PIDFD},
	{"pidfd:", VIA_PIDFD},
	{"inotify", VIA_INOTIFY},
	{"[inotify", VIA_INOTIFY},
	{"[fanotify", VIA_INOTIFY},
	{"pipe:", VIA_PIPE},
	/* a pseudoterminal: a process has the other end */
	{"socket:", VIA_SOCKET},
	{"/dev/pts/", VIA_TTY},
	{"/dev/ptmx", VIA_TTY},
};

/* The name is "anon_inode:[eventfd]" in /proc, and "[eventfd]" in the kernel. */
static const char *anonymous_name(const char *path)
{
	return strncmp(path, "anon_inode:", 11) == 0 ? path + 11 : path;
}

static enum via via_of_path(const char *path)
{
	path = anonymous_name(path);
	for (size_t i = 0; i < sizeof(anonymous_files) / sizeof(anonymous_files[0]); i++)
		if (strncmp(path, anonymous_files[i].prefix, strlen(anonymous_files[i].prefix)) == 0)
			return (enum via)anonymous_files[i].via;
	return VIA_NONE;
}

enum via file_via(const struct trace_analysis *a, file_idx file)
{
	return via_of_path(file_text(a, file));
}

static bool is_terminal(const struct wait_context *ctx, file_idx file)
{
	return file_via(ctx->a, file) == VIA_TTY;
}

/* True if the waker is a task that acted on this file. */
static bool waker_used_file(const struct wait_context *ctx, file_idx idx)
{
	const struct traced_file *file = &ctx->a->files.list[idx], *waker_file = &ctx->a->files.list[ctx->waker->file];

	return woken_by_task(ctx) && !ctx->pending->cut && ctx->waker->file && file->ino == waker_file->ino &&
	       file->dev == waker_file->dev;
}

/*
 * Data of a file arrives through interrupts and kernel threads. If the waker was itself in a call
 * on the same file, it held the file's lock: for a large write, or a lease.
 */
static bool waker_held_lock(const struct wait_context *ctx, file_idx idx)
{
	return !ctx->waker->worker && waker_used_file(ctx, idx);
}

/* True if the waker is a fanotify listener: it has to permit the access first. */
static bool waker_had_to_permit(const struct wait_context *ctx)
{
	return woken_by_task(ctx) && !ctx->pending->cut && ctx->waker->file &&
	       strncmp(anonymous_name(file_text(ctx->a, ctx->waker->file)), "[fanotify", 9) == 0;
}

/*
 * For a call with an unknown descriptor, such as an ioctl() that creates it. If the waker acted on
 * the other end of a terminal, the wait is for a terminal.
 */
static struct wait_cause by_unknown_descriptor(const struct wait_context *ctx)
{
	return by_waker(ctx, woken_by_task(ctx) && is_terminal(ctx, ctx->waker->file) ? VIA_TTY : VIA_NONE);
}

/* The wait was on @path, and the waker held a lock there. Kind `unknown`: no sign of that. */
static struct wait_cause by_holder(const struct wait_context *ctx, string_id path)
{
	const char *text = strings_text(&ctx->a->strings, path);
	string_id directory;

	if (!woken_by_task(ctx) || ctx->pending->cut || ctx->waker->worker)
		return (struct wait_cause){.kind = TRACE_WAIT_UNKNOWN};
	if (held_memory_of(ctx->waker, text))
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_MEMORY), path);
	if (is_kernel_file(text))
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_LOCK), path);
	directory = held_directory(ctx->a, ctx->waker, text);
	if (directory)
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_LOCK), directory);
	return (struct wait_cause){.kind = TRACE_WAIT_UNKNOWN};
}

/*
 * A thread at the same end of a pipe held the pipe's lock, or it passed on a wakeup that came from
 * the other end.
 */
static struct wait_cause by_pipe(const struct wait_context *ctx, file_idx idx)
{
	enum call_class own = frame_class(ctx->a, ctx->frame);

	if (!waker_used_file(ctx, idx) || (own != CALL_READ && own != CALL_WRITE) ||
	    ctx->a->calls[ctx->waker->call].class != own)
		return by_waker(ctx, VIA_PIPE);
	if (ctx->pending->task_state & TRACE_TASK_UNINTERRUPTIBLE)
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_LOCK), file_path(ctx->a, idx));
	return by_call_alone(ctx, VIA_PIPE);
}

/* A regular file or a directory. */
static struct wait_cause by_inode(const struct wait_context *ctx, file_idx idx)
{
	struct wait_cause v = {.kind = TRACE_WAIT_UNKNOWN};

	if (waker_held_lock(ctx, idx))
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_LOCK), file_path(ctx->a, idx));
	if (waker_had_to_permit(ctx))
		return cause_is_waker(ctx, VIA_INOTIFY);
	if (woken_by_task(ctx))
		v = by_holder(ctx, file_path(ctx->a, idx));
	return v.kind != TRACE_WAIT_UNKNOWN
		       ? v
		       : wait_cause_of(TRACE_WAIT_FILE, ctx->thread->flags & THREAD_THROTTLED ? VIA_THROTTLE : VIA_NONE,
				       file_path(ctx->a, idx));
}

/* The device by which a program serves a file system: it waits for the next request. */
static struct wait_cause by_served_device(const struct wait_context *ctx)
{
	struct wait_cause v = cause_is_waker(ctx, VIA_FUSE);

	v.idle = true;
	return v;
}

static struct wait_cause by_file(const struct wait_context *ctx, file_idx idx)
{
	const struct socket_state *sock;

	if (!idx)
		return by_unknown_descriptor(ctx);
	if (ended_by_rcu(ctx))
		return by_waker_alone(ctx, VIA_NONE);
	switch (ctx->a->files.list[idx].mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
		return by_inode(ctx, idx);
	case S_IFLNK:
	case S_IFBLK:
		return wait_cause_of(TRACE_WAIT_FILE, ctx->thread->flags & THREAD_THROTTLED ? VIA_THROTTLE : VIA_NONE,
				     file_path(ctx->a, idx));
	case S_IFIFO:
		return by_pipe(ctx, idx);
	case S_IFCHR:
		if (serves_files(ctx->a, idx) && woken_by_task(ctx) && !ctx->pending->cut)
			return by_served_device(ctx);
		if (is_terminal(ctx, idx) && woken_by_task(ctx) && !ctx->pending->cut)
			return cause_is_waker(ctx, VIA_TTY);
		return wait_cause_of(TRACE_WAIT_DEVICE, VIA_NONE, file_path(ctx->a, idx));
	case S_IFSOCK:
		sock = sock_of_file(ctx->a, idx);
		return sock ? by_socket(ctx, sock) : by_waker(ctx, VIA_SOCKET);
	default: /* no type: an anonymous inode, or a file with a known path only */
		if (strncmp(anonymous_name(file_text(ctx->a, idx)), "[timerfd", 8) == 0)
			return cause_timeout();
		if (file_text(ctx->a, idx)[0] == '/')
			return wait_cause_of(TRACE_WAIT_FILE, VIA_NONE, file_path(ctx->a, idx));
		return by_waker(ctx, file_via(ctx->a, idx));
	}
}

static struct wait_cause by_path(const struct wait_context *ctx)
{
	if (ctx->frame->file)
		return by_file(ctx, ctx->frame->file);
	if (waker_had_to_permit(ctx))
		return cause_is_waker(ctx, VIA_INOTIFY); /* or it denied the access: then there is no descriptor */
	if (ctx->frame->has_path && !ctx->gap && !ended_by_rcu(ctx)) {
		struct wait_cause v = by_holder(ctx, path_argument(ctx));

		return v.kind != TRACE_WAIT_UNKNOWN ? v : wait_cause_of(TRACE_WAIT_FILE, VIA_NONE, path_argument(ctx));
	}
	return by_waker(ctx, VIA_NONE);
}

/* ---- by class of the system call ---- */

static struct wait_cause call_other(const struct wait_context *ctx)
{
	return ctx->frame->has_path ? by_path(ctx) : by_waker(ctx, VIA_NONE);
}

static struct wait_cause by_file_lock(const struct wait_context *ctx)
{
	return wait_cause_with_path(ctx->a, by_waker(ctx, VIA_LOCK), file_path(ctx->a, ctx->frame->file));
}

static struct wait_cause call_on_file(const struct wait_context *ctx)
{
	if (ctx->a->calls[ctx->frame->call].flags & CALL_IS_LOCK)
		return by_file_lock(ctx);
	return by_file(ctx, ctx->frame->file);
}

/* True if the waker acted on this pipe or on the peer of this socket. */
static bool used_by_waker(const struct wait_context *ctx, file_idx idx)
{
	const struct socket_state *sock = sock_of_file(ctx->a, idx), *peer = sock ? sock_peer(ctx->a, sock) : NULL;

	return waker_used_file(ctx, idx) ||
	       (peer && woken_by_task(ctx) && !ctx->pending->cut && sock_of_file(ctx->a, ctx->waker->file) == peer);
}

/*
 * For calls that copy from one file to another. With one regular file: a disk's completion is for
 * the regular file, any other wakeup is for the other one. With no regular file: the file that the
 * waker used, or else the first.
 */
static struct wait_cause by_two_files(const struct wait_context *ctx, file_idx one, file_idx two)
{
	bool one_is_disk = one && S_ISREG(ctx->a->files.list[one].mode);
	bool disk = ctx->waker->cause == CAUSE_BLOCK;

	if (!one || !two)
		return by_file(ctx, one ? one : two);
	if (!one_is_disk && !S_ISREG(ctx->a->files.list[two].mode))
		return by_file(ctx, used_by_waker(ctx, two) ? two : one);
	return by_file(ctx, one_is_disk == disk ? one : two);
}

static struct wait_cause call_copy(const struct wait_context *ctx)
{
	return by_two_files(ctx, ctx->frame->file, call_second_file(ctx->a, ctx->thread, ctx->frame));
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

	if (ctx->frame->nr_args < 3 || !expected || (expected & ~FUTEX_TID_MASK))
		return false;
	if (ctx->pending->cut)
		ended = thread_find(&ctx->a->threads, expected);
	if (!ended || ended->process != ctx->thread->process || ended == ctx->thread)
		return false;
	return ended->tid == expected || (!ctx->pending->cut && ctx->a->calls[ctx->waker->call].class == CALL_EXIT);
}

static struct wait_cause call_futex(const struct wait_context *ctx)
{
	struct wait_cause v = by_waker(ctx, VIA_FUTEX);

	if (v.kind == TRACE_WAIT_PROCESS && v.via == VIA_FUTEX && is_join(ctx))
		v.via = VIA_JOIN;
	else if (v.kind != TRACE_WAIT_UNKNOWN && ctx->frame->nr_args && !futex_is_lock(ctx->a, ctx->thread, ctx->frame))
		v.idle = pool_rests(ctx->a, ctx->thread, ctx->pending, ctx->frame->args[0]);
	return v;
}

static struct wait_cause call_wait(const struct wait_context *ctx)
{
	return by_waker(ctx, VIA_WAITPID);
}

static struct wait_cause call_fork(const struct wait_context *ctx)
{
	return by_waker(ctx, ctx->pending->flags & THREAD_VFORK ? VIA_VFORK : VIA_FORK);
}

/* True for a server between two requests: state_request.c. */
static bool rests(const struct wait_context *ctx)
{
	return thread_serves(ctx->a, ctx->thread) && !wait_is_asked(ctx->a, ctx->thread, ctx->pending);
}

static struct wait_cause call_pause(const struct wait_context *ctx)
{
	struct wait_cause v = by_waker(ctx, VIA_SIGNAL);

	v.idle = v.kind != TRACE_WAIT_UNKNOWN && rests(ctx);
	return v;
}

static struct wait_cause call_ptrace(const struct wait_context *ctx)
{
	return by_waker(ctx, VIA_PTRACE);
}

/* SEMTIMEDOP of <linux/ipc.h>: operations up to it are on semaphores, the next ones on messages */
#define IPC_SEMTIMEDOP 4

static struct wait_cause call_ipc(const struct wait_context *ctx)
{
	const char *name = strings_text(&ctx->a->strings, ctx->a->calls[ctx->frame->call].name);
	bool semaphore = strncmp(name, "sem", 3) == 0;

	if (strcmp(name, "ipc") == 0)
		semaphore = (ctx->frame->args[0] & 0xffff) <= IPC_SEMTIMEDOP;
	return by_waker(ctx, semaphore ? VIA_SEMAPHORE : VIA_MQUEUE);
}

/*
 * For a wait without a waker: the cause that the wait would have if this file ended it. Kind
 * `unknown` if the file does not decide.
 */
static struct wait_cause cause_if_ended_by(const struct wait_context *ctx, file_idx file)
{
	struct frame frame = *ctx->frame;
	struct wait_context variant = *ctx;
	struct wait_cause v;

	frame.file = file;
	variant.frame = &frame;
	v = by_file(&variant, file);
	if (v.kind == TRACE_WAIT_PROCESS && v.target == PROCESS_SEVERAL && v.via == VIA_EVENTFD)
		/* another process is rare, and an eventfd has no name by which to find it */
		v.target = ctx->thread->process->idx;
	if (v.kind == TRACE_WAIT_OTHER)
		v.kind = TRACE_WAIT_UNKNOWN;
	return v;
}

/* Combine the causes of several files: their common cause, or "several" if they differ. */
static struct wait_cause combined(struct wait_cause sum, struct wait_cause v, enum via via)
{
	if (v.kind == TRACE_WAIT_UNKNOWN)
		return sum;
	if (sum.kind != TRACE_WAIT_UNKNOWN && wait_key(&sum) != wait_key(&v))
		return wait_cause_of(TRACE_WAIT_PROCESS, via, PROCESS_SEVERAL);
	return v;
}

static struct wait_cause by_descriptors(const struct wait_context *ctx)
{
	const struct end_wait *end = lasts_until_end(ctx) ? end_wait_of(ctx->a, ctx->thread, ctx->frame) : NULL;
	struct wait_cause sum = {.kind = TRACE_WAIT_UNKNOWN};

	if (end && end->counts_fds && !end->nr_fds)
		return cause_timeout(); /* poll() without descriptors is a sleep */
	for (uint32_t i = 0; end && i < end->nr_fds; i++)
		sum = combined(sum, cause_if_ended_by(ctx, fd_file(ctx->thread, ctx->a->end.fds[end->first_fd + i])),
			       VIA_POLL);
	return sum.kind == TRACE_WAIT_UNKNOWN ? other_call(ctx, VIA_POLL) : sum;
}

/* The common cause of the io_uring requests that are still in progress. */
static struct wait_cause by_requests(const struct wait_context *ctx)
{
	struct wait_cause sum = {.kind = TRACE_WAIT_UNKNOWN};
	file_idx file;

	for (size_t i = 0; (file = wakers_request(ctx->a, ctx->thread->process, i)); i++)
		sum = combined(sum, cause_if_ended_by(ctx, file), VIA_URING);
	if (sum.kind == TRACE_WAIT_UNKNOWN)
		return by_call_alone(ctx, VIA_URING);
	if (sum.kind == TRACE_WAIT_PROCESS || sum.kind == TRACE_WAIT_FILE)
		sum.via = VIA_URING;
	return sum;
}

/* The latest decided wait of an io_uring worker, as the wait of its submitter. */
static struct wait_cause cause_of_worker(const struct wait_context *ctx)
{
	struct wait_cause v = wait_of_key(ctx->waker->thread->last_wait);

	v.via = VIA_URING;
	v.idle = false;
	return v;
}

static struct wait_cause call_uring(const struct wait_context *ctx)
{
	const struct trace_process *self = ctx->thread->process;
	file_idx file = ctx->pending->cut		       ? 0
			: ctx->waker->ring_file		       ? ctx->waker->ring_file - 1
			: self->uring_ns >= ctx->pending->from ? self->uring_file
							       : 0;
	const struct trace_thread *waker = ctx->pending->cut ? NULL : ctx->waker->thread;
	struct wait_cause v;

	if (waker && (waker->flags & THREAD_IO_WORKER) && waker->process == self &&
	    waker->last_wait_ns > ctx->pending->from &&
	    !(*file_text(ctx->a, file) && S_ISREG(ctx->a->files.list[file].mode)))
		return cause_of_worker(ctx);
	if (ctx->pending->cut && !ctx->gap)
		v = by_requests(ctx);
	else
		v = file ? by_file(ctx, file) : by_waker(ctx, VIA_URING);
	if (v.kind == TRACE_WAIT_PROCESS || v.kind == TRACE_WAIT_FILE)
		v.via = VIA_URING;
	v.idle = (v.kind == TRACE_WAIT_PROCESS || v.kind == TRACE_WAIT_NETWORK) && rests(ctx);
	return v;
}

/* An io_uring worker waits for work from its submitter, or for the file of a request. */
static struct wait_cause io_worker(const struct wait_context *ctx)
{
	file_idx file = uring_worker_file(ctx->thread->process);
	struct wait_cause v = by_waker(ctx, VIA_URING);

	if (v.kind == TRACE_WAIT_FILE && file && S_ISREG(ctx->a->files.list[file].mode))
		v.target = file_path(ctx->a, file);

	v.idle = v.kind == TRACE_WAIT_TIMEOUT ||
		 (v.kind == TRACE_WAIT_PROCESS && v.target == ctx->thread->process->idx);
	return v;
}

static struct wait_cause call_exec(const struct wait_context *ctx)
{
	if (woken_by_task(ctx) && ctx->waker->thread->process == ctx->thread->process)
		return by_waker(ctx, VIA_EXEC); /* the other threads of the process had to exit first */
	return by_path(ctx);
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
		return by_waker(ctx, VIA_MEMORY);
	return file ? by_file(ctx, file) : wait_cause_of(TRACE_WAIT_MEMORY, VIA_NONE, 0);
}

static struct wait_cause call_msync(const struct wait_context *ctx)
{
	return by_file(ctx, memory_find(ctx->thread->memory, ctx->frame->args[0]));
}

static struct wait_cause call_accept(const struct wait_context *ctx)
{
	struct wait_cause v = by_file(ctx, ctx->frame->file);

	v.idle = v.kind != TRACE_WAIT_UNKNOWN && !wait_is_asked(ctx->a, ctx->thread, ctx->pending);
	return v;
}

/*
 * read(), recv(): of a client's next request, or of an eventfd by which a pool's thread gets
 * jobs.
 */
static struct wait_cause call_receive(const struct wait_context *ctx)
{
	struct wait_cause v = call_on_file(ctx);
	const struct socket_state *sock = sock_of_file(ctx->a, ctx->frame->file);

	if (v.kind == TRACE_WAIT_UNKNOWN || v.via == VIA_SIGNAL)
		return v;
	if (sock)
		v.idle = socket_serves(ctx->a, ctx->thread, sock) && !wait_is_asked(ctx->a, ctx->thread, ctx->pending);
	else if (file_via(ctx->a, ctx->frame->file) == VIA_EVENTFD)
		v.idle = pool_rests(ctx->a, ctx->thread, ctx->pending, PLACE_OF_FILE(ctx->frame->file));
	return v;
}

static struct wait_cause call_socketcall(const struct wait_context *ctx)
{
	return call_accepts(ctx->a, ctx->frame) ? call_accept(ctx) : call_receive(ctx);
}

/* poll() and select() without descriptors are sleeps. */
static bool has_descriptors(const struct wait_context *ctx)
{
	switch (frame_class(ctx->a, ctx->frame)) {
	case CALL_POLL:
		return ctx->frame->nr_args < 2 || ctx->frame->args[1];
	case CALL_SELECT:
		return !ctx->frame->nr_args || ctx->frame->args[0];
	default:
		return true;
	}
}

/* The wait ended with the first answer that came on a connection, or it may do so. */
static bool asks_first(const struct wait_context *ctx, const struct socket_state *ready)
{
	return thread_asks_first(ctx->thread) && (ctx->pending->cut || (ready && ready->asker == ctx->thread));
}

/* poll, select, epoll: the file on which the waker acted shows which descriptor became ready. */
static struct wait_cause call_poll(const struct wait_context *ctx)
{
	const struct socket_state *sock = ctx->waker->cause == CAUSE_SOCKET ? sock_of_inode(ctx->a, ctx->waker->detail)
									    : NULL;
	const struct socket_state *waker_socket = sock_of_file(ctx->a, ctx->waker->file); /* the waker's end */
	struct wait_cause v;

	if (ctx->pending->cut)
		v = ctx->gap ? wait_cause_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0) : by_descriptors(ctx);
	else if (ctx->waker->by_signal && woken_by_task(ctx)) /* for a signalfd, or it interrupted the call */
		v = cause_is_waker(ctx, VIA_SIGNAL);
	else if (ctx->waker->file && S_ISFIFO(ctx->a->files.list[ctx->waker->file].mode))
		v = by_waker(ctx, VIA_PIPE);
	else if (sock)
		v = by_socket(ctx, sock);
	else if (waker_socket)
		v = by_waker(ctx, via_of_socket(waker_socket));
	else if (ctx->waker->via)
		v = by_waker(ctx, (enum via)ctx->waker->via);
	else
		v = by_waker(ctx, file_via(ctx->a, ctx->waker->file) ? file_via(ctx->a, ctx->waker->file) : VIA_POLL);
	v.idle = v.kind != TRACE_WAIT_UNKNOWN && has_descriptors(ctx) && rests(ctx) &&
		 !asks_first(ctx, sock || !waker_socket ? sock : sock_peer(ctx->a, waker_socket));
	return v;
}

/*
 * io_getevents(): the analysis does not follow its requests, as it does those of io_uring. The
 * file on which the waker acted decides, or the disk.
 */
static struct wait_cause call_aio(const struct wait_context *ctx)
{
	struct wait_cause v = call_poll(ctx);

	/* a database that waits for its disk is not idle */
	v.idle &= v.kind == TRACE_WAIT_PROCESS || v.kind == TRACE_WAIT_NETWORK;
	return v;
}

static struct wait_cause (*const by_class[NR_CALL_CLASSES])(const struct wait_context *) = {
	[CALL_OTHER] = call_other,	 [CALL_ACCEPT] = call_accept,
	[CALL_AIO] = call_aio,		 [CALL_BIND] = call_on_file,
	[CALL_BRK] = call_memory,	 [CALL_CLOSE] = call_on_file,
	[CALL_CLOSE_RANGE] = call_other, [CALL_CONNECT] = call_on_file,
	[CALL_DUP] = call_on_file,	 [CALL_DUP2] = call_on_file,
	[CALL_EPOLL_CTL] = call_other,	 [CALL_EPOLL_WAIT] = call_poll,
	[CALL_EXEC] = call_exec,	 [CALL_EXIT] = call_other,
	[CALL_FCNTL] = call_fcntl,	 [CALL_FD_META] = call_on_file,
	[CALL_FD_NEW] = call_other,	 [CALL_FORK] = call_fork,
	[CALL_FUTEX] = call_futex,	 [CALL_GETDENTS] = call_on_file,
	[CALL_IOCTL] = call_on_file,	 [CALL_IPC] = call_ipc,
	[CALL_KILL] = call_other,	 [CALL_MEMORY] = call_memory,
	[CALL_MMAP] = call_memory,	 [CALL_MREMAP] = call_memory,
	[CALL_MSYNC] = call_msync,	 [CALL_MUNMAP] = call_memory,
	[CALL_OPEN] = by_path,		 [CALL_PATH] = by_path,
	[CALL_PAUSE] = call_pause,	 [CALL_PIPE] = call_other,
	[CALL_POLL] = call_poll,	 [CALL_PTRACE] = call_ptrace,
	[CALL_READ] = call_receive,	 [CALL_RECV] = call_receive,
	[CALL_SEEK] = call_on_file,	 [CALL_SELECT] = call_poll,
	[CALL_SEND] = call_on_file,	 [CALL_SHMAT] = call_memory,
	[CALL_SENDFILE] = call_copy,	 [CALL_SLEEP] = call_sleep,
	[CALL_SOCKET] = call_other,	 [CALL_SOCKETCALL] = call_socketcall,
	[CALL_SOCKETPAIR] = call_other,	 [CALL_SPLICE] = call_copy,
	[CALL_SYNC] = call_on_file,	 [CALL_SYNC_ALL] = call_sync_all,
	[CALL_UNSHARE] = call_other,	 [CALL_URING_ENTER] = call_uring,
	[CALL_WAIT] = call_wait,	 [CALL_WRITE] = call_on_file,
	[CALL_YIELD] = call_other,
};

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

	if (woken_by_task(ctx) && wakes_frozen(ctx->a, ctx->waker))
		via = VIA_FREEZER;
	else if (!(ctx->pending->task_state & (TRACE_TASK_TRACED | TRACE_TASK_STOPPED)))
		via = VIA_NONE;
	if (woken_by_task(ctx) && !ctx->pending->cut && !(is_traced && ctx->waker->by_signal))
		own->stopped_by = ctx->waker->thread->process->idx;
	if (ctx->gap || !own->stopped_by || via == VIA_NONE)
		return wait_cause_of(TRACE_WAIT_STOPPED, VIA_NONE, 0);
	return wait_cause_of(TRACE_WAIT_STOPPED, via, own->stopped_by);
}

/* The server of a file system, whatever the call waited for on it. */
static struct wait_cause by_file_server(const struct wait_context *ctx, const struct frame *top)
{
	file_idx file = top->file		  ? top->file
			: top->kind == FRAME_TRAP ? memory_find(ctx->thread->memory, top->args[0])
						  : 0;

	return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_FUSE),
				    file ? file_path(ctx->a, file) : path_argument(ctx));
}

static bool polls(const struct wait_context *ctx)
{
	enum call_class class = frame_class(ctx->a, ctx->frame);

	return class == CALL_POLL || class == CALL_SELECT || class == CALL_EPOLL_WAIT;
}

/* True if the call waits for signals, too; its class decides. */
static bool waits_for_signals(const struct wait_context *ctx)
{
	enum call_class class = frame_class(ctx->a, ctx->frame);

	return class == CALL_WAIT || class == CALL_PAUSE || polls(ctx);
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

static bool is_last(const struct wait_context *ctx)
{
	return ctx->pending == &ctx->thread->pending[ctx->thread->nr_pending - 1];
}

/* The call timed out: no process and no file would make it return this. */
static bool timed_out(const struct wait_context *ctx)
{
	return ctx->thread->ret == -ETIMEDOUT || (polls(ctx) && ctx->thread->ret == 0);
}

/* The call returned what it waited for, so that ended the wait. */
static bool succeeded(const struct wait_context *ctx)
{
	return !polls(ctx) &&
	       (ctx->thread->ret > 0 || (ctx->thread->ret == 0 && frame_class(ctx->a, ctx->frame) == CALL_FUTEX));
}

/* True if no event is missing: otherwise the result could be that of another call. */
static bool result_decides(const struct wait_context *ctx)
{
	return ctx->gap && (ctx->thread->flags & THREAD_RETURNS) && ctx->thread->nr_pending && is_last(ctx) &&
	       ctx->frame->kind == FRAME_SYSCALL &&
	       gap_log_first_loss(&ctx->a->gaps, ctx->pending->from, ctx->a->now) == UINT64_MAX;
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
	if (pending->task_state == TASK_STATE_QUOTA)
		return wait_cause_of(TRACE_WAIT_QUOTA, VIA_NONE, 0);
	if (thread->flags & THREAD_KERNEL)
		return kernel_thread(&ctx);
	if (pending->task_state & STOPPED_STATES)
		return by_stop(&ctx);
	if (pending->flags & THREAD_RECLAIM)
		return wait_cause_of(TRACE_WAIT_MEMORY, VIA_NONE, 0);
	if (result_decides(&ctx)) {
		if (timed_out(&ctx))
			return cause_timeout();
		ctx.gap = !succeeded(&ctx);
		ctx.result = thread->ret;
	}
	if (pending->waker.by_signal && woken_by_task(&ctx) && top && !waits_for_signals(&ctx))
		return cause_is_waker(&ctx, VIA_SIGNAL);
	if (thread->flags & THREAD_IO_WORKER)
		return io_worker(&ctx);
	if (!top && is_thawed(&ctx))
		return by_stop(&ctx);
	if (!top)
		return by_waker(&ctx, VIA_NONE);
	if (woken_by_task(&ctx) && !pending->cut && serves_files(a, pending->waker.file) && !serves_files(a, top->file))
		return by_file_server(&ctx, top);
	return top->kind == FRAME_TRAP ? by_fault(&ctx, top) : by_class[frame_class(a, ctx.frame)](&ctx);
}

struct wait_cause wait_decide(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending)
{
	struct wait_cause v = decide(a, thread, pending);

	if (v.kind == TRACE_WAIT_FILE && pending->waker.cause == CAUSE_BLOCK && !pending->waker.thread)
		device_learn(a, v.target, (uint32_t)pending->waker.detail, true);
	thread->last_wait = wait_key(&v);
	thread->last_wait_ns = pending->to;
	return v;
}
