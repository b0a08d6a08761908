/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* random_server.c - random servers, as plans */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "random_server.h"

/*
 * How often the server does what: percentages, but for @batch.
 */
struct habits {
	uint32_t batch;	    /* requests that it reads before it works */
	uint32_t handed;    /* given to another thread, */
	uint32_t unseen;    /* and in a way that no call shows */
	uint32_t helped;    /* a helper does a part */
	uint32_t asked;	    /* and if it is a process, */
	uint32_t passed;    /* it answers the client itself */
	uint32_t parts;	    /* a request is read in parts */
	uint32_t pieces;    /* answered in pieces */
	uint32_t pipelined; /* the client sends the next one at once */
	uint32_t dropped;   /* the connection is closed without an answer, */
	uint32_t forgotten; /* or it is just never answered */
	uint32_t together;  /* the answers of a batch are sent at its end */
	uint32_t own;	    /* work of its own, where it can be */
	uint32_t timer;	    /* waits for nothing before a batch */
	uint32_t several;   /* threads that read requests */
	uint32_t locked;    /* work that is done under the lock of all threads */
};

struct job {
	int8_t client;
	uint8_t reader, worker; /* the last one that had it, and the one that works */
	bool worked;
	bool dead; /* it will not be answered */
};

/* The planner follows the assumptions of the theorem. */
struct planner {
	struct plan *plan;
	struct habits habits;
	uint64_t state;
	uint32_t job_us;
	struct {
		uint32_t held[PLAN_CLIENTS]; /* requests that it has */
		bool lent[PLAN_CLIENTS];     /* it helps with these, until its next rest */
		bool near[PLAN_CLIENTS];     /* the thread that answers these waits for it */
		bool fresh, trailing[PLAN_CLIENTS];
		bool has_read; /* since it rested, or waited for a thread */
	} threads[PLAN_THREADS];
	bool crosses; /* the trace shows that threads work on what another one has read */
	struct {
		bool connected, closed;
		uint32_t unread, unanswered; /* sent, read */
		uint32_t answers;	     /* sent by the server, and not received */
		bool joined;		     /* it sent the latest request before the answer to another one */
		uint8_t reader;
		bool late; /* @answerer will answer more: what was proven meanwhile is refuted */
		uint8_t answerer;
		uint8_t worker; /* the thread that works on the latest request, and answers it */
	} clients[PLAN_CLIENTS];
	uint32_t sent;	/* datagrams, by all clients */
	uint32_t turns; /* of the lock */
	struct job jobs[64];
	uint32_t nr_jobs;
};

