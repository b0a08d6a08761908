/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * step.c - search for the step of a clock, that is the period of which all differences between
 * events are multiples.
 *
 * The fit of a period is one term of a Fourier transform of the differences. All possible periods
 * are tried. Most are abandoned after a few differences; otherwise a clock without a step would
 * cost some ms in each recording.
 */
#include "step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	SEARCH_NS = 1024, /* only differences below this are used */
	/* first pass, if enough are below this: less work; then all, near its multiples */
	SEARCH_SHORT_NS = 512,
	STEP_MIN_NS = 4,	/* a finer step gains nothing */
	STEP_MAX_NS = 64,	/* no known clock has a coarser step */
	SEARCH_MIN_VALUES = 32, /* distinct differences: a few regular intervals say nothing about the clock */
};

#define SEARCH_MIN_FIT 0.8f

/**
 * struct difference - a difference that occurs between events
 * @rest: sum of the counts from this one to the end of the list
 */
struct difference {
	uint32_t ns;
	float count;
	float rest;
};

/** struct differences - the differences below @longest ns, the most frequent first */
struct differences {
	struct difference list[SEARCH_NS];
	size_t nr;
	uint32_t longest;
};

static int by_count(const void *a, const void *b)
{
	const struct difference *left = a, *right = b;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return left->ns < right->ns ? -1 : left->ns > right->ns;
}

static void differences_list(struct differences *differences, const uint32_t *count, uint32_t longest)
{
	float rest = 0;

	differences->nr = 0;
	differences->longest = longest;
	for (uint32_t ns = 1; ns < longest; ns++)
		if (count[ns])
			differences->list[differences->nr++] = (struct difference){.ns = ns, .count = (float)count[ns]};
	qsort(differences->list, differences->nr, sizeof(differences->list[0]), by_count);
	for (size_t i = differences->nr; i-- > 0;)
		differences->list[i].rest = rest += differences->list[i].count;
}

static void differences_count(const uint32_t *times, size_t n, uint32_t *ret_count)
{
	memset(ret_count, 0, SEARCH_NS * sizeof(*ret_count));
	for (size_t i = 1; i < n; i++)
		if (times[i] - times[i - 1] < SEARCH_NS)
			ret_count[times[i] - times[i - 1]]++;
}

/*
 * Returns 1 when the differences are multiples of @period, about 0 when they are unrelated: one
 * term of a Fourier transform. Returns 0 early when the fit cannot exceed @least even if all
 * remaining differences were multiples. The most frequent differences come first, so that is mostly
 * after a few.
 */
static float differences_fit(const struct differences *differences, double period, float least, const float *cosines)
{
	uint32_t turn = (uint32_t)(4294967296.0 / period);
	float all = differences->list[0].rest, sum = 0;

	for (size_t i = 0; i < differences->nr; i++) {
		if (sum + differences->list[i].rest <= least * all)
			return 0;
		sum += differences->list[i].count * cosines[(differences->list[i].ns * turn) >> 24];
	}
	return sum / all;
}

/** struct candidate - the period with the best fit so far; 0: none */
struct candidate {
	double period;
	float fit;
};

static void differences_search(const struct differences *differences, double begin, double end, const float *cosines,
			       struct candidate *best)
{
	for (double period = begin; period < end; period += period * period / (8 * differences->longest)) {
		float fit = differences_fit(differences, period, best->fit, cosines);

		if (fit > best->fit)
			*best = (struct candidate){period, fit};
	}
}

/* Compute the step from the intervals up to @limit only. */
static double step_within(const uint32_t *times, size_t n, double step, double limit)
{
	double ns = 0, steps = 0;

	for (size_t i = 1; i < n; i++) {
		uint32_t difference = times[i] - times[i - 1];

		if (difference > limit)
			continue;
		ns += difference;
		steps += (double)(int64_t)(difference / step + 0.5);
	}
	return steps > 0 ? ns / steps : step;
}

double step_search(const uint32_t *times, size_t n)
{
	struct candidate first = {.fit = SEARCH_MIN_FIT}, best = first;
	struct differences differences, shorter;
	uint32_t count[SEARCH_NS];
	float cosines[256];
	double step;

	differences_count(times, n, count);
	differences_list(&differences, count, SEARCH_NS);
	differences_list(&shorter, count, SEARCH_SHORT_NS);
	if (differences.nr < SEARCH_MIN_VALUES)
		return 0;
	for (int i = 0; i < 256; i++)
		cosines[i] = cosf((float)i * (float)(2 * M_PI / 256));
	if (shorter.nr >= SEARCH_MIN_VALUES && shorter.list[0].rest >= STEP_MIN_EVENTS)
		differences_search(&shorter, STEP_MIN_NS, STEP_MAX_NS, cosines, &first);
	/* a fraction of the step fits as well as the step */
	for (double period = first.period; period > 0 && period < STEP_MAX_NS; period += first.period) {
		double near = period * period / (4 * SEARCH_SHORT_NS);

		differences_search(&differences, period - near, period + near, cosines, &best);
	}
	if (best.period == 0)
		differences_search(&differences, STEP_MIN_NS, STEP_MAX_NS, cosines, &best);
	step = best.period;
	for (double limit = SEARCH_NS; step > 0 && limit <= STEP_INTERVAL_NS; limit *= 8)
		step = step_within(times, n, step, limit);
	return step;
}
