/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_USER_ACCOUNTING_H
#define ANALYZER_USER_ACCOUNTING_H
/*
 * user_accounting.h - what the pass collects for the events of programs: sums (user_sums.c) of
 * events and scopes (user_events.c) and requests (user_requests.c), with the waits of their threads
 * (user_waits.c). user_results.c turns the sums into rows.
 */
#include <trace/user_events.h>
#include "histogram.h"
#include "hash_table.h"

/** struct latency - statistics of elapsed times */
struct latency {
	uint64_t count;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
	struct hash_table buckets; /* a histogram, of latency_key(1, ns) */
};

/**
 * struct span_wait - a sum of waits with one cause Its strings and processes belong to the
 * analysis. Equal ones are the same pointer.
 */
struct span_wait {
	uint64_t key; /* hash of the cause; if it is in use, the next free number */
	const char *target;
	const char *via;
	const char *path;
	const struct trace_process *other;
	const struct trace_thread *thread; /* another one of the same process; NULL: as in struct trace_wait */
	enum trace_wait_kind kind;
	bool idle;
	uint64_t ns;
	uint64_t count;
};

/* the process of an event or span */
struct owner {
	const struct trace_process *process;
	uint32_t pid;
};

struct event_sum {
	struct owner owner;
	string_id name;
	enum trace_event_role role;
	uint64_t count;
	uint64_t first_ns;
	uint64_t last_ns;
	struct latency interval;
	bool is_counter;
	double last, lowest, highest, sum;
};

struct span_sum {
	struct owner owner;
	uint32_t number; /* its index in the list of all */
	enum trace_span_kind kind;
	string_id name;
	string_id from;
	struct latency elapsed;
	uint64_t open;
	uint64_t unmatched;
	struct trace_times times;
	uint64_t queued;
	uint64_t unseen;
	struct hash_table waits; /* struct span_wait */
	/* Waits of these requests are not separated by cause, because that would take too long. */
	bool is_folded;
};

/**
 * struct stretch - the waits of a thread from one begin of segments to the next: see user_waits.c
 */
struct stretch {
	struct stretch *older, *newer; /* of the same thread, which owns them */
	uint64_t from_ns;
	uint64_t pins;		 /* open segments that begin here */
	struct hash_table waits; /* struct span_wait */
};

/** struct segment - time of one thread, since a reading of its sums */
struct segment {
	struct span_sum *span;		   /* NULL: none */
	const struct trace_thread *thread; /* NULL: unknown */
	uint64_t from_ns;
	struct trace_times before;
	struct stretch *stretch; /* begins with the segment; NULL: its waits are not collected */
};

/**
 * struct following - followed requests of one name: a thread works on them and their waits are
 * collected
 */
struct following {
	struct span_sum *span;
	uint64_t nr;
	uint64_t nr_swept; /* user_waits.c: those that began before the current stretch of the sweep */
};

struct user_request;
/**
 * struct program - the state of one pid: a loss of its events ends everything that is open in it
 */
struct program {
	/* actors with open spans or last_seen events; linked by next_used[USED_OF_PROGRAM] */
	struct actor *used;
	struct user_request *requests; /* owned; that began in it and have not ended */
	struct program *next_used;
	bool is_used; /* it is in the list of programs with used actors */
};

enum used_list { USED_OF_PROGRAM, USED_PROBED, NR_USED_LISTS };

/** struct actor - a thread that made events */
struct actor {
	struct owner owner;
	struct program *program; /* borrowed */
	struct actor *next_used[NR_USED_LISTS];
	bool is_used[NR_USED_LISTS];
	uint32_t tid;
	bool probed; /* its events are those of probes, in the kernel's streams */
	const struct trace_thread *thread;
	uint32_t depth;
	uint32_t nr_scopes;
	struct segment *scopes;	     /* owned; nr_scopes of them, depth in use */
	struct hash_table evicted;   /* struct number_row: name + 1 -> open scopes that are not followed */
	struct hash_table last_seen; /* struct number_row: event id + 1 -> time of its latest event */
	struct segment mark;
	string_id mark_name, mark_provider;
	struct user_request *requests; /* the newest on which it works; linked by older and newer */
	struct stretch *newest;	       /* owned, and so are all older ones */
	uint64_t followed_ns;	       /* time of its waits while a request was followed */
	struct following *followed;    /* owned; nr_followed of MAX_FOLLOWED */
	uint32_t nr_followed;
};

