/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_flight_hostile.c - the flight recorder with programs that die, that cannot overwrite,
 * or that write nonsense; and a recording after a killed flight recorder.
 */
#include <sys/stat.h>
#include <sys/wait.h>
#include "recording.h"
#include "user_flight_case.h"

/* ---- dead programs ---- */

/* A program in a process of its own that records @nr events, begins one more if @in_a_record, and
 * is killed. */
static void live_and_die(struct recorder *recorder, int nr, bool in_a_record)
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
			fake_program_write(&program, 3, id, &(struct {
				uint32_t tid;
				int32_t n;
			}){42, 0},
					   8, true);
		kill(getpid(), SIGKILL);
	}
	do {
		recorder_look(recorder);
		usleep(200);
	} while (waitpid(child, &status, WNOHANG) == 0);
	recorder_look(recorder);
}

static void events_of_dead_programs_are_kept(void)
{
	struct recorder recorder;
	struct found found;

	recorder_begin(&recorder, NULL, 0, 0);
	live_and_die(&recorder, 100, false);
	live_and_die(&recorder, 50000, true);
	live_and_die(&recorder, 7, true);
	CU_ASSERT_EQUAL(recorder_programs(&recorder), 0);
	for (int i = 0; i < 2; i++) {
		found = snapshot(&recorder);
		CU_ASSERT_EQUAL(found.announced, 3);
		CU_ASSERT_EQUAL(found.breaks + found.late_gaps, 0);
		CU_ASSERT_TRUE(found.events > 1107);
		CU_ASSERT_EQUAL(found.events + found.overwritten, 50107);
		CU_ASSERT_EQUAL(found.discarded, 2); /* the records they were in when they died */
	}
	flight_reset(recorder.flight);
	found = snapshot(&recorder);
	CU_ASSERT_EQUAL(found.events + found.lost + found.announced, 0);
	recorder_end(&recorder);
}

/* When more programs die than fit, the rings of the latest are kept; the others are counted, and a
 * mark says so. */
static void rings_of_dead_programs_are_kept_within_bounds(void)
{
	struct recorder recorder;
	struct found found;
	uint64_t events = 0;

	recorder_begin(&recorder, NULL, 100000, 0);
	for (int i = 0; i < 12; i++) {
		live_and_die(&recorder, 1000 + i, false);
		events += (uint64_t)(1000 + i);
	}
	found = snapshot(&recorder);
	CU_ASSERT_EQUAL(found.last, 1010);
	CU_ASSERT_TRUE(found.events >= 4000 && found.events < 8000);
	CU_ASSERT_EQUAL(found.events + found.overwritten, events);
	CU_ASSERT_EQUAL(found.discarded, 0);
	recorder_end(&recorder);
	recorder_begin(&recorder, NULL, 0, 5);
	for (int i = 0; i < 300; i++) /* more than the daemon looks through at once */
		live_and_die(&recorder, 10, false);
	found = snapshot(&recorder);
	CU_ASSERT_EQUAL(found.events, 50);
	CU_ASSERT_EQUAL(found.events + found.overwritten, 3000);
	CU_ASSERT_EQUAL(found.marks, 1);
	CU_ASSERT_EQUAL(found.lost, 2950);
	recorder_end(&recorder);
}

/* ---- old programs, and recordings after a flight ---- */

/* An older libtracer cannot overwrite: a snapshot holds the oldest events of its program, and makes
 * room for new ones. */
static void programs_that_cannot_overwrite_keep_their_oldest(void)
{
	struct recorder recorder;
	struct fake_program program;
	struct found found;
	uint64_t kept;
	uint16_t id;

	recorder_begin(&recorder, NULL, 0, 0);
	program = recorder_add_program(&recorder, SUBBUF_CLOCK_TSC, true);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	record(&program, 0, id, 0, 20000);
	found = snapshot(&recorder);
	kept = found.events;
	CU_ASSERT_TRUE(kept > 1000 && kept < 10000);
	CU_ASSERT_EQUAL(found.first, 0);
	CU_ASSERT_EQUAL(found.breaks, 0);
	CU_ASSERT_EQUAL(found.discarded, 20000 - kept);
	record(&program, 0, id, 20000, 20100);
	found = snapshot(&recorder);
	CU_ASSERT_EQUAL(found.events, 100);
	CU_ASSERT_EQUAL(found.first, 20000);
	CU_ASSERT_EQUAL(found.discarded, 20000 - kept);
	recorder_end(&recorder);
	fake_program_free(&program);
}

static bool never_interrupted(void *context)
{
	return false;
}

/* A recording after a flight that ended or was killed has all events of the program, from the
 * recording's beginning on. */
