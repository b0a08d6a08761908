/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_KEPT_H
#define ANALYZER_SERVERS_SERVERS_KEPT_H
/*
 * servers_kept.h - each request with its times and its part of the bill, for callers that asked to
 * keep them
 *
 * A request has a number, from its begin on: server_request.kept. The files that decide about a
 * request note its course here. So its part of a bill, and the bounds of that, follow from the same
 * rules as those of the client; but where these speak of the client, "another client" becomes
 * "another request".
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/servers.h>
#include "servers_proof.h"

struct trace_servers;
struct servers_process;
struct servers_thread;
struct server_request;
struct set;

/* CPU times in ns, as in struct bill */
struct kept_request {
	const struct servers_process *process; /* that has read it */
	const struct trace_thread *thread;     /* that has read it; NULL: not known */
	const struct trace_thread *answerer;
	const struct servers_process *doubter; /* proof_taken.doubter */
	uint64_t from_ns, to_ns;	       /* 0: it has not begun, or not ended */
	uint64_t billed;		       /* in its process */
	uint64_t named;			       /* the part of it that the program itself said */
	struct proof proven;
	uint64_t all_from, all_to;	 /* process.counted at the ends of its window */
	uint64_t unheld_from, unheld_to; /* the same for .unheld */
	uint64_t held;			 /* of the threads that had it */
	uint64_t outside;		 /* billed outside its window, to all requests of that time */
	uint32_t origin;
	uint8_t end;  /* enum trace_request_end */
	bool counted; /* data came: it is in bill.requests */
	bool open;    /* its window is open */
};

/* row: how much of a bill the requests of an origin have together */
struct kept_part {
	uint64_t ns;
	uint32_t nr;
};

struct servers_kept {
	struct kept_request *items;  /* owned; number n is at n - 1 */
	struct kept_request **order; /* owned; after the pass: by process and time */
	struct kept_part *parts;     /* owned; by origin, for the bill that is being divided */
	uint32_t nr, room, max, nr_parts;
	int failed; /* 0, -E2BIG or -ENOMEM; there are no items then */
};

/*
 * Most passes keep no requests. The functions below do nothing then; callers that run for each
 * request check servers->kept first, and what is cold is out of their way.
 */
/** kept_new() - keep at most @max requests; NULL: out of memory */
struct servers_kept *kept_new(size_t max);
struct servers_kept *kept_free(struct servers_kept *kept); /* NULL is fine; returns NULL */

/** kept_made() - @request, of @process, is new: the first data, or a connection, came */
__attribute__((cold)) void kept_made(struct trace_servers *s, const struct servers_process *process,
				     struct server_request *request);
/**
 * kept_counted() - @request counts in the bill of @process
 * kept_mistaken() - it does not count any more
 */
__attribute__((cold)) void kept_counted(struct trace_servers *s, const struct servers_process *process,
					const struct server_request *request);
void kept_mistaken(struct trace_servers *s, const struct server_request *request);
/**
 * kept_begins() - its window begins, and @thread has it
 * @early: CPU time of the call that has read it
 */
__attribute__((cold)) void kept_begins(struct trace_servers *s, const struct servers_process *process,
				       const struct servers_thread *thread, const struct server_request *request,
				       uint64_t early);
/** kept_has() - @thread, which may be NULL, has it */
void kept_has(struct trace_servers *s, const struct servers_thread *thread, const struct server_request *request);
/** kept_had() - a thread had it for @ns of CPU time */
__attribute__((cold)) void kept_had(struct trace_servers *s, const struct server_request *request, uint64_t ns);
/** kept_ends() - it is answered by @thread, or ends in another way; its window goes on */
__attribute__((cold)) void kept_ends(struct trace_servers *s, const struct servers_thread *thread,
				     const struct server_request *request, enum trace_request_end end);
/**
 * kept_closes() - its window ends
 * kept_reopens() - its window had not ended, @ns of the process's CPU time ago
 */
__attribute__((cold)) void kept_closes(struct trace_servers *s, const struct servers_process *process,
				       const struct server_request *request);
void kept_reopens(struct trace_servers *s, const struct servers_process *process, const struct server_request *request,
		  uint64_t ns);

/** kept_bill_one() - @ns of @process are billed to @request */
__attribute__((cold)) void kept_bill_one(struct trace_servers *s, const struct servers_process *process,
					 const struct server_request *request, uint64_t ns);
/**
 * kept_bill_several() - @ns of @process are billed to @nr @origins of the requests of @set
 * @at: which of them gets the first ns, as in servers_share.h
 */
__attribute__((cold)) void kept_bill_several(struct trace_servers *s, const struct servers_process *process,
					     const struct set *set, const uint32_t *origins, uint32_t nr, uint32_t at,
					     uint64_t ns);
/** kept_named() - @ns of what was billed to @request is for it, as the program itself said */
__attribute__((cold)) void kept_named(struct trace_servers *s, const struct server_request *request, uint64_t ns);
/**
 * kept_proves() - an answer has proven @taken->own; if that does not count, it becomes 0
 * kept_refutes() - nothing of it is proven any more
 * kept_refutes_all() - nothing that was kept until now is proven, in @process
 */
void kept_proves(struct trace_servers *s, struct proof_taken *taken);
__attribute__((cold)) void kept_refutes(struct trace_servers *s, struct proof_taken *taken);
void kept_refutes_all(struct trace_servers *s, struct servers_process *process);

/* For reading, when the bills are finished: servers_kept_list.c. */
/** kept_list() - as trace_server_requests() */
int kept_list(struct trace_servers *s, const struct trace_process *process, trace_server_request_fn fn, void *data);
/**
 * kept_verify() - are the requests of @server those of its bills?
 * @is_complete: no event is missing
 */
int kept_verify(struct trace_servers *s, const struct trace_server *server, bool is_complete,
		struct trace_error *ret_error);
#endif
