/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* user_results.c - turn the sums of user_events.c into sorted rows, and check that they add up. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "user_results.h"
#include "error_set.h"
#include "result_order.h"
#include "sort.h"
#include "user_accounting.h"
#include "state.h"
#include "user_sums.h"

struct user_results {
	struct trace_user_event *events; /* owned */
	struct trace_span *spans;	 /* owned, and so are the waits of each */
	size_t nr_events, nr_spans;
};

const char *trace_span_kind_name(enum trace_span_kind kind)
{
	static const char *const names[] = {"scope", "request", "between"};

	return (unsigned int)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

/* ---- times ---- */

/* The smallest time that @part of @of times do not exceed. */
static uint64_t quantile(const struct latency *latency, const struct histogram_count *times, size_t nr, uint64_t part,
			 uint64_t of)
{
	uint64_t wanted = (latency->count * part + of - 1) / of, seen = 0, ns;

	for (size_t i = 0; i < nr; i++) {
		seen += times[i].count;
		if (seen < wanted)
			continue;
		ns = latency_middle(times[i].key & ((1u << LATENCY_KEY_BITS) - 1));
		return ns < latency->min ? latency->min : ns > latency->max ? latency->max : ns;
	}
	return latency->max;
}

static bool latency_result(const struct latency *latency, struct trace_latency *ret_latency)
{
	size_t nr = 0;
	struct histogram_count *times = histogram_list(&latency->buckets, &nr);

	if (!times)
		return false;
	*ret_latency = (struct trace_latency){
		.count = latency->count,
		.sum_ns = latency->sum,
		.min_ns = latency->min,
		.max_ns = latency->max,
		.p50_ns = quantile(latency, times, nr, 50, 100),
		.p99_ns = quantile(latency, times, nr, 99, 100),
	};
	free(times);
	return true;
}

/* ---- rows ---- */

static bool waits_result(const struct span_sum *sum, struct trace_span *span)
{
	struct trace_wait *waits = calloc(sum->waits.used + 1, sizeof(*waits));
	const struct span_wait *row = NULL;
	size_t nr = 0;

	if (!waits)
		return false;
	if (sum->is_folded && sum->times.blocked_ns)
		waits[nr++] = (struct trace_wait){.kind = TRACE_WAIT_UNKNOWN,
						  .target = "",
						  .comm = "",
						  .via = "",
						  .path = "",
						  .ns = sum->times.blocked_ns,
						  .count = sum->elapsed.count};
	while ((row = table_next(&sum->waits, sizeof(*row), row))) {
		if (!row->ns && !row->count)
			continue; /* only requests that did not end */
		waits[nr++] = (struct trace_wait){
			.kind = row->kind,
			.target = row->target,
			.pid = row->other ? trace_process_pid(row->other) : 0,
			.comm = row->other ? trace_process_comm(row->other) : "",
			.via = row->via,
			.path = row->path,
			.thread = row->thread,
			.idle = row->idle,
			.ns = row->ns,
			.count = row->count,
		};
	}
	span->waits = waits;
	span->nr_waits = nr;
	return sort_rows(waits, nr, sizeof(*waits), order_waits);
}

bool span_row(const struct trace_user_events *u, const struct span_sum *sum, struct trace_span *ret_span)
{
	*ret_span = (struct trace_span){
		.process = sum->owner.process,
		.pid = sum->owner.pid,
		.kind = sum->kind,
		.name = strings_text(&u->strings, sum->name),
		.from = strings_text(&u->strings, sum->from),
		.open = sum->open,
		.unmatched = sum->unmatched,
		.user_ns = sum->times.user_ns,
		.system_ns = sum->times.syscall_ns + sum->times.trap_ns,
		.interrupted_ns = sum->times.interrupted_ns,
		.wait_cpu_ns = sum->times.wait_cpu_ns,
		.blocked_ns = sum->times.blocked_ns,
		.queued_ns = sum->queued,
		.unseen_ns = sum->unseen,
	};
	return latency_result(&sum->elapsed, &ret_span->elapsed);
}

static bool span_result(const struct trace_user_events *u, const struct span_sum *sum, struct trace_span *span)
{
	return span_row(u, sum, span) && waits_result(sum, span);
}

static bool event_result(const struct trace_user_events *u, const struct event_sum *sum, struct trace_user_event *event)
{
	*event = (struct trace_user_event){
		.process = sum->owner.process,
		.pid = sum->owner.pid,
		.name = strings_text(&u->strings, sum->name),
		.role = sum->role,
		.count = sum->count,
		.first_ns = sum->first_ns,
		.last_ns = sum->last_ns,
		.is_counter = sum->is_counter,
		.last = sum->last,
		.lowest = sum->lowest,
		.highest = sum->highest,
		.mean = sum->is_counter ? sum->sum / (double)sum->count : 0,
	};
	return latency_result(&sum->interval, &event->interval);
}

static int order_events(const void *left, const void *right)
{
	const struct trace_user_event *l = left, *r = right;
	int difference = descending(l->count, r->count);

	difference = difference ?: strcmp(l->name, r->name);
	difference = difference ?: ascending(l->pid, r->pid);
	difference = difference ?: by_process(l->process, r->process);
	difference = difference ?: ascending(l->role, r->role);
	return difference;
}

static int order_spans(const void *left, const void *right)
{
	const struct trace_span *l = left, *r = right;
	int difference = ascending(l->kind, r->kind);

	difference = difference ?: descending(l->elapsed.sum_ns, r->elapsed.sum_ns);
	difference = difference ?: strcmp(l->name, r->name);
	difference = difference ?: strcmp(l->from, r->from);
	difference = difference ?: ascending(l->pid, r->pid);
	difference = difference ?: by_process(l->process, r->process);
	return difference;
}

bool span_rows_sort(struct trace_span *spans, size_t nr)
{
	return sort_rows(spans, nr, sizeof(*spans), order_spans);
}

struct user_results *user_results_free(struct user_results *results)
{
	if (!results)
		return NULL;
	for (size_t i = 0; i < results->nr_spans; i++)
		free((void *)results->spans[i].waits);
	free(results->spans);
	free(results->events);
	free(results);
	return NULL;
}

/* Other windows than this one may have the spans of a row. */
static bool is_in_window(const struct trace_user_events *u, const struct span_sum *sum)
{
	return !u->analysis->window || sum->elapsed.count || sum->open || sum->unmatched;
}

static const struct user_results *results_of(struct trace_user_events *u)
{
	struct user_results *results;
	bool ok;

	if (u->results || u->failed)
		return u->results;
	user_events_close(u);
	results = calloc(1, sizeof(*results));
	if (results) {
		results->events = calloc(u->nr_events + 1, sizeof(*results->events));
		results->spans = calloc(u->nr_spans + 1, sizeof(*results->spans));
	}
	ok = results && results->events && results->spans && !u->failed;
	for (size_t i = 0; ok && i < u->nr_events; i++)
		ok = event_result(u, u->events[i], &results->events[results->nr_events++]);
	for (size_t i = 0; ok && i < u->nr_spans; i++)
		if (is_in_window(u, u->spans[i]))
			ok = span_result(u, u->spans[i], &results->spans[results->nr_spans++]);
	if (ok)
		ok = !u->strings.failed &&
		     sort_rows(results->events, results->nr_events, sizeof(*results->events), order_events) &&
		     span_rows_sort(results->spans, results->nr_spans);
	if (!ok) {
		u->failed = -ENOMEM;
		user_results_free(results);
		return NULL;
	}
	return u->results = results;
}

size_t trace_nr_user_events(struct trace_user_events *u)
{
	const struct user_results *results = results_of(u);

	return results ? results->nr_events : 0;
}

const struct trace_user_event *trace_get_user_event(struct trace_user_events *u, size_t idx)
{
	const struct user_results *results = results_of(u);

	return results && idx < results->nr_events ? &results->events[idx] : NULL;
}

size_t trace_nr_spans(struct trace_user_events *u)
{
	const struct user_results *results = results_of(u);

	return results ? results->nr_spans : 0;
}

const struct trace_span *trace_get_span(struct trace_user_events *u, size_t idx)
{
	const struct user_results *results = results_of(u);

	return results && idx < results->nr_spans ? &results->spans[idx] : NULL;
}

bool trace_spans_left_out(const struct trace_user_events *u)
{
	return u->spans_left_out;
}

/* ---- verification ---- */

static int off(struct trace_error *ret_error, const struct trace_span *span, const char *what, uint64_t is,
	       uint64_t should)
{
	return error_set(ret_error, -EBADMSG, "%s %s of process %u: %s add up to %" PRIu64 " ns, not %" PRIu64,
			 trace_span_kind_name(span->kind), span->name, span->pid, what, is, should);
}

/*
 * A forged file can contain times of centuries, with sums above 64 bits. All sums are then exact
 * modulo 2^64 only, and cannot be compared by size.
 */
static bool may_exceed(const struct trace_latency *elapsed)
{
	return elapsed->max_ns && elapsed->count > UINT64_MAX / elapsed->max_ns;
}

int trace_user_events_verify(struct trace_user_events *u, struct trace_error *ret_error)
{
	for (size_t i = 0; i < trace_nr_spans(u); i++) {
		const struct trace_span *s = trace_get_span(u, i);
		uint64_t parts = s->user_ns + s->system_ns + s->interrupted_ns + s->wait_cpu_ns + s->blocked_ns +
				 s->queued_ns + s->unseen_ns;
		const uint64_t part[] = {s->user_ns,	s->system_ns, s->interrupted_ns, s->wait_cpu_ns,
					 s->blocked_ns, s->queued_ns, s->unseen_ns};
		uint64_t waits = 0;

		for (size_t j = 0; j < s->nr_waits; j++)
			waits += s->waits[j].ns;
		/* a negative part would not show in the sum alone */
		for (size_t j = 0; !may_exceed(&s->elapsed) && j < sizeof(part) / sizeof(part[0]); j++)
			if (part[j] > s->elapsed.sum_ns)
				return off(ret_error, s, "the times of a part", part[j], s->elapsed.sum_ns);
		if (parts != s->elapsed.sum_ns)
			return off(ret_error, s, "the parts", parts, s->elapsed.sum_ns);
		if (waits != s->blocked_ns)
			return off(ret_error, s, "the waits", waits, s->blocked_ns);
	}
	return trace_user_events_error(u, ret_error);
}

int trace_user_events_error(struct trace_user_events *u, struct trace_error *ret_error)
{
	results_of(u);
	return u->failed ? error_set(ret_error, u->failed,
				     "out of memory for the events of programs; analyze on a larger machine")
			 : 0;
}
