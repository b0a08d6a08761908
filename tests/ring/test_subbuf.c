/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_subbuf.c - the real ring code in user space: its limits, writers nested at every point,
 * writers in threads.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "subbuf_case.h"
#include "unit.h"

/* ---- limits ---- */

/* Writer 1, which stays between reserve and commit as long as a test wants. */
static struct subbuf_reservation stuck;

static void stuck_reserve(void)
{
	CU_ASSERT_EQUAL_FATAL(subbuf_reserve(&ledger.writer, 24, &stuck), 1);
}

static bool stuck_leave(void)
{
	memcpy(writer_at(&ledger.writer, stuck.position) + 8, &(struct ledger_payload){1, 0, 0, stuck.time}, 16);
	ledger.attempted[1] = ledger.stored[1] = 1;
	return subbuf_commit(&ledger.writer, &stuck, LEDGER_ID);
}

static void stuck_commit(void)
{
	CU_ASSERT_TRUE(stuck_leave());
}

static void a_new_ring_is_empty(void)
{
	begin(1024, 2, false);
	CU_ASSERT_PTR_NULL(subbuf_take(&ledger.ring));
	CU_ASSERT_FALSE(subbuf_flush(&ledger.ring));
	CU_ASSERT_EQUAL(write_record(0, 24), 1);
	CU_ASSERT_PTR_NULL(subbuf_take(&ledger.ring));
	CU_ASSERT_TRUE(subbuf_flush(&ledger.ring));
	CU_ASSERT_FALSE(subbuf_flush(&ledger.ring));
	CU_ASSERT_PTR_NOT_NULL(subbuf_take(&ledger.ring));
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 1);
}

static void a_filled_subbuffer_is_complete_and_wakes(void)
{
	begin(HEADER + 10 * 24, 2, false);
	for (int i = 0; i < 9; i++)
		write_record(0, 24);
	CU_ASSERT_EQUAL(wake, 0);
	CU_ASSERT_PTR_NULL(subbuf_take(&ledger.ring));
	write_record(0, 24); /* the last byte */
	CU_ASSERT_EQUAL(wake, 1);
	CU_ASSERT_PTR_NOT_NULL(subbuf_take(&ledger.ring));
	CU_ASSERT_FALSE(subbuf_flush(&ledger.ring));
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 10);
	CU_ASSERT_EQUAL(ledger.subbufs, 1);
}

static void a_record_that_does_not_fit_closes_and_wakes(void)
{
	begin(HEADER + 10 * 24 + 16, 2, false);
	for (int i = 0; i < 10; i++)
		write_record(0, 24);
	CU_ASSERT_EQUAL(wake, 0);
	write_record(0, 24);
	CU_ASSERT_EQUAL(wake, 1);
	CU_ASSERT_EQUAL(subbuf_slot(&ledger.ring, 1)->end, HEADER + 10 * 24);
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 11);
	CU_ASSERT_EQUAL(ledger.subbufs, 2);
}

static void many_laps_lose_nothing(void)
{
	begin(1024, 4, false);
	for (int i = 0; i < 100000; i++) {
		CU_ASSERT_EQUAL(write_record(0, 24 + 8 * (trace_u32)(i * 7 % 40)), 1);
		if (wake) {
			ledger_drain(&ledger);
			wake = 0;
		}
	}
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 100000);
	CU_ASSERT_TRUE(ledger.subbufs > 300 * 4); /* the lap tag wrapped */
}

