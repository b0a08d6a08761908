/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_waits_network.c - the process for which a thread waited that waits for a packet, or at
 * a connection.
 *
 * Thread 10 ("one") runs on CPU 0 and blocks from 3000 to 6000 unless a test says otherwise; 20
 * ("two") runs on CPU 1.
 */
#include "state_waits_case.h"
#include "unit.h"

static void receive_by(struct analysis_case *c, uint32_t ifindex, uint32_t call, int fd)
{
	struct trace_start_socket sock = {.tgid = 10,
					  .fd = 3,
					  .ino = 500,
					  .family = AF_INET,
					  .type = SOCK_DGRAM,
					  .local_port = 53,
					  .protocol = 17};
	struct trace_net_rx rx = {.ifindex = ifindex, .bytes = 60};
	struct trace_sock_ready ready = {.ino = 500, .family = AF_INET, .protocol = 17};

	tb_string(c->tb, TRACE_STRING_NETDEV, 1, "lo");
	tb_string(c->tb, TRACE_STRING_NETDEV, 2, "eth0");
	tb_fd(c->tb, 10, 3, 9, 500, S_IFSOCK, "socket:[500]");
	tb_start(c->tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_sys_enter(c->tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	block(c);
	tb_sys_enter(c->tb, 1, 5000, call, (uint64_t)fd, 0, 0);
	tb_softirq(c->tb, 1, 5500, SOFTIRQ_NET_RX);
	tb_event(c->tb, 1, 5600, TRACE_EV_net_rx, &rx, sizeof(rx), NULL);
	tb_event(c->tb, 1, 5700, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
	wake(c, TRACE_CONTEXT_SOFTIRQ);
	finish(c);
}

/* Also if the packet only acknowledges data, or makes or ends a connection. */
static void a_packet_on_loopback_names_its_sender(void)
{
	static const uint32_t calls[] = {SYS_sendto, SYS_write,	  SYS_sendfile, SYS_read,	SYS_recvfrom,
					 SYS_accept, SYS_connect, SYS_close,	SYS_exit_group, SYS_io_uring_enter};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct analysis_case c = begin();

		receive_by(&c, 1, calls[i], 4);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, "udp");
	}
}

/* A thread in a call that sends nothing, or writes to a file, was interrupted by the packet of
 * another thread. */
static void a_packet_on_loopback_may_interrupt_another_thread(void)
{
	static const uint32_t calls[] = {SYS_nanosleep, SYS_write};

	for (size_t i = 0; i < 2; i++) {
		struct analysis_case c = begin();

		tb_fd(c.tb, 20, 5, 9, 80, S_IFREG | 0600, "/data");
		receive_by(&c, 1, calls[i], 5);
		expect(&c, TRACE_WAIT_NETWORK, "local port 53", 0, "");
	}
}

/* Data for the TCP socket 500. */
static void loopback_brings(struct analysis_case *c)
{
	struct trace_net_rx rx = {.ifindex = 1};
	struct trace_sock_ready ready = {.ino = 500, .family = AF_INET, .protocol = 6};

	tb_string(c->tb, TRACE_STRING_NETDEV, 1, "lo");
	tb_softirq(c->tb, 1, 5500, SOFTIRQ_NET_RX);
	tb_event(c->tb, 1, 5600, TRACE_EV_net_rx, &rx, sizeof(rx), NULL);
	tb_event(c->tb, 1, 5700, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
	wake(c, TRACE_CONTEXT_SOFTIRQ);
	finish(c);
}

/* "one" itself created the other end, and "two" got it by fork. */
static void a_local_connection_names_its_latest_user(void)
{
	static const uint64_t ends[2] = {500, 501};
	struct analysis_case c = begin();

	for (uint16_t i = 0; i < 2; i++) {
		struct trace_start_socket sock = {.tgid = 10,
						  .fd = 3 + i,
						  .ino = ends[i],
						  .family = AF_INET,
						  .type = SOCK_STREAM,
						  .protocol = 6,
						  .local_port = 80 + i,
						  .remote_port = 81 - i,
						  .local_lo = 1,
						  .remote_lo = 1};

		tb_fd(c.tb, 10, 3 + i, 9, ends[i], S_IFSOCK, "socket:");
		tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	}
	tb_fd(c.tb, 20, 4, 9, 501, S_IFSOCK, "socket:");
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_sendto, 4, 0, 0);
	loopback_brings(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "tcp");
}

/* @tgid's end of the connection to the socket @ino ^ 1, in network namespace @netns. */
static void tcp_end_in(struct analysis_case *c, uint32_t netns, uint32_t tgid, int fd, uint64_t ino)
{
	struct trace_start_socket sock = {.tgid = tgid,
					  .fd = fd,
					  .ino = ino,
					  .family = AF_INET,
					  .type = SOCK_STREAM,
					  .protocol = 6,
					  .netns = netns,
					  .local_port = (uint16_t)(80 + ino % 2),
					  .remote_port = (uint16_t)(81 - ino % 2),
					  .local_lo = 1,
					  .remote_lo = 1};

	tb_fd(c->tb, tgid, fd, 9, ino, S_IFSOCK, "socket:");
	tb_start(c->tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
}

static void tcp_end(struct analysis_case *c, uint32_t tgid, int fd, uint64_t ino)
{
	tcp_end_in(c, 7, tgid, fd, ino);
}

/* Another process has an end with the same addresses in another namespace, and its events come
 * later. */
static void connections_belong_to_their_network_namespace(void)
{
	struct analysis_case c = begin();

	tb_thread(c.tb, 30, 30, 1, "three", 1, false);
	tcp_end_in(&c, 7, 10, 3, 500);
	tcp_end_in(&c, 7, 20, 4, 501);
	tcp_end_in(&c, 8, 30, 4, 503);
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	block(&c);
	loopback_brings(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "tcp");
}

/* Not the process that holds the other end and does nothing. */
static void shutting_a_connection_down_ends_the_wait_for_it(void)
{
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_shutdown, "shutdown");
	tb_thread(c.tb, 30, 30, 1, "three", 1, false);
	tcp_end(&c, 10, 3, 500);
	tcp_end(&c, 30, 3, 501);
	tb_fd(c.tb, 20, 4, 9, 500, S_IFSOCK, "socket:");
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_shutdown, 4, 2, 0);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "tcp");
}

