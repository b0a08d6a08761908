/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_untrusted.c - a program writes impossible numbers into its memory: future times, CPUs
 * that the machine does not have, impossible loss counters. The daemon refuses them, the trace says
 * so, and the losses of other programs stay as they are.
 */
#include <sys/wait.h>
#include <trace/saturate.h>

#include "recording.h"
#include "user_flight_case.h"

/** struct program_recording - a recording of programs without the kernel, and its trace */
struct program_recording {
	struct selection selection;
	struct clients *clients;
	struct recording *recording;
	struct trace *trace;
	uint64_t end_ns; /* after recording_end() */
	int fd;
};

static bool never_interrupted(void *context)
{
	return false;
}

static bool everybody_hurries(void *context)
{
	return true;
}

static void program_recording_begin(struct program_recording *run)
{
	struct clients_options options = {.selection = &run->selection};
	struct recording_options recording_options = {.level = 1};
	struct trace_error error = {0};

	memset(run, 0, sizeof(*run));
	possible_cpus_pretend(fake_cpus);
	run->fd = memfd_create("trace", MFD_CLOEXEC);
	recording_options.clients = run->clients = clients_new(&options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(run->clients);
	run->recording = recording_begin(NULL, run->fd, &recording_options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(run->recording);
}

static struct fake_program program_recording_join(struct program_recording *run, uint16_t *ret_id)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);

	*ret_id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	offer(&program);
	clients_dispatch(run->clients);
	return program;
}

static void open_trace(struct program_recording *run)
{
	struct trace_error error = {0};
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", run->fd);
	run->trace = trace_open(path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(run->trace);
	CU_ASSERT_EQUAL(trace_verify(run->trace, &error), 0);
	if (error.code)
		fprintf(stderr, "%s\n", error.message);
}

/*
 * Waits until the ring's records are in the trace. The daemon finds a new ring when its timer
 * expires.
 */
static void program_recording_take(struct program_recording *run, const struct fake_program *program, uint32_t cpu,
				   uint64_t seq)
{
	struct subbuf_ring ring = fake_program_ring(program, cpu);
	struct pollfd ready = {.fd = clients_fd(run->clients), .events = POLLIN};

	while (__atomic_load_n(&ring.control->consumed, __ATOMIC_RELAXED) < seq) {
		poll(&ready, 1, 1000);
		clients_dispatch(run->clients);
		recording_flush(run->recording);
	}
}

static void program_recording_end_by(struct program_recording *run, bool (*is_interrupted)(void *context))
{
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(recording_end(run->recording, is_interrupted, NULL, &error), 0);
	run->end_ns = clock_now();
	recording_free(run->recording);
	clients_free(run->clients);
	open_trace(run);
}

static void program_recording_end(struct program_recording *run)
{
	program_recording_end_by(run, never_interrupted);
}

static void program_recording_free(struct program_recording *run)
{
	trace_close(run->trace);
	close(run->fd);
}

static uint64_t nr_events(const struct trace *trace)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	uint64_t nr = 0;

	while ((event = trace_cursor_next(cursor)))
		nr += event->id >= TRACE_EV_MAX;
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	return nr;
}

/* True if a "not traced" note contains @part. */
static bool is_reported(const struct trace *trace, const char *part)
{
	const char *text;

	for (size_t i = 0; (text = trace_not_traced(trace, i)); i++)
		if (strstr(text, part))
			return true;
	return false;
}

static void check_distrusted(const struct trace *trace, const char *number, const char *reason)
{
	const char *text = trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_DISTRUSTED);

	CU_ASSERT_STRING_EQUAL(text ? text : "none", number);
	CU_ASSERT_TRUE(is_reported(trace, reason));
}

/* Takes and opens a snapshot. */
static struct trace *open_snapshot(struct recorder *recorder)
{
	struct program_recording run = {.fd = memfd_create("snapshot", MFD_CLOEXEC)};
	struct flight_result result;
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(flight_snapshot(recorder->flight, run.fd, 1, &result, &error), 0);
	open_trace(&run);
	close(run.fd);
	return run.trace;
}

