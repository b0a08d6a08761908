/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_CRITICAL_PATH_H
#define TRACE_CRITICAL_PATH_H
/*
 * critical_path.h - what a thread really waited for: the chain through its wakers, as segments
 * that add up to the window
 *
 * A history keeps the intervals of all threads while the analysis runs; afterwards you can compute
 * any number of paths from it.
 *
 *	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, &error);
 *	struct trace_history *history = trace_history_new(analysis, NULL, &error);
 *
 *	trace_analysis_run(analysis, &error);
 *	struct trace_critical_path *path =
 *		trace_critical_path_new(history, thread, 0, UINT64_MAX, &error);
 *	for (size_t i = 0; i < trace_critical_path_nr_segments(path); i++) {
 *		trace_critical_path_segment(path, i, &segment);
 *		...
 *	}
 *	path = trace_critical_path_free(path);
 *	history = trace_history_free(history);
 *	analysis = trace_analysis_free(analysis);
 *
 * analyzer/critical_path.c has the rules and their reasons. They are those of Giraldeau and
 * Dagenais, "Wait Analysis of Distributed Systems Using Kernel Tracing", TPDS 2016, with a bound:
 * events before the beginning of a wait do not explain it.
 *
 * Memory. To go back from a wakeup, the analysis needs the intervals of all threads in the window.
 * So this is the one analysis with memory that grows with the length of the recording. An interval
 * takes 12 bytes (up to 18 while its array has room to grow). There are two intervals per system
 * call and a few per scheduling change; a path takes 32 bytes for each of its segments. A window
 * keeps the memory small: intervals outside it are not stored.
 * At @max_intervals the history becomes coarse: from then on, and for the earlier part too, all
 * time of a thread on a CPU between two switches is one interval. Paths stay exact; only user mode,
 * system calls, traps and interrupts are no longer distinguished. If even that is too much, the
 * history gives up, and its paths fail with -E2BIG.
 *
 * Borrowed pointers live as long as the analysis. One thread at a time per history.
 */
#include <trace/analysis.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library is built with -fvisibility=hidden */

/* ---- the intervals of a window ---- */

struct trace_history;

/**
 * struct trace_history_options - zeroed = the defaults
 * @size: sizeof of the caller's struct: later versions add fields at the end
 * @from_ns, @to_ns: keep only intervals in this window; @to_ns 0 = to the end
 * @max_intervals: number at which the history becomes coarse; 0 = 16 Mi, about 200 MB
 * @command: look for the start of this command, see trace_history_command(); borrowed until the
 *     end of the pass; may be NULL
 */
struct trace_history_options {
	size_t size;
	uint64_t from_ns;
	uint64_t to_ns;
	size_t max_intervals;
	const char *command;
};

/**
 * trace_history_new() - keep the intervals of @analysis, which must not have been run yet
 * @options: NULL = the defaults
 * It adds hooks to @analysis, so release it after the pass, and before the analysis.
 * Returns NULL with -ENOMEM, -EBUSY (the pass began) or -EINVAL (an empty window).
 */
struct trace_history *trace_history_new(struct trace_analysis *analysis, const struct trace_history_options *options,
					struct trace_error *ret_error);
struct trace_history *trace_history_free(struct trace_history *history); /* NULL is fine; returns NULL */

/** trace_history_nr_intervals() - number of stored intervals, those of the CPUs included */
size_t trace_history_nr_intervals(const struct trace_history *history);
/**
 * trace_history_is_coarse() - were there too many intervals? Then all time on a CPU is
 * state RUNNING in all paths
 */
bool trace_history_is_coarse(const struct trace_history *history);

/**
 * trace_history_command() - the thread that started to run options.command
 * @ret_exec_ns: when; may be NULL
 * For tracedaemon TRACE -- COMMAND the command is trace_string(trace, TRACE_STRING_INFO,
 * TRACE_INFO_COMMAND). The thread is found by the first exec of that name. NULL: no such exec was
 * recorded.
 */
const struct trace_thread *trace_history_command(const struct trace_history *history, uint64_t *ret_exec_ns);

/* ---- the path ---- */

struct trace_critical_path;

/**
 * struct trace_path_segment - from @from_ns to @to_ns the chosen thread waited
 * for this, or did it itself
 * @thread: the thread of this segment
 * @state: as in struct trace_interval; TRACE_STATE_RUNNING on a CPU where
 *     trace_analysis_sees_calls() is false
 * @name: system call or interrupt; "" if none
 * @kind, @target, @via, @idle, @other: BLOCKED only, as in struct trace_interval; "" if none
 * @holder, @holder_name: WAIT_CPU only: the thread that had the CPU. Without a thread:
 *     "interrupts", "unknown" (a filter left others out), or "idle CPU": the CPU was idle, or no
 *     event shows what it did. Otherwise NULL and "".
 * @waiter: the thread that waited for @thread; NULL if @thread is the chosen one. @waited_via: the
 *     kind of that wait ("pipe", "futex" ...; the wait kind if it has no via); "" if there is none.
 *     "fork": @thread was about to create @waiter.
 * @waited_path, @waited_address: the locked file; the futex in the memory of @waiter, or the number
 *     of a semaphore; otherwise "" and 0
 * @depth: number of threads between this one and the chosen one, both included, less 1
 */
