/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_CHANNEL_H
#define ANALYZER_SERVERS_SERVERS_CHANNEL_H
/*
 * servers_channel.h - one direction of a connection, or the content of a pipe or queue: which call
 * sent the data
 */
#include <stdbool.h>
#include <stdint.h>
#include "servers_set.h"

struct trace_servers;

/* data on its way: the positions from the end of the range before up to @end, sent by one call */
struct range {
	uint64_t end;
	uint64_t ns; /* when it was sent, at the latest */
	struct set *set;
	struct servers_process *sender; /* NULL: not known */
	struct servers_thread *thread;	/* the thread of @sender */
	uint64_t from_ino;
	uint32_t sends; /* number of calls that have sent it, and of which nothing was received yet */
	bool doubtful;	/* its sender may have sent it for another client than @set says */
	bool unsure;	/* it may have been sent before the range before it, because the two calls overlapped */
};

#define MAX_RANGES  4096u /* ranges in one channel; if there are more, its reader is not recorded */
#define MAX_SENDING 8u

struct channel {
	struct range *ranges; /* owned; a circular buffer */
	uint32_t first, nr, capacity;
	uint64_t sent; /* bytes or messages sent so far; TCP: the sequence number, unwrapped */
	uint64_t received;
	uint64_t last_ns;    /* the last time something was sent */
	uint32_t epoch;	     /* servers_channels.epoch at the last use */
	uint32_t udp_losses; /* UDP: servers_channels.udp_losses at the last use */
	bool in_step;	     /* @sent and @received count from the same byte */
	bool absolute;	     /* TCP */
	bool udp;
	bool has_position;
	uint8_t nr_sending;
	/* threads in a call that sends; its result is not known yet */
	struct servers_thread *sending[MAX_SENDING];
};

/*
 * The counters that are common to all channels. When one of them has changed since the last use of
 * a channel, the channel is out of step.
 */
struct servers_channels {
	uint32_t epoch;	     /* number of gaps so far */
	uint32_t udp_losses; /* number of datagrams that were lost, or could not be matched */
};

static inline struct range *channel_range(const struct channel *channel, uint32_t idx)
{
	return &channel->ranges[(channel->first + idx) % channel->capacity];
}
/** channel_drop_first() - release the oldest range; the channel has one */
void channel_drop_first(struct channel *channel);
/**
 * channel_check() - if events are missing since the last use of @channel, its content is not known
 * any more
 */
void channel_check(struct servers_channels *channels, struct channel *channel);
/** channel_unwrap() - the 64-bit sequence number nearest to the last known one */
uint64_t channel_unwrap(const struct channel *channel, uint32_t position);
/**
 * channel_begin() - a call that sends begins
 * channel_end() - the call ends, or its result is known
 */
void channel_begin(struct servers_channels *channels, struct channel *channel, struct servers_thread *thread);
void channel_end(struct channel *channel, struct servers_thread *thread);
/**
 * channel_send() - @amount bytes or messages went in
 * @position: TCP: the sequence number after them
 */
void channel_send(struct trace_servers *s, struct channel *channel, struct servers_thread *thread, uint64_t amount,
		  uint32_t position);
/** channel_put() - one message went in; the function sets the position of @range in the channel */
void channel_put(struct trace_servers *s, struct channel *channel, const struct range *range);
/**
 * channel_message_of() - the first message in @channel that the socket @from_ino sent
 *
 * Returns NULL if there is none, or if its range has more than one message.
 */
struct range *channel_message_of(const struct channel *channel, uint64_t from_ino);
/**
 * channel_unsure_of() - the first range in @channel that @sender sent
 *
 * Returns NULL if there is none, or if it was certainly sent after the range before it.
 */
struct range *channel_unsure_of(const struct channel *channel, const struct servers_process *sender);
/** channel_last() - the range that was put in last; NULL: the channel is empty */
const struct range *channel_last(const struct channel *channel);
/** channel_lost_step() - the positions of the two ends can no longer be compared */
void channel_lost_step(struct channel *channel);
/** channel_drained() - @channel was observed empty at @ns */
void channel_drained(struct trace_servers *s, struct channel *channel, uint64_t ns);
#endif
