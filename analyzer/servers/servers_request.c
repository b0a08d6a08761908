/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_request.c - requests: which process works for which client
 *
 * Terms: servers_ledger.h. The rules:
 *
 *   1. A request begins when data, or a connection, comes from another process or host to the
 *      server's end of a connection. Its parent is the request that its sender worked on, and it
 *      takes over the parent's origin. If the sender worked on several, each begins a request.
 *      So the origin travels with everything that is sent, through any number of servers.
 *   2. A request ends with the first data that goes back the same way.
 *   3. An answer brings back what the client worked on: if the data carries a request with an
 *      ancestor that this process had sent, then it is no new request. The thread continues the
 *      work of that ancestor's parent (restore()). So an event loop that gave a part of its work
 *      to another server continues for the right client.
 *
 * Example: client A asks a proxy, and the proxy asks a database.
 *
 *   A sends to the proxy           request 1: sender A, no parent, origin A
 *   the proxy sends a query        request 2: sender proxy, parent 1, origin A
 *   the database answers           its data carries request 2, which the proxy had sent:
 *                                  the proxy's set becomes request 1 again
 *   the proxy answers A            request 1 is answered
 *
 * The server's end of an accepted connection is the end that was accepted. For socket pairs,
 * datagrams and connections older than the trace without a listener, it is the end that receives
 * first.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "servers_ledger.h"

#define MAX_DEPTH 32u
/*
 * Requests that one message carries: the latest. Without this limit a process that takes the tokens
 * of many others, as the jobs of make do, would have twice as many requests as the process before
 * it.
 */
#define MAX_CARRIED 256u
#define MAX_OPEN  64u /* unanswered requests of one connection; if there are more, it never answers */

/* ---- references ---- */

struct request *request_ref(struct request *request)
{
	if (request)
		request->refs++;
	return request;
}

static void endpoint_enter(struct endpoint *endpoint, struct request *request)
{
	request->endpoint = endpoint;
	request->next = endpoint->requests;
	request->place = &endpoint->requests;
	if (request->next)
		request->next->place = &request->next;
	endpoint->requests = request;
	endpoint->refs++;
}

static void endpoint_leave(struct request *request)
{
	*request->place = request->next;
	if (request->next)
		request->next->place = request->place;
	request->endpoint->refs--;
}

void request_unref(struct request *request)
{
	while (request && --request->refs == 0) {
		struct request *parent = request->parent;

		endpoint_leave(request);
		free(request);
		request = parent;
	}
}

/* ---- origins ---- */

struct hash_row {
	uint64_t key;
	uint32_t idx;
};

static uint32_t origin_intern(struct trace_servers *s, const struct origin *wanted)
{
	uint64_t key = hash_u64(hash_u64(wanted->kind + 1ull + ((uint64_t)wanted->of << 32)) ^
				((uint64_t)wanted->sender << 32 | wanted->messenger));
	struct hash_row *row;
	struct origin *bigger;
	uint64_t *stamps;

	for (;; key++) {
		key += !key;
		row = table_add(&s->origin_by_hash, sizeof(*row), key);
		if (!row || !row->idx)
			break;
		if (memcmp(&s->origins[row->idx - 1], wanted, sizeof(*wanted)) == 0)
			return row->idx - 1;
	}
	if (!(s->nr_origins & (s->nr_origins - 1)) && row) { /* the arrays are full at each power of two */
		bigger = reallocarray(s->origins, s->nr_origins ? s->nr_origins * 2 : 1, sizeof(*bigger));
		if (bigger)
			s->origins = bigger;
		stamps = reallocarray(s->origin_stamps, s->nr_origins ? s->nr_origins * 2 : 1, sizeof(*stamps));
		if (stamps)
			s->origin_stamps = stamps;
		if (!bigger || !stamps)
			row = NULL;
	}
	if (!row) {
		s->failed = -ENOMEM;
		return 0;
	}
	s->origins[s->nr_origins] = *wanted;
	s->origin_stamps[s->nr_origins] = 0;
	row->idx = ++s->nr_origins;
	return row->idx - 1;
}

