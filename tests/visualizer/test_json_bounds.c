/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_json_bounds.c - no time in JSON is longer than all threads and CPUs have in the window,
 * whatever is lost and wherever the window is
 *
 * A difference of two times in the wrong order is close to 2^64 ns, far beyond this bound.
 *
 * 	TRACE_TEST_BOUNDS=FILE test_json_bounds      also windows of a recording
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "random_story.h"
#include "shape_reports.h"
#include "unit.h"

#define NR_TRACES  24u
#define NR_WINDOWS 5u

/* The bounds of one report. */
struct bounds {
	double first, last; /* of a point in time */
	double time;	    /* of a sum of times */
	unsigned int wrong;
};

static bool is_point(const char *key)
{
	static const char *const points[] = {"start_ns", "end_ns",  "begin_ns", "first_ns",
					     "last_ns",	 "from_ns", "to_ns"};

	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		if (strcmp(key, points[i]) == 0)
			return true;
	return false;
}

static bool is_time(const char *key)
{
	size_t bytes = strlen(key);

	return strcmp(key, "ns") == 0 || (bytes > 3 && strcmp(key + bytes - 3, "_ns") == 0);
}

static void check_number(struct bounds *bounds, const char *key, double value, const json_t *row)
{
	double low = is_point(key) ? bounds->first : 0, high = is_point(key) ? bounds->last : bounds->time;
	char *text;

	if (!is_time(key) || (value >= low && value <= high))
		return;
	if (bounds->wrong++)
		return;
	text = json_dumps(row, JSON_COMPACT);
	printf("%s is %.0f, not from %.0f to %.0f: %.600s\n", key, value, low, high, text);
	free(text);
}

static void check_value(struct bounds *bounds, json_t *json)
{
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach(json, key, value)
		if (json_is_number(value))
			check_number(bounds, key, json_number_value(value), json);
		else
			check_value(bounds, value);
	if (json_is_array(json))
		json_array_foreach(json, i, value)
			check_value(bounds, value);
}

/* How many threads and CPUs the report has. */
static double width_of(const json_t *json)
{
	const json_t *processes = json_object_get(json, "processes");
	double width = 2 + (double)json_array_size(json_object_get(json, "cpus"));
	size_t i;
	json_t *process;

	json_array_foreach(processes, i, process)
		width += (double)json_array_size(json_object_get(process, "threads"));
	return width;
}

/* @whole: the report of the whole trace; its times bound those of @options. */
static bool is_bounded(const char *path, const json_t *whole, const char *const *options)
{
	const json_t *trace = json_object_get(whole, "trace");
	struct bounds bounds = {.first = json_number_value(json_object_get(trace, "start_ns")),
				.last = json_number_value(json_object_get(trace, "end_ns")),
				.time = json_number_value(json_object_get(trace, "elapsed_ns")) * width_of(whole)};
	char *text = shape_report(path, options);
	json_error_t error;
	json_t *json = text ? json_loads(text, JSON_DECODE_INT_AS_REAL, &error) : NULL;

	if (json) /* else the window has no event, or the thread is not in the trace */
		check_value(&bounds, json);
	for (size_t i = 0; bounds.wrong && options[i]; i++)
		printf("%s ", options[i]);
	json_decref(json);
	free(text);
	return !bounds.wrong;
}

static const char *const reports[][4] = {
	{"--json"},
	{"--json", "--all"},
	{"--critical-path", "--json"},
	{"--slowest=read", "--json"},
	{"--slowest=paid", "--json"},
	{"--diff", "--json"},
};
#define NR_REPORTS (sizeof(reports) / sizeof(reports[0]))

/* A window from before the first event to behind the last one, or a part of that. */
static bool window_is_bounded(const char *path, const json_t *whole, struct dice *dice)
{
	double elapsed = json_number_value(json_object_get(json_object_get(whole, "trace"), "elapsed_ns"));
	uint64_t most = (uint64_t)(elapsed * 1.2) + 2, from = below(dice, most), to = below(dice, most);
	const char *const *report = reports[below(dice, NR_REPORTS)];
	char edges[2][32];
	const char *options[8] = {NULL};
	size_t nr = 0;

	for (; report[nr]; nr++)
		options[nr] = report[nr];
	snprintf(edges[0], sizeof(edges[0]), "--from=%.9f", (double)(from < to ? from : to) / 1e9);
	snprintf(edges[1], sizeof(edges[1]), "--to=%.9f", (double)(from < to ? to : from) / 1e9);
	if (below(dice, 4))
		options[nr++] = edges[0];
	if (below(dice, 4))
		options[nr++] = edges[1];
	return is_bounded(path, whole, options);
}

static bool all_is_bounded(const char *path, struct dice *dice, unsigned int nr_windows)
{
	char *text = shape_report(path, (const char *[]){"--json", "--all", NULL});
	json_t *whole = text ? json_loads(text, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
	bool bounded = whole;

	for (size_t i = 0; bounded && i < NR_REPORTS; i++)
		bounded = is_bounded(path, whole, reports[i]);
	for (size_t i = 0; bounded && i < nr_windows; i++)
		bounded = window_is_bounded(path, whole, dice);
	json_decref(whole);
	free(text);
	return bounded;
}

static struct mood mood_of(uint64_t seed)
{
	return (struct mood){.noise = (uint32_t)(seed % 3),
			     .nr_tids = seed % 5 ? 12 : 60,
			     .switches = 25 + (uint32_t)(seed % 4 * 15),
			     .sleeps = 50,
			     .cuts = (uint32_t)(seed / 2 % 2) * 2,
			     .nr_events = 1500,
			     .losses = seed % 3 != 0,
			     .overwrites = seed % 3 == 1,
			     .streams = seed % 4 == 1,
			     .masks = seed % 5 == 2,
			     .programs = seed & 1,
			     .moves = seed % 4 == 2};
}

static void no_time_is_longer_than_the_threads_have(void)
{
	unsigned int nr_traces = getenv("TRACE_TEST_LONG") ? 50 * NR_TRACES : NR_TRACES / (unsigned int)unit_step(3);

	for (uint64_t seed = 1; seed <= nr_traces; seed++) {
		struct mood mood = mood_of(seed);
		struct tb *tb = random_story(seed, &mood);
		struct image image = image_new(tb, true);
		struct dice dice = {seed, &mood};
		bool bounded = all_is_bounded(image.path, &dice, NR_WINDOWS);

		CU_ASSERT(bounded);
		if (!bounded)
			printf("seed %" PRIu64 "\n", seed);
		image_free(&image);
		tb_free(tb);
	}
}

static void no_time_of_a_recording_is_longer_either(void)
{
	const char *path = getenv("TRACE_TEST_BOUNDS");
	struct dice dice = {1, NULL};

	if (path)
		CU_ASSERT(all_is_bounded(path, &dice, 50));
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(no_time_is_longer_than_the_threads_have),
		CASE(no_time_of_a_recording_is_longer_either),
		{NULL, NULL},
	};

	return unit_main("json_bounds", cases, argc, argv);
}
