/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench_reader.c - the cost of the trace file: bytes per event, ns to pack an event, events read
 * per second.
 *
 *	bench_reader TRACE [ROUNDS [COPY]]
 *
 * The program works on a recorded trace, so on a real mix of events. It rebuilds the records from
 * the events of TRACE, measures how long the writer takes to pack and compress them, writes them
 * to COPY, and measures how long the reader takes to read COPY. Each figure is the best of the
 * rounds, in CPU time, because the machine may do other work meanwhile.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace/format.h>
#include <trace/reader.h>
#include <trace/writer.h>
#include <unistd.h>
#include "clock_ns.h"

enum {
	BLOCK_BYTES = 1 << 20, /* the daemon's default sub-buffer */
	NR_CALLS = 512,
};

/** struct block - records of one stream, in the form of a sub-buffer */
struct block {
	struct trace_source source;
	unsigned char *records;
	struct block *next;
};

static uint64_t cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static struct block *block_new(const struct trace_event *event, uint64_t seq)
{
	struct block *block = calloc(1, sizeof(*block));

	block->records = malloc(BLOCK_BYTES);
	block->source = (struct trace_source){.records = block->records,
					      .seq = seq,
					      .base_ns = event->ts_ns,
					      .stream = event->stream,
					      .cpu = event->cpu,
					      .kind = TRACE_CHUNK_EVENTS};
	return block;
}

static void block_add(struct block *block, const struct trace_event *event)
{
	size_t bytes = (8 + event->payload_bytes + 7) & ~(size_t)7;
	struct trace_record record = {.time = (uint32_t)event->ts_ns,
				      .id = (uint16_t)event->id,
				      .words = (uint8_t)(bytes / 8)};
	unsigned char *at = block->records + block->source.bytes;

	memset(at, 0, bytes);
	memcpy(mempcpy(at, &record, 8), event->payload, event->payload_bytes);
	block->source.bytes += bytes;
	block->source.nr_records++;
}

/* A pass that ends early would give figures of a part of the trace only. */
static void end_pass(struct trace_cursor *cursor)
{
	struct trace_error error;

	if (!trace_cursor_end(cursor, &error))
		return;
	fprintf(stderr, "bench_reader: %s\n", error.message);
	exit(1);
}

/* Rebuilds the records of @trace, as a list of blocks per stream. */
static struct block *blocks_of(const struct trace *trace)
{
	struct trace_cursor_options options = {.size = sizeof(options), .no_lost = true};
	struct trace_cursor *cursor = trace_cursor_new(trace, &options, NULL);
	const struct trace_event *event;
	struct block *all = NULL, **end = &all, *open[4096] = {0};
	uint64_t seq[4096] = {0};

	while ((event = trace_cursor_next(cursor))) {
		struct block **block = &open[event->stream % 4096];

		if (!*block || (*block)->source.bytes + TRACE_RECORD_MAX_BYTES > BLOCK_BYTES ||
		    event->ts_ns - (*block)->source.base_ns > UINT32_MAX)
			*end = *block = block_new(event, ++seq[event->stream % 4096]), end = &(*block)->next;
		block_add(*block, event);
	}
	end_pass(cursor);
	return all;
}

/* The writer keeps the arguments of a system call according to its name, so it needs the names. */
static void name_calls(struct trace_writer *writer, const struct trace *trace)
{
	const enum trace_string_space spaces[] = {TRACE_STRING_SYSCALL, TRACE_STRING_SYSCALL_32};

	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
		for (uint64_t nr = 0; nr < NR_CALLS; nr++)
			if (trace_string(trace, spaces[i], nr))
				trace_writer_string(writer, spaces[i], nr, trace_string(trace, spaces[i], nr));
}

/* A trace that is not whole has no figures. */
static void check_written(int result, const struct trace_error *error)
{
	if (result >= 0)
		return;
	fprintf(stderr, "bench_reader: %s\n", error->message);
	exit(1);
}

static void copy_write(const struct trace *trace, const struct block *blocks, const char *copy)
{
	int fd = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct trace_writer *writer = trace_writer_new(fd, NULL, NULL);
	struct trace_error error = {0};

	if (!writer)
		exit(1);
	name_calls(writer, trace);
	for (const struct block *block = blocks; block; block = block->next)
		check_written(trace_writer_write(writer, trace_writer_pack(writer, &block->source, &error), &error),
			      &error);
	check_written(trace_writer_finish(writer, &error), &error);
	trace_writer_free(writer);
	close(fd);
}

/* Returns the ns to copy all records: the minimum for any way to take them out of sub-buffers. */
static uint64_t copy_ns(const struct block *blocks)
{
	unsigned char *copy = malloc(BLOCK_BYTES);
	uint64_t begin;

	memset(copy, 0, BLOCK_BYTES);
	begin = cpu_ns();
	for (const struct block *block = blocks; block; block = block->next) {
		memcpy(copy, block->records, block->source.bytes);
		__asm__ volatile("" : : "r"(copy) : "memory"); /* the compiler must not drop the copy */
	}
	begin = cpu_ns() - begin;
	free(copy);
	return begin;
}

