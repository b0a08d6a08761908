/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_packets.c - a wait that a packet of this machine ended: the thread or the timer that
 * sent the packet.
 *
 * Thread 10 ("one") runs on CPU 0, blocks from 3000 to 6000 and waits at socket 500. Thread 20
 * ("two") runs on CPU 1, and 30 ("three") has the other end of the connection.
 */
#include "state_waits_case.h"
#include "unit.h"

#define VETH	7 /* numbers of interfaces */
#define PACKET	77
#define ANSWER	78
#define SOCK_IN 501 /* the other end */

static void sent(struct analysis_case *c, uint32_t cpu, uint64_t ns, uint32_t number)
{
	tb_add(c->tb, cpu, ns, net_tx, NULL, .ifindex = VETH, .bytes = 60, .protocol = 0x800, .packet = number);
}

static void received(struct analysis_case *c, uint32_t cpu, uint64_t ns, uint32_t number)
{
	tb_add(c->tb, cpu, ns, net_rx, NULL, .ifindex = VETH, .bytes = 60, .protocol = 0x800, .packet = number);
}

static void ready(struct analysis_case *c, uint32_t cpu, uint64_t ns, uint16_t protocol)
{
	tb_add(c->tb, cpu, ns, sock_ready, NULL, .ino = 500, .family = AF_INET, .protocol = protocol);
}

/* The socket that "one" waits at. */
static struct analysis_case at_udp(void)
{
	struct analysis_case c = begin();
	struct trace_start_socket sock = {.tgid = 10,
					  .fd = 3,
					  .ino = 500,
					  .family = AF_INET,
					  .type = SOCK_DGRAM,
					  .local_port = 53,
					  .protocol = 17};

	tb_fd(c.tb, 10, 3, 9, 500, S_IFSOCK, "socket:[500]");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	block(&c);
	return c;
}

static struct analysis_case at_tcp(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 30, 30, 1, "three", 1, false);
	tb_tcp_end(c.tb, 10, 500);
	tb_tcp_end(c.tb, 30, SOCK_IN);
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	block(&c);
	return c;
}

static void a_packet_over_a_veth_pair_names_its_sender(void)
{
	struct analysis_case c = at_udp();

	tb_sys_enter(c.tb, 1, 5000, SYS_sendto, 4, 0, 60);
	sent(&c, 1, 5100, PACKET);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	received(&c, 1, 5600, PACKET);
	ready(&c, 1, 5700, 17);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "udp");
}

/* The softirq of another CPU receives the packet when its sender has returned from the call. */
static void a_sender_is_known_wherever_its_packet_is_received(void)
{
	struct analysis_case c = at_udp();

	tb_sys_enter(c.tb, 1, 5000, SYS_sendto, 4, 0, 60);
	sent(&c, 1, 5100, PACKET);
	tb_sys_exit(c.tb, 1, 5200, 60);
	tb_softirq(c.tb, 0, 5500, SOFTIRQ_NET_RX);
	received(&c, 0, 5600, PACKET);
	ready(&c, 0, 5700, 17);
	tb_waking(c.tb, 0, 6000, 10, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq_exit(c.tb, 0, 6050, SOFTIRQ_NET_RX);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "udp");
}

/* "two" is in a call that sends, but the packet is not the one that it sent; or from outside. */
static void the_interrupted_thread_is_not_the_sender(void)
{
	static const uint32_t numbers[] = {ANSWER, 0};

	for (size_t i = 0; i < 2; i++) {
		struct analysis_case c = at_udp();

		tb_string(c.tb, TRACE_STRING_NETDEV, VETH, "lo");
		tb_sys_enter(c.tb, 1, 5000, SYS_sendto, 4, 0, 60);
		sent(&c, 1, 5100, PACKET);
		tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
		received(&c, 1, 5600, numbers[i]);
		ready(&c, 1, 5700, 17);
		wake(&c, TRACE_CONTEXT_SOFTIRQ);
		finish(&c);
		expect(&c, TRACE_WAIT_NETWORK, "local port 53", 0, "");
	}
}

/* An event is missing between the two, so the number may be that of an earlier packet. */
static void a_number_from_before_a_loss_names_no_sender(void)
{
	struct analysis_case c = at_udp();

	tb_sys_enter(c.tb, 1, 3100, SYS_sendto, 4, 0, 60);
	sent(&c, 1, 3200, PACKET);
	tb_sys_exit(c.tb, 1, 3300, 60);
	tb_add(c.tb, 2, 3400, sched_switch, NULL, .next_tid = 0);
	tb_lost(c.tb, 2, 5);
	tb_add(c.tb, 2, 3500, sched_switch, NULL, .next_tid = 0);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	received(&c, 1, 5600, PACKET);
	ready(&c, 1, 5700, 17);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	finish(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "udp"), 0);
	case_free(&c);
}

