/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_TOUCH_H
#define ANALYZER_STATE_TOUCH_H
/* state_touch.h - which process has which file: the state tells it to the rules */
#include <trace/analysis.h>
#include "state_file.h"

struct process_memory;
struct trace_analysis;
struct trace_thread;

/* Call them only if there are rules. */

/** rules_had_file() - the process of @thread has @file open or mapped from now on */
void rules_had_file(struct trace_analysis *a, const struct trace_thread *thread, file_idx file);
/** rules_mapped() - the same of all processes that share the memory of @thread: it mapped @file */
void rules_mapped(struct trace_analysis *a, const struct trace_thread *thread, file_idx file);
/** rules_had_foreign() - all processes with @memory have memory of which the file is not known */
void rules_had_foreign(struct trace_analysis *a, const struct process_memory *memory);
/** rules_started() - a descriptor that the process of @thread had at the start was read at @ns */
void rules_started(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
/**
 * rules_had_tables() - the process of @thread has the thread's descriptors and memory from now on
 */
void rules_had_tables(struct trace_analysis *a, const struct trace_thread *thread);
/** rules_inherited() - @child begins with the descriptors and the memory that it has now */
void rules_inherited(struct trace_analysis *a, const struct trace_thread *child, const struct trace_thread *parent);
/** file_id_of() - as trace_thread_file_id() */
struct trace_file_id file_id_of(const struct trace_analysis *a, file_idx idx);
#endif
