/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_damage.c - files that somebody or something has changed: nothing crashes, every change is found, and all events
 * outside the damaged place come out exactly.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/symbols.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "image.h"
#include "rawfile.h"
#include "unit.h"

/* Two CPUs, three chunks each, strings, a start state: a few KB. */
static struct tb *small_trace(void)
{
	struct tb *tb = tb_new();

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_HOST, "host");
	tb_string(tb, TRACE_STRING_SYSCALL, 0, "read");
	tb_thread(tb, 42, 42, 1, "shell", 0, true);
	tb_fd(tb, 42, 0, 0x800001, 99, 0100644, "/etc/passwd");
	for (uint64_t chunk = 0; chunk < 3; chunk++)
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			uint64_t ts = 1000 + chunk * 10000 + cpu * 100;

			tb_cut(tb, cpu);
			tb_switch(tb, cpu, ts, 0, 42 + cpu, 0);
			tb_sys_enter(tb, cpu, ts + 500, 0, 3, 0x7ffe0000 + chunk, 4096);
			tb_sys_path(tb, cpu, ts + 600, 2, "/tmp/some/path");
			tb_sys_exit(tb, cpu, ts + 800, -11);
			tb_switch(tb, cpu, ts + 900, 42 + cpu, 0, 1);
		}
	return tb;
}

/** struct fixture - the small trace, whole, and what is in it */
struct fixture {
	struct tb *tb;
	struct image image;
	struct seen all;
};

static struct fixture fixture_new(bool finish)
{
	struct fixture fixture = { .tb = small_trace() };
	struct trace *trace;

	fixture.image = image_new(fixture.tb, finish);
	trace = trace_open(fixture.image.path, NULL);
	fixture.all = seen_of(trace, &(struct trace_cursor_options){ .size = sizeof(struct trace_cursor_options), .no_lost = true });
	trace_close(trace);
	return fixture;
}

static void fixture_free(struct fixture *fixture)
{
	seen_free(&fixture->all);
	image_free(&fixture->image);
	tb_free(fixture->tb);
}

/** struct outcome - of reading a damaged file */
struct outcome {
	bool opened;
	bool exact;	/* what was delivered is the original with some left out */
	long missing;
	uint64_t lost;
	size_t nr_lost;
	size_t nr_damages; /* found when it was opened */
	bool detected;
};

static struct outcome read_all(const struct fixture *fixture, const char *path)
{
	struct outcome outcome = { 0 };
	struct trace_error error = { .code = 0 };
	struct trace *trace = trace_open(path, &error);
	struct seen seen;

	if (!trace) {
		outcome.detected = error.code < 0 && error.message[0];
		outcome.missing = (long)fixture->all.nr;
		return outcome;
	}
	outcome.opened = true;
	seen = seen_of(trace, NULL);
	outcome.missing = seen_missing(&fixture->all, &seen);
	outcome.exact = outcome.missing >= 0;
	outcome.lost = seen.lost;
	outcome.nr_lost = seen.nr_lost;
	outcome.nr_damages = trace_nr_damages(trace);
	outcome.detected = trace_verify(trace, NULL) == -EBADMSG;
	seen_free(&seen);
	trace_close(trace);
	return outcome;
}

/* ---- every bit ---- */

/* Events that may be missing after a change at @at: those of its chunk. */
static long events_at(const struct image *image, size_t at)
{
	struct trace_chunk_header header;
	long chunk;

	for (size_t i = 0; (chunk = image_chunk(image, i, &header)) >= 0; i++)
		if (at >= (size_t)chunk && at < (size_t)chunk + header.header_bytes + header.packed_bytes)
			return header.kind == TRACE_CHUNK_EVENTS ? header.events : 0;
	return 0;
}

/* The schema's payload is most of the file, and its bytes are all alike to the reader: one bit of each is enough, except in
 * long runs. */
static bool is_schema_payload(const struct image *image, size_t at)
{
	struct trace_chunk_header header;
	size_t chunk = (size_t)image_find(image, TRACE_CHUNK_SCHEMA, 0, &header);

	return at >= chunk + header.header_bytes && at < chunk + header.header_bytes + header.packed_bytes;
}

/** struct tally - of many outcomes: how many broke which promise */
struct tally {
	size_t nr;
	size_t nr_inexact;
	size_t nr_undetected;
	size_t nr_too_many;
	size_t nr_unstated;
};

static void tally_add(struct tally *tally, const struct outcome *outcome, long allowed, bool is_unstated)
{
	tally->nr++;
	tally->nr_inexact += !outcome->opened || !outcome->exact;
	tally->nr_undetected += !outcome->detected;
	tally->nr_too_many += outcome->missing > allowed;
	tally->nr_unstated += is_unstated;
}

static void tally_check(const struct tally *tally)
{
	CU_ASSERT_TRUE(tally->nr > 0);
	CU_ASSERT_EQUAL(tally->nr_inexact, 0);
	CU_ASSERT_EQUAL(tally->nr_undetected, 0);
	CU_ASSERT_EQUAL(tally->nr_too_many, 0);
	CU_ASSERT_EQUAL(tally->nr_unstated, 0);
}

static void flip_every_bit(bool finish)
{
	struct fixture fixture = fixture_new(finish);
	struct tally tally = { 0 };
	size_t step = (size_t)unit_step(7);

	for (size_t at = 0; at < fixture.image.bytes; at += step) {
		bool one = (step > 1 || is_schema_payload(&fixture.image, at)) && !getenv("TRACE_TEST_LONG");
		long allowed = events_at(&fixture.image, at);

		for (int bit = 0; bit < (one ? 1 : 8); bit++) {
			unsigned char mask = (unsigned char)(1 << (one ? at % 8 : (size_t)bit));
			struct outcome outcome;

			fixture.image.data[at] ^= mask;
			outcome = read_all(&fixture, fixture.image.path);
			fixture.image.data[at] ^= mask;
			tally_add(&tally, &outcome, allowed,
				  finish ? outcome.lost != (uint64_t)outcome.missing : outcome.missing && !outcome.nr_lost);
		}
	}
	tally_check(&tally);
	fixture_free(&fixture);
}

static void every_bit_flip_is_detected_and_costs_its_chunk_only(void)
{
	flip_every_bit(true);
}

static void every_bit_flip_of_an_unfinished_trace_costs_its_chunk_only(void)
{
	flip_every_bit(false);
}

/* ---- every length ---- */

/* Events in chunks that are whole in the first @bytes of the file. */
static long events_within(const struct image *image, size_t bytes)
{
	struct trace_chunk_header header;
	long at, events = 0;

	for (size_t i = 0; (at = image_chunk(image, i, &header)) >= 0; i++)
		if (header.kind == TRACE_CHUNK_EVENTS && (size_t)at + header.header_bytes + header.packed_bytes <= bytes)
			events += header.events;
	return events;
}

static bool is_clean_end(const char *path)
{
	struct trace *trace = trace_open(path, NULL);
	bool clean_end = trace && trace_get_info(trace)->clean_end;

	trace_close(trace);
	return clean_end;
}

static void every_truncation_keeps_all_whole_chunks(void)
{
	struct fixture fixture = fixture_new(true);
	struct image cut = image_of(fixture.image.data, fixture.image.bytes);
	size_t nr_inexact = 0, nr_too_few = 0, nr_clean = 0, first_event_chunk, nr_closed = 0, step = (size_t)unit_step(11);
	struct trace_chunk_header header;

	first_event_chunk = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 0, &header);
	for (size_t bytes = fixture.image.bytes - 1; bytes >= step; bytes -= step) {
		struct outcome outcome;

		if (ftruncate(cut.fd, (off_t)bytes) < 0)
			abort();
		outcome = read_all(&fixture, cut.path);
		nr_clean += is_clean_end(cut.path);
		if (!outcome.opened) {
			nr_closed += bytes >= first_event_chunk;
			continue;
		}
		nr_inexact += !outcome.exact;
		nr_too_few += (long)fixture.all.nr - outcome.missing != events_within(&fixture.image, bytes);
	}
	CU_ASSERT_EQUAL(nr_inexact, 0);
	CU_ASSERT_EQUAL(nr_too_few, 0);
	CU_ASSERT_EQUAL(nr_clean, 0);
	CU_ASSERT_EQUAL(nr_closed, 0);
	image_free(&cut);
	fixture_free(&fixture);
}

