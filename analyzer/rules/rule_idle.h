/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_RULE_IDLE_H
#define ANALYZER_RULES_RULE_IDLE_H
/*
 * rule_idle.h - no idle wait between a request and its answer: from the first byte that a thread
 * read on a connection that was accepted, until it sent the answer
 *
 * The answer shows that the request was open meanwhile, and that the thread had it. If another
 * thread of the process ever answered a request, or the trace does not show the accept, the rule is
 * silent.
 */
struct rules;

void *rule_idle_begin(struct rules *rules);
void rule_idle_end(void *data);
#endif
