/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_user_daemon.c - the daemon with programs that the test simulates: each event that they
 * record is in the trace once, or counted as lost. */
#include "unit.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <trace/reader.h>

#include "message.h"
#include "recording.h"
#include "user_bench.h"

/* ---- what is recorded ---- */

static void events_come_back_with_fields_thread_cpu_and_program(void)
{
	static const uint16_t types[] = {USER_FIELD_SIGNED, USER_FIELD_STRING, USER_FIELD_FLOAT, 0};
	struct {
		uint32_t tid;
		int32_t id;
		struct user_reference name;
		uint32_t pad;
		double price;
		char text[4];
	} payload = {77, -5, {24, 3}, 0, 1.5, "bob"};
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);
	const struct trace_user_stream *stream;
	const struct trace_event *event;
	struct trace_cursor *cursor;
	char text[200];
	uint16_t id;

	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, true), 0);
	id = fake_program_event(&program, "shop", "order_paid", USER_ROLE_EVENT, types);
	fake_program_write(&program, 2, id, &payload, 27, false);
	bench_drain(bench);
	bench_end(bench, false);
	cursor = trace_cursor_new(bench->trace, NULL, NULL);
	event = trace_cursor_next(cursor);
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	CU_ASSERT_EQUAL_FATAL(event->id, TRACE_EV_user_stream);
	stream = event->payload;
	CU_ASSERT_EQUAL(stream->pid, 4711);
	CU_ASSERT_EQUAL(stream->uid, 12);
	CU_ASSERT_EQUAL(stream->cpu, 2);
	CU_ASSERT_EQUAL(stream->stream, event->stream);
	CU_ASSERT_STRING_EQUAL(trace_event_string(event), "/usr/bin/fake");
	event = trace_cursor_next(cursor);
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	CU_ASSERT_STRING_EQUAL(event->type->name, "shop:order_paid");
	CU_ASSERT_STRING_EQUAL(event->type->source, "fake.c:12 play");
	CU_ASSERT_EQUAL(event->cpu, 2);
	CU_ASSERT_EQUAL(event->stream, USER_FIRST_STREAM);
	CU_ASSERT_EQUAL(*(const uint32_t *)event->payload, 77);
	trace_event_format(bench->trace, event, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "field0=-5 field1=\"bob\" field2=1.5");
	CU_ASSERT_PTR_NULL(trace_cursor_next(cursor));
	trace_cursor_free(cursor);
	bench_free(bench);
	fake_program_free(&program);
}

static const struct trace_event_type *type_of_name(const struct trace *trace, const char *name)
{
	for (size_t i = 0; i < trace_nr_types(trace); i++)
		if (strcmp(trace_get_type(trace, i)->name, name) == 0)
			return trace_get_type(trace, i);
	return NULL;
}

static void scopes_are_two_events_of_one_name(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);
	const struct trace_event_type *type;

	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, true), 0);
	fake_program_number(&program, 0, fake_program_event(&program, "shop", "checkout", USER_ROLE_BEGIN, one_number),
			    1);
	fake_program_number(&program, 0, fake_program_event(&program, "shop", "checkout", USER_ROLE_END, one_number),
			    1);
	bench_drain(bench);
	bench_end(bench, false);
	type = type_of_name(bench->trace, "shop:checkout.begin");
	CU_ASSERT_TRUE(type && type->role == TRACE_ROLE_BEGIN);
	type = type_of_name(bench->trace, "shop:checkout.end");
	CU_ASSERT_TRUE(type && type->role == TRACE_ROLE_END);
	bench_free(bench);
	fake_program_free(&program);
}

