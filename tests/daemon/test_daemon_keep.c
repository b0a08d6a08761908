/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The flight recorder of the last seconds, with a tracer in plain memory: a save is a whole trace
 * of what is kept, and what was dropped is counted. */
#include <pthread.h>
#include "clock.h"
#include "keep_case.h"
#include "keep_shrink.h"
#include "own_records.h"
#include "unit.h"

#define MANY (1u << 30) /* bytes that no test needs */

static void a_save_holds_all_that_is_kept(void)
{
	struct keeping keeping = keeping_new(LONG_NS, MANY);
	struct found found;

	for (int i = 0; i < 99; i++)
		CU_ASSERT(fake_switch(keeping.bench.tracer, 0));
	CU_ASSERT(fake_exec(keeping.bench.tracer, 1, "/bin/true"));
	fake_delay(keeping.bench.tracer, 0); /* deferred until the save */
	found = keeping_save(&keeping);
	CU_ASSERT_EQUAL(found.switches[0], 100);
	CU_ASSERT_EQUAL(found.execs, 1);
	CU_ASSERT_EQUAL(found.masks, 1);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	CU_ASSERT(found.clean_end);
	for (int i = 0; i < 10; i++)
		CU_ASSERT(fake_switch(keeping.bench.tracer, 1));
	found = keeping_save(&keeping);
	CU_ASSERT_EQUAL(found.switches[0], 100);
	CU_ASSERT_EQUAL(found.switches[1], 10);
	CU_ASSERT_EQUAL(found.waits, 1);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	keeping_free(&keeping);
}

/* Every chunk is too old when the next one comes. */
static void dropped_events_are_counted(void)
{
	struct keeping keeping = keeping_new(1, MANY);
	struct found found;

	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 10; i++)
			CU_ASSERT(fake_switch(keeping.bench.tracer, 0));
		CU_ASSERT(fake_exec(keeping.bench.tracer, 0, "/bin/true"));
		keeping_flush(&keeping);
	}
	found = keeping_save(&keeping);
	CU_ASSERT_EQUAL(found.switches[0], 10);
	CU_ASSERT_EQUAL(found.execs, 5); /* they describe threads that are older */
	CU_ASSERT(found.lost >= 40);
	CU_ASSERT_EQUAL(found.undeclared, 0);
	CU_ASSERT_EQUAL(found.masks, 1);
	CU_ASSERT_EQUAL(found.verify, 0);
	keeping_free(&keeping);
}

static void a_dropped_mask_stays_until_the_next_one(void)
{
	static const uint64_t masks[2][TRACE_MASK_WORDS] = {{1}, {2}};
	struct keeping keeping = keeping_new(1, MANY);
	struct found found;

	recording_select(keeping.recording, "a:*");
	for (int round = 0; round < 4; round++) {
		recording_mark(keeping.recording, "old");
		CU_ASSERT(fake_switch(keeping.bench.tracer, 0));
		keeping_flush(&keeping);
	}
	found = keeping_save(&keeping);
	CU_ASSERT_EQUAL(found.masks, 1);
	CU_ASSERT_EQUAL(found.selects, 1);
	CU_ASSERT_EQUAL(found.verify, 0);
	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(recording_set_mask(keeping.recording, masks[i], &keeping.bench.error), 0);
	for (int round = 0; round < 4; round++) {
		recording_mark(keeping.recording, "old");
		CU_ASSERT(fake_switch(keeping.bench.tracer, 0));
		keeping_flush(&keeping);
	}
	found = keeping_save(&keeping);
	CU_ASSERT_EQUAL(found.masks, 1);
	CU_ASSERT_EQUAL(found.selects, 1);
	CU_ASSERT(found.marks < 8);
	CU_ASSERT_EQUAL(found.verify, 0);
	keeping_free(&keeping);
}

static void too_little_memory_is_told(void)
{
	struct keeping keeping = keeping_new(LONG_NS, 16384);
	struct keep_status status, cpu;
	struct found found;

	keep_get_status(keeping.keep, &status);
	CU_ASSERT_FALSE(status.is_short);
	CU_ASSERT_EQUAL(status.since_ns, recording_start_ns(keeping.recording));
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 100; i++)
			CU_ASSERT(fake_switch(keeping.bench.tracer, 0));
		keeping_flush(&keeping);
	}
	keep_get_status(keeping.keep, &status);
	CU_ASSERT(status.is_short);
	CU_ASSERT(status.since_ns > recording_start_ns(keeping.recording));
	CU_ASSERT(status.bytes <= 16384);
	keep_get_cpu_status(keeping.keep, 0, &cpu);
	CU_ASSERT_EQUAL(cpu.since_ns, status.since_ns);
	CU_ASSERT(cpu.bytes < status.bytes);
	found = keeping_save(&keeping);
	CU_ASSERT(found.switches[0] >= 100);
	CU_ASSERT(found.switches[0] + found.lost >= 10000);
	CU_ASSERT(keeping.saved.held_ns <= clock_now() - status.since_ns);
	CU_ASSERT_EQUAL(found.verify, 0);
	keeping_free(&keeping);
}

