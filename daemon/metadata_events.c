/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "metadata_events.h"

#include <trace/saturate.h>

static void add(struct notes *notes, uint16_t id, const void *payload, size_t bytes, const char *text)
{
	uint64_t now_ns = clock_now();

	if (!own_records_fit(&notes->block, TRACE_RECORD_MAX_BYTES, now_ns) ||
	    own_records_add_event(&notes->block, id, payload, bytes, text, now_ns))
		notes->lost++;
}

void notes_begin(struct notes *notes, const struct tracer *tracer)
{
	for (uint32_t id = 1; id < TRACE_EV_MAX; id++)
		notes->missed[id] = tracer_missed(tracer, id);
}

void notes_mask(struct notes *notes, const uint64_t mask[TRACE_MASK_WORDS])
{
	struct trace_trace_mask note = {.mask0 = mask[0], .mask1 = mask[1], .mask2 = mask[2], .mask3 = mask[3]};

	add(notes, TRACE_EV_trace_mask, &note, sizeof(note), NULL);
}

void notes_heartbeat(struct notes *notes, const struct clock_sample *now)
{
	struct trace_trace_heartbeat note = {.realtime_ns = now->realtime_ns};

	add(notes, TRACE_EV_trace_heartbeat, &note, sizeof(note), NULL);
}

void notes_mark(struct notes *notes, const char *text)
{
	add(notes, TRACE_EV_trace_mark, NULL, 0, text);
}

void notes_select(struct notes *notes, const char *text)
{
	add(notes, TRACE_EV_trace_select, NULL, 0, text);
}

void notes_again(struct notes *notes, bool done)
{
	struct trace_start_again note = {.done = done};

	add(notes, TRACE_EV_start_again, &note, sizeof(note), NULL);
}

int notes_record(struct notes *notes, const struct trace_record *record, size_t bytes, uint64_t ts_ns,
		 struct trace_writer *writer, struct writer_thread *thread)
{
	int err;

	if (!own_records_fit(&notes->block, bytes, ts_ns))
		notes_push(notes, writer, thread);
	err = own_records_add(&notes->block, record, bytes, ts_ns);
	if (err)
		notes->lost++;
	return err;
}

void notes_missed(struct notes *notes, const struct tracer *tracer)
{
	struct trace_trace_missed note = {0};
	uint64_t missed;

	for (uint32_t id = 1; id < TRACE_EV_MAX; id++) {
		missed = tracer_missed(tracer, id);
		if (missed <= notes->missed[id])
			continue;
		note.event = id;
		note.count = missed - notes->missed[id];
		add(notes, TRACE_EV_trace_missed, &note, sizeof(note), NULL);
		notes->missed_total += note.count;
		notes->missed[id] = missed;
	}
}

void notes_lose(struct notes *notes, uint64_t nr)
{
	notes->lost = trace_add_saturated(notes->lost, nr);
}

void notes_push(struct notes *notes, struct trace_writer *writer, struct writer_thread *thread)
{
	struct trace_source source = own_records_source(&notes->block, TRACE_CHUNK_EVENTS, OWN_STREAM_DAEMON,
							notes->blocks + 1);
	struct trace_packed *packed;

	if (!source.nr_records)
		return;
	source.lost_total = notes->lost;
	packed = trace_writer_pack(writer, &source, NULL);
	if (packed && writer_thread_push(thread, packed, source.nr_records, &notes->abandoned) == 0) {
		notes->blocks++;
		notes->stored += source.nr_records;
	} else {
		notes->lost = trace_add_saturated(notes->lost, source.nr_records);
	}
	own_records_clear(&notes->block);
}

void notes_statistics(const struct notes *notes, struct trace_stream_stats *ret_stats)
{
	struct trace_stream_stats stats = {
		.stream = OWN_STREAM_DAEMON,
		.stored = notes->stored - notes->abandoned,
		.discarded = trace_add_saturated(notes->lost, notes->abandoned),
		.missed = notes->missed_total,
	};

	stats.attempted = trace_add_saturated(stats.stored + stats.missed, stats.discarded);
	*ret_stats = stats;
}

void notes_release(struct notes *notes)
{
	own_records_release(&notes->block);
}