/* The tracepoint's time lies between two readings of CLOCK_MONOTONIC, within 1 us. */
static void times_are_those_of_clock_monotonic(enum subbuf_clock clock)
{
	enum { NR = 3000 };
	static uint64_t before[NR], after[NR];
	struct fake_program program = fake_program_new(clock, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);
	const struct trace_event *event;
	struct trace_cursor *cursor;
	uint64_t worst = 0, last = 0;
	uint16_t id;
	int n = 0;

	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, true), 0);
	id = fake_program_event(&program, "a", "b", USER_ROLE_EVENT, one_number);
	for (int i = 0; i < NR; i++) {
		before[i] = clock_now();
		fake_program_number(&program, 0, id, i);
		after[i] = clock_now();
		if (i % 100 == 99) {
			bench_drain(bench);
			usleep(i % 1000 == 999 ? 20000 : 300);
		}
	}
	bench_end(bench, false);
	cursor = trace_cursor_new(bench->trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor))) {
		uint64_t off;

		if (event->id < TRACE_EV_MAX)
			continue;
		CU_ASSERT_EQUAL(trace_event_u64(event, &event->type->fields[0]), (uint64_t)n);
		off = event->ts_ns < before[n]	? before[n] - event->ts_ns
		      : event->ts_ns > after[n] ? event->ts_ns - after[n]
						: 0;
		worst = off > worst ? off : worst;
		CU_ASSERT_TRUE(event->ts_ns >= last);
		last = event->ts_ns;
		n++;
	}
	CU_ASSERT_EQUAL(n, NR);
	CU_ASSERT_TRUE(worst < 1000);
	if (worst >= 1000)
		fprintf(stderr, "off by %llu ns\n", (unsigned long long)worst);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	bench_free(bench);
	fake_program_free(&program);
}

static void ticks_become_times_within_a_microsecond(void)
{
	times_are_those_of_clock_monotonic(SUBBUF_CLOCK_TSC);
}

static void times_of_the_system_clock_stay_as_they_are(void)
{
	times_are_those_of_clock_monotonic(SUBBUF_CLOCK_MONOTONIC);
}

/* ---- the ledger ---- */

static void records_without_room_are_counted(void)
{
	enum { NR = 20000 };
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);
	uint64_t discarded = 0;
	struct trace_counts counts;
	uint16_t id;

	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, true), 0);
	id = fake_program_event(&program, "a", "b", USER_ROLE_EVENT, one_number);
	for (int i = 0; i < NR; i++) {
		discarded += !fake_program_number(&program, (uint32_t)i % 2, id, i);
		if (i % 15000 == 14999)
			bench_drain(bench);
	}
	program.memory->unready = 5;
	bench_drain(bench);
	bench_end(bench, false);
	counts = counts_of(bench->trace);
	CU_ASSERT_TRUE(discarded > 0 && discarded < NR);
	CU_ASSERT_EQUAL(counts.announced, 2);
	CU_ASSERT_EQUAL(counts.events, NR - discarded);
	CU_ASSERT_EQUAL(counts.stored, NR - discarded + 2);
	CU_ASSERT_EQUAL(counts.discarded, discarded + 5);
	CU_ASSERT_EQUAL(counts.lost, discarded + 5);
	bench_free(bench);
	fake_program_free(&program);
}

static void events_before_the_recording_are_not_part_of_it(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "a", "b", USER_ROLE_EVENT, one_number);
	struct bench *bench;
	struct trace_counts counts;

	for (int i = 0; i < 20000; i++) /* more than fit */
		fake_program_number(&program, 0, id, i);
	program.memory->unready = 5;
	usleep(1000);
	bench = bench_new(NULL);
	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, false), 0);
	bench_drain(bench);
	for (int i = 0; i < 10; i++)
		fake_program_number(&program, 0, id, i);
	bench_end(bench, false);
	counts = counts_of(bench->trace);
	CU_ASSERT_EQUAL(counts.events, 10);
	CU_ASSERT_EQUAL(counts.attempted, 11); /* including the event that announces the stream */
	CU_ASSERT_EQUAL(counts.lost, 0);
	bench_free(bench);
	fake_program_free(&program);
}

