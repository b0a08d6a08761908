/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_VIEW_H
#define TRACE_VIEW_H
/*
 * view.h - what a picture of a trace needs: the time of each CPU, process and thread in any span,
 * divided by what it was spent on
 *
 * A view keeps the intervals of all threads and CPUs while the analysis runs, and sums over them.
 * A caller asks for the columns of a picture, for the spans to label, and for what ended a wait.
 *
 *	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, &error);
 *	struct trace_view *view = trace_view_new(analysis, NULL, &error);
 *	uint64_t ns[1600][TRACE_NR_CLASSES];
 *
 *	trace_analysis_run(analysis, &error);
 *	for (size_t i = 0; i < trace_view_nr_rows(view, TRACE_ROW_THREAD); i++)
 *		trace_view_columns(view, (struct trace_row_id){TRACE_ROW_THREAD, i}, from, to, 1600,
 *				   ns[0]);
 *	view = trace_view_free(view);
 *	analysis = trace_analysis_free(analysis);
 *
 * Figures are exact: the columns of any division of a span add up to the figures of the accounting
 * in that span, to the nanosecond. One exception: the accounting of the whole trace counts the cost
 * of probes as the kernel's, and a view counts it as the program's, as windows do.
 *
 * Memory: 12 to 18 bytes for each interval, and 2.6 for the sums of each that was asked for. At
 * options.max_intervals the view becomes coarse, as critical_path.h describes it.
 * Borrowed pointers live as long as the analysis. One thread at a time.
 */
#include <trace/analysis.h>
#include <trace/critical_path.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library is built with -fvisibility=hidden */

struct trace_view;

/* ---- classes of time ---- */

/**
 * enum trace_class - what the time of a row was spent on; at every instant a thread or CPU is in
 * exactly one
 */
enum trace_class {
	TRACE_CLASS_USER = 0, /* as in enum trace_state */
	TRACE_CLASS_SYSCALL = 1,
	TRACE_CLASS_TRAP = 2,
	TRACE_CLASS_INTERRUPTED = 3, /* of a CPU: also an interrupt while it was idle */
	TRACE_CLASS_WAIT_CPU = 4,
	TRACE_CLASS_REST = 5,	  /* blocked, and at rest: struct trace_wait.idle */
	TRACE_CLASS_WAIT = 6,	  /* + enum trace_wait_kind: blocked */
	TRACE_CLASS_RUNNING = 17, /* on a CPU: own code or kernel is not known, or not yet */
	TRACE_CLASS_IDLE = 18,	  /* of a CPU */
	TRACE_CLASS_ABSENT = 19,  /* of a thread: before its birth or after its end */
	TRACE_CLASS_UNREAD = 20,  /* the pass has not told it yet, or the view is full */
	TRACE_NR_CLASSES = 21,
};
/** trace_class_of() - the class of a thread's interval; @kind and @idle: if it is blocked */
static inline enum trace_class trace_class_of(enum trace_state state, enum trace_wait_kind kind, bool idle)
{
	if (state == TRACE_STATE_BLOCKED)
		return idle ? TRACE_CLASS_REST : (enum trace_class)(TRACE_CLASS_WAIT + kind);
	return state == TRACE_STATE_RUNNING ? TRACE_CLASS_RUNNING : (enum trace_class)state;
}
/** trace_class_name() - "user", "wait_cpu", "rest", "file" ...; static */
const char *trace_class_name(enum trace_class class_of_time);

/* ---- the view ---- */

/**
 * struct trace_view_options - zeroed = the defaults
 * @size: sizeof of the caller's struct: later versions add fields at the end
 * @from_ns, @to_ns, @max_intervals, @command: as in struct trace_history_options
 */
struct trace_view_options {
	size_t size;
	uint64_t from_ns;
	uint64_t to_ns;
	size_t max_intervals;
	const char *command;
};

/**
 * trace_view_new() - keep what a picture of @analysis needs; before its pass
 * It adds hooks to @analysis, so release it after the pass, and before the analysis. An analysis
 * has one view.
 * Returns NULL with -ENOMEM, or -EBUSY (the pass began, or there is a view).
 */
