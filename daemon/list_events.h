/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_LIST_EVENTS_H
#define DAEMON_LIST_EVENTS_H
/* list_events.h - tracedaemon --list. */

/** list_run() - print what can be recorded: the events, or with @target (else NULL) what a probe could take. Returns the exit status */
int list_run(const char *target);
#endif
