/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef STRACE_STATE_H
#define STRACE_STATE_H

/* strace_state.h - what --strace knows of the calls, signals and threads during the pass */

#include <stdio.h>
#include "report.h"
#include "strace_filter.h"
#include "strace_summary.h"
#include "strace_values.h"
#include "whole_file.h"

#define NR_CALLS   512u
#define NAME_BYTES 256u

/* A system call of one ABI. */
struct call_known {
	struct call_meaning row;
	bool is_wanted;
	struct call_sums sums;
};

/* The signals that were sent to a thread, and that it has not got yet: the latest of each number */
struct sent_signal {
	uint32_t signal;
	int32_t code;
	uint32_t pid;
	uint32_t uid;
	bool has_sender;
	int32_t status;	 /* of SIGCHLD: as in wait(2); -1: not known */
	bool is_ignored; /* the kernel dropped it; a process under strace would get it */
};
#define MAX_SENT 4u

/* A process that exited a moment ago: SIGCHLD tells its status. */
struct recent_exit {
	uint32_t pid;
	int32_t code;
};
#define MAX_EXITS 64u

struct strace_thread {
	const struct trace_thread *thread;
	struct strace_call call;
	uint64_t entered_ns;
	struct trace_times before;
	uint64_t waited_ns;	 /* the longest wait in this call */
	char *waited_for;	 /* owned; NULL: none */
	uint64_t caller;	 /* 0: not recorded */
	unsigned int nr_written; /* arguments of the entry that are written already */
	bool in_call;
	bool is_shown;
	bool is_begun; /* the entry is written, without its exit */
	bool is_decided;
	bool is_traced;
	bool is_counted;
	struct sent_signal sent[MAX_SENT];
	uint32_t nr_sent;
	struct whole_file file; /* owned; of -ff: it has its name once the thread has ended */
};

struct strace {
	struct report *report;
	const struct strace_choice *choice;
	struct strace_names names;
	struct call_known calls[2][NR_CALLS]; /* native and 32-bit */
	struct strace_thread **threads;	      /* owned; by index */
	size_t nr_threads;
	struct strace_thread *open; /* its entry is not written yet */
	struct string line;
	bool has_command; /* the trace is of a command */
	bool is_held;	  /* the line lacks its columns until the next event */
	struct strace_thread *held;
	struct trace_times held_times;
	uint32_t held_cpu;
	uint64_t held_caller;
	struct recent_exit exits[MAX_EXITS];
	size_t nr_exits; /* ever */
	uint64_t previous_ns;
	int64_t offset_ns; /* to CLOCK_REALTIME */
	uint32_t nr_alive;
	bool has_lines;
	bool has_failed;
};

static inline bool strace_is_error(int64_t ret)
{
	return ret < 0 && ret >= -4095;
}

#endif
