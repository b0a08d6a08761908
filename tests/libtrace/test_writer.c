/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_writer.c - the input of the writer: good, bad and too large blocks, streams, counts that do
 * not add up; and output that fails. */
#include <fcntl.h>
#include <malloc.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

#include "image.h"
#include "rawfile.h"
#include "unit.h"

/* ---- the writer's input ---- */

/* As in the daemon's queue: several blocks of different sizes are packed before the first of them
 * is written, and later blocks reuse their memory. */
static void blocks_that_wait_keep_their_content(void)
{
	struct rawfile *file = rawfile_new();
	struct trace_packed *packed[5];
	struct trace_cursor *cursor;
	struct trace *trace;
	uint64_t words[2 * 2000], nr = 0, found = 0;
	const struct trace_event *event;

	for (uint32_t round = 0; round < 6; round++) {
		for (uint32_t i = 0; i < 5; i++) {
			uint32_t nr_records = (i + round) % 3 ? 2000 : 5;
			struct trace_source source = {.records = words,
						      .bytes = nr_records * 16,
						      .base_ns = 1000 * nr,
						      .seq = ++file->seq,
						      .nr_records = nr_records,
						      .kind = TRACE_CHUNK_EVENTS};

			for (uint32_t j = 0; j < nr_records; j++, nr++) {
				struct trace_record record = {.time = (uint32_t)(1000 * nr),
							      .id = TRACE_EV_sys_exit,
							      .words = 2};

				memcpy(&words[2 * j], &record, 8);
				words[2 * j + 1] = nr;
			}
			packed[i] = trace_writer_pack(file->writer, &source, NULL);
		}
		if (round == 3)
			packed[4] = trace_packed_free(packed[4]); /* taken out of the queue */
		for (uint32_t i = 0; i < 5; i++)
			CU_ASSERT_TRUE(!packed[i] || !trace_writer_write(file->writer, packed[i], NULL));
	}
	trace = rawfile_open(file, NULL);
	cursor = trace_cursor_new(
		trace, &(struct trace_cursor_options){.size = sizeof(struct trace_cursor_options), .no_lost = true},
		NULL);
	for (; (event = trace_cursor_next(cursor)); found++)
		CU_ASSERT_EQUAL(event->ts_ns, 1000 * (uint64_t)((const struct trace_sys_exit *)event->payload)->ret);
	CU_ASSERT_TRUE(found == nr - 2000 || found == nr - 5);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
}

/* ---- a chunk that is compressed once more ---- */

/** struct shrunk - two traces of the same chunks: as they came, and shorter */
struct shrunk {
	struct rawfile *files[2];
	struct trace_shrinker *shrinker;
	uint64_t nr, nr_shorter, bytes, shorter_bytes, nr_longer;
};

static int take_chunk(void *context, const struct trace_chunk_header *header, const void *payload)
{
	struct shrunk *shrunk = context;
	struct trace_chunk_header shorter = *header;
	unsigned char *copy = malloc(header->packed_bytes);

	if (header->kind == TRACE_CHUNK_EVENTS) {
		shorter.packed_bytes = (uint32_t)trace_shrink_chunk(shrunk->shrinker, header, payload, 15, copy);
		shrunk->nr++;
		shrunk->nr_shorter += shorter.packed_bytes < header->packed_bytes;
		shrunk->nr_longer += shorter.packed_bytes > header->packed_bytes;
		shrunk->bytes += header->packed_bytes;
		shrunk->shorter_bytes += shorter.packed_bytes;
		CU_ASSERT_EQUAL(trace_writer_chunk(shrunk->files[0]->writer, header, payload, NULL), 0);
		CU_ASSERT_EQUAL(trace_writer_chunk(shrunk->files[1]->writer, &shorter,
						   shorter.packed_bytes < header->packed_bytes ? copy : payload, NULL),
				0);
	}
	free(copy);
	return 0;
}

/* Results of calls and names of programs that repeat, but not exactly. */
static void write_repeating(struct trace_writer *writer, uint64_t seq, uint32_t nr_records)
{
	uint64_t *words = calloc(nr_records, 48), nr_words = 0;
	struct trace_source source = {
		.records = words, .seq = seq, .nr_records = nr_records, .kind = TRACE_CHUNK_EVENTS};
	uint32_t random = 1;

	for (uint32_t i = 0; i < nr_records; i++) {
		random = random * 1664525 + 1013904223;
		struct trace_record record = {.time = 50 * i + random % 40, .id = TRACE_EV_sys_exit, .words = 2};

		if (i % 7 == 3) {
			record.id = TRACE_EV_trace_mark;
			record.words = 5;
			snprintf((char *)&words[nr_words + 1], 32, "request %u of %u", random >> 22, i / 64);
		} else {
			words[nr_words + 1] = (random >> 8) % 50 * (1 + i / 1000);
		}
		memcpy(&words[nr_words], &record, 8);
		nr_words += record.words;
	}
	source.bytes = nr_words * 8;
	CU_ASSERT_EQUAL(trace_writer_write(writer, trace_writer_pack(writer, &source, NULL), NULL), 0);
	free(words);
}

