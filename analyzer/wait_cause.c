/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait_cause.c - the names of wait causes, and the causes of time without recorded events */
#include "state.h"
#include "wait_cause.h"

static const char *const via_names[NR_VIAS] = {
	"",	 "waitpid",  "pipe",	"unix",	     "tcp",    "udp",	"futex",    "signal",	 "eventfd", "ptrace",
	"vfork", "fork",     "lock",	"semaphore", "mqueue", "pidfd", "exec",	    "memory",	 "socket",  "poll",
	"tty",	 "io_uring", "inotify", "throttle",  "exit",   "join",	"coredump", "tcp_timer", "fuse",    "freezer",
};

const char *via_name(enum via via)
{
	return via_names[via];
}

const char *trace_wait_kind_name(enum trace_wait_kind kind)
{
	static const char *const names[TRACE_NR_WAIT_KINDS] = {"file",	  "process", "network", "timeout",
							       "device",  "memory",  "stopped", "other",
							       "unknown", "kernel",  "quota"};

	return (unsigned int)kind < TRACE_NR_WAIT_KINDS ? names[kind] : "unknown";
}

struct wait_cause wait_hidden_cause(struct trace_analysis *a, const struct trace_thread *thread)
{
	bool asleep = thread->flags & THREAD_ASLEEP;

	return (struct wait_cause){.kind = TRACE_WAIT_UNKNOWN,
				   .idle = asleep,
				   .target = strings_intern(&a->strings, asleep ? "asleep, hidden" : "hidden")};
}

struct wait_cause wait_unknown_cause(struct trace_analysis *a, const struct trace_thread *thread)
{
	return thread && (thread->flags & THREAD_HIDDEN) ? wait_hidden_cause(a, thread)
							 : (struct wait_cause){.kind = TRACE_WAIT_UNKNOWN};
}
