/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_SERVERS_H
#define TRACE_SERVERS_H
/*
 * servers.h - the CPU time that servers spent on behalf of each client
 *
 *	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, &error);
 *	struct trace_servers *servers = trace_servers_new(trace, analysis, &error);
 *
 *	if (trace_analysis_run(analysis, &error) < 0)
 *		... error.message says why
 *	for (size_t i = 0; i < trace_nr_servers(servers); i++) {
 *		const struct trace_server *server = trace_get_server(servers, i);
 *		...
 *	}
 *	servers = trace_servers_free(servers);
 *	analysis = trace_analysis_free(analysis);
 *
 * This is an analysis like any other: hooks of <trace/analysis.h> in the same pass. docs/SERVERS.md
 * explains how requests are followed, and the limits of that. One thread at a time. Its memory
 * grows with processes, threads, sockets and data in transit, not with events.
 */
#include <stddef.h>
#include <stdint.h>
#include <trace/analysis.h>
#include <trace/error.h>
#include <trace/reader.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library is built with -fvisibility=hidden */

struct trace_servers;

/**
 * struct trace_server_client - the CPU time that a server spent on one client
 * The client is the origin of the request, through any number of servers.
 * @process: NULL if the client is on another host: then @address is its
 *     address, @pid is 0 and @comm ""
 * @cpu_ns: @exact_ns, certainly spent on this client, + @shared_ns, spent while several clients or
 *     the server itself may have been served: by the order of the answers, or its even part
 * @least_ns, @most_ns: what was really spent on this client is certainly in between: see
 *     docs/SERVERS.md for the assumptions. @least_ns is @exact_ns
 * @requests: exchanges: all messages before an answer count as one
 * @softirq_ns: time of the network's softirq for receiving its bytes: see struct
 *     trace_receiver; not in @cpu_ns
 * @interrupted_ns: taken by interrupts while the server worked for the client; not in @cpu_ns. A
 *     thread's own clock counts both.
 */
struct trace_server_client {
	const struct trace_process *process;
	uint32_t pid;
	const char *comm;
	const char *address; /* "" if on this machine */
	uint64_t cpu_ns;
	uint64_t exact_ns;
	uint64_t shared_ns;
	uint64_t requests;
	uint64_t softirq_ns;
	uint64_t interrupted_ns;
	uint64_t least_ns;
	uint64_t most_ns;
};

/**
 * struct trace_server - a process that worked for others
 * @cpu_ns: its user + system time, all threads: exactly @exact_ns + @shared_ns + @background_ns
 * @background_ns: on behalf of no client: its own start, its timers, requests from
 *     before the trace or from a gap
 * @clients: greatest CPU time first
 * @softirq_ns: time of the network's softirq for its sockets, for its clients and as a client
 *     of others; not in @cpu_ns
 */
struct trace_server {
	const struct trace_process *process;
	uint32_t pid;
	const char *comm;
	uint64_t cpu_ns;
	uint64_t exact_ns;
	uint64_t shared_ns;
	uint64_t background_ns;
	uint64_t requests;
	size_t nr_clients;
	const struct trace_server_client *clients;
	uint64_t softirq_ns;
};

/**
 * trace_servers_new() - follow requests in the pass of @analysis
 * @trace, @analysis: borrowed, must outlive it. Before trace_analysis_run().
 * Returns NULL with -ENOMEM, or -EBUSY after the pass began.
 */
struct trace_servers *trace_servers_new(const struct trace *trace, struct trace_analysis *analysis,
					struct trace_error *ret_error);
struct trace_servers *trace_servers_free(struct trace_servers *servers); /* NULL is fine; returns NULL */

/**
 * trace_nr_servers() - after the pass: number of processes that worked for others; 0 when out of
 * memory, see trace_servers_error()
 */
size_t trace_nr_servers(struct trace_servers *servers);
/** trace_get_server() - the greatest CPU time first; borrowed from @servers; NULL past the last */
const struct trace_server *trace_get_server(struct trace_servers *servers, size_t idx);

/**
 * trace_servers_without_waits() - leave out the waits for servers; before the pass
 * Bills are the same, and the pass is cheaper.
 * Returns 0, -EBUSY (the pass began) or -ENOMEM.
 */
