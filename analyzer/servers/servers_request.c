/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_request.c - requests: which process works for which client
 *
 * Terms: servers_state.h. The rules:
 *
 *   1. A request begins when data, or a connection, comes from another process or host to the
 *      server's end of a connection. Its parent is the request that its sender worked on, and it
 *      takes over the parent's origin. If the sender worked on several, each begins a request.
 *      So the origin travels with everything that is sent, through any number of servers.
 *   2. A request ends with the first data that goes back the same way.
 *   3. An answer brings back what the client worked on: if the data carries a request with an
 *      ancestor that this process had sent, then it is no new request. The thread continues the
 *      work of that ancestor's parent (restore_client_work()). So an event loop that gave a part
 *      of its work to another server continues for the right client.
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
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "servers_request.h"
#include "servers_state.h"

#define MAX_DEPTH 32u
/*
 * Requests that one message carries: the latest. Without this limit a process that takes the tokens
 * of many others, as the jobs of make do, would have twice as many requests as the process before
 * it.
 */
#define MAX_CARRIED 256u
#define MAX_OPEN    64u /* unanswered requests of one connection; if there are more, it never answers */

/* ---- requests come in ---- */

static inline __attribute__((always_inline)) void count_request(struct trace_servers *s,
								struct servers_process *process,
								struct server_request *request)
{
	struct bill *bill = request->counted ? NULL : bill_of(s, process, request->origin);

	if (__builtin_expect(s->kept != NULL, 0))
		kept_counted(s, process, request);
	request->counted = true;
	if (!bill)
		return;
	bill->requests++;
	request->reader = process;
}

static void endpoint_enter(struct endpoint *endpoint, struct server_request *request)
{
	request->endpoint = endpoint;
	request->next = endpoint->requests;
	request->link = &endpoint->requests;
	if (request->next)
		request->next->link = &request->next;
	endpoint->requests = request;
}

