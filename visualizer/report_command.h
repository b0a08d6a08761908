/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_COMMAND_H
#define VISUALIZER_REPORT_COMMAND_H
/* report_command.h - the process of the recorded command. */
#include <trace/analysis.h>
#include <trace/reader.h>
#include "checked_memory.h"

/**
 * struct report_command - the process that the recorder started
 * @process: NULL: none, or not recorded
 * @is_sure: false: the first process of that name: command_words()
 * @exec_ns: time of its exec
 * @exited: all of its threads have exited
 * @recorder_waits: by process: how long a command waited until the recorder let it run; empty: no
 *   command
 */
struct report_command {
	const struct trace *trace;	 /* borrowed */
	struct trace_analysis *analysis; /* borrowed */
	const struct trace_process *process;
	bool is_sure;
	bool exited;
	uint64_t exec_ns;
	struct hash_table recorder_waits;
};

/** command_begin() - before the pass: look for the recorded command; @command stays in its place */
void command_begin(struct report_command *command, const struct trace *trace, struct trace_analysis *analysis);
/** command_end() - release the memory of command_begin() */
void command_end(struct report_command *command);
/**
 * command_words() - the words before the name of the command
 * They say so if the command was found by its name only, because it may be another process then.
 */
const char *command_words(const struct report_command *command);
/**
 * command_from_ns() - when the recorder let the command run; when it began, if no wait for the
 * recorder is known
 */
uint64_t command_from_ns(const struct report_command *command);
/** command_ran_ns() - how long the command ran, from command_from_ns() */
uint64_t command_ran_ns(const struct report_command *command);
/**
 * command_has_ended() - was its end recorded?
 * command_not_ended() - the words for a command without one: where events were lost, its end may be
 * among them
 */
bool command_has_ended(const struct report_command *command);
const char *command_not_ended(const struct report_command *command);
/**
 * command_subtract_recorder_wait() - subtract from @figures, those of the command, its wait for the
 * recorder
 */
void command_subtract_recorder_wait(const struct report_command *command, struct trace_figures *figures);
/**
 * command_family() - the command and all of its descendants; the caller frees the list of struct
 * trace_process
 * process_family() - the same of any process
 */
struct pointers command_family(const struct report_command *command);
struct pointers process_family(const struct trace_analysis *analysis, const struct trace_process *root);
#endif
