/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* part_context.c - the events of calls and interrupts in progress: part_context.h. */
#include "chunk.h"
#include "part_context.h"
#include "trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t part_count(struct part_choice *choice)
{
	if (choice->nr / 64 >= choice->room) {
		size_t room = choice->room * 2 + 1024;
		uint64_t *bits = choice->failed ? NULL : reallocarray(choice->bits, room, sizeof(*bits));

		if (!bits) {
			choice->failed = true;
			return 0;
		}
		memset(bits + choice->room, 0, (room - choice->room) * sizeof(*bits));
		choice->bits = bits;
		choice->room = room;
	}
	return choice->nr++;
}

void part_keep(struct part_choice *choice, uint64_t event)
{
	if (event < choice->nr)
		choice->bits[event / 64] |= 1ull << event % 64;
}

void context_add(struct part_choice *choice, struct part_context *context, uint64_t event)
{
	if (context->nr == context->room) {
		size_t room = context->room * 2 + 8;
		uint64_t *events = reallocarray(context->events, room, sizeof(*events));

		if (!events) {
			choice->failed = true;
			return;
		}
		context->events = events;
		context->room = room;
	}
	context->events[context->nr++] = event;
}

void context_clear(struct part_context *context)
{
	context->nr = 0;
	context->is_kept = false;
}

void context_keep(struct part_choice *choice, struct part_context *context)
{
	for (size_t i = 0; i < context->nr; i++)
		part_keep(choice, context->events[i]);
	context->is_kept |= context->depth > 0;
}

struct part_context *context_thread(struct part_choice *choice, struct hash_table *threads, uint32_t tid)
{
	struct part_thread_row *row = tid ? table_add(threads, sizeof(*row), tid + 1ull) : NULL;

	if (row && !row->context && (row->context = calloc(1, sizeof(*row->context))))
		row->context->is_new = row->context->is_at_start = true;
	if (tid && (!row || !row->context))
		choice->failed = true;
	return row ? row->context : NULL;
}

int part_losses_of(const struct trace *trace, struct part_losses *ret_losses)
{
	struct hash_table streams = {0};
	struct part_losses losses = {.at = calloc(trace->nr_chunks + 1, sizeof(*losses.at))};
	bool failed = !losses.at;

	for (size_t i = 0; !failed && i < trace->nr_chunks; i++) {
		struct part_stream *stream;
		struct trace_chunk_header header;
		struct chunk chunk;

		chunk_make(trace, i, &chunk);
		if (chunk.public.kind != TRACE_CHUNK_EVENTS)
			continue;
		stream = table_add(&streams, sizeof(*stream), chunk.public.stream + 1ull);
		failed = !stream;
		header = chunk_header_copy(trace, &chunk);
		if (!failed && header.lost_before)
			losses.at[losses.nr++] = (struct part_loss){chunk.public.stream, header.lost_cause, stream->nr,
								    header.lost_before};
		if (!failed)
			stream->nr += chunk.public.events;
	}
	table_clear(&streams);
	if (failed)
		free(losses.at);
	else
		*ret_losses = losses;
	return failed ? -ENOMEM : 0;
}

const struct part_loss *part_loss_next(const struct part_losses *losses, struct part_stream *stream)
{
	for (; stream->next_loss < losses->nr; stream->next_loss++) {
		const struct part_loss *loss = &losses->at[stream->next_loss];

		if (loss->stream + 1ull != stream->key)
			continue;
		if (loss->before != stream->nr)
			break;
		stream->next_loss++;
		return loss;
	}
	return NULL;
}
