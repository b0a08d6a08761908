/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rule_relay.c - compare idle waits with the parts of relayed answers
 *
 * Idle waits may arrive long after their end, because the analysis keeps them until it knows
 * whether an answer went on. A damaged analysis may report them at once. So the rule keeps the
 * latest spans between two parts, for waits that arrive later, and the latest idle wait, for spans
 * that end later. A thread is awake when a span begins or ends: a wait is within a span or outside.
 */
#include "rule_relay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>

#include "hash_table.h"
#include "kernel_numbers.h"
#include "rules.h"

#define NR_SPANS  64u
#define MAX_KEPT  256u /* waits that the analysis keeps for a thread: docs/WAITS.md */
#define NO_THREAD UINT32_MAX

enum end { END_OTHER, END_ACCEPTED, END_CONNECTED };

struct relay_socket {
	uint64_t key; /* inode + 1 */
	enum end end;
	int32_t fd;
	const struct trace_process *process; /* borrowed; it accepted the connection */
	uint64_t accepted_ns;
	uint32_t relayer;   /* index of the thread that sent the latest part, or NO_THREAD */
	uint64_t part_ns;   /* when */
	uint64_t nr_sleeps; /* of the relayer, until then */
};

/* @accepted_ns: when its connection was; a loss since then may hide another descriptor of that */
struct relay_span {
	uint64_t from_ns, to_ns;
	uint64_t accepted_ns;
};

struct relay_thread {
	uint64_t key; /* trace_thread_index() + 1 */
	bool brings;  /* it received a part and has not slept since */
	uint64_t nr_sleeps;
	uint64_t event_ns;	/* the latest event of the program itself: it ends all answers */
	struct relay_span idle; /* the latest idle wait */
	uint32_t nr_spans;	/* so far: the latest NR_SPANS of them are kept */
	struct relay_span spans[NR_SPANS];
};

struct relay_rule {
	struct rules *rules;
	struct hash_table sockets;
	struct hash_table threads;
	struct hash_table duplicated; /* descriptors: process and number */
};

static struct relay_thread *thread_row(struct relay_rule *r, const struct trace_thread *thread)
{
	return table_find(&r->threads, sizeof(struct relay_thread), trace_thread_index(thread) + 1ull);
}

static uint64_t descriptor_key(const struct trace_process *process, int32_t fd)
{
	return hash_u64((uintptr_t)process) ^ hash_u64((uint32_t)fd + 1ull);
}

static void on_endpoints(struct relay_rule *r, struct trace_analysis *analysis, const struct trace_thread *thread,
			 uint64_t ns, const struct trace_sock_endpoints *ends)
{
	const char *call = trace_thread_syscall(analysis, thread);
	struct relay_socket *sock = table_add(&r->sockets, sizeof(*sock), ends->ino + 1);
	bool accepts = call && strncmp(call, "accept", 6) == 0;

	if (!sock) /* without memory the rule sees less */
		return;
	sock->end = ends->type != LINUX_SOCK_STREAM	   ? END_OTHER
		    : accepts				   ? END_ACCEPTED
		    : call && strcmp(call, "connect") == 0 ? END_CONNECTED
							   : END_OTHER;
	sock->fd = ends->fd;
	sock->process = trace_thread_process(thread);
	sock->accepted_ns = ns;
	sock->relayer = NO_THREAD;
}

static void violation(struct relay_rule *r, const struct trace_thread *thread, const struct relay_span *wait,
		      const struct relay_span *span)
{
	if (rules_are_sure(r->rules, span->accepted_ns, span->to_ns))
		rules_broken(r->rules, wait->to_ns, thread,
			     "has an idle wait of %" PRIu64 " ns between two parts of an answer that it relayed",
			     wait->to_ns - wait->from_ns);
}

static bool is_within(const struct relay_span *wait, const struct relay_span *span)
{
	return wait->from_ns >= span->from_ns && wait->to_ns <= span->to_ns;
}

/* Another part of the answer was sent: the request was open in @span. */
static void on_span(struct relay_rule *r, struct relay_thread *row, const struct trace_thread *thread,
		    struct relay_span span)
{
	if (row->idle.to_ns && is_within(&row->idle, &span))
		violation(r, thread, &row->idle, &span);
	row->spans[row->nr_spans++ % NR_SPANS] = span;
}

