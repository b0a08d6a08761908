/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_RUNNING_THREADS_H
#define VISUALIZER_RUNNING_THREADS_H
/*
 * running_threads.h - the thread that made each event of a list, without an analysis.
 *
 * Call running_threads_begin() before the pass, and for each event, in order of time, first
 * running_threads_before() and then running_threads_after().
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/reader.h>
#include "lookahead.h"

#define NO_THREAD UINT32_MAX
#define TIDS	  (1u << 22) /* limit of Linux */

/**
 * struct running_cpu - scheduling of one CPU
 * @running: the thread on it; NO_THREAD: unknown
 * @went: the thread that left it at the last switch; NO_THREAD: unknown
 * @lost_from_ns, @lost_to_ns: its scheduling changes are missing between these; 0: none are
 * @switch_ns, @nr_switches: time of the last switch, and the number of switches at that time
 * @unseen: @running came after that switch, and no event shows it
 * @unconfirmed: @running came at that switch, and it is not looked up which thread is named next
 */
struct running_cpu {
	uint64_t lost_from_ns;
	uint64_t lost_to_ns;
	uint64_t switch_ns;
	struct lookahead ahead;
	uint32_t nr_switches;
	uint32_t running;
	uint32_t went;
	bool unseen;
	bool unconfirmed;
};

/**
 * struct running_threads - the threads on all CPUs
 * @cpus: owned
 * @now_ns: time of the current event
 * @next_gap_ns, @next_gap: start of the next gap, and its index
 * @passed: owned; bit per thread that made an event itself; NULL: the recorder left out no process
 * @visible: owned; bit per thread with a recorded switch from a CPU or fork
 * @hidden: owned; bit per thread that the start state marks as hidden
 * @misses_switches: some threads are hidden, or events have shown it
 * @cursor: borrowed; of the pass; NULL: it cannot be peeked
 * @masks, @next_mask_ns: owned; changes of the recorded events, and the time of the next one
 */
struct running_threads {
	const struct trace *trace; /* borrowed */
	struct running_cpu *cpus;
	uint32_t nr_cpus;
	uint64_t now_ns;
	uint64_t next_gap_ns;
	size_t next_gap;
	uint8_t *passed;
	uint8_t *visible;
	uint8_t *hidden;
	bool misses_switches;
	struct trace_cursor *cursor;
	struct trace_cursor *masks;
	uint64_t next_mask_ns;
};

/**
 * running_threads_init() - find hidden threads
 * @is_reported: the caller reports damage of the start state itself
 * Returns 0 or -ENOMEM; release @threads in both cases.
 */
int running_threads_init(struct running_threads *threads, const struct trace *trace, bool is_reported) TRACE_NODISCARD;
void running_threads_release(struct running_threads *threads);
/** running_threads_begin() - the threads on the CPUs at the first event from @from_ns on */
void running_threads_begin(struct running_threads *threads, uint64_t from_ns);
/** running_threads_before() - the thread that made @event; NO_THREAD: unknown */
uint32_t running_threads_before(struct running_threads *threads, const struct trace_event *event);
/** running_threads_after() - after running_threads_before(): the scheduling change of @event */
void running_threads_after(struct running_threads *threads, const struct trace_event *event);
/**
 * running_threads_note_gap() - for a late gap: scheduling changes of its CPU are missing;
 * @threads: struct running_threads
 */
void running_threads_note_gap(void *threads, const struct trace_gap *gap);

/** switch_of() - NULL if @event is no switch, or its type in this trace is too short */
static inline const struct trace_sched_switch *switch_of(const struct trace_event *event)
{
	bool is_one = event->id == TRACE_EV_sched_switch &&
		      event->type->fixed_bytes >= sizeof(struct trace_sched_switch);

	return is_one ? (const struct trace_sched_switch *)event->payload : NULL;
}
#endif