struct user_pointer_row {
	uint64_t key;
	void *pointer;
};

struct number_row {
	uint64_t key;
	uint64_t number;
};

/** struct user_request - a request that has begun and has not ended */
struct user_request {
	struct owner owner;
	string_id name;
	uint64_t id;
	struct span_sum *span;
	struct actor *actor; /* works on it; NULL: none */
	struct segment segment;
	struct user_request *older, *newer; /* of the actor, in the order in which they began there */
	struct user_request *same;	    /* next with the same hash */
	struct program *program;
	struct user_request *next, *prev; /* of the program */
	uint64_t begin_ns;
	uint64_t since_ns;    /* it has had no actor since then */
	uint64_t followed_ns; /* the actor's followed_ns when the segment began */
	struct trace_times times;
	uint64_t queued;
	struct trace_span_piece *pieces; /* owned; for request_tell() only */
	size_t nr_pieces;
	uint64_t unknown_ns, nr_unknown; /* of its waits without a known cause */
	/* struct span_wait: those of earlier segments that the span has already */
	struct hash_table waits;
	bool is_followed; /* the span gets its waits as they arrive */
};

/**
 * struct user_hooks - what the tables of spans get (stretches.h), at the time of the pass
 * span: one has ended. open: one ends without a result. unmatched: as span_sum.unmatched
 */
struct user_hooks {
	void (*span)(void *data, const struct span_sum *span, uint64_t from_ns, const struct trace_times *times,
		     uint64_t queued);
	void (*open)(void *data, const struct span_sum *span, uint64_t from_ns);
	void (*unmatched)(void *data, const struct span_sum *span);
};

/*
 * With a window of the analysis, events count that are in it, and spans that end in it, with their
 * whole time. A span gets the waits of a request when it ends, and not as they arrive.
 */
struct trace_user_events {
	const struct trace *trace;	 /* borrowed */
	struct trace_analysis *analysis; /* borrowed */
	int failed;
	struct strings strings;
	struct event_kind *kinds; /* owned; by id - TRACE_EV_MAX */
	size_t nr_kinds;
	struct hash_table actors;    /* pid, tid -> struct actor */
	struct hash_table programs;  /* pid + 1 -> struct program */
	struct program *used;	     /* programs with used actors */
	struct actor *used_probed;   /* actors with events of probes */
	struct hash_table by_thread; /* struct trace_thread -> struct actor */
	struct hash_table requests;  /* struct user_request_row */
	size_t next_gap;	     /* of the trace, not reached yet */
	uint64_t next_gap_ns;	     /* or a late gap's; UINT64_MAX: none */
	size_t next_damage;	     /* late gap of the analysis, not reached yet */
	/* pid, UINT32_MAX for probes -> end of the time in which events of it may be missing */
	struct hash_table lossy;
	struct hash_table event_index; /* -> struct event_sum */
	struct hash_table span_index;  /* -> struct span_sum */
	struct event_sum **events;     /* owned, and each */
	size_t nr_events, events_room;
	struct span_sum **spans; /* owned, and each */
	size_t nr_spans, spans_room;
	bool spans_left_out;   /* there are more kinds than MAX_SPANS */
	struct stretch *spare; /* owned, linked by older: free ones */
	trace_span_fn on_span; /* user_instances.h; NULL: none */
	void *on_span_data;
	const struct user_hooks *hooks; /* NULL: none */
	void *hooks_data;
	uint64_t dropped_ns;	      /* when the loss or the end came that ends open spans; 0: now */
	uint64_t steps;		      /* budget of steps; user_waits.c */
	struct user_results *results; /* owned; NULL until the first query */
};

/* user_events.c: its header would have the name of the public one */

/** user_events_close() - after the pass, once: spans without an end stay open */
void user_events_close(struct trace_user_events *user);

#endif
