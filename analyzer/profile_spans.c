/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_begin(const void *left, const void *right)
{
	const struct trace_profile_span *l = left, *r = right;

	if (l->thread != r->thread)
		return l->thread < r->thread ? -1 : 1;
	return (l->from_ns > r->from_ns) - (l->from_ns < r->from_ns);
}

static bool is_possible(const struct profile_spans *spans, size_t idx)
{
	const struct trace_profile_span *span = &spans->list[idx], *next = idx + 1 < spans->nr ? span + 1 : NULL;

	return span->from_ns < span->to_ns && span->ns <= span->to_ns - span->from_ns &&
	       (!next || next->thread != span->thread || next->from_ns >= span->to_ns);
}

int profile_spans_set(struct profile_spans *spans, const struct trace_profile_span *list, size_t nr)
{
	spans->list = calloc(nr + 1, sizeof(*spans->list));
	if (!spans->list)
		return -ENOMEM;
	if (nr)
		memcpy(spans->list, list, nr * sizeof(*list));
	spans->nr = nr;
	spans->is_set = true;
	qsort(spans->list, nr, sizeof(*spans->list), by_begin);
	for (size_t i = 0; i < nr; i++)
		if (!is_possible(spans, i))
			return -EINVAL;
	return 0;
}

void profile_spans_clear(struct profile_spans *spans)
{
	free(spans->list);
	*spans = (struct profile_spans){0};
}

/* The first span of @thread that ends after @ns, or the first one of a later thread */
static size_t first_after(const struct profile_spans *spans, uint32_t thread, uint64_t ns)
{
	size_t from = 0, to = spans->nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct trace_profile_span *span = &spans->list[middle];

		if (span->thread < thread || (span->thread == thread && span->to_ns <= ns))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

bool profile_spans_have(const struct profile_spans *spans, uint32_t thread, uint64_t ns)
{
	size_t idx = first_after(spans, thread, ns);

	return idx < spans->nr && spans->list[idx].thread == thread && spans->list[idx].from_ns <= ns;
}

/* The time of a span up to @ns that counts, rounded down: its parts add up to span->ns. */
static uint64_t until(const struct trace_profile_span *span, uint64_t ns)
{
	if (ns <= span->from_ns)
		return 0;
	if (ns >= span->to_ns)
		return span->ns;
	return (uint64_t)((unsigned __int128)(ns - span->from_ns) * span->ns / (span->to_ns - span->from_ns));
}

uint64_t profile_spans_ns(const struct profile_spans *spans, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = 0;

	for (size_t i = first_after(spans, thread, from_ns);
	     i < spans->nr && spans->list[i].thread == thread && spans->list[i].from_ns < to_ns; i++)
		ns += until(&spans->list[i], to_ns) - until(&spans->list[i], from_ns);
	return ns;
}

uint32_t profile_spans_label(const struct profile_spans *spans, uint32_t thread, uint64_t ns, uint64_t *end_ns)
{
	size_t idx = first_after(spans, thread, ns);
	const struct trace_profile_span *span = idx < spans->nr ? &spans->list[idx] : NULL;
	bool is_inside;
	uint64_t until_ns;

	if (!span || span->thread != thread)
		return 0;
	is_inside = span->from_ns <= ns;
	until_ns = is_inside ? span->to_ns : span->from_ns;
	if (end_ns && until_ns < *end_ns)
		*end_ns = until_ns;
	return is_inside ? span->label : 0;
}