static void what_is_missing_of_a_cut_chunk_is_counted(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace_chunk_header header;
	long last = image_find(&fixture.image, TRACE_CHUNK_EVENTS, 5, &header);
	struct trace *trace;
	bool found = false;

	if (ftruncate(fixture.image.fd, last + header.header_bytes + 3) < 0)
		abort();
	trace = trace_open(fixture.image.path, NULL);
	for (size_t i = 0; i < trace_nr_gaps(trace); i++) {
		const struct trace_gap *gap = trace_get_gap(trace, i);

		found |= gap->cause == TRACE_GAP_CUT && gap->lost == 5 && gap->cpu == 1 && gap->start_ns == header.first_ns;
	}
	CU_ASSERT_TRUE(found);
	CU_ASSERT_FALSE(trace_get_info(trace)->clean_end);
	trace_close(trace);
	fixture_free(&fixture);
}

/* ---- chunks in the wrong place ---- */

/* The same file with the bytes of @nr parts, given by offset and size, in this order. */
static struct image rearranged(const struct image *image, const size_t (*parts)[2], size_t nr)
{
	unsigned char *data = malloc(2 * image->bytes), *at = data;
	struct image result;

	for (size_t i = 0; i < nr; i++)
		at = mempcpy(at, image->data + parts[i][0], parts[i][1]);
	result = image_of(data, (size_t)(at - data));
	free(data);
	return result;
}

static size_t chunk_bytes(const struct trace_chunk_header *header)
{
	return (size_t)header->header_bytes + header->packed_bytes;
}

static void swapped_chunks_are_found_and_lose_only_themselves(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace_chunk_header a, b;
	size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 1, &a);
	size_t behind = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 2, &b), end = behind + chunk_bytes(&b);
	struct image image = rearranged(&fixture.image,
					(const size_t[][2]){ { 0, at },
							     { behind, chunk_bytes(&b) },
							     { at, chunk_bytes(&a) },
							     { end, fixture.image.bytes - end } },
					4);
	struct outcome outcome = read_all(&fixture, image.path);

	CU_ASSERT_TRUE(outcome.opened && outcome.exact && outcome.detected);
	CU_ASSERT_TRUE(outcome.missing <= 10);
	CU_ASSERT_EQUAL(outcome.lost, (uint64_t)outcome.missing);
	image_free(&image);
	fixture_free(&fixture);
}

static void swapped_chunks_without_an_index_lose_nothing(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace_chunk_header a, b, c;
	size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 0, &a);
	size_t middle = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 1, &b);
	size_t behind = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 2, &c);
	size_t end = behind + chunk_bytes(&c), index = (size_t)image_find(&fixture.image, TRACE_CHUNK_INDEX, 0, &a);
	struct image image = rearranged(&fixture.image,
					(const size_t[][2]){ { 0, at },
							     { behind, chunk_bytes(&c) },
							     { middle, chunk_bytes(&b) },
							     { at, middle - at },
							     { end, index - end } },
					5);
	struct outcome outcome = read_all(&fixture, image.path);

	CU_ASSERT_TRUE(outcome.opened && outcome.exact);
	CU_ASSERT_EQUAL(outcome.missing, 0);
	CU_ASSERT_EQUAL(outcome.lost, 0);
	image_free(&image);
	fixture_free(&fixture);
}

static void a_doubled_chunk_counts_once(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace_chunk_header a;
	size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 2, &a);
	struct image image = rearranged(&fixture.image,
					(const size_t[][2]){ { 0, at + chunk_bytes(&a) }, { at, fixture.image.bytes - at } }, 2);
	struct outcome outcome = read_all(&fixture, image.path);

	CU_ASSERT_TRUE(outcome.opened && outcome.exact && outcome.detected);
	CU_ASSERT_EQUAL(outcome.missing, 0);
	CU_ASSERT_EQUAL(outcome.lost, 0);
	image_free(&image);
	fixture_free(&fixture);
}

static void a_removed_chunk_is_counted_from_the_numbers(void)
{
	for (size_t nth = 0; nth < 6; nth++) {
		struct fixture fixture = fixture_new(true);
		struct trace_chunk_header a;
		size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, nth, &a), end = at + chunk_bytes(&a);
		struct image image = rearranged(&fixture.image,
						(const size_t[][2]){ { 0, at }, { end, fixture.image.bytes - end } }, 2);
		struct outcome outcome = read_all(&fixture, image.path);

		CU_ASSERT_TRUE(outcome.opened && outcome.exact && outcome.detected);
		CU_ASSERT_EQUAL(outcome.missing, 5);
		CU_ASSERT_EQUAL(outcome.lost, 5);
		image_free(&image);
		fixture_free(&fixture);
	}
}

static void garbage_between_chunks_costs_nothing(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace_chunk_header a;
	size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 3, &a);
	/* part of another chunk: a magic with no good header behind it */
	struct image image = rearranged(&fixture.image,
					(const size_t[][2]){ { 0, at }, { at, 100 }, { at, 20 }, { at, fixture.image.bytes - at } }, 4);
	struct outcome outcome = read_all(&fixture, image.path);

	CU_ASSERT_TRUE(outcome.opened && outcome.exact && outcome.detected);
	CU_ASSERT_EQUAL(outcome.missing, 0);
	image_free(&image);
	fixture_free(&fixture);
}

static void check_damages(const char *path, size_t nr_damages, size_t nr_gaps)
{
	struct trace *trace = trace_open(path, NULL);

	CU_ASSERT_EQUAL(trace_nr_damages(trace), nr_damages);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), nr_gaps);
	trace_close(trace);
}

/* The index, which is walked over then, is full of headers: of chunks that are where it says, or were before bytes came or went. */
static void copies_of_headers_in_the_index_are_no_chunks(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace_chunk_header a, index;
	size_t bytes = fixture.image.bytes, at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 3, &a);
	size_t index_at = (size_t)image_find(&fixture.image, TRACE_CHUNK_INDEX, 0, &index);
	struct image longer = rearranged(&fixture.image, (const size_t[][2]){ { 0, bytes }, { 500, 100 } }, 2);
	struct image shorter = rearranged(&fixture.image, (const size_t[][2]){ { 0, at }, { at + chunk_bytes(&a), bytes - at - chunk_bytes(&a) } }, 2);
	struct image cut = rearranged(&fixture.image, (const size_t[][2]){ { 0, index_at + 1000 } }, 1);

	check_damages(fixture.image.path, 0, 0);
	check_damages(longer.path, 1, 0);		 /* what is behind the end */
	check_damages(shorter.path, 1, 1);		 /* an end that is not where it should be */
	check_damages(cut.path, 1, 3);			 /* the index; of each stream something may be missing */
	image_free(&cut);
	image_free(&shorter);
	image_free(&longer);
	fixture_free(&fixture);
}

/* Nor when the chunks are not where it says, and it is not whole: it costs itself, and nothing else changes. Parts of the file are kept, as by rearranged(). */
static void check_spoilt_index(const struct image *image, const size_t (*parts)[2], size_t nr, size_t index_at)
{
	size_t before = 0;
	struct image spoilt = rearranged(image, parts, nr), without;
	struct trace *trace = trace_open(spoilt.path, NULL), *twin;
	struct seen seen, wanted;

	for (size_t i = 0; i < nr; i++)
		before += parts[i][0] >= index_at ? 0 : parts[i][0] + parts[i][1] > index_at ? index_at - parts[i][0] : parts[i][1];
	without = image_of(spoilt.data, before);
	twin = trace_open(without.path, NULL);
	seen = seen_of(trace, NULL);
	wanted = seen_of(twin, NULL);
	CU_ASSERT_EQUAL(trace_nr_damages(trace), trace_nr_damages(twin) + 1);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), trace_nr_gaps(twin));
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, trace_get_info(twin)->lost);
	CU_ASSERT(seen.nr == wanted.nr && seen_missing(&wanted, &seen) == 0);
	seen_free(&seen);
	seen_free(&wanted);
	trace_close(trace);
	trace_close(twin);
	image_free(&spoilt);
	image_free(&without);
}

