/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_reader_follow.c - a reader that follows a recording delivers the events of the finished
 * file, byte for byte as texts, however the file grows.
 *
 * The recording is made with the writer: two CPUs and a structural stream. Blocks come in any
 * order between two heartbeats, with losses.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <trace/analysis.h>
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

static void block_add(struct block *block, uint64_t ts_ns, uint16_t id, const void *payload, size_t bytes)
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

static void write_block(struct recording *recording, uint32_t idx, const struct block *block)
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

static void write_heartbeat(struct recording *recording, uint64_t ts_ns)
{
	struct trace_trace_heartbeat payload = {.realtime_ns = ts_ns};
	struct block block = {0};

	block_add(&block, ts_ns, TRACE_EV_trace_heartbeat, &payload, sizeof(payload));
	write_block(recording, NR_STREAMS, &block);
}

/* Some events of a stream between two times; now and then some are lost before them. */
static void write_events(struct recording *recording, uint32_t idx, uint64_t from_ns, uint64_t to_ns)
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
static void write_round(struct recording *recording, uint64_t *ends, uint64_t flush_ns)
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

static void write_end(struct recording *recording, uint64_t end_ns)
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

static struct recording recording_new(void)
{
	struct trace_writer_options options = {.size = sizeof(options), .start_ns = ROUND_NS, .start_realtime_ns = 1};
	struct recording recording = {.fd = memfd_create("recording", MFD_CLOEXEC)};

	recording.writer = trace_writer_new(recording.fd, &options, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(recording.writer);
	return recording;
}

static void recording_free(struct recording *recording)
{
	trace_writer_free(recording->writer);
	close(recording->fd);
}

/* A whole recording. */
static struct recording recording_made(void)
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

static size_t bytes_of(int fd)
{
	struct stat stat;

	CU_ASSERT_EQUAL(fstat(fd, &stat), 0);
	return (size_t)stat.st_size;
}

/* ---- a list of events, as -d ---- */

/** struct list - texts of events. @last_ns: of the last one */
struct list {
	char *text; /* owned */
	size_t bytes;
	FILE *out;
	uint64_t last_ns;
	size_t nr;
};

static struct list *list_begin(struct list *list)
{
	*list = (struct list){0};
	list->out = open_memstream(&list->text, &list->bytes);
	return list;
}

static void list_take(struct list *list, const struct trace *trace, struct trace_cursor *cursor)
{
	const struct trace_event *event;
	char text[512];

	while ((event = trace_cursor_next(cursor))) {
		trace_event_format(trace, event, text, sizeof(text));
		fprintf(list->out, "%llu %u %u %s\n", (unsigned long long)event->ts_ns, event->cpu, event->stream,
			text);
		list->last_ns = event->ts_ns;
		list->nr++;
	}
	CU_ASSERT_EQUAL(trace_cursor_error(cursor, NULL), 0);
	fflush(list->out);
}

static struct list list_of_file(const char *path)
{
	struct trace *trace = trace_open(path, NULL);
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	struct list list;

	list_take(list_begin(&list), trace, cursor);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	fclose(list.out);
	return list;
}

static bool lists_agree(const struct list *a, const struct list *b)
{
	return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0;
}

/* ---- growing ---- */

/** struct growth - a file that gets the bytes of another one, some at a time */
struct growth {
	unsigned char *data; /* owned */
	size_t bytes;
	size_t done;
	int to;
};

static struct growth growth_of(int fd, int to)
{
	struct growth growth = {.bytes = bytes_of(fd), .to = to};

	growth.data = malloc(growth.bytes);
	CU_ASSERT_EQUAL(pread(fd, growth.data, growth.bytes, 0), (ssize_t)growth.bytes);
	return growth;
}

static void grow(struct growth *growth, size_t bytes)
{
	if (bytes > growth->bytes - growth->done)
		bytes = growth->bytes - growth->done;
	CU_ASSERT_EQUAL(write(growth->to, growth->data + growth->done, bytes), (ssize_t)bytes);
	growth->done += bytes;
}

/* Follows a file that grows by at most @step bytes at a time. */
static struct list follow_growing(struct growth *growth, const char *path, size_t step)
{
	struct trace_cursor *cursor;
	struct trace *trace;
	struct list list;
	int more = 1;

