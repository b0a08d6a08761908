/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_EXPLICIT_H
#define ANALYZER_SERVERS_SERVERS_EXPLICIT_H
/* servers_explicit.h - requests that programs name themselves, by numbers */
#include <stdint.h>
#include "hash_table.h"

struct trace_servers;
struct trace_event;
struct servers_process;

struct servers_explicit {
	struct hash_table namings; /* rows: struct naming_row */
};

/** explicit_event() - handle an event of a program: it may begin, hand off or end a request */
void explicit_event(struct trace_servers *s, const struct trace_event *event);
/**
 * explicit_events_lost() - events of @process are missing until @until_ns
 *
 * The requests of its threads are not known until then.
 */
void explicit_events_lost(struct trace_servers *s, struct servers_process *process, uint64_t until_ns);
/** explicit_drop() - after a gap, or at the end: no number stands for a request any more */
void explicit_drop(struct servers_explicit *explicit);
#endif
