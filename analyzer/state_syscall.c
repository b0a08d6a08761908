/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_syscall.c - system calls: entry, exit, and the effect of a successful call on files and
 * memory. frame_end.c has their times.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "call_file.h"
#include "frame_end.h"
#include "interrupted.h"
#include "kernel_numbers.h"
#include "kernel_work.h"
#include "start_records.h"
#include "state.h"
#include "state_directory.h"
#include "state_frame.h"
#include "state_syscall.h"
#include "state_touch.h"

#define RANGE_UNSHARE 2 /* CLOSE_RANGE_UNSHARE, _CLOEXEC */
#define RANGE_CLOEXEC 4

/* ---- entry ---- */

static const struct trace_sys_enter6 *copy_args(const struct trace_event *event, struct frame *frame)
{
	/* the shorter forms have its first fields */
	const struct trace_sys_enter6 *enter = event->payload;

	if (event->id == TRACE_EV_sys_enter6) {
		memcpy(frame->args, &enter->arg0, sizeof(frame->args));
		frame->nr_args = 6;
	} else if (event->id == TRACE_EV_sys_enter3) {
		memcpy(frame->args, &enter->arg0, 3 * sizeof(frame->args[0]));
		frame->nr_args = 3;
	} else {
		frame->nr_args = 0;
	}
	return enter;
}

static void apply_at_entry(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame);

static void close_socket(struct trace_analysis *a, struct trace_thread *thread, file_idx file)
{
	struct socket_state *sock = sock_of_file(a, file);

	if (sock)
		request_close(a, thread, sock);
}

/* A server that sends no more has answered, as with close(). */
static void shut_socket_down(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame)
{
	struct socket_state *sock = sock_of_file(a, frame->file);

	if (sock && sock->role == ROLE_SERVER && frame->args[1] != LINUX_SHUT_RD)
		request_close(a, thread, sock);
}

/*
 * Some calls change descriptors at their entry, since the kernel does it early: another thread may
 * get the number again before the call ends. If exits are not recorded, the effect of any call on
 * descriptors in use is applied at the entry, as if the call succeeded. Otherwise these descriptors
 * would keep an outdated name.
 */
static void take_effect_at_entry(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame)
{
	if (a->masks.no_exits)
		apply_at_entry(a, thread, frame);
	switch (frame_class(a, frame)) {
	case CALL_CLOSE:
		close_socket(a, thread, frame->file);
		fd_put(a, thread, (int32_t)frame->args[0], 0, false);
		break;
	case CALL_FD_META:
		if (a->calls[frame->call].flags & CALL_SHUTS_DOWN)
			shut_socket_down(a, thread, frame);
		break;
	case CALL_CLOSE_RANGE:
		if (frame->args[2] & RANGE_UNSHARE)
			fds_own(a, thread);
		if (!(frame->args[2] & RANGE_CLOEXEC))
			fd_close_range(a, thread, (uint32_t)frame->args[0], (uint32_t)frame->args[1]);
		break;
	case CALL_EXIT:
		thread->is_dying = true;
		break;
	default:
		break;
	}
}

void on_sys_enter(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	struct trace_thread *thread = cpu->current;
	const struct trace_sys_enter6 *enter;
	struct frame *frame;

	if (thread && thread->depth)
		account_before_user(a, cpu, ns);
	else
		acct_cpu(a, cpu, ns);
	cpu->touched = true;
	if (!thread || thread == &cpu->idle || (thread->flags & THREAD_KERNEL))
		return;
	acct_mode(a, thread, false);
	if (thread->read_ns)
		start_call_ended(thread, ns);
	if (thread->depth)
		frames_pop(a, thread, ns, 0, 0);
	if (thread->is_dying)
		thread->is_dying = false; /* its number belongs to another thread now, or events contradict */
	cpu->cause = CAUSE_NONE;
	cpu->signalled = 0;
	cpu->woken = NULL;
	thread->flags &= ~(THREAD_THROTTLED | THREAD_RECLAIM | THREAD_VFORK);
	frame = &thread->frames[0];
	thread->depth = 1;
	enter = copy_args(event, frame);
	frame->kind = FRAME_SYSCALL;
	frame->call = call_get(a, enter->nr, enter->abi);
	if (frame->nr_args > a->calls[frame->call].nr_args)
		frame->nr_args = a->calls[frame->call].nr_args;
	frame->has_path = false;
	frame->fd_seen = false;
	frame->path_late = false;
	frame->own_file = 0;
	frame->file = call_file(a, thread, frame);
	thread_snapshot(thread, ns, &frame->begin);
	if (thread->is_interrupted)
		interrupted_enter(a, thread, frame);
	take_effect_at_entry(a, thread, frame);
}

