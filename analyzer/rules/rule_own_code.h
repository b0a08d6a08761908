/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_RULE_OWN_CODE_H
#define ANALYZER_RULES_RULE_OWN_CODE_H
/*
 * rule_own_code.h - a thread has no own code after its exit or a fatal signal, and none during
 * a page fault that ended in a signal; and that signal ends the fault
 */
struct rules;

void *rule_own_code_begin(struct rules *rules);
void rule_own_code_end(void *data);
#endif