static void what_is_left_of_an_index_is_no_chunk(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace_chunk_header a, index;
	size_t bytes = fixture.image.bytes, at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 3, &a), behind = at + chunk_bytes(&a);
	size_t index_at = (size_t)image_find(&fixture.image, TRACE_CHUNK_INDEX, 0, &index), step = (size_t)unit_step(5);

	for (size_t stop = index_at + 1; stop < index_at + chunk_bytes(&index); stop += 7 * step) {
		check_spoilt_index(&fixture.image, (const size_t[][2]){ { 0, stop } }, 1, index_at);
		check_spoilt_index(&fixture.image, (const size_t[][2]){ { 0, at }, { behind, stop - behind } }, 2, index_at);		  /* a chunk is missing */
		check_spoilt_index(&fixture.image, (const size_t[][2]){ { 0, at + 200 }, { at + 210, stop - at - 210 } }, 2, index_at); /* a few bytes */
	}
	for (size_t hole = index_at + sizeof(index) - 40; hole + 1000 < bytes; hole += 13 * step) { /* and of the index */
		check_spoilt_index(&fixture.image, (const size_t[][2]){ { 0, hole }, { hole + 100, bytes - hole - 100 } }, 2, index_at);
		check_spoilt_index(&fixture.image, (const size_t[][2]){ { 0, at }, { behind, hole - behind }, { hole + 100, bytes - hole - 300 } }, 3, index_at);
	}
	fixture_free(&fixture);
}

static void random_overwrites_cost_the_chunks_they_touch(void)
{
	struct fixture fixture = fixture_new(true);
	unsigned char *saved = malloc(fixture.image.bytes);
	struct tally tally = { 0 };

	srandom(7);
	memcpy(saved, fixture.image.data, fixture.image.bytes);
	for (int round = 0; round < 1000; round++) {
		size_t bytes = 1 + (size_t)random() % 1024, at = (size_t)random() % (fixture.image.bytes - bytes);
		struct outcome outcome;

		for (size_t i = 0; i < bytes; i++)
			fixture.image.data[at + i] = (unsigned char)random();
		outcome = read_all(&fixture, fixture.image.path);
		memcpy(fixture.image.data, saved, fixture.image.bytes);
		/* with the file's header gone the schema chunk must be there: nothing else says what the events are */
		if (at < sizeof(struct trace_file_header) && !outcome.opened)
			continue;
		tally_add(&tally, &outcome, (long)fixture.all.nr, outcome.missing && !outcome.nr_lost);
	}
	tally_check(&tally);
	free(saved);
	fixture_free(&fixture);
}

/* ---- files that lie, with good checksums ---- */

static void a_chunk_of_another_trace_is_not_taken(void)
{
	struct fixture fixture = fixture_new(false);
	struct trace_chunk_header header;
	size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 0, &header);
	struct outcome outcome;

	header.trace_id++;
	image_put_chunk(&fixture.image, at, &header);
	outcome = read_all(&fixture, fixture.image.path);
	CU_ASSERT_TRUE(outcome.opened && outcome.exact && outcome.detected);
	CU_ASSERT_EQUAL(outcome.missing, 5);
	fixture_free(&fixture);
}

static void unknown_kinds_are_skipped(void)
{
	struct fixture fixture = fixture_new(false);
	struct trace_chunk_header header;
	size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 1, &header);
	struct trace *trace;
	struct seen seen;

	header.kind = 999;
	header.encoding = 99;
	image_put_chunk(&fixture.image, at, &header);
	trace = trace_open(fixture.image.path, NULL);
	CU_ASSERT_EQUAL(trace_nr_damages(trace), 0);
	seen = seen_of(trace, NULL);
	CU_ASSERT_EQUAL(seen_missing(&fixture.all, &seen), 5);
	CU_ASSERT_EQUAL(trace_get_chunk(trace, 2)->damaged, false);
	seen_free(&seen);
	trace_close(trace);
	fixture_free(&fixture);
}

static void a_header_that_lists_other_events_fails_to_verify(void)
{
	struct fixture fixture = fixture_new(false);
	struct trace_chunk_header header;
	size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 1, &header);
	struct trace_error error = { 0 };
	struct trace *trace = trace_open(fixture.image.path, NULL);

	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
	header.ids[0] &= ~(1ull << TRACE_EV_sys_exit); /* a filter would skip the chunk */
	image_put_chunk(&fixture.image, at, &header);
	trace = trace_open(fixture.image.path, NULL);
	CU_ASSERT_EQUAL(trace_verify(trace, &error), -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "lists other events"));
	trace_close(trace);
	fixture_free(&fixture);
}

static void check_refusal(int version, const char *words)
{
	struct fixture fixture = fixture_new(true);
	struct trace_file_header header;
	struct trace_error error;

	memcpy(&header, fixture.image.data, sizeof(header));
	header.version_major = (uint16_t)version;
	header.checksum = XXH3_64bits(&header, offsetof(struct trace_file_header, checksum));
	memcpy(fixture.image.data, &header, sizeof(header));
	CU_ASSERT_PTR_NULL(trace_open(fixture.image.path, &error));
	CU_ASSERT_EQUAL(error.code, -ENOTSUP);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, words));
	fixture_free(&fixture);
}

static void another_major_version_is_refused_clearly(void)
{
	check_refusal(TRACE_FORMAT_MAJOR + 1, "use a newer version");
	check_refusal(TRACE_FORMAT_MAJOR - 1, "use an earlier version");
}

static void a_newer_minor_version_with_longer_headers_is_read(void)
{
	struct fixture fixture = fixture_new(false);
	struct trace_file_header *old = (struct trace_file_header *)fixture.image.data;
	unsigned char *data = calloc(1, fixture.image.bytes + 4096), *at = data;
	struct trace_chunk_header header;
	struct trace_file_header file = *old;
	struct image image;
	struct outcome outcome;
	uint64_t checksum;
	long chunk;

	file.version_minor = 7;
	file.header_bytes = sizeof(file) + 16;
	at = mempcpy(at, &file, sizeof(file)) + 8;
	checksum = XXH3_64bits(data, (size_t)(at - data));
	at = mempcpy(at, &checksum, 8);
	for (size_t i = 0; (chunk = image_chunk(&fixture.image, i, &header)) >= 0; i++) {
		unsigned char *begin = at;
		const unsigned char *payload = fixture.image.data + chunk + header.header_bytes;

		header.header_bytes += 24;
		at = mempcpy(at, &header, sizeof(header)) + 16;
		checksum = XXH3_64bits(begin, (size_t)(at - begin));
		at = mempcpy(at, &checksum, 8);
		at = mempcpy(at, payload, header.packed_bytes);
	}
	image = image_of(data, (size_t)(at - data));
	outcome = read_all(&fixture, image.path);
	CU_ASSERT_TRUE(outcome.opened && outcome.exact);
	CU_ASSERT_EQUAL(outcome.missing, 0);
	image_free(&image);
	free(data);
	fixture_free(&fixture);
}

/* Replace the payload of the first chunk of events by @payload, in a trace without an index. @nr_events 0: as before */
static struct outcome with_payload(const struct fixture *fixture, const void *payload, size_t bytes, uint32_t raw_bytes, uint8_t compression,
				   uint32_t nr_events)
{
	struct trace_chunk_header header;
	size_t at = (size_t)image_find(&fixture->image, TRACE_CHUNK_EVENTS, 0, &header), end = at + chunk_bytes(&header);
	unsigned char *data = malloc(fixture->image.bytes + bytes), *out = data;
	struct image image;
	struct outcome outcome;

	out = mempcpy(out, fixture->image.data, at + header.header_bytes);
	out = mempcpy(out, payload, bytes);
	out = mempcpy(out, fixture->image.data + end, fixture->image.bytes - end);
	header.packed_bytes = (uint32_t)bytes;
	header.raw_bytes = raw_bytes;
	header.compression = compression;
	if (nr_events) {
		header.events = nr_events;
		header.last_ns = header.first_ns;
	}
	image = image_of(data, (size_t)(out - data));
	image_put_chunk(&image, at, &header);
	outcome = read_all(fixture, image.path);
	image_free(&image);
	free(data);
	return outcome;
}

