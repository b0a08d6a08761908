/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_FOLLOW_CASE_H
#define TESTS_FOLLOW_CASE_H
/*
 * follow_case.h - a recording with two CPUs and a structural stream, made with the writer, and a
 * file that grows. Blocks come in any order between two heartbeats, with losses.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <trace/format.h>
#include <trace/reader.h>
#include <trace/writer.h>
#include <unistd.h>

#include "builder.h"
#include "unit.h"

enum {
	NR_STREAMS = 3,
	NR_ROUNDS = 40,
	ROUND_NS = 1000000000,
	RECORDER_STREAM = 0xffff0000u,
	MARGIN_NS = 10000000, /* of the safe point */
};

/* ---- a recording ---- */

/** struct block - records of one stream, in the form of a sub-buffer */
struct block {
	unsigned char bytes[1 << 16];
	size_t size;
	uint32_t nr;
	uint64_t base_ns;
};

static inline void block_add(struct block *block, uint64_t ts_ns, uint16_t id, const void *payload, size_t bytes)
{
	struct trace_record record = {.time = (uint32_t)ts_ns, .id = id};
	size_t words = (sizeof(record) + bytes + 7) / 8;

	if (!block->nr)
		block->base_ns = ts_ns;
	record.words = (uint8_t)words;
	memset(block->bytes + block->size, 0, 8 * words);
	memcpy(block->bytes + block->size, &record, sizeof(record));
	memcpy(block->bytes + block->size + sizeof(record), payload, bytes);
	block->size += 8 * words;
	block->nr++;
}

/** struct recording - a file that a writer makes. @nr, @stored, @lost: of each stream so far */
struct recording {
	int fd;
	struct trace_writer *writer;
	uint64_t nr[NR_STREAMS + 1];
	uint64_t stored[NR_STREAMS + 1];
	uint64_t lost[NR_STREAMS + 1];
};

static inline void write_block(struct recording *recording, uint32_t idx, const struct block *block)
{
	struct trace_source source = {
		.records = block->bytes,
		.bytes = block->size,
		.base_ns = block->base_ns,
		.seq = ++recording->nr[idx],
		.lost_total = recording->lost[idx],
		.stream = idx < NR_STREAMS ? idx : RECORDER_STREAM,
		.cpu = idx < NR_STREAMS ? idx / 2 : 0,
		.nr_records = block->nr,
		.kind = TRACE_CHUNK_EVENTS,
	};
	struct trace_error error;
	struct trace_packed *packed;

	if (!block->nr)
		return;
	recording->stored[idx] += block->nr;
	packed = trace_writer_pack(recording->writer, &source, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(packed);
	CU_ASSERT_EQUAL_FATAL(trace_writer_write(recording->writer, packed, &error), 0);
}

static inline void write_heartbeat(struct recording *recording, uint64_t ts_ns)
{
	struct trace_trace_heartbeat payload = {.realtime_ns = ts_ns};
	struct block block = {0};

	block_add(&block, ts_ns, TRACE_EV_trace_heartbeat, &payload, sizeof(payload));
	write_block(recording, NR_STREAMS, &block);
}

/* Some events of a stream between two times; now and then some are lost before them. */
static inline void write_events(struct recording *recording, uint32_t idx, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t nr = tb_random() % 20, step = (to_ns - from_ns) / (nr + 1), ts_ns = from_ns;
	struct block block = {0};

	if (nr && tb_random() % 5 == 0)
		recording->lost[idx] += 1 + tb_random() % 9;
	for (uint64_t i = 0; i < nr; i++) {
		struct trace_sched_switch payload = {.prev_tid = (uint32_t)i, .next_tid = (uint32_t)(i + idx)};

		ts_ns += step ? tb_random() % step : 0;
		block_add(&block, ts_ns, TRACE_EV_sched_switch, &payload, sizeof(payload));
	}
	write_block(recording, idx, &block);
}

/* One flush: the streams in any order, up to any time after the flush began. */
static inline void write_round(struct recording *recording, uint64_t *ends, uint64_t flush_ns)
{
	uint32_t first = (uint32_t)(tb_random() % NR_STREAMS);

	for (uint32_t i = 0; i < NR_STREAMS; i++) {
		uint32_t idx = (first + i) % NR_STREAMS;
		uint64_t end_ns = flush_ns + tb_random() % (ROUND_NS / 2);

		write_events(recording, idx, ends[idx], end_ns);
		ends[idx] = end_ns;
	}
	if (tb_random() % 8 == 0)
		trace_writer_string(recording->writer, TRACE_STRING_IRQ, tb_random() % 4, "a later name");
	CU_ASSERT_EQUAL(trace_writer_flush_strings(recording->writer, NULL), 0);
	write_heartbeat(recording, flush_ns);
}

static inline void write_end(struct recording *recording, uint64_t end_ns)
{
	struct trace_stream_stats stats[NR_STREAMS + 1];

	recording->lost[0] += 3; /* after its last block */
	for (uint32_t i = 0; i <= NR_STREAMS; i++)
		stats[i] = (struct trace_stream_stats){.stream = i < NR_STREAMS ? i : RECORDER_STREAM,
						       .cpu = i < NR_STREAMS ? i / 2 : 0,
						       .stored = recording->stored[i],
						       .discarded = recording->lost[i],
						       .attempted = recording->stored[i] + recording->lost[i]};
	CU_ASSERT_EQUAL(trace_writer_statistics(recording->writer, stats, NR_STREAMS + 1, end_ns, NULL), 0);
	CU_ASSERT_EQUAL(trace_writer_finish(recording->writer, NULL), 0);
}

static inline struct recording recording_new(void)
{
	struct trace_writer_options options = {.size = sizeof(options), .start_ns = ROUND_NS, .start_realtime_ns = 1};
	struct recording recording = {.fd = memfd_create("recording", MFD_CLOEXEC)};

	recording.writer = trace_writer_new(recording.fd, &options, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(recording.writer);
	return recording;
}

static inline void recording_free(struct recording *recording)
{
	trace_writer_free(recording->writer);
	close(recording->fd);
}

/* A whole recording. */
static inline struct recording recording_made(void)
{
	struct recording recording = recording_new();
	uint64_t ends[NR_STREAMS] = {ROUND_NS, ROUND_NS, ROUND_NS};

	for (uint64_t round = 2; round < NR_ROUNDS; round++)
		write_round(&recording, ends, round * ROUND_NS);
	write_end(&recording, NR_ROUNDS * (uint64_t)ROUND_NS);
	return recording;
}

static const char *path_of(int fd)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static inline size_t bytes_of(int fd)
{
	struct stat stat;

	CU_ASSERT_EQUAL(fstat(fd, &stat), 0);
	return (size_t)stat.st_size;
}

/* ---- a file that grows ---- */

/** struct growth - a file that gets the bytes of another one, some at a time */
struct growth {
	unsigned char *data; /* owned */
	size_t bytes;
	size_t done;
	int to;
};

static inline struct growth growth_of(int fd, int to)
{
	struct growth growth = {.bytes = bytes_of(fd), .to = to};

	growth.data = malloc(growth.bytes);
	CU_ASSERT_EQUAL(pread(fd, growth.data, growth.bytes, 0), (ssize_t)growth.bytes);
	return growth;
}

static inline void grow(struct growth *growth, size_t bytes)
{
	if (bytes > growth->bytes - growth->done)
		bytes = growth->bytes - growth->done;
	CU_ASSERT_EQUAL(write(growth->to, growth->data + growth->done, bytes), (ssize_t)bytes);
	growth->done += bytes;
}

#endif
