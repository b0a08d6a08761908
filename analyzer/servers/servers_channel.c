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
#include "servers_state.h"

/* ---- ranges ---- */

void channel_drop_first(struct channel *channel)
{
	set_unref(channel_range(channel, 0)->set);
	channel->first = (channel->first + 1) % channel->capacity;
	channel->nr--;
}

void channel_lost_step(struct channel *channel)
{
	while (channel->nr)
		channel_drop_first(channel);
	channel->in_step = channel->has_position = false;
	channel->received = channel->sent;
}

void channel_check(struct servers_channels *channels, struct channel *channel)
{
	if (channel->epoch == channels->epoch && (!channel->udp || channel->udp_losses == channels->udp_losses))
		return;
	channel->epoch = channels->epoch;
	channel->udp_losses = channels->udp_losses;
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
		bigger[i] = *channel_range(channel, i);
	free(channel->ranges);
	channel->ranges = bigger;
	channel->capacity = capacity;
	channel->first = 0;
	return true;
}

static void append(struct trace_servers *s, struct channel *channel, const struct range *range)
{
	struct range *last = channel->nr ? channel_range(channel, channel->nr - 1) : NULL;

	if (channel->in_step && last && last->set == range->set && last->thread == range->thread &&
	    last->from_ino == range->from_ino) {
		last->end = range->end;
		last->ns = range->ns;
		last->sends += range->sends;
		last->doubtful |= range->doubtful;
		return;
	}
	if (!reserve(s, channel)) {
		channel_lost_step(channel);
		return;
	}
	*channel_range(channel, channel->nr++) = *range;
	set_ref(range->set);
}

/* ---- sending ---- */

void channel_begin(struct servers_channels *channels, struct channel *channel, struct servers_thread *thread)
{
	channel_check(channels, channel);
	channel_end(channel, thread);
	if (channel->nr_sending < MAX_SENDING)
		channel->sending[channel->nr_sending++] = thread;
}

void channel_end(struct channel *channel, struct servers_thread *thread)
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

uint64_t channel_unwrap(const struct channel *channel, uint32_t position)
{
	uint64_t reference = channel->sent > channel->received ? channel->sent : channel->received;

	if (!reference)
		return (1ull << 32) + position;
	return reference + (uint64_t)(int64_t)(int32_t)(position - (uint32_t)reference);
}

void channel_send(struct trace_servers *s, struct channel *channel, struct servers_thread *thread, uint64_t amount,
		  uint32_t position)
{
	struct range range = {.ns = trace_analysis_now(s->analysis),
			      .set = thread->call.outgoing,
			      .sender = thread->process,
			      .doubtful = proof_is_doubtful(thread, thread->call.outgoing),
			      .thread = thread};
	struct range hole = {.ns = range.ns};

	channel_check(&s->channels, channel);
	range.unsure = thread->call.enter_ns <= channel->last_ns;
	channel->last_ns = range.ns;
	if (thread->call.endpoint)
		range.from_ino = thread->call.endpoint->ino;
	if (channel->absolute) {
		uint64_t end = channel_unwrap(channel, position);

		hole.end = end - amount;
		if (!channel->has_position || hole.end > channel->sent)
			append(s, channel, &hole); /* sent before the trace, or not recorded */
		channel->has_position = channel->in_step = true;
		channel->sent = end;
	} else {
		channel->sent += amount;
	}
	range.end = channel->sent;
	/* else a part was received before this call ended */
	range.sends = !channel->in_step || channel->received <= channel->sent - amount;
	if (!channel->in_step || range.end > channel->received)
		append(s, channel, &range);
}

void channel_put(struct trace_servers *s, struct channel *channel, const struct range *range)
{
	struct range put = *range;

	channel_check(&s->channels, channel);
	put.end = ++channel->sent;
	if (!channel->in_step || put.end > channel->received)
		append(s, channel, &put);
}

const struct range *channel_last(const struct channel *channel)
{
	return channel->nr ? channel_range(channel, channel->nr - 1) : NULL;
}

struct range *channel_message_of(const struct channel *channel, uint64_t from_ino)
{
	uint64_t begin = channel->received;

	for (uint32_t i = 0; channel->in_step && i < channel->nr; i++) {
		struct range *range = channel_range(channel, i);

		if (range->from_ino == from_ino)
			return range->end - begin == 1 ? range : NULL;
		begin = range->end;
	}
	return NULL;
}

struct range *channel_unsure_of(const struct channel *channel, const struct servers_process *sender)
{
	for (uint32_t i = 0; channel->in_step && i < channel->nr; i++)
		if (channel_range(channel, i)->sender == sender)
			return channel_range(channel, i)->unsure ? channel_range(channel, i) : NULL;
	return NULL;
}

/* ---- receiving ---- */

void channel_drained(struct trace_servers *s, struct channel *channel, uint64_t ns)
{
	channel_check(&s->channels, channel);
	if (channel->in_step || servers_in_gap(s) || ns < s->gaps.until_ns)
		return;
	while (channel->nr && channel_range(channel, 0)->ns <= ns) {
		channel->received = channel_range(channel, 0)->end;
		channel_drop_first(channel);
	}
	if (!channel->nr)
		channel->received = channel->sent;
	channel->in_step = true;
}