static void a_chunk_that_is_compressed_once_more_has_the_same_events(void)
{
	struct shrunk shrunk = {.files = {rawfile_new(), rawfile_new()}, .shrinker = trace_shrinker_new()};
	struct trace_writer_options options = {.size = sizeof(options), .take = take_chunk, .take_context = &shrunk};
	struct trace_writer *writer = trace_writer_new(-1, &options, NULL);
	struct trace *traces[2];
	struct trace_cursor *cursors[2];
	const struct trace_event *events[2];
	uint64_t nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(shrunk.shrinker);
	write_repeating(writer, 1, 20000);
	write_repeating(writer, 2, 1);
	trace_writer_free(writer);
	CU_ASSERT_EQUAL(shrunk.nr, 2);
	CU_ASSERT(shrunk.nr_shorter >= 1);
	CU_ASSERT_EQUAL(shrunk.nr_longer, 0);
	CU_ASSERT(shrunk.shorter_bytes < shrunk.bytes - shrunk.bytes / 50);
	for (int i = 0; i < 2; i++) {
		struct trace_cursor_options all = {.size = sizeof(all)};

		traces[i] = rawfile_open(shrunk.files[i], NULL);
		cursors[i] = trace_cursor_new(traces[i], &all, NULL);
	}
	do {
		for (int i = 0; i < 2; i++)
			events[i] = trace_cursor_next(cursors[i]);
		if (!events[0] || !events[1])
			break;
		CU_ASSERT(events[0]->ts_ns == events[1]->ts_ns && events[0]->id == events[1]->id);
		CU_ASSERT(events[0]->payload_bytes == events[1]->payload_bytes &&
			  !memcmp(events[0]->payload, events[1]->payload, events[0]->payload_bytes));
	} while (++nr);
	CU_ASSERT_EQUAL(nr, 20001);
	CU_ASSERT_PTR_NULL(events[0]);
	CU_ASSERT_PTR_NULL(events[1]);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(trace_verify(traces[i], NULL), 0);
		CU_ASSERT_EQUAL(trace_cursor_end(cursors[i], NULL), 0);
		trace_close(traces[i]);
	}
	trace_shrinker_free(shrunk.shrinker);
}

/* ---- the coding of times ---- */

/* The coding of the times of a chunk of events. */
static uint32_t coding_of(const struct trace_chunk_header *header, const void *payload)
{
	unsigned char *raw = malloc(header->raw_bytes);
	struct trace_columns_times times;

	CU_ASSERT_EQUAL_FATAL(ZSTD_decompress(raw, header->raw_bytes, payload, header->packed_bytes),
			      header->raw_bytes);
	memcpy(&times, raw + sizeof(struct trace_columns_header), sizeof(times));
	free(raw);
	return times.coding;
}

static int take_coding(void *ret_coding, const struct trace_chunk_header *header, const void *payload)
{
	if (header->kind == TRACE_CHUNK_EVENTS)
		*(uint32_t *)ret_coding = coding_of(header, payload);
	return 0;
}

/* Calls of two results, in no order; the next one comes later after the second one. */
static void write_results(struct trace_writer *writer)
{
	enum { NR = 4000 };
	uint64_t *words = malloc(NR * 2 * sizeof(*words));
	struct trace_source source = {
		.records = words, .bytes = NR * 16, .seq = 1, .nr_records = NR, .kind = TRACE_CHUNK_EVENTS};
	uint32_t time = 0;

	for (uint32_t i = 0; i < NR; i++) {
		uint32_t result = i * 0x9e3779b1 >> 31;
		struct trace_record record = {.time = time, .id = TRACE_EV_sys_exit, .words = 2};

		memcpy(&words[2 * i], &record, 8);
		words[2 * i + 1] = result;
		time += result ? 80 : 40;
	}
	CU_ASSERT_EQUAL(trace_writer_write(writer, trace_writer_pack(writer, &source, NULL), NULL), 0);
	free(words);
}

/* Letters (times_letters.h) take instructions, which count more for a file. */
static void times_have_letters_if_chunks_are_kept_in_memory(void)
{
	uint32_t in_memory = UINT32_MAX;
	struct trace_writer_options options = {.size = sizeof(options),
					       .take = take_coding,
					       .take_context = &in_memory};
	struct trace_writer *writer = trace_writer_new(-1, &options, NULL);
	struct rawfile *file = rawfile_new();
	struct trace_chunk_header header;
	static unsigned char data[1 << 20];
	struct image image;
	long at;

	write_results(writer);
	trace_writer_free(writer);
	CU_ASSERT_EQUAL(in_memory, 2);
	write_results(file->writer);
	image = image_of(data, (size_t)pread(file->fd, data, sizeof(data), 0));
	at = image_find(&image, TRACE_CHUNK_EVENTS, 0, &header);
	CU_ASSERT_FATAL(at >= 0);
	CU_ASSERT_EQUAL(coding_of(&header, image.data + at + header.header_bytes), 1);
	image_free(&image);
	trace_writer_free(file->writer);
	close(file->fd);
	free(file);
}

