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
 * A wait that lasts until the end of the trace had no waker. The call alone decides, and the via is
 * the one that the wait would have had. The target is
 * - the child, if there is exactly one;
 * - the other process that has the pipe or the peer socket open;
 * - the thread's own process, for a futex that no other process can wake;
 * - the holder of the lock, or what the descriptors of a poll are. The recorder read both at the
 *   end of the recording (state_end.c).
 *
 * The target is "several" if several processes are possible. It is also "several" if only a process
 * can end the wait but the analysis cannot tell which: a signal, a semaphore, a pipe with an
 * unknown other end. In all other cases the cause is `other`, by system call.
 *
 * Kernel threads that wait: `kernel`. The target is "next job" (idle) if a signal or work may end
 * the wait, and "work" otherwise.
 *
 * Idle waits. accept() of a server, and poll, select, epoll and io_uring of a process that has ever
 * listened on a socket, are idle: the server waits for its next request. Two exceptions: io_uring
 * that waited for a file, and a wait that a signal ended. The signal did not come from a client,
 * but from another process of the server (postgres hands on locks in this way). Limit: a worker
 * that polls for an answer from a server of its own also counts as idle.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "state.h"
#include "state_device.h"
#include "state_end.h"
#include "state_frame.h"
#include "wait.h"

static const char *const via_names[NR_VIAS] = {
	"", "waitpid", "pipe", "unix", "tcp", "udp", "futex", "signal", "eventfd", "ptrace", "vfork", "fork", "lock", "semaphore",
	"mqueue", "pidfd", "exec", "memory", "socket", "poll", "tty", "io_uring", "inotify", "throttle", "exit",
};

const char *via_name(enum via via)
{
	return via_names[via];
}

const char *trace_wait_kind_name(enum trace_wait_kind kind)
{
	static const char *const names[TRACE_NR_WAIT_KINDS] = {"file",	 "process", "network", "timeout", "device",
							       "memory", "stopped", "other",   "unknown", "kernel", "quota"};

	return (unsigned int)kind < TRACE_NR_WAIT_KINDS ? names[kind] : "unknown";
}

static struct verdict hidden_wait(struct trace_analysis *a, const struct trace_thread *thread)
{
	bool asleep = thread->flags & THREAD_ASLEEP;

	return (struct verdict){.kind = TRACE_WAIT_UNKNOWN, .idle = asleep, .target = strings_intern(&a->strings, asleep ? "asleep, hidden" : "hidden")};
}

struct verdict wait_unknown_cause(struct trace_analysis *a, const struct trace_thread *thread)
{
	return thread && (thread->flags & THREAD_HIDDEN) ? hidden_wait(a, thread) : (struct verdict){.kind = TRACE_WAIT_UNKNOWN};
}

/* The wait context: a thread, its closed wait, and the frame in which it blocked. */
struct question {
	struct trace_analysis *a;
	struct trace_thread *thread;
	const struct pending *pending;
	const struct waker *waker;
	const struct frame *frame; /* a system call */
	bool gap;		   /* the end was not recorded: a gap, or the time of a hidden thread */
	int64_t result;		   /* result of the call if it replaces an unrecorded end; else 0 */
};

static struct verdict verdict_of(enum trace_wait_kind kind, enum via via, uint32_t target)
{
	return (struct verdict){.kind = (uint8_t)kind, .via = (uint8_t)via, .target = target};
}

/*
 * If the entry was not recorded, the name of the call is unknown. A successful return does not
 * prove that the event that ended the wait was recorded.
 */
static struct verdict other_call(const struct question *q, enum via via)
{
	if (q->frame->call == CALL_UNKNOWN || q->result)
		return verdict_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0);
	return verdict_of(TRACE_WAIT_OTHER, via, q->a->calls[q->frame->call].name);
}

static struct verdict timeout(void)
{
	return verdict_of(TRACE_WAIT_TIMEOUT, VIA_NONE, 0);
}

static bool woken_by_task(const struct question *q)
{
	return q->waker->thread && !(q->waker->thread->flags & THREAD_KERNEL) && q->waker->thread->process->idx >= NR_PSEUDO_PROCESSES;
}

static struct verdict the_waker(const struct question *q, enum via via)
{
	return verdict_of(TRACE_WAIT_PROCESS, via, q->waker->thread->process->idx);
}

/* The path that was passed to the call; 0: none. */
static string_id given_path(const struct question *q)
{
	const struct frame *frame = frame_syscall(q->thread);

	return frame && frame->has_path ? strings_intern(&q->a->strings, q->thread->path) : 0;
}

