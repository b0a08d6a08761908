/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers.c - the servers analysis as a whole, and how the CPU time of threads is billed
 *
 * A thread has a set of requests. The set changes only at the thread's own system calls, so its CPU
 * time is billed there: the time since the last bill goes to the set that the thread had
 * (bill_now()). Each thread has one mark, thread.charged, up to which it is billed. At the
 * end of the trace the rest is billed, too. So no ns is billed twice or left out.
 *
 *   enters poll, select, epoll, accept       the set becomes empty: the thread looks for work,
 *                                            so it has finished its work
 *   enters a receive, a futex wait, a sleep  answered requests leave the set
 *   leaves a receive, accept                 what came in joins the set; the CPU time of the
 *                                            call itself is already for it
 *   leaves a wait that another thread        the set becomes that thread's: a job was handed on
 *   of the process ended
 *   leaves a send that answered              the answered request leaves if others are in the
 *                                            set; else it stays until the next rest
 *   is made by fork or clone                 its parent's set
 *
 * Example, with thread.charged and thread.call.enter as the CPU time of the thread:
 *
 *   enters read             enter = 100 us
 *   read returns data of A  billed until enter = 100 us, then the set becomes A
 *   answers A               billed until now = 600 us: 500 us for A, exact. A stays in the set.
 *   enters epoll_wait       billed until enter = 800 us: 200 us for A, exact. The set is empty.
 *
 * At a gap all sets become empty. Interrupts are not part of a thread's CPU time here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "servers_ring.h"
#include "servers_ring_user.h"
#include "servers_sched.h"
#include "servers_socket.h"
#include "servers_start.h"
#include "servers_state.h"

static const struct {
	uint32_t id;
	uint32_t bytes; /* size of the struct that the handler reads */
	servers_handler_fn handler;
} wanted_events[] = {
#define WANTED(event, handler)                                          \
	{                                                               \
		TRACE_EV_##event, sizeof(struct trace_##event), handler \
	}
	WANTED(sys_enter, call_on_enter),
	WANTED(sys_enter3, call_on_enter),
	WANTED(sys_enter6, call_on_enter),
	WANTED(sys_exit, call_on_exit),
	WANTED(sock_endpoints, socket_on_endpoints),
	WANTED(sock_send, socket_on_send),
	WANTED(sock_recv, socket_on_receive),
	WANTED(sock_look, socket_on_look),
	WANTED(sock_ready, socket_on_ready),
	WANTED(sock_state, socket_on_state),
	WANTED(fs_open, socket_on_open),
	WANTED(uring_enter, ring_on_uring_enter),
	WANTED(uring_submit, ring_submit),
	WANTED(uring_complete, ring_complete),
	WANTED(uring_file, ring_file),
	WANTED(uring_open, ring_open),
	WANTED(sched_switch, sched_on_switch),
	WANTED(sched_waking, sched_on_waking),
	WANTED(sched_fork, sched_on_fork),
	WANTED(sched_exec, sched_on_exec),
	WANTED(sched_wakeup_new, sched_on_wakeup_new),
	WANTED(softirq_entry, packets_softirq),
	WANTED(softirq_exit, packets_softirq),
	WANTED(net_rx, packet_received),
	WANTED(net_tx, packet_sent),
	WANTED(trace_mask, gaps_mask),
#undef WANTED
};

/*
 * An older writer recorded a shorter struct than the one that we know: events of that type are not
 * handled.
 */
static void handlers_prepare(struct trace_servers *s)
{
	for (size_t i = 0; i < sizeof(wanted_events) / sizeof(wanted_events[0]); i++) {
		const struct trace_event_type *type = trace_type_by_id(s->trace, wanted_events[i].id);

		if (!type || type->fixed_bytes < wanted_events[i].bytes)
			continue;
		s->wanted[wanted_events[i].id / 64] |= 1ull << wanted_events[i].id % 64;
		s->handlers[wanted_events[i].id] = wanted_events[i].handler;
	}
	s->wanted[TRACE_EV_USER / 64] |= 1ull << TRACE_EV_USER % 64;
}

/*
 * A late gap: a chunk turned out to be damaged when it was read, so this gap was not among the
 * known ones. As for known gaps, the process is looked up at the next event only: the first events
 * of a program may come a little before the event that assigns its stream to it.
 */