static void on_answer(struct relay_rule *r, struct relay_socket *sock, const struct trace_thread *thread, uint64_t ns)
{
	struct relay_thread *row = thread_row(r, thread);
	uint32_t idx = trace_thread_index(thread);

	if (!row || !row->brings || sock->process != trace_thread_process(thread) ||
	    table_find(&r->duplicated, sizeof(uint64_t), descriptor_key(sock->process, sock->fd))) {
		if (sock->relayer != idx)
			sock->relayer = NO_THREAD;
		return;
	}
	if (sock->relayer == idx && sock->part_ns > row->event_ns && row->nr_sleeps - sock->nr_sleeps <= MAX_KEPT)
		on_span(r, row, thread, (struct relay_span){sock->part_ns, ns, sock->accepted_ns});
	sock->relayer = idx;
	sock->part_ns = ns;
	sock->nr_sleeps = row->nr_sleeps;
}

static void on_transfer(struct relay_rule *r, const struct trace_thread *thread, const struct trace_event *event)
{
	const struct trace_sock_send *bytes = event->payload; /* all three have the same shape */
	struct relay_socket *sock = table_find(&r->sockets, sizeof(*sock), bytes->ino + 1);
	bool receives = event->id != TRACE_EV_sock_send;
	struct relay_thread *row;

	if (!sock)
		return;
	if (sock->end == END_CONNECTED && receives && bytes->ret >= 0) {
		row = table_add(&r->threads, sizeof(*row), trace_thread_index(thread) + 1ull);
		if (row)
			row->brings = true;
	} else if (sock->end == END_ACCEPTED && receives && bytes->ret > 0) {
		sock->relayer = NO_THREAD;
	} else if (sock->end == END_ACCEPTED && !receives && bytes->ret > 0) {
		on_answer(r, sock, thread, event->ts_ns);
	}
}

/* Any sleep ends a part, also one for a file, after which the analysis still goes on with it. */
static void on_switch(struct relay_rule *r, const struct trace_analysis *analysis, const struct trace_sched_switch *sw)
{
	const struct trace_thread *thread = sw->prev_state && r->threads.used
						    ? trace_find_thread(analysis, sw->prev_tid)
						    : NULL;
	struct relay_thread *row = thread ? thread_row(r, thread) : NULL;

	if (!row)
		return;
	row->brings = false;
	row->nr_sleeps++;
}

static void on_exit_of_call(struct relay_rule *r, struct trace_analysis *analysis, const struct trace_thread *thread)
{
	if (rules_duplicates(analysis, thread))
		table_add(&r->duplicated, sizeof(uint64_t),
			  descriptor_key(trace_thread_process(thread), (int32_t)trace_thread_syscall_arg(thread, 0)));
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread;
	struct relay_rule *r = data;
	struct relay_thread *row;

	if (event->id == TRACE_EV_sched_switch) {
		on_switch(r, analysis, event->payload);
		return;
	}
	thread = trace_event_thread(analysis, event);
	if (!thread)
		return;
	if (event->id >= TRACE_EV_USER) {
		row = thread_row(r, thread);
		if (row)
			row->event_ns = event->ts_ns;
	} else if (trace_cpu_interrupt(analysis, event->cpu)) {
		return;
	} else if (event->id == TRACE_EV_sys_exit) {
		on_exit_of_call(r, analysis, thread);
	} else if (event->id == TRACE_EV_sock_endpoints) {
		on_endpoints(r, analysis, thread, event->ts_ns, event->payload);
	} else {
		on_transfer(r, thread, event);
	}
}

static void on_wait(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct relay_rule *r = data;
	struct relay_thread *row = interval->idle ? thread_row(r, interval->thread) : NULL;
	struct relay_span wait = {.from_ns = interval->from_ns, .to_ns = interval->to_ns};

	(void)analysis;
	if (!row)
		return;
	row->idle = wait;
	for (uint32_t i = 0; i < row->nr_spans && i < NR_SPANS; i++) {
		if (is_within(&wait, &row->spans[i])) {
			violation(r, interval->thread, &wait, &row->spans[i]);
			return;
		}
	}
}

void *rule_relay_begin(struct rules *rules)
{
	static const uint32_t ids[] = {TRACE_EV_sched_switch, TRACE_EV_sys_exit,  TRACE_EV_sock_endpoints,
				       TRACE_EV_sock_recv,    TRACE_EV_sock_look, TRACE_EV_sock_send,
				       TRACE_EV_USER};
	struct relay_rule *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->rules = rules;
	if (!rules_on_events(rules, ids, sizeof(ids) / sizeof(ids[0]), on_event, r) ||
	    trace_analysis_on_interval_of(rules_analysis(rules), 1u << TRACE_STATE_BLOCKED, on_wait, r) < 0) {
		rule_relay_end(r);
		return NULL;
	}
	return r;
}

void rule_relay_end(void *data)
{
	struct relay_rule *r = data;

	table_clear(&r->sockets);
	table_clear(&r->threads);
	table_clear(&r->duplicated);
	free(r);
}
