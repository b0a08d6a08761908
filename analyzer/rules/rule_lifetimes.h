/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_RULE_LIFETIMES_H
#define ANALYZER_RULES_RULE_LIFETIMES_H
/*
 * rule_lifetimes.h - a thread waits only for processes that lived during the wait, and only a
 * thread that lived then ended it
 */
struct rules;

void *rule_lifetimes_begin(struct rules *rules);
void rule_lifetimes_check(void *data);
void rule_lifetimes_end(void *data);
#endif
