/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_PROGRESS_LINE_H
#define BASE_PROGRESS_LINE_H
/*
 * progress_line.h - how far long work is: the last line of a terminal, erased when the work is done
 *
 * It is on stderr, and only if that is a terminal: a pipe or a file gets nothing. A program that
 * prints anything else there erases the line first. One thread shows and erases it.
 *
 *	struct work_progress progress = work_progress_begin("tracevisualizer: analysis");
 *
 *	for (i = 0; i < nr; i++)
 *		work_progress_at(&progress, i, nr);     "tracevisualizer: analysis 43 %, 12 s left"
 *	progress_line_erase();
 */
#include <stdbool.h>
#include <stdint.h>

/** progress_line_is_possible() - true if stderr is a terminal that can erase a line */
bool progress_line_is_possible(void);
/** progress_line_show() - replace the line by @text, cut to the width of the terminal */
void progress_line_show(const char *text);
/** progress_line_after_ns() - how long work has no line: a second, or TRACE_PROGRESS_MS */
uint64_t progress_line_after_ns(void);
/** progress_line_erase() - remove the line, if there is one; allocates nothing */
void progress_line_erase(void);

/**
 * struct work_progress - work of a known size
 * The line appears after a second of work, or after TRACE_PROGRESS_MS of the environment, and
 * changes at most four times a second.
 */
struct work_progress {
	const char *what; /* borrowed; NULL: nothing is shown */
	uint64_t begin_ns;
	uint64_t next_ns; /* of the next change */
};
struct work_progress work_progress_begin(const char *what);
/** work_progress_at() - @done of @of is done; call it some thousand times in all, or more often */
void work_progress_at(struct work_progress *progress, uint64_t done, uint64_t of);

/**
 * struct rate_meter - how often something happened, as an average of at least one second
 * Zeroed = new; private.
 */
struct rate_meter {
	struct {
		uint64_t ns, count;
	} from, next; /* the average is from @from on; @next replaces it */
};
/**
 * rate_meter_per_second() - it had happened @count times at @now_ns
 * Returns false if the meter has measured for less than a second.
 */
bool rate_meter_per_second(struct rate_meter *meter, uint64_t now_ns, uint64_t count, uint64_t *ret_rate);
#endif
