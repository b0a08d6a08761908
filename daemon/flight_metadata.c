/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flight_metadata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define NOTES_BYTES  (1u << 20)
#define NOTES_MISSED 4096 /* pairs of (event, time). If full, the oldest is added to @earlier of its event */

/**
 * struct note - a metadata event. @number: counts all events ever added, from 1, so that a hole in
 * the numbers shows how many were lost
 */
struct note {
	struct note *next; /* owned */
	uint64_t number;
	uint64_t ts_ns;
	size_t bytes; /* of memory */
	uint16_t id;
	uint16_t payload_bytes;
	bool has_text;
	char payload[]; /* followed by the text */
};

struct missed {
	uint64_t ts_ns;
	uint64_t count;
	uint32_t event;
};

/**
 * struct flight_notes - all metadata events
 * @first: the list, oldest first
 * @mask, @select: the last events of these kinds that were dropped from the list
 * @missed: a ring of the latest missed events; @nr_missed were ever put into it
 * @reported: the tracer's count of missed events at the last flight_notes_missed(), for each event
 * @earlier: the part of @reported that is no longer in the ring
 */
struct flight_notes {
	struct note *first; /* owned */
	struct note **end;
	struct note *mask;   /* owned; NULL: none was dropped */
	struct note *select; /* owned; as @mask */
	size_t bytes;
	uint64_t nr; /* events added ever */
	struct missed missed[NOTES_MISSED];
	uint64_t nr_missed;
	uint64_t reported[TRACE_EV_MAX];
	uint64_t earlier[TRACE_EV_MAX];
};

struct flight_notes *flight_notes_new(void)
{
	struct flight_notes *notes = calloc(1, sizeof(*notes));

	if (notes)
		notes->end = &notes->first;
	return notes;
}

static void drop_all(struct flight_notes *notes)
{
	while (notes->first) {
		struct note *note = notes->first;

		notes->first = note->next;
		free(note);
	}
	free(notes->mask);
	free(notes->select);
	notes->mask = notes->select = NULL;
	notes->end = &notes->first;
	notes->bytes = 0;
	notes->nr = 0;
	notes->nr_missed = 0;
}

struct flight_notes *flight_notes_free(struct flight_notes *notes)
{
	if (notes)
		drop_all(notes);
	free(notes);
	return NULL;
}

void flight_notes_reset(struct flight_notes *notes, const struct tracer *tracer)
{
	drop_all(notes);
	memset(notes->earlier, 0, sizeof(notes->earlier));
	for (uint32_t id = 1; id < TRACE_EV_MAX; id++)
		notes->reported[id] = tracer ? tracer_missed(tracer, id) : 0;
}

/* Drops the oldest event. A mask or selection replaces the one that was dropped before it. */
static void drop_oldest(struct flight_notes *notes)
{
	struct note *note = notes->first;
	struct note **place = note->id == TRACE_EV_trace_mask	  ? &notes->mask
			      : note->id == TRACE_EV_trace_select ? &notes->select
								  : NULL;

	notes->first = note->next;
	if (!notes->first)
		notes->end = &notes->first;
	notes->bytes -= note->bytes;
	if (place) {
		free(*place);
		*place = note;
	} else {
		free(note);
	}
}

void flight_notes_add(struct flight_notes *notes, uint16_t id, const void *payload, size_t payload_bytes,
		      const char *text)
{
	size_t text_bytes = text ? strnlen(text, TRACE_RECORD_MAX_BYTES) + 1 : 0,
	       bytes = sizeof(struct note) + payload_bytes + text_bytes;
	struct note *note = calloc(1, bytes);

	notes->nr++;
	if (!note)
		return; /* counted as lost, because its number is missing */
	note->number = notes->nr;
	note->ts_ns = clock_now();
	note->bytes = bytes;
	note->id = id;
	note->payload_bytes = (uint16_t)payload_bytes;
	note->has_text = text;
	if (payload_bytes)
		memcpy(note->payload, payload, payload_bytes);
	if (text)
		memcpy(note->payload + payload_bytes, text, text_bytes - 1);
	*notes->end = note;
	notes->end = &note->next;
	notes->bytes += bytes;
	while (notes->bytes > NOTES_BYTES)
		drop_oldest(notes);
}