static void recordings_follow_one_another_and_leave_the_events_off(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "a", "b", USER_ROLE_EVENT, one_number);

	for (int run = 1; run <= 3; run++) {
		struct bench *bench = bench_new(NULL);
		struct trace_counts counts;

		CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, false), 0);
		CU_ASSERT_TRUE(fake_program_flag(&program, id));
		CU_ASSERT_EQUAL(program.memory->new_flag, 1);
		for (int i = 0; i < 100 * run; i++)
			fake_program_number(&program, 1, id, i);
		bench_end(bench, false);
		CU_ASSERT_FALSE(fake_program_flag(&program, id));
		for (int i = 0; i < 50; i++)
			fake_program_number(&program, 1, id, i);
		counts = counts_of(bench->trace);
		CU_ASSERT_EQUAL(counts.events, 100 * (uint64_t)run);
		CU_ASSERT_EQUAL(counts.lost, 0);
		bench_free(bench);
		CU_ASSERT_EQUAL(program.memory->new_flag, 0);
		CU_ASSERT_EQUAL(program.memory->daemon_pid, 0);
	}
	fake_program_free(&program);
}

/* ---- choosing ---- */

static void patterns_switch_events_and_filter_earlier_ones(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *bench = bench_new("shop:*,-shop:debug*");
	uint16_t paid, debug, other;
	struct trace_counts counts;

	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, true), 0);
	paid = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	debug = fake_program_event(&program, "shop", "debug_it", USER_ROLE_EVENT, one_number);
	other = fake_program_event(&program, "bank", "paid", USER_ROLE_EVENT, one_number);
	for (int i = 0; i < 3; i++) { /* before the daemon has looked at them */
		fake_program_number(&program, 0, paid, i);
		fake_program_number(&program, 0, debug, i);
		fake_program_number(&program, 0, other, i);
	}
	user_program_look(bench->program);
	CU_ASSERT_TRUE(fake_program_flag(&program, paid));
	CU_ASSERT_FALSE(fake_program_flag(&program, debug));
	CU_ASSERT_FALSE(fake_program_flag(&program, other));
	fake_program_number(&program, 0, paid, 3);
	bench_drain(bench);
	if (select_add(&bench->selection, "+bank:*", NULL))
		abort();
	user_program_switch(bench->program, false);
	CU_ASSERT_TRUE(fake_program_flag(&program, other));
	fake_program_number(&program, 0, other, 4);
	bench_end(bench, false);
	counts = counts_of(bench->trace);
	CU_ASSERT_EQUAL(counts.events, 5);
	CU_ASSERT_EQUAL(counts.filtered, 6);
	CU_ASSERT_EQUAL(counts.attempted, 5 + 6 + 1);
	CU_ASSERT_EQUAL(counts.lost, 0);
	bench_free(bench);
	fake_program_free(&program);
}

static bool wants(const char *names, const char *event)
{
	struct selection selection = {0};
	struct trace_error error;

	if (names && select_add(&selection, names, &error))
		abort();
	return select_wants_user(&selection, event);
}

static void selections_say_which_events_of_programs(void)
{
	CU_ASSERT_TRUE(wants(NULL, "shop:paid"));
	CU_ASSERT_TRUE(wants("sched,fs", "shop:paid"));
	CU_ASSERT_TRUE(wants("shop:*", "shop:paid"));
	CU_ASSERT_FALSE(wants("shop:*", "bank:paid"));
	CU_ASSERT_TRUE(wants("sched,*:paid", "bank:paid"));
	CU_ASSERT_FALSE(wants("-shop:*", "shop:paid"));
	CU_ASSERT_FALSE(wants("!shop:*", "shop:paid"));
	CU_ASSERT_TRUE(wants("-shop:*", "bank:paid"));
	CU_ASSERT_TRUE(wants("-shop:*,+shop:paid", "shop:paid"));
	CU_ASSERT_FALSE(wants("-user", "shop:paid"));
	CU_ASSERT_TRUE(wants("user", "shop:paid"));
	CU_ASSERT_TRUE(wants("all", "shop:paid"));
	CU_ASSERT_TRUE(wants("-user,+shop:*", "shop:paid"));
	CU_ASSERT_FALSE(wants("-user,+shop:*", "bank:paid"));
}

