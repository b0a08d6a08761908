/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_RULE_DESCRIPTORS_H
#define ANALYZER_RULES_RULE_DESCRIPTORS_H
/*
 * rule_descriptors.h - a duplicated descriptor is of the same file: when the thread makes its next
 * call after a dup, dup2, dup3 or fcntl(F_DUPFD) of its own
 *
 * Processes whose descriptors several threads or processes use are not judged: another thread may
 * have closed the descriptor meanwhile.
 */
struct rules;

void *rule_descriptors_begin(struct rules *rules);
void rule_descriptors_end(void *data);
#endif