struct trace_view *trace_view_new(struct trace_analysis *analysis, const struct trace_view_options *options,
				  struct trace_error *ret_error);
struct trace_view *trace_view_free(struct trace_view *view); /* NULL is fine; returns NULL */
/**
 * trace_view_error() - 0; -E2BIG: there were too many intervals even for a coarse view: it is full,
 * and has sums only of all later time; -ENOMEM: what the view tells is wrong
 */
int trace_view_error(const struct trace_view *view) TRACE_NODISCARD;
/**
 * trace_view_full_ns() - 0; of a view that is full, the time from which on no interval was added
 * Later time has no spans and no critical paths. Its columns have the time of each class in up to
 * 1,024 equal parts of the trace: exact for whole parts, and shares of the mixture within one. A
 * wait between earlier intervals that was not told then is unknown.
 */
uint64_t trace_view_full_ns(const struct trace_view *view);
/** trace_view_history() - its intervals, for critical paths; borrowed from @view */
struct trace_history *trace_view_history(const struct trace_view *view);

/* ---- rows ---- */

enum trace_row_kind { TRACE_ROW_CPU = 0, TRACE_ROW_PROCESS = 1, TRACE_ROW_THREAD = 2 };
/** struct trace_row_id - @index: the CPU's number; for others the number by first appearance */
struct trace_row_id {
	enum trace_row_kind kind;
	uint32_t index;
};
/**
 * struct trace_row - a row of the picture
 * @process: NULL for a CPU. @thread: for a thread
 * @parent: for a thread: the index of its process; otherwise 0
 * @from_ns, @to_ns: its life in the trace. While it lives, @to_ns is the end of the pass so far
 */
struct trace_row {
	struct trace_row_id id;
	uint32_t parent;
	const struct trace_process *process;
	const struct trace_thread *thread;
	uint64_t from_ns;
	uint64_t to_ns;
};
/**
 * trace_view_nr_rows() - rows of @kind that are known by now; the number grows during the pass
 */
size_t trace_view_nr_rows(struct trace_view *view, enum trace_row_kind kind);
/** trace_view_get_row() - returns false if there is no such row */
bool trace_view_get_row(struct trace_view *view, struct trace_row_id id, struct trace_row *ret_row);
/** trace_view_row_of() - the row of @thread; false: nothing is known of its time (yet) */
bool trace_view_row_of(struct trace_view *view, const struct trace_thread *thread, struct trace_row_id *ret_id);
/** trace_view_row_of_process() - the same for a process */
bool trace_view_row_of_process(struct trace_view *view, const struct trace_process *process,
			       struct trace_row_id *ret_id);

/* ---- figures ---- */

/**
 * trace_view_columns() - the time of a row in each of @nr columns of a span
 * @ret_ns: @nr x TRACE_NR_CLASSES. Column i is from @from_ns + (@to_ns - @from_ns) * i / @nr,
 *     rounded down, to where the next one begins.
 * The classes of a CPU's or thread's column add up to its width. A process has the sum of its
 * threads.
 * During the pass, time that is not told yet is of class UNREAD; a wait is told when it is over.
 * Returns 0; -EINVAL (no such row, an empty span, no column); -ENOMEM.
 */
int trace_view_columns(struct trace_view *view, struct trace_row_id id, uint64_t from_ns, uint64_t to_ns, uint32_t nr,
		       uint64_t *ret_ns) TRACE_NODISCARD;

/* ---- spans ---- */

/**
 * struct trace_view_span - a row was in one state from @from_ns to @to_ns; fields as in struct
 * trace_interval
 * @thread: of a CPU's row: the thread that had it; NULL: none, see @class_of_time
 * @path, @address: the locked file; the futex, or the number of a semaphore
 * @waker: the thread that ended the wait, or did the work for it
 */
