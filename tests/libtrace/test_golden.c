/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_golden.c - a trace that was written once, and is kept as bytes in golden.hex, is still read
 * and still written the same way.
 *
 * The format is a promise to users with files of it. If reader and writer change together, no other
 * test notices. If the writer finds a better encoding within docs/FORMAT.md, the old file stays
 * under another name, the reader continues to be tested with it, and a new one is made:
 *
 *	test_golden --write >tests/libtrace/golden.hex
 *	test_golden --write-stacks >tests/libtrace/golden_stacks.hex
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "image.h"
#include "unit.h"

enum { STEP_NS = 25, CLOCK_EVENTS = 1600, MOST_BYTES = 1 << 20, NR_STACKS = 200 };

/* The same in every run, and with every C library. */
static uint32_t below(uint32_t n)
{
	static uint64_t state;

	if (!n)
		state = 88172645463325252;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n ? (uint32_t)(state >> 32) % n : 0;
}

/* One late event costs two corrections: its own, and the next one's. Then follow numbers of events
 * without a correction that fit into a byte, and that do not. */
static bool is_late(size_t i)
{
	static const size_t skips[] = {0, 253, 254, 255, 256, 510};
	size_t late = 5;

	for (size_t n = 0; n < sizeof(skips) / sizeof(skips[0]); n++) {
		late += 2 + skips[n];
		if (i == late)
			return true;
	}
	return false;
}

/* Stacks of two threads with the kernel's part or without, which have frames in common. */
static void golden_stacks(struct tb *tb)
{
	uint64_t frames[3][16];
	uint32_t nr[3] = {0};

	for (uint32_t i = 0; i < NR_STACKS; i++) {
		uint32_t thread = below(3), kernel;
		struct {
			struct trace_sample sample;
			uint64_t list[16];
		} payload = {.sample = {.tid = 42 + thread, .cut = 8, .in_user = true}};

		nr[thread] -= below(nr[thread] + 1);
		do
			frames[thread][nr[thread]++] = 0x401000 + (uint64_t)below(20) * below(1 << 12);
		while (nr[thread] < 15 && below(3));
		kernel = below(nr[thread]);
		for (uint32_t k = 0; k < nr[thread] - 1; k++)
			payload.list[k] = frames[thread][nr[thread] - 2 - k];
		payload.sample.ip = frames[thread][nr[thread] - 1];
		payload.sample.kernel = 24 | (8 * kernel) << 16;
		payload.sample.user = (24 + 8 * kernel) | (8 * (nr[thread] - 1 - kernel)) << 16;
		tb_event(tb, 1, 2500000 + i * 997000ull, TRACE_EV_sample, &payload, 24 + 8 * (nr[thread] - 1), NULL);
	}
}

/* Two CPUs: one with columns of every encoding and a clock of steps, and one with few events, a
 * loss and a second chunk. Programs, strings, a start state. */
static struct tb *golden_trace(bool has_stacks)
{
	static const struct trace_field field = {"number", 0, 8, false, TRACE_KIND_DEC};
	const struct trace_event_type type = {.name = "shop:paid",
					      .classic = "NONE",
					      .program = "a program",
					      .text = "paid {number}",
					      .doc = "doc",
					      .fields = &field,
					      .nr_fields = 1,
					      .fixed_bytes = 8,
					      .category = TRACE_CATEGORY_USER,
					      .flags = TRACE_EVENT_ON,
					      .source = "a.c:1"};
	struct tb *tb = tb_new();
	uint64_t steps = 0, number;
	uint16_t id;

