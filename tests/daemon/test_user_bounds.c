/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_bounds.c - the cost of one user's programs for the daemon is bounded. The daemon
 * reports what it refuses, and counts it as lost.
 */
#include "unit.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <trace/reader.h>
#include <unistd.h>

#include "budget.h"
#include "clients_missing.h"
#include "drain_ended.h"
#include "message.h"
#include "ring_reader.h"
#include "user_bench.h"
#include "user_limits.h"
#include "user_find.h"

static uint64_t time_ns = 1000000000;

static uint64_t stopped_clock(void)
{
	return time_ns;
}

/* ---- the budget ---- */

static void a_user_and_all_together_have_bounds(void)
{
	struct budget_limits limits = no_limits();
	struct budget *budget;

	limits.per_uid[BUDGET_PROGRAMS] = 3;
	limits.together[BUDGET_PROGRAMS] = 5;
	budget = budget_new(&limits);
	CU_ASSERT_TRUE(budget_charge(budget, 1, BUDGET_PROGRAMS, 3));
	CU_ASSERT_FALSE(budget_charge(budget, 1, BUDGET_PROGRAMS, 1));
	CU_ASSERT_FALSE(budget_charge(budget, 2, BUDGET_PROGRAMS, UINT64_MAX));
	CU_ASSERT_TRUE(budget_charge(budget, 2, BUDGET_PROGRAMS, 2));
	CU_ASSERT_FALSE(budget_charge(budget, 3, BUDGET_PROGRAMS, 1));
	budget_release(budget, 1, BUDGET_PROGRAMS, 1);
	CU_ASSERT_TRUE(budget_charge(budget, 3, BUDGET_PROGRAMS, 1));
	CU_ASSERT_EQUAL(budget_used(budget, 1, BUDGET_PROGRAMS), 2);
	budget_reset(budget, BUDGET_PROGRAMS);
	CU_ASSERT_TRUE(budget_charge(budget, 1, BUDGET_PROGRAMS, 3));
	budget_free(budget);
}

static void root_is_trusted_unless_no_user_is(void)
{
	struct budget_limits limits = no_limits();
	struct budget *budget;

	limits.per_uid[BUDGET_PROGRAMS] = 0;
	budget = budget_new(&limits);
	CU_ASSERT_FALSE(budget_charge(budget, 0, BUDGET_PROGRAMS, 1));
	budget_free(budget);
	limits.trusts_none = false;
	budget = budget_new(&limits);
	CU_ASSERT_TRUE(budget_charge(budget, 0, BUDGET_PROGRAMS, 1));
	CU_ASSERT_TRUE(budget_charge(budget, geteuid(), BUDGET_PROGRAMS, 1));
	CU_ASSERT_FALSE(budget_charge(budget, geteuid() + 1, BUDGET_PROGRAMS, 1));
	CU_ASSERT_TRUE(budget_charge(NULL, 7, BUDGET_PROGRAMS, 1000));
	budget_free(budget);
}

static void rates_are_refilled_by_time(void)
{
	struct budget_limits limits = no_limits();
	struct budget *budget;

	limits.per_s[BUDGET_OFFERS] = 10;
	limits.burst[BUDGET_OFFERS] = 2;
	budget = budget_new(&limits);
	CU_ASSERT_TRUE(budget_take(budget, 1, BUDGET_OFFERS, 2));
	CU_ASSERT_FALSE(budget_take(budget, 1, BUDGET_OFFERS, 1));
	CU_ASSERT_TRUE(budget_take(budget, 2, BUDGET_OFFERS, 1)); /* another user's tokens */
	time_ns += 100000000;
	CU_ASSERT_TRUE(budget_take(budget, 1, BUDGET_OFFERS, 1));
	CU_ASSERT_FALSE(budget_take(budget, 1, BUDGET_OFFERS, 1));
	time_ns += 3600000000000ull;
	CU_ASSERT_FALSE(budget_take(budget, 1, BUDGET_OFFERS, 3)); /* at most a burst */
	CU_ASSERT_TRUE(budget_take(budget, 1, BUDGET_OFFERS, 2));
	budget_spend(budget, 1, BUDGET_OFFERS, 10);
	time_ns += 1000000000;
	CU_ASSERT_FALSE(budget_take(budget, 1, BUDGET_OFFERS, 1));
	time_ns += 100000000;
	CU_ASSERT_TRUE(budget_take(budget, 1, BUDGET_OFFERS, 1));
	budget_free(budget);
}

