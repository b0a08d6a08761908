/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_DAEMON_CASE_H
#define TESTS_DAEMON_CASE_H
/* daemon_case.h - shared by the tests of the daemon: a fake tracer, an output file, and the
 * contents of a trace. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/reader.h>
#include <unistd.h>
#include "recording.h"
#include "test_daemon_fake.h"

/** struct bench - a fake tracer and a file to record to */
struct bench {
	char path[64];
	int fd;
	struct tracer *tracer;
	struct trace_error error;
};

static inline struct bench bench_new(bool overwrite)
{
	struct tracer_options options = {.size = sizeof(options), .overwrite = overwrite};
	struct bench bench = {.path = "/tmp/test_daemon.XXXXXX"};

	bench.fd = mkstemp(bench.path);
	CU_ASSERT_FATAL(bench.fd >= 0);
	bench.tracer = tracer_new(&options, &bench.error);
	return bench;
}

static inline void bench_free(struct bench *bench)
{
	bench->tracer = tracer_free(bench->tracer);
	close(bench->fd);
	unlink(bench->path);
}

static inline struct recording *bench_record(struct bench *bench)
{
	struct recording_options options = {.level = 1};
	struct recording *recording = recording_begin(bench->tracer, bench->fd, &options, &bench->error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(recording);
	return recording;
}

/**
 * struct found - the contents of a trace
 * @switches: by CPU
 * @disorder: how many numbers were out of order
 */
struct found {
	uint64_t switches[FAKE_CPUS];
	uint64_t disorder;
	uint64_t execs;
	uint64_t marks;
	uint64_t masks;
	uint64_t code_maps;
	uint64_t again[2]; /* events that begin and end a repeated start state */
	uint64_t threads;  /* in the start state */
	uint64_t selects;
	uint64_t missed;
	uint64_t lost;
	uint64_t loss_end_ns; /* end of the last loss */
	uint64_t last_mark_ns;
	uint64_t undeclared; /* gaps that the file does not explain */
	uint64_t waits;	     /* waits recorded at the end of the recording */
	int verify;
	bool clean_end;
};

static inline uint64_t waits_at_end(struct trace *trace)
{
	struct trace_cursor_options options = {.size = sizeof(options), .start_state = true};
	struct trace_cursor *cursor = trace_cursor_new(trace, &options, NULL);
	const struct trace_event *event;
	uint64_t nr = 0;

	while ((event = trace_cursor_next(cursor)))
		nr += event->id == TRACE_EV_end_wait && event->ts_ns == trace_get_info(trace)->end_ns;
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	return nr;
}

static inline struct found read_back(const char *path)
{
	struct found found = {0};
	struct trace_error error;
	struct trace *trace = trace_open(path, &error);
	struct trace_cursor *cursor;
	const struct trace_event *event;
	uint32_t last[FAKE_CPUS] = {0}, tid;

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	cursor = trace_cursor_new(trace, NULL, &error);
	while ((event = trace_cursor_next(cursor))) {
		found.execs += event->id == TRACE_EV_sched_exec;
		found.marks += event->id == TRACE_EV_trace_mark;
		if (event->id == TRACE_EV_trace_mark)
			found.last_mark_ns = event->ts_ns;
		found.masks += event->id == TRACE_EV_trace_mask;
		found.code_maps += event->id == TRACE_EV_fs_map;
		found.threads += event->id == TRACE_EV_start_thread;
		if (event->id == TRACE_EV_start_again)
			found.again[((const struct trace_start_again *)event->payload)->done]++;
		found.selects += event->id == TRACE_EV_trace_select;
		if (event->id == TRACE_EV_trace_missed)
			found.missed += ((const struct trace_trace_missed *)event->payload)->count;
		if (event->id != TRACE_EV_sched_switch)
			continue;
		tid = ((const struct trace_sched_switch *)event->payload)->next_tid;
		found.disorder += tid <= last[event->cpu];
		last[event->cpu] = tid;
		found.switches[event->cpu]++;
	}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	found.lost = trace_get_info(trace)->lost;
	for (size_t i = 0; i < trace_nr_gaps(trace); i++)
		found.undeclared += trace_get_gap(trace, i)->cause == TRACE_GAP_DAMAGED;
	for (size_t i = 0; i < trace_nr_gaps(trace); i++)
		found.loss_end_ns = trace_get_gap(trace, i)->end_ns > found.loss_end_ns
					    ? trace_get_gap(trace, i)->end_ns
					    : found.loss_end_ns;
	found.waits = waits_at_end(trace);
	found.clean_end = trace_get_info(trace)->clean_end;
	found.verify = trace_verify(trace, &error);
	if (found.verify)
		fprintf(stderr, "verify: %s\n", error.message);
	trace_close(trace);
	return found;
}
#endif
