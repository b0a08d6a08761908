/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_flight.c - the flight recorder beside programs that the test plays: a snapshot holds their latest events, and knows how many were before
 * them, to the event; whoever died, came late, or writes nonsense.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <trace/reader.h>

#include "fake_program.h"
#include "flight.h"
#include "message.h"
#include "options.h"
#include "recording.h"
#include "../daemon/session.h"
#include "user_clock.h"
#include "users.h"

static const uint16_t one_number[] = { USER_FIELD_SIGNED, 0 };

/* ---- a flight ---- */

/** struct plane - a flight recorder of programs alone, with a socket of its own */
struct plane {
	struct selection selection;
	struct users_options options;
	struct users *users;
	struct flight *flight;
};

static void plane_begin(struct plane *plane, const char *events, size_t dead_bytes, size_t dead_max)
{
	struct trace_error error;

	memset(plane, 0, sizeof(*plane));
	if (events && select_add(&plane->selection, events, &error))
		abort();
	plane->options = (struct users_options){ .selection = &plane->selection, .flight = true, .dead_bytes = dead_bytes, .dead_max = dead_max };
	plane->users = users_new(&plane->options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(plane->users);
	plane->flight = flight_begin(NULL, plane->users, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(plane->flight);
}

static void plane_end(struct plane *plane)
{
	flight_free(plane->flight);
	users_free(plane->users);
}

/* What the daemon's loop does when something came: until nothing does. */
static void plane_look(struct plane *plane)
{
	struct pollfd ready = { .fd = users_fd(plane->users), .events = POLLIN };

	while (poll(&ready, 1, 0) == 1) {
		users_dispatch(plane->users);
		users_look(plane->users);
	}
}

static size_t plane_programs(const struct plane *plane)
{
	struct users_status status;

	users_get_status(plane->users, &status);
	return status.programs;
}

static void offer(const struct fake_program *program)
{
	static const struct user_offer message = { USER_MEMORY_MAGIC, USER_MEMORY_VERSION, 1 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct iovec vector = { (void *)(uintptr_t)&message, sizeof(message) };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct msghdr header = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes) };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", getenv("TRACER_SOCKET"));
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &program->fd, sizeof(int));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 || sendmsg(fd, &header, MSG_NOSIGNAL) != (ssize_t)sizeof(message))
		abort();
	close(fd);
}

/* A program that this process plays, heard by the flight recorder. */
static struct fake_program board(struct plane *plane, enum subbuf_clock clock, bool is_old)
{
	struct fake_program program = fake_program_new(clock, FAKE_SEALS);

	if (is_old)
		program.memory->features = 0;
	offer(&program);
	plane_look(plane);
	return program;
}

/** struct found - in a snapshot. @breaks: events whose number is not one more than the last of their stream. @first: number of the first one */
struct found {
	uint64_t events;
	uint64_t others; /* of "good:event" */
	uint64_t breaks;
	uint64_t first;
	uint64_t last;
	uint64_t announced;
	uint64_t marks;
	uint64_t stored;
	uint64_t overwritten;
	uint64_t discarded;
	uint64_t filtered;
	uint64_t lost;
	uint64_t gaps;
	uint64_t late_gaps; /* that end after the first event of their stream */
	uint64_t late_discards; /* the same, and more than what was overwritten: the daemon was held up while it closed a sub-buffer */
	int64_t worst;	    /* how far a time is from where it should be, as times[] says */
	struct flight_result result;
};

enum { MAX_STREAMS = 64, MAX_TIMES = 200000 };
static uint64_t times[MAX_TIMES]; /* before number n was recorded, if not 0 */