static void save_has(struct keeping *keeping, uint64_t switches, uint64_t lost)
{
	struct found found = keeping_save(keeping);

	CU_ASSERT_EQUAL(found.switches[0], switches);
	CU_ASSERT_EQUAL(found.lost, lost);
	CU_ASSERT_EQUAL(found.verify, 0);
}

/* No later record in the save could show what is missing. */
static void a_writer_that_is_inside_hides_no_loss_of_a_save(void)
{
	struct keeping keeping = keeping_new(LONG_NS, MANY);

	for (int i = 0; i < 10; i++)
		CU_ASSERT(fake_switch(keeping.bench.tracer, 0));
	fake_hold(keeping.bench.tracer, 0);
	save_has(&keeping, 0, 10);
	fake_release(keeping.bench.tracer, 0);
	save_has(&keeping, 11, 0);
	keeping_free(&keeping);
}

/*
 * While the state is read, ten events come before each of its records: the save has them, as they
 * may change what was read.
 */
static void a_save_has_what_comes_while_the_state_is_read(void)
{
	struct keeping keeping = keeping_new(LONG_NS, MANY);
	struct found found;

	for (int i = 0; i < 5; i++)
		CU_ASSERT(fake_switch(keeping.bench.tracer, 0));
	fake_start_records(keeping.bench.tracer, 300);
	found = keeping_save(&keeping);
	CU_ASSERT_EQUAL(found.switches[0], 3005);
	CU_ASSERT_EQUAL(found.waits, 1);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	fake_start_records(keeping.bench.tracer, 0);
	found = keeping_save(&keeping);
	CU_ASSERT_EQUAL(found.switches[0], 3005);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	keeping_free(&keeping);
}

static void a_reset_drops_what_is_kept(void)
{
	struct keeping keeping = keeping_new(LONG_NS, MANY);
	struct found found;

	for (int i = 0; i < 50; i++)
		CU_ASSERT(fake_switch(keeping.bench.tracer, 0));
	keeping_flush(&keeping);
	keep_reset(keeping.keep, clock_now());
	for (int i = 0; i < 7; i++)
		CU_ASSERT(fake_switch(keeping.bench.tracer, 0));
	found = keeping_save(&keeping);
	CU_ASSERT_EQUAL(found.switches[0], 7);
	CU_ASSERT_EQUAL(found.masks, 1);
	CU_ASSERT_EQUAL(found.verify, 0);
	keeping_free(&keeping);
}

static void saves_while_producers_run_are_whole(void)
{
	struct keeping keeping;
	struct found found;

	setenv("TRACE_FAKE_EVENTS", "100000000", 1);
	setenv("TRACE_FAKE_PAUSE_US", "50", 1);
	keeping = keeping_new(20000000, MANY);
	unsetenv("TRACE_FAKE_EVENTS");
	unsetenv("TRACE_FAKE_PAUSE_US");
	for (int i = 0; i < 10; i++) {
		for (int n = 0; n < 5; n++) {
			usleep(1000);
			keeping_flush(&keeping);
		}
		found = keeping_save(&keeping);
		CU_ASSERT_EQUAL(found.disorder, 0);
		CU_ASSERT_EQUAL(found.verify, 0);
	}
	tracer_stop(keeping.bench.tracer);
	keeping_free(&keeping);
}

/* ---- compressing once more ---- */

enum { BLOCK_EVENTS = 20000, BLOCKS = 4 };

/** struct feed - a writer that gives its chunks to a keep */
struct feed {
	struct keep *keep;
	struct trace_writer *writer;
	uint64_t seq;
};

static struct feed feed_new(const struct keep_options *options)
{
	struct feed feed = {.keep = keep_new(options)};
	struct trace_writer_options of = {.size = sizeof(of), .take = keep_take, .take_context = feed.keep};

