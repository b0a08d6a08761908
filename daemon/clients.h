/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENTS_H
#define DAEMON_CLIENTS_H
/*
 * clients.h - the traced programs of a recording: they connect, their events are switched on and
 * off, the daemon scans them for new events, and they end.
 *
 *	user_socket.c   a program offers its memory ...   user_find.c     ... or is found in /proc
 *	user_mapping.c  maps the memory and checks it     user_program.c  one program
 *	user_clock.c    its ticks as ns                   drain.c         takes its records
 *
 * Programs do not wake the daemon when a sub-buffer is full, so the daemon polls them: more often
 * the more they record, and not at all without programs. One thread.
 *
 * A flight recorder looks at a program a few times after it has connected, for events that the
 * program registers meanwhile, and then no more. The rings overwrite until a snapshot. The recorder
 * keeps what dead programs left, within limits.
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
 * struct users_options
 * @tracer: gives processes their numbers in the trace; borrowed; NULL: the pids that the daemon
 *     sees
 * @selection: the selected events; copied
 * @filter: the selected processes, as for the kernel's events; borrowed
 * @limits: limits on what programs may cost, NULL: the defaults; copied
 * @blocking: programs may wait for space in a ring
 * @flight: for a flight recorder
 * @dead_bytes, @dead_max: how much memory of dead programs a flight recorder keeps, and of how many
 *     programs; 0: 256 MiB, 2048
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

/** users_new() - start to accept programs' offers. NULL: no memory or no file descriptors */
struct users *users_new(const struct users_options *options, struct trace_error *ret_error);
/** users_free() - switch all events off. NULL is fine. Returns NULL */
struct users *users_free(struct users *users);

/**
 * users_begin() - the recording begins at @start: take all programs that are running
 * @drain, @writer: borrowed until users_free(); NULL for a flight recorder
 */
void users_begin(struct users *users, struct drain *drain, struct trace_writer *writer, const struct clock_sample *start);

/**
 * users_fd() - readable when a program connected or died, or when the timer expired
 * Then call users_dispatch(), and drain_run().
 */
int users_fd(const struct users *users);
void users_dispatch(struct users *users);

/**
 * users_look() - after drain_run(), or after users_dispatch() of a flight recorder: release dead
 * programs, and set the time of the next look
 */
void users_look(struct users *users);

/** users_select(), users_halt() - change the selection, or halt and resume recording */
void users_select(struct users *users, const struct selection *selection);
void users_halt(struct users *users, bool halted);
const struct selection *users_selection(const struct users *users);

/**
 * users_end_at() - the recording ends at @end_ns: later records of programs do not belong to it. 0:
 * no end
 */
void users_end_at(struct users *users, uint64_t end_ns);
/** users_switch_off() - before drain_end(): switch all events off */
void users_switch_off(struct users *users);
/**
 * users_salvage() - after drain_end(), if a sub-buffer does not complete
 * Finds programs that died or executed another program: their writers will not complete it. Call
 * again until all is taken.
 */
void users_salvage(struct users *users);
/**
 * users_tell_lack() - describe what of programs is not in the trace and cannot be counted
 * These are: programs that another daemon recorded; patterns that matched no program's event;
 * tracepoints that found no space in their program's registry or in the trace; programs that may
 * have ended before the daemon noticed them; programs that wrote impossible numbers.
 * @tell: called once for each text
 */
void users_tell_lack(const struct users *users, void (*tell)(void *context, const char *text), void *context);
/**
 * users_nr_doubted() - number of programs that wrote impossible times, CPUs or counters into their
 * memory
 */
uint64_t users_nr_doubted(const struct users *users);
/**
 * users_settle() - after everything is taken and before the statistics: stop reading programs'
 * memory
 * Returns the minimum number of lost events of programs that have no ring to count them.
 */
uint64_t users_settle(struct users *users);

/* ---- flight recorder ---- */

/**
 * users_oldest_ns() - the approximate time at which a snapshot taken now begins; UINT64_MAX: it
 * would be empty
 * First takes all programs that offer their memory or can be found in /proc.
 */
uint64_t users_oldest_ns(struct users *users);
/**
 * users_snapshot() - write what is kept of all programs; after users_oldest_ns(). Returns 0 or
 * -ENOMEM
 */
int users_snapshot(struct users *users, struct user_snapshot *snapshot);
/** users_reset() - drop what is kept: the next snapshot begins at @now */
void users_reset(struct users *users, const struct clock_sample *now);

/**
 * struct users_gone - what a flight recorder dropped of dead programs
 * @programs: the number of dropped programs; the last of them died at @ns
 * @overwritten, @lost: their events
 */
struct users_gone {
	uint64_t programs;
	uint64_t overwritten;
	uint64_t lost;
	uint64_t ns;
};
void users_get_gone(const struct users *users, struct users_gone *ret_gone);

/**
 * struct users_status - @programs: recorded now. @ever: recorded so far. @refused: programs that
 * were not taken. @barred: programs cannot join now
 */
struct users_status {
	size_t programs;
	size_t ever;
	size_t refused;
	bool barred;
};
void users_get_status(const struct users *users, struct users_status *ret_status);
#endif