/*
 * A user with all possible uids does not get a full burst for each: the account table has a
 * maximum, and further uids share the last account.
 */
static void many_users_share_the_last_account(void)
{
	struct budget_limits limits = no_limits();
	struct budget *budget;
	unsigned int nr = 0;

	limits.burst[BUDGET_OFFERS] = 1;
	limits.per_s[BUDGET_OFFERS] = 1;
	budget = budget_new(&limits);
	for (uid_t uid = 1; uid < 65536; uid++)
		nr += budget_take(budget, uid, BUDGET_OFFERS, 1);
	CU_ASSERT_TRUE(nr >= 512 && nr <= 1025);
	budget_free(budget);
}

static void messages_about_a_user_are_bounded(void)
{
	struct budget_limits limits = no_limits();
	struct budget *budget;
	unsigned int nr = 0;

	limits.trusts_none = false;
	limits.per_s[BUDGET_MESSAGES] = 1;
	limits.burst[BUDGET_MESSAGES] = 30;
	budget = budget_new(&limits);
	for (int i = 0; i < 1000; i++)
		nr += budget_may_report(budget, 0);
	CU_ASSERT_EQUAL(nr, 30);
	CU_ASSERT_TRUE(budget_may_report(budget, 5));
	budget_free(budget);
}

static void the_default_leaves_descriptors_for_others(void)
{
	struct budget_limits limits;
	uint64_t files = (uint64_t)sysconf(_SC_OPEN_MAX);

	budget_default_limits(&limits);
	CU_ASSERT_TRUE(limits.per_uid[BUDGET_PROGRAMS] * 2 <= files / 4);
	CU_ASSERT_TRUE(limits.together[BUDGET_PROGRAMS] * 2 <= files * 3 / 4);
	CU_ASSERT_TRUE(limits.per_uid[BUDGET_ADDRESS] <= 8ull << 40 && limits.together[BUDGET_ADDRESS] <= 64ull << 40);
}

/* ---- one program ---- */

static uint64_t blocks_of(const struct fake_program *program)
{
	struct stat status;

	CU_ASSERT_EQUAL(fstat(program->fd, &status), 0);
	return (uint64_t)status.st_blocks;
}

/* A sub-buffer with a header that claims it is full, and a hole behind the header. */
static void write_hollow(const struct fake_program *program, uint32_t cpu, uint64_t seq)
{
	struct subbuf_ring ring = fake_program_ring(program, cpu);
	struct subbuf_header *header = subbuf_slot(&ring, seq);

	header->seq = seq;
	header->base = clock_now();
	header->end = FAKE_SUBBUF;
	header->commit = subbuf_commit_target(FAKE_SUBBUF, FAKE_SUBBUFS, seq);
	ring.control->position = seq << SUBBUF_OFFSET_BITS | FAKE_SUBBUF;
}

/*
 * @dead: the daemon salvages the incomplete sub-buffer. @complete: the sub-buffers claim to be full
 */
static void hollow(bool dead, bool complete)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);
	struct subbuf_ring ring;
	uint64_t before;

	(void)fake_program_writer(&program, 0);
	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	user_program_look(bench->program);
	ring = fake_program_ring(&program, 0);
	for (uint64_t seq = 1; complete && seq < FAKE_SUBBUFS; seq++)
		write_hollow(&program, 0, seq);
	if (!complete)
		ring.control->position = (FAKE_SUBBUFS - 1ull) << SUBBUF_OFFSET_BITS | 128;
	before = blocks_of(&program);
	for (int i = 0; i < 3; i++)
		bench_drain(bench);
	bench_end(bench, dead);
	CU_ASSERT_EQUAL(blocks_of(&program), before);
	bench_free(bench);
	fake_program_free(&program);
}

static void holes_are_never_read(void)
{
	for (int i = 0; i < 4; i++)
		hollow(i & 1, i & 2);
}

static void a_sub_buffer_with_an_end_past_its_data_is_refused(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);

	(void)fake_program_writer(&program, 0);
	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	write_hollow(&program, 0, 1);
	bench_drain(bench);
	bench_end(bench, false);
	CU_ASSERT_EQUAL(counts_of(bench->trace).lost, 1);
	bench_free(bench);
	fake_program_free(&program);
}

