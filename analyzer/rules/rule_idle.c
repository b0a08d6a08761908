/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rule_idle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>

#include "hash_table.h"
#include "kernel_numbers.h"
#include "rules.h"

/* A connection that was accepted. */
struct idle_socket {
	uint64_t key; /* inode + 1 */
	bool is_accepted;
	const struct trace_thread *reader; /* borrowed; NULL: all that came is answered */
	uint64_t since_ns;		   /* when it read the first byte */
};

/* The latest idle wait of a thread. */
struct idle_wait {
	uint64_t key; /* trace_thread_index() + 1 */
	uint64_t from_ns;
	uint64_t to_ns;
};

struct idle_rule {
	struct rules *rules;
	struct hash_table sockets;
	struct hash_table waits;
	struct hash_table crossing; /* addresses of processes whose threads answer for each other */
};

static void on_endpoints(struct idle_rule *r, struct trace_analysis *analysis, const struct trace_thread *thread,
			 const struct trace_sock_endpoints *ends)
{
	const char *call = trace_thread_syscall(analysis, thread);
	struct idle_socket *sock = table_add(&r->sockets, sizeof(*sock), ends->ino + 1);

	if (!sock) /* without memory the rule sees less */
		return;
	sock->is_accepted = call && strncmp(call, "accept", 6) == 0 && ends->type == LINUX_SOCK_STREAM;
	sock->reader = NULL;
}

static void on_read(struct idle_socket *sock, const struct trace_thread *thread, uint64_t ns)
{
	if (sock->reader == thread)
		return;
	sock->reader = thread;
	sock->since_ns = ns;
}

/* A loss at any time before may hide that threads of the process answer for each other. */
static bool is_sure(const struct idle_rule *r, uint64_t ns)
{
	return rules_are_sure(r->rules, trace_get_info(rules_trace(r->rules))->start_ns, ns);
}

static bool crosses(const struct idle_rule *r, const struct trace_thread *thread)
{
	return table_find(&r->crossing, sizeof(uint64_t), (uintptr_t)trace_thread_process(thread));
}

static void on_answer(struct idle_rule *r, struct idle_socket *sock, const struct trace_thread *thread, uint64_t ns)
{
	const struct idle_wait *wait = table_find(&r->waits, sizeof(*wait), trace_thread_index(thread) + 1ull);

	if (sock->reader != thread) {
		table_add(&r->crossing, sizeof(uint64_t), (uintptr_t)trace_thread_process(sock->reader));
		table_add(&r->crossing, sizeof(uint64_t), (uintptr_t)trace_thread_process(thread));
	} else if (wait && wait->from_ns >= sock->since_ns && !crosses(r, thread) && is_sure(r, ns)) {
		rules_broken(r->rules, wait->to_ns, thread,
			     "has an idle wait of %" PRIu64 " ns after it read a request, %" PRIu64
			     " ns before it answered that",
			     wait->to_ns - wait->from_ns, ns - wait->to_ns);
	}
	sock->reader = NULL;
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_event_thread(analysis, event);
	const struct trace_sock_send *bytes = event->payload; /* all three have the same shape */
	struct idle_rule *r = data;
	struct idle_socket *sock;

	if (!thread || trace_cpu_interrupt(analysis, event->cpu))
		return;
	if (event->id == TRACE_EV_sock_endpoints) {
		on_endpoints(r, analysis, thread, event->payload);
		return;
	}
	sock = table_find(&r->sockets, sizeof(*sock), bytes->ino + 1);
	if (!sock || !sock->is_accepted || bytes->ret <= 0)
		return;
	if (event->id != TRACE_EV_sock_send)
		on_read(sock, thread, event->ts_ns);
	else if (sock->reader)
		on_answer(r, sock, thread, event->ts_ns);
}

static void on_wait(void *data, struct trace_analysis *analysis, const struct trace_interval *wait)
{
	struct idle_rule *r = data;
	struct idle_wait *row = wait->idle ? table_add(&r->waits, sizeof(*row), trace_thread_index(wait->thread) + 1ull)
					   : NULL;

	(void)analysis;
	if (!row)
		return;
	row->from_ns = wait->from_ns;
	row->to_ns = wait->to_ns;
}

void *rule_idle_begin(struct rules *rules)
{
	static const uint32_t ids[] = {TRACE_EV_sock_endpoints, TRACE_EV_sock_recv, TRACE_EV_sock_look,
				       TRACE_EV_sock_send};
	struct idle_rule *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->rules = rules;
	if (!rules_on_events(rules, ids, sizeof(ids) / sizeof(ids[0]), on_event, r) ||
	    trace_analysis_on_interval_of(rules_analysis(rules), 1u << TRACE_STATE_BLOCKED, on_wait, r) < 0) {
		rule_idle_end(r);
		return NULL;
	}
	return r;
}

void rule_idle_end(void *data)
{
	struct idle_rule *r = data;

	table_clear(&r->sockets);
	table_clear(&r->waits);
	table_clear(&r->crossing);
	free(r);
}
