/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_FLIGHT_METADATA_H
#define DAEMON_FLIGHT_METADATA_H
/*
 * flight_metadata.h - the trace_* events of a flight recorder: kept in memory, and written with every snapshot.
 *
 * They take a megabyte at most. The oldest go first, and are counted where they were; but what still holds stays: the last mask and the last selection
 * before those that are left, without which nobody could tell what was recorded then. Of what the kernel missed the oldest figures are added up.
 * One thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/tracer.h>

#include "own_records.h"

struct flight_notes;

struct flight_notes *flight_notes_new(void); /* NULL: no memory */
struct flight_notes *flight_notes_free(struct flight_notes *notes); /* NULL is fine; returns NULL */

/** flight_notes_reset() - forget them, and what the kernel missed so far. @tracer: NULL is fine, as below */
void flight_notes_reset(struct flight_notes *notes, const struct tracer *tracer);

/** flight_notes_add() - an event of the daemon's at this moment, as block_add_event() */
void flight_notes_add(struct flight_notes *notes, uint16_t id, const void *payload, size_t payload_bytes, const char *text);

/** flight_notes_missed() - note how often the kernel skipped programs since the last call */
void flight_notes_missed(struct flight_notes *notes, const struct tracer *tracer);

/** struct flight_notes_totals - since the reset. @lost: notes for which there was no room; @missed: events that the kernel missed */
struct flight_notes_totals {
	uint64_t lost;
	uint64_t missed;
};

/**
 * flight_notes_write() - all of them in the order of time, each moment in a block
 * @push: is given the block, to read until it returns, and how many notes were lost before it; other than 0 ends it
 * Returns 0, what @push returned, -ENOMEM.
 */
int flight_notes_write(const struct flight_notes *notes, int (*push)(void *context, const struct block *block, uint64_t lost), void *context,
		       struct flight_notes_totals *ret_totals);
#endif
