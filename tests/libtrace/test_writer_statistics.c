/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_writer_statistics.c - the counts of all streams, at the end of a trace and before. */
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <trace/format.h>
#include <unistd.h>

#include "rawfile.h"
#include "unit.h"

/* As in a build in which each process has a library with tracepoints: no stream takes the counts of
 * another. */
static void each_of_many_streams_has_its_own_counts(void)
{
	enum { NR = 3000 };
	struct trace_stream_stats *stats = calloc(NR, sizeof(*stats));
	struct rawfile *file = rawfile_new();
	struct trace *trace;
	uint64_t lost = 0;

	/* of the kernel there is one stream only */
	trace_writer_string(file->writer, TRACE_STRING_INFO, TRACE_INFO_CPUS, "7");
	for (uint32_t i = 0; i < NR; i++) {
		uint32_t stream = i * 0x10001; /* equal in the lower half and in the upper half */

		rawfile_single(file, stream, i % 7);
		stats[i] = (struct trace_stream_stats){
			.stream = stream, .cpu = i % 7, .stored = 1, .discarded = i, .attempted = 1 + i};
	}
	trace = rawfile_open_with(file, stats, NR);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	CU_ASSERT_EQUAL(trace_nr_streams(trace), NR);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), NR - 1);
	for (size_t i = 0; i < trace_nr_gaps(trace); i++) {
		const struct trace_gap *gap = trace_get_gap(trace, i);

		CU_ASSERT_EQUAL(gap->start_ns, 1000);
		CU_ASSERT_EQUAL(gap->stream, gap->lost * 0x10001);
		lost += gap->lost;
	}
	CU_ASSERT_EQUAL(lost, (uint64_t)NR * (NR - 1) / 2);
	trace_close(trace);
	free(stats);
}

/* With some more streams than two chunks hold. */
static struct trace *trace_of_many_streams(size_t nr)
{
	struct trace_stream_stats *stats = calloc(nr, sizeof(*stats));
	struct rawfile *file = rawfile_new();
	struct trace *trace;

	for (uint32_t i = 0; i < nr; i++)
		stats[i] = (struct trace_stream_stats){.stream = i, .discarded = i, .attempted = i};
	trace = rawfile_open_with(file, stats, nr);
	free(stats);
	return trace;
}

static void a_trace_may_have_more_streams_than_a_chunk_holds(void)
{
	enum { MOST = 161319, NR = 2 * MOST + 5 };
	struct trace *trace = trace_of_many_streams(NR);
	uint64_t lost = 0;

	CU_ASSERT_EQUAL(trace_nr_streams(trace), NR);
	for (size_t i = 0; i < trace_nr_streams(trace); i++)
		lost += trace_get_stream(trace, i)->stream == i && trace_get_stream(trace, i)->discarded == i;
	CU_ASSERT_EQUAL(lost, NR);
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, (uint64_t)NR * (NR - 1) / 2);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
	trace = trace_of_many_streams(MOST);
	CU_ASSERT_EQUAL(trace_nr_streams(trace), MOST);
	trace_close(trace);
}

/* The head and the streams, each with the fields of version 2.7 only. */
static void write_old_statistics(struct trace_writer *writer, const struct trace_statistics_stream *streams,
				 uint32_t nr)
{
	const size_t bytes = TRACE_STATISTICS_STREAM_MIN;
	struct trace_statistics_header head = {.nr_streams = nr, .stream_bytes = (uint32_t)bytes, .end_ns = 9999};
	struct trace_chunk_header header = {.kind = TRACE_CHUNK_STATISTICS,
					    .raw_bytes = (uint32_t)(sizeof(head) + nr * bytes)};
	unsigned char *raw = malloc(header.raw_bytes), *at = mempcpy(raw, &head, sizeof(head));

	header.packed_bytes = header.raw_bytes;
	for (uint32_t i = 0; i < nr; i++)
		at = mempcpy(at, &streams[i], bytes);
	CU_ASSERT_EQUAL(trace_writer_chunk(writer, &header, raw, NULL), 0);
	free(raw);
}

