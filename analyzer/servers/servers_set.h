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
	uint16_t nr;
	bool all_counted; /* each of them has server_request.counted; false: not known */
	/* request_sets.replies + 1 when none of the requests was answered; 0: not known */
	uint64_t unreplied;
	struct server_request *items[];
};
_Static_assert(MAX_SET <= UINT16_MAX, "set.nr");

/*
 * The window of a request: servers_open.c. The threads' logs keep a hundred thousand requests that
 * are over, so what only open requests need is not in them.
 */
struct request_window {
	struct servers_process *process; /* the process that has the request; NULL: the window is closed */
	struct server_request *request;
	union {
		struct {				    /* open, or until the thread that answered it rests */
			struct servers_thread *holder;	    /* the thread that has it; NULL: not known */
			uint64_t held_from;		    /* CPU time of @holder */
			struct request_window *next, *prev; /* in process.open_requests, or thread.closing */
		};
		struct {
			uint64_t all, unheld; /* servers_process.counted and .unheld when it ended */
			uint64_t ns;
		} closed;
	};
	struct request_window **free; /* where it returns to: servers_opens.free */
	uint32_t origin;
	bool queued; /* it came as a message: it is in process.open_requests[1] */
};

/*
 * A request that came in. It lives while a thread works on it, or while data that carries it is on
 * its way.
 */
struct server_request {
	uint32_t refs;
	uint32_t origin;
	struct servers_process *sender;	     /* NULL: another host */
	struct servers_process *reader;	     /* whose bill.requests has it; NULL: none has */
	struct server_request *parent;	     /* the request that the sender worked on; holds a reference */
	struct endpoint *endpoint;	     /* where it came in */
	struct server_request *next, **link; /* in endpoint.requests */
	uint64_t peer_ino;		     /* datagrams: the socket that sent it */
	struct servers_thread *ring_user;    /* the thread with the ring that announced it last */
	uint32_t ring_position;		     /* the position of that result in the ring; 0: not known */
	uint32_t kept;			     /* its number in servers_kept.items; 0: it is not kept */
	uint16_t depth;
	bool replied : 1;
	bool counted : 1;	       /* in bill.requests; false: the connection was accepted, but no data came yet */
	bool position_follows : 1;     /* the event with the position has not come yet */
	bool has_number : 1;	       /* a number of the program stands for it: servers_explicit.c */
	bool sent : 1;		       /* the call that has sent it is known */
	bool several : 1;	       /* more than one call has sent it: it may be several requests */
	bool perhaps : 1;	       /* it is answered, but perhaps there is another one in it */
	bool closing : 1;	       /* it is answered, in the list thread.closing of the window's holder */
	bool unsure : 1;	       /* its sender, if a server, may have worked for others: it is not proven then */
	uint64_t stamp;		       /* request_sets.stamp of the last set_stamp() of a set that had it */
	struct request_window *window; /* owned; NULL: it has not begun, or is forgotten */
	struct pending_proof *pending; /* owned; NULL: nothing is proven */
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

/** request_open_in() - the process that has @request; NULL: it is not open */
static inline struct servers_process *request_open_in(const struct server_request *request)
{
	return request->window ? request->window->process : NULL;
}
/** request_sent_by() - @nr_calls more have sent @request */
static inline void request_sent_by(struct server_request *request, uint32_t nr_calls)
{
	request->several |= nr_calls > 1 || (nr_calls && request->sent);
	request->sent |= nr_calls > 0;
}
/** request_is_closed() - true if @request is answered, and its window is over */
static inline bool request_is_closed(const struct server_request *request)
{
	return request->window && !request->window->process && request->window->closed.ns;
}

/** window_free() - return @window to the list of free ones */
static inline void window_free(struct request_window *window)
{
	window->next = *window->free;
	*window->free = window;
}

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
/** set_any_counted() - true if one of them is more than a connection */
bool set_any_counted(const struct set *set);
bool set_any_unanswered(const struct set *set);
bool set_has(const struct set *set, const struct server_request *request);
#endif
