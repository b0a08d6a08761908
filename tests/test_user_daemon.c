/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_daemon.c - the daemon beside programs that the test plays: what they record is in the trace once, or counted; and
 * whatever they write into their memory spoils their own events only.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <trace/reader.h>
#include <trace/writer.h>

#include "drain.h"
#include "fake_program.h"
#include "message.h"
#include "recording.h"
#include "user_find.h"
#include "user_program.h"
#include "user_socket.h"
#include "users.h"
#include "writer_thread.h"

/* ---- a recording of programs ---- */

/** struct bench - a recording into memory, and what came of it */
struct bench {
	int fd;
	struct trace_writer *writer;
	struct writer_thread *thread;
	struct selection selection;
	struct user_recording *recording;
	struct user_program *program;
	struct trace *trace;
};

static struct bench *bench_new(const char *events)
{
	struct bench *bench = calloc(1, sizeof(*bench));
	struct clock_sample start = clock_take_sample();
	struct trace_writer_options options = { .size = sizeof(options), .start_ns = start.monotonic_ns, .start_realtime_ns = start.realtime_ns };
	struct trace_error error;

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

static int bench_take(struct bench *bench, const struct fake_program *program, bool whole)
{
	struct user_identity identity = { .pid = 4711, .uid = 12, .pid_fd = -1, .exe = "/usr/bin/fake" };
	struct trace_error error = { 0 };

	bench->program = user_program_new(program->fd, &identity, bench->recording, whole, &error);
	return error.code;
}

static void bench_drain(struct bench *bench)
{
	user_program_look(bench->program);
	drain_flush(bench->recording->drain);
	drain_run(bench->recording->drain);
}

/* End the recording, with the program alive or dead, and open the trace, which must hold whatever was in the memory. */
static void bench_end(struct bench *bench, bool dead)
{
	struct drain *drain = bench->recording->drain;
	struct trace_stream_stats stats[FAKE_RINGS];
	struct trace_error error = { 0 };
	char path[64];

	user_program_look(bench->program);
	if (!dead)
		user_program_switch(bench->program, true);
	drain_end(drain);
	for (int i = 0; i < 10 && !drain_is_empty(drain); i++)
		drain_run(drain);
	if (dead)
		CU_ASSERT_TRUE(user_program_finish(bench->program));
	drain_abandon(drain);
	user_program_settle(bench->program);
	writer_thread_stop(bench->thread);
	for (size_t i = 0; i < drain_nr_rings(drain); i++)
		drain_statistics(drain, i, &stats[i]);
	if (trace_writer_statistics(bench->writer, stats, drain_nr_rings(drain), clock_now(), &error) || trace_writer_finish(bench->writer, &error))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", bench->fd);
	bench->trace = trace_open(path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bench->trace);
	CU_ASSERT_EQUAL(trace_verify(bench->trace, &error), 0);
	if (error.code)
		fprintf(stderr, "%s\n", error.message);
}

static void bench_free(struct bench *bench)
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

/** struct books - of all streams together, and the events that are there */
struct books {
	uint64_t stored;
	uint64_t discarded;
	uint64_t filtered;
	uint64_t attempted;
	uint64_t events; /* of programs */
	uint64_t announced;
	uint64_t lost;
};

static struct books books_of(const struct trace *trace)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	struct books books = { .lost = trace_get_info(trace)->lost };

	while ((event = trace_cursor_next(cursor))) {
		books.events += event->id >= TRACE_EV_MAX;
		books.announced += event->id == TRACE_EV_user_stream;
	}
	trace_cursor_free(cursor);
	for (size_t i = 0; i < trace_nr_streams(trace); i++) {
		const struct trace_stream_stats *stats = trace_get_stream(trace, i);

		books.stored += stats->stored;
		books.discarded += stats->discarded;
		books.filtered += stats->filtered;
		books.attempted += stats->attempted;
	}
	return books;
}

static const uint16_t one_number[] = { USER_FIELD_SIGNED, 0 };

/* ---- what is recorded ---- */

static void events_come_back_with_fields_thread_cpu_and_program(void)
{
	static const uint16_t types[] = { USER_FIELD_SIGNED, USER_FIELD_STRING, USER_FIELD_FLOAT, 0 };
	struct { uint32_t tid; int32_t id; struct user_reference name; uint32_t pad; double price; char text[4]; } payload = {
		77, -5, { 24, 3 }, 0, 1.5, "bob" };
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

static void scopes_are_two_events_of_one_name(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);
	const struct trace_event_type *type;

	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, true), 0);
	fake_program_number(&program, 0, fake_program_event(&program, "shop", "checkout", USER_ROLE_BEGIN, one_number), 1);
	fake_program_number(&program, 0, fake_program_event(&program, "shop", "checkout", USER_ROLE_END, one_number), 1);
	bench_drain(bench);
	bench_end(bench, false);
	type = trace_type_by_name(bench->trace, "shop:checkout.begin");
	CU_ASSERT_TRUE(type && type->role == TRACE_ROLE_BEGIN);
	type = trace_type_by_name(bench->trace, "shop:checkout.end");
	CU_ASSERT_TRUE(type && type->role == TRACE_ROLE_END);
	bench_free(bench);
	fake_program_free(&program);
}

