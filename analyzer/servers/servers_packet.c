/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_packet.c - packets: the process for which the network's softirq works, and the senders of
 * packets that this machine sends to itself
 *
 * Time. The softirq receives packets one by one, and sock_ready tells which socket became ready. So
 * its time is cut at each packet and each socket, and charged to the process that owns the socket.
 * At a server's end of a connection it is also charged to the client that sent the bytes. The time
 * stays in the accounting of the interrupted thread: this is a second view of it. All of it is cut
 * from one counter of each CPU (trace_cpu_softirq_ns()), so the parts add up to that counter.
 *
 *   - A device may hand over its packets first and deliver them later. Time for which no socket
 *     is known yet goes to the next socket. Packets of this machine are delivered one by one.
 *   - A packet that makes no socket ready (an acknowledgement, the beginning or end of a
 *     connection) counts for the other end of the sender's socket. If the softirq itself sent
 *     it, it counts for the process that sent the packet that the softirq was handling.
 *   - The first packet of a connect() counts for the listener that it makes ready.
 *
 * Senders. A packet that this machine sends to itself waits in the backlog of the CPU that sent it,
 * first in, first out. The analysis keeps the same queue: net_tx of the loopback device appends a
 * packet with its sender, net_rx takes one. So the sender of a UDP datagram that becomes ready is
 * known. A CPU does not become idle while its backlog has packets, so whenever it is idle the
 * queues agree.
 *
 * If several CPUs receive for one socket at once, the first of them puts the datagrams of all into
 * the socket's queue (udp_prod_queue, since Linux 6.18): its own first, then those that the others
 * have handed over. A datagram that was sent, made no socket ready and was not handed over was
 * dropped, or merged with others. Then no UDP channel is in step until it was observed empty.
 *
 * Example: a thread of A, then one of B send a datagram on CPU 0. The queue has A, B. The softirq
 * handles a packet (net_rx: takes A), and socket S becomes ready: S received from A. The next
 * net_rx takes B. The time from the first net_rx to the second is charged to the owner of S, and if
 * that is a server also to its client A.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "kernel_numbers.h"
#include "servers_request.h"
#include "servers_ring.h"
#include "servers_state.h"

#define ETHERNET      14 /* bytes of a header that a packet has at net_tx, but not at net_rx */
#define MAX_BACKLOG   1024u
#define MAX_INTERFACE 256

/*
 * struct packet_backlog - the packets of this machine that wait on one CPU, and its softirq
 * @overflowed: the queue is out of step until the CPU is idle
 * @active: the softirq of the CPU receives
 * @in_packet: it handles a packet of this machine
 * @is_ready: a socket became ready for that packet
 * @current: that packet, if known
 * @charged_ns: softirq time that has been charged so far
 * @pending_ns: time that waits for the next socket that becomes ready
 * @connect_ns: time that waits for the listener that @connecting connects to
 * @last_owner: the process that was charged last
 * @target: the socket for which the softirq receives; NULL: not known yet
 * @target_set: @target receives for these requests,
 * @origin: or for this origin + 1; 0: not known
 */
struct packet_backlog {
	struct packet *packets; /* owned; a circular buffer */
	uint32_t first, nr;
	bool overflowed;
	bool active;
	bool in_packet;
	bool is_ready;
	struct packet current;
	uint64_t charged_ns;
	uint64_t pending_ns;
	uint64_t connect_ns;
	struct servers_thread *connecting;
	struct servers_process *last_owner;
	struct endpoint *target;
	struct set *target_set;
	uint32_t origin;
};

static struct packet_backlog *backlog_of(struct servers_packets *packets, uint32_t cpu)
{
	return cpu < packets->nr_backlogs ? &packets->backlogs[cpu] : NULL;
}

