/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WINDOW_H
#define ANALYZER_WINDOW_H
/* window.h - the accounts of a window of the trace: trace_analysis_options.from_ns and to_ns */
#include <stdbool.h>
#include <stdint.h>

struct frame;
struct pending;
struct trace_analysis;
struct trace_thread;
struct window;

/** window_new() - keep accounts from @from_ns to @to_ns in the pass of @a; NULL: out of memory */
struct window *window_new(struct trace_analysis *a, uint64_t from_ns, uint64_t to_ns);
struct window *window_free(struct window *window); /* NULL is fine; returns NULL */
/** window_clamp() - the window does not begin before the trace, nor, once @at_end, end after it */
void window_clamp(struct trace_analysis *a, bool at_end);
/** window_next() - the next edge of the window; UINT64_MAX: none, or no window */
uint64_t window_next(const struct window *window);
/** window_to() - its end; UINT64_MAX: no window, or the end of the trace */
uint64_t window_to(const struct window *window);
/** window_limit_hooks() - spare intervals outside of the window; after hooks_prepare() */
void window_limit_hooks(struct trace_analysis *a);
/** window_edge() - the pass is at window_next(): all before it was handled, and nothing after it */
void window_edge(struct trace_analysis *a);
/** window_mode() - the mode of @thread's running intervals is known now: acct_mode() */
void window_mode(struct trace_analysis *a, struct trace_thread *thread, bool in_syscall);
/** window_call() - @frame of @thread ended at @ns with the result @ret */
void window_call(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const struct frame *frame,
		 int64_t ret);
/** window_major() - a fault of @thread is known to be major, after it ended at @ns */
void window_major(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
/** window_cut() - cut a time to the window; false: nothing is left. @window NULL: it stays */
bool window_cut(const struct window *window, uint64_t *from, uint64_t *to);
/**
 * window_wait() - the part of @wait in the window, without gaps, and 1 if it begins there
 * Without a window the outputs stay. False: no part is in the window.
 */
bool window_wait(const struct trace_analysis *a, const struct pending *wait, uint64_t *ret_ns, uint64_t *ret_count);
/** window_close() - after the pass: the accounts of @a become those of the window */
void window_close(struct trace_analysis *a);
#endif
