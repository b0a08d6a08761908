/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_subbuf_deaths.c - writers of the ring die at any of their steps, and salvage recovers the
 * records of a sub-buffer that no writer will complete. */
#include <setjmp.h>
#include "subbuf_case.h"
#include "unit.h"

static jmp_buf death;
static int points_to_live;
static int points_to_signal;

static void maybe_die(void)
{
	if (points_to_live-- == 0)
		longjmp(death, 1);
}

/* Writer 1 writes, and dies if @hook decides so. Returns true if it died. */
static bool mortal_write(trace_u32 size, void (*hook)(void))
{
	at_point = hook;
	if (setjmp(death) == 0) {
		write_record(1, size);
		at_point = NULL;
		return false;
	}
	at_point = NULL;
	return true;
}

static trace_u32 some_size(unsigned int *random)
{
	*random = *random * 1103515245 + 12345;
	return 24 + 8 * (*random >> 16 & 15);
}

/* Writer 1 dies at its @point-th step, after @before records of writer 0, which then writes @after
 * more. Returns false if it lived. */
static bool die_once(unsigned int seed, int before, int point, int after, trace_u32 dead_size, trace_u64 gap)
{
	unsigned int random = seed;
	trace_u64 accounted;
	trace_u32 in_flight;
	bool died;

	begin(1024, 4, false);
	now_step = 3;
	for (int i = 0; i < before; i++) {
		write_record(0, seed ? some_size(&random) : 24);
		if (i < before / 2)
			ledger_drain(&ledger);
	}
	points_to_live = point;
	now_ns += gap;
	died = mortal_write(dead_size, maybe_die);
	for (int i = 0; i < after; i++)
		write_record(0, seed ? some_size(&random) : 24);
	in_flight = ledger_salvage(&ledger);
	accounted = ledger.found + ledger.ring.control->discarded;
	if (accounted + died < ledger_sum(ledger.attempted) || accounted > ledger_sum(ledger.attempted))
		ledger_fault(&ledger, "a death cost more than the record in flight");
	if (in_flight > died)
		ledger_fault(&ledger, "in flight without a death");
	return died;
}

static void die_everywhere(unsigned int seed, int before, int after, trace_u32 dead_size, trace_u64 gap, int *runs)
{
	for (int point = 0; !ledger.fault && die_once(seed, before, point, after, dead_size, gap); point++)
		++*runs;
	if (ledger.fault)
		printf("\n    %s: seed %u, before %d, after %d, size %u ", ledger.fault, seed, before, after,
		       dead_size);
	CU_ASSERT_PTR_NULL_FATAL(ledger.fault);
}

static void a_writer_that_dies_at_any_step_costs_its_record_only(void)
{
	int runs = 0;

	for (int before = 0; before < 45; before += unit_step(4))
		for (int after = 0; after <= 60; after += after < 4 ? 1 : 8)
			for (int gap = 0; gap < 2; gap++)
				die_everywhere(0, before, after, 24, gap * (1ULL << 33), &runs);
	printf("(%d deaths) ", runs);
}

/* Holes and ends among the bytes of earlier uses of the memory: payloads of noise, other sizes,
 * every lap. */
static void a_death_among_old_records_is_salvaged(void)
{
	int runs = 0;

	for (unsigned int seed = 1; seed < 3000 && !ledger.fault; seed += (unsigned int)unit_step(13))
		die_everywhere(seed, (int)(seed * 7 % 700), (int)(seed % 50), 24 + 8 * (seed % 20), 0, &runs);
	printf("(%d deaths) ", runs);
}

/* The handler of a signal dies, and with it the thread that it interrupted: two records. */
static void signal_that_dies(void)
{
	trace_u64 interrupted[2] = {now_read[0], now_read[1]};

	if (points_to_signal-- == 0) {
		at_point = maybe_die;
		write_record(2, 40);
		at_point = signal_that_dies;
		memcpy(now_read, interrupted, sizeof(interrupted));
	}
}

