/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_events.c - the events of programs, and how their threads spent the time between two of them.
 *
 * A span begins at one event and ends at another. The thread's activity in between is the
 * difference of two readings of its sums (trace_thread_times()). Nothing is measured twice, so the
 * parts add up to the elapsed time.
 *
 * The causes of waits come from the interval hook. It reports each wait before the thread's next
 * event can occur. If a wait is reported later or not at all, its part of the span has the cause
 * `unknown`.
 *
 * A thread can be in any number of scopes and requests at once, and in the time from its last event
 * to the next one.
 */
#include "error_set.h"
#include "state.h"
#include "user_accounting.h"
#include "user_instances.h"
#include "user_requests.h"
#include "user_results.h"
#include "user_sums.h"
#include "user_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64 /* nested scopes that are followed; further ones are counted: see scope_evict() */

/**
 * struct event_kind - the properties of an event type
 * @name: to count it by
 * @stem: its name without ".begin" and the like
 * @provider: before the colon
 */
struct event_kind {
	const struct trace_event_type *type; /* NULL: not prepared yet */
	string_id name;
	string_id stem;
	string_id provider;
	const struct trace_field *value; /* the program's first own field; NULL: none */
};

/* ---- events ---- */

static string_id intern_part(struct trace_user_events *u, const char *text, size_t bytes)
{
	char *part = strndup(text, bytes);
	string_id id = part ? strings_intern(&u->strings, part) : 0;

	if (!part)
		user_fail(u);
	free(part);
	return id;
}

static void kind_prepare(struct trace_user_events *u, struct event_kind *kind, const struct trace_event_type *type)
{
	const char *colon = strchr(type->name, ':');

	kind->type = type;
	kind->stem = intern_part(u, type->name, trace_type_stem(type));
	kind->name = type->role == TRACE_ROLE_COUNTER ? kind->stem : strings_intern(&u->strings, type->name);
	kind->provider = intern_part(u, type->name, colon ? (size_t)(colon - type->name) : 0);
	kind->value = trace_type_first_field(type);
}

static const struct event_kind *kind_of(struct trace_user_events *u, const struct trace_event *event)
{
	size_t idx = event->id - TRACE_EV_MAX;
	struct event_kind *bigger;

	if (idx >= u->nr_kinds) {
		bigger = reallocarray(u->kinds, idx + 1, sizeof(*bigger));
		if (!bigger)
			return user_fail(u);
		memset(bigger + u->nr_kinds, 0, (idx + 1 - u->nr_kinds) * sizeof(*bigger));
		u->kinds = bigger;
		u->nr_kinds = idx + 1;
	}
	if (!u->kinds[idx].type)
		kind_prepare(u, &u->kinds[idx], event->type);
	return &u->kinds[idx];
}

static struct program *program_of(struct trace_user_events *u, uint32_t pid)
{
	struct user_pointer_row *row = table_add(&u->programs, sizeof(*row), pid + 1ull);

	if (row && !row->pointer)
		row->pointer = calloc(1, sizeof(struct program));
	return row && row->pointer ? row->pointer : user_fail(u);
}

static struct actor *actor_new(struct trace_user_events *u, uint32_t pid, uint32_t tid,
			       const struct trace_event_type *type)
{
	struct program *program = program_of(u, pid);
	struct actor *actor = program ? calloc(1, sizeof(*actor)) : NULL;

	if (!actor)
		return user_fail(u);
	actor->program = program;
	actor->owner.pid = pid;
	actor->tid = tid;
	actor->probed = !(type->flags & TRACE_EVENT_TID);
	return actor;
}

static void scopes_drop(struct trace_user_events *u, struct actor *actor, uint32_t depth)
{
	while (actor->depth > depth) {
		struct segment *scope = &actor->scopes[--actor->depth];

		span_left_open(u, scope->span, scope->from_ns);
		scope_tell(u, actor, scope, false);
		segment_drop(u, actor, scope);
	}
}

static void all_scopes_drop(struct trace_user_events *u, struct actor *actor)
{
	scopes_drop(u, actor, 0);
	table_clear(&actor->evicted);
}

static void mark_drop(struct trace_user_events *u, struct actor *actor)
{
	segment_drop(u, actor, &actor->mark);
	actor->mark_name = 0;
}

/* Bind @actor to another thread: to the first that is known, or to a new one with a reused tid. */
static void actor_becomes(struct trace_user_events *u, struct actor *actor, const struct trace_thread *thread)
{
	if (actor->thread) {
		all_scopes_drop(u, actor);
		requests_leave(u, actor);
		table_clear(&actor->last_seen);
	}
	mark_drop(u, actor);
	actor->thread = thread;
	actor->owner.process = trace_thread_process(thread);
}