/* A header that says more than its payload has */
static void a_payload_that_cannot_be_compressed_once_more_stays(void)
{
	struct trace_chunk_header header = {.compression = TRACE_COMPRESSION_ZSTD, .packed_bytes = 64, .raw_bytes = 99};
	struct trace_shrinker *shrinker = trace_shrinker_new();
	unsigned char payload[64] = "no frame of zstd", copy[64];

	CU_ASSERT_EQUAL(trace_shrink_chunk(shrinker, &header, payload, 15, copy), 64);
	header.compression = TRACE_COMPRESSION_NONE;
	CU_ASSERT_EQUAL(trace_shrink_chunk(shrinker, &header, payload, 15, copy), 64);
	trace_shrinker_free(shrinker);
	CU_ASSERT_PTR_NULL(trace_shrinker_free(NULL));
}

/* Page faults of the thread so far. */
static long page_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

/* Packs a block of @bytes with a new writer, and one of twice the size after it. Returns the page
 * faults of the first block. */
static long faults_of_first_block(uint64_t *words, size_t bytes, size_t prepared_bytes)
{
	struct rawfile *file = rawfile_new();
	struct trace_writer_options options = {.size = sizeof(options), .block_bytes = prepared_bytes};
	struct trace *trace;
	long faults = 0;

	trace_writer_free(file->writer);
	CU_ASSERT_EQUAL(ftruncate(file->fd, 0), 0);
	lseek(file->fd, 0, SEEK_SET);
	malloc_trim(0); /* memory freed by earlier tests has to fault in again */
	file->writer = trace_writer_new(file->fd, &options, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file->writer);
	for (size_t i = 1; i <= 2; i++) {
		struct trace_source source = {.records = words,
					      .bytes = i * bytes,
					      .seq = i,
					      .nr_records = (uint32_t)(i * bytes / 16),
					      .kind = TRACE_CHUNK_EVENTS};
		struct trace_packed *packed;
		long before = page_faults();

		packed = trace_writer_pack(file->writer, &source, NULL);
		faults = i == 1 ? page_faults() - before : faults;
		CU_ASSERT_EQUAL(trace_writer_write(file->writer, packed, NULL), 0);
	}
	trace = rawfile_open(file, NULL);
	CU_ASSERT_EQUAL(trace_get_info(trace)->events, 3 * bytes / 16);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
	return faults;
}

static void a_prepared_block_causes_no_page_faults(void)
{
	enum { BYTES = 1 << 20 };
	uint64_t *words = malloc(2 * BYTES);
	long fresh, ready;

	for (uint32_t i = 0; i < 2 * BYTES / 16; i++) {
		struct trace_record record = {.time = 500 * i, .id = TRACE_EV_sys_exit, .words = 2};

		memcpy(&words[2 * i], &record, 8);
		words[2 * i + 1] = i / 16;
	}
	fresh = faults_of_first_block(words, BYTES, 0);
	ready = faults_of_first_block(words, BYTES, BYTES);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	CU_ASSERT_TRUE(ready <= fresh); /* the sanitizer's shadow memory faults, too */
#else
	CU_ASSERT_TRUE(ready < fresh / 8);
#endif
	free(words);
}

/* Data that no compression makes smaller is stored, in pieces of 128 KiB: here the times of a
 * block, which are random bits. */
static void times_larger_than_one_stored_piece_are_read_back(void)
{
	enum { NR = 300000 };
	struct rawfile *file = rawfile_new();
	uint64_t *words = malloc(16 * NR), *times = malloc(8 * NR), now = 0, nr = 0, nr_wrong = 0;
	struct trace_source source = {
		.records = words, .bytes = 16 * NR, .seq = 1, .nr_records = NR, .kind = TRACE_CHUNK_EVENTS};
	struct trace_writer_totals before, after;
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;

	for (uint32_t i = 0; i < NR; i++) {
		struct trace_record record = {.time = (uint32_t)now, .id = TRACE_EV_sys_exit, .words = 2};

		memcpy(&words[2 * i], &record, 8);
		words[2 * i + 1] = 0;
		times[i] = now;
		now += (uint64_t)tb_random() % 8192;
	}
	trace_writer_totals(file->writer, &before);
	CU_ASSERT_EQUAL(trace_writer_write(file->writer, trace_writer_pack(file->writer, &source, NULL), NULL), 0);
	trace_writer_totals(file->writer, &after);
	CU_ASSERT_TRUE(after.file_bytes - before.file_bytes > 3 * (128 << 10));
	trace = rawfile_open(file, NULL);
	cursor = trace_cursor_new(
		trace, &(struct trace_cursor_options){.size = sizeof(struct trace_cursor_options), .no_lost = true},
		NULL);
	for (; (event = trace_cursor_next(cursor)); nr++)
		nr_wrong += nr >= NR || event->ts_ns != times[nr];
	CU_ASSERT_EQUAL(nr, NR);
	CU_ASSERT_EQUAL(nr_wrong, 0);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	free(words);
	free(times);
}