static struct verdict by_socket(const struct question *q, const struct sock *sock);

/* ---- waits without a waker ---- */

/* wait4(), waitpid(), waitid(): the child that the caller named, or its only child. */
static uint32_t awaited_child(const struct question *q)
{
	bool is_waitid = strcmp(strings_text(&q->a->strings, q->a->calls[q->frame->call].name), "waitid") == 0;
	int32_t named = q->result > 0 ? (int32_t)q->result : q->frame->nr_args ? (int32_t)q->frame->args[0] : 0;

	return ender_child(q->a, q->thread->process, !is_waitid && named > 0 ? (uint32_t)named : 0);
}

#define FUTEX_PRIVATE 128 /* FUTEX_PRIVATE_FLAG of the operation */

/*
 * A process can wake a futex if it shares the memory that contains it. Shared memory of System V is
 * not followed: it has no file in the state.
 */
static uint32_t futex_holder(const struct question *q)
{
	file_idx shared = memory_find(q->thread->memory, q->frame->args[0]);

	if (q->frame->nr_args < 2)
		return PROCESS_UNKNOWN;
	if ((q->frame->args[1] & FUTEX_PRIVATE) || (!shared && !(q->thread->memory && q->thread->memory->has_foreign)))
		return q->thread->process->idx;
	return ender_sharer(q->a, q->thread->process, shared);
}

/*
 * The lock's holder, as the kernel reported it at the end of the recording. The holder may have
 * exited since and left the lock to its children.
 */
static uint32_t lock_holder(const struct question *q)
{
	const struct end_wait *end = end_wait_of(q->a, q->thread, q->frame);
	const struct trace_process *holder = end && end->holder ? process_find(q->a, end->holder) : NULL;

	return holder && holder->nr_living ? holder->idx : (uint32_t)PROCESS_UNKNOWN;
}

static uint32_t told_by_call(const struct question *q, enum via via)
{
	switch (via) {
	case VIA_WAITPID:
		return awaited_child(q);
	case VIA_PIPE:
	case VIA_UNIX:
		return ender_holder(q->a, q->thread->process, q->frame->file);
	case VIA_FUTEX:
		return futex_holder(q);
	case VIA_LOCK:
		return lock_holder(q);
	case VIA_URING:
		return q->thread->flags & THREAD_IO_WORKER ? q->thread->process->idx : (uint32_t)PROCESS_UNKNOWN;
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

static struct verdict by_call_alone(const struct question *q, enum via via)
{
	uint32_t process = told_by_call(q, via);

	if (process == PROCESS_UNKNOWN && only_processes_end(via))
		process = PROCESS_SEVERAL;
	return process == PROCESS_UNKNOWN ? other_call(q, via) : verdict_of(TRACE_WAIT_PROCESS, via, process);
}

/* ---- by the waker ---- */

/* exit_group() wakes all threads of the process so that they exit, whatever they wait for. */
static bool woken_to_die(const struct question *q)
{
	const struct call *call = &q->a->calls[q->waker->call];

	return call->class == CALL_EXIT && q->waker->thread->process == q->thread->process &&
	       strcmp(strings_text(&q->a->strings, call->name), "exit_group") == 0;
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
static bool ended_by_rcu(const struct question *q)
{
	return !q->pending->cut && (q->waker->thread ? is_of_rcu(q->waker->thread) : q->waker->cause == CAUSE_RCU);
}

/*
 * The name without the instance: "kworker/0:1-events" becomes "kworker", because it does not matter
 * which worker ran. The threads of RCU have many names, so they share one target.
 */
static struct verdict by_kernel_thread(const struct question *q, enum via via)
{
	const char *comm = q->waker->thread->comm;
	char name[sizeof(q->waker->thread->comm)];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(comm, "/"), comm);
	if (is_of_rcu(q->waker->thread))
		return verdict_of(TRACE_WAIT_KERNEL, via, strings_intern(&q->a->strings, RCU_NAME));
	return verdict_of(TRACE_WAIT_KERNEL, via, strings_intern(&q->a->strings, *name ? name : "kernel thread"));
}

/* Decide by the waker only. Ignores which socket the waker reported as ready. */
static struct verdict by_waker_alone(const struct question *q, enum via via)
{
	if (q->pending->cut)
		return q->gap ? verdict_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0) : by_call_alone(q, via);
	if (woken_by_task(q))
		return the_waker(q, woken_to_die(q) ? VIA_EXIT : via);
	switch (q->waker->cause) {
	case CAUSE_TIMER:
		return timeout();
	case CAUSE_SOCKET:
	case CAUSE_NETWORK:
		return via == VIA_SOCKET ? other_call(q, via) : verdict_of(TRACE_WAIT_NETWORK, VIA_NONE, sock_address(q->a, NULL));
	case CAUSE_BLOCK:
		return verdict_of(TRACE_WAIT_FILE, VIA_NONE, given_path(q) ? given_path(q) : device_name(q->a, q->waker->detail));
	case CAUSE_DEVICE:
		return verdict_of(TRACE_WAIT_DEVICE, VIA_NONE, (string_id)q->waker->detail);
	case CAUSE_RCU:
		return verdict_of(TRACE_WAIT_KERNEL, via, strings_intern(&q->a->strings, RCU_NAME));
	case CAUSE_KERNEL:
		return verdict_of(TRACE_WAIT_KERNEL, via, (string_id)q->waker->detail);
	case CAUSE_UNSEEN:
		return verdict_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0);
	default:
		return q->waker->thread ? by_kernel_thread(q, via) : other_call(q, via);
	}
}