	below(0);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_HOST, "host");
	tb_string(tb, TRACE_STRING_SYSCALL, 0, "read");
	tb_clock(tb, 999000, 1700000000000000000, 2450000);
	tb_clock(tb, 9000000, 1700000000008001000, 22052450);
	tb_thread(tb, 42, 42, 1, "shell", 0, true);
	tb_fd(tb, 42, 0, 0x800001, 99, 0100644, "/etc/passwd");
	for (size_t i = 0; i < CLOCK_EVENTS; i++) {
		uint64_t ts_ns;
		uint32_t a, b;
		char path[32];

		steps += 1 + (i % 500 ? below(60) : below(40000));
		ts_ns = 1000000 + steps * STEP_NS + (is_late(i) ? 1 + below(3) : 0);
		a = below(8); /* in separate statements, because the order of evaluation of arguments is unspecified */
		b = below(1 << 20);
		switch (i % 8) {
		case 0:
			tb_switch(tb, 0, ts_ns, a < 6 ? 42 : 0, 40 + b % 300, a % 3);
			break;
		case 1:
			tb_sys_enter(tb, 0, ts_ns, a, b % 5, 0x7ffe00000000 + b, 4096);
			break;
		case 2:
			tb_sys_exit(tb, 0, ts_ns, a % 2 ? -11 : (int64_t)b);
			break;
		case 3:
			snprintf(path, sizeof(path), "/tmp/file %u", a);
			tb_sys_path(tb, 0, ts_ns, 2, path);
			break;
		case 4:
			tb_fault(tb, 0, ts_ns, 0x400000 + 4096ull * (b % 1000), true);
			break;
		default:
			tb_sys_exit(tb, 0, ts_ns, 0);
			break;
		}
	}
	for (uint64_t i = 0; i < 3; i++)
		tb_switch(tb, 1, 1500000 + i * i * 1000003, 0, (uint32_t)i, 0);
	tb_lost(tb, 1, 7);
	tb_irq(tb, 1, 8000000, 9);
	tb_irq_exit(tb, 1, 8000999, 9);
	id = tb_user_type(tb, &type);
	for (number = 0; number < 20; number++)
		tb_user_event(tb, 1, 2000000 + number * number * 999, id, &number, sizeof(number));
	if (has_stacks)
		golden_stacks(tb);
	return tb;
}

#define GOLDEN	   TRACE_SOURCE_DIR "/tests/libtrace/golden.hex"
#define GOLDEN_2_4 TRACE_SOURCE_DIR "/tests/libtrace/golden_2_4.hex"
#define GOLDEN_2_7 TRACE_SOURCE_DIR "/tests/libtrace/golden_2_7.hex"
#define LETTERS	   TRACE_SOURCE_DIR "/tests/libtrace/golden_letters.hex"
#define STACKS	   TRACE_SOURCE_DIR "/tests/libtrace/golden_stacks.hex"
#define STACKS_2_5 TRACE_SOURCE_DIR "/tests/libtrace/golden_stacks_2_5.hex"

/* A kept file. */
static struct image golden_image(const char *path)
{
	unsigned char *data = malloc(MOST_BYTES);
	FILE *file = fopen(path, "re");
	struct image image;
	unsigned int byte;
	size_t bytes = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while (bytes < MOST_BYTES && fscanf(file, "%2x", &byte) == 1)
		data[bytes++] = (unsigned char)byte;
	fclose(file);
	image = image_of(data, bytes);
	free(data);
	return image;
}

static void check_statistics(struct trace *kept, struct trace *made)
{
	const struct trace_info *a = trace_get_info(kept), *b = trace_get_info(made);

	CU_ASSERT_EQUAL(a->start_ns, b->start_ns);
	CU_ASSERT_EQUAL(a->end_ns, b->end_ns);
	CU_ASSERT_EQUAL(a->start_realtime_ns, b->start_realtime_ns);
	CU_ASSERT_EQUAL(a->events, b->events);
	CU_ASSERT_EQUAL(a->lost, 7);
	CU_ASSERT_TRUE(a->clean_end);
	CU_ASSERT_EQUAL(trace_nr_damages(kept), 0);
	CU_ASSERT_EQUAL_FATAL(trace_nr_gaps(kept), 1);
	CU_ASSERT_EQUAL(trace_get_gap(kept, 0)->lost, 7);
	CU_ASSERT_STRING_EQUAL(trace_string(kept, TRACE_STRING_INFO, TRACE_INFO_HOST), "host");
	CU_ASSERT_STRING_EQUAL(trace_string(kept, TRACE_STRING_SYSCALL, 0), "read");
	CU_ASSERT_EQUAL_FATAL(trace_nr_clocks(kept), 2);
	CU_ASSERT_EQUAL(memcmp(trace_get_clock(kept, 1), trace_get_clock(made, 1), sizeof(struct trace_clock)), 0);
}

