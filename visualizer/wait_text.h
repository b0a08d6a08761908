/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_WAIT_TEXT_H
#define VISUALIZER_WAIT_TEXT_H
/* wait_text.h - the targets of waits and the paths of files as text. */
#include <stdbool.h>
#include <string.h>
#include <trace/analysis.h>
#include "checked_memory.h"

/** is_idle() - true if the thread waited for an idle CPU to wake up */
static inline bool is_idle(const struct trace_cpu_wait *wait)
{
	return !wait->pid && strcmp(wait->comm, "idle") == 0;
}
/** text_path() - @path of a row of files, or the text for a row without a path */
const char *text_path(const struct trace_analysis *analysis, const char *path);
/**
 * wait_is_for_disk() - true for a wait of kind file with an unknown file: its target is a block
 * device
 */
bool wait_is_for_disk(const struct trace_analysis *analysis, const struct trace_wait *wait);
/** wait_via() - the means of a wait; "" if the words of its target name it: "poll via poll" */
const char *wait_via(const struct trace_wait *wait);
/** text_own_thread() - "its thread http-worker-0 (4712)" */
const char *text_own_thread(const struct trace_thread *thread, char *buffer, size_t size);
/** listener_text() - append " (postgres listens)" if that is known of a wait's @target */
void listener_text(struct string *s, const struct trace_analysis *analysis, const char *target);
/**
 * text_wait() - the target of a wait: "file /etc/passwd", "process 4711 cc1 via waitpid", "timeout"
 * @own_pid: the process that waited; 0: several
 */
const char *text_wait(const struct trace_analysis *analysis, const struct trace_wait *wait, uint32_t own_pid,
		      char *buffer, size_t size);
#endif