/* Change an entry of the only chunk of a kind, which has an array of them. */
static void change_cpu(struct image *image, enum trace_chunk_kind kind, size_t entry_bytes, size_t kind_at, size_t cpu_at, uint32_t cpu)
{
	struct trace_chunk_header header;
	size_t chunk = (size_t)image_find(image, kind, 0, &header), at = chunk + header.header_bytes;
	uint16_t of_chunk;

	for (;; at += entry_bytes) { /* the first of events */
		memcpy(&of_chunk, image->data + at + kind_at, sizeof(of_chunk));
		if (of_chunk == TRACE_CHUNK_EVENTS)
			break;
	}
	memcpy(image->data + at + cpu_at, &cpu, sizeof(cpu));
	image_put_chunk(image, chunk, &header);
}

/* By the chunk itself, and by a table and an index that list it. */
static void a_chunk_of_an_impossible_cpu_is_refused(void)
{
	static const uint32_t cpus[] = { TRACE_CPUS_MAX, 0x57097957, UINT32_MAX - 1 };

	for (int indexed = 0; indexed < 2; indexed++)
		for (size_t i = 0; i < sizeof(cpus) / sizeof(*cpus); i++) {
			struct fixture fixture = fixture_new(indexed);
			struct trace_chunk_header header;
			struct outcome outcome;
			struct trace *trace;
			size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 0, &header);

			header.cpu = cpus[i];
			image_put_chunk(&fixture.image, at, &header);
			if (indexed) {
				change_cpu(&fixture.image, TRACE_CHUNK_INDEX, sizeof(struct trace_index_entry),
					   offsetof(struct trace_index_entry, header.kind), offsetof(struct trace_index_entry, header.cpu), cpus[i]);
				change_cpu(&fixture.image, TRACE_CHUNK_TABLE, sizeof(struct trace_table_entry),
					   offsetof(struct trace_table_entry, kind), offsetof(struct trace_table_entry, cpu), cpus[i]);
			}
			trace = trace_open(fixture.image.path, NULL);
			CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
			CU_ASSERT_TRUE(trace_get_info(trace)->nr_cpus < 8);
			trace_close(trace);
			outcome = read_all(&fixture, fixture.image.path);
			CU_ASSERT_TRUE(outcome.opened && outcome.exact && outcome.detected && outcome.nr_damages > 0);
			fixture_free(&fixture);
		}
}

/* The same trace as version 2.0 has it: without a table, and an index that knows of none. */
static struct image image_without_table(const struct image *image)
{
	struct trace_chunk_header header, index;
	size_t table = (size_t)image_find(image, TRACE_CHUNK_TABLE, 0, &header);
	size_t index_at = (size_t)image_find(image, TRACE_CHUNK_INDEX, 0, &index);
	struct image old = image_of(image->data, image->bytes);
	struct trace_file_header *file = (struct trace_file_header *)old.data;
	struct trace_end_mark mark;

	index.packed_bytes -= 2 * sizeof(struct trace_index_entry); /* the table, and its root */
	index.raw_bytes = index.packed_bytes;
	memmove(old.data + table + sizeof(index), image->data + index_at + sizeof(index), index.packed_bytes);
	image_put_chunk(&old, table, &index);
	memcpy(&mark, image->data + image->bytes - sizeof(mark), sizeof(mark));
	mark.index_offset = table;
	mark.file_bytes = table + sizeof(index) + index.packed_bytes + sizeof(mark);
	mark.checksum = XXH3_64bits(&mark, offsetof(struct trace_end_mark, checksum));
	memcpy(old.data + mark.file_bytes - sizeof(mark), &mark, sizeof(mark));
	file->version_minor = 0;
	file->checksum = XXH3_64bits(file, offsetof(struct trace_file_header, checksum));
	old.bytes = mark.file_bytes;
	if (ftruncate(old.fd, (off_t)old.bytes) < 0)
		abort();
	return old;
}

static bool chunks_are_equal(const struct trace_chunk *a, const struct trace_chunk *b)
{
	return a->offset == b->offset && a->seq == b->seq && a->first_ns == b->first_ns && a->last_ns == b->last_ns && a->events == b->events &&
	       a->lost_before == b->lost_before && a->stream == b->stream && a->cpu == b->cpu && a->raw_bytes == b->raw_bytes &&
	       a->packed_bytes == b->packed_bytes && a->kind == b->kind && a->encoding == b->encoding && a->damaged == b->damaged;
}

static void a_trace_of_the_version_before_the_table_is_whole(void)
{
	struct fixture fixture = fixture_new(true);
	struct image image = image_without_table(&fixture.image);
	struct outcome outcome = read_all(&fixture, image.path);
	struct trace *trace = trace_open(image.path, NULL), *now = trace_open(fixture.image.path, NULL);

	CU_ASSERT_TRUE(outcome.opened && outcome.exact && !outcome.detected && !outcome.nr_damages);
	CU_ASSERT_EQUAL(outcome.missing, 0);
	CU_ASSERT_FALSE(trace_get_info(trace)->index_rebuilt);
	CU_ASSERT_EQUAL(trace_get_info(trace)->version_minor, 0);
	CU_ASSERT_EQUAL_FATAL(trace_nr_chunks(trace), trace_nr_chunks(now));
	for (size_t i = 0; i < trace_nr_chunks(trace); i++)
		CU_ASSERT_TRUE(chunks_are_equal(trace_get_chunk(trace, i), trace_get_chunk(now, i)));
	trace_close(trace);
	trace_close(now);
	image_free(&image);
	fixture_free(&fixture);
}

/* Flags that nobody knows; and where a header's copy is in the index, for which there is the chunk's own. */
static bool is_of_no_account(enum trace_chunk_kind kind, size_t at, unsigned char value)
{
	if (kind == TRACE_CHUNK_ROOT)
		return at >= offsetof(struct trace_table_root, index_entries);
	return at % sizeof(struct trace_table_entry) == offsetof(struct trace_table_entry, flags) && value == 0x80;
}

/* Every byte of the table and of its root takes other values, with good checksums: nothing breaks, and who reads the chunks finds it. */
static void a_table_that_lies_is_found(void)
{
	static const enum trace_chunk_kind kinds[] = { TRACE_CHUNK_TABLE, TRACE_CHUNK_ROOT };
	static const unsigned char values[] = { 1, 0x80, 0xff };
	struct fixture fixture = fixture_new(true);
	size_t nr = 0, nr_closed = 0, nr_undetected = 0;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct trace_chunk_header header;
		size_t at = (size_t)image_find(&fixture.image, kinds[k], 0, &header);

		for (size_t i = 0; i < header.packed_bytes; i += (size_t)unit_step(7))
			for (size_t j = 0; j < sizeof(values); j++, nr++) {
				unsigned char *byte = &fixture.image.data[at + header.header_bytes + i];
				struct outcome outcome;

				*byte ^= values[j];
				image_put_chunk(&fixture.image, at, &header);
				outcome = read_all(&fixture, fixture.image.path);
				nr_closed += !outcome.opened;
				nr_undetected += !outcome.detected && !is_of_no_account(kinds[k], i, values[j]);
				*byte ^= values[j];
				image_put_chunk(&fixture.image, at, &header);
			}
	}
	CU_ASSERT_TRUE(nr > 200);
	CU_ASSERT_EQUAL(nr_closed, 0);
	CU_ASSERT_EQUAL(nr_undetected, 0);
	fixture_free(&fixture);
}

/* ---- files that no writer of ours would make ---- */

enum { MADE_ID = 7, MADE_MOST_BYTES = 256 << 10 };

/** struct made - a trace file made by hand: a header of @header_bytes with room in it, and what follows */
struct made {
	unsigned char data[MADE_MOST_BYTES];
	size_t bytes;
};

static void made_header(struct made *made, size_t header_bytes)
{
	struct trace_file_header header = { .version_major = TRACE_FORMAT_MAJOR, .version_minor = TRACE_FORMAT_MINOR, .header_bytes = (uint32_t)header_bytes,
					    .trace_id = MADE_ID };
	uint64_t checksum;

	memcpy(header.magic, TRACE_FILE_MAGIC, TRACE_MAGIC_BYTES);
	memcpy(made->data, &header, offsetof(struct trace_file_header, checksum));
	checksum = XXH3_64bits(made->data, header_bytes - sizeof(checksum));
	memcpy(made->data + header_bytes - sizeof(checksum), &checksum, sizeof(checksum));
	if (made->bytes < header_bytes)
		made->bytes = header_bytes;
}

