/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_USER_ACCOUNTING_H
#define ANALYZER_USER_ACCOUNTING_H
/*
 * user_accounting.h - what is collected in the pass: sums (user_sums.c) of events and scopes (user_events.c) and requests (user_requests.c), with what their
 * threads waited for (user_waits.c), of which user_results.c makes rows.
 */
#include <trace/user_events.h>
#include "histogram.h"
#include "hash_table.h"

/** struct latency - times as they come */
struct latency {
	uint64_t count;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
	struct table buckets; /* a histogram, of latency_key(1, ns) */
};

/** struct span_wait - a sum of waits for one thing. Its strings and processes are the analysis', each of them one pointer */
struct span_wait {
	uint64_t key; /* a hash of what follows; of two with the same hash the second has the next number */
	const char *target;
	const char *via;
	const struct trace_process *other;
	enum trace_wait_kind kind;
	bool idle;
	uint64_t ns;
	uint64_t count;
};

struct owner { /* whose event or span */
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
	enum trace_span_kind kind;
	string_id name;
	string_id from;
	struct latency elapsed;
	uint64_t open;
	uint64_t unmatched;
	struct trace_times times;
	uint64_t queued;
	uint64_t unseen;
	struct table waits; /* struct span_wait */
	bool is_folded;	    /* the waits of these requests are not told apart: to do so would take too long */
};

/** struct stretch - the waits of a thread from one begin of segments to the next; user_waits.c says what for */
struct stretch {
	struct stretch *older, *newer; /* of the same thread; owned by it */
	uint64_t from_ns;
	uint64_t pins;	    /* segments that begin here and have not ended */
	struct table waits; /* struct span_wait */
};

/** struct segment - time of one thread, from a reading of its books on */
struct segment {
	struct span_sum *span; /* NULL: none */
	const struct trace_thread *thread; /* NULL: not known */
	uint64_t from_ns;
	struct trace_times before;
	struct stretch *stretch; /* that begins with it; NULL: its waits are not collected */
};

/** struct following - the requests of one name that a thread works for now and whose waits are collected */
struct following {
	struct span_sum *span;
	uint64_t nr;
	uint64_t nr_swept; /* user_waits.c: of those, begun before the stretch that it has reached */
};

struct request;
/** struct program - what has one pid: a loss of its events ends all that is open in it */
struct program {
	struct actor *used;	  /* actors with something open or met; linked by next_used[USED_OF_PROGRAM] */
	struct request *requests; /* that began in it and have not ended; owned */
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
	bool probed; /* its events come in the kernel's streams: of probes */
	const struct trace_thread *thread;
	uint32_t depth;
	uint32_t too_deep;
	uint32_t nr_scopes;
	struct segment *scopes; /* owned; nr_scopes of them, depth in use */
	struct table met;	/* struct number_row: by event id + 1, when it was met last */
	struct segment mark;
	string_id mark_name, mark_provider;
	struct request *requests;	/* that it works for, the newest; linked by older and newer */
	struct stretch *newest;		/* owned, and all that are older */
	uint64_t told_ns;		/* of its waits, while a request was followed */
	struct following *followed;	/* owned; nr_followed of MAX_FOLLOWED */
	uint32_t nr_followed;
};

struct pointer_row {
	uint64_t key;
	void *pointer;
};

struct number_row {
	uint64_t key;
	uint64_t number;
};

struct trace_user_events {
	const struct trace *trace;	 /* borrowed */
	struct trace_analysis *analysis; /* borrowed */
	int failed;
	struct strings strings;
	struct event_kind *kinds; /* owned; by id - TRACE_EV_MAX */
	size_t nr_kinds;
	struct table actors;	  /* pid, tid -> struct actor */
	struct table programs;	  /* pid + 1 -> struct program */
	struct program *used;	  /* programs with used actors */
	struct actor *used_probed; /* actors with events of probes */
	struct table by_thread;	  /* struct trace_thread -> struct actor */
	struct table requests;	  /* struct request_row */
	size_t next_gap;	  /* of the trace, not begun yet */
	uint64_t next_gap_ns;	  /* or damage's; UINT64_MAX: none */
	size_t next_damage;	  /* of the analysis, not begun yet */
	struct table blind;	  /* pid, UINT32_MAX for probes -> until when events of it may be missing */
	struct table event_index; /* -> struct event_sum */
	struct table span_index;  /* -> struct span_sum */
	struct event_sum **events; /* owned, and each */
	size_t nr_events, events_room;
	struct span_sum **spans; /* owned, and each */
	size_t nr_spans, spans_room;
	struct stretch *spare;	/* owned, linked by older: unused ones */
	uint64_t steps;		/* that may be taken; user_waits.c */
	struct user_results *results; /* owned; NULL until asked for */
};

/* ---- user_sums.c ---- */

