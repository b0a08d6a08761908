/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers.c - the sets of threads, their bills, and the handlers of events
 *
 * A thread has a set of requests. The set changes only at the thread's own system calls, so its CPU
 * time is billed there: the time since the last bill goes to the set that the thread had
 * (servers_charge()). Each thread has one mark, thread.charged, up to which it is billed. At the
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
 * Example, with thread.charged and thread.enter as the CPU time of the thread:
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
#include <sys/socket.h>
#include <sys/stat.h>
#include "error_set.h"
#include "servers_ledger.h"

#define TCP_FIN_WAIT1 4 /* include/net/tcp_states.h */
#define TCP_CLOSE     7
#define TCP_LAST_ACK  9

/* ---- threads and processes ---- */

struct ledger_process *servers_process_of(struct trace_servers *s, const struct trace_process *process)
{
	struct pointer_row *row = table_add(&s->processes, sizeof(*row), (uintptr_t)process);
	struct ledger_process **bigger, *made;

	if (row && row->pointer)
		return row->pointer;
	made = row ? calloc(1, sizeof(*made)) : NULL;
	bigger = made ? reallocarray(s->by_idx, s->nr_processes + 1, sizeof(struct ledger_process *)) : NULL;
	if (!bigger) {
		free(made);
		s->failed = -ENOMEM;
		return NULL;
	}
	s->by_idx = bigger;
	made->process = process;
	made->idx = s->nr_processes;
	s->by_idx[s->nr_processes++] = made;
	row->pointer = made;
	return made;
}

struct ledger_thread *servers_find_thread(const struct trace_servers *s, const struct trace_thread *thread)
{
	uint32_t idx = trace_thread_index(thread);

	return idx < s->nr_threads ? s->threads[idx] : NULL;
}

struct ledger_thread *servers_touch_thread(struct trace_servers *s, const struct trace_thread *thread)
{
	struct ledger_thread *known = servers_find_thread(s, thread);

	if (known)
		gaps_touch(s, known);
	return known;
}

static bool make_room(struct trace_servers *s, uint32_t idx)
{
	uint32_t nr = s->nr_threads ? s->nr_threads : 64;
	struct ledger_thread **bigger;

	if (idx < s->nr_threads)
		return true;
	while (nr <= idx)
		nr *= 2;
	bigger = reallocarray(s->threads, nr, sizeof(struct ledger_thread *));
	if (!bigger)
		return false;
	memset(bigger + s->nr_threads, 0, (nr - s->nr_threads) * sizeof(struct ledger_thread *));
	s->threads = bigger;
	s->nr_threads = nr;
	return true;
}

struct ledger_thread *servers_thread_of(struct trace_servers *s, const struct trace_thread *thread)
{
	struct ledger_thread *known = thread ? servers_touch_thread(s, thread) : NULL, *made;
	struct ledger_process *process;
	struct birth *birth;

	if (known || !thread || trace_thread_is_kernel(thread))
		return known;
	process = servers_process_of(s, trace_thread_process(thread));
	made = process && make_room(s, trace_thread_index(thread)) ? calloc(1, sizeof(*made)) : NULL;
	if (!made) {
		s->failed = -ENOMEM;
		return NULL;
	}
	made->thread = thread;
	made->process = process;
	s->threads[trace_thread_index(thread)] = made;
	gaps_touch(s, made);
	birth = table_find(&s->births, sizeof(*birth), trace_thread_tid(thread) + 1ull);
	if (birth) {
		made->set = birth->set;
		made->parent = birth->parent;
		table_remove(&s->births, sizeof(*birth), birth->key);
	}
	return made;
}

struct ledger_thread *servers_current_thread(struct trace_servers *s, const struct trace_event *event)
{
	return servers_thread_of(s, trace_thread_on_cpu(s->analysis, event->cpu));
}

/* ---- bills ---- */

static uint32_t distinct_origins(struct trace_servers *s, const struct set *set, uint32_t *origins)
{
	uint64_t stamp = ++s->stamp;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < set->nr; i++) {
		uint32_t origin = set->items[i]->origin;

		if (s->origin_stamps[origin] != stamp)
			origins[nr++] = origin;
		s->origin_stamps[origin] = stamp;
	}
	return nr;
}