struct trace_view_span {
	const struct trace_thread *thread;
	uint64_t from_ns;
	uint64_t to_ns;
	enum trace_class class_of_time;
	enum trace_state state;
	enum trace_wait_kind kind;
	bool idle;
	int32_t cpu;
	const char *name;
	const char *target;
	const char *via;
	const char *path;
	uint64_t address;
	const struct trace_process *other;
	const struct trace_thread *waker;
};
/** trace_view_span_fn - returns false to end the list; @span is borrowed for the call */
typedef bool (*trace_view_span_fn)(void *data, const struct trace_view_span *span);
/**
 * trace_view_spans() - the spans of a CPU or thread that are not wholly outside @from_ns to
 * @to_ns, in order, not cut
 * Returns 0, also if @fn ended the list; -EINVAL: no such row, or a process.
 */
int trace_view_spans(struct trace_view *view, struct trace_row_id id, uint64_t from_ns, uint64_t to_ns,
		     trace_view_span_fn fn, void *data) TRACE_NODISCARD;

/**
 * trace_view_next() - where the chain of a wait goes on
 * @ns: an instant of the wait of the thread @id
 * @ret_id, @ret_ns: the thread that ended the wait, and the end of the wait. It did before what
 *     the wait was for. The rules are those of the critical path.
 * Returns false if no thread ended it: a disk, a timer, another host; or if it is no wait.
 */
bool trace_view_next(struct trace_view *view, struct trace_row_id id, uint64_t ns, struct trace_row_id *ret_id,
		     uint64_t *ret_ns);

/**
 * trace_view_holder_fn - @thread had the CPU for @ns; NULL: @class_of_time tells: IDLE,
 * INTERRUPTED or unknown
 */
typedef void (*trace_view_holder_fn)(void *data, const struct trace_thread *thread, enum trace_class class_of_time,
				     uint64_t ns);
/**
 * trace_view_holders() - the threads that had CPU @cpu from @from_ns to @to_ns, each once, the
 * longest first
 * Returns 0, -EINVAL (no such CPU) or -ENOMEM.
 */
int trace_view_holders(struct trace_view *view, uint32_t cpu, uint64_t from_ns, uint64_t to_ns, trace_view_holder_fn fn,
		       void *data) TRACE_NODISCARD;

/* ---- the index ---- */

/**
 * trace_view_save() - the view as bytes, from which trace_view_open() makes it without a pass
 * Call it after the pass. Other threads may use the view meanwhile, one at a time.
 * @notes: @nr_notes bytes of the caller, which trace_view_notes() returns
 * @ret_bytes: @ret_size bytes, to be released with free()
 * Returns 0; -EAGAIN (the pass has not ended, or memory was missing in it), -ESTALE (the trace was
 * changed meanwhile), -E2BIG (more than 24 Mi intervals), -ENOMEM.
 */
int trace_view_save(const struct trace_view *view, const void *notes, size_t nr_notes, void **ret_bytes,
		    size_t *ret_size, struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * trace_view_save_file() - trace_view_save() that writes to @fd, in pieces, so that the index is
 * never in memory as a whole
 * Returns also another negative errno if @fd cannot be written; it has a part of the index then.
 */
int trace_view_save_file(const struct trace_view *view, const void *notes, size_t nr_notes, int fd,
			 struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * trace_view_open() - the view of which @bytes are the index
 * Up to three threads help, and have ended when it returns.
 * @bytes: may be anything: an index of another trace or program, or a damaged one, is refused
 * @ret_analysis: an analysis that has ended, to be freed after the view. It has processes, threads,
 *     their names and lives, the window, and what was recorded and lost, but all figures are 0.
 * Returns NULL with -ESTALE (of another trace or program, or the checksum is wrong), -EBADMSG or
 * -ENOMEM.
 */
struct trace_view *trace_view_open(const struct trace *trace, const void *bytes, size_t size,
				   struct trace_analysis **ret_analysis, struct trace_error *ret_error);
/**
 * trace_view_open_file() - trace_view_open() of the file @fd, read in pieces from its begin
 * Returns NULL also with the negative errno of a read that failed: then the index may be right.
 */
struct trace_view *trace_view_open_file(const struct trace *trace, int fd, struct trace_analysis **ret_analysis,
					struct trace_error *ret_error);
/** trace_view_notes() - of the view of an index; otherwise NULL */
const void *trace_view_notes(const struct trace_view *view, size_t *ret_nr);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