int packets_prepare(struct trace_servers *s)
{
	s->packets.nr_backlogs = trace_get_info(s->trace)->nr_cpus;
	s->packets.backlogs = calloc(s->packets.nr_backlogs ? s->packets.nr_backlogs : 1, sizeof(*s->packets.backlogs));
	for (uint32_t i = 1; i < MAX_INTERFACE && !s->packets.loopback; i++) {
		const char *name = trace_string(s->trace, TRACE_STRING_NETDEV, i);

		if (name && strcmp(name, "lo") == 0)
			s->packets.loopback = i;
	}
	return s->packets.backlogs ? 0 : -ENOMEM;
}

/* ---- the queue ---- */

static void packet_clear(struct packet *packet)
{
	set_unref(packet->set);
	*packet = (struct packet){0};
}

static void backlog_take(struct packet_backlog *backlog, struct packet *ret_packet)
{
	packet_clear(ret_packet);
	*ret_packet = backlog->packets[backlog->first];
	backlog->packets[backlog->first] = (struct packet){0};
	backlog->first = (backlog->first + 1) % MAX_BACKLOG;
	backlog->nr--;
}

/* The packet never arrived at its destination. */
static void packet_lost(struct trace_servers *s, struct packet *packet)
{
	s->channels.udp_losses += packet->udp;
	packet_clear(packet);
}

static void backlog_drop(struct trace_servers *s, struct packet_backlog *backlog)
{
	packet_clear(&backlog->current);
	while (backlog->nr) {
		backlog_take(backlog, &backlog->current);
		packet_lost(s, &backlog->current);
	}
}

void packets_idle(struct trace_servers *s, uint32_t cpu)
{
	struct packet_backlog *backlog = backlog_of(&s->packets, cpu);

	if (!backlog || (!backlog->nr && !backlog->overflowed))
		return;
	backlog_drop(s, backlog);
	backlog->overflowed = false;
}

void packets_pin(struct servers_packets *packets)
{
	for (uint32_t i = 0; i < packets->nr_backlogs; i++)
		if (packets->backlogs[i].target)
			packets->backlogs[i].target->pinned = true;
}

void packets_drop(struct trace_servers *s)
{
	for (uint32_t i = 0; i < s->packets.nr_backlogs; i++) {
		backlog_drop(s, &s->packets.backlogs[i]);
		set_assign(&s->packets.backlogs[i].target_set, NULL);
		s->packets.backlogs[i].target = NULL;
		s->packets.backlogs[i].active = s->packets.backlogs[i].in_packet = false;
	}
	while (s->packets.nr_handed_over)
		packet_clear(&s->packets.handed_over[--s->packets.nr_handed_over]);
}

void packets_free(struct trace_servers *s)
{
	if (!s->packets.backlogs)
		return;
	packets_drop(s);
	for (uint32_t i = 0; i < s->packets.nr_backlogs; i++)
		free(s->packets.backlogs[i].packets);
	free(s->packets.backlogs);
}

static bool has_room(struct trace_servers *s, struct packet_backlog *backlog)
{
	if (!backlog->packets) {
		backlog->packets = calloc(MAX_BACKLOG, sizeof(*backlog->packets));
		if (!backlog->packets)
			s->failed = -ENOMEM;
	}
	if (backlog->packets && backlog->nr < MAX_BACKLOG)
		return true;
	backlog_drop(s, backlog);
	backlog->overflowed = true;
	return false;
}

static struct servers_process *owner_of_other_end(const struct trace_servers *s, const struct endpoint *endpoint)
{
	const struct endpoint *listener;

	if (endpoint->peer)
		return endpoint->peer->owner;
	listener = endpoint->ends.remote_port ? listener_of_peer(&s->endpoints, endpoint) : NULL;
	return listener ? listener->owner : NULL;
}

static void packet_fill(struct trace_servers *s, struct packet *packet, struct servers_thread *thread)
{
	const struct endpoint *endpoint = thread->call.endpoint;

	packet->thread = thread;
	packet->set = set_ref(thread->call.outgoing ? thread->call.outgoing : thread->set);
	if (!endpoint)
		return;
	packet->from_ino = endpoint->ino;
	packet->udp = endpoint->channel.udp;
	packet->tcp = endpoint->kind == ENDPOINT_TCP;
	packet->to_server = endpoint->role == ROLE_CLIENT;
	if (packet->tcp)
		packet->to = owner_of_other_end(s, endpoint);
}

