/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_CAUSE_H
#define ANALYZER_SERVERS_SERVERS_CAUSE_H
/* servers_cause.h - the wait causes of threads of servers, each kept once */
#include <stdbool.h>
#include <stdint.h>
#include "hash_table.h"

struct trace_servers;
struct trace_process;

struct server_cause {
	const struct trace_process *other;
	const char *target, *via; /* interned by the analysis: equal texts have equal addresses */
	uint8_t kind;
	bool idle;
};

struct servers_causes {
	struct server_cause *items; /* owned */
	uint32_t nr;
	struct hash_table by_hash;
};

/** cause_intern() - the index of the cause + 1, or 0 if out of memory */
uint32_t cause_intern(struct trace_servers *s, const struct server_cause *wanted);
void causes_free(struct servers_causes *causes);
#endif