/* Between two readings of CLOCK_MONOTONIC the tracepoint lies, within 1 us. */
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
		off = event->ts_ns < before[n] ? before[n] - event->ts_ns : event->ts_ns > after[n] ? event->ts_ns - after[n] : 0;
		worst = off > worst ? off : worst;
		CU_ASSERT_TRUE(event->ts_ns >= last);
		last = event->ts_ns;
		n++;
	}
	CU_ASSERT_EQUAL(n, NR);
	CU_ASSERT_TRUE(worst < 1000);
	if (worst >= 1000)
		fprintf(stderr, "off by %llu ns\n", (unsigned long long)worst);
	trace_cursor_free(cursor);
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

static void what_finds_no_room_is_counted(void)
{
	enum { NR = 20000 };
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);
	uint64_t discarded = 0;
	struct books books;
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
	books = books_of(bench->trace);
	CU_ASSERT_TRUE(discarded > 0 && discarded < NR);
	CU_ASSERT_EQUAL(books.announced, 2);
	CU_ASSERT_EQUAL(books.events, NR - discarded);
	CU_ASSERT_EQUAL(books.stored, NR - discarded + 2);
	CU_ASSERT_EQUAL(books.discarded, discarded + 5);
	CU_ASSERT_EQUAL(books.lost, discarded + 5);
	bench_free(bench);
	fake_program_free(&program);
}

static void what_was_before_the_recording_is_not_part_of_it(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "a", "b", USER_ROLE_EVENT, one_number);
	struct bench *bench;
	struct books books;

	for (int i = 0; i < 20000; i++) /* more than there is room for */
		fake_program_number(&program, 0, id, i);
	program.memory->unready = 5;
	usleep(1000);
	bench = bench_new(NULL);
	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, false), 0);
	bench_drain(bench);
	for (int i = 0; i < 10; i++)
		fake_program_number(&program, 0, id, i);
	bench_end(bench, false);
	books = books_of(bench->trace);
	CU_ASSERT_EQUAL(books.events, 10);
	CU_ASSERT_EQUAL(books.attempted, 11); /* with the one that announces the stream */
	CU_ASSERT_EQUAL(books.lost, 0);
	bench_free(bench);
	fake_program_free(&program);
}

static void recordings_follow_one_another_and_leave_the_events_off(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "a", "b", USER_ROLE_EVENT, one_number);

	for (int run = 1; run <= 3; run++) {
		struct bench *bench = bench_new(NULL);
		struct books books;

		CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, false), 0);
		CU_ASSERT_TRUE(fake_program_flag(&program, id));
		CU_ASSERT_EQUAL(program.memory->new_flag, 1);
		for (int i = 0; i < 100 * run; i++)
			fake_program_number(&program, 1, id, i);
		bench_end(bench, false);
		CU_ASSERT_FALSE(fake_program_flag(&program, id));
		for (int i = 0; i < 50; i++)
			fake_program_number(&program, 1, id, i);
		books = books_of(bench->trace);
		CU_ASSERT_EQUAL(books.events, 100 * (uint64_t)run);
		CU_ASSERT_EQUAL(books.lost, 0);
		bench_free(bench);
		CU_ASSERT_EQUAL(program.memory->new_flag, 0);
		CU_ASSERT_EQUAL(program.memory->daemon_pid, 0);
	}
	fake_program_free(&program);
}

/* ---- choosing ---- */

static void patterns_switch_events_and_what_came_before_is_filtered(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *bench = bench_new("shop:*,-shop:debug*");
	uint16_t paid, debug, other;
	struct books books;

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
	books = books_of(bench->trace);
	CU_ASSERT_EQUAL(books.events, 5);
	CU_ASSERT_EQUAL(books.filtered, 6);
	CU_ASSERT_EQUAL(books.attempted, 5 + 6 + 1);
	CU_ASSERT_EQUAL(books.lost, 0);
	bench_free(bench);
	fake_program_free(&program);
}

static bool wants(const char *names, const char *event)
{
	struct selection selection = { 0 };
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

/* ---- the dead ---- */

static void a_program_that_dies_in_a_record_loses_that_record_only(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);
	struct drain_losses losses;
	struct books books;
	uint16_t id;

	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, true), 0);
	id = fake_program_event(&program, "a", "b", USER_ROLE_EVENT, one_number);
	for (int i = 0; i < 1500; i++)
		fake_program_number(&program, 0, id, i);
	fake_program_write(&program, 0, id, &(struct { uint32_t tid; int32_t n; }){ 42, 0 }, 8, true);
	for (int i = 0; i < 100; i++)
		fake_program_number(&program, 0, id, i);
	bench_end(bench, true);
	books = books_of(bench->trace);
	CU_ASSERT_EQUAL(books.events, 1600);
	CU_ASSERT_EQUAL(books.lost, 1);
	drain_get_losses(bench->recording->drain, 0, &losses); /* not for want of room */
	CU_ASSERT_TRUE(losses.is_program);
	CU_ASSERT_EQUAL(losses.full, 0);
	CU_ASSERT_EQUAL(losses.other, 1);
	bench_free(bench);
	fake_program_free(&program);
}