static void full_discards_and_counts_exactly(void)
{
	trace_u64 lost_at_gap;

	begin(HEADER + 10 * 24, 4, false);
	now_step = 1;
	for (int i = 0; i < 40; i++)
		CU_ASSERT_EQUAL(write_record(0, 24), 1);
	for (int i = 0; i < 13; i++)
		CU_ASSERT_EQUAL(write_record(0, 24), 0);
	CU_ASSERT_EQUAL(ledger.ring.control->discarded, 13);
	ledger_read(&ledger, subbuf_take(&ledger.ring), 1);
	subbuf_release(&ledger.ring);
	CU_ASSERT_EQUAL(write_record(0, 24), 1); /* there is room again */
	CU_ASSERT_EQUAL(subbuf_slot(&ledger.ring, 5)->lost, 13);
	CU_ASSERT_EQUAL(subbuf_slot(&ledger.ring, 5)->base, now_read[1]);
	for (trace_u64 seq = 2; seq < 5; seq++)
		CU_ASSERT_EQUAL(subbuf_slot(&ledger.ring, seq)->lost, 0); /* the gap lies between 4 and 5 */
	lost_at_gap = ledger.ring.control->discarded;
	expect_complete_ledger();
	CU_ASSERT_EQUAL(lost_at_gap, 13);
	CU_ASSERT_EQUAL(ledger.found, 41);
}

static void overwriting_counts_exactly(void)
{
	begin(HEADER + 10 * 24, 4, true);
	for (int i = 0; i < 100 * 10 + 3; i++)
		CU_ASSERT_EQUAL(write_record(0, 24), 1);
	CU_ASSERT_EQUAL(ledger.ring.control->overwritten, 97 * 10);
	for (trace_u64 seq = 98; seq <= 101; seq++) {
		struct subbuf_count count = subbuf_records_before(&ledger.ring, seq);

		CU_ASSERT_TRUE(count.exact);
		CU_ASSERT_EQUAL(count.records, (seq - 1) * 10);
	}
	CU_ASSERT_FALSE(subbuf_records_before(&ledger.ring, 102).exact); /* it is still open */
	CU_ASSERT_FALSE(subbuf_records_before(&ledger.ring, 97).exact);	 /* opened again since */
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 33);
	CU_ASSERT_EQUAL(ledger.ring.control->discarded, 0);
}

static void overwriting_never_touches_a_writer_inside(void)
{
	for (trace_u32 nr = 2; nr <= 8; nr *= 2) {
		begin(HEADER + 10 * 24, nr, true);
		stuck_reserve();
		for (trace_u32 i = 0; i < 10 * nr + 50; i++)
			CU_ASSERT_EQUAL(write_record(0, 24), i < 10 * nr - 1);
		CU_ASSERT_EQUAL(ledger.ring.control->discarded, 51);
		CU_ASSERT_EQUAL(ledger.ring.control->overwritten, 0);
		stuck_commit();
		CU_ASSERT_EQUAL(write_record(0, 24), 1); /* the ring continues */
		CU_ASSERT_EQUAL(ledger.ring.control->overwritten, 10);
		expect_complete_ledger();
	}
}

static void a_waiting_subbuffer_does_not_stop_the_others(void)
{
	begin(HEADER + 10 * 24, 4, false);
	stuck_reserve();
	for (int i = 0; i < 39; i++)
		CU_ASSERT_EQUAL(write_record(0, 24), 1); /* in slots 1 2 3 0 */
	CU_ASSERT_PTR_NULL(subbuf_take(&ledger.ring));	 /* in order, so none before the first */
	CU_ASSERT_EQUAL(write_record(0, 24), 0);
	stuck_commit();
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 40);
}

static void a_time_beyond_32_bits_opens_a_new_base(void)
{
	static const struct {
		trace_u64 step;
		trace_u64 subbufs;
	} cases[] = {
		{0, 1},		 {1, 1},	  {(1ULL << 32) - 1, 1}, {1ULL << 32, 2}, {(1ULL << 32) + 1, 2},
		{1ULL << 33, 2}, {1ULL << 62, 2},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		begin(1024, 2, false);
		CU_ASSERT_EQUAL(write_record(0, 24), 1);
		now_ns += cases[i].step;
		CU_ASSERT_EQUAL(write_record(0, 24), 1);
		expect_complete_ledger(); /* it reconstructs both times */
		CU_ASSERT_EQUAL(ledger.subbufs, cases[i].subbufs);
		CU_ASSERT_EQUAL(ledger.found, 2);
	}
}

