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
 * struct thread_group - a thread that is apart: in another control group than its leader
 * @cgroup: the string_id of the path of its group
 * @row: of the identity of its process, but with that group. It has the time of the thread
 * @before: the times of the thread when @row got them last
 */
struct thread_group {
	struct trace_thread *thread;
	uint32_t cgroup;
	uint32_t row;
	struct trace_times before;
};

/**
 * struct identity_log - the identities of a process that has changed
 * @current: the index of its row
 * @in_window: the same; the end of a window sets @is_past_window, and this remains the row then
 * @before: the sums of the process when @in_window began, or when the window did
 * @changes: so many until now. @visited: threads whose times they have read
 * @apart: the threads that are apart, and some of them that have ended
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
	struct thread_group *apart; /* owned */
	uint32_t nr_apart;
	uint32_t room_apart;
};

/** identity_of() - the current values of @process */
struct identity identity_of(const struct trace_process *process);
/** identity_change() - @process has the values @now from @ns on */
void identity_change(struct trace_analysis *a, struct trace_process *process, uint64_t ns, const struct identity *now);
/** identity_of_thread() - the ids of @thread, which are those of its process if it is the leader */
void identity_of_thread(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, uint32_t uid, uint32_t gid);
/** identity_rename() - @thread has a new name, not by exec */
void identity_rename(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const char *comm);

/** process_groups_loaded() - the start state has the control groups of all threads of @process */
void process_groups_loaded(struct trace_analysis *a, struct trace_process *process, uint64_t ns);
/** thread_group_inherit() - @child begins in the control group of @parent, which forks it */
void thread_group_inherit(struct trace_analysis *a, struct trace_thread *child, const struct trace_thread *parent);
/** thread_group_lead() - @thread leads its process from @ns on, and has ended the others: exec */
void thread_group_lead(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);

/** identity_edge() - the pass is at @ns, the begin of the window, or its end: is_past_window */
void identity_edge(struct trace_analysis *a, uint64_t ns);

event_handler on_sched_ids, on_cgroup_attach;
#endif
