/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_servers_random.c - random servers (tests/random_server.h) executed by a model, which knows
 * for whom each ns of CPU time was spent: the truth is between the least and the most of each bill.
 *
 * Each actor has a CPU of its own, so only its own steps and waits take time. A step that needs
 * what another actor does begins when that is done, and sleeps until then.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <unistd.h>
#include "random_server.h"
#include "servers_case.h"
#include "unit.h"

#define SERVER	  300u /* and its threads 301, 302 ... */
#define CLIENT	  100u
#define CALL_NS	  1000u
#define JOB_US	  3000u
#define ALLOWED	  100000u /* ns, or 1 % */
#define LOOK_NS	  200000u
#define NOTE_WORD 0x7000u

struct actor {
	uint64_t ns;
	uint32_t at; /* in the plan */
	bool sleeps, slept, polled;
};

struct model {
	struct case_of_servers k;
	const struct plan *plan;
	struct actor actors[PLAN_ACTORS];
	bool connected[PLAN_CLIENTS];
	uint32_t unread[PLAN_CLIENTS], answers[PLAN_CLIENTS];
	bool posted[256];
	uint64_t truth[PLAN_CLIENTS];
};

static uint32_t tid_of(uint32_t actor)
{
	return actor < PLAN_THREADS ? SERVER + actor : CLIENT + actor - PLAN_THREADS;
}

static const struct step *step_of(const struct model *m, uint32_t actor)
{
	uint32_t at = m->actors[actor].at;

	while (at < m->plan->nr && m->plan->steps[at].actor != actor)
		at++;
	return at < m->plan->nr ? &m->plan->steps[at] : NULL;
}

static struct end client_end(int client)
{
	return (struct end){.cpu = PLAN_THREADS + (uint32_t)client,
			    .fd = 3,
			    .ino = 1000 + 2 * (uint64_t)client,
			    .peer = 1001 + 2 * (uint64_t)client};
}

static struct end server_end(uint32_t actor, int client)
{
	return (struct end){.cpu = actor,
			    .fd = 10 + client,
			    .ino = 1001 + 2 * (uint64_t)client,
			    .peer = 1000 + 2 * (uint64_t)client};
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
	case STEP_WAIT:
	case STEP_LOOK:
		return m->posted[step->note];
	default:
		return true;
	}
}

