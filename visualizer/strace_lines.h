/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef STRACE_LINES_H
#define STRACE_LINES_H

/*
 * strace_lines.h - the lines of --strace
 *
 * A line is put together in struct strace, from strace_put_leader() to strace_write_line().
 */

#include "strace_state.h"

/** strace_put_leader() - begin a line: number and name of the thread, and the times */
void strace_put_leader(struct strace *strace, struct strace_thread *t, uint64_t ts_ns);

/** strace_put_call() - the line of a call, or the rest of one that is begun, without its end */
void strace_put_call(struct strace *strace, struct strace_thread *t, uint64_t ts_ns);

/** strace_write_line() - end the line, and write it to the file of the thread */
void strace_write_line(struct strace *strace, struct strace_thread *t);

/** strace_leave_unfinished() - write the entry that is open; @why: "unfinished" or "detached" */
void strace_leave_unfinished(struct strace *strace, const char *why);

/** strace_finish_held() - write the line that waits for its columns: the next event has come */
void strace_finish_held(struct strace *strace);

/** strace_put_caller() - a line with the code that called, of -k; @address 0: none */
void strace_put_caller(struct strace *strace, struct strace_thread *t, uint64_t address);

/** strace_cpu_ns() - the CPU time in @times */
uint64_t strace_cpu_ns(const struct trace_times *times);

#endif
