/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * disk_waits.c - the processes that used a disk while another one waited for it
 *
 * disk_sums.c has the uses of a disk in the whole recording. A process that waits for a disk for
 * 20 ms of 10 s asks for the uses in those 20 ms. So all requests and all waits for files are
 * noted, and a query goes through those of one disk and one process, in order of time.
 *
 * The process waits while any of its threads does. Requests in progress at one time have equal
 * parts of it, as in disk_sums.c: `share` is the time that one request would have had until now,
 * counted only while the process waits.
 *
 * Example: B's request is in progress from 0 to 30 us, A waits from 20 to 40 us, and its own
 * request is in progress from 25 to 40 us. In the 20 us of the wait B has 7.5 us and A
 * 12.5 us.
 *
 * A recording with too many of both has no answer: memory is bounded.
 */
#include <errno.h>
#include <stdlib.h>
#include "device_name.h"
#include "disk_sums.h"
#include "disk_waits.h"
#include "sort.h"
#include "state.h"
#include "window.h"

#define MAX_NOTES 400000u /* of each sort: 9.6 MB */
#define OF_BATCH  (1u << 31)
#define FRACTION  16 /* bits of a share after the ns */

struct disk_batch {
	uint64_t key; /* its number */
	uint64_t process;
};

/* ---- notes ---- */

/* False: there is no room for one more. */
static bool has_room(struct trace_analysis *a, void *list_of, size_t nr, size_t *room, size_t bytes)
{
	void **list = list_of, *bigger;

	if (a->disk_waits.is_full)
		return false;
	if (nr < *room)
		return true;
	if (nr >= MAX_NOTES) {
		disk_waits_clear(&a->disk_waits);
		a->disk_waits.is_full = true;
		return false;
	}
	bigger = reallocarray(*list, nr + nr / 2 + 64, bytes);
	if (!bigger) {
		a->failed = -ENOMEM;
		return false;
	}
	*list = bigger;
	*room = nr + nr / 2 + 64;
	return true;
}

void disk_waits_request(struct trace_analysis *a, const struct disk_span *span)
{
	struct disk_waits *w = &a->disk_waits;

	if (span->from < span->to && has_room(a, &w->spans, w->nr_spans, &w->room_spans, sizeof(*span)))
		w->spans[w->nr_spans++] = *span;
}

void disk_waits_wait(struct trace_analysis *a, const struct disk_wait *wait)
{
	struct disk_waits *w = &a->disk_waits;

	if (wait->from < wait->to && has_room(a, &w->waits, w->nr_waits, &w->room_waits, sizeof(*wait)))
		w->waits[w->nr_waits++] = *wait;
}

void disk_waits_own(struct trace_analysis *a, uint32_t batch, uint32_t process)
{
	struct disk_waits *w = &a->disk_waits;
	struct disk_batch *row;

	if (w->is_full || w->batches.used >= MAX_NOTES)
		return;
	row = table_add(&w->batches, sizeof(*row), batch);
	if (row)
		row->process = process;
	else
		a->failed = -ENOMEM;
}

void disk_waits_window_begins(struct disk_waits *waits)
{
	waits->nr_spans = 0;
}

void disk_waits_clear(struct disk_waits *waits)
{
	free(waits->spans);
	free(waits->waits);
	table_clear(&waits->batches);
	*waits = (struct disk_waits){0};
}

/* ---- a query ---- */

enum disk_edge_kind { WAIT_ENDS, REQUEST_ENDS, WAIT_BEGINS, REQUEST_BEGINS };

struct disk_edge {
	uint64_t ns;
	uint32_t kind;
	uint32_t owner; /* of a request */
};

struct disk_query {
	const struct trace_analysis *a;
	struct disk_edge *edges; /* owned */
	size_t nr;
	struct hash_table owners; /* owner_row */
	uint64_t share, busy_ns, last_ns;
	uint64_t nr_requests, nr_waits; /* in progress */
};

struct owner_row {
	uint64_t key; /* process_idx + 1 */
	uint64_t share;
	uint64_t nr;   /* requests in progress */
	uint64_t from; /* share of the disk when @nr changed */
};

static int by_time(const void *left, const void *right)
{
	const struct disk_edge *l = left, *r = right;

	return l->ns < r->ns ? -1 : l->ns > r->ns ? 1 : l->kind < r->kind ? -1 : l->kind > r->kind;
}