void packet_sent(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_net_tx *tx = event->payload;
	struct packet_backlog *backlog = backlog_of(&s->packets, event->cpu);
	struct packet packet = {.bytes = tx->bytes - ETHERNET, .protocol = tx->protocol};
	struct servers_thread *thread;

	if (!backlog || tx->ifindex != s->packets.loopback || backlog->overflowed || !has_room(s, backlog))
		return;
	thread = trace_cpu_interrupt(s->analysis, event->cpu) ? NULL : servers_current_thread(s, event);
	if (thread)
		packet_fill(s, &packet, thread);
	else if (backlog->in_packet && backlog->current.thread)
		packet.to = backlog->current.thread->process;
	backlog->packets[(backlog->first + backlog->nr++) % MAX_BACKLOG] = packet;
}

/* ---- time ---- */

static void bill_requests(struct trace_servers *s, struct servers_process *owner, const struct set *set,
			  uint32_t origin, uint64_t ns)
{
	for (uint32_t i = 0; set && i < set->nr; i++)
		bill_receiving(s, owner, set->items[i]->origin, ns / set->nr + (i < ns % set->nr));
	if (!set && origin)
		bill_receiving(s, owner, origin - 1, ns);
}

static void charge(struct trace_servers *s, struct packet_backlog *backlog, uint64_t ns)
{
	const struct packet *packet = &backlog->current;
	struct servers_process *owner = backlog->target	     ? backlog->target->owner
					: backlog->in_packet ? packet->to
							     : NULL;

	if (!ns)
		return;
	if (!owner) {
		s->packets.unclaimed_ns += ns;
		return;
	}
	owner->receiving += ns;
	backlog->last_owner = owner;
	if (backlog->target)
		bill_requests(s, owner, backlog->target_set, backlog->origin, ns);
	else if (packet->to_server && packet->thread && packet->thread->process != owner)
		bill_requests(s, owner, packet->set, origin_process(s, packet->thread->process) + 1, ns);
}

/* True if the packet is from a connect() with a listener that is not known yet. */
static bool is_connecting(const struct packet_backlog *backlog)
{
	return !backlog->target && backlog->in_packet && !backlog->current.to && backlog->current.thread &&
	       backlog->current.thread->call.role == CALL_CONNECT;
}

static void defer_connect(struct trace_servers *s, struct packet_backlog *backlog, uint64_t ns)
{
	if (backlog->connecting != backlog->current.thread) {
		s->packets.unclaimed_ns += backlog->connect_ns;
		backlog->connect_ns = 0;
	}
	backlog->connecting = backlog->current.thread;
	backlog->connect_ns += ns;
}

/* The end of a softirq was not recorded, so it ended earlier than it seemed. */
static void return_excess(struct trace_servers *s, struct packet_backlog *backlog, uint64_t ns)
{
	uint64_t nothing = 0,
		 *sums[] = {&backlog->pending_ns, &backlog->connect_ns,
			    backlog->last_owner ? &backlog->last_owner->receiving : &nothing, &s->packets.unclaimed_ns};

	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		uint64_t part = *sums[i] < ns ? *sums[i] : ns;

		*sums[i] -= part;
		ns -= part;
	}
}

/* Charge the time since the last cut. */
static void charge_until_now(struct trace_servers *s, struct packet_backlog *backlog, uint32_t cpu)
{
	uint64_t until = trace_cpu_softirq_ns(s->analysis, cpu, SOFTIRQ_NET_RX);
	uint64_t ns = until > backlog->charged_ns ? until - backlog->charged_ns : 0;

	if (until < backlog->charged_ns)
		return_excess(s, backlog, backlog->charged_ns - until);
	backlog->charged_ns = until;
	if (!backlog->target && !backlog->in_packet) {
		backlog->pending_ns += ns;
		return;
	}
	ns += backlog->pending_ns;
	backlog->pending_ns = 0;
	if (is_connecting(backlog))
		defer_connect(s, backlog, ns);
	else
		charge(s, backlog, ns);
}

