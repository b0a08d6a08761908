/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_level.c - the compression level follows the bottleneck of a recording, and chunks written at
 * any level can be read. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace/reader.h>
#include <trace/writer.h>
#include <unistd.h>

#include "level.h"
#include "unit.h"
#include "writer_thread.h"

enum {
	LIMIT = 1000,
	DISK = 90, /* of 100 ns, in system calls */
	CPU = 10,
};

/* The level after @blocks equal blocks. */
static int after(struct level *level, unsigned int blocks, uint64_t write_ns, size_t queued)
{
	int now = 0;

	for (unsigned int i = 0; i < blocks; i++)
		now = level_block(level, write_ns, 100, queued, LIMIT);
	return now;
}

static void the_level_is_the_default_while_there_is_room(void)
{
	struct level level = {0};

	CU_ASSERT_EQUAL(after(&level, 1000, DISK, 0), LEVEL_USUAL);
	CU_ASSERT_EQUAL(after(&level, 1000, CPU, LIMIT / 2 - 1), LEVEL_USUAL);
	CU_ASSERT_EQUAL(after(&level, 1000, DISK, LIMIT / 2 - 1), LEVEL_USUAL);
}

static void a_slow_disk_raises_the_level_and_a_slow_cpu_lowers_it(void)
{
	struct level level = {0};
	int before = LEVEL_USUAL;

	for (int i = 0; i < 3; i++) {
		int now = after(&level, LEVEL_BLOCKS, DISK, LIMIT);

		CU_ASSERT_TRUE(now > before);
		before = now;
	}
	CU_ASSERT_EQUAL(after(&level, 100 * LEVEL_BLOCKS, DISK, 2 * LIMIT), 6);
	CU_ASSERT_EQUAL(after(&level, 3 * LEVEL_BLOCKS, CPU, LIMIT / 2), LEVEL_USUAL);
	CU_ASSERT_TRUE(after(&level, LEVEL_BLOCKS, CPU, LIMIT / 2) < LEVEL_USUAL);
	CU_ASSERT_EQUAL(after(&level, 100 * LEVEL_BLOCKS, CPU, LIMIT), -3);
}

static void the_level_changes_at_most_every_eighth_block(void)
{
	struct level level = {0};

	CU_ASSERT_EQUAL(after(&level, LEVEL_BLOCKS - 1, DISK, LIMIT), LEVEL_USUAL);
	CU_ASSERT_EQUAL(after(&level, 1, DISK, LIMIT), 3);
	CU_ASSERT_EQUAL(after(&level, LEVEL_BLOCKS - 1, DISK, LIMIT), 3);
	CU_ASSERT_EQUAL(after(&level, 1, DISK, LIMIT), 4);
}

/* All blocks since the last decision count, not only the last one. */
static void the_longer_total_time_decides(void)
{
	struct level level = {0};

	level_block(&level, 10000, 10100, LIMIT, LIMIT);
	CU_ASSERT_EQUAL(after(&level, LEVEL_BLOCKS - 1, 0, LIMIT), 3);
	level_block(&level, 100, 10100, LIMIT, LIMIT);
	CU_ASSERT_EQUAL(after(&level, LEVEL_BLOCKS - 1, 100, LIMIT), LEVEL_USUAL);
}

static void the_level_returns_when_the_queue_is_empty(void)
{
	struct level level = {0};

	after(&level, 100 * LEVEL_BLOCKS, DISK, LIMIT);
	CU_ASSERT_EQUAL(after(&level, 100 * LEVEL_BLOCKS, DISK, LIMIT / 8), 6); /* in between it stays */
	CU_ASSERT_EQUAL(after(&level, LEVEL_BLOCKS, DISK, 0), 4);
	CU_ASSERT_EQUAL(after(&level, 2 * LEVEL_BLOCKS, DISK, 0), LEVEL_USUAL);
	after(&level, 100 * LEVEL_BLOCKS, CPU, LIMIT);
	CU_ASSERT_EQUAL(after(&level, LEVEL_BLOCKS, CPU, 0), -1);
	CU_ASSERT_EQUAL(after(&level, 100 * LEVEL_BLOCKS, CPU, 0), LEVEL_USUAL);
}

/* ---- in files ---- */

