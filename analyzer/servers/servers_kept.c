/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_kept.c - each request with its times and its part of the bill
 *
 * Example: a thread reads request 1 of client A at 100 us, request 2 of A at 200 us, and answers
 * both at 600 us. The bill of A is 500 us. Request 1 has 100 us and half of the other 400 us: 300
 * us, of which 100 us are proven. Request 2 has 200 us, and nothing is proven.
 */
#include "servers_kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "servers_state.h"

struct servers_kept *kept_new(size_t max)
{
	struct servers_kept *kept = calloc(1, sizeof(*kept));

	if (kept)
		kept->max = max < UINT32_MAX / 2 ? (uint32_t)max : UINT32_MAX / 2;
	return kept;
}

static void drop(struct servers_kept *kept, int error)
{
	free(kept->items);
	free(kept->order);
	free(kept->parts);
	*kept = (struct servers_kept){.failed = error};
}

struct servers_kept *kept_free(struct servers_kept *kept)
{
	if (kept)
		drop(kept, 0);
	free(kept);
	return NULL;
}

/* NULL: it is not kept. */
static struct kept_request *kept_numbered(const struct trace_servers *s, uint32_t number)
{
	return s->kept && number && number <= s->kept->nr ? &s->kept->items[number - 1] : NULL;
}

static struct kept_request *kept_of(const struct trace_servers *s, const struct server_request *request)
{
	return kept_numbered(s, request->kept);
}

static bool has_room(struct servers_kept *kept)
{
	uint32_t more = kept->room ? kept->room * 2 : 64;
	struct kept_request *items;

	if (kept->nr >= kept->max) {
		drop(kept, -E2BIG);
		return false;
	}
	if (kept->nr < kept->room)
		return true;
	items = reallocarray(kept->items, more, sizeof(*items));
	if (!items) {
		drop(kept, -ENOMEM);
		return false;
	}
	kept->items = items;
	kept->room = more;
	return true;
}

void kept_made(struct trace_servers *s, const struct servers_process *process, struct server_request *request)
{
	struct servers_kept *kept = s->kept;

	if (!kept || kept->failed || !has_room(kept))
		return;
	kept->items[kept->nr++] = (struct kept_request){.process = process, .origin = request->origin};
	request->kept = kept->nr;
}

void kept_counted(struct trace_servers *s, const struct servers_process *process, const struct server_request *request)
{
	struct kept_request *kept = request->counted ? NULL : kept_of(s, request);

	if (!kept)
		return;
	kept->counted = true;
	if (kept->process != process)
		kept->billed = kept->outside = 0; /* its connection was accepted by another one */
	kept->process = process;
	if (!kept->from_ns)
		kept->from_ns = trace_analysis_now(s->analysis);
}

void kept_mistaken(struct trace_servers *s, const struct server_request *request)
{
	struct kept_request *kept = kept_of(s, request);

	if (kept)
		kept->counted = false;
}

/* ---- its window ---- */

static uint64_t less(uint64_t from, uint64_t ns)
{
	return from > ns ? from - ns : 0;
}

void kept_has(struct trace_servers *s, const struct servers_thread *thread, const struct server_request *request)
{
	struct kept_request *kept = thread ? kept_of(s, request) : NULL;

	if (kept && !kept->thread)
		kept->thread = thread->thread;
}

void kept_begins(struct trace_servers *s, const struct servers_process *process, const struct servers_thread *thread,
		 const struct server_request *request, uint64_t early)
{
	struct kept_request *kept = kept_of(s, request);

	if (!kept)
		return;
	kept->open = true;
	kept->all_from = less(process->counted, early);
	kept->unheld_from = less(process->unheld, early);
	kept_has(s, thread, request);
}

void kept_had(struct trace_servers *s, const struct server_request *request, uint64_t ns)
{
	struct kept_request *kept = kept_of(s, request);

	if (kept)
		kept->held += ns;
}

void kept_ends(struct trace_servers *s, const struct servers_thread *thread, const struct server_request *request,
	       enum trace_request_end end)
{
	struct kept_request *kept = kept_of(s, request);

