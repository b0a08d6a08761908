/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_H
#define ANALYZER_WAIT_H
/* wait.h - what a blocked thread waited for: the wait cause */
#include <stdbool.h>
#include <stdint.h>
#include "state_file.h"

struct pending;
struct trace_analysis;
struct trace_thread;

enum via {
	VIA_NONE = 0,
	VIA_WAITPID,
	VIA_PIPE,
	VIA_UNIX,
	VIA_TCP,
	VIA_UDP,
	VIA_FUTEX,
	VIA_SIGNAL,
	VIA_EVENTFD,
	VIA_PTRACE,
	VIA_VFORK,
	VIA_FORK,
	VIA_LOCK,
	VIA_SEMAPHORE,
	VIA_MQUEUE,
	VIA_PIDFD,
	VIA_EXEC,
	VIA_MEMORY,
	VIA_SOCKET,
	VIA_POLL,
	VIA_TTY,
	VIA_URING,
	VIA_INOTIFY,
	VIA_THROTTLE,
	VIA_EXIT,
	NR_VIAS,
};
struct wait_cause {
	uint8_t kind;
	uint8_t via;
	bool idle;
	uint32_t target; /* PROCESS: index of the process; else a string_id */
};

/** wait_decide() - decide the wait cause of @pending, a closed wait of @thread */
struct wait_cause wait_decide(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending);
/** wait_unknown_cause() - the wait cause of unknown time of @thread, which may be NULL */
struct wait_cause wait_unknown_cause(struct trace_analysis *a, const struct trace_thread *thread);
const char *via_name(enum via via);
/**
 * file_via() - the via of a wait for @file, if its path shows a kind such as eventfd or pipe; else
 * NONE
 */
enum via file_via(const struct trace_analysis *a, file_idx file);
static inline uint64_t wait_key(const struct wait_cause *v)
{
	return 1ull << 63 | (uint64_t)v->kind << 48 | (uint64_t)v->via << 40 | (uint64_t)v->idle << 39 | v->target;
}

#endif