static void bill_share(struct trace_servers *s, struct ledger_process *process, uint32_t origin, const struct spent *part, bool shared)
{
	struct bill *bill = table_add(&process->bills, sizeof(*bill), origin + 1ull);

	if (!bill) {
		s->failed = -ENOMEM;
		return;
	}
	*(shared ? &bill->shared : &bill->exact) += part->cpu;
	bill->interrupted += part->interrupted;
	process->billed += part->cpu;
}

void bill_receiving(struct trace_servers *s, struct ledger_process *process, uint32_t origin, uint64_t ns)
{
	struct bill *bill = table_add(&process->bills, sizeof(*bill), origin + 1ull);

	if (bill)
		bill->receiving += ns;
	else
		s->failed = -ENOMEM;
}

static void bill_set(struct trace_servers *s, struct ledger_process *process, const struct set *set, const struct spent *spent)
{
	uint32_t few[16], *origins = set->nr <= 16 ? few : malloc(set->nr * sizeof(*origins)), nr, at;
	struct spent each, odd;
	uint64_t most;

	if (!origins) {
		s->failed = -ENOMEM;
		return;
	}
	nr = distinct_origins(s, set, origins);
	each = (struct spent){.cpu = spent->cpu / nr, .interrupted = spent->interrupted / nr};
	odd = (struct spent){.cpu = spent->cpu % nr, .interrupted = spent->interrupted % nr};
	most = each.cpu || each.interrupted ? nr : odd.cpu > odd.interrupted ? odd.cpu : odd.interrupted;
	/*
	 * The odd ns go to each origin in turn. If there are more origins than ns, the other
	 * origins get nothing.
	 */
	at = (uint32_t)((nr - process->rotor % nr) % nr);
	for (uint64_t turn = 0; turn < most; turn++, at = at + 1 < nr ? at + 1 : 0) {
		struct spent part = {.cpu = each.cpu + (turn < odd.cpu), .interrupted = each.interrupted + (turn < odd.interrupted)};

		bill_share(s, process, origins[at], &part, nr > 1);
	}
	process->rotor++;
	if (origins != few)
		free(origins);
}

struct spent servers_spent(const struct trace_servers *s, const struct ledger_thread *thread)
{
	struct trace_times times;

	trace_thread_times(s->analysis, thread->thread, &times);
	return (struct spent){.cpu = times.user_ns + times.syscall_ns + times.trap_ns, .interrupted = times.interrupted_ns};
}

/*
 * Bill what @thread used until @until. CPU time while the set is empty is in no bill, so it is
 * background.
 */
void servers_charge_until(struct trace_servers *s, struct ledger_thread *thread, const struct spent *until)
{
	struct spent part = {.cpu = until->cpu - thread->charged.cpu};

	if (until->cpu <= thread->charged.cpu)
		return;
	if (until->interrupted > thread->charged.interrupted)
		part.interrupted = until->interrupted - thread->charged.interrupted;
	if (thread->set)
		bill_set(s, thread->process, thread->set, &part);
	thread->charged = *until;
}

void servers_charge(struct trace_servers *s, struct ledger_thread *thread)
{
	struct spent now = servers_spent(s, thread);

	servers_charge_until(s, thread, &now);
}

void servers_replace_set(struct trace_servers *s, struct ledger_thread *thread, struct set *set, const struct spent *until)
{
	bool changes = thread->set != set;

	servers_charge_until(s, thread, until);
	set_assign(&thread->set, set);
	set_assign(&thread->passed, NULL);
	thread->tentative = false;
	if (changes)
		log_set(s, thread);
}

void servers_leave_replied(struct trace_servers *s, struct ledger_thread *thread)
{
	servers_charge(s, thread);
	set_drop_replied(s, &thread->set);
	if (thread->log)
		log_set(s, thread);
}

/* ---- sockets ---- */

