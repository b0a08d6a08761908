/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_USER_EVENTS_H
#define TRACE_USER_EVENTS_H
/*
 * user_events.h - the events of programs: how often each tracepoint was reached, and where the
 * time between two of them went
 *
 *	struct trace_user_events *user = trace_user_events_new(trace, analysis, &error);
 *
 *	if (trace_analysis_run(analysis, &error) < 0)
 *		... error.message says why
 *	for (size_t i = 0; i < trace_nr_spans(user); i++) {
 *		const struct trace_span *span = trace_get_span(user, i);
 *		...     "shop:checkout: 120 times, 40 ms CPU, 12 ms waiting for the file orders.db"
 *	}
 *	user = trace_user_events_free(user);
 *
 * In a window of the analysis the events are those in it, and the spans those that end in it, with
 * their whole time; a span is open if it had not ended at the end of the window.
 *
 * This is an analysis like any other: hooks of <trace/analysis.h> in the same pass. One thread at a
 * time. Its memory grows with event types and spans, and with threads and open requests, not with
 * events.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/analysis.h>
#include <trace/error.h>
#include <trace/reader.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library is built with -fvisibility=hidden */

struct trace_user_events;

/**
 * struct trace_latency - number, minimum, maximum and sum of durations, exact; median and 99th
 * percentile at most 1.6 % off
 */
struct trace_latency {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns;
	uint64_t p50_ns;
	uint64_t p99_ns;
	uint64_t max_ns;
};

/**
 * struct trace_user_event - one event type in one process
 * @process: NULL if the trace does not know it (no kernel events). Then @pid is the pid of the
 *     program's stream, or 0 if that is not known either
 * @interval: from one event to the next of the same thread
 * @is_counter: then @last, @lowest, @highest, @mean are of its value
 */
struct trace_user_event {
	const struct trace_process *process;
	uint32_t pid;
	const char *name;
	enum trace_event_role role;
	uint64_t count;
	uint64_t first_ns;
	uint64_t last_ns;
	struct trace_latency interval;
	bool is_counter;
	double last;
	double lowest;
	double highest;
	double mean;
};

enum trace_span_kind {
	TRACE_SPAN_SCOPE = 0,	/* from begin to end of a scope */
	TRACE_SPAN_REQUEST = 1, /* a request, on all its threads, from its begin to its end */
	TRACE_SPAN_BETWEEN = 2, /* from one event to the next of the same provider on the same thread */
};
/** trace_span_kind_name() - "scope", "request", "between"; static */
const char *trace_span_kind_name(enum trace_span_kind kind);

/**
 * struct trace_span - all spans of one name in one process
 * @from: the event at which a BETWEEN span begins; otherwise "". @name: the event at which it ends,
 *     or the name of scope or request
 * @elapsed: of spans that ended; @open: spans that have not ended at the end of the trace;
 *     @unmatched: ends without a begin in the trace, and scopes that are not followed, because
 *         64 others of their thread were open
 * @elapsed.sum_ns = @user_ns + @system_ns + @interrupted_ns + @wait_cpu_ns + @blocked_ns +
 *     @queued_ns + @unseen_ns, exactly
 * @queued_ns: a request was with no thread: handed off, and not begun again yet
 * @unseen_ns: the thread's state is unknown: no kernel events were recorded
 * @waits: causes of @blocked_ns, greatest time first; they add up to it
 *     Kind UNKNOWN also where the attribution would take too long: when a thread works for
 *     requests of more than 64 names at the same time, or when too many requests of one name
 *     change their thread during very many waits
 */
struct trace_span {
	const struct trace_process *process;
	uint32_t pid;
	enum trace_span_kind kind;
	const char *name;
	const char *from;
	struct trace_latency elapsed;
	uint64_t open;
	uint64_t unmatched;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t interrupted_ns;
	uint64_t wait_cpu_ns;
	uint64_t blocked_ns;
	uint64_t queued_ns;
	uint64_t unseen_ns;
	const struct trace_wait *waits;
	size_t nr_waits;
};

/**
 * trace_user_events_new() - follow the events of programs in the pass of @analysis
 * @trace, @analysis: borrowed, must outlive it
 * Call it before trace_analysis_run(). Returns NULL with -ENOMEM, or with -EBUSY after the pass
 * began. It costs nothing if the trace has no such events.
 */
struct trace_user_events *trace_user_events_new(const struct trace *trace, struct trace_analysis *analysis,
						struct trace_error *ret_error);
struct trace_user_events *trace_user_events_free(struct trace_user_events *user); /* NULL is fine; returns NULL */

/** struct trace_span_piece - @thread worked on a span in this time; NULL: not known */
struct trace_span_piece {
	const struct trace_thread *thread;
	uint64_t from_ns;
	uint64_t to_ns;
};

/**
 * struct trace_span_instance - one scope or request
 * @pid, @tid: as in the program's events, if @process is NULL
 * @has_begun: false: its begin is not in the trace; @begin_ns is then @end_ns
 * @has_ended: false: its end is not in the trace, and it was open until @end_ns at least; either
 *     the recording ended or events were lost
 * @pieces: the time of a scope, or the times in which threads worked on a request; borrowed for the
 *     call
 */
struct trace_span_instance {
	const struct trace_process *process;
	uint32_t pid;
	uint32_t tid;
	enum trace_span_kind kind;
	const char *name;
	uint64_t begin_ns;
	uint64_t end_ns;
	bool has_begun;
	bool has_ended;
	const struct trace_span_piece *pieces;
	size_t nr_pieces;
};
typedef void (*trace_span_fn)(void *data, const struct trace_span_instance *instance);
/**
 * trace_user_events_on_span() - call @fn for each scope and request, when it ends; once, before
 * the pass
 * Those without an end come when a loss ends them, or after the pass, at the first of the results.
 */
void trace_user_events_on_span(struct trace_user_events *user, trace_span_fn fn, void *data);

/** trace_nr_user_events() - after the pass; 0 when out of memory, see trace_user_events_error() */
size_t trace_nr_user_events(struct trace_user_events *user);
/** trace_get_user_event() - the most frequent first; borrowed from @user; NULL past the last */
const struct trace_user_event *trace_get_user_event(struct trace_user_events *user, size_t idx);

/** trace_nr_spans() - after the pass; as trace_nr_user_events() */
size_t trace_nr_spans(struct trace_user_events *user);
/**
 * trace_get_span() - scopes, then requests, then spans between events; within each the greatest
 * time first; borrowed; NULL past the last
 */
const struct trace_span *trace_get_span(struct trace_user_events *user, size_t idx);
/**
 * trace_spans_left_out() - after the pass; true: the trace has more than 65,536 kinds of spans,
 * which differ in process, name or kind, and those of further kinds are in no result
 */
bool trace_spans_left_out(const struct trace_user_events *user);

/**
 * trace_user_events_verify() - after the pass: do the parts of all spans add up to their time, and
 * the waits to the blocked part?
 * Returns 0; -EBADMSG with the first violation in @ret_error; -ENOMEM.
 */
int trace_user_events_verify(struct trace_user_events *user, struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_user_events_error() - after the pass: 0, or -ENOMEM: rows are missing in the results
 * Call it when a report is complete.
 */
int trace_user_events_error(struct trace_user_events *user, struct trace_error *ret_error) TRACE_NODISCARD;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