/*
 * "three" wrote data and ended, and the kernel held the data back. The exit of "two", which has
 * that end, too, sends them.
 */
static void a_process_that_had_ended_is_not_waited_for(void)
{
	for (int is_late = 0; is_late < 2; is_late++) {
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_exit_group, "exit_group");
		tb_thread(c.tb, 30, 30, 20, "three", 2, true);
		tcp_end(&c, 10, 3, 500);
		tcp_end(&c, 30, 4, 501);
		tb_fd(c.tb, 20, 4, 9, 501, S_IFSOCK, "socket:");
		tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
		tb_sys_enter(c.tb, 2, 2100, SYS_sendto, 4, 0, 0);
		tb_sys_exit(c.tb, 2, 2200, 8);
		block(&c);
		tb_exit(c.tb, 2, is_late ? 4000 : 2500, 30, 30, true);
		tb_switch(c.tb, 2, is_late ? 4100 : 2600, 30, 0, TRACE_TASK_DEAD);
		tb_sys_enter(c.tb, 1, 5000, SYS_exit_group, 0, 0, 0);
		loopback_brings(&c);
		if (is_late)
			expect(&c, TRACE_WAIT_PROCESS, "three", 30, "tcp");
		else
			expect(&c, TRACE_WAIT_PROCESS, "two", 20, "tcp");
	}
}

