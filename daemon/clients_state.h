/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENTS_STATE_H
#define DAEMON_CLIENTS_STATE_H
/*
 * clients_state.h - the state of all traced programs, for the files that work on it:
 *
 *	clients.c          begin, end, dispatch
 *	client_register.c  takes or refuses one program
 *	client_accept.c    programs connect
 *	client_bell.c      programs call that cannot connect
 *	client_search.c    finds running programs and other daemons
 *	client_reap.c      programs end
 *	client_period.c    how often the daemon looks
 *	clients_missing.c  describes what is not in the trace
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/saturate.h>

#include "client_table.h"
#include "client_watch.h"
#include "clients_status.h"
#include "join_error.h"
#include "lost_programs.h"
#include "select.h"
#include "user_recording.h"
#include "user_socket.h"

#define CLIENTS_PERIOD_MIN_NS	1000000ull
#define CLIENTS_PERIOD_BEGIN_NS 5000000ull
#define CLIENTS_PERIOD_MAX_NS	50000000ull
#define CLIENTS_CONNECTIONS	1024 /* connections that have not sent an offer yet */

/** struct connection - a program that has not sent its offer yet. @fd: -1: the slot is free */
struct connection {
	int fd;
	uid_t uid;
};

/**
 * struct client_accept - the socket, and the connections that have sent no offer yet
 * @connections: if none is free, a new connection replaces one of them
 * @nr_refused: connections that were closed because their user connects too fast
 * @in_a_row: connections accepted without a pause
 * @backlog: maximum number of connections that wait in the socket
 * @backlog_overflowed: the backlog was full, so the kernel may have refused others
 * @is_paused: the daemon does not poll the socket until the timer expires: it lacks a resource, or
 *     users connect too fast
 */
struct client_accept {
	struct user_socket *socket; /* owned; NULL: another daemon has it */
	struct connection connections[CLIENTS_CONNECTIONS];
	size_t next_connection;
	size_t nr_refused;
	size_t in_a_row;
	size_t backlog;
	bool backlog_overflowed;
	bool is_paused;
	bool reported_offer;
	bool reported_error;
};

/**
 * struct client_dead - the dead programs in the table
 * @nr: their number; at @check_at the daemon checks which are still needed
 * @bytes: what they left, limited to @bytes_max and @max programs; @gone: what was dropped of it
 * @nr_dropped: programs dropped although a living child may still use their switches
 */
struct client_dead {
	size_t nr;
	size_t check_at;
	size_t bytes;
	size_t bytes_max;
	size_t max;
	uint64_t nr_dropped;
	struct clients_gone gone;
};

/**
 * struct client_search - programs that already run, and other daemons
 * @error: errno of a failed scan of /proc: running programs may not have been found; 0: none failed
 * @other_fd: a pidfd of another daemon that holds the socket or a program's memory; -1: none is
 *     known
 * @rescan_due: scan /proc again as soon as the budget allows
 */
struct client_search {
	int error;
	int other_fd;
	bool rescan_due;
};

/**
 * struct client_bell - programs that cannot see the socket
 * @presence_fd: holds the lock that says that this daemon listens; -1: none
 * @error: why such programs cannot call; 0: they can
 * @lost: the calls that are known to be lost
 */
struct client_bell {
	int presence_fd;
	int error;
	uint64_t lost;
};

/**
 * struct clients - all traced programs of a recording
 * @budget: limits on what programs may cost
 * @missed: events of programs that are lost and have no ring to count them: those that a program or
 *     its children counted, and one for each of @untaken
 * @untaken: programs that the daemon could not take when they offered themselves or called. The
 *     number of their events is not known
 * @unregistered: tracepoints without space in the registry, of programs that are no longer in the
 *     table
 * @period_ns: time until the next look. @clock_ns: time of the last clock correspondence
 * @salvages: clients_salvage() has checked which programs are dead
 * @reported_busy, @reported_unknown: these messages are written once
 */
struct clients {
	struct user_recording recording;
	struct selection selection;
	const struct tracer_options *filter; /* borrowed */
	struct tracer *tracer;		     /* borrowed; NULL: none */
	struct budget *budget;		     /* owned */
	struct client_watch watch;
	struct client_table table;
	struct client_accept accept;
	struct client_dead dead;
	struct client_search search;
	struct client_bell bell;
	struct lost_programs lost;
	struct clients_status status;
	struct join_error join_error;
	uint64_t missed;
	uint64_t untaken;
	uint64_t unregistered;
	uint64_t period_ns;
	uint64_t clock_ns;
	bool off;
	bool salvages;
	bool reported_busy;
	bool reported_unknown;
};

/** clients_miss() - the daemon could not take the offers or calls of @nr programs */
static inline void clients_miss(struct clients *clients, uint64_t nr)
{
	clients->missed = trace_add_saturated(clients->missed, nr);
	clients->untaken = trace_add_saturated(clients->untaken, nr);
}

/**
 * clients_drain_kernel() - between two pieces of work for programs, so that the kernel's rings do
 * not wait
 */
static inline void clients_drain_kernel(const struct clients *clients)
{
	if (clients->recording.drain)
		drain_kernel(clients->recording.drain);
}
#endif