/* For calls that do not decide alone. */
static struct verdict by_waker(const struct question *q, enum via via)
{
	const struct sock *ready = q->waker->cause == CAUSE_SOCKET ? sock_of_inode(q->a, q->waker->detail) : NULL;

	return ready && !q->pending->cut && !woken_by_task(q) ? by_socket(q, ready) : by_waker_alone(q, via);
}

/* ---- by the object of the wait ---- */

static enum via via_of_socket(const struct sock *sock)
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
static bool brings_packets(const struct question *q)
{
	return q->waker->file && S_ISCHR(q->a->files.list[q->waker->file].mode);
}

static struct verdict by_socket(const struct question *q, const struct sock *sock)
{
	const struct sock *peer = sock_peer(q->a, sock), *used = woken_by_task(q) ? sock_of_file(q->a, q->waker->file) : NULL;
	enum via via = via_of_socket(sock);

	if (q->waker->cause == CAUSE_TIMER && frame_class(q->a, q->frame) != CALL_CONNECT)
		/*
		 * SO_RCVTIMEO and similar. A connect() that times out waits for the peer that does
		 * not answer.
		 */
		return timeout();
	if (via == VIA_SOCKET || (via == VIA_UNIX && woken_by_task(q)))
		return by_waker_alone(q, via);
	if (q->gap)
		return verdict_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0);
	if (used && (used == sock || used == peer))
		/*
		 * The waker shut the socket down or just used the other end. The recorded owner may
		 * be a parent that used it earlier.
		 */
		return the_waker(q, via);
	if (peer && peer->owner >= NR_PSEUDO_PROCESSES)
		return verdict_of(TRACE_WAIT_PROCESS, via, peer->owner);
	if (woken_by_task(q) && !brings_packets(q))
		return the_waker(q, via);
	if (via == VIA_UNIX)
		return by_waker_alone(q, via);
	return verdict_of(TRACE_WAIT_NETWORK, VIA_NONE, sock_address(q->a, sock));
}

