/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_RING_LEDGER_H
#define TESTS_RING_LEDGER_H
/*
 * ring_ledger.h - a ring, writers that number their records, and a reader that checks every byte it
 * takes.
 *
 * The includer first defines these macros:
 *
 * LEDGER_POINT() is called before each access of a producer to shared memory, and may run anything,
 * including other writers. LEDGER_OWN_POINT() is called before accesses that no other writer or
 * reader can distinguish from the next one: those to a record's bytes, which no reader looks at
 * before the commit. LEDGER_NOW() is the ring's clock. LEDGER_TIME_IS_RIGHT(payload, time) is
 * optional: may the record carry that time?
 *
 * The ledger's rule: each record that a writer attempted is found once, in order, complete, with
 * the time that the writer read; or it was counted as discarded or overwritten, or is in a
 * sub-buffer that is not complete.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITER_POINT()	   LEDGER_POINT()
#define WRITER_OWN_POINT() LEDGER_OWN_POINT()
#define SUBBUF_CLOCK()	   (LEDGER_POINT(), LEDGER_NOW())
#include "subbuf_writer.h"

#define LEDGER_MAX_WRITERS 64
#define LEDGER_ID	   200

/* The payload, followed by filler words that repeat the check. */
struct ledger_payload {
	trace_u16 writer;
	trace_u16 filler; /* words */
	trace_u32 n;
	trace_u64 clock; /* the writer's last reading of the clock */
};
#define LEDGER_MIN_BYTES (sizeof(struct trace_record) + sizeof(struct ledger_payload))
#ifndef LEDGER_TIME_IS_RIGHT
#define LEDGER_TIME_IS_RIGHT(payload, time) ((payload)->clock == (time))
#endif

struct ledger {
	struct subbuf_writer writer;
	struct subbuf_ring ring;
	trace_u32 cpu;
	trace_u32 attempted[LEDGER_MAX_WRITERS];
	trace_u32 stored[LEDGER_MAX_WRITERS]; /* as the producers count them */
	/* the reader's */
	trace_u32 next[LEDGER_MAX_WRITERS]; /* smallest number that may come next */
	trace_u64 found;
	trace_u64 subbufs;
	trace_u64 last_seq;
	trace_u64 last_lost;
	trace_u64 last_base;
	bool any_order; /* a writer's later records may be in earlier sub-buffers; the writer makes at most 64 */
	trace_u64 seen[LEDGER_MAX_WRITERS];
	trace_u64 salvage_lost; /* committed, but no longer recognisable */
	bool salvage_unknown;	/* their number is unknown: each case counts once */
	trace_u64 last_preset;	/* the number that ledger_preset() set */
	const char *fault;	/* the first broken rule */
};

static inline void ledger_fault(struct ledger *l, const char *fault)
{
	if (!l->fault)
		l->fault = fault;
}

static inline void ledger_init(struct ledger *l, void *memory, trace_u32 subbuf_bytes, trace_u32 nr_subbufs,
			       bool overwrite)
{
	memset(l, 0, sizeof(*l));
	subbuf_ring_init(&l->ring, memory, subbuf_bytes, nr_subbufs, 7, SUBBUF_PRODUCER_USER, SUBBUF_CLOCK_TSC,
			 overwrite);
	l->cpu = 7;
	l->writer = (struct subbuf_writer){
		.control = l->ring.control,
		.data = l->ring.data,
		.subbuf_bytes = subbuf_bytes,
		.nr_subbufs_log2 = (trace_u32)__builtin_ctz(nr_subbufs),
		.cpu = 7,
		.producer = SUBBUF_PRODUCER_USER,
		.clock = SUBBUF_CLOCK_TSC,
		.overwrite = overwrite,
	};
}

/* Sets the ring as if @seq sub-buffers had been used, complete and taken, with @records records
 * committed in each slot. */
static inline void ledger_preset(struct ledger *l, trace_u64 seq, trace_u64 records)
{
	trace_u32 nr = l->ring.nr_subbufs, bytes = l->ring.subbuf_bytes;

	for (trace_u64 s = seq + 1 > nr ? seq + 1 - nr : 0; s <= seq; s++) {
		struct subbuf_header *header = subbuf_slot(&l->ring, s);

		header->seq = s;
		header->commit = (s / nr + 1) * bytes + records * SUBBUF_COMMIT_RECORD;
		header->records_before = (trace_u32)records & 0xffffff;
	}
	l->ring.control->consumed = seq;
	l->ring.control->position = seq << SUBBUF_OFFSET_BITS | bytes;
	l->last_seq = l->last_preset = seq;
}