static struct actor *actor_of(struct trace_user_events *u, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_event_thread(u->analysis, event);
	uint32_t pid = trace_stream_pid(u->analysis, event->stream), tid = trace_event_tid(event);
	struct user_pointer_row *row;
	struct actor *actor;

	if (thread && !pid)
		pid = trace_process_pid(trace_thread_process(thread));
	row = table_add(&u->actors, sizeof(*row),
			(uint64_t)pid << 32 | (thread ? trace_thread_tid(thread) : tid) | 1ull << 63);
	if (!row)
		return user_fail(u);
	if (!row->pointer)
		row->pointer = actor_new(u, pid, tid, event->type);
	actor = row->pointer;
	if (actor && thread && actor->thread != thread) {
		row = table_add(&u->by_thread, sizeof(*row), (uintptr_t)thread);
		if (!row)
			return user_fail(u);
		row->pointer = actor;
		actor_becomes(u, actor, thread);
	}
	return actor;
}

static double value_of(const struct trace_event *event, const struct trace_field *field)
{
	if (!field)
		return 0;
	if (field->kind == TRACE_KIND_FLOAT)
		return trace_event_double(event, field);
	return field->is_signed ? (double)(int64_t)trace_event_u64(event, field)
				: (double)trace_event_u64(event, field);
}

/* Values in place of a pid: all processes; all threads with events in the kernel's streams. */
#define ALL_PROGRAMS 0u
#define PROBES	     UINT32_MAX

/* True if events of the actor's process may be missing at this time. */
static bool may_miss_events(const struct trace_user_events *u, const struct actor *actor)
{
	const struct number_row *lossy = NULL;

	if (u->lossy.used && (actor->probed || actor->owner.pid))
		lossy = table_find(&u->lossy, sizeof(*lossy), actor->probed ? PROBES : actor->owner.pid);

	return lossy && trace_analysis_now(u->analysis) <= lossy->number;
}

static void count(struct trace_user_events *u, struct actor *actor, const struct event_kind *kind,
		  const struct trace_event *event)
{
	struct number_row *seen = table_add(&actor->last_seen, sizeof(*seen), event->id + 1ull);
	uint64_t now = trace_analysis_now(u->analysis);
	struct event_sum *sum;

	if (seen && !user_counts(u)) {
		seen->number = now;
		return;
	}
	sum = event_sum(u, &actor->owner, kind->name);
	if (!sum || !seen) {
		user_fail(u);
		return;
	}
	if (!sum->count) {
		sum->first_ns = now;
		sum->role = kind->type->role;
	}
	sum->count++;
	sum->last_ns = now;
	if (seen->number && !may_miss_events(u, actor))
		latency_add(u, &sum->interval, now - seen->number);
	seen->number = now;
	if (kind->type->role == TRACE_ROLE_COUNTER) {
		double value = value_of(event, kind->value);

		sum->lowest = sum->is_counter && sum->lowest < value ? sum->lowest : value;
		sum->highest = sum->is_counter && sum->highest > value ? sum->highest : value;
		sum->is_counter = true;
		sum->last = value;
		sum->sum += value;
	}
}

/* ---- scopes, and the time between events ---- */

static bool scope_room(struct trace_user_events *u, struct actor *actor)
{
	uint32_t nr = actor->nr_scopes ? actor->nr_scopes * 2 : 4;
	struct segment *bigger;

	if (actor->depth < actor->nr_scopes)
		return true;
	bigger = reallocarray(actor->scopes, nr, sizeof(*bigger));
	if (!bigger)
		return user_fail(u) != NULL;
	memset(bigger + actor->nr_scopes, 0, (nr - actor->nr_scopes) * sizeof(*bigger));
	actor->scopes = bigger;
	actor->nr_scopes = nr;
	return true;
}

/* The outermost scope with the name of @span, or of a scope inside it; else the depth. */
static uint32_t outermost_of_many(const struct actor *actor, const struct span_sum *span)
{
	for (uint32_t i = 0; i < actor->depth; i++) {
		string_id name = actor->scopes[i].span->name;

		if (name == span->name)
			return i;
		for (uint32_t k = i + 1; k < actor->depth; k++)
			if (actor->scopes[k].span->name == name)
				return i;
	}
	return actor->depth;
}

