/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_ring.c - operations of io_uring are submitted, transfer data and complete: see
 * servers_ring_user.c
 */
#include "kernel_numbers.h"
#include "servers_receive.h"
#include "servers_request.h"
#include "servers_ring.h"
#include "servers_ring_user.h"
#include "servers_state.h"

static void prepare(struct trace_servers *s, struct ring_op *op)
{
	struct servers_thread *user = op->user;
	struct endpoint *endpoint = user->call.endpoint;
	struct set *outgoing;
	struct server_request *answer = user->call.answer;
	bool replies = user->call.replies;

	if (op->prepared)
		return;
	op->prepared = true;
	outgoing = set_ref(user->call.outgoing);
	user->call.endpoint = op->endpoint;
	request_prepare_queued(s, user, op->endpoint);
	op->answer = user->call.answer;
	op->replies = user->call.replies;
	set_assign(&op->outgoing, user->call.outgoing);
	set_assign(&user->call.outgoing, outgoing);
	set_unref(outgoing);
	user->call.answer = answer;
	user->call.replies = replies;
	user->call.endpoint = endpoint;
}

void ring_submit(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_uring_submit *submit = event->payload;
	struct servers_thread *thread = servers_current_thread(s, event),
			      *user = thread ? ring_user_of(s, thread) : NULL;
	unsigned int purpose = ring_opcode_purpose(submit->opcode);
	bool has_fd = (purpose & (SENDS | RECEIVES)) || submit->opcode == OP_CONNECT || submit->opcode == OP_ACCEPT;
	bool fixed = submit->flags & URING_FIXED_FILE;
	struct endpoint *endpoint = NULL;
	uint32_t opcode = submit->opcode;
	struct ring_op *op;

	if (thread && !thread->call.role)
		call_recover(s, thread);
	if (user && has_fd)
		endpoint = fixed ? ring_slot_find(s, user, (uint32_t)submit->fd)
				 : endpoint_of_fd(s, user, (uint64_t)submit->fd);
	if (user && submit->seen && !user->ring.several)
		ring_taken(s, user, submit->seen);
	/* Reading a file brings back what it was read for. */
	if (user && !endpoint && !fixed && (purpose & RECEIVES) && fd_has_no_sender(s, user, (uint64_t)submit->fd))
		opcode = UINT32_MAX;
	op = user ? ring_op_new(s, submit->req, user, endpoint, fixed ? (uint32_t)submit->fd : NO_SLOT, opcode) : NULL;
	if (!op)
		return;
	op->polled = thread != user;
	user->ring.polled |= op->polled;
	if (endpoint && op->opcode == OP_ACCEPT)
		endpoint->owner = user->process;
	if (endpoint && op->opcode == OP_CONNECT) {
		set_assign(&endpoint->connect_set, user->set);
		endpoint_holds_set(&s->endpoints, endpoint);
	}
	if (endpoint && (ring_opcode_purpose(op->opcode) & SENDS) && endpoint->kind != ENDPOINT_DATAGRAM)
		prepare(s, op);
	if (thread->ring.is_worker) {
		ring_bill_worker(s, thread, op, NULL);
		ring_bill_user(s, user);
	} else if (!thread->ring.billed) {
		user->ring.submitted = servers_cpu_time(s, user);
	}
	if (!(ring_opcode_purpose(op->opcode) & (RECEIVES | WAITS)))
		set_put_all(&s->sets, &user->passed, op->set);
	thread->ring.submitting = op;
	op->submitter = thread;
	if (thread->call.role != CALL_RING)
		return;
	thread->call.endpoint = endpoint;
	set_assign(&thread->call.outgoing, op->outgoing);
}

static bool is_of_call(const struct servers_thread *thread, const struct endpoint *endpoint)
{
	return (thread->call.role == CALL_SEND || thread->call.role == CALL_RECEIVE ||
		thread->call.role == CALL_SPLICE) &&
	       thread->call.endpoint == endpoint;
}

/* @user makes no calls in which it could rest. */
static void rest_of_polled(struct trace_servers *s, struct servers_thread *user)
{
	struct cpu_time now = servers_cpu_time(s, user);

	bill_drop_replied(s, user, &now);
}