/* The bytes of a block of @nr calls before compression, @nr_different of which are different. */
static uint64_t bytes_of_calls(uint32_t nr, uint32_t nr_different, uint16_t id, uint32_t nr_words)
{
	struct rawfile *file = rawfile_new();
	uint64_t *words = calloc(nr, 8 * nr_words);
	struct trace_source source = {.records = words,
				      .bytes = 8ull * nr_words * nr,
				      .seq = 1,
				      .nr_records = nr,
				      .kind = TRACE_CHUNK_EVENTS};
	struct trace_writer_totals before, after;
	struct trace *trace;

	for (uint32_t i = 0; i < nr; i++) {
		struct trace_record record = {.time = 500 * i, .id = id, .words = (uint8_t)nr_words};

		memcpy(&words[nr_words * i], &record, 8);
		for (uint32_t word = 2; word < nr_words; word++)
			/* of a call without a name: all words count; no steps describe them */
			words[nr_words * i + word] = (i % nr_different * word * 0x9e3779b1u) >> 16;
	}
	trace_writer_totals(file->writer, &before);
	CU_ASSERT_EQUAL(trace_writer_write(file->writer, trace_writer_pack(file->writer, &source, NULL), NULL), 0);
	trace_writer_totals(file->writer, &after);
	trace = rawfile_open(file, NULL);
	CU_ASSERT_EQUAL(trace_get_info(trace)->events, nr);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
	free(words);
	return after.raw_bytes - before.raw_bytes;
}

/* The number of an earlier, equal call takes less room than three or six arguments. */
static void repeated_calls_are_stored_once_however_many_there_are(void)
{
	static const uint32_t different[] = {30, 300, 3000};

	for (size_t i = 0; i < sizeof(different) / sizeof(different[0]); i++) {
		uint32_t nr = 2 * different[i];

		CU_ASSERT_TRUE(bytes_of_calls(nr, different[i], TRACE_EV_sys_enter3, 5) + different[i] <=
			       bytes_of_calls(nr, nr, TRACE_EV_sys_enter3, 5));
		CU_ASSERT_TRUE(bytes_of_calls(nr, different[i], TRACE_EV_sys_enter6, 8) + 6 * different[i] <=
			       bytes_of_calls(nr, nr, TRACE_EV_sys_enter6, 8));
	}
}

static void invalid_records_are_left_out_and_counted(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 9, .attempted = 9};
	struct rawfile *file = rawfile_new();
	struct trace *trace;
	char text[256];

	rawfile_exit(file, 1000, 1);
	rawfile_record(file, 1100, 245, 2, "8 bytes.", 8);		   /* no event has this id */
	rawfile_record(file, 1200, 60000, 2, "8 bytes.", 8);		   /* nor this one */
	rawfile_record(file, 1300, TRACE_EV_sys_enter3, 2, "8 bytes.", 8); /* too small */
	rawfile_record(file, 1400, TRACE_EV_trace_mark, 2, "no NUL..", 8); /* its string has no end */
	rawfile_record(file, 1450, TRACE_EV_sched_comm, 2, "8 bytes.", 8); /* its string is missing */
	rawfile_exit(file, 1500, 2);
	rawfile_record(file, 0, TRACE_EV_padding, 3, "sixteen bytes...", 16);
	rawfile_record(file, 1600, TRACE_EV_sys_exit, 0, "8 bytes.", 8); /* size 0: the end */
	rawfile_exit(file, 1700, 3);
	file->nr_records--; /* padding is not counted */
	rawfile_block(file, 1000, 0, 0);
	trace = rawfile_open(file, &stats);
	tb_order_text(trace, text);
	CU_ASSERT_STRING_EQUAL(text, "2@1000 2@1500 lost:2@9999 ");
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 1);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->cause, TRACE_GAP_SUSPECT);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->lost, 7);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

/* @entry: its payload, a struct trace_sys_enter or a larger variant. */
static void rawfile_call(struct rawfile *file, uint32_t time, uint32_t kind, uint32_t words, uint64_t elapsed,
			 int64_t ret, uint64_t entry)
{
	uint64_t payload[9] = {elapsed, (uint64_t)ret, entry, 1, 2, 3, 4, 5, 6};

	rawfile_record(file, time, TRACE_RECORD_CALL + kind, words, payload, (words - 1) * 8);
	file->nr_records++;
}

/* In order of time, whatever lies between the reservation of their record and its end. */
static void a_record_for_two_events_is_read_as_two(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 10, .attempted = 10};
	struct rawfile *file = rawfile_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;
	char text[256];

	for (uint32_t kind = 0; kind < 3; kind++)
		rawfile_call(file, 1000 + 100 * kind, kind, 4 + 3 * kind, 50, 7 + kind, 40 + kind);
	rawfile_exit(file, 1420, 1); /* that of an interrupt, for example: the record of the call was reserved later */
	rawfile_call(file, 1400, 0, 4, 30, 1, 0);
	rawfile_exit(file, 1500, 2);
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	tb_order_text(trace, text);
	CU_ASSERT_STRING_EQUAL(text, "2@1000 2@1050 2@1100 2@1150 2@1200 2@1250 2@1400 2@1420 2@1430 2@1500 ");
	cursor = trace_cursor_new(trace, NULL, NULL);
	for (uint32_t kind = 0; kind < 3; kind++) {
		event = trace_cursor_next(cursor);
		CU_ASSERT_EQUAL(event->id, TRACE_EV_sys_enter + kind);
		CU_ASSERT_EQUAL(((const struct trace_sys_enter *)event->payload)->nr, 40 + kind);
		CU_ASSERT_TRUE(kind == 0 || ((const struct trace_sys_enter3 *)event->payload)->arg2 == 3);
		CU_ASSERT_TRUE(kind < 2 || ((const struct trace_sys_enter6 *)event->payload)->arg5 == 6);
		event = trace_cursor_next(cursor);
		CU_ASSERT_EQUAL(event->id, TRACE_EV_sys_exit);
		CU_ASSERT_EQUAL(((const struct trace_sys_exit *)event->payload)->ret, 7 + kind);
	}
	trace_cursor_free(cursor);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 0);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

