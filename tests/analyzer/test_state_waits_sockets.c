/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_waits_sockets.c - the cause of a wait, from the object that the call works on:
 * sockets.
 *
 * Thread 10 ("one") runs on CPU 0 and blocks from 3000 to 6000 unless a test says otherwise; 20
 * ("two") runs on CPU 1.
 */
#include "state_waits_ends.h"
#include "unit.h"

static void connection(struct analysis_case *c, uint16_t family, uint16_t type)
{
	struct trace_start_socket sock = {.tgid = 10,
					  .fd = 3,
					  .ino = 500,
					  .family = family,
					  .type = type,
					  .protocol = 6,
					  .remote_port = 80,
					  .remote_lo = 0x0200000affff0000ull};

	tb_fd(c->tb, 10, 3, 9, 500, S_IFSOCK | 0777, "socket:[500]");
	tb_start(c->tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
}

/* SO_RCVTIMEO. But the timer that ends connect() is the kernel's, which repeats its packets:
 * connect() waits for the peer that does not answer. */
static void a_timeout_of_a_socket_is_a_wait_for_it_only_in_connect(void)
{
	struct analysis_case c = begin();

	connection(&c, AF_INET, SOCK_STREAM);
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	by_timer(&c);
	expect(&c, TRACE_WAIT_TIMEOUT, "", 0, "");

	c = begin();
	connection(&c, AF_INET, SOCK_STREAM);
	tb_sys_enter(c.tb, 0, 2000, SYS_connect, 3, 0, 16);
	by_timer(&c);
	expect(&c, TRACE_WAIT_NETWORK, "10.0.0.2:80", 0, "");
}

static void a_wait_for_a_socket_names_the_kind_of_socket(void)
{
	static const struct {
		uint16_t family, type;
		const char *via;
	} sockets[] = {{AF_UNIX, SOCK_STREAM, "unix"},
		       {AF_INET, SOCK_STREAM, "tcp"},
		       {AF_INET6, SOCK_DGRAM, "udp"},
		       {AF_NETLINK, SOCK_RAW, "socket"}};

	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++) {
		struct analysis_case c = begin();

		connection(&c, sockets[i].family, sockets[i].type);
		tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
		by_two(&c, SYS_write);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, sockets[i].via);
	}
}

/* The kernel answers by itself. A packet that arrived at that time is unrelated. */
static void a_wakeup_by_a_netlink_socket_is_no_packet(void)
{
	struct trace_net_rx rx = {.ifindex = 2};
	struct analysis_case c = begin();

	connection(&c, AF_NETLINK, SOCK_RAW);
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	block(&c);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	tb_event(c.tb, 1, 5600, TRACE_EV_net_rx, &rx, sizeof(rx), NULL);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq_exit(c.tb, 1, 6010, SOFTIRQ_NET_RX);
	finish(&c);
	expect(&c, TRACE_WAIT_OTHER, "recvfrom", 0, "socket");
}

/* The other end belonged to another process; the waker has it now. */
static void the_other_end_of_a_unix_socket_may_have_been_passed_on(void)
{
	struct trace_start_socket socks[2] = {
		{.tgid = 10, .fd = 3, .ino = 500, .peer_ino = 501, .family = AF_UNIX, .type = SOCK_STREAM},
		{.tgid = 40, .fd = 4, .ino = 501, .peer_ino = 500, .family = AF_UNIX, .type = SOCK_STREAM}};
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 1, "had it", 1, false);
	for (size_t i = 0; i < 2; i++) {
		tb_fd(c.tb, socks[i].tgid, socks[i].fd, 9, socks[i].ino, S_IFSOCK | 0777, "socket:");
		tb_start(c.tb, 1000, TRACE_EV_start_socket, &socks[i], sizeof(socks[i]), NULL);
	}
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	by_two(&c, SYS_sendto);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "unix");
}

static void a_sender_waits_for_the_socket_as_well(void)
{
	struct analysis_case c = begin();

	connection(&c, AF_UNIX, SOCK_STREAM);
	tb_sys_enter(c.tb, 0, 2000, SYS_sendto, 3, 0, 1);
	by_two(&c, SYS_read);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "unix");
}