/* ---- hostile memory ---- */

static void memories_that_are_not_as_they_should_be_are_refused(void)
{
	static const struct {
		size_t offset, bytes;
		uint64_t value;
	} wrongs[] = {
#define WRONG(field, value) { offsetof(struct user_memory, field), sizeof(((struct user_memory *)0)->field), value }
		WRONG(magic, 7), WRONG(version, 2), WRONG(clock, 2), WRONG(total_bytes, 4096), WRONG(max_events, 0), WRONG(max_events, USER_MAX_EVENTS + 1),
		WRONG(nr_rings, 0), WRONG(nr_rings, USER_MAX_RINGS + 1), WRONG(nr_rings, 1000), WRONG(subbuf_bytes, 0), WRONG(subbuf_bytes, 16385),
		WRONG(subbuf_bytes, 8192), WRONG(subbuf_bytes, 32 << 20), WRONG(nr_subbufs, 0), WRONG(nr_subbufs, 1), WRONG(nr_subbufs, 3),
		WRONG(nr_subbufs, 1u << 31), WRONG(registry_bytes, USER_MAX_REGISTRY_BYTES + 8), WRONG(flags_offset, 0), WRONG(flags_offset, 1ull << 40),
		WRONG(flags_offset, UINT64_MAX), WRONG(registry_offset, UINT64_MAX - 8), WRONG(ring_stride, 0), WRONG(ring_stride, 4096), WRONG(ring_stride, UINT64_MAX - 63),
		WRONG(rings_offset, UINT64_MAX - 63), WRONG(rings_offset, 1ull << 30), WRONG(rings_offset, 4097),
	};

	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
		struct user_memory right = *program.memory;
		struct bench *bench = bench_new(NULL);

		memcpy(program.data + wrongs[i].offset, &wrongs[i].value, wrongs[i].bytes);
		CU_ASSERT_EQUAL(bench_take(bench, &program, true), -EINVAL);
		*program.memory = right;
		CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
		bench_free(bench);
		fake_program_free(&program);
	}
}

static void memories_that_could_shrink_are_refused(void)
{
	static const int seals[] = { 0, F_SEAL_SHRINK, F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_GROW | F_SEAL_SEAL };

	for (size_t i = 0; i < sizeof(seals) / sizeof(seals[0]); i++) {
		struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, seals[i]);
		struct bench *bench = bench_new(NULL);

		CU_ASSERT_EQUAL(bench_take(bench, &program, true), -EINVAL);
		bench_free(bench);
		fake_program_free(&program);
	}
}

/* To touch a page of it that the kernel has not got ends whoever does. */
static void memories_of_huge_pages_are_refused(void)
{
	struct fake_program program = { .fd = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB) };
	struct bench *bench = bench_new(NULL);

	if (program.fd >= 0 && ftruncate(program.fd, 1 << 30) == 0 && fcntl(program.fd, F_ADD_SEALS, FAKE_SEALS) == 0)
		CU_ASSERT_EQUAL(bench_take(bench, &program, true), -EINVAL);
	if (program.fd >= 0)
		close(program.fd);
	bench_free(bench);
}

static void files_that_are_no_memory_are_refused(void)
{
	struct fake_program program = { .fd = open("/dev/zero", O_RDWR | O_CLOEXEC) };
	struct bench *bench = bench_new(NULL);

	CU_ASSERT_EQUAL(bench_take(bench, &program, true), -EINVAL);
	close(program.fd);
	program.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(bench_take(bench, &program, true), -EINVAL);
	close(program.fd);
	bench_free(bench);
}

static void a_program_belongs_to_one_daemon_at_a_time(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *first = bench_new(NULL), *second = bench_new(NULL);

	CU_ASSERT_EQUAL(bench_take(first, &program, true), 0);
	CU_ASSERT_EQUAL(bench_take(second, &program, true), -EBUSY);
	bench_free(first);
	CU_ASSERT_EQUAL(bench_take(second, &program, true), 0);
	bench_free(second);
	fake_program_free(&program);
}

