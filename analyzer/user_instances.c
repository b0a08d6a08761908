/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_instances.c - each scope and request, for the caller's hook. Without a hook nothing is
 * kept.
 */
#include <stdlib.h>
#include "user_instances.h"
#include "user_sums.h"

/* A span that a loss or the end of the recording ends was open until then. */
static uint64_t end_of(const struct trace_user_events *u, uint64_t begin_ns, bool has_ended)
{
	uint64_t now = trace_analysis_now(u->analysis);

	if (has_ended || !u->dropped_ns)
		return now;
	return u->dropped_ns > begin_ns ? u->dropped_ns : begin_ns;
}

static struct trace_span_instance instance_of(const struct trace_user_events *u, const struct span_sum *span,
					      uint64_t begin_ns, bool has_ended)
{
	return (struct trace_span_instance){.process = span->owner.process,
					    .pid = span->owner.process ? trace_process_pid(span->owner.process)
								       : span->owner.pid,
					    .kind = span->kind,
					    .name = strings_text(&u->strings, span->name),
					    .begin_ns = begin_ns,
					    .end_ns = end_of(u, begin_ns, has_ended),
					    .has_begun = true,
					    .has_ended = has_ended};
}

void trace_user_events_on_span(struct trace_user_events *u, trace_span_fn fn, void *data)
{
	u->on_span = fn;
	u->on_span_data = data;
}

void scope_tell(struct trace_user_events *u, const struct actor *actor, const struct segment *scope, bool has_ended)
{
	struct trace_span_instance instance;
	struct trace_span_piece piece;

	if (!u->on_span)
		return;
	instance = instance_of(u, scope->span, scope->from_ns, has_ended);
	piece = (struct trace_span_piece){scope->thread, instance.begin_ns, instance.end_ns};
	instance.tid = actor->thread ? trace_thread_tid(actor->thread) : actor->tid;
	instance.pieces = &piece;
	instance.nr_pieces = 1;
	u->on_span(u->on_span_data, &instance);
}

void request_piece(struct trace_user_events *u, struct user_request *request)
{
	struct trace_span_piece *bigger;

	if (!u->on_span)
		return;
	bigger = reallocarray(request->pieces, request->nr_pieces + 1, sizeof(*bigger));
	if (!bigger) {
		user_fail(u);
		return;
	}
	request->pieces = bigger;
	request->pieces[request->nr_pieces++] = (struct trace_span_piece){request->segment.thread,
									  request->segment.from_ns,
									  end_of(u, request->segment.from_ns, false)};
}

void request_tell(struct trace_user_events *u, const struct user_request *request, bool has_ended)
{
	struct trace_span_instance instance;

	if (!u->on_span)
		return;
	instance = instance_of(u, request->span, request->begin_ns, has_ended);
	instance.pieces = request->pieces;
	instance.nr_pieces = request->nr_pieces;
	u->on_span(u->on_span_data, &instance);
}

void span_tell_end(struct trace_user_events *u, const struct actor *actor, const struct span_sum *span)
{
	struct trace_span_instance instance;

	if (!u->on_span)
		return;
	instance = instance_of(u, span, trace_analysis_now(u->analysis), true);
	instance.has_begun = false;
	instance.tid = actor->thread ? trace_thread_tid(actor->thread) : actor->tid;
	u->on_span(u->on_span_data, &instance);
}