static void on_endpoints(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sock_endpoints *ends = event->payload;
	struct ledger_thread *thread = servers_current_thread(s, event);
	struct endpoint *endpoint;

	if (!thread)
		return;
	if (!thread->call)
		servers_call_recover(s, thread);
	endpoint_learn(s, ends, thread->process, thread->call == CALL_MAKE || thread->call == CALL_ACCEPT);
	endpoint = endpoint_find(s, ends->ino);
	if (!endpoint)
		return;
	thread->ring_made = endpoint;
	if (thread->call == CALL_ACCEPT && !endpoint->listening) {
		/*
		 * A connection from before the trace may have waited to be accepted, with data in
		 * it.
		 */
		request_accept(s, thread, endpoint);
	} else if (thread->call == CALL_CONNECT && endpoint->kind != ENDPOINT_DATAGRAM) {
		endpoint->role = ROLE_CLIENT;
		if (endpoint->peer)
			endpoint->peer->role = ROLE_SERVER;
	}
}

static bool in_interrupt(const struct trace_servers *s, const struct trace_event *event)
{
	return trace_cpu_interrupt(s->analysis, event->cpu) != NULL;
}

static struct ledger_thread *transferring(struct trace_servers *s, const struct trace_event *event)
{
	struct ledger_thread *thread = in_interrupt(s, event) ? NULL : servers_current_thread(s, event);

	if (thread && !thread->call)
		servers_call_recover(s, thread);
	return thread;
}

static void on_send(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sock_send *send = event->payload;
	struct ledger_thread *thread = transferring(s, event);
	struct endpoint *endpoint = NULL;

	if (thread) /* a failed send must not make a closed connection known again */
		endpoint = send->ret > 0 ? endpoint_get(s, send->ino, send->family, 0, send->protocol) : endpoint_find(s, send->ino);
	if (!endpoint)
		return;
	endpoint->owner = thread->process;
	if (ring_sends(s, thread, endpoint, send->ret, (uint32_t)send->position))
		return;
	if (thread->endpoint != endpoint) { /* the descriptor was not known, or it is a splice */
		thread->endpoint = endpoint;
		request_prepare(s, thread, endpoint);
	}
	if (channel_out(endpoint))
		channel_end(channel_out(endpoint), thread);
	/* a datagram may be empty */
	if (send->ret < 0 || (!send->ret && endpoint->kind != ENDPOINT_DATAGRAM))
		return;
	if (channel_out(endpoint))
		channel_send(s, channel_out(endpoint), thread, endpoint->kind == ENDPOINT_SEQPACKET ? 1 : (uint64_t)send->ret,
			     (uint32_t)send->position);
	request_send(s, thread, endpoint);
	request_prepare(s, thread, endpoint); /* sendmmsg: the next message */
}

/*
 * A datagram is in the queue of the socket that it was sent to. The event is in the sender's
 * context.
 */
static void on_ready(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sock_ready *ready = event->payload;
	struct endpoint *target;
	struct ledger_thread *thread;

	if (in_interrupt(s, event)) {
		packet_ready(s, event);
		return;
	}
	target = endpoint_find(s, ready->ino);
	if (!target || target->kind != ENDPOINT_DATAGRAM)
		return;
	thread = transferring(s, event);
	if (!thread || (thread->call != CALL_SEND && thread->call != CALL_SPLICE && !ring_datagram(s, thread, ready->ino)))
		return;
	thread->destination = ready->ino;
	if (thread->endpoint && thread->call != CALL_RING)
		request_prepare(s, thread, thread->endpoint);
	channel_send(s, &target->channel, thread, 1, 0);
}

/* Nothing was received: true for an empty datagram, false for the end of the data. */
static bool is_empty_message(const struct endpoint *endpoint, const struct channel *channel, int32_t ret)
{
	return !ret && endpoint->kind == ENDPOINT_DATAGRAM && channel->nr;
}

