/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_GROUPS_H
#define VISUALIZER_REPORT_GROUPS_H
/* report_groups.h - the control groups of the processes, and their time. */
#include "checked_memory.h"
#include "json.h"
#include "process_rows.h"

/**
 * struct control_group - the sums of the processes of a control group while they were in it
 * @path: borrowed from the analysis; "": not known
 * @processes: that were in it at any time
 * @kind_ns, @idle_ns: as in struct process_row. @untold_ns: blocked time of processes that were
 *   also blocked in other groups: its kinds are known of all groups together only. The three are
 *   @blocked_ns
 */
struct control_group {
	uint64_t key;
	const char *path;
	size_t processes;
	uint64_t user_ns, system_ns, interrupted_ns, wait_cpu_ns, blocked_ns;
	uint64_t kind_ns[TRACE_NR_WAIT_KINDS], idle_ns, untold_ns;
};

/** control_groups() - most CPU time first, owned by the caller */
struct control_group *control_groups(const struct report *report, const struct process_row *rows, size_t nr,
				     size_t *ret_nr);
/** report_groups() - a table; only with --section if all processes are in one group */
void report_groups(const struct report *report, const struct process_row *rows, size_t nr);
/**
 * groups_sentence() - append a sentence about a group whose CPU quota was used up, or that had most
 * of the CPU time while threads of other groups waited for a CPU; none: nothing
 */
void groups_sentence(struct string *s, const struct report *report, const struct process_row *rows, size_t nr);
void json_groups(struct json *json, const struct report *report, const struct process_row *rows, size_t nr);
#endif