/* ---- times ---- */

static void move_base(const struct fake_program *program, uint32_t cpu, uint64_t ns)
{
	struct subbuf_ring ring = fake_program_ring(program, cpu);

	subbuf_slot(&ring, 1)->base = ns;
}

static void an_event_of_the_future_is_refused(uint64_t ns)
{
	struct fake_program hostile, honest;
	struct program_recording run;
	uint16_t id, honest_id;

	program_recording_begin(&run);
	hostile = program_recording_join(&run, &id);
	honest = program_recording_join(&run, &honest_id);
	record(&hostile, 0, id, 0, 5);
	move_base(&hostile, 0, ns);
	record(&hostile, 1, id, 0, 3);
	record(&honest, 0, honest_id, 0, 7);
	program_recording_end(&run);
	CU_ASSERT_EQUAL(nr_events(run.trace), 10);
	CU_ASSERT_EQUAL(trace_get_info(run.trace)->lost, 5);
	CU_ASSERT_TRUE(trace_get_info(run.trace)->end_ns <= run.end_ns);
	check_distrusted(run.trace, "1", "times in the future");
	program_recording_free(&run);
	fake_program_free(&hostile);
	fake_program_free(&honest);
}

static void events_of_the_future_are_refused(void)
{
	an_event_of_the_future_is_refused(clock_now() + 3600000000000ull);
	an_event_of_the_future_is_refused(clock_now() + 60000000000ull);
	an_event_of_the_future_is_refused(INT64_MAX - UINT32_MAX);
}

/* A time must fit 63 bits; otherwise the sub-buffer is lost. */
static void events_without_a_time_are_refused(void)
{
	struct fake_program hostile;
	struct program_recording run;
	uint16_t id;

	program_recording_begin(&run);
	hostile = program_recording_join(&run, &id);
	record(&hostile, 0, id, 0, 5);
	move_base(&hostile, 0, UINT64_MAX - 5);
	program_recording_end(&run);
	CU_ASSERT_EQUAL(nr_events(run.trace), 0);
	CU_ASSERT_EQUAL(trace_get_info(run.trace)->lost, 5);
	CU_ASSERT_TRUE(trace_get_info(run.trace)->end_ns <= run.end_ns);
	program_recording_free(&run);
	fake_program_free(&hostile);
}

static void events_within_the_error_of_the_clocks_are_of_now(void)
{
	CU_ASSERT_FALSE(untrusted_time_is_future(5000, 5000));
	CU_ASSERT_FALSE(untrusted_time_is_future(5000 + UNTRUSTED_CLOCK_ERROR_NS, 5000));
	CU_ASSERT_TRUE(untrusted_time_is_future(5001 + UNTRUSTED_CLOCK_ERROR_NS, 5000));
	CU_ASSERT_TRUE(untrusted_time_is_future(UINT64_MAX, 5000));
	CU_ASSERT_FALSE(untrusted_time_is_future(0, 5000));
}

/*
 * A program may write while the daemon drains the rest. The recording must not end later because of
 * these events.
 */
static void events_after_the_end_are_not_of_the_recording(void)
{
	struct fake_program program;
	struct program_recording run;
	uint16_t id;
	uint64_t end_ns;

	program_recording_begin(&run);
	program = program_recording_join(&run, &id);
	record(&program, 0, id, 0, 5);
	end_ns = clock_now();
	clients_end_at(run.clients, end_ns);
	record(&program, 0, id, 5, 9);
	program_recording_take(&run, &program, 0, 1);
	program_recording_end(&run);
	CU_ASSERT_EQUAL(nr_events(run.trace), 5);
	CU_ASSERT_EQUAL(trace_get_info(run.trace)->lost, 0);
	CU_ASSERT_PTR_NULL(trace_string(run.trace, TRACE_STRING_INFO, TRACE_INFO_DISTRUSTED));
	program_recording_free(&run);
	fake_program_free(&program);
}