/** user_fail() - out of memory; returns NULL */
void *user_fail(struct trace_user_events *user);
void latency_add(struct trace_user_events *user, struct latency *latency, uint64_t ns);
/** event_sum() - of @name in the process of @owner, made if there is none; NULL: out of memory */
struct event_sum *event_sum(struct trace_user_events *user, const struct owner *owner, string_id name);
/** span_sum() - the same; NULL also when there are too many kinds of spans to follow */
struct span_sum *span_sum(struct trace_user_events *user, const struct owner *owner, enum trace_span_kind kind, string_id name, string_id from);
void times_add(struct trace_times *to, const struct trace_times *times);
/** wait_add() - @ns and @count more in the row of @wait in @waits; with 2^64 - n the row has n less */
void wait_add(struct trace_user_events *user, struct table *waits, const struct span_wait *wait, uint64_t ns, uint64_t count);
void waits_merge(struct trace_user_events *user, struct table *into, const struct table *from);
uint64_t waits_sum(const struct table *waits);
/** times_since() - what the books of a thread have more @now than @before; at least @known_ns of it is a wait */
struct trace_times times_since(const struct trace_times *now, const struct trace_times *before, uint64_t known_ns);
/** span_add() - one more span, that took @elapsed; what neither @times nor @queued explain was not seen */
void span_add(struct trace_user_events *user, struct span_sum *span, uint64_t elapsed, const struct trace_times *times, uint64_t queued);
uint64_t owner_key(const struct owner *owner);
bool same_owner(const struct owner *left, const struct owner *right);
static inline uint64_t user_mix(uint64_t hash, uint64_t value)
{
	return hash_u64(hash ^ value) * 0xd6e8feb86659fd93ULL + 1;
}

/* ---- user_waits.c ---- */

/** wait_unknown - the row of waits of which is not known what for */
extern const struct span_wait wait_unknown;
/** steps_earn() - an event or a wait came: the analysis may take so many steps more */
void steps_earn(struct trace_user_events *user);
/** segment_begin() - @segment of @actor begins now, and is for @span; @collect: collect its waits */
void segment_begin(struct trace_user_events *user, struct actor *actor, struct segment *segment, struct span_sum *span, bool collect);
/** segment_drop() - @segment is over and leaves nothing */
void segment_drop(struct trace_user_events *user, struct actor *actor, struct segment *segment);
/** segment_times() - what its thread did since it began; it was told for what the thread waited for @known_ns of that */
struct trace_times segment_times(struct trace_user_events *user, const struct segment *segment, uint64_t known_ns);
/** segment_end() - adds one span with the times and waits of @segment to its sum, and drops the segment */
void segment_end(struct trace_user_events *user, struct actor *actor, struct segment *segment);
/** actor_wait() - the thread of @actor was blocked: collect the wait for all its segments */
void actor_wait(struct trace_user_events *user, struct actor *actor, const struct trace_interval *interval);
void actor_waits_free(struct actor *actor);

/** struct request - one that has begun and has not ended */
struct request {
	struct owner owner;
	string_id name;
	uint64_t id;
	struct span_sum *span;
	struct actor *actor; /* that works for it; NULL: none */
	struct segment segment;
	struct request *older, *newer; /* of the actor, in the order in which they began there */
	struct request *same; /* of the same hash */
	struct program *program;
	struct request *next, *prev; /* of the program */
	uint64_t begin_ns;
	uint64_t since_ns; /* with no actor since */
	uint64_t told_ns;  /* the actor's told_ns when the segment began */
	struct trace_times times;
	uint64_t queued;
	uint64_t unknown_ns, nr_unknown; /* of its waits was not told what for */
	struct table waits;		 /* struct span_wait: those of earlier segments that the span has already */
	bool is_followed;		 /* the span gets its waits as they come */
};

/** request_follow() - from now on the span of @request gets the waits of its actor as they come, if the actor can follow one more */
void request_follow(struct trace_user_events *user, struct request *request);
/** request_unfollow() - no longer; @ends: the request ends. Returns the waits that were told meanwhile, ns */
uint64_t request_unfollow(struct trace_user_events *user, struct request *request, bool ends);
/** requests_take_back() - the spans of the followed requests of @actor lose the waits of its present segments: those requests will not end */
void requests_take_back(struct trace_user_events *user, struct actor *actor);
/** request_take_back() - the same of its earlier segments */
void request_take_back(struct trace_user_events *user, struct request *request);

/* ---- user_requests.c ---- */

void request_begin(struct trace_user_events *user, struct actor *actor, string_id name, uint64_t id);
void request_end(struct trace_user_events *user, struct actor *actor, string_id name, uint64_t id);
void request_handoff(struct trace_user_events *user, struct actor *actor, string_id name, uint64_t id);
/** requests_leave() - the thread of @actor is gone: no thread works for its requests */
void requests_leave(struct trace_user_events *user, struct actor *actor);
/** requests_forget() - all that began in @program stay without an end */
void requests_forget(struct trace_user_events *user, struct program *program);

/** user_events_close() - after the pass, once: what is open stays open */
void user_events_close(struct trace_user_events *user);

/** user_results_free() - what was made of the sums */
struct user_results *user_results_free(struct user_results *results);
#endif
