/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * part_write.c - a smaller trace with a part of the events of another one.
 *
 * The names, types, clocks, start state and losses are those of the trace; part_choice.c chooses
 * the events. Before an event that is kept, its CPU has the thread that it had then: if the switch
 * to it was left out, the copy has another one, at the time of the event.
 */
#include "catalogue.h"
#include "chunk.h"
#include "error_set.h"
#include "part_choice.h"
#include "part_context.h"
#include "trace.h"
#include "unpack.h"
#include "writer_chunk.h"
#include "writer_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
	BLOCK_BYTES = 1 << 20,
	BLOCK_SPAN_NS = 2000000000, /* a record has 32 bits of its time */
};

/**
 * struct part_block - the records of a stream that are not written yet
 * @lost_total: of the stream until now, @cause: of the loss before the block
 * @stored: events in the copy, minus those of the trace
 */
struct part_block {
	uint64_t key; /* stream + 1 */
	struct part_stream stream;
	struct writer_buffer records; /* owned */
	uint64_t base_ns, seq, lost_total;
	int64_t stored;
	uint32_t cpu, nr;
	uint16_t cause;
};

/**
 * struct part_switches - what a CPU does: @now in the trace, @copied in the copy; thread ids
 * @stream: the kernel's stream of the CPU + 1; 0: not known
 */
struct part_switches {
	uint32_t now, copied;
	uint64_t stream;
};

struct part_copy {
	const struct trace *trace;
	struct trace_writer *writer; /* owned */
	struct part_choice choice;
	struct part_losses losses;
	struct hash_table blocks; /* rows: key, and a pointer to a struct part_block */
	struct part_switches *cpus;
	uint32_t nr_cpus;
	struct trace_error *error;
	int failed;
};

struct block_row {
	uint64_t key;
	struct part_block *block; /* owned */
};

/* ---- blocks ---- */

static void block_write(struct part_copy *copy, struct part_block *block)
{
	struct trace_source source = {.records = block->records.data,
				      .bytes = block->records.bytes,
				      .base_ns = block->base_ns,
				      .seq = block->seq + 1,
				      .lost_total = block->lost_total,
				      .stream = (uint32_t)(block->key - 1),
				      .cpu = block->cpu,
				      .nr_records = block->nr,
				      .kind = TRACE_CHUNK_EVENTS,
				      .lost_cause = block->cause};
	struct trace_packed *packed;

	if (!block->nr || copy->failed)
		return;
	packed = trace_writer_pack(copy->writer, &source, copy->error);
	copy->failed = packed ? trace_writer_write(copy->writer, packed, copy->error) : -ENOMEM;
	block->seq++;
	block->nr = 0;
	block->records.bytes = 0;
}

static struct part_block *block_of(struct part_copy *copy, uint32_t stream, uint32_t cpu)
{
	struct block_row *row = table_add(&copy->blocks, sizeof(*row), stream + 1ull);

	if (row && !row->block && (row->block = calloc(1, sizeof(*row->block)))) {
		row->block->key = row->block->stream.key = stream + 1ull;
		row->block->cpu = cpu;
	}
	if (!row || !row->block)
		copy->failed = -ENOMEM;
	return row ? row->block : NULL;
}

static void block_add(struct part_copy *copy, struct part_block *block, uint64_t ts_ns, uint32_t id,
		      const void *payload, size_t bytes)
{
	size_t words = 1 + (bytes + 7) / 8;
	struct trace_record record = {.time = (uint32_t)ts_ns, .id = (uint16_t)id, .words = (uint8_t)words};
	unsigned char *at;

	if (words > TRACE_RECORD_MAX_BYTES / 8 || copy->failed) {
		copy->failed = copy->failed ? copy->failed : -ENOTSUP;
		return;
	}
	if (block->nr && (block->records.bytes + words * 8 > BLOCK_BYTES || ts_ns - block->base_ns > BLOCK_SPAN_NS))
		block_write(copy, block);
	at = writer_buffer_reserve(&block->records, words * 8);
	if (!at) {
		copy->failed = -ENOMEM;
		return;
	}
	if (!block->nr)
		block->base_ns = ts_ns;
	memset(at + words * 8 - 8, 0, 8);
	memcpy(at, &record, sizeof(record));
	if (bytes)
		memcpy(at + sizeof(record), payload, bytes);
	block->records.bytes += words * 8;
	block->nr++;
	block->stored++;
}

/* ---- switches ---- */

static void put_switch(struct part_copy *copy, uint32_t cpu, uint64_t ts_ns, uint32_t next)
{
	struct part_switches *switches = &copy->cpus[cpu];
	struct trace_sched_switch sw = {.prev_tid = switches->copied, .next_tid = next, .next_prio = 120};
	struct part_block *block = switches->stream ? block_of(copy, (uint32_t)(switches->stream - 1), cpu) : NULL;

	if (block)
		block_add(copy, block, ts_ns, TRACE_EV_sched_switch, &sw, sizeof(sw));
	switches->copied = next;
}