static void on_receive(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sock_recv *receive = event->payload;
	struct ledger_thread *thread = transferring(s, event);
	struct endpoint *endpoint = !thread ? NULL
				    : receive->ret > 0 || receive->ret == -EAGAIN ? endpoint_get(s, receive->ino, receive->family, 0, receive->protocol)
									      : endpoint_find(s, receive->ino);
	struct channel *channel = endpoint ? channel_in(s, endpoint) : NULL;
	bool messages = endpoint && (endpoint->kind == ENDPOINT_DATAGRAM || endpoint->kind == ENDPOINT_SEQPACKET);

	if (!endpoint || thread->peek || endpoint->kind == ENDPOINT_OTHER)
		return;
	if (receive->ret == -EAGAIN && channel)
		channel_drained(s, channel, trace_analysis_now(s->analysis));
	if (receive->ret <= 0 && !is_empty_message(endpoint, channel, receive->ret))
		return;
	if (ring_receives(s, thread, endpoint, channel, messages ? 1 : receive->ret, (uint32_t)receive->position))
		return;
	endpoint->owner = thread->process;
	thread->endpoint = endpoint;
	if (messages)
		thread->asked = 0; /* a short message says nothing about the next one */
	if (channel)
		channel_receive(s, endpoint, channel, thread, messages ? 1 : (uint64_t)receive->ret, (uint32_t)receive->position);
	else
		request_receive(s, thread, endpoint, NULL, NULL, 0);
}

/*
 * close() returns before its last packet is sent. This event shows which socket sends that packet.
 */
static void on_state(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sock_state *state = event->payload;
	bool closes = state->new_state == TCP_FIN_WAIT1 || state->new_state == TCP_LAST_ACK;
	struct ledger_thread *thread = closes ? transferring(s, event) : NULL;
	struct endpoint *endpoint = closes || state->new_state == TCP_CLOSE ? endpoint_find(s, state->ino) : NULL;

	const char *call = thread ? trace_thread_syscall(s->analysis, thread->thread) : NULL;

	if (thread && !thread->call)
		thread->endpoint = endpoint;
	if (endpoint)
		endpoint_closed(s, endpoint, call && strcmp(call, "shutdown") != 0);
}

static void on_open(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_fs_open *open = event->payload;
	struct ledger_thread *thread = S_ISFIFO(open->mode) ? servers_current_thread(s, event) : NULL;
	struct endpoint *pipe = thread ? pipe_get(s, open->dev, open->ino) : NULL;

	if (!pipe)
		return;
	if (!pipe->is_new && (thread->call == CALL_MAKE || thread->call == CALL_OPEN) && !pipe->is_old && !s->gap_until) {
		pipe->is_new = true;
		if (!pipe->channel.sent && !pipe->channel.received)
			pipe->channel.in_step = true;
	}
	if ((open->flags & 3) == 0 && thread->call == CALL_OPEN) /* O_RDONLY */
		pipe->owner = thread->process;
}

/* ---- scheduling ---- */

static bool has_request_from(const struct set *set, const struct endpoint *endpoint)
{
	for (uint32_t i = 0; set && i < set->nr; i++)
		if (set->items[i]->endpoint == endpoint)
			return true;
	return false;
}

static void leave_cpu(struct trace_servers *s, const struct trace_event *event, struct ledger_thread *thread)
{
	const struct trace_sched_switch *sw = event->payload;

	log_put(s, thread, event->ts_ns, trace_thread_cpu_ns(s->analysis, thread->thread),
		sw->prev_state ? LOG_BLOCKED : LOG_QUEUED);
	if (sw->prev_state && thread->call == CALL_RING)
		ring_sleeps(s, thread);
	else if (!sw->prev_state || (thread->call != CALL_RECEIVE && thread->call != CALL_POLL && (thread->call != CALL_FUTEX || thread->lock)))
		return;
	thread->slept = true;
	thread->wait_from = event->ts_ns;
	if (thread->call != CALL_FUTEX)
		thread->slept_ns = event->ts_ns;
	thread->wait_to = 0;
	if (thread->call == CALL_RECEIVE && thread->set && thread->endpoint && thread->endpoint->role == ROLE_SERVER &&
	    !has_request_from(thread->set, thread->endpoint))
		thread->idle_read = true;
}

static void on_switch(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sched_switch *sw = event->payload;
	const struct trace_thread *leaves = trace_thread_on_cpu(s->analysis, event->cpu),
				  *comes = trace_find_thread(s->analysis, sw->next_tid);
	struct ledger_thread *thread = leaves && trace_thread_tid(leaves) == sw->prev_tid ? servers_touch_thread(s, leaves) : NULL;

	if (thread)
		leave_cpu(s, event, thread);
	if (!sw->next_tid)
		packets_rest(s, event->cpu);
	thread = comes ? servers_touch_thread(s, comes) : NULL;
	if (thread && thread->log)
		log_runs(s, thread, event->ts_ns, event->cpu);
}

