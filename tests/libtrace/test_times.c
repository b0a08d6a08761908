/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_times.c - times are decoded exactly, whatever the clock does, and a clock with steps is
 * recognised.
 *
 * The test makes its clocks as the kernel does: a counter, rounded down to cycles, times a factor,
 * rounded down to ns.
 */
#include "../../libtrace/prefix.h"
#include "../../libtrace/times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum {
	NR = 20000,
	NR_TYPES = 12,
};

/**
 * struct clock - a clock of the test
 * @step_cycles: cycles of the counter's steps
 * @ns_per_cycle: changes by @drift with every event
 */
struct clock {
	double step_cycles;
	double ns_per_cycle;
	double drift;
	double jump; /* ns, in a pause */
	uint64_t steps;
	double cycles; /* at the last change of the factor, and the ns then */
	double ns;
};

static uint32_t clock_read(struct clock *clock, uint64_t steps)
{
	double cycles, ns;

	clock->steps += steps;
	cycles = floor((double)clock->steps * clock->step_cycles + 0.3);
	ns = clock->ns + (cycles - clock->cycles) * clock->ns_per_cycle;
	clock->ns = ns;
	clock->cycles = cycles;
	clock->ns_per_cycle *= 1 + clock->drift;
	return (uint32_t)ns;
}

/* The times of a busy CPU: mostly less than 200 steps apart, sometimes a pause. */
static void clock_times(struct clock *clock, uint32_t *times, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t pause = i % 500 ? 0 : 20000 + (uint64_t)(random() % 200000);

		clock->ns += pause ? clock->jump : 0;
		times[i] = clock_read(clock, pause ? pause : (uint64_t)(random() % (1 + random() % 200)));
	}
	for (size_t i = n; i-- > 0;)
		times[i] -= times[0];
}

static struct clock_model model_new(void)
{
	return (struct clock_model){.lock = PTHREAD_MUTEX_INITIALIZER};
}

/**
 * struct coded - encoded times
 * @type_idxs, @events: the types of the events
 */
struct coded {
	struct trace_columns_times head;
	unsigned char *type_idxs; /* owned */
	uint32_t events[NR_TYPES];
	uint16_t ids[NR_TYPES];
	size_t n;
	unsigned char *data; /* owned; of exactly the size that is needed */
	size_t bytes;
};

/* A quarter of the events have the first type, an eighth the second, and so on; the rarest types
 * share a code. */
static void coded_types(struct coded *coded, size_t n)
{
	*coded = (struct coded){.type_idxs = malloc(n), .n = n};
	for (uint16_t i = 0; i < NR_TYPES; i++)
		coded->ids[i] = (uint16_t)(1000 + i);
	for (size_t i = 0; i < n; i++) {
		coded->type_idxs[i] = i < NR_TYPES ? (unsigned char)i
						   : (unsigned char)((unsigned int)__builtin_ctz((unsigned int)i |
												 1u << (NR_TYPES - 1)));
		coded->events[coded->type_idxs[i]]++;
	}
}

static void coded_free(struct coded *coded)
{
	free(coded->type_idxs);
	free(coded->data);
}

static struct times_block block_of(const struct coded *coded, const uint32_t *times, void *scratch)
{
	return (struct times_block){.times = times,
				    .type_idxs = coded->type_idxs,
				    .ids = coded->ids,
				    .events = coded->events,
				    .n = coded->n,
				    .nr_types = coded->n < NR_TYPES ? (uint32_t)coded->n : NR_TYPES,
				    .scratch = scratch};
}

/* Encodes the times of events with the types in @ret_coded. */
static void code_as(struct coded *ret_coded, const uint32_t *times, struct clock_model *model,
		    struct times_learned *learned)
{
	size_t n = ret_coded->n;
	unsigned char *room = malloc(times_bound(n)), *codes;
	void *scratch = malloc(times_encode_room(n));
	struct times_block block;
	struct coded coded = *ret_coded;