/*
 * Follow one scope less, because MAX_DEPTH are open and one of @span begins. A thread that leaves
 * its scopes by longjmp has more and more of one name, and those never end. So the scope to give up
 * is the outermost one with a name that is open several times. If there is none, the new scope is
 * not followed: returns false.
 *
 * The followed scopes of a name are inside of its scopes that are not followed. So an end is that
 * of a followed scope as long as its name has one, and then one of those that are counted in
 * @evicted.
 */
static bool scope_evict(struct trace_user_events *u, struct actor *actor, struct span_sum *span)
{
	uint32_t i = outermost_of_many(actor, span);
	bool is_open = i < actor->depth;
	struct span_sum *evicted = is_open ? actor->scopes[i].span : span;
	struct number_row *row = table_add(&actor->evicted, sizeof(*row), evicted->name + 1ull);

	if (!row)
		return user_fail(u) != NULL;
	row->number++;
	span_unmatched(u, evicted);
	if (!is_open)
		return false;
	segment_drop(u, actor, &actor->scopes[i]);
	actor->depth--;
	memmove(&actor->scopes[i], &actor->scopes[i + 1], (actor->depth - i) * sizeof(actor->scopes[0]));
	memset(&actor->scopes[actor->depth], 0, sizeof(actor->scopes[0]));
	return true;
}

static bool was_evicted(struct actor *actor, string_id name)
{
	struct number_row *row = table_find(&actor->evicted, sizeof(*row), name + 1ull);

	if (!row || !row->number)
		return false;
	row->number--;
	return true;
}

static void scope_begin(struct trace_user_events *u, struct actor *actor, string_id name)
{
	struct span_sum *span = span_sum(u, &actor->owner, TRACE_SPAN_SCOPE, name, 0);

	if (!span)
		return;
	if (actor->depth == MAX_DEPTH && !scope_evict(u, actor, span))
		return;
	if (!scope_room(u, actor))
		return;
	segment_begin(u, actor, &actor->scopes[actor->depth++], span, true);
}

static void scope_close(struct trace_user_events *u, struct actor *actor, struct segment *scope)
{
	if (user_counts(u)) {
		segment_end(u, actor, scope);
		return;
	}
	span_left_open(u, scope->span, scope->from_ns);
	segment_drop(u, actor, scope);
}

/* Scopes nest. A scope without an end (longjmp, or a lost event) ends with the scope around it. */
static void scope_end(struct trace_user_events *u, struct actor *actor, string_id name)
{
	struct span_sum *span;
	uint32_t i = actor->depth;

	while (i && actor->scopes[i - 1].span->name != name)
		i--;
	if (!i && was_evicted(actor, name))
		return;
	if (!i) {
		span = span_sum(u, &actor->owner, TRACE_SPAN_SCOPE, name, 0);
		if (span) {
			span_unmatched(u, span);
			span_tell_end(u, actor, span);
		}
		return;
	}
	scopes_drop(u, actor, i);
	scope_tell(u, actor, &actor->scopes[actor->depth - 1], true);
	scope_close(u, actor, &actor->scopes[--actor->depth]);
}

static void mark(struct trace_user_events *u, struct actor *actor, const struct event_kind *kind)
{
	if (actor->mark_name && actor->mark_provider == kind->provider && user_counts(u)) {
		actor->mark.span = span_sum(u, &actor->owner, TRACE_SPAN_BETWEEN, kind->stem, actor->mark_name);
		if (actor->mark.span)
			segment_end(u, actor, &actor->mark);
	}
	segment_drop(u, actor, &actor->mark);
	segment_begin(u, actor, &actor->mark, NULL, true);
	actor->mark_name = kind->stem;
	actor->mark_provider = kind->provider;
}

/* ---- lost events ---- */

/* Note that a loss of events will end open spans of @actor, or the last times of its events. */
static void actor_use(struct trace_user_events *u, struct actor *actor)
{
	struct program *program = actor->program;

	if (!actor->is_used[USED_OF_PROGRAM]) {
		actor->is_used[USED_OF_PROGRAM] = true;
		actor->next_used[USED_OF_PROGRAM] = program->used;
		program->used = actor;
	}
	if (!program->is_used) {
		program->is_used = true;
		program->next_used = u->used;
		u->used = program;
	}
	if (actor->probed && !actor->is_used[USED_PROBED]) {
		actor->is_used[USED_PROBED] = true;
		actor->next_used[USED_PROBED] = u->used_probed;
		u->used_probed = actor;
	}
}

