/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writer.c - append chunks to a file or a pipe, and account for every event.
 *
 * A failed write costs only the current block. On a regular file the writer truncates the partial
 * chunk. On a pipe the partial chunk stays, and the reader skips it: it looks for the magic and
 * checksum of the next chunk. The next chunk of the stream declares the events of the failed block
 * as lost (lost_write).
 *
 * A block without any valid record is different: a damaged or hostile program made it, and the disk
 * lost nothing. A chunk without events does not exist, so the stream's next chunk declares these
 * records as undecodable (undecodable).
 */
#include "writer_state.h"

#include "error_set.h"
#include "writer_chunk.h"
#include "writer_streams.h"
#include "writer_strings.h"
#include "writer_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <trace/saturate.h>
#include <xxhash.h>

/* ---- begin ---- */

static int header_write(struct trace_writer *writer, const struct trace_writer_options *options,
			uint64_t schema_checksum, struct trace_error *ret_error)
{
	struct trace_file_header header = {
		.version_major = TRACE_FORMAT_MAJOR,
		.version_minor = TRACE_FORMAT_MINOR,
		.header_bytes = sizeof(header),
		.start_ns = options->start_ns,
		.start_realtime_ns = options->start_realtime_ns,
		.schema_checksum = schema_checksum,
		.trace_id = writer->trace_id,
	};
	struct iovec part = {&header, sizeof(header)};

	if (writer->take)
		return 0; /* the file into which the chunks go later has its own */

	memcpy(header.magic, TRACE_FILE_MAGIC, TRACE_MAGIC_BYTES);
	header.checksum = XXH3_64bits(&header, offsetof(struct trace_file_header, checksum));
	return output_write(&writer->output, &part, 1, ret_error);
}

static uint32_t make_trace_id(void)
{
	struct timespec now;
	uint32_t id;

	if (getrandom(&id, sizeof(id), GRND_NONBLOCK) == (ssize_t)sizeof(id))
		return id;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint32_t)now.tv_nsec ^ (uint32_t)now.tv_sec;
}

static int writer_begin(struct trace_writer *writer, const struct trace_writer_options *options,
			struct trace_error *ret_error)
{
	size_t bytes;
	unsigned char *schema = schema_serialize_catalogue(&bytes);
	int error;

	if (!schema)
		return error_set(ret_error, -ENOMEM, "no memory for the schema of the trace");
	error = header_write(writer, options, XXH3_64bits(schema, bytes), ret_error);
	if (!error)
		error = writer_chunk_write_plain(writer, TRACE_CHUNK_SCHEMA, schema, bytes, ret_error);
	free(schema);
	return error;
}

struct trace_writer *writer_bare_new(int fd, uint32_t trace_id, struct trace_error *ret_error)
{
	struct trace_writer *writer = calloc(1, sizeof(*writer));

	if (!writer || !writer_streams_begin(writer)) {
		error_set(ret_error, -ENOMEM, "no memory for a trace writer");
		free(writer);
		return NULL;
	}
	pthread_mutex_init(&writer->strings_lock, NULL);
	writer->missing_note = UINT64_MAX;
	packing_init(&writer->packing);
	pthread_mutex_init(&writer->types_lock, NULL);
	output_init(&writer->output, fd);
	writer->trace_id = trace_id;
	return writer;
}

struct trace_writer *trace_writer_new(int fd, const struct trace_writer_options *options, struct trace_error *ret_error)
{
	struct trace_writer_options all = {0};
	struct trace_writer *writer = writer_bare_new(fd, make_trace_id(), ret_error);

	if (!writer)
		return NULL;
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	if (!writer_compressor_begin(writer, all.level ? all.level : 1)) {
		error_set(ret_error, -ENOMEM, "no memory for a trace writer");
		return trace_writer_free(writer);
	}
	writer->take = all.take;
	writer->packing.has_letters = all.take; /* for memory, bytes count more than instructions */
	writer->take_context = all.take_context;
	if (writer_begin(writer, &all, ret_error) < 0)
		return trace_writer_free(writer);
	if (all.block_bytes) {
		packing_prepare(&writer->packing, all.block_bytes);
		writer_compressor_prepare(writer, all.block_bytes);
	}
	return writer;
}

/* ---- blocks ---- */

struct trace_packed *trace_writer_pack(struct trace_writer *writer, const struct trace_source *source,
				       struct trace_error *ret_error)
{
	return packing_pack(&writer->packing, &writer->types, source, ret_error);
}

static bool holds_user_events(const struct trace_chunk_header *header)
{
	return header->ids[TRACE_EV_USER / 64] >> TRACE_EV_USER % 64 & 1;
}

static int packed_write(struct trace_writer *writer, struct writer_stream *stream, struct trace_packed *packed,
			struct trace_error *ret_error)
{
	struct trace_chunk_header *header = &packed->header;
	uint32_t undecodable = header->undecodable;
	int error;