void packets_end(struct trace_servers *s)
{
	for (uint32_t i = 0; i < s->packets.nr_backlogs; i++) {
		charge_until_now(s, &s->packets.backlogs[i], i);
		s->packets.unclaimed_ns += s->packets.backlogs[i].pending_ns + s->packets.backlogs[i].connect_ns;
		s->packets.backlogs[i].pending_ns = s->packets.backlogs[i].connect_ns = 0;
	}
}

/* True if the CPU receives a datagram of this machine. */
static bool receives_udp(const struct packet_backlog *backlog)
{
	return backlog->active && backlog->in_packet && backlog->current.udp;
}

static bool any_receives_udp(const struct servers_packets *packets)
{
	for (uint32_t i = 0; i < packets->nr_backlogs; i++)
		if (receives_udp(&packets->backlogs[i]))
			return true;
	return false;
}

/*
 * No socket became ready for the datagram of this CPU. Another CPU that receives may queue it; if
 * there is none, it is lost.
 */
static void hand_over(struct trace_servers *s, struct packet_backlog *backlog)
{
	backlog->in_packet = false;
	if (s->packets.nr_handed_over == MAX_HANDED_OVER) {
		s->channels.udp_losses++;
		return;
	}
	s->packets.handed_over[s->packets.nr_handed_over++] = backlog->current;
	backlog->current = (struct packet){0};
}

static void handed_over_lost(struct trace_servers *s)
{
	for (uint32_t i = 0; i < s->packets.nr_handed_over; i++)
		packet_lost(s, &s->packets.handed_over[i]);
	s->packets.nr_handed_over = 0;
}

/*
 * The socket of the datagram of @backlog became ready once more: for a datagram that was handed
 * over.
 */
static void take_handed_over(struct trace_servers *s, struct packet_backlog *backlog)
{
	struct packet_backlog *other = NULL;

	packet_clear(&backlog->current);
	for (uint32_t i = 0; i < s->packets.nr_backlogs && !other; i++)
		if (&s->packets.backlogs[i] != backlog && receives_udp(&s->packets.backlogs[i]) &&
		    !s->packets.backlogs[i].is_ready)
			other = &s->packets.backlogs[i];
	if (s->packets.nr_handed_over) {
		backlog->current = s->packets.handed_over[0];
		memmove(&s->packets.handed_over[0], &s->packets.handed_over[1],
			--s->packets.nr_handed_over * sizeof(s->packets.handed_over[0]));
	} else if (other) {
		backlog->current = other->current;
		set_ref(backlog->current.set);
		other->is_ready = true;
	} else {
		s->channels.udp_losses++;
		backlog->current.udp = true;
	}
}

static void packet_end(struct trace_servers *s, struct packet_backlog *backlog)
{
	if (receives_udp(backlog) && !backlog->is_ready)
		hand_over(s, backlog);
	backlog->in_packet = backlog->is_ready = false;
	packet_clear(&backlog->current);
	if (s->packets.nr_handed_over && !any_receives_udp(&s->packets))
		handed_over_lost(s);
	backlog->target = NULL;
	set_assign(&backlog->target_set, NULL);
	backlog->origin = 0;
}

void packets_softirq(struct trace_servers *s, const struct trace_event *event)
{
	struct packet_backlog *backlog = backlog_of(&s->packets, event->cpu);

	if (!backlog || ((const struct trace_softirq_entry *)event->payload)->vec != SOFTIRQ_NET_RX)
		return;
	charge_until_now(s, backlog, event->cpu);
	packet_end(s, backlog);
	s->packets.unclaimed_ns += backlog->pending_ns;
	backlog->pending_ns = 0;
	backlog->active = event->id == TRACE_EV_softirq_entry;
}