enum { NR_RECORDS = 8000 };

/* Records that compress a little, always the same ones. */
static struct trace_packed *pack(struct trace_writer *writer, uint64_t seq)
{
	struct record {
		struct trace_record head;
		struct trace_sched_waking payload;
	} *records = calloc(NR_RECORDS, sizeof(*records));
	struct trace_source source = {.records = records,
				      .bytes = NR_RECORDS * sizeof(*records),
				      .base_ns = seq << 24,
				      .seq = seq,
				      .nr_records = NR_RECORDS,
				      .kind = TRACE_CHUNK_EVENTS};
	unsigned int state = 1;
	struct trace_packed *packed;

	for (uint32_t i = 0; i < NR_RECORDS; i++) {
		records[i].head = (struct trace_record){.time = (uint32_t)(seq << 24) + i * 100,
							.id = TRACE_EV_sched_waking,
							.words = sizeof(*records) / 8};
		for (size_t byte = 0; byte < 4; byte++)
			((unsigned char *)&records[i].payload)[byte] =
				(unsigned char)("etaoin shrdlu and so on "[rand_r(&state) % 24] + (i % 64 == 0));
	}
	packed = trace_writer_pack(writer, &source, NULL);
	free(records);
	return packed;
}

/**
 * struct sizes - compressed bytes of chunks
 */
struct sizes {
	uint32_t first;
	uint32_t smallest;
	uint32_t largest;
};

/* Checks that the events of every chunk are in the file. */
static struct sizes read_back(const char *path, size_t nr_blocks)
{
	struct trace_error error = {0};
	struct trace *trace = trace_open(path, &error);
	struct sizes sizes = {.smallest = UINT32_MAX};

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_get_info(trace)->events, nr_blocks * NR_RECORDS);
	CU_ASSERT_EQUAL(trace_verify(trace, &error), 0);
	for (size_t i = 0; i < trace_nr_chunks(trace); i++) {
		const struct trace_chunk *chunk = trace_get_chunk(trace, i);

		if (chunk->kind != TRACE_CHUNK_EVENTS)
			continue;
		sizes.first = sizes.first ? sizes.first : chunk->packed_bytes;
		sizes.smallest = sizes.smallest < chunk->packed_bytes ? sizes.smallest : chunk->packed_bytes;
		sizes.largest = sizes.largest > chunk->packed_bytes ? sizes.largest : chunk->packed_bytes;
	}
	trace_close(trace);
	return sizes;
}

static void chunks_of_all_levels_read_alike(void)
{
	static const int levels[] = {-3, -1, 1, 3, 4, 6, 19};
	int fd = memfd_create("levels", MFD_CLOEXEC);
	struct trace_writer *writer = trace_writer_new(fd, NULL, NULL);
	struct trace_error error;
	struct sizes sizes;
	char path[64];

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		trace_writer_set_level(writer, levels[i]);
		CU_ASSERT_EQUAL(trace_writer_write(writer, pack(writer, i + 1), &error), 0);
	}
	CU_ASSERT_EQUAL(trace_writer_finish(writer, &error), 0);
	trace_writer_free(writer);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	sizes = read_back(path, sizeof(levels) / sizeof(levels[0]));
	CU_ASSERT_TRUE(sizes.smallest < sizes.first);
	close(fd);
}

/**
 * struct slow_disk - the reading end of a pipe, and the file to which all of it is written
 */
struct slow_disk {
	int pipe[2];
	int fd;
};

/* A writer that fills the pipe waits, 5 ms each time. */
static void *slow_disk_main(void *context)
{
	struct slow_disk *disk = context;
	char bytes[4096];
	ssize_t nr;

	while ((nr = read(disk->pipe[0], bytes, sizeof(bytes))) > 0) {
		if (write(disk->fd, bytes, (size_t)nr) != nr)
			abort();
		usleep(5000);
	}
	return NULL;
}

