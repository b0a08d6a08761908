/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_VIEW_ROWS_H
#define ANALYZER_VIEW_ROWS_H
/*
 * view_rows.h - rows with intervals, and sums over them.
 *
 * A thread's intervals are a timeline of the history. A CPU has runs: which thread had it from when
 * on. The classes of a thread's interval come from its activity; those of a run of a thread on a
 * CPU are what the thread did meanwhile.
 *
 * Sums are cumulative: the sum of block k has the time in each class of the entries before entry
 * k * BLOCK, so the time in a span is the difference of two sums, and of less than a block of
 * entries at each edge. They are made when they are asked for, and made again when earlier entries
 * have changed. A sum has only the classes in which the row has been: 5 of 21, for example.
 */
#include <trace/error.h>
#include <trace/view.h>
#include "critical_path_history.h"
#include "view_beyond.h"

struct class_times {
	uint64_t ns[TRACE_NR_CLASSES];
};

/*
 * struct row_sums - see above; @nr blocks; made of @nr_entries after @changes of the series
 * @sums: the sum of a block has @nr_classes numbers, those of the classes in the mask @classes
 */
struct row_sums {
	uint64_t *sums; /* owned */
	uint32_t nr, max;
	uint32_t classes, nr_classes;
	uint32_t nr_entries, changes;
	bool is_final; /* made after the pass */
};

/*
 * struct view_edge - where the last column of a row ended, and the next one begins
 * @entry: the entry that contains the edge; UINT32_MAX: none yet
 * @before: the time of all before it
 * @hints: by timeline: an entry before those that are asked for next; NULL: none. Of CPUs
 */
struct view_edge {
	uint32_t entry;
	uint32_t *hints; /* borrowed */
	struct class_times before;
};
#define VIEW_NO_EDGE                \
	{                           \
		.entry = UINT32_MAX \
	}

struct view_thread {
	struct row_sums sums;
	uint32_t process; /* index into trace_view.processes */
	uint32_t next;	  /* next thread of the process; NO_THREAD: none */
};
struct view_cpu {
	struct series runs; /* of timelines, or RUN_ALONE ... */
	struct row_sums sums;
};
struct view_process {
	const struct trace_process *process;
	uint32_t first, last; /* index of its threads */
};

struct trace_view {
	struct trace_analysis *analysis; /* borrowed */
	struct trace_history *history;	 /* owned */
	struct view_thread *threads;	 /* owned; by timeline */
	uint32_t nr_threads, max_threads;
	struct view_process *processes; /* owned */
	uint32_t nr_processes, max_processes;
	struct hash_table process_by_pointer;
	struct view_cpu *cpus; /* owned */
	uint32_t nr_cpus;
	struct view_beyond beyond; /* once the history is full */
	int failed;
	uint32_t block_entries; /* of its index; 0: INDEX_BLOCK. Tests have less */
	const void *notes;	/* of the caller of trace_view_save(); borrowed from the analysis; or NULL */
	size_t nr_notes;
};

/** view_runs() - history.runs */
struct series *view_runs(void *view, uint32_t cpu);
/** view_refresh() - rows for the threads that have appeared; returns 0, or -ENOMEM */
int view_refresh(struct trace_view *view) TRACE_NODISCARD;
/** view_end() - how far the pass has come, ns: the end of the trace after it */
uint64_t view_end(const struct trace_view *view);

/**
 * view_thread_until() - the time of thread @idx in each class, from its first entry to @ns
 * view_cpu_until() - the same for a CPU
 * @edge: of the call before, for an earlier instant; becomes that of @ns
 * Both need view_sums_thread() or view_sums_cpu() since the last change: 0, or -ENOMEM.
 */
void view_thread_until(const struct trace_view *view, uint32_t idx, uint64_t ns, struct view_edge *edge,
		       struct class_times *ret_times);
void view_cpu_until(const struct trace_view *view, uint32_t cpu, uint64_t ns, struct view_edge *edge,
		    struct class_times *ret_times);
int view_sums_thread(struct trace_view *view, uint32_t idx);
int view_sums_cpu(struct trace_view *view, uint32_t cpu);
/** view_class() - the class of a thread's entry */
enum trace_class view_class(const struct trace_view *view, uint32_t idx, uint32_t entry);
#endif
