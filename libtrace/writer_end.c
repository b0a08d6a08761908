/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* writer_end.c - the end of a trace: statistics, table and index of all chunks, end mark. */
#include "writer_state.h"

#include "error_set.h"
#include "table_entry.h"
#include "writer_chunk.h"
#include "writer_streams.h"
#include "writer_strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/saturate.h>
#include <xxhash.h>

/* ---- statistics ---- */

/*
 * Combine the recorder's statistics of a stream with what this writer did with its blocks, of all
 * kinds.
 */
static struct trace_statistics_stream statistics_stream(const struct trace_writer *writer,
							const struct trace_stream_stats *stats)
{
	static const uint32_t kinds[] = {TRACE_CHUNK_START_STATE, TRACE_CHUNK_EVENTS};
	struct trace_statistics_stream disk = {
		.stream = stats->stream,
		.cpu = stats->cpu,
		.stored = stats->stored,
		.discarded = stats->discarded,
		.overwritten = stats->overwritten,
		.missed = stats->missed,
		.filtered = stats->filtered,
		.attempted = stats->attempted,
		.claimed = stats->claimed,
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct writer_stream *stream = writer_stream_find(writer, kinds[i], stats->stream);

		if (!stream)
			continue;
		disk.written += stream->total_written;
		disk.lost_write += stream->total_lost_write;
		disk.undecodable += stream->total_lost_inside;
		disk.lost_before = trace_add_saturated(disk.lost_before, stream->total_lost_before);
		disk.last_ns = disk.last_ns > stream->last_ns ? disk.last_ns : stream->last_ns;
	}
	return disk;
}

/* per chunk */
enum {
	STATISTICS_MAX = (TRACE_RAW_MAX - sizeof(struct trace_statistics_header)) /
			 sizeof(struct trace_statistics_stream)
};

/* @before: streams in the previous chunks of this list */
static int statistics_write(struct trace_writer *writer, const struct trace_stream_stats *streams,
			    struct trace_statistics_header header, uint64_t before, bool has_more,
			    struct trace_error *ret_error)
{
	size_t bytes = sizeof(header) + header.nr_streams * sizeof(struct trace_statistics_stream);
	struct trace_chunk_header chunk = {.kind = TRACE_CHUNK_STATISTICS,
					   .flags = has_more ? TRACE_CHUNK_FLAG_MORE : 0,
					   .seq = before,
					   .raw_bytes = (uint32_t)bytes};
	unsigned char *raw = malloc(bytes), *at = raw;
	int error;

	if (!raw)
		return error_set(ret_error, -ENOMEM, "no memory for the statistics of %u streams", header.nr_streams);
	at = mempcpy(at, &header, sizeof(header));
	for (size_t i = 0; i < header.nr_streams; i++) {
		struct trace_statistics_stream stream = statistics_stream(writer, &streams[i]);

		at = mempcpy(at, &stream, sizeof(stream));
	}
	error = writer_chunk_write(writer, &chunk, &(struct raw_payload){.data = raw}, ret_error);
	free(raw);
	return error;
}

int trace_writer_statistics(struct trace_writer *writer, const struct trace_stream_stats *streams, size_t nr_streams,
			    uint64_t end_ns, struct trace_error *ret_error)
{
	struct trace_statistics_header header = {.stream_bytes = sizeof(struct trace_statistics_stream),
						 .end_ns = end_ns};
	size_t done = 0;
	int error;

	do {
		size_t left = nr_streams - done;

		header.nr_streams = left < STATISTICS_MAX ? (uint32_t)left : STATISTICS_MAX;
		/* NULL has no elements */
		error = statistics_write(writer, nr_streams ? streams + done : NULL, header, writer->nr_ended + done,
					 left > header.nr_streams, ret_error);
		done += header.nr_streams;
	} while (!error && done < nr_streams);
	return error;
}

int trace_writer_end_streams(struct trace_writer *writer, const struct trace_stream_stats *streams, size_t nr_streams,
			     struct trace_error *ret_error)
{
	struct trace_statistics_header header = {.stream_bytes = sizeof(struct trace_statistics_stream)};
	int error = 0;