static inline trace_u64 ledger_check_word(trace_u32 writer, trace_u32 n)
{
	return (writer * 0x9e3779b97f4a7c15ULL + n + 1) * 0xbf58476d1ce4e5b9ULL;
}

/* Writes one record of @size bytes by writer @id.
 * @clock: where LEDGER_NOW() leaves this writer's last two readings, the last one first; an
 *   opener's time is the first of its two
 * @ret_wake: the daemon has to be woken
 * Returns what subbuf_reserve() returned. */
static inline int ledger_write(struct ledger *l, unsigned int id, trace_u32 size, const trace_u64 clock[2],
			       int *ret_wake)
{
	struct subbuf_reservation r = {0};
	struct ledger_payload *payload;
	trace_u32 n = l->attempted[id]++;
	trace_u64 *filler;

	if (!subbuf_reserve(&l->writer, size, &r)) {
		*ret_wake |= r.completed;
		return 0;
	}
	LEDGER_OWN_POINT();
	payload = (struct ledger_payload *)(writer_at(&l->writer, r.position) + sizeof(struct trace_record));
	*payload = (struct ledger_payload){(trace_u16)id, (trace_u16)((size - LEDGER_MIN_BYTES) / 8), n,
					   clock[(r.position & SUBBUF_OFFSET_MASK) == sizeof(struct subbuf_header)]};
	filler = (trace_u64 *)(payload + 1);
	for (unsigned int i = 0; i < payload->filler; i++)
		filler[i] = ledger_check_word(id, n);
	LEDGER_OWN_POINT();
	l->stored[id]++;
	*ret_wake |= subbuf_commit(&l->writer, &r, LEDGER_ID);
	return 1;
}

static inline trace_u64 ledger_time(const struct subbuf_header *header, trace_u32 time)
{
	return header->base + (trace_u32)(time - (trace_u32)header->base);
}

/* Checks the records between header and end, byte for byte. Returns their number. */
static inline trace_u32 ledger_read_records(struct ledger *l, const struct subbuf_header *header, trace_u64 seq,
					    bool times)
{
	const unsigned char *bytes = (const unsigned char *)header;
	trace_u32 offset = sizeof(*header), records = 0;
	const struct ledger_payload *payload;
	struct trace_record record;

	while (!l->fault && offset < header->end) {
		memcpy(&record, bytes + offset, sizeof(record));
		if (record.words == 0 || record.words * 8u > header->end - offset ||
		    record.lap != (trace_u8)(seq / l->ring.nr_subbufs)) {
			ledger_fault(l, "a record is torn");
			break;
		}
		payload = (const struct ledger_payload *)(bytes + offset + sizeof(record));
		offset += record.words * 8u;
		if (record.id == 0) {
			if (record.time != 0)
				ledger_fault(l, "a preliminary header was left");
			continue;
		}
		records++;
		if (record.id != LEDGER_ID || payload->writer >= LEDGER_MAX_WRITERS ||
		    record.words * 8u != LEDGER_MIN_BYTES + payload->filler * 8u) {
			ledger_fault(l, "a record is torn");
			break;
		}
		for (unsigned int i = 0; i < payload->filler; i++)
			if (((const trace_u64 *)(payload + 1))[i] != ledger_check_word(payload->writer, payload->n))
				ledger_fault(l, "a payload is torn");
		if (l->any_order ? l->seen[payload->writer] >> payload->n & 1 : payload->n < l->next[payload->writer])
			ledger_fault(l, "a record is doubled or out of its writer's order");
		l->next[payload->writer] = payload->n + 1;
		l->seen[payload->writer] |= l->any_order ? 1ULL << payload->n : 0;
		if (times && !(header->flags & SUBBUF_FLAG_TIME_SUSPECT) &&
		    !LEDGER_TIME_IS_RIGHT(payload, ledger_time(header, record.time)))
			ledger_fault(l, "a time is wrong");
	}
	if (!l->fault && offset != header->end)
		ledger_fault(l, "records do not end at end");
	l->found += records;
	l->subbufs++;
	return records;
}