static void a_handler_that_dies_in_a_writer_costs_two_records(void)
{
	int runs = 0, unknown = 0, reached;
	trace_u64 lost = 0;

	for (int before = 180; before < 220; before += unit_step(3)) {
		reached = 1;
		for (int first = 0; reached; first++)
			for (int second = 0, died = 1; died; second++) {
				unsigned int random = (unsigned int)(first * 100 + second);

				begin(1024, 4, false);
				now_step = 1;
				for (int i = 0; i < before; i++) {
					write_record(0, some_size(&random));
					ledger_drain(&ledger);
				}
				points_to_signal = first;
				points_to_live = second;
				died = mortal_write(32, signal_that_dies);
				reached = points_to_signal < 0;
				for (int i = 0; i < 5; i++)
					write_record(0, some_size(&random));
				CU_ASSERT_TRUE(ledger_salvage(&ledger) <= 2);
				CU_ASSERT_PTR_NULL_FATAL(ledger.fault);
				CU_ASSERT_TRUE_FATAL(ledger.found + ledger.ring.control->discarded +
								     ledger.salvage_lost + (died ? 2 : 0) >=
							     ledger_sum(ledger.attempted) ||
						     ledger.salvage_unknown);
				unknown += ledger.salvage_unknown;
				CU_ASSERT_TRUE_FATAL(ledger.found + ledger.ring.control->discarded +
							     ledger.salvage_lost <=
						     ledger_sum(ledger.attempted));
				lost += ledger.salvage_lost;
				runs++;
			}
	}
	printf("(%d deaths, %llu records with them) ", runs, (unsigned long long)lost);
	CU_ASSERT_TRUE(runs > 1000);
	CU_ASSERT_TRUE(unknown < runs / 50); /* the opener and its handler, each in a few of its steps */
}

/* A writer that dies between its payload and its header leaves bytes of its own choice in a hole of
 * unknown size. Here they are record headers of every size, single and in rows, some ending where
 * the next true record begins. The sum of committed bytes rules them out. */
static void a_payload_that_looks_like_records_is_none(void)
{
	int runs = 0;

	for (trace_u32 size = 16; size <= 96; size += 8)
		for (int after = 0; after < 60; after++)
			for (trace_u32 words = 1; words * 8 <= size; words++) {
				/* a thread's number where a time would be */
				struct trace_record false_record = {123456789, LEDGER_ID, (trace_u8)words, 0};
				trace_u64 position;
				trace_u32 in_flight;

				begin(1024, 4, false);
				now_step = 3;
				for (int i = 0; i < 3; i++)
					write_record(0, 24);
				position = __atomic_fetch_add(&ledger.ring.control->position, size, __ATOMIC_RELAXED);
				for (trace_u32 at = 8; at < size; at += words * 8)
					memcpy(writer_at(&ledger.writer, position) + at, &false_record,
					       sizeof(false_record));
				for (int i = 0; i < after; i++)
					write_record(0, i & 1 ? 24 : 40);
				in_flight = ledger_salvage(&ledger);
				if (ledger.found + ledger.ring.control->discarded != ledger_sum(ledger.attempted) ||
				    in_flight != 1)
					ledger_fault(&ledger, "a hole was taken for records, or records for a hole");
				if (ledger.fault)
					printf("\n    %s: size %u, words %u, after %d ", ledger.fault, size, words,
					       after);
				CU_ASSERT_PTR_NULL_FATAL(ledger.fault);
				runs++;
			}
	printf("(%d deaths) ", runs);
}

