/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_servers_random.c - random servers (tests/random_server.h) executed by a model, which knows
 * for whom each ns of CPU time was spent: the truth is between the least and the most of each bill.
 *
 * Each actor has a CPU of its own, so only its own steps and waits take time. A step that needs
 * what another actor does begins when that is done, and sleeps until then.
 *
 * Seeds 1 to 1000 take 2 s. TRACE_TEST_LONG runs seeds 1 to 10,000: 56,000 bills over TCP, unix
 * sockets, UDP and rings of io_uring, with threads that hand requests over or share them, locks,
 * batches, pipelines, requests in parts, late and forgotten answers, closed connections, and helper
 * processes. TRACE_SEED=N runs seed N alone, TRACE_VERBOSE=1 prints its plan.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <unistd.h>
#include "random_server.h"
#include "servers_case.h"
#include "servers_packet_case.h"
#include "unit.h"

#define SERVER	    300u /* and its threads 301, 302 ... */
#define CLIENT	    100u
#define HELPER	    400u
#define CALL_NS	    1000u
#define JOB_US	    3000u
#define ALLOWED	    100000u /* ns, or 1 % */
#define LOOK_NS	    200000u
#define NOTE_WORD   0x7000u
#define NOTE_FD	    100	  /* where notes are pipes or eventfds: its two descriptors */
#define HELPER_FD   60	  /* four of each helper: two ends to ask, two to answer */
#define PIPE_INO    5000u /* of notes, and of helpers */
#define LOCK_WORD   0x6000u
#define UDP	    17
#define RING_FD	    9
#define LISTENING   8
#define RING_ACCEPT 13
#define RING_SEND   26
#define RING_RECV   27

struct actor {
	uint64_t ns;
	uint32_t results; /* of its ring */
	uint32_t at;	  /* in the plan */
	bool exists, begins, sleeps, slept, polled;
};

struct model {
	struct case_of_servers k;
	const struct plan *plan;
	struct actor actors[PLAN_ACTORS];
	bool connected[PLAN_CLIENTS];
	uint32_t unread[PLAN_CLIENTS], answers[PLAN_CLIENTS];
	uint32_t sent, turns; /* datagrams of all clients; of the lock */
	bool posted[256];
	uint64_t now_ns, sent_ns; /* the end of the last of these sends */
	uint32_t asked[PLAN_HELPERS], given[PLAN_HELPERS];
	uint32_t up[PLAN_CLIENTS][2], down[PLAN_CLIENTS][2]; /* bytes of TCP: sent, received */
	uint64_t truth[PLAN_ACTORS][PLAN_CLIENTS];	     /* by plan_process() */
};

static uint32_t tid_of(uint32_t actor)
{
	if (actor >= PLAN_HELPER)
		return HELPER + actor - PLAN_HELPER;
	return actor < PLAN_THREADS ? SERVER + actor : CLIENT + actor - PLAN_THREADS;
}

static uint32_t helper_of(uint32_t actor)
{
	return actor >= PLAN_HELPER ? actor - PLAN_HELPER : actor;
}

static void spends(struct model *m, uint32_t actor, int client, uint64_t ns)
{
	if (client != NO_CLIENT && (actor < PLAN_THREADS || actor >= PLAN_HELPER))
		m->truth[plan_process(m->plan, actor)][client] += ns;
}

static const struct step *step_of(const struct model *m, uint32_t actor)
{
	uint32_t at = m->actors[actor].at;

	while (at < m->plan->nr && m->plan->steps[at].actor != actor)
		at++;
	return at < m->plan->nr ? &m->plan->steps[at] : NULL;
}

static struct end client_end(const struct model *m, int client)
{
	struct end e = {.cpu = PLAN_THREADS + (uint32_t)client,
			.fd = 3,
			.ino = 1000 + 2 * (uint64_t)client,
			.peer = 1001 + 2 * (uint64_t)client};

	if (m->plan->udp)
		e.family = AF_INET, e.type = SOCK_DGRAM, e.peer = 0;
	return m->plan->tcp ? tcp(e, (uint16_t)(4000 + client), 80) : e;
}

static struct end server_end(const struct model *m, uint32_t actor, int client)
{
	struct end e = {.cpu = actor,
			.fd = 10 + client,
			.ino = 1001 + 2 * (uint64_t)client,
			.peer = 1000 + 2 * (uint64_t)client};

	if (m->plan->udp)
		return (struct end){.cpu = actor, .fd = 10, .ino = 1001, .family = AF_INET, .type = SOCK_DGRAM};
	return m->plan->tcp ? tcp(e, 80, (uint16_t)(4000 + client)) : e;
}

/* @actor's end of the pair between a thread and its helper. */
static struct end helper_end(uint32_t actor)
{
	uint32_t helper = helper_of(actor), other = actor < PLAN_HELPER;

