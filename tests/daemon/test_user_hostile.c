/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_user_hostile.c - whatever a program writes into the memory that it shares with the daemon,
 * it can damage only its own events. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <trace/reader.h>

#include "message.h"
#include "user_bench.h"

/* ---- hostile memory ---- */

static void malformed_memories_are_refused(void)
{
	static const struct {
		size_t offset, bytes;
		uint64_t value;
	} wrongs[] = {
/* clang-format off */
#define WRONG(field, value) { offsetof(struct user_memory, field), sizeof(((struct user_memory *)0)->field), value }
		WRONG(magic, 7), WRONG(version, 1), WRONG(clock, 2), WRONG(total_bytes, 4096), WRONG(max_events, 0),
		WRONG(max_events, USER_MAX_EVENTS + 1),
		WRONG(nr_rings, 0), WRONG(nr_rings, USER_MAX_RINGS + 1), WRONG(nr_rings, 1000), WRONG(subbuf_bytes, 0),
		WRONG(subbuf_bytes, 16385),
		WRONG(subbuf_bytes, 8192), WRONG(subbuf_bytes, 32 << 20), WRONG(nr_subbufs, 0), WRONG(nr_subbufs, 1),
		WRONG(nr_subbufs, 3),
		WRONG(nr_subbufs, 1u << 31), WRONG(registry_bytes, USER_MAX_REGISTRY_BYTES + 8), WRONG(flags_offset, 0),
		WRONG(flags_offset, 1ull << 40),
		WRONG(flags_offset, UINT64_MAX), WRONG(registry_offset, UINT64_MAX - 8), WRONG(ring_stride, 0),
		WRONG(ring_stride, 4096), WRONG(ring_stride, UINT64_MAX - 63),
		WRONG(rings_offset, UINT64_MAX - 63), WRONG(rings_offset, 1ull << 30), WRONG(rings_offset, 4097),
		/* clang-format on */
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

/* The daemon does not look up a ring of a CPU that the machine cannot have, and records nothing of
 * it. */
static void rings_of_impossible_cpus_are_not_looked_at(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "good", "event", USER_ROLE_EVENT, one_number);
	struct bench *bench = bench_new(NULL);

	possible_cpus_pretend(2);
	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	for (uint32_t cpu = 0; cpu < FAKE_RINGS; cpu++)
		fake_program_number(&program, cpu, id, 1);
	bench_drain(bench);
	CU_ASSERT_EQUAL(drain_nr_rings(bench->recording->drain), 2);
	bench_end(bench, false);
	CU_ASSERT_EQUAL(counts_of(bench->trace).events, 2);
	bench_free(bench);
	fake_program_free(&program);
}

static void memories_that_could_shrink_are_refused(void)
{
	static const int seals[] = {0, F_SEAL_SHRINK, F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_GROW | F_SEAL_SEAL};

	for (size_t i = 0; i < sizeof(seals) / sizeof(seals[0]); i++) {
		struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, seals[i]);
		struct bench *bench = bench_new(NULL);

		CU_ASSERT_EQUAL(bench_take(bench, &program, true), -EINVAL);
		bench_free(bench);
		fake_program_free(&program);
	}
}

/* A process that touches a page of it for which the kernel has no huge page left is killed. */
static void memories_of_huge_pages_are_refused(void)
{
	struct fake_program program = {.fd = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB)};
	struct bench *bench = bench_new(NULL);

	if (program.fd >= 0 && ftruncate(program.fd, 1 << 30) == 0 && fcntl(program.fd, F_ADD_SEALS, FAKE_SEALS) == 0)
		CU_ASSERT_EQUAL(bench_take(bench, &program, true), -EINVAL);
	if (program.fd >= 0)
		close(program.fd);
	bench_free(bench);
}

