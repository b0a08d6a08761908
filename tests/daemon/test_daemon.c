/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The path of records through the daemon, with a tracer in plain memory: each event is in the trace
 * exactly once, or counted as lost. */
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include "control_commands.h"
#include "daemon_case.h"
#include "flight.h"
#include "flush.h"
#include "output_file.h"
#include "../../daemon/session.h"
#include "../../tracer/kernel/geometry.h"

/* ---- helpers ---- */

static bool never_interrupted(void *context)
{
	return false;
}

static bool is_interrupted(void *context)
{
	return true;
}

/* ---- recording ---- */

static void every_event_is_stored_once(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording = bench_record(&bench);
	struct found found;

	for (int i = 0; i < 100000; i++) {
		fake_switch(bench.tracer, (uint32_t)i % FAKE_CPUS);
		if (i % 500 == 0)
			recording_drain(recording);
		if (i % 5000 == 0)
			CU_ASSERT(fake_exec(bench.tracer, 0, "/bin/true"));
	}
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_free(recording);
	found = read_back(bench.path);
	CU_ASSERT_EQUAL(found.switches[0], 50000);
	CU_ASSERT_EQUAL(found.switches[1], 50000);
	CU_ASSERT_EQUAL(found.execs, 20);
	CU_ASSERT_EQUAL(found.disorder, 0);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.masks, 1);
	CU_ASSERT_EQUAL(found.verify, 0);
	CU_ASSERT(found.clean_end);
	bench_free(&bench);
}

static void records_without_room_are_counted(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording = bench_record(&bench);
	struct recording_status status;
	uint64_t refused = 0;
	struct found found;

	for (int i = 0; i < 50000; i++) {
		refused += !fake_switch(bench.tracer, 0);
		if (i % 10000 == 0)
			recording_drain(recording);
	}
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_get_status(recording, &status);
	CU_ASSERT(refused > 0);
	CU_ASSERT_EQUAL(status.lost, refused);
	CU_ASSERT_EQUAL(recording_lost_on_cpu(recording, 0), refused);
	CU_ASSERT_EQUAL(recording_lost_on_cpu(recording, 1), 0);
	recording_free(recording);
	found = read_back(bench.path);
	CU_ASSERT_EQUAL(found.switches[0], 50000 - refused);
	CU_ASSERT_EQUAL(found.lost, refused);
	CU_ASSERT_EQUAL(found.verify, 0);
	bench_free(&bench);
}

