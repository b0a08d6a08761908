/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_CHECKED_FIGURES_H
#define VISUALIZER_CHECKED_FIGURES_H
/* checked_figures.h - figures of processes for reports, or the end of the program. */
#include <trace/analysis.h>

/**
 * checked_figures() - return @figures; end the program if they are NULL
 * @figures: from trace_process_figures() and similar functions, which return NULL for lack of
 *   memory
 */
struct trace_figures *checked_figures(struct trace_figures *figures);
/** unknown_wait_ns() - off-CPU time of unknown cause */
uint64_t unknown_wait_ns(const struct trace_figures *f);
#endif
