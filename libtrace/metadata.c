/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* metadata.c - the chunks other than events: types, names, clock correspondences, statistics. */
#include "metadata.h"

#include "chunk.h"
#include "trace.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int load_clocks(struct trace *trace, uint64_t offset, const unsigned char *raw, size_t bytes)
{
	size_t nr = bytes / sizeof(struct trace_clock_entry);
	struct known_clock *clocks = reallocarray(trace->clocks, trace->nr_clocks + nr + 1, sizeof(*clocks));

	if (!clocks)
		return -ENOMEM;
	trace->clocks = clocks;
	for (size_t i = 0; i < nr; i++) {
		struct trace_clock_entry entry;

		memcpy(&entry, raw + i * sizeof(entry), sizeof(entry));
		clocks[trace->nr_clocks++] = (struct known_clock){{entry.monotonic_ns, entry.realtime_ns, entry.tsc},
								  offset};
	}
	return 0;
}

/* The file's statistics of a stream begin with those of the recorder; the writer's follow. */
#define SAME_OFFSET(field)                                                                                             \
	static_assert(offsetof(struct trace_statistics_stream, field) == offsetof(struct trace_stream_stats, field) && \
			      sizeof(((struct trace_statistics_stream *)0)->field) ==                                  \
				      sizeof(((struct trace_stream_stats *)0)->field),                                 \
		      "the file and the reader have " #field " at the same offset")
SAME_OFFSET(stream);
SAME_OFFSET(cpu);
SAME_OFFSET(stored);
SAME_OFFSET(discarded);
SAME_OFFSET(overwritten);
SAME_OFFSET(missed);
SAME_OFFSET(filtered);
SAME_OFFSET(attempted);
#undef SAME_OFFSET
static_assert(offsetof(struct trace_statistics_stream, written) == offsetof(struct trace_stream_stats, claimed),
	      "the file has each field of struct trace_stream_stats, and the last one at its end");

static struct trace_stream_stats stats_from_disk(const struct trace_statistics_stream *disk)
{
	return (struct trace_stream_stats){.stream = disk->stream,
					   .cpu = disk->cpu,
					   .stored = disk->stored,
					   .discarded = disk->discarded,
					   .overwritten = disk->overwritten,
					   .missed = disk->missed,
					   .filtered = disk->filtered,
					   .attempted = disk->attempted,
					   .claimed = disk->claimed};
}

static int statistics_finish(struct trace *trace, struct statistics *statistics, uint64_t end_ns)
{
	struct trace_stream_stats *streams = calloc(statistics->nr + 1, sizeof(*streams));

	if (!streams)
		return -ENOMEM;
	for (size_t i = 0; i < statistics->nr; i++) {
		streams[i] = stats_from_disk(&statistics->streams[i]);
		/* a program cannot tell the number of CPUs: plausible_load() */
		if (stream_is_of_program(streams[i].stream))
			continue;
		if (streams[i].cpu < TRACE_CPUS_MAX && streams[i].cpu >= trace->info.nr_cpus) /* a CPU without events */
			trace->info.nr_cpus = streams[i].cpu + 1;
	}
	free(trace->statistics);
	free(trace->streams);
	trace->statistics = statistics->streams;
	trace->streams = streams;
	trace->nr_streams = statistics->nr;
	trace->info.end_ns = end_ns;
	*statistics = (struct statistics){0};
	return 0;
}

static bool statistics_reserve(struct statistics *statistics, size_t more)
{
	size_t room = statistics->nr + more + 1;
	struct trace_statistics_stream *larger;

	if (room <= statistics->room)
		return true;
	if (statistics->nr)
		room += room / 2;
	larger = reallocarray(statistics->streams, room, sizeof(*larger));
	if (!larger)
		return false;
	statistics->streams = larger;
	statistics->room = room;
	return true;
}

/*
 * A version before 2.8 does not tell which losses only programs counted. Streams of the kernel have
 * none.
 */
static struct trace_statistics_stream read_stream(const unsigned char *raw, size_t bytes)
{
	struct trace_statistics_stream stream = {0};

	memcpy(&stream, raw, bytes < sizeof(stream) ? bytes : sizeof(stream));
	if (bytes < sizeof(stream) && stream.stream >= STREAM_USER_FIRST && (stream.discarded || stream.overwritten))
		stream.claimed = TRACE_CLAIMED_UNKNOWN;
	return stream;
}

/*
 * SECURITY: a chunk with a continued list must be uncompressed, so a small file cannot have an
 * unlimited number of streams.
 */
static int load_statistics(struct trace *trace, struct metadata *metadata, const struct trace_chunk_header *chunk,
			   const unsigned char *raw)
{
	struct statistics *statistics = &metadata->statistics;
	bool has_more = chunk->flags & TRACE_CHUNK_FLAG_MORE;
	struct trace_statistics_header header;
	size_t needed;

	if (!chunk->seq)
		statistics->nr = 0;
	if (chunk->seq != statistics->nr || chunk->raw_bytes < sizeof(header) ||
	    (has_more && chunk->compression != TRACE_COMPRESSION_NONE))
		return -EBADMSG;
	memcpy(&header, raw, sizeof(header));
	if (header.stream_bytes < TRACE_STATISTICS_STREAM_MIN ||
	    __builtin_mul_overflow((size_t)header.nr_streams, header.stream_bytes, &needed) ||
	    needed > chunk->raw_bytes - sizeof(header))
		return -EBADMSG;
	if (!statistics_reserve(statistics, header.nr_streams))
		return -ENOMEM;
	for (size_t i = 0; i < header.nr_streams; i++)
		statistics->streams[statistics->nr++] = read_stream(raw + sizeof(header) + i * header.stream_bytes,
								    header.stream_bytes);
	metadata->lacks_statistics = has_more;
	return has_more ? 0 : statistics_finish(trace, statistics, header.end_ns);
}

static int load_one(struct trace *trace, struct metadata *metadata, uint64_t offset,
		    const struct trace_chunk_header *header, const unsigned char *raw)
{
	switch (header->kind) {
	case TRACE_CHUNK_SCHEMA:
		return schema_add(&trace->schema, raw, header->raw_bytes);
	case TRACE_CHUNK_STRINGS:
		return string_table_add(&trace->strings, raw, header->raw_bytes);
	case TRACE_CHUNK_CLOCK:
		return load_clocks(trace, offset, raw, header->raw_bytes);
	case TRACE_CHUNK_STATISTICS:
		return load_statistics(trace, metadata, header, raw);
	default: /* events are read later; unknown kinds are from a newer version */
		return 0;
	}
}

static int metadata_damaged(struct trace *trace, size_t idx, const struct trace_chunk *chunk, const char *reason)
{
	int error = trace_mark_unusable(trace, idx);

	return error ? error
		     : trace_add_damage(trace, chunk->offset, chunk->packed_bytes,
					"offset %llu: a chunk of kind %u is damaged: %s",
					(unsigned long long)chunk->offset, chunk->kind, reason);
}

int metadata_load(struct trace *trace, struct metadata *metadata)
{
	int error = 0;

	for (; !error && metadata->next < trace->nr_metadata; metadata->next++) {
		uint32_t idx = trace->metadata[metadata->next];
		struct chunk chunk;
		struct trace_chunk_header header;
		const unsigned char *raw;
		const char *reason;

		chunk_make(trace, idx, &chunk);
		/* until the last chunk of them has been loaded */
		metadata->lacks_statistics |= chunk.public.kind == TRACE_CHUNK_STATISTICS;
		if (chunk.public.damaged)
			continue;
		metadata->bytes += chunk.public.raw_bytes;
		reason = "with it the file has more names and types than a recorder can write into a file of its size";
		error = is_beyond(&limit_metadata, trace, metadata->bytes)
				? -EBADMSG
				: chunk_payload(trace, &chunk, &metadata->unpacker, &header, &raw, &reason);
		if (!error) {
			reason = "its content is invalid";
			error = load_one(trace, metadata, chunk.public.offset, &header, raw);
			if (header.kind == TRACE_CHUNK_STATISTICS)
				trace->statistics_at = chunk.public.offset;
		}
		if (error == -EBADMSG)
			error = metadata_damaged(trace, idx, &chunk.public, reason);
	}
	return error ? error : string_table_sort(&trace->strings);
}

int metadata_end(struct trace *trace, struct metadata *metadata, int error)
{
	if (!error && metadata->lacks_statistics)
		error = trace_add_damage(trace, trace->bytes, 0,
					 "the statistics of its streams are incomplete: the number of events lost "
					 "%s is unknown",
					 trace->statistics ? "after those before them" : "after the last chunks");
	metadata_clear(metadata);
	return error;
}

void metadata_clear(struct metadata *metadata)
{
	free(metadata->statistics.streams);
	unpacker_release(&metadata->unpacker);
	*metadata = (struct metadata){0};
}
