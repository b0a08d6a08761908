/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_CRITICAL_PATH_STEPS_H
#define ANALYZER_CRITICAL_PATH_STEPS_H
/* critical_path_steps.h - a critical path in memory: its steps, and what they have in common. */
#include <trace/critical_path.h>
#include "critical_path_history.h"
#include "hash_table.h"

/*
 * struct path_step - a segment; it ends where the next one begins
 * A path may have millions of steps, of few patterns: threads do the same again and again.
 */
struct path_step {
	uint64_t from;
	uint32_t pattern; /* index into path.patterns */
	uint32_t depth;
};

/* struct path_pattern - a segment without its times and depth */
struct path_pattern {
	uint32_t timeline;
	uint32_t activity;
	uint32_t holder; /* WAIT_CPU */
	uint32_t waiter; /* a timeline; none for the chosen thread */
	uint32_t wait;	 /* the waiter's activity; HOLE: the waiter did not exist yet */
};
struct pattern_row {
	uint64_t key;
	uint32_t idx; /* + 1; 0: the row is new */
};

/* struct visit - a thread on the way */
struct visit {
	uint32_t timeline;
	uint64_t entered; /* the end of the time that it explains */
	uint64_t bound;
	uint32_t waiter;
	uint32_t wait;
};

/* struct path_lock - a thread held a lock for which the path waited */
struct path_lock {
	uint32_t timeline;
	uint32_t wait; /* the waiter's activity */
	uint64_t ns;
};

#define PATTERN_MEMOS 256u

struct trace_critical_path {
	struct trace_history *history; /* borrowed */
	const struct trace_thread *thread;
	uint64_t from_ns, to_ns;
	struct path_step *steps; /* owned; while walking, latest first */
	size_t nr_steps, max_steps;
	struct path_pattern *patterns; /* owned */
	size_t nr_patterns, max_patterns;
	struct hash_table pattern_by_hash;
	uint32_t pattern_memos[PATTERN_MEMOS]; /* the last ones, as index + 1; 0: none */
	struct visit *visits;		       /* owned */
	size_t nr_visits, max_visits;
	struct path_lock *held; /* owned */
	size_t nr_held, max_held;
	struct trace_contributor *contributors; /* owned */
	size_t nr_contributors;
	bool sees_calls;
	bool is_summed; /* made when they are asked for: a picture does not need them */
	int failed;
};

/** path_step_to() - the end of a step */
uint64_t path_step_to(const struct trace_critical_path *path, size_t idx);
/** path_segment_of_pattern() - a segment without its time and depth */
struct trace_path_segment path_segment_of_pattern(const struct trace_critical_path *path,
						  const struct path_pattern *pattern);
/** path_waited_via() - by which means a wait was followed */
const char *path_waited_via(const struct history_activity *wait);
/** path_is_lock() - does a wait by this means end when another thread unlocks something? */
bool path_is_lock(const char *via);
#endif