/* A thread is on one CPU at a time. */
static void put_off(struct part_copy *copy, uint64_t ts_ns, uint32_t tid)
{
	for (uint32_t i = 0; i < copy->nr_cpus; i++)
		if (copy->cpus[i].copied == tid)
			put_switch(copy, i, ts_ns, 0);
}

static void match_cpu(struct part_copy *copy, const struct trace_event *event)
{
	struct part_switches *cpu = &copy->cpus[event->cpu];

	if (cpu->copied == cpu->now)
		return;
	if (cpu->now)
		put_off(copy, event->ts_ns, cpu->now);
	put_switch(copy, event->cpu, event->ts_ns, cpu->now);
}

/* ---- events ---- */

static void copy_event(struct part_copy *copy, uint64_t n, const struct trace_event *event)
{
	bool is_of_kernel = !stream_is_of_program(event->stream), has_cpu = event->cpu < copy->nr_cpus;
	struct part_block *block = block_of(copy, event->stream, event->cpu);
	const struct part_loss *loss = block ? part_loss_next(&copy->losses, &block->stream) : NULL;

	if (!block)
		return;
	if (loss) {
		block_write(copy, block);
		block->lost_total += loss->lost;
		block->cause = loss->cause;
	}
	block->stream.nr++;
	if (is_of_kernel && has_cpu)
		copy->cpus[event->cpu].stream = event->stream + 1ull;
	block->stored--;
	if (part_choice_has(&copy->choice, n)) {
		if (has_cpu)
			match_cpu(copy, event);
		block_add(copy, block, event->ts_ns, event->id, event->payload, event->payload_bytes);
	}
	if (event->id == TRACE_EV_sched_switch && has_cpu) {
		copy->cpus[event->cpu].now = ((const struct trace_sched_switch *)event->payload)->next_tid;
		if (part_choice_has(&copy->choice, n))
			copy->cpus[event->cpu].copied = copy->cpus[event->cpu].now;
	}
}

static void copy_events(struct part_copy *copy)
{
	struct trace_cursor_options options = {.size = sizeof(options), .no_lost = true, .decode_ahead = 4};
	struct trace_cursor *cursor = trace_cursor_new(copy->trace, &options, copy->error);
	const struct trace_event *event;
	const struct block_row *row = NULL;
	int error;

	for (uint64_t n = 0; cursor && !copy->failed && (event = trace_cursor_next(cursor)); n++)
		copy_event(copy, n, event);
	while ((row = table_next(&copy->blocks, sizeof(*row), row)))
		block_write(copy, row->block);
	error = cursor ? trace_cursor_end(cursor, copy->error) : -ENOMEM;
	copy->failed = copy->failed ? copy->failed : error;
}

/* ---- the other chunks ---- */

static void copy_chunk(struct part_copy *copy, size_t idx, struct unpacker *unpacker)
{
	struct trace_chunk_header header;
	const unsigned char *raw;
	const char *reason;
	struct chunk chunk;

	chunk_make(copy->trace, idx, &chunk);
	switch (chunk.public.kind) {
	case TRACE_CHUNK_START_STATE:
	case TRACE_CHUNK_STRINGS:
	case TRACE_CHUNK_CLOCK:
		break;
	default:
		return;
	}
	copy->failed = chunk_payload(copy->trace, &chunk, unpacker, &header, &raw, &reason);
	if (copy->failed)
		return;
	header.compression = TRACE_COMPRESSION_NONE;
	header.packed_bytes = header.raw_bytes;
	copy->failed = trace_writer_chunk(copy->writer, &header, raw, copy->error);
}

static void copy_chunks(struct part_copy *copy)
{
	struct unpacker unpacker = {0};

	for (size_t i = 0; !copy->failed && i < copy->trace->nr_chunks; i++)
		copy_chunk(copy, i, &unpacker);
	unpacker_release(&unpacker);
}

/* Types of programs get the same numbers again, because they come in the same order. */
static void copy_types(struct part_copy *copy)
{
	const struct schema *schema = &copy->trace->schema;
	uint16_t id;

	for (size_t i = 0; !copy->failed && i < schema->nr_types; i++) {
		if (schema->types[i]->id < TRACE_EV_MAX)
			continue;
		copy->failed = trace_writer_event_type(copy->writer, schema->types[i], &id, copy->error);
		if (!copy->failed && id != schema->types[i]->id)
			copy->failed = -ENOTSUP;
	}
}

static void copy_statistics(struct part_copy *copy)
{
	size_t nr = trace_nr_streams(copy->trace);
	struct trace_stream_stats *streams = calloc(nr + 1, sizeof(*streams));

	if (!streams)
		copy->failed = -ENOMEM;
	for (size_t i = 0; streams && i < nr; i++) {
		const struct block_row *row = table_find(&copy->blocks, sizeof(*row),
							 trace_get_stream(copy->trace, i)->stream + 1ull);

		streams[i] = *trace_get_stream(copy->trace, i);
		streams[i].stored += row ? (uint64_t)row->block->stored : 0;
		streams[i].attempted += row ? (uint64_t)row->block->stored : 0;
	}
	if (!copy->failed)
		copy->failed = trace_writer_statistics(copy->writer, streams, nr, copy->trace->info.end_ns,
						       copy->error);
	free(streams);
}

