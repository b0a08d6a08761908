/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef STRACE_THREADS_H
#define STRACE_THREADS_H

/* strace_threads.h - the threads of --strace: which are shown, and what is known of each */

#include "strace_state.h"

/** strace_in_window() - is this time between --from and --to? */
bool strace_in_window(const struct strace *strace, uint64_t ts_ns);

/** strace_thread_of() - the state of @thread until strace_forget_thread(); it may be made now */
struct strace_thread *strace_thread_of(struct strace *strace, const struct trace_thread *thread);

/** strace_traces() - is the thread one of -p, -f, or the command's? Decided once it can be */
bool strace_traces(struct strace *strace, struct strace_thread *t);

/** strace_forget_call() - the thread is in no call any more */
void strace_forget_call(struct strace_thread *t);

/** strace_forget_thread() - free it, and close its file of -ff */
void strace_forget_thread(struct strace *strace, struct strace_thread *t);

/** strace_complain_of_file() - its file of -ff cannot be written: the program fails */
void strace_complain_of_file(struct strace *strace, const struct strace_thread *t, int error);

#endif
