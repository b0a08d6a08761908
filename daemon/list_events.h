/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_LIST_EVENTS_H
#define DAEMON_LIST_EVENTS_H
/* list_events.h - tracedaemon --list. */

/**
 * list_run() - print the events that can be recorded, or with @target (otherwise NULL) the possible
 * probes in it. Returns the exit status
 */
int list_run(const char *target);
#endif
