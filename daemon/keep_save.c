/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "keep_save.h"

#include <errno.h>
#include <stdlib.h>
#include <trace/saturate.h>

#include "build_ids.h"
#include "clock.h"
#include "error_set.h"
#include "snapshot_notes.h"
#include "own_records.h"
#include "start_state_writer.h"
#include "tracefile.h"
#include "user_recording.h"

#define SAVE_QUEUE_BYTES (64u << 20) /* of the state; the main thread does not wait for room */

/** struct saved_stream - a stream of the save. @number: events up to its last chunk. @nr: chunks */
struct saved_stream {
	struct drain_marked marked;
	struct trace_stream_stats stats;
	uint64_t number;
	size_t nr;
};

/**
 * struct keep_save - a trace that is being written
 * @chunks, @streams: owned; the writer's thread uses them from the push of write_all() on
 * @held_ns: see struct keep_saved
 */
struct keep_save {
	struct trace_writer *writer;  /* owned */
	struct writer_thread *thread; /* owned */
	struct build_ids *build_ids;  /* owned */
	struct kept_chunk **chunks;
	size_t nr_chunks;
	struct saved_stream *streams;
	size_t nr_streams;
	uint64_t held_ns;
	uint64_t end_ns;
};

/* ---- in the thread of the writer ---- */

static struct saved_stream *stream_of(struct keep_save *save, uint32_t stream, struct saved_stream *last)
{
	if (last && last->marked.stream == stream)
		return last;
	for (size_t i = 0; i < save->nr_streams; i++)
		if (save->streams[i].marked.stream == stream)
			return &save->streams[i];
	return NULL;
}

/* As the chunk in the file will say it: see trace_writer_chunk(). */
static void account(struct saved_stream *stream, const struct trace_chunk_header *header)
{
	struct trace_stream_stats *stats = &stream->stats;
	uint64_t missing = header->events_before > stream->number ? header->events_before - stream->number : 0;

	if (missing > trace_add_saturated(header->lost_before, header->lost_write))
		stats->overwritten = trace_add_saturated(stats->overwritten, missing - header->lost_write);
	else
		stats->discarded = trace_add_saturated(stats->discarded, header->lost_before);
	stats->stored += (uint64_t)header->events + header->undecodable + header->lost_write;
	stats->missed = trace_add_saturated(stats->missed, header->missed);
	stream->number = trace_add_saturated(header->events_before, (uint64_t)header->events + header->undecodable);
	stream->nr++;
}

static int write_chunks(struct keep_save *save, struct trace_writer *writer, struct trace_error *ret_error)
{
	struct saved_stream *stream = NULL;
	int err = 0;

	for (size_t i = 0; i < save->nr_chunks && !err; i++) {
		const struct trace_chunk_header *header = &save->chunks[i]->header;

		stream = header->kind == TRACE_CHUNK_EVENTS ? stream_of(save, header->stream, stream) : NULL;
		if (header->kind == TRACE_CHUNK_EVENTS && (!stream || header->seq > stream->marked.blocks))
			continue; /* after the end of the save */
		err = trace_writer_chunk(writer, header, save->chunks[i]->payload, ret_error);
		if (stream)
			account(stream, header);
	}
	return err;
}

/* A program counted a part of its losses, and the chunks in memory do not tell which. */
static uint64_t claimed(const struct trace_stream_stats *stats)
{
	return stats->stream >= USER_FIRST_STREAM && stats->discarded ? TRACE_CLAIMED_UNKNOWN : 0;
}

/* Programs of which nothing is kept have no stream in this trace. */
static int write_statistics(struct keep_save *save, struct trace_writer *writer, struct trace_error *ret_error)
{
	struct trace_stream_stats *stats = calloc(save->nr_streams + 1, sizeof(*stats));
	size_t nr = 0;
	int err;

	if (!stats)
		return error_set(ret_error, -ENOMEM, "no memory for the statistics of %zu streams", save->nr_streams);
	for (size_t i = 0; i < save->nr_streams; i++) {
		const struct saved_stream *stream = &save->streams[i];
		const struct drain_marked *marked = &stream->marked;
		struct trace_stream_stats *of = &stats[nr];

		if (!stream->nr && marked->stream >= USER_FIRST_STREAM && marked->stream < OWN_STREAM_DAEMON)
			continue;
		*of = stream->stats;
		of->stream = marked->stream;
		of->cpu = marked->cpu;
		of->discarded = trace_add_saturated(of->discarded, marked->lost_after);
		of->claimed = claimed(of);
		of->filtered = marked->filtered;
		of->attempted = trace_add_saturated(of->stored + of->missed, of->filtered);
		of->attempted = trace_add_saturated(of->attempted, trace_add_saturated(of->discarded, of->overwritten));
		nr++;
	}
	err = trace_writer_statistics(writer, stats, nr, save->end_ns, ret_error);
	free(stats);
	return err;
}

static int write_all(void *context, struct trace_writer *writer, struct trace_error *ret_error)
{
	struct keep_save *save = context;
	int err = write_chunks(save, writer, ret_error);

	if (!err)
		err = write_statistics(save, writer, ret_error);
	return err ? err : trace_writer_finish(writer, ret_error);
}

/* ---- in the main thread ---- */

static void release(struct keep_save *save)
{
	writer_thread_free(save->thread); /* first: it uses the others */
	trace_writer_free(save->writer);
	build_ids_free(save->build_ids);
	for (size_t i = 0; i < save->nr_chunks; i++)
		kept_chunk_release(save->chunks[i]);
	free(save->chunks);
	free(save->streams);
	free(save);
}

