/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slowest_parts.c - where the time of the longest instances went.
 *
 * The first pass finds which instances are the longest, and it cannot keep the intervals of all
 * threads until then. So a second pass adds the intervals of the chosen ones, cut at their begin
 * and end. Threads have the same trace_thread_index() in both passes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "pass_progress.h"
#include "slowest_parts.h"
#include "sort.h"

/* An instance on one thread. */
struct instance_visit {
	uint64_t from_ns, to_ns;
	struct instance_parts *parts;
	struct instance_visit *next; /* of the same thread */
};

struct visits {
	struct instance_visit **of_thread; /* owned; by trace_thread_index() */
	size_t nr_threads;
	struct pointers all; /* owned */
};

static void visit_add(struct visits *visits, const struct trace_span_piece *piece, struct instance_parts *parts)
{
	size_t idx = trace_thread_index(piece->thread);
	struct instance_visit *visit = memory_take(1, sizeof(*visit));

	if (idx >= visits->nr_threads) {
		struct instance_visit **bigger = memory_take(idx + 1, sizeof(*bigger));

		if (visits->nr_threads)
			memcpy(bigger, visits->of_thread, visits->nr_threads * sizeof(*bigger));
		free(visits->of_thread);
		visits->of_thread = bigger;
		visits->nr_threads = idx + 1;
	}
	*visit = (struct instance_visit){piece->from_ns, piece->to_ns, parts, visits->of_thread[idx]};
	visits->of_thread[idx] = visit;
	pointers_add(&visits->all, visit);
}

/* The other thread of the process that ended the wait; NULL: not known, or another process did. */
static const struct trace_thread *own_thread(const struct trace_interval *interval)
{
	bool is_own = interval->other && interval->other == trace_thread_process(interval->thread);

	return is_own && interval->waker && trace_thread_process(interval->waker) == interval->other ? interval->waker
												     : NULL;
}

static bool is_same(const struct trace_wait *wait, const struct trace_interval *interval, uint32_t pid)
{
	return wait->kind == interval->kind && wait->idle == interval->idle && wait->pid == pid &&
	       wait->thread == own_thread(interval) && strcmp(wait->target, interval->target) == 0 &&
	       strcmp(wait->via, interval->via) == 0 && strcmp(wait->path, interval->path ? interval->path : "") == 0;
}

static void add_wait(struct instance_parts *parts, const struct trace_interval *interval, uint64_t ns)
{
	uint32_t pid = interval->other ? trace_process_pid(interval->other) : 0;
	struct trace_wait *wait = NULL;

	for (size_t i = 0; i < parts->nr_waits && !wait; i++)
		if (is_same(&parts->waits[i], interval, pid))
			wait = &parts->waits[i];
	if (!wait) {
		parts->waits = memory_grow(parts->waits, parts->nr_waits, &parts->room_waits, sizeof(*parts->waits));
		wait = &parts->waits[parts->nr_waits++];
		*wait = (struct trace_wait){.kind = interval->kind,
					    .target = interval->target,
					    .pid = pid,
					    .comm = interval->other ? trace_process_comm(interval->other) : "",
					    .via = interval->via,
					    .idle = interval->idle,
					    .path = interval->path ? interval->path : "",
					    .thread = own_thread(interval)};
	}
	wait->ns += ns;
	wait->count++;
	parts->blocked_ns += ns;
}

static void add_interval(struct instance_parts *parts, const struct trace_interval *interval, uint64_t ns)
{
	switch (interval->state) {
	case TRACE_STATE_INTERRUPTED:
		parts->interrupted_ns += ns;
		break;
	case TRACE_STATE_WAIT_CPU:
		parts->wait_cpu_ns += ns;
		break;
	case TRACE_STATE_BLOCKED:
		add_wait(parts, interval, ns);
		break;
	default:
		parts->cpu_ns += ns;
	}
}

static void on_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	const struct visits *visits = data;
	size_t idx = trace_thread_index(interval->thread);

	for (const struct instance_visit *visit = idx < visits->nr_threads ? visits->of_thread[idx] : NULL; visit;
	     visit = visit->next) {
		uint64_t from = interval->from_ns > visit->from_ns ? interval->from_ns : visit->from_ns,
			 to = interval->to_ns < visit->to_ns ? interval->to_ns : visit->to_ns;

		if (from < to)
			add_interval(visit->parts, interval, to - from);
	}
}

static int by_ns(const void *left, const void *right)
{
	const struct trace_wait *l = left, *r = right;

	return l->ns > r->ns ? -1 : l->ns < r->ns;
}

/* The time that no thread and no interval has. */
static void parts_close(const struct slowest *s, struct instance_parts *parts)
{
	uint64_t seen = parts->cpu_ns + parts->interrupted_ns + parts->wait_cpu_ns + parts->blocked_ns, worked = 0;
	const struct trace_span_piece *pieces;
	struct trace_span_piece one;
	size_t nr = instance_pieces(s, parts->instance, &one, &pieces);

	for (size_t i = 0; i < nr; i++)
		worked += pieces[i].to_ns - pieces[i].from_ns;
	parts->queued_ns = parts->instance->end_ns - parts->instance->begin_ns - worked;
	parts->unseen_ns = worked - seen;
	if (parts->nr_waits && !sort_rows(parts->waits, parts->nr_waits, sizeof(*parts->waits), by_ns))
		memory_end();
}

static void visits_free(struct visits *visits)
{
	pointers_free_all(&visits->all);
	free(visits->of_thread);
}

int slowest_parts_find(const struct slowest *s, size_t nr, struct slowest_parts *ret, struct trace_error *ret_error)
{
	const struct instance_list *list = &s->lists[s->kind];
	struct visits visits = {0};
	int error = 0;

	*ret = (struct slowest_parts){.at = memory_take(nr + 1, sizeof(*ret->at))};
	for (size_t i = 0; i < list->nr && ret->nr < nr && list->at[i].least_ns; i++) {
		const struct trace_span_piece *pieces;
		struct trace_span_piece one;
		size_t nr_pieces = instance_pieces(s, &list->at[i], &one, &pieces);

		ret->at[ret->nr].instance = &list->at[i];
		for (size_t n = 0; n < nr_pieces; n++)
			if (pieces[n].thread)
				visit_add(&visits, &pieces[n], &ret->at[ret->nr]);
		ret->nr++;
	}
	ret->analysis = trace_analysis_new(s->report->trace, NULL, ret_error);
	if (!ret->analysis || trace_analysis_on_interval(ret->analysis, on_interval, &visits) < 0)
		error = -ENOMEM;
	if (!error) {
		pass_progress_watch(ret->analysis, "tracevisualizer: waits of the longest");
		error = trace_analysis_run(ret->analysis, ret_error);
		progress_line_erase();
	}
	for (size_t i = 0; !error && i < ret->nr; i++)
		parts_close(s, &ret->at[i]);
	visits_free(&visits);
	return error;
}

void slowest_parts_free(struct slowest_parts *parts)
{
	for (size_t i = 0; i < parts->nr; i++)
		free(parts->at[i].waits);
	free(parts->at);
	trace_analysis_free(parts->analysis);
}
