/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PAGE_PART_H
#define VISUALIZER_PAGE_PART_H
/*
 * page_part.h - a smaller trace for the page of a part.
 *
 * trace_write_part() proposes a trace with the events of the part and few others. It is taken only
 * if the answers of the view are the same bytes as those of the whole trace: rows, sums, waits,
 * columns, clients, scopes, the sentence and the reports (--json) of the part and of parts of it.
 */
#include "time_choice.h"
#include "visualizer_options.h"

/**
 * struct page_part - @trace: NULL: the whole trace is needed. @attempts: proposals until this one
 */
struct page_part {
	struct trace *trace; /* owned */
	void *bytes;	     /* owned, mapped */
	size_t size;
	int attempts;
};

/**
 * page_part_new() - the smallest trace that is known to give the answers of @window
 * Returns 0 with it, or with none; 1 or 2 after a message.
 */
int page_part_new(const struct trace *trace, const struct time_window *window, const struct visualizer_options *options,
		  struct page_part *ret_part);
void page_part_free(struct page_part *part);
#endif