struct trace_path_segment {
	const struct trace_thread *thread;
	uint64_t from_ns;
	uint64_t to_ns;
	enum trace_state state;
	enum trace_wait_kind kind;
	bool idle;
	const char *name;
	const char *target;
	const char *via;
	const struct trace_process *other;
	const struct trace_thread *holder;
	const char *holder_name;
	const struct trace_thread *waiter;
	const char *waited_via;
	const char *waited_path;
	uint64_t waited_address;
	uint32_t depth;
};

/**
 * enum trace_contributor_by - the sorts of rows; the rows of COMMAND add up to the window,
 * and so do those of THREAD
 */
enum trace_contributor_by {
	/* all processes of one name: on a CPU (state RUNNING), or in one state or kind of wait */
	TRACE_BY_COMMAND = 0,
	TRACE_BY_THREAD = 1, /* one thread in one state, and for BLOCKED one kind */
	TRACE_BY_TARGET = 2, /* waits that no other thread ended: one file, address, device ... */
	/*
	 * one lock (futex, lock of a file, semaphore), and the thread that held it: all the time of
	 * the path in which it did, whatever it waited for meanwhile. @count is a number of waits
	 */
	TRACE_BY_LOCK = 3,
	TRACE_BY_LINK = 4,	 /* one via of any other kind: waitpid, pipe, unix ..., and the process */
	TRACE_BY_COMPETITOR = 5, /* the process that had the CPU that was waited for */
	TRACE_NR_CONTRIBUTORS_BY,
};
/** trace_contributor_by_name() - "command", "thread" ...; static */
const char *trace_contributor_by_name(enum trace_contributor_by by);

/**
 * struct trace_contributor - @ns of the path in @count segments
 * @comm, @pid, @tid: the command, process or thread. A command of several processes has pid 0; the
 *     chosen thread's process is a command of its own. For TARGET only the pid, if a process was
 *     waited for.
 * @state, @kind, @target, @via: as far as the sort has them. @target: "" except for TARGET, and for
 *     LOCK: the path of a locked file
 * @address: for LOCK: of the futex, or number of the semaphore; otherwise 0. Condition variables
 *     and joins are futexes too.
 */
struct trace_contributor {
	enum trace_contributor_by by;
	const char *comm;
	uint32_t pid;
	uint32_t tid;
	enum trace_state state;
	enum trace_wait_kind kind;
	const char *target;
	const char *via;
	uint64_t address;
	uint64_t ns;
	uint64_t count;
	const char *title; /* of the process, trace_process_title(); of another thread @comm */
};

/**
 * trace_critical_path_new() - the path of @thread
 * @from_ns, @to_ns: the window, cut to the thread's life and to the history's window
 * Call it after the pass. It takes time linear in the intervals of the path, times the number of
 * threads that wait for each other at one time.
 * Returns the path, to be released before @history; NULL with -ENOMEM, -E2BIG (the history gave up)
 * or -EINVAL (the thread has no time in the window).
 */
struct trace_critical_path *trace_critical_path_new(struct trace_history *history, const struct trace_thread *thread,
						    uint64_t from_ns, uint64_t to_ns, struct trace_error *ret_error);
struct trace_critical_path *trace_critical_path_free(struct trace_critical_path *path); /* NULL is fine; returns NULL */

/** trace_critical_path_thread() - the thread that it is the path of */
const struct trace_thread *trace_critical_path_thread(const struct trace_critical_path *path);
/** trace_critical_path_window() - its window, as it was cut; the segments add up to it */
void trace_critical_path_window(const struct trace_critical_path *path, uint64_t *ret_from_ns, uint64_t *ret_to_ns);

/** trace_critical_path_nr_segments() - number of segments, at least 1 */
size_t trace_critical_path_nr_segments(const struct trace_critical_path *path);
/**
 * trace_critical_path_segment() - segment @idx, which is below their number
 * The segments cover the window in order, without hole or overlap.
 */
void trace_critical_path_segment(const struct trace_critical_path *path, size_t idx,
				 struct trace_path_segment *ret_segment);

/**
 * struct trace_path_step - a segment in few bytes
 * @pattern: the number of its pattern: all of a segment but its times and depth
 */
struct trace_path_step {
	uint64_t from_ns, to_ns;
	uint32_t depth;
	uint32_t pattern;
};
/**
 * trace_critical_path_step() - segment @idx, for callers that read millions of them
 * trace_critical_path_nr_patterns() - how many patterns the segments have: a few thousand where
 *	there are millions of segments, because threads do the same again and again
 * trace_critical_path_pattern() - a segment of the pattern number @pattern, with times and depth 0
 */
void trace_critical_path_step(const struct trace_critical_path *path, size_t idx, struct trace_path_step *ret_step);
size_t trace_critical_path_nr_patterns(const struct trace_critical_path *path);
void trace_critical_path_pattern(const struct trace_critical_path *path, uint32_t pattern,
				 struct trace_path_segment *ret_segment);

/** trace_critical_path_nr_contributors() - of all sorts together */
size_t trace_critical_path_nr_contributors(const struct trace_critical_path *path);
/**
 * trace_critical_path_contributor() - by sort, then greatest first; borrowed from @path; NULL past
 * the last
 */
const struct trace_contributor *trace_critical_path_contributor(const struct trace_critical_path *path, size_t idx);

/**
 * trace_critical_path_verify() - do the segments follow each other, and do they and the sums of the
 * contributors equal the window?
 * Returns 0, -ENOMEM, or -EBADMSG with the first violation in @ret_error, to the nanosecond.
 */
int trace_critical_path_verify(const struct trace_critical_path *path, struct trace_error *ret_error) TRACE_NODISCARD;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
