/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_channel.c - channels: which call sent the bytes that come out
 *
 * A channel is one direction of a connection, or the content of a pipe. Both ends count positions.
 * The sender's call appends a range that ends at its new position. The receiver's call takes the
 * ranges that its own position moves across. So each byte is matched with the call that sent it,
 * whatever happened in between. Times are never compared.
 *
 * Example: A writes 100 bytes to a pipe, then B writes 50. The ranges are (0, 100] of A and (100,
 * 150] of B. A read of 120 bytes moves the reader's position from 0 to 120: it received from A and
 * from B, and (120, 150] of B remains.
 *
 * TCP's positions are the sequence numbers, which are the same at both ends. For the others we
 * count bytes (datagrams, seqpackets: messages) from zero. These counts agree only if the channel
 * was empty when counting began. So a channel that existed before the trace, or before a gap, is
 * out of step until it was observed empty: its reader went to sleep waiting for data, found none,
 * or got less than it asked for. Until then the senders of its data are not known.
 *
 * A receiver may finish before the sender's call returns, and only that return is recorded. Then
 * the bytes belong to the thread that is in a sending call (channel.sending). If there are several,
 * they belong to the one that woke the receiver, else to all of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "kernel_numbers.h"
#include "servers_ledger.h"

#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17

/* ---- endpoints ---- */

static uint64_t pipe_key(uint32_t dev, uint64_t ino)
{
	return hash_u64(hash_u64(ino) ^ (uint64_t)dev << 32 ^ 0x70697065) | 1;
}

static uint64_t socket_key(uint64_t ino)
{
	return hash_u64(ino) | 1;
}

static struct endpoint *endpoint_at(struct trace_servers *s, uint64_t key, uint64_t ino, enum endpoint_kind kind)
{
	struct pointer_row *row = table_add(&s->endpoints, sizeof(*row), key);
	struct endpoint *endpoint = row ? row->pointer : NULL;

	if (endpoint || !row)
		return endpoint;
	endpoint = row->pointer = calloc(1, sizeof(*endpoint));
	if (!endpoint) {
		table_remove(&s->endpoints, sizeof(*row), key); /* each row has its endpoint */
		s->failed = -ENOMEM;
		return NULL;
	}
	endpoint->key = key;
	endpoint->ino = ino;
	endpoint->kind = (uint8_t)kind;
	endpoint->channel.absolute = kind == ENDPOINT_TCP;
	endpoint->channel.epoch = s->epoch;
	endpoint->channel.doubt = s->udp_doubt;
	return endpoint;
}

static bool is_udp(uint16_t family, uint16_t type, uint16_t protocol)
{
	return (family == AF_INET || family == AF_INET6) && (protocol == PROTOCOL_UDP || (!protocol && type == SOCK_DGRAM));
}

static enum endpoint_kind kind_of(uint16_t family, uint16_t type, uint16_t protocol)
{
	if (family == AF_UNIX)
		return type == SOCK_DGRAM ? ENDPOINT_DATAGRAM : type == SOCK_SEQPACKET ? ENDPOINT_SEQPACKET : ENDPOINT_STREAM;
	if ((family == AF_INET || family == AF_INET6) && (protocol == PROTOCOL_TCP || (!protocol && type == SOCK_STREAM)))
		return ENDPOINT_TCP;
	return is_udp(family, type, protocol) ? ENDPOINT_DATAGRAM : ENDPOINT_OTHER;
}

static struct endpoint *endpoint_at_key(const struct trace_servers *s, uint64_t key)
{
	const struct pointer_row *row = table_find(&s->endpoints, sizeof(*row), key);

	return row ? row->pointer : NULL;
}

struct endpoint *endpoint_find(const struct trace_servers *s, uint64_t ino)
{
	return ino ? endpoint_at_key(s, socket_key(ino)) : NULL;
}

struct endpoint *endpoint_get(struct trace_servers *s, uint64_t ino, uint16_t family, uint16_t type, uint16_t protocol)
{
	struct endpoint *endpoint = ino ? endpoint_at(s, socket_key(ino), ino, kind_of(family, type, protocol)) : NULL;

