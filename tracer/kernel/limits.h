/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_LIMITS_H
#define TRACER_LIMITS_H
/* limits.h - bounds of a tracer that were passed, and the sentences about them. */
#include <stdint.h>
#include <trace/tracer.h>

/**
 * struct tracer_passed - how much is beyond each bound; 0: the bound was not passed
 * @group_threads: threads of the start in control groups without a name
 * @work_runs: runs of deferred work whose function had no room
 * @large_maps, @unread_maps: files of names of generated code that are too large, and that were not
 *     read to their end
 * @kernel_hits, @program_hits: how often samples hit an address that had no room, of the kernel and
 *     of generated code
 * @files, @mappings: mappings of code whose file had no number, and that had no room in the list of
 *     their process. @lists: such lists that had no room. @tables: unwind tables beyond the bytes
 *     of all
 */
struct tracer_passed {
	uint64_t group_threads;
	uint64_t work_runs;
	uint64_t large_maps, unread_maps;
	uint64_t kernel_hits, program_hits;
	uint64_t files, mappings, lists, tables;
};

/** limits_describe() - call @describe with a sentence for each bound that was passed */
void limits_describe(const struct tracer_passed *passed, tracer_describe_fn describe, void *context);

#endif