/* Packs and writes all blocks @rounds times, and once more to the file @copy. */
static void bench_pack(const struct trace *trace, const struct block *blocks, int rounds, const char *copy)
{
	struct trace_writer *writer = trace_writer_new(open("/dev/null", O_WRONLY | O_CLOEXEC), NULL, NULL);
	uint64_t pack_ns = UINT64_MAX, write_ns = UINT64_MAX, memcpy_ns = UINT64_MAX, events = 0, record_bytes = 0;
	struct trace_writer_totals before, after;
	struct trace_error error = {0};

	for (const struct block *block = blocks; block; block = block->next) {
		events += block->source.nr_records;
		record_bytes += block->source.bytes;
	}
	name_calls(writer, trace);
	trace_writer_totals(writer, &before);
	for (int round = 0; round < rounds; round++) {
		uint64_t pack_sum = 0, write_sum = 0;

		for (const struct block *block = blocks; block; block = block->next) {
			uint64_t begin = cpu_ns(), packed_ns;
			struct trace_packed *packed = trace_writer_pack(writer, &block->source, &error);

			packed_ns = cpu_ns();
			check_written(trace_writer_write(writer, packed, &error), &error);
			write_sum += cpu_ns() - packed_ns;
			pack_sum += packed_ns - begin;
		}
		pack_ns = smaller(pack_ns, pack_sum);
		write_ns = smaller(write_ns, write_sum);
		memcpy_ns = smaller(memcpy_ns, copy_ns(blocks));
	}
	trace_writer_totals(writer, &after);
	printf("records      %10.2f bytes/event, columns %.2f, file %.3f\n", (double)record_bytes / (double)events,
	       (double)(after.raw_bytes - before.raw_bytes) / (double)(events * (uint64_t)rounds),
	       (double)(after.file_bytes - before.file_bytes) / (double)(events * (uint64_t)rounds));
	printf("memcpy       %10.2f ns/event\n", (double)memcpy_ns / (double)events);
	printf("pack         %10.2f ns/event\n", (double)pack_ns / (double)events);
	printf("compress     %10.2f ns/event\n", (double)write_ns / (double)events);
	trace_writer_free(writer);
	copy_write(trace, blocks, copy);
}

static void bench_iterate(const struct trace *trace, int rounds)
{
	uint64_t best = UINT64_MAX, events = 0, sum = 0;
	const struct trace_event *event;

	for (int round = 0; round < rounds; round++) {
		uint64_t begin = cpu_ns();
		struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);

		events = 0;
		while ((event = trace_cursor_next(cursor))) {
			events++;
			sum += event->id + *(const unsigned char *)event->payload;
		}
		end_pass(cursor);
		best = smaller(best, cpu_ns() - begin);
	}
	printf("iterate      %10.2f million events/s (%" PRIu64 " events, sum %" PRIu64 ")\n",
	       (double)events * 1e3 / (double)best, events, sum);
}

static void bench_format(const struct trace *trace)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	uint64_t begin = cpu_ns(), events = 0, bytes = 0;
	char text[4096];

	while ((event = trace_cursor_next(cursor))) {
		bytes += (uint64_t)trace_event_format(trace, event, text, sizeof(text));
		events++;
	}
	printf("format       %10.2f million events/s, %.1f characters each\n",
	       (double)events * 1e3 / (double)(cpu_ns() - begin), (double)bytes / (double)(events + 1));
	end_pass(cursor);
}

static struct trace *open_timed(const char *path)
{
	uint64_t begin = cpu_ns();
	struct trace_error error;
	struct trace *trace = trace_open(path, &error);

	if (!trace) {
		fprintf(stderr, "%s\n", error.message);
		exit(1);
	}
	printf("open         %10.3f ms, %zu chunks, %.3f bytes/event in the file\n", (double)(cpu_ns() - begin) / 1e6,
	       trace_nr_chunks(trace),
	       (double)trace_get_info(trace)->file_bytes / (double)(trace_get_info(trace)->events + 1));
	return trace;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 5;
	const char *copy = argc > 3 ? argv[3] : "/tmp/bench_reader.trace";
	struct trace *trace;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_reader TRACE [ROUNDS [COPY]]\n");
		return 2;
	}
	trace = open_timed(argv[1]);
	bench_pack(trace, blocks_of(trace), rounds, copy);
	trace_close(trace);
	trace = open_timed(copy);
	bench_iterate(trace, rounds);
	bench_format(trace);
	trace_close(trace);
	if (argc <= 3)
		unlink(copy);
	return 0;
}
