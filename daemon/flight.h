/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_FLIGHT_H
#define DAEMON_FLIGHT_H
/*
 * flight.h - the flight recorder: the latest events stay in memory, and a snapshot saves them.
 *
 * The rings of ordinary events overwrite, and the daemon does not read them until a snapshot. The
 * rings of structural events never overwrite; the daemon moves their sub-buffers into a history
 * that reaches much further back than the rings, so that old threads have names. The rings of
 * programs overwrite too: user_kept.h. One thread.
 */
#include <stdint.h>
#include <trace/probes.h>
#include <trace/tracer.h>

#include "clients.h"

struct flight;

/**
 * flight_begin() - start the tracer in overwrite mode, and take all programs that are running
 * @tracer: borrowed until flight_free(); NULL: without the kernel's events
 * @clients: borrowed until flight_free(); NULL: without the events of programs
 */
struct flight *flight_begin(struct tracer *tracer, struct clients *clients, struct trace_error *ret_error);
/** flight_set_filter() - the processes to record; borrowed. Without it: all processes */
void flight_set_filter(struct flight *flight, const struct tracer_options *filter);
/**
 * flight_set_patience() - how long a snapshot waits, in all, for writers in the middle of a record
 * The default is one second.
 */
void flight_set_patience(struct flight *flight, int ms);
/**
 * flight_attach_probes() - record these probes too, as far as @selection selects them
 * Call it before the first snapshot. @probes: borrowed until flight_free(); NULL is fine.
 */
int flight_attach_probes(struct flight *flight, const struct trace_probes *probes, const struct selection *selection,
			 struct trace_error *ret_error);
struct flight *flight_free(struct flight *flight); /* NULL is fine; returns NULL */

/**
 * flight_drain() - move structural events into the history. Call it when the tracer's poll fd is
 * readable
 */
void flight_drain(struct flight *flight);

/** flight_take_code_maps() - note what processes have mapped as code; some times a second */
void flight_take_code_maps(struct flight *flight);

/**
 * struct flight_result - of one snapshot. @overwritten: events older than the oldest saved event
 */
struct flight_result {
	uint64_t events;
	uint64_t overwritten;
	uint64_t file_bytes;
};

/**
 * flight_snapshot() - write a trace of what is in memory to @fd, while recording continues
 * The classic recorder paused for this, which leaves a gap in the next snapshot. This one copies
 * sub-buffers, and uses a copy only if the ring's position shows afterwards that the sub-buffer had
 * not been overwritten.
 */
int flight_snapshot(struct flight *flight, int fd, int level, struct flight_result *ret_result,
		    struct trace_error *ret_error);

/**
 * flight_get_held() - what a ring of the kernel holds: the time of its oldest event, or that of the
 * last reset, and its bytes
 */
void flight_get_held(const struct flight *flight, size_t idx, uint64_t *ret_since_ns, uint64_t *ret_bytes);

/** flight_reset() - drop what is in memory: the next snapshot begins now */
void flight_reset(struct flight *flight);

int flight_set_mask(struct flight *flight, const uint64_t mask[TRACE_MASK_WORDS], struct trace_error *ret_error);
/** flight_select() - as recording_select() */
void flight_select(struct flight *flight, const char *text);
void flight_mark(struct flight *flight, const char *text);
#endif