static void look_at_event(struct found *found, const struct trace_event *event, int64_t last[MAX_STREAMS], uint64_t first_ns[MAX_STREAMS])
{
	uint32_t stream = event->stream - USER_FIRST_STREAM;
	int64_t n;

	found->announced += event->id == TRACE_EV_user_stream;
	found->marks += event->id == TRACE_EV_trace_mark;
	if (event->id < TRACE_EV_MAX)
		return;
	found->others += !strcmp(event->type->name, "good:event");
	if (strcmp(event->type->name, "shop:paid") != 0 || stream >= MAX_STREAMS)
		return;
	n = (int64_t)trace_event_u64(event, &event->type->fields[0]);
	found->first = found->events ? found->first : (uint64_t)n;
	found->last = (uint64_t)n;
	found->events++;
	found->breaks += last[stream] >= 0 && n != last[stream] + 1;
	last[stream] = n;
	if (!first_ns[stream])
		first_ns[stream] = event->ts_ns;
	if (n < MAX_TIMES && times[n]) {
		int64_t off = (int64_t)(event->ts_ns - times[n]);

		if (off < 0)
			off = -off;
		found->worst = off > found->worst ? off : found->worst;
	}
}

static struct found read_trace(const char *path)
{
	struct found found = { 0 };
	struct trace_error error = { 0 };
	struct trace *trace = trace_open(path, &error);
	int64_t last[MAX_STREAMS];
	uint64_t first_ns[MAX_STREAMS] = { 0 };
	struct trace_cursor *cursor;
	const struct trace_event *event;

	memset(last, 0xff, sizeof(last));
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_verify(trace, &error), 0);
	if (error.code)
		fprintf(stderr, "%s\n", error.message);
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor)))
		look_at_event(&found, event, last, first_ns);
	trace_cursor_free(cursor);
	for (size_t i = 0; i < trace_nr_streams(trace); i++) {
		const struct trace_stream_stats *stats = trace_get_stream(trace, i);

		found.stored += stats->stored;
		found.overwritten += stats->overwritten;
		found.discarded += stats->discarded;
		found.filtered += stats->filtered;
	}
	for (size_t i = 0; i < trace_nr_gaps(trace); i++) {
		const struct trace_gap *gap = trace_get_gap(trace, i);
		uint32_t stream = gap->stream - USER_FIRST_STREAM;

		found.gaps++;
		if (stream < MAX_STREAMS && first_ns[stream] && gap->end_ns > first_ns[stream]) {
			found.late_gaps += gap->cause == TRACE_GAP_OVERWRITTEN;
			found.late_discards += gap->cause == TRACE_GAP_DISCARDED;
		}
	}
	found.lost = trace_get_info(trace)->lost;
	trace_close(trace);
	return found;
}

static struct found snapshot(struct plane *plane)
{
	int fd = memfd_create("snapshot", MFD_CLOEXEC);
	struct trace_error error = { 0 };
	struct flight_result result;
	struct found found;
	char path[64];

	CU_ASSERT_EQUAL(flight_snapshot(plane->flight, fd, 1, &result, &error), 0);
	if (error.code)
		fprintf(stderr, "%s\n", error.message);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	found = read_trace(path);
	found.result = result;
	close(fd);
	return found;
}

static void record(struct fake_program *program, uint32_t cpu, uint16_t id, int from, int to)
{
	for (int i = from; i < to; i++)
		fake_program_number(program, cpu, id, i);
}

/* ---- what a snapshot holds ---- */

static void a_snapshot_holds_the_latest_events_of_programs(void)
{
	struct plane plane;
	struct fake_program program;
	struct found found;
	uint16_t id;

	plane_begin(&plane, NULL, 0, 0);
	program = board(&plane, SUBBUF_CLOCK_TSC, false);
	CU_ASSERT_EQUAL(program.memory->overwrite, 1);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	record(&program, 2, id, 0, 100);
	found = snapshot(&plane);
	CU_ASSERT_EQUAL(found.events, 100);
	CU_ASSERT_EQUAL(found.breaks + found.lost + found.overwritten + found.discarded, 0);
	CU_ASSERT_EQUAL(found.announced, 1);
	record(&program, 2, id, 100, 100000);
	for (int i = 0; i < 3; i++) { /* to look takes nothing away */
		found = snapshot(&plane);
		CU_ASSERT_TRUE(found.events > 1000);
		CU_ASSERT_EQUAL(found.last, 99999);
		CU_ASSERT_EQUAL(found.first, found.overwritten);
		CU_ASSERT_EQUAL(found.events + found.overwritten, 100000);
		CU_ASSERT_EQUAL(found.lost, found.overwritten);
		CU_ASSERT_EQUAL(found.result.overwritten, found.overwritten);
		CU_ASSERT_EQUAL(found.result.events, found.events + 1);
		CU_ASSERT_EQUAL(found.breaks + found.discarded + found.late_gaps, 0);
		CU_ASSERT_EQUAL(found.gaps, 1);
		CU_ASSERT_EQUAL(found.announced, 1);
	}
	plane_end(&plane);
	CU_ASSERT_EQUAL(program.memory->overwrite, 0);
	CU_ASSERT_EQUAL(program.memory->daemon_pid, 0);
	CU_ASSERT_FALSE(fake_program_flag(&program, id));
	fake_program_free(&program);
}