static void a_new_base_in_a_full_ring_is_a_counted_loss(void)
{
	begin(HEADER + 10 * 24, 2, false);
	for (int i = 0; i < 15; i++)
		write_record(0, 24);
	now_ns += 1ULL << 40;
	CU_ASSERT_EQUAL(write_record(0, 24), 0);
	CU_ASSERT_EQUAL(write_record(0, 24), 0);
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 15);
	CU_ASSERT_EQUAL(ledger.ring.control->discarded, 2);
}

static void a_filling_record_that_expires_closes_once(void)
{
	begin(HEADER + 10 * 24, 2, false);
	for (int i = 0; i < 9; i++)
		write_record(0, 24);
	now_ns += 1ULL << 32;
	CU_ASSERT_EQUAL(write_record(0, 24), 1);
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 10);
	CU_ASSERT_EQUAL(ledger.subbufs, 2);
}

/* A writer nested in another in another ..., each with a time that is too late for the base: the
 * offset must not overflow into the sequence number. */
static int late_writers;

static void late_writer(void)
{
	if (late_writers-- > 0)
		write_record(0, 24);
}

static void late_writers_that_all_expire_close_once(void)
{
	unsigned char *large = calloc(1, subbuf_ring_bytes(SUBBUF_MAX_BYTES, 2));

	for (int nested = 1; nested < 60; nested++) {
		memset(large, 0, SUBBUF_CONTROL_BYTES);
		memset(large + SUBBUF_CONTROL_BYTES, 0, 4096);
		memset(large + SUBBUF_CONTROL_BYTES + SUBBUF_MAX_BYTES, 0, 4096);
		ledger_init(&ledger, large, SUBBUF_MAX_BYTES, 2, false);
		now_step = 0;
		now_ns = 1000;
		write_record(0, 24);
		now_ns += 1ULL << 33;
		late_writers = nested;
		at_point = late_writer;
		write_record(1, 24);
		at_point = NULL;
		/* readings of nested writers are not kept apart, so only counts are compared */
		ledger.stored[0] = ledger.attempted[0];
		CU_ASSERT_EQUAL(ledger.ring.control->discarded, 0);
		CU_ASSERT_EQUAL(ledger.ring.control->position >> SUBBUF_OFFSET_BITS, 2);
		CU_ASSERT_EQUAL(subbuf_records(&ledger.ring, subbuf_slot(&ledger.ring, 1)), 1);
		subbuf_flush(&ledger.ring);
		CU_ASSERT_TRUE(subbuf_complete(&ledger.ring, 2));
		CU_ASSERT_EQUAL(subbuf_records(&ledger.ring, subbuf_slot(&ledger.ring, 2)),
				ledger_sum(ledger.attempted) - 1);
	}
	free(large);
}

static void a_clock_that_steps_back_keeps_the_base(void)
{
	begin(1024, 2, false);
	CU_ASSERT_EQUAL(write_record(0, 24), 1);
	now_ns -= 5;
	CU_ASSERT_EQUAL(write_record(0, 24), 1);
	CU_ASSERT_EQUAL(subbuf_slot(&ledger.ring, 1)->base, 1000);
	CU_ASSERT_EQUAL(((struct trace_record *)((char *)subbuf_slot(&ledger.ring, 1) + HEADER + 24))->time, 1000);
	((struct ledger_payload *)((char *)subbuf_slot(&ledger.ring, 1) + HEADER + 24 + 8))->clock = 1000;
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.subbufs, 1);
}

static void longest_records_fit(void)
{
	begin(SUBBUF_MIN_BYTES, 2, false);
	for (int i = 0; i < 1000; i++) {
		CU_ASSERT_EQUAL(write_record(0, TRACE_RECORD_MAX_BYTES), 1);
		if (wake)
			ledger_drain(&ledger);
	}
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 1000);
}

static void commit_carries_over_its_40_bits(void)
{
	trace_u64 uses = (1ULL << 40) / 16384;

	for (trace_u32 nr = 2; nr <= 4; nr *= 2) {
		begin(16384, nr, false);
		ledger_preset(&ledger, (uses - 3) * nr, 12345);
		for (int i = 0; i < 20000; i++) {
			CU_ASSERT_EQUAL(write_record(0, 24), 1);
			ledger_drain(&ledger);
		}
		expect_complete_ledger();
		CU_ASSERT_EQUAL(ledger.found, 20000);
		CU_ASSERT_TRUE(ledger.last_seq / nr > uses);
	}
}

