/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_LIST_H
#define DAEMON_USER_LIST_H
/* user_list.h - the tracepoints of programs that run now, for tracedaemon --list */
#include <stdio.h>

/**
 * user_list() - print one line per tracepoint, in the columns of select_list(), with its source
 * line and program
 * Returns the number of lines.
 */
size_t user_list(FILE *out);
#endif
