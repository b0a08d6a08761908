/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* history_series.c - intervals by begin: append and search. */
#include <errno.h>
#include <stdlib.h>
#include "critical_path_history.h"

uint32_t series_before(const struct series *series, uint64_t ns)
{
	if (!series->nr || ns <= series->from[0] || ns > series->end)
		return UINT32_MAX;
	return series_search(series, ns, 0, series->nr);
}

uint32_t series_search(const struct series *series, uint64_t ns, uint32_t low, uint32_t high)
{
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (series->from[middle] < ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint32_t series_before_near(struct series *series, uint64_t ns)
{
	uint32_t low = series->recent, high = low + 1, step = 1;

	if (low < series->nr)
		__builtin_prefetch(series->value + low);
	if (low >= series->nr || ns > series->end) {
		low = series_before(series, ns);
		series->recent = low == UINT32_MAX ? series->recent : low;
		return low;
	}
	while (low && series->from[low] >= ns) {
		high = low;
		low = low > step ? low - step : 0;
		step *= 2;
	}
	while (high < series->nr && series->from[high] < ns) {
		low = high;
		high = series->nr - high > step ? high + step : series->nr;
		step *= 2;
	}
	if (series->from[low] >= ns)
		return UINT32_MAX;
	low = series->recent = series_search(series, ns, low, high);
	__builtin_prefetch(series->from + (low > NR_RECENT ? low - NR_RECENT : 0));
	__builtin_prefetch(series->value + (low > NR_RECENT ? low - NR_RECENT : 0));
	return low;
}

bool series_has_room(struct series *series, uint32_t nr)
{
	uint32_t max = series->max + series->max / 2 + 8;
	uint64_t *from;
	uint32_t *value;

	if (series->nr + nr <= series->max)
		return true;
	from = reallocarray(series->from, max, sizeof(*from));
	if (from)
		series->from = from;
	value = reallocarray(series->value, max, sizeof(*value));
	if (value)
		series->value = value;
	if (!from || !value)
		return false;
	series->max = max;
	return true;
}

int series_append(struct series *series, uint64_t from, uint64_t to, uint32_t value, uint32_t hole, bool joins)
{
	uint32_t before = series->nr;

	if (joins && series->nr && from == series->end && series->value[series->nr - 1] == value) {
		series->end = to;
		return 0;
	}
	if (!series_has_room(series, 2))
		return -ENOMEM;
	if (series->nr && from > series->end) {
		series->from[series->nr] = series->end;
		series->value[series->nr++] = hole;
	}
	series->from[series->nr] = from;
	series->value[series->nr++] = value;
	series->end = to;
	return (int)(series->nr - before);
}

void series_free(struct series *series)
{
	if (!series->max)
		return;
	free(series->from);
	free(series->value);
}
