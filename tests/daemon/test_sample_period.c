/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_sample_period.c - the period of samples changes at random, and keeps its mean. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sample_event.h"
#include "sample_period.h"
#include "unit.h"

#define NR_PERIODS 20000
#define NR_PARTS   10

static void periods_are_spread_evenly_around_the_mean(void)
{
	struct samples samples = samples_init(SAMPLES_DEFAULT_NS, 2, 4711);
	uint64_t quarter = SAMPLES_DEFAULT_NS / 4, sum = 0;
	uint32_t parts[NR_PARTS] = {0};

	for (int i = 0; i < NR_PERIODS; i++) {
		uint64_t period = samples_next_period(&samples);

		CU_ASSERT_FATAL(period >= SAMPLES_DEFAULT_NS - quarter && period <= SAMPLES_DEFAULT_NS + quarter);
		sum += period;
		parts[(period - (SAMPLES_DEFAULT_NS - quarter)) * NR_PARTS / (2 * quarter + 1)]++;
	}
	CU_ASSERT(sum / NR_PERIODS > SAMPLES_DEFAULT_NS * 99 / 100);
	CU_ASSERT(sum / NR_PERIODS < SAMPLES_DEFAULT_NS * 101 / 100);
	for (int i = 0; i < NR_PARTS; i++)
		CU_ASSERT(parts[i] > NR_PERIODS / NR_PARTS * 8 / 10);
}

/* A program that works in step with one period is not met by the next. */
static void a_period_says_nothing_of_the_next_one(void)
{
	struct samples samples = samples_init(SAMPLES_DEFAULT_NS, 2, 4711);
	uint64_t before = samples_next_period(&samples);
	int longer[2] = {0};

	for (int i = 0; i < NR_PERIODS; i++) {
		uint64_t period = samples_next_period(&samples);

		longer[before > SAMPLES_DEFAULT_NS] += period > SAMPLES_DEFAULT_NS;
		before = period;
	}
	for (int i = 0; i < 2; i++)
		CU_ASSERT(longer[i] > NR_PERIODS / 4 * 9 / 10 && longer[i] < NR_PERIODS / 4 * 11 / 10);
}

static void the_shortest_period_changes_too(void)
{
	struct samples samples = samples_init(SAMPLES_MIN_NS, 1, 0);
	uint64_t first = samples_next_period(&samples);
	int others = 0;

	for (int i = 0; i < 100; i++)
		others += samples_next_period(&samples) != first;
	CU_ASSERT(others > 90);
}

/* As the kernel tells. */
static void a_virtual_machine_has_fewer_samples(void)
{
	char line[8192];
	FILE *file = fopen("/proc/cpuinfo", "re");
	bool is_guest = false;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while (!is_guest && fgets(line, sizeof(line), file))
		is_guest = strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor");
	fclose(file);
	CU_ASSERT_EQUAL(samples_default_ns(), is_guest ? SAMPLES_GUEST_NS : SAMPLES_DEFAULT_NS);
}

/* ---- a program in step ---- */

#define ROUND_NS   1000000ull /* of the program */
#define PHASE_NS   100000ull  /* f1(), then f2(), then it sleeps */
#define RUN_NS	   2000000000ull
#define NR_RUNS	   20
#define MAX_POINTS 10

/* A CPU takes samples, and gets another period each SAMPLES_TICK_NS, which begins anew: the share
 * of f1() in the samples of both, in points of 100, where 50 are true. -1: no sample hit them. */
static int share_in_step(uint64_t seed)
{
	struct samples samples = samples_init(ROUND_NS, 1, seed);
	uint64_t period = samples_next_period(&samples), tick = SAMPLES_TICK_NS;
	int hits[2] = {0};

	for (uint64_t now = period; now < RUN_NS; now += period) {
		uint64_t phase = now % ROUND_NS / PHASE_NS;

		if (now >= tick) {
			now = tick; /* the timer of the old period is gone */
			tick += SAMPLES_TICK_NS;
			period = samples_next_period(&samples);
			continue;
		}
		if (phase < 2)
			hits[phase]++;
	}
	return hits[0] + hits[1] ? 100 * hits[0] / (hits[0] + hits[1]) : -1;
}

