/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_DISK_SUMS_H
#define ANALYZER_DISK_SUMS_H
/* disk_sums.h - whose requests the disks served: disk_sums.c. */
#include <stdint.h>
#include <trace/analysis.h>
#include <trace/events.h>
#include "hash_table.h"

struct trace_analysis;

struct disk_sums {
	struct hash_table disks;    /* disk_row */
	struct hash_table requests; /* disk_request_row: in progress */
	struct hash_table uses;	    /* disk_use_row */
	struct hash_table workers;  /* disk_worker_row: those with a batch whose process is not known yet */
	struct hash_table batches;  /* disk_batch_row */
	uint32_t nr_batches;	    /* so far */
};

/* Requests of a worker of the kernel, until disk_own() tells the process. Else a process_idx. */
#define DISK_OF_WORKER(thread) (1u << 31 | (thread)->idx)

/** disk_queue() - an I/O scheduler gets a request of @owner, which disk_issue() begins later */
void disk_queue(struct trace_analysis *a, const struct trace_block_insert *insert, uint32_t owner);
/** disk_issue() - a request begins: of @owner, unless disk_queue() has told another one */
void disk_issue(struct trace_analysis *a, uint64_t ns, const struct trace_block_issue *issue, uint32_t owner);
/** disk_file() - a request of a worker writes pages of a file: that part is of who wrote to it */
void disk_file(struct trace_analysis *a, const struct trace_block_file *file);
/** disk_complete() - a request ends; that of an unseen begin is of an unknown process */
void disk_complete(struct trace_analysis *a, uint64_t ns, const struct trace_block_complete *complete);
/** disk_own() - all requests of @worker so far, a DISK_OF_WORKER(), are of @process */
void disk_own(struct trace_analysis *a, uint32_t worker, uint32_t process);
/** disk_lost() - events are lost from @ns on: the requests in progress have no known end */
void disk_lost(struct trace_analysis *a, uint64_t ns);
/** disk_sums_edge() - the pass is at @ns, the begin of the window, or its end: is_past_window */
void disk_sums_edge(struct trace_analysis *a, uint64_t ns);
/** disk_end() - the end of the trace */
void disk_end(struct trace_analysis *a, uint64_t ns);
void disk_sums_clear(struct disk_sums *sums);
/** disk_use_of() - the use of a disk by @owner, a process_idx, without numbers of requests */
struct trace_disk_use disk_use_of(const struct trace_analysis *a, uint32_t dev, uint32_t owner, uint64_t busy_ns,
				  uint64_t disk_busy_ns);
/**
 * disk_uses_order() - by disk, most time first; the first one gets the rest of the rounding
 * False: out of memory
 */
bool disk_uses_order(struct trace_disk_use *list, size_t nr);
#endif
