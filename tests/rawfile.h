/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TEST_RAWFILE_H
#define TEST_RAWFILE_H
/* rawfile.h - a trace of blocks built record by record, as no recorder would write them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace/reader.h>
#include <trace/writer.h>
#include <unistd.h>
#include "builder.h"
#include "unit.h"

/**
 * struct rawfile - a trace with records that the test builds byte by byte
 */
struct rawfile {
	struct trace_writer *writer;
	uint64_t end_ns; /* the latest begin of a block */
	char path[64];
	int fd;
	uint64_t words[512];
	size_t nr_words;
	uint32_t nr_records;
	uint64_t seq;
};

static inline struct rawfile *rawfile_new(void)
{
	struct rawfile *file = calloc(1, sizeof(*file));

	file->fd = memfd_create("raw", MFD_CLOEXEC);
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	file->writer = trace_writer_new(file->fd, NULL, NULL);
	return file;
}

static inline void rawfile_record(struct rawfile *file, uint32_t time, uint32_t id, uint32_t words, const void *payload,
				  size_t bytes)
{
	struct trace_record record = {.time = time, .id = (uint16_t)id, .words = (uint8_t)words};

	memcpy(&file->words[file->nr_words], &record, 8);
	memcpy(&file->words[file->nr_words + 1], payload, bytes);
	file->nr_words += 1 + (bytes + 7) / 8;
	file->nr_records++;
}

static inline void rawfile_exit(struct rawfile *file, uint32_t time, int64_t ret)
{
	rawfile_record(file, time, TRACE_EV_sys_exit, 2, &ret, 8);
}

static inline int rawfile_block(struct rawfile *file, uint64_t base_ns, uint64_t lost_total, uint16_t cause)
{
	struct trace_source source = {.records = file->words,
				      .bytes = file->nr_words * 8,
				      .base_ns = base_ns,
				      .seq = ++file->seq,
				      .lost_total = lost_total,
				      .stream = 9,
				      .cpu = 2,
				      .nr_records = file->nr_records,
				      .kind = TRACE_CHUNK_EVENTS,
				      .lost_cause = cause};

	file->end_ns = file->end_ns > base_ns ? file->end_ns : base_ns;
	file->nr_words = file->nr_records = 0;
	return trace_writer_write(file->writer, trace_writer_pack(file->writer, &source, NULL), NULL);
}

/* One event at 1000 ns on @cpu, in its own @stream. */
static inline void rawfile_single(struct rawfile *file, uint32_t stream, uint32_t cpu)
{
	struct trace_source source = {.records = file->words,
				      .bytes = 16,
				      .base_ns = 1000,
				      .seq = 1,
				      .stream = stream,
				      .cpu = cpu,
				      .nr_records = 1,
				      .kind = TRACE_CHUNK_EVENTS};

	file->nr_words = 0;
	rawfile_exit(file, 1000, 0);
	CU_ASSERT_EQUAL(trace_writer_write(file->writer, trace_writer_pack(file->writer, &source, NULL), NULL), 0);
}

/* A block of 100 events with random payloads: about 1 KB that does not compress. */
static inline int rawfile_random(struct rawfile *file, uint32_t nr)
{
	for (uint32_t i = 0; i < 100; i++)
		rawfile_exit(file, nr * 1000 + i, (int64_t)tb_random());
	return rawfile_block(file, nr * 1000, 0, 0);
}

/* @nr records of no event type, as a program leaves them that overwrites its own buffers. */
static inline void rawfile_nonsense(struct rawfile *file, uint64_t base_ns, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		rawfile_record(file, (uint32_t)base_ns, 245, 2, "8 bytes.", 8);
	CU_ASSERT_EQUAL(rawfile_block(file, base_ns, 0, 0), 0);
}

static inline struct trace *rawfile_open_with(struct rawfile *file, const struct trace_stream_stats *stats, size_t nr)
{
	struct trace *trace;

	CU_ASSERT_EQUAL(
		trace_writer_statistics(file->writer, stats, nr, file->end_ns > 9999 ? file->end_ns : 9999, NULL), 0);
	CU_ASSERT_EQUAL(trace_writer_finish(file->writer, NULL), 0);
	trace_writer_free(file->writer);
	trace = trace_open(file->path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	close(file->fd);
	free(file);
	return trace;
}

static inline struct trace *rawfile_open(struct rawfile *file, const struct trace_stream_stats *stats)
{
	return rawfile_open_with(file, stats, stats ? 1 : 0);
}

/* Gap @idx is one made by rawfile_nonsense(). */
static inline void rawfile_check_gap(const struct trace *trace, size_t idx, uint64_t start_ns, uint64_t end_ns,
				     uint64_t lost)
{
	const struct trace_gap *gap = trace_get_gap(trace, idx);

	CU_ASSERT_EQUAL(gap->cause, TRACE_GAP_SUSPECT);
	CU_ASSERT_EQUAL(gap->start_ns, start_ns);
	CU_ASSERT_EQUAL(gap->end_ns, end_ns);
	CU_ASSERT_EQUAL(gap->lost, lost);
	CU_ASSERT_EQUAL(gap->stream, 9);
}

#endif