static int begin_file(struct keep_save *save, const struct keep_source *source, int fd, struct trace_error *ret_error)
{
	struct clock_sample now = clock_take_sample();
	struct trace_writer_options options = {.size = sizeof(options),
					       .level = source->level,
					       .start_ns = keep_oldest_ns(source->keep)};
	int err;

	options.start_realtime_ns = now.realtime_ns - (now.monotonic_ns - options.start_ns);
	save->build_ids = build_ids_new(false);
	save->writer = trace_writer_new(fd, &options, ret_error);
	if (!save->writer)
		return ret_error->code;
	err = tracefile_describe(source->tracer, save->writer, NULL, source->filter, ret_error);
	if (err)
		return err;
	if (source->saved_for)
		trace_writer_string(save->writer, TRACE_STRING_INFO, TRACE_INFO_SAVED_FOR, source->saved_for);
	save->thread = writer_thread_new(save->writer, fd, SAVE_QUEUE_BYTES, ret_error);
	if (!save->thread)
		return ret_error->code;
	return writer_thread_push_clock(save->thread, &now)
		       ? error_set(ret_error, -ENOMEM, "no memory to save what is kept")
		       : 0;
}

static void drain_meanwhile(void *context)
{
	recording_drain(context);
}

/*
 * The state of the machine, and then the end of the trace, with what threads wait for. In this
 * order the trace has all that changes behind the reading: a process that is read, and forked in
 * the trace, or that gets another name.
 */
static int push_state(struct keep_save *save, const struct keep_source *source, struct trace_error *ret_error)
{
	const struct start_state_sink sink = {save->writer, save->thread, drain_meanwhile, source->recording,
					      save->build_ids};
	uint64_t blocks = 0;
	int err = source->tracer ? start_state_push(source->tracer, &sink, NULL, &blocks, ret_error) : 0;

	if (err)
		return err;
	recording_mark_end(source->recording, &save->end_ns);
	return source->tracer ? end_state_push(source->tracer, &sink, save->end_ns, blocks, ret_error) : 0;
}

static int take_streams(struct keep_save *save, const struct keep_source *source, struct trace_error *ret_error)
{
	save->nr_streams = recording_nr_marked(source->recording);
	save->streams = calloc(save->nr_streams, sizeof(*save->streams));
	if (save->streams)
		save->chunks = keep_list(source->keep, &save->nr_chunks);
	if (!save->chunks)
		return error_set(ret_error, -ENOMEM, "no memory to save what is kept");
	for (size_t i = 0; i < save->nr_streams; i++)
		recording_get_marked(source->recording, i, &save->streams[i].marked);
	return 0;
}

/* The recording goes on. */
static void wait_for_build_ids(const struct keep_save *save, const struct keep_source *source)
{
	uint64_t waited_ns = 0;

	for (; !build_ids_wait(save->build_ids, BUILD_IDS_WAIT_NS) && waited_ns < BUILD_IDS_END_WAIT_NS;
	     waited_ns += BUILD_IDS_WAIT_NS)
		recording_drain(source->recording);
}

static int collect(struct keep_save *save, const struct keep_source *source, struct trace_error *ret_error)
{
	struct keep_status status;
	struct clock_sample now;
	int err = push_state(save, source, ret_error);

	if (err)
		return err;
	recording_catch_up(source->recording);
	now = clock_take_sample();
	if (writer_thread_push_clock(save->thread, &now))
		return error_set(ret_error, -ENOMEM, "no memory to save what is kept");
	keep_get_status(source->keep, &status);
	save->held_ns = save->end_ns > status.since_ns ? save->end_ns - status.since_ns : 0;
	err = take_streams(save, source, ret_error);
	if (err)
		return err;
	recording_add_build_ids(source->recording, save->build_ids);
	wait_for_build_ids(save, source);
	build_ids_write(save->build_ids, save->writer);
	tracefile_code_names(save->writer, source->tracer);
	snapshot_notes_write(save->writer,
			     &(struct snapshot_facts){.tracer = source->tracer,
						      .clients = source->clients,
						      .filter = source->filter,
						      .build_ids = save->build_ids,
						      .nr_lost_maps = recording_nr_lost_maps(source->recording),
						      .start_ns = status.since_ns});
	if (writer_thread_push_call(save->thread, write_all, save) || writer_thread_push_sync(save->thread))
		return error_set(ret_error, -ENOMEM, "no memory to save what is kept");
	return 0;
}

struct keep_save *keep_save_begin(const struct keep_source *source, int fd, struct trace_error *ret_error)
{
	struct keep_save *save = calloc(1, sizeof(*save));
	int err;

	if (!save) {
		error_set(ret_error, -ENOMEM, "no memory to save what is kept");
		return NULL;
	}
	keep_hold_back(source->keep, true);
	err = begin_file(save, source, fd, ret_error);
	if (!err)
		err = collect(save, source, ret_error);
	keep_hold_back(source->keep, false);
	if (err) {
		release(save);
		return NULL;
	}
	return save;
}

int keep_save_fd(const struct keep_save *save)
{
	return writer_thread_wake_fd(save->thread);
}

bool keep_save_is_done(struct keep_save *save)
{
	writer_thread_acknowledge(save->thread);
	return writer_thread_synced(save->thread) || writer_thread_empty(save->thread);
}

int keep_save_end(struct keep_save *save, struct keep_saved *ret_saved, struct trace_error *ret_error)
{
	struct trace_writer_totals totals;
	int err;

	writer_thread_stop(save->thread);
	err = writer_thread_error(save->thread, ret_error);
	trace_writer_totals(save->writer, &totals);
	*ret_saved = (struct keep_saved){totals.events, totals.file_bytes, save->held_ns, save->end_ns};
	release(save);
	return err;
}
