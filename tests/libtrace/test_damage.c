/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_damage.c - files with changed bytes: nothing crashes, every change is found, and all events
 * outside the damaged part are read exactly.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "damage_case.h"
#include "rawfile.h"
#include "unit.h"

/* ---- every bit ---- */

/* The number of events that may be missing after a change at @at: those of its chunk. */
static long events_at(const struct image *image, size_t at)
{
	struct trace_chunk_header header;
	long chunk;

	for (size_t i = 0; (chunk = image_chunk(image, i, &header)) >= 0; i++)
		if (at >= (size_t)chunk && at < (size_t)chunk + header.header_bytes + header.packed_bytes)
			return header.kind == TRACE_CHUNK_EVENTS ? header.events : 0;
	return 0;
}

/* The schema's payload is most of the file, and the reader treats all its bytes alike: one bit of
 * each is enough, except in long runs. */
static bool is_schema_payload(const struct image *image, size_t at)
{
	struct trace_chunk_header header;
	size_t chunk = (size_t)image_find(image, TRACE_CHUNK_SCHEMA, 0, &header);

	return at >= chunk + header.header_bytes && at < chunk + header.header_bytes + header.packed_bytes;
}

/**
 * struct tally - over many outcomes: how many broke which promise
 */
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
	struct tally tally = {0};
	size_t step = (size_t)unit_step(29);

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
				  finish ? outcome.lost != (uint64_t)outcome.missing
					 : outcome.missing && !outcome.nr_lost);
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

/* The number of events in chunks that are complete in the first @bytes of the file. */
static long events_within(const struct image *image, size_t bytes)
{
	struct trace_chunk_header header;
	long at, events = 0;

	for (size_t i = 0; (at = image_chunk(image, i, &header)) >= 0; i++)
		if (header.kind == TRACE_CHUNK_EVENTS &&
		    (size_t)at + header.header_bytes + header.packed_bytes <= bytes)
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
	size_t nr_inexact = 0, nr_too_few = 0, nr_clean = 0, first_event_chunk, nr_closed = 0,
	       step = (size_t)unit_step(37);
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

static void events_missing_in_a_truncated_chunk_are_counted(void)
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

		found |= gap->cause == TRACE_GAP_CUT && gap->lost == 5 && gap->cpu == 1 &&
			 gap->start_ns == header.first_ns;
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

static void swapped_chunks_are_found_and_lose_only_themselves(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace_chunk_header a, b;
	size_t at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 1, &a);
	size_t behind = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 2, &b), end = behind + chunk_bytes(&b);
	struct image image = rearranged(&fixture.image,
					(const size_t[][2]){{0, at},
							    {behind, chunk_bytes(&b)},
							    {at, chunk_bytes(&a)},
							    {end, fixture.image.bytes - end}},
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
					(const size_t[][2]){{0, at},
							    {behind, chunk_bytes(&c)},
							    {middle, chunk_bytes(&b)},
							    {at, middle - at},
							    {end, index - end}},
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
					(const size_t[][2]){{0, at + chunk_bytes(&a)}, {at, fixture.image.bytes - at}},
					2);
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
						(const size_t[][2]){{0, at}, {end, fixture.image.bytes - end}}, 2);
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
	/* part of another chunk: a magic without a valid header after it */
	struct image image = rearranged(
		&fixture.image, (const size_t[][2]){{0, at}, {at, 100}, {at, 20}, {at, fixture.image.bytes - at}}, 4);
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

/* The index, which the reader then scans, is full of copies of headers. Their chunks are where the
 * index says, or were there before bytes were inserted or removed. */
static void copies_of_headers_in_the_index_are_no_chunks(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace_chunk_header a, index;
	size_t bytes = fixture.image.bytes, at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 3, &a);
	size_t index_at = (size_t)image_find(&fixture.image, TRACE_CHUNK_INDEX, 0, &index);
	struct image longer = rearranged(&fixture.image, (const size_t[][2]){{0, bytes}, {500, 100}}, 2);
	struct image shorter = rearranged(
		&fixture.image, (const size_t[][2]){{0, at}, {at + chunk_bytes(&a), bytes - at - chunk_bytes(&a)}}, 2);
	struct image cut = rearranged(&fixture.image, (const size_t[][2]){{0, index_at + 1000}}, 1);

	check_damages(fixture.image.path, 0, 0);
	check_damages(longer.path, 1, 0); /* the bytes after the end */
	CU_ASSERT_TRUE(is_clean_end(longer.path));
	check_damages(shorter.path, 1, 1); /* the end is not where it should be */
	CU_ASSERT_FALSE(is_clean_end(shorter.path));
	check_damages(cut.path, 1, 3); /* the index; each stream may lack events */
	image_free(&cut);
	image_free(&shorter);
	image_free(&longer);
	fixture_free(&fixture);
}

/* The same when the chunks are not where the index says, and the index is damaged: the index is
 * lost, and nothing else changes. @parts of the file are kept, as by rearranged(). */
