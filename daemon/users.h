/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USERS_H
#define DAEMON_USERS_H
/*
 * users.h - the programs with tracepoints that a recording takes part of: they come, are switched and looked after, and go.
 *
 *	user_socket.c   they offer their memory ...          user_find.c     ... or are found
 *	user_mapping.c  the memory, mapped and checked       user_program.c  one of them
 *	user_clock.c    their ticks as ns                    drain.c         takes their records
 *
 * Programs call nobody when a buffer is full; so they are looked at, the more often the more they record, and not at all when there are
 * none. One thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <trace/tracer.h>
#include <trace/writer.h>

#include "clock.h"
#include "drain.h"
#include "select.h"

struct users;

/** struct users_options - @selection: which events; copied. @filter: which processes, as for the kernel's; borrowed. @blocking: programs may wait for room */
struct users_options {
	const struct selection *selection;
	const struct tracer_options *filter;
	bool blocking;
};

/** users_new() - from now on programs can offer themselves. NULL: no memory, no descriptors */
struct users *users_new(const struct users_options *options, struct trace_error *ret_error);
/** users_free() - switches all events off. NULL is fine. Returns NULL */
struct users *users_free(struct users *users);

/** users_begin() - the recording has begun at @start: take all programs that are there. @drain, @writer: borrowed until users_free() */
void users_begin(struct users *users, struct drain *drain, struct trace_writer *writer, const struct clock_sample *start);

/** users_fd() - readable when somebody came or died, or it is time to look; then users_dispatch(), and drain_run() */
int users_fd(const struct users *users);
void users_dispatch(struct users *users);

/** users_look() - after drain_run(): bury the dead, and choose when to look again */
void users_look(struct users *users);

/** users_select(), users_halt() - change what is recorded */
void users_select(struct users *users, const struct selection *selection);
void users_halt(struct users *users, bool halted);
const struct selection *users_selection(const struct users *users);

/** users_switch_off() - before drain_end(): nothing more is to come */
void users_switch_off(struct users *users);
/** users_salvage() - after drain_end(), when something does not come: from programs that died or run something else it will not */
void users_salvage(struct users *users);
/** users_settle() - when all is taken, before the statistics: their memory is not read any more */
void users_settle(struct users *users);

/** struct users_status - @programs: recorded now; @ever: so far; @refused: whose memory was not as it should be */
struct users_status {
	size_t programs;
	size_t ever;
	size_t refused;
};
void users_get_status(const struct users *users, struct users_status *ret_status);
#endif
