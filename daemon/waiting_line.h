/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_WAITING_LINE_H
#define DAEMON_WAITING_LINE_H
/*
 * waiting_line.h - on the terminal, what a program does in a call that lasts for more than a second
 *
 * The kernel checks BPF programs in one call, which takes seconds for those of --sample. So a
 * thread shows the line, "tracedaemon: loading the programs into the kernel, 3 s", until the main
 * thread ends it.
 */

/**
 * waiting_line_begin() - show @what of @program, both borrowed, after a second, or after
 * TRACE_PROGRESS_MS of the environment; on a terminal only
 * Without memory for a thread there is no line. There is at most one line: an earlier one ends.
 */
void waiting_line_begin(const char *program, const char *what);
/** waiting_line_end() - remove it, and end its thread; without a line it does nothing */
void waiting_line_end(void);
#endif