	if (endpoint)
		endpoint->channel.udp |= is_udp(family, type, protocol);
	return endpoint;
}

struct endpoint *pipe_get(struct trace_servers *s, uint32_t dev, uint64_t ino)
{
	struct endpoint *pipe = ino ? endpoint_at(s, pipe_key(dev, ino), ino, ENDPOINT_PIPE) : NULL;

	if (pipe)
		pipe->closed_ns = 0; /* the caller has it open */
	return pipe;
}

struct endpoint *tuple_peer(const struct trace_servers *s, const struct endpoint *endpoint)
{
	struct endpoint *peer = (struct endpoint *)(uintptr_t)tuple_other(&s->tuples, &endpoint->ends);

	if (!peer || peer->retired) /* of an earlier connection from the same port */
		return NULL;
	return tuple_are_ends(&peer->ends, &endpoint->ends) ? peer : NULL;
}

static void forget_tuple(struct trace_servers *s, const struct endpoint *endpoint)
{
	if (endpoint->ends.remote_port)
		tuple_remove(&s->tuples, &endpoint->ends, (uintptr_t)endpoint);
}

/*
 * A socket that was connected to another address, or disconnected, is no longer found by its old
 * addresses.
 */
static void learn_tuple(struct trace_servers *s, struct endpoint *endpoint, const struct trace_sock_endpoints *ends)
{
	forget_tuple(s, endpoint);
	endpoint->ends = (struct tuple){
		.local = {ends->local_hi, ends->local_lo},
		.remote = {ends->remote_hi, ends->remote_lo},
		.local_port = ends->local_port,
		.remote_port = ends->remote_port,
		.net = ends->netns,
	};
	if (ends->remote_port && !tuple_add(&s->tuples, &endpoint->ends, (uintptr_t)endpoint))
		s->failed = -ENOMEM;
}

static void learn_listener(struct trace_servers *s, struct endpoint *endpoint, const struct trace_sock_endpoints *ends)
{
	if (!port_add(&s->listeners, ends->netns, ends->local_port, (uintptr_t)endpoint))
		s->failed = -ENOMEM;
	endpoint->at_port = true;
}

struct endpoint *listener_here(const struct trace_servers *s, const struct endpoint *endpoint)
{
	return (struct endpoint *)(uintptr_t)port_find(&s->listeners, endpoint->ends.net, endpoint->ends.local_port, false);
}

struct endpoint *listener_there(const struct trace_servers *s, const struct endpoint *endpoint)
{
	return (struct endpoint *)(uintptr_t)port_find(&s->listeners, endpoint->ends.net, endpoint->ends.remote_port, true);
}

/*
 * The end that was made first does not know the other yet, or its last event contains less than was
 * known before. So linking one end links both.
 */
static void link_ends(struct endpoint *one, struct endpoint *two)
{
	if (!one || !two || one == two)
		return;
	if (one->peer && one->peer->peer == one)
		one->peer->peer = NULL;
	if (two->peer && two->peer->peer == two)
		two->peer->peer = NULL;
	one->peer = two;
	two->peer = one;
}

static bool in_gap(const struct trace_servers *s)
{
	return trace_analysis_now(s->analysis) < s->gap_until;
}

