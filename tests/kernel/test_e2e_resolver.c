/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_resolver.c - servers that answer over UDP with one socket, as a resolver: what each
 * client cost is inside the bounds of its bill.
 *
 * Three servers get the same queries of four clients: one takes and answers them one by one
 * (recvfrom, sendto), one takes several with a call and answers all of them with a call (recvmmsg,
 * sendmmsg), one takes several and answers each as soon as it is done. The server measures its
 * work for each client by its own clock, from before the call that takes a query until after the
 * one that answers it: where memory is slow these take 100 us. This is the program as well:
 * "test_e2e_resolver do TRUTH". Root only; skipped (77) where the kernel cannot be recorded.
 */
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "e2e_session.h"
#include "spend.h"
#include "unit.h"

#define NR_CLIENTS 4
#define NR_QUERIES 6
#define BATCH	   8

enum { ONE_BY_ONE, ALL_AT_ONCE, EACH_WHEN_DONE, NR_SERVERS };
static const char *const names[NR_SERVERS] = {"one_by_one", "all_at_once", "each_when_done"};

struct query {
	int client;
	int ms;
};

/* ---- the program ---- */

static long long *worked; /* of each client, in memory that all processes share */

static struct sockaddr_in local_address(int fd)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(address);

	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &length) != 0)
		_exit(1);
	return address;
}

static void be_client(int client, const struct sockaddr_in *server)
{
	struct query query = {.client = client, .ms = 2 * (client + 1)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char answer[8];

	local_address(fd);
	for (int i = 0; i < NR_QUERIES; i++)
		if (sendto(fd, &query, sizeof(query), 0, (const struct sockaddr *)server, sizeof(*server)) !=
			    sizeof(query) ||
		    recv(fd, answer, sizeof(answer), 0) != 4)
			_exit(1);
	_exit(0);
}

/* The time since the last call was for the client of @query; NULL: for none. */
static void worked_for(const struct query *query)
{
	static long long before;
	long long now = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (query)
		worked[query->client] += now - before;
	before = now;
}

/* Queries, their senders, and an answer for each. */
struct batch {
	struct query queries[BATCH];
	struct sockaddr_in from[BATCH];
	struct iovec in[BATCH], out[BATCH];
	struct mmsghdr received[BATCH], answers[BATCH];
};

static void batch_init(struct batch *b)
{
	static char done[] = "done";

	memset(b, 0, sizeof(*b));
	for (int i = 0; i < BATCH; i++) {
		b->in[i] = (struct iovec){&b->queries[i], sizeof(b->queries[i])};
		b->out[i] = (struct iovec){done, 4};
		b->received[i].msg_hdr = (struct msghdr){.msg_name = &b->from[i],
							 .msg_namelen = sizeof(b->from[i]),
							 .msg_iov = &b->in[i],
							 .msg_iovlen = 1};
		b->answers[i].msg_hdr = (struct msghdr){.msg_name = &b->from[i],
							.msg_namelen = sizeof(b->from[i]),
							.msg_iov = &b->out[i],
							.msg_iovlen = 1};
	}
}

static int take_queries(int kind, int fd, struct batch *b)
{
	socklen_t length = sizeof(b->from[0]);

	batch_init(b);
	if (kind != ONE_BY_ONE)
		return recvmmsg(fd, b->received, BATCH, MSG_WAITFORONE, NULL);
	return recvfrom(fd, &b->queries[0], sizeof(b->queries[0]), 0, (struct sockaddr *)&b->from[0], &length) ==
			       sizeof(b->queries[0])
		       ? 1
		       : -1;
}

static void be_server(int kind, int fd)
{
	static struct batch b;

	worked_for(NULL);
	poll(NULL, 0, 1); /* the first page faults of the process are before this */
	worked_for(NULL);
	for (int left = NR_CLIENTS * NR_QUERIES; left > 0;) {
		int nr = take_queries(kind, fd, &b);

		if (nr <= 0)
			_exit(1);
		for (int i = 0; i < nr; i++) {
			spin_cpu_ns(b.queries[i].ms * MS);
			if (kind != ALL_AT_ONCE &&
			    sendto(fd, "done", 4, 0, (struct sockaddr *)&b.from[i], sizeof(b.from[i])) != 4)
				_exit(1);
			worked_for(&b.queries[i]);
		}
		if (kind == ALL_AT_ONCE && sendmmsg(fd, b.answers, (unsigned int)nr, 0) != nr)
			_exit(1);
		worked_for(&b.queries[nr - 1]);
		left -= nr;
	}
	poll(NULL, 0, 1); /* its end is for no client: 800 us where memory is slow */
	_exit(0);
}

static bool all_ended_well(void)
{
	bool well = true;

	for (int status; wait(&status) > 0;)
		well &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return well;
}

static int program(const char *truth_path)
{
	FILE *truth = fopen(truth_path, "we");

	worked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!truth || worked == MAP_FAILED)
		return 1;
	for (int kind = 0; kind < NR_SERVERS; kind++) {
		int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		struct sockaddr_in address = local_address(fd);
		pid_t server, clients[NR_CLIENTS];

		memset(worked, 0, NR_CLIENTS * sizeof(*worked));
		fflush(truth); /* the children have its buffer, too */
		server = fork();
		if (!server)
			be_server(kind, fd);
		close(fd);
		for (int i = 0; i < NR_CLIENTS; i++) {
			clients[i] = fork();
			if (!clients[i])
				be_client(i, &address);
		}
		if (!all_ended_well())
			return 1;
		fprintf(truth, "%s.server %d\n", names[kind], server);
		for (int i = 0; i < NR_CLIENTS; i++)
			fprintf(truth, "%s.client%d %d\n%s.worked%d %lld\n", names[kind], i, clients[i], names[kind], i,
				worked[i]);
	}
	fclose(truth);
	return 0;
}