static void made_chunk(struct made *made, struct trace_chunk_header header, const void *payload, size_t bytes)
{
	memcpy(header.magic, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES);
	header.header_bytes = sizeof(header);
	header.trace_id = MADE_ID;
	header.raw_bytes = header.packed_bytes = (uint32_t)bytes;
	header.payload_checksum = XXH3_64bits(payload, bytes);
	header.checksum = XXH3_64bits(&header, offsetof(struct trace_chunk_header, checksum));
	memcpy(mempcpy(made->data + made->bytes, &header, sizeof(header)), payload, bytes);
	made->bytes += sizeof(header) + bytes;
}

static struct trace *made_open(const struct made *made, struct trace_error *ret_error)
{
	struct image image = image_of(made->data, made->bytes);
	struct trace *trace = trace_open(image.path, ret_error);

	image_free(&image);
	return trace;
}

/* Where the table begins bounds what it may list; it lies before the first chunk, in the room of the file's header. */
static void a_table_within_the_files_header_is_refused(void)
{
	struct made *made = calloc(1, sizeof(*made));
	struct trace_table_entry entry = { .offset = 1ull << 40, .events_before = 5, .events = 1, .kind = TRACE_CHUNK_EVENTS };
	struct trace_table_root root = { .offset = sizeof(struct trace_file_header), .nr_entries = 1, .nr_chunks = 1, .entry_bytes = sizeof(entry),
					 .header_bytes = sizeof(struct trace_chunk_header) + 8, .index_entries = 1 };
	struct trace_end_mark mark = { .trace_id = MADE_ID, .nr_index_chunks = 1 };
	struct trace *trace;

	made->bytes = root.offset;
	made_chunk(made, (struct trace_chunk_header){ .kind = TRACE_CHUNK_TABLE }, &entry, sizeof(entry));
	made_chunk(made, (struct trace_chunk_header){ .kind = TRACE_CHUNK_ROOT }, &root, sizeof(root));
	mark.index_offset = made->bytes;
	made_header(made, made->bytes + 8);
	memcpy(mark.magic, TRACE_END_MAGIC, TRACE_MAGIC_BYTES);
	mark.file_bytes = made->bytes + sizeof(mark);
	mark.checksum = XXH3_64bits(&mark, offsetof(struct trace_end_mark, checksum));
	memcpy(made->data + made->bytes, &mark, sizeof(mark));
	made->bytes += sizeof(mark);
	trace = made_open(made, NULL);
	CU_ASSERT_PTR_NOT_NULL(trace);
	CU_ASSERT_TRUE(trace && trace_nr_chunks(trace) == 0 && trace_nr_damages(trace) > 0);
	trace_close(trace);
	free(made);
}

