/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_USER_ACCOUNTING_H
#define ANALYZER_USER_ACCOUNTING_H
/*
 * user_accounting.h - what is collected in the pass: sums (user_sums.c) of events and scopes (user_events.c) and requests (user_requests.c), of which
 * user_results.c makes rows.
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
};

/** struct segment - time of one thread, from a reading of its books on */
struct segment {
	struct span_sum *span; /* NULL: none */
	const struct trace_thread *thread; /* NULL: not known */
	uint64_t from_ns;
	struct trace_times before;
	struct table waits; /* struct span_wait: in it so far */
};

struct request;
/** struct actor - a thread that made events */
struct actor {
	struct owner owner;
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
	struct request *requests; /* that it works for */
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
	struct table by_thread;	  /* struct trace_thread -> struct actor */
	struct table requests;	  /* struct request_row */
	size_t next_gap;	  /* of the trace, not begun yet */
	uint64_t next_gap_ns;	  /* or damage's; UINT64_MAX: none */
	size_t next_damage;	  /* of the analysis, not begun yet */
	struct table blind;	  /* pid, UINT32_MAX for probes -> until when events of it may be missing */
	struct table event_index; /* -> struct event_sum */
	struct table span_index;  /* -> struct span_sum */
	struct event_sum **events; /* owned, and each */
	size_t nr_events;
	struct span_sum **spans; /* owned, and each */
	size_t nr_spans;
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
void segment_begin(struct trace_user_events *user, struct segment *segment, struct span_sum *span, const struct trace_thread *thread);
/** segment_end() - what the thread did since; its waits are completed, so that they add up to the blocked part */
struct trace_times segment_end(struct trace_user_events *user, struct segment *segment);
/** segment_wait() - the thread was blocked: the part of it that lies in the segment */
void segment_wait(struct trace_user_events *user, struct segment *segment, const struct trace_interval *interval);
void times_add(struct trace_times *to, const struct trace_times *times);
void waits_merge(struct trace_user_events *user, struct table *into, const struct table *from);
/** span_add() - one more span, that took @elapsed; what neither @times nor @queued explain was not seen */
void span_add(struct trace_user_events *user, struct span_sum *span, uint64_t elapsed, const struct trace_times *times, uint64_t queued,
	      const struct table *waits);
uint64_t owner_key(const struct owner *owner);
bool same_owner(const struct owner *left, const struct owner *right);
static inline uint64_t user_mix(uint64_t hash, uint64_t value)
{
	return hash_u64(hash ^ value) * 0xd6e8feb86659fd93ULL + 1;
}

/* ---- user_requests.c ---- */

void request_begin(struct trace_user_events *user, struct actor *actor, string_id name, uint64_t id);
void request_end(struct trace_user_events *user, struct actor *actor, string_id name, uint64_t id);
void request_handoff(struct trace_user_events *user, struct actor *actor, string_id name, uint64_t id);
/** requests_wait() - @actor was blocked: tell the requests that it works for */
void requests_wait(struct trace_user_events *user, struct actor *actor, const struct trace_interval *interval);
/** requests_leave() - the thread of @actor is gone: nobody works for its requests */
void requests_leave(struct trace_user_events *user, struct actor *actor);
/** requests_forget() - all of this process stay without an end; @pid 0: of all processes */
void requests_forget(struct trace_user_events *user, uint32_t pid);
void requests_free(struct trace_user_events *user);

/** user_events_close() - after the pass, once: what is open stays open */
void user_events_close(struct trace_user_events *user);

/** user_results_free() - what was made of the sums */
struct user_results *user_results_free(struct user_results *results);
#endif