void endpoint_learn(struct trace_servers *s, const struct trace_sock_endpoints *ends, struct ledger_process *owner, bool is_new)
{
	struct endpoint *endpoint = endpoint_get(s, ends->ino, ends->family, ends->type, (uint16_t)ends->protocol);

	if (!endpoint)
		return;
	endpoint->kind = (uint8_t)kind_of(ends->family, ends->type, (uint16_t)ends->protocol);
	endpoint->closed_ns = 0;
	endpoint->gone = false;
	endpoint->channel.absolute = endpoint->kind == ENDPOINT_TCP;
	if (owner)
		endpoint->owner = owner;
	if (is_new && !in_gap(s))
		endpoint->is_new = endpoint->channel.in_step = true;
	if (ends->state == TCP_LISTEN) {
		endpoint->listening = true;
		if (owner)
			owner->listens = true;
		if (endpoint->kind == ENDPOINT_TCP)
			learn_listener(s, endpoint, ends);
	}
	if (endpoint->kind == ENDPOINT_TCP) {
		learn_tuple(s, endpoint, ends);
		if (ends->remote_port)
			link_ends(endpoint, tuple_peer(s, endpoint));
	} else if (ends->family == AF_UNIX && ends->peer_ino && ends->peer_ino != ends->ino &&
		   endpoint->kind != ENDPOINT_DATAGRAM) {
		link_ends(endpoint, endpoint_get(s, ends->peer_ino, ends->family, ends->type, 0));
	}
}

/* ---- ranges ---- */

static struct range *range_at(const struct channel *channel, uint32_t idx)
{
	return &channel->ranges[(channel->first + idx) % channel->capacity];
}

static void drop_first(struct channel *channel)
{
	set_unref(range_at(channel, 0)->set);
	channel->first = (channel->first + 1) % channel->capacity;
	channel->nr--;
}

void channel_lost_step(struct channel *channel)
{
	while (channel->nr)
		drop_first(channel);
	channel->in_step = channel->has_position = false;
	channel->received = channel->sent;
}

void endpoint_empty(struct endpoint *endpoint)
{
	channel_lost_step(&endpoint->channel);
	set_assign(&endpoint->open, NULL);
	set_assign(&endpoint->connect_set, NULL);
	set_assign(&endpoint->awaiting, NULL);
}

void endpoint_free(struct endpoint *endpoint)
{
	gaps_let_go(endpoint);
	free(endpoint->channel.ranges);
	free(endpoint);
}

/* ---- closed connections ---- */

/*
 * A connection is freed when all of these are true:
 *
 *   - both ends are closed (TCP: by their states; pipes and other sockets: by the analysis)
 *   - everything sent has been received
 *   - no thread or packet refers to it
 *   - no request that came in through it is alive
 *
 * sweep() checks this when enough connections were closed: as many as remained after the last
 * sweep, and SWEEP_LEAST more.
 */
#define SWEEP_LEAST 1024u
/*
 * The other end may have shut down one direction only. If it has not received the data on its way
 * within this time, it never will.
 */
#define UNREAD_NS   10000000000u

static void retire(struct trace_servers *s, struct endpoint *endpoint)
{
	struct endpoint **bigger;

	if (endpoint->retired)
		return;
	if (s->nr_retired == s->max_retired) {
		bigger = reallocarray(s->retired, s->max_retired ? s->max_retired * 2 : SWEEP_LEAST, sizeof(struct endpoint *));
		if (!bigger) {
			s->failed = -ENOMEM;
			return;
		}
		s->max_retired = s->max_retired ? s->max_retired * 2 : SWEEP_LEAST;
		s->retired = bigger;
	}
	endpoint->retired = true;
	s->retired[s->nr_retired++] = endpoint;
}

static void pin(struct endpoint *endpoint)
{
	if (endpoint)
		endpoint->pinned = true;
}

static bool is_over(const struct trace_servers *s, const struct endpoint *endpoint)
{
	if (!endpoint->closed_ns || endpoint->pinned || endpoint->at_port || endpoint->ring_ops.nr || endpoint->channel.nr_sending)
		return false;
	if (!endpoint->channel.nr || !endpoint->peer || endpoint->peer->gone)
		return true;
	return trace_analysis_now(s->analysis) > endpoint->closed_ns + UNREAD_NS;
}

static void forget_connection(struct trace_servers *s, struct endpoint *endpoint)
{
	forget_tuple(s, endpoint);
	table_remove(&s->endpoints, sizeof(struct pointer_row), endpoint->key);
	if (endpoint->peer)
		endpoint->peer->peer = NULL;
	endpoint_free(endpoint);
}

