/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SERVERS_CASE_H
#define TESTS_SERVERS_CASE_H
/*
 * servers_case.h - shared by the tests of servers: a built trace of clients and servers, and its
 * bills.
 *
 * Processes 10 and 20 are clients on CPUs 0 and 1; processes 30 and 40 are servers on CPUs 2 and 3.
 * All of them run from 1000 to 9000 ns, so the CPU time of a server equals the elapsed time. A
 * system call lasts 10 ns, and its socket event lies in the middle. A bill begins at the entry of
 * the call that read the request.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <linux/sched.h>
#include <trace/servers.h>
#include "analysis_case.h"

#define NET_RX		3 /* softirq number */
#define LOCALHOST	0x0100007fffff0000ull
#define OTHER_HOST	0x0200000affff0000ull /* 10.0.0.2 */
#define NOTHING_TO_READ (-EAGAIN)

struct case_of_servers {
	struct analysis_case c;
	struct trace_servers *servers;
};

static const uint32_t processes[] = {10, 20, 30, 40};

static inline struct case_of_servers begin(void)
{
	static const struct {
		int nr;
		const char *name;
	} names[] = {{SYS_socket, "socket"},   {SYS_socketpair, "socketpair"}, {SYS_pipe, "pipe"},
		     {SYS_sendmsg, "sendmsg"}, {SYS_recvmsg, "recvmsg"},       {SYS_io_uring_enter, "io_uring_enter"}};
	struct case_of_servers k = {.c = case_new()};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		tb_string(k.c.tb, TRACE_STRING_SYSCALL, (uint64_t)names[i].nr, names[i].name);
	for (uint32_t i = 0; i < 4; i++)
		tb_thread(k.c.tb, processes[i], processes[i], 1, i < 2 ? "client" : "server", i, true);
	return k;
}

/* At the end at the latest, a switch shows which thread is on each CPU. */
static inline void finish(struct case_of_servers *k)
{
	for (uint32_t i = 0; i < 4; i++)
		tb_switch(k->c.tb, i, 8999, processes[i], processes[i], TRACE_TASK_RUNNING);
}

static inline bool is_same_client(const struct trace_server_client *a, const struct trace_server_client *b)
{
	return a->pid == b->pid && strcmp(a->address, b->address) == 0 && a->cpu_ns == b->cpu_ns &&
	       a->exact_ns == b->exact_ns && a->requests == b->requests && a->interrupted_ns == b->interrupted_ns &&
	       a->softirq_ns == b->softirq_ns;
}

/* Without waits, the servers and their bills are the same. */
static inline void compare_without_waits(struct case_of_servers *k)
{
	struct trace_analysis *analysis = trace_analysis_new(k->c.trace, NULL, NULL);
	struct trace_servers *only = trace_servers_new(k->c.trace, analysis, NULL);

	CU_ASSERT_EQUAL_FATAL(trace_servers_without_waits(only), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_servers_verify(only, NULL), 0);
	CU_ASSERT_EQUAL(trace_servers_without_waits(only), -EBUSY);
	CU_ASSERT_EQUAL(trace_nr_server_waits(only), 0);
	CU_ASSERT_EQUAL(trace_nr_receivers(only), trace_nr_receivers(k->servers));
	CU_ASSERT_EQUAL_FATAL(trace_nr_servers(only), trace_nr_servers(k->servers));
	for (size_t i = 0; i < trace_nr_servers(only); i++) {
		const struct trace_server *a = trace_get_server(only, i), *b = trace_get_server(k->servers, i);

		CU_ASSERT_TRUE_FATAL(a->pid == b->pid && a->nr_clients == b->nr_clients);
		for (size_t j = 0; j < a->nr_clients; j++)
			CU_ASSERT_TRUE(is_same_client(&a->clients[j], &b->clients[j]));
	}
	trace_servers_free(only);
	trace_analysis_free(analysis);
}