void flight_notes_missed(struct flight_notes *notes, const struct tracer *tracer)
{
	uint64_t now_ns = clock_now();

	for (uint32_t id = 1; tracer && id < TRACE_EV_MAX; id++) {
		uint64_t missed = tracer_missed(tracer, id);
		struct missed *place;

		if (missed <= notes->reported[id])
			continue;
		place = &notes->missed[notes->nr_missed % NOTES_MISSED];
		if (notes->nr_missed++ >= NOTES_MISSED)
			notes->earlier[place->event] += place->count;
		*place = (struct missed){.ts_ns = now_ns, .count = missed - notes->reported[id], .event = id};
		notes->reported[id] = missed;
	}
}

/* ---- writing the snapshot ---- */

/**
 * struct writing - state of flight_notes_write(): the next event, and the next entry of the missed
 * ring
 */
struct writing {
	const struct flight_notes *notes;
	int (*push)(void *context, const struct own_records *block, uint64_t lost);
	void *context;
	const struct note *before[2]; /* the dropped mask and selection, oldest first; NULL: no more */
	const struct note *next;
	uint64_t next_missed;
	uint64_t nr_written;
	struct flight_notes_totals totals;
};

static const struct note *note_next(const struct writing *writing)
{
	return writing->before[0] ? writing->before[0] : writing->next;
}

static void note_done(struct writing *writing)
{
	if (!writing->before[0]) {
		writing->next = writing->next->next;
		return;
	}
	writing->before[0] = writing->before[1];
	writing->before[1] = NULL;
}

static int write_note(struct writing *writing)
{
	const struct note *note = note_next(writing);
	struct own_records block = {0};
	int err = own_records_add_event(&block, note->id, note->payload_bytes ? note->payload : NULL,
					note->payload_bytes,
					note->has_text ? note->payload + note->payload_bytes : NULL, note->ts_ns);

	writing->totals.lost = note->number - 1 - writing->nr_written++;
	if (!err)
		err = writing->push(writing->context, &block, writing->totals.lost);
	own_records_release(&block);
	note_done(writing);
	return err;
}

static int add_missed(struct writing *writing, struct own_records *block, uint32_t event, uint64_t count,
		      uint64_t ts_ns)
{
	struct trace_trace_missed payload = {.count = count, .event = event};

	writing->totals.missed += count;
	return count ? own_records_add_event(block, TRACE_EV_trace_missed, &payload, sizeof(payload), NULL, ts_ns) : 0;
}

static const struct missed *missed_next(const struct writing *writing)
{
	const struct flight_notes *notes = writing->notes;

	return writing->next_missed < notes->nr_missed ? &notes->missed[writing->next_missed % NOTES_MISSED] : NULL;
}

/*
 * Writes all missed events of one time. The first block also has the sums of those no longer in the
 * ring.
 */
static int write_missed(struct writing *writing, bool is_first)
{
	uint64_t ts_ns = missed_next(writing)->ts_ns;
	const struct missed *missed;
	struct own_records block = {0};
	int err = 0;

	for (uint32_t id = 1; is_first && !err && id < TRACE_EV_MAX; id++)
		err = add_missed(writing, &block, id, writing->notes->earlier[id], ts_ns);
	for (; !err && (missed = missed_next(writing)) && missed->ts_ns == ts_ns; writing->next_missed++)
		err = add_missed(writing, &block, missed->event, missed->count, ts_ns);
	if (!err)
		err = writing->push(writing->context, &block, writing->totals.lost);
	own_records_release(&block);
	return err;
}

int flight_notes_write(const struct flight_notes *notes,
		       int (*push)(void *context, const struct own_records *block, uint64_t lost), void *context,
		       struct flight_notes_totals *ret_totals)
{
	bool select_is_older = notes->select && (!notes->mask || notes->select->number < notes->mask->number);
	struct writing writing = {.notes = notes, .push = push, .context = context, .next = notes->first};
	bool is_first = true;
	int err = 0;

	writing.before[0] = select_is_older ? notes->select : notes->mask;
	writing.before[1] = !writing.before[0] ? NULL : select_is_older ? notes->mask : notes->select;
	writing.next_missed = notes->nr_missed > NOTES_MISSED ? notes->nr_missed - NOTES_MISSED : 0;
	while (!err && (note_next(&writing) || missed_next(&writing))) {
		const struct note *note = note_next(&writing);
		const struct missed *missed = missed_next(&writing);

		if (note && (!missed || note->ts_ns <= missed->ts_ns)) {
			err = write_note(&writing);
			continue;
		}
		err = write_missed(&writing, is_first);
		is_first = false;
	}
	writing.totals.lost = notes->nr - writing.nr_written;
	*ret_totals = writing.totals;
	return err;
}
