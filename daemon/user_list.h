/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_LIST_H
#define DAEMON_USER_LIST_H
/* user_list.h - the tracepoints of programs that run now, for tracedaemon --list. */
#include <stdio.h>

/** user_list() - a line for each, in the columns of select_list(), with where it stands and which program it is in. Returns how many */
size_t user_list(FILE *out);
#endif