/* A schema of @nr types that all have the same text, of @chars characters. Returns the number of types that are taken. */
static size_t types_with_one_text(uint32_t nr, size_t chars)
{
	struct made *made = calloc(1, sizeof(*made));
	struct trace_schema_header head = { .nr_types = nr, .type_bytes = sizeof(struct trace_schema_type), .field_bytes = sizeof(struct trace_schema_field),
					    .text_bytes = (uint32_t)chars + 2 };
	unsigned char *payload = calloc(1, MADE_MOST_BYTES / 2), *at = mempcpy(payload, &head, sizeof(head));
	struct trace *trace;
	size_t taken;

	for (uint32_t i = 0; i < nr; i++)
		at = mempcpy(at, &(struct trace_schema_type){ .id = (uint16_t)(TRACE_EV_MAX + i), .text = 1 }, sizeof(struct trace_schema_type));
	memset(at + 1, 'x', chars);
	made_header(made, sizeof(struct trace_file_header));
	made_chunk(made, (struct trace_chunk_header){ .kind = TRACE_CHUNK_SCHEMA }, payload, (size_t)(at - payload) + head.text_bytes);
	trace = made_open(made, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	taken = trace_nr_types(trace);
	CU_ASSERT_EQUAL(trace_nr_damages(trace), taken == 0);
	trace_close(trace);
	free(payload);
	free(made);
	return taken;
}

/* A small chunk could stand for any number of large types, and to open it would take hours. */
static void types_that_share_more_than_a_schema_can_hold_are_refused(void)
{
	CU_ASSERT_EQUAL(types_with_one_text(1, 65000), 1);
	CU_ASSERT_EQUAL(types_with_one_text(1, 65500), 0);
	CU_ASSERT_EQUAL(types_with_one_text(250, 65000), 250);
	CU_ASSERT_EQUAL(types_with_one_text(270, 65000), 0);
}

/* One event of a type that has nothing but its number; sched_fork has 24 bytes for us. And a loss, whose event shall have a string. */
static struct trace *trace_of_a_short_event(void)
{
	struct {
		struct trace_schema_header head;
		struct trace_schema_type types[2];
		char text[8];
	} schema = { .head = { .nr_types = 2, .type_bytes = sizeof(struct trace_schema_type), .field_bytes = sizeof(struct trace_schema_field), .text_bytes = 8 },
		     .types = { { .id = TRACE_EV_sched_fork }, { .id = TRACE_EV_trace_lost, .fixed_bytes = sizeof(struct trace_trace_lost), .has_string = 1 } } };
	struct {
		struct trace_columns_header head;
		struct trace_columns_times times;
		struct trace_columns_type type;
		unsigned char id, codes[2], end[8];
	} __attribute__((packed)) columns = { .head = { .events = 1, .nr_types = 1, .first_ns = 1000 },
					      .times = { .step = 1ull << 32, .code_bytes = 2 },
					      .type = { .id = TRACE_EV_sched_fork, .events = 1, .payloads = 1 } };
	struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS, .encoding = TRACE_ENCODING_COLUMNS, .events = 1, .first_ns = 1000, .last_ns = 1000,
					     .events_before = 3, .lost_before = 3, .ids = { 1ull << TRACE_EV_sched_fork } };
	struct made *made = calloc(1, sizeof(*made));
	struct trace *trace;

	made_header(made, sizeof(struct trace_file_header));
	made_chunk(made, (struct trace_chunk_header){ .kind = TRACE_CHUNK_SCHEMA }, &schema, offsetof(__typeof__(schema), text) + sizeof(schema.text));
	made_chunk(made, header, &columns, sizeof(columns));
	trace = made_open(made, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	free(made);
	return trace;
}

/* Seen by AddressSanitizer, as far as it reads beyond them. */
static void nothing_is_read_of_events_that_are_too_short(void)
{
	struct trace *trace = trace_of_a_short_event();
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	struct trace_symbols *symbols = trace_symbols_new(trace, NULL);
	const struct trace_event *event = trace_cursor_next(cursor);

	CU_ASSERT_PTR_NOT_NULL(symbols);
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	CU_ASSERT_EQUAL(event->id, TRACE_EV_trace_lost);
	CU_ASSERT_FALSE(event->type->has_string);
	while (event && event->id == TRACE_EV_trace_lost) /* the file has no end, either */
		event = trace_cursor_next(cursor);
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	CU_ASSERT_EQUAL(event->id, TRACE_EV_sched_fork);
	CU_ASSERT_EQUAL(event->payload_bytes, 0);
	trace_symbols_free(symbols);
	trace_cursor_free(cursor);
	trace_close(trace);
}

static void a_compression_bomb_is_refused(void)
{
	struct fixture fixture = fixture_new(false);
	size_t raw = 256u << 20, room = ZSTD_compressBound(raw), packed;
	unsigned char *zeros = calloc(1, raw), *bomb = malloc(room);
	struct outcome outcome;

	packed = ZSTD_compress(bomb, room, zeros, raw, 1);
	outcome = with_payload(&fixture, bomb, packed, TRACE_RAW_MAX, TRACE_COMPRESSION_ZSTD, 0);
	CU_ASSERT_TRUE(outcome.opened && outcome.exact && outcome.detected);
	CU_ASSERT_EQUAL(outcome.missing, 5);
	outcome = with_payload(&fixture, bomb, packed, (uint32_t)raw, TRACE_COMPRESSION_ZSTD, 0);
	CU_ASSERT_TRUE(outcome.opened && outcome.exact && outcome.detected);
	CU_ASSERT_EQUAL(outcome.missing, 5);
	CU_ASSERT_TRUE(outcome.nr_damages > 0); /* refused before anything was allocated for it */
	free(zeros);
	free(bomb);
	fixture_free(&fixture);
}

/* Constant columns make large events of one byte each; their size has the records' limit all the same. */
static void a_bomb_of_constant_columns_is_refused(void)
{
	struct fixture fixture = fixture_new(false);
	size_t nr = TRACE_RAW_MAX / 64 + 1, heads = sizeof(struct trace_columns_header) + sizeof(struct trace_columns_times) +
						    sizeof(struct trace_columns_type);
	size_t raw = heads + nr + 70 + 2 + 8; /* ids, columns, times */
	struct trace_columns_type type = { .id = TRACE_EV_sys_enter6, .words = 7, .events = (uint32_t)nr, .payloads = (uint32_t)nr };
	unsigned char *payload = calloc(1, raw), *at = payload;
	struct outcome outcome;

	at = mempcpy(at,
		     &(struct trace_columns_header){ .events = (uint32_t)nr, .nr_types = 1, .first_ns = 1000 },
		     sizeof(struct trace_columns_header));
	at = mempcpy(at, &(struct trace_columns_times){ .step = 1ULL << 32, .code_bytes = 2 }, sizeof(struct trace_columns_times));
	at = mempcpy(at, &type, sizeof(type));
	at += nr;
	for (int column = 0; column < 7; column++, at += 10) /* all bytes are 0 */
		at[1] = 0xff;
	outcome = with_payload(&fixture, payload, raw, (uint32_t)raw, TRACE_COMPRESSION_NONE, (uint32_t)nr);
	CU_ASSERT_TRUE(outcome.opened && outcome.exact && outcome.detected);
	CU_ASSERT_TRUE(outcome.missing >= 5);
	free(payload);
	fixture_free(&fixture);
}

/** struct bombs - a file to which chunks are added that are some hundred bytes there, and megabytes of events */
struct bombs {
	struct rawfile *file;
	uint32_t trace_id;
	unsigned char *payload; /* owned; before compression */
	unsigned char *packed;	/* owned */
	size_t room;
};

enum { BOMB_RAW = 15 << 20 };

static struct bombs bombs_new(void)
{
	struct bombs bombs = { .file = rawfile_new(), .payload = calloc(1, BOMB_RAW), .room = ZSTD_compressBound(BOMB_RAW) };

	bombs.packed = malloc(bombs.room);
	CU_ASSERT_EQUAL(pread(bombs.file->fd, &bombs.trace_id, 4, offsetof(struct trace_file_header, trace_id)), 4);
	lseek(bombs.file->fd, 0, SEEK_END);
	return bombs;
}

static void bombs_add(struct bombs *bombs, struct trace_chunk_header header, size_t raw)
{
	size_t packed = ZSTD_compress(bombs->packed, bombs->room, bombs->payload, raw, 1);

	memcpy(header.magic, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES);
	header.header_bytes = sizeof(header);
	header.trace_id = bombs->trace_id;
	header.compression = TRACE_COMPRESSION_ZSTD;
	header.raw_bytes = (uint32_t)raw;
	header.packed_bytes = (uint32_t)packed;
	header.payload_checksum = XXH3_64bits(bombs->packed, packed);
	header.checksum = XXH3_64bits(&header, offsetof(struct trace_chunk_header, checksum));
	CU_ASSERT_EQUAL(write(bombs->file->fd, &header, sizeof(header)), sizeof(header));
	CU_ASSERT_EQUAL(write(bombs->file->fd, bombs->packed, packed), (ssize_t)packed);
}

enum { BOMB_EVENTS = TRACE_RAW_MAX / 64 };

/* The most system calls that a chunk may have, all of them 0, at @ts_ns. */
static void bombs_add_events(struct bombs *bombs, uint32_t stream, uint64_t ts_ns)
{
	struct trace_columns_type type = { .id = TRACE_EV_sys_enter6, .words = 7, .events = BOMB_EVENTS, .payloads = BOMB_EVENTS };
	struct trace_columns_header head = { .events = BOMB_EVENTS, .nr_types = 1, .first_ns = ts_ns };
	struct trace_columns_times times = { .step = 1ULL << 32, .code_bytes = 2 };
	struct trace_chunk_header header = { .kind = TRACE_CHUNK_EVENTS, .encoding = TRACE_ENCODING_COLUMNS, .stream = stream, .seq = 1, .events = BOMB_EVENTS,
					     .first_ns = ts_ns, .last_ns = ts_ns };
	unsigned char *at = mempcpy(mempcpy(mempcpy(bombs->payload, &head, sizeof(head)), &times, sizeof(times)), &type, sizeof(type));

	header.ids[TRACE_EV_sys_enter6 / 64] = 1ull << TRACE_EV_sys_enter6 % 64;
	at += BOMB_EVENTS;
	for (int column = 0; column < 7; column++, at += 10)
		at[1] = 0xff;
	bombs_add(bombs, header, (size_t)(at - bombs->payload) + 2 + 8);
}

static struct trace *bombs_open(struct bombs *bombs)
{
	struct trace *trace = trace_open(bombs->file->path, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT(trace_get_info(trace)->file_bytes < 64 << 10);
	close(bombs->file->fd);
	trace_writer_free(bombs->file->writer);
	free(bombs->file);
	free(bombs->payload);
	free(bombs->packed);
	return trace;
}

/* Reads on, and returns how many events come, and how many a loss stands for. */
static uint64_t go_through(const struct trace *trace, uint64_t *ret_lost, struct trace_error *ret_error)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, &(struct trace_cursor_options){ .size = sizeof(struct trace_cursor_options), .decode_ahead = 4 }, NULL);
	const struct trace_event *event;
	uint64_t nr = 0;

	*ret_lost = 0;
	while ((event = trace_cursor_next(cursor))) {
		nr += event->id != TRACE_EV_trace_lost;
		if (event->id == TRACE_EV_trace_lost)
			*ret_lost += ((const struct trace_trace_lost *)event->payload)->lost;
	}
	CU_ASSERT_EQUAL(trace_cursor_error(cursor, ret_error), -EBADMSG);
	trace_cursor_free(cursor);
	return nr;
}

static void chunks_that_are_too_much_at_a_time_are_refused(void)
{
	struct bombs bombs = bombs_new();
	struct trace_error error = { 0 };
	struct trace *trace;
	uint64_t lost, nr;

	for (uint32_t i = 0; i < 20; i++)
		bombs_add_events(&bombs, i, 1000);
	trace = bombs_open(&bombs);
	nr = go_through(trace, &lost, &error);
	CU_ASSERT_EQUAL(nr + lost, 20 * BOMB_EVENTS);
	CU_ASSERT(nr >= 10 * BOMB_EVENTS && nr < 16 * BOMB_EVENTS); /* of 20 MiB each, so that they take a fourth of a GiB */
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "more events at one time than any recorder"));
	trace_close(trace);
}

static struct trace *bombs_behind_each_other(uint32_t nr)
{
	struct bombs bombs = bombs_new();

	for (uint32_t i = 0; i < nr; i++)
		bombs_add_events(&bombs, i, 1000 + i);
	return bombs_open(&bombs);
}

static void chunks_that_are_too_much_together_are_refused(void)
{
	uint32_t nr_chunks = 220; /* of 20 MiB each */
	struct trace_error error = { 0 };
	struct trace *trace;
	uint64_t lost, nr;

	if (unit_step(2) > 1)
		return; /* it takes long where each access is checked */
	trace = bombs_behind_each_other(nr_chunks);
	nr = go_through(trace, &lost, &error);
	CU_ASSERT_EQUAL(nr + lost, (uint64_t)nr_chunks * BOMB_EVENTS);
	CU_ASSERT(nr >= 205ull * BOMB_EVENTS && nr < 220ull * BOMB_EVENTS);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "stands for more events than any recorder"));
	trace_close(trace);
}

/* A recorder with large buffers can put a million of equal events into 400 bytes. */
static void many_events_in_a_small_file_are_read(void)
{
	uint32_t nr_chunks = unit_step(2) == 1 ? 70 : 3;
	struct trace *trace = bombs_behind_each_other(nr_chunks);
	struct trace_cursor *cursor = trace_cursor_new(trace, &(struct trace_cursor_options){ .size = sizeof(struct trace_cursor_options), .no_lost = true }, NULL);
	uint64_t nr = 0;

	while (trace_cursor_next(cursor))
		nr++;
	CU_ASSERT_EQUAL(trace_cursor_error(cursor, NULL), 0);
	CU_ASSERT_EQUAL(nr, (uint64_t)nr_chunks * BOMB_EVENTS);
	trace_cursor_free(cursor);
	trace_close(trace);
}