static struct server_request *request_new(struct trace_servers *s, struct endpoint *endpoint, uint32_t origin,
					  struct servers_process *sender, struct server_request *parent,
					  uint64_t from_ino)
{
	struct server_request *request = malloc(sizeof(*request) + sizeof(request->only.items[0]));

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
static struct server_request *request_continued(const struct endpoint *endpoint, uint32_t origin,
						const struct server_request *parent)
{
	if ((endpoint->kind != ENDPOINT_STREAM && endpoint->kind != ENDPOINT_TCP) || endpoint->shared)
		return NULL;
	for (uint32_t i = 0; endpoint->open && i < endpoint->open->nr; i++) {
		struct server_request *open = endpoint->open->items[i];

		if (open->origin == origin && (open->parent == parent || !open->parent || !parent))
			return open;
	}
	return NULL;
}

static struct server_request *request_open(struct trace_servers *s, struct servers_thread *thread,
					   struct endpoint *endpoint, uint32_t origin, struct servers_process *sender,
					   struct server_request *parent, uint64_t from_ino)
{
	const struct servers_process *doubter;
	struct server_request *request;

	if (endpoint->kind == ENDPOINT_PIPE && sender)
		origin = origin_link(s, origin, sender, thread->process);
	if (sender && endpoint->sender && endpoint->sender != sender && !endpoint->shared) {
		endpoint->shared = true;
		set_assign(&endpoint->open, NULL);
	}
	endpoint->sender = sender;
	request = request_ref(request_continued(endpoint, origin, parent));
	if (request)
		request->unsure |= parent && parent != request->parent && proof_is_unsure(parent, &doubter);
	else
		request = request_new(s, endpoint, origin, sender, parent, from_ino);
	if (!request)
		return NULL;
	if (__builtin_expect(s->kept && !request->kept, 0))
		kept_made(s, thread->process, request);
	if (!is_queue(endpoint)) {
		if (endpoint->open && endpoint->open->nr >= MAX_OPEN)
			set_remove(&s->sets, &endpoint->open, endpoint->open->items[0]);
		set_put(&s->sets, &endpoint->open, request);
		endpoint_holds_set(&s->endpoints, endpoint);
	}
	set_put(&s->sets, &thread->call.incoming, request);
	request->unsure |= thread->call.doubtful;
	request_sent_by(request, thread->call.sends);
	thread->call.sends = 0;
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
static bool continues_own_request(struct trace_servers *s, struct servers_thread *thread,
				  struct server_request *carried)
{
	if (!carried || carried->replied || !set_has(thread->set, carried))
		return false;
	set_put(&s->sets, &thread->call.incoming, carried);
	return true;
}

static void open_all(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint,
		     struct servers_process *sender, struct set *carried, uint64_t from_ino, bool counted)
{
	uint32_t nr = carried ? carried->nr : 1;

	for (uint32_t i = nr > MAX_CARRIED ? nr - MAX_CARRIED : 0; i < nr; i++) {
		struct server_request *parent = carried ? carried->items[i] : NULL, *request;

		if (continues_own_request(s, thread, parent))
			continue;
		request = request_open(s, thread, endpoint, parent ? parent->origin : origin_process(s, sender), sender,
				       parent, from_ino);
		if (!request || !counted)
			continue;
		count_request(s, thread->process, request);
		open_begin(s, thread->process, endpoint->signal ? NULL : thread, request);
	}
}

/*
 * Data came back from a process that was asked: put what this process then worked on into incoming.
 */
static bool restore_client_work(struct trace_servers *s, struct servers_thread *thread, const struct set *carried)
{
	bool found = false;

	for (uint32_t i = 0; carried && i < carried->nr; i++)
		for (const struct server_request *at = carried->items[i]; at; at = at->parent)
			if (at->sender == thread->process) {
				found = true;
				if (at->parent && !at->parent->replied)
					set_put(&s->sets, &thread->call.incoming, at->parent);
				break;
			}
	return found;
}

static void receive_remote(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint)
{
	struct server_request *request;

	endpoint_find_role(&s->endpoints, endpoint, ROLE_SERVER);
	if (endpoint->role == ROLE_CLIENT) {
		set_put_all(&s->sets, &thread->call.incoming, endpoint->awaiting);
		return;
	}
	request = request_open(s, thread, endpoint, origin_address(s, endpoint), NULL, NULL, 0);
	if (!request)
		return;
	count_request(s, thread->process, request);
	open_begin(s, thread->process, thread, request);
}

/*
 * Returns true if data of @sender through a pipe, or through a connection with a guessed role, is
 * an answer.
 */
static bool is_answer(struct trace_servers *s, const struct servers_thread *thread, const struct endpoint *endpoint,
		      const struct servers_process *sender)
{
	if (endpoint->kind != ENDPOINT_PIPE)
		return endpoint->role == ROLE_CLIENT &&
		       (!endpoint->guessed || (process_is_server(sender) && !process_is_server(thread->process)));
	return pair_sent_first(&s->pairs, thread->process, sender);
}

void request_receive(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint,
		     const struct range *range)
{
	struct servers_process *sender = range->sender;
	bool restored;

	thread->call.doubtful = range->doubtful;
	if (!sender) {
		if (endpoint->kind == ENDPOINT_DATAGRAM)
			/* the sender is not known, but this end was asked first */
			endpoint_find_role(&s->endpoints, endpoint, ROLE_SERVER);
		if (endpoint_is_remote(endpoint))
			receive_remote(s, thread, endpoint);
		else
			open_unknown(thread, endpoint);
		return;
	}
	if (sender == thread->process) {
		thread->call.from_own_process = true;
		set_put_all(&s->sets, &thread->call.incoming, range->set);
		return;
	}
	if (endpoint->signal || endpoint->last_from != sender || endpoint->last_to != thread->process) {
		pair_sent(s, sender, thread->process, endpoint);
		endpoint->last_from = sender;
		endpoint->last_to = thread->process;
	}
	if (endpoint->kind != ENDPOINT_PIPE)
		endpoint_find_role(&s->endpoints, endpoint, ROLE_SERVER);
	restored = (endpoint->role != ROLE_SERVER || endpoint->guessed) && restore_client_work(s, thread, range->set);
	if (restored) {
		wait_answered(s, thread, range->thread, endpoint->awaiting);
		return;
	}
	if (is_answer(s, thread, endpoint, sender)) {
		wait_answered(s, thread, range->thread, endpoint->awaiting);
		set_put_all(&s->sets, &thread->call.incoming, endpoint->awaiting);
		return;
	}
	open_all(s, thread, endpoint, sender, range->set, range->from_ino, true);
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

void request_accept(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint)
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

static bool is_answered_at(const struct server_request *request, const struct servers_thread *thread,
			   const struct endpoint *endpoint)
{
	if (endpoint->kind == ENDPOINT_PIPE)
		return request->endpoint->kind == ENDPOINT_PIPE && endpoint->owner &&
		       endpoint->owner == request->sender;
	if (request->endpoint != endpoint)
		return false;
	return endpoint->kind != ENDPOINT_DATAGRAM || !thread->destination || !request->peer_ino ||
	       request->peer_ino == thread->destination;
}

#define FEW_REQUESTS 4u

static bool has_many_requests(const struct endpoint *endpoint)
{
	uint32_t nr = 0;

	for (const struct server_request *request = endpoint->requests; request && nr <= FEW_REQUESTS;
	     request = request->next)
		nr++;
	return nr > FEW_REQUESTS;
}

/*
 * Find the only request that came in at @endpoint and that data sent there answers, in whichever
 * set it is. Returns NULL if there is none, or if *@ret_several.
 */
static struct server_request *only_answered(const struct servers_thread *thread, const struct endpoint *endpoint,
					    bool replied, bool *ret_several)
{
	struct server_request *only = NULL;

	*ret_several = endpoint->kind == ENDPOINT_PIPE || has_many_requests(endpoint);
	for (struct server_request *request = endpoint->requests; request && !*ret_several; request = request->next)
		if (request->replied == replied && is_answered_at(request, thread, endpoint)) {
			*ret_several = only != NULL;
			only = request;
		}
	return only;
}

/* Few requests of a large set came in at one endpoint: search those of the endpoint first. */
static struct server_request *find_answered(const struct set *set, const struct servers_thread *thread,
					    const struct endpoint *endpoint, bool replied)
{
	struct server_request *only;
	bool several = true;

	if (set && set->nr > FEW_REQUESTS) {
		only = only_answered(thread, endpoint, replied, &several);
		if (!several)
			return only && set_has(set, only) ? only : NULL;
	}
	for (uint32_t i = 0; set && i < set->nr; i++)
		if (set->items[i]->replied == replied && is_answered_at(set->items[i], thread, endpoint))
			return set->items[i];
	return NULL;
}

/*
 * Attribute the time since the last rest or answer to the request that is answered now.
 *
 * A thread that takes a job from a queue without blocking has no wakeup that links it to a client.
 * A thread that was woken may find another job, or several. Only the answer shows which one it was.
 */
static void attribute_to_answer(struct trace_servers *s, struct servers_thread *thread, struct server_request *answer)
{
	struct set *only = NULL;

	set_put(&s->sets, &only, answer);
	set_unref(thread->set);
	thread->set = only;
	thread->tentative = false;
	log_correct_set(thread);
}

/*
 * Find a message that came in, is not answered, and may really have been sent by another process or
 * socket. The thread may have requests that another process has read: it was forked, or a message
 * carried them. Their order is not in doubt here.
 */
static struct server_request *find_mistaken(const struct servers_thread *thread, const struct endpoint *endpoint,
					    uint64_t other_ino)
{
	const struct set *set = thread->set;

	for (uint32_t i = 0; set && i < set->nr; i++) {
		struct server_request *request = set->items[i];

		if (request->replied || !request->sender || !request->peer_ino || request->reader != thread->process)
			continue;
		if (endpoint->kind == ENDPOINT_PIPE
			    ? request->endpoint->kind == ENDPOINT_PIPE && request->sender != endpoint->owner
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
static struct server_request *correct_order(struct trace_servers *s, struct servers_thread *thread,
					    struct endpoint *answered)
{
	struct server_request *mistaken = find_mistaken(thread, answered, thread->destination);
	struct endpoint *endpoint = mistaken ? mistaken->endpoint : NULL; /* the queue */
	struct range *queued = !mistaken ? NULL
			       : answered->kind == ENDPOINT_PIPE
				       ? channel_unsure_of(&endpoint->channel, answered->owner)
			       : thread->destination ? channel_message_of(&endpoint->channel, thread->destination)
						     : NULL;
	struct range received;
	struct bill *bill;

	if (!queued || !queued->sender || queued->sender == thread->process)
		return NULL;
	received = *queued;
	queued->sender = mistaken->sender;
	queued->thread = NULL;
	queued->from_ino = mistaken->peer_ino;
	queued->set = NULL;
	if (mistaken->parent)
		set_put(&s->sets, &queued->set, mistaken->parent);
	bill = bill_of(s, thread->process, mistaken->origin);
	if (bill)
		bill->requests--;
	mistaken->reader = NULL; /* other threads may have it, too, and find it again */
	kept_mistaken(s, mistaken);
	pair_sent(s, received.sender, thread->process, endpoint);
	open_all(s, thread, endpoint, received.sender, received.set, received.from_ino, true);
	set_unref(received.set);
	set_remove(&s->sets, &thread->set, mistaken);
	set_put_all(&s->sets, &thread->set, thread->call.incoming);
	set_assign(&thread->call.incoming, NULL);
	log_correct_set(thread);
	return find_answered(thread->set, thread, answered, false);
}

/*
 * The first data on a connection that was made for a request, when connecting took some time. The
 * thread has looked for work meanwhile, so its set is empty: it becomes that request.
 */
static void resume_connected(struct trace_servers *s, struct servers_thread *thread, const struct endpoint *endpoint)
{
	struct set *resumed = NULL;

	if (thread->set || endpoint->kind != ENDPOINT_TCP || endpoint->role != ROLE_CLIENT ||
	    endpoint->channel.has_position || !endpoint->connect_set)
		return;
	set_put_all(&s->sets, &resumed, endpoint->connect_set);
	if (resumed)
		bill_replace_set(s, thread, resumed, &thread->call.enter);
	set_unref(resumed);
}

/*
 * Find a message that this process has read and not answered, from the socket that the answer is
 * for. Another process that has the same socket may have read it.
 */
static struct server_request *message_open(const struct servers_thread *thread, const struct endpoint *endpoint)
{
	struct server_request *oldest = NULL, *elsewhere = NULL;

	if (endpoint->kind != ENDPOINT_DATAGRAM || !thread->destination)
		return NULL;
	for (struct server_request *request = endpoint->requests; request; request = request->next) {
		if (request->peer_ino != thread->destination || !request_open_in(request) || request->closing)
			continue;
		if (request_open_in(request) == thread->process)
			oldest = request;
		else
			elsewhere = request;
	}
	return oldest ? oldest : elsewhere;
}

/*
 * Find a request that is not in the thread's set: the thread has read it before its last rest, or
 * another thread has. A connection without data counts only if the thread has nothing else to
 * answer, and has not answered this client before (@again).
 */
static struct server_request *find_open(const struct servers_thread *thread, const struct endpoint *endpoint,
					const struct server_request *again)
{
	struct server_request *first = NULL;

	if (endpoint->role != ROLE_SERVER || !endpoint->open)
		return message_open(thread, endpoint);
	for (uint32_t i = 0; i < endpoint->open->nr && !first; i++)
		if (endpoint->open->items[i]->counted)
			first = endpoint->open->items[i];
	if (first)
		return first;
	return again || (set_any_unanswered(thread->set) && !thread->tentative) ? NULL : endpoint->open->items[0];
}

/*
 * The endpoint where the latest answer through @endpoint is remembered: for datagrams the socket
 * that it was sent to. NULL: it is not remembered.
 */
static struct endpoint *answered_at(const struct trace_servers *s, const struct servers_thread *thread,
				    struct endpoint *endpoint)
{
	if (endpoint->role != ROLE_SERVER)
		return NULL;
	if (endpoint->kind == ENDPOINT_DATAGRAM)
		return thread->destination ? endpoint_find(&s->endpoints, thread->destination) : NULL;
	return is_queue(endpoint) ? NULL : endpoint;
}

/* Find the request that was answered here before the thread's last rest: here is more of it. */
static struct server_request *find_answered_before(const struct trace_servers *s, const struct servers_thread *thread,
						   struct endpoint *endpoint)
{
	const struct endpoint *at;
	struct server_request *before;

	if (endpoint->kind != ENDPOINT_DATAGRAM && !endpoint->answered)
		return NULL;
	at = answered_at(s, thread, endpoint);
	before = at && at->answered ? at->answered->items[0] : NULL;
	if (!before || before->endpoint != endpoint)
		return NULL;
	if (before->perhaps)
		return before;
	return request_is_closed(before) && !set_any_unanswered(thread->set) ? before : NULL;
}

/*
 * The thread has looked for work since it read its only open request, so what it asks a server is
 * for that one, or for itself: nothing is proven by it.
 */
static void send_for_only(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint)
{
	struct server_request *only = open_only(thread);

	if (!only)
		return;
	set_put(&s->sets, &thread->call.outgoing, only);
	thread->guess_ns = thread->call.enter_ns + 1;
	endpoint->asks_by_guess = true;
}

void request_prepare(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint)
{
	struct server_request *answer, *again = NULL;

	resume_connected(s, thread, endpoint);
	answer = find_answered(thread->set, thread, endpoint, false);
	if (!answer && (endpoint->kind == ENDPOINT_DATAGRAM || endpoint->kind == ENDPOINT_PIPE))
		answer = correct_order(s, thread, endpoint);
	if (!answer)
		again = find_answered(thread->set, thread, endpoint, true); /* one more piece of an answer */
	if (answer && thread->tentative)
		attribute_to_answer(s, thread, answer);
	else if (!answer && (answer = find_open(thread, endpoint, again)))
		thread->tentative = false;
	else if (!answer && endpoint->signal && !set_any_unanswered(thread->set) &&
		 (answer = find_answered(thread->process->pending, thread, endpoint, false)))
		attribute_to_answer(s, thread, answer);
	if (!answer && !again)
		again = find_answered_before(s, thread, endpoint);
	thread->call.answer = answer;
	thread->call.replies = answer || again;
	set_assign(&thread->call.outgoing, NULL);
	if (answer || again)
		set_put(&s->sets, &thread->call.outgoing, answer ? answer : again);
	else if (thread->held.nr == 1 && !thread->set && endpoint->role == ROLE_CLIENT)
		send_for_only(s, thread, endpoint);
	else
		set_assign(&thread->call.outgoing, thread->set);
}

void request_prepare_queued(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint)
{
	struct server_request *answer = find_answered(thread->set, thread, endpoint, false), *again = NULL;

	if (!answer)
		answer = find_answered(thread->ring.arrived, thread, endpoint, false);
	if (!answer)
		again = find_answered(thread->set, thread, endpoint, true);
	for (uint32_t i = 0;
	     !answer && !again && endpoint->role == ROLE_SERVER && endpoint->open && i < endpoint->open->nr; i++)
		if (endpoint->open->items[i]->counted || i + 1 == endpoint->open->nr)
			answer = endpoint->open->items[i]; /* the first with data, not only accepted */
	thread->call.answer = answer;
	thread->call.replies = answer || again;
	set_assign(&thread->call.outgoing, NULL);
	if (answer || again) {
		set_put(&s->sets, &thread->call.outgoing, answer ? answer : again);
		set_put(&s->sets, &thread->ring.answered, answer ? answer : again);
	} else {
		set_assign(&thread->call.outgoing, thread->set);
	}
}

/*
 * The thread answers a request that another process has read. If that process told it by a pipe,
 * the pipe brings work, although nothing goes back through another one.
 */
static void answers_for_another(struct trace_servers *s, const struct servers_thread *thread,
				const struct server_request *request)
{
	for (uint32_t i = 0; thread->set && i < thread->set->nr; i++) {
		const struct server_request *told = thread->set->items[i];

		if (told->parent == request && told->sender && told->endpoint->kind == ENDPOINT_PIPE)
			pair_passed(s, told->sender, thread->process);
	}
}

/* @request is answered, or more of its answer was sent. */
static void reply(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint,
		  struct server_request *request)
{
	struct endpoint *at = answered_at(s, thread, endpoint);
	struct set *only = NULL;

	if (request_open_in(request) && request_open_in(request) != thread->process) {
		answers_for_another(s, thread, request);
		thread->process->accepted |= is_queue(endpoint);
		request_open_in(request)->accepted |= is_queue(endpoint);
	}
	if (!thread->call.by_ring)
		turn_answers(s, thread, request);
	open_answered(s, thread, request);
	if (thread->call.by_ring)
		open_prove(s, thread, request);
	else
		set_put(&s->sets, &thread->call.sent, request);
	if (!at || (at->answered && at->answered->nr == 1 && at->answered->items[0] == request))
		return;
	set_put(&s->sets, &only, request);
	set_assign(&at->answered, only);
	set_unref(only);
	endpoint_holds_set(&s->endpoints, at);
}

/*
 * An answer, although no request came in here: the server has read it before the trace, or in a
 * gap.
 */
static void answers_unseen(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint)
{
	const struct endpoint *at = answered_at(s, thread, endpoint);
	struct server_request *before = at && at->answered ? at->answered->items[0] : NULL;

	if (before && before->endpoint == endpoint)
		open_answered(s, thread, before);
	else if (endpoint->role == ROLE_SERVER && !is_queue(endpoint))
		open_answers_unseen(s, thread);
}

/* The requests for which @thread has just asked at @endpoint. */
static struct set *asked_for(const struct servers_thread *thread, struct endpoint *endpoint)
{
	if (endpoint->asks_by_guess)
		endpoint->asks_by_guess = thread_guesses(thread);
	return endpoint->asks_by_guess ? thread->call.outgoing : thread->set;
}

void request_send(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint)
{
	if (endpoint->kind != ENDPOINT_PIPE)
		endpoint_find_role(&s->endpoints, endpoint, ROLE_CLIENT);
	if (endpoint->unknown) {
		open_unknown_ends(endpoint);
		thread->trails = true;
	}
	if (thread->call.replies && thread->call.outgoing)
		reply(s, thread, endpoint, thread->call.outgoing->items[0]);
	else
		answers_unseen(s, thread, endpoint);
	if (!thread->passed && !set_any_replied(&s->sets, thread->call.outgoing))
		set_assign(&thread->passed, thread->call.outgoing);
	else
		set_put_all(&s->sets, &thread->passed, thread->call.outgoing);
	if (thread->call.answer) {
		thread->call.answer->replied = true;
		s->sets.replies++;
		s->sets.last_replied = thread->call.answer;
		if (thread->call.answer->endpoint->accepted)
			thread->process->accepted = true; /* a child that was forked for it */
		thread->tentative = false;
		count_request(s, thread->process, thread->call.answer);
		set_remove(&s->sets, &thread->call.answer->endpoint->open, thread->call.answer);
		set_remove(&s->sets, &thread->process->pending, thread->call.answer);
		thread->call.answer = NULL;
	} else if (endpoint->role == ROLE_CLIENT) {
		set_assign(&endpoint->awaiting, asked_for(thread, endpoint));
		endpoint_holds_set(&s->endpoints, endpoint);
	}
}