	for (size_t done = 0; !error && done < nr_streams; done += header.nr_streams) {
		size_t left = nr_streams - done;

		header.nr_streams = left < STATISTICS_MAX ? (uint32_t)left : STATISTICS_MAX;
		error = statistics_write(writer, streams + done, header, writer->nr_ended, true, ret_error);
		if (error)
			return error;
		writer->nr_ended += header.nr_streams;
		writer_streams_forget(writer, streams + done, header.nr_streams);
	}
	return error;
}

/* ---- table, index, end mark ---- */

/*
 * The table lists every chunk before it, in as many chunks as needed; the root chunk holds its
 * position.
 */
static int table_write(struct trace_writer *writer, struct trace_error *ret_error)
{
	struct trace_table_entry *entries = malloc(TRACE_TABLE_ENTRIES * sizeof(*entries));
	struct trace_table_root root = {.offset = writer->output.bytes,
					.nr_entries = writer->index.bytes / sizeof(struct trace_index_entry),
					.entry_bytes = sizeof(*entries),
					.header_bytes = sizeof(struct trace_chunk_header),
					.index_entries = TRACE_INDEX_ENTRIES};
	int error = entries ? 0 : error_set(ret_error, -ENOMEM, "no memory for the table of the trace's chunks");

	for (size_t at = 0; !error && at < root.nr_entries; root.nr_chunks++) {
		/* reloaded: the index grows with each chunk */
		const struct trace_index_entry *index = (const struct trace_index_entry *)writer->index.data + at;
		size_t nr = root.nr_entries - at < TRACE_TABLE_ENTRIES ? root.nr_entries - at : TRACE_TABLE_ENTRIES;

		for (size_t i = 0; i < nr; i++)
			entries[i] = table_entry_of(index[i].offset, &index[i].header);
		error = writer_chunk_write_plain(writer, TRACE_CHUNK_TABLE, entries, nr * sizeof(*entries), ret_error);
		at += nr;
	}
	free(entries);
	return error ? error : writer_chunk_write_plain(writer, TRACE_CHUNK_ROOT, &root, sizeof(root), ret_error);
}

/* The index lists every chunk before the first index chunk. It may need several chunks. */
static int index_write(struct trace_writer *writer, uint32_t *ret_nr_chunks, struct trace_error *ret_error)
{
	size_t portion = TRACE_INDEX_ENTRIES * sizeof(struct trace_index_entry);
	struct writer_buffer index = writer->index;
	uint32_t nr_chunks = 0;
	int error = 0;

	writer->index = (struct writer_buffer){0};
	for (size_t at = 0; !error && at < index.bytes; at += portion, nr_chunks++)
		error = writer_chunk_write_plain(writer, TRACE_CHUNK_INDEX, index.data + at,
						 index.bytes - at < portion ? index.bytes - at : portion, ret_error);
	free(writer->index.data);
	writer->index = index;
	*ret_nr_chunks = nr_chunks;
	return error;
}

static int end_write(struct trace_writer *writer, struct trace_error *ret_error)
{
	struct trace_end_mark mark = {.trace_id = writer->trace_id};
	struct iovec part = {&mark, sizeof(mark)};
	int error = table_write(writer, ret_error);

	if (error)
		return error;
	mark.index_offset = writer->output.bytes;
	error = index_write(writer, &mark.nr_index_chunks, ret_error);
	if (error)
		return error;
	memcpy(mark.magic, TRACE_END_MAGIC, TRACE_MAGIC_BYTES);
	mark.file_bytes = writer->output.bytes + sizeof(mark);
	mark.checksum = XXH3_64bits(&mark, offsetof(struct trace_end_mark, checksum));
	error = output_write(&writer->output, &part, 1, ret_error);
	writer->totals.file_bytes = writer->output.bytes;
	return error;
}

int trace_writer_finish(struct trace_writer *writer, struct trace_error *ret_error)
{
	int error = trace_writer_flush_strings(writer, ret_error);

	if (!error && writer->misses_strings)
		error = writer_strings_tell_missing(writer, ret_error);
	if (!error)
		error = end_write(writer, ret_error);
	if (!error && writer->misses_strings)
		error = error_set(ret_error, -ENOMEM, "no memory for names or notes: the trace lacks them");
	return error;
}