static void the_count_of_records_wraps_at_24_bits(void)
{
	begin(16384, 2, false);
	ledger_preset(&ledger, 2000, 0xffffff - 100);
	for (int i = 0; i < 10000; i++) {
		write_record(0, 24);
		ledger_drain(&ledger);
	}
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 10000);
}

static void overwritten_is_exact_when_the_count_of_records_wraps(void)
{
	begin(HEADER + 10 * 24, 2, true);
	ledger_preset(&ledger, 2000, 0xffffff - 25);
	for (int i = 0; i < 103; i++)
		write_record(0, 24);
	CU_ASSERT_EQUAL(ledger.ring.control->overwritten, 90);
	CU_ASSERT_EQUAL(subbuf_slot(&ledger.ring, 2010)->records_ever, 0xffffff - 25 + 40); /* beyond its 24 bits */
	CU_ASSERT_EQUAL(subbuf_slot(&ledger.ring, 2011)->records_ever, 0xffffff - 25 + 50);
	CU_ASSERT_EQUAL(subbuf_records_before(&ledger.ring, 2011).records, 2 * (0xffffff - 25) + 100);
	expect_complete_ledger();
}

static void the_last_subbuffer_number_ends_the_ring_with_exact_counts(void)
{
	for (int overwrite = 0; overwrite <= 1; overwrite++) {
		begin(HEADER + 10 * 24, 4, overwrite);
		ledger_preset(&ledger, (1ULL << 38) - 3, 0);
		for (int i = 0; i < 20; i++)
			CU_ASSERT_EQUAL(write_record(0, 24), 1);
		for (int i = 0; i < 30; i++) {
			CU_ASSERT_EQUAL(write_record(0, 24), 0);
			if (!overwrite)
				ledger_drain(&ledger);
		}
		expect_complete_ledger();
		CU_ASSERT_EQUAL(ledger.found, 20);
		CU_ASSERT_EQUAL(ledger.ring.control->discarded, 30);
	}
}

/* ---- flushing ---- */

static void a_flush_waits_for_the_writer_inside(void)
{
	begin(1024, 2, false);
	stuck_reserve();
	CU_ASSERT_TRUE(subbuf_flush(&ledger.ring));
	CU_ASSERT_PTR_NULL(subbuf_take(&ledger.ring));
	CU_ASSERT_EQUAL(write_record(0, 24), 1); /* in the next sub-buffer */
	CU_ASSERT_PTR_NULL(subbuf_take(&ledger.ring));
	stuck_commit();
	CU_ASSERT_PTR_NOT_NULL(subbuf_take(&ledger.ring));
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 2);
}

/* A consumer dies in a flush. The next consumer waits for the writer inside, and does not mistake
 * the writer's missing bytes for those of the dead flush. */
static void an_interrupted_flush_is_finished_after_the_writer_commits(void)
{
	struct subbuf_control *control;
	trace_u64 position;

	begin(HEADER + 10 * 24, 4, false);
	control = ledger.ring.control;
	for (int i = 0; i < 3; i++)
		write_record(0, 24);
	stuck_reserve();
	position = control->flushing = control->position; /* it announced the flush ... */
	CU_ASSERT_TRUE(subbuf_finish_flush(&ledger.ring, true));
	CU_ASSERT_EQUAL(control->flushing, 0);
	CU_ASSERT_EQUAL(control->position, position);
	control->flushing = position;
	/* ... and did it, but did not commit the rest */
	control->position = (position & ~SUBBUF_OFFSET_MASK) | ledger.ring.subbuf_bytes;
	CU_ASSERT_FALSE(subbuf_finish_flush(&ledger.ring, true)); /* a writer is inside */
	CU_ASSERT_EQUAL(control->flushing, position);
	CU_ASSERT_FALSE(stuck_leave());
	CU_ASSERT_FALSE(subbuf_finish_flush(&ledger.ring, false));
	CU_ASSERT_FALSE(subbuf_complete(&ledger.ring, 1));
	CU_ASSERT_TRUE(subbuf_finish_flush(&ledger.ring, true));
	CU_ASSERT_TRUE(subbuf_complete(&ledger.ring, 1));
	for (int i = 0; i < 25; i++)
		write_record(0, 24);
	control->flushing = position; /* it had done everything except clear the announcement */
	CU_ASSERT_TRUE(subbuf_finish_flush(&ledger.ring, true));
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 29);
}