/* 30 is born when the wait is over, inherits the other end, and writes to it. */
static void a_process_that_is_born_after_the_wait_is_not_waited_for(void)
{
	for (uint32_t generations = 1; generations < 3; generations++) {
		struct analysis_case c = begin();

		tcp_end(&c, 10, 3, 500);
		tcp_end(&c, 20, 4, 501);
		tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
		block(&c);
		tb_sys_enter(c.tb, 1, 5000, SYS_sendto, 4, 0, 0);
		tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
		tb_add(c.tb, 1, 5600, net_rx, NULL, .ifindex = 1);
		tb_add(c.tb, 1, 5700, sock_ready, NULL, .ino = 500, .family = AF_INET, .protocol = 6);
		wake(&c, TRACE_CONTEXT_SOFTIRQ);
		tb_softirq_exit(c.tb, 1, 6010, SOFTIRQ_NET_RX);
		tb_sys_exit(c.tb, 1, 6020, 1);
		for (uint32_t i = 0; i < generations; i++) {
			tb_fork(c.tb, 1, 6120 + 10 * i, i ? 30 : 20, 30 + i, 30 + i, "three");
			tb_switch(c.tb, 1, 6125 + 10 * i, i ? 30 : 20, 30 + i, TRACE_TASK_RUNNING);
		}
		tb_sys_enter(c.tb, 1, 6150, SYS_sendto, 4, 0, 0);
		tb_add(c.tb, 1, 6160, sock_send, NULL, .ino = 501, .ret = 8);
		finish(&c);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, "tcp");
	}
}

/* Neither of the two is a disk. */
static void a_splice_waits_for_the_end_that_the_waker_used(void)
{
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_splice, "splice");
	tb_thread(c.tb, 30, 30, 1, "three", 1, false);
	tcp_end(&c, 10, 3, 500);
	tcp_end(&c, 30, 3, 501);
	pipe_fd(&c, 10, 4, 90, O_WRONLY);
	pipe_fd(&c, 20, 5, 90, O_RDONLY);
	tb_sys_enter(c.tb, 0, 2000, SYS_splice, 3, 0, 4, 0, 100, 0);
	block(&c);
	tb_sys_enter(c.tb, 1, 5000, SYS_read, 5, 0, 1);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pipe");
}

static void a_packet_from_another_host_does_not_name_the_interrupted_thread(void)
{
	struct analysis_case c = begin();

	receive_by(&c, 2, SYS_sendto, 4);
	expect(&c, TRACE_WAIT_NETWORK, "local port 53", 0, "");
}

static void a_packet_for_an_unknown_socket_is_the_networks(void)
{
	struct trace_sock_ready ready = {.ino = 999, .family = AF_INET, .protocol = 6};
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 1, 0);
	block(&c);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	tb_event(c.tb, 1, 5700, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq_exit(c.tb, 1, 6010, SOFTIRQ_NET_RX);
	finish(&c);
	CU_ASSERT_EQUAL(c.one->waits[0].kind, TRACE_WAIT_NETWORK);
	CU_ASSERT_EQUAL(c.one->waits[0].ns, BLOCKED_NS);
	case_free(&c);
}

/* Where a kernel thread receives the packets (threaded NAPI), the packet says more than the
 * thread. */
static void a_packet_received_by_a_kernel_thread_is_the_networks(void)
{
	struct trace_start_thread napi = {
		.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .cpu = 1, .state = 1};
	struct trace_start_socket sock = {.tgid = 10,
					  .fd = 3,
					  .ino = 500,
					  .family = AF_INET,
					  .type = SOCK_DGRAM,
					  .local_port = 53,
					  .protocol = 17};
	struct trace_sock_ready ready = {.ino = 500, .family = AF_INET, .protocol = 17};
	struct trace_net_rx rx = {.ifindex = 2};
	struct analysis_case c = begin();

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &napi, sizeof(napi), "napi/eth0-1");
	tb_fd(c.tb, 10, 3, 9, 500, S_IFSOCK, "socket:[500]");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 1, 0);
	block(&c);
	tb_waking(c.tb, 1, 4600, 30, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 5000, 20, 30, TRACE_TASK_RUNNING);
	tb_event(c.tb, 1, 5600, TRACE_EV_net_rx, &rx, sizeof(rx), NULL);
	tb_event(c.tb, 1, 5700, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_NETWORK, "local port 53", 0, "");
}

#define LISTENS 10 /* TCP_LISTEN */

static struct trace_start_socket tcp_socket(uint32_t tgid, uint64_t ino, uint16_t local, uint16_t remote,
					    uint64_t address)
{
	return (struct trace_start_socket){.tgid = tgid,
					   .fd = 3,
					   .ino = ino,
					   .family = AF_INET,
					   .type = SOCK_STREAM,
					   .protocol = 6,
					   .state = remote ? 1 : LISTENS,
					   .local_port = local,
					   .remote_port = remote,
					   .local_lo = remote ? 0x0100007fffff0000ull : 0,
					   .remote_lo = remote ? address : 0};
}

