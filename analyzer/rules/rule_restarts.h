/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_RULE_RESTARTS_H
#define ANALYZER_RULES_RULE_RESTARTS_H
/*
 * rule_restarts.h - restart_syscall() is the call that it continues
 *
 * A call that returns -ERESTART_RESTARTBLOCK goes on if restart_syscall() is the next call of the
 * thread. The time in it, and its waits, have the name of the first call.
 */
struct rules;

void *rule_restarts_begin(struct rules *rules);
void rule_restarts_end(void *data);
#endif
