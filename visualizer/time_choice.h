/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_TIME_CHOICE_H
#define VISUALIZER_TIME_CHOICE_H
/* time_choice.h - the window of --from, --to and --around. */
#include <stdint.h>
#include <trace/error.h>
#include <trace/reader.h>
#include "time_point.h"

/**
 * struct time_choice - the window as typed
 * @span_ns: of --around, whose time is @from; 0: not given
 */
struct time_choice {
	struct time_point from, to;
	uint64_t span_ns;
};

/**
 * struct time_window - the window in the clock of a trace
 * @from_ns: the start of the trace in the summary if no time was given
 * @to_ns: UINT64_MAX: to the end
 */
struct time_window {
	uint64_t from_ns, to_ns;
	bool has_from, has_to;
};

/** time_choice_from(), _to(), _around() - take the value of an option; -EINVAL with the reason */
int time_choice_from(struct time_choice *choice, const char *value, struct trace_error *ret_error) TRACE_NODISCARD;
int time_choice_to(struct time_choice *choice, const char *value, struct trace_error *ret_error);
int time_choice_around(struct time_choice *choice, const char *value, struct trace_error *ret_error);
/** time_choice_is_backward() - are both times after the start, and the second one not later? */
bool time_choice_is_backward(const struct time_choice *choice);

/**
 * time_window_of() - the window of @choice in @trace
 * Returns 0, or 2 after a message if it has no part of the trace, which has the trace's range.
 */
int time_window_of(const struct trace *trace, const struct time_choice *choice, struct time_window *ret_window);
#endif