/* A daemon died when it was about to close a block that the program closes meanwhile, or when it
 * had taken the block away. */
static void a_block_that_its_program_closes_is_not_finished_twice(void)
{
	struct subbuf_control *control;
	trace_u64 begin_offset;

	begin(HEADER + 10 * 24, 4, false);
	control = ledger.ring.control;
	for (int i = 0; i < 3; i++)
		write_record(0, 24);
	begin_offset = control->position & SUBBUF_OFFSET_MASK;
	control->position = (control->position & ~SUBBUF_OFFSET_MASK) | ledger.ring.subbuf_bytes;
	control->block = SUBBUF_BLOCK_NONE;
	control->block_begin = control->flushing_block_begin = begin_offset;
	control->block_moving = control->flushing_block = 1ULL << SUBBUF_BLOCK_SEQ_SHIFT | begin_offset;
	CU_ASSERT_FALSE(subbuf_finish_flush_block(&ledger.ring, true));
	CU_ASSERT_NOT_EQUAL(control->flushing_block, 0);
	CU_ASSERT_FALSE(subbuf_complete(&ledger.ring, 1));
	control->block_moving = 0;
	CU_ASSERT_FALSE(subbuf_finish_flush_block(&ledger.ring, false)); /* the missing bytes may be a writer's */
	CU_ASSERT_TRUE(subbuf_finish_flush_block(&ledger.ring, true));
	CU_ASSERT_TRUE(subbuf_complete(&ledger.ring, 1));
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 3);
}

static void a_flush_before_each_record_loses_nothing(void)
{
	begin(1024, 2, false);
	for (int i = 0; i < 1000; i++) {
		CU_ASSERT_EQUAL(write_record(0, 24), 1);
		CU_ASSERT_TRUE(subbuf_flush(&ledger.ring));
		ledger_drain(&ledger);
	}
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger.found, 1000);
	CU_ASSERT_EQUAL(ledger.subbufs, 1000);
}

/* ---- nested writers: a signal at every point of a record, and a second one at every point of the
 * first ---- */

static int points_left[3]; /* by depth: the signal comes when this reaches 0 */
static int depth;
static int signals; /* delivered */
static int signal_records;
static int signal_flushes;
static trace_u64 signal_time;

static void maybe_signal(void)
{
	trace_u64 interrupted[2] = {now_read[0], now_read[1]};

	if (depth >= 2 || points_left[depth]-- != 0)
		return;
	depth++;
	signals |= 1 << depth;
	now_ns += signal_time;
	for (int i = 0; i < signal_records; i++)
		write_record((unsigned int)depth, i & 1 ? 24 : 40);
	if (signal_flushes)
		subbuf_flush(&ledger.ring);
	depth--;
	memcpy(now_read, interrupted, sizeof(interrupted));
}

struct nesting {
	trace_u32 before; /* records already in the ring */
	trace_u32 nr_subbufs;
	int records; /* of each signal */
	bool overwrite;
	bool drained;  /* the records already in the ring were taken */
	int flushes;   /* the signal also flushes */
	trace_u64 gap; /* ns that pass before the record, and before each signal's */
};

/* One run. Returns the depths that were reached. */
static int nest(const struct nesting *n, int first, int second)
{
	begin(HEADER + 4 * 24, n->nr_subbufs, n->overwrite);
	for (trace_u32 i = 0; i < n->before; i++)
		write_record(0, 24);
	if (n->drained)
		ledger_drain(&ledger);
	now_ns += n->gap;
	signal_time = n->gap;
	signal_records = n->records;
	signal_flushes = n->flushes;
	points_left[0] = first;
	points_left[1] = second;
	depth = signals = 0;
	at_point = maybe_signal;
	write_record(0, 24);
	at_point = NULL;
	write_record(0, 24);
	expect_complete_ledger();
	return signals;
}