static void sweep(struct trace_servers *s)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < s->nr_retired; i++)
		s->retired[i]->pinned = false;
	for (uint32_t i = 0; i < s->nr_threads; i++) {
		struct ledger_thread *thread = s->threads[i];

		if (!thread)
			continue;
		pin(thread->endpoint);
		pin(thread->target);
		pin(thread->ring_made);
	}
	packets_pin(s);
	/* requests here that are not answered yet never will be */
	for (uint32_t i = 0; i < s->nr_retired; i++) {
		struct endpoint *endpoint = s->retired[i];

		if (is_over(s, endpoint) && (!endpoint->peer || is_over(s, endpoint->peer)))
			endpoint_empty(endpoint);
	}
	for (uint32_t i = 0; i < s->nr_retired; i++) {
		struct endpoint *endpoint = s->retired[i], *peer = endpoint->peer;

		if (!endpoint->closed_ns) /* it was connected again */
			endpoint->retired = false;
		else if (is_over(s, endpoint) && !endpoint->refs && (!peer || (is_over(s, peer) && !peer->refs)))
			forget_connection(s, endpoint);
		else
			s->retired[left++] = endpoint;
	}
	s->nr_retired = left;
	s->sweep_at = left * 2 + SWEEP_LEAST;
}

static void retire_both(struct trace_servers *s, struct endpoint *endpoint)
{
	retire(s, endpoint);
	if (endpoint->peer)
		retire(s, endpoint->peer);
	if (s->nr_retired >= (s->sweep_at ? s->sweep_at : SWEEP_LEAST))
		sweep(s);
}

void endpoint_closed(struct trace_servers *s, struct endpoint *endpoint, bool gone)
{
	endpoint->gone |= gone;
	if (endpoint->kind != ENDPOINT_TCP || endpoint->listening || endpoint->closed_ns)
		return;
	endpoint->closed_ns = trace_analysis_now(s->analysis);
	if (endpoint->peer ? !endpoint->peer->closed_ns : !endpoint_is_remote(endpoint))
		return; /* the other end may be connected, and not accepted yet */
	retire_both(s, endpoint);
}

void endpoint_gone(void *data, const struct trace_file_id *id)
{
	struct trace_servers *s = data;
	struct endpoint *endpoint = S_ISFIFO(id->mode) ? endpoint_at_key(s, pipe_key(id->dev, id->ino)) : endpoint_find(s, id->ino);

	if (!endpoint || (endpoint->kind == ENDPOINT_TCP && (endpoint->listening || endpoint->ends.remote_port)))
		return; /* TCP connections are released by their states */
	endpoint->gone = true;
	if (!endpoint->closed_ns)
		endpoint->closed_ns = trace_analysis_now(s->analysis);
	if (!endpoint->peer || endpoint->peer->closed_ns)
		retire_both(s, endpoint);
}

/* If events are missing since the last use of @channel, what it contains is not known. */
static void check_epoch(struct trace_servers *s, struct channel *channel)
{
	if (channel->epoch == s->epoch && (!channel->udp || channel->doubt == s->udp_doubt))
		return;
	channel->epoch = s->epoch;
	channel->doubt = s->udp_doubt;
	channel->nr_sending = 0;
	channel_lost_step(channel);
}

static bool reserve(struct trace_servers *s, struct channel *channel)
{
	uint32_t capacity = channel->capacity ? channel->capacity * 2 : 4;
	struct range *bigger;

	if (channel->nr < channel->capacity)
		return true;
	bigger = capacity <= MAX_RANGES ? malloc(capacity * sizeof(*bigger)) : NULL;
	if (!bigger) {
		if (capacity <= MAX_RANGES)
			s->failed = -ENOMEM;
		return false;
	}
	for (uint32_t i = 0; i < channel->nr; i++)
		bigger[i] = *range_at(channel, i);
	free(channel->ranges);
	channel->ranges = bigger;
	channel->capacity = capacity;
	channel->first = 0;
	return true;
}

