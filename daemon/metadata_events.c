/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "metadata_events.h"

#include <trace/saturate.h>

static void add(struct metadata_events *metadata, uint16_t id, const void *payload, size_t bytes, const char *text)
{
	uint64_t now_ns = clock_now();

	if (!own_records_fit(&metadata->block, TRACE_RECORD_MAX_BYTES, now_ns) ||
	    own_records_add_event(&metadata->block, id, payload, bytes, text, now_ns))
		metadata->lost++;
}

void metadata_begin(struct metadata_events *metadata, const struct tracer *tracer)
{
	for (uint32_t id = 1; id < TRACE_EV_MAX; id++)
		metadata->missed[id] = tracer_missed(tracer, id);
}

void metadata_mask(struct metadata_events *metadata, const uint64_t mask[TRACE_MASK_WORDS])
{
	struct trace_trace_mask note = {.mask0 = mask[0], .mask1 = mask[1], .mask2 = mask[2], .mask3 = mask[3]};

	add(metadata, TRACE_EV_trace_mask, &note, sizeof(note), NULL);
}

/* It is earlier than other events of the stream, and has a block of its own. */
int metadata_heartbeat(struct metadata_events *metadata, const struct clock_sample *flush, struct trace_writer *writer,
		       struct writer_thread *thread)
{
	struct trace_trace_heartbeat note = {.realtime_ns = flush->realtime_ns};
	int err;

	metadata_push(metadata, writer, thread);
	err = own_records_add_event(&metadata->block, TRACE_EV_trace_heartbeat, &note, sizeof(note), NULL,
				    flush->monotonic_ns);
	metadata->lost += err != 0;
	metadata_push(metadata, writer, thread);
	return err;
}

void metadata_mark(struct metadata_events *metadata, const char *text)
{
	add(metadata, TRACE_EV_trace_mark, NULL, 0, text);
}

void metadata_select(struct metadata_events *metadata, const char *text)
{
	add(metadata, TRACE_EV_trace_select, NULL, 0, text);
}

void metadata_state_again(struct metadata_events *metadata, bool done)
{
	struct trace_start_again note = {.done = done};

	add(metadata, TRACE_EV_start_again, &note, sizeof(note), NULL);
}

int metadata_record(struct metadata_events *metadata, const struct trace_record *record, size_t bytes, uint64_t ts_ns,
		    struct trace_writer *writer, struct writer_thread *thread)
{
	int err;

	if (!own_records_fit(&metadata->block, bytes, ts_ns))
		metadata_push(metadata, writer, thread);
	err = own_records_add(&metadata->block, record, bytes, ts_ns);
	if (err)
		metadata->lost++;
	return err;
}

void metadata_code_map(struct metadata_events *metadata, const struct tracer_code_map *map, struct trace_writer *writer,
		       struct writer_thread *thread)
{
	if (!own_records_fit(&metadata->block, TRACE_RECORD_MAX_BYTES, map->ts_ns))
		metadata_push(metadata, writer, thread);
	if (own_records_add_event(&metadata->block, TRACE_EV_fs_map, &map->map, sizeof(map->map), map->path,
				  map->ts_ns))
		metadata->lost++;
}

void metadata_missed(struct metadata_events *metadata, const struct tracer *tracer)
{
	struct trace_trace_missed note = {0};
	uint64_t missed;

	for (uint32_t id = 1; id < TRACE_EV_MAX; id++) {
		missed = tracer_missed(tracer, id);
		if (missed <= metadata->missed[id])
			continue;
		note.event = id;
		note.count = missed - metadata->missed[id];
		add(metadata, TRACE_EV_trace_missed, &note, sizeof(note), NULL);
		metadata->missed_total += note.count;
		metadata->missed[id] = missed;
	}
}

void metadata_lose(struct metadata_events *metadata, uint64_t nr, uint64_t claimed)
{
	metadata->lost = trace_add_saturated(metadata->lost, nr);
	metadata->claimed = trace_add_saturated(metadata->claimed, claimed);
}

void metadata_push(struct metadata_events *metadata, struct trace_writer *writer, struct writer_thread *thread)
{
	struct trace_source source = own_records_source(&metadata->block, TRACE_CHUNK_EVENTS, OWN_STREAM_DAEMON,
							metadata->blocks + 1);
	struct trace_packed *packed;

	if (!source.nr_records)
		return;
	source.lost_total = metadata->lost;
	packed = trace_writer_pack(writer, &source, NULL);
	if (packed && writer_thread_push(thread, packed, source.nr_records, &metadata->abandoned) == 0) {
		metadata->blocks++;
		metadata->stored += source.nr_records;
	} else {
		metadata->lost = trace_add_saturated(metadata->lost, source.nr_records);
	}
	own_records_clear(&metadata->block);
}

void metadata_statistics(const struct metadata_events *metadata, struct trace_stream_stats *ret_stats)
{
	struct trace_stream_stats stats = {
		.stream = OWN_STREAM_DAEMON,
		.stored = metadata->stored - metadata->abandoned,
		.discarded = trace_add_saturated(metadata->lost, metadata->abandoned),
		.missed = metadata->missed_total,
		.claimed = metadata->claimed,
	};

	stats.attempted = trace_add_saturated(stats.stored + stats.missed, stats.discarded);
	*ret_stats = stats;
}

void metadata_release(struct metadata_events *metadata)
{
	own_records_release(&metadata->block);
}