uint32_t origin_process(struct trace_servers *s, const struct ledger_process *process)
{
	struct origin origin;

	memset(&origin, 0, sizeof(origin)); /* origins are compared as bytes */
	origin.kind = ORIGIN_PROCESS;
	origin.of = process->idx;
	return origin_intern(s, &origin);
}

uint32_t origin_address(struct trace_servers *s, const struct endpoint *endpoint)
{
	static const unsigned char v4_mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	char host[INET6_ADDRSTRLEN] = "";
	unsigned char raw[16];
	struct origin origin;

	memcpy(raw, endpoint->ends.remote, sizeof(raw));
	if (memcmp(raw, v4_mapped, sizeof(v4_mapped)) == 0)
		inet_ntop(AF_INET, raw + 12, host, sizeof(host));
	else
		inet_ntop(AF_INET6, raw, host, sizeof(host));
	memset(&origin, 0, sizeof(origin));
	origin.kind = ORIGIN_ADDRESS;
	origin.of = strings_intern(&s->strings, host);
	return origin_intern(s, &origin);
}

static uint32_t origin_link(struct trace_servers *s, uint32_t of, const struct ledger_process *sender,
			    const struct ledger_process *messenger)
{
	struct origin origin;

	memset(&origin, 0, sizeof(origin));
	origin.kind = ORIGIN_LINK;
	origin.of = of;
	origin.sender = sender->idx;
	origin.messenger = messenger->idx;
	return origin_intern(s, &origin);
}

/* ---- pairs of processes that sent data to each other ---- */

struct pair_row {
	uint64_t key;
	uint64_t through; /* key of the first endpoint that data went through */
	uint32_t order;
	bool several; /* data went through several endpoints */
	bool asked;   /* a wakeup went this way, and is not answered yet */
	bool no_turns; /* two wakeups in a row, or an answer without a request: it is no conversation */
};

static uint64_t pair_key(const struct ledger_process *from, const struct ledger_process *to)
{
	return (uint64_t)(from->idx + 1) << 32 | (to->idx + 1);
}

static const struct pair_row *pair_find(const struct trace_servers *s, const struct ledger_process *from,
					const struct ledger_process *to)
{
	return table_find(&s->pairs, sizeof(struct pair_row), pair_key(from, to));
}

/*
 * True if @by answered the other process: data went both ways, and not only through one pipe. Many
 * processes write to and read from one pipe alike.
 */
static bool pair_answered(const struct trace_servers *s, const struct ledger_process *who, const struct ledger_process *by)
{
	const struct pair_row *there = pair_find(s, who, by), *back = pair_find(s, by, who);

	return there && back && !there->no_turns && !back->no_turns && (there->through != back->through || there->several || back->several);
}

/*
 * @from woke @to. The process that woke the other first is the client. It must wait for an answer
 * before it asks again, and no answer may come without a request.
 */
static void take_turns(struct trace_servers *s, struct pair_row *row, const struct ledger_process *to, const struct ledger_process *from,
		       const struct endpoint *through)
{
	struct pair_row *back = table_find(&s->pairs, sizeof(*back), pair_key(to, from));

	if (!through->signal)
		return;
	if (!back || row->order < back->order) {
		row->no_turns |= row->asked;
		row->asked = true;
	} else {
		back->no_turns |= !back->asked;
		back->asked = false;
	}
}

void request_talk(struct trace_servers *s, struct ledger_process *from, struct ledger_process *to, const struct endpoint *through)
{
	struct pair_row *row = table_add(&s->pairs, sizeof(*row), pair_key(from, to));
	const struct pair_row *there;

	if (!row) {
		s->failed = -ENOMEM;
		return;
	}
	if (!row->order) {
		row->order = ++s->talks;
		row->through = through->key;
	} else if (row->through != through->key) {
		row->several = true;
	}
	take_turns(s, row, to, from, through);
	there = pair_find(s, to, from);
	if (there && there->order < row->order && pair_answered(s, to, from))
		from->answered = true;
}

