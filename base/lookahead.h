/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_LOOKAHEAD_H
#define BASE_LOOKAHEAD_H
/*
 * lookahead.h - find the thread that leaves a CPU at its next scheduling change.
 *
 * No tracer sees a hidden thread itself. The thread that leaves the CPU at the next change is the
 * one that ran there before, so that change tells which hidden thread had come (state_hidden.c).
 * An exec counts as a change, because it may give the thread another number: it tells the old one.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/reader.h>

/**
 * struct lookahead - the reader for one CPU; zeroed: at the beginning
 * @by_name: any event that names the thread counts as a change (running_name.h), for recordings of
 *     some processes: a thread that ceases to pass leaves its CPU unrecorded. Set once
 * @prev: the thread that leaves at the change at @ns, number @nr with that time
 * @renamed: its number after an exec before that change; 0: there is none. An exec counts only if
 *     its thread leaves at that change: others contradict the switches
 * @exec: the exec before the next switch; zero: none yet
 * @lost: a loss precedes that change
 */
struct lookahead {
	struct trace_cursor *cursor; /* owned */
	uint64_t ns;
	uint32_t nr;
	uint32_t prev;
	uint32_t renamed;
	struct {
		uint32_t old_tid, tid;
	} exec;
	uint32_t seeks;
	bool by_name;
	bool lost;
	/*
	 * -ENOMEM: the cursor stopped for lack of memory, so earlier answers may be wrong. Damage
	 * counts as a loss, not as an error.
	 */
	int error;
};

/**
 * lookahead_switch() - find the first scheduling change of @cpu after the current one
 * @ns, @nr: time of the current change, and its number among the changes with that time
 * @ret_prev: the thread that leaves the CPU at the change found
 * Returns false if there is none, or if a loss precedes it. A loss precedes all changes with its
 * own time. Also returns false, with @ahead->error set, when out of memory.
 */
bool lookahead_switch(struct lookahead *ahead, const struct trace *trace, uint32_t cpu, uint64_t ns, uint32_t nr,
		      uint32_t *ret_prev);
void lookahead_end(struct lookahead *ahead);

/**
 * is_loss_of_switches() - is @event a trace_lost of events that say which thread runs on its CPU?
 * Events that the kernel missed do not count: they are few, and are reported only afterwards.
 */
static inline bool is_loss_of_switches(const struct trace_event *event, uint32_t nr_cpus)
{
	const struct trace_trace_lost *lost = event->payload;

	return event->id == TRACE_EV_trace_lost && lost->cause != TRACE_GAP_MISSED && lost->stream < 2 * nr_cpus &&
	       lost->stream != 2 * event->cpu + 1;
}
#endif
