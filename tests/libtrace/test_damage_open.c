/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_damage_open.c - damage while a trace is open and read: files that shrink or change, and the
 * time at which the reader is notified. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "damage_case.h"
#include "unit.h"

/* The first cursor looks up the positions of the chunks in the file. From then on all of them are
 * known. */
static void a_file_that_shrinks_while_open_is_damage(void)
{
	static const bool finished[] = {true, false};

	for (size_t i = 0; i < 2; i++) {
		struct fixture fixture = fixture_new(finished[i]);
		struct trace *trace = trace_open(fixture.image.path, NULL);
		uint64_t mask[TRACE_MASK_WORDS] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
		struct trace_cursor_options options = {.size = sizeof(options)};
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
	struct trace_error error = {0};

	if (ftruncate(fixture.image.fd, 4096) < 0)
		abort();
	CU_ASSERT_PTR_NULL(trace_cursor_new(trace, NULL, &error));
	CU_ASSERT_EQUAL(error.code, -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "truncated"));
	trace_close(trace);
	fixture_free(&fixture);
}

/* The entry and the header agree with each other, but not with what the cursor knows of the
 * chunk. */
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

/* The reader checks an entry of the table again whenever it reads the chunk. Any change of the
 * entry loses that chunk only. */
static void an_entry_that_changes_while_open_is_damage(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace *trace = trace_open(fixture.image.path, NULL);
	struct trace_table_entry entry;
	struct trace_chunk_header header;
	struct trace_error error = {0};
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

/**
 * struct told - the damage that a cursor reported
 * @last_ns: time of the event before
 * @late: the damage had the time of that event
 */
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

static void damage_is_reported_before_any_event_of_its_time(void)
{
	for (size_t ahead = 0; ahead <= 3; ahead += 3) {
		struct told told = {0};
		struct trace_cursor_options options = {
			.size = sizeof(options), .decode_ahead = ahead, .damaged = note_damage, .damaged_data = &told};
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
		CU_ASSERT_TRUE_FATAL(image_find(&image, TRACE_CHUNK_EVENTS, 31, &header) > 0 &&
				     image_spoil(&image, TRACE_CHUNK_EVENTS, 31));
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
		CU_ASSERT(told.gap.stream == header.stream && told.gap.cpu == header.cpu &&
			  told.gap.lost == header.events);
		CU_ASSERT(told.gap.start_ns == header.first_ns && told.gap.end_ns == header.last_ns);
		CU_ASSERT_EQUAL(trace_cursor_seek(cursor, header.first_ns), 0);
		CU_ASSERT_PTR_NOT_NULL(trace_cursor_next(cursor));
		CU_ASSERT_EQUAL(told.nr, 2);
		CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), -EBADMSG);
		trace_close(trace);
		image_free(&image);
		tb_free(tb);
	}
}

/* A chunk without selected events is not read, except to find damage. */
static void a_reader_that_selects_losses_gets_all_damage(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {1ull << TRACE_EV_sched_switch};
	struct trace_cursor_options options = {.size = sizeof(options), .mask = mask};
	struct tb *tb = tb_new();
	struct image image;
	struct trace *trace;

	for (uint64_t i = 0; i < 10; i++)
		tb_sys_exit(tb, 0, 1000 + i, 0);
	tb_cut(tb, 0);
	tb_switch(tb, 0, 2000, 0, 1, 0);
	image = image_new(tb, true);
	image_spoil(&image, TRACE_CHUNK_EVENTS, 0);
	trace = trace_open(image.path, NULL);
	for (int losses = 0; losses < 2; losses++) {
		struct seen seen;

		mask[0] |= (uint64_t)losses << TRACE_EV_trace_lost;
		seen = seen_of(trace, &options);
		CU_ASSERT(seen.nr == 1 && seen.lost == (losses ? 10 : 0) && seen.error == (losses ? -EBADMSG : 0));
		seen_free(&seen);
	}
	trace_close(trace);
	image_free(&image);
	tb_free(tb);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(damage_is_reported_before_any_event_of_its_time),
		CASE(a_reader_that_selects_losses_gets_all_damage),
		CASE(a_file_that_shrinks_while_open_is_damage),
		CASE(an_entry_that_changes_while_open_is_damage),
		CASE(a_file_that_shrinks_before_the_first_cursor_has_none),
		{NULL, NULL},
	};

	return unit_main("damage while open", cases, argc, argv);
}
