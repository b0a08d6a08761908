/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_flight.c - the flight recorder with programs that the test simulates.
 *
 * A snapshot holds their latest events and the exact number of events before them, whichever
 * program connects late.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include "user_flight_case.h"
#include "control_commands.h"
#include "../../daemon/session.h"

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
	for (int i = 0; i < 3; i++) { /* reading removes nothing */
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

/* Does what the daemon does when a client asks for a dump into @file. Returns the client's end. */
static int ask_for_dump(struct session *session, int file)
{
	struct iovec vector = {(void *)(uintptr_t) "dump", 4};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr header = {.msg_iov = &vector,
				.msg_iovlen = 1,
				.msg_control = control.bytes,
				.msg_controllen = sizeof(control.bytes)};
	int ends[2];

	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &file, sizeof(int));
	CU_ASSERT_EQUAL(sendmsg(ends[0], &header, 0), 4);
	control_commands_answer(session, ends[1]);
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

/* A pipe may never be read. */
static void a_snapshot_is_written_only_to_files_that_never_block(void)
{
	struct daemon_options options = {.session.level = 1};
	struct session session = {.options = &options};
	struct plane plane;
	int ends[2], memory;

	plane_begin(&plane, NULL, 0, 0);
	session.flight = plane.flight;
	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer_of(ask_for_dump(&session, ends[1])),
				      "error\nthis daemon writes snapshots to regular files only"));
	close(ends[0]);
	close(ends[1]);
	memory = memfd_create("snapshot", MFD_CLOEXEC);
	CU_ASSERT_PTR_NOT_NULL(strstr(answer_of(ask_for_dump(&session, memory)), "older ones were overwritten"));
	CU_ASSERT(lseek(memory, 0, SEEK_END) > 0);
	close(memory);
	plane_end(&plane);
}