static void a_record_for_two_events_that_is_too_short_is_two_lost(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 12, .attempted = 12};
	struct rawfile *file = rawfile_new();
	struct trace *trace;
	char text[256];

	CU_ASSERT_TRUE(245 < TRACE_RECORD_PATH_ENTRY); /* other tests use this id for no event */
	for (uint32_t kind = 0; kind < 3; kind++)
		rawfile_call(file, 1000, kind, 3 + 3 * kind, 50, 0, 0);
	rawfile_call(file, 1100, 1, 7, 50, 0, 0);
	rawfile_call(file, 1200, 1, 6, 50, 0, 0); /* also after a valid one */
	rawfile_call(file, 1300, 1, 7, 50, 0, 0);
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	tb_order_text(trace, text);
	CU_ASSERT_STRING_EQUAL(text, "2@1100 2@1150 2@1300 2@1350 lost:2@9999 ");
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->lost, 8);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

/* Also where the order is so bad that all events are sorted, and the clock stood still in between:
 * in the record the payload of the exit comes first. */
static void a_call_that_takes_no_time_begins_before_it_ends(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 202, .attempted = 202};
	struct rawfile *file = rawfile_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;

	for (uint32_t i = 0; i < 100; i++)
		rawfile_exit(file, 2000 - i, 1);
	rawfile_call(file, 3000, 0, 4, 0, 7, 40);
	for (uint32_t i = 0; i < 100; i++)
		rawfile_exit(file, 5000 - i, 1);
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	cursor = trace_cursor_new(trace, NULL, NULL);
	CU_ASSERT_EQUAL(trace_cursor_seek(cursor, 3000), 0);
	event = trace_cursor_next(cursor);
	CU_ASSERT_EQUAL(event->ts_ns, 3000);
	CU_ASSERT_EQUAL(event->id, TRACE_EV_sys_enter);
	event = trace_cursor_next(cursor);
	CU_ASSERT_EQUAL(event->ts_ns, 3000);
	CU_ASSERT_EQUAL(event->id, TRACE_EV_sys_exit);
	trace_cursor_free(cursor);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

/* @first: TRACE_RECORD_PATH_ENTRY or TRACE_RECORD_PATH_CALL. @text: the @text_bytes of it in the
 *   record */
static void rawfile_path_call(struct rawfile *file, uint32_t time, uint16_t first, uint32_t kind, uint64_t elapsed,
			      int64_t ret, uint64_t entry, const char *text, size_t text_bytes)
{
	uint64_t payload[16] = {elapsed, (uint64_t)ret, entry, 1, 2, 3, 4, 5, 6};
	size_t words = 3 + 3 * kind;

	payload[words++] = entry;
	memcpy(&payload[words], text, text_bytes);
	words += text_bytes / 8;
	rawfile_record(file, time, (uint16_t)(first + kind), (uint32_t)words + 1, payload, words * 8);
	file->nr_records += first == TRACE_RECORD_PATH_CALL ? 2 : 1;
}

static void check_next(struct trace_cursor *cursor, uint32_t id, uint64_t ns, uint64_t first_word)
{
	const struct trace_event *event = trace_cursor_next(cursor);
	uint64_t word;

	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	memcpy(&word, event->payload, sizeof(word));
	CU_ASSERT_EQUAL(event->id, id);
	CU_ASSERT_EQUAL(event->ts_ns, ns);
	CU_ASSERT_EQUAL(word, first_word);
}

static void a_path_shares_the_record_of_its_call(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 18, .attempted = 18};
	struct rawfile *file = rawfile_new();
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace *trace;

	for (uint32_t kind = 0; kind < 3; kind++) {
		rawfile_path_call(file, 1000 + 100 * kind, TRACE_RECORD_PATH_CALL, kind, 50, 7 + kind, 40 + kind,
				  "/a/path\0", 8);
		rawfile_path_call(file, 1060 + 100 * kind, TRACE_RECORD_PATH_ENTRY, kind, 0, 0, 50 + kind,
				  "/its/own/name\0\0\0", 16);
		rawfile_exit(file, 1080 + 100 * kind, 1);
	}
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	cursor = trace_cursor_new(trace, NULL, NULL);
	for (uint32_t kind = 0; kind < 3; kind++) {
		check_next(cursor, TRACE_EV_sys_enter + kind, 1000 + 100 * kind, 40 + kind);
		event = trace_cursor_next(cursor);
		CU_ASSERT_EQUAL(event->id, TRACE_EV_sys_path);
		CU_ASSERT_EQUAL(event->ts_ns, 1000 + 100 * kind);
		CU_ASSERT_EQUAL(((const struct trace_sys_path *)event->payload)->nr, 40 + kind);
		CU_ASSERT_STRING_EQUAL((const char *)event->payload + sizeof(struct trace_sys_path), "/a/path");
		check_next(cursor, TRACE_EV_sys_exit, 1050 + 100 * kind, 7 + kind);
		check_next(cursor, TRACE_EV_sys_enter + kind, 1060 + 100 * kind, 50 + kind);
		event = trace_cursor_next(cursor);
		CU_ASSERT_EQUAL(event->id, TRACE_EV_sys_path);
		CU_ASSERT_EQUAL(event->ts_ns, 1060 + 100 * kind);
		CU_ASSERT_STRING_EQUAL((const char *)event->payload + sizeof(struct trace_sys_path), "/its/own/name");
		check_next(cursor, TRACE_EV_sys_exit, 1080 + 100 * kind, 1);
	}
	CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
	trace_cursor_free(cursor);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 0);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

