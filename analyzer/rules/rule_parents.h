/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_RULE_PARENTS_H
#define ANALYZER_RULES_RULE_PARENTS_H
/*
 * rule_parents.h - a process has the parent that the events give it, and that parent lives
 *
 * The rule keeps its own family of processes: births by sched_fork, ends by sched_exit of the last
 * thread, new parents by sched_adopt.
 *
 *	- A process that has ended has no new child, and adopts none.
 *	- The parent of a living process lives, or sched_adopt tells the next one.
 *	- The parent in the results is the parent by the events.
 *	- A wait via "waitpid" is for a process that was a child, unless a tracer is about.
 */
struct rules;

void *rule_parents_begin(struct rules *rules);
void rule_parents_check(void *data);
void rule_parents_end(void *data);
#endif