struct ledger_process *origin_resolve(struct trace_servers *s, uint32_t idx, const char **ret_address)
{
	*ret_address = "";
	while (s->origins[idx].kind == ORIGIN_LINK) {
		const struct origin *link = &s->origins[idx];
		struct ledger_process *messenger = s->by_idx[link->messenger];

		if (!pair_answered(s, s->by_idx[link->sender], messenger))
			return messenger; /* a pipeline: it works for itself */
		idx = link->of;
	}
	if (s->origins[idx].kind == ORIGIN_PROCESS)
		return s->by_idx[s->origins[idx].of];
	*ret_address = strings_text(&s->strings, s->origins[idx].of);
	return NULL;
}

bool request_is_server(const struct ledger_process *process)
{
	return process->accepted || process->answered;
}

/* ---- roles ---- */

static bool is_stream(const struct endpoint *endpoint)
{
	return endpoint->kind == ENDPOINT_STREAM || endpoint->kind == ENDPOINT_SEQPACKET || endpoint->kind == ENDPOINT_TCP;
}

bool is_queue(const struct endpoint *endpoint)
{
	return endpoint->kind == ENDPOINT_PIPE || endpoint->kind == ENDPOINT_DATAGRAM || endpoint->shared;
}

/* Determine which end is the server's, if no accept or connect was recorded. */
static void role_find(struct trace_servers *s, struct endpoint *endpoint, enum role first)
{
	struct endpoint *peer = endpoint->peer;
	enum role role = first;

	if (endpoint->role != ROLE_UNKNOWN)
		return;
	endpoint->guessed = true;
	if (endpoint->kind == ENDPOINT_TCP &&
	    (listener_here(s, endpoint) || !peer || listener_there(s, endpoint))) {
		role = listener_here(s, endpoint) ? ROLE_SERVER : ROLE_CLIENT;
		endpoint->guessed = false;
		endpoint->accepted = role == ROLE_SERVER;
	} else if (is_stream(endpoint) && !endpoint->is_new && peer && peer->owner && endpoint->owner &&
		   peer->owner->listens != endpoint->owner->listens) {
		role = endpoint->owner->listens ? ROLE_SERVER : ROLE_CLIENT;
		endpoint->guessed = false;
		endpoint->accepted = role == ROLE_SERVER;
	} else if (endpoint->is_new) {
		endpoint->guessed = false;
	}
	endpoint->role = (uint8_t)role;
	if (peer && is_stream(endpoint) && peer->role == ROLE_UNKNOWN) {
		peer->role = role == ROLE_SERVER ? ROLE_CLIENT : ROLE_SERVER;
		peer->guessed = endpoint->guessed;
		peer->accepted = role == ROLE_CLIENT && !endpoint->guessed && !endpoint->is_new;
	}
}

bool endpoint_is_remote(const struct endpoint *endpoint)
{
	const unsigned char *raw = (const unsigned char *)endpoint->ends.remote;

	if (endpoint->kind != ENDPOINT_TCP || !endpoint->ends.remote_port || endpoint->peer)
		return false;
	if (memcmp(endpoint->ends.remote, endpoint->ends.local, sizeof(endpoint->ends.remote)) == 0)
		return false;
	/* 127.0.0.0/8: on this machine, but its other end is not known */
	return !(raw[10] == 0xff && raw[12] == 127);
}

/* ---- requests come in ---- */

static struct bill *bill_of(struct trace_servers *s, struct ledger_process *process, uint32_t origin)
{
	struct bill *bill = table_add(&process->bills, sizeof(*bill), origin + 1ull);

	if (!bill)
		s->failed = -ENOMEM;
	return bill;
}

static void count(struct trace_servers *s, struct ledger_process *process, struct request *request)
{
	struct bill *bill = request->counted ? NULL : bill_of(s, process, request->origin);

	request->counted = true;
	if (bill)
		bill->requests++;
}

static struct request *request_new(struct trace_servers *s, struct endpoint *endpoint, uint32_t origin,
				   struct ledger_process *sender, struct request *parent, uint64_t from_ino)
{
	struct request *request = malloc(sizeof(*request) + sizeof(request->only.items[0]));

