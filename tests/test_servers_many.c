/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_servers_many.c - thousands of requests open at the same time.
 *
 * A server reads a request of each of its clients before it answers the first one. Each time something changes all that are open get their share, so what a
 * request costs grows with their number, but by little: 4000 of them take 2 s. When each was looked for among all others each time, they took a minute,
 * and 10000 a quarter of an hour; the limit of time of this test lies between.
 */
#include <stdlib.h>
#include "servers_case.h"
#include "unit.h"

enum { CLIENT = 1000, SERVER = 30, FIRST_FD = 10 };

static struct end client_end(uint32_t i)
{
	return (struct end){.cpu = 0, .fd = 3, .ino = 100000 + 2ull * i, .peer = 100001 + 2ull * i};
}

static struct end server_end(uint32_t i)
{
	return (struct end){.cpu = 2, .fd = FIRST_FD + (int)i, .ino = 100001 + 2ull * i, .peer = 100000 + 2ull * i};
}

/* Clients on CPU 0, one after the other; the server on CPU 2. Between two of its calls there are 100 ns. */
static void accept_all(struct case_of_servers *k, uint32_t nr, uint64_t *ns)
{
	for (uint32_t i = 0; i < nr; i++, *ns += 100) {
		struct end client = client_end(i), server = server_end(i);

		tb_switch(k->c.tb, 0, *ns, i ? CLIENT + i - 1 : CLIENT, CLIENT + i, TRACE_TASK_RUNNING);
		make(k, &client, *ns + 1, SYS_socket, 0);
		make(k, &client, *ns + 12, SYS_connect, 0);
		make(k, &server, *ns + 23, SYS_accept, client.ino);
		sends(k, &client, *ns + 34);
	}
	polls(k, 2, *ns);
}

static void thousands_of_open_requests_share(void)
{
	uint32_t nr = unit_step(2) == 1 ? 4000 : 500;
	struct case_of_servers k = {.c = case_new()};
	uint64_t ns = 1000, exact = 0, shared = 0, least = UINT64_MAX, most = 0;
	const struct trace_server *server;

	tb_string(k.c.tb, TRACE_STRING_SYSCALL, SYS_socket, "socket");
	tb_thread(k.c.tb, SERVER, SERVER, 1, "server", 2, true);
	for (uint32_t i = 0; i < nr; i++)
		tb_thread(k.c.tb, CLIENT + i, CLIENT + i, 1, "client", 0, i == 0);
	tb_window(k.c.tb, 1000, 1000 + 300ull * nr);
	accept_all(&k, nr, &ns);
	for (uint32_t i = 0; i < nr; i++, ns += 100) {
		struct end of = server_end(i);

		receives(&k, &of, ns + 45);
	}
	for (uint32_t i = 0; i < nr; i++, ns += 100) {
		struct end of = server_end(i);

		sends(&k, &of, ns + 45);
	}
	run_of(&k, tb_open_trace(k.c.tb));
	server = server_of(&k, SERVER);
	CU_ASSERT_PTR_NOT_NULL_FATAL(server);
	CU_ASSERT_EQUAL(server->nr_clients, nr);
	for (size_t i = 0; i < server->nr_clients; i++) {
		exact += server->clients[i].exact_ns;
		shared += server->clients[i].shared_ns;
		least = server->clients[i].shared_ns < least ? server->clients[i].shared_ns : least;
		most = server->clients[i].shared_ns > most ? server->clients[i].shared_ns : most;
		CU_ASSERT(server->clients[i].requests == 1);
	}
	CU_ASSERT(exact == server->exact_ns && shared == server->shared_ns);
	CU_ASSERT(shared >= 200ull * nr - 400 && shared <= 200ull * nr); /* but of the first and of the last one */
	CU_ASSERT(least > 0 && most < 10 * least); /* each was open as long as all others, with fewer or with more of them */
	end(&k);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		{"thousands_of_open_requests_share", thousands_of_open_requests_share},
		{NULL, NULL},
	};

	return unit_main("servers_many", cases, argc, argv);
}
