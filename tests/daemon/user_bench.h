/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_USER_BENCH_H
#define TESTS_USER_BENCH_H
/* user_bench.h - a recording of one program that the test simulates, without the rest of the
 * daemon, and the sums of its trace. */
#include "unit.h"

#include <trace/reader.h>
#include <trace/writer.h>

#include "drain.h"
#include "cpus.h"
#include "fake_program.h"
#include "user_program.h"
#include "user_snapshot.h"
#include "clients.h"
#include "writer_thread.h"

/**
 * struct bench - a recording into memory, and its result
 */
struct bench {
	int fd;
	struct trace_writer *writer;
	struct writer_thread *thread;
	struct selection selection;
	struct user_recording *recording;
	struct user_program *program;
	struct trace *trace;
};

static inline struct bench *bench_new(const char *events)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct clock_sample start = clock_take_sample();
	struct trace_writer_options options = {.size = sizeof(options),
					       .start_ns = start.monotonic_ns,
					       .start_realtime_ns = start.realtime_ns};
	struct trace_error error;

	possible_cpus_pretend(FAKE_RINGS); /* the program is one of a machine with so many */
	bench->fd = memfd_create("trace", MFD_CLOEXEC);
	bench->writer = trace_writer_new(bench->fd, &options, &error);
	bench->thread = writer_thread_new(bench->writer, bench->fd, 64 << 20, &error);
	if (events && select_add(&bench->selection, events, &error))
		abort();
	bench->recording = calloc(1, sizeof(*bench->recording));
	bench->recording->drain = drain_new(NULL, &error);
	bench->recording->writer = bench->writer;
	bench->recording->selection = &bench->selection;
	bench->recording->next_stream = USER_FIRST_STREAM;
	bench->recording->start_ns = start.monotonic_ns;
	user_clock_add(&bench->recording->clock, &start);
	drain_connect(bench->recording->drain, bench->writer, bench->thread);
	return bench;
}

static inline int bench_take(struct bench *bench, const struct fake_program *program, bool count_all)
{
	struct user_identity identity = {.pid = 11, .number = 4711, .uid = 12, .pid_fd = -1, .exe = "/usr/bin/fake"};
	struct trace_error error = {0};

	bench->program = user_program_new(program->fd, &identity, bench->recording, count_all, &error);
	return error.code;
}

static inline void bench_drain(struct bench *bench)
{
	user_program_look(bench->program);
	drain_flush(bench->recording->drain);
	drain_run(bench->recording->drain);
}

/* Reads what a dead program left, as the daemon does: on a busy machine a pass of the drain ends
 * (DRAIN_SLICE_NS) before it has read everything. */
static inline bool bench_finish(struct bench *bench)
{
	bool done = user_program_finish(bench->program);

	for (int i = 0; i < 100 && !done; i++) {
		drain_run(bench->recording->drain);
		done = user_program_finish(bench->program);
	}
	return done;
}

/* Ends the recording, with the program alive or dead, and opens the trace, which must be valid
 * whatever was in the memory. */
static inline void bench_end(struct bench *bench, bool dead)
{
	struct drain *drain = bench->recording->drain;
	struct trace_stream_stats *stats;
	struct trace_error error = {0};
	char path[64];

	if (bench->program)
		user_program_look(bench->program);
	if (bench->program && !dead)
		user_program_switch(bench->program, true);
	drain_end(drain);
	for (int i = 0; i < 10 && !drain_is_empty(drain); i++)
		drain_run(drain);
	if (dead)
		CU_ASSERT_TRUE(bench_finish(bench));
	drain_abandon(drain);
	if (bench->program)
		user_program_close_counts(bench->program);
	writer_thread_stop(bench->thread);
	drain_free_ended(drain);
	stats = calloc(drain_nr_rings(drain) + 1, sizeof(*stats));
	for (size_t i = 0; i < drain_nr_rings(drain); i++)
		drain_statistics(drain, i, &stats[i]);
	if (trace_writer_statistics(bench->writer, stats, drain_nr_rings(drain), clock_now(), &error) ||
	    trace_writer_finish(bench->writer, &error))
		abort();
	free(stats);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", bench->fd);
	bench->trace = trace_open(path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bench->trace);
	CU_ASSERT_EQUAL(trace_verify(bench->trace, &error), 0);
	if (error.code)
		fprintf(stderr, "%s\n", error.message);
}

static inline void bench_free(struct bench *bench)
{
	trace_close(bench->trace);
	user_program_free(bench->program);
	writer_thread_free(bench->thread);
	drain_free(bench->recording->drain);
	free(bench->recording);
	trace_writer_free(bench->writer);
	close(bench->fd);
	free(bench);
}

/**
 * struct trace_counts - sums over all streams, and the events of the trace
 */
struct trace_counts {
	uint64_t stored;
	uint64_t discarded;
	uint64_t filtered;
	uint64_t attempted;
	uint64_t events; /* of programs */
	uint64_t announced;
	uint64_t lost;
};

static inline struct trace_counts counts_of(const struct trace *trace)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	struct trace_counts counts = {.lost = trace_get_info(trace)->lost};

	while ((event = trace_cursor_next(cursor))) {
		counts.events += event->id >= TRACE_EV_MAX;
		counts.announced += event->id == TRACE_EV_user_stream;
	}
	if (trace_cursor_end(cursor, NULL) < 0)
		counts.events = 0; /* as if it had none: the caller has a number to compare with */
	for (size_t i = 0; i < trace_nr_streams(trace); i++) {
		const struct trace_stream_stats *stats = trace_get_stream(trace, i);

		counts.stored += stats->stored;
		counts.discarded += stats->discarded;
		counts.filtered += stats->filtered;
		counts.attempted += stats->attempted;
	}
	return counts;
}

static const uint16_t one_number[] = {USER_FIELD_SIGNED, 0};

#endif
