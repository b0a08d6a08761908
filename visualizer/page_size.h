/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PAGE_SIZE_H
#define VISUALIZER_PAGE_SIZE_H
/* page_size.h - how large the page of a trace will be, and which part of it fits a limit. */
#include "time_choice.h"
#include "visualizer_options.h"

/**
 * page_too_large() - say that the page of @nr traces would have more than options->max_size bytes,
 * and which options make one that fits
 * Returns 1.
 */
int page_too_large(const struct trace *const *traces, const struct time_window *windows, size_t nr,
		   const struct visualizer_options *options);
/**
 * page_is_too_large() - is the page surely larger than --max-size?
 * It is known before anything is packed, by the sizes of the chunks. A page that is not much larger
 * is known when it is packed only.
 */
bool page_is_too_large(const struct trace *const *traces, const struct time_window *windows, size_t nr,
		       const struct visualizer_options *options);

#endif
