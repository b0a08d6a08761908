/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_RULE_OTHER_END_H
#define ANALYZER_RULES_RULE_OTHER_END_H
/*
 * rule_other_end.h - a thread waits only for a process that had the other end
 *
 *	via pipe          the process had an end of the pipe open
 *	via unix, tcp     it had the socket at the other end open, or the same socket; the waiter's
 *	                  own process had the other end, unless one of its threads woke the waiter
 *	via futex         it is the same process, or had the memory of the futex
 *	via lock          it had the file open; for a directory or a path, no rule
 *	via join          it is the same process
 *
 * A process that shared the descriptors (CLONE_FILES) or the memory (CLONE_VM) of the waiting
 * thread had all of them.
 *
 * "Ever" and not "now", because the process may close its end, or exit, before the wait is decided.
 * Both ends of a pipe count as one, because one descriptor may have both. Example: 20 inherits the
 * write end of pipe 70, writes, wakes 10, and closes it. 10 waited for 20 via "pipe", which 20 had
 * open. A process 30 that interrupts 10 by a signal never had it.
 *
 * The file of a wait is that of a descriptor which the call has in an argument. The rule knows by
 * itself in which one.
 */
#include <trace/analysis.h>

struct rules;

void *rule_other_end_begin(struct rules *rules);
void rule_other_end_end(void *data);
/** rule_other_end_touch() - @process has @file open or mapped from now on */
void rule_other_end_touch(void *data, const struct trace_process *process, const struct trace_file_id *file);
#endif