/* What the daemon does when a client asks for a dump into @file. Returns the client's end. */
static int ask_for_dump(struct session *session, int file)
{
	struct iovec vector = { (void *)(uintptr_t)"dump", 4 };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct msghdr header = { .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes) };
	int ends[2];

	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &file, sizeof(int));
	CU_ASSERT_EQUAL(sendmsg(ends[0], &header, 0), 4);
	requests_answer(session, ends[1]);
	return ends[0];
}

static const char *answer_of(int client)
{
	static char answer[4096];
	ssize_t bytes = recv(client, answer, sizeof(answer) - 1, 0);

	answer[bytes > 0 ? bytes : 0] = '\0';
	close(client);
	return answer;
}

/* Whoever reads a pipe may never come. */
static void a_snapshot_is_written_to_what_takes_it_at_once(void)
{
	struct options options = { .session.level = 1 };
	struct session session = { .options = &options };
	struct plane plane;
	int ends[2], memory;

	plane_begin(&plane, NULL, 0, 0);
	session.flight = plane.flight;
	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer_of(ask_for_dump(&session, ends[1])), "error\nthis daemon writes snapshots to files only"));
	close(ends[0]);
	close(ends[1]);
	memory = memfd_create("snapshot", MFD_CLOEXEC);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer_of(ask_for_dump(&session, memory)), "older ones were overwritten"));
	CU_ASSERT(lseek(memory, 0, SEEK_END) > 0);
	close(memory);
	plane_end(&plane);
}

static void a_reset_forgets_and_counts_from_there(void)
{
	struct plane plane;
	struct fake_program program;
	struct found found;
	uint16_t id;

	plane_begin(&plane, NULL, 0, 0);
	program = board(&plane, SUBBUF_CLOCK_TSC, false);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	record(&program, 0, id, 0, 50000);
	flight_reset(plane.flight);
	found = snapshot(&plane);
	CU_ASSERT_EQUAL(found.events + found.overwritten + found.lost, 0);
	for (int round = 0; round < 8; round++) { /* from few to more than there is room for, from everywhere in the ring */
		int nr = 700 << round;

		record(&program, 0, id, 0, nr);
		found = snapshot(&plane);
		CU_ASSERT_EQUAL(found.events + found.overwritten, (uint64_t)nr);
		CU_ASSERT_EQUAL(found.first, found.overwritten);
		CU_ASSERT_EQUAL(found.last, (uint64_t)nr - 1);
		flight_reset(plane.flight);
	}
	plane_end(&plane);
	fake_program_free(&program);
}

/* Who is found and not heard was there before; what it did before is no part of it. */
static void what_was_before_the_flight_is_not_part_of_it(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	struct plane plane;
	struct found found;
	pid_t child;

	record(&program, 1, id, 0, 20000); /* more than there is room for */
	program.memory->unready = 3;
	child = fork();
	if (!child)
		for (;;)
			pause();
	usleep(1000);
	plane_begin(&plane, NULL, 0, 0); /* finds it in the child */
	CU_ASSERT_EQUAL(plane_programs(&plane), 1);
	record(&program, 1, id, 0, 30000);
	program.memory->unready = 5;
	found = snapshot(&plane);
	CU_ASSERT_TRUE(found.events > 1000);
	CU_ASSERT_EQUAL(found.events + found.overwritten, 30000);
	CU_ASSERT_EQUAL(found.first, found.overwritten);
	CU_ASSERT_EQUAL(found.discarded, 2);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	plane_end(&plane);
	fake_program_free(&program);
}

