/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_labels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_begin(const void *left, const void *right)
{
	const struct trace_profile_label *l = left, *r = right;

	if (l->thread != r->thread)
		return l->thread < r->thread ? -1 : 1;
	return (l->from_ns > r->from_ns) - (l->from_ns < r->from_ns);
}

static bool is_possible(const struct profile_labels *labels, size_t idx)
{
	const struct trace_profile_label *label = &labels->list[idx], *next = idx + 1 < labels->nr ? label + 1 : NULL;

	return label->from_ns < label->to_ns &&
	       (!next || next->thread != label->thread || next->from_ns >= label->to_ns);
}

int profile_labels_set(struct profile_labels *labels, const struct trace_profile_label *list, size_t nr)
{
	profile_labels_clear(labels);
	labels->list = calloc(nr + 1, sizeof(*labels->list));
	if (!labels->list)
		return -ENOMEM;
	if (nr)
		memcpy(labels->list, list, nr * sizeof(*list));
	labels->nr = nr;
	qsort(labels->list, nr, sizeof(*labels->list), by_begin);
	for (size_t i = 0; i < nr; i++)
		if (!is_possible(labels, i)) {
			profile_labels_clear(labels);
			return -EINVAL;
		}
	return 0;
}

void profile_labels_clear(struct profile_labels *labels)
{
	free(labels->list);
	*labels = (struct profile_labels){0};
}

uint32_t profile_label_at(const struct profile_labels *labels, uint32_t thread, uint64_t ns, uint64_t *end_ns)
{
	const struct trace_profile_label *label;
	size_t from = 0, to = labels->nr;
	bool is_inside;
	uint64_t until;

	/* the first one of the thread that ends after @ns, or one of a later thread */
	while (from < to) {
		size_t middle = from + (to - from) / 2;

		label = &labels->list[middle];
		if (label->thread < thread || (label->thread == thread && label->to_ns <= ns))
			from = middle + 1;
		else
			to = middle;
	}
	label = from < labels->nr && labels->list[from].thread == thread ? &labels->list[from] : NULL;
	is_inside = label && label->from_ns <= ns;
	until = !label ? UINT64_MAX : is_inside ? label->to_ns : label->from_ns;
	if (end_ns && until < *end_ns)
		*end_ns = until;
	return is_inside ? label->label : 0;
}
