/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_POTENTIAL_WAKERS_H
#define ANALYZER_POTENTIAL_WAKERS_H
/*
 * potential_wakers.h - the potential wakers of a wait. The functions return a process other than
 * @self, PROCESS_SEVERAL, or PROCESS_UNKNOWN if none is known.
 *
 * @to_ns: the end of the wait. A process that began later is no waker, although it has inherited
 * the descriptors and the memory of one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "state_file.h"

struct trace_analysis;
struct trace_process;
struct process_memory;

/* The potential wakers of one kind: potential_wakers.c. */
enum waker_kind {
	WAKERS_CHILDREN,
	WAKERS_OTHER_ENDS,
	WAKERS_OPENERS,
	WAKERS_SHARERS,
	WAKERS_SPACES,
	WAKERS_REQUESTS,
	NR_WAKER_KINDS
};
struct potential_waker;
struct potential_wakers {
	struct potential_waker *list; /* owned; sorted, without duplicates */
	size_t nr, room;
	bool whole; /* complete; else it has only the answers to the last query: */
	uint64_t query_key, query_more;
};

/* Processes that may live: all that lived at the last query, and those since. */
struct living_processes {
	uint32_t *list; /* owned: process_idx */
	uint32_t nr, room;
	uint32_t seen; /* so many processes have been in the list */
};

/** wakers_revive() - @process, which has ended, has a thread again */
void wakers_revive(struct trace_analysis *a, struct trace_process *process);

/**
 * wakers_child() - the living child of @self with the pid @named, in its own namespace or in the
 * recorder's; 0: any pid
 */
uint32_t wakers_child(struct trace_analysis *a, const struct trace_process *self, uint32_t named, uint64_t to_ns);
/** wakers_holder() - the process that has the other end of @file open now */
uint32_t wakers_holder(struct trace_analysis *a, const struct trace_process *self, file_idx file, uint64_t to_ns);
/** wakers_opener() - the process that has the regular file @file open now */
uint32_t wakers_opener(struct trace_analysis *a, const struct trace_process *self, file_idx file, uint64_t to_ns);
/** wakers_sharer() - the process that has @file mapped */
uint32_t wakers_sharer(struct trace_analysis *a, const struct trace_process *self, file_idx file, uint64_t to_ns);
/** wakers_of_space() - the process with the same address space @memory (CLONE_VM) */
uint32_t wakers_of_space(struct trace_analysis *a, const struct trace_process *self,
			 const struct process_memory *memory, uint64_t to_ns);
/**
 * wakers_request() - the @nr-th file with io_uring requests of @process in progress; 0: no more
 */
file_idx wakers_request(struct trace_analysis *a, const struct trace_process *process, size_t nr);
/**
 * wakers_closed() - find an end of a pipe or socket that @dead closes and @poller waits for @poller
 * has the other end of it. A pipe does not count if @poller has both ends.
 * Returns the end that @dead closes; 0: none.
 */
file_idx wakers_closed(struct trace_analysis *a, const struct trace_thread *dead, const struct trace_thread *poller);
/** wakers_has_other_end() - has @thread the other end of the pipe or socket @file open? */
bool wakers_has_other_end(const struct trace_analysis *a, const struct trace_thread *thread, file_idx file);
void wakers_free(struct trace_analysis *a);
#endif
