/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_servers_many.c - thousands of requests open at the same time.
 *
 * A server reads a request of each client before it answers the first one. At each change all open
 * requests get their share. So the cost of a request grows with their number, but slowly: 4000 of
 * them take 2 s. When each request was searched for among all others, 4000 took a minute and 10,000
 * a quarter of an hour; the time limit of this test lies between.
 *
 * While each client sleeps until its answer, each step of the server is for all clients that wait
 * at that time. When these were compared with each other at each step, 1000 clients took many
 * minutes.
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

/* Clients run on CPU 0, one after the other; the server runs on CPU 2. There are 100 ns between two
 * of its calls. */
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
	/* and the accepts */
	CU_ASSERT(shared >= 200ull * nr && shared <= 300ull * nr);
	/* each request was open for the same time, but next to a different number of others */
	CU_ASSERT(least > 0 && most < 10 * least);
	end(&k);
}

/* Client @i sends its request and sleeps. Returns the time from which it sleeps. */
static uint64_t asks(struct case_of_servers *k, uint32_t i, uint64_t ns)
{
	struct end client = client_end(i), server = server_end(i);

	tb_switch(k->c.tb, 0, ns, 0, CLIENT + i, TRACE_TASK_RUNNING);
	make(k, &client, ns + 1, SYS_socket, 0);
	make(k, &client, ns + 12, SYS_connect, 0);
	make(k, &server, ns + 23, SYS_accept, client.ino);
	sends(k, &client, ns + 34);
	tb_sys_enter(k->c.tb, 0, ns + 50, SYS_read, 3, 0, 16);
	tb_switch(k->c.tb, 0, ns + 60, CLIENT + i, 0, TRACE_TASK_INTERRUPTIBLE);
	return ns + 60;
}

/* Returns the time at which the client was woken. */
static uint64_t is_answered(struct case_of_servers *k, uint32_t i, uint64_t ns)
{
	struct trace_sock_send event = {.ino = server_end(i).ino, .ret = 16, .family = AF_UNIX};

	tb_sys_enter(k->c.tb, 2, ns, SYS_write, FIRST_FD + (uint64_t)i, 0, 16);
	tb_waking(k->c.tb, 2, ns + 2, CLIENT + i, TRACE_CONTEXT_TASK);
	tb_event(k->c.tb, 2, ns + 5, TRACE_EV_sock_send, &event, sizeof(event), NULL);
	tb_sys_exit(k->c.tb, 2, ns + 10, 16);
	event.ino = client_end(i).ino;
	tb_switch(k->c.tb, 0, ns + 20, 0, CLIENT + i, TRACE_TASK_RUNNING);
	tb_event(k->c.tb, 0, ns + 30, TRACE_EV_sock_recv, &event, sizeof(event), NULL);
	tb_sys_exit(k->c.tb, 0, ns + 40, 16);
	tb_switch(k->c.tb, 0, ns + 50, CLIENT + i, 0, TRACE_TASK_INTERRUPTIBLE);
	return ns + 2;
}

static void many_clients_sleep_until_their_answers(void)
{
	uint32_t nr = unit_step(2) == 1 ? 1000 : 100;
	struct case_of_servers k = {.c = case_new()};
	uint64_t ns = 1000, slept = 0, told = 0, served = 0;
	struct trace_error error = {0};

	tb_string(k.c.tb, TRACE_STRING_SYSCALL, SYS_socket, "socket");
	tb_thread(k.c.tb, SERVER, SERVER, 1, "server", 2, true);
	for (uint32_t i = 0; i < nr; i++)
		tb_thread(k.c.tb, CLIENT + i, CLIENT + i, 1, "client", 0, false);
	tb_window(k.c.tb, 1000, 1000 + 300ull * nr);
	for (uint32_t i = 0; i < nr; i++, ns += 100)
		slept -= asks(&k, i, ns);
	for (uint32_t i = 0; i < nr; i++, ns += 100) {
		struct end of = server_end(i);

		receives(&k, &of, ns + 45);
	}
	for (uint32_t i = 0; i < nr; i++, ns += 100)
		slept += is_answered(&k, i, ns + 20);
	run_of(&k, tb_open_trace(k.c.tb));
	CU_ASSERT_EQUAL(trace_nr_server_waits(k.servers), nr);
	for (size_t i = 0; i < trace_nr_server_waits(k.servers); i++) {
		const struct trace_server_wait *wait = trace_get_server_wait(k.servers, i);

		CU_ASSERT(wait->count == 1 && wait->for_others_ns > 0);
		CU_ASSERT_EQUAL(wait->for_client_ns + wait->for_others_ns + wait->server_waited_ns +
					wait->server_wait_cpu_ns + wait->rest_ns,
				wait->wait_ns);
		told += wait->wait_ns;
		served += wait->for_client_ns;
	}
	CU_ASSERT_EQUAL(told, slept);
	/* at the end, when few are open: one client's part of a short step for many is less than 1
	 * ns */
	CU_ASSERT(served > 0);
	CU_ASSERT_EQUAL(trace_servers_verify(k.servers, &error), 0);
	end(&k);
}

enum { JOB = 2000, NR_JOBS = 40, TOKENS = 7 };

/* @last: the job that ran before */
static void turn_of(struct case_of_servers *k, uint32_t job, uint32_t *last, uint64_t *ns, uint32_t call, int64_t bytes)
{
	tb_switch(k->c.tb, 0, *ns, JOB + *last, JOB + job, TRACE_TASK_RUNNING);
	tb_sys_enter(k->c.tb, 0, *ns + 1, call, TOKENS, 0, call == SYS_write ? 1 : 64);
	tb_sys_exit(k->c.tb, 0, *ns + 2, bytes);
	*last = job;
	*ns += 10;
}

/*
 * Jobs exchange tokens through one pipe that all of them have, as those of make do. A job that
 * takes a token works for the job that gave it back, and for all clients of that job. If each job
 * took a request from every job before it, it would have one request of the first, two of the
 * second, four of the third, and so on; the requests of the last one would not fit into memory.
 */
static void tokens_do_not_multiply(void)
{
	struct case_of_servers k = {.c = case_new()};
	uint64_t ns = 1000;
	uint32_t last = 0;

	for (uint32_t i = 0; i < NR_JOBS; i++) {
		tb_thread(k.c.tb, JOB + i, JOB + i, 1, "job", 0, i == 0);
		tb_fd(k.c.tb, JOB + i, TOKENS, 9, 700, S_IFIFO | 0600, "pipe:[]");
	}
	tb_window(k.c.tb, 1000, 1000 + 20 * NR_JOBS * NR_JOBS);
	for (uint32_t i = 1; i < NR_JOBS; i++) {
		for (uint32_t j = 0; j < i; j++)
			turn_of(&k, j, &last, &ns, SYS_write, 1);
		turn_of(&k, i, &last, &ns, SYS_read, i);
	}
	run_of(&k, tb_open_trace(k.c.tb));
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 0);
	end(&k);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		{"thousands_of_open_requests_share", thousands_of_open_requests_share},
		{"many_clients_sleep_until_their_answers", many_clients_sleep_until_their_answers},
		{"tokens_do_not_multiply", tokens_do_not_multiply},
		{NULL, NULL},
	};

	return unit_main("servers_many", cases, argc, argv);
}