static void holes_in_the_registry_are_never_read(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct user_event *event = (struct user_event *)(void *)(program.data + 8192);
	struct bench *bench = bench_new(NULL);
	uint64_t before;

	*event = (struct user_event){.bytes = FAKE_REGISTRY - 8, .id = 1, .payload_bytes = 4};
	program.memory->registry_used = FAKE_REGISTRY - 8;
	program.data[4096] = 0;
	before = blocks_of(&program);
	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	bench_drain(bench);
	CU_ASSERT_TRUE(user_program_mapping(bench->program)->registry_broken);
	CU_ASSERT_EQUAL(blocks_of(&program), before);
	bench_end(bench, false);
	bench_free(bench);
	fake_program_free(&program);
}

static void a_memory_that_is_refused_gets_no_pages(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);

	CU_ASSERT_EQUAL(fallocate(program.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), 0);
	CU_ASSERT_EQUAL(blocks_of(&program), 0);
	CU_ASSERT_EQUAL(bench_take(bench, &program, true), -EINVAL);
	CU_ASSERT_EQUAL(blocks_of(&program), 0);
	bench_free(bench);
	close(program.fd);
}

/*
 * Known rings need no look-up. A ring that has a page but is not in use needs one per look.
 * Draining needs none.
 */
static void rings_are_looked_for_once_in_a_look(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "good", "event", USER_ROLE_EVENT, one_number);
	struct bench *bench = bench_new(NULL);
	uint32_t before;

	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	for (uint32_t cpu = 0; cpu < FAKE_RINGS - 1; cpu++)
		(void)fake_program_writer(&program, cpu);
	/* allocates a page, but sets nothing up */
	fake_program_ring(&program, FAKE_RINGS - 1).control->consumed = 0;
	user_program_look(bench->program);
	before = user_program_mapping(bench->program)->lookups;
	user_program_look(bench->program);
	CU_ASSERT_EQUAL(user_program_mapping(bench->program)->lookups, before + 1);
	for (int i = 0; i < 2000; i++)
		fake_program_number(&program, 0, id, i);
	drain_flush(bench->recording->drain);
	drain_run(bench->recording->drain);
	CU_ASSERT_EQUAL(user_program_mapping(bench->program)->lookups, before + 1);
	(void)fake_program_writer(&program, FAKE_RINGS - 1);
	user_program_look(bench->program);
	before = user_program_mapping(bench->program)->lookups;
	user_program_look(bench->program);
	CU_ASSERT_EQUAL(user_program_mapping(bench->program)->lookups, before);
	bench_end(bench, false);
	CU_ASSERT_EQUAL(counts_of(bench->trace).events, 2000);
	bench_free(bench);
	fake_program_free(&program);
}

static struct bench *bench_with(const struct budget_limits *limits)
{
	struct bench *bench = bench_new(NULL);

	bench->recording->budget = budget_new(limits);
	return bench;
}

static void bench_free_with(struct bench *bench)
{
	struct budget *budget = bench->recording->budget;

	bench_free(bench);
	budget_free(budget);
}

/* Opens a block in the ring of @cpu, after one record. */
static void open_block(const struct fake_program *program, uint32_t cpu)
{
	struct subbuf_writer writer = fake_program_writer(program, cpu);
	struct subbuf_reservation reservation = {0};
	struct subbuf_control *control = writer.control;
	uint64_t seq;

	CU_ASSERT_TRUE(subbuf_reserve(&writer, 16, &reservation));
	subbuf_commit(&writer, &reservation, 1);
	seq = control->position >> SUBBUF_OFFSET_BITS;
	control->block_begin = control->position & SUBBUF_OFFSET_MASK;
	control->block = (seq & SUBBUF_BLOCK_SEQ_MASK) << SUBBUF_BLOCK_SEQ_SHIFT | control->block_begin;
	control->position = seq << SUBBUF_OFFSET_BITS | FAKE_SUBBUF;
}

static void visits_to_cpus_are_bounded(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct budget_limits limits = no_limits();
	struct bench *bench;
	int open = 0;

	limits.burst[BUDGET_VISITS] = limits.per_s[BUDGET_VISITS] = 2;
	bench = bench_with(&limits);
	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	for (uint32_t cpu = 0; cpu < FAKE_RINGS; cpu++)
		open_block(&program, cpu);
	user_program_look(bench->program);
	for (uint32_t cpu = 0; cpu < FAKE_RINGS; cpu++)
		/* a CPU of the machine, so that the daemon visits it */
		fake_program_ring(&program, cpu).control->cpu = 0;
	for (int i = 0; i < 3; i++)
		drain_flush(bench->recording->drain);
	for (uint32_t cpu = 0; cpu < FAKE_RINGS; cpu++)
		open += subbuf_block_is_open(fake_program_ring(&program, cpu).control->block);
	CU_ASSERT_EQUAL(open, FAKE_RINGS - 2);
	time_ns += 1000000000;
	drain_flush(bench->recording->drain);
	for (uint32_t cpu = 0; cpu < FAKE_RINGS; cpu++)
		CU_ASSERT_FALSE(subbuf_block_is_open(fake_program_ring(&program, cpu).control->block));
	bench_end(bench, false);
	bench_free_with(bench);
	fake_program_free(&program);
}

