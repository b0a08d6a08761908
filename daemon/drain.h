/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_DRAIN_H
#define DAEMON_DRAIN_H
/*
 * drain.h - takes complete sub-buffers out of the rings, makes chunks for the writer's queue, and
 * counts for each ring what was stored and lost.
 *
 * The rings of the kernel exist from the beginning; the rings of programs come and go. Both are
 * read by the same code. The daemon does not trust the memory of a program: it copies what it reads
 * once and checks the copy, so that wrong content can only damage the program's own stream.
 *
 * Discard mode only; flight.h reads the rings that overwrite. One thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/tracer.h>
#include <sys/types.h>
#include <trace/writer.h>

#include "budget.h"
#include "writer_thread.h"

struct drain;

/**
 * drain_new() - start counting now; skip what the rings already hold
 * @tracer: started; borrowed until drain_free(). NULL: only the rings of programs are drained. The
 *     recording begins after its BPF programs are attached: during attachment some event types are
 *     recorded and others not yet.
 * Returns NULL on -ENOMEM.
 */
struct drain *drain_new(struct tracer *tracer, struct trace_error *ret_error);
struct drain *drain_free(struct drain *drain); /* NULL is fine; returns NULL */

/** drain_connect() - set the writer and its queue, before drain_run(). Both are borrowed */
void drain_connect(struct drain *drain, struct trace_writer *writer, struct writer_thread *thread);

/**
 * struct drain_copy - a sub-buffer copied out of a program's memory, before it is packed
 * @header: the copy. @bytes of records follow it, and translate() changes them in place. Before the
 *     records there is free space for one more record of any size.
 * @nr_records: as the program's writers counted them, limited to what fits
 * @unwritten: a counter that only grows. When it has grown, records that translate() added earlier
 *     may be lost.
 * translate() sets:
 * @records, @bytes: what to pack: records with the ids of the catalogue or the writer, and the low
 *     bits of CLOCK_MONOTONIC in ns
 * @nr_records: the number of those records, including records that make no sense
 * @added: how many of them the daemon added
 * @filtered: records left out because they are not selected
 * @early: records left out because they are older than the recording
 * @untyped: records left out because the trace has no space for their event type; they are lost
 */
struct drain_copy {
	const struct subbuf_header *header;
	unsigned char *records;
	size_t bytes;
	uint64_t base_ns;
	uint64_t unwritten;
	uint32_t nr_records;
	uint32_t added;
	uint32_t filtered;
	uint32_t early;
	uint32_t untyped;
};

/**
 * struct drain_source - a program's ring
 * @fd, @offset: the file of the program's memory, borrowed until drain_retire(), and where the ring
 *     begins in it
 * @budget, @uid: the account that pays for visits to CPUs; borrowed; NULL: visits are free
 * @is_mapped: read full sub-buffers through the mapping, which costs a tenth less. Otherwise read
 *     them from the file, so that a program that removes its pages at that moment cannot make the
 *     daemon allocate new ones.
 * @translate: returns false if the times make no sense; the records are then lost
 * @start_ns: start of the recording; events that the ring discarded since then count
 */
struct drain_source {
	struct subbuf_ring ring;
	int fd;
	off_t offset;
	struct budget *budget;
	uid_t uid;
	bool is_mapped;
	uint32_t stream;
	uint32_t cpu;
	bool (*translate)(void *context, struct drain_copy *copy);
	void *context;
	uint64_t start_ns;
};

struct drain_ring;

/**
 * drain_add() - add a ring; its memory must stay until drain_retire()
 * The drain takes all records in the ring; translate() leaves out those that are too early.
 * @count_all: count every event that the ring ever discarded; otherwise only those from now on
 * Returns NULL if there is no memory.
 */
struct drain_ring *drain_add(struct drain *drain, const struct drain_source *source, bool count_all);

/**
 * drain_salvage() - take what a dead program left in its ring, complete or not
 * Returns false if the queue is full or this call has taken enough: call again after drain_run().
 */
bool drain_salvage(struct drain *drain, struct drain_ring *ring);

/**
 * drain_set_read_only() - with @read_only, write nothing into the ring's sub-buffers from now on
 * Sub-buffers that are not full then stay unread. For a program with more memory than allowed.
 */
void drain_set_read_only(struct drain_ring *ring, bool read_only);

/**
 * drain_retire() - stop reading the ring: its memory goes away, its counts stay
 * @ring is valid until the next drain_run().
 */
void drain_retire(struct drain *drain, struct drain_ring *ring);

/**
 * drain_is_broken() - did the program write something that no record writer writes? Nothing more is
 * taken from the ring then
 */
bool drain_is_broken(const struct drain_ring *ring);

/**
 * drain_is_distrusted() - did the ring's counter of discarded events show an impossible value? It
 * is not believed any more then
 */
bool drain_is_distrusted(const struct drain_ring *ring);

/** drain_taken() - number of sub-buffers taken from the ring so far */
uint64_t drain_taken(const struct drain_ring *ring);

/** drain_count_lost() - the program lost @nr events before it had the ring */
void drain_count_lost(struct drain_ring *ring, uint64_t nr);

/**
 * drain_is_late() - is a kernel ring so full that the daemon should have drained it earlier? Rings
 * of programs are not considered: a program can write any position
 */
bool drain_is_late(const struct drain *drain);