static void actors_drop(struct trace_user_events *u, struct actor **list, enum used_list which)
{
	struct actor *actor;

	while ((actor = *list)) {
		all_scopes_drop(u, actor);
		mark_drop(u, actor);
		table_clear(&actor->last_seen);
		*list = actor->next_used[which];
		actor->next_used[which] = NULL;
		actor->is_used[which] = false;
	}
}

static void program_drop(struct trace_user_events *u, struct program *program)
{
	requests_drop(u, program);
	actors_drop(u, &program->used, USED_OF_PROGRAM);
}

static void drop_open(struct trace_user_events *u, uint32_t pid)
{
	struct user_pointer_row *row = table_find(&u->programs, sizeof(*row), pid + 1ull);
	struct program *program;

	if (pid == PROBES)
		actors_drop(u, &u->used_probed, USED_PROBED);
	else if (pid != ALL_PROGRAMS && row && row->pointer)
		program_drop(u, row->pointer);
	while (pid == ALL_PROGRAMS && (program = u->used)) {
		u->used = program->next_used;
		program->is_used = false;
		program_drop(u, program);
	}
}

void user_events_close(struct trace_user_events *u)
{
	uint64_t start;

	trace_analysis_window(u->analysis, &start, &u->dropped_ns);
	drop_open(u, ALL_PROGRAMS);
	u->dropped_ns = 0;
}

static void gap_find(struct trace_user_events *u)
{
	const struct trace_gap *gap = u->next_gap < trace_nr_gaps(u->trace) ? trace_get_gap(u->trace, u->next_gap)
									    : NULL;

	u->next_gap_ns = gap ? gap->start_ns : UINT64_MAX;
}

/*
 * Inside a gap of a program, an end could be matched with the wrong begin. So nothing is followed
 * across a gap or inside it.
 */
static void gap_begins(struct trace_user_events *u, const struct trace_gap *gap)
{
	uint32_t pid = trace_stream_pid(u->analysis, gap->stream);
	struct number_row *lossy;

	pid = pid ? pid : PROBES; /* the events of probes are in the kernel's streams */
	u->dropped_ns = gap->start_ns;
	drop_open(u, pid);
	u->dropped_ns = 0;
	lossy = table_add(&u->lossy, sizeof(*lossy), pid);
	if (!lossy)
		user_fail(u);
	else if (gap->end_ns > lossy->number)
		lossy->number = gap->end_ns;
}

static void gaps_pass(struct trace_user_events *u, uint64_t now)
{
	while (u->next_damage < trace_analysis_nr_late_gaps(u->analysis))
		gap_begins(u, trace_analysis_get_late_gap(u->analysis, u->next_damage++));
	for (gap_find(u); now >= u->next_gap_ns && u->next_gap < trace_nr_gaps(u->trace); gap_find(u))
		gap_begins(u, trace_get_gap(u->trace, u->next_gap++));
}

/*
 * The pass found a damaged chunk: a gap that was not known before. As with other gaps, its process
 * is looked up at the next event: the program's first events may precede the event that assigns the
 * stream to it.
 */
static void on_damage(void *data, struct trace_analysis *analysis, const struct trace_gap *gap)
{
	struct trace_user_events *u = data;

	(void)analysis;
	if (gap->start_ns < u->next_gap_ns)
		u->next_gap_ns = gap->start_ns;
}

/* At the end of a gap: also drop what began inside it. */
static void gap_ends(struct trace_user_events *u, const struct trace_trace_lost *lost)
{
	uint32_t pid = trace_stream_pid(u->analysis, lost->stream);

	drop_open(u, pid ? pid : PROBES);
}

/* ---- the hooks ---- */

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct trace_user_events *u = data;
	const struct event_kind *kind;
	struct actor *actor;
	uint64_t id;

	if (trace_analysis_now(analysis) >= u->next_gap_ns)
		gaps_pass(u, trace_analysis_now(analysis));
	/* an event that was disabled until now may have ended and begun unrecorded */
	if (event->id == TRACE_EV_trace_select) {
		drop_open(u, ALL_PROGRAMS);
		return;
	}
	if (event->id == TRACE_EV_trace_lost) {
		gap_ends(u, event->payload);
		return;
	}
	kind = kind_of(u, event);
	actor = kind ? actor_of(u, event) : NULL;
	if (!actor)
		return;
	steps_earn(u);
	actor_use(u, actor);
	count(u, actor, kind, event);
	if (may_miss_events(u, actor))
		return;
	id = kind->value ? trace_event_u64(event, kind->value) : 0;
	switch (kind->type->role) {
	case TRACE_ROLE_EVENT:
		mark(u, actor, kind);
		break;
	case TRACE_ROLE_BEGIN:
		scope_begin(u, actor, kind->stem);
		break;
	case TRACE_ROLE_END:
		scope_end(u, actor, kind->stem);
		break;
	case TRACE_ROLE_REQUEST_BEGIN:
		request_begin(u, actor, kind->stem, id);
		break;
	case TRACE_ROLE_REQUEST_END:
		request_end(u, actor, kind->stem, id);
		break;
	case TRACE_ROLE_REQUEST_HANDOFF:
		request_handoff(u, actor, kind->stem, id);
		break;
	default:
		break;
	}
}