	block = block_of(&coded, times, scratch);
	coded.bytes = (size_t)(times_encode(room, &block, model, learned, &coded.head, &codes) - room);
	CU_ASSERT_EQUAL(times_bytes(&coded.head), coded.bytes);
	CU_ASSERT_EQUAL((size_t)(codes - room), 2 * (size_t)coded.head.nr_corrections);
	CU_ASSERT_TRUE(coded.bytes <= times_bound(n));
	coded.data = malloc(coded.bytes);
	memcpy(coded.data, room, coded.bytes);
	free(room);
	free(scratch);
	*ret_coded = coded;
}

static struct coded code(const uint32_t *times, size_t n, struct clock_model *model)
{
	struct times_learned learned = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct coded coded;

	coded_types(&coded, n);
	code_as(&coded, times, model, &learned);
	return coded;
}

static bool decode(const struct coded *coded, size_t bytes, uint64_t *ns)
{
	void *scratch = malloc(times_decode_room(coded->n));
	struct times_block block = block_of(coded, NULL, scratch);
	bool good = times_decode(coded->data, coded->data + bytes, &coded->head, &block, 5000, ns);

	free(scratch);
	return good;
}

/* Encodes and decodes @times, and checks that they are equal. Returns the head. */
static struct trace_columns_times round_trip(const uint32_t *times, size_t n, struct clock_model *model)
{
	struct coded coded = code(times, n, model);
	uint64_t *ns = malloc(n * sizeof(*ns));
	size_t nr_wrong = 0;

	CU_ASSERT_TRUE(decode(&coded, coded.bytes, ns));
	for (size_t i = 0; i < n; i++)
		nr_wrong += ns[i] != 5000 + (uint64_t)times[i];
	CU_ASSERT_EQUAL(nr_wrong, 0);
	free(ns);
	coded_free(&coded);
	return coded.head;
}

static void few_and_distant_times_are_decoded_exactly(void)
{
	static const uint32_t times[][3] = {
		{0, 0, 0}, {0, 1, UINT32_MAX}, {0, UINT32_MAX, UINT32_MAX}, {0, 15, 31}, {0, 0x7fffffff, 0x80000000}};
	struct clock_model model = model_new();

	model.step = 43030000000; /* about 10 ns */
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		for (size_t n = 1; n <= 3; n++) {
			round_trip(times[i], n, NULL);
			round_trip(times[i], n, &model);
		}
}

static void every_distance_is_decoded_exactly(void)
{
	uint32_t *times = calloc(70000, sizeof(*times)), nr = 1;

	for (uint32_t i = 0; i < 65000; i++, nr++)
		times[nr] = times[nr - 1] + i;
	for (uint32_t i = 0; i < 31; i++, nr++)
		times[nr] = times[nr - 1] + (times[nr - 1] < 1u << 31 ? 1u << i : 1);
	round_trip(times, nr, NULL);
	free(times);
}

/* The decoder takes bits from a word of 64. Two long distances in a row, which are rare and have
 * long codes, fill it now and then. */
static void long_distances_in_a_row_are_decoded_exactly(void)
{
	static uint32_t times[4000];

	srandom(1);
	for (int block = 0; block < 200; block++) {
		struct clock_model model = model_new();

		for (size_t i = 1; i < 4000; i++)
			times[i] = times[i - 1] + (uint32_t)random() % (i % 100 < 2 ? 1u << (15 + random() % 12) : 200);
		round_trip(times, 4000, &model);
	}
}

static void a_clock_that_goes_in_steps_is_recognized(void)
{
	static const struct {
		double step_cycles, ns_per_cycle;
	} clocks[] = {{24.5, 0.408926}, {34, 0.29411}, {1, 41.6666}, {22.5, 0.44445}};
	uint32_t *times = malloc(NR * sizeof(*times));

	srandom(1);
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		struct clock clock = {.step_cycles = clocks[i].step_cycles, .ns_per_cycle = clocks[i].ns_per_cycle};
		double step = clock.step_cycles * clock.ns_per_cycle;
		struct clock_model model = model_new();

		for (int block = 0; block < 5; block++) {
			struct trace_columns_times head;

			clock_times(&clock, times, NR);
			head = round_trip(times, NR, &model);
			CU_ASSERT_DOUBLE_EQUAL((double)head.step / TIMES_NS, step, step * 1e-5);
			if (block > 0)
				CU_ASSERT_TRUE(head.nr_corrections < NR / 10);
		}
	}
	free(times);
}

