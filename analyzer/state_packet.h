/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_PACKET_H
#define ANALYZER_STATE_PACKET_H
/*
 * state_packet.h - packets from this machine to itself, and the thread that sent each:
 * state_packet.c.
 */
#include <stdbool.h>
#include <stdint.h>
#include "handler.h"
#include "state_file.h"

struct cpu;
struct trace_analysis;
struct trace_thread;
struct waker;

enum packet_origin {
	PACKET_UNKNOWN,
	PACKET_THREAD, /* a thread sent it, or a packet that this one answers */
	PACKET_TIMER,  /* a timer of the protocol did: of a delayed acknowledgement, a retransmission */
};

/* A packet on its way, from the net_tx on. */
struct own_packet {
	uint32_t id; /* 0: none */
	uint8_t origin;
	struct trace_thread *thread; /* THREAD */
	file_idx file;		     /* what the call of @thread that sent it acts on; 0: not known */
	uint64_t ns;
};

#define PACKETS 1024u /* at least as many as can be on their way: net.core.netdev_max_backlog is 1000 */
struct packet_log {
	struct own_packet packets[PACKETS]; /* by packet_slot() */
};

/**
 * packet_waker() - complete @waker, an interrupt on @cpu, if a packet of this machine caused the
 * wakeup
 *
 * Sets the thread that sent the packet, and the file of its call; or that a timer sent it.
 */
void packet_waker(const struct trace_analysis *a, const struct cpu *cpu, struct waker *waker);
/** packets_leave() - @cpu begins another softirq: no packet is being received any more */
void packets_leave(struct cpu *cpu);
/** packets_mark() - set the bits of the files that packets on their way refer to */
void packets_mark(const struct trace_analysis *a, uint64_t *files);

event_handler on_net_rx, on_net_tx;
#endif
