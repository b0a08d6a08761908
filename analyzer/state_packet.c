/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_packet.c - packets from this machine to itself: the thread that sent each of them
 *
 * A packet over the loopback device, or over a veth pair between two network namespaces, has the
 * same number in its net_tx and in its net_rx. The softirq that receives it may run on any CPU, and
 * interrupt any thread; the thread at the net_tx is the sender.
 *
 *   net_tx outside of interrupts      the thread of the CPU sent the packet
 *   net_tx in a timer's softirq       a timer of the protocol sent it (delayed acknowledgement,
 *                                     retransmission, Nagle's algorithm)
 *   net_tx in the softirq of packets  it forwards or answers the packet that is being received, and
 *                                     has the same origin
 *
 * Example: the server's timer sends an acknowledgement that it had delayed for 40 ms. In the
 * softirq that receives it, the client's socket sends the data that Nagle's algorithm had kept
 * back, and in the next softirq that data wakes the server. The timer is the origin of both
 * packets, whichever thread the softirqs interrupt.
 *
 * An answer has no file: the socket that it comes from is not the one that its origin used.
 *
 * In a trace without these numbers only the loopback device counts: a packet is received at once,
 * in a softirq within the sender's system call, so the thread under that softirq is the sender if
 * its call can send packets.
 */
#include <stdlib.h>
#include <string.h>
#include "kernel_numbers.h"
#include "state.h"
#include "state_frame.h"
#include "state_packet.h"

#define MAX_INTERFACES 256

static bool is_loopback(struct trace_analysis *a, uint32_t ifindex)
{
	if (!a->loopback) {
		a->loopback = 1;
		for (uint32_t i = 1; i < MAX_INTERFACES && a->loopback == 1; i++) {
			const char *name = trace_string(a->trace, TRACE_STRING_NETDEV, i);

			if (name && strcmp(name, "lo") == 0)
				a->loopback = i + 1;
		}
	}
	return ifindex && ifindex + 1 == a->loopback;
}

static struct own_packet *packet_slot(const struct trace_analysis *a, uint32_t id)
{
	return &a->packets->packets[id * 2654435761u / (UINT32_MAX / PACKETS + 1)];
}

/* The packet that @cpu receives at this moment; NULL: none, or another one than this machine's. */
static const struct own_packet *packet_received(const struct cpu *cpu)
{
	return cpu->nested && cpu->packet.id && cpu->packet_depth == cpu->nested ? &cpu->packet : NULL;
}

/* ---- send ---- */

static void sent_by_thread(const struct trace_analysis *a, struct cpu *cpu, struct own_packet *packet)
{
	struct trace_thread *thread = cpu->current;
	const struct frame *frame;

	if (!is_thread(cpu, thread) || !trace_analysis_sees_interrupts(a))
		return; /* the thread may be interrupted */
	if (thread->flags & THREAD_KERNEL) {
		packet->thread = thread->work_for;
	} else {
		frame = frame_syscall(thread);
		packet->thread = thread;
		packet->file = frame ? frame->file : 0;
	}
	packet->origin = packet->thread ? PACKET_THREAD : PACKET_UNKNOWN;
}

static void sent_by_softirq(const struct cpu *cpu, struct own_packet *packet)
{
	const struct nest *softirq = softirq_of(cpu);
	const struct own_packet *received = packet_received(cpu);

	if (softirq && (softirq->number == SOFTIRQ_TIMER || softirq->number == SOFTIRQ_HRTIMER)) {
		packet->origin = PACKET_TIMER;
	} else if (received) {
		packet->origin = received->origin;
		packet->thread = received->thread;
		packet->file = received->id == packet->id ? received->file : 0;
	}
}

void on_net_tx(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	struct own_packet packet = {.id = ((const struct trace_net_tx *)event->payload)->packet, .ns = ns};

	if (!packet.id)
		return;
	if (!a->packets)
		a->packets = calloc(1, sizeof(*a->packets));
	if (!a->packets) {
		a->failed = -ENOMEM;
		return;
	}
	if (cpu->nested)
		sent_by_softirq(cpu, &packet);
	else
		sent_by_thread(a, cpu, &packet);
	*packet_slot(a, packet.id) = packet;
}

/* ---- receive ---- */

void on_net_rx(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_net_rx *rx = event->payload;
	const struct own_packet *sent = rx->packet && a->packets ? packet_slot(a, rx->packet) : NULL;

	cpu->cause = CAUSE_NETWORK;
	cpu->cause_detail = 0;
	cpu->loopback = is_loopback(a, rx->ifindex);
	cpu->packet = (struct own_packet){.id = rx->packet};
	cpu->packet_depth = cpu->nested;
	/* a number is used again: after a loss it may be that of an earlier packet */
	if (sent && sent->id == rx->packet && gap_log_first_loss(&a->gaps, sent->ns, ns + 1) == UINT64_MAX)
		cpu->packet = *sent;
}

void packets_leave(struct cpu *cpu)
{
	if (cpu->packet_depth >= cpu->nested)
		cpu->packet.id = 0;
}

/* Does a call of this class send packets? */
static bool sends_packets(const struct trace_analysis *a, const struct frame *frame)
{
	static const bool sends[NR_CALL_CLASSES] = {
		[CALL_ACCEPT] = true,	[CALL_CLOSE] = true,  [CALL_CONNECT] = true,	 [CALL_EXIT] = true,
		[CALL_OTHER] = true,	[CALL_READ] = true,   [CALL_RECV] = true,	 [CALL_SEND] = true,
		[CALL_SENDFILE] = true, [CALL_SPLICE] = true, [CALL_URING_ENTER] = true, [CALL_WRITE] = true,
	};

	return sends[frame_class(a, frame)] && (!frame->file || LINUX_S_ISSOCK(a->files.list[frame->file].mode));
}

/* The sender in a trace without the numbers of packets. */
static void loopback_waker(const struct trace_analysis *a, const struct cpu *cpu, struct waker *waker)
{
	const struct frame *frame = is_thread(cpu, cpu->current) ? frame_syscall(cpu->current) : NULL;

	if (!cpu->loopback || !frame || cpu->nested != 1 || cpu->nest[0].type != NEST_SOFTIRQ ||
	    cpu->nest[0].number != SOFTIRQ_NET_RX || !sends_packets(a, frame))
		return;
	waker->thread = cpu->current;
	waker->file = frame->file;
}

void packet_waker(const struct trace_analysis *a, const struct cpu *cpu, struct waker *waker)
{
	const struct own_packet *packet = packet_received(cpu);

	if (waker->cause != CAUSE_SOCKET && waker->cause != CAUSE_NETWORK)
		return;
	if (!a->packets) {
		loopback_waker(a, cpu, waker);
	} else if (packet && packet->origin == PACKET_THREAD && packet->thread->sched_state == SCHED_DEAD) {
		return; /* it has exited since: the socket decides */
	} else if (packet && packet->origin == PACKET_THREAD) {
		waker->thread = packet->thread;
		waker->file = packet->file;
	} else if (packet) {
		waker->by_timer = packet->origin == PACKET_TIMER;
	}
}

void packets_mark(const struct trace_analysis *a, uint64_t *files)
{
	for (uint32_t i = 0; a->packets && i < PACKETS; i++)
		files[a->packets->packets[i].file / 64] |= 1ull << a->packets->packets[i].file % 64;
	for (uint32_t i = 0; i < a->nr_cpus; i++)
		files[a->cpus[i].packet.file / 64] |= 1ull << a->cpus[i].packet.file % 64;
}