/*
 * The daemon waits for a flush that another daemon announced. A program can announce one in
 * each ring, so these waits are charged to the user's budget.
 */
static void waits_for_flushes_are_bounded(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "good", "event", USER_ROLE_EVENT, one_number);
	struct budget_limits limits = no_limits();
	struct subbuf_control *control;
	struct bench *bench;

	limits.burst[BUDGET_WAITS] = limits.per_s[BUDGET_WAITS] = 3;
	bench = bench_with(&limits);
	for (uint32_t cpu = 0; cpu < FAKE_RINGS; cpu++) {
		fake_program_number(&program, cpu, id, 1);
		control = fake_program_ring(&program, cpu).control;
		control->flushing = control->position;
		control->position = 1ull << SUBBUF_OFFSET_BITS | FAKE_SUBBUF;
	}
	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	CU_ASSERT_FALSE(budget_take(bench->recording->budget, 12, BUDGET_WAITS, 1));
	bench_end(bench, false);
	bench_free_with(bench);
	fake_program_free(&program);
}

/**
 * struct refill - a program as fast as the daemon: it fills another sub-buffer whenever one is
 * taken
 */
struct refill {
	struct fake_program *program;
	uint16_t id;
	unsigned int taken;
};

static void fill_one(struct refill *refill)
{
	struct subbuf_ring ring = fake_program_ring(refill->program, 0);
	uint64_t before = ring_newest(&ring);

	while (ring_newest(&ring) == before && fake_program_number(refill->program, 0, refill->id, 1))
		;
}

static bool refill_when_taken(void *context, struct drain_copy *copy)
{
	struct refill *refill = context;

	if (refill->taken++ < 1000)
		fill_one(refill);
	copy->nr_records = 0;
	return true;
}