/* A good program beside it is recorded whole; what the bad one spoils stays in its own streams, whose books hold all the same. */
static void one_hostile_round(unsigned int seed, size_t begin, size_t end, bool dead)
{
	struct fake_program bad = fake_program_new(seed % 2 ? SUBBUF_CLOCK_TSC : SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct fake_program good = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	uint16_t bad_id = fake_program_event(&bad, "bad", "event", USER_ROLE_EVENT, one_number);
	uint16_t good_id = fake_program_event(&good, "good", "event", USER_ROLE_EVENT, one_number);
	struct bench *bench = bench_new(NULL);
	struct user_program *bad_program, *good_program;
	const struct trace_event *event;
	struct trace_cursor *cursor;
	uint64_t nr_good = 0;

	srandom(seed);
	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &bad, true), 0);
	bad_program = bench->program;
	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &good, true), 0);
	good_program = bench->program;
	for (int i = 0; i < 2000; i++) {
		fake_program_number(&bad, (uint32_t)i % 2, bad_id, i);
		fake_program_number(&good, 0, good_id, i);
	}
	fake_program_spoil(&bad, begin, end, 1 + (int)(seed % 20));
	bench_drain(bench);
	bench->program = bad_program;
	user_program_look(bad_program);
	bench_drain(bench);
	fake_program_spoil(&bad, begin, end, 5);
	drain_flush(bench->recording->drain);
	drain_run(bench->recording->drain);
	user_program_settle(good_program);
	bench_end(bench, dead);
	cursor = trace_cursor_new(bench->trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor)))
		nr_good += event->id >= TRACE_EV_MAX && !strcmp(event->type->name, "good:event");
	CU_ASSERT_EQUAL(nr_good, 2000);
	trace_cursor_free(cursor);
	user_program_free(good_program);
	bench_free(bench);
	munmap(bad.data, 4096 + 4096 + FAKE_REGISTRY + FAKE_RINGS * (4096 + FAKE_SUBBUF * FAKE_SUBBUFS));
	close(bad.fd);
	fake_program_free(&good);
}

static void nonsense_in_rings_stays_in_its_streams(void)
{
	size_t rings = 4096 + 4096 + FAKE_REGISTRY;

	for (unsigned int seed = 0; seed < 150; seed += (unsigned int)unit_step(7)) {
		one_hostile_round(seed, rings, rings + 256, false);			       /* the control words */
		one_hostile_round(seed, rings + 4096, rings + 4096 + 64, seed % 2);	       /* the header of a sub-buffer */
		one_hostile_round(seed, rings + 4096, rings + 4096 + FAKE_SUBBUF, seed % 2); /* records */
		one_hostile_round(seed, rings, rings + 2 * (4096 + FAKE_SUBBUF * FAKE_SUBBUFS), true);
	}
}

/* A sub-buffer in which nothing is right was read and written about: no write has failed, nor were the buffers full. */
static void records_that_are_none_are_a_loss_of_their_own_kind(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "a", "b", USER_ROLE_EVENT, one_number);
	struct bench *bench = bench_new(NULL);
	struct trace_writer_totals totals;

	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, true), 0);
	program.data[4096 + id + 7] = 1; /* an event that nobody described */
	for (int part = 0; part < 3; part++) {
		for (int i = 0; i < 10; i++)
			fake_program_number(&program, 0, part == 1 ? (uint16_t)(id + 7) : id, i);
		bench_drain(bench);
	}
	bench_end(bench, false);
	trace_writer_totals(bench->writer, &totals);
	CU_ASSERT_EQUAL(totals.lost_write, 0);
	CU_ASSERT_EQUAL(totals.lost_inside, 10);
	CU_ASSERT_EQUAL_FATAL(trace_nr_gaps(bench->trace), 1);
	CU_ASSERT_EQUAL(trace_get_gap(bench->trace, 0)->cause, TRACE_GAP_SUSPECT);
	CU_ASSERT_EQUAL(trace_get_gap(bench->trace, 0)->lost, 10);
	CU_ASSERT_EQUAL(trace_get_gap(bench->trace, 0)->stream, USER_FIRST_STREAM);
	bench_free(bench);
	fake_program_free(&program);
}

static void nonsense_in_the_registry_stays_in_its_program(void)
{
	for (unsigned int seed = 0; seed < 150; seed += (unsigned int)unit_step(7)) {
		one_hostile_round(seed, 8192, 8192 + 96, false);
		one_hostile_round(seed, 0, 4096 + 512, false); /* the head was read already; the rest is the daemon's to write */
	}
}

/* A thread that writes into the memory all the time, while the daemon reads it. */
struct scribbler {
	struct fake_program *program;
	atomic_bool stop;
};

static void *scribble(void *argument)
{
	struct scribbler *scribbler = argument;
	size_t rings = 4096 + 4096 + FAKE_REGISTRY;
	unsigned int seed = 1;

	while (!atomic_load(&scribbler->stop)) {
		size_t at = 8192 + (size_t)rand_r(&seed) % (rings + 4096 + FAKE_SUBBUF - 8192);

		*(volatile unsigned char *)(scribbler->program->data + at) ^= (unsigned char)(1 << rand_r(&seed) % 8);
		if (rand_r(&seed) % 64 == 0) { /* and keeps the ring going */
			struct subbuf_ring ring = fake_program_ring(scribbler->program, 0);

			*(volatile trace_u64 *)&ring.control->position += 1024;
		}
	}
	return NULL;
}

static void memory_that_changes_while_it_is_read_breaks_nothing(void)
{
	for (int round = 0; round < 20; round++) {
		struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
		uint16_t id = fake_program_event(&program, "a", "b", USER_ROLE_EVENT, one_number);
		struct scribbler scribbler = { .program = &program };
		struct bench *bench = bench_new(NULL);
		pthread_t thread;

		CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, true), 0);
		fake_program_number(&program, 0, id, 1);
		pthread_create(&thread, NULL, scribble, &scribbler);
		for (int i = 0; i < 200; i++) {
			fake_program_number(&program, 1, id, i);
			bench_drain(bench);
		}
		bench_end(bench, round % 2);
		atomic_store(&scribbler.stop, true);
		pthread_join(thread, NULL);
		bench_free(bench);
		fake_program_free(&program);
	}
}

