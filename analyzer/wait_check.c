/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait_check.c - checks that a process named by a wait can have ended it
 *
 * wait.c names a process by its wakeup. These rules are independent of wakeups: they follow only
 * which process ever had which file, pipe, socket or memory.
 *
 *	via pipe          the process had an end of the pipe open
 *	via unix, tcp     it had the socket at the other end open, or the same socket
 *	via futex         it is the same process, or had the memory of the futex
 *	via lock          it had the file open; for a directory or a path, no rule
 *
 * A process that shared the descriptors (CLONE_FILES) or the memory (CLONE_VM) of the waiting
 * thread had all of them.
 *
 * "Ever" and not "now", because the process may close its end, or exit, before the wait is decided.
 * Example: 20 inherits the write end of pipe 70, writes, wakes 10, and closes it. 10 waited for 20
 * via "pipe", which 20 had open. A process 30 that interrupts 10 by a signal never had it.
 *
 * A rule is applied only if the evidence is complete until then: nothing was lost, no event was
 * excluded, and the process's descriptors are known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include "error_set.h"
#include "state.h"
#include "state_frame.h"
#include "wait_check.h"
#include "wait_evidence.h"
#include "wait_holder.h"

static bool is_complete(const struct trace_analysis *a, const struct trace_process *process, uint64_t from_ns)
{
	if (a->inconsistencies || a->filter.is_on || a->gaps.nr || a->masks.paused ||
	    gap_log_first_loss(&a->gaps, a->start_ns, a->now + 1) != UINT64_MAX)
		return false;
	for (size_t i = 0; i < TRACE_MASK_WORDS; i++)
		if (a->masks.unrecorded[i] & a->masks.recorded[i])
			return false; /* recorded for a part of the time */
	return a->counts[TRACE_EV_fs_open] && a->counts[TRACE_EV_start_thread] &&
	       evidence_is_complete(a, process, from_ns);
}

/* ---- rules: each returns what the process never had; NULL: no violation ---- */

static const char *check_pipe(const struct trace_analysis *a, const struct trace_process *process, file_idx idx)
{
	const struct traced_file *file = &a->files.list[idx];

	if (!idx || !S_ISFIFO(file->mode) || evidence_has_file(a, process, idx))
		return NULL;
	return "the other end of its pipe";
}

static const char *check_socket(struct trace_analysis *a, const struct trace_process *process, file_idx idx)
{
	const struct socket_state *sock = sock_of_file(a, idx);

	if (!sock || !sock->peer_ino || evidence_has_socket(a, process, sock->peer_ino) ||
	    evidence_has_file(a, process, idx))
		return NULL;
	return "the other end of its socket";
}

static const char *check_futex(const struct trace_analysis *a, const struct trace_thread *thread,
			       const struct trace_process *process, const struct frame *frame)
{
	file_idx file = memory_find(thread->memory, frame->args[0]);

	if (!frame->nr_args || !thread->memory || !thread->memory->nr || thread->memory->has_foreign)
		return NULL;
	if (evidence_has_file(a, process, file))
		return NULL;
	return "the memory of its futex";
}

static const char *check_lock(struct trace_analysis *a, const struct trace_process *process, file_idx idx,
			      string_id path)
{
	const struct traced_file *file = &a->files.list[idx];

	if (!idx || (path && path != file_path(a, idx)) || !S_ISREG(file->mode) || is_kernel_file(file_text(a, idx)) ||
	    evidence_has_file(a, process, idx))
		return NULL;
	return "the file of its lock";
}

static const char *violated(struct trace_analysis *a, const struct trace_thread *thread,
			    const struct trace_process *process, const struct frame *frame, const struct wait_cause *v)
{
	string_id path = wait_path(a, v);

	switch ((enum via)v->via) {
	case VIA_PIPE:
		return check_pipe(a, process, frame->file);
	case VIA_UNIX:
	case VIA_TCP:
	case VIA_TCP_TIMER:
		return check_socket(a, process, frame->file);
	case VIA_FUTEX:
		return check_futex(a, thread, process, frame);
	case VIA_LOCK:
		return check_lock(a, process, frame->file, path);
	default:
		return NULL;
	}
}

void check_wait(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		const struct wait_cause *v)
{
	const struct trace_process *process = v->kind == TRACE_WAIT_PROCESS ? wait_process(a, v) : NULL;
	const struct frame *frame = frame_syscall(thread);
	const char *never_had;

	if (!process || process == thread->process || process->idx < NR_PSEUDO_PROCESSES || !frame ||
	    *a->evidence->violation || !is_complete(a, process, pending->from) || evidence_shares(a, process, thread))
		return;
	never_had = violated(a, thread, process, frame, v);
	if (!never_had)
		return;
	snprintf(a->evidence->violation, sizeof(a->evidence->violation),
		 "thread %u (%s), sched_waking at %" PRIu64 ".%09u s: its wait in %s() of %" PRIu64
		 " ns is told as for process %u (%s) via %s, which never had %s",
		 thread->tid, thread->comm, pending->to / 1000000000, (unsigned int)(pending->to % 1000000000),
		 strings_text(&a->strings, a->calls[frame->call].name), pending->to - pending->from, process->pid,
		 process->comm, via_name((enum via)v->via), never_had);
}

int check_result(const struct trace_analysis *a, struct trace_error *ret_error)
{
	if (!a->evidence || !*a->evidence->violation)
		return 0;
	return error_set(ret_error, -EBADMSG, "%s", a->evidence->violation);
}
