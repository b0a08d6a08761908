/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_H
#define ANALYZER_WAIT_H
/* wait.h - what a blocked thread waited for (wait.c), and the report of locks (locks.c). */
#include <stdbool.h>
#include <stdint.h>
#include "state_file.h"

struct pending;
struct trace_analysis;
struct trace_thread;

enum via {
	VIA_NONE = 0, VIA_WAITPID, VIA_PIPE, VIA_UNIX, VIA_TCP, VIA_UDP, VIA_FUTEX, VIA_SIGNAL, VIA_EVENTFD, VIA_PTRACE, VIA_VFORK,
	VIA_FORK, VIA_LOCK, VIA_SEMAPHORE, VIA_MQUEUE, VIA_PIDFD, VIA_EXEC, VIA_MEMORY, VIA_SOCKET, VIA_POLL, VIA_TTY, VIA_URING,
	VIA_INOTIFY, VIA_THROTTLE, VIA_EXIT,
	NR_VIAS,
};
struct verdict {
	uint8_t kind;
	uint8_t via;
	bool idle;
	uint32_t target; /* PROCESS: index of the process; else a string_id */
};

/** wait_decide() - decide the wait cause of @pending, a closed wait of @thread */
struct verdict wait_decide(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending);
const char *via_name(enum via via);
/**
 * file_via() - the via of a wait for @file, if its path shows a kind such as eventfd or pipe; else
 * NONE
 */
enum via file_via(const struct trace_analysis *a, file_idx file);
static inline uint64_t wait_key(const struct verdict *v)
{
	return 1ull << 63 | (uint64_t)v->kind << 48 | (uint64_t)v->via << 40 | (uint64_t)v->idle << 39 | v->target;
}

/* ---- locks.c ---- */

struct lock_row { /* see locks.c */
	uint64_t key;
	uint64_t subject; /* address of a futex, string_id of a file's path */
	uint32_t waiter, holder; /* processes */
	uint64_t via;
	uint64_t ns;
	uint64_t count;
};

/** lock_waited() - account a wait of @thread for a lock; its system call must still be its frame */
void lock_waited(struct trace_analysis *a, const struct trace_thread *thread, const struct verdict *v, uint64_t ns);
#endif
