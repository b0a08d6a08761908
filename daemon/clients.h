/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENTS_H
#define DAEMON_CLIENTS_H
/*
 * clients.h - the programs with tracepoints that a recording takes part of: they come, are switched and looked after, and go.
 *
 *	user_socket.c   they offer their memory ...          user_find.c     ... or are found
 *	user_mapping.c  the memory, mapped and checked       user_program.c  one of them
 *	user_clock.c    their ticks as ns                    drain.c         takes their records
 *
 * Programs call nobody when a buffer is full; so they are looked at, the more often the more they record, and not at all when there are
 * none. One thread.
 *
 * A flight recorder looks at a program a few times after it has come, for the events that it registers meanwhile, and at nobody after that. The rings
 * overwrite themselves until a snapshot; of the dead it keeps what they left, within bounds.
 */
#include <stdbool.h>
#include <stddef.h>
#include <trace/tracer.h>
#include <trace/writer.h>

#include "clock.h"
#include "drain.h"
#include "select.h"
#include "user_program.h"

struct users;

/**
 * struct users_options - @tracer: whose numbers processes have in the trace; borrowed; NULL: they have those by which we know them
 * @selection: which events; copied. @filter: which processes, as for the kernel's; borrowed. @blocking: programs may wait for room
 * @limits: what programs may cost, NULL: the default; copied
 * @flight: a flight recorder. @dead_bytes, @dead_max: how much of the dead it keeps; 0 = 256 MiB, 2048 of them
 */
struct users_options {
	struct tracer *tracer;
	const struct selection *selection;
	const struct tracer_options *filter;
	const struct budget_limits *limits;
	bool blocking;
	bool flight;
	size_t dead_bytes;
	size_t dead_max;
};

/** users_new() - from now on programs can offer themselves. NULL: no memory, no descriptors */
struct users *users_new(const struct users_options *options, struct trace_error *ret_error);
/** users_free() - switches all events off. NULL is fine. Returns NULL */
struct users *users_free(struct users *users);

/** users_begin() - the recording has begun at @start: take all programs that are there. @drain, @writer: borrowed until users_free(); NULL: a flight recorder's */
void users_begin(struct users *users, struct drain *drain, struct trace_writer *writer, const struct clock_sample *start);

/** users_fd() - readable when somebody came or died, or it is time to look; then users_dispatch(), and drain_run() */
int users_fd(const struct users *users);
void users_dispatch(struct users *users);

/** users_look() - after drain_run(), or users_dispatch() of a flight recorder: bury the dead, and choose when to look again */
void users_look(struct users *users);

/** users_select(), users_halt() - change what is recorded */
void users_select(struct users *users, const struct selection *selection);
void users_halt(struct users *users, bool halted);
const struct selection *users_selection(const struct users *users);

/** users_end_at() - the recording ends at @end_ns: what programs record later is not part of it. 0: it goes on */
void users_end_at(struct users *users, uint64_t end_ns);
/** users_switch_off() - before drain_end(): nothing more is to come */
void users_switch_off(struct users *users);
/** users_salvage() - after drain_end(), when something does not come: from programs that died or run something else it will not. Again until all is there */
void users_salvage(struct users *users);
/**
 * users_tell_lack() - what of programs is not in the trace, and cannot be counted: those that another daemon had, patterns that no program had an
 * event for, places of events that found no room in their programs' registries, or in the trace, programs that may have come and gone unheard, programs
 * that wrote impossible numbers.
 * @tell: is given one text after the other
 */
void users_tell_lack(const struct users *users, void (*tell)(void *context, const char *text), void *context);
/** users_nr_doubted() - programs that wrote impossible numbers into their memory: times, CPUs, counters */
uint64_t users_nr_doubted(const struct users *users);
/**
 * users_settle() - when all is taken, before the statistics: their memory is not read any more
 * Returns how many events of programs are lost, at least, that have no ring whose books could count them.
 */
uint64_t users_settle(struct users *users);

/* ---- flight recorder ---- */

/** users_oldest_ns() - what a snapshot now begins with, about; UINT64_MAX: nothing. Takes everybody first that has something to say */
uint64_t users_oldest_ns(struct users *users);
/** users_snapshot() - what is kept of all programs; after users_oldest_ns(). 0 or -ENOMEM */
int users_snapshot(struct users *users, struct user_snapshot *snapshot);
/** users_reset() - forget what is kept: the next snapshot begins at @now */
void users_reset(struct users *users, const struct clock_sample *now);

/** struct users_gone - what flight recorders forgot of the dead: @programs, the last of which died at @ns; @overwritten, @lost: their events */
struct users_gone {
	uint64_t programs;
	uint64_t overwritten;
	uint64_t lost;
	uint64_t ns;
};
void users_get_gone(const struct users *users, struct users_gone *ret_gone);

/** struct users_status - @programs: recorded now; @ever: so far; @refused: whose memory was not as it should be. @barred: none can join now */
struct users_status {
	size_t programs;
	size_t ever;
	size_t refused;
	bool barred;
};
void users_get_status(const struct users *users, struct users_status *ret_status);
#endif
