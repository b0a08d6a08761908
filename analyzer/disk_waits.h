/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_DISK_WAITS_H
#define ANALYZER_DISK_WAITS_H
/* disk_waits.h - who used a disk while a process waited for it: disk_waits.c. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "hash_table.h"

struct trace_analysis;
struct trace_process;

/* A request from its issue to its end */
struct disk_span {
	uint64_t from, to;
	uint32_t dev;
	uint32_t owner; /* a process_idx, or the number of a batch */
};

/* A wait for the file or disk @path */
struct disk_wait {
	uint64_t from, to;
	string_id path;
	uint32_t process; /* process_idx */
};

struct disk_waits {
	struct disk_span *spans; /* owned; in order of @to */
	struct disk_wait *waits; /* owned */
	size_t nr_spans, room_spans, nr_waits, room_waits;
	struct hash_table batches; /* batch -> process_idx */
	bool is_full;		   /* there were too many */
};

/** disk_waits_request() - a request ended */
void disk_waits_request(struct trace_analysis *a, const struct disk_span *span);
/** disk_waits_own() - the requests of @batch are of @process */
void disk_waits_own(struct trace_analysis *a, uint32_t batch, uint32_t process);
/** disk_waits_wait() - a process waited for a file */
void disk_waits_wait(struct trace_analysis *a, const struct disk_wait *wait);
/** disk_waits_window_begins() - the requests that ended before the window do not count */
void disk_waits_window_begins(struct disk_waits *waits);
void disk_waits_clear(struct disk_waits *waits);
#endif