	return (struct end){.cpu = actor,
			    .fd = HELPER_FD + 4 * (int)helper + (int)!other,
			    .ino = 2000 + 2ull * helper + !other,
			    .peer = 2000 + 2ull * helper + other};
}

/* True if what the step waits for is there. */
static bool is_ready(const struct model *m, const struct step *step)
{
	switch (step->kind) {
	case STEP_ACCEPT:
		return m->connected[step->client];
	case STEP_READ:
	case STEP_POLL_READ:
		return m->unread[step->client];
	case STEP_RECEIVE:
		return m->answers[step->client];
	case STEP_SEND:
		return !m->plan->udp || m->sent == step->note;
	case STEP_LOCK:
		return m->turns == step->note;
	case STEP_WAIT:
	case STEP_LOOK:
		return m->posted[step->note];
	case STEP_TAKE:
		return m->asked[helper_of(step->actor)];
	case STEP_GET:
	case STEP_POLL_GET:
		return m->given[helper_of(step->actor)];
	default:
		return true;
	}
}

/* An actor that sleeps until just this is woken by @waker at @ns. */
static void wakes(struct model *m, uint32_t waker, uint64_t ns)
{
	for (uint32_t i = 0; i < PLAN_ACTORS; i++) {
		const struct step *step = step_of(m, i);

		if (!m->actors[i].exists || !m->actors[i].sleeps || !step || !is_ready(m, step))
			continue;
		tb_waking(m->k.c.tb, waker, ns, tid_of(i), TRACE_CONTEXT_TASK);
		m->actors[i].ns = ns + 100;
		tb_switch(m->k.c.tb, i, m->actors[i].ns, 0, tid_of(i), TRACE_TASK_RUNNING);
		m->actors[i].sleeps = false;
		m->actors[i].slept = true;
	}
}

static void falls_asleep(struct model *m, uint32_t actor)
{
	tb_switch(m->k.c.tb, actor, m->actors[actor].ns + 200, tid_of(actor), 0, TRACE_TASK_INTERRUPTIBLE);
	m->actors[actor].ns += 300;
	m->actors[actor].sleeps = true;
}

/* ---- calls ---- */

/* Bytes that went through a TCP connection in this direction, from the view of @e. */
static uint32_t *position(struct model *m, const struct end *e, bool out)
{
	uint32_t client = (uint32_t)(e->fd - 10);

	if (e->fd == 3)
		return out ? &m->up[e->cpu - PLAN_THREADS][0] : &m->down[e->cpu - PLAN_THREADS][1];
	return out ? &m->down[client][0] : &m->up[client][1];
}

static void moves(struct model *m, const struct end *e, uint64_t ns, bool out, int32_t bytes)
{
	struct trace_sock_send event = {.ino = e->ino, .ret = bytes, .family = AF_UNIX};

	if (e->type == SOCK_DGRAM) {
		event.family = AF_INET;
		event.protocol = UDP;
	} else if (e->family) {
		event.family = e->family;
		event.protocol = 6;
		if (bytes > 0)
			*position(m, e, out) += (uint32_t)bytes;
		event.position = 1000 + *position(m, e, out);
	}
	tb_event(m->k.c.tb, e->cpu, ns, out ? TRACE_EV_sock_send : TRACE_EV_sock_recv, &event, sizeof(event), NULL);
}

static bool polls_first(const struct model *m, uint32_t actor, const struct step *step)
{
	return (step->kind == STEP_POLL_READ || step->kind == STEP_POLL_GET) && !m->actors[actor].polled;
}

static bool by_ring(const struct model *m, const struct step *step)
{
	return m->plan->ring && step->actor < PLAN_THREADS &&
	       (step->kind == STEP_ACCEPT || step->kind == STEP_READ || step->kind == STEP_ANSWER);
}

static uint64_t operation_of(const struct model *m, uint32_t actor)
{
	return 0x1000 * (actor + 1) + 64ull * m->actors[actor].results;
}