/* ---- begin, end ---- */

/* Do events of the trace have the layout in which the copy describes them? */
static bool has_own_layout(const struct schema *schema)
{
	for (size_t i = 0; i < schema->nr_types; i++) {
		const struct trace_event_type *type = schema->types[i], *own;

		own = type->id < TRACE_EV_MAX ? catalogue_by_id(type->id) : type;
		if (!own || own->fixed_bytes != type->fixed_bytes || own->has_string != type->has_string)
			return false;
	}
	return true;
}

bool trace_has_parts(const struct trace *trace)
{
	const struct trace_info *info = &trace->info;

	for (size_t i = 0; i < trace->nr_gaps; i++)
		if (trace->gaps[i].cause != TRACE_GAP_DISCARDED && trace->gaps[i].cause != TRACE_GAP_OVERWRITTEN &&
		    trace->gaps[i].cause != TRACE_GAP_MISSED)
			return false;
	return trace_is_complete(trace) && info->clean_end && !info->index_rebuilt && !trace->nr_damages &&
	       trace->statistics && has_own_layout(&trace->schema) &&
	       !trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_PART);
}

static int begin(struct part_copy *copy, int fd)
{
	struct trace_file_header header;
	struct iovec part = {&header, sizeof(header)};
	unsigned char *schema;
	size_t bytes;
	int error;

	copy->writer = writer_bare_new(fd, copy->trace->trace_id, copy->error);
	copy->cpus = calloc(copy->nr_cpus + 1u, sizeof(*copy->cpus));
	schema = schema_serialize_catalogue(&bytes);
	if (!copy->writer || !copy->cpus || !schema || !writer_compressor_begin(copy->writer, 1)) {
		free(schema);
		return error_set(copy->error, -ENOMEM, "no memory to write a part of a trace");
	}
	for (uint32_t i = 0; i < copy->nr_cpus; i++)
		copy->cpus[i].now = copy->cpus[i].copied = UINT32_MAX;
	memcpy(&header, copy->trace->data, sizeof(header));
	header.schema_checksum = XXH3_64bits(schema, bytes);
	header.checksum = XXH3_64bits(&header, offsetof(struct trace_file_header, checksum));
	error = output_write(&copy->writer->output, &part, 1, copy->error);
	if (!error)
		error = writer_chunk_write_plain(copy->writer, TRACE_CHUNK_SCHEMA, schema, bytes, copy->error);
	free(schema);
	return error;
}

static int finish(struct part_copy *copy, const struct trace_part *part)
{
	char text[64];

	snprintf(text, sizeof(text), "%llu %llu", (unsigned long long)copy->trace->info.events,
		 (unsigned long long)part->contradictions);
	copy->failed = trace_writer_string(copy->writer, TRACE_STRING_INFO, TRACE_INFO_PART, text);
	if (!copy->failed)
		copy->failed = trace_writer_flush_strings(copy->writer, copy->error);
	if (!copy->failed)
		copy_statistics(copy);
	if (!copy->failed)
		copy->failed = trace_writer_finish(copy->writer, copy->error);
	return copy->failed;
}

static void copy_release(struct part_copy *copy)
{
	const struct block_row *row = NULL;

	while ((row = table_next(&copy->blocks, sizeof(*row), row))) {
		if (row->block)
			free(row->block->records.data);
		free(row->block);
	}
	table_clear(&copy->blocks);
	free(copy->losses.at);
	part_choice_release(&copy->choice);
	trace_writer_free(copy->writer);
	free(copy->cpus);
}

int trace_write_part(const struct trace *trace, const struct trace_part *part, int fd, struct trace_error *ret_error)
{
	struct trace_error error = {0};
	struct trace_part asked = {0};
	struct part_copy copy = {.trace = trace, .nr_cpus = trace->info.nr_cpus, .error = &error};

	memcpy(&asked, part, part->size < sizeof(asked) ? part->size : sizeof(asked));
	if (!trace_has_parts(trace))
		return error_set(ret_error, -ENOTSUP, "%s: parts of it cannot be copied", trace->path);
	copy.failed = part_choose(trace, &asked, &copy.choice, &error);
	if (!copy.failed)
		copy.failed = part_losses_of(trace, &copy.losses);
	if (!copy.failed)
		copy.failed = begin(&copy, fd);
	if (!copy.failed)
		copy_types(&copy);
	if (!copy.failed)
		copy_chunks(&copy);
	if (!copy.failed)
		copy_events(&copy);
	if (!copy.failed)
		finish(&copy, &asked);
	copy_release(&copy);
	if (copy.failed && ret_error) {
		*ret_error = error;
		ret_error->code = copy.failed;
	}
	return copy.failed;
}
