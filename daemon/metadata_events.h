/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_METADATA_EVENTS_H
#define DAEMON_METADATA_EVENTS_H
/*
 * metadata_events.h - the trace_* events: what the daemon itself has to say in the trace, in a stream of its own.
 *
 * Notes are collected in memory; notes_push() packs what there is. One thread.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/tracer.h>
#include <trace/writer.h>

#include "own_records.h"
#include "clock.h"
#include "writer_thread.h"

/**
 * struct notes - zeroed = none yet; the caller's. Everything is private but for reading
 * @missed: what notes_missed() has told of each event
 * @missed_total: their sum
 * @stored, @lost: notes given to the writer, or dropped for want of memory; with what notes_lose() was told
 * @abandoned: of @stored, what was taken out of the queue again
 */
struct notes {
	struct block block;
	uint64_t blocks;
	uint64_t stored;
	uint64_t lost;
	uint64_t abandoned;
	uint64_t missed_total;
	uint64_t missed[TRACE_EV_MAX];
};

/** notes_begin() - what the kernel skipped so far does not count */
void notes_begin(struct notes *notes, const struct tracer *tracer);

void notes_mask(struct notes *notes, const uint64_t mask[TRACE_MASK_WORDS]);
void notes_heartbeat(struct notes *notes, const struct clock_sample *now);
void notes_mark(struct notes *notes, const char *text);
void notes_select(struct notes *notes, const char *text);

/** notes_again() - the state of the machine follows, or (@done) that was all of it */
void notes_again(struct notes *notes, bool done);
/** notes_record() - one of its records; those before it go to the writer if there is no room. 0 or -ENOMEM */
int notes_record(struct notes *notes, const struct trace_record *record, size_t bytes, uint64_t ts_ns, struct trace_writer *writer,
		 struct writer_thread *thread);

/** notes_missed() - how often the kernel skipped a program since the last call; a note for each event where it did */
void notes_missed(struct notes *notes, const struct tracer *tracer);

/** notes_lose() - events that are lost, and of which no other stream is: this one stands for them */
void notes_lose(struct notes *notes, uint64_t nr);

/** notes_push() - give the notes to the writer */
void notes_push(struct notes *notes, struct trace_writer *writer, struct writer_thread *thread);

/** notes_statistics() - the account of the stream, with the events that the kernel missed; after writer_thread_stop() */
void notes_statistics(const struct notes *notes, struct trace_stream_stats *ret_stats);

void notes_release(struct notes *notes);
#endif