int trace_servers_without_waits(struct trace_servers *servers) TRACE_NODISCARD;

/**
 * trace_servers_keep_shares() - also keep where in time the billed time is; before the pass
 * @max: entries of 24 to 32 bytes that may be kept: about two for each request, and one for each
 *     time that a thread of an ordinary process has had a CPU since it was billed last
 * Returns 0, -EBUSY (the pass began) or -ENOMEM.
 */
int trace_servers_keep_shares(struct trace_servers *servers, size_t max) TRACE_NODISCARD;

/**
 * struct trace_share_client - a client that an interval was billed to, as in struct
 * trace_server_client
 * @ns: its part: all of the interval, or an even part of it
 */
struct trace_share_client {
	const struct trace_process *process;
	const char *address;
	uint64_t ns;
};
/**
 * struct trace_server_share - a thread of a server had a CPU from @from_ns to @to_ns, and this time
 * is billed to clients
 * @begin_ns, @end_ns: all of it, also what is outside the span that was asked for
 * @exact: as in struct trace_server_client; otherwise it is shared
 * @clients: at least one; their parts add up to the interval, unless it is also for the server
 *     itself
 */
struct trace_server_share {
	const struct trace_thread *thread;
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t begin_ns;
	uint64_t end_ns;
	bool exact;
	size_t nr_clients;
	const struct trace_share_client *clients;
};
/** trace_server_share_fn - returns false to end the list; @share is borrowed for the call */
typedef bool (*trace_server_share_fn)(void *data, const struct trace_server_share *share);
/**
 * trace_server_shares() - after the pass: the intervals of @thread from @from_ns to @to_ns that are
 * billed to clients, in order, cut at both ends
 * Time on a CPU that is in none of them is background. The intervals of all threads of a server add
 * up to its bills, and those of adjacent spans add up to those of both. Only where events are
 * missing may they differ from the bills: by time that was billed before a gap proved that the
 * thread had no CPU. A thread of a process that serves no one has none.
 * Returns 0; -EINVAL (not kept), -E2BIG (more than max) or -ENOMEM.
 */
int trace_server_shares(struct trace_servers *servers, const struct trace_thread *thread, uint64_t from_ns,
			uint64_t to_ns, trace_server_share_fn fn, void *data) TRACE_NODISCARD;

/**
 * trace_servers_keep_requests() - also keep each request; before the pass
 * @max: requests that may be kept, of 144 bytes each
 * Returns 0, -EBUSY (the pass began) or -ENOMEM.
 */
int trace_servers_keep_requests(struct trace_servers *servers, size_t max) TRACE_NODISCARD;

/** enum trace_request_end - what ended a request */
enum trace_request_end {
	TRACE_REQUEST_OPEN = 0,	    /* nothing: it was open when the trace ended */
	TRACE_REQUEST_ANSWERED = 1, /* the first data of its answer was sent */
	TRACE_REQUEST_CLOSED = 2,   /* the server closed the connection */
	TRACE_REQUEST_REPLACED = 3, /* the server's process replaced the program that had read it from a pipe */
	TRACE_REQUEST_UNKNOWN = 4,  /* events are missing, or too many are open: from then on it is not known */
};

/**
 * struct trace_server_request - a request that a server has read
 * @process, @address: the client, as in struct trace_server_client
 * @thread: the first thread that had it; NULL: not known. @answerer: the one that answered; or NULL
 * @from_ns, @to_ns: from its first byte read until @end
 * @cpu_ns: the part of the client's bill that is for this request. Requests of one client that are
 *     open at the same time share it evenly where nothing tells them apart
 * @least_ns, @most_ns: what was really spent on it is certainly in between
 */