/* Reading the start state takes longer than filling a ring. */
static void nothing_is_lost_while_the_state_is_read(void)
{
	struct bench bench = bench_new(false);
	const uint64_t all[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	struct recording *recording;
	struct found found;

	fake_start_records(bench.tracer, 400);
	recording = bench_record(&bench);
	recording_drain(recording);
	CU_ASSERT_EQUAL(recording_set_mask(recording, all, &bench.error), 0); /* the daemon reads the state again */
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_free(recording);
	found = read_back(bench.path);
	CU_ASSERT_EQUAL(found.switches[0], fake_attempted(bench.tracer, 0));
	CU_ASSERT_EQUAL(found.switches[0], 8000);
	CU_ASSERT_EQUAL(found.again[1], 1);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	bench_free(&bench);
}

/* A half-full ring of any CPU wakes the daemon. A ring that is more than one eighth fuller than
 * that when the daemon looks counts as late. */
static void a_drain_that_finds_much_more_than_half_a_ring_is_late(void)
{
	struct tracer_options options = {.size = sizeof(options), .subbuf_bytes = 16 << 10, .nr_subbufs = 16};

	for (uint32_t cpu = 0; cpu < FAKE_CPUS; cpu++) {
		struct trace_error error;
		struct tracer *tracer = tracer_new(&options, &error);
		struct drain *drain = drain_new(tracer, &error);
		const struct subbuf_control *control = tracer_get_ring(tracer, 2 * cpu)->ring.control;
		uint64_t full = 0;
		bool is_late = false;

		while (!is_late && fake_switch(tracer, cpu)) {
			full = (control->position >> SUBBUF_OFFSET_BITS) - 1 - control->consumed;
			is_late = drain_is_late(drain);
			CU_ASSERT_EQUAL(is_late, full > 10);
		}
		CU_ASSERT_EQUAL(full, 11);
		drain_free(drain);
		tracer_free(tracer);
	}
}

static void check_geometry(uint32_t bytes, uint32_t nr, uint32_t expected_bytes, uint32_t expected_nr)
{
	struct tracer_options options = {.subbuf_bytes = bytes, .nr_subbufs = nr};

	tracer_choose_geometry(&options, 2);
	CU_ASSERT_EQUAL(options.subbuf_bytes, expected_bytes);
	CU_ASSERT_EQUAL(options.nr_subbufs, expected_nr);
}

/* The real tracer's code computes the sizes, as the manual describes. */
static void sizes_of_buffers_are_rounded_down_within_limits(void)
{
	struct tracer_options options = {.size = sizeof(options), .subbuf_bytes = 100000, .nr_subbufs = 5},
			      largest = {.nr_subbufs = TRACER_MAX_SUBBUFS};
	struct trace_error error;
	struct tracer *tracer = tracer_new(&options, &error);
	const struct subbuf_ring *ring = &tracer_get_ring(tracer, 0)->ring;

	CU_ASSERT_EQUAL(ring->subbuf_bytes, 65536);
	CU_ASSERT_EQUAL(ring->nr_subbufs, 4);
	for (int i = 0; i < 50000; i++)
		fake_switch(tracer, 0);
	CU_ASSERT(__atomic_load_n(&ring->control->discarded, __ATOMIC_RELAXED) > 0);
	tracer_free(tracer);
	check_geometry(1, 1, 16 << 10, 2);
	check_geometry(UINT32_MAX, 3, 16 << 20, 2);
	check_geometry(64 << 10, 1000, 64 << 10, 256);
	check_geometry(16 << 20, 256, 16 << 20, 8); /* 128 MiB in total */
	tracer_choose_geometry(&largest, 2);
	/* the maximum number of sub-buffers, without making each of them smaller */
	check_geometry(0, 65536, largest.subbuf_bytes, largest.nr_subbufs);
}

static void events_before_the_start_do_not_count(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording;
	struct found found;

	for (int i = 0; i < 1000; i++)
		fake_switch(bench.tracer, 0);
	fake_miss(bench.tracer, TRACE_EV_sched_switch, 5);
	recording = bench_record(&bench);
	for (int i = 0; i < 10; i++)
		fake_switch(bench.tracer, 0);
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_free(recording);
	found = read_back(bench.path);
	CU_ASSERT_EQUAL(found.switches[0], 10);
	CU_ASSERT_EQUAL(found.missed, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	bench_free(&bench);
}

/* A producer may defer the last event of a CPU until the next event arrives. */
static void deferred_events_are_flushed_before_the_ring_is_read(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording;
	struct found found;

	fake_delay(bench.tracer, 0);
	recording = bench_record(&bench); /* the event before it precedes the recording */
	fake_delay(bench.tracer, 0);
	recording_flush(recording);
	CU_ASSERT_EQUAL(fake_attempted(bench.tracer, 0), 2);
	fake_delay(bench.tracer, 1);
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_free(recording);
	found = read_back(bench.path);
	CU_ASSERT_EQUAL(found.switches[0], 1);
	CU_ASSERT_EQUAL(found.switches[1], 1);
	CU_ASSERT_EQUAL(found.verify, 0);
	bench_free(&bench);
}

static void skipped_programs_are_recorded_as_missed(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording = bench_record(&bench);
	struct recording_status status;
	struct found found;
	uint64_t sync;

	fake_miss(bench.tracer, TRACE_EV_sys_enter, 3);
	recording_flush(recording);
	recording_get_status(recording, &status);
	CU_ASSERT_EQUAL(status.missed, 0); /* reading the counter is costly: not done at each flush */
	CU_ASSERT_EQUAL(recording_sync(recording, &sync), 0);
	recording_get_status(recording, &status);
	CU_ASSERT_EQUAL(status.missed, 3);
	fake_miss(bench.tracer, TRACE_EV_sys_enter, 4);
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_free(recording);
	found = read_back(bench.path);
	CU_ASSERT_EQUAL(found.missed, 7);
	CU_ASSERT_EQUAL(found.verify, 0);
	bench_free(&bench);
}

static const char *not_traced(const struct trace *trace, uint64_t nr)
{
	const char *text = trace_string(trace, TRACE_STRING_NOT_TRACED, nr);

	return text ? text : "";
}

/* The trace reports what the filter dropped against the user's wish: threads that it lost track of,
 * and events that could not be attached later. */
static void unwanted_effects_of_a_filter_are_reported(void)
{
	struct tracer_options filter = {
		.size = sizeof(filter), .filter_pid = 4711, .follow = true, .filter_uid = -1, .filter_gid = -1};
	struct recording_options options = {.level = 1, .filter = &filter};
	struct bench bench = bench_new(false);
	struct recording *recording = recording_begin(bench.tracer, bench.fd, &options, &bench.error);
	struct trace *trace;

	CU_ASSERT_PTR_NOT_NULL_FATAL(recording);
	for (int i = 0; i < 3; i++)
		fake_unfollow(bench.tracer);
	fake_not_traced(bench.tracer, "a:probe: no such place");
	fake_limit(bench.tracer, "the names of 5 groups");
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_free(recording);
	trace = trace_open(bench.path, &bench.error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_STRING_EQUAL(not_traced(trace, 0), "fault_exit: this is no kernel");
	CU_ASSERT_STRING_EQUAL(not_traced(trace, 1),
			       "other processes: the recording has only events of process 4711 and its descendants");
	CU_ASSERT_STRING_EQUAL(not_traced(trace, 2), "a:probe: no such place");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(not_traced(trace, 3),
		       "while 4 processes were already followed, and their own descendants: 3, the first after 0."));
	CU_ASSERT_STRING_EQUAL(not_traced(trace, 4), "the names of 5 groups");
	CU_ASSERT_STRING_EQUAL(not_traced(trace, 5), "");
	trace_close(trace);
	bench_free(&bench);
}

/* The messages of the daemon are not there where the trace is read. */
static void lists_that_are_not_complete_are_told_in_the_trace(void)
{
	struct recording_options options = {.level = 1};
	struct bench bench = bench_new(false);
	struct recording *recording;
	struct trace *trace;

	fake_no_states(bench.tracer);
	recording = recording_begin(bench.tracer, bench.fd, &options, &bench.error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(recording);
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_free(recording);
	trace = trace_open(bench.path, &bench.error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_STRING_EQUAL(not_traced(trace, 1), "a part of the state at the start: process 1 does not answer");
	CU_ASSERT_STRING_EQUAL(not_traced(trace, 2),
			       "a part of the list of what threads wait for at the end: process 2 does not answer");
	CU_ASSERT_STRING_EQUAL(not_traced(trace, 3), "");
	trace_close(trace);
	bench_free(&bench);
}

/* A filter applies to programs as well, so the trace notes it even if the kernel is not
 * recorded. */
static void a_filter_is_noted_even_without_kernel_events(void)
{
	struct tracer_options filter = {.size = sizeof(filter), .filter_pid = 4711, .filter_uid = -1, .filter_gid = -1};
	struct recording_options options = {.level = 1, .filter = &filter};
	struct bench bench = bench_new(false);
	struct recording *recording = recording_begin(NULL, bench.fd, &options, &bench.error);
	struct trace *trace;

	CU_ASSERT_PTR_NOT_NULL_FATAL(recording);
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_free(recording);
	trace = trace_open(bench.path, &bench.error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_STRING_EQUAL(trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT), TRACE_LEFT_OUT_KERNEL);
	CU_ASSERT_STRING_EQUAL(not_traced(trace, 1), "other processes: the recording has only events of process 4711");
	CU_ASSERT_STRING_EQUAL(not_traced(trace, 2), "");
	trace_close(trace);
	bench_free(&bench);
}

static void a_snapshot_reports_threads_that_the_filter_lost(void)
{
	struct bench bench = bench_new(true);
	struct flight *flight = flight_begin(bench.tracer, NULL, &bench.error);
	struct flight_result result;
	struct trace *trace;

	fake_unfollow(bench.tracer);
	fake_limit(bench.tracer, "the names of 5 groups");
	CU_ASSERT_EQUAL(flight_snapshot(flight, bench.fd, 1, &result, &bench.error), 0);
	trace = trace_open(bench.path, &bench.error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_PTR_NOT_NULL(strstr(not_traced(trace, 1), "their own descendants: 1, "));
	CU_ASSERT_STRING_EQUAL(not_traced(trace, 2), "the names of 5 groups");
	trace_close(trace);
	flight_free(flight);
	bench_free(&bench);
}

/* The status reports it while the user can still react. */
static void the_status_reports_threads_that_the_filter_lost(void)
{
	struct recording_options recording_options = {.level = 1};
	struct daemon_options options = {.session.level = 1};
	struct session session = {.options = &options, .output.path = "a.trace"};
	struct bench bench = bench_new(false);
	char answer[CONTROL_ANSWER_BYTES] = "";
	int ends[2];

	session.tracer = bench.tracer;
	session.recording = recording_begin(bench.tracer, bench.fd, &recording_options, &bench.error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(session.recording);
	session.start_ns = recording_start_ns(session.recording);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
		CU_ASSERT_EQUAL(send(ends[0], "status", 6, 0), 6);
		control_commands_answer(&session, ends[1]);
		memset(answer, 0, sizeof(answer));
		CU_ASSERT(recv(ends[0], answer, sizeof(answer) - 1, 0) > 0);
		CU_ASSERT_EQUAL(strstr(answer, "\nNot traced: descendants that began while 4 processes were already "
					       "followed, and their own descendants: 1, ") != NULL,
				i == 1);
		close(ends[0]);
		fake_unfollow(bench.tracer);
	}
	CU_ASSERT_EQUAL(recording_end(session.recording, never_interrupted, NULL, &bench.error), 0);
	recording_free(session.recording);
	bench_free(&bench);
}

static void a_writer_that_never_commits_costs_its_subbuffer(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording = bench_record(&bench);
	struct recording_status status;
	struct found found;

	for (int i = 0; i < 10; i++)
		fake_switch(bench.tracer, 0);
	fake_hold(bench.tracer, 0);
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_get_status(recording, &status);
	CU_ASSERT_EQUAL(status.lost, 10);
	recording_free(recording);
	found = read_back(bench.path);
	CU_ASSERT_EQUAL(found.switches[0], 0);
	CU_ASSERT_EQUAL(found.lost, 10);
	CU_ASSERT_EQUAL(found.verify, 0);
	bench_free(&bench);
}

static void a_writer_that_commits_late_is_waited_for(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording = bench_record(&bench);
	struct found found;

	fake_hold(bench.tracer, 0);
	CU_ASSERT(recording_flush(recording) < FLUSH_NEARLY_EMPTY);
	fake_release(bench.tracer, 0);
	CU_ASSERT_EQUAL(recording_drain(recording), DRAIN_TOOK);
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_free(recording);
	found = read_back(bench.path);
	CU_ASSERT_EQUAL(found.switches[0], 1);
	CU_ASSERT_EQUAL(found.lost, 0);
	bench_free(&bench);
}

/* Covers all allocations of this program and of the daemon code linked into it: see
 * tests/CMakeLists.txt. */
static bool no_memory;
void *__real_calloc(size_t nr, size_t bytes);
/* sanitizer libraries look it up as well */
void *__wrap_calloc(size_t nr, size_t bytes) __attribute__((visibility("default")));

void *__wrap_calloc(size_t nr, size_t bytes)
{
	return no_memory ? NULL : __real_calloc(nr, bytes);
}

/* Otherwise a client that asks would get the answer at once that all is on disk. */
static void without_memory_a_flush_request_fails(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording = bench_record(&bench);
	uint64_t sync = 77;

	fake_switch(bench.tracer, 0);
	no_memory = true;
	CU_ASSERT_EQUAL(recording_sync(recording, &sync), -ENOMEM);
	no_memory = false;
	CU_ASSERT_EQUAL(sync, 77);
	CU_ASSERT_EQUAL(recording_sync(recording, &sync), 0);
	CU_ASSERT_EQUAL(sync, 1);
	while (recording_synced(recording) < sync)
		usleep(1000);
	recording_end(recording, never_interrupted, NULL, &bench.error);
	recording_free(recording);
	bench_free(&bench);
}

/* The file always contains the accounting of the moment, even if it is never finished. */
static void a_trace_that_was_cut_off_is_readable(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording = bench_record(&bench);
	struct found found;
	uint64_t sync;

	for (int i = 0; i < 1000; i++)
		fake_switch(bench.tracer, 0);
	CU_ASSERT_EQUAL(recording_sync(recording, &sync), 0);
	while (recording_synced(recording) < sync)
		usleep(1000);
	found = read_back(bench.path);
	CU_ASSERT_EQUAL(found.switches[0], 1000);
	CU_ASSERT(!found.clean_end);
	recording_end(recording, never_interrupted, NULL, &bench.error);
	recording_free(recording);
	bench_free(&bench);
}

static void marks_and_masks_are_in_the_trace(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording = bench_record(&bench);
	uint64_t mask[TRACE_MASK_WORDS] = {1};
	struct found found;

	recording_mark(recording, "a note");
	CU_ASSERT_EQUAL(recording_set_mask(recording, mask, &bench.error), 0);
	recording_end(recording, never_interrupted, NULL, &bench.error);
	recording_free(recording);
	found = read_back(bench.path);
	CU_ASSERT_EQUAL(found.marks, 1);
	CU_ASSERT_EQUAL(found.masks, 2);
	CU_ASSERT_EQUAL(found.verify, 0);
	bench_free(&bench);
}

/* It would lengthen the trace by a time in which no event was recorded. */
static void code_that_is_mapped_after_the_end_is_not_in_the_trace(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording = bench_record(&bench);
	struct found found;

	fake_code_map(bench.tracer);
	recording_end(recording, never_interrupted, NULL, &bench.error);
	recording_free(recording);
	found = read_back(bench.path);
	CU_ASSERT_EQUAL(found.code_maps, 1);
	bench_free(&bench);
}

static void after_a_pause_the_state_is_read_again(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording = bench_record(&bench);
	uint64_t all[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull}, none[TRACE_MASK_WORDS] = {1},
		 other[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	struct found found;

	other[TRACE_EV_softirq_raise / 64] &= ~(1ull << TRACE_EV_softirq_raise % 64);
	CU_ASSERT_EQUAL(recording_set_mask(recording, all, &bench.error), 0);
	CU_ASSERT_EQUAL(recording_set_mask(recording, other, &bench.error), 0);
	CU_ASSERT_EQUAL(recording_set_mask(recording, all, &bench.error), 0); /* writes no record of open files */
	recording_mark(recording, "until here");
	CU_ASSERT_EQUAL(recording_set_mask(recording, none, &bench.error), 0);
	CU_ASSERT_EQUAL(recording_set_mask(recording, all, &bench.error), 0);
	recording_end(recording, never_interrupted, NULL, &bench.error);
	recording_free(recording);
	found = read_back(bench.path);
	CU_ASSERT_EQUAL(found.again[0], 2);
	CU_ASSERT_EQUAL(found.again[1], 2);
	CU_ASSERT_EQUAL(found.threads, 2);
	CU_ASSERT_EQUAL(found.verify, 0);
	bench_free(&bench);
}

/* /dev/full accepts nothing after the header. The daemon continues, reports the error, and counts
 * the losses. */
static void a_full_disk_is_reported_and_counted(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording = bench_record(&bench);
	struct recording_status status;
	int full = open("/dev/full", O_WRONLY);

	CU_ASSERT_FATAL(full >= 0);
	usleep(20000); /* the start state is written */
	dup2(full, bench.fd);
	close(full);
	for (int i = 0; i < 1000; i++)
		fake_switch(bench.tracer, 0);
	recording_flush(recording);
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), -ENOSPC);
	recording_get_status(recording, &status);
	CU_ASSERT(status.lost_write >= 1000);
	recording_free(recording);
	bench_free(&bench);
}

/* Nothing reads the pipe, so the queue and the rings fill. The recording ends all the same when the
 * user is impatient. */
static void a_stalled_reader_stops_neither_the_drain_nor_the_end(void)
{
	struct bench bench = bench_new(false);
	struct recording_options options = {.level = 1, .queue_bytes = 1 << 20};
	struct recording *recording;
	struct recording_status status;
	uint64_t counted, made = 0;
	bool blocked = false;
	int ends[2];

	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	recording = recording_begin(bench.tracer, ends[1], &options, &bench.error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(recording);
	for (; made < 300000 || (!blocked && made < 30000000); made++) {
		/* how soon depends on when the writer thread gets a CPU */
		fake_switch(bench.tracer, 0);
		if (made % 500 == 0 && recording_drain(recording) == DRAIN_BLOCKED)
			blocked = true;
	}
	CU_ASSERT(blocked);
	for (int i = 0; i < 10000; i++, made++) /* more than the rings can hold */
		fake_switch(bench.tracer, 0);
	signal(SIGPIPE, SIG_IGN);
	close(ends[0]);
	CU_ASSERT_EQUAL(recording_end(recording, is_interrupted, NULL, &bench.error), -EPIPE);
	recording_get_status(recording, &status);
	CU_ASSERT(status.lost > 0);
	counted = status.events + status.lost + status.lost_write;
	/* with one mask event and heartbeats, more of them on a slow machine */
	CU_ASSERT(counted >= made + 2 && counted <= made + 12);
	recording_free(recording);
	close(ends[1]);
	bench_free(&bench);
}

static void concurrent_producers_and_drain_agree(void)
{
	struct recording_status status;
	struct recording *recording;
	struct bench bench;
	struct found found;
	struct pollfd rings;
	uint64_t attempted = 0;

	setenv("TRACE_FAKE_EVENTS", "300000", 1);
	setenv("TRACE_FAKE_PAUSE_US", "50", 1);
	bench = bench_new(false);
	unsetenv("TRACE_FAKE_EVENTS");
	unsetenv("TRACE_FAKE_PAUSE_US");
	recording = bench_record(&bench);
	rings = (struct pollfd){.fd = tracer_poll_fd(bench.tracer), .events = POLLIN};
	for (int i = 0; i < 300; i++) {
		poll(&rings, 1, 1);
		tracer_acknowledge(bench.tracer);
		recording_drain(recording);
		if (i % 50 == 0)
			recording_flush(recording);
	}
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_get_status(recording, &status);
	recording_free(recording);
	found = read_back(bench.path);
	for (uint32_t cpu = 0; cpu < FAKE_CPUS; cpu++)
		attempted += fake_attempted(bench.tracer, cpu);
	CU_ASSERT(found.switches[0] + found.switches[1] > 0);
	CU_ASSERT(found.switches[0] + found.switches[1] + found.lost <=
		  attempted); /* events before the begin and after the end do not count */
	CU_ASSERT_EQUAL(found.lost, status.lost);
	CU_ASSERT_EQUAL(found.disorder, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	bench_free(&bench);
}

/* ---- flush ---- */

/* Half of a ring wakes the daemon, in rings of both kinds. A flush that finds one full sub-buffer
 * reports a burst, however little the next one holds. */
static void half_of_a_ring_wakes_if_flushes_are_often(void)
{
	struct bench bench = bench_new(false);
	struct recording *recording = bench_record(&bench);
	const struct subbuf_ring *ring = &tracer_get_ring(bench.tracer, 0)->ring;
	struct flush flush = flush_init(0);

	CU_ASSERT(flush_is_often(&flush));
	flush_flushed(&flush, 1);
	CU_ASSERT_FALSE(flush_is_often(&flush));
	/* no sub-buffer is left that a drain would have taken before */
	CU_ASSERT_FALSE(recording_wake_at(recording, true));
	for (size_t i = 0; i < tracer_nr_rings(bench.tracer); i++)
		CU_ASSERT_EQUAL(tracer_get_ring(bench.tracer, i)->ring.control->wake_at,
				tracer_get_ring(bench.tracer, i)->ring.nr_subbufs / 2);
	CU_ASSERT(recording_wake_at(recording, false)); /* a full sub-buffer may be left to drain */
	CU_ASSERT_FALSE(recording_wake_at(recording, false));
	CU_ASSERT_EQUAL(ring->control->wake_at, 1);
	while (!subbuf_complete(ring, ring->control->consumed + 1))
		fake_switch(bench.tracer, 0);
	CU_ASSERT_EQUAL(recording_flush(recording), 1024);
	CU_ASSERT(recording_flush(recording) < 1024);
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_free(recording);
	bench_free(&bench);
}

static void an_idle_machine_is_flushed_less_and_less(void)
{
	struct flush flush = flush_init(0);

	CU_ASSERT_EQUAL(flush.period_ns, FLUSH_MIN_NS);
	for (uint64_t period_ns = FLUSH_MIN_NS; period_ns < FLUSH_MAX_NS; period_ns *= FLUSH_SLOWER) {
		CU_ASSERT_EQUAL(flush.period_ns, period_ns);
		flush_flushed(&flush, 1);
	}
	CU_ASSERT_EQUAL(flush.period_ns, FLUSH_MAX_NS);
	CU_ASSERT(flush_filled(&flush, 1000000));
	CU_ASSERT_EQUAL(flush.period_ns, FLUSH_MIN_NS);
	CU_ASSERT(!flush_filled(&flush, 2000000));
	flush_flushed(&flush, FLUSH_NEARLY_EMPTY);
	CU_ASSERT_EQUAL(flush.period_ns, FLUSH_MIN_NS);
	flush_flushed(&flush, 0);
	CU_ASSERT_EQUAL(flush.period_ns, FLUSH_MAX_NS);
	flush = flush_init(5000000);
	flush_flushed(&flush, 0);
	CU_ASSERT_EQUAL(flush.period_ns, 5000000);
}

/* A sub-buffer that fills within a minute is no burst: looking every second would cost more
 * wake-ups than it saves. */
static void a_subbuffer_that_fills_slowly_does_not_shorten_the_flush_period(void)
{
	struct flush flush = flush_init(0);

	flush_flushed(&flush, 0);
	flush.begin_ns = 5;
	CU_ASSERT(!flush_filled(&flush, 5 + FLUSH_MAX_NS / FLUSH_SLOWER));
	CU_ASSERT_EQUAL(flush.period_ns, FLUSH_MAX_NS);
	CU_ASSERT(flush_filled(&flush, 4 + FLUSH_MAX_NS / FLUSH_SLOWER));
	CU_ASSERT_EQUAL(flush.period_ns, FLUSH_MIN_NS);
}

static void an_empty_ring_is_not_a_slow_ring(void)
{
	struct bench bench = bench_new(false);
	struct tracer_options options = {.size = sizeof(options), .subbuf_bytes = 1 << 20};
	struct recording *recording;

	tracer_free(bench.tracer);
	bench.tracer = tracer_new(&options, &bench.error);
	recording = bench_record(&bench);
	recording_flush(recording);
	CU_ASSERT_EQUAL(recording_flush(recording), 0);
	fake_switch(bench.tracer, 0);
	CU_ASSERT_EQUAL(recording_flush(recording), 1);
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &bench.error), 0);
	recording_free(recording);
	bench_free(&bench);
}

static const struct unit_case cases[] = {
	{"every_event_is_stored_once", every_event_is_stored_once},
	{"records_without_room_are_counted", records_without_room_are_counted},
	{"nothing_is_lost_while_the_state_is_read", nothing_is_lost_while_the_state_is_read},
	{"a_drain_that_finds_much_more_than_half_a_ring_is_late",
	 a_drain_that_finds_much_more_than_half_a_ring_is_late},
	{"sizes_of_buffers_are_rounded_down_within_limits", sizes_of_buffers_are_rounded_down_within_limits},
	{"events_before_the_start_do_not_count", events_before_the_start_do_not_count},
	{"deferred_events_are_flushed_before_the_ring_is_read", deferred_events_are_flushed_before_the_ring_is_read},
	{"skipped_programs_are_recorded_as_missed", skipped_programs_are_recorded_as_missed},
	{"unwanted_effects_of_a_filter_are_reported", unwanted_effects_of_a_filter_are_reported},
	{"a_filter_is_noted_even_without_kernel_events", a_filter_is_noted_even_without_kernel_events},
	CASE(lists_that_are_not_complete_are_told_in_the_trace),
	{"a_snapshot_reports_threads_that_the_filter_lost", a_snapshot_reports_threads_that_the_filter_lost},
	{"the_status_reports_threads_that_the_filter_lost", the_status_reports_threads_that_the_filter_lost},
	{"a_writer_that_never_commits_costs_its_subbuffer", a_writer_that_never_commits_costs_its_subbuffer},
	{"a_writer_that_commits_late_is_waited_for", a_writer_that_commits_late_is_waited_for},
	{"without_memory_a_flush_request_fails", without_memory_a_flush_request_fails},
	{"a_trace_that_was_cut_off_is_readable", a_trace_that_was_cut_off_is_readable},
	{"marks_and_masks_are_in_the_trace", marks_and_masks_are_in_the_trace},
	{"code_that_is_mapped_after_the_end_is_not_in_the_trace",
	 code_that_is_mapped_after_the_end_is_not_in_the_trace},
	{"after_a_pause_the_state_is_read_again", after_a_pause_the_state_is_read_again},
	{"a_full_disk_is_reported_and_counted", a_full_disk_is_reported_and_counted},
	{"a_stalled_reader_stops_neither_the_drain_nor_the_end", a_stalled_reader_stops_neither_the_drain_nor_the_end},
	{"concurrent_producers_and_drain_agree", concurrent_producers_and_drain_agree},
	{"half_of_a_ring_wakes_if_flushes_are_often", half_of_a_ring_wakes_if_flushes_are_often},
	{"an_idle_machine_is_flushed_less_and_less", an_idle_machine_is_flushed_less_and_less},
	{"a_subbuffer_that_fills_slowly_does_not_shorten_the_flush_period",
	 a_subbuffer_that_fills_slowly_does_not_shorten_the_flush_period},
	{"an_empty_ring_is_not_a_slow_ring", an_empty_ring_is_not_a_slow_ring},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("daemon", cases, argc, argv);
}