static void check_events(struct trace *kept, struct trace *made, bool start_state)
{
	struct trace_cursor_options options = {.size = sizeof(options), .start_state = start_state};
	struct seen a = seen_of(kept, &options), b = seen_of(made, &options);

	CU_ASSERT_EQUAL(a.error, 0);
	CU_ASSERT_EQUAL(a.nr, b.nr);
	CU_ASSERT_TRUE(a.nr >= (start_state ? 2 : CLOCK_EVENTS + 25));
	for (size_t i = 0; i < a.nr && i < b.nr; i++)
		if (a.events[i] != b.events[i]) {
			printf("(event %zu) ", i);
			CU_FAIL("an event is not what it was");
			break;
		}
	seen_free(&a);
	seen_free(&b);
}

static void check_read(const char *path, bool has_stacks)
{
	struct image image = golden_image(path);
	struct tb *tb = golden_trace(has_stacks);
	struct trace *made = tb_open_trace(tb), *kept = trace_open(image.path, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
	CU_ASSERT_EQUAL(trace_verify(kept, NULL), 0);
	check_statistics(kept, made);
	check_events(kept, made, false);
	check_events(kept, made, true);
	trace_close(kept);
	trace_close(made);
	tb_free(tb);
	image_free(&image);
}

static void the_kept_file_is_read_as_it_was(void)
{
	check_read(GOLDEN, false);
}

/* As a writer writes it that keeps chunks in memory. */
static void kept_times_with_letters_are_read_as_they_were(void)
{
	check_read(LETTERS, false);
}

/* Its times have codes by type. */
static void a_file_of_format_2_4_is_read_as_it_was(void)
{
	check_read(GOLDEN_2_4, false);
}

/* Its stacks are texts. */
static void a_file_of_format_2_5_is_read_as_it_was(void)
{
	check_read(STACKS_2_5, true);
}

/* Its statistics do not tell which losses only programs counted; those of the kernel are none. */
static void a_file_of_format_2_7_is_read_as_it_was(void)
{
	struct image image = golden_image(GOLDEN_2_7);
	struct trace *trace = trace_open(image.path, NULL);

	check_read(GOLDEN_2_7, false);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	for (size_t i = 0; i < trace_nr_streams(trace); i++)
		CU_ASSERT_EQUAL(trace_get_stream(trace, i)->claimed, 0);
	trace_close(trace);
	image_free(&image);
}

static void kept_stacks_are_read_as_they_were(void)
{
	check_read(STACKS, true);
}

/* ---- the writer ---- */

/* The properties of a chunk other than its position in the file and its compression. Chunks that
 * list events or chunks grow with the catalogue. */
static bool is_kept(uint16_t kind)
{
	return kind != TRACE_CHUNK_SCHEMA && kind != TRACE_CHUNK_INDEX && kind != TRACE_CHUNK_TABLE &&
	       kind != TRACE_CHUNK_ROOT;
}

static size_t payload_of(const struct image *image, long at, const struct trace_chunk_header *header,
			 unsigned char *ret_payload)
{
	const unsigned char *packed = image->data + at + header->header_bytes;

	if (header->compression == TRACE_COMPRESSION_ZSTD)
		return ZSTD_decompress(ret_payload, MOST_BYTES, packed, header->packed_bytes);
	memcpy(ret_payload, packed, header->packed_bytes);
	return header->packed_bytes;
}

/* Chunk @nr of those that are compared. Returns false after the last one. */
static bool kept_chunk(const struct image *image, size_t nr, struct trace_chunk_header *ret_header,
		       unsigned char *ret_payload)
{
	long at;

	for (size_t i = 0; (at = image_chunk(image, i, ret_header)) >= 0; i++) {
		if (!is_kept(ret_header->kind) || nr-- > 0)
			continue;
		CU_ASSERT_EQUAL_FATAL(payload_of(image, at, ret_header, ret_payload), ret_header->raw_bytes);
		ret_header->trace_id = ret_header->packed_bytes = 0;
		ret_header->payload_checksum = ret_header->checksum = 0;
		return true;
	}
	return false;
}

static void check_written(const char *path, bool has_stacks)
{
	struct tb *tb = golden_trace(has_stacks);
	struct image kept = golden_image(path), made = image_new(tb, true);
	unsigned char *kept_payload = malloc(MOST_BYTES), *made_payload = malloc(MOST_BYTES);
	struct trace_chunk_header kept_header, made_header;
	size_t nr = 0;

	for (; kept_chunk(&kept, nr, &kept_header, kept_payload); nr++) {
		CU_ASSERT_TRUE_FATAL(kept_chunk(&made, nr, &made_header, made_payload));
		CU_ASSERT_EQUAL(memcmp(&kept_header, &made_header, sizeof(kept_header)), 0);
		CU_ASSERT_EQUAL_FATAL(kept_header.raw_bytes, made_header.raw_bytes);
		if (memcmp(kept_payload, made_payload, kept_header.raw_bytes) == 0)
			continue;
		printf("(chunk %zu of kind %u) ", nr, kept_header.kind);
		CU_FAIL("a chunk is not written as it was");
	}
	CU_ASSERT_FALSE(kept_chunk(&made, nr, &made_header, made_payload));
	CU_ASSERT_TRUE(nr >= 7);
	free(kept_payload);
	free(made_payload);
	image_free(&kept);
	image_free(&made);
	tb_free(tb);
}

static void the_writer_writes_the_kept_bytes(void)
{
	check_written(GOLDEN, false);
}

static void the_writer_writes_the_kept_stacks(void)
{
	check_written(STACKS, true);
}

/* The trace has the distances between corrections that its clock was made for, so the comparisons
 * above test them. */
static void the_corrections_have_the_intended_distances(void)
{
	struct image image = golden_image(GOLDEN);
	unsigned char *payload = malloc(MOST_BYTES);
	struct trace_chunk_header header;
	unsigned int most = 0;

	for (size_t nr = 0; kept_chunk(&image, nr, &header, payload); nr++) {
		struct trace_columns_times times;
		const unsigned char *skips;

		if (header.kind != TRACE_CHUNK_EVENTS || header.events != CLOCK_EVENTS)
			continue;
		memcpy(&times, payload + sizeof(struct trace_columns_header), sizeof(times));
		skips = payload + header.raw_bytes - 8;
		for (size_t i = 0; i < 4; i++)
			skips -= times.bit_bytes[i];
		skips -= times.code_bytes + 2 * times.nr_corrections;
		CU_ASSERT_EQUAL(times.step >> 32, STEP_NS);
		for (size_t i = 0; i < times.nr_corrections; i++)
			most += skips[i] == 255;
		printf("(%u corrections, %u of 255) ", times.nr_corrections, most);
	}
	CU_ASSERT_EQUAL(most, 1 + 1 + 2);
	free(payload);
	image_free(&image);
}

static int write_hex(bool has_stacks)
{
	struct tb *tb = golden_trace(has_stacks);
	struct image image = image_new(tb, true);

	for (size_t i = 0; i < image.bytes; i++)
		printf("%02x%s", image.data[i], i % 70 == 69 || i + 1 == image.bytes ? "\n" : "");
	image_free(&image);
	tb_free(tb);
	return 0;
}

static const struct unit_case cases[] = {
	{"the_kept_file_is_read_as_it_was", the_kept_file_is_read_as_it_was},
	{"a_file_of_format_2_4_is_read_as_it_was", a_file_of_format_2_4_is_read_as_it_was},
	{"a_file_of_format_2_5_is_read_as_it_was", a_file_of_format_2_5_is_read_as_it_was},
	{"a_file_of_format_2_7_is_read_as_it_was", a_file_of_format_2_7_is_read_as_it_was},
	{"kept_times_with_letters_are_read_as_they_were", kept_times_with_letters_are_read_as_they_were},
	{"kept_stacks_are_read_as_they_were", kept_stacks_are_read_as_they_were},
	{"the_writer_writes_the_kept_bytes", the_writer_writes_the_kept_bytes},
	{"the_writer_writes_the_kept_stacks", the_writer_writes_the_kept_stacks},
	{"the_corrections_have_the_intended_distances", the_corrections_have_the_intended_distances},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--write") == 0)
		return write_hex(false);
	if (argc == 2 && strcmp(argv[1], "--write-stacks") == 0)
		return write_hex(true);
	return unit_main("golden", cases, argc, argv);
}