bool ring_sends(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint, int64_t ret,
		uint32_t position)
{
	struct ring_op *op = s->rings.ops.used && !is_of_call(thread, endpoint)
				     ? ring_op_of(ring_user_of(s, thread), endpoint, SENDS)
				     : NULL;
	struct servers_thread *user = op ? op->user : NULL;
	struct endpoint *before;
	struct set *outgoing;
	struct server_request *answer;
	bool replies;

	if (!op)
		return false;
	if (ret <= 0)
		return true;
	servers_touch(s, user);
	prepare(s, op);
	before = user->call.endpoint;
	outgoing = user->call.outgoing;
	answer = user->call.answer;
	replies = user->call.replies;
	user->call.endpoint = endpoint;
	user->call.outgoing = op->outgoing;
	user->call.answer = op->answer;
	user->call.replies = op->replies;
	user->call.by_ring = true;
	if (channel_out(endpoint))
		channel_send(s, channel_out(endpoint), user, endpoint->kind == ENDPOINT_SEQPACKET ? 1 : (uint64_t)ret,
			     position);
	request_send(s, user, endpoint);
	if (endpoint->role == ROLE_CLIENT && !op->answer) {
		set_assign(&endpoint->awaiting, op->set);
		endpoint_holds_set(&s->endpoints, endpoint);
	}
	user->call.endpoint = before;
	user->call.outgoing = outgoing;
	user->call.answer = answer;
	user->call.replies = replies;
	user->call.by_ring = false;
	op->answer = NULL;
	ring_bill_worker(s, thread, op, op->outgoing);
	if (thread == user && !thread->ring.billed && thread->call.role == CALL_RING)
		user->ring.submitted = servers_cpu_time(s, user);
	else if (op->polled && user->call.role != CALL_RING)
		rest_of_polled(s, user);
	return true;
}

/* channel_receive() or channel_peek() */
typedef void take_fn(struct trace_servers *s, struct endpoint *endpoint, struct channel *channel,
		     struct servers_thread *thread, uint64_t amount, uint32_t position);

static bool ring_takes(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint,
		       struct channel *channel, int64_t amount, uint32_t position, take_fn *take)
{
	struct servers_thread *user = is_of_call(thread, endpoint) ? NULL : ring_user_of(s, thread);
	struct ring_op *op = user && s->rings.ops.used ? ring_op_of(user, endpoint, RECEIVES) : NULL;
	struct set *incoming, *got;
	uint64_t asked, slept_ns;
	bool handed;

	if (!op && (!user || (user == thread && thread->call.role != CALL_RING)))
		return false;
	user = op ? op->user : user;
	servers_touch(s, user);
	incoming = user->call.incoming;
	asked = user->call.bytes_asked;
	slept_ns = user->sleep.last_ns;
	handed = user->call.from_own_process;
	user->call.incoming = NULL;
	user->call.bytes_asked = 0;
	if (op && op->submit_ns > user->sleep.last_ns) /* it slept for something else */
		user->sleep.last_ns = 0;
	endpoint->owner = user->process;
	if (channel)
		take(s, endpoint, channel, user, (uint64_t)amount, position);
	else
		receive_unknown(s, user, endpoint);
	got = user->call.incoming;
	user->call.incoming = incoming;
	user->call.bytes_asked = asked;
	user->sleep.last_ns = slept_ns;
	user->call.from_own_process = handed;
	ring_arrives(s, user, got, POSITION_FOLLOWS);
	set_assign(&user->ring.got, got);
	if (op) {
		ring_bill_worker(s, thread, op, got);
		set_assign(&op->got, got);
	}
	set_unref(got);
	return true;
}

bool ring_receives(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint,
		   struct channel *channel, int64_t amount, uint32_t position)
{
	return ring_takes(s, thread, endpoint, channel, amount, position, channel_receive);
}

bool ring_looks(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint,
		struct channel *channel, int64_t amount, uint32_t position)
{
	return ring_takes(s, thread, endpoint, channel, amount, position, channel_peek);
}