static void a_clock_that_is_adjusted_is_followed(void)
{
	uint32_t *times = malloc(NR * sizeof(*times));
	struct clock clock = {.step_cycles = 24.5, .ns_per_cycle = 0.408926, .drift = 2e-12};
	struct clock_model model = model_new();

	srandom(2);
	for (int block = 0; block < 30; block++) {
		struct trace_columns_times head;

		clock_times(&clock, times, NR);
		head = round_trip(times, NR, &model);
		CU_ASSERT_TRUE(head.step != TIMES_NS);
		CU_ASSERT_TRUE(head.nr_corrections < NR / 10);
	}
	free(times);
}

/* A step of 24.5 cycles: when the clock was moved by one cycle, odd and even steps have changed
 * places. */
static void a_clock_that_is_moved_in_pauses_is_followed(void)
{
	uint32_t *times = malloc(NR * sizeof(*times));
	struct clock clock = {.step_cycles = 24.5, .ns_per_cycle = 0.408926, .jump = 24.5 * 0.408926};
	struct clock_model model = model_new();

	srandom(6);
	for (int block = 0; block < 5; block++) {
		struct trace_columns_times head;

		clock_times(&clock, times, NR);
		head = round_trip(times, NR, &model);
		if (block > 0)
			CU_ASSERT_TRUE(head.nr_corrections < NR / 20);
	}
	free(times);
}

static void a_clock_without_steps_is_left_alone(void)
{
	uint32_t *times = malloc(NR * sizeof(*times));
	struct clock clock = {.step_cycles = 1, .ns_per_cycle = 1};
	struct clock_model model = model_new();

	srandom(3);
	for (int block = 0; block < 5; block++) {
		struct trace_columns_times head;

		clock_times(&clock, times, NR);
		head = round_trip(times, NR, &model);
		CU_ASSERT_TRUE(head.step == TIMES_NS && head.nr_corrections == 0);
	}
	CU_ASSERT_TRUE(model.next_search > 5); /* it is not searched in every block */
	free(times);
}

static void a_wrong_step_costs_no_ns_and_is_dropped(void)
{
	uint32_t *times = malloc(NR * sizeof(*times));
	struct clock clock = {.step_cycles = 1, .ns_per_cycle = 1};
	struct clock_model model = model_new();

	srandom(4);
	model.step = 7 * TIMES_NS + 12345;
	for (int block = 0; block < 10; block++) {
		clock_times(&clock, times, NR);
		round_trip(times, NR, &model);
	}
	CU_ASSERT_EQUAL(model.step, 0);
	free(times);
}

/* Regular intervals that differ by type take few bits, because each type has a code of its own. */
static void types_have_codes_of_their_own(void)
{
	static const uint32_t intervals[] = {100, 3000, 7};
	uint32_t *times = malloc(NR * sizeof(*times));
	struct coded coded;

	coded_types(&coded, NR);
	times[0] = 0;
	for (size_t i = 1; i < NR; i++)
		times[i] = times[i - 1] + intervals[coded.type_idxs[i] % 3];
	coded_free(&coded);
	coded = code(times, NR, NULL);
	/* 2, 9 and 0 bits after each symbol, one symbol per type; with a common code 3.3 bytes */
	CU_ASSERT_TRUE(coded.bytes < NR / 8 * 14);
	coded_free(&coded);
	free(times);
}