static void a_socket_may_be_known_only_by_its_descriptor(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 9, 500, S_IFSOCK | 0777, "socket:[500]");
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	by_two(&c, SYS_sendto);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "socket");
}

/* A program at the end of a tunnel writes packets into a device. A program that writes to a file
 * while it wakes does not. */
static void packets_from_a_tunnel_are_the_networks(void)
{
	static const struct {
		uint32_t mode;
		enum trace_wait_kind kind;
		const char *target, *via;
		uint32_t pid;
	} files[] = {{S_IFCHR | 0600, TRACE_WAIT_NETWORK, "10.0.0.2:80", "", 0},
		     {S_IFREG | 0600, TRACE_WAIT_PROCESS, "two", "tcp", 20}};

	for (size_t i = 0; i < 2; i++) {
		struct analysis_case c = begin();

		connection(&c, AF_INET, SOCK_STREAM);
		tb_fd(c.tb, 20, 5, 9, 81, files[i].mode, "/dev/net/tun");
		tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
		by_two(&c, SYS_write);
		expect(&c, files[i].kind, files[i].target, files[i].pid, files[i].via);
	}
}

/* A used connection does not make its owner a server: a poll on it is no idle wait. */
static void only_a_listener_is_idle_in_a_poll(void)
{
	for (int listens = 0; listens < 2; listens++) {
		struct trace_sock_endpoints ends = {.fd = 4,
						    .ino = 500,
						    .family = AF_INET,
						    .type = SOCK_STREAM,
						    .protocol = 6,
						    .state = listens ? 10 : 1};
		struct analysis_case c = begin();

		tb_fd(c.tb, 10, 4, 9, 500, S_IFSOCK, "socket:[500]");
		tb_sys_enter(c.tb, 0, 1100, listens ? SYS_listen : SYS_connect, 4, 1, 0);
		tb_event(c.tb, 0, 1150, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
		tb_sys_exit(c.tb, 0, 1200, 0);
		tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 1, 0);
		by_two(&c, SYS_connect);
		CU_ASSERT_EQUAL(c.one->waits[0].idle, listens);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, "poll");
	}
}

/* The descriptors of the poll are not recorded, but its waker wrote to a socket. */
static void a_poll_is_for_the_socket_that_its_waker_used(void)
{
	struct trace_start_socket sock = {.tgid = 20, .fd = 5, .ino = 500, .family = AF_UNIX, .type = SOCK_STREAM};
	struct analysis_case c = begin();

	tb_fd(c.tb, 20, 5, 9, 500, S_IFSOCK | 0777, "socket:[500]");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 1, 0);
	by_two(&c, SYS_sendto);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "unix");
}

/* accept() of a 32-bit program is one of the calls of socketcall(). */
static void a_32_bit_program_in_accept_is_idle(void)
{
	static const struct {
		uint64_t number;
		bool idle;
	} calls[] = {{5 /* accept */, true}, {18 /* accept4 */, true}, {10 /* recv */, false}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct trace_sys_enter3 enter = {.nr = 102, .abi = TRACE_ABI_32, .arg0 = calls[i].number, .arg1 = 1};
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL_32, 102, "socketcall");
		tb_event(c.tb, 0, 2000, TRACE_EV_sys_enter3, &enter, sizeof(enter), NULL);
		by_two(&c, SYS_connect);
		CU_ASSERT_EQUAL(c.one->waits[0].idle, calls[i].idle);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, "");
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_timeout_of_a_socket_is_a_wait_for_it_only_in_connect),
		CASE(a_wait_for_a_socket_names_the_kind_of_socket),
		CASE(packets_from_a_tunnel_are_the_networks),
		CASE(only_a_listener_is_idle_in_a_poll),
		CASE(a_poll_is_for_the_socket_that_its_waker_used),
		CASE(a_32_bit_program_in_accept_is_idle),
		CASE(a_wakeup_by_a_netlink_socket_is_no_packet),
		CASE(a_socket_may_be_known_only_by_its_descriptor),
		CASE(the_other_end_of_a_unix_socket_may_have_been_passed_on),
		CASE(a_sender_waits_for_the_socket_as_well),
		{NULL, NULL},
	};

	return unit_main("waits for sockets", cases, argc, argv);
}