static void a_recording_follows(bool killed)
{
	struct recording_options options = {.level = 1};
	struct clients_options clients_options = {0};
	struct fake_program program;
	struct recording *recording;
	struct selection selection = {0};
	struct trace_error error;
	struct clients *clients;
	struct recorder recorder;
	struct found found;
	char path[64];
	int fd = memfd_create("trace", MFD_CLOEXEC);
	uint16_t id;
	pid_t child;

	program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	child = fork(); /* it has the memory as well, and can be found in /proc */
	if (!child) {
		if (!killed)
			for (;;)
				pause();
		recorder_begin(&recorder, NULL, 0, 0);
		offer(&program);
		recorder_look(&recorder);
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
		recorder_begin(&recorder, NULL, 0, 0);
		record(&program, 0, id, 0, 50000);
		record(&program, 1, id, 0, 3);
		recorder_end(&recorder);
		CU_ASSERT_EQUAL(program.memory->overwrite, 0);
	}
	clients_options.selection = &selection;
	clients = clients_new(&clients_options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(clients);
	options.clients = clients;
	usleep(1000);
	recording = recording_begin(NULL, fd, &options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(recording);
	CU_ASSERT_EQUAL(program.memory->overwrite, 0);
	for (int i = 0; i < 20; i++) {
		record(&program, 0, id, i * 1000, i * 1000 + 1000);
		recording_flush(recording);
	}
	CU_ASSERT_EQUAL(recording_end(recording, never_interrupted, NULL, &error), 0);
	recording_free(recording);
	clients_free(clients);
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

/* Nonsense stays in the program's own streams, and the counts still add up: trace_verify(). */
static void nonsense_damages_only_the_programs_own_events(void)
{
	size_t rings = 4096 + 4096 + FAKE_REGISTRY;
	struct recorder recorder;

	for (unsigned int seed = 0; seed < 60; seed += (unsigned int)unit_step(3)) {
		const struct {
			size_t begin, end;
		} places[] = {{rings, rings + 256},
			      {rings + 4096, rings + 4096 + 64},
			      {rings, rings + 4096 + FAKE_SUBBUF},
			      {8192, 8192 + 96},
			      {4096 + 512, 8192}};
		struct fake_program bad, good;
		struct found found;
		uint16_t bad_id, good_id;

		srandom(seed);
		recorder_begin(&recorder, NULL, 0, 0);
		good = recorder_add_program(&recorder, SUBBUF_CLOCK_TSC, false);
		bad = recorder_add_program(&recorder, seed % 2 ? SUBBUF_CLOCK_TSC : SUBBUF_CLOCK_MONOTONIC,
					   seed % 5 == 4);
		good_id = fake_program_event(&good, "good", "event", USER_ROLE_EVENT, one_number);
		bad_id = fake_program_event(&bad, "bad", "event", USER_ROLE_EVENT, one_number);
		record(&good, 0, good_id, 0, 2000);
		record(&bad, 0, bad_id, 0, 300 << seed % 6);
		for (int i = 0; i < 3; i++) {
			fake_program_spoil(&bad, places[(seed + (unsigned)i) % 5].begin,
					   places[(seed + (unsigned)i) % 5].end, 1 + (int)(seed % 7));
			found = snapshot(&recorder);
			CU_ASSERT_EQUAL(found.others, 2000);
			if (i == 1 && seed % 3 == 0)
				flight_mark(recorder.flight, "spoiled");
		}
		flight_reset(recorder.flight);
		found = snapshot(&recorder);
		CU_ASSERT_EQUAL(found.others, 0);
		recorder_end(&recorder);
		munmap(bad.data, rings + FAKE_RINGS * (4096 + FAKE_SUBBUF * FAKE_SUBBUFS));
		close(bad.fd);
		fake_program_free(&good);
	}
}

/* A ring that claims to be full but was never written is not read, because reading it would
 * allocate its memory. */
static void holes_are_not_read(void)
{
	struct recorder recorder;
	struct fake_program program;
	struct subbuf_ring ring;
	struct stat before, after;
	struct found found;
	uint16_t id;

	recorder_begin(&recorder, NULL, 0, 0);
	program = recorder_add_program(&recorder, SUBBUF_CLOCK_TSC, false);
	id = fake_program_event(&program, "shop", "paid", USER_ROLE_EVENT, one_number);
	record(&program, 0, id, 0, 5);
	ring = fake_program_ring(&program, 0);
	ring.control->position += 1ull << 40;
	fstat(program.fd, &before);
	found = snapshot(&recorder);
	fstat(program.fd, &after);
	CU_ASSERT_EQUAL(found.events, 0);
	CU_ASSERT_TRUE(found.lost >= 1);
	CU_ASSERT_EQUAL(before.st_blocks, after.st_blocks);
	recorder_end(&recorder);
	fake_program_free(&program);
}

static const struct unit_case cases[] = {
	CASE(events_of_dead_programs_are_kept),
	CASE(rings_of_dead_programs_are_kept_within_bounds),
	CASE(programs_that_cannot_overwrite_keep_their_oldest),
	CASE(a_recording_follows_a_flight),
	CASE(a_recording_follows_a_flight_that_was_killed),
	CASE(nonsense_damages_only_the_programs_own_events),
	CASE(holes_are_not_read),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return flight_main("user flight, hostile", cases, argc, argv);
}