/* They count all losses, as before; the part that programs counted is not known. */
static void older_statistics_do_not_tell_what_programs_claim(void)
{
	static const struct trace_statistics_stream streams[] = {
		{.stream = 2, .cpu = 1, .discarded = 5, .attempted = 5, .claimed = 4},
		{.stream = 0x10000, .cpu = 1, .discarded = 7, .attempted = 7, .claimed = 4},
		{.stream = 0x10001, .cpu = 0, .filtered = 3, .attempted = 3, .claimed = 4}};
	struct rawfile *file = rawfile_new();
	struct trace *trace;

	write_old_statistics(file->writer, streams, 3);
	CU_ASSERT_EQUAL(trace_writer_finish(file->writer, NULL), 0);
	trace_writer_free(file->writer);
	trace = trace_open(file->path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(trace_nr_streams(trace), 3);
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 12);
	CU_ASSERT_EQUAL(trace_get_stream(trace, 0)->claimed, 0);
	CU_ASSERT_EQUAL(trace_get_stream(trace, 1)->claimed, TRACE_CLAIMED_UNKNOWN);
	CU_ASSERT_EQUAL(trace_get_stream(trace, 2)->claimed, 0);
	trace_close(trace);
	close(file->fd);
	free(file);
}

/* A number that no recorder can check is at most a part of those that it can. */
static void programs_claim_no_more_than_was_lost(void)
{
	for (uint64_t claimed = 5; claimed <= 6; claimed++) {
		const struct trace_stream_stats stats = {
			.stream = 0x10000, .cpu = 1, .discarded = 5, .attempted = 5, .claimed = claimed};
		struct rawfile *file = rawfile_new();
		struct trace_error error = {0};
		struct trace *trace = rawfile_open_with(file, &stats, 1);

		CU_ASSERT_EQUAL(trace_get_stream(trace, 0)->claimed, claimed);
		CU_ASSERT_EQUAL(trace_verify(trace, &error), claimed > 5 ? -EBADMSG : 0);
		CU_ASSERT(claimed == 5 || strstr(error.message, "programs counted 6 events lost, its counters only 5"));
		trace_close(trace);
	}
}

/* Streams end one after the other, each with an event; the last ones end with the trace. */
static void write_streams_that_end(struct rawfile *file, uint32_t nr, uint32_t nr_at_once)
{
	struct trace_stream_stats *stats = calloc(nr_at_once, sizeof(*stats));

	for (uint32_t i = 0; i < nr; i++) {
		stats[i % nr_at_once] = (struct trace_stream_stats){
			.stream = 0x10000 + i, .cpu = 1, .stored = 1, .discarded = 2, .attempted = 3, .claimed = 1};
		rawfile_single(file, 0x10000 + i, 1);
		if ((i + 1) % nr_at_once)
			continue;
		CU_ASSERT_EQUAL(i + 1 < nr ? trace_writer_end_streams(file->writer, stats, nr_at_once, NULL)
					   : trace_writer_statistics(file->writer, stats, nr_at_once, 9999, NULL),
				0);
	}
	free(stats);
}

static size_t heap_bytes(void)
{
	struct mallinfo2 heap = mallinfo2();

	return heap.uordblks + heap.hblkhd;
}

#define INDEX_BYTES 160u /* of each chunk, which has to be in the index at the end */

/*
 * A daemon runs for months, and programs come and go. Each has a chunk in this test. The writer
 * keeps the place of a chunk for the index, and nothing else of an ended stream. Without
 * trace_writer_end_streams() the accounts of a stream take more than 112 bytes.
 */