/* The record was reserved after an interrupt's: all its events come before that one's. */
static void a_path_comes_before_later_events(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 7, .attempted = 7};
	struct rawfile *file = rawfile_new();
	struct trace_cursor *cursor;
	struct trace *trace;

	rawfile_exit(file, 1000, 5);
	rawfile_exit(file, 1040, 6);
	rawfile_path_call(file, 1020, TRACE_RECORD_PATH_CALL, 0, 15, 8, 30, "/a/path\0", 8);
	rawfile_path_call(file, 1010, TRACE_RECORD_PATH_ENTRY, 0, 0, 0, 31, "/a/path\0", 8);
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	cursor = trace_cursor_new(trace, NULL, NULL);
	check_next(cursor, TRACE_EV_sys_exit, 1000, 5);
	check_next(cursor, TRACE_EV_sys_enter, 1010, 31);
	check_next(cursor, TRACE_EV_sys_path, 1010, 31);
	check_next(cursor, TRACE_EV_sys_enter, 1020, 30);
	check_next(cursor, TRACE_EV_sys_path, 1020, 30);
	check_next(cursor, TRACE_EV_sys_exit, 1035, 8);
	check_next(cursor, TRACE_EV_sys_exit, 1040, 6);
	trace_cursor_free(cursor);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

static void a_path_without_an_end_loses_its_call(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 13, .attempted = 13};
	struct rawfile *file = rawfile_new();
	struct trace *trace;
	char text[256];

	rawfile_path_call(file, 1000, TRACE_RECORD_PATH_CALL, 1, 50, 0, 0, "endless.", 8);
	rawfile_path_call(file, 1010, TRACE_RECORD_PATH_ENTRY, 1, 0, 0, 0, "endless.", 8);
	rawfile_path_call(file, 1020, TRACE_RECORD_PATH_CALL, 2, 50, 0, 0, "", 0); /* no text at all */
	rawfile_path_call(file, 1100, TRACE_RECORD_PATH_CALL, 1, 50, 0, 0, "an end.\0", 8);
	rawfile_path_call(file, 1200, TRACE_RECORD_PATH_ENTRY, 1, 0, 0, 0, "endless.", 8); /* also after a valid one */
	CU_ASSERT_EQUAL(rawfile_block(file, 1000, 0, 0), 0);
	trace = rawfile_open(file, &stats);
	tb_order_text(trace, text);
	CU_ASSERT_STRING_EQUAL(text, "2@1100 2@1100 2@1150 lost:2@9999 ");
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->lost, 10);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

/* No write failed: it is a loss of another kind. */
static void an_undecodable_block_is_no_failed_write(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 23, .attempted = 23};
	struct rawfile *file = rawfile_new();
	struct trace_writer_totals totals;
	struct trace *trace;

	rawfile_exit(file, 1000, 1);
	rawfile_block(file, 1000, 0, 0);
	rawfile_nonsense(file, 2000, 3);
	rawfile_nonsense(file, 3000, 4);
	rawfile_exit(file, 4000, 1);
	rawfile_block(file, 4000, 0, 0);
	rawfile_exit(file, 5000, 1);
	rawfile_block(file, 5000, 0, 0);
	rawfile_nonsense(file, 6000, 13); /* and no chunk after it */
	trace_writer_totals(file->writer, &totals);
	CU_ASSERT_EQUAL(totals.lost_write, 0);
	CU_ASSERT_EQUAL(totals.undecodable, 20);
	CU_ASSERT_EQUAL(totals.events, 3);
	trace = rawfile_open(file, &stats);
	CU_ASSERT_EQUAL_FATAL(trace_nr_gaps(trace), 2);
	rawfile_check_gap(trace, 0, 1000, 5000, 7);
	rawfile_check_gap(trace, 1, 5000, 9999, 13);
	CU_ASSERT_EQUAL(trace_nr_damages(trace), 0);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

/* The gap reaches from the beginning of the trace. Records within a block that could not be decoded
 * are counted in that block. */
static void a_stream_that_begins_undecodable_has_a_gap(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 7, .attempted = 7};
	struct rawfile *file = rawfile_new();
	struct trace *trace;

	rawfile_nonsense(file, 2000, 3);
	rawfile_exit(file, 4000, 1);
	rawfile_block(file, 4000, 0, 0);
	rawfile_exit(file, 5000, 1);
	rawfile_record(file, 5000, 245, 2, "8 bytes.", 8);
	rawfile_block(file, 5000, 0, 0);
	rawfile_exit(file, 6000, 1);
	rawfile_block(file, 6000, 0, 0);
	trace = rawfile_open(file, &stats);
	CU_ASSERT_EQUAL_FATAL(trace_nr_gaps(trace), 2);
	rawfile_check_gap(trace, 0, 0, 5000, 3);
	rawfile_check_gap(trace, 1, 5000, 6000, 1);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

