/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_RULE_RUN_TIME_H
#define ANALYZER_RULES_RULE_RUN_TIME_H
/*
 * rule_run_time.h - the CPU time of a thread agrees with the run time that the kernel counted for
 * it, and the user part of it with the kernel's count of timer ticks
 */
struct rules;

void *rule_run_time_begin(struct rules *rules);
void rule_run_time_end(void *data);
#endif
