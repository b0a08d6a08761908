/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_START_H
#define ANALYZER_SERVERS_SERVERS_START_H
/* servers_start.h - the sockets and pipes that were open at the start of the trace */

struct trace_servers;

/**
 * servers_start_load() - load them. Called at the first event, because then the analysis knows the
 * processes.
 */
void servers_start_load(struct trace_servers *s);
#endif