/* Checks one complete sub-buffer. Returns its number of records. */
static inline trace_u32 ledger_read(struct ledger *l, const struct subbuf_header *header, trace_u64 seq)
{
	trace_u32 records;

	if (header->seq != seq || header->cpu != l->cpu || header->producer != SUBBUF_PRODUCER_USER ||
	    header->clock != SUBBUF_CLOCK_TSC)
		ledger_fault(l, "header is not of this sub-buffer");
	if (seq <= l->last_seq)
		ledger_fault(l, "sub-buffer delivered twice");
	if (header->lost < l->last_lost ||
	    header->lost > __atomic_load_n(&l->ring.control->discarded, __ATOMIC_RELAXED))
		ledger_fault(l, "lost went back, or counts what was not discarded");
	if (header->base < l->last_base)
		ledger_fault(l, "base went back");
	if (header->end > l->ring.subbuf_bytes || header->end < sizeof(*header))
		ledger_fault(l, "end is outside the sub-buffer");
	l->last_seq = seq;
	l->last_lost = header->lost;
	l->last_base = header->base;
	records = ledger_read_records(l, header, seq, true);
	if (!l->fault && subbuf_records(&l->ring, header) != records)
		ledger_fault(l, "the count of records is wrong");
	return records;
}

/* Takes all complete sub-buffers (discard mode). */
static inline void ledger_drain(struct ledger *l)
{
	const struct subbuf_header *header;

	while (!l->fault && (header = subbuf_take(&l->ring))) {
		ledger_read(l, header, l->ring.control->consumed + 1);
		subbuf_release(&l->ring);
	}
}

/* Takes the ring of dead writers as the daemon does: the complete sub-buffers, and the repaired
 * others, unless they were taken or overwritten before. Returns the number of records that were in
 * flight. */
static __attribute__((noinline, unused)) trace_u32 ledger_salvage(struct ledger *l)
{
	trace_u64 position = (subbuf_reap_block(&l->ring), l->ring.control->position),
		  last = position >> SUBBUF_OFFSET_BITS;
	void *copy = malloc(l->ring.subbuf_bytes);
	struct subbuf_salvaged salvaged;
	trace_u64 kept = last >= l->ring.nr_subbufs ? last - l->ring.nr_subbufs + 1 : 1,
		  seq = l->ring.control->consumed + 1;
	trace_u32 in_flight = 0;

	if (l->writer.overwrites && seq < kept)
		seq = kept;
	for (; seq <= last && !l->fault; seq++) {
		memcpy(copy, subbuf_slot(&l->ring, seq), l->ring.subbuf_bytes);
		if (subbuf_complete(&l->ring, seq)) {
			ledger_read(l, copy, seq);
		} else if (subbuf_salvage(copy, l->ring.subbuf_bytes, l->ring.nr_subbufs, seq, position, LEDGER_ID + 1,
					  &salvaged)) {
			if (ledger_read_records(l, copy, seq, salvaged.opened) != salvaged.records)
				ledger_fault(l, "salvaged records were not counted");
			in_flight += salvaged.in_flight;
			l->salvage_lost += salvaged.lost;
			l->salvage_unknown |= !salvaged.opened && (salvaged.lost || salvaged.in_flight > 1);
		}
	}
	free(copy);
	return in_flight;
}

/* Reads the contents of a flight recorder, while no writer runs. */
static inline void ledger_dump(struct ledger *l)
{
	trace_u64 last = l->ring.control->position >> SUBBUF_OFFSET_BITS;
	trace_u64 seq = last >= l->ring.nr_subbufs ? last - l->ring.nr_subbufs + 1 : 1;

	if (seq <= l->last_seq) /* set by ledger_preset() */
		seq = l->last_seq + 1;
	for (; !l->fault && seq <= last; seq++)
		if (subbuf_complete(&l->ring, seq))
			ledger_read(l, subbuf_slot(&l->ring, seq), seq);
}

/* The number of records overwritten before the oldest one in the ring, while no writer runs,
 * computed as a flight recorder does. */
static inline trace_u64 ledger_overwritten(struct ledger *l)
{
	trace_u64 last = l->ring.control->position >> SUBBUF_OFFSET_BITS;

	return subbuf_records_before(&l->ring, last >= l->ring.nr_subbufs ? last - l->ring.nr_subbufs + 1 : 1).records;
}

static inline trace_u64 ledger_sum(const trace_u32 *numbers)
{
	trace_u64 sum = 0;

	for (int i = 0; i < LEDGER_MAX_WRITERS; i++)
		sum += numbers[i];
	return sum;
}

/* Checks the ledger, while no writer runs and after everything was taken. */
static inline void ledger_close(struct ledger *l)
{
	const struct subbuf_control *control = l->ring.control;

	if (ledger_sum(l->attempted) != ledger_sum(l->stored) + control->discarded)
		ledger_fault(l, "attempted != stored + discarded");
	if (ledger_sum(l->stored) != l->found + control->overwritten)
		ledger_fault(l, "stored != found + overwritten");
	if (l->writer.overwrite && l->last_preset == 0 && ledger_overwritten(l) != control->overwritten)
		ledger_fault(l, "the ring does not know what was overwritten");
}
#endif
