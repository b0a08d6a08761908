/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_TIME_CHOICE_H
#define VISUALIZER_TIME_CHOICE_H
/* time_choice.h - the window of --from and --to. */
#include <stdint.h>
#include <trace/reader.h>
#include "visualizer_options.h"

/**
 * time_of_second() - @seconds after the start of the trace in the summary, from which --from and
 * --to count
 */
uint64_t time_of_second(const struct trace *trace, double seconds);
/**
 * time_choice_check() - 0, or 2 after a message if --from is after the end of the trace
 * Without it the report would be empty, and would not say why.
 */
int time_choice_check(const struct trace *trace, const struct time_choice *window);
#endif