static void events_are_chosen_and_the_rest_is_filtered(void)
{
	struct plane plane;
	struct fake_program program;
	struct found found;
	uint16_t paid, other;

	plane_begin(&plane, "shop:*", 0, 0);
	program = board(&plane, SUBBUF_CLOCK_TSC, false);
	other = fake_program_event(&program, "bank", "paid", USER_ROLE_EVENT, one_number);
	paid = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	record(&program, 0, other, 0, 10); /* nobody has looked at it yet */
	record(&program, 0, paid, 0, 10);
	usleep(20000);
	plane_look(&plane); /* some ms after a program has come */
	CU_ASSERT_FALSE(fake_program_flag(&program, other));
	CU_ASSERT_TRUE(fake_program_flag(&program, paid));
	record(&program, 0, other, 0, 10);
	found = snapshot(&plane);
	CU_ASSERT_EQUAL(found.events, 10);
	CU_ASSERT_EQUAL(found.filtered, 10);
	CU_ASSERT_EQUAL(found.lost, 0);
	plane_end(&plane);
	fake_program_free(&program);
}

/* ---- the clock, and peace ---- */

static void times_are_right_though_nobody_looked_for_a_second(void)
{
	struct subbuf_writer ns = { .clock = SUBBUF_CLOCK_MONOTONIC };
	struct plane plane;
	struct fake_program program;
	struct found found;
	uint16_t id;

	for (int clock = SUBBUF_CLOCK_MONOTONIC; clock <= SUBBUF_CLOCK_TSC; clock++) {
		plane_begin(&plane, NULL, 0, 0);
		program = board(&plane, (enum subbuf_clock)clock, false);
		id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
		for (int i = 0; i < 4000; i++) {
			times[i] = fake_now(&ns);
			fake_program_number(&program, 0, id, i);
			if (fake_now(&ns) - times[i] > 1000)
				times[i] = 0; /* disturbed */
			usleep(i % 100 == 0 ? 20000 : 10);
		}
		found = snapshot(&plane);
		memset(times, 0, sizeof(times));
		CU_ASSERT_TRUE(found.events > 1000);
		CU_ASSERT_EQUAL(found.last, 3999);
		CU_ASSERT_TRUE(found.worst < 2000);
		if (found.worst >= 2000)
			fprintf(stderr, "off by %lld ns\n", (long long)found.worst);
		plane_end(&plane);
		fake_program_free(&program);
	}
}

/* A clock that goes wrong between two looks: those who noted it make it right, and who lies is not heard. */
static void a_program_s_pairs_straighten_the_clock(void)
{
	struct user_clock_knot pairs[] = { { 9000, 50 }, { 5000, 9000 }, { 50, 500 }, { 20000, 30000 }, { 6000, 20000 }, { 7000, 8000 } };
	struct user_clock *clock = calloc(1, sizeof(*clock));
	uint64_t ns = 0;

	user_clock_add(clock, &(struct clock_sample){ .tsc = 1000, .monotonic_ns = 1000 });
	user_clock_add(clock, &(struct clock_sample){ .tsc = 11000, .monotonic_ns = 11000 });
	CU_ASSERT_TRUE(user_clock_ns(clock, 5000, &ns));
	CU_ASSERT_EQUAL(ns, 5000);
	user_clock_merge(clock, pairs, sizeof(pairs) / sizeof(pairs[0]));
	CU_ASSERT_EQUAL(clock->nr, 3);
	CU_ASSERT_TRUE(user_clock_ns(clock, 5000, &ns));
	CU_ASSERT_EQUAL(ns, 9000);
	CU_ASSERT_TRUE(user_clock_ns(clock, 3000, &ns));
	CU_ASSERT_EQUAL(ns, 5000);
	CU_ASSERT_TRUE(user_clock_ns(clock, 8000, &ns));
	CU_ASSERT_EQUAL(ns, 10000);
	CU_ASSERT_EQUAL(user_clock_last(clock), 11000);
	free(clock);
}

