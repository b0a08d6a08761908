/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_CALL_TABLE_H
#define ANALYZER_RULES_CALL_TABLE_H
/*
 * call_table.h - which arguments of a call are descriptors, for the rule about other ends
 *
 * This is not the table of the state: a mistake there shows.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/events.h>

#include "rules.h"

#define NR_CALL_FILES	2
#define NO_ARGUMENT	(-1)
#define NR_CACHED_CALLS 512

enum on_files_flag {
	CALL_GIVES = 1,	 /* it moves data to its file: a wakeup in it shows that its thread has that open */
	CALL_PASSES = 2, /* a message of it may have descriptors in it (SCM_RIGHTS) */
	CALL_USES = 4,	 /* it waits for nothing that the rule examines */
	CALL_ON_FUTEX = 8,
	CALL_IOCTL = 16,
	CALL_BY_PATH = 32,    /* it takes the lock of the file that its path names, without a descriptor */
	CALL_ATTACHES = 64,   /* it attaches System V memory, whose file no event tells */
	CALL_IPC_OF_32 = 128, /* ... or is another call of System V: its first argument tells */
	CALL_REQUEUES = 256,  /* it may move waiters to a second futex, or be moved there itself */
};

struct on_files {
	const char *name;
	int8_t args[NR_CALL_FILES];
	uint16_t flags;
};

struct call_table {
	/* by ABI and number: 0 not looked up, 1 not in the table, else index + 2 */
	uint8_t cached[2][NR_CACHED_CALLS];
};

/** call_table_find() - the call that a thread enters; NULL: it has no descriptors */
const struct on_files *call_table_find(struct call_table *table, const struct rules *rules,
				       const struct trace_sys_enter *enter);
#endif