static const struct {
	const char *prefix;
	uint8_t via;
} anonymous_files[] = {
	{"[eventfd", VIA_EVENTFD}, {"[signalfd", VIA_SIGNAL},  {"[eventpoll", VIA_POLL}, {"[io_uring", VIA_URING}, {"[pidfd", VIA_PIDFD},
	{"pidfd:", VIA_PIDFD},	   {"inotify", VIA_INOTIFY},   {"[inotify", VIA_INOTIFY}, {"[fanotify", VIA_INOTIFY}, {"pipe:", VIA_PIPE},
	/* a pseudoterminal: a process has the other end */
	{"socket:", VIA_SOCKET},   {"/dev/pts/", VIA_TTY},     {"/dev/ptmx", VIA_TTY},
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

static bool is_terminal(const struct question *q, file_idx file)
{
	return file_via(q->a, file) == VIA_TTY;
}

/* True if the waker is a task that acted on this file. */
static bool is_wakers(const struct question *q, file_idx idx)
{
	const struct file *file = &q->a->files.list[idx], *wakers = &q->a->files.list[q->waker->file];

	return woken_by_task(q) && !q->pending->cut && q->waker->file && file->ino == wakers->ino && file->dev == wakers->dev;
}

/*
 * Data of a file arrives through interrupts and kernel threads. If the waker was itself in a call
 * on the same file, it held the file's lock: for a large write, or a lease.
 */
static bool was_kept(const struct question *q, file_idx idx)
{
	return !q->waker->worker && is_wakers(q, idx);
}

/* True if the waker is a fanotify listener: it has to permit the access first. */
static bool was_allowed(const struct question *q)
{
	return woken_by_task(q) && !q->pending->cut && q->waker->file &&
	       strncmp(anonymous_name(file_text(q->a, q->waker->file)), "[fanotify", 9) == 0;
}

/*
 * For a call with an unknown descriptor, such as an ioctl() that creates it. If the waker acted on
 * the other end of a terminal, the wait is for a terminal.
 */
static struct verdict by_unknown_file(const struct question *q)
{
	return by_waker(q, woken_by_task(q) && is_terminal(q, q->waker->file) ? VIA_TTY : VIA_NONE);
}

static struct verdict by_file(const struct question *q, file_idx idx)
{
	const struct sock *sock;

	if (!idx)
		return by_unknown_file(q);
	if (ended_by_rcu(q))
		return by_waker_alone(q, VIA_NONE);
	switch (q->a->files.list[idx].mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
		if (was_kept(q, idx))
			return the_waker(q, VIA_LOCK);
		if (was_allowed(q))
			return the_waker(q, VIA_INOTIFY);
		/* fall through */
	case S_IFLNK:
	case S_IFBLK:
		return verdict_of(TRACE_WAIT_FILE, q->thread->flags & THREAD_THROTTLED ? VIA_THROTTLE : VIA_NONE, file_path(q->a, idx));
	case S_IFIFO:
		return by_waker(q, VIA_PIPE);
	case S_IFCHR:
		if (is_terminal(q, idx) && woken_by_task(q) && !q->pending->cut)
			return the_waker(q, VIA_TTY);
		return verdict_of(TRACE_WAIT_DEVICE, VIA_NONE, file_path(q->a, idx));
	case S_IFSOCK:
		sock = sock_of_file(q->a, idx);
		return sock ? by_socket(q, sock) : by_waker(q, VIA_SOCKET);
	default: /* no type: an anonymous inode, or a file with a known path only */
		if (strncmp(anonymous_name(file_text(q->a, idx)), "[timerfd", 8) == 0)
			return timeout();
		if (file_text(q->a, idx)[0] == '/')
			return verdict_of(TRACE_WAIT_FILE, VIA_NONE, file_path(q->a, idx));
		return by_waker(q, file_via(q->a, idx));
	}
}

static struct verdict by_path(const struct question *q)
{
	if (q->frame->file)
		return by_file(q, q->frame->file);
	if (was_allowed(q))
		return the_waker(q, VIA_INOTIFY); /* or it denied the access: then there is no descriptor */
	if (q->frame->has_path && !q->gap && !ended_by_rcu(q))
		return verdict_of(TRACE_WAIT_FILE, VIA_NONE, given_path(q));
	return by_waker(q, VIA_NONE);
}

/* ---- by class of the system call ---- */

static struct verdict call_other(const struct question *q)
{
	return q->frame->has_path ? by_path(q) : by_waker(q, VIA_NONE);
}

static struct verdict call_on_file(const struct question *q)
{
	if (q->a->calls[q->frame->call].flags & CALL_IS_LOCK)
		return by_waker(q, VIA_LOCK);
	return by_file(q, q->frame->file);
}

/* True if the waker acted on this pipe or on the peer of this socket. */
static bool used_by_waker(const struct question *q, file_idx idx)
{
	const struct sock *sock = sock_of_file(q->a, idx), *peer = sock ? sock_peer(q->a, sock) : NULL;

	return is_wakers(q, idx) || (peer && woken_by_task(q) && !q->pending->cut && sock_of_file(q->a, q->waker->file) == peer);
}

/*
 * For calls that copy from one file to another. With one regular file: a disk's completion is for
 * the regular file, any other wakeup is for the other one. With no regular file: the file that the
 * waker used, or else the first.
 */
static struct verdict between(const struct question *q, file_idx one, file_idx two)
{
	bool one_is_disk = one && S_ISREG(q->a->files.list[one].mode);
	bool disk = q->waker->cause == CAUSE_BLOCK;

	if (!one || !two)
		return by_file(q, one ? one : two);
	if (!one_is_disk && !S_ISREG(q->a->files.list[two].mode))
		return by_file(q, used_by_waker(q, two) ? two : one);
	return by_file(q, one_is_disk == disk ? one : two);
}

static struct verdict call_sendfile(const struct question *q)
{
	return between(q, q->frame->file, fd_file(q->thread, (int32_t)q->frame->args[1]));
}

static struct verdict call_splice(const struct question *q)
{
	return between(q, q->frame->file, fd_file(q->thread, (int32_t)q->frame->args[2]));
}

static struct verdict call_fcntl(const struct question *q)
{
	return by_waker(q, VIA_LOCK);
}

static struct verdict call_sleep(const struct question *q)
{
	return timeout();
}

static struct verdict call_futex(const struct question *q)
{
	return by_waker(q, VIA_FUTEX);
}

static struct verdict call_wait(const struct question *q)
{
	return by_waker(q, VIA_WAITPID);
}

static struct verdict call_fork(const struct question *q)
{
	return by_waker(q, q->pending->flags & THREAD_VFORK ? VIA_VFORK : VIA_FORK);
}

static struct verdict call_pause(const struct question *q)
{
	return by_waker(q, VIA_SIGNAL);
}

static struct verdict call_ptrace(const struct question *q)
{
	return by_waker(q, VIA_PTRACE);
}

/* SEMTIMEDOP of <linux/ipc.h>: operations up to it are on semaphores, the next ones on messages */
#define IPC_SEMTIMEDOP 4

static struct verdict call_ipc(const struct question *q)
{
	const char *name = strings_text(&q->a->strings, q->a->calls[q->frame->call].name);
	bool semaphore = strncmp(name, "sem", 3) == 0;

	if (strcmp(name, "ipc") == 0)
		semaphore = (q->frame->args[0] & 0xffff) <= IPC_SEMTIMEDOP;
	return by_waker(q, semaphore ? VIA_SEMAPHORE : VIA_MQUEUE);
}

/* True for a server: its process has listened on a socket at some time. */
static bool listens(const struct question *q)
{
	return q->thread->fds && q->thread->fds->nr_listening;
}

/*
 * For a wait without a waker: the cause that the wait would have if this file ended it. Kind
 * `unknown` if the file does not decide.
 */
static struct verdict would_end(const struct question *q, file_idx file)
{
	struct frame frame = *q->frame;
	struct question its = *q;
	struct verdict v;

	frame.file = file;
	its.frame = &frame;
	v = by_file(&its, file);
	if (v.kind == TRACE_WAIT_PROCESS && v.target == PROCESS_SEVERAL && v.via == VIA_EVENTFD)
		/* another process is rare, and an eventfd has no name by which to find it */
		v.target = q->thread->process->idx;
	if (v.kind == TRACE_WAIT_OTHER)
		v.kind = TRACE_WAIT_UNKNOWN;
	return v;
}

/* Combine the causes of several files: their common cause, or "several" if they differ. */
static struct verdict agreed(struct verdict sum, struct verdict v, enum via via)
{
	if (v.kind == TRACE_WAIT_UNKNOWN)
		return sum;
	if (sum.kind != TRACE_WAIT_UNKNOWN && wait_key(&sum) != wait_key(&v))
		return verdict_of(TRACE_WAIT_PROCESS, via, PROCESS_SEVERAL);
	return v;
}

static struct verdict of_descriptors(const struct question *q)
{
	const struct end_wait *end = end_wait_of(q->a, q->thread, q->frame);
	struct verdict sum = {.kind = TRACE_WAIT_UNKNOWN};

	if (end && end->counts_fds && !end->nr_fds)
		return timeout(); /* poll() without descriptors is a sleep */
	for (uint32_t i = 0; end && i < end->nr_fds; i++)
		sum = agreed(sum, would_end(q, fd_file(q->thread, q->a->end.fds[end->first_fd + i])), VIA_POLL);
	return sum.kind == TRACE_WAIT_UNKNOWN ? other_call(q, VIA_POLL) : sum;
}

/* The common cause of the io_uring requests that are still in progress. */
static struct verdict of_requests(const struct question *q)
{
	struct verdict sum = {.kind = TRACE_WAIT_UNKNOWN};
	file_idx file;

	for (size_t i = 0; (file = ender_request(q->a, q->thread->process, i)); i++)
		sum = agreed(sum, would_end(q, file), VIA_URING);
	if (sum.kind == TRACE_WAIT_UNKNOWN)
		return by_call_alone(q, VIA_URING);
	if (sum.kind == TRACE_WAIT_PROCESS || sum.kind == TRACE_WAIT_FILE)
		sum.via = VIA_URING;
	return sum;
}

/* The latest decided wait of an io_uring worker, as the wait of its submitter. */
static struct verdict the_workers(const struct question *q)
{
	uint64_t key = q->waker->thread->last_wait;

	return (struct verdict){.kind = key >> 48 & 0x7fff, .via = VIA_URING, .target = (uint32_t)key};
}

static struct verdict call_uring(const struct question *q)
{
	const struct trace_process *self = q->thread->process;
	file_idx file = self->uring_ns >= q->pending->from && !q->pending->cut ? self->uring_file : 0;
	const struct trace_thread *waker = q->pending->cut ? NULL : q->waker->thread;
	struct verdict v;

	if (waker && (waker->flags & THREAD_IO_WORKER) && waker->process == self && waker->last_wait_ns > q->pending->from &&
	    !(*file_text(q->a, file) && S_ISREG(q->a->files.list[file].mode)))
		return the_workers(q);
	if (q->pending->cut && !q->gap)
		v = of_requests(q);
	else
		v = file ? by_file(q, file) : by_waker(q, VIA_URING);
	if (v.kind == TRACE_WAIT_PROCESS || v.kind == TRACE_WAIT_FILE)
		v.via = VIA_URING;
	v.idle = (v.kind == TRACE_WAIT_PROCESS || v.kind == TRACE_WAIT_NETWORK) && listens(q);
	return v;
}

/* An io_uring worker waits for work from its submitter, or for the file of a request. */
static struct verdict io_worker(const struct question *q)
{
	struct verdict v = by_waker(q, VIA_URING);

	v.idle = v.kind == TRACE_WAIT_TIMEOUT || (v.kind == TRACE_WAIT_PROCESS && v.target == q->thread->process->idx);
	return v;
}

static struct verdict call_exec(const struct question *q)
{
	if (woken_by_task(q) && q->waker->thread->process == q->thread->process)
		return by_waker(q, VIA_EXEC); /* the other threads of the process had to exit first */
	return by_path(q);
}

static struct verdict call_sync_all(const struct question *q)
{
	return verdict_of(TRACE_WAIT_FILE, VIA_NONE, strings_intern(&q->a->strings, "(all files)"));
}

#define MAP_ANONYMOUS_FLAG 0x20 /* MAP_ANONYMOUS of x86 */

/*
 * The file that the call pages in. mmap() names it; for the other calls it is the file of the last
 * page.
 */
static file_idx populated_file(const struct question *q)
{
	const struct frame *frame = q->frame;

	if (frame_class(q->a, frame) != CALL_MMAP)
		return frame->file;
	return frame->nr_args == 6 && !(frame->args[3] & MAP_ANONYMOUS_FLAG) ? fd_file(q->thread, (int32_t)frame->args[4]) : 0;
}

static struct verdict call_memory(const struct question *q)
{
	file_idx file = populated_file(q);

	if (q->pending->cut || woken_by_task(q) || q->waker->cause != CAUSE_BLOCK)
		return by_waker(q, VIA_MEMORY);
	return file ? by_file(q, file) : verdict_of(TRACE_WAIT_MEMORY, VIA_NONE, 0);
}

static struct verdict call_msync(const struct question *q)
{
	return by_file(q, memory_find(q->thread->memory, q->frame->args[0]));
}

static struct verdict call_accept(const struct question *q)
{
	struct verdict v = by_file(q, q->frame->file);

	v.idle = v.kind != TRACE_WAIT_UNKNOWN;
	return v;
}

static struct verdict call_socketcall(const struct question *q)
{
	return call_accepts(q->a, q->frame) ? call_accept(q) : call_on_file(q);
}

/* poll, select, epoll: the file on which the waker acted shows which descriptor became ready. */
static struct verdict call_poll(const struct question *q)
{
	const struct sock *sock = q->waker->cause == CAUSE_SOCKET ? sock_of_inode(q->a, q->waker->detail) : NULL;
	const struct sock *wakers = sock_of_file(q->a, q->waker->file); /* the waker's end */
	struct verdict v;

	if (q->pending->cut)
		v = q->gap ? verdict_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0) : of_descriptors(q);
	else if (q->waker->by_signal && woken_by_task(q)) /* for a signalfd, or it interrupted the call */
		v = the_waker(q, VIA_SIGNAL);
	else if (q->waker->file && S_ISFIFO(q->a->files.list[q->waker->file].mode))
		v = by_waker(q, VIA_PIPE);
	else if (sock)
		v = by_socket(q, sock);
	else if (wakers)
		v = by_waker(q, via_of_socket(wakers));
	else if (q->waker->via)
		v = by_waker(q, (enum via)q->waker->via);
	else
		v = by_waker(q, file_via(q->a, q->waker->file) ? file_via(q->a, q->waker->file) : VIA_POLL);
	v.idle = v.kind != TRACE_WAIT_UNKNOWN && v.via != VIA_SIGNAL && listens(q);
	return v;
}