/* The other end of the connection is in no event, as in a recording of "one" alone. */
static void a_wait_for_a_local_port_has_its_listener(void)
{
	static const struct {
		uint64_t address;
		uint32_t netns;
		uint16_t port;
		bool has_listener;
	} cases[] = {
		{0x0100007fffff0000ull, 0, 4000, true},	 /* 127.0.0.1 */
		{0x0202090affff0000ull, 0, 4000, false}, /* 10.9.2.2: another machine */
		{0x0100007fffff0000ull, 7, 4000, false}, /* the listener is in another container */
		{0x0100007fffff0000ull, 0, 4001, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_start_socket own = tcp_socket(10, 500, 5000, 4000, cases[i].address),
					  other = tcp_socket(20, 600, cases[i].port, 0, 0);
		struct trace_sock_ready ready = {.ino = 500, .family = AF_INET, .protocol = 6};
		struct trace_net_rx packet = {.ifindex = 2};
		struct analysis_case c = begin();
		const struct trace_process *listener;

		other.netns = cases[i].netns;
		tb_fd(c.tb, 10, 3, 8, 500, S_IFSOCK | 0777, "socket:[500]");
		tb_start(c.tb, 1000, TRACE_EV_start_socket, &own, sizeof(own), NULL);
		tb_start(c.tb, 1000, TRACE_EV_start_socket, &other, sizeof(other), NULL);
		tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
		block(&c);
		tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
		tb_event(c.tb, 1, 5600, TRACE_EV_net_rx, &packet, sizeof(packet), NULL);
		tb_event(c.tb, 1, 5700, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
		wake(&c, TRACE_CONTEXT_SOFTIRQ);
		finish(&c);
		CU_ASSERT_EQUAL_FATAL(c.one->waits[0].kind, TRACE_WAIT_NETWORK);
		listener = trace_target_listener(c.analysis, c.one->waits[0].target);
		CU_ASSERT_PTR_EQUAL(listener, cases[i].has_listener ? case_process(&c, 20) : NULL);
		case_free(&c);
	}
}

static void a_failed_connection_names_the_address(void)
{
	struct trace_start_socket sock = {
		.tgid = 10, .fd = 3, .ino = 500, .family = AF_INET, .type = SOCK_STREAM, .protocol = 6};
	struct trace_sock_asks asks = {
		.ino = 500, .remote_lo = 0x0202090affff0000ull, .remote_port = 4000, .family = AF_INET, .protocol = 6};
	struct trace_net_rx packet = {.ifindex = 2};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 8, 500, S_IFSOCK | 0777, "");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_connect, 3, 0, 16);
	tb_event(c.tb, 0, 2100, TRACE_EV_sock_asks, &asks, sizeof(asks), NULL);
	block(&c);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	tb_event(c.tb, 1, 5600, TRACE_EV_net_rx, &packet, sizeof(packet), NULL);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq_exit(c.tb, 1, 6010, SOFTIRQ_NET_RX);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 6200, -111);
	case_run(&c);
	expect(&c, TRACE_WAIT_NETWORK, "10.9.2.2:4000", 0, "");
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_packet_on_loopback_names_its_sender),
		CASE(a_packet_on_loopback_may_interrupt_another_thread),
		CASE(a_wait_for_a_local_port_has_its_listener),
		CASE(a_local_connection_names_its_latest_user),
		CASE(connections_belong_to_their_network_namespace),
		CASE(shutting_a_connection_down_ends_the_wait_for_it),
		CASE(a_process_that_had_ended_is_not_waited_for),
		CASE(a_process_that_is_born_after_the_wait_is_not_waited_for),
		CASE(a_splice_waits_for_the_end_that_the_waker_used),
		CASE(a_packet_from_another_host_does_not_name_the_interrupted_thread),
		CASE(a_packet_for_an_unknown_socket_is_the_networks),
		CASE(a_packet_received_by_a_kernel_thread_is_the_networks),
		CASE(a_failed_connection_names_the_address),
		{NULL, NULL},
	};

	return unit_main("waits for the network", cases, argc, argv);
}