static void a_record_that_reaches_beyond_the_block_ends_it(void)
{
	struct rawfile *file = rawfile_new();
	struct trace *trace;
	char text[256];

	rawfile_exit(file, 1000, 1);
	rawfile_record(file, 1100, TRACE_EV_sys_exit, 3, "8 bytes.", 8);
	rawfile_block(file, 1000, 0, 0);
	trace = rawfile_open(file, NULL);
	tb_order_text(trace, text);
	CU_ASSERT_STRING_EQUAL(text, "2@1000 lost:2@9999 ");
	trace_close(trace);
}

static void events_at_the_first_and_the_last_time_are_read_back(void)
{
	static const uint64_t begins[] = {0, (1ull << 62) - 7};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		struct rawfile *file = rawfile_new();
		struct trace *trace;
		char text[256];

		rawfile_exit(file, (uint32_t)begins[i], 1);
		rawfile_exit(file, (uint32_t)begins[i] + 6, 2);
		rawfile_block(file, begins[i], 0, 0);
		trace = rawfile_open(file, NULL);
		tb_order_text(trace, text);
		CU_ASSERT_STRING_EQUAL(text, i ? "2@4294967289 2@4294967295 " : "2@0 2@6 "); /* their lower halves */
		CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
		trace_close(trace);
	}
}

static void causes_of_losses_are_kept(void)
{
	struct rawfile *file = rawfile_new();
	struct trace *trace;

	rawfile_exit(file, 1000, 1);
	rawfile_block(file, 1000, 0, TRACE_GAP_OVERWRITTEN);
	rawfile_exit(file, 2000, 1);
	rawfile_block(file, 2000, 10, TRACE_GAP_OVERWRITTEN);
	rawfile_exit(file, 3000, 1);
	rawfile_block(file, 3000, 15, TRACE_GAP_DISCARDED);
	trace = rawfile_open(file, NULL);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 2);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->cause, TRACE_GAP_OVERWRITTEN);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->lost, 10);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 1)->cause, TRACE_GAP_DISCARDED);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 1)->lost, 5);
	trace_close(trace);
}

static void a_missing_subbuffer_without_a_count_is_a_gap(void)
{
	struct rawfile *file = rawfile_new();
	struct trace *trace;

	rawfile_exit(file, 1000, 1);
	rawfile_block(file, 1000, 0, 0);
	rawfile_block(file, 1500, 0, 0); /* an empty block makes no chunk */
	rawfile_exit(file, 2000, 1);
	rawfile_block(file, 2000, 0, 0);
	file->seq++;
	rawfile_exit(file, 3000, 1);
	rawfile_block(file, 3000, 0, 0);
	trace = rawfile_open(file, NULL);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 1);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->start_ns, 2000);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->end_ns, 3000);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->lost, 0);
	trace_close(trace);
}

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