/*
 * io_getevents(): the analysis does not follow its requests, as it does those of io_uring. The file
 * on which the waker acted decides, or the disk.
 */
static struct verdict call_aio(const struct question *q)
{
	struct verdict v = call_poll(q);

	/* a database that waits for its disk is not idle */
	v.idle &= v.kind == TRACE_WAIT_PROCESS || v.kind == TRACE_WAIT_NETWORK;
	return v;
}

static struct verdict (*const by_class[NR_CALL_CLASSES])(const struct question *) = {
	[CALL_OTHER] = call_other,	 [CALL_ACCEPT] = call_accept,	[CALL_AIO] = call_aio,
	[CALL_BIND] = call_on_file,	 [CALL_BRK] = call_memory,	[CALL_CLOSE] = call_on_file,
	[CALL_CLOSE_RANGE] = call_other, [CALL_CONNECT] = call_on_file, [CALL_DUP] = call_on_file,
	[CALL_DUP2] = call_on_file,	 [CALL_EPOLL_CTL] = call_other, [CALL_EPOLL_WAIT] = call_poll,
	[CALL_EXEC] = call_exec,	 [CALL_EXIT] = call_other,	[CALL_FCNTL] = call_fcntl,
	[CALL_FD_META] = call_on_file,	 [CALL_FD_NEW] = call_other,	[CALL_FORK] = call_fork,
	[CALL_FUTEX] = call_futex,	 [CALL_GETDENTS] = call_on_file, [CALL_IOCTL] = call_on_file,
	[CALL_IPC] = call_ipc,		 [CALL_KILL] = call_other,	[CALL_MEMORY] = call_memory,
	[CALL_MMAP] = call_memory,	 [CALL_MREMAP] = call_memory,	[CALL_MSYNC] = call_msync,
	[CALL_MUNMAP] = call_memory,	 [CALL_OPEN] = by_path,		[CALL_PATH] = by_path,
	[CALL_PAUSE] = call_pause,	 [CALL_PIPE] = call_other,	[CALL_POLL] = call_poll,
	[CALL_PTRACE] = call_ptrace,	 [CALL_READ] = call_on_file,	[CALL_RECV] = call_on_file,
	[CALL_SEEK] = call_on_file,	 [CALL_SELECT] = call_poll,	[CALL_SEND] = call_on_file,	 [CALL_SHMAT] = call_memory,
	[CALL_SENDFILE] = call_sendfile, [CALL_SLEEP] = call_sleep,	[CALL_SOCKET] = call_other,
	[CALL_SOCKETCALL] = call_socketcall, [CALL_SOCKETPAIR] = call_other,	 [CALL_SPLICE] = call_splice,	[CALL_SYNC] = call_on_file,
	[CALL_SYNC_ALL] = call_sync_all, [CALL_UNSHARE] = call_other,	[CALL_URING_ENTER] = call_uring,
	[CALL_WAIT] = call_wait,	 [CALL_WRITE] = call_on_file,	[CALL_YIELD] = call_other,
};