static void salvage_skips_many_deaths_in_one_subbuffer(void)
{
	unsigned int random = 99;
	trace_u64 lost = 0, found = 0;
	int unknown = 0;

	for (int round = 0; round < 2000 && !ledger.fault; round += unit_step(5)) {
		trace_u64 dead = 0;

		begin(4096, 2, false);
		now_step = 1;
		for (int i = 0; i < 300; i++) {
			write_record(0, some_size(&random));
			ledger_drain(&ledger);
		}
		for (int i = 0; i < 20; i++) {
			points_to_live = (int)(random >> 8 & 31);
			dead += mortal_write(some_size(&random), maybe_die);
			write_record(0, some_size(&random));
		}
		ledger_salvage(&ledger);
		if (ledger.found + ledger.ring.control->discarded + ledger.salvage_lost + dead <
			    ledger_sum(ledger.attempted) &&
		    !ledger.salvage_unknown)
			ledger_fault(&ledger, "deaths cost more than their records");
		if (ledger.found + ledger.ring.control->discarded + ledger.salvage_lost > ledger_sum(ledger.attempted))
			ledger_fault(&ledger, "a record is both there and lost");
		lost += ledger.salvage_lost;
		found += ledger.found;
		unknown += ledger.salvage_unknown;
	}
	printf("(%llu found, %llu given up, %d of an unknown number) ", (unsigned long long)found,
	       (unsigned long long)lost, unknown);
	if (ledger.fault)
		printf("\n    %s ", ledger.fault);
	CU_ASSERT_PTR_NULL(ledger.fault);
}

/* Reserves @size bytes and dies. The bytes of the hole may look like a record that begins at byte
 * @at of it. */
static void leave_hole(trace_u32 size, trace_u32 at, trace_u8 words)
{
	struct trace_record false_record = {123456789, LEDGER_ID, words, 0};
	trace_u64 position = __atomic_fetch_add(&ledger.ring.control->position, size, __ATOMIC_RELAXED);

	memset(writer_at(&ledger.writer, position), 0xee, size);
	if (words)
		memcpy(writer_at(&ledger.writer, position) + at, &false_record, sizeof(false_record));
}

/* Several holes full of bytes that look like records: each salvaged record was written there, and
 * every other one is counted as lost. */
static void with_several_holes_nothing_is_guessed(void)
{
	trace_u64 found = 0, lost = 0;
	unsigned int random = 7;

	for (int round = 0; round < 20000; round += unit_step(7)) {
		int holes = 2 + (int)(round % 19);

		begin(4096, 2, false);
		now_step = 3;
		for (int i = 0; i < holes; i++) {
			for (trace_u32 n = some_size(&random) % 6; n > 0; n--)
				write_record(0, some_size(&random));
			if ((ledger.ring.control->position & SUBBUF_OFFSET_MASK) < 3800)
				leave_hole(some_size(&random) + 40, some_size(&random) & ~7u,
					   (trace_u8)(some_size(&random) / 8));
			else
				holes = i;
		}
		for (trace_u32 n = some_size(&random) % 30; n > 0; n--)
			write_record(0, 24);
		ledger_salvage(&ledger);
		if (ledger.found + ledger.ring.control->discarded + ledger.salvage_lost != ledger_sum(ledger.attempted))
			ledger_fault(&ledger, "not all that was committed is found or counted");
		if (ledger.fault)
			printf("\n    %s: round %d, %d holes ", ledger.fault, round, holes);
		CU_ASSERT_PTR_NULL_FATAL(ledger.fault);
		found += ledger.found;
		lost += ledger.salvage_lost;
	}
	printf("(%llu found, %llu given up) ", (unsigned long long)found, (unsigned long long)lost);
	CU_ASSERT_TRUE(found > 0 && lost > 0);
}

/* The opener of a slot that was never used dies at any of its steps, and so does a writer after it.
 * The salvage reports what other writers committed there meanwhile. */