static void equal_times_come_by_cpu_before_stream(void)
{
	struct rawfile *file = rawfile_new();
	struct trace *trace;
	char text[256];

	rawfile_single(file, 11, 5);
	rawfile_single(file, 12, 3);
	rawfile_single(file, 13, 4);
	trace = rawfile_open(file, NULL);
	tb_order_text(trace, text);
	CU_ASSERT_STRING_EQUAL(text, "3@1000 4@1000 5@1000 ");
	trace_close(trace);
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

/* Names of code, of a compiler without symbols: smaller than at the fastest level of zstd. */
static void many_strings_are_packed_well(void)
{
	enum { NR = 8000 };
	struct tb *tb = tb_new();
	struct trace_chunk_header header;
	struct image image;
	size_t raw = 0, packed = 0;
	uint32_t place = 1;
	char text[64];

	for (uint64_t i = 0; i < NR; i++) {
		place = place * 1664525 + 1013904223;
		snprintf(text, sizeof(text), "1 %x %x 0\n\n", place >> 8, (place >> 8) + 0x400000);
		tb_string(tb, TRACE_STRING_CODE, i, text);
	}
	image = image_new(tb, true);
	for (size_t i = 0; image_find(&image, TRACE_CHUNK_STRINGS, i, &header) >= 0; i++) {
		raw += header.raw_bytes;
		packed += header.packed_bytes;
	}
	printf("(%zu of %zu bytes) ", packed, raw);
	CU_ASSERT(raw > 256 << 10 && packed < raw * 31 / 100); /* 29.4 %; at the fastest level 32.1 % */
	image_free(&image);
	tb_free(tb);
}

static void blocks_that_are_too_large_are_refused(void)
{
	struct trace_source source = {.records = "", .bytes = (16u << 20) + 8, .kind = TRACE_CHUNK_EVENTS};
	struct rawfile *file = rawfile_new();
	struct trace_error error;

	CU_ASSERT_PTR_NULL(trace_writer_pack(file->writer, &source, &error));
	CU_ASSERT_EQUAL(error.code, -EINVAL);
	source.bytes = 0;
	source.kind = TRACE_CHUNK_SCHEMA;
	CU_ASSERT_PTR_NULL(trace_writer_pack(file->writer, &source, &error));
	CU_ASSERT_EQUAL(error.code, -EINVAL);
	trace_close(rawfile_open(file, NULL));
}

static void the_largest_block_fits(void)
{
	size_t bytes = 16u << 20, nr = bytes / 16;
	uint64_t *words = malloc(bytes);
	struct trace_source source = {
		.records = words, .bytes = bytes, .nr_records = (uint32_t)nr, .seq = 1, .kind = TRACE_CHUNK_EVENTS};
	struct rawfile *file = rawfile_new();
	struct trace *trace;
	struct seen seen;

	for (size_t i = 0; i < nr; i++) {
		struct trace_record record = {.time = (uint32_t)(i * 4096), .id = TRACE_EV_sys_exit, .words = 2};

		memcpy(&words[2 * i], &record, 8);
		words[2 * i + 1] = tb_random();
	}
	CU_ASSERT_EQUAL(trace_writer_write(file->writer, trace_writer_pack(file->writer, &source, NULL), NULL), 0);
	trace = rawfile_open(file, NULL);
	seen = seen_of(trace, NULL);
	CU_ASSERT_EQUAL(seen.nr, nr);
	CU_ASSERT_EQUAL(seen.error, 0);
	seen_free(&seen);
	trace_close(trace);
	free(words);
}

static const struct unit_case cases[] = {
	{"blocks_that_wait_keep_their_content", blocks_that_wait_keep_their_content},
	{"a_chunk_that_is_compressed_once_more_has_the_same_events",
	 a_chunk_that_is_compressed_once_more_has_the_same_events},
	{"times_have_letters_if_chunks_are_kept_in_memory", times_have_letters_if_chunks_are_kept_in_memory},
	{"a_payload_that_cannot_be_compressed_once_more_stays", a_payload_that_cannot_be_compressed_once_more_stays},
	{"a_prepared_block_causes_no_page_faults", a_prepared_block_causes_no_page_faults},
	{"times_larger_than_one_stored_piece_are_read_back", times_larger_than_one_stored_piece_are_read_back},
	{"repeated_calls_are_stored_once_however_many_there_are",
	 repeated_calls_are_stored_once_however_many_there_are},
	{"invalid_records_are_left_out_and_counted", invalid_records_are_left_out_and_counted},
	{"a_record_for_two_events_is_read_as_two", a_record_for_two_events_is_read_as_two},
	{"a_record_for_two_events_that_is_too_short_is_two_lost",
	 a_record_for_two_events_that_is_too_short_is_two_lost},
	{"a_path_shares_the_record_of_its_call", a_path_shares_the_record_of_its_call},
	{"a_path_comes_before_later_events", a_path_comes_before_later_events},
	{"a_path_without_an_end_loses_its_call", a_path_without_an_end_loses_its_call},
	{"a_call_that_takes_no_time_begins_before_it_ends", a_call_that_takes_no_time_begins_before_it_ends},
	{"an_undecodable_block_is_no_failed_write", an_undecodable_block_is_no_failed_write},
	{"a_stream_that_begins_undecodable_has_a_gap", a_stream_that_begins_undecodable_has_a_gap},
	{"a_record_that_reaches_beyond_the_block_ends_it", a_record_that_reaches_beyond_the_block_ends_it},
	{"events_at_the_first_and_the_last_time_are_read_back", events_at_the_first_and_the_last_time_are_read_back},
	{"causes_of_losses_are_kept", causes_of_losses_are_kept},
	{"a_missing_subbuffer_without_a_count_is_a_gap", a_missing_subbuffer_without_a_count_is_a_gap},
	{"each_of_many_streams_has_its_own_counts", each_of_many_streams_has_its_own_counts},
	{"a_trace_may_have_more_streams_than_a_chunk_holds", a_trace_may_have_more_streams_than_a_chunk_holds},
	{"incomplete_statistics_do_not_count", incomplete_statistics_do_not_count},
	{"earlier_statistics_are_not_the_last_ones", earlier_statistics_are_not_the_last_ones},
	{"a_cpu_without_events_belongs_to_the_machine", a_cpu_without_events_belongs_to_the_machine},
	{"older_statistics_do_not_tell_what_programs_claim", older_statistics_do_not_tell_what_programs_claim},
	{"programs_claim_no_more_than_was_lost", programs_claim_no_more_than_was_lost},
	{"streams_that_have_ended_take_no_memory", streams_that_have_ended_take_no_memory},
	{"statistics_that_end_too_early_are_marked", statistics_that_end_too_early_are_marked},
	{"equal_times_come_by_cpu_before_stream", equal_times_come_by_cpu_before_stream},
	{"counts_that_do_not_add_up_fail_to_verify", counts_that_do_not_add_up_fail_to_verify},
	{"many_strings_are_packed_well", many_strings_are_packed_well},
	{"blocks_that_are_too_large_are_refused", blocks_that_are_too_large_are_refused},
	{"the_largest_block_fits", the_largest_block_fits},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("writer", cases, argc, argv);
}