static inline void run_of(struct case_of_servers *k, struct trace *trace)
{
	struct trace_error error = {0};

	k->c.trace = trace;
	k->c.analysis = trace_analysis_new(k->c.trace, NULL, &error);
	k->servers = trace_servers_new(k->c.trace, k->c.analysis, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(k->servers);
	CU_ASSERT_EQUAL(trace_servers_keep_shares(k->servers, 1u << 20), 0);
	CU_ASSERT_EQUAL(trace_servers_keep_requests(k->servers, 1u << 20), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(k->c.analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(k->c.analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_servers_verify(k->servers, &error), 0);
	if (error.code)
		printf("%s\n", error.message);
	compare_without_waits(k);
}

static inline void run(struct case_of_servers *k)
{
	finish(k);
	run_of(k, tb_open_trace(k->c.tb));
}

static inline void end(struct case_of_servers *k)
{
	trace_servers_free(k->servers);
	case_free(&k->c);
}

static inline const struct trace_server *server_of(const struct case_of_servers *k, uint32_t pid)
{
	for (size_t i = 0; i < trace_nr_servers(k->servers); i++)
		if (trace_get_server(k->servers, i)->pid == pid)
			return trace_get_server(k->servers, i);
	return NULL;
}

static inline struct trace_server_client bill(const struct case_of_servers *k, uint32_t server_pid, uint32_t client_pid)
{
	const struct trace_server *server = server_of(k, server_pid);

	for (size_t i = 0; server && i < server->nr_clients; i++)
		if (server->clients[i].pid == client_pid)
			return server->clients[i];
	return (struct trace_server_client){0};
}

/* All of the bill, exact or shared; EXACT: the part of it that is proven. */
#define BILL(k, server, client, ns)	CU_ASSERT_EQUAL(bill(k, server, client).cpu_ns, ns)
#define EXACT(k, server, client, ns)	CU_ASSERT_EQUAL(bill(k, server, client).exact_ns, ns)
#define SHARED(k, server, client, ns)	CU_ASSERT_EQUAL(bill(k, server, client).shared_ns, ns)
#define REQUESTS(k, server, client, nr) CU_ASSERT_EQUAL(bill(k, server, client).requests, nr)

/* ---- events ---- */

/* of a connection */
struct end {
	uint32_t cpu;
	int fd;
	uint64_t ino;
	uint64_t peer;
	uint16_t family;
	uint16_t type;
	uint16_t local_port, remote_port;
	uint64_t local, remote;
};

static inline struct trace_sock_endpoints endpoints(const struct end *e, uint64_t peer)
{
	return (struct trace_sock_endpoints){.fd = e->fd,
					     .ino = e->ino,
					     .peer_ino = peer,
					     .family = e->family ? e->family : AF_UNIX,
					     .type = e->type ? e->type : SOCK_STREAM,
					     .local_port = e->local_port,
					     .remote_port = e->remote_port,
					     .local_lo = e->local,
					     .remote_lo = e->remote,
					     .protocol = !e->family || e->family == AF_UNIX ? 0
							 : e->type == SOCK_DGRAM	    ? 17
											    : 6,
					     .state = 1};
}

static inline void make(struct case_of_servers *k, const struct end *e, uint64_t ns, uint32_t nr, uint64_t peer)
{
	struct trace_sock_endpoints ends = endpoints(e, peer);

	tb_sys_enter(k->c.tb, e->cpu, ns, nr, (uint64_t)e->fd, 0, 0);
	if (nr != SYS_connect)
		tb_open(k->c.tb, e->cpu, ns + 4, e->fd, 8, e->ino, S_IFSOCK | 0777, "socket:[]");
	tb_event(k->c.tb, e->cpu, ns + 5, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
	tb_sys_exit(k->c.tb, e->cpu, ns + 10, nr == SYS_connect ? 0 : e->fd);
}

/* The endpoint was open when the trace began. */
static inline void was_open(struct case_of_servers *k, const struct end *e, uint64_t peer, uint32_t state)
{
	struct trace_sock_endpoints ends = endpoints(e, peer);
	struct trace_start_socket start = {.tgid = processes[e->cpu],
					   .fd = e->fd,
					   .ino = e->ino,
					   .peer_ino = peer,
					   .family = ends.family,
					   .type = ends.type,
					   .local_port = ends.local_port,
					   .remote_port = ends.remote_port,
					   .local_lo = ends.local_lo,
					   .remote_lo = ends.remote_lo,
					   .protocol = ends.protocol,
					   .state = state};

	tb_fd(k->c.tb, processes[e->cpu], e->fd, 8, e->ino, S_IFSOCK | 0777, "socket:[]");
	tb_start(k->c.tb, 1000, TRACE_EV_start_socket, &start, sizeof(start), NULL);
}

static inline void transfer(struct case_of_servers *k, const struct end *e, uint64_t ns, bool out, int32_t bytes,
			    uint32_t position)
{
	struct trace_sock_send event = {.ino = e->ino,
					.position = position,
					.ret = bytes,
					.family = e->family ? e->family : AF_UNIX,
					.protocol = e->family ? 6 : 0};

	tb_sys_enter(k->c.tb, e->cpu, ns, out ? SYS_write : SYS_read, (uint64_t)e->fd, 0, 16);
	tb_event(k->c.tb, e->cpu, ns + 5, out ? TRACE_EV_sock_send : TRACE_EV_sock_recv, &event, sizeof(event), NULL);
	tb_sys_exit(k->c.tb, e->cpu, ns + 10, bytes);
}

static inline void sends(struct case_of_servers *k, const struct end *e, uint64_t ns)
{
	transfer(k, e, ns, true, 16, 0);
}

static inline void receives(struct case_of_servers *k, const struct end *e, uint64_t ns)
{
	transfer(k, e, ns, false, 16, 0);
}

static inline void polls(struct case_of_servers *k, uint32_t cpu, uint64_t ns)
{
	tb_sys_enter(k->c.tb, cpu, ns, SYS_poll, 0, 1, 1000);
	tb_sys_exit(k->c.tb, cpu, ns + 10, 1);
}

/* A client's endpoint and the server's: created at 1010 and 1030, connected, accepted at @ns. */
static const struct end one = {.cpu = 0, .fd = 3, .ino = 101, .peer = 201},
			one_server = {.cpu = 2, .fd = 4, .ino = 201, .peer = 101};
static const struct end two = {.cpu = 1, .fd = 3, .ino = 102, .peer = 202},
			two_server = {.cpu = 2, .fd = 5, .ino = 202, .peer = 102};
static const struct end down = {.cpu = 2, .fd = 6, .ino = 103, .peer = 203},
			down_server = {.cpu = 3, .fd = 4, .ino = 203, .peer = 103};

static inline void connects(struct case_of_servers *k, const struct end *client, const struct end *server, uint64_t ns)
{
	make(k, client, 1010, SYS_socket, 0);
	make(k, client, 1030, SYS_connect, 0); /* not accepted yet: the peer has no inode */
	make(k, server, ns, SYS_accept, client->ino);
}

static inline struct end tcp(struct end base, uint16_t local, uint16_t remote)
{
	base.family = AF_INET;
	base.local = base.remote = LOCALHOST;
	base.local_port = local;
	base.remote_port = remote;
	return base;
}
#endif