	if (!request) {
		s->failed = -ENOMEM;
		return NULL;
	}
	memset(request, 0, sizeof(*request));
	request->refs = 1;
	request->origin = origin;
	request->sender = sender;
	endpoint_enter(endpoint, request);
	request->peer_ino = from_ino;
	if (parent && parent->depth < MAX_DEPTH) {
		request->parent = request_ref(parent);
		request->depth = (uint16_t)(parent->depth + 1);
	}
	return request;
}

/*
 * Find an open request that this data continues. A request on a stream may have several pieces; a
 * message is always a request of its own.
 */
static struct request *request_continued(const struct endpoint *endpoint, uint32_t origin, const struct request *parent)
{
	if ((endpoint->kind != ENDPOINT_STREAM && endpoint->kind != ENDPOINT_TCP) || endpoint->shared)
		return NULL;
	for (uint32_t i = 0; endpoint->open && i < endpoint->open->nr; i++) {
		struct request *open = endpoint->open->items[i];

		if (open->origin == origin && (open->parent == parent || !open->parent || !parent))
			return open;
	}
	return NULL;
}

static struct request *request_open(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint,
				    uint32_t origin, struct ledger_process *sender, struct request *parent, uint64_t from_ino)
{
	struct request *request;

	if (endpoint->kind == ENDPOINT_PIPE && sender)
		origin = origin_link(s, origin, sender, thread->process);
	if (sender && endpoint->sender && endpoint->sender != sender && !endpoint->shared) {
		endpoint->shared = true;
		set_assign(&endpoint->open, NULL);
	}
	endpoint->sender = sender;
	request = request_ref(request_continued(endpoint, origin, parent));
	if (!request)
		request = request_new(s, endpoint, origin, sender, parent, from_ino);
	if (!request)
		return NULL;
	if (!is_queue(endpoint)) {
		if (endpoint->open && endpoint->open->nr >= MAX_OPEN)
			set_remove(s, &endpoint->open, endpoint->open->items[0]);
		set_put(s, &endpoint->open, request);
		gaps_hold(s, endpoint);
	}
	set_put(s, &thread->incoming, request);
	if (endpoint->accepted)
		thread->process->accepted = true;
	request_unref(request); /* the sets have their own references */
	return request;
}

/*
 * Data from a process that works on the same request begins no new request: a child, which has its
 * parent's set, reports to its parent. If each such message were a request, each child would add
 * one, and children created later would inherit them all: their number would double each time.
 */
static bool goes_on(struct trace_servers *s, struct ledger_thread *thread, struct request *carried)
{
	if (!carried || carried->replied || !set_has(thread->set, carried))
		return false;
	set_put(s, &thread->incoming, carried);
	return true;
}

static void open_all(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint,
		     struct ledger_process *sender, struct set *carried, uint64_t from_ino, bool counted)
{
	uint32_t nr = carried ? carried->nr : 1;

	for (uint32_t i = nr > MAX_CARRIED ? nr - MAX_CARRIED : 0; i < nr; i++) {
		struct request *parent = carried ? carried->items[i] : NULL, *request;

		if (goes_on(s, thread, parent))
			continue;
		request = request_open(s, thread, endpoint, parent ? parent->origin : origin_process(s, sender), sender, parent,
				       from_ino);
		if (request && counted)
			count(s, thread->process, request);
	}
}

/*
 * Data came back from a process that was asked: put what this process then worked on into incoming.
 */
static bool restore(struct trace_servers *s, struct ledger_thread *thread, const struct set *carried)
{
	bool found = false;

	for (uint32_t i = 0; carried && i < carried->nr; i++)
		for (const struct request *at = carried->items[i]; at; at = at->parent)
			if (at->sender == thread->process) {
				found = true;
				if (at->parent && !at->parent->replied)
					set_put(s, &thread->incoming, at->parent);
				break;
			}
	return found;
}

static void receive_remote(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint)
{
	struct request *request;

	role_find(s, endpoint, ROLE_SERVER);
	if (endpoint->role == ROLE_CLIENT) {
		set_put_all(s, &thread->incoming, endpoint->awaiting);
		return;
	}
	request = request_open(s, thread, endpoint, origin_address(s, endpoint), NULL, NULL, 0);
	if (request)
		count(s, thread->process, request);
}

