/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_FLIGHT_H
#define DAEMON_FLIGHT_H
/*
 * flight.h - the flight recorder: the latest events stay in memory, and a snapshot saves them.
 *
 * The rings of ordinary events overwrite themselves and are not touched until a snapshot. The rings of structural events never
 * overwrite; what they deliver is kept here, much longer than the rest, so that old threads have names. The rings of programs
 * overwrite themselves, too: user_kept.h. One thread.
 */
#include <stdint.h>
#include <trace/probes.h>
#include <trace/tracer.h>

#include "clients.h"

struct flight;

/**
 * flight_begin() - start the tracer, in overwrite mode, and take all programs that are there
 * @tracer, @users: borrowed until flight_free(); NULL: without the kernel's events, or programs'
 */
struct flight *flight_begin(struct tracer *tracer, struct users *users, struct trace_error *ret_error);
/** flight_set_filter() - whom events are recorded of; borrowed; without it: everybody */
void flight_set_filter(struct flight *flight, const struct tracer_options *filter);
/** flight_attach_probes() - and these probes, as far as @selection wants them; borrowed until flight_free(). Before the first snapshot; NULL is fine */
int flight_attach_probes(struct flight *flight, const struct trace_probes *probes, const struct selection *selection, struct trace_error *ret_error);
struct flight *flight_free(struct flight *flight); /* NULL is fine; returns NULL */

/** flight_drain() - take over structural events. Call when the tracer's poll fd says so */
void flight_drain(struct flight *flight);

/** struct flight_result - of one snapshot. @overwritten: events before the oldest that was saved */
struct flight_result {
	uint64_t events;
	uint64_t overwritten;
	uint64_t file_bytes;
};

/**
 * flight_snapshot() - write a trace of what is in memory to @fd; recording goes on meanwhile
 * The classic paused its recorder for this, which leaves a hole in the next snapshot. Here sub-buffers are copied, and a
 * copy counts when the ring shows afterwards that it had not come round to it.
 */
int flight_snapshot(struct flight *flight, int fd, int level, struct flight_result *ret_result, struct trace_error *ret_error);

/** flight_reset() - forget what is in memory: the next snapshot begins here */
void flight_reset(struct flight *flight);

int flight_set_mask(struct flight *flight, const uint64_t mask[TRACE_MASK_WORDS], struct trace_error *ret_error);
/** flight_select() - as recording_select() */
void flight_select(struct flight *flight, const char *text);
void flight_mark(struct flight *flight, const char *text);
#endif
