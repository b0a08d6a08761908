/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_METADATA_EVENTS_H
#define DAEMON_METADATA_EVENTS_H
/*
 * metadata_events.h - the metadata events (trace_*) of the daemon itself, in a stream of their own.
 *
 * They are collected in memory; notes_push() packs them. One thread.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/tracer.h>
#include <trace/writer.h>

#include "own_records.h"
#include "clock.h"
#include "writer_thread.h"

/**
 * struct notes - metadata events that are not yet written; zeroed: none. The caller owns it and
 * only reads its members
 * @missed: for each event, the number of missed events that notes_missed() has reported
 * @missed_total: their sum
 * @stored: metadata events given to the writer
 * @lost: metadata events dropped because there was no memory, and the events of notes_lose()
 * @abandoned: the part of @stored that was dropped from the queue
 */
struct notes {
	struct own_records block;
	uint64_t blocks;
	uint64_t stored;
	uint64_t lost;
	uint64_t abandoned;
	uint64_t missed_total;
	uint64_t missed[TRACE_EV_MAX];
};

/** notes_begin() - do not count the events that the kernel missed so far */
void notes_begin(struct notes *notes, const struct tracer *tracer);

void notes_mask(struct notes *notes, const uint64_t mask[TRACE_MASK_WORDS]);
void notes_heartbeat(struct notes *notes, const struct clock_sample *now);
void notes_mark(struct notes *notes, const char *text);
void notes_select(struct notes *notes, const char *text);

/** notes_again() - the records of the machine's state follow, or with @done they are complete */
void notes_again(struct notes *notes, bool done);
/**
 * notes_record() - add a record of that state; if there is no space, earlier ones go to the writer.
 * Returns 0 or -ENOMEM
 */
int notes_record(struct notes *notes, const struct trace_record *record, size_t bytes, uint64_t ts_ns,
		 struct trace_writer *writer, struct writer_thread *thread);

/** notes_missed() - add an event for each event type that the kernel missed since the last call */
void notes_missed(struct notes *notes, const struct tracer *tracer);

/** notes_lose() - count lost events that belong to no other stream in this one */
void notes_lose(struct notes *notes, uint64_t nr);

/** notes_push() - give the metadata events to the writer */
void notes_push(struct notes *notes, struct trace_writer *writer, struct writer_thread *thread);

/**
 * notes_statistics() - the statistics of the stream, with the events that the kernel missed; after
 * writer_thread_stop()
 */
void notes_statistics(const struct notes *notes, struct trace_stream_stats *ret_stats);

void notes_release(struct notes *notes);
#endif