static uint64_t roll(struct planner *p)
{
	uint64_t x = p->state += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static uint32_t below(struct planner *p, uint32_t nr)
{
	return (uint32_t)(roll(p) % nr);
}

static bool chance(struct planner *p, uint32_t percent)
{
	return below(p, 100) < percent;
}

static uint32_t some(struct planner *p)
{
	return chance(p, 40) ? 0 : chance(p, 30) ? 100 : below(p, 100);
}

static void step(struct planner *p, uint32_t actor, enum step_kind kind, int client, uint32_t us, uint32_t note)
{
	if (p->plan->nr < PLAN_STEPS)
		p->plan->steps[p->plan->nr++] = (struct step){.actor = (uint8_t)actor,
							      .kind = (uint8_t)kind,
							      .client = (int8_t)client,
							      .us = us,
							      .note = (uint8_t)note};
}

static bool is_full(const struct planner *p)
{
	return p->plan->nr > PLAN_STEPS - 400 || p->plan->nr_notes > PLAN_NOTES - 12 || p->nr_jobs > 40;
}

static uint32_t client_actor(int client)
{
	return PLAN_THREADS + (uint32_t)client;
}

/* ---- what a thread may do now ---- */

static void rests(struct planner *p, uint32_t thread)
{
	p->threads[thread].fresh = p->threads[thread].has_read = false;
	memset(p->threads[thread].lent, 0, sizeof(p->threads[thread].lent));
	memset(p->threads[thread].trailing, 0, sizeof(p->threads[thread].trailing));
}

static bool has(const struct planner *p, uint32_t thread, uint32_t client)
{
	return p->threads[thread].held[client] || p->threads[thread].lent[client] ||
	       (p->clients[client].reader == thread && (p->clients[client].unanswered || p->clients[client].late));
}

/*
 * Returns the only client whose request @thread has, if it has read since its last rest and has not
 * answered another one: a theorem says that it works for that client. Else NO_CLIENT: it may work
 * for anyone.
 */
static int only_client(const struct planner *p, uint32_t thread)
{
	int only = NO_CLIENT;

	if (!p->threads[thread].fresh)
		return NO_CLIENT;
	for (int c = 0; c < PLAN_CLIENTS; c++) {
		if (!has(p, thread, (uint32_t)c) && !p->threads[thread].trailing[c])
			continue;
		if (only != NO_CLIENT)
			return NO_CLIENT;
		only = c;
	}
	return only != NO_CLIENT && has(p, thread, (uint32_t)only) ? only : NO_CLIENT;
}

/*
 * True if @thread may work for @client: a request of it is open until the thread is done, and
 * either the thread has it, or the thread has none at all, or the server's threads are known to
 * pass their work on.
 */
static bool may_serve(const struct planner *p, uint32_t thread, int client)
{
	if (client == NO_CLIENT)
		return true;
	if ((!p->clients[client].unanswered && !p->clients[client].late) ||
	    (p->clients[client].worker != thread && !p->threads[thread].near[client]))
		return false;
	if (p->crosses || has(p, thread, (uint32_t)client) ||
	    (p->clients[client].late && p->clients[client].answerer == thread))
		return true;
	for (uint32_t c = 0; c < PLAN_CLIENTS; c++)
		if (has(p, thread, c) || p->threads[thread].trailing[c])
			return false;
	return true;
}

/* Work of any length, if the theorem allows it. */
static void works(struct planner *p, uint32_t thread, int client, uint32_t us)
{
	int only = only_client(p, thread);

	if (may_serve(p, thread, client) &&
	    (only == NO_CLIENT || only == client ||
	     (client != NO_CLIENT && p->clients[client].late && p->clients[client].answerer == thread)))
		step(p, thread, STEP_WORK, client, us, 0);
}

static uint32_t some_us(struct planner *p)
{
	return 1 + below(p, chance(p, 30) ? p->job_us / 20 + 1 : p->job_us);
}

static void works_for_itself(struct planner *p, uint32_t thread)
{
	if (chance(p, p->habits.own))
		works(p, thread, chance(p, 80) ? NO_CLIENT : (int)below(p, p->plan->nr_clients), some_us(p));
}

static void takes_a_rest(struct planner *p, uint32_t thread)
{
	step(p, thread, chance(p, 50) ? STEP_SLEEP : STEP_TIMER, NO_CLIENT, 20 + below(p, 200), 0);
	rests(p, thread);
}

/* ---- threads pass work on ---- */

/* @from is done with something that @to waits for. */
static void passes(struct planner *p, uint32_t from, uint32_t to, bool unseen)
{
	uint32_t note = p->plan->nr_notes++;

	step(p, from, unseen ? STEP_WRITE_MEMORY : STEP_WAKE, NO_CLIENT, 0, note);
	step(p, to, unseen ? STEP_LOOK : STEP_WAIT, NO_CLIENT, 0, note);
	rests(p, to);
	p->threads[to].fresh = !unseen;
	for (uint32_t c = 0; c < PLAN_CLIENTS && !unseen; c++) {
		p->crosses |= has(p, from, c);
		p->threads[to].lent[c] = has(p, from, c); /* the call that wakes it hands over all of them */
	}
}

static uint32_t another(struct planner *p, uint32_t thread)
{
	return (thread + 1 + below(p, p->plan->nr_threads - 1)) % p->plan->nr_threads;
}

/* A helper does a part of the work, and the thread waits for it. */
static void is_helped(struct planner *p, struct job *job)
{
	bool unseen = chance(p, p->habits.unseen);
	uint32_t helper = another(p, job->worker);

	passes(p, job->worker, helper, unseen);
	p->threads[helper].lent[job->client] |= !unseen;
	p->threads[helper].near[job->client] = true;
	works(p, helper, job->client, some_us(p));
	p->threads[helper].near[job->client] = false;
	passes(p, helper, job->worker, unseen);
}

/* ---- processes that help ---- */

static uint32_t helper_actor(uint32_t thread)
{
	return PLAN_HELPER + thread;
}

/*
 * A thread that asks says for whom, if it has read since it looked for work: its data carries the
 * requests that it works on. Only then is it known for whom the helper works.
 */
static bool may_ask(const struct planner *p, const struct job *job)
{
	return p->threads[job->worker].has_read && !p->clients[job->client].joined && job->worker == job->reader &&
	       job->worker < p->plan->nr_helpers && only_client(p, job->worker) == job->client;
}

static void helper_takes(struct planner *p, const struct job *job)
{
	uint32_t helper = helper_actor(job->worker);

	if (chance(p, p->habits.own))
		step(p, helper, STEP_WORK, NO_CLIENT, some_us(p), 0);
	step(p, job->worker, STEP_ASK, job->client, 0, 0);
	step(p, helper, STEP_TAKE, job->client, 0, 0);
	for (uint32_t parts = 1 + below(p, 2); parts; parts--) {
		step(p, helper, STEP_WORK, job->client, some_us(p), 0);
		if (chance(p, 15))
			step(p, helper, STEP_SLEEP, NO_CLIENT, 20 + below(p, 200), 0);
	}
}

/* The thread waits for the result. */
static void asks(struct planner *p, const struct job *job)
{
	bool polls = chance(p, 40);

	helper_takes(p, job);
	step(p, helper_actor(job->worker), STEP_GIVE, job->client, 0, 0);
	step(p, job->worker, polls ? STEP_POLL_GET : STEP_GET, job->client, 0, 0);
	if (polls)
		rests(p, job->worker);
	p->threads[job->worker].fresh = p->threads[job->worker].has_read = true;
}

/* The helper has the connection, too, and answers. */
static bool passes_to_helper(struct planner *p, struct job *job)
{
	if (!may_ask(p, job) || p->clients[job->client].unanswered != 1 || p->clients[job->client].unread ||
	    p->clients[job->client].late || !chance(p, p->habits.passed))
		return false;
	helper_takes(p, job);
	step(p, helper_actor(job->worker), STEP_ANSWER, job->client, 0, 0);
	p->clients[job->client].answers++;
	p->clients[job->client].unanswered--;
	p->threads[job->reader].held[job->client] = 0;
	job->dead = true;
	return true;
}

/* ---- requests ---- */

static void client_sends(struct planner *p, int client)
{
	for (; p->clients[client].answers; p->clients[client].answers--)
		step(p, client_actor(client), STEP_RECEIVE, client, 0, 0);
	step(p, client_actor(client), STEP_SEND, client, 0, p->sent++);
	p->clients[client].unread++;
}

static void reads(struct planner *p, int client)
{
	uint32_t thread = p->clients[client].reader;
	bool pipelines = p->clients[client].unread;

	if (!p->clients[client].unread) {
		client_sends(p, client);
		if (chance(p, p->habits.pipelined)) {
			step(p, client_actor(client), STEP_SEND, client, 0, p->sent++);
			p->clients[client].unread++;
		}
	}
	if (chance(p, 20))
		works_for_itself(p, thread);
	if (chance(p, 60)) {
		step(p, thread, STEP_POLL_READ, client, 0, 0);
		rests(p, thread);
	} else {
		step(p, thread, STEP_READ, client, 0, chance(p, p->habits.parts) ? 1 + below(p, 3) : 0);
	}
	memset(p->threads[thread].trailing, 0, sizeof(p->threads[thread].trailing));
	p->threads[thread].fresh = p->threads[thread].has_read = true;
	p->threads[thread].held[client]++;
	p->clients[client].late = false;
	p->clients[client].worker = (uint8_t)thread;
	p->clients[client].joined = p->clients[client].unanswered || pipelines || p->clients[client].unread > 1;
	p->clients[client].unread--;
	p->clients[client].unanswered++;
	p->jobs[p->nr_jobs++] =
		(struct job){.client = (int8_t)client, .reader = (uint8_t)thread, .worker = (uint8_t)thread};
}

static void answers_piece(struct planner *p, const struct job *job)
{
	step(p, job->worker, STEP_ANSWER, job->client, 0, 0);
	p->crosses |= job->worker != job->reader;
	p->clients[job->client].answers++;
	p->threads[job->worker].trailing[job->client] = true;
	p->threads[job->reader].held[job->client] = 0; /* as the analysis sees it */
}

static void answers(struct planner *p, struct job *job)
{
	uint32_t pieces = chance(p, p->habits.pieces) ? 1 + below(p, 3) : 0;
	struct job *other = &p->jobs[below(p, p->nr_jobs)];

	if (p->clients[job->client].closed)
		return;
	for (uint32_t i = 0; i < pieces; i++) {
		p->clients[job->client].late = true;
		p->clients[job->client].answerer = job->worker;
		answers_piece(p, job);
		if (chance(p, 50))
			takes_a_rest(p, job->worker);
		if (chance(p, 30) && !other->worked && !p->clients[other->client].closed)
			works(p, job->worker, other->client, some_us(p));
		works(p, job->worker, job->client, some_us(p));
	}
	answers_piece(p, job);
	p->clients[job->client].answerer = job->worker;
	p->clients[job->client].unanswered--;
	p->clients[job->client].late = p->clients[job->client].unanswered;
	for (uint32_t t = 0; t < p->plan->nr_threads && !p->clients[job->client].unanswered; t++)
		p->threads[t].lent[job->client] = false; /* also those that had it for a while have finished */
}

/* A part of the work of a request. A thread that waits for the lock gets no other work there. */
static void works_on(struct planner *p, const struct job *job)
{
	bool locked = p->turns < 250 && chance(p, p->habits.locked);

	if (locked)
		step(p, job->worker, STEP_LOCK, NO_CLIENT, 0, p->turns);
	works(p, job->worker, job->client, some_us(p));
	if (locked)
		step(p, job->worker, STEP_UNLOCK, NO_CLIENT, 0, p->turns++);
}

/* The work of a request, up to its answer. */
static void serves(struct planner *p, struct job *job)
{
	if (job->worked || p->clients[job->client].closed)
		return;
	job->worked = true;
	if (p->plan->nr_threads > 1 && chance(p, p->habits.handed)) {
		uint32_t worker = another(p, job->worker);
		bool unseen = chance(p, p->habits.unseen);

		passes(p, job->worker, worker, unseen);
		p->threads[worker].held[job->client] += !unseen;
		job->worker = (uint8_t)worker;
		p->clients[job->client].worker = (uint8_t)worker;
	}
	if (passes_to_helper(p, job))
		return;
	for (uint32_t parts = 1 + below(p, 3); parts; parts--) {
		works_on(p, job);
		if (chance(p, 15))
			takes_a_rest(p, job->worker);
		if (p->plan->nr_threads > 1 && chance(p, p->habits.helped))
			is_helped(p, job);
		if (chance(p, p->habits.asked) && may_ask(p, job))
			asks(p, job);
		if (chance(p, 20))
			works_for_itself(p, job->worker);
	}
}

static void ends(struct planner *p, struct job *job)
{
	uint32_t thread = job->worker;

	if (p->clients[job->client].closed)
		return;
	p->threads[thread].held[job->client] = 0;
	/* not while another thread may still send the answer to the request before */
	if (!p->clients[job->client].unread && p->clients[job->client].unanswered == 1 &&
	    !p->clients[job->client].answers && !p->clients[job->client].late && job->worker == job->reader &&
	    chance(p, p->habits.dropped)) {
		if (chance(p, 50))
			step(p, client_actor(job->client), STEP_CLOSE, job->client, 0, 0);
		step(p, thread, STEP_DROP, job->client, 0, 0);
		p->clients[job->client].closed = true;
		p->clients[job->client].unanswered = 0; /* it is over when the thread rests */
		p->threads[job->reader].held[job->client] = 0;
		p->threads[job->reader].trailing[job->client] = true;
	} else {
		answers(p, job);
	}
	works_for_itself(p, thread);
}

/* ---- plans ---- */

static void reads_some(struct planner *p)
{
	for (uint32_t i = 1 + below(p, p->habits.batch); i; i--) {
		int client = (int)below(p, p->plan->nr_clients);

		if (!p->clients[client].closed && (!p->clients[client].unanswered || p->clients[client].unread))
			reads(p, client);
		if (chance(p, 10))
			step(p, p->clients[client].reader, STEP_TRY_READ, (int)below(p, p->plan->nr_clients), 0, 0);
	}
}

static void batch(struct planner *p)
{
	uint32_t first = p->nr_jobs;
	bool together = chance(p, p->habits.together);

	reads_some(p);
	if (chance(p, p->habits.timer))
		takes_a_rest(p, p->clients[0].reader);
	if (chance(p, 30))
		works_for_itself(p, below(p, p->plan->nr_threads));
	for (uint32_t i = first; i < p->nr_jobs; i++) {
		struct job *job = &p->jobs[i];

		if (chance(p, p->habits.forgotten) && !p->clients[job->client].late) {
			job->dead = true;
			continue;
		}
		serves(p, job);
		if (!together && !job->dead)
			ends(p, job);
	}
	for (uint32_t i = first; together && i < p->nr_jobs; i++)
		if (!p->jobs[i].dead)
			ends(p, &p->jobs[i]);
	if (chance(p, 40))
		takes_a_rest(p, below(p, p->plan->nr_threads));
}

static void begin(struct planner *p)
{
	for (uint32_t c = 0; c < p->plan->nr_clients; c++) {
		p->clients[c].reader = (uint8_t)(chance(p, p->habits.several) ? below(p, p->plan->nr_threads) : 0);
		step(p, client_actor((int)c), STEP_CONNECT, (int)c, 0, 0);
		step(p, 0, STEP_ACCEPT, (int)c, 0, 0);
	}
	for (uint32_t h = 0; h < p->plan->nr_helpers; h++)
		step(p, 0, STEP_FORK, NO_CLIENT, 0, helper_actor(h));
	for (uint32_t t = 1; t < p->plan->nr_threads; t++) { /* the connections are there */
		if (p->plan->forked)
			step(p, 0, STEP_FORK, NO_CLIENT, 0, t);
		else
			passes(p, 0, t, true);
	}
}

/* Answers that will come are a promise: the theorem counts on them. */
static void end(struct planner *p)
{
	for (uint32_t c = 0; c < p->plan->nr_clients; c++) {
		if (p->clients[c].closed)
			continue;
		for (; p->clients[c].unread; p->clients[c].unread--) {
			step(p, p->clients[c].reader, STEP_READ, (int)c, 0, 0);
			step(p, p->clients[c].reader, STEP_ANSWER, (int)c, 0, 0);
			p->clients[c].answers++;
		}
		for (; p->clients[c].answers; p->clients[c].answers--)
			step(p, client_actor((int)c), STEP_RECEIVE, (int)c, 0, 0);
		step(p, client_actor((int)c), STEP_CLOSE, (int)c, 0, 0);
	}
}

/* Processes: another stream of numbers, so that the rest of a plan is as it was without them. */
static void choose_processes(struct planner *p, uint64_t seed)
{
	struct plan *plan = p->plan;
	struct planner q = {.state = seed * 104729};

	plan->means = (uint8_t)below(&q, 3);
	plan->tcp = chance(&q, 40);
	plan->by_pipes = chance(&q, 40);
	p->habits.parts = some(&q) / 2;
	plan->nr_helpers = chance(&q, 50) ? 0 : 1 + below(&q, PLAN_HELPERS);
	plan->forked = plan->nr_threads > 1 && chance(&q, 30);
	if (plan->forked) {
		p->habits.handed = p->habits.helped = 0;
		plan->nr_helpers = plan->nr_helpers ? 1 : 0;
	}
	if (plan->nr_helpers > plan->nr_threads)
		plan->nr_helpers = plan->nr_threads;
	if (plan->nr_helpers || plan->forked)
		p->habits.dropped = 0; /* other processes have the connection, too */
	p->habits.asked = plan->nr_helpers ? some(&q) : 0;
	p->habits.passed = plan->nr_helpers ? some(&q) : 0;
	plan->execs = plan->nr_helpers && chance(&q, 40);
	plan->startup_us = chance(&q, 40) ? 0 : below(&q, 2 * p->job_us);
}

/*
 * Datagrams come in the order in which they were sent, whichever client sent them, so one thread
 * reads all of them. A request has one, and no connection is closed.
 */
static void choose_transport(struct planner *p, uint64_t seed)
{
	struct plan *plan = p->plan;
	struct planner q = {.state = seed * 1299709};

	plan->udp = !plan->forked && chance(&q, 20);
	p->habits.locked = plan->forked || chance(&q, 50) ? 0 : some(&q);
	plan->ring = !plan->udp && !plan->forked && chance(&q, 25);
	if (plan->ring)
		p->habits.parts = 0;
	if (!plan->udp)
		return;
	plan->tcp = false;
	p->habits.parts = p->habits.pipelined = p->habits.dropped = p->habits.several = 0;
}

uint32_t plan_process(const struct plan *plan, uint32_t actor)
{
	return actor < PLAN_THREADS && !plan->forked ? 0 : actor;
}

bool plan_has_server(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->nr; i++)
		if (plan->steps[i].kind == STEP_ANSWER)
			return true;
	return !plan->udp;
}