/* After its first seconds nothing wakes the daemon, though the rings come round again and again. */
static void nobody_is_woken(void)
{
	struct plane plane;
	struct fake_program program;
	struct pollfd ready;
	int looks = 0;
	uint16_t id;

	plane_begin(&plane, NULL, 0, 0);
	program = board(&plane, SUBBUF_CLOCK_TSC, false);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	ready = (struct pollfd){ .fd = users_fd(plane.users), .events = POLLIN };
	while (poll(&ready, 1, 3000) == 1) { /* looks after 5, 10, 20 ms ... and a last one */
		users_dispatch(plane.users);
		users_look(plane.users);
		if (++looks > 15)
			break;
	}
	CU_ASSERT_TRUE(looks >= 8 && looks <= 12);
	for (int i = 0; i < 20; i++) {
		record(&program, 0, id, 0, 20000);
		CU_ASSERT_EQUAL(poll(&ready, 1, 10), 0);
	}
	plane_end(&plane);
	fake_program_free(&program);
}

/* ---- writers that do not stop ---- */

struct runner {
	struct fake_program *program;
	uint32_t cpu;
	uint16_t id;
	atomic_bool stop;
	int written;
};

static void *run(void *argument)
{
	struct runner *runner = argument;

	while (!atomic_load(&runner->stop) && runner->written < INT32_MAX)
		if (fake_program_number(runner->program, runner->cpu, runner->id, runner->written))
			runner->written++;
	return NULL;
}

/* Was nothing lost behind its first event? */
static bool is_whole(const struct found *found)
{
	return !found->late_gaps && !found->late_discards;
}

/* What is there is one piece, and before it there was exactly as much as was overwritten. */
static void snapshots_beside_running_programs_are_exact(void)
{
	struct plane plane;
	struct fake_program program;
	struct found found;
	struct runner runner = { .program = &program };
	pthread_t thread;
	uint64_t events = 0;
	int whole = 0;

	plane_begin(&plane, NULL, 0, 0);
	program = board(&plane, SUBBUF_CLOCK_TSC, false);
	runner.id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	pthread_create(&thread, NULL, run, &runner);
	for (int i = 0; i < 40 || (!whole && i < 1000); i++) { /* who has a CPU when is not ours to say */
		usleep(3000);
		found = snapshot(&plane);
		events += found.events;
		if (is_whole(&found)) {
			whole++;
			CU_ASSERT_EQUAL(found.breaks, 0);
			CU_ASSERT_EQUAL(found.first, found.overwritten);
		} else { /* it came round while it was read */
			CU_ASSERT_TRUE(found.last + 1 <= found.events + found.overwritten);
		}
		if (i % 10 == 9) { /* and after a reset */
			struct found first, second;

			flight_reset(plane.flight);
			first = snapshot(&plane);
			usleep(2000);
			second = snapshot(&plane);
			if (first.events && is_whole(&first) && is_whole(&second))
				CU_ASSERT_EQUAL(first.first - first.overwritten, second.first - second.overwritten);
			atomic_store(&runner.stop, true);
			pthread_join(thread, NULL);
			flight_reset(plane.flight);
			runner.written = 0;
			atomic_store(&runner.stop, false);
			pthread_create(&thread, NULL, run, &runner);
		}
	}
	atomic_store(&runner.stop, true);
	pthread_join(thread, NULL);
	CU_ASSERT_TRUE(events > 10000);
	CU_ASSERT_TRUE(whole > 0);
	plane_end(&plane);
	fake_program_free(&program);
}

/* A thread that is stopped inside a record: its sub-buffer cannot be read now. The rest can, and it is read when it has gone on. */
static void what_a_stopped_writer_keeps_is_counted(void)
{
	struct plane plane;
	struct fake_program program;
	struct subbuf_reservation reservation = { 0 };
	struct subbuf_writer writer;
	struct found found;
	uint16_t id;

	plane_begin(&plane, NULL, 0, 0);
	program = board(&plane, SUBBUF_CLOCK_TSC, false);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	record(&program, 0, id, 0, 10);
	writer = fake_program_writer(&program, 0);
	CU_ASSERT_TRUE(subbuf_reserve(&writer, 16, &reservation));
	record(&program, 0, id, 10, 20);
	found = snapshot(&plane); /* closes the sub-buffer */
	CU_ASSERT_EQUAL(found.events, 0);
	CU_ASSERT_EQUAL(found.discarded, 20);
	record(&program, 0, id, 20, 30);
	found = snapshot(&plane);
	CU_ASSERT_EQUAL(found.events, 10);
	CU_ASSERT_EQUAL(found.first, 20);
	CU_ASSERT_EQUAL(found.discarded, 20);
	CU_ASSERT_EQUAL(found.overwritten, 0);
	subbuf_cancel(&writer, &reservation);
	found = snapshot(&plane);
	CU_ASSERT_EQUAL(found.events, 30);
	CU_ASSERT_EQUAL(found.discarded + found.overwritten, 0);
	plane_end(&plane);
	fake_program_free(&program);
}