static void a_program_that_is_fast_does_not_hold_up_the_daemon(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct refill refill = {.program = &program,
				.id = fake_program_event(&program, "good", "event", USER_ROLE_EVENT, one_number)};
	struct bench *bench = bench_new(NULL);
	struct drain_source source = {.fd = program.fd,
				      .offset = (off_t)program.memory->rings_offset,
				      .translate = refill_when_taken,
				      .context = &refill};

	(void)fake_program_writer(&program, 0);
	source.ring = fake_program_ring(&program, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(drain_add(bench->recording->drain, &source, true));
	fill_one(&refill);
	fill_one(&refill);
	CU_ASSERT_EQUAL(drain_run(bench->recording->drain), DRAIN_TOOK);
	CU_ASSERT_TRUE(refill.taken >= 1 && refill.taken <= 2);
	bench_free(bench);
	fake_program_free(&program);
}

static bool count_taken(void *context, struct drain_copy *copy)
{
	*(uint32_t *)context += copy->nr_records;
	copy->nr_records = 0;
	return true;
}

/*
 * Their memory is gone: a daemon that looks at it again crashes. The rings of programs that run are
 * read from the first to the last.
 */
static void programs_that_have_ended_cost_no_time(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "good", "event", USER_ROLE_EVENT, one_number);
	struct bench *bench = bench_new(NULL);
	struct drain *drain = bench->recording->drain;
	uint32_t nr_taken = 0;
	struct drain_source source = {.fd = program.fd,
				      .offset = (off_t)program.memory->rings_offset,
				      .translate = count_taken,
				      .context = &nr_taken},
			    gone = source;
	void *memory = mmap(NULL, sizeof(struct subbuf_control), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	struct drain_ring *first, *last, *one;

	(void)fake_program_writer(&program, 0);
	source.ring = gone.ring = fake_program_ring(&program, 0);
	gone.ring.control = memory;
	first = drain_add(drain, &source, true);
	for (int i = 0; i < 10000; i++) {
		one = drain_add(drain, &gone, true);
		CU_ASSERT_PTR_NOT_NULL_FATAL(one);
		drain_run(drain);
		drain_retire(drain, one);
		CU_ASSERT_EQUAL(drain_nr_read(drain), 1);
	}
	munmap(memory, sizeof(struct subbuf_control));
	last = drain_add(drain, &source, true);
	CU_ASSERT_EQUAL(drain_nr_read(drain), 2);
	CU_ASSERT(drain_nr_rings(drain) <= 10002); /* the trace has the others: drain_ended.h */
	drain_retire(drain, first);
	fake_program_number(&program, 0, id, 1);
	drain_mark(drain);
	drain_flush(drain);
	CU_ASSERT_FALSE(drain_is_flushed(drain, true));
	CU_ASSERT_EQUAL(drain_run(drain), DRAIN_TOOK);
	CU_ASSERT_EQUAL(nr_taken, 1);
	CU_ASSERT_TRUE(drain_is_past_mark(drain));
	drain_end(drain);
	CU_ASSERT_TRUE(drain_is_empty(drain));
	CU_ASSERT_EQUAL(drain_abandon(drain), 0);
	drain_retire(drain, last);
	CU_ASSERT_EQUAL(drain_nr_read(drain), 0);
	bench_free(bench);
	fake_program_free(&program);
}

/* The bytes of the heap after @nr rings have come and gone. Each lost an event. */
static size_t heap_after_rings(struct bench *bench, const struct drain_source *source, uint32_t nr)
{
	struct drain *drain = bench->recording->drain;
	struct mallinfo2 heap;

	for (uint32_t i = 0; i < nr; i++) {
		struct drain_source one = *source;
		struct drain_ring *ring;

		one.stream = bench->recording->next_stream++;
		ring = drain_add(drain, &one, true);
		CU_ASSERT_PTR_NOT_NULL_FATAL(ring);
		drain_count_lost(ring, 1);
		drain_retire(drain, ring);
		drain_run(drain);
		while (!writer_thread_empty(bench->thread))
			poll(NULL, 0, 1);
	}
	heap = mallinfo2();
	return heap.uordblks + heap.hblkhd;
}

static struct drain_source source_of(const struct fake_program *program, uint32_t *nr_taken)
{
	return (struct drain_source){.fd = program->fd,
				     .offset = (off_t)program->memory->rings_offset,
				     .translate = count_taken,
				     .context = nr_taken};
}

/*
 * A daemon runs for months, and programs come and go: what it keeps of each would be without bound.
 * The statistics of all are in the trace nevertheless.
 */
static void programs_that_have_ended_take_no_memory(void)
{
	enum { NR = 100000, SOME = 3000 };
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);
	struct drain *drain = bench->recording->drain;
	uint32_t nr_taken = 0;
	struct drain_source source = source_of(&program, &nr_taken);
	struct drain_totals totals;
	struct drain_losses losses;
	size_t few, many;

	(void)fake_program_writer(&program, 0);
	source.ring = fake_program_ring(&program, 0);
	few = heap_after_rings(bench, &source, SOME);
	many = heap_after_rings(bench, &source, NR);
	/* less than a byte each; the index of the trace has a chunk for each batch of them */
	CU_ASSERT(many < few + NR);
	CU_ASSERT(drain_nr_rings(drain) <= 3 * DRAIN_ENDED_BATCH);
	drain_get_totals(drain, &totals);
	CU_ASSERT_EQUAL(totals.lost, NR + SOME);
	CU_ASSERT_EQUAL(totals.claimed, NR + SOME);
	drain_get_gone_losses(drain, &losses);
	CU_ASSERT_EQUAL(losses.full + drain_nr_rings(drain), NR + SOME);
	CU_ASSERT_EQUAL(losses.other, 0);
	bench_end(bench, false);
	CU_ASSERT_EQUAL(trace_nr_streams(bench->trace), NR + SOME);
	CU_ASSERT_EQUAL(trace_get_info(bench->trace)->lost, NR + SOME);
	bench_free(bench);
	fake_program_free(&program);
}

