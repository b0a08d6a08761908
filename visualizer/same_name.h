/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_SAME_NAME_H
#define VISUALIZER_SAME_NAME_H
/* same_name.h - the list of processes that one name chooses, as pgrep -l shows it. */
#include <stddef.h>
#include "report.h"

/**
 * same_name_list() - append "4711 postgres: writer, 4712 postgres: checkpointer, and 3 more"
 * @name: NULL: all chosen processes; else of those that are called so, or have it in their
 *   arguments if @in_args
 * @except: not in the list; NULL: none
 * Returns the number of processes, without @except.
 */
size_t same_name_list(struct string *s, const struct report *report, const char *name, bool in_args,
		      const struct trace_process *except);
/** same_name_note() - to stderr: the processes that have the name only in their arguments */
void same_name_note(const struct report *report);
#endif