/* ---- CPUs ---- */

static void a_ring_of_no_cpu_is_refused(void)
{
	struct fake_program program;
	struct program_recording run;
	uint16_t id;

	program_recording_begin(&run);
	fake_cpus = 2;
	possible_cpus_pretend(fake_cpus);
	program = program_recording_join(&run, &id);
	record(&program, 1, id, 0, 5);
	record(&program, 3, id, 0, 5);
	program_recording_end(&run);
	CU_ASSERT_EQUAL(nr_events(run.trace), 5);
	CU_ASSERT_EQUAL(trace_get_info(run.trace)->nr_cpus, 2);
	check_distrusted(run.trace, "1", "CPUs that the machine does not have");
	program_recording_free(&run);
	fake_program_free(&program);
	fake_cpus = FAKE_RINGS;
}

static void a_ring_that_names_another_cpu_is_refused(void)
{
	struct fake_program program;
	struct program_recording run;
	uint16_t id;

	program_recording_begin(&run);
	program = program_recording_join(&run, &id);
	record(&program, 1, id, 0, 5);
	record(&program, 2, id, 0, 5);
	fake_program_ring(&program, 2).control->cpu = 0;
	program_recording_end(&run);
	CU_ASSERT_EQUAL(nr_events(run.trace), 5);
	check_distrusted(run.trace, "1", "CPUs that the machine does not have");
	program_recording_free(&run);
	fake_program_free(&program);
}