/* An actor that sleeps until just this is woken by @waker at @ns. */
static void wakes(struct model *m, uint32_t waker, uint64_t ns)
{
	for (uint32_t i = 0; i < PLAN_ACTORS; i++) {
		const struct step *step = step_of(m, i);

		if (!m->actors[i].sleeps || !step || !is_ready(m, step))
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

static void moves(struct model *m, const struct end *e, uint64_t ns, bool out, int32_t bytes)
{
	struct trace_sock_send event = {.ino = e->ino, .ret = bytes, .family = AF_UNIX};

	tb_event(m->k.c.tb, e->cpu, ns, out ? TRACE_EV_sock_send : TRACE_EV_sock_recv, &event, sizeof(event), NULL);
}

/* The call that waits for what @step needs; its exit is recorded by the caller. */
static void enter_wait(struct model *m, uint32_t actor, const struct step *step)
{
	uint64_t ns = m->actors[actor].ns;
	struct tb *tb = m->k.c.tb;

	if (step->kind == STEP_ACCEPT)
		tb_sys_enter(tb, actor, ns, SYS_accept, 9, 0, 0);
	else if (step->kind == STEP_POLL_READ && !m->actors[actor].polled)
		tb_sys_enter(tb, actor, ns, SYS_poll, 0, 1, 1000);
	else if (step->kind == STEP_WAIT)
		tb_sys_enter(tb, actor, ns, SYS_futex, NOTE_WORD + 64ull * step->note, FUTEX_WAIT_PRIVATE, 0);
	else if (step->kind == STEP_RECEIVE)
		tb_sys_enter(tb, actor, ns, SYS_read, 3, 0, 8);
	else
		tb_sys_enter(tb, actor, ns, SYS_read, 10 + (uint64_t)step->client, 0, 16);
}

/* The whole call, or the rest of it after a sleep. */
static void receives_now(struct model *m, uint32_t actor, const struct step *step, const struct end *e, int32_t bytes)
{
	struct actor *a = &m->actors[actor];

	moves(m, e, a->ns + CALL_NS / 2, false, bytes);
	tb_sys_exit(m->k.c.tb, actor, a->ns + CALL_NS, bytes);
	a->ns += CALL_NS + 10;
	if (step->actor < PLAN_THREADS)
		m->truth[step->client] += CALL_NS;
}

static void sends_now(struct model *m, uint32_t actor, const struct end *e, int32_t bytes, uint32_t *queue)
{
	struct actor *a = &m->actors[actor];

	tb_sys_enter(m->k.c.tb, actor, a->ns, SYS_write, (uint64_t)e->fd, 0, (uint64_t)bytes);
	moves(m, e, a->ns + CALL_NS / 2, true, bytes);
	++*queue;
	wakes(m, actor, a->ns + CALL_NS / 4);
	tb_sys_exit(m->k.c.tb, actor, a->ns + CALL_NS, bytes);
	a->ns += CALL_NS + 10;
}

static void connects_now(struct model *m, uint32_t actor, int client)
{
	struct end e = client_end(client);

	make(&m->k, &e, m->actors[actor].ns, SYS_socket, 0);
	make(&m->k, &e, m->actors[actor].ns + 20, SYS_connect, 0);
	m->connected[client] = true;
	wakes(m, actor, m->actors[actor].ns + 300);
	m->actors[actor].ns += 400;
}

static void accepts_now(struct model *m, uint32_t actor, int client, bool slept)
{
	struct end e = server_end(actor, client);
	struct trace_sock_endpoints ends = endpoints(&e, e.peer);
	uint64_t ns = m->actors[actor].ns;

	if (!slept)
		tb_sys_enter(m->k.c.tb, actor, ns, SYS_accept, 9, 0, 0);
	tb_open(m->k.c.tb, actor, ns + 4, e.fd, 8, e.ino, S_IFSOCK | 0777, "socket:[]");
	tb_event(m->k.c.tb, actor, ns + 5, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
	tb_sys_exit(m->k.c.tb, actor, ns + 10, e.fd);
	m->actors[actor].ns += 20;
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

	m->posted[step->note] = true;
	if (step->kind == STEP_WRITE_MEMORY)
		return;
	tb_sys_enter(m->k.c.tb, actor, ns, SYS_futex, NOTE_WORD + 64ull * step->note, FUTEX_WAKE_PRIVATE, 1);
	wakes(m, actor, ns + CALL_NS / 4);
	tb_sys_exit(m->k.c.tb, actor, ns + CALL_NS, 1);
	m->actors[actor].ns += CALL_NS + 10;
}

static void tries_to_read(struct model *m, uint32_t actor, const struct step *step)
{
	struct end e = server_end(actor, step->client);
	uint64_t ns = m->actors[actor].ns;

	if (m->unread[step->client])
		return;
	tb_sys_enter(m->k.c.tb, actor, ns, SYS_recvfrom, (uint64_t)e.fd, 0, 16, MSG_DONTWAIT, 0, 0);
	moves(m, &e, ns + CALL_NS / 2, false, NOTHING_TO_READ);
	tb_sys_exit(m->k.c.tb, actor, ns + CALL_NS, NOTHING_TO_READ);
	m->actors[actor].ns += CALL_NS + 10;
}

/* ---- steps ---- */

static void waits(struct model *m, uint32_t actor, const struct step *step, bool slept)
{
	struct actor *a = &m->actors[actor];
	struct end e = step->kind == STEP_RECEIVE ? client_end(step->client) : server_end(actor, step->client);

	if (step->kind == STEP_ACCEPT) {
		accepts_now(m, actor, step->client, slept);
		return;
	}
	if (!slept)
		enter_wait(m, actor, step);
	if (step->kind == STEP_WAIT || (step->kind == STEP_POLL_READ && !a->polled)) {
		tb_sys_exit(m->k.c.tb, actor, a->ns + CALL_NS, step->kind != STEP_WAIT);
		a->ns += CALL_NS + 10;
		if (step->kind == STEP_WAIT)
			return;
		a->polled = true;
		enter_wait(m, actor, step);
	}
	a->polled = false;
	--*(step->kind == STEP_RECEIVE ? &m->answers[step->client] : &m->unread[step->client]);
	receives_now(m, actor, step, &e, step->kind == STEP_RECEIVE ? 8 : 16);
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
		e = client_end(step->client);
		sends_now(m, actor, &e, 16, &m->unread[step->client]);
		break;
	case STEP_ANSWER:
		e = server_end(actor, step->client);
		m->truth[step->client] += CALL_NS;
		sends_now(m, actor, &e, 8, &m->answers[step->client]);
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
		if (step->client != NO_CLIENT)
			m->truth[step->client] += step->us * 1000ull;
		break;
	case STEP_TRY_READ:
		tries_to_read(m, actor, step);
		break;
	default:
		posts_now(m, actor, step);
	}
}

static bool is_wait(const struct step *step)
{
	return step->kind == STEP_ACCEPT || step->kind == STEP_READ || step->kind == STEP_POLL_READ ||
	       step->kind == STEP_RECEIVE || step->kind == STEP_WAIT;
}

/* The next step of the actor whose time is the earliest. Returns false when all are done. */
static bool advance(struct model *m)
{
	uint32_t next = PLAN_ACTORS;
	const struct step *step;
	struct actor *a;

	for (uint32_t i = 0; i < PLAN_ACTORS; i++)
		if (!m->actors[i].sleeps && step_of(m, i) &&
		    (next == PLAN_ACTORS || m->actors[i].ns < m->actors[next].ns))
			next = i;
	if (next == PLAN_ACTORS)
		return false;
	a = &m->actors[next];
	step = step_of(m, next);
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

static struct model model_new(const struct plan *plan)
{
	struct model m = {.k = {.c = case_new()}, .plan = plan};
	struct tb *tb = m.k.c.tb;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_socket, "socket");
	for (uint32_t i = 0; i < PLAN_ACTORS; i++) {
		tb_thread(tb, tid_of(i), i < PLAN_THREADS ? SERVER : tid_of(i), 1,
			  i < PLAN_THREADS ? "server" : "client", i, true);
		m.actors[i].ns = 2000 + i;
	}
	return m;
}

static uint64_t allowed(uint64_t ns)
{
	return ns / 100 > ALLOWED ? ns / 100 : ALLOWED;
}

/* Returns the number of bills that are wrong. */
static int check(const struct model *m)
{
	int wrong = 0;

	for (uint32_t c = 0; c < m->plan->nr_clients; c++) {
		struct trace_server_client row = bill(&m->k, SERVER, CLIENT + c);
		uint64_t truth = m->truth[c], slack = allowed(truth);
		bool is_exact = !row.shared_ns && row.most_ns == row.cpu_ns;

		if (row.least_ns <= truth + slack && row.most_ns + slack >= truth && row.exact_ns <= truth + slack &&
		    (!is_exact || row.cpu_ns + slack >= truth))
			continue;
		fprintf(stderr, "\n    client %u: truth %llu, bill %llu, exact %llu, from %llu to %llu", c,
			(unsigned long long)truth, (unsigned long long)row.cpu_ns, (unsigned long long)row.exact_ns,
			(unsigned long long)row.least_ns, (unsigned long long)row.most_ns);
		wrong++;
	}
	return wrong;
}

struct figures {
	uint64_t truth, exact, width, error;
	uint32_t bills;
};

static void figures_add(struct figures *f, const struct model *m)
{
	for (uint32_t c = 0; c < m->plan->nr_clients; c++) {
		struct trace_server_client row = bill(&m->k, SERVER, CLIENT + c);

		f->bills++;
		f->truth += m->truth[c];
		f->exact += row.exact_ns;
		f->width += row.most_ns - row.least_ns;
		f->error += row.cpu_ns > m->truth[c] ? row.cpu_ns - m->truth[c] : m->truth[c] - row.cpu_ns;
	}
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
		wrong = m.actors[i].sleeps || step_of(&m, i);
		if (wrong)
			fprintf(stderr, "\n    the plan of seed %llu does not end", (unsigned long long)seed);
		end_ns = m.actors[i].ns > end_ns ? m.actors[i].ns : end_ns;
	}
	for (uint32_t i = 0; i < PLAN_ACTORS; i++) /* the others sleep to the end */
		tb_switch(m.k.c.tb, i, m.actors[i].ns + 10, tid_of(i), 0, TRACE_TASK_INTERRUPTIBLE);
	tb_window(m.k.c.tb, 1000, end_ns + 1000);
	if (getenv("TRACE_KEEP")) {
		int fd = open(getenv("TRACE_KEEP"), O_RDWR | O_CREAT | O_TRUNC, 0644);

		tb_write(m.k.c.tb, fd, true);
		close(fd);
	}
	run_of(&m.k, tb_open_trace(m.k.c.tb));
	wrong = check(&m);
	figures_add(figures, &m);
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
	CU_ASSERT(f.exact > 0);
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
