/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flight_metadata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define METADATA_BYTES_MAX  (1u << 20)
#define METADATA_MISSED_MAX 4096 /* pairs of (event, time). If full, the oldest is added to @earlier of its event */

/**
 * struct flight_event - a metadata event. @number: counts all events ever added, from 1, so that a
 * hole in the numbers shows how many were lost
 */
struct flight_event {
	struct flight_event *next; /* owned */
	uint64_t number;
	uint64_t ts_ns;
	size_t bytes; /* of memory */
	uint16_t id;
	uint16_t payload_bytes;
	bool has_text;
	char payload[]; /* followed by the text */
};

struct flight_missed {
	uint64_t ts_ns;
	uint64_t count;
	uint32_t event;
};

/**
 * struct flight_metadata - all metadata events
 * @first: the list, oldest first
 * @mask, @select: the last events of these kinds that were dropped from the list
 * @missed: a ring of the latest missed events; @nr_missed were ever put into it
 * @reported: the tracer's count of missed events at the last flight_metadata_missed(), for each
 * event
 * @earlier: the part of @reported that is no longer in the ring
 */
struct flight_metadata {
	struct flight_event *first; /* owned */
	struct flight_event **end;
	struct flight_event *mask;   /* owned; NULL: none was dropped */
	struct flight_event *select; /* owned; as @mask */
	size_t bytes;
	uint64_t nr; /* events added ever */
	struct flight_missed missed[METADATA_MISSED_MAX];
	uint64_t nr_missed;
	uint64_t reported[TRACE_EV_MAX];
	uint64_t earlier[TRACE_EV_MAX];
};

struct flight_metadata *flight_metadata_new(void)
{
	struct flight_metadata *metadata = calloc(1, sizeof(*metadata));

	if (metadata)
		metadata->end = &metadata->first;
	return metadata;
}

static void drop_all(struct flight_metadata *metadata)
{
	while (metadata->first) {
		struct flight_event *event = metadata->first;

		metadata->first = event->next;
		free(event);
	}
	free(metadata->mask);
	free(metadata->select);
	metadata->mask = metadata->select = NULL;
	metadata->end = &metadata->first;
	metadata->bytes = 0;
	metadata->nr = 0;
	metadata->nr_missed = 0;
}

struct flight_metadata *flight_metadata_free(struct flight_metadata *metadata)
{
	if (metadata)
		drop_all(metadata);
	free(metadata);
	return NULL;
}

void flight_metadata_reset(struct flight_metadata *metadata, const struct tracer *tracer)
{
	drop_all(metadata);
	memset(metadata->earlier, 0, sizeof(metadata->earlier));
	for (uint32_t id = 1; id < TRACE_EV_MAX; id++)
		metadata->reported[id] = tracer ? tracer_missed(tracer, id) : 0;
}

/* Drops the oldest event. A mask or selection replaces the one that was dropped before it. */
static void drop_oldest(struct flight_metadata *metadata)
{
	struct flight_event *event = metadata->first;
	struct flight_event **slot = event->id == TRACE_EV_trace_mask	  ? &metadata->mask
				     : event->id == TRACE_EV_trace_select ? &metadata->select
									  : NULL;

	metadata->first = event->next;
	if (!metadata->first)
		metadata->end = &metadata->first;
	metadata->bytes -= event->bytes;
	if (slot) {
		free(*slot);
		*slot = event;
	} else {
		free(event);
	}
}

void flight_metadata_add(struct flight_metadata *metadata, uint16_t id, const void *payload, size_t payload_bytes,
			 const char *text)
{
	size_t text_bytes = text ? strnlen(text, TRACE_RECORD_MAX_BYTES) + 1 : 0,
	       bytes = sizeof(struct flight_event) + payload_bytes + text_bytes;
	struct flight_event *event = calloc(1, bytes);

	metadata->nr++;
	if (!event)
		return; /* counted as lost, because its number is missing */
	event->number = metadata->nr;
	event->ts_ns = clock_now();
	event->bytes = bytes;
	event->id = id;
	event->payload_bytes = (uint16_t)payload_bytes;
	event->has_text = text;
	if (payload_bytes)
		memcpy(event->payload, payload, payload_bytes);
	if (text)
		memcpy(event->payload + payload_bytes, text, text_bytes - 1);
	*metadata->end = event;
	metadata->end = &event->next;
	metadata->bytes += bytes;
	while (metadata->bytes > METADATA_BYTES_MAX)
		drop_oldest(metadata);
}