static void the_machine_s_cpus_are_known(void)
{
	uint32_t nr;

	possible_cpus_pretend(0);
	nr = possible_cpus();
	CU_ASSERT_TRUE(nr >= (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	CU_ASSERT_TRUE(nr < 8192);
	possible_cpus_pretend(FAKE_RINGS);
}

/* ---- counters ---- */

static void losses_add_up_without_wrapping(void)
{
	CU_ASSERT_EQUAL(trace_add_saturated(1000, UINT64_MAX - 999), UINT64_MAX);
	CU_ASSERT_EQUAL(trace_add_saturated(UINT64_MAX, UINT64_MAX), UINT64_MAX);
	CU_ASSERT_EQUAL(trace_add_saturated(1000, 1), 1001);
	CU_ASSERT_EQUAL(trace_multiply_saturated(1ull << 33, 1ull << 33), UINT64_MAX);
	CU_ASSERT_EQUAL(trace_multiply_saturated(1ull << 31, 1ull << 31), 1ull << 62);
}

static void a_counter_is_accepted_within_bounds_only(void)
{
	struct untrusted_counter counter;

	untrusted_counter_begin(&counter, 100);
	untrusted_counter_take(&counter, 150, 1000);
	CU_ASSERT_EQUAL(untrusted_counter_sum(&counter), 50);
	untrusted_counter_take(&counter, 1100, 1000);
	CU_ASSERT_EQUAL(untrusted_counter_sum(&counter), 1000);
	CU_ASSERT_FALSE(counter.impossible);
	untrusted_counter_take(&counter, 1101, 1000);
	CU_ASSERT_TRUE(counter.impossible);
	CU_ASSERT_EQUAL(untrusted_counter_sum(&counter), 1001);
	untrusted_counter_take(&counter, 1200, 2000); /* ignored from now on */
	CU_ASSERT_EQUAL(untrusted_counter_sum(&counter), 1001);
	untrusted_counter_begin(&counter, 100);
	untrusted_counter_take(&counter, 150, 1000);
	untrusted_counter_take(&counter, 149, 1000); /* does not reduce the sum */
	CU_ASSERT_TRUE(counter.impossible);
	CU_ASSERT_EQUAL(untrusted_counter_sum(&counter), 51);
}

/* @unready: the counter of the hostile program; another program has lost 1000 events. */
static void a_loss_of_another_program_stays(uint64_t unready)
{
	struct fake_program hostile, honest;
	struct program_recording run;
	uint16_t id;

	program_recording_begin(&run);
	hostile = program_recording_join(&run, &id);
	honest = program_recording_join(&run, &id);
	honest.memory->unready = 1000;
	hostile.memory->unready = unready;
	program_recording_end(&run);
	/* the hostile program's losses are unknown: they count as 1 */
	CU_ASSERT_EQUAL(trace_get_info(run.trace)->lost, 1001);
	check_distrusted(run.trace, "1", "impossible loss counters");
	program_recording_free(&run);
	fake_program_free(&hostile);
	fake_program_free(&honest);
}

static void no_program_cancels_or_invents_a_loss(void)
{
	a_loss_of_another_program_stays(UINT64_MAX - 999);
	a_loss_of_another_program_stays(1ull << 62);
	a_loss_of_another_program_stays(1ull << 47);
	a_loss_of_another_program_stays(UINT64_MAX);
}

/*
 * The same with events in rings. Their accounting includes the losses that belong to no ring.
 * @value, @then: the ring's counter of discarded events, first and later
 */
static void a_ring_with_an_impossible_counter(uint64_t value, uint64_t then, uint64_t lost)
{
	struct fake_program hostile, honest;
	struct program_recording run;
	uint16_t id, honest_id;

	program_recording_begin(&run);
	hostile = program_recording_join(&run, &id);
	honest = program_recording_join(&run, &honest_id);
	record(&honest, 0, honest_id, 0, 10);
	honest.memory->unready = 1000;
	record(&hostile, 0, id, 0, 10);
	fake_program_ring(&hostile, 0).control->discarded = value;
	program_recording_take(&run, &hostile, 0, 1);
	fake_program_ring(&hostile, 0).control->discarded = then;
	record(&hostile, 0, id, 10, 20);
	program_recording_take(&run, &hostile, 0, 2);
	program_recording_end(&run);
	CU_ASSERT_EQUAL(nr_events(run.trace), 30);
	CU_ASSERT_EQUAL(trace_get_info(run.trace)->lost, 1000 + lost);
	check_distrusted(run.trace, "1", "impossible loss counters");
	program_recording_free(&run);
	fake_program_free(&hostile);
	fake_program_free(&honest);
}

static void a_counter_that_goes_backwards_takes_nothing_back(void)
{
	a_ring_with_an_impossible_counter(500, 20, 501);
	a_ring_with_an_impossible_counter(500, 0, 501);
}

static void a_counter_that_is_too_large_invents_nothing(void)
{
	a_ring_with_an_impossible_counter(1ull << 47, 1ull << 47, 1);
	a_ring_with_an_impossible_counter(UINT64_MAX - 999, 0, 1);
	a_ring_with_an_impossible_counter(0, 1ull << 62, 1);
}

static void tracepoints_without_room_are_not_more_than_a_program_can_have(void)
{
	struct fake_program program;
	struct program_recording run;
	uint16_t id;

	program_recording_begin(&run);
	program = program_recording_join(&run, &id);
	program.memory->unregistered = 117216885946ull;
	program_recording_end(&run);
	CU_ASSERT_FALSE(is_reported(run.trace, "117,216,885,946"));
	check_distrusted(run.trace, "1", "impossible loss counters");
	program_recording_free(&run);
	fake_program_free(&program);
}

/* An unfinished event in a 16 kB sub-buffer that claims 16 million finished ones. */
static uint16_t write_unfinished(struct fake_program *program)
{
	struct subbuf_ring ring = fake_program_ring(program, 0);
	uint16_t id = fake_program_event(program, "shop", "stuck", USER_ROLE_EVENT, one_number);

	record(program, 0, id, 0, 5);
	fake_program_write(program, 0, id, &(struct {
				   uint32_t tid;
				   int32_t n;
			   }){42, 0},
			   8, true);
	subbuf_slot(&ring, 1)->commit |= 0xffffffull << 40;
	return id;
}

/* Losses of programs only: a hurried recorder may lose its own last notes, too. */
static uint64_t lost_of_programs(const struct trace *trace)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < trace_nr_streams(trace); i++)
		if (trace_get_stream(trace, i)->stream - USER_FIRST_STREAM < MAX_STREAMS)
			lost += trace_get_stream(trace, i)->discarded;
	return lost;
}