/* ---- offers ---- */

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	CU_ASSERT_EQUAL_FATAL(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void say(int connection, const void *text, size_t bytes, int memory_fd)
{
	struct iovec vector = { (void *)text, bytes };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes) };

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &memory_fd, sizeof(int));
	CU_ASSERT_EQUAL(sendmsg(connection, &message, MSG_NOSIGNAL), (ssize_t)bytes);
}

/*
 * The first program connects, is accepted, and speaks only when @nr others, who say nothing, have connected after it. The daemon comes to the
 * others first. Then another program comes.
 */
static void offer_among_silent_ones(int nr, size_t expected)
{
	static const struct user_offer offer = { USER_MEMORY_MAGIC, USER_MEMORY_VERSION, 1 };
	struct fake_program first = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS), last = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct clock_sample start = clock_take_sample();
	struct bench *bench = bench_new(NULL);
	struct users_options options = { .selection = &bench->selection };
	struct users_status status;
	struct trace_error error;
	int *others = calloc((size_t)nr, sizeof(*others)), slow, quick;
	struct users *users;
	char path[64];

	snprintf(path, sizeof(path), "/tmp/trace-offers-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	users = users_new(&options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(users);
	users_begin(users, bench->recording->drain, bench->writer, &start);
	slow = connect_to(path);
	users_dispatch(users);
	for (int i = 0; i < nr; i++)
		others[i] = connect_to(path);
	say(slow, &offer, sizeof(offer), first.fd);
	quick = connect_to(path);
	say(quick, &offer, sizeof(offer), last.fd);
	for (int i = 0; i < nr / 32 + 2; i++)
		users_dispatch(users);
	users_get_status(users, &status);
	CU_ASSERT_EQUAL(status.programs, expected);
	CU_ASSERT_EQUAL(status.refused, 0);
	for (int i = 0; i < nr; i++)
		close(others[i]);
	close(slow);
	close(quick);
	users_free(users);
	snprintf(path, sizeof(path), "/tmp/trace-offers-%d.lock", (int)getpid());
	unlink(path);
	free(others);
	bench_free(bench);
	fake_program_free(&first);
	fake_program_free(&last);
}

/* A whole set of users with a socket of its own, as a daemon has it. */
struct daemon_of_users {
	struct bench *bench;
	struct users_options options;
	struct users *users;
	char path[64];
};

static void daemon_begin(struct daemon_of_users *daemon, const char *name)
{
	struct clock_sample start = clock_take_sample();
	struct trace_error error;

	snprintf(daemon->path, sizeof(daemon->path), "/tmp/trace-%s-%d", name, (int)getpid());
	setenv("TRACER_SOCKET", daemon->path, 1);
	daemon->bench = bench_new(NULL);
	daemon->options = (struct users_options){ .selection = &daemon->bench->selection };
	daemon->users = users_new(&daemon->options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(daemon->users);
	users_begin(daemon->users, daemon->bench->recording->drain, daemon->bench->writer, &start);
}

static size_t daemon_programs(const struct daemon_of_users *daemon)
{
	struct users_status status;

	users_get_status(daemon->users, &status);
	return status.programs;
}

static void daemon_free(struct daemon_of_users *daemon)
{
	char lock[80];

	users_free(daemon->users);
	bench_free(daemon->bench);
	snprintf(lock, sizeof(lock), "%s.lock", daemon->path);
	unlink(lock);
}

/* A program that could not be heard goes on to live in another process, which is found in /proc. */
static pid_t live_elsewhere(const struct fake_program *program)
{
	pid_t child = fork();

	if (child == 0)
		for (;;)
			pause();
	(void)program; /* mapped there too */
	return child;
}

/** struct find - looking for the memory of @ino. @seen: how often it was found, in process @pid; @others: other files */
struct find {
	ino_t ino;
	pid_t pid;
	unsigned int seen;
	unsigned int others;
};

static void count_found(void *context, int fd, struct user_identity *identity)
{
	struct find *find = context;
	struct stat status;

	if (identity->pid == find->pid && fstat(fd, &status) == 0) {
		find->seen += status.st_ino == find->ino;
		find->others += status.st_ino != find->ino;
	}
	close(identity->pid_fd);
	close(fd);
}

/* A child maps our memory, and some that only looks like it: private, not from its beginning, of another name, of a name longer than ours. */
static void the_memory_is_found_among_all_that_a_process_maps(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct find find = { 0 };
	struct stat status;
	char name[USER_MEMORY_NAME_BYTES + 8];
	int fds[3];
	pid_t child;

	user_memory_name(getenv("TRACER_SOCKET"), name);
	fds[0] = memfd_create(name, MFD_CLOEXEC);
	fds[1] = memfd_create("somebody", MFD_CLOEXEC);
	strcat(name, "-not");
	fds[2] = memfd_create(name, MFD_CLOEXEC);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(ftruncate(fds[i], 8192), 0);
		CU_ASSERT(mmap(NULL, 4096, PROT_READ, i ? MAP_SHARED : MAP_PRIVATE, fds[i], 0) != MAP_FAILED);
		CU_ASSERT(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fds[i], 4096) != MAP_FAILED);
	}
	CU_ASSERT_EQUAL(fstat(program.fd, &status), 0);
	child = live_elsewhere(&program);
	for (int text = 0; text < 2; text++) {
		find = (struct find){ .ino = status.st_ino, .pid = child };
		user_find_in_text = text;
		user_find_programs(count_found, &find);
		CU_ASSERT_EQUAL(find.seen, 1);
		CU_ASSERT_EQUAL(find.others, (unsigned int)text); /* text does not tell what is private */
		CU_ASSERT_TRUE(user_find_maps(child, status.st_ino));
		CU_ASSERT_FALSE(user_find_maps(child, status.st_ino + 100000));
	}
	user_find_in_text = false;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	CU_ASSERT_FALSE(user_find_maps(child, status.st_ino));
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	fake_program_free(&program);
}

