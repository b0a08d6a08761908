/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * time_point.c - a time as users type it: from the start, before the end, or by the wall clock.
 *
 * The trace has the wall clock of its start. All other times of the wall clock follow from the
 * monotonic clock of the trace, so they do not jump if the machine's clock was set meanwhile. The
 * time zone is that of the reader, and TZ chooses another one; so does a zone behind a time, which
 * logs and JSON have.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "time_point.h"

#define SECOND_NS 1000000000ull
#define MAX_NS	  (UINT64_MAX / 4)

/* ---- parsing ---- */

/* A number of at most @max_digits digits; *@at moves behind it. */
static bool take_digits(const char **at, unsigned int max_digits, unsigned int *ret_number)
{
	unsigned int number = 0, digits = 0;

	for (; **at >= '0' && **at <= '9'; (*at)++, digits++)
		if (digits < max_digits)
			number = number * 10 + (unsigned int)(**at - '0');
	*ret_number = number;
	return digits && digits <= max_digits;
}

/* The digits after a point, as ns; @ret_unit_ns: the value of the last one */
static bool take_fraction(const char **at, uint64_t *ret_ns, uint64_t *ret_unit_ns)
{
	uint64_t unit = SECOND_NS, ns = 0;
	const char *begin = *at;

	for (; **at >= '0' && **at <= '9'; (*at)++)
		if (unit > 1) {
			unit /= 10;
			ns += (uint64_t)(**at - '0') * unit;
		}
	*ret_ns = ns;
	*ret_unit_ns = unit;
	return *at > begin;
}

bool time_span_parse(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"", 1e9},	  {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
		     {"ns", 1.0}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
	char *end;
	double number;

	if ((*text < '0' || *text > '9') && *text != '.')
		return false;
	if (text[strspn(text, "0123456789.")] && !strchr("smunh", text[strspn(text, "0123456789.")]))
		return false; /* hexadecimal, or with an exponent */
	number = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(end, units[i].name) == 0 && end > text && number * units[i].ns < (double)MAX_NS) {
			*ret_ns = (uint64_t)(number * units[i].ns + 0.5);
			return true;
		}
	return false;
}

/* Nothing, Z, " UTC", +01:00, +0100 or +01 */
static bool parse_zone(const char *text, struct time_point *ret_point)
{
	unsigned int hours, minutes = 0;
	int sign = *text == '-' ? -1 : 1;

	if (!*text)
		return true;
	ret_point->has_zone = true;
	if (strcmp(text, "Z") == 0 || strcmp(text, " UTC") == 0)
		return true;
	if (*text != '+' && *text != '-')
		return false;
	text++;
	if (strlen(text) == strlen("0100")) {
		if (!take_digits(&text, 4, &hours))
			return false;
		minutes = hours % 100;
		hours /= 100;
	} else if (!take_digits(&text, 2, &hours) || (*text == ':' && (text++, !take_digits(&text, 2, &minutes)))) {
		return false;
	}
	if (*text || hours > 14 || minutes > 59)
		return false;
	ret_point->east_s = sign * (int)(hours * 3600 + minutes * 60);
	return true;
}

/* 23:06, 23:06:41 or 23:06:41.5, with a zone or without one */
static bool parse_clock(const char *text, struct time_point *ret_point)
{
	unsigned int hour, minute, second = 0;
	uint64_t fraction = 0, unit = 60 * SECOND_NS;

	if (!take_digits(&text, 2, &hour) || *text++ != ':' || !take_digits(&text, 2, &minute))
		return false;
	if (*text == ':') {
		text++;
		unit = SECOND_NS;
		if (!take_digits(&text, 2, &second))
			return false;
		if ((*text == '.' || *text == ',') && (text++, !take_fraction(&text, &fraction, &unit)))
			return false;
	}
	if (!parse_zone(text, ret_point) || hour > 23 || minute > 59 || second > 59)
		return false;
	ret_point->ns = ((hour * 60ull + minute) * 60 + second) * SECOND_NS + fraction;
	ret_point->precision_ns = unit;
	return true;
}

static bool parse_date(const char *text, struct time_point *ret_point)
{
	unsigned int year, month, day;

	if (!take_digits(&text, 4, &year) || *text++ != '-' || !take_digits(&text, 2, &month) || *text++ != '-' ||
	    !take_digits(&text, 2, &day) || year < 1970 || year > 2260 || month < 1 || month > 12 || day < 1 ||
	    day > 31)
		return false;
	ret_point->year = (int)year;
	ret_point->month = (int)month;
	ret_point->day = (int)day;
	if (!*text) {
		ret_point->precision_ns = 86400 * SECOND_NS;
		return true;
	}
	return (*text == ' ' || *text == 'T') && parse_clock(text + 1, ret_point);
}