static void edges_add(struct disk_query *q, uint64_t from, uint64_t to, enum disk_edge_kind begins, uint32_t owner)
{
	q->edges[q->nr++] = (struct disk_edge){from, begins, owner};
	q->edges[q->nr++] = (struct disk_edge){to, begins == WAIT_BEGINS ? WAIT_ENDS : REQUEST_ENDS, owner};
}

static uint32_t owner_of(const struct disk_waits *w, const struct disk_span *span)
{
	const struct disk_batch *row;

	if (!(span->owner & OF_BATCH))
		return span->owner;
	row = table_find(&w->batches, sizeof(*row), span->owner);
	return row ? (uint32_t)row->process : (uint32_t)PROCESS_UNKNOWN;
}

/* The waits of @process for the disk, and the requests in progress meanwhile. */
static void find_edges(struct disk_query *q, const struct trace_process *process, uint32_t dev)
{
	const struct disk_waits *w = &q->a->disk_waits;
	const char *disk = trace_string(q->a->trace, TRACE_STRING_DEVICE, dev);
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < w->nr_waits; i++) {
		uint64_t from = w->waits[i].from, to = w->waits[i].to;
		const char *path = strings_text(&q->a->strings, w->waits[i].path);

		if (w->waits[i].process != process->idx || !window_cut(q->a->window, &from, &to) || !disk ||
		    !device_is_part_of(trace_file_device(q->a, path), disk))
			continue;
		edges_add(q, from, to, WAIT_BEGINS, 0);
		first = from < first ? from : first;
		last = to > last ? to : last;
	}
	for (size_t i = 0; i < w->nr_spans; i++)
		if (w->spans[i].dev == dev && w->spans[i].from < last && w->spans[i].to > first)
			edges_add(q, w->spans[i].from, w->spans[i].to, REQUEST_BEGINS, owner_of(w, &w->spans[i]));
}

static void advance(struct disk_query *q, uint64_t ns)
{
	if (q->nr_waits && q->nr_requests) {
		q->busy_ns += ns - q->last_ns;
		q->share += ((ns - q->last_ns) << FRACTION) / q->nr_requests;
	}
	q->last_ns = ns;
}

/* False: out of memory */
static bool pass_edge(struct disk_query *q, const struct disk_edge *edge)
{
	struct owner_row *owner;

	advance(q, edge->ns);
	if (edge->kind == WAIT_BEGINS || edge->kind == WAIT_ENDS) {
		q->nr_waits += edge->kind == WAIT_BEGINS ? 1 : -1ull;
		return true;
	}
	owner = table_add(&q->owners, sizeof(*owner), edge->owner + 1ull);
	if (!owner)
		return false;
	owner->share += (q->share - owner->from) * owner->nr;
	owner->from = q->share;
	owner->nr += edge->kind == REQUEST_BEGINS ? 1 : -1ull;
	q->nr_requests += edge->kind == REQUEST_BEGINS ? 1 : -1ull;
	return true;
}

static struct trace_disk_use *results(const struct disk_query *q, uint32_t dev, size_t *ret_nr)
{
	struct trace_disk_use *list = calloc(q->owners.used + 1, sizeof(*list)), *at = list;
	const struct owner_row *owner = NULL;

	while (list && (owner = table_next(&q->owners, sizeof(*owner), owner)))
		if (owner->share)
			*at++ = disk_use_of(q->a, dev, (uint32_t)(owner->key - 1), owner->share >> FRACTION,
					    q->busy_ns);
	if (!list || !disk_uses_order(list, *ret_nr = (size_t)(at - list))) {
		free(list);
		return NULL;
	}
	return list;
}

struct trace_disk_use *trace_disk_uses_while_waiting(const struct trace_analysis *a,
						     const struct trace_process *process, uint32_t dev,
						     bool *ret_is_known, size_t *ret_nr)
{
	struct disk_query q = {
		.a = a, .edges = calloc(2 * (a->disk_waits.nr_waits + a->disk_waits.nr_spans) + 1, sizeof(*q.edges))};
	struct trace_disk_use *list = NULL;
	bool has_memory = q.edges;

	if (has_memory) {
		find_edges(&q, process, dev);
		has_memory = sort_rows(q.edges, q.nr, sizeof(*q.edges), by_time);
	}
	for (size_t i = 0; has_memory && i < q.nr; i++)
		has_memory = pass_edge(&q, &q.edges[i]);
	if (has_memory)
		list = results(&q, dev, ret_nr);
	*ret_is_known = !a->disk_waits.is_full;
	free(q.edges);
	table_clear(&q.owners);
	return list;
}
