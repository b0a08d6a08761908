/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_servers_closed.c - closed connections are forgotten, and no other one with them */
#include <stdlib.h>
#include "servers_close.h"
#include "servers_memory.h"
#include "unit.h"

/* Each client sends a request, gets an answer, and both ends are closed: 400 ns, 220 of them work
 * of the server. Some clients do not wait for the answer. */
static void short_connection(struct case_of_servers *k, uint32_t nr, uint64_t ns)
{
	uint16_t port = (uint16_t)(1024 + nr % 60000);
	struct end client = {.cpu = 0,
			     .fd = 3,
			     .ino = 1000 + 2 * nr,
			     .family = AF_INET,
			     .local_port = port,
			     .remote_port = 80,
			     .local = LOCALHOST,
			     .remote = LOCALHOST},
		   server = {.cpu = 2,
			     .fd = 4,
			     .ino = 1001 + 2 * nr,
			     .family = AF_INET,
			     .local_port = 80,
			     .remote_port = port,
			     .local = LOCALHOST,
			     .remote = LOCALHOST};

	make(k, &client, ns, SYS_connect, 0);
	make(k, &server, ns + 20, SYS_accept, 0);
	transfer(k, &client, ns + 40, true, 16, 16);
	transfer(k, &server, ns + 60, false, 16, 16);
	transfer(k, &server, ns + 200, true, 16, 16);
	closes(k, &server, ns + 220, FIN_WAIT1);
	polls(k, 2, ns + 240);
	if (nr % 7) {
		transfer(k, &client, ns + 260, false, 16, 16);
		closes(k, &client, ns + 300, LAST_ACK);
	} else { /* the client ignores the answer */
		closes(k, &client, ns + 260, LAST_ACK);
	}
}

static long long memory_for(uint32_t nr)
{
	struct case_of_servers k = begin();
	long long bytes;

	for (uint32_t i = 0; i < nr; i++) {
		short_connection(&k, i, 10000 + i * 400ull);
		cut_now_and_then(&k, i);
	}
	bytes = memory_of(&k);
	BILL(&k, 30, 10, nr * 220ull);
	REQUESTS(&k, 30, 10, nr);
	end(&k);
	return bytes;
}

static void closed_connections_are_released(void)
{
	long long few = memory_for(4000), many = memory_for(getenv("TRACE_TEST_LONG") ? 200000 : 20000 / unit_step(2));

	if (getenv("TRACE_VERBOSE"))
		fprintf(stderr, "\n    %lld and %lld bytes ", few, many);
	CU_ASSERT(many < few + 500000); /* an endpoint takes 400 bytes, and a connection has two */
}

#define ENOUGH 2000 /* finished connections after which the earlier ones are forgotten */

/* A connection was refused and made again from another port of the same socket. When the socket is
 * forgotten, neither port may lead to it. */
static void a_forgotten_socket_is_not_found_by_its_first_connection(void)
{
	struct end client = {.cpu = 0,
			     .fd = 3,
			     .ino = 900,
			     .family = AF_INET,
			     .local_port = 700,
			     .remote_port = 80,
			     .local = LOCALHOST,
			     .remote = LOCALHOST},
		   server = {.cpu = 2,
			     .fd = 4,
			     .ino = 901,
			     .family = AF_INET,
			     .local_port = 80,
			     .remote_port = 701,
			     .local = LOCALHOST,
			     .remote = LOCALHOST};
	struct case_of_servers k = begin();

	make(&k, &client, 2000, SYS_connect, 0);
	client.local_port = 701;
	make(&k, &client, 3000, SYS_connect, 0);
	make(&k, &server, 3100, SYS_accept, 0);
	closes(&k, &server, 4000, FIN_WAIT1);
	closes(&k, &client, 4100, LAST_ACK);
	for (uint32_t i = 0; i < ENOUGH; i++)
		short_connection(&k, i, 10000 + i * 400ull);
	server.ino = 903; /* of a client that is not recorded */
	server.remote_port = 700;
	make(&k, &server, 10000 + ENOUGH * 400ull, SYS_accept, 0);
	run_of(&k, tb_open_trace(k.c.tb));
	REQUESTS(&k, 30, 10, ENOUGH);
	end(&k);
}

#define MANY_FILES 60000 /* enough that the search for closed files runs and finds them */

/* The kernel reuses inode numbers: a socket that listened at a port may be a socket of another kind
 * later. */
static void a_listener_is_not_forgotten_with_its_inode_number(void)
{
	struct end listener = {.cpu = 2, .fd = 9, .ino = 901, .family = AF_INET, .local_port = 80},
		   other = {.cpu = 2, .fd = 9, .ino = 901},
		   client = {.cpu = 0,
			     .fd = 3,
			     .ino = 903,
			     .family = AF_INET,
			     .local_port = 700,
			     .remote_port = 80,
			     .local = LOCALHOST,
			     .remote = LOCALHOST};
	struct trace_net_tx packet = {.ifindex = 1, .bytes = 82, .protocol = 0x800};
	struct case_of_servers k = begin();
	uint64_t ns = 10000;

	tb_string(k.c.tb, TRACE_STRING_NETDEV, 1, "lo");
	tb_string(k.c.tb, TRACE_STRING_SYSCALL, SYS_close, "close");
	was_open(&k, &listener, 0, 10);
	tb_sys_enter(k.c.tb, 2, 1500, SYS_close, 9, 0, 0);
	tb_sys_exit(k.c.tb, 2, 1510, 0);
	make(&k, &other, 2000, SYS_socket, 0);
	tb_sys_enter(k.c.tb, 2, 3000, SYS_close, 9, 0, 0);
	tb_sys_exit(k.c.tb, 2, 3010, 0);
	for (uint32_t i = 0; i < MANY_FILES; i++) {
		tb_open(k.c.tb, 1, ns++, 5, 9, 1000 + i, S_IFREG | 0600, "/data");
		cut_now_and_then(&k, i);
	}
	for (uint32_t i = 0; i < ENOUGH; i++, ns += 400)
		short_connection(&k, i, ns);
	make(&k, &client, ns, SYS_socket, 0);
	tb_sys_enter(k.c.tb, 0, ns + 100, SYS_write, 3, 0, 16);
	tb_event(k.c.tb, 0, ns + 110, TRACE_EV_net_tx, &packet, sizeof(packet), NULL); /* to any listener */
	run_of(&k, tb_open_trace(k.c.tb));
	REQUESTS(&k, 30, 10, ENOUGH);
	end(&k);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(closed_connections_are_released),
		CASE(a_listener_is_not_forgotten_with_its_inode_number),
		CASE(a_forgotten_socket_is_not_found_by_its_first_connection),
		{NULL, NULL},
	};

	return unit_main("servers: closed connections", cases, argc, argv);
}