/* A batch that is taken back is not in the trace twice, and not missing. */
static void statistics_of_ended_programs_are_taken_back_before_the_queue_is_dropped(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);

	for (int is_dropped = 0; is_dropped < 2; is_dropped++) {
		struct bench *bench = bench_new(NULL);
		struct drain *drain = bench->recording->drain;
		struct drain_source source = {.fd = program.fd,
					      .offset = (off_t)program.memory->rings_offset,
					      .translate = count_taken,
					      .context = &(uint32_t){0}};

		(void)fake_program_writer(&program, 0);
		source.ring = fake_program_ring(&program, 0);
		for (uint32_t i = 0; i < DRAIN_ENDED_BATCH + 5; i++) {
			struct drain_ring *ring;

			source.stream = bench->recording->next_stream++;
			ring = drain_add(drain, &source, true);
			drain_count_lost(ring, 1);
			drain_retire(drain, ring);
		}
		drain_run(drain);
		if (is_dropped) {
			drain_cancel_ended(drain);
			writer_thread_abandon(bench->thread);
		}
		bench_end(bench, false);
		CU_ASSERT_EQUAL(trace_nr_streams(bench->trace), DRAIN_ENDED_BATCH + 5);
		CU_ASSERT_EQUAL(trace_get_info(bench->trace)->lost, DRAIN_ENDED_BATCH + 5);
		bench_free(bench);
	}
	fake_program_free(&program);
}

/* A program's own count of what it lost is not a loss that the daemon saw. */
static void losses_that_a_program_counts_are_its_own(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct bench *bench = bench_new(NULL);
	struct drain *drain = bench->recording->drain;
	uint32_t nr_taken = 0;
	struct drain_source source = source_of(&program, &nr_taken);
	struct drain_losses losses;
	struct drain_ring *ring;

	(void)fake_program_writer(&program, 0);
	source.ring = fake_program_ring(&program, 0);
	ring = drain_add(drain, &source, true);
	drain_count_lost(ring, 5);
	drain_get_losses(drain, 0, &losses);
	CU_ASSERT_TRUE(losses.is_program && losses.full == 5 && losses.other == 0);
	source.ring.control->position = 1ull << 60;
	drain_run(drain); /* no record writer writes that */
	drain_get_losses(drain, 0, &losses);
	CU_ASSERT_TRUE(drain_is_broken(ring) && losses.full == 5 && losses.other == 1);
	bench_free(bench);
	fake_program_free(&program);
}

/* The table of accounts has 1,024 places. */
static void users_that_share_an_account_are_told(void)
{
	struct budget *budget = budget_new(NULL);

	for (uid_t uid = 1000; uid < 1100; uid++)
		CU_ASSERT_TRUE(budget_charge(budget, uid, BUDGET_PROGRAMS, 1));
	CU_ASSERT_FALSE(budget_is_shared(budget));
	for (uid_t uid = 1100; uid < 2100; uid++)
		budget_charge(budget, uid, BUDGET_PROGRAMS, 1);
	CU_ASSERT_TRUE(budget_is_shared(budget));
	budget_free(budget);
}

static bool counts_searches;
static unsigned int nr_searches;

/* Counts searches for the end of data: SEEK_HOLE passes all data behind a sub-buffer. */
off_t lseek(int fd, off_t offset, int whence)
{
	nr_searches += counts_searches && whence == SEEK_HOLE;
	return (off_t)syscall(SYS_lseek, fd, offset, whence);
}

static void a_large_memory_makes_no_sub_buffer_slow(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct budget_limits limits = no_limits();
	struct bench *bench = bench_with(&limits);
	struct trace_counts counts;
	uint16_t id = fake_program_event(&program, "good", "event", USER_ROLE_EVENT, one_number);

	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	counts_searches = true;
	for (int i = 0; i < 1000; i++)
		fake_program_number(&program, 0, id, i);
	bench_drain(bench);
	bench_end(bench, false);
	counts_searches = false;
	counts = counts_of(bench->trace);
	CU_ASSERT_EQUAL(counts.events, 1000);
	CU_ASSERT_EQUAL(nr_searches, 0);
	bench_free_with(bench);
	fake_program_free(&program);
}

