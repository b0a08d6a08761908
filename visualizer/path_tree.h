/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PATH_TREE_H
#define VISUALIZER_PATH_TREE_H
/*
 * path_tree.h - a critical path as a tree of names: which program waited for which, and what the
 * last one did
 *
 * A link is a program on the path, below the program that waited for it. Processes of one name
 * with the same way to the root are one link, so a build with a thousand compilers has one. All
 * times are times of the path, so the times of all places of all links add up to its window.
 */
#include <trace/critical_path.h>
#include "checked_memory.h"
#include "process_origin.h"

/** enum path_place - where the time of a link went */
enum path_place {
	PLACE_OWN_CODE,
	PLACE_KERNEL,
	PLACE_CPU, /* in its own code or the kernel: not known which */
	PLACE_INTERRUPTED,
	PLACE_WAIT_CPU,
	PLACE_BLOCKED, /* + enum trace_wait_kind */
	NR_PLACES = PLACE_BLOCKED + TRACE_NR_WAIT_KINDS,
};

/**
 * struct path_link - a program on the path
 * @parent: index of the link that waited for it; the root is its own
 * @process: the one with most of the time; @thread: one of its threads, which is another thread of
 *   the process of @parent if @is_thread
 * @nr: number of processes (or threads) of that name; @most_ns: time of @process (or @thread), with
 *   that of the links below it
 * @longest_from_ns, @longest_to_ns: the longest segment of @thread in this link; empty: none
 * @ns: its time, with that of the links below it
 */
struct path_link {
	size_t parent;
	const struct trace_process *process;
	const struct trace_thread *thread;
	bool is_thread;
	size_t nr;
	uint64_t ns, most_ns, places[NR_PLACES];
	uint64_t longest_from_ns, longest_to_ns;
};

/**
 * struct path_wait - all waits for one thing in one call, on the path, of the threads of one name
 *   in the processes of a link
 * @place: PLACE_WAIT_CPU or above
 * @first: one of its segments, with the names of the thread and of what it waited for
 *   Files of one path are one thing, as the journals that a database makes and removes.
 * @several_threads, @several_processes: there are more than that of @first, which has the process
 *   with most of the time; @most_ns: the time of that; @holder_ns: of the process that had the CPU
 *   for most of it, which @first has, too
 * @several_others: it was for other processes of that program, too
 * @several_holders, @several_holder_processes: for a CPU: other threads, or threads of other
 *   processes of the holder's name had it, too; @origin: of the processes
 */
struct path_wait {
	uint64_t key;
	size_t link;
	enum path_place place;
	bool several_threads, several_processes, several_others, several_holders, several_holder_processes;
	struct process_origin origin;
	struct trace_path_segment first;
	uint64_t ns, count, most_ns, holder_ns;
};

/** struct path_tree - @links[0] is the root: the chosen thread or threads. @waits: longest first */
struct path_tree {
	struct path_link *links;
	struct path_wait *waits;
	size_t nr_links, nr_waits, room;
	uint64_t ns;
};

/**
 * path_target_bytes() - the length of the target of @segment without the number of its inode, which
 * file_names.c adds to a path that several files had in turn
 */
int path_target_bytes(const struct trace_path_segment *segment);
/**
 * path_other_name() - of the process that @segment waits for, the same for all processes of one
 * program; "(own)": another thread of its own process; "": none
 */
const char *path_other_name(const struct trace_path_segment *segment);
/** path_own_holder() - true for a CPU that another thread of the waiting process had */
bool path_own_holder(const struct trace_path_segment *segment);
/**
 * path_tree_new() - the tree of @path; path_tree_of() - the one tree of @nr paths, at least one, of
 * threads of one process: the times add up, and the root has @nr threads. path_tree_clear()
 * releases it
 */
struct path_tree path_tree_of(struct trace_critical_path *const *paths, size_t nr);
struct path_tree path_tree_new(const struct trace_critical_path *path);
void path_tree_clear(struct path_tree *tree);
/** path_tree_place_ns() - the time of all links in @place */
uint64_t path_tree_place_ns(const struct path_tree *tree, enum path_place place);
#endif
