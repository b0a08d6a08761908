/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_writer.c - the input of the writer: good, bad and too large blocks. */
#include <malloc.h>
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
	CASE(blocks_that_wait_keep_their_content),
	CASE(a_chunk_that_is_compressed_once_more_has_the_same_events),
	CASE(times_have_letters_if_chunks_are_kept_in_memory),
	CASE(a_payload_that_cannot_be_compressed_once_more_stays),
	CASE(a_prepared_block_causes_no_page_faults),
	CASE(times_larger_than_one_stored_piece_are_read_back),
	CASE(repeated_calls_are_stored_once_however_many_there_are),
	CASE(invalid_records_are_left_out_and_counted),
	CASE(an_undecodable_block_is_no_failed_write),
	CASE(a_stream_that_begins_undecodable_has_a_gap),
	CASE(a_record_that_reaches_beyond_the_block_ends_it),
	CASE(events_at_the_first_and_the_last_time_are_read_back),
	CASE(causes_of_losses_are_kept),
	CASE(a_missing_subbuffer_without_a_count_is_a_gap),
	CASE(equal_times_come_by_cpu_before_stream),
	CASE(many_strings_are_packed_well),
	CASE(blocks_that_are_too_large_are_refused),
	CASE(the_largest_block_fits),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("writer", cases, argc, argv);
}
