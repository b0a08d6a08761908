/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SESSION_H
#define DAEMON_SESSION_H
/*
 * session.h - one run of tracedaemon that records: what its parts share, and the order of its life.
 *
 *	session.c   begin and end, the exit status
 *	loop.c      what wakes it: rings, signals, timers, the writer, control requests
 *	control_commands.c  what tracectl can ask for
 */
#include <stdbool.h>
#include <stdint.h>

#include "command.h"
#include "control.h"
#include "flight.h"
#include "flush.h"
#include "daemon_options.h"
#include "output_file.h"
#include "progress.h"
#include "recording.h"
#include "clients.h"

#define SESSION_MAX_CLIENTS 64
#define SESSION_MAX_WAITING 16

#define SESSION_UNTIL_END   UINT64_MAX

/** struct waiting - a client that is answered when the writer has synced that often; SESSION_UNTIL_END: when the recording has ended */
struct waiting {
	int fd;
	uint64_t sync;
};

/**
 * struct session - of the main thread alone
 * @recording, @flight: one of the two
 * @mask: what is recorded while not @halted
 * @interrupts: SIGINT, SIGTERM and SIGHUP so far
 * @clients: have not asked anything yet; oldest first
 */
struct session {
	const struct options *options; /* borrowed */
	struct tracer *tracer;	       /* owned; NULL: not allowed, events of programs only */
	struct users *users;	       /* owned; NULL: no events of programs */
	struct tracer_options filter;  /* whom to record */
	struct trace_probes *probes;   /* owned; NULL = none */
	struct selection selection;    /* of programs' events and probes, while not @halted */
	struct recording *recording;   /* owned */
	struct flight *flight;	       /* owned */
	struct output output;
	struct command command;
	struct control *control; /* owned; NULL = cannot be controlled */
	struct flush flush;
	struct progress progress;
	uint64_t mask[TRACE_MASK_WORDS];
	bool adds_owners; /* to @mask, what nobody asked for */
	bool halted;
	bool stopping;
	bool write_error_told;
	bool removal_told;
	unsigned int interrupts;
	uint64_t start_ns;
	uint64_t end_ns; /* when to stop, 0 = not by time */
	int epoll_fd;
	int signal_fd;
	int flush_timer_fd;
	int clients[SESSION_MAX_CLIENTS]; /* owned */
	size_t nr_clients;
	struct waiting waiting[SESSION_MAX_WAITING];
	size_t nr_waiting;
	char summary[PROGRESS_SUMMARY_BYTES]; /* of a recording that has ended */
	struct trace_error end_error;	      /* why it is not all on disk; code 0: it is */
	bool proc_failed;		      /* the list of processes is not what it should be */
};

/** session_run() - record as @options say; returns the exit status of the program. Messages are its own. */
int session_run(const struct options *options);

/* loop.c */

/** loop_init() - watch everything that @session has; needs loop_free() also after a failure */
int loop_init(struct session *session, struct trace_error *ret_error);
/** loop_run() - until the recording is to end; then nobody is connected any more but those in @waiting */
void loop_run(struct session *session);
/** loop_interrupted() - for recording_end(): was the user impatient while it ended? */
bool loop_interrupted(void *session);
void loop_free(struct session *session);

/* control_commands.c */

/** requests_answer() - receive one request from @fd, do it and answer; the client's socket is closed when it is answered */
void requests_answer(struct session *session, int fd);
/** requests_synced() - answer the clients whose dump is on disk by now */
void requests_synced(struct session *session);
/** requests_close() - all is over: tell who still waits how it ended */
void requests_close(struct session *session);
#endif
