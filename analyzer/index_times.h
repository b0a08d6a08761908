/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_INDEX_TIMES_H
#define ANALYZER_INDEX_TIMES_H
/*
 * index_times.h - ends of entries that are events of the trace, for the index of a view
 *
 * Most entries of series end at an event of a CPU: the entry or exit of a system call, an
 * interrupt, a switch. The trace has the times of these events, so an index need not have them: an
 * entry that ends by an event has no duration in it. All others, such as waits that a thread on
 * another CPU ended, have one.
 *
 * The writer and the reader of an index both go through the events of the trace in order. Each
 * event has a mark of one byte that tells which entries end at its time (enum mark). The marks of
 * the events with the same id are a column. Nearly all marks of such a column are the same, so they
 * take little space: an exit of a system call ends the entry of the thread on its CPU.
 *
 * Example: thread 7 has CPU 0 from 100 on. Events of CPU 0 are sys_enter at 130, sched_waking at
 * 150, sched_switch to thread 8 at 190. Thread 7 has the entries "own code" 100-130, "read" 130-190
 * and "blocked" 190-400. The marks are 1, 0 and 3, or 7 if thread 8 waited for the CPU until then.
 * The index has the duration of "blocked" only, 210.
 *
 * A page fault may begin earlier than its event, by a time that the recorder has measured
 * (state_trap.c). A mark tells that, too.
 *
 * The trace is divided into slices of about the same number of events. The index has, for the begin
 * of each, the entry of each series that has not ended, and its begin. So several threads read the
 * slices at the same time.
 *
 * A view that keeps mixtures (history.coarse), or of a trace with many events, has all durations:
 * to go through the events of such a trace takes too long. They take 1.4 to 1.8 bytes for an
 * interval. A trace with 16 to 25 million events may have so many intervals that this would be more
 * than 0.6 bytes for an event: then the events give the times, too.
 */
#include <trace/error.h>
#include "index_series.h"

#define TIMES_MAX_EVENTS (25u << 20) /* with 8 Mi intervals, a third */
#define TIMES_FEW_EVENTS (16u << 20) /* at any number of intervals */
#define TIMES_SLICES	 4u
#define TIMES_COLUMNS	 256u /* the last one has the marks of all higher ids */

/**
 * struct index_times - which entries end by events; zeroed = none do
 * @first: number of the first entry of each series, in the order of struct stored_series
 * @by_event: a bit for each entry
 * @edges: times_walk.earlier_ns; for each slice: the number of marks of each column, its end, and
 *     where the series are then
 */
struct index_times {
	size_t *first;	    /* owned */
	uint64_t *by_event; /* owned */
	struct bytes_out edges;
	struct bytes_out marks[TIMES_COLUMNS];
};

/** times_are_worth() - is an index of so many intervals and events too large with all durations? */
static inline bool times_are_worth(uint64_t intervals, uint64_t events)
{
	return events <= TIMES_FEW_EVENTS || (events <= TIMES_MAX_EVENTS && 3 * intervals > events);
}
/** times_are_kept() - has an index of @view durations only where no event ends an entry? */
bool times_are_kept(const struct trace_view *view);
/**
 * times_find() - go through the events of the trace of @view, whose series are @list
 * Returns 0, or -ENOMEM.
 */
int times_find(const struct trace_view *view, const struct stored_series *list, size_t nr,
	       struct index_times *ret) TRACE_NODISCARD;
/** times_save() - write marks and edges to @out, and release them: series_save() needs the rest */
void times_save(struct index_times *times, struct index_out *out);
void times_free(struct index_times *times);
/** times_is_by_event() - does entry @idx of series @nr end by an event? */
static inline bool times_is_by_event(const struct index_times *times, size_t nr, uint32_t idx)
{
	size_t bit = times->first[nr] + idx;

	return times->by_event[bit / 64] >> bit % 64 & 1;
}

/** struct times_in - @edges and @marks of an index: parts of @memory, which is owned */
struct times_in {
	struct bytes_in edges;
	struct bytes_in marks[TIMES_COLUMNS];
	uint8_t *memory;
};

/**
 * times_load() - marks and edges of the section at @at, which becomes the end of it
 * Returns 0; -EBADMSG if they cannot be; -ENOMEM.
 */
int times_load(const struct trace *trace, const struct index_in *in, uint64_t *at,
	       struct times_in *ret) TRACE_NODISCARD;
/**
 * times_fill() - go through the events of the trace of @view: set the times of all entries
 * @list: series->from has the duration of each entry, 0 if it ends by an event, and series->end is
 *     the begin of the first one
 * Returns 0; -EBADMSG if marks and entries do not fit the events, -ENOMEM.
 */
int times_fill(const struct trace_view *view, const struct stored_series *list, size_t nr,
	       struct times_in *times) TRACE_NODISCARD;
#endif