static void append(struct trace_servers *s, struct channel *channel, const struct range *range)
{
	struct range *last = channel->nr ? range_at(channel, channel->nr - 1) : NULL;

	if (channel->in_step && last && last->set == range->set && last->thread == range->thread &&
	    last->from_ino == range->from_ino) {
		last->end = range->end;
		last->ns = range->ns;
		return;
	}
	if (!reserve(s, channel)) {
		channel_lost_step(channel);
		return;
	}
	*range_at(channel, channel->nr++) = *range;
	set_ref(range->set);
}

/* ---- sending ---- */

void channel_begin(struct trace_servers *s, struct channel *channel, struct ledger_thread *thread)
{
	check_epoch(s, channel);
	channel_end(channel, thread);
	if (channel->nr_sending < MAX_SENDING)
		channel->sending[channel->nr_sending++] = thread;
}

void channel_end(struct channel *channel, struct ledger_thread *thread)
{
	for (uint32_t i = 0; i < channel->nr_sending; i++)
		if (channel->sending[i] == thread) {
			channel->sending[i] = channel->sending[--channel->nr_sending];
			break;
		}
	if (!channel->nr_sending && channel->received > channel->sent && !channel->absolute)
		/*
		 * more was received than this call sent: the rest came from a sender that was not
		 * recorded
		 */
		channel->received = channel->sent;
}

/* Returns the 64-bit sequence number nearest to the last known one. */
static uint64_t unwrap(struct channel *channel, uint32_t position)
{
	uint64_t reference = channel->sent > channel->received ? channel->sent : channel->received;

	if (!reference)
		return (1ull << 32) + position;
	return reference + (uint64_t)(int64_t)(int32_t)(position - (uint32_t)reference);
}

void channel_send(struct trace_servers *s, struct channel *channel, struct ledger_thread *thread, uint64_t amount,
		  uint32_t position)
{
	struct range range = {
		.ns = trace_analysis_now(s->analysis), .set = thread->outgoing, .sender = thread->process, .thread = thread};
	struct range hole = {.ns = range.ns};

	check_epoch(s, channel);
	range.unsure = thread->enter_ns <= channel->last_ns;
	channel->last_ns = range.ns;
	if (thread->endpoint)
		range.from_ino = thread->endpoint->ino;
	if (channel->absolute) {
		uint64_t end = unwrap(channel, position);

		hole.end = end - amount;
		if (!channel->has_position || hole.end > channel->sent)
			append(s, channel, &hole); /* sent before the trace, or not recorded */
		channel->has_position = channel->in_step = true;
		channel->sent = end;
	} else {
		channel->sent += amount;
	}
	range.end = channel->sent;
	if (!channel->in_step || range.end > channel->received)
		append(s, channel, &range);
}

void channel_put(struct trace_servers *s, struct channel *channel, const struct range *range)
{
	struct range put = *range;

	check_epoch(s, channel);
	put.end = ++channel->sent;
	if (!channel->in_step || put.end > channel->received)
		append(s, channel, &put);
}

const struct range *channel_last(const struct channel *channel)
{
	return channel->nr ? range_at(channel, channel->nr - 1) : NULL;
}

struct range *channel_message_of(const struct channel *channel, uint64_t from_ino)
{
	uint64_t begin = channel->received;

	for (uint32_t i = 0; channel->in_step && i < channel->nr; i++) {
		struct range *range = range_at(channel, i);

		if (range->from_ino == from_ino)
			return range->end - begin == 1 ? range : NULL;
		begin = range->end;
	}
	return NULL;
}

struct range *channel_unsure_of(const struct channel *channel, const struct ledger_process *sender)
{
	for (uint32_t i = 0; channel->in_step && i < channel->nr; i++)
		if (range_at(channel, i)->sender == sender)
			return range_at(channel, i)->unsure ? range_at(channel, i) : NULL;
	return NULL;
}

/* ---- receiving ---- */

void channel_drained(struct trace_servers *s, struct channel *channel, uint64_t ns)
{
	check_epoch(s, channel);
	if (channel->in_step || in_gap(s) || ns < s->gap_until)
		return;
	while (channel->nr && range_at(channel, 0)->ns <= ns) {
		channel->received = range_at(channel, 0)->end;
		drop_first(channel);
	}
	if (!channel->nr)
		channel->received = channel->sent;
	channel->in_step = true;
}

