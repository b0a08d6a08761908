/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* time_choice.c - the window of --from, --to and --around. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "complain.h"
#include "error_set.h"
#include "time_choice.h"

/* ---- the options ---- */

static int take_point(struct time_point *point, const char *option, const char *value, struct trace_error *ret_error)
{
	if (point->origin)
		return error_set(ret_error, -EINVAL, "option %s: '%s' is a second value; only one is allowed", option,
				 value);
	if (time_point_parse(value, point))
		return 0;
	return error_set(
		ret_error, -EINVAL,
		"option %s: '%s' is not a time: 1.5 or 300ms after the start of the trace, -5s before its end, "
		"23:06:41.5, '2026-11-26 23:06:41', or 2026-11-26T23:06:41Z",
		option, value);
}

int time_choice_from(struct time_choice *choice, const char *value, struct trace_error *ret_error)
{
	return take_point(&choice->from, choice->span_ns ? "--around" : "--from", value, ret_error);
}

int time_choice_to(struct time_choice *choice, const char *value, struct trace_error *ret_error)
{
	return take_point(&choice->to, "--to", value, ret_error);
}

int time_choice_around(struct time_choice *choice, const char *value, struct trace_error *ret_error)
{
	static const char *const signs[] = {"\302\261", "+-", "+/-", "~"}; /* the first one is U+00B1 */
	char centre[64];
	const char *sign = NULL, *at = value;

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]) && !sign; i++) {
		sign = strstr(value, signs[i]);
		at = sign ? sign + strlen(signs[i]) : at;
	}
	if (!sign || (size_t)(sign - value) >= sizeof(centre) || !time_span_parse(at, &choice->span_ns) ||
	    !choice->span_ns)
		return error_set(ret_error, -EINVAL,
				 "option --around: '%s' is not TIME+-SPAN, such as 23:06:41+-100ms or 1.5+-20ms",
				 value);
	memcpy(centre, value, (size_t)(sign - value));
	centre[sign - value] = '\0';
	if (time_choice_from(choice, centre, ret_error))
		return -EINVAL;
	choice->from.text = value;
	return 0;
}

bool time_choice_is_backward(const struct time_choice *choice)
{
	return choice->from.origin == TIME_AFTER_START && choice->to.origin == TIME_AFTER_START &&
	       choice->from.ns >= choice->to.ns;
}

/* ---- the window of a trace ---- */

static int complain_of(const struct trace *trace, const char *option, const char *why)
{
	const struct trace_info *info = trace_get_info(trace);
	double seconds = (double)(info->end_ns - info->complete_from_ns) / 1e9;
	struct wall_text text;

	if (*wall_range_text(trace, info->start_ns, info->end_ns, &text))
		return complain(2, "%s %s the trace, which is %.3f s long, %s", option, why, seconds, text.bytes);
	return complain(2, "%s %s the trace, which is %.3f s long", option, why, seconds);
}

/*
 * The time, if a part of it, as exactly as it was typed, is in the trace. The sums have more bits
 * than the times, because a damaged header may have any times.
 */
static int time_of(const struct trace *trace, const struct time_choice *choice, const struct time_point *point,
		   const char *option, uint64_t not_before_ns, int64_t *ret_ns)
{
	const struct trace_info *info = trace_get_info(trace);
	bool is_end = point == &choice->to;
	__int128 slack = (__int128)point->precision_ns + choice->span_ns, ns;

	if (!time_point_ns(trace, point, not_before_ns, ret_ns))
		return complain(2, "%s: the trace does not tell the wall clock; give seconds after its start", option);
	ns = *ret_ns;
	if (info->end_ns <= info->complete_from_ns || point->origin == TIME_BEFORE_END)
		return 0;
	if (ns - (is_end ? point->precision_ns : choice->span_ns) > info->end_ns &&
	    !(is_end && point->origin == TIME_AFTER_START))
		return complain_of(trace, option, "is after the end of");
	if (point->precision_ns && ns + slack <= info->start_ns)
		return complain_of(trace, option, "is before the start of");
	return 0;
}

static uint64_t clamped(__int128 ns, uint64_t low)
{
	return ns < low ? low : ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}

int time_window_of(const struct trace *trace, const struct time_choice *choice, struct time_window *ret_window)
{
	const struct trace_info *info = trace_get_info(trace);
	struct time_window window = {.from_ns = info->complete_from_ns,
				     .to_ns = UINT64_MAX,
				     .has_from = choice->from.origin,
				     .has_to = choice->to.origin || choice->span_ns};
	const char *option = choice->span_ns ? "--around" : "--from";
	int64_t ns = 0;

	if (choice->from.origin) {
		if (time_of(trace, choice, &choice->from, option, info->start_ns, &ns))
			return 2;
		window.from_ns = clamped((__int128)ns - choice->span_ns, info->start_ns);
		if (choice->span_ns)
			window.to_ns = clamped((__int128)ns + choice->span_ns, info->start_ns);
	}
	if (choice->to.origin) {
		if (time_of(trace, choice, &choice->to, "--to", window.from_ns, &ns))
			return 2;
		window.to_ns = clamped(ns, info->start_ns);
	}
	if (window.to_ns <= window.from_ns && window.has_to && info->end_ns > info->complete_from_ns)
		return complain_of(trace, option,
				   choice->span_ns ? "ends before the start of" : "has to be before --to, and both in");
	*ret_window = window;
	return 0;
}