static void on_damage(void *data, struct trace_analysis *analysis, const struct trace_gap *gap)
{
	struct trace_servers *s = data;

	if (!s->started)
		servers_start_load(s);
	if (!servers_failed(s))
		gaps_damage(s, gap);
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct trace_servers *s = data;

	if (!s->started)
		servers_start_load(s);
	if (event->ts_ns >= s->gaps.next_ns || s->gaps.until_ns)
		gaps_pass(s, event->ts_ns);
	if (event->ts_ns > s->gaps.next_user_ns)
		gaps_user_pass(s, event->ts_ns);
	if (event->id >= TRACE_EV_MAX) {
		explicit_event(s, event);
		return;
	}
	if (s->handlers[event->id])
		s->handlers[event->id](s, event);
}

static int hooks_add(struct trace_servers *s)
{
	uint64_t mask[TRACE_MASK_WORDS];
	int error;

	memcpy(mask, s->wanted, sizeof(mask));
	/* the reader makes this event: it is in no mask of the recording */
	mask[TRACE_EV_trace_lost / 64] |= 1ull << TRACE_EV_trace_lost % 64;
	error = trace_analysis_on_event(s->analysis, mask, on_event, s);
	if (!error && !s->without_waits)
		error = trace_analysis_on_interval_of(s->analysis, 1u << TRACE_STATE_BLOCKED, log_interval, s);
	if (!error)
		error = trace_analysis_on_late_gap(s->analysis, on_damage, s);
	if (!error)
		error = trace_analysis_on_release(s->analysis, endpoint_released, s);
	return error;
}

struct trace_servers *trace_servers_new(const struct trace *trace, struct trace_analysis *analysis,
					struct trace_error *ret_error)
{
	struct trace_servers *s = calloc(1, sizeof(*s));
	int error = -ENOMEM;

	if (!s)
		goto fail;
	s->trace = trace;
	s->analysis = analysis;
	handlers_prepare(s);
	s->handlers[TRACE_EV_trace_lost] = gaps_lost;
	for (size_t i = 0; trace_not_traced(trace, i); i++)
		s->no_transfers |= strncmp(trace_not_traced(trace, i), "sock_send", 9) == 0 ||
				   strncmp(trace_not_traced(trace, i), "sock_recv", 9) == 0;
	servers_calls_prepare(s);
	if (origins_prepare(s) < 0 || packets_prepare(s) < 0)
		goto fail;
	gaps_prepare(s);
	error = hooks_add(s);
	if (!error)
		return s;
fail:
	error_set(ret_error, error, "%s",
		  error == -EBUSY ? "the analysis was run already; create the servers' analysis before its pass"
				  : "out of memory for the servers' requests");
	if (s)
		trace_analysis_remove_hooks(analysis, s);
	return trace_servers_free(s);
}

int trace_servers_without_waits(struct trace_servers *s)
{
	if (s->started)
		return -EBUSY;
	s->without_waits = true;
	trace_analysis_remove_hooks(s->analysis, s);
	return hooks_add(s);
}

int trace_servers_keep_shares(struct trace_servers *s, size_t max)
{
	int error;

	if (s->shares)
		return 0;
	s->shares = shares_new(max);
	if (!s->shares)
		return -ENOMEM;
	error = trace_analysis_on_interval_of(s->analysis, SHARES_STATES, shares_interval, s->shares);
	if (error)
		s->shares = shares_free(s->shares);
	return error;
}

int trace_servers_keep_requests(struct trace_servers *s, size_t max)
{
	if (s->started)
		return -EBUSY;
	if (!s->kept)
		s->kept = kept_new(max);
	return s->kept ? 0 : -ENOMEM;
}

struct trace_servers *trace_servers_free(struct trace_servers *s)
{
	if (!s)
		return NULL;
	logs_free(&s->threads);
	waits_drop(&s->threads);
	open_drop(s);
	servers_threads_free(&s->threads);
	endpoints_empty(&s->endpoints);
	explicit_drop(&s->explicit);
	servers_processes_free(&s->processes);
	ring_ops_free(&s->rings);
	packets_free(s);
	results_free(&s->results);
	shares_free(s->shares);
	kept_free(s->kept);
	waits_free(&s->waits);
	causes_free(&s->causes);
	endpoints_free(&s->endpoints); /* no request refers to them any more */
	opens_free(&s->opens);
	origins_free(&s->origins);
	free(s->closed.items);
	table_clear(&s->signals.words);
	table_clear(&s->pairs.rows);
	strings_clear(&s->strings);
	free(s);
	return NULL;
}