/* The call that submits an operation and waits for its result. */
static void enter_ring(struct model *m, uint32_t actor, const struct step *step)
{
	bool accepts = step->kind == STEP_ACCEPT, reads = step->kind == STEP_READ;
	struct trace_uring_submit submit = {.req = operation_of(m, actor),
					    .opcode = accepts ? RING_ACCEPT
						      : reads ? RING_RECV
							      : RING_SEND,
					    .fd = accepts ? LISTENING : 10 + step->client,
					    .seen = m->actors[actor].results};
	uint64_t ns = m->actors[actor].ns;

	tb_sys_enter(m->k.c.tb, actor, ns, SYS_io_uring_enter, RING_FD, 1, 1, 1, 0, 0);
	tb_event(m->k.c.tb, actor, ns + 10, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
}

static void ring_completes(struct model *m, uint32_t actor, uint64_t ns, int32_t bytes)
{
	struct trace_uring_complete complete = {.req = operation_of(m, actor),
						.res = bytes,
						.position = m->actors[actor].results + 1};

	tb_event(m->k.c.tb, actor, ns, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	m->actors[actor].results++;
}

static uint64_t note_fd(const struct step *step)
{
	return NOTE_FD + 2ull * step->note;
}

/* The descriptor that the thread, or its helper, reads or writes. */
static uint64_t helper_fd(const struct model *m, const struct step *step)
{
	uint64_t first = HELPER_FD + 4ull * helper_of(step->actor);

	if (!m->plan->by_pipes)
		return (uint64_t)helper_end(step->actor).fd;
	switch (step->kind) {
	case STEP_TAKE:
		return first;
	case STEP_ASK:
		return first + 1;
	case STEP_GIVE:
		return first + 3;
	default:
		return first + 2;
	}
}

/* The call that waits for what @step needs; its exit is recorded by the caller. */
static void enter_wait(struct model *m, uint32_t actor, const struct step *step)
{
	uint64_t ns = m->actors[actor].ns;
	struct tb *tb = m->k.c.tb;

	if (by_ring(m, step))
		enter_ring(m, actor, step);
	else if (step->kind == STEP_ACCEPT)
		tb_sys_enter(tb, actor, ns, SYS_accept, 9, 0, 0);
	else if (polls_first(m, actor, step))
		tb_sys_enter(tb, actor, ns, SYS_poll, 0, 1, 1000);
	else if (step->kind == STEP_LOCK)
		tb_sys_enter(tb, actor, ns, SYS_futex, LOCK_WORD, FUTEX_WAIT_BITSET_PRIVATE, step->note, 0, 0, ~0u);
	else if (step->kind == STEP_WAIT && m->plan->means == MEANS_FUTEX)
		tb_sys_enter(tb, actor, ns, SYS_futex, NOTE_WORD + 64ull * step->note, FUTEX_WAIT_PRIVATE, 0);
	else if (step->kind == STEP_WAIT)
		tb_sys_enter(tb, actor, ns, SYS_read, note_fd(step), 0, 8);
	else if (step->kind == STEP_TAKE || step->kind == STEP_GET || step->kind == STEP_POLL_GET)
		tb_sys_enter(tb, actor, ns, SYS_read, helper_fd(m, step), 0, 16);
	else if (step->kind == STEP_RECEIVE)
		tb_sys_enter(tb, actor, ns, SYS_read, 3, 0, 8);
	else
		tb_sys_enter(tb, actor, ns, SYS_read, (uint64_t)server_end(m, actor, step->client).fd, 0, 16);
}

/* The whole call, or the rest of it after a sleep. @e: NULL for a pipe. */
static void receives_now(struct model *m, uint32_t actor, const struct step *step, const struct end *e, int32_t bytes)
{
	struct actor *a = &m->actors[actor];

	if (e)
		moves(m, e, a->ns + CALL_NS / 2, false, bytes);
	if (by_ring(m, step))
		ring_completes(m, actor, a->ns + CALL_NS / 2 + 10, bytes);
	tb_sys_exit(m->k.c.tb, actor, a->ns + CALL_NS, by_ring(m, step) ? 1 : bytes);
	a->ns += CALL_NS + 10;
	spends(m, actor, step->client, CALL_NS);
}

/* @step->note more calls. */
static void receives_in_pieces(struct model *m, uint32_t actor, const struct step *step, const struct end *e)
{
	int32_t piece = 16 / (1 + step->note), rest = 16;

	for (uint32_t i = 0; i <= step->note; i++, rest -= piece) {
		if (i)
			enter_wait(m, actor, step);
		receives_now(m, actor, step, e, i < step->note ? piece : rest);
	}
}

/* @e: NULL for a pipe or an eventfd. */
static void writes_now(struct model *m, uint32_t actor, uint64_t fd, const struct end *e, int32_t bytes,
		       uint32_t *queue)
{
	struct actor *a = &m->actors[actor];

	tb_sys_enter(m->k.c.tb, actor, a->ns, SYS_write, fd, 0, (uint64_t)bytes);
	if (e)
		moves(m, e, a->ns + CALL_NS / 8, true, bytes);
	++*queue;
	wakes(m, actor, a->ns + CALL_NS / 4);
	tb_sys_exit(m->k.c.tb, actor, a->ns + CALL_NS, bytes);
	a->ns += CALL_NS + 10;
}

static void answers_by_ring(struct model *m, uint32_t actor, const struct step *step)
{
	struct end e = server_end(m, actor, step->client);
	struct actor *a = &m->actors[actor];

	enter_ring(m, actor, step);
	moves(m, &e, a->ns + CALL_NS / 8, true, 8);
	m->answers[step->client]++;
	wakes(m, actor, a->ns + CALL_NS / 4);
	ring_completes(m, actor, a->ns + CALL_NS / 2, 8);
	tb_sys_exit(m->k.c.tb, actor, a->ns + CALL_NS, 1);
	a->ns += CALL_NS + 10;
}

/* The packet comes back in a softirq, which puts it into the queue of socket @to. */
static void sends_datagram(struct model *m, uint32_t actor, const struct end *e, uint64_t to, int32_t bytes,
			   uint32_t *queue)
{
	struct actor *a = &m->actors[actor];

	tb_sys_enter(m->k.c.tb, actor, a->ns, SYS_sendto, (uint64_t)e->fd, 0, (uint64_t)bytes, 0, 0, 0);
	packet(&m->k, actor, a->ns + 1, true, (uint32_t)bytes + 28);
	tb_softirq(m->k.c.tb, actor, a->ns + 2, NET_RX);
	packet(&m->k, actor, a->ns + 3, false, (uint32_t)bytes + 28);
	ready(&m->k, actor, a->ns + 4, to, UDP);
	tb_softirq_exit(m->k.c.tb, actor, a->ns + 5, NET_RX);
	moves(m, e, a->ns + CALL_NS / 8, true, bytes);
	++*queue;
	wakes(m, actor, a->ns + CALL_NS / 4);
	tb_sys_exit(m->k.c.tb, actor, a->ns + CALL_NS, bytes);
	a->ns += CALL_NS + 10;
}

/* The client whose answer it is, or -1: it is a request. */
static void sends_now(struct model *m, uint32_t actor, const struct end *e, int client, int32_t bytes, uint32_t *queue)
{
	if (m->plan->udp)
		sends_datagram(m, actor, e, client < 0 ? 1001 : 1000 + 2 * (uint64_t)client, bytes, queue);
	else
		writes_now(m, actor, (uint64_t)e->fd, e, bytes, queue);
}

static void gives_now(struct model *m, uint32_t actor, const struct step *step)
{
	struct end e = helper_end(actor);
	uint32_t helper = helper_of(actor);

	spends(m, actor, step->client, CALL_NS);
	writes_now(m, actor, helper_fd(m, step), m->plan->by_pipes ? NULL : &e, 16,
		   step->kind == STEP_ASK ? &m->asked[helper] : &m->given[helper]);
}

static void connects_now(struct model *m, uint32_t actor, int client)
{
	struct end e = client_end(m, client);

	make(&m->k, &e, m->actors[actor].ns, SYS_socket, 0);
	if (!m->plan->udp)
		make(&m->k, &e, m->actors[actor].ns + 20, SYS_connect, 0);
	m->connected[client] = true;
	wakes(m, actor, m->actors[actor].ns + 300);
	m->actors[actor].ns += 400;
}

static void accepts_now(struct model *m, uint32_t actor, const struct step *step, bool slept)
{
	struct end e = server_end(m, actor, step->client);
	struct trace_sock_endpoints ends = endpoints(&e, e.peer);
	uint64_t ns = m->actors[actor].ns;

	if (!slept && !m->plan->udp)
		enter_wait(m, actor, step);
	m->actors[actor].ns += 20;
	if (m->plan->udp && slept)
		tb_sys_exit(m->k.c.tb, actor, ns + 10, -EAGAIN);
	if (m->plan->udp)
		return;
	ns += by_ring(m, step) ? 10 : 0;
	tb_open(m->k.c.tb, actor, ns + 4, e.fd, 8, e.ino, S_IFSOCK | 0777, "socket:[]");
	tb_event(m->k.c.tb, actor, ns + 5, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
	if (by_ring(m, step))
		ring_completes(m, actor, ns + 6, e.fd);
	tb_sys_exit(m->k.c.tb, actor, ns + 8, by_ring(m, step) ? 1 : e.fd);
}

static void closes_now(struct model *m, uint32_t actor, int fd)
{
	tb_sys_enter(m->k.c.tb, actor, m->actors[actor].ns, SYS_close, (uint64_t)fd, 0, 0);
	tb_sys_exit(m->k.c.tb, actor, m->actors[actor].ns + CALL_NS, 0);
	m->actors[actor].ns += CALL_NS + 10;
}

static void naps(struct model *m, uint32_t actor, uint32_t nr, uint64_t ns)
{
	struct actor *a = &m->actors[actor];

	tb_sys_enter(m->k.c.tb, actor, a->ns, nr, 0, 0, 0);
	tb_switch(m->k.c.tb, actor, a->ns + 200, tid_of(actor), 0, TRACE_TASK_INTERRUPTIBLE);
	a->ns += 200 + ns;
	tb_switch(m->k.c.tb, actor, a->ns, 0, tid_of(actor), TRACE_TASK_RUNNING);
	tb_sys_exit(m->k.c.tb, actor, a->ns + 200, 0);
	a->ns += 210;
}

static void posts_now(struct model *m, uint32_t actor, const struct step *step)
{
	uint64_t ns = m->actors[actor].ns;

	uint32_t posted = 0;

	m->posted[step->note] = true;
	if (step->kind == STEP_WRITE_MEMORY)
		return;
	if (m->plan->means != MEANS_FUTEX) {
		writes_now(m, actor, note_fd(step) + (m->plan->means == MEANS_PIPE), NULL, 8, &posted);
		return;
	}
	tb_sys_enter(m->k.c.tb, actor, ns, SYS_futex, NOTE_WORD + 64ull * step->note, FUTEX_WAKE_PRIVATE, 1);
	wakes(m, actor, ns + CALL_NS / 4);
	tb_sys_exit(m->k.c.tb, actor, ns + CALL_NS, 1);
	m->actors[actor].ns += CALL_NS + 10;
}

/* It wakes a thread only if one waits for the next turn. */
static void unlocks_now(struct model *m, uint32_t actor)
{
	uint64_t ns = m->actors[actor].ns;
	bool waits = false;

	m->turns++;
	for (uint32_t i = 0; i < PLAN_ACTORS; i++)
		waits |= m->actors[i].sleeps && step_of(m, i) && step_of(m, i)->kind == STEP_LOCK;
	if (!waits)
		return;
	tb_sys_enter(m->k.c.tb, actor, ns, SYS_futex, LOCK_WORD, FUTEX_WAKE_PRIVATE, INT32_MAX);
	wakes(m, actor, ns + CALL_NS / 4);
	tb_sys_exit(m->k.c.tb, actor, ns + CALL_NS, 1);
	m->actors[actor].ns += CALL_NS + 10;
}

static void tries_to_read(struct model *m, uint32_t actor, const struct step *step)
{
	struct end e = server_end(m, actor, step->client);
	uint64_t ns = m->actors[actor].ns;

	for (uint32_t c = 0; c < PLAN_CLIENTS; c++)
		if (m->unread[c] && (m->plan->udp || (int)c == step->client))
			return;
	tb_sys_enter(m->k.c.tb, actor, ns, SYS_recvfrom, (uint64_t)e.fd, 0, 16, MSG_DONTWAIT, 0, 0);
	moves(m, &e, ns + CALL_NS / 2, false, NOTHING_TO_READ);
	tb_sys_exit(m->k.c.tb, actor, ns + CALL_NS, NOTHING_TO_READ);
	m->actors[actor].ns += CALL_NS + 10;
}

/* ---- steps ---- */

static void waits(struct model *m, uint32_t actor, const struct step *step, bool slept)
{
	bool is_get = step->kind == STEP_GET || step->kind == STEP_POLL_GET, helps = is_get || step->kind == STEP_TAKE;
	struct end e = helps			    ? helper_end(actor)
		       : step->kind == STEP_RECEIVE ? client_end(m, step->client)
						    : server_end(m, actor, step->client);
	struct actor *a = &m->actors[actor];

	if (step->kind == STEP_ACCEPT) {
		accepts_now(m, actor, step, slept);
		return;
	}
	if (step->kind == STEP_LOCK && !slept)
		return;
	if (!slept)
		enter_wait(m, actor, step);
	if (step->kind == STEP_LOCK) {
		tb_sys_exit(m->k.c.tb, actor, a->ns + CALL_NS, 0);
		a->ns += CALL_NS + 10;
		return;
	}
	if (step->kind == STEP_WAIT) {
		tb_sys_exit(m->k.c.tb, actor, a->ns + CALL_NS, m->plan->means == MEANS_FUTEX ? 0 : 8);
		a->ns += CALL_NS + 10;
		return;
	}
	if (polls_first(m, actor, step)) {
		tb_sys_exit(m->k.c.tb, actor, a->ns + CALL_NS, 1);
		a->ns += CALL_NS + 10;
		a->polled = true;
		enter_wait(m, actor, step);
	}
	a->polled = false;
	--*(is_get			 ? &m->given[helper_of(actor)]
	    : helps			 ? &m->asked[helper_of(actor)]
	    : step->kind == STEP_RECEIVE ? &m->answers[step->client]
					 : &m->unread[step->client]);
	if (helps)
		receives_now(m, actor, step, m->plan->by_pipes ? NULL : &e, 16);
	else if (step->kind == STEP_READ)
		receives_in_pieces(m, actor, step, &e);
	else
		receives_now(m, actor, step, &e, step->kind == STEP_RECEIVE ? 8 : 16);
}

static void begins_process(struct model *m, uint32_t actor, uint32_t child)
{
	uint64_t ns = m->actors[actor].ns;

	tb_fork(m->k.c.tb, actor, ns, tid_of(actor), tid_of(child), tid_of(child), "child");
	tb_switch(m->k.c.tb, child, ns + 500, 0, tid_of(child), TRACE_TASK_RUNNING);
	m->actors[child].exists = m->actors[child].begins = true;
	m->actors[child].ns = ns + 505 + m->plan->startup_us * 500ull;
	m->actors[actor].ns += CALL_NS;
}

/* The process may be another program from now on, and works for itself until its first step. */
static void becomes_program(struct model *m, uint32_t actor)
{
	struct actor *a = &m->actors[actor];

	a->begins = false;
	if (m->plan->execs && actor >= PLAN_HELPER)
		tb_exec(m->k.c.tb, actor, a->ns, tid_of(actor), "/usr/bin/helper");
	a->ns += 5 + m->plan->startup_us * 500ull;
}

static void executes(struct model *m, uint32_t actor, const struct step *step)
{
	struct actor *a = &m->actors[actor];
	struct end e;

	switch (step->kind) {
	case STEP_CONNECT:
		connects_now(m, actor, step->client);
		break;
	case STEP_SEND:
		e = client_end(m, step->client);
		if (m->plan->udp && a->ns < m->sent_ns)
			a->ns = m->sent_ns;
		m->sent++;
		sends_now(m, actor, &e, NO_CLIENT, 16, &m->unread[step->client]);
		m->sent_ns = a->ns;
		break;
	case STEP_ANSWER:
		e = server_end(m, actor, step->client);
		spends(m, actor, step->client, CALL_NS);
		if (by_ring(m, step))
			answers_by_ring(m, actor, step);
		else
			sends_now(m, actor, &e, step->client, 8, &m->answers[step->client]);
		break;
	case STEP_CLOSE:
	case STEP_DROP:
		closes_now(m, actor, step->kind == STEP_CLOSE ? 3 : 10 + step->client);
		break;
	case STEP_SLEEP:
	case STEP_TIMER:
		naps(m, actor, step->kind == STEP_SLEEP ? SYS_nanosleep : SYS_poll, step->us * 1000ull);
		break;
	case STEP_WORK:
		a->ns += step->us * 1000ull;
		spends(m, actor, step->client, step->us * 1000ull);
		break;
	case STEP_TRY_READ:
		tries_to_read(m, actor, step);
		break;
	case STEP_UNLOCK:
		unlocks_now(m, actor);
		break;
	case STEP_FORK:
		begins_process(m, actor, step->note);
		break;
	case STEP_ASK:
	case STEP_GIVE:
		gives_now(m, actor, step);
		break;
	default:
		posts_now(m, actor, step);
	}
}

static bool is_wait(const struct step *step)
{
	return step->kind == STEP_ACCEPT || step->kind == STEP_READ || step->kind == STEP_POLL_READ ||
	       step->kind == STEP_RECEIVE || step->kind == STEP_WAIT || step->kind == STEP_TAKE ||
	       step->kind == STEP_GET || step->kind == STEP_POLL_GET || step->kind == STEP_LOCK;
}

/* The next step of the actor whose time is the earliest. Returns false when all are done. */
static bool advance(struct model *m)
{
	uint32_t next = PLAN_ACTORS;
	const struct step *step;
	struct actor *a;

	for (uint32_t i = 0; i < PLAN_ACTORS; i++)
		if (m->actors[i].exists && !m->actors[i].sleeps && step_of(m, i) &&
		    !(step_of(m, i)->kind == STEP_SEND && !is_ready(m, step_of(m, i))) &&
		    (next == PLAN_ACTORS || m->actors[i].ns < m->actors[next].ns))
			next = i;
	if (next == PLAN_ACTORS)
		return false;
	a = &m->actors[next];
	step = step_of(m, next);
	m->now_ns = a->ns = a->ns > m->now_ns ? a->ns : m->now_ns; /* it may have waited for its turn to send */
	if (a->begins) {
		becomes_program(m, next);
		return true;
	}
	if (step->kind == STEP_LOOK && !is_ready(m, step)) {
		naps(m, next, SYS_nanosleep, LOOK_NS);
		return true;
	}
	if (step->kind == STEP_LOOK) {
		a->at = (uint32_t)(step - m->plan->steps) + 1;
		return true;
	}
	if (is_wait(step) && !is_ready(m, step)) {
		enter_wait(m, next, step);
		falls_asleep(m, next);
		a->at = (uint32_t)(step - m->plan->steps);
		return true;
	}
	if (is_wait(step))
		waits(m, next, step, a->slept);
	else
		executes(m, next, step);
	a->slept = false;
	a->at = (uint32_t)(step - m->plan->steps) + 1;
	return true;
}

/* ---- the check ---- */

static void make_pipe(struct model *m, int read_fd, int write_fd, uint64_t ino)
{
	uint64_t ns = m->actors[0].ns;

	tb_sys_enter(m->k.c.tb, 0, ns, SYS_pipe, 0x1000, 0, 0);
	tb_open(m->k.c.tb, 0, ns + 4, read_fd, 9, ino, S_IFIFO | 0600, "pipe:[]");
	tb_open(m->k.c.tb, 0, ns + 5, write_fd, 9, ino, S_IFIFO | 0600, "pipe:[]");
	tb_sys_exit(m->k.c.tb, 0, ns + 10, 0);
	m->actors[0].ns += 20;
}

static void make_channels(struct model *m)
{
	const struct plan *plan = m->plan;

	if (plan->udp) {
		struct end e = server_end(m, 0, 0);
		struct trace_sock_endpoints ends = endpoints(&e, 0);

		tb_string(m->k.c.tb, TRACE_STRING_NETDEV, 1, "lo");
		tb_sys_enter(m->k.c.tb, 0, m->actors[0].ns, SYS_socket, 0);
		tb_open(m->k.c.tb, 0, m->actors[0].ns + 4, e.fd, 8, e.ino, S_IFSOCK | 0777, "socket:[]");
		tb_event(m->k.c.tb, 0, m->actors[0].ns + 5, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
		tb_sys_exit(m->k.c.tb, 0, m->actors[0].ns + 10, e.fd);
		m->actors[0].ns += 20;
	}
	for (uint32_t i = 0; i < plan->nr_notes && plan->means == MEANS_PIPE; i++)
		make_pipe(m, NOTE_FD + 2 * (int)i, NOTE_FD + 2 * (int)i + 1, PIPE_INO + 100 + i);
	for (uint32_t h = 0; h < plan->nr_helpers; h++) {
		struct end mine = helper_end(h), other = helper_end(PLAN_HELPER + h);
		int first = HELPER_FD + 4 * (int)h;

		other.cpu = 0;
		if (plan->by_pipes) {
			make_pipe(m, first, first + 1, PIPE_INO + 2 * h);
			make_pipe(m, first + 2, first + 3, PIPE_INO + 2 * h + 1);
			continue;
		}
		mine.cpu = 0;
		make(&m->k, &mine, m->actors[0].ns, SYS_socketpair, mine.peer);
		make(&m->k, &other, m->actors[0].ns + 20, SYS_socketpair, other.peer);
		m->actors[0].ns += 40;
	}
}

static struct model model_new(const struct plan *plan)
{
	struct model m = {.k = {.c = case_new()}, .plan = plan};
	struct tb *tb = m.k.c.tb;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_socket, "socket");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_socketpair, "socketpair");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_pipe, "pipe");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_io_uring_enter, "io_uring_enter");
	for (uint32_t i = 0; i < PLAN_HELPER; i++) {
		if (plan->forked && i && i < PLAN_THREADS)
			continue;
		tb_thread(tb, tid_of(i), i < PLAN_THREADS ? SERVER : tid_of(i), 1,
			  i < PLAN_THREADS ? "server" : "client", i, true);
		m.actors[i].exists = true;
		m.actors[i].ns = 2000 + i;
	}
	for (uint32_t i = 0; i < plan->nr_notes && plan->means == MEANS_EVENTFD; i++)
		tb_fd(tb, SERVER, NOTE_FD + 2 * (int)i, 15, 0, 0, "anon_inode:[eventfd]");
	make_channels(&m);
	return m;
}