static void a_sub_buffer_holds_no_more_records_than_fit(void)
{
	struct fake_program program;
	struct program_recording run;
	struct recorder recorder;
	struct trace *trace;
	uint16_t id;

	program_recording_begin(&run);
	program = program_recording_join(&run, &id);
	write_unfinished(&program);
	program_recording_end_by(&run, everybody_hurries);
	CU_ASSERT_TRUE(lost_of_programs(run.trace) > 0);
	CU_ASSERT_TRUE(lost_of_programs(run.trace) <= FAKE_SUBBUF / 8);
	program_recording_free(&run);
	fake_program_free(&program);
	recorder_begin(&recorder, NULL, 0, 0);
	program = recorder_add_program(&recorder, SUBBUF_CLOCK_TSC, false);
	write_unfinished(&program);
	trace = open_snapshot(&recorder);
	CU_ASSERT_TRUE(trace_get_info(trace)->lost > 0);
	CU_ASSERT_TRUE(trace_get_info(trace)->lost <= FAKE_SUBBUF / 8);
	trace_close(trace);
	recorder_end(&recorder);
	fake_program_free(&program);
}

static void real_losses_are_reported_as_before(void)
{
	struct fake_program program;
	struct program_recording run;
	uint16_t id;

	program_recording_begin(&run);
	program = program_recording_join(&run, &id);
	record(&program, 0, id, 0, 20000); /* more than fit */
	program.memory->unready = 3;
	program.memory->unregistered = 2;
	program_recording_end(&run);
	CU_ASSERT_EQUAL(nr_events(run.trace) + trace_get_info(run.trace)->lost, 20003);
	CU_ASSERT_TRUE(is_reported(run.trace, "2 tracepoints of programs"));
	CU_ASSERT_PTR_NULL(trace_string(run.trace, TRACE_STRING_INFO, TRACE_INFO_DISTRUSTED));
	program_recording_free(&run);
	fake_program_free(&program);
}

/* Ten programs: the trace names the first ones and counts the others. */
static void programs_with_impossible_numbers_are_named_up_to_a_bound(void)
{
	struct fake_program programs[DISTRUSTED_NAMED_MAX + 2];
	struct program_recording run;
	uint16_t id;

	program_recording_begin(&run);
	for (size_t i = 0; i < DISTRUSTED_NAMED_MAX + 2; i++) {
		programs[i] = program_recording_join(&run, &id);
		programs[i].memory->unready = 1ull << 62;
	}
	program_recording_end(&run);
	check_distrusted(run.trace, "10", "2 more processes that wrote impossible values");
	CU_ASSERT_EQUAL(trace_get_info(run.trace)->lost, DISTRUSTED_NAMED_MAX + 2);
	program_recording_free(&run);
	for (size_t i = 0; i < DISTRUSTED_NAMED_MAX + 2; i++)
		fake_program_free(&programs[i]);
}

/* ---- flight recorder ---- */

static void a_snapshot_has_no_event_of_the_future(void)
{
	static const uint64_t later[] = {3600000000000ull, 60000000000ull, INT64_MAX / 2};

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		struct fake_program program;
		struct recorder recorder;
		struct trace *trace;
		uint16_t id;

		recorder_begin(&recorder, NULL, 0, 0);
		program = recorder_add_program(&recorder, SUBBUF_CLOCK_MONOTONIC, false);
		id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
		record(&program, 0, id, 0, 5);
		record(&program, 1, id, 0, 3);
		move_base(&program, 0, clock_now() + later[i]);
		trace = open_snapshot(&recorder);
		CU_ASSERT_EQUAL(nr_events(trace), 3);
		CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 5);
		CU_ASSERT_TRUE(trace_get_info(trace)->start_ns <= clock_now());
		CU_ASSERT_TRUE(trace_get_info(trace)->end_ns <= clock_now());
		check_distrusted(trace, "1", "times in the future");
		trace_close(trace);
		recorder_end(&recorder);
		fake_program_free(&program);
	}
}