enum drain_result {
	DRAIN_IDLE,    /* no sub-buffer was complete */
	DRAIN_TOOK,    /* took all complete sub-buffers */
	DRAIN_BLOCKED, /* the queue is full: call again when the writer's wake_fd is readable */
};

/**
 * drain_wake_at() - set when a kernel ring wakes the daemon: at half its sub-buffers, or without
 * @half at each full sub-buffer
 * With half a ring the daemon wakes a quarter as often, and evicts the caches of the running task a
 * quarter as often. The price is that full sub-buffers are written later.
 * Returns true if the threshold is lower than before. Then call drain_run(): sub-buffers that are
 * already full did not wake the daemon.
 */
bool drain_wake_at(struct drain *drain, bool half);

/**
 * drain_run() - take every complete sub-buffer, one of each ring in turn
 * The kernel's rings come first, and again after each sub-buffer of a program. From programs it
 * takes only sub-buffers that were opened before the call, and limits their total, so that signals
 * and requests need not wait long. drain_has_more() then returns true if some were left.
 */
enum drain_result drain_run(struct drain *drain);
bool drain_has_more(const struct drain *drain);

/** drain_kernel() - drain the kernel's rings only, between two pieces of work for programs */
void drain_kernel(struct drain *drain);

/**
 * drain_flush() - close the open sub-buffers, so that drain_run() can take them
 * Returns how full the fullest of them was, in 1/1024.
 */
uint32_t drain_flush(struct drain *drain);
/**
 * drain_is_flushed() - has everything been taken that was recorded before the last drain_flush()?
 * @programs: in the rings of programs, too. A writer of a program can stay inside its sub-buffer
 *     for any time
 */
bool drain_is_flushed(const struct drain *drain, bool programs);

/**
 * drain_watch() - call @watch with each sub-buffer before it is packed; NULL: no more
 * @producer: a number for each program that runs, -1: the kernel
 */
typedef void (*drain_watch_fn)(void *context, const struct trace_source *source, int producer);
void drain_watch(struct drain *drain, drain_watch_fn watch, void *context);

/**
 * drain_mark() - flush, and note where each ring is now
 * drain_is_past_mark() - has everything before that been taken? Not while a writer is inside
 */
void drain_mark(struct drain *drain);
bool drain_is_past_mark(const struct drain *drain);

/**
 * struct drain_marked - what the writer got of a ring up to the mark
 * @blocks: the number of its last block
 * @lost_after: events lost between that block and the mark
 * @filtered: as in struct trace_stream_stats, since the begin of the recording
 */
struct drain_marked {
	uint32_t stream;
	uint32_t cpu;
	uint64_t blocks;
	uint64_t lost_after;
	uint64_t filtered;
};
void drain_get_marked(const struct drain *drain, size_t idx, struct drain_marked *ret_marked);

/**
 * drain_announce_always() - every block of a program names the program
 * Otherwise the first one does. For a writer that drops blocks later.
 */
void drain_announce_always(struct drain *drain);

/**
 * drain_end() - flush and end the recording: later records do not belong to it
 * Call it before tracer_stop(): during detachment some event types stop earlier than others.
 */
void drain_end(struct drain *drain);

/** drain_is_empty() - after drain_end(): has every sub-buffer of the recording been taken? */
bool drain_is_empty(const struct drain *drain);

/**
 * drain_abandon() - after drain_end(): count the recording's remaining records in the rings as lost
 * Returns the number of events.
 */
uint64_t drain_abandon(struct drain *drain);

/**
 * struct drain_totals - sums over all rings so far
 * @lost: events that found no space in a ring, or could not be packed
 * @claimed: the part of @lost that only programs counted, in memory that they can write
 * @filtered: events refused by the filters
 */
struct drain_totals {
	uint64_t events;
	uint64_t lost;
	uint64_t claimed;
	uint64_t filtered;
};
void drain_get_totals(const struct drain *drain, struct drain_totals *ret_totals);

/**
 * struct drain_losses - the lost events of one ring by cause; the three counters add up to all
 * losses
 * @is_program: the ring belongs to a program
 * @full: events that found no space in the ring, or before it was there. A program counts its own
 * @given_up: events still in the ring when the time to drain was over
 * @other: events half recorded when their program died, events with unknown times, and events taken
 *     but not written for lack of memory or time
 */
struct drain_losses {
	uint32_t cpu;
	bool is_program;
	uint64_t full;
	uint64_t given_up;
	uint64_t other;
};
void drain_get_losses(const struct drain *drain, size_t idx, struct drain_losses *ret_losses);
/**
 * drain_get_gone_losses() - the sums of the rings that drain_nr_rings() no longer counts
 * The trace already has the statistics of these rings of ended programs: drain_ended.h.
 */
void drain_get_gone_losses(const struct drain *drain, struct drain_losses *ret_losses);
/** drain_free_ended() - the writer may have written such statistics: free their rings */
void drain_free_ended(struct drain *drain);
/** drain_cancel_ended() - before the writer's queue is dropped: it has no such statistics then */
void drain_cancel_ended(struct drain *drain);

/**
 * drain_statistics() - the statistics of one ring, with the writer's losses; after
 * writer_thread_stop()
 */
size_t drain_nr_rings(const struct drain *drain);
/** drain_nr_read() - how many of them are not retired: those that each drain_run() looks at */
size_t drain_nr_read(const struct drain *drain);
void drain_statistics(const struct drain *drain, size_t idx, struct trace_stream_stats *ret_stats);
#endif