static void streams_that_have_ended_take_no_memory(void)
{
	enum { NR = 100000, AT_ONCE = 1000 };
	struct rawfile *file = rawfile_new();
	uint64_t claimed = 0, lost = 0, first = 0;
	size_t before = heap_bytes(), used;
	struct trace_error error = {0};
	struct trace *trace;

	write_streams_that_end(file, NR, AT_ONCE);
	used = heap_bytes() - before;
	/* a growing array has up to twice the room that it uses; the accounts would add 15 MB */
	CU_ASSERT(used < 2 * NR * INDEX_BYTES);
	CU_ASSERT_EQUAL(trace_writer_finish(file->writer, NULL), 0);
	trace_writer_free(file->writer);
	trace = trace_open(file->path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_verify(trace, &error), 0);
	CU_ASSERT_EQUAL(trace_nr_streams(trace), NR);
	for (size_t i = 0; i < trace_nr_streams(trace); i++) {
		const struct trace_stream_stats *stream = trace_get_stream(trace, i);

		first += stream->stream == 0x10000 + i;
		claimed += stream->claimed;
		lost += stream->discarded;
	}
	CU_ASSERT_EQUAL(first, NR);
	CU_ASSERT_EQUAL(claimed, NR);
	CU_ASSERT_EQUAL(lost, 2 * NR);
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 2 * NR);
	trace_close(trace);
	close(file->fd);
	free(file);
}

/* If the first of its chunks is damaged, the second one has a part of the statistics, which must
 * not count as all of them. */
static void incomplete_statistics_do_not_count(void)
{
	enum { MOST = 161319 };
	struct trace_stream_stats *stats = calloc(MOST + 1, sizeof(*stats));
	struct rawfile *file = rawfile_new();
	uint64_t before = (uint64_t)lseek(file->fd, 0, SEEK_END);
	struct trace *trace;

	CU_ASSERT_EQUAL(trace_writer_statistics(file->writer, stats, MOST + 1, 9999, NULL), 0);
	CU_ASSERT_EQUAL(trace_writer_finish(file->writer, NULL), 0);
	trace_writer_free(file->writer);
	CU_ASSERT_EQUAL(pwrite(file->fd, "x", 1, (off_t)before + 1000), 1);
	trace = trace_open(file->path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_nr_streams(trace), 0);
	CU_ASSERT_EQUAL_FATAL(trace_nr_damages(trace), 3);
	CU_ASSERT_PTR_NOT_NULL(strstr(trace_get_damage(trace, 2)->message, "lost after the last chunks is unknown"));
	CU_ASSERT_NOT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
	close(file->fd);
	free(file);
	free(stats);
}