	grow(growth, sizeof(struct trace_file_header) + tb_random() % step);
	trace = trace_follow(path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	cursor = trace_cursor_new(trace, NULL, NULL);
	list_begin(&list);
	while (more > 0) {
		list_take(&list, trace, cursor);
		CU_ASSERT_TRUE(!list.nr || list.last_ns < trace_follow_safe_ns(trace));
		CU_ASSERT_TRUE_FATAL(growth->done < growth->bytes);
		grow(growth, 1 + tb_random() % step);
		more = trace_follow_more(trace, NULL);
	}
	CU_ASSERT_EQUAL(more, 0);
	CU_ASSERT_EQUAL(growth->done, growth->bytes);
	CU_ASSERT_EQUAL(trace_follow_safe_ns(trace), UINT64_MAX);
	list_take(&list, trace, cursor);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	fclose(list.out);
	return list;
}

static void a_growing_file_has_the_events_of_the_finished_one(void)
{
	static const size_t steps[] = {7, 100, 1000, 20000};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct recording recording = recording_made();
		struct list all = list_of_file(path_of(recording.fd)), followed;
		int to = memfd_create("growing", MFD_CLOEXEC);
		struct growth growth = growth_of(recording.fd, to);

		followed = follow_growing(&growth, path_of(to), steps[i]);
		CU_ASSERT_TRUE(all.nr > 100);
		CU_ASSERT_TRUE(lists_agree(&all, &followed));
		free(all.text);
		free(followed.text);
		free(growth.data);
		close(to);
		recording_free(&recording);
	}
}

static void a_cursor_has_all_events_before_the_safe_point(void)
{
	struct recording recording = recording_new();
	uint64_t ends[NR_STREAMS] = {ROUND_NS, ROUND_NS, ROUND_NS};
	struct trace *trace = trace_follow(path_of(recording.fd), NULL);
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	struct trace_error error = {0};
	struct list list;

	list_begin(&list);
	for (uint64_t round = 2; round < NR_ROUNDS; round++) {
		write_round(&recording, ends, round * ROUND_NS);
		CU_ASSERT_EQUAL(trace_follow_more(trace, NULL), 1);
		list_take(&list, trace, cursor);
		CU_ASSERT_EQUAL(trace_follow_safe_ns(trace), round * ROUND_NS - MARGIN_NS);
	}
	CU_ASSERT_PTR_NULL(trace_analysis_new(trace, NULL, &error)); /* its pass would end here */
	CU_ASSERT_EQUAL(error.code, -EBUSY);
	CU_ASSERT_TRUE(list.last_ns > (NR_ROUNDS - 2) * (uint64_t)ROUND_NS);
	trace_cursor_free(cursor);
	trace_close(trace);
	fclose(list.out);
	free(list.text);
	recording_free(&recording);
}

static void a_second_cursor_and_a_seek_see_the_same(void)
{
	struct recording recording = recording_made();
	struct list all = list_of_file(path_of(recording.fd)), first, second;
	int to = memfd_create("growing", MFD_CLOEXEC), more = 1;
	struct growth growth = growth_of(recording.fd, to);
	struct trace_cursor *cursor, *again;
	struct trace *trace;

	grow(&growth, growth.bytes / 2);
	trace = trace_follow(path_of(to), NULL);
	cursor = trace_cursor_new(trace, NULL, NULL);
	list_take(list_begin(&first), trace, cursor);
	CU_ASSERT_TRUE(first.nr > 10 && first.nr < all.nr);
	while (more > 0) {
		grow(&growth, 3000);
		more = trace_follow_more(trace, NULL);
		list_take(&first, trace, cursor);
	}
	again = trace_cursor_new(trace, NULL, NULL);
	list_take(list_begin(&second), trace, again);
	CU_ASSERT_TRUE(lists_agree(&all, &first));
	CU_ASSERT_TRUE(lists_agree(&all, &second));
	trace_cursor_free(cursor);
	trace_cursor_free(again);
	trace_close(trace);
	fclose(first.out);
	fclose(second.out);
	free(first.text);
	free(second.text);
	free(all.text);
	free(growth.data);
	close(to);
	recording_free(&recording);
}

/* ---- ends ---- */

static void a_file_that_is_cut_within_a_chunk_goes_on_later(void)
{
	struct recording recording = recording_made();
	struct list all = list_of_file(path_of(recording.fd)), followed;
	int to = memfd_create("growing", MFD_CLOEXEC);
	struct growth growth = growth_of(recording.fd, to);
	struct trace_cursor *cursor;
	struct trace *trace;
	int more = 1;

	grow(&growth, growth.bytes / 3 + 11);
	trace = trace_follow(path_of(to), NULL);
	cursor = trace_cursor_new(trace, NULL, NULL);
	list_take(list_begin(&followed), trace, cursor);
	for (int i = 0; i < 5; i++) { /* nothing comes */
		CU_ASSERT_EQUAL(trace_follow_more(trace, NULL), 1);
		list_take(&followed, trace, cursor);
	}
	CU_ASSERT_EQUAL(trace_nr_damages(trace), 0);
	grow(&growth, growth.bytes);
	more = trace_follow_more(trace, NULL);
	list_take(&followed, trace, cursor);
	CU_ASSERT_EQUAL(more, 0);
	CU_ASSERT_TRUE(lists_agree(&all, &followed));
	trace_cursor_free(cursor);
	trace_close(trace);
	fclose(followed.out);
	free(followed.text);
	free(all.text);
	free(growth.data);
	close(to);
	recording_free(&recording);
}

static void the_end_of_a_dead_recorder_is_that_of_the_cut_file(void)
{
	struct recording recording = recording_made();
	int to = memfd_create("growing", MFD_CLOEXEC);
	struct growth growth = growth_of(recording.fd, to);
	struct list all, followed;
	struct trace_cursor *cursor;
	struct trace *trace;

	grow(&growth, growth.bytes / 2 + 17);
	all = list_of_file(path_of(to));
	trace = trace_follow(path_of(to), NULL);
	cursor = trace_cursor_new(trace, NULL, NULL);
	list_take(list_begin(&followed), trace, cursor);
	CU_ASSERT_EQUAL(trace_follow_end(trace, NULL), 0);
	list_take(&followed, trace, cursor);
	CU_ASSERT_EQUAL(trace_follow_more(trace, NULL), 0);
	CU_ASSERT_FALSE(trace_get_info(trace)->clean_end);
	CU_ASSERT_TRUE(lists_agree(&all, &followed));
	trace_cursor_free(cursor);
	trace_close(trace);
	fclose(followed.out);
	free(followed.text);
	free(all.text);
	free(growth.data);
	close(to);
	recording_free(&recording);
}

static void a_finished_trace_is_one_of_trace_open(void)
{
	struct recording recording = recording_made();
	struct trace *followed = trace_follow(path_of(recording.fd), NULL),
		     *opened = trace_open(path_of(recording.fd), NULL);
	const struct trace_info *x = trace_get_info(followed), *y = trace_get_info(opened);

	CU_ASSERT_EQUAL(trace_follow_more(followed, NULL), 0);
	CU_ASSERT_EQUAL(x->events, y->events);
	CU_ASSERT_EQUAL(x->lost, y->lost);
	CU_ASSERT_EQUAL(x->start_ns, y->start_ns);
	CU_ASSERT_EQUAL(x->end_ns, y->end_ns);
	CU_ASSERT_EQUAL(x->nr_cpus, y->nr_cpus);
	CU_ASSERT_EQUAL(x->clean_end, y->clean_end);
	CU_ASSERT_EQUAL(trace_nr_chunks(followed), trace_nr_chunks(opened));
	CU_ASSERT_EQUAL(trace_nr_types(followed), trace_nr_types(opened));
	CU_ASSERT_EQUAL(trace_nr_gaps(followed), trace_nr_gaps(opened));
	CU_ASSERT_EQUAL(trace_nr_streams(followed), trace_nr_streams(opened));
	CU_ASSERT_EQUAL(trace_verify(followed, NULL), 0);
	CU_ASSERT_STRING_EQUAL(trace_string(followed, TRACE_STRING_IRQ, 0) ?: "",
			       trace_string(opened, TRACE_STRING_IRQ, 0) ?: "");
	trace_close(followed);
	trace_close(opened);
	recording_free(&recording);
}

static void an_event_that_comes_late_is_delivered(void)
{
	struct recording recording = recording_new();
	struct trace_sched_switch payload = {.prev_tid = 1, .next_tid = 7};
	struct trace *trace = trace_follow(path_of(recording.fd), NULL);
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	struct block block = {0};
	struct list list;

	list_begin(&list);
	block_add(&block, 2 * (uint64_t)ROUND_NS, TRACE_EV_sched_switch, &payload, sizeof(payload));
	write_block(&recording, 0, &block);
	write_heartbeat(&recording, 4 * (uint64_t)ROUND_NS);
	CU_ASSERT_EQUAL(trace_follow_more(trace, NULL), 1);
	list_take(&list, trace, cursor);
	CU_ASSERT_EQUAL(list.nr, 1);
	block = (struct block){0};
	block_add(&block, 3 * (uint64_t)ROUND_NS, TRACE_EV_sched_switch, &payload, sizeof(payload));
	write_block(&recording, 2, &block);
	write_heartbeat(&recording, 5 * (uint64_t)ROUND_NS);
	CU_ASSERT_EQUAL(trace_follow_more(trace, NULL), 1);
	list_take(&list, trace, cursor);
	CU_ASSERT_EQUAL(list.nr, 3); /* it, and the first heartbeat */
	trace_cursor_free(cursor);
	trace_close(trace);
	fclose(list.out);
	free(list.text);
	recording_free(&recording);
}

/* ---- refused ---- */

static void a_file_without_a_header_is_to_be_tried_again(void)
{
	int fd = memfd_create("empty", MFD_CLOEXEC);
	struct trace_error error = {0};

	CU_ASSERT_PTR_NULL(trace_follow(path_of(fd), &error));
	CU_ASSERT_EQUAL(error.code, -EAGAIN);
	CU_ASSERT_PTR_NULL(trace_follow("/nowhere/to/be/found", &error));
	CU_ASSERT_EQUAL(error.code, -ENOENT);
	CU_ASSERT_EQUAL(ftruncate(fd, 4096), 0);
	CU_ASSERT_PTR_NULL(trace_follow(path_of(fd), &error));
	CU_ASSERT_EQUAL(error.code, -EINVAL);
	close(fd);
}

static void a_file_that_becomes_shorter_is_refused(void)
{
	struct recording recording = recording_made();
	int to = memfd_create("growing", MFD_CLOEXEC);
	struct growth growth = growth_of(recording.fd, to);
	struct trace_error error = {0};
	struct trace *trace;

	grow(&growth, growth.bytes / 2);
	trace = trace_follow(path_of(to), NULL);
	CU_ASSERT_EQUAL(ftruncate(to, 1000), 0);
	CU_ASSERT_EQUAL(trace_follow_more(trace, &error), -ESTALE);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "cut"));
	trace_close(trace);
	free(growth.data);
	close(to);
	recording_free(&recording);
}

