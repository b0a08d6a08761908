/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_STATE_H
#define ANALYZER_SERVERS_SERVERS_STATE_H
/*
 * servers_state.h - the state of the servers analysis: one part for each file
 *
 * docs/SERVERS.md has the rules and examples. The terms:
 *
 *   request     data (or a connection) that came to a server and is not answered yet
 *   origin      the client where a chain of requests began: a process or a host's address
 *   set         the requests that a thread works on, or that data carries
 *   window      the time of a process in which a request is open: the most that its bill can be
 *   bill        the CPU time of one process that is charged to one origin
 *   channel     one direction of a connection, or the content of a pipe or queue
 *   range       data in a channel that one call sent, with the sender and its set
 *   endpoint    one end of a connection, a datagram socket, a pipe, a futex word or eventfd
 *   rest        a call in which a thread may wait for work
 *
 * The files are layers. A file calls only files that are above it in this list:
 *
 *   servers_futex.c      the futexes at which a thread waited last
 *   servers_set.c        requests and sets: their references
 *   servers_process.c    processes
 *   servers_thread.c     threads
 *   servers_share.c      where in time the billed CPU time is, if that is kept
 *   servers_kept.c       each request with its times and its part of the bill, if that is kept
 *   servers_proof.c      which CPU time was certainly spent on one client
 *   servers_channel.c    channels: what was sent, and not received yet
 *   servers_endpoint.c   endpoints, and which end is the server's
 *   servers_pair.c       which of two processes answers the other
 *   servers_origin.c     origins
 *   servers_cause.c      wait causes
 *   servers_log.c        the log of a thread: its latest states and sets
 *   servers_wait.c       what a server did while its client waited
 *   servers_bill.c       bills
 *   servers_open.c       requests that are open, and the bounds of bills
 *   servers_turn.c       answers in a row, and which time was for each
 *   servers_request.c    which request a transfer begins or answers
 *   servers_ring_op.c    operations of io_uring in progress
 *   servers_receive.c    which calls sent the bytes that come out of a channel
 *   servers_ring_user.c  io_uring: which requests a thread has taken
 *   servers_signal.c     requests in shared memory
 *   servers_call.c       entry and exit of system calls
 *   servers_ring.c       io_uring: the events of operations
 *   servers_packet.c     the network's softirq, and UDP on this machine
 *   servers_closed.c     closed connections
 *   servers_explicit.c   requests that programs name by numbers
 *   servers_gaps.c       what is dropped when events are missing
 *   servers_socket.c     events of sockets and pipes
 *   servers_sched.c      events of the scheduler
 *   servers_start.c      what was open at the start
 *   servers_share_list.c shares by client
 *   servers_kept_list.c  the requests that are kept
 *   servers_results.c    bills by client, and the verification of the sums
 *   servers.c            the analysis as a whole
 *
 * Each part of struct trace_servers is maintained by the file that its header belongs to.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/servers.h>
#include "hash_table.h"
#include "servers_bill.h"
#include "servers_call.h"
#include "servers_cause.h"
#include "servers_channel.h"
#include "servers_closed.h"
#include "servers_endpoint.h"
#include "servers_explicit.h"
#include "servers_gaps.h"
#include "servers_kept.h"
#include "servers_log.h"
#include "servers_open.h"
#include "servers_origin.h"
#include "servers_packet.h"
#include "servers_pair.h"
#include "servers_process.h"
#include "servers_proof.h"
#include "servers_results.h"
#include "servers_ring_op.h"
#include "servers_set.h"
#include "servers_share.h"
#include "servers_signal.h"
#include "servers_thread.h"
#include "servers_turn.h"
#include "servers_wait.h"

typedef void (*servers_handler_fn)(struct trace_servers *s, const struct trace_event *event);

struct trace_servers {
	struct request_sets sets;
	const struct trace *trace;	 /* borrowed */
	struct trace_analysis *analysis; /* borrowed */
	int failed;			 /* 0 or a negative errno, but see also servers_failed() */
	bool started;			 /* servers_start_load() was called */
	bool no_transfers;		 /* the kernel does not record what is sent, or what is received */
	bool without_waits;		 /* hence no logs */
	uint64_t start_ns;
	uint64_t wanted[TRACE_MASK_WORDS]; /* event types that the requests depend on */
	servers_handler_fn handlers[TRACE_EV_MAX];
	struct strings strings; /* addresses of hosts, and names of numbered requests */

	struct servers_calls calls;
	struct servers_processes processes;
	struct servers_threads threads;
	struct servers_channels channels;
	struct servers_endpoints endpoints;
	struct servers_closed closed;
	struct servers_pairs pairs;
	struct servers_origins origins;
	struct servers_opens opens;
	struct servers_causes causes;
	struct servers_logs logs;
	struct servers_waits waits;
	struct servers_rings rings;
	struct servers_signals signals;
	struct servers_packets packets;
	struct servers_explicit explicit;
	struct servers_gaps gaps;
	struct servers_results results;
	struct servers_shares *shares; /* owned; NULL: not asked for */
	struct servers_kept *kept;     /* owned; NULL: not asked for */
};

/**
 * servers_failed() - 0, or the reason for which the results are wrong; at the end see also
 * strings.failed
 */
static inline int servers_failed(const struct trace_servers *s)
{
	return s->failed ? s->failed : s->sets.failed;
}

/** servers_in_gap() - true if the current event is inside a gap of the kernel's events */
static inline bool servers_in_gap(const struct trace_servers *s)
{
	return trace_analysis_now(s->analysis) < s->gaps.until_ns;
}
#endif
