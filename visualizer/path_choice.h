/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PATH_CHOICE_H
#define VISUALIZER_PATH_CHOICE_H
/*
 * path_choice.h - the thread that --critical-path is about.
 *
 * A number is that of a thread, and the first thread has the number of its process. A name is that
 * of a process, else of threads, else a part of the arguments of a process, as for pgrep -f. If
 * several processes match, it is the recorded command, else the longest-lived. The path of the
 * recorded command is that of its first thread, because the command ends with it. In another
 * process that a name chooses, and among threads of one name, it is the thread with the most work
 * (busiest.h): the first thread of a server often only waits for the others. A line on stderr tells
 * the choice, and the other threads.
 */
#include "report.h"

/**
 * critical_path_begin() - before the pass: keep what --critical-path needs, in @report->history
 * Returns 0, or 1 or 2 after a message.
 */
int critical_path_begin(struct report *report);
/**
 * critical_path_of_command() - the thread of the recorded command, found in @report->history; NULL:
 * none
 * @ret_from_ns: where its run begins
 */
const struct trace_thread *critical_path_of_command(const struct report *report, uint64_t *ret_from_ns);
/**
 * critical_path_choose() - after the pass: the path of the thread that the options choose, cut to
 * the window of @report
 * Returns NULL after a message, or with the reason in @ret_error.
 */
struct trace_critical_path *critical_path_choose(const struct report *report, struct trace_error *ret_error);
#endif