/* True if another thread of the process ends this wait because it has a job for @thread. */
static bool takes_over(const struct ledger_thread *thread)
{
	switch (thread->call) {
	case CALL_FUTEX:
		return !thread->lock && (!thread->word || !set_any_unanswered(thread->set) || words_have(&thread->rested, thread->word));
	case CALL_POLL:
		return !thread->set;
	case CALL_RECEIVE:
		return !thread->endpoint; /* an eventfd and the like; for a pipe the bytes show it */
	default:
		return false;
	}
}

/* A glibc condition has two adjacent words, and waits at one or the other. */
bool words_have(const struct words *words, uint64_t word)
{
	for (size_t i = 0; i < NR_WORDS; i++)
		if (words->word[i] && words->word[i] + 4 - word <= 8)
			return true;
	return false;
}

void words_add(struct words *words, uint64_t word)
{
	for (size_t i = 0; i < NR_WORDS; i++)
		if (words->word[i] == word)
			return;
	words->word[words->at] = word;
	words->at = (uint8_t)((words->at + 1) % NR_WORDS);
}

/*
 * True if both threads wait at this futex in turn. Then it is a lock that is made of a condition or
 * a semaphore, such as that of an interpreter, and no job is handed on. A thread that hands out
 * jobs does not wait at the futex where jobs are waited for. The futex counts as a lock from now
 * on.
 */
static bool takes_turns(struct ledger_thread *thread, const struct ledger_thread *waker)
{
	if (!thread->word || !words_have(&waker->waited, thread->word))
		return false;
	words_add(&thread->process->locks, thread->word);
	thread->lock = true;
	return true;
}

static void on_waking(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sched_waking *waking = event->payload;
	const struct trace_thread *woken = trace_find_thread(s->analysis, waking->tid);
	struct ledger_thread *thread = woken ? servers_touch_thread(s, woken) : NULL, *waker;

	if (!woken || trace_thread_is_kernel(woken))
		return;
	if (!thread) {
		/* it was asleep until now: it waits since before the trace */
		thread = servers_thread_of(s, woken);
		if (thread && trace_thread_start_ns(woken) <= s->start_ns)
			thread->slept_ns = s->start_ns;
	}
	if (!thread)
		return;
	if (thread->log)
		log_woken(s, thread, event->ts_ns);
	if (thread->slept && !thread->wait_to)
		thread->wait_to = event->ts_ns;
	if (waking->context != TRACE_CONTEXT_TASK || in_interrupt(s, event))
		return;
	waker = servers_current_thread(s, event);
	if (!waker)
		return;
	thread->waker = waker;
	if (!thread->call)
		servers_call_recover(s, thread);
	servers_pipe_wakes(s, waker, thread);
	if (waker->process != thread->process) {
		signal_wakes(s, waker, thread);
		return;
	}
	if (takes_turns(thread, waker) || !waker->set || !takes_over(thread))
		return;
	set_assign(&thread->inherited, waker->set);
	set_put_all(s, &waker->passed, waker->set);
}

static void on_fork(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sched_fork *fork = event->payload;
	const struct trace_thread *parent = trace_find_thread(s->analysis, fork->parent_tid);
	struct ledger_thread *known = parent ? servers_find_thread(s, parent) : NULL;
	struct birth *birth;

	birth = known && (known->set || known->has_ring || known->call == CALL_MAKE || known->log) ? table_add(&s->births, sizeof(*birth), fork->tid + 1ull)
										     : table_find(&s->births, sizeof(*birth), fork->tid + 1ull);
	if (!birth)
		return;
	/* a ring's worker is made for more than one request */
	set_assign(&birth->set, known && known->call != CALL_RING ? known->set : NULL);
	birth->parent = known;
}

/* The first event of a new thread: its accounting begins, and it waits for a CPU. */
static void on_wakeup_new(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_sched_wakeup_new *wakeup = event->payload;
	struct ledger_thread *thread = servers_thread_of(s, trace_find_thread(s->analysis, wakeup->tid));

	if (!thread)
		return;
	thread->born_ns = event->ts_ns;
	log_put(s, thread, event->ts_ns, trace_thread_cpu_ns(s->analysis, thread->thread), LOG_QUEUED);
}