static void names_that_are_too_much_together_are_refused(void)
{
	enum { NAME = 60000 };
	struct trace_string_entry entry = { .space = TRACE_STRING_SYSCALL, .text_bytes = NAME };
	struct bombs bombs = bombs_new();
	size_t raw = 0;
	struct trace *trace;

	for (; raw + sizeof(entry) + NAME <= BOMB_RAW; raw += sizeof(entry) + NAME)
		memcpy(bombs.payload + raw, &entry, sizeof(entry));
	for (uint32_t i = 0; i < 10; i++)
		bombs_add(&bombs, (struct trace_chunk_header){ .kind = TRACE_CHUNK_STRINGS }, raw);
	trace = bombs_open(&bombs);
	CU_ASSERT(trace_nr_damages(trace) >= 3 && trace_nr_damages(trace) <= 7);
	CU_ASSERT_PTR_NOT_NULL(strstr(trace_get_damage(trace, 0)->message, "more names and types than any recorder"));
	trace_close(trace);
}

/* Every byte of a payload of columns takes every value, with good checksums: what comes out is of no account, but nothing
 * breaks, and the other chunks' events are exact. */
static void malformed_columns_break_nothing(void)
{
	struct fixture fixture = fixture_new(false);
	struct trace_chunk_header header;
	size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 0, &header);
	unsigned char *raw = malloc(header.raw_bytes);
	size_t nr_short = 0, step = (size_t)unit_step(3);

	if (header.compression == TRACE_COMPRESSION_ZSTD)
		ZSTD_decompress(raw, header.raw_bytes, fixture.image.data + at + header.header_bytes, header.packed_bytes);
	else
		memcpy(raw, fixture.image.data + at + header.header_bytes, header.raw_bytes);
	for (size_t i = 0; i < header.raw_bytes; i += step) {
		unsigned char before = raw[i];

		for (int value = 0; value < 256; value += value < 4 || value > 253 ? 1 : 25) {
			struct outcome outcome;

			raw[i] = (unsigned char)value;
			outcome = with_payload(&fixture, raw, header.raw_bytes, header.raw_bytes, TRACE_COMPRESSION_NONE, 0);
			nr_short += !outcome.opened;
		}
		raw[i] = before;
		if (i % 4 == 0) {
			struct outcome outcome = with_payload(&fixture, raw, i, (uint32_t)i, TRACE_COMPRESSION_NONE, 0);

			nr_short += outcome.missing != 5 || !outcome.detected;
		}
	}
	CU_ASSERT_EQUAL(nr_short, 0);
	free(raw);
	fixture_free(&fixture);
}

/* A thread that decodes ahead finds the same damage. */
static void damage_ahead_is_the_same(void)
{
	struct trace_cursor_options alone = { .size = sizeof(alone) }, both = { .size = sizeof(both), .decode_ahead = 3 };
	struct tb *tb = tb_new();
	struct image image;
	struct trace *trace;
	struct seen seen[2];

	for (uint64_t i = 0; i < 4000; i++) {
		tb_sys_exit(tb, i % 2, 1000 + i, (int64_t)i);
		if (i % 100 > 97)
			tb_cut(tb, i % 2);
	}
	image = image_new(tb, true);
	for (size_t nth = 7; nth < 80; nth += 9) {
		struct trace_chunk_header header;
		long at = image_find(&image, TRACE_CHUNK_EVENTS, nth, &header);

		CU_ASSERT_TRUE_FATAL(at > 0);
		image.data[at + header.header_bytes + 40] ^= 1;
	}
	trace = trace_open(image.path, NULL);
	seen[0] = seen_of(trace, &alone);
	seen[1] = seen_of(trace, &both);
	CU_ASSERT_TRUE(seen[0].nr_lost == 9 && seen[0].error == -EBADMSG);
	CU_ASSERT_TRUE(seen[1].nr == seen[0].nr && seen[1].lost == seen[0].lost && seen[1].nr_lost == seen[0].nr_lost && seen[1].error == seen[0].error);
	CU_ASSERT_EQUAL(memcmp(seen[0].events, seen[1].events, seen[0].nr * sizeof(*seen[0].events)), 0);
	seen_free(&seen[0]);
	seen_free(&seen[1]);
	trace_close(trace);
	image_free(&image);
	tb_free(tb);
}

/* ---- not traces ---- */

static void other_files_are_refused_with_a_reason(void)
{
	struct trace_error error;
	struct image image = image_of("#!/bin/sh\necho this is a script, not a trace, and longer than a trace's header must be\n", 86);

	CU_ASSERT_PTR_NULL(trace_open(image.path, &error));
	CU_ASSERT_EQUAL(error.code, -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "not a trace"));
	image_free(&image);
	CU_ASSERT_PTR_NULL(trace_open("/dev/null", &error));
	CU_ASSERT_EQUAL(error.code, -EINVAL);
	CU_ASSERT_PTR_NULL(trace_open("/nowhere/t.trace", &error));
	CU_ASSERT_EQUAL(error.code, -ENOENT);
	CU_ASSERT_PTR_NULL(trace_open("/tmp", &error));
	CU_ASSERT_EQUAL(error.code, -EINVAL);
}

/* Where the chunks are is looked up in the file when the first cursor is made; from then on all of them are known. */
static void a_file_that_shrinks_while_open_is_damage(void)
{
	static const bool finished[] = { true, false };

	for (size_t i = 0; i < 2; i++) {
		struct fixture fixture = fixture_new(finished[i]);
		struct trace *trace = trace_open(fixture.image.path, NULL);
		uint64_t mask[TRACE_MASK_WORDS] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
		struct trace_cursor_options options = { .size = sizeof(options) };
		struct seen seen;

		trace_cursor_free(trace_cursor_new(trace, NULL, NULL));
		if (ftruncate(fixture.image.fd, 4096) < 0)
			abort();
		for (options.mask = NULL;; options.mask = mask) {
			seen = seen_of(trace, &options);
			CU_ASSERT_EQUAL(seen.error, -EBADMSG);
			CU_ASSERT_EQUAL(seen.nr + seen.lost, fixture.all.nr);
			seen_free(&seen);
			if (options.mask)
				break;
		}
		CU_ASSERT_EQUAL(trace_verify(trace, NULL), -EBADMSG);
		CU_ASSERT_PTR_NULL(trace_get_chunk(trace, 0));
		trace_close(trace);
		fixture_free(&fixture);
	}
}

static void a_file_that_shrinks_before_the_first_cursor_has_none(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace *trace = trace_open(fixture.image.path, NULL);
	struct trace_error error = { 0 };

	if (ftruncate(fixture.image.fd, 4096) < 0)
		abort();
	CU_ASSERT_PTR_NULL(trace_cursor_new(trace, NULL, &error));
	CU_ASSERT_EQUAL(error.code, -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "shorter"));
	trace_close(trace);
	fixture_free(&fixture);
}

/* They agree with each other, but not with what the cursor has been told of the chunk. */
static void an_entry_and_its_header_change(struct fixture *fixture, size_t at, struct trace_table_entry entry)
{
	struct trace *trace = trace_open(fixture->image.path, NULL);
	struct trace_chunk_header header, other;
	struct seen seen;

	trace_cursor_free(trace_cursor_new(trace, NULL, NULL));
	memcpy(&header, fixture->image.data + entry.offset, sizeof(header));
	other = header;
	other.cpu ^= 1;
	image_put_chunk(&fixture->image, entry.offset, &other);
	fixture->image.data[at + offsetof(struct trace_table_entry, cpu)] ^= 1;
	seen = seen_of(trace, NULL);
	fixture->image.data[at + offsetof(struct trace_table_entry, cpu)] ^= 1;
	image_put_chunk(&fixture->image, entry.offset, &header);
	CU_ASSERT_EQUAL(seen.error, -EBADMSG);
	CU_ASSERT_EQUAL(seen.lost, entry.events);
	CU_ASSERT_EQUAL(seen.nr + seen.lost, fixture->all.nr);
	seen_free(&seen);
	trace_close(trace);
}

