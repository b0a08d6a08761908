/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_SLOWEST_FIND_H
#define VISUALIZER_SLOWEST_FIND_H
/* slowest_find.h - the instances of a scope, a system call or a command: --slowest. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>
#include "checked_memory.h"
#include "report.h"

enum instance_kind { INSTANCE_SCOPE, INSTANCE_CALL, INSTANCE_COMMAND, NR_INSTANCE_KINDS };

/** enum instance_doubt - why the duration of an instance is not exact */
enum instance_doubt {
	DOUBT_NONE,
	DOUBT_BEGIN,	/* it began before the recording, or its begin was lost */
	DOUBT_END,	/* it had not ended at the end of the recording */
	DOUBT_BOTH,	/* it is longer than the recording */
	DOUBT_LOST_END, /* its end was not recorded */
	DOUBT_LOSS,	/* events were lost meanwhile: it may be several */
	NR_DOUBTS,
};

/**
 * struct instance - one of them
 * @thread: began it; of a command, the first thread of its process. NULL: not known
 * @least_ns: its duration; with a doubt, so long at least
 * @detail: of a scope or request: its entry in instance_list.details
 */
struct instance {
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t least_ns;
	const struct trace_thread *thread;
	uint32_t detail;
	uint8_t doubt; /* enum instance_doubt */
	bool has_begun, has_ended;
};

/** struct instance_detail - what only a scope or request has; @name: borrowed from the analysis */
struct instance_detail {
	const struct trace_process *process;
	const char *name;
	struct trace_span_piece *pieces; /* owned */
	size_t nr_pieces;
	uint32_t pid;
	uint32_t tid;
	bool is_request;
};

struct instance_list {
	struct instance *at; /* owned; after slowest_choose() the longest first */
	size_t nr, room;
	struct instance_detail *details; /* owned */
	size_t nr_details, room_details;
};

/**
 * struct instance_numbers - the durations of the instances without a doubt
 * Percentiles are durations of instances: at least this part of all took no longer.
 */
struct instance_numbers {
	size_t nr;
	uint64_t sum_ns, min_ns, p50_ns, p99_ns, max_ns;
	size_t nr_doubtful[NR_DOUBTS];
};

/** struct break - no event is certain to be recorded from @from_ns to @to_ns */
struct break_in_trace {
	uint64_t from_ns, to_ns;
};

/**
 * struct slowest - the search
 * @name: without the kind in front
 * @kinds: bit n: instances of enum instance_kind n are wanted
 * @kind: the chosen one
 */
struct slowest {
	const struct report *report;
	const char *name;
	uint32_t kinds;
	enum instance_kind kind;
	struct instance_list lists[NR_INSTANCE_KINDS];
	struct instance_numbers numbers;
	struct open_call *open; /* owned; by trace_thread_index() */
	size_t nr_open;
	struct hash_table start_calls; /* struct start_call */
	struct hash_table processes;   /* struct process_run */
	struct break_in_trace *breaks; /* owned, in order of time */
	size_t nr_breaks, room_breaks;
	int8_t wanted_calls[2][1024]; /* by 32-bit ABI and number; 0: not looked up yet */
	bool has_mask;
};

/** slowest_begin() - before the pass: look for the instances of --slowest; -ENOMEM */
int slowest_begin(struct slowest *slowest, const struct report *report) TRACE_NODISCARD;
/**
 * slowest_choose() - after the pass: choose the kind, and sort the instances
 * Returns 0, or 1 after a message: there is none of this name, or there are several kinds.
 */
int slowest_choose(struct slowest *slowest);
void slowest_end(struct slowest *slowest);

/** instance_kind_word() - "scope", "call", "command": as in scope:NAME */
const char *instance_kind_word(enum instance_kind kind);
/** instance_process() - the process of an instance; NULL: not known */
const struct trace_process *instance_process(const struct slowest *slowest, const struct instance *instance);
uint32_t instance_pid(const struct slowest *slowest, const struct instance *instance);
uint32_t instance_tid(const struct slowest *slowest, const struct instance *instance);
/**
 * instance_pieces() - the times in which threads worked on it
 * @one: room for one piece. Returns their number.
 */
size_t instance_pieces(const struct slowest *slowest, const struct instance *instance, struct trace_span_piece *one,
		       const struct trace_span_piece **ret_pieces);
#endif
