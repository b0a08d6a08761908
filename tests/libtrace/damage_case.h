/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_DAMAGE_CASE_H
#define TESTS_DAMAGE_CASE_H
/* damage_case.h - a small intact trace for the tests to damage, and the outcome of reading the
 * damaged copy. */
#include <errno.h>

#include "image.h"

/* Two CPUs, three chunks each, strings, a start state: a few KB. */
static inline struct tb *small_trace(void)
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

/**
 * struct fixture - the small intact trace and its contents
 */
struct fixture {
	struct tb *tb;
	struct image image;
	struct seen all;
};

static inline struct fixture fixture_new(bool finish)
{
	struct fixture fixture = {.tb = small_trace()};
	struct trace *trace;

	fixture.image = image_new(fixture.tb, finish);
	trace = trace_open(fixture.image.path, NULL);
	fixture.all = seen_of(trace, &(struct trace_cursor_options){.size = sizeof(struct trace_cursor_options),
								    .no_lost = true});
	trace_close(trace);
	return fixture;
}

static inline void fixture_free(struct fixture *fixture)
{
	seen_free(&fixture->all);
	image_free(&fixture->image);
	tb_free(fixture->tb);
}

/**
 * struct outcome - the outcome of reading a damaged file
 */
struct outcome {
	bool opened;
	bool exact; /* the events read are the original ones, with some left out */
	long missing;
	uint64_t lost;
	size_t nr_lost;
	size_t nr_damages; /* found while the file was opened */
	bool detected;
};

static inline struct outcome read_all(const struct fixture *fixture, const char *path)
{
	struct outcome outcome = {0};
	struct trace_error error = {.code = 0};
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

static inline size_t chunk_bytes(const struct trace_chunk_header *header)
{
	return (size_t)header->header_bytes + header->packed_bytes;
}
#endif