static uint64_t allowed(uint64_t ns)
{
	return ns / 100 > ALLOWED ? ns / 100 : ALLOWED;
}

static struct trace_server_client bill_by(const struct model *m, uint32_t process, uint32_t client)
{
	return bill(&m->k, tid_of(process), CLIENT + client);
}

/* struct request_bounds - the requests of a client at a process together */
struct request_bounds {
	const struct trace_process *client;
	uint64_t nr, least_ns, most_ns;
};

static bool add_bounds(void *data, const struct trace_server_request *request)
{
	struct request_bounds *bounds = data;

	if (request->process != bounds->client)
		return true;
	bounds->nr++;
	bounds->least_ns += request->least_ns;
	bounds->most_ns += request->most_ns;
	return true;
}

/* Each request of the client is within its bounds, so all of them are. */
static bool are_requests_wrong(const struct model *m, uint32_t process, const struct trace_server_client *row,
			       uint64_t truth)
{
	const struct trace_server *server = server_of(&m->k, tid_of(process));
	struct request_bounds bounds = {.client = row->process};

	if (!server || !row->process)
		return false;
	CU_ASSERT_EQUAL(trace_server_requests(m->k.servers, server->process, add_bounds, &bounds), 0);
	if (bounds.nr == row->requests && bounds.least_ns <= truth + allowed(truth) &&
	    (bounds.most_ns + allowed(truth) >= truth || !bounds.nr))
		return false;
	fprintf(stderr, "\n    process %u, client %u: truth %llu, %llu requests from %llu to %llu", process,
		row->pid - CLIENT, (unsigned long long)truth, (unsigned long long)bounds.nr,
		(unsigned long long)bounds.least_ns, (unsigned long long)bounds.most_ns);
	return true;
}