static void files_that_are_no_program_memory_are_refused(void)
{
	struct fake_program program = {.fd = open("/dev/zero", O_RDWR | O_CLOEXEC)};
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

/* Blocks with plausible positions and wrong contents. */
static void spoil_blocks(const struct fake_program *bad, size_t rings)
{
	for (size_t i = 0; i < 2; i++) {
		struct subbuf_control *control =
			(struct subbuf_control *)(void *)(bad->data + rings + i * (4096 + FAKE_SUBBUF * FAKE_SUBBUFS));
		trace_u64 block = (trace_u64)random() % 4 << SUBBUF_BLOCK_SEQ_SHIFT |
				  (trace_u64)random() % 100 << SUBBUF_BLOCK_RECORDS_SHIFT |
				  (trace_u64)random() % (FAKE_SUBBUF + 64) / 8 * 8;

		control->block_begin = (trace_u64)random() % (FAKE_SUBBUF + 64) / 8 * 8;
		control->block = random() % 4 ? block : SUBBUF_BLOCK_NONE;
		control->block_moving = random() % 2 ? block : 0;
		control->flushing_block = random() % 2 ? block : 0;
		control->flushing_block_begin = control->block_begin;
	}
}

/* A well-behaved program is recorded completely at the same time. The damage by the hostile one
 * stays in its own streams, and their counts still add up. */
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
	if (begin == end)
		spoil_blocks(&bad, begin);
	else
		fake_program_spoil(&bad, begin, end, 1 + (int)(seed % 20));
	bench_drain(bench);
	bench->program = bad_program;
	user_program_look(bad_program);
	bench_drain(bench);
	if (begin == end)
		spoil_blocks(&bad, begin);
	else
		fake_program_spoil(&bad, begin, end, 5);
	drain_flush(bench->recording->drain);
	drain_run(bench->recording->drain);
	user_program_close_counts(good_program);
	bench_end(bench, dead);
	cursor = trace_cursor_new(bench->trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor)))
		nr_good += event->id >= TRACE_EV_MAX && !strcmp(event->type->name, "good:event");
	CU_ASSERT_EQUAL(nr_good, 2000);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
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
		one_hostile_round(seed, rings, rings + 256, false); /* the control words */
		one_hostile_round(seed, rings, rings, seed % 2);    /* blocks */
		/* the header of a sub-buffer */
		one_hostile_round(seed, rings + 4096, rings + 4096 + 64, seed % 2);
		one_hostile_round(seed, rings + 4096, rings + 4096 + FAKE_SUBBUF, seed % 2); /* records */
		one_hostile_round(seed, rings, rings + 2 * (4096 + FAKE_SUBBUF * FAKE_SUBBUFS), true);
	}
}

/* The daemon read a sub-buffer in which nothing is valid, and wrote about it: no write failed, and
 * no buffer was full. */
static void invalid_records_are_a_loss_of_their_own_kind(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "a", "b", USER_ROLE_EVENT, one_number);
	struct bench *bench = bench_new(NULL);
	struct trace_writer_totals totals;

	CU_ASSERT_EQUAL_FATAL(bench_take(bench, &program, true), 0);
	program.data[4096 + id + 7] = 1; /* an event type without a description */
	for (int part = 0; part < 3; part++) {
		for (int i = 0; i < 10; i++)
			fake_program_number(&program, 0, part == 1 ? (uint16_t)(id + 7) : id, i);
		bench_drain(bench);
	}
	bench_end(bench, false);
	trace_writer_totals(bench->writer, &totals);
	CU_ASSERT_EQUAL(totals.lost_write, 0);
	CU_ASSERT_EQUAL(totals.undecodable, 10);
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
		/* the daemon has read the head already; the rest is the daemon's to write */
		one_hostile_round(seed, 0, 4096 + 512, false);
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
		if (rand_r(&seed) % 64 == 0) { /* and keeps the ring moving */
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
		struct scribbler scribbler = {.program = &program};
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

static const struct unit_case cases[] = {
	{"malformed_memories_are_refused", malformed_memories_are_refused},
	{"rings_of_impossible_cpus_are_not_looked_at", rings_of_impossible_cpus_are_not_looked_at},
	{"memories_that_could_shrink_are_refused", memories_that_could_shrink_are_refused},
	{"memories_of_huge_pages_are_refused", memories_of_huge_pages_are_refused},
	{"files_that_are_no_program_memory_are_refused", files_that_are_no_program_memory_are_refused},
	{"a_program_belongs_to_one_daemon_at_a_time", a_program_belongs_to_one_daemon_at_a_time},
	{"nonsense_in_rings_stays_in_its_streams", nonsense_in_rings_stays_in_its_streams},
	{"invalid_records_are_a_loss_of_their_own_kind", invalid_records_are_a_loss_of_their_own_kind},
	{"nonsense_in_the_registry_stays_in_its_program", nonsense_in_the_registry_stays_in_its_program},
	{"memory_that_changes_while_it_is_read_breaks_nothing", memory_that_changes_while_it_is_read_breaks_nothing},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	char path[64];

	/* A runtime directory of its own, so that no other daemon on this machine finds the
	 * programs. */
	snprintf(path, sizeof(path), "/tmp/trace-hostile-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	message_init("test_user_hostile", true);
	return unit_main("user daemon, hostile memory", cases, argc, argv);
}