static void functions_that_take_turns_in_step_with_the_mean_are_seen_alike(void)
{
	int worst = 0;

	for (uint64_t seed = 1; seed <= NR_RUNS; seed++) {
		int error = abs(share_in_step(seed * 7919) - 50);

		worst = error > worst ? error : worst;
	}
	printf("worst of %d runs: %d points\n", NR_RUNS, worst);
	CU_ASSERT(worst <= MAX_POINTS);
}

static bool has(const uint64_t mask[TRACE_MASK_WORDS], uint32_t id)
{
	return mask[id / 64] >> id % 64 & 1;
}

static void only_the_option_puts_samples_into_a_mask(void)
{
	static const struct tracer_options sampling = {.sample_period = 1000000},
					   calling = {.caller = TRACER_CALLER_DEPTH}, neither = {0};
	uint64_t none[TRACE_MASK_WORDS] = {0}, all[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull}, callers[4] = {0};

	samples_choose(none, &sampling, false); /* the user changed the mask, and left them out */
	CU_ASSERT_FALSE(has(none, TRACE_EV_sample));
	samples_choose(none, &sampling, true);
	CU_ASSERT_TRUE(has(none, TRACE_EV_sample) && has(none, TRACE_EV_fs_map));
	samples_choose(callers, &calling, true);
	CU_ASSERT_TRUE(!has(callers, TRACE_EV_sample) && has(callers, TRACE_EV_fs_map));
	samples_choose(all, &neither, true);
	CU_ASSERT_FALSE(has(all, TRACE_EV_sample) || has(all, TRACE_EV_fs_map));
	CU_ASSERT_TRUE(has(all, TRACE_EV_sched_switch));
}

static void an_event_is_taken_with_its_count(void)
{
	static const char *const wrong[] = {"cycle:1000",
					    "cycles:",
					    "cycles:0",
					    "cycles:-1",
					    "cycles:1k",
					    "rxyz:1000",
					    "r:1000",
					    ":1000",
					    "cycles:99999999999999",
					    "r11223344556677889:1"};
	struct tracer_options options = {.sample_period = 5};
	struct trace_error error;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT_EQUAL(sample_event_take(wrong[i], &options, &error), -EINVAL);
		CU_ASSERT_TRUE(strlen(error.message) > 0);
	}
	CU_ASSERT_TRUE(options.sample_period == 5 && !options.sample_event);
	CU_ASSERT_EQUAL(sample_event_take("cache-misses:10000", &options, &error), 0);
	CU_ASSERT_TRUE(options.sample_period == 10000 && options.sample_type == PERF_TYPE_HARDWARE &&
		       options.sample_config == PERF_COUNT_HW_CACHE_MISSES);
	CU_ASSERT_STRING_EQUAL(options.sample_event, "cache-misses:10000");
	CU_ASSERT_EQUAL(sample_event_take("r01Cd:7", &options, &error), 0);
	CU_ASSERT_TRUE(options.sample_period == 7 && options.sample_type == PERF_TYPE_RAW &&
		       options.sample_config == 0x1cd);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(periods_are_spread_evenly_around_the_mean),
		CASE(a_period_says_nothing_of_the_next_one),
		CASE(the_shortest_period_changes_too),
		CASE(a_virtual_machine_has_fewer_samples),
		CASE(functions_that_take_turns_in_step_with_the_mean_are_seen_alike),
		CASE(only_the_option_puts_samples_into_a_mask),
		CASE(an_event_is_taken_with_its_count),
		{NULL, NULL},
	};

	return unit_main("samples", cases, argc, argv);
}