static bool is_wrong(const struct model *m, uint32_t process, uint32_t client)
{
	struct trace_server_client row = bill_by(m, process, client);
	uint64_t truth = m->truth[process][client], slack = allowed(truth);
	bool is_exact = !row.shared_ns && row.most_ns == row.cpu_ns;

	if (are_requests_wrong(m, process, &row, truth))
		return true;
	if (row.least_ns <= truth + slack && row.most_ns + slack >= truth && row.exact_ns <= truth + slack &&
	    (!is_exact || row.cpu_ns + slack >= truth))
		return false;
	fprintf(stderr, "\n    process %u, client %u: truth %llu, bill %llu, exact %llu, from %llu to %llu", process,
		client, (unsigned long long)truth, (unsigned long long)row.cpu_ns, (unsigned long long)row.exact_ns,
		(unsigned long long)row.least_ns, (unsigned long long)row.most_ns);
	return true;
}

struct figures {
	uint64_t truth, exact, width, error;
	uint32_t bills;
};

static void figures_add(struct figures *f, const struct trace_server_client *row, uint64_t truth)
{
	f->bills++;
	f->truth += truth;
	f->exact += row->exact_ns;
	f->width += row->most_ns - row->least_ns;
	f->error += row->cpu_ns > truth ? row->cpu_ns - truth : truth - row->cpu_ns;
}

