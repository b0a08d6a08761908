/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_VIEW_BEYOND_H
#define ANALYZER_VIEW_BEYOND_H
/*
 * view_beyond.h - what a full view is told: sums of the classes of each row, in equal parts of time
 *
 * A view keeps a limited number of intervals. When it has them, it is full: of what comes later it
 * has the ns of each class in each of up to BEYOND_PARTS parts of the trace, for each row. The sums
 * of whole parts are exact. A column that begins or ends within a part has its share of the
 * mixture. If the sums of many rows need more than BEYOND_MAX_BYTES, two parts become one.
 *
 * A row has intervals until the end of its series, and sums of its time after that. A part in which
 * a thread begins or ends is that much shorter for its row.
 */
#include <stdbool.h>
#include <trace/error.h>
#include <trace/view.h>

#define BEYOND_PARTS	 1024u
#define BEYOND_MAX_BYTES (14u << 20)
#define BEYOND_STATES	 (TRACE_NR_CLASSES + 1) /* the last one is the sum of all */

/*
 * struct beyond_row - @ns: [view_beyond.nr] of each class; owned; NULL: none
 * @begin: the end of the row's intervals: no time before it counts
 * @part, @now: what @ns does not have yet of a part: of one class after the other, in few cache
 *     lines, because rows are many and each event is of another one
 */
struct beyond_row {
	uint64_t begin;
	uint32_t part;
	bool is_known; /* @begin is */
	uint64_t now[TRACE_NR_CLASSES];
	uint64_t *ns[BEYOND_STATES];
};

/**
 * struct view_beyond - zeroed = the view is not full
 * @from_ns, @to_ns: of the trace; @width_ns of each of @nr parts, but for the last one
 */
struct view_beyond {
	uint64_t from_ns, to_ns, width_ns;
	uint64_t now_from, now_to; /* of the part @now that was added to last */
	uint32_t nr, now;
	size_t bytes;
	struct beyond_row *threads, *cpus; /* owned */
	uint32_t nr_threads, nr_cpus;
};

/** struct beyond_edge - the sums of the parts before @part; zeroed = of none */
struct beyond_edge {
	uint32_t part;
	uint64_t ns[TRACE_NR_CLASSES];
};

/** struct beyond_life - no time of a row is told before @from_ns or after @to_ns */
struct beyond_life {
	uint64_t from_ns, to_ns;
};

/** beyond_begin() - the view of a trace from @from_ns to @to_ns is full now */
void beyond_begin(struct view_beyond *beyond, uint64_t from_ns, uint64_t to_ns);
/**
 * beyond_row_of() - row @idx of one of the two lists; NULL: no memory
 */
struct beyond_row *beyond_row_of(struct beyond_row **rows, uint32_t *nr, uint32_t idx);
/** beyond_add_slowly() - beyond_add() of another part than the last one. Returns 0 or -ENOMEM */
int beyond_add_slowly(struct view_beyond *beyond, struct beyond_row *row, enum trace_class class_of_time, uint64_t from,
		      uint64_t to) TRACE_NODISCARD;
/** beyond_add() - add the time from @from to @to, of a row whose begin is known. 0 or -ENOMEM */
static inline int beyond_add(struct view_beyond *beyond, struct beyond_row *row, enum trace_class class_of_time,
			     uint64_t from, uint64_t to)
{
	if (row->part != beyond->now || from < beyond->now_from || to > beyond->now_to || from < row->begin)
		return beyond_add_slowly(beyond, row, class_of_time, from, to);
	row->now[class_of_time] += to - from;
	return 0;
}
/** beyond_settle() - before its sums are read: @row->ns has all. Returns 0 or -ENOMEM */
int beyond_settle(struct view_beyond *beyond, struct beyond_row *row) TRACE_NODISCARD;
/**
 * beyond_until() - add the time of a row until @ns to @times
 * @edge: of the call before, for an earlier instant
 */
void beyond_until(const struct view_beyond *beyond, const struct beyond_row *row, struct beyond_life life, uint64_t ns,
		  struct beyond_edge *edge, uint64_t *times);
void beyond_clear(struct view_beyond *beyond);
#endif