/* All blocks are equal, so a smaller chunk was compressed more. */
static void a_recording_on_a_slow_disk_is_compressed_more(void)
{
	enum { BLOCKS = 5 * LEVEL_BLOCKS };
	struct slow_disk disk = {.fd = memfd_create("disk", MFD_CLOEXEC)};
	struct trace_writer *writer;
	struct writer_thread *thread;
	struct trace_error error = {0};
	struct sizes sizes;
	pthread_t reader;
	char path[64];

	CU_ASSERT_EQUAL_FATAL(pipe2(disk.pipe, O_CLOEXEC), 0);
	fcntl(disk.pipe[1], F_SETPIPE_SZ, 4096);
	pthread_create(&reader, NULL, slow_disk_main, &disk);
	writer = trace_writer_new(disk.pipe[1], NULL, &error);
	/* with a limit of 1, any waiting block is over the limit */
	thread = writer_thread_new(writer, disk.pipe[1], 1, &error);
	writer_thread_adapt(thread);
	for (uint64_t i = 0; i < BLOCKS; i++)
		CU_ASSERT_EQUAL(writer_thread_push(thread, pack(writer, i + 1), NR_RECORDS, NULL), 0);
	writer_thread_stop(thread);
	CU_ASSERT_EQUAL(writer_thread_error(thread, &error), 0);
	CU_ASSERT_EQUAL(trace_writer_finish(writer, &error), 0);
	writer_thread_free(thread);
	trace_writer_free(writer);
	close(disk.pipe[1]);
	pthread_join(reader, NULL);
	close(disk.pipe[0]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", disk.fd);
	sizes = read_back(path, BLOCKS);
	CU_ASSERT_TRUE(sizes.smallest < sizes.first - sizes.first / 50); /* different times alone make a byte or two */
	close(disk.fd);
}

/* The file is in memory, and more blocks wait than the writer can compress. */
static struct sizes record_into_memory(void)
{
	enum { BLOCKS = 5 * LEVEL_BLOCKS };
	int fd = memfd_create("memory", MFD_CLOEXEC);
	struct trace_error error = {0};
	struct trace_writer *writer = trace_writer_new(fd, NULL, &error);
	struct writer_thread *thread = writer_thread_new(writer, fd, 1, &error);
	struct trace_packed *packed[BLOCKS];
	struct sizes sizes;
	char path[64];

	writer_thread_adapt(thread);
	for (uint64_t i = 0; i < BLOCKS; i++)
		packed[i] = pack(writer, i + 1);
	for (size_t i = 0; i < BLOCKS; i++)
		CU_ASSERT_EQUAL(writer_thread_push(thread, packed[i], NR_RECORDS, NULL), 0);
	writer_thread_stop(thread);
	CU_ASSERT_EQUAL(writer_thread_error(thread, &error), 0);
	CU_ASSERT_EQUAL(trace_writer_finish(writer, &error), 0);
	writer_thread_free(thread);
	trace_writer_free(writer);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	sizes = read_back(path, BLOCKS);
	close(fd);
	return sizes;
}

/* A writer that loses its CPU in the middle of a write takes that for a slow disk, but not every
 * time. */
static void a_recording_that_waits_for_the_cpu_is_compressed_less(void)
{
	bool less = false, more = true;

	for (int i = 0; i < 10 && (more || !less); i++) {
		struct sizes sizes = record_into_memory();

		less = sizes.largest > sizes.first + sizes.first / 50;
		more = sizes.smallest < sizes.first - sizes.first / 50;
	}
	CU_ASSERT_TRUE(less);
	CU_ASSERT_FALSE(more);
}

static const struct unit_case cases[] = {
	{"the_level_is_the_default_while_there_is_room", the_level_is_the_default_while_there_is_room},
	{"a_slow_disk_raises_the_level_and_a_slow_cpu_lowers_it",
	 a_slow_disk_raises_the_level_and_a_slow_cpu_lowers_it},
	{"the_level_changes_at_most_every_eighth_block", the_level_changes_at_most_every_eighth_block},
	{"the_longer_total_time_decides", the_longer_total_time_decides},
	{"the_level_returns_when_the_queue_is_empty", the_level_returns_when_the_queue_is_empty},
	{"chunks_of_all_levels_read_alike", chunks_of_all_levels_read_alike},
	{"a_recording_on_a_slow_disk_is_compressed_more", a_recording_on_a_slow_disk_is_compressed_more},
	{"a_recording_that_waits_for_the_cpu_is_compressed_less",
	 a_recording_that_waits_for_the_cpu_is_compressed_less},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("level", cases, argc, argv);
}
