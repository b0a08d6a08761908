/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * open_datagrams.c - the datagrams that a server's socket received and has not answered
 *
 * All clients of a datagram server send to one socket, and a forwarder answers them in the order of
 * its own server. The trace does not have the sender of a datagram, so an answer does not show
 * which request it ends. But numbers prove something: if a thread sent more answers than it
 * received requests since a time, then one of the requests from before was open at that time,
 * whichever it was.
 *
 * So each answer takes the latest received datagram that no answer has taken, and a request was
 * open from its arrival until the answer. Datagrams that are never answered stay, and prove
 * nothing.
 *
 * Example: the requests 1 and 2 come at 1 and 2 ms, an answer goes at 10 ms, request 3 comes at
 * 15 ms, answers go at 20 and 30 ms. They take the datagrams of 2, 15 and 1 ms. The last one shows
 * that a request was open from 1 to 30 ms, also from 10 to 15 ms.
 */
#include <stdlib.h>
#include "open_datagrams.h"
#include "state_socket.h"

#define MAX_OPEN 64u

struct open_datagrams {
	const struct trace_thread *user; /* borrowed; NULL: none yet */
	bool has_users;			 /* several threads transfer: no number is that of one */
	uint32_t first, nr;		 /* [first, first + nr) modulo MAX_OPEN, in order of time */
	uint64_t read_ns[MAX_OPEN];
};

static void used_by(struct open_datagrams *open, const struct trace_thread *thread)
{
	open->has_users |= open->user && open->user != thread;
	open->user = thread;
}

bool datagram_read(struct socket_state *sock, const struct trace_thread *thread, uint64_t ns)
{
	struct open_datagrams *open = sock->datagrams ? sock->datagrams : calloc(1, sizeof(*open));

	if (!open)
		return false;
	sock->datagrams = open;
	used_by(open, thread);
	open->read_ns[(open->first + open->nr) % MAX_OPEN] = ns;
	if (open->nr == MAX_OPEN) /* the oldest is forgotten */
		open->first = (open->first + 1) % MAX_OPEN;
	else
		open->nr++;
	return true;
}

uint64_t datagram_answered(struct socket_state *sock, const struct trace_thread *thread)
{
	struct open_datagrams *open = sock->datagrams;

	if (!open || !open->nr)
		return 0;
	used_by(open, thread);
	open->nr--;
	return open->has_users ? 0 : open->read_ns[(open->first + open->nr) % MAX_OPEN];
}

bool datagrams_are_open(const struct socket_state *sock)
{
	return sock->datagrams && sock->datagrams->nr && !sock->datagrams->has_users;
}
