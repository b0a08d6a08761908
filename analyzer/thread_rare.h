/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_THREAD_RARE_H
#define ANALYZER_THREAD_RARE_H
/* thread_rare.h - the memory for struct thread_rare: what few threads have */
struct trace_analysis;
struct trace_thread;

/** thread_rare() - what @thread has, made now if it has none; NULL: no memory, @a has failed */
struct thread_rare *thread_rare(struct trace_analysis *a, struct trace_thread *thread);

#endif
