/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_index.c - what the writer and the reader of an index share. */
#include <stdlib.h>
#include "view_index.h"
#include "view_rows.h"

struct stored_series *index_series(const struct trace_view *view, size_t *ret_nr)
{
	const struct trace_history *history = view->history;
	size_t nr = (size_t)history->nr_timelines + history->nr_cpus + view->nr_cpus;
	struct stored_series *list = calloc(nr + 1, sizeof(*list)), *at = list;

	for (uint32_t i = 0; list && i < history->nr_timelines; i++)
		*at++ = (struct stored_series){&history->timelines[i].series, &history->timelines[i]};
	for (uint32_t i = 0; list && i < history->nr_cpus; i++)
		*at++ = (struct stored_series){.series = &history->cpus[i]};
	for (uint32_t i = 0; list && i < view->nr_cpus; i++)
		*at++ = (struct stored_series){.series = &view->cpus[i].runs};
	*ret_nr = nr;
	return list;
}