/* Receive bytes that no finished call sent: they are from threads that are sending now. */
static bool receive_unfinished(struct trace_servers *s, struct endpoint *endpoint, struct channel *channel,
			       struct ledger_thread *thread)
{
	const struct endpoint *sends = channel == &endpoint->channel ? endpoint : endpoint->peer;
	bool waker_sends = false, found = false;
	struct ledger_thread *user;
	struct set *set;

	for (uint32_t i = 0; i < channel->nr_sending; i++)
		waker_sends |= channel->sending[i] == thread->waker;
	for (uint32_t i = 0; i < channel->nr_sending; i++) {
		struct ledger_thread *sender = channel->sending[i];

		if (waker_sends && sender != thread->waker)
			continue;
		s->sender = sender;
		request_receive(s, thread, endpoint, sender->process, sender->outgoing,
				sender->endpoint ? sender->endpoint->ino : 0);
	}
	if (channel->nr_sending || !sends)
		return channel->nr_sending;
	/* the oldest */
	for (const struct ring_op *op = NULL; !found && (op = ring_sending(sends, op, &user, &set));) {
		s->sender = user;
		request_receive(s, thread, endpoint, user->process, set, sends->ino);
		found = true;
	}
	return found;
}

static void receive_until(struct trace_servers *s, struct endpoint *endpoint, struct channel *channel,
			  struct ledger_thread *thread, uint64_t to)
{
	while (channel->nr && channel->received < to) {
		struct range *range = range_at(channel, 0);

		s->sender = range->thread;
		request_receive(s, thread, endpoint, range->sender, range->set, range->from_ino);
		if (range->end > to) {
			channel->received = to;
			return;
		}
		channel->received = range->end;
		drop_first(channel);
	}
	if (channel->received >= to || (channel->received < channel->sent && channel->nr))
		return;
	/* The part beyond the end of all that finished calls sent. */
	if (receive_unfinished(s, endpoint, channel, thread) || channel->absolute)
		channel->received = to;
}

void channel_receive(struct trace_servers *s, struct endpoint *endpoint, struct channel *channel, struct ledger_thread *thread,
		     uint64_t amount, uint32_t position)
{
	uint64_t to, begin;
	bool all = thread->asked && amount < thread->asked;

	check_epoch(s, channel);
	if (!channel->in_step && thread->slept_ns)
		channel_drained(s, channel, thread->slept_ns);
	if (channel->absolute) {
		to = unwrap(channel, position);
		if (to == channel->sent + 1 && endpoint->peer && endpoint->peer->closed_ns)
			/*
			 * TCP counts the end of the stream as one byte, and this call received it
			 * with the last data.
			 */
			to--;
		begin = to - amount;
		while (channel->nr && range_at(channel, 0)->end <= begin)
			drop_first(channel);
		if (!channel->has_position && !channel->in_step) {
			request_receive(s, thread, endpoint, NULL, NULL, 0);
			channel->received = to;
			return;
		}
		channel->received = begin;
		receive_until(s, endpoint, channel, thread, to);
		channel->received = to;
		return;
	}
	if (channel->in_step) {
		receive_until(s, endpoint, channel, thread, channel->received + amount);
		return;
	}
	request_receive(s, thread, endpoint, NULL, NULL, 0);
	if (all && !channel->nr_sending) /* nothing is left in it */
		channel_drained(s, channel, trace_analysis_now(s->analysis));
}

struct channel *channel_in(const struct trace_servers *s, struct endpoint *endpoint)
{
	switch (endpoint->kind) {
	case ENDPOINT_DATAGRAM:
	case ENDPOINT_PIPE:
		return &endpoint->channel;
	case ENDPOINT_TCP:
		return endpoint->peer ? &endpoint->peer->channel : NULL;
	default:
		return endpoint->peer ? &endpoint->peer->channel : NULL;
	}
}