static void a_dying_opener_of_a_fresh_slot_loses_only_its_own_record(void)
{
	int runs = 0, unopened = 0;
	bool died = true;

	for (int point = 0; died; point++, runs++) {
		trace_u64 known, attempted;

		begin(4096, 2, false);
		now_step = 3;
		points_to_live = point;
		died = mortal_write(40, maybe_die);
		for (int i = 0; i < 5; i++)
			write_record(0, 24);
		leave_hole(48, 0, 0);
		for (int i = 0; i < 10; i++)
			write_record(0, 24);
		unopened += subbuf_slot(&ledger.ring, 1)->seq != 1;
		ledger_salvage(&ledger);
		known = ledger.found + ledger.ring.control->discarded + ledger.salvage_lost;
		attempted = ledger_sum(ledger.attempted);
		if (known + died < attempted || known > attempted)
			ledger_fault(&ledger, "a death cost more than the record in flight");
		if (ledger.fault)
			printf("\n    %s: step %d, %llu known of %llu ", ledger.fault, point, (unsigned long long)known,
			       (unsigned long long)attempted);
		CU_ASSERT_PTR_NULL_FATAL(ledger.fault);
	}
	printf("(%d deaths, %d before it was open) ", runs, unopened);
	CU_ASSERT_TRUE(unopened > 0);
}

static void salvage_of_noise_stays_inside_and_ends(void)
{
	static unsigned char copy[SUBBUF_MIN_BYTES] __attribute__((aligned(8)));
	struct subbuf_salvaged salvaged;
	unsigned int random = 7;

	for (int round = 0; round < 3000; round += unit_step(5)) {
		struct subbuf_header *header = (struct subbuf_header *)copy;
		trace_u64 seq = 1 + (random >> 8 & 1023), position;

		for (size_t i = 0; i < sizeof(copy); i++) {
			random = random * 1103515245 + 12345;
			copy[i] = (unsigned char)(random >> 16);
			if (round & 1 && i % 8 == 7) /* every second word looks like a header */
				copy[i] = (unsigned char)(seq / 2);
			if (round & 2 && (i % 8 == 5 || i % 8 == 4))
				copy[i] = 0;
			if (round & 16 && i % 8 == 5) /* an id that exists */
				copy[i] = 0;
		}
		if (round & 4)
			header->commit = seq / 2 * sizeof(copy) + (random >> 4) % sizeof(copy);
		position = seq << SUBBUF_OFFSET_BITS | (random & SUBBUF_OFFSET_MASK & (round & 8 ? 0x3fff : ~0u));
		if (!subbuf_salvage(copy, sizeof(copy), 2, seq, position, 256, &salvaged)) {
			CU_ASSERT_TRUE((position & SUBBUF_OFFSET_MASK) < sizeof(*header));
			continue;
		}
		CU_ASSERT_TRUE_FATAL(header->end >= sizeof(*header) && header->end <= sizeof(copy) &&
				     header->seq == seq);
		for (trace_u32 offset = sizeof(*header), words; offset < header->end; offset += words * 8) {
			words = copy[offset + 6];
			CU_ASSERT_TRUE_FATAL(words != 0 && offset + words * 8 <= header->end &&
					     copy[offset + 7] == (unsigned char)(seq / 2));
		}
	}
	CU_ASSERT_FALSE(subbuf_salvage(copy, sizeof(copy), 2, 5, 4ULL << SUBBUF_OFFSET_BITS | 100, 256, &salvaged));
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_writer_that_dies_at_any_step_costs_its_record_only),
		CASE(a_death_among_old_records_is_salvaged),
		CASE(a_handler_that_dies_in_a_writer_costs_two_records),
		CASE(a_payload_that_looks_like_records_is_none),
		CASE(with_several_holes_nothing_is_guessed),
		CASE(a_dying_opener_of_a_fresh_slot_loses_only_its_own_record),
		CASE(salvage_skips_many_deaths_in_one_subbuffer),
		CASE(salvage_of_noise_stays_inside_and_ends),
		{NULL, NULL},
	};

	return unit_main("subbuf deaths", cases, argc, argv);
}
