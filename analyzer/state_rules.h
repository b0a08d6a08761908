/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_RULES_H
#define ANALYZER_STATE_RULES_H
/* state_rules.h - what the state tells the rules; rules/rules.h has what they ask */
#include "state_file.h"

struct trace_analysis;
struct trace_thread;

/* Call them only if there are rules. */

/** rules_had_file() - the process of @thread has @file open or mapped from now on */
void rules_had_file(struct trace_analysis *a, const struct trace_thread *thread, file_idx file);
/** rules_had_start() - what the process of @thread had at the start was read at @ns */
void rules_had_start(struct trace_analysis *a, const struct trace_thread *thread, uint64_t ns);
/** rules_inherited() - @child begins with the descriptors and the memory of @parent */
void rules_inherited(struct trace_analysis *a, const struct trace_thread *child, const struct trace_thread *parent);
#endif
