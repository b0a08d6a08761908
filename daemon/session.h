/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SESSION_H
#define DAEMON_SESSION_H
/*
 * session.h - one recording run of tracedaemon: the data that its parts share, and its life cycle
 *
 *	session.c   begin and end, the exit status
 *	loop.c      the event loop: rings, signals, timers, the writer, control requests
 *	control_commands.c  the requests of tracectl
 */
#include <stdbool.h>
#include <stdint.h>

#include "command.h"
#include "control.h"
#include "flight.h"
#include "flush.h"
#include "keeper.h"
#include "daemon_options.h"
#include "output_file.h"
#include "profile_counts.h"
#include "progress.h"
#include "recording.h"
#include "sample_period.h"
#include "clients.h"

#define SESSION_MAX_CLIENTS 64
#define SESSION_MAX_WAITING 16

#define SESSION_UNTIL_END UINT64_MAX

/**
 * struct waiting - a client that gets its answer when the writer has synced @sync times
 * SESSION_UNTIL_END: when the recording has ended.
 */
struct waiting {
	int fd;
	uint64_t sync;
};

/**
 * struct session - used by the main thread only
 * @recording, @flight: one of the two. @keeper: of a recording to memory
 * @mask: recorded event types, while not @halted
 * @interrupts: number of SIGINT, SIGTERM and SIGHUP so far
 * @control_clients: connections that have sent no request yet; oldest first
 */
struct session {
	const struct daemon_options *options; /* borrowed */
	struct tracer *tracer;		      /* owned; NULL: no privileges, events of programs only */
	struct clients *clients;	      /* owned; NULL: no events of programs */
	struct tracer_options filter;	      /* the processes to record */
	struct trace_probes *probes;	      /* owned; NULL = none */
	struct selection selection;	      /* of programs' events and probes, while not @halted */
	struct recording *recording;	      /* owned */
	struct flight *flight;		      /* owned */
	struct keeper *keeper;		      /* owned; NULL: the recording has a file */
	struct output_target output;
	struct command command;
	struct control *control; /* owned; NULL: no control socket */
	struct samples samples;	 /* period_ns 0: none are taken */
	struct profile_counts profile;
	struct flush flush;
	struct progress progress;
	uint64_t mask[TRACE_MASK_WORDS];
	bool adds_required_events; /* @mask has events in addition to the options' */
	bool halted;
	bool stopping;
	bool write_error_reported;
	bool removal_reported;
	unsigned int interrupts;
	uint64_t start_ns;
	uint64_t end_ns; /* time to stop; 0: no limit */
	int epoll_fd;
	int signal_fd;
	int flush_timer_fd;
	int control_clients[SESSION_MAX_CLIENTS]; /* owned */
	size_t nr_control_clients;
	struct waiting waiting[SESSION_MAX_WAITING];
	size_t nr_waiting;
	char summary[PROGRESS_SUMMARY_BYTES]; /* of a recording that has ended */
	struct trace_error end_error;	      /* why the trace on disk is incomplete; code 0: it is complete */
	bool proc_failed;		      /* the list of processes could not be written */
};

/** session_is_flight() - the latest events stay in memory until a request saves them */
static inline bool session_is_flight(const struct session *session)
{
	return session->flight || session->keeper;
}

/**
 * session_run() - record as @options say. Prints its own messages. Returns the program's exit
 * status
 */
int session_run(const struct daemon_options *options);
#endif