/* Returns the number of bills that are wrong. */
static int check(const struct model *m, struct figures *figures)
{
	int wrong = 0;

	if (!plan_has_server(m->plan))
		return 0;
	for (uint32_t process = 0; process < PLAN_ACTORS; process++)
		for (uint32_t c = 0; c < m->plan->nr_clients && m->actors[process].exists; c++) {
			struct trace_server_client row = bill_by(m, process, c);

			if (process != plan_process(m->plan, process) ||
			    (process >= PLAN_THREADS && process < PLAN_HELPER))
				continue;
			wrong += is_wrong(m, process, c);
			figures_add(figures, &row, m->truth[process][c]);
		}
	return wrong;
}

static int plan_wrong(uint64_t seed, struct figures *figures)
{
	static struct plan plan;
	struct model m;
	uint64_t end_ns = 0;
	int wrong;

	plan_make(&plan, seed, JOB_US);
	m = model_new(&plan);
	while (advance(&m))
		;
	for (uint32_t i = 0; i < PLAN_ACTORS; i++) {
		wrong = m.actors[i].sleeps || (step_of(&m, i) && i < PLAN_THREADS + plan.nr_clients);
		if (wrong)
			fprintf(stderr, "\n    the plan of seed %llu does not end", (unsigned long long)seed);
		end_ns = m.actors[i].ns > end_ns ? m.actors[i].ns : end_ns;
	}
	for (uint32_t i = 0; i < PLAN_ACTORS; i++) /* the others sleep to the end */
		if (m.actors[i].exists)
			tb_switch(m.k.c.tb, i, m.actors[i].ns + 10, tid_of(i), 0, TRACE_TASK_INTERRUPTIBLE);
	tb_window(m.k.c.tb, 1000, end_ns + 1000);
	run_of(&m.k, tb_open_trace(m.k.c.tb));
	wrong = check(&m, figures);
	if (wrong && getenv("TRACE_VERBOSE"))
		plan_print(&plan);
	end(&m.k);
	return wrong;
}

static void the_truth_is_between_the_least_and_the_most(void)
{
	uint64_t first = getenv("TRACE_SEED") ? strtoull(getenv("TRACE_SEED"), NULL, 0) : 1,
		 nr = getenv("TRACE_SEED")	  ? 1
		      : getenv("TRACE_TEST_LONG") ? 10000
						  : 1000 / (uint64_t)unit_step(5);
	struct figures f = {0};
	int wrong = 0;

	for (uint64_t seed = first; seed < first + nr && wrong < 5; seed++)
		if (plan_wrong(seed, &f)) {
			fprintf(stderr, "\n    in the server of seed %llu\n", (unsigned long long)seed);
			wrong++;
		}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT(f.exact > 0 || nr == 1);
	if (getenv("TRACE_VERBOSE"))
		fprintf(stderr,
			"\n    %u bills: %.1f %% of the truth is exact; width of the bounds %.2f, error %.3f of it ",
			f.bills, 100.0 * (double)f.exact / (double)f.truth, (double)f.width / (double)f.truth,
			(double)f.error / (double)f.truth);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		{"the_truth_is_between_the_least_and_the_most", the_truth_is_between_the_least_and_the_most},
		{NULL, NULL},
	};

	return unit_main("random servers", cases, argc, argv);
}
