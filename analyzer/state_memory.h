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
	uint64_t offset; /* of @start in the file */
	file_idx file;
	bool is_private; /* a futex in it is in the memory of the process, not in the file */
};

/* shared by CLONE_VM */
struct process_memory {
	struct mapping *maps; /* owned; by start, without overlap */
	uint32_t nr;
	uint32_t capacity;
	uint32_t refs;
	uint32_t sweeps;		     /* number of the last sweep that looked through it: state_expire.c */
	uint32_t number;		     /* no other memory of the trace has it */
	uint32_t copy_of;		     /* number of the memory that a fork copied; 0: none */
	uint64_t copied_ns;		     /* the last fork that copied it; 0: none */
	uint64_t cut_ns;		     /* when a mapping of it was last removed; 0: never */
	bool has_foreign;		     /* has shared memory the file of which is not known, as of shmat() */
	bool is_seen;			     /* while state_doubt.c looks for those that no loss concerns */
	struct process_memory *next, **from; /* of those that have mappings, if @nr: state_doubt.h */
};

struct process_memory *memory_new(struct trace_analysis *a);

struct process_memory *memory_ref(struct process_memory *memory);

struct process_memory *memory_unref(struct process_memory *memory);

/**
 * process_memory_copy() - the memory of the child of a fork in a call that began at @since_ns
 * The kernel copies it before the event of the fork: a mapping that another thread removed since
 * then may be in the copy.
 */
struct process_memory *process_memory_copy(struct trace_analysis *a, struct process_memory *memory, uint64_t since_ns);

/** memory_has_foreign() - @memory has shared memory the file of which is not known */
void memory_has_foreign(struct trace_analysis *a, struct process_memory *memory);
/**
 * memory_copied_since() - @memory got shared memory in a call that began at @since_ns
 * @file: of that; 0: not known
 * The child of a fork in that time may have it, too.
 */
void memory_copied_since(struct trace_analysis *a, const struct process_memory *memory, uint64_t since_ns,
			 file_idx file);

/** memory_map() - @memory has @map, and nothing else there; without a file it is a hole */
void memory_map(struct trace_analysis *a, struct process_memory *memory, struct mapping map);
void memory_unmap(struct trace_analysis *a, struct process_memory *memory, uint64_t start, uint64_t end);

/** memory_at() - the mapping of a file that contains @address; NULL: none is known */
const struct mapping *memory_at(const struct process_memory *memory, uint64_t address);
/** memory_find() - the file that is mapped at @address */
file_idx memory_find(const struct process_memory *memory, uint64_t address);
/**
 * memory_shared() - the file whose bytes @address shows to all processes that have it mapped
 * @ret_offset: of @address in that file
 */
file_idx memory_shared(const struct process_memory *memory, uint64_t address, uint64_t *ret_offset);

event_handler on_reclaim_begin, on_reclaim_end;
#endif
