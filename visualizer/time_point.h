/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_TIME_POINT_H
#define VISUALIZER_TIME_POINT_H
/* time_point.h - a time as users type it: from the start, before the end, or by the wall clock. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/reader.h>

enum time_origin {
	TIME_NOT_GIVEN,
	TIME_AFTER_START, /* 1.5, 1.5s, 300ms */
	TIME_BEFORE_END,  /* -5s */
	TIME_OF_DAY,	  /* 23:06, 23:06:41.5, 23:06:41Z */
	TIME_OF_DATE,	  /* 2026-11-26 23:06:41.5, 2026-11-26T23:06:41.5+01:00 */
};

/**
 * struct time_point - a parsed time
 * @text: as typed; borrowed
 * @ns: after the start or before the end; else after midnight
 * @year, @month, @day: of a TIME_OF_DATE, as people count them
 * @precision_ns: how exactly a time of the wall clock was typed: 23:06 is a whole minute
 * @east_s: if @has_zone, how much the clock of the zone that was typed is ahead of UTC
 */
struct time_point {
	enum time_origin origin;
	const char *text;
	uint64_t ns;
	int year, month, day;
	uint64_t precision_ns;
	bool has_zone;
	int east_s;
};

/** time_span_parse() - parse 1.5, 1.5s, 300ms, 20us, 10ns, 5m or 1h; false: it is no time */
bool time_span_parse(const char *text, uint64_t *ret_ns);
/** time_point_parse() - parse a time; false: it is none */
bool time_point_parse(const char *text, struct time_point *ret_point);

/**
 * time_point_ns() - the time of @point in the clock of @trace
 * A time of day is the first one of that day's clock after @not_before_ns that is in the trace,
 * in the time zone that was typed, else in that of the reader (TZ). It may lie before the trace or
 * after its end.
 * Returns false if the trace does not tell the wall clock.
 */
bool time_point_ns(const struct trace *trace, const struct time_point *point, uint64_t not_before_ns, int64_t *ret_ns);

/** struct wall_text - room for two times of the wall clock */
struct wall_text {
	char bytes[128];
};

/** wall_text() - @ns of @trace as 2026-11-26 23:06:41.123456; "" if the trace has no wall clock */
const char *wall_text(const struct trace *trace, uint64_t ns, struct wall_text *text);
/**
 * wall_range_text() - "2026-11-26 23:06:41.123456 to 23:06:46.000000 CET"; the second date is there
 * if it is another one. One time if both are equal. "" if the trace has no wall clock
 */
const char *wall_range_text(const struct trace *trace, uint64_t from_ns, uint64_t to_ns, struct wall_text *text);
#endif