/* The statistics of a recording so far do not count as those of its end. */
static void earlier_statistics_are_not_the_last_ones(void)
{
	struct trace_stream_stats stats = {.stored = 0, .discarded = 3, .attempted = 3};

	for (int damaged = 0; damaged < 3; damaged++) {
		struct rawfile *file = rawfile_new();
		uint64_t at[2] = {(uint64_t)lseek(file->fd, 0, SEEK_END)};
		struct trace *trace;

		CU_ASSERT_EQUAL(trace_writer_statistics(file->writer, &stats, 1, 5000, NULL), 0);
		at[1] = (uint64_t)lseek(file->fd, 0, SEEK_END);
		CU_ASSERT_EQUAL(trace_writer_statistics(file->writer, &stats, 1, 9999, NULL), 0);
		CU_ASSERT_EQUAL(trace_writer_finish(file->writer, NULL), 0);
		trace_writer_free(file->writer);
		if (damaged)
			CU_ASSERT_EQUAL(pwrite(file->fd, "xy", 2,
					       (off_t)(at[damaged - 1] + sizeof(struct trace_chunk_header) + 2)),
					2);
		trace = trace_open(file->path, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
		CU_ASSERT_EQUAL(trace_nr_streams(trace), 1);
		CU_ASSERT_EQUAL_FATAL(trace_nr_damages(trace), (size_t)damaged); /* of the end: two */
		if (damaged == 2)
			CU_ASSERT_PTR_NOT_NULL(
				strstr(trace_get_damage(trace, 1)->message, "lost after those before them is unknown"));
		trace_close(trace);
		close(file->fd);
		free(file);
	}
}

static void a_cpu_without_events_belongs_to_the_machine(void)
{
	const struct trace_stream_stats stats[] = {
		{.cpu = 0}, {.stream = 6, .cpu = 3}, {.stream = 8, .cpu = 8192}, {.stream = 10, .cpu = UINT32_MAX}};
	struct rawfile *file = rawfile_new();
	struct trace *trace;

	CU_ASSERT_EQUAL(trace_writer_statistics(file->writer, stats, sizeof(stats) / sizeof(stats[0]), 9999, NULL), 0);
	CU_ASSERT_EQUAL(trace_writer_finish(file->writer, NULL), 0);
	trace_writer_free(file->writer);
	trace = trace_open(file->path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_get_info(trace)->nr_cpus, 4);
	trace_close(trace);
	close(file->fd);
	free(file);
}

/* The disk was full in the middle of them, and later no longer. */
static void statistics_that_end_too_early_are_marked(void)
{
	enum { MOST = 161319 };
	struct trace_stream_stats *stats = calloc(MOST + 1, sizeof(*stats));
	struct rawfile *file = rawfile_new();
	struct rlimit limit, unlimited;
	struct trace *trace;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &unlimited);
	limit = unlimited;
	/* the first chunk and a part of the second */
	limit.rlim_cur = (rlim_t)lseek(file->fd, 0, SEEK_END) + (16 << 20) + 150;
	setrlimit(RLIMIT_FSIZE, &limit);
	CU_ASSERT_EQUAL(trace_writer_statistics(file->writer, stats, MOST + 1, 9999, NULL), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &unlimited);
	CU_ASSERT_EQUAL(trace_writer_finish(file->writer, NULL), 0);
	trace_writer_free(file->writer);
	trace = trace_open(file->path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_nr_streams(trace), 0);
	CU_ASSERT_EQUAL(trace_nr_damages(trace), 1);
	trace_close(trace);
	close(file->fd);
	free(file);
	free(stats);
}

static void counts_that_do_not_add_up_fail_to_verify(void)
{
	static const struct trace_stream_stats wrong[] = {
		{.stream = 9, .stored = 2, .attempted = 3},
		{.stream = 9, .stored = 3, .attempted = 3},
		{.stream = 9, .stored = 2, .discarded = 3, .attempted = 5},
	};
	static const struct trace_stream_stats right = {.stream = 9, .stored = 2, .discarded = 4, .attempted = 6};

	for (size_t i = 0; i <= sizeof(wrong) / sizeof(wrong[0]); i++) {
		bool is_right = i == sizeof(wrong) / sizeof(wrong[0]);
		struct rawfile *file = rawfile_new();
		struct trace_error error = {0};
		struct trace *trace;

		rawfile_exit(file, 1000, 1);
		rawfile_block(file, 1000, 0, 0);
		rawfile_exit(file, 2000, 1);
		rawfile_block(file, 2000, 4, 0);
		trace = rawfile_open(file, is_right ? &right : &wrong[i]);
		CU_ASSERT_EQUAL(trace_verify(trace, &error), is_right ? 0 : -EBADMSG);
		CU_ASSERT_TRUE(is_right || strstr(error.message, "stream 9"));
		trace_close(trace);
	}
}

static const struct unit_case cases[] = {
	CASE(each_of_many_streams_has_its_own_counts),
	CASE(a_trace_may_have_more_streams_than_a_chunk_holds),
	CASE(incomplete_statistics_do_not_count),
	CASE(earlier_statistics_are_not_the_last_ones),
	CASE(a_cpu_without_events_belongs_to_the_machine),
	CASE(older_statistics_do_not_tell_what_programs_claim),
	CASE(programs_claim_no_more_than_was_lost),
	CASE(streams_that_have_ended_take_no_memory),
	CASE(statistics_that_end_too_early_are_marked),
	CASE(counts_that_do_not_add_up_fail_to_verify),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("writer_statistics", cases, argc, argv);
}