/*
 * Keeps the path until the thread's next call with a path. It is not interned: most calls do not
 * wait, and no report needs their paths.
 */
static bool path_keep(struct trace_analysis *a, struct trace_thread *thread, const char *path)
{
	size_t bytes = strlen(path) + 1;

	if (bytes > thread->path_room) {
		char *bigger = realloc(thread->path, bytes * 2);

		if (!bigger) {
			a->failed = -ENOMEM;
			return false;
		}
		thread->path = bigger;
		thread->path_room = (uint32_t)bytes * 2;
	}
	memcpy(thread->path, path, bytes);
	return *path;
}

void on_sys_path(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	struct trace_thread *thread = cpu->current;
	struct frame *frame = thread ? frame_syscall(thread) : NULL;

	if (!frame)
		return;
	frame->has_path = path_keep(a, thread, trace_event_string(event));
	if (a->failed)
		return;
	frame->path_late = ((const struct trace_sys_path *)event->payload)->late;
	if (!frame->has_path) /* AT_EMPTY_PATH: the descriptor's own file */
		frame->file = call_directory(a, thread, frame);
	if (frame->path_late) {
		thread->late_path = path_whole(a, thread, frame);
		thread->late_from_ns = frame->begin.ns;
		thread->late_to_ns = ns;
	}
}

/*
 * The futex at which a thread was woken that waited for several: its own arguments do not have it.
 */
void on_futex_woken(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	struct trace_thread *thread = cpu->current;
	struct frame *frame = thread ? frame_syscall(thread) : NULL;

	if (frame && frame_class(a, frame) == CALL_FUTEX && frame->nr_args)
		frame->args[0] = ((const struct trace_futex_woken *)event->payload)->address;
}

/* The files of the descriptors for which the call that polls them returns. */
void on_fs_ready(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_fs_ready *ready = event->payload;
	const int32_t fds[MAX_READY_FILES] = {ready->fd0, ready->fd1, ready->fd2, ready->fd3};
	struct trace_thread *thread = cpu->current;

	if (!thread || !frame_syscall(thread))
		return;
	if (!thread->ready)
		thread->ready = calloc(1, sizeof(*thread->ready));
	if (!thread->ready) {
		a->failed = -ENOMEM;
		return;
	}
	for (int i = 0; i < MAX_READY_FILES; i++)
		thread->ready->files[i] = fds[i] >= 0 ? fd_file(thread, fds[i]) : 0;
	thread->ready->ns = ns;
}

/* ---- effects of a successful return ---- */

/* The kernel uses 32 bits of each number. */
static void effect_close_range(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame,
			       int64_t ret)
{
	if (frame->args[2] & RANGE_CLOEXEC)
		fd_cloexec_range(thread, (uint32_t)frame->args[0], (uint32_t)frame->args[1]);
}

static void effect_dup(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	bool is_2 = frame_class(a, frame) == CALL_DUP2,
	     cloexec = is_2 && frame->nr_args >= 3 && (frame->args[2] & LINUX_O_CLOEXEC);

	/* the close-on-exec flag does not change either */
	if (is_2 && (int32_t)frame->args[0] == ret)
		return;
	if (!frame->fd_seen)
		fd_put(a, thread, ret, frame->file, cloexec);
}

static void effect_fcntl(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	uint64_t command = (uint32_t)frame->args[1];

	if (command == LINUX_F_SETFD)
		fd_set_cloexec(thread, (int32_t)frame->args[0], frame->args[2] & LINUX_FD_CLOEXEC);
	else if ((command == LINUX_F_DUPFD || command == LINUX_F_DUPFD_CLOEXEC) && !frame->fd_seen)
		fd_put(a, thread, ret, frame->file, command == LINUX_F_DUPFD_CLOEXEC);
}

static void effect_futex(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	futex_called(a, thread, frame);
}

static void effect_ioctl(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	uint32_t command = (uint32_t)frame->args[1];

	if (command == LINUX_FIOCLEX || command == LINUX_FIONCLEX)
		fd_set_cloexec(thread, (int32_t)frame->args[0], command == LINUX_FIOCLEX);
}

static void effect_open(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	/* fs_open is switched off or was lost: use the program's path */
	if (!frame->fd_seen && frame->has_path && !file_opened_early(thread, frame, ret))
		fd_put(a, thread, ret, file_get(a, strings_text(&a->strings, path_whole(a, thread, frame)), 0, 0, 0),
		       false);
}

static void effect_unshare(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame,
			   int64_t ret)
{
	if (frame->args[0] & LINUX_CLONE_FILES)
		fds_own(a, thread);
	if (frame->args[0] & (LINUX_CLONE_FS | LINUX_CLONE_NEWNS))
		directories_own(a, thread);
}