/*
 * Returns true if data of @sender through a pipe, or through a connection with a guessed role, is
 * an answer.
 */
static bool is_answer(struct trace_servers *s, const struct ledger_thread *thread, const struct endpoint *endpoint,
		      const struct ledger_process *sender)
{
	const struct pair_row *there, *back;

	if (endpoint->kind != ENDPOINT_PIPE)
		return endpoint->role == ROLE_CLIENT &&
		       (!endpoint->guessed || (request_is_server(sender) && !request_is_server(thread->process)));
	there = pair_find(s, thread->process, sender);
	back = pair_find(s, sender, thread->process);
	return there && back && there->order < back->order;
}

void request_receive(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint,
		     struct ledger_process *sender, struct set *carried, uint64_t from_ino)
{
	bool restored;

	if (!sender) {
		if (endpoint->kind == ENDPOINT_DATAGRAM)
			/* the sender is not known, but this end was asked first */
			role_find(s, endpoint, ROLE_SERVER);
		if (endpoint_is_remote(endpoint))
			receive_remote(s, thread, endpoint);
		return;
	}
	if (sender == thread->process) {
		thread->handed = true;
		set_put_all(s, &thread->incoming, carried);
		return;
	}
	if (endpoint->signal || endpoint->talk_from != sender || endpoint->talk_to != thread->process) {
		request_talk(s, sender, thread->process, endpoint);
		endpoint->talk_from = sender;
		endpoint->talk_to = thread->process;
	}
	if (endpoint->kind != ENDPOINT_PIPE)
		role_find(s, endpoint, ROLE_SERVER);
	restored = (endpoint->role != ROLE_SERVER || endpoint->guessed) && restore(s, thread, carried);
	if (restored) {
		wait_answered(s, thread, s->sender, endpoint->awaiting);
		return;
	}
	if (is_answer(s, thread, endpoint, sender)) {
		wait_answered(s, thread, s->sender, endpoint->awaiting);
		set_put_all(s, &thread->incoming, endpoint->awaiting);
		return;
	}
	open_all(s, thread, endpoint, sender, carried, from_ino, true);
}

/*
 * Without events for sends and receives, the accepted connection would stand for all its later
 * requests, and its end would not be recorded.
 */
static bool sees_transfers(const struct trace_servers *s)
{
	return !s->no_transfers && trace_analysis_recorded(s->analysis, TRACE_EV_sock_send) == TRACE_RECORDED_ALWAYS &&
	       trace_analysis_recorded(s->analysis, TRACE_EV_sock_recv) == TRACE_RECORDED_ALWAYS;
}

void request_accept(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint)
{
	struct endpoint *peer = endpoint->peer;

	endpoint->role = ROLE_SERVER;
	endpoint->accepted = true;
	if (peer)
		peer->role = ROLE_CLIENT;
	if (!sees_transfers(s))
		return;
	if (peer && peer->owner) {
		if (peer->owner == thread->process)
			return;
		open_all(s, thread, endpoint, peer->owner, peer->connect_set, 0, false);
	} else if (endpoint_is_remote(endpoint)) {
		request_open(s, thread, endpoint, origin_address(s, endpoint), NULL, NULL, 0);
	}
}

/* ---- requests are answered ---- */

static bool answers(const struct request *request, const struct ledger_thread *thread, const struct endpoint *endpoint)
{
	if (endpoint->kind == ENDPOINT_PIPE)
		return request->endpoint->kind == ENDPOINT_PIPE && endpoint->owner && endpoint->owner == request->sender;
	if (request->endpoint != endpoint)
		return false;
	return endpoint->kind != ENDPOINT_DATAGRAM || !thread->destination || !request->peer_ino ||
	       request->peer_ino == thread->destination;
}

#define FEW_REQUESTS 4u

/*
 * Find the only request that came in at @endpoint and that data sent there answers, in whichever
 * set it is. Returns NULL if there is none, or if *@ret_several.
 */
