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

#include "clients_status.h"
#include "clock.h"
#include "drain.h"
#include "select.h"
#include "user_recording.h"

struct clients;
struct user_snapshot;

/**
 * struct clients_options
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
struct clients_options {
	struct tracer *tracer;
	const struct selection *selection;
	const struct tracer_options *filter;
	const struct budget_limits *limits;
	bool blocking;
	bool flight;
	size_t dead_bytes;
	size_t dead_max;
};

/** clients_new() - start to accept programs' offers. NULL: no memory or no file descriptors */
struct clients *clients_new(const struct clients_options *options, struct trace_error *ret_error);
/** clients_free() - switch all events off. NULL is fine. Returns NULL */
struct clients *clients_free(struct clients *clients);

/**
 * clients_begin() - the recording begins at @start: take all programs that are running
 * @drain, @writer: borrowed until clients_free(); NULL for a flight recorder
 */
void clients_begin(struct clients *clients, struct drain *drain, struct trace_writer *writer,
		   const struct clock_sample *start);

/**
 * clients_fd() - readable when a program connected or died, or when the timer expired
 * Then call clients_dispatch(), and drain_run().
 */
int clients_fd(const struct clients *clients);
void clients_dispatch(struct clients *clients);

/**
 * clients_look() - after drain_run(), or after clients_dispatch() of a flight recorder: release
 * dead programs, and set the time of the next look
 */
void clients_look(struct clients *clients);

/** clients_select(), clients_halt() - change the selection, or halt and resume recording */
void clients_select(struct clients *clients, const struct selection *selection);
void clients_halt(struct clients *clients, bool halted);
const struct selection *clients_selection(const struct clients *clients);

/**
 * clients_end_at() - the recording ends at @end_ns: later records of programs do not belong to it.
 * 0: no end
 */
void clients_end_at(struct clients *clients, uint64_t end_ns);
/** clients_switch_off() - before drain_end(): switch all events off */
void clients_switch_off(struct clients *clients);
/**
 * clients_salvage() - after drain_end(), if a sub-buffer does not complete
 * Finds programs that died or executed another program: their writers will not complete it. Call
 * again until all is taken.
 */
void clients_salvage(struct clients *clients);
/**
 * clients_nr_distrusted() - number of programs that wrote impossible times, CPUs or counters into
 * their memory
 */
uint64_t clients_nr_distrusted(const struct clients *clients);
/**
 * clients_close_counts() - after everything is taken and before the statistics: stop reading
 * programs' memory
 * Returns the minimum number of lost events of programs that have no ring to count them.
 * @ret_claimed: the part of them that only programs counted
 */
uint64_t clients_close_counts(struct clients *clients, uint64_t *ret_claimed);

/* ---- flight recorder ---- */

/**
 * clients_oldest_ns() - the approximate time at which a snapshot taken now begins; UINT64_MAX: it
 * would be empty
 * First takes all programs that offer their memory or can be found in /proc.
 */
uint64_t clients_oldest_ns(struct clients *clients);
/**
 * clients_snapshot() - write what is kept of all programs; after clients_oldest_ns(). Returns 0 or
 * -ENOMEM
 */
int clients_snapshot(struct clients *clients, struct user_snapshot *snapshot);
/** clients_reset() - drop what is kept: the next snapshot begins at @now */
void clients_reset(struct clients *clients, const struct clock_sample *now);

void clients_get_gone(const struct clients *clients, struct clients_gone *ret_gone);

void clients_get_status(const struct clients *clients, struct clients_status *ret_status);
#endif