static void on_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct trace_user_events *u = data;
	const struct user_pointer_row *row;
	struct actor *actor;

	(void)analysis;
	if (interval->state != TRACE_STATE_BLOCKED)
		return;
	row = table_find(&u->by_thread, sizeof(*row), (uintptr_t)interval->thread);
	if (!row)
		return;
	actor = row->pointer;
	if (actor->thread != interval->thread) /* the tid now belongs to another thread */
		return;
	steps_earn(u);
	actor_wait(u, actor, interval);
}

/* ---- life cycle ---- */

static bool has_user_events(const struct trace *trace)
{
	for (size_t i = 0; i < trace_nr_types(trace); i++)
		if (trace_get_type(trace, i)->id >= TRACE_EV_MAX)
			return true;
	return false;
}

struct trace_user_events *trace_user_events_new(const struct trace *trace, struct trace_analysis *analysis,
						struct trace_error *ret_error)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_user_events *u = calloc(1, sizeof(*u));
	int error = u ? 0 : -ENOMEM;

	mask[TRACE_EV_USER / 64] |= 1ull << TRACE_EV_USER % 64;
	mask[TRACE_EV_trace_select / 64] |= 1ull << TRACE_EV_trace_select % 64;
	mask[TRACE_EV_trace_lost / 64] |= 1ull << TRACE_EV_trace_lost % 64;
	if (u) {
		u->trace = trace;
		u->analysis = analysis;
		gap_find(u);
	}
	if (!error && has_user_events(trace)) {
		error = trace_analysis_on_event(analysis, mask, on_event, u);
		if (!error)
			error = trace_analysis_on_late_gap(analysis, on_damage, u);
		if (!error)
			error = trace_analysis_on_interval(analysis, on_interval, u);
	}
	if (!error)
		return u;
	error_set(ret_error, error, "%s",
		  error == -EBUSY ? "the pass has begun: follow the events of programs before it"
				  : "out of memory for the events of programs; analyze on a larger machine");
	if (u)
		trace_analysis_remove_hooks(analysis, u);
	return trace_user_events_free(u);
}

static void actor_free(struct actor *actor)
{
	actor_waits_free(actor);
	free(actor->scopes);
	table_clear(&actor->last_seen);
	table_clear(&actor->evicted);
	free(actor);
}

static void pointers_free(struct hash_table *table)
{
	struct user_pointer_row *row = NULL;

	while ((row = table_next(table, sizeof(*row), row)))
		free(row->pointer);
	table_clear(table);
}

struct trace_user_events *trace_user_events_free(struct trace_user_events *u)
{
	struct user_pointer_row *row = NULL;

	if (!u)
		return NULL;
	u->results = user_results_free(u->results);
	u->on_span = NULL;
	user_events_close(u);
	while ((row = table_next(&u->actors, sizeof(*row), row)))
		if (row->pointer)
			actor_free(row->pointer);
	for (size_t i = 0; i < u->nr_events; i++) {
		table_clear(&u->events[i]->interval.buckets);
		free(u->events[i]);
	}
	for (size_t i = 0; i < u->nr_spans; i++) {
		table_clear(&u->spans[i]->elapsed.buckets);
		table_clear(&u->spans[i]->waits);
		free(u->spans[i]);
	}
	free(u->events);
	free(u->spans);
	free(u->kinds);
	strings_clear(&u->strings);
	for (struct stretch *stretch; (stretch = u->spare); free(stretch))
		u->spare = stretch->older;
	pointers_free(&u->programs);
	table_clear(&u->actors);
	table_clear(&u->requests);
	table_clear(&u->by_thread);
	table_clear(&u->lossy);
	table_clear(&u->event_index);
	table_clear(&u->span_index);
	free(u);
	return NULL;
}
