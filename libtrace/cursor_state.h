/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_CURSOR_STATE_H
#define LIBTRACE_CURSOR_STATE_H
/*
 * cursor_state.h - the state of a cursor, which its files share.
 *
 *     cursor_heap.c    the lanes in the order of their next events
 *     cursor_join.c    decode the next chunk or gap that the cursor wants, as a lane
 *     cursor_batch.c   order the events of all lanes up to a time
 *     cursor.c         deliver them; the mechanism as a whole
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ahead.h"
#include "event_block.h"
#include "merge.h"
#include "trace.h"

enum { REACH_FIRST = 64 }; /* initial reach of a batch */

/**
 * struct cursor_lane - a chunk in progress, or a gap
 * @ts_ns: time of its next event
 * @rank: 0: a gap; otherwise the index in the timeline + 1. Orders lanes when all else is equal
 * @lost: payload of a gap's event
 * @end: index of the first event in the block after the batch. @number: of the lane in the batch
 */
struct cursor_lane {
	uint64_t ts_ns;
	uint64_t rank;
	uint32_t cpu;
	uint32_t stream;
	struct block block; /* its first fields are in the same cache line */
	uint32_t end;
	uint32_t number;
	struct cursor_lane *next_free;
	struct trace_trace_lost lost;
} __attribute__((aligned(64)));

/**
 * struct cursor_head - a lane in the heap, with the time of its next event
 * The heap compares these copies, because the lanes are many and far apart in memory.
 */
struct cursor_head {
	uint64_t ts_ns;
	struct cursor_lane *lane; /* owned */
};

/**
 * struct cursor_batch - the events that are delivered next
 * @key: of the next event: its time since @first_ns, with the number of its lane in the lowest
 *	@number_bits bits. UINT64_MAX ends the keys
 * @lanes: by number, which is their order at equal times. Lanes in the batch are not in the heap
 * @taken: the same lanes, by the times of their first events
 * @ends: for each lane in @taken, the number of events in it and in the lanes before it
 * @reach: maximum number of events that one lane contributes
 */
struct cursor_batch {
	const uint64_t *key;
	uint64_t first_ns;
	uint64_t number_mask;
	unsigned int number_bits;
	uint32_t reach;
	size_t nr;
	size_t room;
	struct cursor_lane **lanes; /* owned, with the lanes */
	struct cursor_lane **taken; /* owned */
	size_t *ends;		    /* owned */
	struct merge merge;
};

struct trace_cursor {
	const struct trace *trace;
	const struct timeline *timeline;
	uint64_t from_ns;
	uint64_t last_ns;  /* inclusive, because UINT64_MAX is a valid time */
	uint64_t until_ns; /* the same; what is after it stays for later: trace_follow() */
	uint64_t mask[TRACE_MASK_WORDS];
	bool all_events;
	bool no_lost;
	uint32_t *cpus; /* owned; NULL: all */
	size_t nr_cpus;
	size_t next_chunk;     /* index in the timeline */
	size_t next_gap;       /* index in trace->gaps_by_end */
	uint64_t next_join_ns; /* nothing joins the heap before this time */
	struct cursor_batch batch;
	struct cursor_lane *top;  /* lane of the last event; in the batch */
	struct cursor_head *heap; /* owned */
	size_t nr_heap;
	size_t heap_room;
	struct cursor_lane *free_lanes; /* owned */
	size_t decode_ahead;		/* chunks */
	size_t nr_decoded;		/* since the last seek */
	uint64_t decoded_bytes;		/* the same */
	uint64_t held_bytes;		/* by all lanes */
	/*
	 * Owned. Its thread reads the fields above that do not change while it runs. NULL: the
	 * cursor decodes all chunks itself.
	 */
	struct ahead *ahead;
	struct unpacker unpacker;
	struct pool *pool; /* owned; memory of all blocks */
	const struct trace_event_type *lost_type;
	struct trace_event event; /* the caller borrows it */
	int error;
	struct trace_error why;
	uint64_t skipped_chunks;
	void (*damaged)(void *data, const struct trace_gap *gap); /* NULL: the caller has none */
	void *damaged_data;
};

static inline bool cursor_wants_id(const struct trace_cursor *cursor, uint32_t id)
{
	id = id < TRACE_EV_USER ? id : TRACE_EV_USER;
	return cursor->mask[id / 64] >> (id % 64) & 1;
}

#endif