bool time_point_parse(const char *text, struct time_point *ret_point)
{
	struct time_point point = {.text = text};

	if (*text == '-' && time_span_parse(text + 1, &point.ns))
		point.origin = TIME_BEFORE_END;
	else if (time_span_parse(text, &point.ns))
		point.origin = TIME_AFTER_START;
	else if (parse_clock(text, &point))
		point.origin = TIME_OF_DAY;
	else if (parse_date(text, &point))
		point.origin = TIME_OF_DATE;
	else
		return false;
	*ret_point = point;
	return true;
}

/* ---- the wall clock ---- */

static bool has_wall(const struct trace *trace)
{
	return trace_get_info(trace)->start_realtime_ns;
}

/* @ns in the wall clock; unsigned, because a damaged header may have any times */
static uint64_t wall_of(const struct trace *trace, uint64_t ns)
{
	const struct trace_info *info = trace_get_info(trace);

	return ns + (info->start_realtime_ns - info->start_ns);
}

static struct tm local_of(const struct trace *trace, uint64_t ns)
{
	time_t second = (time_t)(wall_of(trace, ns) / SECOND_NS);
	struct tm local = {0};

	localtime_r(&second, &local);
	return local;
}

/* The time of @point on the day of @local, in the trace's clock */
static int64_t clock_of_day(const struct trace *trace, struct tm local, const struct time_point *point)
{
	uint64_t seconds = point->ns / SECOND_NS;
	time_t unix_s;

	local.tm_hour = (int)(seconds / 3600);
	local.tm_min = (int)(seconds / 60 % 60);
	local.tm_sec = (int)(seconds % 60);
	local.tm_isdst = -1;
	unix_s = point->has_zone ? timegm(&local) - point->east_s : mktime(&local);
	return (int64_t)((uint64_t)unix_s * SECOND_NS + point->ns % SECOND_NS - wall_of(trace, 0));
}

/*
 * The days from that before @not_before_ns until the last one of the trace; two before, because it
 * may be another day in the zone of @point. Times in the trace are preferred; else the nearest one
 * is returned.
 */
static int64_t nearest_day(const struct trace *trace, const struct time_point *point, uint64_t not_before_ns)
{
	struct tm first = local_of(trace, not_before_ns);
	int64_t low = (int64_t)not_before_ns, high = (int64_t)trace_get_info(trace)->end_ns, best = 0;
	uint64_t best_off = UINT64_MAX;

	for (int day = -2; day < 366; day++) {
		struct tm local = first;
		uint64_t off;
		int64_t ns;

		local.tm_mday += day;
		ns = clock_of_day(trace, local, point);
		off = ns < low ? (uint64_t)low - (uint64_t)ns : ns > high ? (uint64_t)ns - (uint64_t)high : 0;
		if (off < best_off) {
			best = ns;
			best_off = off;
		}
		if (!best_off || ns > high)
			break;
	}
	return best;
}

bool time_point_ns(const struct trace *trace, const struct time_point *point, uint64_t not_before_ns, int64_t *ret_ns)
{
	const struct trace_info *info = trace_get_info(trace);

	switch (point->origin) {
	case TIME_AFTER_START:
		*ret_ns = (int64_t)(info->complete_from_ns + point->ns);
		return true;
	case TIME_BEFORE_END:
		*ret_ns = (int64_t)(info->end_ns - point->ns);
		return true;
	case TIME_OF_DATE:
		*ret_ns = clock_of_day(
			trace,
			(struct tm){.tm_year = point->year - 1900, .tm_mon = point->month - 1, .tm_mday = point->day},
			point);
		return has_wall(trace);
	default:
		*ret_ns = nearest_day(trace, point, not_before_ns);
		return has_wall(trace);
	}
}

const char *wall_text(const struct trace *trace, uint64_t ns, struct wall_text *text)
{
	struct tm local = local_of(trace, ns);
	size_t used;

	text->bytes[0] = '\0';
	if (!has_wall(trace))
		return text->bytes;
	used = strftime(text->bytes, sizeof(text->bytes), "%Y-%m-%d %H:%M:%S", &local);
	snprintf(text->bytes + used, sizeof(text->bytes) - used, ".%06u",
		 (unsigned int)(wall_of(trace, ns) % SECOND_NS / 1000));
	return text->bytes;
}

const char *wall_range_text(const struct trace *trace, uint64_t from_ns, uint64_t to_ns, struct wall_text *text)
{
	struct tm to = local_of(trace, to_ns);
	struct wall_text from_text, to_text;
	const char *end = wall_text(trace, to_ns, &to_text);
	char zone[16] = "";

	wall_text(trace, from_ns, &from_text);
	text->bytes[0] = '\0';
	if (!has_wall(trace))
		return text->bytes;
	if (strncmp(from_text.bytes, end, strlen("2026-11-26 ")) == 0)
		end += strlen("2026-11-26 ");
	strftime(zone, sizeof(zone), "%Z", &to);
	if (from_ns == to_ns)
		snprintf(text->bytes, sizeof(text->bytes), "%.30s %s", from_text.bytes, zone);
	else
		snprintf(text->bytes, sizeof(text->bytes), "%.30s to %.30s %s", from_text.bytes, end, zone);
	return text->bytes;
}