void packet_received(struct trace_servers *s, const struct trace_event *event)
{
	const struct trace_net_rx *rx = event->payload;
	struct packet_backlog *backlog = backlog_of(&s->packets, event->cpu);

	if (!backlog || !backlog->active)
		return;
	charge_until_now(s, backlog, event->cpu);
	packet_end(s, backlog);
	backlog->in_packet = rx->ifindex == s->packets.loopback;
	while (backlog->in_packet && backlog->nr) {
		backlog_take(backlog, &backlog->current);
		if (backlog->current.bytes == rx->bytes && backlog->current.protocol == rx->protocol)
			return;
		packet_lost(s, &backlog->current);
	}
}

/* ---- a socket is ready ---- */

static struct servers_process *sender_of(struct packet_backlog *backlog, struct endpoint *target, struct set **ret_set)
{
	const struct channel *channel = target->peer ? &target->peer->channel : NULL;

	*ret_set = NULL;
	if (target->channel.udp) {
		*ret_set = backlog->current.set;
		return backlog->current.thread && !backlog->current.tcp ? backlog->current.thread->process : NULL;
	}
	if (channel && channel->nr_sending) {
		*ret_set = channel->sending[0]->call.outgoing;
		return channel->sending[0]->process;
	}
	if (channel && channel->nr) {
		const struct range *last = channel_last(channel);

		*ret_set = last->set;
		return last->sender;
	}
	return target->peer ? target->peer->owner : NULL;
}

static void find_requests(struct trace_servers *s, struct packet_backlog *backlog, struct endpoint *target)
{
	struct servers_process *sender;
	struct set *set;

	if (target->listening || target->role == ROLE_CLIENT)
		return;
	sender = sender_of(backlog, target, &set);
	set_assign(&backlog->target_set, set);
	if (sender && sender != target->owner)
		backlog->origin = origin_process(s, sender) + 1;
	else if (!sender && endpoint_is_remote(target))
		backlog->origin = origin_address(s, target) + 1;
}

/* A datagram is in the queue of the socket that it was sent to. */
static void udp_arrives(struct trace_servers *s, struct packet_backlog *backlog, struct endpoint *target)
{
	const struct packet *packet = backlog ? &backlog->current : NULL;
	struct servers_thread *thread = packet && packet->thread && !packet->tcp ? packet->thread : NULL;
	struct range range = {.ns = trace_analysis_now(s->analysis)};

	if (thread) {
		range.sender = thread->process;
		range.thread = thread;
		range.from_ino = packet->from_ino;
		range.set = packet->set;
		if (thread->call.role == CALL_SEND && thread->call.endpoint &&
		    thread->call.endpoint->ino == packet->from_ino) {
			thread->destination = target->ino;
			request_prepare(s, thread, thread->call.endpoint);
			range.set = thread->call.outgoing;
		} else if (ring_datagram(s, thread, target->ino)) {
			range.set = thread->call.outgoing;
		}
		range.doubtful = proof_is_doubtful(thread, range.set);
	}
	channel_put(s, &target->channel, &range);
}

void packet_ready(struct trace_servers *s, const struct trace_event *event)
{
	struct packet_backlog *backlog = backlog_of(&s->packets, event->cpu);
	struct endpoint *target = endpoint_find(&s->endpoints, ((const struct trace_sock_ready *)event->payload)->ino);

	if (backlog && backlog->active) {
		bool again = backlog->is_ready;

		if (again || !backlog->in_packet)
			charge_until_now(s, backlog, event->cpu); /* the time until now was another socket's */
		if (again && target && target == backlog->target && receives_udp(backlog))
			take_handed_over(s, backlog);
		backlog->is_ready = true;
		backlog->target = target;
		set_assign(&backlog->target_set, NULL);
		backlog->origin = 0;
		if (target && target->owner) {
			target->owner->deliveries++;
			find_requests(s, backlog, target);
		}
		if (target && target->listening && backlog->connecting &&
		    backlog->connecting == backlog->current.thread) {
			charge(s, backlog, backlog->connect_ns);
			backlog->connect_ns = 0;
		}
	}
	if (target && target->channel.udp)
		udp_arrives(s, backlog && backlog->active && backlog->in_packet ? backlog : NULL, target);
}