/* ---- the test ---- */

static struct session session;

static void the_program_is_recorded(void)
{
	char self[256];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[bytes > 0 ? bytes : 0] = '\0';
	session_begin(&session);
	CU_ASSERT_EQUAL_FATAL(session_run("timeout 60 %s/tracedaemon --quiet %s -- %s do %s >%s/out 2>&1 </dev/null",
					  TRACE_BIN, session.trace, self, session.truth, session.folder),
			      0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s >/dev/null", TRACE_BIN, session.trace), 0);
	session.report = session_load(&session, "--all");
	CU_ASSERT_PTR_NOT_NULL_FATAL(session.report);
}

static long long truth_of(int kind, const char *what, int client)
{
	char key[64];

	snprintf(key, sizeof(key), client < 0 ? "%s.%s" : "%s.%s%d", names[kind], what, client);
	return session_truth(&session, key);
}

/* The two clocks differ by interrupts, and what a hypervisor took. */
static long long allowed(long long ns)
{
	return (ns > 10 * MS ? ns / 100 : MS / 10) + session_stolen_ns(&session);
}

static json_t *client_of(int kind, int client)
{
	json_t *server = json_with_pid(session.report, "servers", truth_of(kind, "server", -1));

	return server ? json_with_pid(server, "clients", truth_of(kind, "client", client)) : NULL;
}

static void check_bounds(int kind)
{
	for (int i = 0; i < NR_CLIENTS; i++) {
		json_t *client = client_of(kind, i);
		long long ns = truth_of(kind, "worked", i), interrupted;

		CU_ASSERT_PTR_NOT_NULL_FATAL(client);
		interrupted = json_number(client, "interrupted_ns");
		if (getenv("TRACE_VERBOSE"))
			fprintf(stderr,
				"\n    %s %d: %lld of [%lld, %lld], interrupted %lld, bill %lld, exact %lld, %lld "
				"requests",
				names[kind], i, ns, json_number(client, "least_ns"), json_number(client, "most_ns"),
				interrupted, json_number(client, "cpu_ns"), json_number(client, "exact_ns"),
				json_number(client, "requests"));
		CU_ASSERT(json_number(client, "least_ns") <= ns + allowed(ns));
		CU_ASSERT(json_number(client, "most_ns") + interrupted >= ns - allowed(ns));
		CU_ASSERT(json_number(client, "least_ns") <= json_number(client, "cpu_ns"));
		CU_ASSERT(json_number(client, "most_ns") >= json_number(client, "cpu_ns"));
		CU_ASSERT_EQUAL(json_number(client, "requests"), NR_QUERIES);
	}
}

static void queries_that_are_answered_one_by_one_have_their_cost(void)
{
	check_bounds(ONE_BY_ONE);
	for (int i = 0; i < NR_CLIENTS; i++) {
		long long ns = truth_of(ONE_BY_ONE, "worked", i);
		json_t *client = client_of(ONE_BY_ONE, i);

		CU_ASSERT(client && json_number(client, "cpu_ns") <= ns + allowed(ns) &&
			  json_number(client, "cpu_ns") + json_number(client, "interrupted_ns") >= ns - allowed(ns));
	}
}

static void queries_that_are_answered_together_have_bounds(void)
{
	check_bounds(ALL_AT_ONCE);
}

static void queries_that_are_taken_together_have_bounds(void)
{
	check_bounds(EACH_WHEN_DONE);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_program_is_recorded),
		CASE(queries_that_are_answered_one_by_one_have_their_cost),
		CASE(queries_that_are_answered_together_have_bounds),
		CASE(queries_that_are_taken_together_have_bounds),
		{NULL, NULL},
	};
	int result;

	if (argc == 3 && strcmp(argv[1], "do") == 0)
		return program(argv[2]);
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "skipped: needs root and a kernel with BTF\n");
		return 77;
	}
	result = unit_main("e2e_resolver", cases, argc, argv);
	session_end(&session);
	return result;
}