/* ---- dead programs ---- */

static void a_program_that_dies_in_a_record_loses_that_record_only(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);
	struct drain_losses losses;
	struct trace_counts counts;
	uint16_t id;

	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, true), 0);
	id = fake_program_event(&program, "a", "b", USER_ROLE_EVENT, one_number);
	for (int i = 0; i < 1500; i++)
		fake_program_number(&program, 0, id, i);
	fake_program_write(&program, 0, id, &(struct {
		uint32_t tid;
		int32_t n;
	}){42, 0},
			   8, true);
	for (int i = 0; i < 100; i++)
		fake_program_number(&program, 0, id, i);
	bench_end(bench, true);
	counts = counts_of(bench->trace);
	CU_ASSERT_EQUAL(counts.events, 1600);
	CU_ASSERT_EQUAL(counts.lost, 1);
	drain_get_losses(bench->recording->drain, 0, &losses); /* not for lack of room */
	CU_ASSERT_TRUE(losses.is_program);
	CU_ASSERT_EQUAL(losses.full, 0);
	CU_ASSERT_EQUAL(losses.other, 1);
	bench_free(bench);
	fake_program_free(&program);
}

/* ---- a disk that is full for a while ---- */

static void write_now(struct bench *bench)
{
	bench_drain(bench);
	while (!writer_thread_empty(bench->thread))
		usleep(1000);
}

static void the_program_of_a_stream_is_announced_again_after_a_failed_write(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);
	struct rlimit limit, full;
	struct trace_counts counts;
	struct stat file;
	uint16_t id;

	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, true), 0);
	CU_ASSERT_EQUAL_FATAL(fstat(bench->fd, &file) | getrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, SIG_IGN);
	full = (struct rlimit){(rlim_t)file.st_size, limit.rlim_max};
	id = fake_program_event(&program, "a", "b", USER_ROLE_EVENT, one_number);
	setrlimit(RLIMIT_FSIZE, &full);
	fake_program_number(&program, 0, id, 1);
	write_now(bench);
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 2; i < 4; i++) {
		fake_program_number(&program, 0, id, i);
		write_now(bench);
	}
	bench_end(bench, false);
	counts = counts_of(bench->trace);
	CU_ASSERT_EQUAL(counts.lost, 2); /* the first event, and the one that names its program */
	CU_ASSERT_EQUAL(counts.announced, 1);
	CU_ASSERT_EQUAL(counts.events, 2);
	bench_free(bench);
	fake_program_free(&program);
}

static const struct unit_case cases[] = {
	{"events_come_back_with_fields_thread_cpu_and_program", events_come_back_with_fields_thread_cpu_and_program},
	{"scopes_are_two_events_of_one_name", scopes_are_two_events_of_one_name},
	{"ticks_become_times_within_a_microsecond", ticks_become_times_within_a_microsecond},
	{"times_of_the_system_clock_stay_as_they_are", times_of_the_system_clock_stay_as_they_are},
	{"records_without_room_are_counted", records_without_room_are_counted},
	{"events_before_the_recording_are_not_part_of_it", events_before_the_recording_are_not_part_of_it},
	{"recordings_follow_one_another_and_leave_the_events_off",
	 recordings_follow_one_another_and_leave_the_events_off},
	{"patterns_switch_events_and_filter_earlier_ones", patterns_switch_events_and_filter_earlier_ones},
	{"selections_say_which_events_of_programs", selections_say_which_events_of_programs},
	{"a_program_that_dies_in_a_record_loses_that_record_only",
	 a_program_that_dies_in_a_record_loses_that_record_only},
	{"the_program_of_a_stream_is_announced_again_after_a_failed_write",
	 the_program_of_a_stream_is_announced_again_after_a_failed_write},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	char path[64];

	/* A runtime directory of its own, so that no other daemon on this machine finds the
	 * programs. */
	snprintf(path, sizeof(path), "/tmp/trace-ledgers-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	message_init("test_user_daemon", true);
	return unit_main("user daemon", cases, argc, argv);
}