static struct verdict by_fault(const struct question *q, const struct frame *fault)
{
	file_idx file = fault->file ? fault->file : memory_find(q->thread->memory, fault->args[0]);

	if (file)
		return verdict_of(TRACE_WAIT_FILE, VIA_NONE, file_path(q->a, file));
	if (fault->dev) {
		device_learn(q->a, device_name(q->a, fault->dev), fault->dev, false);
		return verdict_of(TRACE_WAIT_FILE, VIA_NONE, device_name(q->a, fault->dev));
	}
	if (q->gap)
		return verdict_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0);
	if (woken_by_task(q))
		return the_waker(q, VIA_MEMORY);
	return verdict_of(TRACE_WAIT_MEMORY, VIA_NONE, 0);
}

static struct verdict new_child(const struct question *q)
{
	struct trace_process *own = q->thread->process, *parent = own->pid == q->thread->tid ? process_find(q->a, own->ppid) : own;

	return verdict_of(TRACE_WAIT_PROCESS, VIA_FORK, parent ? parent->idx : (uint32_t)PROCESS_UNKNOWN);
}

#define STOPPED_STATES (TRACE_TASK_STOPPED | TRACE_TASK_TRACED | TRACE_TASK_FROZEN)

/*
 * The freezer of control groups v2 has no task state. A frozen thread sleeps outside of all calls
 * until a task writes to cgroup.freeze.
 */