/* How long an event takes depends on the types of the two events before it. */
static void times_depend_on_the_events_before(void)
{
	struct times_learned learned = {.lock = PTHREAD_MUTEX_INITIALIZER};
	uint32_t *times = malloc(NR * sizeof(*times));
	uint64_t *ns = malloc(NR * sizeof(*ns));
	struct coded without = {.n = NR, .ids = {7, 300, 5}}, with;

	srandom(7);
	without.type_idxs = malloc(NR);
	for (size_t i = 0; i < NR; i++) {
		without.type_idxs[i] = (unsigned char)(random() % 3);
		without.events[without.type_idxs[i]]++;
		times[i] = i < 2 ? 0
				 : times[i - 1] + (without.type_idxs[i - 1] == 1 ? 40u : 20u) +
					   (without.type_idxs[i - 2] == 2 ? 8u : 0u);
	}
	with = without;
	code_as(&without, times, NULL, NULL);
	code_as(&with, times, NULL, &learned);
	/* four intervals at random: two bits; known from the events before: 22 codes to describe */
	CU_ASSERT_TRUE(without.bytes > NR / 8 && with.bytes < 600);
	CU_ASSERT_TRUE(decode(&with, with.bytes, ns));
	for (size_t i = 0; i < NR; i++)
		if (ns[i] != 5000 + (uint64_t)times[i])
			CU_FAIL("a time is wrong");
	free(without.data);
	coded_free(&with);
	free(times);
	free(ns);
}

/* Two of many durations are frequent: they have ranges of one number. */
static void frequent_times_have_short_codes(void)
{
	uint32_t *times = malloc(NR * sizeof(*times));
	struct coded coded;

	srandom(8);
	times[0] = 0;
	for (size_t i = 1; i < NR; i++)
		times[i] = times[i - 1] +
			   (random() % 16 ? 300u + 8u * (uint32_t)(random() % 2) : (uint32_t)(random() % 60000));
	coded = code(times, NR, NULL);
	/* with ranges of a quarter of an octave, 300 and 308 would have 6 bits after the code */
	CU_ASSERT_TRUE(coded.bytes < NR / 8 * 7 && coded.head.step == TIMES_NS);
	coded_free(&coded);
	free(times);
}

/* Fibonacci numbers as counts make the deepest trees: codes must not become longer than the
 * decoder's lookup. */
static void codes_are_complete_and_short(void)
{
	uint32_t counts[PREFIX_SYMBOLS] = {0};
	uint8_t lengths[PREFIX_SYMBOLS];
	uint16_t codes[PREFIX_SYMBOLS];

	prefix_lengths(counts, PREFIX_SYMBOLS, lengths);
	CU_ASSERT_FALSE(prefix_is_complete(lengths, PREFIX_SYMBOLS));
	for (size_t nr = 1; nr <= 40; nr++) {
		counts[3 * nr] = nr < 3 ? 1 : counts[3 * nr - 3] + counts[3 * nr - 6];
		prefix_lengths(counts, PREFIX_SYMBOLS, lengths);
		prefix_codes(lengths, PREFIX_SYMBOLS, codes);
		CU_ASSERT_EQUAL(prefix_is_complete(lengths, PREFIX_SYMBOLS), nr > 1);
		for (size_t i = 0; i < PREFIX_SYMBOLS; i++) {
			CU_ASSERT_EQUAL(lengths[i] > 0, nr > 1 && counts[i] > 0);
			for (size_t j = 0; j < i; j++)
				if (lengths[i] && lengths[j] &&
				    !((codes[i] ^ codes[j]) &
				      ((1u << (lengths[i] < lengths[j] ? lengths[i] : lengths[j])) - 1)))
					CU_FAIL("one code begins with another");
		}
	}
	for (size_t i = 0; i < PREFIX_SYMBOLS; i++)
		counts[i] = 1000;
	prefix_lengths(counts, PREFIX_SYMBOLS, lengths);
	CU_ASSERT_TRUE(lengths[0] == 7 && lengths[PREFIX_SYMBOLS - 1] == 7 &&
		       prefix_is_complete(lengths, PREFIX_SYMBOLS));
	lengths[5] = 6;
	CU_ASSERT_FALSE(prefix_is_complete(lengths, PREFIX_SYMBOLS));
}