void flight_metadata_missed(struct flight_metadata *metadata, const struct tracer *tracer)
{
	uint64_t now_ns = clock_now();

	for (uint32_t id = 1; tracer && id < TRACE_EV_MAX; id++) {
		uint64_t missed = tracer_missed(tracer, id);
		struct flight_missed *slot;

		if (missed <= metadata->reported[id])
			continue;
		slot = &metadata->missed[metadata->nr_missed % METADATA_MISSED_MAX];
		if (metadata->nr_missed++ >= METADATA_MISSED_MAX)
			metadata->earlier[slot->event] += slot->count;
		*slot = (struct flight_missed){.ts_ns = now_ns, .count = missed - metadata->reported[id], .event = id};
		metadata->reported[id] = missed;
	}
}

/* ---- writing the snapshot ---- */

/**
 * struct flight_metadata_output - state of flight_metadata_write(): the next event, and the next
 * entry of the missed ring
 */
struct flight_metadata_output {
	const struct flight_metadata *metadata;
	int (*push)(void *context, const struct own_records *block, uint64_t lost);
	void *context;
	const struct flight_event *before[2]; /* the dropped mask and selection, oldest first; NULL: no more */
	const struct flight_event *next;
	uint64_t next_missed;
	uint64_t nr_written;
	struct flight_metadata_totals totals;
};

static const struct flight_event *next_event(const struct flight_metadata_output *output)
{
	return output->before[0] ? output->before[0] : output->next;
}

static void advance_event(struct flight_metadata_output *output)
{
	if (!output->before[0]) {
		output->next = output->next->next;
		return;
	}
	output->before[0] = output->before[1];
	output->before[1] = NULL;
}

static int write_event(struct flight_metadata_output *output)
{
	const struct flight_event *event = next_event(output);
	struct own_records block = {0};
	int err = own_records_add_event(&block, event->id, event->payload_bytes ? event->payload : NULL,
					event->payload_bytes,
					event->has_text ? event->payload + event->payload_bytes : NULL, event->ts_ns);

	output->totals.lost = event->number - 1 - output->nr_written++;
	if (!err)
		err = output->push(output->context, &block, output->totals.lost);
	own_records_release(&block);
	advance_event(output);
	return err;
}

static int add_missed(struct flight_metadata_output *output, struct own_records *block, uint32_t event, uint64_t count,
		      uint64_t ts_ns)
{
	struct trace_trace_missed payload = {.count = count, .event = event};

	output->totals.missed += count;
	return count ? own_records_add_event(block, TRACE_EV_trace_missed, &payload, sizeof(payload), NULL, ts_ns) : 0;
}

static const struct flight_missed *next_missed_event(const struct flight_metadata_output *output)
{
	const struct flight_metadata *metadata = output->metadata;

	return output->next_missed < metadata->nr_missed ? &metadata->missed[output->next_missed % METADATA_MISSED_MAX]
							 : NULL;
}

/*
 * Writes all missed events of one time. The first block also has the sums of those no longer in the
 * ring.
 */
static int write_missed(struct flight_metadata_output *output, bool is_first)
{
	uint64_t ts_ns = next_missed_event(output)->ts_ns;
	const struct flight_missed *missed;
	struct own_records block = {0};
	int err = 0;

	for (uint32_t id = 1; is_first && !err && id < TRACE_EV_MAX; id++)
		err = add_missed(output, &block, id, output->metadata->earlier[id], ts_ns);
	for (; !err && (missed = next_missed_event(output)) && missed->ts_ns == ts_ns; output->next_missed++)
		err = add_missed(output, &block, missed->event, missed->count, ts_ns);
	if (!err)
		err = output->push(output->context, &block, output->totals.lost);
	own_records_release(&block);
	return err;
}

int flight_metadata_write(const struct flight_metadata *metadata,
			  int (*push)(void *context, const struct own_records *block, uint64_t lost), void *context,
			  struct flight_metadata_totals *ret_totals)
{
	bool select_is_older = metadata->select &&
			       (!metadata->mask || metadata->select->number < metadata->mask->number);
	struct flight_metadata_output output = {
		.metadata = metadata, .push = push, .context = context, .next = metadata->first};
	bool is_first = true;
	int err = 0;

	output.before[0] = select_is_older ? metadata->select : metadata->mask;
	output.before[1] = !output.before[0] ? NULL : select_is_older ? metadata->mask : metadata->select;
	output.next_missed = metadata->nr_missed > METADATA_MISSED_MAX ? metadata->nr_missed - METADATA_MISSED_MAX : 0;
	while (!err && (next_event(&output) || next_missed_event(&output))) {
		const struct flight_event *event = next_event(&output);
		const struct flight_missed *missed = next_missed_event(&output);

		if (event && (!missed || event->ts_ns <= missed->ts_ns)) {
			err = write_event(&output);
			continue;
		}
		err = write_missed(&output, is_first);
		is_first = false;
	}
	output.totals.lost = metadata->nr - output.nr_written;
	*ret_totals = output.totals;
	return err;
}