/*
 * The only program claims that its oldest event, or its correspondence of clocks, is in the future.
 */
static void a_snapshot_does_not_begin_in_the_future(void)
{
	for (int i = 0; i < 2; i++) {
		struct fake_program program;
		struct subbuf_header *header;
		struct subbuf_ring ring;
		struct recorder recorder;
		struct trace *trace;
		uint16_t id;

		recorder_begin(&recorder, NULL, 0, 0);
		program = recorder_add_program(&recorder, SUBBUF_CLOCK_TSC, false);
		id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
		record(&program, 0, id, 0, 5);
		ring = fake_program_ring(&program, 0);
		header = subbuf_slot(&ring, 1);
		header->base_ns = INT64_MAX - 5;
		if (i)
			header->base += 1ull << 50;
		trace = open_snapshot(&recorder);
		CU_ASSERT_EQUAL(nr_events(trace), i ? 0 : 5);
		CU_ASSERT_TRUE(trace_get_info(trace)->start_ns <= trace_get_info(trace)->end_ns);
		CU_ASSERT_TRUE(trace_get_info(trace)->end_ns <= clock_now());
		trace_close(trace);
		recorder_end(&recorder);
		fake_program_free(&program);
	}
}

static void a_snapshot_has_no_ring_of_no_cpu(void)
{
	struct fake_program program;
	struct recorder recorder;
	struct trace *trace;
	uint16_t id;

	recorder_begin(&recorder, NULL, 0, 0);
	fake_cpus = 2;
	possible_cpus_pretend(fake_cpus);
	program = recorder_add_program(&recorder, SUBBUF_CLOCK_TSC, false);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	record(&program, 3, id, 0, 5);
	record(&program, 1, id, 0, 3);
	trace = open_snapshot(&recorder);
	CU_ASSERT_EQUAL(nr_events(trace), 3);
	CU_ASSERT_EQUAL(trace_get_info(trace)->nr_cpus, 2);
	check_distrusted(trace, "1", "CPUs that the machine does not have");
	trace_close(trace);
	recorder_end(&recorder);
	fake_program_free(&program);
	fake_cpus = FAKE_RINGS;
}

static void snapshots_keep_losses_of_programs_apart(void)
{
	static const uint64_t values[] = {UINT64_MAX - 999, 1ull << 62, 1ull << 47};

	for (size_t i = 0; i < 2 * sizeof(values) / sizeof(values[0]); i++) {
		struct fake_program hostile, honest;
		struct recorder recorder;
		struct trace *trace;
		uint16_t id;

		recorder_begin(&recorder, NULL, 0, 0);
		hostile = recorder_add_program(&recorder, SUBBUF_CLOCK_TSC, i % 2);
		honest = recorder_add_program(&recorder, SUBBUF_CLOCK_TSC, false);
		id = fake_program_event(&hostile, "shop", "paid", USER_ROLE_EVENT, one_number);
		honest.memory->unready = 1000;
		if (i < sizeof(values) / sizeof(values[0])) {
			hostile.memory->unready = values[i];
		} else {
			record(&hostile, 0, id, 0, 5);
			fake_program_ring(&hostile, 0).control->discarded =
				values[i - sizeof(values) / sizeof(values[0])];
		}
		trace = open_snapshot(&recorder);
		CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 1001);
		check_distrusted(trace, "1", "impossible loss counters");
		trace_close(trace);
		flight_reset(recorder.flight);
		trace = open_snapshot(&recorder);
		/* the reset drops all losses before it, and impossible numbers */
		CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 0);
		CU_ASSERT_PTR_NULL(trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_DISTRUSTED));
		trace_close(trace);
		recorder_end(&recorder);
		fake_program_free(&hostile);
		fake_program_free(&honest);
	}
}

