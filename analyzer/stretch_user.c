/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stretch_user.c - the scopes and requests of programs in the tables of a span: stretches.h. */
#include <stdlib.h>
#include <string.h>
#include "histogram.h"
#include "stretches.h"
#include "user_accounting.h"
#include "user_results.h"

#define ROW_BITS (HISTOGRAM_GROUP_BITS + HISTOGRAM_BYTE_BITS)

static const uint64_t *numbers(const struct stretch_sums *sums, uint32_t group)
{
	static const struct stretch_row none;

	return group < sums->nr ? sums->rows[group].n : none.n;
}

static void take_span(const struct stretch_sums *sums, uint32_t group, const struct span_sum *known,
		      struct span_sum *ret_sum)
{
	const uint64_t *n = numbers(sums, group), *more = numbers(sums, group + 1);
	uint64_t rest = n[SUM_ELAPSED] - n[SUM_INTERRUPTED] - n[SUM_WAIT_CPU] - n[SUM_WAIT] - more[SUM_SYSCALL] -
			more[SUM_TRAP] - more[SUM_QUEUED] - more[SUM_UNSEEN];

	*ret_sum = (struct span_sum){.owner = known->owner,
				     .number = known->number,
				     .kind = known->kind,
				     .name = known->name,
				     .from = known->from,
				     .elapsed = {.count = n[SUM_CALLS],
						 .sum = n[SUM_ELAPSED],
						 .min = n[SUM_CALLS] ? ~n[SUM_SHORTEST] : 0,
						 .max = n[SUM_LONGEST]},
				     .open = more[SUM_OPEN],
				     .unmatched = n[SUM_ERRORS],
				     .times = {.user_ns = rest,
					       .syscall_ns = more[SUM_SYSCALL],
					       .trap_ns = more[SUM_TRAP],
					       .interrupted_ns = n[SUM_INTERRUPTED],
					       .wait_cpu_ns = n[SUM_WAIT_CPU],
					       .blocked_ns = n[SUM_WAIT]},
				     .queued = more[SUM_QUEUED],
				     .unseen = more[SUM_UNSEEN]};
}

/* The histogram of all groups becomes those of spans. */
static bool take_times(const struct trace_tables *tables, const struct stretch_sums *sums, struct span_sum *list)
{
	for (const struct histogram_row *times = NULL, *next; (next = table_next(&sums->times, sizeof(*times), times));
	     times = next) {
		const struct stretch_group *group = &tables->groups[(next->key >> ROW_BITS) - 1];
		struct histogram_row *row;

		if (group->form != FORM_OF_SPAN)
			continue;
		row = table_add(&list[group->key].elapsed.buckets, sizeof(*row),
				1u << ROW_BITS | (next->key & ((1u << ROW_BITS) - 1)));
		if (!row)
			return false;
		memcpy(row->counts, next->counts, sizeof(row->counts));
	}
	return true;
}

static bool put_rows(const struct trace_tables *tables, const struct span_sum *list, struct trace_span *rows,
		     size_t *ret_nr)
{
	size_t nr = 0;

	for (size_t i = 0; i < tables->user->nr_spans; i++) {
		const struct span_sum *sum = &list[i];

		if (!sum->elapsed.count && !sum->open && !sum->unmatched)
			continue;
		if (!span_row(tables->user, sum, &rows[nr++]))
			return false;
	}
	*ret_nr = nr;
	return span_rows_sort(rows, nr);
}

struct trace_span *stretch_span_rows(const struct trace_tables *tables, const struct stretch_sums *sums, size_t *ret_nr)
{
	size_t nr = tables->user ? tables->user->nr_spans : 0;
	struct span_sum *list = calloc(nr + 1, sizeof(*list));
	struct trace_span *rows = calloc(nr + 1, sizeof(*rows));
	bool ok = list && rows;

	*ret_nr = 0;
	for (uint32_t i = 0; ok && nr && i < tables->nr_groups; i++)
		if (tables->groups[i].form == FORM_OF_SPAN)
			take_span(sums, i, tables->user->spans[tables->groups[i].key], &list[tables->groups[i].key]);
	ok = ok && (!nr || (take_times(tables, sums, list) && put_rows(tables, list, rows, ret_nr)));
	for (size_t i = 0; list && i < nr; i++)
		table_clear(&list[i].elapsed.buckets);
	free(list);
	if (ok)
		return rows;
	free(rows);
	return NULL;
}
