/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_HIDDEN_H
#define ANALYZER_STATE_HIDDEN_H
/* state_hidden.h - threads without recorded events. state_hidden.c explains the mechanism. */
#include <stdbool.h>
#include <stdint.h>
#include "hash_table.h"

struct cpu;
struct trace_analysis;
struct trace_event;
struct trace_thread;

#define HIDDEN_LOG 64u
/* a time slice that a hidden thread had, or may have had */
struct hidden_slice {
	uint64_t from;
	uint64_t to;
};

struct hidden_log {
	bool any;				/* threads without recorded events exist and may wake others */
	struct hidden_slice slices[HIDDEN_LOG]; /* a ring, by the end of the slices */
	uint64_t pos;				/* number of entries ever added to @slices */
	struct hash_table readings;		/* of threads that the kernel does not list: hidden_runs.c */
	struct trace_cursor *execs;		/* owned: reads the execs ahead; NULL: not needed yet */
	uint64_t execs_ns;			/* it has read those until then */
	uint64_t renamed_ns;			/* the last of them that gave a thread its leader's number */
};

/* Which switches of a CPU are not recorded, if its current thread left it? */
enum hides {
	HIDES_NOTHING,
	HIDES_THREAD,	/* those of cpu->current, which may be hidden; cpu->successor came after it */
	HIDES_FILTERED, /* those of a thread that the filter left out; cpu->current is NULL */
};

/** hidden_end() - at the end of the recording: close the slice of a hidden thread on @cpu */
void hidden_end(struct trace_analysis *a, struct cpu *cpu);
/** hidden_enter() - @thread was switched in: find out whether it is hidden */
void hidden_enter(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns);
/**
 * hidden_slices() - the time between @from and @now in which hidden threads had CPUs
 * @ret_slice: from the begin of the first slice to the end of the last one
 *
 * Returns false if they had none, so that no event can be missing.
 */
bool hidden_slices(const struct trace_analysis *a, uint64_t from, uint64_t now, struct hidden_slice *ret_slice);
/** hidden_event() - cpu->hidden is set: @event may show the thread that came unrecorded */
void hidden_event(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
#endif