static void a_reset_drops_earlier_events_of_programs(void)
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
	for (int round = 0; round < 8; round++) { /* from few events to more than fit, from everywhere in the ring */
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

/* A program that is found in /proc without an offer was there before the flight. Its earlier events
 * are not part of the flight. */
static void events_before_the_flight_are_not_part_of_it(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	struct plane plane;
	struct found found;
	pid_t child;

	record(&program, 1, id, 0, 20000); /* more than fit */
	program.memory->unready = 3;
	child = fork();
	if (!child)
		for (;;)
			pause();
	usleep(1000);
	plane_begin(&plane, NULL, 0, 0); /* finds the memory in the child */
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
	record(&program, 0, other, 0, 10); /* the daemon has not looked at the event type yet */
	record(&program, 0, paid, 0, 10);
	usleep(20000);
	plane_look(&plane); /* some ms after a program connected */
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

/* A new program records all its events until the daemon has looked at their types. Events that no
 * pattern selected then stay unselected, even if later patterns select them. */
static void events_not_selected_when_recorded_stay_out(void)
{
	struct selection more;
	struct trace_error error;
	struct plane plane;
	struct fake_program program;
	struct found found;
	uint16_t paid;

	plane_begin(&plane, "bank:*", 0, 0);
	program = board(&plane, SUBBUF_CLOCK_TSC, false);
	paid = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	record(&program, 0, paid, 0, 10);
	usleep(20000);
	plane_look(&plane);
	CU_ASSERT_FALSE(fake_program_flag(&program, paid));
	more = plane.selection;
	CU_ASSERT_EQUAL(select_add(&more, "+shop:*", &error), 0);
	clients_select(plane.clients, &more);
	CU_ASSERT_TRUE(fake_program_flag(&program, paid));
	record(&program, 0, paid, 10, 15);
	found = snapshot(&plane);
	CU_ASSERT_EQUAL(found.events, 5);
	CU_ASSERT_EQUAL(found.first, 10);
	CU_ASSERT_EQUAL(found.filtered, 10);
	plane_end(&plane);
	fake_program_free(&program);
}

/* ---- the clock, and an idle daemon ---- */

static void times_are_right_after_a_second_without_a_look(void)
{
	struct plane plane;
	struct fake_program program;
	struct found found;
	uint16_t id;

	for (int clock = SUBBUF_CLOCK_MONOTONIC; clock <= SUBBUF_CLOCK_TSC; clock++) {
		plane_begin(&plane, NULL, 0, 0);
		program = board(&plane, (enum subbuf_clock)clock, false);
		id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
		for (int i = 0; i < 4000; i++) {
			times[i] = writer_now(SUBBUF_CLOCK_MONOTONIC);
			fake_program_number(&program, 0, id, i);
			if (writer_now(SUBBUF_CLOCK_MONOTONIC) - times[i] > 1000)
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

/* The clock's rate changes between two looks of the daemon. The clock pairs that programs noted
 * correct it, and pairs that contradict are ignored. */
static void clock_pairs_of_a_program_correct_the_clock(void)
{
	struct user_clock_knot pairs[] = {{9000, 50},	  {5000, 9000},	 {50, 500},
					  {20000, 30000}, {6000, 20000}, {7000, 8000}};
	struct user_clock *clock = calloc(1, sizeof(*clock));
	uint64_t ns = 0;

	user_clock_add(clock, &(struct clock_sample){.tsc = 1000, .monotonic_ns = 1000});
	user_clock_add(clock, &(struct clock_sample){.tsc = 11000, .monotonic_ns = 11000});
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
	CU_ASSERT_EQUAL(clock->knots[clock->nr - 1].tsc, 11000);
	free(clock);
}

/* After the first seconds of a program nothing wakes the daemon, though its rings are overwritten
 * again and again. */
static void full_rings_do_not_wake_the_daemon(void)
{
	struct plane plane;
	struct fake_program program;
	struct pollfd ready;
	int looks = 0;
	uint16_t id;

	plane_begin(&plane, NULL, 0, 0);
	program = board(&plane, SUBBUF_CLOCK_TSC, false);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	ready = (struct pollfd){.fd = clients_fd(plane.clients), .events = POLLIN};
	while (poll(&ready, 1, 3000) == 1) { /* the daemon looks after 5, 10, 20 ms ..., and one last time */
		clients_dispatch(plane.clients);
		clients_look(plane.clients);
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

/* ---- writers that run all the time ---- */

struct runner {
	struct fake_program *program;
	uint32_t cpu;
	uint16_t id;
	atomic_bool stop;
	atomic_bool naps; /* sleeps now and then */
	int written;
};

static void *run(void *argument)
{
	struct runner *runner = argument;

	while (!atomic_load(&runner->stop) && runner->written < INT32_MAX) {
		if (fake_program_number(runner->program, runner->cpu, runner->id, runner->written))
			runner->written++;
		if (runner->written % 256 == 0 && atomic_load(&runner->naps))
			usleep(200);
	}
	return NULL;
}

/* Does the snapshot hold events (a writer may overwrite them faster than they can be read), and was
 * nothing lost after the first one? */
static bool is_whole(const struct found *found)
{
	return found->events && !found->late_gaps && !found->late_discards;
}

/* The events in the snapshot are consecutive, and exactly as many as are missing before them were
 * overwritten. */
static void snapshots_of_running_programs_are_exact(void)
{
	struct plane plane;
	struct fake_program program;
	struct found found;
	struct runner runner = {.program = &program};
	pthread_t thread;
	uint64_t events = 0;
	int whole = 0;

	plane_begin(&plane, NULL, 0, 0);
	program = board(&plane, SUBBUF_CLOCK_TSC, false);
	runner.id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	pthread_create(&thread, NULL, run, &runner);
	for (int i = 0; i < 40 || ((!whole || events <= 10000) && i < 1000); i++) {
		/* the test cannot control the scheduler: where the writer is always faster, it is
		 * slowed down */
		atomic_store(&runner.naps, i >= 40);
		usleep(3000);
		found = snapshot(&plane);
		events += found.events;
		if (is_whole(&found)) {
			whole++;
			CU_ASSERT_EQUAL(found.breaks, 0);
			CU_ASSERT_EQUAL(found.first, found.overwritten);
		} else { /* it was overwritten while it was read; or nothing had begun */
			CU_ASSERT_TRUE(!found.events || found.last + 1 <= found.events + found.overwritten);
		}
		if (i % 10 == 9) { /* and after a reset */
			struct found first, second;

			flight_reset(plane.flight);
			first = snapshot(&plane);
			usleep(2000);
			second = snapshot(&plane);
			if (is_whole(&first) && is_whole(&second))
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

/* A thread that is stopped within a record: its sub-buffer cannot be read now. All others can, and
 * this one is read when the thread has continued. */
static void events_blocked_by_a_stopped_writer_are_counted(void)
{
	struct plane plane;
	struct fake_program program;
	struct subbuf_reservation reservation = {0};
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

static const struct unit_case cases[] = {
	{"a_snapshot_holds_the_latest_events_of_programs", a_snapshot_holds_the_latest_events_of_programs},
	{"a_snapshot_is_written_only_to_files_that_never_block", a_snapshot_is_written_only_to_files_that_never_block},
	{"a_reset_drops_earlier_events_of_programs", a_reset_drops_earlier_events_of_programs},
	{"events_before_the_flight_are_not_part_of_it", events_before_the_flight_are_not_part_of_it},
	{"events_are_chosen_and_the_rest_is_filtered", events_are_chosen_and_the_rest_is_filtered},
	{"events_not_selected_when_recorded_stay_out", events_not_selected_when_recorded_stay_out},
	{"times_are_right_after_a_second_without_a_look", times_are_right_after_a_second_without_a_look},
	{"clock_pairs_of_a_program_correct_the_clock", clock_pairs_of_a_program_correct_the_clock},
	{"full_rings_do_not_wake_the_daemon", full_rings_do_not_wake_the_daemon},
	{"snapshots_of_running_programs_are_exact", snapshots_of_running_programs_are_exact},
	{"events_blocked_by_a_stopped_writer_are_counted", events_blocked_by_a_stopped_writer_are_counted},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return flight_main("user flight", cases, argc, argv);
}