static void apply_at_entry(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame)
{
	switch (frame_class(a, frame)) {
	case CALL_CLOSE_RANGE:
		effect_close_range(a, thread, frame, 0);
		break;
	case CALL_DUP2:
		if (frame->nr_args >= 2)
			effect_dup(a, thread, frame, (int32_t)frame->args[1]);
		break;
	case CALL_FCNTL:
		if ((uint32_t)frame->args[1] == LINUX_F_SETFD)
			effect_fcntl(a, thread, frame, 0);
		break;
	case CALL_IOCTL:
		effect_ioctl(a, thread, frame, 0);
		break;
	case CALL_UNSHARE:
		effect_unshare(a, thread, frame, 0);
		break;
	default:
		break;
	}
}

/*
 * Memory shared with child processes is a file without a name in the kernel. Each such call makes a
 * new file.
 */
static file_idx anonymous_file(struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame)
{
	if (!(frame->args[3] & LINUX_MAP_SHARED) || (frame->args[3] & LINUX_MAP_PRIVATE))
		return 0;
	return file_get(a, "/dev/zero (deleted)", 0, ++a->files.nr_anonymous, 0100000);
}

/* The file of such memory is not known. */
static void effect_shmat(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	if (!thread->memory)
		thread->memory = memory_new(a);
	if (!thread->memory)
		return;
	memory_has_foreign(a, thread->memory);
	memory_copied_since(a, thread->memory, frame->begin.ns, 0);
}

#define PAGE_BYTES 4096u /* the smallest page: the kernel maps whole ones */

/* The range of a call on memory. Returns false if no memory has it. */
static bool range_of(uint64_t start, uint64_t bytes, struct mapping *ret_range)
{
	uint64_t end;

	if (__builtin_add_overflow(start, bytes, &end) || __builtin_add_overflow(end, PAGE_BYTES - 1, &end))
		return false;
	*ret_range = (struct mapping){.start = start, .end = end & ~(uint64_t)(PAGE_BYTES - 1)};
	return true;
}

/* Where a mapping of a file begins in it: mmap2() of 32-bit programs counts pages. */
static uint64_t offset_of(const struct trace_analysis *a, const struct frame *frame)
{
	bool in_pages = strcmp(strings_text(&a->strings, a->calls[frame->call].name), "mmap2") == 0;

	return in_pages ? (uint64_t)(uint32_t)frame->args[5] * PAGE_BYTES : frame->args[5];
}

static void effect_mmap(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	bool anonymous = frame->args[3] & LINUX_MAP_ANONYMOUS;
	struct mapping map;
	file_idx file;

	if (!thread->memory)
		thread->memory = memory_new(a);
	if (!thread->memory)
		return;
	if (frame->nr_args < 6) { /* an old call of 32-bit programs, with its arguments in memory */
		effect_shmat(a, thread, frame, ret);
		return;
	}
	if (!range_of((uint64_t)ret, frame->args[1], &map))
		return;
	file = anonymous ? anonymous_file(a, thread, frame) : fd_file(thread, (int32_t)frame->args[4]);
	map.file = file;
	map.offset = offset_of(a, frame);
	map.is_private = !(frame->args[3] & LINUX_MAP_SHARED);
	memory_map(a, thread->memory, map);
	if (!file && !anonymous && (frame->args[3] & LINUX_MAP_SHARED))
		memory_has_foreign(a, thread->memory);
	if (frame->args[3] & LINUX_MAP_SHARED)
		memory_copied_since(a, thread->memory, frame->begin.ns, file);
	if (a->rules)
		rules_mapped(a, thread, file);
	if (!anonymous && (frame->args[3] & LINUX_MAP_SHARED) && (frame->args[2] & LINUX_PROT_WRITE))
		dirty_learn(a, thread->process_idx, file, true);
}

/* A 32-bit program gives the call of System V in the first argument, with a version. */
static void effect_ipc(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	if ((frame->args[0] & 0xffff) == LINUX_IPC_SHMAT)
		effect_shmat(a, thread, frame, ret);
}

static void effect_munmap(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	struct mapping hole;

	if (thread->memory && range_of(frame->args[0], frame->args[1], &hole))
		memory_map(a, thread->memory, hole);
}

static void effect_mremap(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	const struct mapping *from = memory_at(thread->memory, frame->args[0]);
	struct mapping old, new;

	if (!thread->memory || !range_of(frame->args[0], frame->args[1], &old) ||
	    !range_of((uint64_t)ret, frame->args[2], &new))
		return;
	if (!from && !(frame->args[3] & LINUX_MREMAP_FIXED))
		return; /* the place was free: a mapping that is known there was read later */
	if (from) {
		new.offset = from->offset + (old.start - from->start);
		new.file = from->file;
		new.is_private = from->is_private;
	}
	if (!(frame->args[3] & LINUX_MREMAP_DONTUNMAP))
		memory_map(a, thread->memory, old);
	memory_map(a, thread->memory, new);
	if (new.file && !new.is_private)
		memory_copied_since(a, thread->memory, frame->begin.ns, new.file);
}