/* A bridge passes the packet on, with the same number, within the softirq. */
static void a_forwarded_packet_keeps_its_sender(void)
{
	struct analysis_case c = at_udp();

	tb_sys_enter(c.tb, 1, 5000, SYS_sendto, 4, 0, 60);
	sent(&c, 1, 5100, PACKET);
	tb_sys_exit(c.tb, 1, 5150, 60);
	tb_softirq(c.tb, 1, 5200, SOFTIRQ_NET_RX);
	received(&c, 1, 5250, PACKET);
	sent(&c, 1, 5300, PACKET);
	tb_softirq_exit(c.tb, 1, 5400, SOFTIRQ_NET_RX);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	received(&c, 1, 5600, PACKET);
	ready(&c, 1, 5700, 17);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "udp");
}

/* The timer's softirq interrupts "two" in a call that could send. */
static void timer_fires(struct analysis_case *c, uint32_t number)
{
	tb_sys_enter(c->tb, 1, 5000, SYS_write, 4, 0, 0);
	tb_softirq(c->tb, 1, 5100, SOFTIRQ_TIMER);
	sent(c, 1, 5150, number);
	tb_softirq_exit(c->tb, 1, 5200, SOFTIRQ_TIMER);
	tb_softirq(c->tb, 1, 5250, SOFTIRQ_NET_RX);
	received(c, 1, 5300, number);
}

static void a_retransmission_is_the_timers_for_the_other_end(void)
{
	struct analysis_case c = at_tcp();

	timer_fires(&c, PACKET);
	ready(&c, 1, 5700, 6);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "three", 30, "tcp_timer");
}

/* A delayed acknowledgement lets the other end send what Nagle's algorithm had kept back. */
static void what_a_delayed_acknowledgement_releases_is_the_timers(void)
{
	struct analysis_case c = at_tcp();

	timer_fires(&c, PACKET);
	sent(&c, 1, 5350, ANSWER);
	tb_softirq_exit(c.tb, 1, 5400, SOFTIRQ_NET_RX);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	received(&c, 1, 5600, ANSWER);
	ready(&c, 1, 5700, 6);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "three", 30, "tcp_timer");
}

/* A softirq that begins later does not receive the timer's packet. */
static void a_packet_is_received_by_one_softirq(void)
{
	struct analysis_case c = at_tcp();

	timer_fires(&c, PACKET);
	tb_softirq_exit(c.tb, 1, 5400, SOFTIRQ_NET_RX);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	ready(&c, 1, 5700, 6);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "three", 30, "tcp");
}

/* An interrupt in the softirq does not receive it, and the softirq goes on afterwards. */
static void an_interrupt_does_not_end_the_receiving(void)
{
	struct analysis_case c = at_tcp();

	timer_fires(&c, PACKET);
	tb_irq(c.tb, 1, 5400, 9);
	tb_irq_exit(c.tb, 1, 5500, 9);
	ready(&c, 1, 5700, 6);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "three", 30, "tcp_timer");
}

/* The acknowledgement of "two"'s read releases data of the other end: "two" did not send that. */
static void an_answer_comes_from_the_other_end(void)
{
	struct analysis_case c = at_tcp();

	tb_fd(c.tb, 20, 3, 9, 500, S_IFSOCK, "socket:");
	tb_sys_enter(c.tb, 1, 5000, SYS_recvfrom, 3, 0, 0);
	sent(&c, 1, 5100, PACKET);
	tb_softirq(c.tb, 1, 5200, SOFTIRQ_NET_RX);
	received(&c, 1, 5250, PACKET);
	sent(&c, 1, 5300, ANSWER);
	tb_softirq_exit(c.tb, 1, 5400, SOFTIRQ_NET_RX);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	received(&c, 1, 5600, ANSWER);
	ready(&c, 1, 5700, 6);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "three", 30, "tcp");
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_packet_over_a_veth_pair_names_its_sender),
		CASE(a_sender_is_known_wherever_its_packet_is_received),
		CASE(the_interrupted_thread_is_not_the_sender),
		CASE(a_number_from_before_a_loss_names_no_sender),
		CASE(a_forwarded_packet_keeps_its_sender),
		CASE(a_retransmission_is_the_timers_for_the_other_end),
		CASE(what_a_delayed_acknowledgement_releases_is_the_timers),
		CASE(a_packet_is_received_by_one_softirq),
		CASE(an_interrupt_does_not_end_the_receiving),
		CASE(an_answer_comes_from_the_other_end),
		{NULL, NULL},
	};

	return unit_main("packets of this machine", cases, argc, argv);
}