static bool is_thawed(const struct question *q)
{
	const char *path = woken_by_task(q) && q->waker->file ? file_text(q->a, q->waker->file) : "", *name = strrchr(path, '/');

	return name && strcmp(name, "/cgroup.freeze") == 0;
}

static bool polls(const struct question *q)
{
	enum call_class class = frame_class(q->a, q->frame);

	return class == CALL_POLL || class == CALL_SELECT || class == CALL_EPOLL_WAIT;
}

/*
 * A kernel thread's own wait. The trace does not show for which task it works. It shows a disk,
 * unless that disk's completion is the next job of the thread.
 */
static struct verdict kernel_thread(const struct question *q)
{
	struct verdict v = {.kind = TRACE_WAIT_KERNEL};

	v.idle = q->pending->task_state & (TRACE_TASK_INTERRUPTIBLE | TRACE_TASK_NOLOAD | TRACE_TASK_PARKED);
	if (!v.idle && !q->pending->cut && !q->waker->thread && q->waker->cause == CAUSE_BLOCK)
		return verdict_of(TRACE_WAIT_FILE, VIA_NONE, device_name(q->a, q->waker->detail));
	v.target = strings_intern(&q->a->strings, v.idle ? "next job" : "work");
	return v;
}

/* ---- the end was not recorded, but the result of the call was ---- */

