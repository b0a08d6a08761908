/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_SET_H
#define ANALYZER_SERVERS_SERVERS_SET_H
/*
 * servers_set.h - requests, and sets of requests
 *
 * A request is data, or a connection, that came to a server and is not answered yet. A set has the
 * open requests that a thread works on, or that data carries.
 */
#include <stdbool.h>
#include <stdint.h>
#include "servers_proof.h"

struct request_sets;
struct server_request;
struct servers_process;
struct servers_thread;
struct endpoint;

#define MAX_SET 4096u /* requests in a set; the oldest are dropped from a larger one, and no longer billed */

/*
 * NULL is the empty set. Sets are shared by reference. A set with more than one reference is never
 * changed, but replaced.
 */
struct set {
	uint32_t refs;
	uint32_t nr;
	/* request_sets.replies + 1 when none of the requests was answered; 0: not known */
	uint64_t unreplied;
	bool all_counted; /* each of them has server_request.counted; false: not known */
	struct server_request *items[];
};

/*
 * A request that came in. It lives while a thread works on it, or while data that carries it is on
 * its way.
 */
struct server_request {
	uint32_t refs;
	uint32_t origin;
	struct servers_process *sender;	     /* NULL: another host */
	struct server_request *parent;	     /* the request that the sender worked on; holds a reference */
	struct endpoint *endpoint;	     /* where it came in */
	struct server_request *next, **link; /* in endpoint.requests */
	uint64_t peer_ino;		     /* datagrams: the socket that sent it */
	struct servers_thread *ring_user;    /* the thread with the ring that announced it last */
	uint32_t ring_position;		     /* the position of that result in the ring; 0: not known */
	bool position_follows;		     /* the event with the position has not come yet */
	uint16_t depth;
	bool replied;
	bool counted;	 /* in bill.requests; false: the connection was accepted, but no data came yet */
	bool has_number; /* a number of the program stands for it: servers_explicit.c */
	uint64_t stamp;	 /* request_sets.stamp of the last set_stamp() of a set that had it */

	/* servers_open.c: while the request is open, or until the thread that answered it rests */
	struct servers_process *open_in;	       /* the process that has it; NULL: it is not open */
	struct servers_thread *holder;		       /* the thread that has it; NULL: not known */
	struct server_request *open_next, *open_prev;  /* in process.open_requests, or thread.closing */
	uint64_t held_from;			       /* CPU time of @holder */
	uint64_t closed_all, closed_unheld, closed_ns; /* its window's end: servers_process.counted */
	uint32_t sends; /* number of calls that have sent it: more than one may be several requests */
	bool perhaps;	/* it is answered, but perhaps there is another one in it */
	bool closing;	/* it is answered, in the list thread.closing of @holder */
	bool queued;	/* it is counted in open_requests.queued */
	bool unsure;	/* its sender may have worked for others: its time is never proven */
	struct pending_proof pending;
	/*
	 * A set of this request alone. It is the last member, because its item follows it. While
	 * that set has references, it holds one reference to the request.
	 */
	struct set only;
};

/**
 * struct request_sets - what all sets have in common
 * @stamp: incremented for each search through a set. A search marks the members with it, so that a
 * lookup among thousands of requests needs no nested loop.
 * @replies: number of requests that were answered
 * @last_replied: the latest of these. It may be freed by now, so only the pointer may be compared.
 * @failed: 0, or -ENOMEM
 */
struct request_sets {
	uint64_t stamp;
	uint64_t replies;
	const struct server_request *last_replied;
	int failed;
};

struct server_request *request_ref(struct server_request *request);
/**
 * request_unref() - release @request; with its last reference it leaves endpoint.requests and its
 * parent is released
 */
void request_unref(struct server_request *request);

/** set_release() - free @set after its last reference is gone */
void set_release(struct set *set);
static inline struct set *set_ref(struct set *set)
{
	if (set)
		set->refs++;
	return set;
}
static inline void set_unref(struct set *set)
{
	if (set && !--set->refs)
		set_release(set);
}
/** set_assign() - make *@slot a reference to @set, and drop its old reference */
static inline void set_assign(struct set **slot, struct set *set)
{
	struct set *old = *slot;

	if (old == set)
		return;
	*slot = set_ref(set);
	set_unref(old);
}

/** set_stamp() - mark all requests of @set with a new stamp, and return the stamp */
uint64_t set_stamp(struct request_sets *sets, const struct set *set);
/** set_put() - add @request to *@slot. The caller keeps its reference to @request. */
void set_put(struct request_sets *sets, struct set **slot, struct server_request *request);
/** set_put_all() - add the requests of @more that are not answered to *@slot */
void set_put_all(struct request_sets *sets, struct set **slot, const struct set *more);
/**
 * set_put_latest() - set_put(), and reduce a set of more than 2 * @max requests to the latest @max
 */
void set_put_latest(struct request_sets *sets, struct set **slot, struct server_request *request, uint32_t max);
void set_remove(struct request_sets *sets, struct set **slot, const struct server_request *request);
typedef bool (*request_fn)(const struct server_request *request, const void *data);
/** set_filter() - remove the requests from *@slot for which @drop returns true */
void set_filter(struct request_sets *sets, struct set **slot, request_fn drop, const void *data);
/**
 * set_drop_replied() - remove answered requests from *@slot
 * set_drop_accepted() - remove requests from *@slot that were accepted, but sent no data yet
 */
void set_drop_replied(struct request_sets *sets, struct set **slot);
void set_drop_accepted(struct request_sets *sets, struct set **slot);
/**
 * set_drop() - remove the requests from *@slot that are in @others
 * set_keep() - remove all others
 */
void set_drop(struct request_sets *sets, struct set **slot, const struct set *others);
void set_keep(struct request_sets *sets, struct set **slot, const struct set *others);
bool set_any_replied(const struct request_sets *sets, struct set *set);
/** set_any_accepted() - true if one of them is a connection without data so far */
bool set_any_accepted(const struct set *set);
bool set_any_unanswered(const struct set *set);
bool set_has(const struct set *set, const struct server_request *request);
#endif
