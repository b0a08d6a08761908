/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* servers_receive.c - data came out of a channel: which calls had sent it */
#include "servers_receive.h"
#include "servers_request.h"
#include "servers_state.h"

void receive_unknown(struct trace_servers *s, struct servers_thread *thread, struct endpoint *endpoint)
{
	request_receive(s, thread, endpoint, &(struct range){.sender = NULL});
}

/* Receive bytes that no finished call sent: they are from threads that are sending now. */
static bool receive_unfinished(struct trace_servers *s, struct endpoint *endpoint, struct channel *channel,
			       struct servers_thread *thread)
{
	const struct endpoint *sends = channel == &endpoint->channel ? endpoint : endpoint->peer;
	const struct ring_op *op;
	bool waker_sends = false;

	for (uint32_t i = 0; i < channel->nr_sending; i++)
		waker_sends |= channel->sending[i] == thread->call.waker;
	for (uint32_t i = 0; i < channel->nr_sending; i++) {
		struct servers_thread *sender = channel->sending[i];

		if (waker_sends && sender != thread->call.waker)
			continue;
		thread->call.sends++;
		request_receive(s, thread, endpoint,
				&(struct range){.set = sender->call.outgoing,
						.doubtful = proof_is_doubtful(sender, sender->call.outgoing),
						.sender = sender->process,
						.thread = sender,
						.from_ino = sender->call.endpoint ? sender->call.endpoint->ino : 0});
	}
	if (channel->nr_sending || !sends)
		return channel->nr_sending;
	op = ring_sending(sends); /* the oldest */
	if (op)
		request_receive(s, thread, endpoint,
				&(struct range){.set = op->outgoing,
						.doubtful = true,
						.sender = op->user->process,
						.thread = op->user,
						.from_ino = sends->ino});
	return op;
}

static void receive_until(struct trace_servers *s, struct endpoint *endpoint, struct channel *channel,
			  struct servers_thread *thread, uint64_t to)
{
	while (channel->nr && channel->received < to) {
		struct range *range = channel_range(channel, 0);

		thread->call.sends += range->sends;
		range->sends = 0;
		request_receive(s, thread, endpoint, range);
		if (range->end > to) {
			channel->received = to;
			return;
		}
		channel->received = range->end;
		channel_drop_first(channel);
	}
	if (channel->received >= to || (channel->received < channel->sent && channel->nr))
		return;
	/* The part beyond the end of all that finished calls sent. */
	if (receive_unfinished(s, endpoint, channel, thread) || channel->absolute)
		channel->received = to;
}

void channel_peek(struct trace_servers *s, struct endpoint *endpoint, struct channel *channel,
		  struct servers_thread *thread, uint64_t amount, uint32_t position)
{
	uint64_t from = channel->absolute ? channel_unwrap(channel, position) : channel->received, at = from;

	channel_check(&s->channels, channel);
	if (!channel->in_step && !(channel->absolute && channel->has_position)) {
		receive_unknown(s, thread, endpoint);
		return;
	}
	for (uint32_t i = 0; i < channel->nr && at < from + amount; i++) {
		struct range *range = channel_range(channel, i);

		if (range->end <= from)
			continue;
		thread->call.sends += range->sends;
		range->sends = 0;
		request_receive(s, thread, endpoint, range);
		at = range->end;
	}
	if (at < from + amount)
		receive_unfinished(s, endpoint, channel, thread);
}

void channel_receive(struct trace_servers *s, struct endpoint *endpoint, struct channel *channel,
		     struct servers_thread *thread, uint64_t amount, uint32_t position)
{
	uint64_t to, begin;
	bool all = thread->call.bytes_asked && amount < thread->call.bytes_asked;

	channel_check(&s->channels, channel);
	if (!channel->in_step && thread->sleep.last_ns)
		channel_drained(s, channel, thread->sleep.last_ns);
	if (channel->absolute) {
		to = channel_unwrap(channel, position);
		if (to == channel->sent + 1 && endpoint->peer && endpoint->peer->closed_ns)
			/*
			 * TCP counts the end of the stream as one byte, and this call received it
			 * with the last data.
			 */
			to--;
		begin = to - amount;
		while (channel->nr && channel_range(channel, 0)->end <= begin)
			channel_drop_first(channel);
		if (!channel->has_position && !channel->in_step) {
			receive_unknown(s, thread, endpoint);
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
	receive_unknown(s, thread, endpoint);
	if (all && !channel->nr_sending) /* nothing is left in it */
		channel_drained(s, channel, trace_analysis_now(s->analysis));
}
