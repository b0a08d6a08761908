/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CODE_HISTORY_H
#define DAEMON_CODE_HISTORY_H
/*
 * code_history.h - what processes mapped as code while a flight recorder takes samples
 *
 * A snapshot has the mappings of the processes that are running then, from its start state. Those
 * of a process that has ended, and those before its last exec, are only here. One thread.
 */
#include <trace/tracer.h>

#include "build_ids.h"
#include "own_records.h"

/** struct code_entry - an event fs_map; @bytes: of memory */
struct code_entry {
	struct code_entry *next; /* owned */
	uint64_t ts_ns;
	size_t bytes;
	struct trace_fs_map map;
	char path[];
};

/**
 * struct code_history - zeroed: empty. @first: the oldest one
 * @ids: of the files, which are read while they are mapped; NULL: none yet
 * @lost: how often the kernel had no room, the daemon no memory, or the history was full
 * @lost_here: of these, all but those of the kernel
 * @oldest_ns: what code_history_take() was told last
 */
struct code_history {
	struct code_entry *first; /* owned */
	struct code_entry *last;
	size_t bytes;
	struct build_ids *ids; /* owned */
	uint64_t lost_here;
	uint64_t lost;
	uint64_t oldest_ns;
};

/**
 * code_history_take() - add what @tracer has noted since the last call
 * @oldest_ns: of the events that are kept. If the history is full, processes that ended before it
 * are dropped, and then the oldest mappings
 */
void code_history_take(struct code_history *history, struct tracer *tracer, uint64_t oldest_ns);
/**
 * code_history_block() - put the events from *@at on that are not later than @until_ns into @block
 * @at: the next event, which is moved. Returns false if there is none, or -ENOMEM in *@ret_error
 */
bool code_history_block(const struct code_entry **at, uint64_t until_ns, struct own_records *block, int *ret_error);
void code_history_clear(struct code_history *history);

#endif
