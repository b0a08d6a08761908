/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_DOUBT_H
#define ANALYZER_STATE_DOUBT_H
/*
 * state_doubt.h - names that a loss may have made wrong: state_doubt.c
 *
 * A trace without a loss has no doubts, and nothing here costs it more than a comparison.
 */
#include <stdbool.h>
#include <stdint.h>

struct fd_table;
struct frame;
struct process_memory;
struct trace_analysis;
struct trace_thread;

#define DOUBT_ALL_CPUS UINT32_MAX

/*
 * The last loss, and those that overlap it. @until_ns: their end, 0: no event was lost so far.
 * @cpu: the CPU that they concern, or DOUBT_ALL_CPUS. @fds and @memories list the tables that have
 * an entry.
 */
struct doubt {
	uint64_t until_ns;
	uint64_t nr; /* how often names became unknown */
	uint32_t cpu;
	bool is_open; /* @until_ns has not passed */
	struct fd_table *fds;
	struct process_memory *memories;
};

/** doubt_begin() - events of @cpu are lost from now until @until_ns: forget what they may change */
void doubt_begin(struct trace_analysis *a, uint32_t cpu, uint64_t until_ns);
/** doubt_pass() - the next event is at @ns: if the loss has ended, forget the same again */
void doubt_pass(struct trace_analysis *a, uint64_t ns);
/** doubt_thread() - @thread gets a CPU during a loss, and may have run where events were lost */
void doubt_thread(struct trace_analysis *a, struct trace_thread *thread);
/** doubt_all() - forget all descriptors, mappings and directories */
void doubt_all(struct trace_analysis *a);
/** doubt_hides() - may @thread have left the call @frame, and be in another one, since a loss? */
bool doubt_hides(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame);

/** doubt_note_fds() - @fds gets its first entry */
void doubt_note_fds(struct trace_analysis *a, struct fd_table *fds);
void doubt_drop_fds(struct fd_table *fds); /* it has no entries any more, or ends */
/** doubt_note_memory() - @memory gets its first mapping */
void doubt_note_memory(struct trace_analysis *a, struct process_memory *memory);
void doubt_drop_memory(struct process_memory *memory);
#endif
