/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_PACKET_H
#define ANALYZER_SERVERS_SERVERS_PACKET_H
/*
 * servers_packet.h - the processes for which the softirq of the network works, and the senders of
 * UDP on this machine
 */
#include <stdbool.h>
#include <stdint.h>

struct trace_servers;
struct trace_event;
struct server_request;
struct servers_thread;
struct servers_process;
struct set;
struct packet_backlog;

/* A packet on its way through this machine. */
struct packet {
	uint32_t bytes; /* as net_rx will record it */
	uint32_t protocol;
	uint64_t from_ino;
	struct servers_thread *thread; /* the sender; NULL: an interrupt sent it, or it is not known */
	struct set *set;	       /* the requests that it carries */
	struct servers_process *to;    /* TCP: the process that has the other end; NULL: not known */
	bool udp, tcp;		       /* both false: the socket is not known */
	bool to_server;		       /* goes from the client's end to the server's */
};

#define MAX_HANDED_OVER 16u /* datagrams handed over at once to a CPU that is already receiving */

struct servers_packets {
	struct packet_backlog *backlogs; /* owned; by CPU */
	uint32_t nr_backlogs;
	struct packet handed_over[MAX_HANDED_OVER]; /* datagrams, oldest first */
	uint32_t nr_handed_over;
	uint32_t loopback;     /* index of the loopback interface */
	uint64_t unclaimed_ns; /* softirq time that received for no known process */
};

int packets_prepare(struct trace_servers *s);
/** packets_end() - the pass is over: charge the remaining time */
void packets_end(struct trace_servers *s);
void packets_free(struct trace_servers *s);
/** packets_drop() - after a gap: the packets on their way are not known */
void packets_drop(struct trace_servers *s);
/** packets_pin() - set endpoint.pinned where a packet is being received */
void packets_pin(struct servers_packets *packets);
/** packets_idle() - the CPU becomes idle */
void packets_idle(struct trace_servers *s, uint32_t cpu);
void packets_softirq(struct trace_servers *s, const struct trace_event *event);
void packet_sent(struct trace_servers *s, const struct trace_event *event);
void packet_received(struct trace_servers *s, const struct trace_event *event);
/** packet_ready() - in an interrupt, sock_ready reported data for a socket */
void packet_ready(struct trace_servers *s, const struct trace_event *event);
#endif