/* ---- a pipe ---- */

static void a_pipe_has_the_events_of_the_file(void)
{
	struct recording recording = recording_made();
	struct list all = list_of_file(path_of(recording.fd)), followed;
	int ends[2], stdin_copy = dup(STDIN_FILENO), more = 1;
	struct growth growth;
	struct trace_cursor *cursor;
	struct trace *trace;

	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	growth = growth_of(recording.fd, ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	grow(&growth, 1000);
	trace = trace_follow("-", NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	cursor = trace_cursor_new(trace, NULL, NULL);
	list_begin(&followed);
	while (more > 0) {
		list_take(&followed, trace, cursor);
		grow(&growth, 1 + tb_random() % 5000);
		more = trace_follow_more(trace, NULL);
	}
	list_take(&followed, trace, cursor);
	CU_ASSERT_TRUE(lists_agree(&all, &followed));
	trace_cursor_free(cursor);
	trace_close(trace);
	dup2(stdin_copy, STDIN_FILENO);
	close(stdin_copy);
	close(ends[1]);
	fclose(followed.out);
	free(followed.text);
	free(all.text);
	free(growth.data);
	recording_free(&recording);
}

static const struct unit_case cases[] = {
	CASE(a_growing_file_has_the_events_of_the_finished_one),
	CASE(a_cursor_has_all_events_before_the_safe_point),
	CASE(a_second_cursor_and_a_seek_see_the_same),
	CASE(a_file_that_is_cut_within_a_chunk_goes_on_later),
	CASE(the_end_of_a_dead_recorder_is_that_of_the_cut_file),
	CASE(a_finished_trace_is_one_of_trace_open),
	CASE(an_event_that_comes_late_is_delivered),
	CASE(a_file_without_a_header_is_to_be_tried_again),
	CASE(a_file_that_becomes_shorter_is_refused),
	CASE(a_pipe_has_the_events_of_the_file),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("reader_follow", cases, argc, argv);
}
