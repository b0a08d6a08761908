/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_parts.h"

#include <stdlib.h>
#include <string.h>
#include <trace/events.h>
#include "array_room.h"

enum {
	FIRST_PART = 16,
	FIRST_PART_OF_WAKER = 64,
	FIRST_PART_OF_EXIT = 128
};				/* trace_sample.source; the next parts have 1 more each */
enum { HAS_PARTS = 64 };	/* trace_sample.cut */
enum { MAX_CALLERS = 1 << 16 }; /* more than any recorder writes */

struct parts_row {
	uint64_t key;
	struct stack_parts *parts; /* owned */
};

bool stack_parts_is_part(const struct trace_event *event)
{
	return ((const struct trace_sample *)event->payload)->source >= FIRST_PART;
}

/* The source of the first part of a stack to which the sample or part of @source belongs. */
static uint32_t first_part(uint32_t source)
{
	if (source < FIRST_PART)
		return source == SOURCE_TIMER	? FIRST_PART
		       : source == SOURCE_WAKER ? FIRST_PART_OF_WAKER
						: FIRST_PART_OF_EXIT;
	return source < FIRST_PART_OF_WAKER  ? FIRST_PART
	       : source < FIRST_PART_OF_EXIT ? FIRST_PART_OF_WAKER
					     : FIRST_PART_OF_EXIT;
}

/* A timer or a wakeup may interrupt the exit of a call, so a thread has several of them. */
static uint64_t key_of(const struct trace_sample *sample)
{
	return ((uint64_t)sample->tid << 8 | first_part(sample->source)) + 1;
}

static struct stack_parts *parts_of(struct hash_table *rows, const struct trace_sample *sample)
{
	struct parts_row *row = table_add(rows, sizeof(*row), key_of(sample));

	if (row && !row->parts)
		row->parts = calloc(1, sizeof(*row->parts));
	return row ? row->parts : NULL;
}

static bool append(struct stack_parts *parts, const struct trace_sample *sample, const void *callers, uint32_t nr)
{
	while (parts->room < parts->nr + nr)
		if (!array_room((void **)&parts->callers, parts->room, &parts->room, sizeof(*parts->callers)))
			return false;
	if (nr)
		memcpy(parts->callers + parts->nr, callers, nr * sizeof(*parts->callers));
	if (parts->certain == parts->nr)
		parts->certain += sample->certain < nr ? sample->certain : nr;
	parts->nr += nr;
	parts->end = sample->cut;
	parts->next++;
	return true;
}

bool stack_parts_add(struct hash_table *rows, const struct trace_event *event)
{
	const struct trace_sample *sample = event->payload;
	struct stack_parts *parts = parts_of(rows, sample);
	uint32_t number = sample->source - first_part(sample->source);
	size_t bytes;
	const unsigned char *callers = trace_event_bytes(event, trace_type_field(event->type, "user"), &bytes);

	if (!parts)
		return false;
	if (!number)
		parts->nr = parts->certain = parts->next = 0;
	if (number != parts->next || parts->nr > MAX_CALLERS) {
		parts->next = 0;
		return true;
	}
	return append(parts, sample, callers, callers ? (uint32_t)(bytes / sizeof(uint64_t)) : 0);
}

const struct stack_parts *stack_parts_take(const struct hash_table *rows, const struct trace_event *event)
{
	const struct trace_sample *sample = event->payload;
	struct parts_row *row = table_find(rows, sizeof(*row), key_of(sample));
	bool is_whole = row && row->parts && row->parts->next;

	if (is_whole)
		row->parts->next = 0;
	return is_whole && (sample->cut & HAS_PARTS) ? row->parts : NULL;
}

void stack_parts_clear(struct hash_table *rows)
{
	struct parts_row *row = NULL;

	while ((row = table_next(rows, sizeof(*row), row))) {
		if (row->parts)
			free(row->parts->callers);
		free(row->parts);
	}
	table_clear(rows);
}
