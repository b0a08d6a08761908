/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYMBOL_MAPPINGS_H
#define LIBTRACE_SYMBOL_MAPPINGS_H
/*
 * symbol_mappings.h - which file a process had mapped at an address, at a time
 *
 * Add everything first, in time order; then ask.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash_table.h"

/**
 * struct symbol_mapping - a mapping of a process; @since_ns: when it was reported
 * @file: its number in struct symbol_files
 * @may_be_late: it may have been reported after its first use
 * @before: the one before it of the same process; symbol_mappings_add() sets it
 */
struct symbol_mapping {
	uint32_t pid;
	size_t before;
	size_t file;
	uint64_t since_ns;
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	bool may_be_late;
};

/**
 * struct symbol_step - an event in the life of a thread
 * Either @parent starts it as part of @pid (for a new process its own), or it executes a new
 * program.
 * @by_map: fs_map told of the program, and sched_exec has not come yet
 * @before: the step before it of the same thread; symbol_mappings_add_step() sets it
 */
struct symbol_step {
	uint32_t tid;
	uint32_t pid;
	uint32_t parent;
	bool exec;
	bool by_map;
	uint64_t ts_ns;
	size_t before;
};

/**
 * struct symbol_mappings - zeros: none
 * @last_steps, @last_mappings: by thread, by process. @indexes: of processes with many mappings
 * @failed: there was no memory for something that was added
 */
struct symbol_mappings {
	struct symbol_mapping *mappings;
	uint32_t nr_mappings, room_mappings;
	struct symbol_step *steps;
	uint32_t nr_steps, room_steps;
	struct hash_table last_steps, last_mappings;
	struct hash_table indexes;
	bool failed;
};

void symbol_mappings_clear(struct symbol_mappings *mappings);
void symbol_mappings_add(struct symbol_mappings *mappings, const struct symbol_mapping *mapping);
void symbol_mappings_add_step(struct symbol_mappings *mappings, const struct symbol_step *step);
/**
 * symbol_mappings_exec() - add sched_exec of @pid
 * Without fs_map before it, no mapping of the new program is known.
 */
void symbol_mappings_exec(struct symbol_mappings *mappings, uint32_t pid, uint64_t ts_ns);
/** symbol_mappings_pid() - the process of @tid at @ts_ns; @tid itself if nothing is known of it */
uint32_t symbol_mappings_pid(const struct symbol_mappings *mappings, uint32_t tid, uint64_t ts_ns);
/** symbol_mappings_find() - the mapping of @address; NULL: none. Valid until @mappings changes */
const struct symbol_mapping *symbol_mappings_find(struct symbol_mappings *mappings, uint32_t tid, uint64_t ts_ns,
						  uint64_t address);

#endif
