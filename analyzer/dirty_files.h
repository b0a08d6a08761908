/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_DIRTY_FILES_H
#define ANALYZER_DIRTY_FILES_H
/* dirty_files.h - the processes that have written to each file since its last writeback. */
#include <stdbool.h>
#include <stdint.h>
#include "hash_table.h"
#include "state_file.h"

struct dirty_files {
	struct hash_table rows; /* dirty_row: by inode */
	bool is_on;		/* the trace tells which files are written back */
	file_idx last_file;	/* the last one of dirty_note(), with its writer; 0: none */
	uint32_t last_writer;
};

/** dirty_learn() - process @process has written to @file, or has @mapped it to write */
void dirty_learn(struct trace_analysis *a, uint32_t process, file_idx file, bool mapped);
/** dirty_note() - process @process has written to @file */
static inline void dirty_note(struct trace_analysis *a, const struct dirty_files *dirty, uint32_t process,
			      file_idx file)
{
	if (dirty->is_on && (file != dirty->last_file || process != dirty->last_writer))
		dirty_learn(a, process, file, false);
}
/**
 * dirty_take() - pages of this file go to the disk: the process that has written to it since the
 * last call; 0: none is known, PROCESS_SEVERAL
 * @more: pages remain, and the next call is also for those that wrote them
 */
uint32_t dirty_take(struct trace_analysis *a, uint32_t dev, uint64_t ino, uint64_t ns, bool more);
/**
 * dirty_writer() - the process whose pages of this file a request has; 0: none is known
 * @run_ns: the worker's run that made the request began then
 */
uint32_t dirty_writer(const struct trace_analysis *a, uint32_t dev, uint64_t ino, uint64_t run_ns);
/** dirty_forget() - @file is dropped */
void dirty_forget(struct trace_analysis *a, const struct traced_file *file);
#endif