/* The file of the call's descriptor: in between it may have waited for another one. */
static file_idx own_file(const struct frame *frame)
{
	return frame->own_file ? frame->own_file : frame->file;
}

static void effect_sendfile(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame,
			    int64_t ret)
{
	file_count_written(a, thread, own_file(frame), (uint64_t)ret);
	file_count_read(a, thread, call_second_file(a, thread, frame), (uint64_t)ret);
}

/* vmsplice() has one descriptor: which end of the pipe it is says where the data went. */
static void effect_vmsplice(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame,
			    int64_t ret)
{
	if (!frame->file)
		return;
	if (a->files.list[frame->file].mode & FILE_WRITE_END)
		file_count_written(a, thread, frame->file, (uint64_t)ret);
	else
		file_count_read(a, thread, frame->file, (uint64_t)ret);
}

static void effect_splice(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	const struct call *call = &a->calls[frame->call];

	if (call->second_fd < 0) {
		effect_vmsplice(a, thread, frame, ret);
		return;
	}
	if (!(call->flags & CALL_KEEPS_DATA))
		file_count_read(a, thread, own_file(frame), (uint64_t)ret);
	file_count_written(a, thread, call_second_file(a, thread, frame), (uint64_t)ret);
}

static void (*const effects[NR_CALL_CLASSES])(struct trace_analysis *, struct trace_thread *, const struct frame *,
					      int64_t) = {
	[CALL_CLOSE_RANGE] = effect_close_range,
	[CALL_DUP] = effect_dup,
	[CALL_DUP2] = effect_dup,
	[CALL_FCNTL] = effect_fcntl,
	[CALL_FUTEX] = effect_futex,
	[CALL_IOCTL] = effect_ioctl,
	[CALL_IPC] = effect_ipc,
	[CALL_MMAP] = effect_mmap,
	[CALL_MREMAP] = effect_mremap,
	[CALL_MUNMAP] = effect_munmap,
	[CALL_OPEN] = effect_open,
	[CALL_SENDFILE] = effect_sendfile,
	[CALL_SHMAT] = effect_shmat,
	[CALL_SPLICE] = effect_splice,
	[CALL_UNSHARE] = effect_unshare,
};

static void syscall_effect(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame,
			   int64_t ret)
{
	const struct call *call = &a->calls[frame->call];
	uint64_t bytes = call->flags & CALL_MESSAGES ? 0 : (uint64_t)ret;

	if (ret < 0 && ret >= -4095)
		return;
	if (call->flags & CALL_HAS_EFFECT)
		effects[call->class](a, thread, frame, ret);
	if (call->flags & CALL_COUNTS_READ)
		file_count_read(a, thread, own_file(frame), bytes);
	if (call->flags & CALL_COUNTS_WRITTEN)
		file_count_written(a, thread, own_file(frame), bytes);
}

/* After a loss the result may be that of another call. */
static void effect_in_doubt(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame,
			    int64_t ret)
{
	struct frame sure = *frame;

	if (doubt_hides(a, thread, frame))
		sure.file = sure.own_file = 0;
	syscall_effect(a, thread, &sure, ret);
}

void on_sys_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sys_exit *exit = event->payload;
	struct trace_thread *thread = cpu->current;
	struct frame *frame;

	acct_cpu(a, cpu, ns);
	cpu->touched = true;
	if (!thread || thread == &cpu->idle || (thread->flags & THREAD_KERNEL))
		return;
	acct_mode(a, thread, true);
	if (thread->read_ns)
		start_call_ended(thread, ns);
	frame = frame_syscall(thread);
	if (frame && __builtin_expect(a->doubt.nr != 0, 0))
		effect_in_doubt(a, thread, frame, exit->ret);
	else if (frame)
		syscall_effect(a, thread, frame, exit->ret);
	if (thread->nr_pending) {
		thread->flags |= THREAD_RETURNS;
		thread->ret = exit->ret;
		if (frame && (exit->ret < 0 || thread->is_interrupted ||
			      thread->pending[thread->nr_pending - 1].waker.by_signal ||
			      frame_class(a, frame) == CALL_URING_ENTER))
			interrupted_return(a, thread, frame, exit->ret);
	}
	if (frame && exit->ret < 0)
		interrupted_at_once(a, thread, frame, exit->ret);
	frames_pop(a, thread, ns, 0, exit->ret);
	thread->flags &= ~THREAD_RETURNS;
	if (thread->is_interrupted)
		interrupted_left(a, thread, &thread->frames[0], thread->frames[0].begin.ns);
}