	feed.writer = trace_writer_new(-1, &of, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(feed.writer);
	keep_begin(feed.keep, 0);
	return feed;
}

/* Results of calls that repeat, but not exactly. */
static void feed_block(struct feed *feed, uint32_t stream, uint32_t nr)
{
	uint64_t *words = malloc(nr * sizeof(*words) * 2), now_ns = clock_now();
	struct trace_source source = {.records = words,
				      .bytes = nr * sizeof(*words) * 2,
				      .base_ns = now_ns - now_ns % 1000 + 50 * feed->seq,
				      .seq = ++feed->seq,
				      .stream = stream,
				      .cpu = stream / 2,
				      .nr_records = nr,
				      .kind = TRACE_CHUNK_EVENTS};
	uint32_t random = 1;

	for (uint32_t i = 0; i < nr; i++) {
		struct trace_record record = {.time = (uint32_t)source.base_ns + i,
					      .id = TRACE_EV_sys_exit,
					      .words = 2};

		random = random * 1664525 + 1013904223;
		memcpy(&words[2 * i], &record, sizeof(*words));
		words[2 * i + 1] = (random >> 8) % 50 * (1 + i / 1000);
	}
	CU_ASSERT_EQUAL(trace_writer_write(feed->writer, trace_writer_pack(feed->writer, &source, NULL), NULL), 0);
	free(words);
}

/** struct kept_sum - of a stream's chunks. @bytes: their payloads, up to chunk BLOCKS */
struct kept_sum {
	size_t nr, bytes, all_bytes;
	uint64_t events;
	bool in_order;
};

static struct kept_sum sum_of(struct keep *keep, uint32_t stream)
{
	size_t nr;
	struct kept_chunk **list = keep_list(keep, &nr);
	struct kept_sum sum = {.in_order = true};
	uint64_t seq = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct trace_chunk_header *header = &list[i]->header;

		if (header->stream == stream && header->kind == TRACE_CHUNK_EVENTS) {
			sum.nr++;
			sum.events += header->events;
			sum.bytes += header->seq <= BLOCKS ? header->packed_bytes : 0;
			sum.all_bytes += sizeof(struct kept_chunk) + header->packed_bytes;
			sum.in_order &= header->seq > seq;
			seq = header->seq;
		}
		kept_chunk_release(list[i]);
	}
	free(list);
	return sum;
}

static void feed_free(struct feed *feed)
{
	trace_writer_free(feed->writer);
	keep_free(feed->keep);
}

/* The thread has an idle priority, so the test waits for it as long as it takes. */
static void what_is_kept_gets_shorter_and_stays_the_same(void)
{
	struct feed feed = feed_new(&(struct keep_options){.keep_ns = LONG_NS, .max_bytes = MANY, .shrinks = true}),
		    other = feed_new(&(struct keep_options){.keep_ns = LONG_NS, .max_bytes = MANY});
	struct keep_status status;
	struct kept_sum sum, whole;
	uint64_t more = 0;

	for (int i = 0; i < BLOCKS; i++) {
		feed_block(&feed, 0, BLOCK_EVENTS);
		feed_block(&other, 0, BLOCK_EVENTS);
	}
	whole = sum_of(other.keep, 0);
	for (sum = whole; sum.bytes > whole.bytes - whole.bytes / 50 && more < 20000; more++) {
		feed_block(&feed, 0, 1); /* what is done is taken with the next chunk */
		usleep(3000);
		sum = sum_of(feed.keep, 0);
	}
	CU_ASSERT(sum.bytes < whole.bytes);
	CU_ASSERT_EQUAL(sum.nr, BLOCKS + more);
	CU_ASSERT_EQUAL(sum.events, BLOCKS * BLOCK_EVENTS + more);
	CU_ASSERT(sum.in_order);
	keep_get_status(feed.keep, &status);
	CU_ASSERT_EQUAL(status.bytes, sum.all_bytes);
	feed_free(&feed);
	feed_free(&other);
}

/* A chunk is dropped while the thread has it, and the ring has no room for all of them. */
static void a_dropped_chunk_may_be_in_the_hands_of_the_thread(void)
{
	struct feed feed = feed_new(&(struct keep_options){.keep_ns = 1, .max_bytes = MANY, .shrinks = true});
	struct keep_status status;
	struct kept_sum sums[2];

	for (int round = 0; round < 60; round++) {
		feed_block(&feed, 2 * (round % 2), 2000);
		usleep(round % 3 * 1000);
		if (round % 20 == 19)
			keep_reset(feed.keep, clock_now());
	}
	feed_block(&feed, 0, 2000);
	feed_block(&feed, 2, 2000);
	sums[0] = sum_of(feed.keep, 0);
	sums[1] = sum_of(feed.keep, 2);
	CU_ASSERT(sums[0].in_order && sums[1].in_order);
	keep_get_status(feed.keep, &status);
	CU_ASSERT_EQUAL(status.bytes, sums[0].all_bytes + sums[1].all_bytes);
	feed_free(&feed);
}