/* Data of a dead program, and the reasons to distrust it, are kept until the reset. */
static void a_reset_drops_data_of_dead_programs(void)
{
	struct recorder recorder;
	struct trace *trace;
	pid_t child;

	recorder_begin(&recorder, NULL, 0, 0);
	child = fork();
	if (!child) {
		struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
		uint16_t id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);

		record(&program, 0, id, 0, 5);
		fake_program_ring(&program, 0).control->discarded = 1ull << 62;
		offer(&program);
		while (!__atomic_load_n(&program.memory->overwrite, __ATOMIC_ACQUIRE))
			usleep(100);
		_exit(0);
	}
	do {
		recorder_look(&recorder);
		usleep(200);
	} while (waitpid(child, NULL, WNOHANG) == 0);
	recorder_look(&recorder);
	trace = open_snapshot(&recorder);
	CU_ASSERT_EQUAL(nr_events(trace), 5);
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 1);
	check_distrusted(trace, "1", "impossible loss counters");
	trace_close(trace);
	flight_reset(recorder.flight);
	trace = open_snapshot(&recorder);
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 0);
	CU_ASSERT_PTR_NULL(trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_DISTRUSTED));
	trace_close(trace);
	recorder_end(&recorder);
}

/*
 * The ring claims that it wrapped, and that it overwrote more events than one CPU can record in
 * that time.
 */
static void a_snapshot_invents_no_overwritten_events(void)
{
	struct fake_program program;
	struct subbuf_ring ring;
	struct recorder recorder;
	struct trace *trace;
	uint16_t id;

	recorder_begin(&recorder, NULL, 0, 0);
	program = recorder_add_program(&recorder, SUBBUF_CLOCK_TSC, false);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	record(&program, 0, id, 0, 20000);
	ring = fake_program_ring(&program, 0);
	for (size_t i = 0; i < FAKE_SUBBUFS; i++)
		((struct subbuf_header *)(void *)(ring.data + i * FAKE_SUBBUF))->records_ever = 1ull << 46;
	trace = open_snapshot(&recorder);
	CU_ASSERT_TRUE(trace_get_info(trace)->lost < 20000);
	check_distrusted(trace, "1", "impossible loss counters");
	trace_close(trace);
	recorder_end(&recorder);
	fake_program_free(&program);
}

static const struct unit_case cases[] = {
	CASE(events_of_the_future_are_refused),
	CASE(events_without_a_time_are_refused),
	CASE(events_within_the_error_of_the_clocks_are_of_now),
	CASE(events_after_the_end_are_not_of_the_recording),
	CASE(a_ring_of_no_cpu_is_refused),
	CASE(a_ring_that_names_another_cpu_is_refused),
	CASE(the_machine_s_cpus_are_known),
	CASE(losses_add_up_without_wrapping),
	CASE(a_counter_is_accepted_within_bounds_only),
	CASE(no_program_cancels_or_invents_a_loss),
	CASE(a_counter_that_goes_backwards_takes_nothing_back),
	CASE(a_counter_that_is_too_large_invents_nothing),
	CASE(tracepoints_without_room_are_not_more_than_a_program_can_have),
	CASE(a_sub_buffer_holds_no_more_records_than_fit),
	CASE(real_losses_are_reported_as_before),
	CASE(programs_with_impossible_numbers_are_named_up_to_a_bound),
	CASE(a_snapshot_has_no_event_of_the_future),
	CASE(a_snapshot_does_not_begin_in_the_future),
	CASE(a_snapshot_has_no_ring_of_no_cpu),
	CASE(snapshots_keep_losses_of_programs_apart),
	CASE(a_reset_drops_data_of_dead_programs),
	CASE(a_snapshot_invents_no_overwritten_events),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return flight_main("user untrusted", cases, argc, argv);
}