static void check_spoilt_index(const struct image *image, const size_t (*parts)[2], size_t nr, size_t index_at)
{
	size_t before = 0;
	struct image spoilt = rearranged(image, parts, nr), without;
	struct trace *trace = trace_open(spoilt.path, NULL), *twin;
	struct seen seen, wanted;

	for (size_t i = 0; i < nr; i++)
		before += parts[i][0] >= index_at		 ? 0
			  : parts[i][0] + parts[i][1] > index_at ? index_at - parts[i][0]
								 : parts[i][1];
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

static void the_rest_of_an_index_is_no_chunk(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace_chunk_header a, index;
	size_t bytes = fixture.image.bytes, at = (size_t)image_find(&fixture.image, TRACE_CHUNK_EVENTS, 3, &a),
	       behind = at + chunk_bytes(&a);
	size_t index_at = (size_t)image_find(&fixture.image, TRACE_CHUNK_INDEX, 0, &index), step = (size_t)unit_step(5);

	for (size_t stop = index_at + 1; stop < index_at + chunk_bytes(&index); stop += 7 * step) {
		check_spoilt_index(&fixture.image, (const size_t[][2]){{0, stop}}, 1, index_at);
		/* a chunk is missing */
		check_spoilt_index(&fixture.image, (const size_t[][2]){{0, at}, {behind, stop - behind}}, 2, index_at);
		/* a few bytes */
		check_spoilt_index(&fixture.image, (const size_t[][2]){{0, at + 200}, {at + 210, stop - at - 210}}, 2,
				   index_at);
	}
	for (size_t hole = index_at + sizeof(index) - 40; hole + 1000 < bytes; hole += 13 * step) {
		/* and of the index */
		check_spoilt_index(&fixture.image, (const size_t[][2]){{0, hole}, {hole + 100, bytes - hole - 100}}, 2,
				   index_at);
		check_spoilt_index(
			&fixture.image,
			(const size_t[][2]){{0, at}, {behind, hole - behind}, {hole + 100, bytes - hole - 300}}, 3,
			index_at);
	}
	fixture_free(&fixture);
}

static void random_overwrites_cost_the_chunks_they_touch(void)
{
	struct fixture fixture = fixture_new(true);
	unsigned char *saved = malloc(fixture.image.bytes);
	struct tally tally = {0};

	srandom(7);
	memcpy(saved, fixture.image.data, fixture.image.bytes);
	for (int round = 0; round < 1000; round++) {
		size_t bytes = 1 + (size_t)random() % 1024, at = (size_t)random() % (fixture.image.bytes - bytes);
		struct outcome outcome;

		for (size_t i = 0; i < bytes; i++)
			fixture.image.data[at + i] = (unsigned char)random();
		outcome = read_all(&fixture, fixture.image.path);
		memcpy(fixture.image.data, saved, fixture.image.bytes);
		/* without the file's header the schema chunk must be readable: nothing else
		 * describes the events */
		if (at < sizeof(struct trace_file_header) && !outcome.opened)
			continue;
		tally_add(&tally, &outcome, (long)fixture.all.nr, outcome.missing && !outcome.nr_lost);
	}
	tally_check(&tally);
	free(saved);
	fixture_free(&fixture);
}

/* ---- files with false contents and correct checksums ---- */

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
	struct trace_error error = {0};
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

	file.version_minor = TRACE_FORMAT_MINOR + 1;
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

/* Changes an entry in the only chunk of a kind; its payload is an array of entries. */
static void change_cpu(struct image *image, enum trace_chunk_kind kind, size_t entry_bytes, size_t kind_at,
		       size_t cpu_at, uint32_t cpu)
{
	struct trace_chunk_header header;
	size_t chunk = (size_t)image_find(image, kind, 0, &header), at = chunk + header.header_bytes;
	uint16_t of_chunk;

	for (;; at += entry_bytes) { /* the first chunk of events */
		memcpy(&of_chunk, image->data + at + kind_at, sizeof(of_chunk));
		if (of_chunk == TRACE_CHUNK_EVENTS)
			break;
	}
	memcpy(image->data + at + cpu_at, &cpu, sizeof(cpu));
	image_put_chunk(image, chunk, &header);
}

/* In the chunk itself, and in a table and an index that list it. */
static void a_chunk_of_an_impossible_cpu_is_refused(void)
{
	static const uint32_t cpus[] = {TRACE_CPUS_MAX, 0x57097957, UINT32_MAX - 1};

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
					   offsetof(struct trace_index_entry, header.kind),
					   offsetof(struct trace_index_entry, header.cpu), cpus[i]);
				change_cpu(&fixture.image, TRACE_CHUNK_TABLE, sizeof(struct trace_table_entry),
					   offsetof(struct trace_table_entry, kind),
					   offsetof(struct trace_table_entry, cpu), cpus[i]);
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

/* The same trace in version 2.0: without a table, and with an index that has no table. */
static struct image image_without_table(const struct image *image)
{
	struct trace_chunk_header header, index;
	size_t table = (size_t)image_find(image, TRACE_CHUNK_TABLE, 0, &header);
	size_t index_at = (size_t)image_find(image, TRACE_CHUNK_INDEX, 0, &index);
	struct image old = image_of(image->data, image->bytes);
	struct trace_file_header *file = (struct trace_file_header *)old.data;
	struct trace_end_mark mark;

	index.packed_bytes -= 2 * sizeof(struct trace_index_entry); /* the table and its root */
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
	return a->offset == b->offset && a->seq == b->seq && a->first_ns == b->first_ns && a->last_ns == b->last_ns &&
	       a->events == b->events && a->lost_before == b->lost_before && a->stream == b->stream &&
	       a->cpu == b->cpu && a->raw_bytes == b->raw_bytes && a->packed_bytes == b->packed_bytes &&
	       a->kind == b->kind && a->encoding == b->encoding && a->damaged == b->damaged;
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

/* Unknown flags do not matter, and neither do bytes of a header's copy in the index, because the
 * chunk has the header itself. */
static bool is_of_no_account(enum trace_chunk_kind kind, size_t at, unsigned char value)
{
	if (kind == TRACE_CHUNK_ROOT)
		return at >= offsetof(struct trace_table_root, index_entries);
	return at % sizeof(struct trace_table_entry) == offsetof(struct trace_table_entry, flags) && value == 0x80;
}

/* Every byte of the table and of its root takes other values, with correct checksums: nothing
 * breaks, and reading the chunks finds the change. */
static void a_false_table_is_found(void)
{
	static const enum trace_chunk_kind kinds[] = {TRACE_CHUNK_TABLE, TRACE_CHUNK_ROOT};
	static const unsigned char values[] = {1, 0x80, 0xff};
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
	CU_ASSERT_TRUE(nr * (size_t)unit_step(7) > 1000);
	CU_ASSERT_EQUAL(nr_closed, 0);
	CU_ASSERT_EQUAL(nr_undetected, 0);
	fixture_free(&fixture);
}

/* ---- not traces ---- */

static void other_files_are_refused_with_a_reason(void)
{
	struct trace_error error;
	struct image image = image_of(
		"#!/bin/sh\necho this is a script, not a trace, and longer than a trace's header must be\n", 86);

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

static const struct unit_case cases[] = {
	{"every_bit_flip_is_detected_and_costs_its_chunk_only", every_bit_flip_is_detected_and_costs_its_chunk_only},
	{"every_bit_flip_of_an_unfinished_trace_costs_its_chunk_only",
	 every_bit_flip_of_an_unfinished_trace_costs_its_chunk_only},
	{"every_truncation_keeps_all_whole_chunks", every_truncation_keeps_all_whole_chunks},
	{"events_missing_in_a_truncated_chunk_are_counted", events_missing_in_a_truncated_chunk_are_counted},
	{"swapped_chunks_are_found_and_lose_only_themselves", swapped_chunks_are_found_and_lose_only_themselves},
	{"swapped_chunks_without_an_index_lose_nothing", swapped_chunks_without_an_index_lose_nothing},
	{"a_doubled_chunk_counts_once", a_doubled_chunk_counts_once},
	{"a_removed_chunk_is_counted_from_the_numbers", a_removed_chunk_is_counted_from_the_numbers},
	{"garbage_between_chunks_costs_nothing", garbage_between_chunks_costs_nothing},
	{"copies_of_headers_in_the_index_are_no_chunks", copies_of_headers_in_the_index_are_no_chunks},
	{"the_rest_of_an_index_is_no_chunk", the_rest_of_an_index_is_no_chunk},
	{"random_overwrites_cost_the_chunks_they_touch", random_overwrites_cost_the_chunks_they_touch},
	{"a_chunk_of_another_trace_is_not_taken", a_chunk_of_another_trace_is_not_taken},
	{"unknown_kinds_are_skipped", unknown_kinds_are_skipped},
	{"a_header_that_lists_other_events_fails_to_verify", a_header_that_lists_other_events_fails_to_verify},
	{"another_major_version_is_refused_clearly", another_major_version_is_refused_clearly},
	{"a_newer_minor_version_with_longer_headers_is_read", a_newer_minor_version_with_longer_headers_is_read},
	{"a_chunk_of_an_impossible_cpu_is_refused", a_chunk_of_an_impossible_cpu_is_refused},
	{"a_trace_of_the_version_before_the_table_is_whole", a_trace_of_the_version_before_the_table_is_whole},
	{"a_false_table_is_found", a_false_table_is_found},
	{"other_files_are_refused_with_a_reason", other_files_are_refused_with_a_reason},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	/* The test opens file after file: their memory need not come from the kernel each time. */
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_TOP_PAD, 32 << 20);
	return unit_main("damage", cases, argc, argv);
}
