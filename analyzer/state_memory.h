/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_MEMORY_H
#define ANALYZER_STATE_MEMORY_H
/* state_memory.h - the memory of processes: which file is mapped where */
#include <stdbool.h>
#include <stdint.h>
#include "handler.h"
#include "state_file.h"

struct trace_analysis;

struct mapping {
	uint64_t start;
	uint64_t end;
	file_idx file;
};

/* shared by CLONE_VM */
struct process_memory {
	struct mapping *maps; /* owned; by start, without overlap */
	uint32_t nr;
	uint32_t capacity;
	uint32_t refs;
	uint32_t sweeps;		     /* number of the last sweep that looked through it: state_expire.c */
	uint32_t number;		     /* no other memory of the trace has it */
	bool has_foreign;		     /* has shared memory the file of which is not known, as of shmat() */
	bool is_seen;			     /* while state_doubt.c looks for those that no loss concerns */
	struct process_memory *next, **from; /* of those that have mappings, if @nr: state_doubt.h */
};

struct process_memory *memory_new(struct trace_analysis *a);

struct process_memory *memory_ref(struct process_memory *memory);

struct process_memory *memory_unref(struct process_memory *memory);

struct process_memory *process_memory_copy(struct trace_analysis *a, const struct process_memory *memory);

void memory_map(struct trace_analysis *a, struct process_memory *memory, uint64_t start, uint64_t end, file_idx file);

file_idx memory_find(const struct process_memory *memory, uint64_t address);
/** memory_offset() - the same, and the offset of @address in the mapping that contains it */
file_idx memory_offset(const struct process_memory *memory, uint64_t address, uint64_t *ret_offset);

event_handler on_reclaim_begin, on_reclaim_end;
#endif
