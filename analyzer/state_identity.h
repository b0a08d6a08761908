/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_IDENTITY_H
#define ANALYZER_STATE_IDENTITY_H
/*
 * state_identity.h - what a process is, and was: user, group, control group, parent, name
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/analysis.h>
#include "handler.h"

struct trace_analysis;
struct trace_process;
struct trace_thread;

/**
 * struct identity - the values that a process has at one time
 * @cgroup: string_id of the path
 */
struct identity {
	uint32_t uid;
	uint32_t gid;
	uint32_t ppid;
	uint32_t cgroup;
	char comm[16];
};

/** struct identity_row - the time of a process with one identity, which it may have had often */
struct identity_row {
	struct identity is;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t count;
	struct trace_times times; /* without the current one's, which is the rest */
};

/**
 * struct identity_log - the identities of a process that has changed
 * @current: the index of its row
 * @in_window: the same; the end of a window sets @is_past_window, and this remains the row then
 * @before: the sums of the process when @in_window began, or when the window did
 * @changes: so many until now. @visited: threads whose times they have read
 */
struct identity_log {
	struct identity_row *rows; /* owned */
	uint32_t nr;
	uint32_t room;
	uint32_t current;
	uint32_t in_window;
	uint64_t changes;
	uint64_t visited;
	struct trace_times before;
	bool is_past_window;
};

/** identity_of() - the current values of @process */
struct identity identity_of(const struct trace_process *process);
/** identity_change() - @process has the values @now from @ns on */
void identity_change(struct trace_analysis *a, struct trace_process *process, uint64_t ns, const struct identity *now);
/** identity_of_thread() - the ids of @thread, which are those of its process if it is the leader */
void identity_of_thread(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, uint32_t uid, uint32_t gid);
/** identity_rename() - @thread has a new name, not by exec */
void identity_rename(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const char *comm);

/** identity_edge() - the pass is at @ns, the begin of the window, or its end: is_past_window */
void identity_edge(struct trace_analysis *a, uint64_t ns);

event_handler on_sched_ids, on_cgroup_attach;
#endif
