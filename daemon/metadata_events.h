/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_METADATA_EVENTS_H
#define DAEMON_METADATA_EVENTS_H
/*
 * metadata_events.h - the metadata events (trace_*) of the daemon itself, in a stream of their own.
 *
 * The daemon collects them in memory; metadata_push() packs them. One thread.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/tracer.h>
#include <trace/writer.h>

#include "own_records.h"
#include "clock.h"
#include "writer_thread.h"

/**
 * struct metadata_events - metadata events that are not yet written; zeroed: none. The caller owns
 * it and only reads its members
 * @missed: for each event, the number of missed events that metadata_missed() has reported
 * @missed_total: their sum
 * @stored: metadata events given to the writer
 * @lost: metadata events dropped because there was no memory, and the events of metadata_lose()
 * @claimed: the part of @lost that only programs counted
 * @abandoned: the part of @stored that was dropped from the queue
 */
struct metadata_events {
	struct own_records block;
	uint64_t blocks;
	uint64_t stored;
	uint64_t lost;
	uint64_t claimed;
	uint64_t abandoned;
	uint64_t missed_total;
	uint64_t missed[TRACE_EV_MAX];
};

/** metadata_begin() - do not count the events that the kernel missed so far */
void metadata_begin(struct metadata_events *metadata, const struct tracer *tracer);

void metadata_mask(struct metadata_events *metadata, const uint64_t mask[TRACE_MASK_WORDS]);
/** metadata_heartbeat() - all events before the time of @flush are in the file before it */
int metadata_heartbeat(struct metadata_events *metadata, const struct clock_sample *flush, struct trace_writer *writer,
		       struct writer_thread *thread);
void metadata_mark(struct metadata_events *metadata, const char *text);
void metadata_select(struct metadata_events *metadata, const char *text);

/**
 * metadata_state_again() - the records of the machine's state follow, or with @done they are
 * complete
 */
void metadata_state_again(struct metadata_events *metadata, bool done);
/**
 * metadata_record() - add a record of that state; if there is no space, earlier ones go to the
 * writer.
 * Returns 0 or -ENOMEM
 */
int metadata_record(struct metadata_events *metadata, const struct trace_record *record, size_t bytes, uint64_t ts_ns,
		    struct trace_writer *writer, struct writer_thread *thread);

/**
 * metadata_missed() - add an event for each event type that the kernel missed since the last call
 */
void metadata_missed(struct metadata_events *metadata, const struct tracer *tracer);

/**
 * metadata_code_map() - add an event fs_map; if there is no space, or if it is earlier than the
 * others, these go to the writer
 */
void metadata_code_map(struct metadata_events *metadata, const struct tracer_code_map *map, struct trace_writer *writer,
		       struct writer_thread *thread);

/**
 * metadata_lose() - count @nr lost events that belong to no other stream in this one
 * @claimed: the part of them that only programs counted
 */
void metadata_lose(struct metadata_events *metadata, uint64_t nr, uint64_t claimed);

/** metadata_push() - give the metadata events to the writer */
void metadata_push(struct metadata_events *metadata, struct trace_writer *writer, struct writer_thread *thread);

/**
 * metadata_statistics() - the statistics of the stream, with the events that the kernel missed;
 * after writer_thread_stop()
 */
void metadata_statistics(const struct metadata_events *metadata, struct trace_stream_stats *ret_stats);

void metadata_release(struct metadata_events *metadata);
#endif
