/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_FLIGHT_METADATA_H
#define DAEMON_FLIGHT_METADATA_H
/*
 * flight_metadata.h - a flight recorder's metadata events (trace_*): kept in memory, and written
 * with every snapshot.
 *
 * They take at most 1 MiB; above that the oldest are dropped and counted as lost at their position.
 * The last mask and the last selection that were dropped are kept, because the reader needs them to
 * know what was recorded. The oldest numbers of missed events are summed up. One thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/tracer.h>

#include "own_records.h"

struct flight_metadata;

struct flight_metadata *flight_metadata_new(void);				/* NULL: no memory */
struct flight_metadata *flight_metadata_free(struct flight_metadata *metadata); /* NULL is fine; returns NULL */

/**
 * flight_metadata_reset() - drop the metadata events, and do not count the events missed so far.
 * @tracer: NULL is fine, here and below
 */
void flight_metadata_reset(struct flight_metadata *metadata, const struct tracer *tracer);

/**
 * flight_metadata_add() - add an event of the daemon with the current time, as
 * own_records_add_event()
 */
void flight_metadata_add(struct flight_metadata *metadata, uint16_t id, const void *payload, size_t payload_bytes,
			 const char *text);

/**
 * flight_metadata_missed() - note for each event how often the kernel skipped its program since the
 * last call
 */
void flight_metadata_missed(struct flight_metadata *metadata, const struct tracer *tracer);

/**
 * struct flight_metadata_totals - since the reset. @lost: metadata events for which there was no
 * space. @missed: events that the kernel missed
 */
struct flight_metadata_totals {
	uint64_t lost;
	uint64_t missed;
};

/**
 * flight_metadata_write() - write all metadata events in time order, a block for each time
 * @push: gets a block, which it may read until it returns, and the number of metadata events lost
 *     before it. If it returns other than 0, the writing ends.
 * Returns 0, the value that @push returned, or -ENOMEM.
 */
int flight_metadata_write(const struct flight_metadata *metadata,
			  int (*push)(void *context, const struct own_records *block, uint64_t lost), void *context,
			  struct flight_metadata_totals *ret_totals);
#endif