static struct request *only_answered(const struct ledger_thread *thread, const struct endpoint *endpoint, bool replied, bool *ret_several)
{
	struct request *only = NULL;

	*ret_several = endpoint->kind == ENDPOINT_PIPE || endpoint->refs > FEW_REQUESTS;
	for (struct request *request = endpoint->requests; request && !*ret_several; request = request->next)
		if (request->replied == replied && answers(request, thread, endpoint)) {
			*ret_several = only != NULL;
			only = request;
		}
	return only;
}

/* Few requests of a large set came in at one endpoint: search those of the endpoint first. */
static struct request *find_answered(const struct set *set, const struct ledger_thread *thread, const struct endpoint *endpoint,
				     bool replied)
{
	struct request *only;
	bool several = true;

	if (set && set->nr > FEW_REQUESTS) {
		only = only_answered(thread, endpoint, replied, &several);
		if (!several)
			return only && set_has(set, only) ? only : NULL;
	}
	for (uint32_t i = 0; set && i < set->nr; i++)
		if (set->items[i]->replied == replied && answers(set->items[i], thread, endpoint))
			return set->items[i];
	return NULL;
}

/*
 * Attribute the time since the last rest or answer to the request that is answered now.
 *
 * A thread that takes a job from a queue without blocking has no wakeup that links it to a client.
 * A thread that was woken may find another job, or several. Only the answer shows which one it was.
 */
static void believe_answer(struct trace_servers *s, struct ledger_thread *thread, struct request *answer)
{
	struct set *only = NULL;

	set_put(s, &only, answer);
	set_unref(thread->set);
	thread->set = only;
	thread->tentative = false;
	log_believe(thread);
}

/*
 * Find a message that came in, is not answered, and may really have been sent by another process or
 * socket.
 */
static struct request *taken_for(const struct set *set, const struct endpoint *endpoint, uint64_t other_ino)
{
	for (uint32_t i = 0; set && i < set->nr; i++) {
		struct request *request = set->items[i];

		if (request->replied || !request->sender || !request->peer_ino)
			continue;
		if (endpoint->kind == ENDPOINT_PIPE ? request->endpoint->kind == ENDPOINT_PIPE && request->sender != endpoint->owner
						    : request->endpoint == endpoint && request->peer_ino != other_ino)
			return request;
	}
	return NULL;
}

/*
 * Correct the order of two messages.
 *
 * A message is in the queue a moment before its event is recorded. So two senders may be recorded
 * in the opposite order. If an answer goes to a sender with a message that still seems to be in the
 * queue, then that message came out, and the one that seemed to come out is still in the queue.
 */
static struct request *correct_order(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *answered)
{
	struct request *mistaken = taken_for(thread->set, answered, thread->destination);
	struct endpoint *endpoint = mistaken ? mistaken->endpoint : NULL; /* the queue */
	struct range *still = !mistaken				       ? NULL
			      : answered->kind == ENDPOINT_PIPE ? channel_unsure_of(&endpoint->channel, answered->owner)
			      : thread->destination		? channel_message_of(&endpoint->channel, thread->destination)
								: NULL;
	struct range came;
	struct bill *bill;

	if (!still || !still->sender || still->sender == thread->process)
		return NULL;
	came = *still;
	still->sender = mistaken->sender;
	still->thread = NULL;
	still->from_ino = mistaken->peer_ino;
	still->set = NULL;
	if (mistaken->parent)
		set_put(s, &still->set, mistaken->parent);
	bill = bill_of(s, thread->process, mistaken->origin);
	if (bill)
		bill->requests -= mistaken->counted;
	request_talk(s, came.sender, thread->process, endpoint);
	open_all(s, thread, endpoint, came.sender, came.set, came.from_ino, true);
	set_unref(came.set);
	set_remove(s, &thread->set, mistaken);
	set_put_all(s, &thread->set, thread->incoming);
	set_assign(&thread->incoming, NULL);
	log_believe(thread);
	return find_answered(thread->set, thread, answered, false);
}

/*
 * The first data on a connection that was made for a request, when connecting took some time. The
 * thread has looked for work meanwhile, so its set is empty: it becomes that request.
 */