static void writers_nest_at_every_point(void)
{
	static const trace_u64 gaps[] = {0, 1ULL << 31, 1ULL << 32};
	struct nesting n = {0};
	int runs = 0, nr = 0, first, second, reached;

	for (n.nr_subbufs = 2; n.nr_subbufs <= 4; n.nr_subbufs *= 2)
		for (n.before = 0; n.before <= 9; n.before++)
			for (n.records = 1; n.records <= 6; n.records += n.records == 2 ? 4 : 1)
				for (int mode = 0; mode < 3; mode++)
					for (n.flushes = 0; n.flushes <= 1; n.flushes++)
						for (int gap = 0; gap < 3; gap++) {
							if (nr++ % unit_step(13))
								continue;
							n.overwrite = mode == 2;
							n.drained = mode == 1;
							n.gap = gaps[gap];
							first = 0;
							do {
								second = 0;
								do {
									reached = nest(&n, first, second++);
									runs++;
								} while (reached & 4 && !ledger.fault);
								first++;
							} while (reached & 2 && !ledger.fault);
							if (ledger.fault) {
								printf("(before %u, nr %u, records %d, mode %d, "
								       "flushes %d, gap %d, points %d %d) ",
								       n.before, n.nr_subbufs, n.records, mode,
								       n.flushes, gap, first - 1, second - 1);
								return;
							}
						}
	printf("(%d runs) ", runs);
}

/* ---- writers in threads ---- */

struct thread_plan {
	unsigned int id;
	int records;
	pthread_t thread;
};

static _Atomic int writers_running;

static void *write_in_thread(void *argument)
{
	struct thread_plan *plan = argument;
	unsigned int random = plan->id + 1;
	int woken = 0;

	for (int i = 0; i < plan->records; i++) {
		random = random * 1103515245 + 12345;
		ledger_write(&ledger, plan->id, 24 + 8 * (random >> 16 & 7), now_read, &woken);
		if ((random >> 24 & 63) == 0)
			sched_yield();
	}
	atomic_fetch_sub(&writers_running, 1);
	return NULL;
}

static void *flush_in_thread(void *argument)
{
	(void)argument;
	while (atomic_load(&writers_running) > 0) {
		trace_u64 open = __atomic_load_n(&ledger.ring.control->position, __ATOMIC_RELAXED) >>
				 SUBBUF_OFFSET_BITS;

		/* Not while the consumer is late: flushes alone would fill the ring. */
		if (open - __atomic_load_n(&ledger.ring.control->consumed, __ATOMIC_RELAXED) <=
		    (ledger.ring.nr_subbufs + 1) / 2)
			subbuf_flush(&ledger.ring);
		usleep(200);
	}
	return NULL;
}

/* @drain: a consumer runs concurrently with the writers. */
static void run_threads(int writers, int records, bool drain, trace_u64 clock_step)
{
	struct thread_plan plans[LEDGER_MAX_WRITERS];
	pthread_t flusher;

	now_step = clock_step;
	writers_running = writers;
	for (int i = 0; i < writers; i++) {
		plans[i] = (struct thread_plan){.id = (unsigned int)i, .records = records};
		CU_ASSERT_EQUAL_FATAL(pthread_create(&plans[i].thread, NULL, write_in_thread, &plans[i]), 0);
	}
	CU_ASSERT_EQUAL_FATAL(pthread_create(&flusher, NULL, flush_in_thread, NULL), 0);
	while (atomic_load(&writers_running) > 0 && drain) {
		ledger_drain(&ledger);
		sched_yield();
	}
	for (int i = 0; i < writers; i++)
		pthread_join(plans[i].thread, NULL);
	pthread_join(flusher, NULL);
	expect_complete_ledger();
	CU_ASSERT_EQUAL(ledger_sum(ledger.attempted), (trace_u64)writers * (trace_u64)records);
}

