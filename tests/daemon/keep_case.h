/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_KEEP_CASE_H
#define TESTS_KEEP_CASE_H
/* keep_case.h - a recording of a fake tracer to memory, and saves of it. */
#include "daemon_case.h"
#include "keep.h"
#include "keep_save.h"

struct keeping {
	struct bench bench;
	struct keep *keep;
	struct recording *recording;
	struct keep_saved saved; /* of the last save */
};

#define LONG_NS (3600 * 1000000000ull) /* nothing is that old */

static inline struct keeping keeping_new(uint64_t keep_ns, size_t max_bytes)
{
	struct keep_options kept = {.keep_ns = keep_ns, .max_bytes = max_bytes};
	struct keeping keeping = {.bench = bench_new(false), .keep = keep_new(&kept)};
	struct recording_options options = {.level = 1, .keep = keeping.keep};

	keeping.recording = recording_begin(keeping.bench.tracer, -1, &options, &keeping.bench.error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(keeping.recording);
	keep_begin(keeping.keep, recording_start_ns(keeping.recording));
	return keeping;
}

static inline void keeping_free(struct keeping *keeping)
{
	recording_free(keeping->recording);
	keep_free(keeping->keep);
	bench_free(&keeping->bench);
}

/* Closes the sub-buffers, and waits until the keep has their chunks. */
static inline void keeping_flush(struct keeping *keeping)
{
	uint64_t end_ns;

	recording_mark_end(keeping->recording, &end_ns);
	recording_catch_up(keeping->recording);
}

static inline struct found keeping_save(struct keeping *keeping)
{
	struct keep_source source = {
		.keep = keeping->keep, .recording = keeping->recording, .tracer = keeping->bench.tracer, .level = 1};
	char path[] = "/tmp/test_keep.XXXXXX";
	int fd = mkstemp(path);
	struct keep_save *save = keep_save_begin(&source, fd, &keeping->bench.error);
	struct found found;

	CU_ASSERT_PTR_NOT_NULL_FATAL(save);
	CU_ASSERT_EQUAL(keep_save_end(save, &keeping->saved, &keeping->bench.error), 0);
	close(fd);
	found = read_back(path);
	unlink(path);
	return found;
}
#endif