/* ---- before the pass ---- */

static const struct {
	uint32_t id;
	uint32_t bytes; /* size of the struct that the handler reads */
	servers_handler_fn handler;
} wanted_events[] = {
#define WANTED(event, handler) {TRACE_EV_##event, sizeof(struct trace_##event), handler}
	WANTED(sys_enter, servers_on_enter),
	WANTED(sys_enter3, servers_on_enter),
	WANTED(sys_enter6, servers_on_enter),
	WANTED(sys_exit, servers_on_exit),
	WANTED(sock_endpoints, on_endpoints),
	WANTED(sock_send, on_send),
	WANTED(sock_recv, on_receive),
	WANTED(sock_ready, on_ready),
	WANTED(sock_state, on_state),
	WANTED(fs_open, on_open),
	WANTED(uring_enter, ring_looked),
	WANTED(uring_submit, ring_submit),
	WANTED(uring_complete, ring_complete),
	WANTED(uring_file, ring_file),
	WANTED(uring_open, ring_open),
	WANTED(sched_switch, on_switch),
	WANTED(sched_waking, on_waking),
	WANTED(sched_fork, on_fork),
	WANTED(sched_wakeup_new, on_wakeup_new),
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

static struct ledger_process *process_of_tgid(struct trace_servers *s, uint32_t tgid)
{
	const struct trace_thread *leader = trace_find_thread(s->analysis, tgid);

	return leader && !trace_thread_is_kernel(leader) ? servers_process_of(s, trace_thread_process(leader)) : NULL;
}

static void start_socket(struct trace_servers *s, const struct trace_start_socket *start, uint32_t netns)
{
	struct trace_sock_endpoints ends = {.ino = start->ino,
					    .peer_ino = start->peer_ino,
					    .family = start->family,
					    .type = start->type,
					    .state = start->state,
					    .local_port = start->local_port,
					    .remote_port = start->remote_port,
					    .local_hi = start->local_hi,
					    .local_lo = start->local_lo,
					    .remote_hi = start->remote_hi,
					    .remote_lo = start->remote_lo,
					    .protocol = start->protocol,
					    .netns = netns};

	endpoint_learn(s, &ends, process_of_tgid(s, start->tgid), false);
}

static void start_event(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_start_fd *fd = event->payload;
	struct endpoint *pipe;

	if (event->id == TRACE_EV_start_socket && event->type->fixed_bytes >= START_SOCKET_BYTES)
		start_socket(s, event->payload, start_socket_netns(event));
	if (event->id != TRACE_EV_start_fd || event->type->fixed_bytes < sizeof(*fd) || !S_ISFIFO(fd->mode))
		return;
	pipe = pipe_get(s, fd->dev, fd->ino);
	if (!pipe)
		return;
	pipe->is_old = true;
	if ((fd->flags & 3) == 0) /* O_RDONLY */
		pipe->owner = process_of_tgid(s, fd->tgid);
}

/*
 * Load what was open at the start. This is done at the first event, because then the analysis knows
 * the processes.
 */
static void start_load(struct trace_servers *s)
{
	struct trace_cursor_options options = {.size = sizeof(options), .start_state = true};
	struct trace_cursor *cursor = trace_cursor_new(s->trace, &options, NULL);
	const struct trace_event *event;
	int error;

	s->started = true;
	s->start_ns = trace_analysis_now(s->analysis);
	if (!cursor) {
		s->failed = -ENOMEM;
		return;
	}
	while ((event = trace_cursor_next(cursor)))
		start_event(s, event);
	error = trace_cursor_end(cursor, NULL);
	if (error && error != -EBADMSG) /* a damaged chunk: the analysis reports it */
		s->failed = error;
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
		start_load(s);
	if (!s->failed)
		gaps_damage(s, gap);
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct trace_servers *s = data;

	if (!s->started)
		start_load(s);
	if (event->ts_ns >= s->next_gap_ns || s->gap_until)
		gaps_pass(s, event->ts_ns);
	if (event->ts_ns > s->next_user_gap_ns)
		gaps_user_pass(s, event->ts_ns);
	if (event->id >= TRACE_EV_MAX) {
		explicit_event(s, event);
		return;
	}
	if (s->handlers[event->id])
		s->handlers[event->id](s, event);
}

struct trace_servers *trace_servers_new(const struct trace *trace, struct trace_analysis *analysis, struct trace_error *ret_error)
{
	struct trace_servers *s = calloc(1, sizeof(*s));
	uint64_t mask[TRACE_MASK_WORDS];
	int error = -ENOMEM;

	if (!s)
		goto fail;
	s->trace = trace;
	s->analysis = analysis;
	handlers_prepare(s);
	memcpy(mask, s->wanted, sizeof(mask));
	/* the reader makes this event: it is in no mask of the recording */
	mask[TRACE_EV_trace_lost / 64] |= 1ull << TRACE_EV_trace_lost % 64;
	s->handlers[TRACE_EV_trace_lost] = gaps_lost;
	for (size_t i = 0; trace_not_traced(trace, i); i++)
		s->no_transfers |= strncmp(trace_not_traced(trace, i), "sock_send", 9) == 0 || strncmp(trace_not_traced(trace, i), "sock_recv", 9) == 0;
	servers_prepare_calls(s);
	/* an origin for which there was no memory has the number 0 */
	s->origins = calloc(1, sizeof(*s->origins));
	s->origin_stamps = calloc(1, sizeof(*s->origin_stamps));
	if (!s->origins || !s->origin_stamps)
		goto fail;
	if (packets_prepare(s) < 0)
		goto fail;
	gaps_prepare(s);
	error = trace_analysis_on_event(analysis, mask, on_event, s);
	if (!error)
		error = trace_analysis_on_interval_of(analysis, 1u << TRACE_STATE_BLOCKED, log_interval, s);
	if (!error)
		error = trace_analysis_on_late_gap(analysis, on_damage, s);
	if (!error)
		error = trace_analysis_on_release(analysis, endpoint_gone, s);
	if (!error)
		return s;
fail:
	error_set(ret_error, error, "%s",
		  error == -EBUSY ? "the analysis was run already; create the servers' analysis before its pass"
				  : "out of memory for the servers' requests");
	return trace_servers_free(s);
}

struct trace_servers *trace_servers_free(struct trace_servers *s)
{
	if (!s)
		return NULL;
	for (uint32_t i = 0; i < s->nr_threads; i++) {
		struct ledger_thread *thread = s->threads[i];

		if (!thread)
			continue;
		set_unref(thread->set);
		set_unref(thread->incoming);
		set_unref(thread->inherited);
		set_unref(thread->outgoing);
		set_unref(thread->passed);
		set_unref(thread->arrived);
		set_unref(thread->answered);
		set_unref(thread->got);
		log_free(thread);
		free(thread);
	}
	for (const struct pointer_row *row = NULL; (row = table_next(&s->endpoints, sizeof(*row), row));)
		endpoint_empty(row->pointer);
	for (const struct birth *birth = NULL; (birth = table_next(&s->births, sizeof(*birth), birth));)
		set_unref(birth->set);
	explicit_forget(s);
	for (uint32_t i = 0; i < s->nr_processes; i++) {
		set_unref(s->by_idx[i]->pending);
		table_clear(&s->by_idx[i]->bills);
		free(s->by_idx[i]);
	}
	ring_free(s);
	packets_free(s);
	servers_results_free(s);
	waits_free(s);
	for (const struct pointer_row *row = NULL; (row = table_next(&s->endpoints, sizeof(*row), row));)
		endpoint_free(row->pointer); /* no request refers to them any more */
	free(s->retired);
	free(s->touched);
	free(s->by_idx);
	free(s->origins);
	free(s->origin_stamps);
	free(s->threads);
	table_clear(&s->processes);
	table_clear(&s->endpoints);
	table_clear(&s->tuples);
	table_clear(&s->listeners);
	table_clear(&s->words);
	table_clear(&s->pairs);
	table_clear(&s->births);
	table_clear(&s->origin_by_hash);
	strings_clear(&s->strings);
	free(s);
	return NULL;
}