static void resume_connected(struct trace_servers *s, struct ledger_thread *thread, const struct endpoint *endpoint)
{
	struct set *resumed = NULL;

	if (thread->set || endpoint->kind != ENDPOINT_TCP || endpoint->role != ROLE_CLIENT || endpoint->channel.has_position || !endpoint->connect_set)
		return;
	set_put_all(s, &resumed, endpoint->connect_set);
	if (resumed)
		servers_replace_set(s, thread, resumed, &thread->enter);
	set_unref(resumed);
}

/*
 * Find a client's request that another thread has read, and that this thread may have taken without
 * waiting. If this thread has answered that client before (@again), only a request with data
 * counts, not an accepted connection.
 */
static struct request *taken_unseen(const struct ledger_thread *thread, const struct endpoint *endpoint, const struct request *again)
{
	if ((set_any_unanswered(thread->set) && !thread->tentative) || endpoint->role != ROLE_SERVER || !endpoint->open)
		return NULL;
	return again && !endpoint->open->items[0]->counted ? NULL : endpoint->open->items[0];
}

void request_prepare(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint)
{
	struct request *answer, *again = NULL;

	resume_connected(s, thread, endpoint);
	answer = find_answered(thread->set, thread, endpoint, false);
	if (!answer && (endpoint->kind == ENDPOINT_DATAGRAM || endpoint->kind == ENDPOINT_PIPE))
		answer = correct_order(s, thread, endpoint);
	if (!answer)
		again = find_answered(thread->set, thread, endpoint, true); /* one more piece of an answer */
	if (!answer && taken_unseen(thread, endpoint, again))
		believe_answer(s, thread, answer = taken_unseen(thread, endpoint, again));
	else if (answer && thread->tentative)
		believe_answer(s, thread, answer);
	else if (!answer && endpoint->signal && !set_any_unanswered(thread->set) && (answer = find_answered(thread->process->pending, thread, endpoint, false)))
		believe_answer(s, thread, answer);
	thread->answer = answer;
	set_assign(&thread->outgoing, NULL);
	if (answer || again)
		set_put(s, &thread->outgoing, answer ? answer : again);
	else
		set_assign(&thread->outgoing, thread->set);
}

void request_prepare_queued(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint)
{
	struct request *answer = find_answered(thread->set, thread, endpoint, false), *again = NULL;

	if (!answer)
		answer = find_answered(thread->arrived, thread, endpoint, false);
	if (!answer)
		again = find_answered(thread->set, thread, endpoint, true);
	for (uint32_t i = 0; !answer && !again && endpoint->role == ROLE_SERVER && endpoint->open && i < endpoint->open->nr; i++)
		if (endpoint->open->items[i]->counted || i + 1 == endpoint->open->nr)
			answer = endpoint->open->items[i]; /* the first with data, not only accepted */
	thread->answer = answer;
	set_assign(&thread->outgoing, NULL);
	if (answer || again) {
		set_put(s, &thread->outgoing, answer ? answer : again);
		set_put(s, &thread->answered, answer ? answer : again);
	} else {
		set_assign(&thread->outgoing, thread->set);
	}
}

void request_send(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint)
{
	if (endpoint->kind != ENDPOINT_PIPE)
		role_find(s, endpoint, ROLE_CLIENT);
	if (!thread->passed && !set_any_replied(s, thread->outgoing))
		set_assign(&thread->passed, thread->outgoing);
	else
		set_put_all(s, &thread->passed, thread->outgoing);
	if (thread->answer) {
		thread->answer->replied = true;
		s->replies++;
		s->last_replied = thread->answer;
		if (thread->answer->endpoint->accepted)
			thread->process->accepted = true; /* a child that was forked for it */
		thread->tentative = false;
		count(s, thread->process, thread->answer);
		set_remove(s, &thread->answer->endpoint->open, thread->answer);
		set_remove(s, &thread->process->pending, thread->answer);
		thread->answer = NULL;
	} else if (endpoint->role == ROLE_CLIENT) {
		set_assign(&endpoint->awaiting, thread->set);
		gaps_hold(s, endpoint);
	}
}
