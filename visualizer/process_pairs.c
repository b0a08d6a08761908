/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* process_pairs.c - the waits of processes for other processes, as pairs. */
#include "checked_figures.h"
#include "checked_memory.h"
#include "process_pairs.h"

static int order_pairs(const void *left, const void *right, void *data)
{
	const struct process_pair *l = left, *r = right;

	if (l->wait.ns != r->wait.ns)
		return l->wait.ns > r->wait.ns ? -1 : 1;
	if (trace_process_pid(l->waiter) != trace_process_pid(r->waiter))
		return trace_process_pid(l->waiter) < trace_process_pid(r->waiter) ? -1 : 1;
	return l->wait.pid < r->wait.pid ? -1 : l->wait.pid > r->wait.pid;
}

struct process_pair *process_pairs(const struct trace_analysis *analysis, size_t *ret_nr)
{
	struct process_pair *pairs = NULL;
	size_t nr = 0, room = 0;

	for (size_t i = 0; i < trace_nr_processes(analysis); i++) {
		struct process_pair pair = {.waiter = trace_get_process(analysis, i)};
		struct trace_figures *f = checked_figures(trace_process_figures(analysis, pair.waiter));

		for (size_t j = 0; j < f->nr_waits; j++)
			if (f->waits[j].kind == TRACE_WAIT_PROCESS) {
				pair.wait = f->waits[j];
				pairs = memory_grow(pairs, nr, &room, sizeof(*pairs));
				pairs[nr++] = pair;
			}
		trace_figures_free(f);
	}
	memory_sort(pairs, nr, sizeof(*pairs), order_pairs, NULL);
	*ret_nr = nr;
	return pairs;
}
