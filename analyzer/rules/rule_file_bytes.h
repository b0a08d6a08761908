/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_RULE_FILE_BYTES_H
#define ANALYZER_RULES_RULE_FILE_BYTES_H
/*
 * rule_file_bytes.h - the bytes of a file are those of the calls on it: no call moves more than it
 * asked for, a call on a socket moves data of that socket, and the sums of each process and path
 * are those of its calls
 */
struct rules;

void *rule_file_bytes_begin(struct rules *rules);
struct trace_process;
struct trace_file_id;
void rule_file_bytes_touch(void *data, const struct trace_process *process, const struct trace_file_id *file);
void rule_file_bytes_check(void *data);
void rule_file_bytes_end(void *data);
#endif