/* ---- the dead ---- */

/* A program of its own that records @nr events, and one that it never finishes, and is killed. */
static void live_and_die(struct plane *plane, int nr, bool in_a_record)
{
	pid_t child = fork();
	int status;

	if (!child) {
		struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
		uint16_t id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);

		offer(&program);
		while (!__atomic_load_n(&program.memory->overwrite, __ATOMIC_ACQUIRE))
			usleep(100);
		record(&program, 3, id, 0, nr);
		if (in_a_record)
			fake_program_write(&program, 3, id, &(struct { uint32_t tid; int32_t n; }){ 42, 0 }, 8, true);
		kill(getpid(), SIGKILL);
	}
	do {
		plane_look(plane);
		usleep(200);
	} while (waitpid(child, &status, WNOHANG) == 0);
	plane_look(plane);
}

static void what_the_dead_left_is_kept(void)
{
	struct plane plane;
	struct found found;

	plane_begin(&plane, NULL, 0, 0);
	live_and_die(&plane, 100, false);
	live_and_die(&plane, 50000, true);
	live_and_die(&plane, 7, true);
	CU_ASSERT_EQUAL(plane_programs(&plane), 0);
	for (int i = 0; i < 2; i++) {
		found = snapshot(&plane);
		CU_ASSERT_EQUAL(found.announced, 3);
		CU_ASSERT_EQUAL(found.breaks + found.late_gaps, 0);
		CU_ASSERT_TRUE(found.events > 1107);
		CU_ASSERT_EQUAL(found.events + found.overwritten, 50107);
		CU_ASSERT_EQUAL(found.discarded, 2); /* what they were in when they died */
	}
	flight_reset(plane.flight);
	found = snapshot(&plane);
	CU_ASSERT_EQUAL(found.events + found.lost + found.announced, 0);
	plane_end(&plane);
}

/* Of more dead than there is room for the latest are kept; the others are counted, and a mark says so. */
static void the_dead_are_kept_within_bounds(void)
{
	struct plane plane;
	struct found found;
	uint64_t events = 0;

	plane_begin(&plane, NULL, 100000, 0);
	for (int i = 0; i < 12; i++) {
		live_and_die(&plane, 1000 + i, false);
		events += (uint64_t)(1000 + i);
	}
	found = snapshot(&plane);
	CU_ASSERT_EQUAL(found.last, 1010);
	CU_ASSERT_TRUE(found.events >= 4000 && found.events < 8000);
	CU_ASSERT_EQUAL(found.events + found.overwritten, events);
	CU_ASSERT_EQUAL(found.discarded, 0);
	plane_end(&plane);
	plane_begin(&plane, NULL, 0, 5);
	for (int i = 0; i < 300; i++) /* more than are looked through at once */
		live_and_die(&plane, 10, false);
	found = snapshot(&plane);
	CU_ASSERT_EQUAL(found.events, 50);
	CU_ASSERT_EQUAL(found.events + found.overwritten, 3000);
	CU_ASSERT_EQUAL(found.marks, 1);
	CU_ASSERT_EQUAL(found.lost, 2950);
	plane_end(&plane);
}

/* ---- others ---- */

