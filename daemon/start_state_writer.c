/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "start_state_writer.h"

#include <errno.h>
#include <string.h>

#include "own_records.h"
#include "format_text.h"

#define MEANWHILE_RECORDS 64u

struct start_state {
	const struct start_state_sink *sink; /* borrowed */
	FILE *proc;			     /* NULL: not wanted */
	struct own_records block;
	uint64_t blocks;
	uint64_t records;
};

static void sink_meanwhile(const struct start_state_sink *sink, uint64_t nr_records)
{
	if (sink->meanwhile && nr_records % MEANWHILE_RECORDS == 0)
		sink->meanwhile(sink->context);
}

/* The tracer waits for a process. */
static int sink_idle(const struct start_state_sink *sink)
{
	sink_meanwhile(sink, 0);
	return 0;
}

static int push_block(struct start_state *state)
{
	struct trace_source source = own_records_source(&state->block, TRACE_CHUNK_START_STATE, OWN_STREAM_START_STATE,
							state->blocks + 1);
	struct trace_packed *packed;
	int err;

	if (!source.nr_records)
		return 0;
	packed = trace_writer_pack(state->sink->writer, &source, NULL);
	err = packed ? writer_thread_push(state->sink->thread, packed, source.nr_records, NULL) : -ENOMEM;
	state->blocks++;
	own_records_clear(&state->block);
	return err;
}

/* The string in a payload; "" if it is not terminated within the record. */
static const char *record_text(const struct trace_record *record, size_t bytes, size_t payload_bytes)
{
	size_t offset = sizeof(*record) + payload_bytes;

	if (offset >= bytes || !memchr((const char *)record + offset, '\0', bytes - offset))
		return "";
	return (const char *)record + offset;
}

/*
 * Prints a line of the original toolkit's list: "PID: %d; PPID: %d; NAME: %s" or "IRQ: %d; NAME:
 * %s". Threads are not listed.
 */
static void print_proc(FILE *proc, const struct trace_record *record, size_t bytes)
{
	const struct trace_start_thread *thread = (const void *)(record + 1);
	const struct trace_start_irq *irq = (const void *)(record + 1);

	if (record->id == TRACE_EV_start_thread && bytes >= sizeof(*record) + sizeof(*thread) &&
	    thread->tid == thread->tgid)
		fprintf(proc, "PID: %u; PPID: %u; NAME: %s\n", thread->tid, thread->ppid,
			record_text(record, bytes, sizeof(*thread)));
	else if (record->id == TRACE_EV_start_irq && bytes >= sizeof(*record) + sizeof(*irq))
		fprintf(proc, "IRQ: %u; NAME: %s\n", irq->irq, record_text(record, bytes, sizeof(*irq)));
}

static void note_mapping(const struct start_state_sink *sink, const struct trace_record *record, size_t bytes)
{
	if (record->id == TRACE_EV_start_map && bytes >= sizeof(*record) + sizeof(struct trace_start_map))
		build_ids_note(sink->build_ids, (const void *)(record + 1),
			       record_text(record, bytes, sizeof(struct trace_start_map)));
}

static int emit(void *context, const struct trace_record *record, size_t bytes, uint64_t ts_ns)
{
	struct start_state *state = context;
	int err = 0;

	if (!record)
		return sink_idle(state->sink);
	sink_meanwhile(state->sink, ++state->records);
	note_mapping(state->sink, record, bytes);
	if (state->proc)
		print_proc(state->proc, record, bytes);
	if (!own_records_fit(&state->block, bytes, ts_ns))
		err = push_block(state);
	return err ? err : own_records_add(&state->block, record, bytes, ts_ns);
}

static int finish(struct start_state *state, int err, struct trace_error *ret_error)
{
	int push_err = push_block(state); /* write what was read, even after an error */

	own_records_release(&state->block);
	if (err == -ENOMEM || (!err && push_err))
		return error_set(ret_error, -ENOMEM, "no memory for the state of the machine");
	return err;
}

int start_state_push(struct tracer *tracer, const struct start_state_sink *sink, FILE *proc, uint64_t *ret_blocks,
		     struct trace_error *ret_error)
{
	struct start_state state = {.sink = sink, .proc = proc};
	int err = finish(&state, tracer_start_state(tracer, emit, &state, ret_error), ret_error);

	if (ret_blocks)
		*ret_blocks = state.blocks;
	return err;
}

/** struct start_state_rerun - reads the state again, as metadata events */
struct start_state_rerun {
	const struct start_state_sink *sink;
	struct metadata_events *metadata;
	uint64_t records;
};

static int emit_again(void *context, const struct trace_record *record, size_t bytes, uint64_t ts_ns)
{
	struct start_state_rerun *again = context;

	if (!record)
		return sink_idle(again->sink);
	sink_meanwhile(again->sink, ++again->records);
	note_mapping(again->sink, record, bytes);
	return metadata_record(again->metadata, record, bytes, ts_ns, again->sink->writer, again->sink->thread);
}

int start_state_repeat(struct tracer *tracer, const struct start_state_sink *sink, struct metadata_events *metadata,
		       struct trace_error *ret_error)
{
	struct start_state_rerun again = {.sink = sink, .metadata = metadata};
	int err;

	metadata_state_again(metadata, false);
	metadata_push(metadata, sink->writer, sink->thread); /* the state is read after all earlier metadata events */
	err = tracer_start_state(tracer, emit_again, &again, ret_error);
	metadata_push(metadata, sink->writer, sink->thread);
	if (!err)
		metadata_state_again(metadata, true);
	return err;
}

int end_state_push(struct tracer *tracer, const struct start_state_sink *sink, uint64_t ts_ns, uint64_t blocks,
		   struct trace_error *ret_error)
{
	struct start_state state = {.sink = sink, .blocks = blocks};

	return finish(&state, tracer_end_state(tracer, ts_ns, emit, &state, ret_error), ret_error);
}