void plan_make(struct plan *plan, uint64_t seed, uint32_t job_us)
{
	struct planner p = {.plan = plan, .state = seed * 7919, .job_us = job_us};
	struct habits *habits = &p.habits;
	uint32_t *all[] = {&habits->handed,    &habits->unseen,	 &habits->helped,    &habits->pieces,
			   &habits->pipelined, &habits->dropped, &habits->forgotten, &habits->together,
			   &habits->own,       &habits->timer,	 &habits->several};

	*plan = (struct plan){0};
	plan->nr_threads = chance(&p, 40) ? 1 : 1 + below(&p, PLAN_THREADS);
	plan->nr_clients = 1 + below(&p, PLAN_CLIENTS);
	habits->batch = chance(&p, 30) ? 1 : 1 + below(&p, 6);
	for (uint32_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		*all[i] = some(&p);
	habits->dropped /= 3;
	habits->forgotten /= 3;
	choose_processes(&p, seed);
	choose_transport(&p, seed);
	begin(&p);
	for (uint32_t i = 2 + below(&p, 8); i && !is_full(&p); i--)
		batch(&p);
	end(&p);
}

void plan_print(const struct plan *plan)
{
	static const char *const names[] = {"accept",  "read", "poll_read", "try_read", "sleep",	"timer", "work",
					    "answer",  "drop", "wake",	    "wait",	"write_memory", "look",	 "lock",
					    "unlock",  "fork", "ask",	    "get",	"poll_get",	"take",	 "give",
					    "connect", "send", "receive",   "close"};

	for (uint32_t i = 0; i < plan->nr; i++)
		fprintf(stderr, "    %*s%u %s client %d, %u us, note %u\n", plan->steps[i].actor * 2, "",
			plan->steps[i].actor, names[plan->steps[i].kind], plan->steps[i].client, plan->steps[i].us,
			plan->steps[i].note);
}