	/* an answer shows that it was open, although that was not known */
	if (!kept || (kept->to_ns && (kept->end != TRACE_REQUEST_UNKNOWN || end != TRACE_REQUEST_ANSWERED)))
		return;
	kept->to_ns = trace_analysis_now(s->analysis);
	kept->end = (uint8_t)end;
	if (!kept->from_ns)
		kept->from_ns = kept->to_ns; /* an answer to a connection, before any data */
	if (end == TRACE_REQUEST_ANSWERED)
		kept->answerer = thread->thread;
}

void kept_closes(struct trace_servers *s, const struct servers_process *process, const struct server_request *request)
{
	struct kept_request *kept = kept_of(s, request);

	if (!kept)
		return;
	kept->open = false;
	kept->all_to = process->counted;
	kept->unheld_to = process->unheld;
}

void kept_reopens(struct trace_servers *s, const struct servers_process *process, const struct server_request *request,
		  uint64_t ns)
{
	struct kept_request *kept = kept_of(s, request);

	if (!kept)
		return;
	if (!kept->all_to && !kept->open) { /* it had no window */
		kept->all_from = process->counted;
		kept->unheld_from = process->unheld;
	}
	kept->open = true;
	kept->held += ns;
}

/* ---- bills ---- */

static void bill(struct kept_request *kept, const struct servers_process *process, uint64_t ns, uint64_t whole)
{
	if (!kept || kept->process != process)
		return; /* a child does the work: it is in the child's bill */
	kept->billed += ns;
	if (!kept->open)
		kept->outside += whole;
}

void kept_bill_one(struct trace_servers *s, const struct servers_process *process, const struct server_request *request,
		   uint64_t ns)
{
	bill(kept_of(s, request), process, ns, ns);
}

/* Room for all origins. */
static bool has_parts(struct trace_servers *s)
{
	struct kept_part *parts;

	if (s->kept->nr_parts >= s->origins.nr)
		return true;
	parts = reallocarray(s->kept->parts, 2ul * s->origins.nr, sizeof(*parts));
	if (!parts) {
		drop(s->kept, -ENOMEM);
		return false;
	}
	s->kept->parts = parts;
	s->kept->nr_parts = 2 * s->origins.nr;
	return true;
}

/* An origin's part is divided evenly among its requests: each takes its part of what is left. */
void kept_bill_several(struct trace_servers *s, const struct servers_process *process, const struct set *set,
		       const uint32_t *origins, uint32_t nr, uint32_t at, uint64_t ns)
{
	struct kept_part *parts;

	if (!s->kept || s->kept->failed || !has_parts(s))
		return;
	parts = s->kept->parts;
	for (uint32_t i = 0; i < nr; i++, at = at + 1 < nr ? at + 1 : 0)
		parts[origins[at]] = (struct kept_part){.ns = ns / nr + (i < ns % nr)};
	for (uint32_t i = 0; i < set->nr; i++)
		parts[set->items[i]->origin].nr++;
	for (uint32_t i = 0; i < set->nr; i++) {
		struct kept_part *part = &parts[set->items[i]->origin];
		uint64_t own = part->ns / part->nr;

		part->ns -= own;
		part->nr--;
		bill(kept_of(s, set->items[i]), process, own, ns);
	}
}

void kept_named(struct trace_servers *s, const struct server_request *request, uint64_t ns)
{
	struct kept_request *kept = kept_of(s, request);

	if (kept)
		kept->named += ns;
}

/* ---- proofs ---- */

void kept_proves(struct trace_servers *s, struct proof_taken *taken)
{
	struct kept_request *kept = kept_numbered(s, taken->kept);

	if (kept && !kept->proven.apart)
		kept->doubter = taken->doubter;
	if (!kept || kept->doubter != taken->doubter) {
		taken->own = (struct proof){0};
		return;
	}
	kept->proven.alone += taken->own.alone;
	kept->proven.apart += taken->own.apart;
}

void kept_refutes(struct trace_servers *s, struct proof_taken *taken)
{
	struct kept_request *kept = kept_numbered(s, taken->kept);

	if (!kept)
		return;
	kept->proven.alone -= taken->own.alone;
	kept->proven.apart -= taken->own.apart;
	taken->own = (struct proof){0};
}

void kept_refutes_all(struct trace_servers *s, struct servers_process *process)
{
	if (s->kept)
		process->kept_refuted = s->kept->nr;
}