	if (!header->events) {
		stream->undecodable += undecodable;
		writer_stream_account_inside(writer, stream, undecodable);
		return 0;
	}
	error = holds_user_events(header) ? writer_types_write(writer, ret_error) : 0;
	if (!error) {
		writer_stream_fill_header(header, stream);
		error = writer_chunk_write(writer, header,
					   &(struct raw_payload){packed->raw, packed->texts_at, packed->codes_at},
					   ret_error);
	}
	if (!error)
		writer_stream_account_written(writer, stream, header, undecodable);
	else
		writer_stream_account_dropped(writer, stream, header, undecodable);
	return error;
}

int trace_writer_write(struct trace_writer *writer, struct trace_packed *packed, struct trace_error *ret_error)
{
	struct writer_stream *stream = writer_stream_of(writer, &packed->header);
	int error = 0;

	if (!stream) {
		for (const struct trace_packed *part = packed; part; part = part->next)
			writer->totals.lost_write += (uint64_t)part->header.events + part->header.undecodable;
		packing_recycle(&writer->packing, packed);
		return error_set(ret_error, -ENOMEM,
				 "no memory for the statistics of one more stream: its block is lost");
	}
	writer_stream_account_before(stream, packed);
	for (struct trace_packed *part = packed; part; part = part->next) {
		int part_error = packed_write(writer, stream, part, ret_error);

		error = error ? error : part_error;
	}
	packing_recycle(&writer->packing, packed);
	if (!error && writer->unwritten_at < writer->unwritten.bytes)
		writer_strings_write_again(writer);
	return error;
}

/* ---- chunks of another writer ---- */

/*
 * Between the stream's previous chunk and this one are missing: the events that the other writer
 * declared, and those of the chunks that it wrote in between.
 */
static void declare_missing(struct writer_stream *stream, struct trace_chunk_header *header)
{
	uint64_t declared = trace_add_saturated(header->lost_before, header->lost_write), missing;

	missing = header->events_before > stream->number ? header->events_before - stream->number : 0;
	if (missing > declared) {
		header->lost_before = missing - header->lost_write;
		header->lost_cause = TRACE_GAP_OVERWRITTEN;
		header->flags &= (uint16_t)~TRACE_CHUNK_FLAG_JUMP;
	}
	stream->total_lost_before = trace_add_saturated(stream->total_lost_before, header->lost_before);
	stream->total_lost_write = trace_add_saturated(stream->total_lost_write, header->lost_write);
	stream->seq = header->seq;
	stream->cpu = header->cpu;
}

int trace_writer_chunk(struct trace_writer *writer, const struct trace_chunk_header *header, const void *payload,
		       struct trace_error *ret_error)
{
	struct trace_chunk_header mine = *header;
	struct writer_stream *stream = NULL;
	int error;

	if (header->kind == TRACE_CHUNK_EVENTS || header->kind == TRACE_CHUNK_START_STATE) {
		stream = writer_stream_of(writer, header);
		if (!stream)
			return error_set(ret_error, -ENOMEM, "no memory for the statistics of one more stream");
		declare_missing(stream, &mine);
	}
	error = writer_chunk_append(writer, &mine, payload, ret_error);
	if (error || !stream)
		return error;
	stream->number = trace_add_saturated(mine.events_before, (uint64_t)mine.events + mine.undecodable);
	stream->last_ns = mine.last_ns > stream->last_ns ? mine.last_ns : stream->last_ns;
	stream->total_written += mine.events;
	writer->totals.events += mine.events;
	writer_stream_account_inside(writer, stream, mine.undecodable);
	return 0;
}

/* ---- clock, totals ---- */

int trace_writer_clock(struct trace_writer *writer, uint64_t monotonic_ns, uint64_t realtime_ns, uint64_t tsc,
		       struct trace_error *ret_error)
{
	struct trace_clock_entry entry = {.monotonic_ns = monotonic_ns, .realtime_ns = realtime_ns, .tsc = tsc};

	return writer_chunk_write_plain(writer, TRACE_CHUNK_CLOCK, &entry, sizeof(entry), ret_error);
}

void trace_writer_totals(const struct trace_writer *writer, struct trace_writer_totals *ret_totals)
{
	*ret_totals = writer->totals;
}

/* ---- end ---- */

struct trace_writer *trace_writer_free(struct trace_writer *writer)
{
	if (!writer)
		return NULL;
	ZSTD_freeCCtx(writer->zstd);
	free(writer->packed.data);
	free(writer->index.data);
	free(writer->streams.data);
	stream_map_release(&writer->stream_map);
	free(writer->strings.data);
	free(writer->unwritten.data);
	free(writer->type_keys.data);
	schema_release(&writer->types);
	packing_release(&writer->packing);
	pthread_mutex_destroy(&writer->strings_lock);
	pthread_mutex_destroy(&writer->types_lock);
	free(writer);
	return NULL;
}
