/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_CAUSE_H
#define ANALYZER_WAIT_CAUSE_H
/*
 * wait_cause.h - the wait cause: what a blocked thread waited for, and by which means. wait.h
 * decides it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/analysis.h>

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
	VIA_JOIN,
	VIA_COREDUMP,
	VIA_TCP_TIMER,
	VIA_FUSE,
	VIA_FREEZER,
	NR_VIAS,
};
/**
 * struct wait_cause - @kind: enum trace_wait_kind; @via: enum via; @idle: waited for new work
 * @target: PROCESS: index of the process; with @has_path, of the wait_object: wait_object.h.
 *     STOPPED: index of the process, or 0. Else a string_id
 */
struct wait_cause {
	uint8_t kind;
	uint8_t via;
	bool idle;
	bool has_path;
	uint32_t target;
};

/** wait_cause_of() - a wait cause that is not idle */
static inline struct wait_cause wait_cause_of(enum trace_wait_kind kind, enum via via, uint32_t target)
{
	return (struct wait_cause){.kind = (uint8_t)kind, .via = (uint8_t)via, .target = target};
}

/** wait_key() - the cause as one number, which is never 0: the key of its row */
static inline uint64_t wait_key(const struct wait_cause *v)
{
	return 1ull << 63 | (uint64_t)v->kind << 48 | (uint64_t)v->via << 40 | (uint64_t)v->idle << 39 |
	       (uint64_t)v->has_path << 38 | v->target;
}

/** wait_of_key() - the cause of a wait_key() */
static inline struct wait_cause wait_of_key(uint64_t key)
{
	return (struct wait_cause){.kind = key >> 48 & 0x7fff,
				   .via = (uint8_t)(key >> 40),
				   .idle = key >> 39 & 1,
				   .has_path = key >> 38 & 1,
				   .target = (uint32_t)key};
}

const char *via_name(enum via via);
/** wait_hidden_cause() - the wait cause of a thread that has no recorded events */
struct wait_cause wait_hidden_cause(struct trace_analysis *a, const struct trace_thread *thread);
/** wait_unknown_cause() - the wait cause of unknown time of @thread, which may be NULL */
struct wait_cause wait_unknown_cause(struct trace_analysis *a, const struct trace_thread *thread);
#endif