struct trace_server_request {
	const struct trace_process *server;
	const struct trace_process *process;
	const char *address;
	const struct trace_thread *thread;
	const struct trace_thread *answerer;
	uint64_t from_ns;
	uint64_t to_ns;
	enum trace_request_end end;
	uint64_t cpu_ns;
	uint64_t least_ns;
	uint64_t most_ns;
};
/** trace_server_request_fn - returns false to end the list; @request is borrowed for the call */
typedef bool (*trace_server_request_fn)(void *data, const struct trace_server_request *request);
/**
 * trace_server_requests() - after the pass: the requests that the server @process has read, in the
 * order of their begin
 * They are as many for each client as trace_server_client.requests. Their bills add up to at most
 * that of the client: the rest of it was spent on connections without data, and on requests that
 * another process had read.
 * Returns 0; -EINVAL (not kept), -E2BIG (more than max) or -ENOMEM.
 */
int trace_server_requests(struct trace_servers *servers, const struct trace_process *process,
			  trace_server_request_fn fn, void *data) TRACE_NODISCARD;

/**
 * struct trace_server_wait - what servers did while a client slept until their answer
 * It covers all sleeps, of all threads of a client process, that ended with an answer of this
 * server: wait = for_client + for_others + server_waited + server_wait_cpu + rest, exactly. The
 * parts describe the thread of the server that sent the answer, and before the answer existed the
 * thread that made it.
 * @for_client_ns, @for_others_ns: its CPU time
 * @server_waited_ns: it was blocked itself, or idle because another thread of the
 *     server still had the request
 * @server_wait_cpu_ns: another thread had the CPU
 * @rest_ns: interrupts, and time too long ago to be known
 * @waits: what it was blocked on (files, processes, locks, the network ...), greatest time first;
 *     together @server_waited_ns. @count: number of pieces
 * @wait_cpu_for: processes that had the CPU meanwhile; together @server_wait_cpu_ns
 */
struct trace_server_wait {
	const struct trace_process *client;
	const struct trace_process *server;
	uint64_t count;
	uint64_t wait_ns;
	uint64_t for_client_ns;
	uint64_t for_others_ns;
	uint64_t server_waited_ns;
	uint64_t server_wait_cpu_ns;
	uint64_t rest_ns;
	const struct trace_wait *waits;
	const struct trace_cpu_wait *wait_cpu_for;
	size_t nr_waits;
	size_t nr_wait_cpu_for;
};
/**
 * trace_nr_server_waits() - after the pass: number of pairs of a client and a
 * server that it waited for
 */
size_t trace_nr_server_waits(struct trace_servers *servers);
/** trace_get_server_wait() - the longest wait first; borrowed from @servers; NULL past the last */
const struct trace_server_wait *trace_get_server_wait(struct trace_servers *servers, size_t idx);

/**
 * struct trace_receiver - time of the softirq that receives from the network (NET_RX), by
 * owner of the receiving sockets
 * This is a second view of time that the accounting has in the interrupted threads, ksoftirqd's
 * included. All rows together are trace_cpu_softirq_ns() of all CPUs.
 * @process: the owner of the sockets; NULL: not for a known socket: acknowledgements, dropped
 *     packets, polling the device
 * @deliveries: how often one of its sockets became ready
 */
struct trace_receiver {
	const struct trace_process *process;
	uint64_t softirq_ns;
	uint64_t deliveries;
};
/** trace_nr_receivers() - after the pass */
size_t trace_nr_receivers(struct trace_servers *servers);
/** trace_get_receiver() - the longest time first; borrowed from @servers; NULL past the last */
const struct trace_receiver *trace_get_receiver(struct trace_servers *servers, size_t idx);

/**
 * trace_servers_verify() - after the pass: do the bills add up?
 * exact + shared + background = the CPU time of each server in the accounting, to the nanosecond,
 * and the same for its clients' rows; least <= CPU time <= most for each of these. The pieces of
 * each client's wait add up to the wait, and the receivers' rows to the time of the softirq. If
 * shares are kept and no event is missing, they add up to the bills. Requests that are
 * kept are as many as in the bills, and within them.
 * Returns 0; -EBADMSG with the first violation in
 * @ret_error; -ENOMEM.
 */
int trace_servers_verify(struct trace_servers *servers, struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_servers_error() - after the pass: 0, or -ENOMEM: rows are missing in the results
 * Call it when a report is complete.
 */
int trace_servers_error(struct trace_servers *servers, struct trace_error *ret_error) TRACE_NODISCARD;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