/* An older libtracer cannot overwrite: a snapshot holds its oldest events, and makes room for others. */
static void programs_that_cannot_overwrite_keep_their_oldest(void)
{
	struct plane plane;
	struct fake_program program;
	struct found found;
	uint64_t kept;
	uint16_t id;

	plane_begin(&plane, NULL, 0, 0);
	program = board(&plane, SUBBUF_CLOCK_TSC, true);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	record(&program, 0, id, 0, 20000);
	found = snapshot(&plane);
	kept = found.events;
	CU_ASSERT_TRUE(kept > 1000 && kept < 10000);
	CU_ASSERT_EQUAL(found.first, 0);
	CU_ASSERT_EQUAL(found.breaks, 0);
	CU_ASSERT_EQUAL(found.discarded, 20000 - kept);
	record(&program, 0, id, 20000, 20100);
	found = snapshot(&plane);
	CU_ASSERT_EQUAL(found.events, 100);
	CU_ASSERT_EQUAL(found.first, 20000);
	CU_ASSERT_EQUAL(found.discarded, 20000 - kept);
	plane_end(&plane);
	fake_program_free(&program);
}

static bool nobody_hurries(void *context)
{
	return false;
}

/* A recording after a flight that ended, or was killed: it has the program's events from its beginning, and all of them. */
static void a_recording_follows(bool killed)
{
	struct recording_options options = { .level = 1 };
	struct users_options users_options = { 0 };
	struct fake_program program;
	struct recording *recording;
	struct selection selection = { 0 };
	struct trace_error error;
	struct users *users;
	struct plane plane;
	struct found found;
	char path[64];
	int fd = memfd_create("trace", MFD_CLOEXEC);
	uint16_t id;
	pid_t child;

	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	child = fork(); /* who has the memory, too, and can be found */
	if (!child) {
		if (!killed)
			for (;;)
				pause();
		plane_begin(&plane, NULL, 0, 0);
		offer(&program);
		plane_look(&plane);
		for (;;)
			pause();
	}
	if (killed) {
		while (!__atomic_load_n(&program.memory->overwrite, __ATOMIC_ACQUIRE))
			usleep(100);
		record(&program, 0, id, 0, 50000);
		record(&program, 1, id, 0, 3);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		CU_ASSERT_EQUAL(program.memory->overwrite, 1);
		child = fork();
		if (!child)
			for (;;)
				pause();
	} else {
		plane_begin(&plane, NULL, 0, 0);
		record(&program, 0, id, 0, 50000);
		record(&program, 1, id, 0, 3);
		plane_end(&plane);
		CU_ASSERT_EQUAL(program.memory->overwrite, 0);
	}
	users_options.selection = &selection;
	users = users_new(&users_options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(users);
	options.users = users;
	usleep(1000);
	recording = recording_begin(NULL, fd, &options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(recording);
	CU_ASSERT_EQUAL(program.memory->overwrite, 0);
	for (int i = 0; i < 20; i++) {
		record(&program, 0, id, i * 1000, i * 1000 + 1000);
		recording_flush(recording);
	}
	CU_ASSERT_EQUAL(recording_end(recording, nobody_hurries, NULL, &error), 0);
	recording_free(recording);
	users_free(users);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	found = read_trace(path);
	CU_ASSERT_EQUAL(found.events, 20000);
	CU_ASSERT_EQUAL(found.breaks + found.lost, 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fd);
	fake_program_free(&program);
}

static void a_recording_follows_a_flight(void)
{
	a_recording_follows(false);
}

static void a_recording_follows_a_flight_that_was_killed(void)
{
	a_recording_follows(true);
}

/* ---- hostile memory ---- */

/* What it spoils stays in its own streams, and the books hold all the same: trace_verify(). */
static void nonsense_spoils_the_program_s_own_events_only(void)
{
	size_t rings = 4096 + 4096 + FAKE_REGISTRY;
	struct plane plane;

	for (unsigned int seed = 0; seed < 60; seed++) {
		const struct {
			size_t begin, end;
		} places[] = { { rings, rings + 256 }, { rings + 4096, rings + 4096 + 64 }, { rings, rings + 4096 + FAKE_SUBBUF }, { 8192, 8192 + 96 },
			       { 4096 + 512, 8192 } };
		struct fake_program bad, good;
		struct found found;
		uint16_t bad_id, good_id;

		srandom(seed);
		plane_begin(&plane, NULL, 0, 0);
		good = board(&plane, SUBBUF_CLOCK_TSC, false);
		bad = board(&plane, seed % 2 ? SUBBUF_CLOCK_TSC : SUBBUF_CLOCK_MONOTONIC, seed % 5 == 4);
		good_id = fake_program_event(&good, "good", "event", USER_ROLE_EVENT, one_number);
		bad_id = fake_program_event(&bad, "bad", "event", USER_ROLE_EVENT, one_number);
		record(&good, 0, good_id, 0, 2000);
		record(&bad, 0, bad_id, 0, 300 << seed % 6);
		for (int i = 0; i < 3; i++) {
			fake_program_spoil(&bad, places[(seed + (unsigned)i) % 5].begin, places[(seed + (unsigned)i) % 5].end, 1 + (int)(seed % 7));
			found = snapshot(&plane);
			CU_ASSERT_EQUAL(found.others, 2000);
			if (i == 1 && seed % 3 == 0)
				flight_mark(plane.flight, "spoiled");
		}
		flight_reset(plane.flight);
		found = snapshot(&plane);
		CU_ASSERT_EQUAL(found.others, 0);
		plane_end(&plane);
		munmap(bad.data, rings + FAKE_RINGS * (4096 + FAKE_SUBBUF * FAKE_SUBBUFS));
		close(bad.fd);
		fake_program_free(&good);
	}
}

/* A ring that says that it came round, and of which nothing was ever written, is not read: that would take our memory. */
static void holes_are_not_read(void)
{
	struct plane plane;
	struct fake_program program;
	struct subbuf_ring ring;
	struct stat before, after;
	struct found found;
	uint16_t id;

	plane_begin(&plane, NULL, 0, 0);
	program = board(&plane, SUBBUF_CLOCK_TSC, false);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	record(&program, 0, id, 0, 5);
	ring = fake_program_ring(&program, 0);
	ring.control->position += 1ull << 40;
	fstat(program.fd, &before);
	found = snapshot(&plane);
	fstat(program.fd, &after);
	CU_ASSERT_EQUAL(found.events, 0);
	CU_ASSERT_TRUE(found.lost >= 1);
	CU_ASSERT_EQUAL(before.st_blocks, after.st_blocks);
	plane_end(&plane);
	fake_program_free(&program);
}

static const struct unit_case cases[] = {
	{ "a_snapshot_holds_the_latest_events_of_programs", a_snapshot_holds_the_latest_events_of_programs },
	{ "a_snapshot_is_written_to_what_takes_it_at_once", a_snapshot_is_written_to_what_takes_it_at_once },
	{ "a_reset_forgets_and_counts_from_there", a_reset_forgets_and_counts_from_there },
	{ "what_was_before_the_flight_is_not_part_of_it", what_was_before_the_flight_is_not_part_of_it },
	{ "events_are_chosen_and_the_rest_is_filtered", events_are_chosen_and_the_rest_is_filtered },
	{ "times_are_right_though_nobody_looked_for_a_second", times_are_right_though_nobody_looked_for_a_second },
	{ "a_program_s_pairs_straighten_the_clock", a_program_s_pairs_straighten_the_clock },
	{ "nobody_is_woken", nobody_is_woken },
	{ "snapshots_beside_running_programs_are_exact", snapshots_beside_running_programs_are_exact },
	{ "what_a_stopped_writer_keeps_is_counted", what_a_stopped_writer_keeps_is_counted },
	{ "what_the_dead_left_is_kept", what_the_dead_left_is_kept },
	{ "the_dead_are_kept_within_bounds", the_dead_are_kept_within_bounds },
	{ "programs_that_cannot_overwrite_keep_their_oldest", programs_that_cannot_overwrite_keep_their_oldest },
	{ "a_recording_follows_a_flight", a_recording_follows_a_flight },
	{ "a_recording_follows_a_flight_that_was_killed", a_recording_follows_a_flight_that_was_killed },
	{ "nonsense_spoils_the_program_s_own_events_only", nonsense_spoils_the_program_s_own_events_only },
	{ "holes_are_not_read", holes_are_not_read },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	char path[64];
	int result;

	/* A world of its own: no daemon that runs on this machine finds the programs. */
	snprintf(path, sizeof(path), "/tmp/trace-flights-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	message_init("test_user_flight", true);
	result = unit_main("user flight", cases, argc, argv);
	snprintf(path, sizeof(path), "/tmp/trace-flights-%d.lock", (int)getpid());
	unlink(path);
	return result;
}
