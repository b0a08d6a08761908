/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TEST_RAWFILE_H
#define TEST_RAWFILE_H
/* rawfile.h - a trace of blocks that are made record by record, as no recorder would. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace/reader.h>
#include <trace/writer.h>
#include <unistd.h>
#include "unit.h"

/** struct rawfile - a trace whose records the test makes itself, byte by byte */
struct rawfile {
	struct trace_writer *writer;
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

static inline void rawfile_record(struct rawfile *file, uint32_t time, uint32_t id, uint32_t words, const void *payload, size_t bytes)
{
	struct trace_record record = { .time = time, .id = (uint16_t)id, .words = (uint8_t)words };

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
	struct trace_source source = { .records = file->words,
				       .bytes = file->nr_words * 8,
				       .base_ns = base_ns,
				       .seq = ++file->seq,
				       .lost_total = lost_total,
				       .stream = 9,
				       .cpu = 2,
				       .nr_records = file->nr_records,
				       .kind = TRACE_CHUNK_EVENTS,
				       .lost_cause = cause };

	file->nr_words = file->nr_records = 0;
	return trace_writer_write(file->writer, trace_writer_pack(file->writer, &source, NULL), NULL);
}

static inline struct trace *rawfile_open_with(struct rawfile *file, const struct trace_stream_stats *stats, size_t nr)
{
	struct trace *trace;

	CU_ASSERT_EQUAL(trace_writer_statistics(file->writer, stats, nr, 9999, NULL), 0);
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

#endif