static bool is_last(const struct question *q)
{
	return q->pending == &q->thread->pending[q->thread->nr_pending - 1];
}

/* The call timed out: no process and no file would make it return this. */
static bool timed_out(const struct question *q)
{
	return q->thread->ret == -ETIMEDOUT || (polls(q) && q->thread->ret == 0);
}

/* The call returned what it waited for, so that ended the wait. */
static bool succeeded(const struct question *q)
{
	return !polls(q) && (q->thread->ret > 0 || (q->thread->ret == 0 && frame_class(q->a, q->frame) == CALL_FUTEX));
}

/* True if no event is missing: otherwise the result could be that of another call. */
static bool result_tells(const struct question *q)
{
	return q->gap && (q->thread->flags & THREAD_RETURNS) && q->thread->nr_pending && is_last(q) && q->frame->kind == FRAME_SYSCALL &&
	       gap_log_first_loss(&q->a->gaps, q->pending->from, q->a->now) == UINT64_MAX;
}

static struct verdict decide(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending)
{
	static const struct frame none = {.call = CALL_UNKNOWN};
	const struct frame *top = pending->depth ? &thread->frames[pending->depth - 1] : NULL;
	struct question q = {.a = a, .thread = thread, .pending = pending, .waker = &pending->waker, .frame = frame_syscall(thread)};

	if (!q.frame)
		q.frame = &none;
	q.gap = pending->cut && (pending->known_ns != pending->to - pending->from || pending->to < a->end_ns);
	if (thread->flags & THREAD_HIDDEN)
		return hidden_wait(a, thread);
	if (pending->task_state == TASK_STATE_NEW)
		return new_child(&q);
	if (pending->task_state == TASK_STATE_QUOTA)
		return verdict_of(TRACE_WAIT_QUOTA, VIA_NONE, 0);
	if (thread->flags & THREAD_KERNEL)
		return kernel_thread(&q);
	if (pending->task_state & STOPPED_STATES)
		return verdict_of(TRACE_WAIT_STOPPED, VIA_NONE, 0);
	if (pending->flags & THREAD_RECLAIM)
		return verdict_of(TRACE_WAIT_MEMORY, VIA_NONE, 0);
	if (result_tells(&q)) {
		if (timed_out(&q))
			return timeout();
		q.gap = !succeeded(&q);
		q.result = thread->ret;
	}
	if (pending->waker.by_signal && woken_by_task(&q) && top && frame_class(a, q.frame) != CALL_WAIT && !polls(&q))
		return the_waker(&q, VIA_SIGNAL);
	if (thread->flags & THREAD_IO_WORKER)
		return io_worker(&q);
	if (!top && is_thawed(&q))
		return verdict_of(TRACE_WAIT_STOPPED, VIA_NONE, 0);
	if (!top)
		return by_waker(&q, VIA_NONE);
	return top->kind == FRAME_TRAP ? by_fault(&q, top) : by_class[frame_class(a, q.frame)](&q);
}

struct verdict wait_decide(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending)
{
	struct verdict v = decide(a, thread, pending);

	if (v.kind == TRACE_WAIT_FILE && pending->waker.cause == CAUSE_BLOCK && !pending->waker.thread)
		device_learn(a, v.target, (uint32_t)pending->waker.detail, true);
	thread->last_wait = wait_key(&v);
	thread->last_wait_ns = pending->to;
	return v;
}
