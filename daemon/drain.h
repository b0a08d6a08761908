/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_DRAIN_H
#define DAEMON_DRAIN_H
/*
 * drain.h - from rings to the writer's queue: records become chunks, and the books of each ring are kept.
 *
 * A ring is a ring: those of the kernel are there from the beginning, those of programs come and go. The memory of a program is not
 * trusted: what is read there is copied once, checked, and cannot harm more than the program's own stream.
 *
 * Discard mode only; flight.h reads rings that overwrite. One thread.
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
 * drain_new() - keep books from now on; what the rings hold already is passed over
 * @tracer: borrowed until drain_free(), started; NULL: programs' rings only. While its programs are attached, some events come and
 *          others do not yet: the recording begins after that. NULL: -ENOMEM
 */
struct drain *drain_new(struct tracer *tracer, struct trace_error *ret_error);
struct drain *drain_free(struct drain *drain); /* NULL is fine; returns NULL */

/** drain_connect() - where it goes; before drain_run(). Borrowed */
void drain_connect(struct drain *drain, struct trace_writer *writer, struct writer_thread *thread);

/**
 * struct drain_copy - a sub-buffer of a program, copied out of its memory, on its way to be packed
 * @header: the copy; behind it @bytes of records, to be translated in place. Room for one more record of any size lies before them
 * @nr_records: as their writers counted; no more than fit
 * @unwritten: only grows: when it does, records that translate() had added before may be lost
 * To be filled in by translate():
 * @records, @bytes: what is to be packed, with the catalogue's or the writer's ids, and low bits of ns of CLOCK_MONOTONIC
 * @nr_records: how many those are, with those that make no sense; @added: of them, made by the daemon
 * @filtered: left out because nobody wants them; @early: left out because they are older than the recording
 * @untyped: left out because their type found no room in the trace; they are lost
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
 * struct drain_source - a ring of a program
 * @fd, @offset: the file of its memory, borrowed until drain_retire(), and where the ring begins in it
 * @budget, @uid: who pays for visits to CPUs; borrowed; NULL: they are free
 * @is_mapped: full sub-buffers may be read where they are mapped, which is a tenth cheaper; otherwise from the file, where a program that takes its pages
 *     away at that moment cannot have the daemon make new ones
 * @translate: returns false when the times make no sense: its records are then lost
 * @start_ns: of the recording: the ring discarded its events since then
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
 * drain_add() - one more ring, whose memory stays until drain_retire()
 * What it holds is taken; translate() knows what is too early. @whole: and so is what it discarded ever, otherwise what it does from now on
 * NULL: no memory
 */
struct drain_ring *drain_add(struct drain *drain, const struct drain_source *source, bool whole);

/** drain_salvage() - the program is dead: take what is left in its ring, complete or not. False: the queue is full, or it was enough: call again after drain_run() */
bool drain_salvage(struct drain *drain, struct drain_ring *ring);

/** drain_hold() - from now on, if @hold, nothing is written into the ring's sub-buffers: what is not full stays where it is. For memory that is larger than it may be */
void drain_hold(struct drain_ring *ring, bool hold);

/** drain_retire() - its memory goes; the books stay */
void drain_retire(struct drain *drain, struct drain_ring *ring);

/** drain_is_broken() - did the program write what no writer of records does? Nothing more is taken from the ring */
bool drain_is_broken(const struct drain_ring *ring);

/** drain_is_doubted() - did the ring's counter of discarded events say what no program can have counted? It is not believed any more */
bool drain_is_doubted(const struct drain_ring *ring);

/** drain_taken() - sub-buffers taken from the ring, ever */
uint64_t drain_taken(const struct drain_ring *ring);

/** drain_count_lost() - events of the ring that never came to be in it */
void drain_count_lost(struct drain_ring *ring, uint64_t nr);

/** drain_is_late() - is a ring of the kernel's so full that we should have been here before? What a program says of its own does not count */
bool drain_is_late(const struct drain *drain);

enum drain_result {
	DRAIN_IDLE,    /* nothing was complete */
	DRAIN_TOOK,    /* took all that was complete */
	DRAIN_BLOCKED, /* the queue is full: call again when the writer's wake_fd says so */
};

/**
 * drain_wake_at() - how much wakes us: half of a ring of the kernel's, or, not @half, each sub-buffer that is full. Returns whether that is less than before:
 * then call drain_run(), for what became full until now woke nobody
 * For half of a ring we come a quarter as often, and whoever has the CPU loses what it had in the caches a quarter as often; but what is full is written later.
 */
bool drain_wake_at(struct drain *drain, bool half);

/**
 * drain_run() - take every complete sub-buffer, one of each ring in turn
 * The kernel's come first, and again after each of a program. Sub-buffers of programs are taken if they were opened before the call, and so many in all that
 * signals and requests need not wait for long: drain_has_more() tells that there was more.
 */
enum drain_result drain_run(struct drain *drain);
bool drain_has_more(const struct drain *drain);

/** drain_kernel() - the kernel's rings only: between two pieces of work for programs */
void drain_kernel(struct drain *drain);

/**
 * drain_flush() - close the sub-buffers in use, for drain_run() to take
 * Returns how full the fullest of them was, in 1/1024.
 */
uint32_t drain_flush(struct drain *drain);

/** drain_end() - flush; what comes later is not part of the recording. Before tracer_stop(), for the same reason as above */
void drain_end(struct drain *drain);

/** drain_is_empty() - after drain_end(): is all of the recording taken? */
bool drain_is_empty(const struct drain *drain);

/** drain_abandon() - after drain_end(): count what the rings still hold of the recording as lost. Returns the number of events */
uint64_t drain_abandon(struct drain *drain);

/** struct drain_totals - of all rings, so far. @lost: found no room, or could not be packed; @filtered: refused by the filters */
struct drain_totals {
	uint64_t events;
	uint64_t lost;
	uint64_t filtered;
};
void drain_get_totals(const struct drain *drain, struct drain_totals *ret_totals);

/**
 * struct drain_losses - of a ring, why; together they are what it lost. @is_program: the ring's
 * @full: found no room. @given_up: were in it when there was no more time. @other: half recorded when their program died, of times that nobody knows, or
 * taken, and then not written, for want of memory or time
 */
struct drain_losses {
	uint32_t cpu;
	bool is_program;
	uint64_t full;
	uint64_t given_up;
	uint64_t other;
};
void drain_get_losses(const struct drain *drain, size_t idx, struct drain_losses *ret_losses);

/** drain_statistics() - the account of each ring, with what the writer lost: after writer_thread_stop() */
size_t drain_nr_rings(const struct drain *drain);
void drain_statistics(const struct drain *drain, size_t idx, struct trace_stream_stats *ret_stats);
#endif
