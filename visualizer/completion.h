/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_COMPLETION_H
#define VISUALIZER_COMPLETION_H

/** COMPLETION_KINDS - the names of enum completion_kind, in its order */
#define COMPLETION_KINDS "event pid comm task cgroup instance"

enum completion_kind {
	COMPLETION_EVENT,
	COMPLETION_PID,
	COMPLETION_COMM,
	COMPLETION_TASK,
	COMPLETION_CGROUP,
	COMPLETION_INSTANCE
};

/**
 * completion_print() - print the values of one kind that the trace at @path has, a line each, for
 * the completions of shells
 * A process id is followed by a tab and its name. The function reads the start state and the events
 * that begin and name threads, and no more than the first of them: an answer takes milliseconds,
 * and may lack what came late. Prints no messages; returns the exit status.
 */
int completion_print(const char *path, enum completion_kind kind);
#endif