static void event_types_of_a_user_are_bounded_and_their_events_lost(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS),
			    other = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct budget_limits limits = no_limits();
	struct user_program *first;
	struct trace_counts counts;
	struct bench *bench;
	uint16_t ids[3], same, unknown;

	limits.per_uid[BUDGET_TYPES] = 2;
	bench = bench_with(&limits);
	for (int i = 0; i < 3; i++)
		ids[i] = fake_program_event(&program, "evil", (const char *[]){"a", "b", "c"}[i], USER_ROLE_EVENT,
					    one_number);
	same = fake_program_event(&other, "evil", "b", USER_ROLE_EVENT, one_number);
	unknown = fake_program_event(&other, "evil", "d", USER_ROLE_EVENT, one_number);
	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	first = bench->program;
	CU_ASSERT_EQUAL(bench_take(bench, &other, true), 0);
	for (int i = 0; i < 10; i++) {
		for (int e = 0; e < 3; e++)
			fake_program_number(&program, 0, ids[e], i);
		fake_program_number(&other, 0, same, i); /* the trace has this type already */
		fake_program_number(&other, 0, unknown, i);
	}
	user_program_look(first);
	bench_drain(bench);
	user_program_close_counts(first);
	bench_end(bench, false);
	counts = counts_of(bench->trace);
	CU_ASSERT_EQUAL(counts.events, 30);
	CU_ASSERT_EQUAL(counts.lost, 20);
	CU_ASSERT_EQUAL(bench->recording->undescribed, 2);
	user_program_free(first);
	bench_free_with(bench);
	fake_program_free(&program);
	fake_program_free(&other);
}

/*
 * The program at its limit loses the events of its further types; another program of the user loses
 * none.
 */
static void event_types_of_a_program_are_bounded_and_its_user_keeps_the_rest(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS),
			    other = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct budget_limits limits = no_limits();
	struct user_program *first;
	struct trace_counts counts;
	struct bench *bench;
	uint16_t ids[4], same, others[2];

	limits.per_uid[BUDGET_TYPES] = 4;
	limits.types_per_program = 2;
	bench = bench_with(&limits);
	for (int i = 0; i < 4; i++)
		ids[i] = fake_program_event(&program, "evil", (const char *[]){"a", "b", "c", "d"}[i], USER_ROLE_EVENT,
					    one_number);
	same = fake_program_event(&other, "evil", "b", USER_ROLE_EVENT, one_number);
	for (int i = 0; i < 2; i++)
		others[i] = fake_program_event(&other, "good", (const char *[]){"a", "b"}[i], USER_ROLE_EVENT,
					       one_number);
	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	first = bench->program;
	CU_ASSERT_EQUAL(bench_take(bench, &other, true), 0);
	for (int i = 0; i < 10; i++) {
		for (int e = 0; e < 4; e++)
			fake_program_number(&program, 0, ids[e], i);
		fake_program_number(&other, 0, same, i); /* the trace has this type already */
		for (int e = 0; e < 4; e++)
			fake_program_number(&other, 0, others[e % 2], i);
	}
	user_program_look(first);
	bench_drain(bench);
	user_program_close_counts(first);
	bench_end(bench, false);
	counts = counts_of(bench->trace);
	CU_ASSERT_EQUAL(counts.events, 70);
	CU_ASSERT_EQUAL(counts.lost, 20);
	CU_ASSERT_EQUAL(bench->recording->undescribed, 2);
	CU_ASSERT_STRING_EQUAL(bench->recording->why.message,
			       "process 11 (/usr/bin/fake) reached the limit of one program, 2 event types");
	user_program_free(first);
	bench_free_with(bench);
	fake_program_free(&program);
	fake_program_free(&other);
}

static void the_default_leaves_event_types_for_other_programs_of_the_user(void)
{
	struct budget_limits limits;

	budget_default_limits(&limits);
	CU_ASSERT_TRUE(limits.types_per_program >= 1024);
	CU_ASSERT_TRUE(limits.types_per_program <= limits.per_uid[BUDGET_TYPES] / 2);
}

/* An event with the highest id does not make the daemon allocate a table for all ids. */
static void events_take_as_much_memory_as_there_are(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	struct budget_limits limits = no_limits();
	struct bench *bench = bench_new("good:*");
	uint16_t last;

	fake_program_event(&program, "good", "first", USER_ROLE_EVENT, one_number);
	limits.per_uid[BUDGET_HEAP] = 4096;
	bench->recording->budget = budget_new(&limits);
	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	CU_ASSERT_TRUE(budget_used(bench->recording->budget, 12, BUDGET_HEAP) < 2048);
	program.nr_events = FAKE_MAX_EVENTS - 2;
	last = fake_program_event(&program, "evil", "last", USER_ROLE_EVENT, one_number);
	user_program_look(bench->program);
	/* the daemon did not take the event, so it did not disable it */
	CU_ASSERT_TRUE(fake_program_flag(&program, last));
	CU_ASSERT_TRUE(budget_used(bench->recording->budget, 12, BUDGET_HEAP) < 2048);
	user_program_free(bench->program);
	bench->program = NULL;
	CU_ASSERT_EQUAL(budget_used(bench->recording->budget, 12, BUDGET_HEAP), 0);
	bench_free_with(bench);
	fake_program_free(&program);
}

