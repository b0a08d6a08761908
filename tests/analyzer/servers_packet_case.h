/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SERVERS_PACKET_CASE_H
#define TESTS_SERVERS_PACKET_CASE_H
/* servers_packet_case.h - packets of device 1 in the built traces of servers_case.h */
#include "servers_case.h"

static inline void packet(struct case_of_servers *k, uint32_t cpu, uint64_t ns, bool out, uint32_t bytes)
{
	struct trace_net_tx packet = {.ifindex = 1, .bytes = bytes + (out ? 14 : 0), .protocol = 0x800};

	tb_event(k->c.tb, cpu, ns, out ? TRACE_EV_net_tx : TRACE_EV_net_rx, &packet, sizeof(packet), NULL);
}

static inline void ready(struct case_of_servers *k, uint32_t cpu, uint64_t ns, uint64_t ino, uint16_t protocol)
{
	struct trace_sock_ready event = {.ino = ino, .family = AF_INET, .protocol = protocol};

	tb_event(k->c.tb, cpu, ns, TRACE_EV_sock_ready, &event, sizeof(event), NULL);
}
#endif