static void who_could_not_be_heard_is_found_at_the_end(void)
{
	static const struct user_offer offer = { USER_MEMORY_MAGIC, USER_MEMORY_VERSION, 1 };
	struct daemon_of_users daemon;
	struct users_status status;
	struct fake_program program;
	int connection;
	pid_t child;

	daemon_begin(&daemon, "unheard");
	connection = connect_to(daemon.path);
	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	child = live_elsewhere(&program);
	for (int i = 0; i < 3; i++)
		users_dispatch(daemon.users);
	CU_ASSERT_EQUAL(daemon_programs(&daemon), 0);
	/* Another one can only say that it has no memory. */
	users_get_status(daemon.users, &status);
	CU_ASSERT_EQUAL(status.refused, 0);
	CU_ASSERT_EQUAL(send(connection, &offer, sizeof(offer), MSG_NOSIGNAL), (ssize_t)sizeof(offer));
	for (int i = 0; i < 3; i++)
		users_dispatch(daemon.users);
	users_get_status(daemon.users, &status);
	CU_ASSERT_EQUAL(status.refused, 1);
	close(connection);
	users_switch_off(daemon.users);
	CU_ASSERT_EQUAL(daemon_programs(&daemon), 1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	daemon_free(&daemon);
	fake_program_free(&program);
}

/* Another daemon, in a process of its own, has the socket and the program until it ends. */
static void a_second_daemon_takes_over_when_the_first_ends(void)
{
	struct daemon_of_users first, second;
	struct fake_program program;
	int pipe_fds[2];
	pid_t owner, other;
	char byte;

	CU_ASSERT_EQUAL_FATAL(pipe(pipe_fds), 0);
	snprintf(first.path, sizeof(first.path), "/tmp/trace-over-%d", (int)getpid());
	setenv("TRACER_SOCKET", first.path, 1);
	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	owner = live_elsewhere(&program);
	other = fork();
	if (other == 0) {
		struct clock_sample start = clock_take_sample();
		struct trace_error error;

		first.bench = bench_new(NULL);
		first.options = (struct users_options){ .selection = &first.bench->selection };
		first.users = users_new(&first.options, &error);
		users_begin(first.users, first.bench->recording->drain, first.bench->writer, &start);
		byte = (char)daemon_programs(&first);
		if (write(pipe_fds[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	CU_ASSERT_EQUAL(read(pipe_fds[0], &byte, 1), 1);
	CU_ASSERT_EQUAL(byte, 1);
	daemon_begin(&second, "over");
	users_dispatch(second.users);
	CU_ASSERT_EQUAL(daemon_programs(&second), 0);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	for (int i = 0; i < 100 && daemon_programs(&second) == 0; i++, usleep(1000))
		users_dispatch(second.users);
	CU_ASSERT_EQUAL(daemon_programs(&second), 1);
	close(connect_to(second.path)); /* it listens now */
	kill(owner, SIGKILL);
	waitpid(owner, NULL, 0);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	daemon_free(&second);
	fake_program_free(&program);
}

static void who_is_slow_to_speak_is_heard(void)
{
	offer_among_silent_ones(200, 2);
}

static void who_says_nothing_keeps_nobody_out(void)
{
	offer_among_silent_ones(1500, 2);
}

static bool is_awake(const struct daemon_of_users *daemon, int timeout_ms)
{
	return poll(&(struct pollfd){ .fd = users_fd(daemon->users), .events = POLLIN }, 1, timeout_ms) > 0;
}

/* Somebody waits at the socket who cannot be let in: that keeps nobody awake. */
static void without_descriptors_the_daemon_waits_and_hears_later(void)
{
	static const struct user_offer offer = { USER_MEMORY_MAGIC, USER_MEMORY_VERSION, 1 };
	struct rlimit limit, before;
	struct daemon_of_users daemon;
	struct users_status status;
	int connection, fds[1000], nr = 0;

	daemon_begin(&daemon, "none-left");
	while (is_awake(&daemon, 0)) {
		users_dispatch(daemon.users);
		users_look(daemon.users);
	}
	getrlimit(RLIMIT_NOFILE, &before);
	connection = connect_to(daemon.path);
	limit = before;
	limit.rlim_cur = (rlim_t)connection + 20;
	setrlimit(RLIMIT_NOFILE, &limit);
	while (nr < 1000 && (fds[nr] = dup(connection)) >= 0)
		nr++;
	users_dispatch(daemon.users);
	users_look(daemon.users);
	CU_ASSERT_FALSE(is_awake(&daemon, 0));
	CU_ASSERT_TRUE(is_awake(&daemon, 2000)); /* it tries again */
	users_dispatch(daemon.users);
	while (nr > 0)
		close(fds[--nr]);
	setrlimit(RLIMIT_NOFILE, &before);
	CU_ASSERT_EQUAL(send(connection, &offer, sizeof(offer), MSG_NOSIGNAL), (ssize_t)sizeof(offer)); /* without its memory */
	for (int i = 0; i < 10; i++) {
		users_look(daemon.users);
		is_awake(&daemon, 200);
		users_dispatch(daemon.users);
	}
	users_get_status(daemon.users, &status);
	CU_ASSERT_EQUAL(status.refused, 1);
	close(connection);
	daemon_free(&daemon);
}

static void what_children_count_in_a_memory_without_rings_is_told(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);

	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	program.memory->unready = 3;
	user_program_settle(bench->program);
	CU_ASSERT_EQUAL(user_program_late(bench->program), 3);
	CU_ASSERT_EQUAL(user_program_late(bench->program), 0);
	program.memory->unready += 7; /* of a child that lives on */
	CU_ASSERT_EQUAL(user_program_late(bench->program), 7);
	bench_free(bench);
	fake_program_free(&program);
}

static bool no_hurry(void *context)
{
	return false;
}

/* Neither the program nor the kernel has a ring here: the trace itself must say that something is missing. */
static void events_that_no_ring_can_count_are_in_the_trace(void)
{
	char path[80], trace_path[] = "/tmp/test_user_daemon.XXXXXX";
	struct selection selection = { 0 };
	struct users_options users_options = { .selection = &selection };
	struct recording_options options = { .level = 1 };
	struct recording_status status;
	struct recording *recording;
	struct fake_program program;
	struct trace_error error;
	struct trace *trace;
	int fd = mkstemp(trace_path);
	pid_t child;

	snprintf(path, sizeof(path), "/tmp/trace-noring-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	child = live_elsewhere(&program);
	options.users = users_new(&users_options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(options.users);
	recording = recording_begin(NULL, fd, &options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(recording);
	program.memory->unready += 5;
	CU_ASSERT_EQUAL(recording_end(recording, no_hurry, NULL, &error), 0);
	recording_get_status(recording, &status);
	CU_ASSERT_EQUAL(status.lost, 5);
	recording_free(recording);
	users_free(options.users);
	trace = trace_open(trace_path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_get_info(trace)->lost, 5);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	fake_program_free(&program);
	close(fd);
	unlink(trace_path);
	strcat(path, ".lock");
	unlink(path);
}

static void add_text(void *context, const char *text)
{
	strcat(strcat(context, text), "\n");
}

/* Patterns that found nothing are told; those that did, take away or stand for all are not. */
static void patterns_that_match_nothing_are_told(void)
{
	struct daemon_of_users daemon;
	struct fake_program program;
	char text[1000] = "";
	struct trace_error error;
	pid_t child;

	daemon_begin(&daemon, "lack");
	users_tell_lack(daemon.users, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, "");
	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	program.memory->unregistered = 3;
	CU_ASSERT_EQUAL(select_add(&daemon.bench->selection, "shop:p*,x::,shop:nothing,-shop:debug*,shop:p?id", &error), 0);
	users_select(daemon.users, &daemon.bench->selection);
	child = live_elsewhere(&program);
	users_switch_off(daemon.users); /* which finds it */
	users_tell_lack(daemon.users, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, "x::: no program had such an event\nshop:nothing: no program had such an event\n"
				     "3 tracepoints of programs: they found no room among the 16383 events that a program can have\n");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	daemon_free(&daemon);
	fake_program_free(&program);
}

/* Its ids are all in use: the program's event is not recorded, and the trace says that there was one. */
static void events_that_the_trace_cannot_describe_are_told(void)
{
	static struct trace_field field = { .name = "n", .offset = 4, .bytes = 4, .kind = TRACE_KIND_DEC };
	struct trace_event_type type = { .fields = &field, .nr_fields = 1, .fixed_bytes = 8, .classic = "NONE", .text = "", .doc = "", .program = "NONE", .source = "",
					 .category = TRACE_CATEGORY_USER, .flags = TRACE_EVENT_ON | TRACE_EVENT_TID };
	struct daemon_of_users daemon;
	struct fake_program program;
	char text[1000] = "", name[32];
	uint16_t id, last = 0;
	pid_t child;

	daemon_begin(&daemon, "full");
	type.name = name;
	for (int i = 0; snprintf(name, sizeof(name), "many:%d", i) && trace_writer_event_type(daemon.bench->writer, &type, &id, NULL) == 0; i++)
		last = id;
	CU_ASSERT_EQUAL(last, 65535);
	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	child = live_elsewhere(&program);
	users_switch_off(daemon.users); /* which finds it */
	users_tell_lack(daemon.users, add_text, text);
	CU_ASSERT_STRING_EQUAL(text, "1 tracepoints of programs: there are more different events of programs than a trace can have: 65280\n");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	daemon_free(&daemon);
	fake_program_free(&program);
}

/* When as many came at once as can wait, others may have been turned away. */
static void a_crowd_is_told(void)
{
	struct daemon_of_users daemon;
	size_t most = user_socket_backlog();
	char text[1000] = "";

	daemon_begin(&daemon, "crowd");
	for (int round = 0; round < 2; round++) { /* one less than fit, then as many */
		for (size_t i = 0; i < most + (size_t)round; i++)
			close(connect_to(daemon.path));
		for (size_t i = 0; i < most / 16; i++)
			users_dispatch(daemon.users);
		users_tell_lack(daemon.users, add_text, text);
		CU_ASSERT_EQUAL(strstr(text, "could not be heard") != NULL, round == 1);
	}
	daemon_free(&daemon);
}

static const struct unit_case cases[] = {
	{ "without_descriptors_the_daemon_waits_and_hears_later", without_descriptors_the_daemon_waits_and_hears_later },
	{ "events_that_no_ring_can_count_are_in_the_trace", events_that_no_ring_can_count_are_in_the_trace },
	{ "patterns_that_match_nothing_are_told", patterns_that_match_nothing_are_told },
	{ "events_that_the_trace_cannot_describe_are_told", events_that_the_trace_cannot_describe_are_told },
	{ "a_crowd_is_told", a_crowd_is_told },
	{ "events_come_back_with_fields_thread_cpu_and_program", events_come_back_with_fields_thread_cpu_and_program },
	{ "scopes_are_two_events_of_one_name", scopes_are_two_events_of_one_name },
	{ "ticks_become_times_within_a_microsecond", ticks_become_times_within_a_microsecond },
	{ "times_of_the_system_clock_stay_as_they_are", times_of_the_system_clock_stay_as_they_are },
	{ "what_finds_no_room_is_counted", what_finds_no_room_is_counted },
	{ "what_was_before_the_recording_is_not_part_of_it", what_was_before_the_recording_is_not_part_of_it },
	{ "recordings_follow_one_another_and_leave_the_events_off", recordings_follow_one_another_and_leave_the_events_off },
	{ "patterns_switch_events_and_what_came_before_is_filtered", patterns_switch_events_and_what_came_before_is_filtered },
	{ "selections_say_which_events_of_programs", selections_say_which_events_of_programs },
	{ "a_program_that_dies_in_a_record_loses_that_record_only", a_program_that_dies_in_a_record_loses_that_record_only },
	{ "memories_that_are_not_as_they_should_be_are_refused", memories_that_are_not_as_they_should_be_are_refused },
	{ "memories_that_could_shrink_are_refused", memories_that_could_shrink_are_refused },
	{ "memories_of_huge_pages_are_refused", memories_of_huge_pages_are_refused },
	{ "files_that_are_no_memory_are_refused", files_that_are_no_memory_are_refused },
	{ "a_program_belongs_to_one_daemon_at_a_time", a_program_belongs_to_one_daemon_at_a_time },
	{ "nonsense_in_rings_stays_in_its_streams", nonsense_in_rings_stays_in_its_streams },
	{ "records_that_are_none_are_a_loss_of_their_own_kind", records_that_are_none_are_a_loss_of_their_own_kind },
	{ "nonsense_in_the_registry_stays_in_its_program", nonsense_in_the_registry_stays_in_its_program },
	{ "memory_that_changes_while_it_is_read_breaks_nothing", memory_that_changes_while_it_is_read_breaks_nothing },
	{ "the_memory_is_found_among_all_that_a_process_maps", the_memory_is_found_among_all_that_a_process_maps },
	{ "who_could_not_be_heard_is_found_at_the_end", who_could_not_be_heard_is_found_at_the_end },
	{ "a_second_daemon_takes_over_when_the_first_ends", a_second_daemon_takes_over_when_the_first_ends },
	{ "who_is_slow_to_speak_is_heard", who_is_slow_to_speak_is_heard },
	{ "who_says_nothing_keeps_nobody_out", who_says_nothing_keeps_nobody_out },
	{ "what_children_count_in_a_memory_without_rings_is_told", what_children_count_in_a_memory_without_rings_is_told },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	char path[64];

	/* A world of its own: no daemon that runs on this machine finds the programs. */
	snprintf(path, sizeof(path), "/tmp/trace-offers-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	message_init("test_user_daemon", true);
	return unit_main("user daemon", cases, argc, argv);
}