static int thread_records = 30000;

static void threads_lose_nothing_uncounted(void)
{
	begin(1024, 2, false);
	run_threads(4, thread_records, true, 1);
	printf("(%llu found, %llu discarded) ", (unsigned long long)ledger.found,
	       (unsigned long long)ledger.ring.control->discarded);
}

static void threads_with_room_lose_nothing(void)
{
	begin(1 << 16, 64, false); /* room for everything, however late the consumer is */
	run_threads(4, 9000, true, 1);
	CU_ASSERT_EQUAL(ledger.ring.control->discarded, 0);
}

static void threads_with_expiring_times_lose_nothing_uncounted(void)
{
	begin(1024, 8, false);
	run_threads(4, thread_records, true, 1ULL << 30);
}

static void threads_overwriting_lose_nothing_uncounted(void)
{
	begin(1024, 4, true);
	run_threads(4, thread_records, false, 1);
	CU_ASSERT_TRUE(ledger.ring.control->overwritten > 0);
}

static const struct unit_case cases[] = {
	{"a_new_ring_is_empty", a_new_ring_is_empty},
	{"a_filled_subbuffer_is_complete_and_wakes", a_filled_subbuffer_is_complete_and_wakes},
	{"a_record_that_does_not_fit_closes_and_wakes", a_record_that_does_not_fit_closes_and_wakes},
	{"many_laps_lose_nothing", many_laps_lose_nothing},
	{"full_discards_and_counts_exactly", full_discards_and_counts_exactly},
	{"overwriting_counts_exactly", overwriting_counts_exactly},
	{"overwriting_never_touches_a_writer_inside", overwriting_never_touches_a_writer_inside},
	{"a_waiting_subbuffer_does_not_stop_the_others", a_waiting_subbuffer_does_not_stop_the_others},
	{"a_time_beyond_32_bits_opens_a_new_base", a_time_beyond_32_bits_opens_a_new_base},
	{"a_new_base_in_a_full_ring_is_a_counted_loss", a_new_base_in_a_full_ring_is_a_counted_loss},
	{"a_filling_record_that_expires_closes_once", a_filling_record_that_expires_closes_once},
	{"late_writers_that_all_expire_close_once", late_writers_that_all_expire_close_once},
	{"a_clock_that_steps_back_keeps_the_base", a_clock_that_steps_back_keeps_the_base},
	{"longest_records_fit", longest_records_fit},
	{"commit_carries_over_its_40_bits", commit_carries_over_its_40_bits},
	{"the_count_of_records_wraps_at_24_bits", the_count_of_records_wraps_at_24_bits},
	{"overwritten_is_exact_when_the_count_of_records_wraps", overwritten_is_exact_when_the_count_of_records_wraps},
	{"the_last_subbuffer_number_ends_the_ring_with_exact_counts",
	 the_last_subbuffer_number_ends_the_ring_with_exact_counts},
	{"a_flush_waits_for_the_writer_inside", a_flush_waits_for_the_writer_inside},
	{"an_interrupted_flush_is_finished_after_the_writer_commits",
	 an_interrupted_flush_is_finished_after_the_writer_commits},
	{"a_block_that_its_program_closes_is_not_finished_twice",
	 a_block_that_its_program_closes_is_not_finished_twice},
	{"a_flush_before_each_record_loses_nothing", a_flush_before_each_record_loses_nothing},
	{"writers_nest_at_every_point", writers_nest_at_every_point},
	{"threads_lose_nothing_uncounted", threads_lose_nothing_uncounted},
	{"threads_with_room_lose_nothing", threads_with_room_lose_nothing},
	{"threads_with_expiring_times_lose_nothing_uncounted", threads_with_expiring_times_lose_nothing_uncounted},
	{"threads_overwriting_lose_nothing_uncounted", threads_overwriting_lose_nothing_uncounted},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (getenv("TRACE_TEST_LONG"))
		thread_records = 3000000;
	if (getenv("TRACE_TEST_QUICK"))
		thread_records = 3000;
	return unit_main("subbuf", cases, argc, argv);
}