/* An entry of the table is looked at again whenever its chunk is read; nothing but that chunk is lost, whatever has become of it. */
static void an_entry_that_changes_while_open_is_damage(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace *trace = trace_open(fixture.image.path, NULL);
	struct trace_table_entry entry;
	struct trace_chunk_header header;
	struct trace_error error = { 0 };
	size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_TABLE, 0, &header) + sizeof(header), nr_read = 0;

	for (;; at += sizeof(entry)) {
		memcpy(&entry, fixture.image.data + at, sizeof(entry));
		if (entry.kind == TRACE_CHUNK_EVENTS)
			break;
	}
	trace_cursor_free(trace_cursor_new(trace, NULL, NULL));
	for (size_t i = 0; i < sizeof(entry); i++) {
		struct seen seen;

		fixture.image.data[at + i] ^= 0x91;
		seen = seen_of(trace, NULL);
		fixture.image.data[at + i] ^= 0x91;
		CU_ASSERT_EQUAL(seen.nr + seen.lost, fixture.all.nr);
		CU_ASSERT_EQUAL(seen.lost, seen.error ? entry.events : 0);
		CU_ASSERT_TRUE(!seen.error || seen.error == -EBADMSG);
		nr_read += !seen.error;
		seen_free(&seen);
	}
	CU_ASSERT_EQUAL(nr_read, 0);
	trace_close(trace);
	an_entry_and_its_header_change(&fixture, at, entry);

	trace = trace_open(fixture.image.path, NULL);
	fixture.image.data[at + offsetof(struct trace_table_entry, events)] ^= 1;
	CU_ASSERT_PTR_NULL(trace_cursor_new(trace, NULL, &error));
	CU_ASSERT_EQUAL(error.code, -EBADMSG);
	trace_close(trace);
	fixture_free(&fixture);
}

/** struct told - what a cursor told of damage. @last_ns: of the event before; @late: that was of its time already */
struct told {
	uint64_t last_ns;
	size_t nr;
	bool late;
	struct trace_gap gap;
};

static void note_damage(void *data, const struct trace_gap *gap)
{
	struct told *told = data;

	told->late |= told->last_ns >= gap->start_ns;
	told->gap = *gap;
	told->nr++;
}

static void damage_is_told_before_any_event_of_its_time(void)
{
	for (size_t ahead = 0; ahead <= 3; ahead += 3) {
		struct told told = { 0 };
		struct trace_cursor_options options = { .size = sizeof(options), .decode_ahead = ahead, .damaged = note_damage, .damaged_data = &told };
		struct trace_chunk_header header;
		struct tb *tb = tb_new();
		const struct trace_event *event;
		struct trace_cursor *cursor;
		struct image image;
		struct trace *trace;
		size_t nr_lost = 0;

		for (uint64_t i = 0; i < 4000; i++) {
			tb_sys_exit(tb, i % 2, 1000 + i, (int64_t)i);
			if (i % 100 > 97 - 10 * (i % 2))
				tb_cut(tb, i % 2);
		}
		image = image_new(tb, true);
		CU_ASSERT_TRUE_FATAL(image_find(&image, TRACE_CHUNK_EVENTS, 31, &header) > 0 && image_spoil(&image, TRACE_CHUNK_EVENTS, 31));
		trace = trace_open(image.path, NULL);
		CU_ASSERT_EQUAL(trace_nr_gaps(trace), 0);
		cursor = trace_cursor_new(trace, &options, NULL);
		while ((event = trace_cursor_next(cursor))) {
			told.last_ns = event->ts_ns;
			nr_lost += event->id == TRACE_EV_trace_lost;
			if (event->ts_ns >= header.first_ns)
				CU_ASSERT_EQUAL(told.nr, 1);
		}
		CU_ASSERT(told.nr == 1 && !told.late && nr_lost == 1 && told.gap.cause == TRACE_GAP_DAMAGED);
		CU_ASSERT(told.gap.stream == header.stream && told.gap.cpu == header.cpu && told.gap.lost == header.events);
		CU_ASSERT(told.gap.start_ns == header.first_ns && told.gap.end_ns == header.last_ns);
		trace_cursor_seek(cursor, header.first_ns);
		CU_ASSERT_PTR_NOT_NULL(trace_cursor_next(cursor));
		CU_ASSERT_EQUAL(told.nr, 2);
		trace_cursor_free(cursor);
		trace_close(trace);
		image_free(&image);
		tb_free(tb);
	}
}

static const struct unit_case cases[] = {
	{ "every_bit_flip_is_detected_and_costs_its_chunk_only", every_bit_flip_is_detected_and_costs_its_chunk_only },
	{ "every_bit_flip_of_an_unfinished_trace_costs_its_chunk_only", every_bit_flip_of_an_unfinished_trace_costs_its_chunk_only },
	{ "every_truncation_keeps_all_whole_chunks", every_truncation_keeps_all_whole_chunks },
	{ "what_is_missing_of_a_cut_chunk_is_counted", what_is_missing_of_a_cut_chunk_is_counted },
	{ "swapped_chunks_are_found_and_lose_only_themselves", swapped_chunks_are_found_and_lose_only_themselves },
	{ "swapped_chunks_without_an_index_lose_nothing", swapped_chunks_without_an_index_lose_nothing },
	{ "a_doubled_chunk_counts_once", a_doubled_chunk_counts_once },
	{ "a_removed_chunk_is_counted_from_the_numbers", a_removed_chunk_is_counted_from_the_numbers },
	{ "garbage_between_chunks_costs_nothing", garbage_between_chunks_costs_nothing },
	{ "copies_of_headers_in_the_index_are_no_chunks", copies_of_headers_in_the_index_are_no_chunks },
	{ "what_is_left_of_an_index_is_no_chunk", what_is_left_of_an_index_is_no_chunk },
	{ "random_overwrites_cost_the_chunks_they_touch", random_overwrites_cost_the_chunks_they_touch },
	{ "a_chunk_of_another_trace_is_not_taken", a_chunk_of_another_trace_is_not_taken },
	{ "unknown_kinds_are_skipped", unknown_kinds_are_skipped },
	{ "a_header_that_lists_other_events_fails_to_verify", a_header_that_lists_other_events_fails_to_verify },
	{ "another_major_version_is_refused_clearly", another_major_version_is_refused_clearly },
	{ "a_newer_minor_version_with_longer_headers_is_read", a_newer_minor_version_with_longer_headers_is_read },
	{ "a_chunk_of_an_impossible_cpu_is_refused", a_chunk_of_an_impossible_cpu_is_refused },
	{ "a_trace_of_the_version_before_the_table_is_whole", a_trace_of_the_version_before_the_table_is_whole },
	{ "a_table_that_lies_is_found", a_table_that_lies_is_found },
	{ "a_table_within_the_files_header_is_refused", a_table_within_the_files_header_is_refused },
	{ "types_that_share_more_than_a_schema_can_hold_are_refused", types_that_share_more_than_a_schema_can_hold_are_refused },
	{ "nothing_is_read_of_events_that_are_too_short", nothing_is_read_of_events_that_are_too_short },
	{ "a_compression_bomb_is_refused", a_compression_bomb_is_refused },
	{ "a_bomb_of_constant_columns_is_refused", a_bomb_of_constant_columns_is_refused },
	{ "chunks_that_are_too_much_at_a_time_are_refused", chunks_that_are_too_much_at_a_time_are_refused },
	{ "many_events_in_a_small_file_are_read", many_events_in_a_small_file_are_read },
	{ "chunks_that_are_too_much_together_are_refused", chunks_that_are_too_much_together_are_refused },
	{ "names_that_are_too_much_together_are_refused", names_that_are_too_much_together_are_refused },
	{ "damage_ahead_is_the_same", damage_ahead_is_the_same },
	{ "damage_is_told_before_any_event_of_its_time", damage_is_told_before_any_event_of_its_time },
	{ "malformed_columns_break_nothing", malformed_columns_break_nothing },
	{ "other_files_are_refused_with_a_reason", other_files_are_refused_with_a_reason },
	{ "a_file_that_shrinks_while_open_is_damage", a_file_that_shrinks_while_open_is_damage },
	{ "an_entry_that_changes_while_open_is_damage", an_entry_that_changes_while_open_is_damage },
	{ "a_file_that_shrinks_before_the_first_cursor_has_none", a_file_that_shrinks_before_the_first_cursor_has_none },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return unit_main("damage", cases, argc, argv);
}