/*
 * The user's budget of pages is spent: the daemon takes full sub-buffers, and does not touch the
 * open one until the end.
 */
static void a_memory_that_is_too_large_is_not_written_to(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "good", "event", USER_ROLE_EVENT, one_number);
	struct budget_limits limits = no_limits();
	struct bench *bench;
	uint64_t position;

	limits.per_uid[BUDGET_PAGES] = 4096;
	bench = bench_with(&limits);
	CU_ASSERT_EQUAL(bench_take(bench, &program, true), 0);
	fake_program_number(&program, 0, id, 1);
	time_ns += 2000000000;
	user_program_look(bench->program);
	position = fake_program_ring(&program, 0).control->position;
	drain_flush(bench->recording->drain);
	CU_ASSERT_EQUAL(fake_program_ring(&program, 0).control->position, position);
	bench_end(bench, false);
	bench_free_with(bench);
	fake_program_free(&program);
}

static int take_none(void *context, struct subbuf_header *copy, uint32_t nr_records, uint64_t lost_total)
{
	return 0;
}

/* All rings share one wait: the second ring does not wait again. */
static void a_flight_recorder_waits_once_for_all_rings(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_MONOTONIC, FAKE_SEALS);
	uint16_t id = fake_program_event(&program, "good", "event", USER_ROLE_EVENT, one_number);
	struct user_kept_counts counts;
	struct user_kept *kept[2];
	int patience = 5;

	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		struct user_kept_source source = {.ring = fake_program_ring(&program, cpu),
						  .fd = program.fd,
						  .count_all = true,
						  .patience = &patience};

		program.memory->new_flag = 1;
		source.offset = (off_t)(program.memory->rings_offset + cpu * program.memory->ring_stride);
		fake_program_write(&program, cpu, id, &(struct {
			uint32_t tid;
			int32_t n;
		}){42, 1},
				   8, true);
		kept[cpu] = user_kept_new(&source);
		CU_ASSERT_PTR_NOT_NULL_FATAL(kept[cpu]);
	}
	for (int i = 0; i < 2; i++)
		user_kept_reset(kept[i], &patience);
	CU_ASSERT_EQUAL(patience, 0);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(user_kept_read(kept[i], take_none, NULL, &counts, &patience), 0);
		user_kept_free(kept[i]);
	}
	fake_program_free(&program);
}

static const struct unit_case cases[] = {
	CASE(a_user_and_all_together_have_bounds),
	CASE(root_is_trusted_unless_no_user_is),
	CASE(rates_are_refilled_by_time),
	CASE(many_users_share_the_last_account),
	CASE(messages_about_a_user_are_bounded),
	CASE(the_default_leaves_descriptors_for_others),
	CASE(holes_are_never_read),
	CASE(a_sub_buffer_with_an_end_past_its_data_is_refused),
	CASE(holes_in_the_registry_are_never_read),
	CASE(a_memory_that_is_refused_gets_no_pages),
	CASE(rings_are_looked_for_once_in_a_look),
	CASE(visits_to_cpus_are_bounded),
	CASE(waits_for_flushes_are_bounded),
	CASE(a_program_that_is_fast_does_not_hold_up_the_daemon),
	CASE(a_large_memory_makes_no_sub_buffer_slow),
	CASE(event_types_of_a_user_are_bounded_and_their_events_lost),
	CASE(programs_that_have_ended_cost_no_time),
	CASE(programs_that_have_ended_take_no_memory),
	CASE(statistics_of_ended_programs_are_taken_back_before_the_queue_is_dropped),
	CASE(losses_that_a_program_counts_are_its_own),
	CASE(users_that_share_an_account_are_told),
	CASE(event_types_of_a_program_are_bounded_and_its_user_keeps_the_rest),
	CASE(the_default_leaves_event_types_for_other_programs_of_the_user),
	CASE(events_take_as_much_memory_as_there_are),
	CASE(a_memory_that_is_too_large_is_not_written_to),
	CASE(a_flight_recorder_waits_once_for_all_rings),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	char path[64];

	/* A socket of its own: no daemon that runs on this machine finds the programs. */
	snprintf(path, sizeof(path), "/tmp/trace-bounds-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	budget_clock = stopped_clock;
	message_init("test_user_bounds", true);
	return unit_main("bounds of what programs cost", cases, argc, argv);
}
