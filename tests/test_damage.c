/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_damage.c - files that somebody or something has changed: nothing crashes, every change is found, and all events
 * outside the damaged place come out exactly.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "image.h"
#include "unit.h"

enum { MARK_PAYLOAD = 0 };

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
	bool in_window; /* every text could be made */
	long missing;
	uint64_t lost;
	size_t nr_lost;
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

static void flip_every_bit(bool finish)
{
	struct fixture fixture = fixture_new(finish);
	size_t nr_inexact = 0, nr_undetected = 0, nr_too_many = 0, nr_unstated = 0;

	for (size_t at = 0; at < fixture.image.bytes; at++) {
		long allowed = events_at(&fixture.image, at);

		for (int bit = 0; bit < 8; bit++) {
			struct outcome outcome;

			fixture.image.data[at] ^= (unsigned char)(1 << bit);
			outcome = read_all(&fixture, fixture.image.path);
			fixture.image.data[at] ^= (unsigned char)(1 << bit);
			nr_inexact += !outcome.opened || !outcome.exact;
			nr_undetected += !outcome.detected;
			nr_too_many += outcome.missing > allowed;
			nr_unstated += finish ? outcome.lost != (uint64_t)outcome.missing : outcome.missing && !outcome.nr_lost;
			if (!outcome.opened || !outcome.exact || !outcome.detected || outcome.missing > allowed)
				fprintf(stderr, "byte %zu bit %d: opened %d exact %d detected %d missing %ld of %ld\n", at, bit, outcome.opened,
					outcome.exact, outcome.detected, outcome.missing, allowed);
		}
	}
	CU_ASSERT_EQUAL(nr_inexact, 0);
	CU_ASSERT_EQUAL(nr_undetected, 0);
	CU_ASSERT_EQUAL(nr_too_many, 0);
	CU_ASSERT_EQUAL(nr_unstated, 0);
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

static const struct unit_case cases[] = {
	{ "every_bit_flip_is_detected_and_costs_its_chunk_only", every_bit_flip_is_detected_and_costs_its_chunk_only },
	{ "every_bit_flip_of_an_unfinished_trace_costs_its_chunk_only", every_bit_flip_of_an_unfinished_trace_costs_its_chunk_only },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return unit_main("damage", cases, argc, argv);
}