static void a_ring_without_a_free_slot_takes_nothing(void)
{
	struct kept_chunk *chunk = calloc(1, sizeof(*chunk) + 64), *given, *shorter;
	struct keep_shrink *shrink = keep_shrink_new();
	int nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(shrink);
	chunk->users = 1;
	chunk->header.packed_bytes = 64; /* not compressed, so it stays as it is */
	while (nr < 100 && keep_shrink_give(shrink, chunk))
		nr++;
	CU_ASSERT_EQUAL(nr, 8);
	while (!keep_shrink_take(shrink, &given, &shorter))
		usleep(1000);
	CU_ASSERT_PTR_EQUAL(given, chunk);
	CU_ASSERT_PTR_NULL(shorter);
	kept_chunk_release(given);
	CU_ASSERT(keep_shrink_give(shrink, chunk));
	keep_shrink_free(shrink);
	CU_ASSERT_EQUAL(chunk->users, 1);
	kept_chunk_release(chunk);
}

/* ---- the chunks by themselves ---- */

/* Puts a chunk with one event, and the ages of its first and last one. */
static int put(struct keep *keep, uint32_t stream, uint64_t seq, uint64_t now_ns, uint64_t from_age_ns,
	       uint64_t to_age_ns)
{
	struct trace_chunk_header header = {.kind = TRACE_CHUNK_EVENTS,
					    .stream = stream,
					    .cpu = stream / 2,
					    .seq = seq,
					    .events = 1,
					    .events_before = seq - 1,
					    .first_ns = now_ns - from_age_ns,
					    .last_ns = now_ns - to_age_ns,
					    .packed_bytes = 1};

	return keep_take(keep, &header, "");
}

static size_t count(struct keep *keep, uint32_t stream)
{
	size_t nr, found = 0;
	struct kept_chunk **list = keep_list(keep, &nr);

	for (size_t i = 0; i < nr; i++) {
		found += list[i]->header.stream == stream;
		kept_chunk_release(list[i]);
	}
	free(list);
	return found;
}

/* A second, or less on a machine that has just booted: no event is older than the machine. */
static uint64_t unit_of(uint64_t now_ns)
{
	uint64_t unit_ns = now_ns / 4000;

	return unit_ns < 1000000000 ? unit_ns : 1000000000;
}

/* The recorder keeps events at least for the time that is asked for. */
static void a_chunk_goes_when_the_next_one_is_old_enough(void)
{
	uint64_t now_ns = clock_now(), unit = unit_of(now_ns);
	struct keep *keep = keep_new(&(struct keep_options){.keep_ns = 1000 * unit, .max_bytes = MANY});
	struct keep_status status;

	put(keep, 0, 1, now_ns, 3000 * unit, 1900 * unit);
	put(keep, 0, 2, now_ns, 1800 * unit, 1500 * unit);
	CU_ASSERT_EQUAL(count(keep, 0), 1);
	put(keep, 0, 3, now_ns, 500 * unit, 400 * unit);
	CU_ASSERT_EQUAL(count(keep, 0), 2);
	keep_get_status(keep, &status);
	CU_ASSERT_EQUAL(status.since_ns, now_ns - 1800 * unit);
	CU_ASSERT_FALSE(status.is_short);
	keep_free(keep);
}

/* An event of a program that is younger than the events of a CPU belongs to the saved time. */
static void programs_keep_what_all_cpus_have(void)
{
	uint64_t now_ns = clock_now(), unit = unit_of(now_ns);
	struct keep *keep = keep_new(&(struct keep_options){.keep_ns = 1000 * unit, .max_bytes = MANY});

	put(keep, 0, 1, now_ns, 3000 * unit, 2000 * unit);
	put(keep, 0, 2, now_ns, 1900 * unit, 100 * unit); /* the CPU has all from here on */
	put(keep, 0x10000, 1, now_ns, 2500 * unit, 2400 * unit);
	put(keep, 0x10000, 2, now_ns, 1950 * unit, 1850 * unit);
	put(keep, 0x10000, 3, now_ns, 1800 * unit, 1700 * unit);
	put(keep, 0x10001, 1, now_ns, 2500 * unit, 2400 * unit); /* the program has ended */
	CU_ASSERT_EQUAL(count(keep, 0x10000), 2);
	CU_ASSERT_EQUAL(count(keep, 0x10001), 0);
	keep_free(keep);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_save_holds_all_that_is_kept),
		CASE(dropped_events_are_counted),
		CASE(a_dropped_mask_stays_until_the_next_one),
		CASE(too_little_memory_is_told),
		CASE(a_writer_that_is_inside_hides_no_loss_of_a_save),
		CASE(a_save_has_what_comes_while_the_state_is_read),
		CASE(a_reset_drops_what_is_kept),
		CASE(saves_while_producers_run_are_whole),
		CASE(what_is_kept_gets_shorter_and_stays_the_same),
		CASE(a_dropped_chunk_may_be_in_the_hands_of_the_thread),
		CASE(a_ring_without_a_free_slot_takes_nothing),
		CASE(a_chunk_goes_when_the_next_one_is_old_enough),
		CASE(programs_keep_what_all_cpus_have),
		{NULL, NULL},
	};

	return unit_main("flight recorder of the last seconds", cases, argc, argv);
}
