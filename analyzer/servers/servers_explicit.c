/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_explicit.c - requests that programs name themselves: trace_request_begin(), _handoff(),
 * _end()
 *
 * System calls do not show which of the requests that it read a thread works on now, or when a
 * request goes from thread to thread through memory. A program can say it. The first begin of a
 * number takes the latest request of the thread that has no number yet. From then on the number
 * stands for that request, on whatever thread it begins again, until it ends.
 *
 * Example: a thread reads requests R1 and R2. begin(7) takes R2, and the thread is billed to R2
 * alone. handoff(7) returns the thread to R1. Another thread calls begin(7), and its time is for R2
 * until end(7).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "servers_state.h"

/* A number of a program that stands for a request. */
struct naming {
	struct servers_process *process;
	string_id name;		       /* the common part of the names of the three events */
	uint64_t id;		       /* the number */
	struct set *set;	       /* the request that the number stands for; NULL: no known request */
	struct servers_thread *thread; /* the thread that works on it; NULL: none */
	struct set *others;	       /* the other requests that the thread worked on when it began this one */
	struct naming *next_same_hash;
	struct naming *next, *prev; /* in the list of the process */
};

struct naming_row {
	uint64_t key;
	struct naming *first; /* owned, with all that next_same_hash leads to */
};

static uint64_t naming_key(const struct servers_process *process, string_id name, uint64_t id)
{
	return hash_u64(hash_u64(hash_u64((uintptr_t)process) ^ name) ^ id) | 1;
}

static struct naming **naming_find(struct servers_explicit *explicit, const struct servers_process *process,
				   string_id name, uint64_t id)
{
	struct naming_row *row = table_find(&explicit->namings, sizeof(*row), naming_key(process, name, id));
	struct naming **at = row ? &row->first : NULL;

	while (at && *at && !((*at)->process == process && (*at)->name == name && (*at)->id == id))
		at = &(*at)->next_same_hash;
	return at;
}

static struct naming *naming_new(struct trace_servers *s, struct servers_process *process, string_id name, uint64_t id)
{
	struct naming_row *row = table_add(&s->explicit.namings, sizeof(*row), naming_key(process, name, id));
	struct naming *naming = row ? calloc(1, sizeof(*naming)) : NULL;

	if (!naming) {
		s->failed = -ENOMEM;
		return NULL;
	}
	naming->process = process;
	naming->name = name;
	naming->id = id;
	naming->next_same_hash = row->first;
	row->first = naming;
	naming->next = process->namings;
	if (naming->next)
		naming->next->prev = naming;
	process->namings = naming;
	return naming;
}

static void naming_remove(struct servers_explicit *explicit, struct naming *naming)
{
	uint64_t key = naming_key(naming->process, naming->name, naming->id);
	struct naming_row *row = table_find(&explicit->namings, sizeof(*row), key);
	struct naming **at = &row->first;

	while (*at != naming)
		at = &(*at)->next_same_hash;
	*at = naming->next_same_hash;
	if (!row->first)
		table_remove(&explicit->namings, sizeof(*row), key);
	if (naming->next)
		naming->next->prev = naming->prev;
	if (naming->prev)
		naming->prev->next = naming->next;
	else
		naming->process->namings = naming->next;
	set_unref(naming->set);
	set_unref(naming->others);
	free(naming);
}

/* The thread returns to its other requests. */
static void naming_leave(struct trace_servers *s, struct naming *naming)
{
	struct servers_thread *thread = naming->thread;
	struct cpu_time now;

	if (!thread)
		return;
	now = servers_cpu_time(s, thread);
	if (thread->set != naming->set) /* it has looked for work since, or received more */
		set_assign(&naming->others, thread->set);
	set_drop(&s->sets, &naming->others, naming->set);
	bill_replace_set(s, thread, naming->others, &now);
	thread->named = NULL;
	set_assign(&naming->others, NULL);
	naming->thread = NULL;
}

static void naming_take_latest(struct trace_servers *s, struct naming *naming, const struct set *set)
{
	for (uint32_t i = set ? set->nr : 0; i > 0 && !naming->set; i--)
		if (!set->items[i - 1]->has_number) {
			set->items[i - 1]->has_number = true;
			set_put(&s->sets, &naming->set, set->items[i - 1]);
		}
}

static void naming_begin(struct trace_servers *s, struct servers_thread *thread, string_id name, uint64_t id)
{
	struct naming **at = naming_find(&s->explicit, thread->process, name, id);
	struct naming *naming = at && *at ? *at : naming_new(s, thread->process, name, id);
	struct cpu_time now = servers_cpu_time(s, thread);

	if (!naming || naming->thread == thread)
		return;
	naming_leave(s, naming);
	if (!naming->set)
		naming_take_latest(s, naming, thread->set);
	naming->thread = thread;
	set_assign(&naming->others, thread->set);
	bill_replace_set(s, thread, naming->set, &now);
	thread->named = naming->set;
}

/* Returns the part of the name that the three events of a request have in common. */
static string_id common_name(struct trace_servers *s, const struct trace_event_type *type)
{
	char *text = strndup(type->name, trace_type_stem(type));
	string_id id = text ? strings_intern(&s->strings, text) : 0;

	free(text);
	return id;
}

void explicit_event(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_field *field = trace_type_first_field(event->type);
	struct servers_thread *thread;
	struct naming **at;
	string_id name;
	uint64_t id;

	if (event->type->role < TRACE_ROLE_REQUEST_BEGIN || event->type->role > TRACE_ROLE_REQUEST_HANDOFF || !field)
		return;
	thread = servers_thread_of(s, trace_event_thread(s->analysis, event));
	if (!thread || event->ts_ns < thread->process->numbers_unknown_until_ns)
		return;
	name = common_name(s, event->type);
	id = trace_event_u64(event, field);
	if (event->type->role == TRACE_ROLE_REQUEST_BEGIN) {
		naming_begin(s, thread, name, id);
		return;
	}
	at = naming_find(&s->explicit, thread->process, name, id);
	if (!at || !*at)
		return;
	naming_leave(s, *at);
	if (event->type->role == TRACE_ROLE_REQUEST_END)
		naming_remove(&s->explicit, *at);
}

void explicit_events_lost(struct trace_servers *s, struct servers_process *process, uint64_t until_ns)
{
	if (until_ns > process->numbers_unknown_until_ns)
		process->numbers_unknown_until_ns = until_ns;
	while (process->namings) {
		struct servers_thread *thread = process->namings->thread;

		naming_remove(&s->explicit, process->namings);
		if (!thread)
			continue;
		/*
		 * also for the time since its last bill: the number may have ended right after that
		 */
		thread->named = NULL;
		set_assign(&thread->turn, NULL);
		set_assign(&thread->set, NULL);
		set_assign(&thread->passed, NULL);
		log_set(s, thread);
		log_correct_set(thread);
		bill_now(s, thread);
	}
}

void explicit_drop(struct servers_explicit *explicit)
{
	for (const struct naming_row *row = NULL; (row = table_next(&explicit->namings, sizeof(*row), row));)
		for (struct naming *naming = row->first, *next; naming; naming = next) {
			next = naming->next_same_hash;
			naming->process->namings = NULL;
			set_unref(naming->set);
			set_unref(naming->others);
			free(naming);
		}
	table_clear(&explicit->namings);
}