static void accepted(struct trace_servers *s, struct ring_op *op, struct endpoint *endpoint, uint32_t position)
{
	struct servers_thread *user = op->user;
	struct set *incoming = user->call.incoming;

	user->call.incoming = NULL;
	endpoint->owner = user->process;
	if (!s->gaps.until_ns)
		endpoint->is_new = endpoint->channel.in_step = true;
	request_accept(s, user, endpoint);
	ring_arrives(s, user, user->call.incoming, position);
	set_unref(user->call.incoming);
	user->call.incoming = incoming;
}

/* For a pipe only the completion shows what was transferred. */
static void pipe_transfer(struct trace_servers *s, struct servers_thread *thread, struct ring_op *op, int64_t res)
{
	if (res <= 0)
		return;
	if (ring_opcode_purpose(op->opcode) & SENDS) {
		ring_sends(s, thread, op->endpoint, res, 0);
		return;
	}
	ring_receives(s, thread, op->endpoint, &op->endpoint->channel, res, 0);
}

void ring_complete(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_uring_complete *complete = event->payload;
	struct servers_thread *thread = trace_cpu_interrupt(s->analysis, event->cpu) ? NULL
										     : servers_current_thread(s, event);
	struct ring_op *op = complete->req ? ring_op_find(&s->rings, complete->req) : NULL;
	struct endpoint *made = thread ? thread->ring.made : NULL;
	struct servers_thread *user;

	if (thread)
		thread->ring.made = NULL;
	if (!op) { /* the next piece that one operation received */
		user = thread ? ring_user_of(s, thread) : NULL;
		if (user)
			ring_set_position(user, user->ring.got, complete->position);
		return;
	}
	servers_touch(s, op->user);
	if (thread && op->endpoint && op->endpoint->kind == ENDPOINT_PIPE)
		pipe_transfer(s, thread, op, complete->res);
	else if (op->opcode == OP_ACCEPT && complete->res >= 0 && made)
		accepted(s, op, made, complete->position);
	else if (op->opcode == OP_SOCKET && complete->res >= 0 && made && !s->gaps.until_ns)
		made->is_new = made->channel.in_step = true;
	if (op->opcode == OP_CONNECT && made && made->kind != ENDPOINT_DATAGRAM) {
		set_assign(&made->connect_set, op->set);
		endpoint_holds_set(&s->endpoints, made);
		made->role = ROLE_CLIENT;
		if (made->peer)
			made->peer->role = ROLE_SERVER;
	}
	if (thread && thread != op->user)
		ring_bill_worker(s, thread, op, op->got ? op->got : op->outgoing ? op->outgoing : op->set);
	ring_set_position(op->user, op->got, complete->position);
	set_assign(&op->got, NULL);
	set_assign(&op->user->ring.got, NULL);
	if (!(ring_opcode_purpose(op->opcode) & (RECEIVES | WAITS)))
		ring_arrives(s, op->user, op->set, complete->position);
	if (!(complete->flags & URING_CQE_MORE))
		ring_op_free(&s->rings, op);
}

/*
 * The event for a registered file comes when an operation on it completes, or when an operation
 * made it.
 */
void ring_file(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_uring_file *file = event->payload;
	struct ring_op *op = ring_op_find(&s->rings, file->req);

	if (!op)
		return;
	if (LINUX_S_ISSOCK(file->mode) && op->slot != NO_SLOT)
		ring_slot_learn(s, op->user, op->slot, file->ino);
	if (!op->endpoint && LINUX_S_ISFIFO(file->mode))
		ring_op_move(op, pipe_get(s, file->dev, file->ino));
}

void ring_open(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_uring_open *open = event->payload;
	struct servers_thread *thread = LINUX_S_ISSOCK(open->mode) ? servers_current_thread(s, event) : NULL,
			      *user = thread ? ring_user_of(s, thread) : NULL;

	if (user)
		ring_slot_learn(s, user, open->slot, open->ino);
}

bool ring_datagram(struct trace_servers *s, struct servers_thread *thread, uint64_t destination)
{
	struct ring_op *op = thread->call.role == CALL_RING ? thread->ring.submitting : NULL;

	if (!op || !(ring_opcode_purpose(op->opcode) & SENDS) || !op->endpoint ||
	    op->endpoint->kind != ENDPOINT_DATAGRAM)
		return false;
	thread->destination = destination;
	prepare(s, op);
	thread->call.endpoint = op->endpoint;
	set_assign(&thread->call.outgoing, op->outgoing);
	return true;
}