static struct coded coded_small(uint32_t *times, size_t n)
{
	struct clock clock = {.step_cycles = 24.5, .ns_per_cycle = 0.408926};
	struct clock_model model = model_new();
	struct coded coded;

	srandom(5);
	model.step = (uint64_t)(24.5 * 0.408926 * TIMES_NS);
	clock_times(&clock, times, n);
	coded = code(times, n, &model);
	CU_ASSERT_TRUE(coded.head.nr_corrections > 1 && coded.head.step != TIMES_NS);
	return coded;
}

static void times_that_end_too_early_or_late_are_refused(void)
{
	enum { FEW = 400 };
	uint32_t times[FEW];
	uint64_t ns[FEW];
	struct coded coded = coded_small(times, FEW);

	CU_ASSERT_TRUE(decode(&coded, coded.bytes, ns));
	for (size_t bytes = 0; bytes < coded.bytes; bytes++) {
		struct coded cut = coded;

		cut.data = malloc(bytes + !bytes);
		memcpy(cut.data, coded.data, bytes);
		CU_ASSERT_FALSE(decode(&cut, bytes, ns));
		free(cut.data);
	}
	coded.head.nr_corrections++;
	CU_ASSERT_FALSE(decode(&coded, coded.bytes, ns));
	coded.head.nr_corrections = UINT32_MAX;
	CU_ASSERT_FALSE(decode(&coded, coded.bytes, ns));
	coded_free(&coded);
}

static void false_times_are_refused_or_ascend(void)
{
	enum { FEW = 400 };
	uint32_t times[FEW];
	uint64_t ns[FEW];
	struct coded coded = coded_small(times, FEW);
	unsigned char *head = (unsigned char *)&coded.head;

	for (size_t i = 0; i < coded.bytes + sizeof(coded.head); i += (size_t)unit_step(3)) {
		unsigned char *byte = i < coded.bytes ? &coded.data[i] : &head[i - coded.bytes], before = *byte;

		for (int value = 0; value < 256; value += 5) {
			*byte = (unsigned char)value;
			if (!decode(&coded, coded.bytes, ns))
				continue;
			CU_ASSERT_EQUAL(ns[0], 5000);
			for (size_t j = 1; j < FEW; j++)
				if (ns[j] < ns[j - 1])
					CU_FAIL("times go back");
		}
		*byte = before;
	}
	coded_free(&coded);
}

static const struct unit_case cases[] = {
	{"few_and_distant_times_are_decoded_exactly", few_and_distant_times_are_decoded_exactly},
	{"every_distance_is_decoded_exactly", every_distance_is_decoded_exactly},
	{"long_distances_in_a_row_are_decoded_exactly", long_distances_in_a_row_are_decoded_exactly},
	{"a_clock_that_goes_in_steps_is_recognized", a_clock_that_goes_in_steps_is_recognized},
	{"a_clock_that_is_adjusted_is_followed", a_clock_that_is_adjusted_is_followed},
	{"a_clock_that_is_moved_in_pauses_is_followed", a_clock_that_is_moved_in_pauses_is_followed},
	{"a_clock_without_steps_is_left_alone", a_clock_without_steps_is_left_alone},
	{"a_wrong_step_costs_no_ns_and_is_dropped", a_wrong_step_costs_no_ns_and_is_dropped},
	{"types_have_codes_of_their_own", types_have_codes_of_their_own},
	{"times_depend_on_the_events_before", times_depend_on_the_events_before},
	{"frequent_times_have_short_codes", frequent_times_have_short_codes},
	{"codes_are_complete_and_short", codes_are_complete_and_short},
	{"times_that_end_too_early_or_late_are_refused", times_that_end_too_early_or_late_are_refused},
	{"false_times_are_refused_or_ascend", false_times_are_refused_or_ascend},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("times", cases, argc, argv);
}
