/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_proxies.c - proxies that relay answers in parts, for test_e2e_proxies.c. Each measures
 * how long it waits with and without a request open, and writes lines "key value".
 *
 *	workload_proxies TRUTH-FILE
 *
 * A request is a byte. The backend answers with PARTS bytes, 10 ms apart; the last one is a dot, or
 * the end of the connection.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spend.h"

#define PARTS	    4
#define MAX_CLIENTS 20
#define NR_REQUESTS 3
#define MAX_SECONDS 20

struct scenario {
	const char *name;
	int nr_clients;
	bool is_unix;	    /* the backend's connections */
	bool keeps;	    /* connections to the backend are used again */
	bool ends_by_close; /* an answer ends with the connection to the backend, and the client's */
	bool half_closes;   /* the client sends no more after its request */
	int timeout_ms;	    /* of the proxy's epoll_wait; -1: none */
};

static FILE *truth;

static void require(bool held)
{
	if (!held) {
		perror("workload_proxies");
		_exit(1);
	}
}

static void write_truth(const char *scenario, const char *key, long long value)
{
	fprintf(truth, "%s.%s %lld\n", scenario, key, value);
	fflush(truth);
}

static void put(int fd, char byte)
{
	require(send(fd, &byte, 1, MSG_NOSIGNAL) == 1);
}

static pid_t in_child(const struct scenario *s, const char *role)
{
	pid_t pid = fork();

	require(pid >= 0);
	if (!pid) {
		alarm(MAX_SECONDS); /* whatever goes wrong, the test ends */
		prctl(PR_SET_NAME, role);
		if (strcmp(role, "proxy") == 0)
			write_truth(s->name, "pid", getpid());
	}
	return pid;
}

/* ---- addresses ---- */

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in inet;
		struct sockaddr_un local;
	};
	socklen_t bytes;
};

/* A listener at a free port, or at a free name without a file. */
static int serve(bool is_unix, struct address *ret_address)
{
	int fd = socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

	memset(ret_address, 0, sizeof(*ret_address));
	ret_address->any.sa_family = is_unix ? AF_UNIX : AF_INET;
	ret_address->bytes = is_unix ? offsetof(struct sockaddr_un, sun_path) : sizeof(ret_address->inet);
	if (is_unix)
		ret_address->bytes = sizeof(sa_family_t); /* the kernel chooses the name */
	else
		ret_address->inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	require(fd >= 0 && bind(fd, &ret_address->any, ret_address->bytes) == 0);
	ret_address->bytes = sizeof(ret_address->local);
	require(getsockname(fd, &ret_address->any, &ret_address->bytes) == 0 && listen(fd, MAX_CLIENTS) == 0);
	return fd;
}

static int reach(const struct address *address)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM, 0);

	require(fd >= 0 && connect(fd, &address->any, address->bytes) == 0);
	return fd;
}

/* ---- backend and clients: a process for each connection ---- */

static void answer(const struct scenario *s, int fd)
{
	char byte;

	while (read(fd, &byte, 1) == 1) {
		for (int part = 1; part <= PARTS; part++) {
			sleep_ns(10 * MS);
			if (part < PARTS)
				put(fd, 'p');
			else if (!s->ends_by_close)
				put(fd, '.');
		}
		if (!s->keeps)
			break;
	}
	_exit(0);
}

static void be_backend(const struct scenario *s, int listener)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		require(fd >= 0);
		if (!in_child(s, "backend"))
			answer(s, fd);
		close(fd);
	}
}

static void be_client(const struct scenario *s, const struct address *front, int number)
{
	bool is_new = s->ends_by_close || s->half_closes;
	int fd = is_new ? -1 : reach(front);

	for (int i = 0; i < NR_REQUESTS; i++) {
		char byte = 0;

		sleep_ns((15 + number) * MS);
		if (is_new)
			fd = reach(front);
		put(fd, 'q');
		if (s->half_closes)
			shutdown(fd, SHUT_WR);
		while (byte != '.' && read(fd, &byte, 1) == 1)
			;
		if (is_new)
			close(fd);
	}
	_exit(0);
}

/* ---- the proxy ---- */

struct side {
	int fd;
	struct side *other; /* backend: the client that it works for; NULL: none */
	struct side *next;  /* backend: of the connections at rest */
	bool is_backend;
	bool is_open;	/* client: its request */
	bool has_ended; /* client: it sends no more */
};

struct proxy {
	const struct scenario *scenario;
	const struct address *backend;
	struct side *at_rest;
	int poll_fd;
	int nr_open;
	int nr_to_come; /* requests of all clients */
};

static struct side *side_new(const struct proxy *p, int fd, bool is_backend)
{
	struct side *side = calloc(1, sizeof(*side));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = side};

	require(side && epoll_ctl(p->poll_fd, EPOLL_CTL_ADD, fd, &event) == 0);
	side->fd = fd;
	side->is_backend = is_backend;
	return side;
}

static void side_close(struct side *side)
{
	close(side->fd);
	free(side);
}

static void ask(struct proxy *p, struct side *client)
{
	struct side *backend = p->at_rest;

	if (backend)
		p->at_rest = backend->next;
	else
		backend = side_new(p, reach(p->backend), true);
	backend->other = client;
	put(backend->fd, 'q');
	client->is_open = true;
	p->nr_open++;
}

static void finish(struct proxy *p, struct side *backend)
{
	struct side *client = backend->other;

	p->nr_open--;
	p->nr_to_come--;
	client->is_open = false;
	if (p->scenario->ends_by_close || client->has_ended)
		side_close(client);
	backend->other = NULL;
	backend->next = p->at_rest;
	if (p->scenario->keeps)
		p->at_rest = backend;
	else
		side_close(backend);
}

static void on_client(struct proxy *p, struct side *client)
{
	char byte;

	if (read(client->fd, &byte, 1) == 1) {
		ask(p, client);
	} else if (client->is_open) {
		client->has_ended = true;
		epoll_ctl(p->poll_fd, EPOLL_CTL_DEL, client->fd, NULL);
	} else {
		side_close(client);
	}
}

static void on_backend(struct proxy *p, struct side *backend)
{
	char byte;

	if (read(backend->fd, &byte, 1) != 1) {
		if (backend->other)
			finish(p, backend);
		return;
	}
	put(backend->other->fd, byte);
	if (byte == '.')
		finish(p, backend);
}

static void be_proxy(const struct scenario *s, int listener, const struct address *backend)
{
	struct proxy p = {.scenario = s,
			  .backend = backend,
			  .poll_fd = epoll_create1(0),
			  .nr_to_come = s->nr_clients * NR_REQUESTS};
	struct epoll_event event = {.events = EPOLLIN};
	long long ns[2] = {0};

	require(epoll_ctl(p.poll_fd, EPOLL_CTL_ADD, listener, &event) == 0);
	while (p.nr_to_come) {
		bool is_open = p.nr_open;
		long long from = now_ns();
		/* one event at a time, so that none is of a side that the one before closed */
		int nr = epoll_wait(p.poll_fd, &event, 1, s->timeout_ms);
		struct side *side = event.data.ptr;

		ns[is_open] += now_ns() - from;
		if (nr <= 0)
			continue;
		if (!side)
			side_new(&p, accept(listener, NULL, NULL), false);
		else if (side->is_backend)
			on_backend(&p, side);
		else
			on_client(&p, side);
	}
	write_truth(s->name, "open_ns", ns[1]);
	write_truth(s->name, "rest_ns", ns[0]);
	_exit(0);
}

/* ---- a server that pushes what publishers send to its subscriber ---- */

static void be_publisher(int fd)
{
	char byte;

	for (int i = 0; i < 8; i++) {
		sleep_ns(10 * MS);
		put(fd, 'm');
		require(read(fd, &byte, 1) == 1);
	}
	_exit(0);
}

static void be_pusher(const struct scenario *s, int listener)
{
	long long begin = now_ns(), ns;
	int publisher = accept(listener, NULL, NULL), subscriber = accept(listener, NULL, NULL),
	    poll_fd = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = publisher};
	char byte;

	require(epoll_ctl(poll_fd, EPOLL_CTL_ADD, publisher, &event) == 0 && read(subscriber, &byte, 1) == 1);
	ns = now_ns() - begin;
	put(subscriber, 'o');
	for (;;) {
		long long from = now_ns();

		epoll_wait(poll_fd, &event, 1, -1);
		ns += now_ns() - from;
		if (read(publisher, &byte, 1) != 1)
			break;
		put(subscriber, byte);
		put(publisher, 'o');
	}
	write_truth(s->name, "open_ns", 0);
	write_truth(s->name, "rest_ns", ns);
	_exit(0);
}

static void push(void)
{
	static const struct scenario s = {.name = "push"};
	struct address address;
	int listener = serve(false, &address), publisher, subscriber;
	char byte;

	if (!in_child(&s, "proxy"))
		be_pusher(&s, listener);
	close(listener);
	publisher = reach(&address); /* the server accepts them in this order */
	subscriber = reach(&address);
	if (!in_child(&s, "publisher"))
		be_publisher(publisher);
	close(publisher);
	put(subscriber, 'q');
	while (read(subscriber, &byte, 1) == 1)
		;
	close(subscriber);
}

/* ---- a forwarder of datagrams: all clients and all queries have one socket ---- */

#define NR_ASKERS  3
#define NR_QUERIES 6

struct query {
	int asker, number;
};

static int datagram_socket(struct address *ret_address)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	*ret_address = (struct address){.bytes = sizeof(ret_address->inet)};
	ret_address->inet.sin_family = AF_INET;
	ret_address->inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	require(fd >= 0 && bind(fd, &ret_address->any, ret_address->bytes) == 0 &&
		getsockname(fd, &ret_address->any, &ret_address->bytes) == 0);
	return fd;
}

static void send_query(int fd, const struct query *query, const struct address *to)
{
	require(sendto(fd, query, sizeof(*query), 0, &to->any, to->bytes) == sizeof(*query));
}

static void receive_query(int fd, struct query *ret_query, struct address *ret_from)
{
	ret_from->bytes = sizeof(ret_from->local);
	require(recvfrom(fd, ret_query, sizeof(*ret_query), 0, &ret_from->any, &ret_from->bytes) == sizeof(*ret_query));
}

/* A child answers each query: those of asker 0 take the longest, so the order changes. */
static void be_resolver(const struct scenario *s, int fd)
{
	struct query query;
	struct address from;

	for (;;) {
		receive_query(fd, &query, &from);
		if (in_child(s, "resolver"))
			continue;
		sleep_ns((60 - 25 * query.asker) * MS);
		send_query(fd, &query, &from);
		_exit(0);
	}
}

static void be_asker(int asker, const struct address *front)
{
	struct address own, from;
	int fd = datagram_socket(&own);

	for (int i = 0; i < NR_QUERIES; i++) {
		struct query query = {asker, i};

		/* every other query finds the forwarder at rest */
		sleep_ns(i % 2 ? 12 * MS : (70 + asker) * MS);
		send_query(fd, &query, front);
		receive_query(fd, &query, &from);
		require(query.asker == asker && query.number == i);
	}
	_exit(0);
}

static void be_forwarder(const struct scenario *s, int front, const struct address *behind)
{
	struct address own, from, askers[NR_ASKERS];
	/* nothing shows before the first datagram that clients send to this socket */
	bool is_known = false;
	int up = datagram_socket(&own), nr_open = 0;
	struct pollfd fds[] = {{.fd = front, .events = POLLIN}, {.fd = up, .events = POLLIN}};
	long long ns[2] = {0};
	struct query query;

	for (int nr_answered = 0; nr_answered < NR_ASKERS * NR_QUERIES;) {
		bool is_open = nr_open || !is_known;
		long long begin = now_ns();

		require(poll(fds, 2, -1) > 0);
		ns[is_open] += now_ns() - begin;
		is_known = true;
		if (fds[1].revents) {
			receive_query(up, &query, &from);
			send_query(front, &query, &askers[query.asker]);
			nr_open--;
			nr_answered++;
		} else {
			receive_query(front, &query, &from);
			askers[query.asker] = from;
			send_query(up, &query, behind);
			nr_open++;
		}
	}
	write_truth(s->name, "open_ns", ns[1]);
	write_truth(s->name, "rest_ns", ns[0]);
	_exit(0);
}

static void forward(void)
{
	static const struct scenario s = {.name = "datagrams"};
	struct address front, behind;
	int front_fd = datagram_socket(&front), behind_fd = datagram_socket(&behind);
	pid_t resolver = in_child(&s, "resolver");

	if (!resolver)
		be_resolver(&s, behind_fd);
	close(behind_fd);
	if (!in_child(&s, "proxy"))
		be_forwarder(&s, front_fd, &behind);
	close(front_fd);
	for (int i = 0; i < NR_ASKERS; i++)
		if (!in_child(&s, "asker"))
			be_asker(i, &front);
	for (int i = 0; i < NR_ASKERS + 1; i++)
		wait(NULL);
	kill(resolver, SIGKILL);
	waitpid(resolver, NULL, 0);
}

static void relay(const struct scenario *s)
{
	struct address to_backend, to_front;
	int behind = serve(s->is_unix, &to_backend), front = serve(false, &to_front);
	pid_t backend = in_child(s, "backend"), proxy;

	if (!backend)
		be_backend(s, behind);
	close(behind);
	proxy = in_child(s, "proxy");
	if (!proxy)
		be_proxy(s, front, &to_backend);
	close(front);
	for (int i = 0; i < s->nr_clients; i++)
		if (!in_child(s, "client"))
			be_client(s, &to_front, i);
	for (int i = 0; i < s->nr_clients; i++)
		wait(NULL);
	kill(backend, SIGKILL);
	waitpid(backend, NULL, 0);
}

int main(int argc, char **argv)
{
	static const struct scenario scenarios[] = {
		{.name = "one", .nr_clients = 1, .keeps = true, .timeout_ms = -1},
		{.name = "many", .nr_clients = MAX_CLIENTS, .keeps = true, .timeout_ms = -1},
		{.name = "timer", .nr_clients = 2, .keeps = true, .timeout_ms = 4},
		{.name = "unix", .nr_clients = 1, .is_unix = true, .keeps = true, .timeout_ms = -1},
		{.name = "close", .nr_clients = 2, .ends_by_close = true, .timeout_ms = -1},
		{.name = "half_close", .nr_clients = 2, .half_closes = true, .timeout_ms = -1},
	};

	truth = argc == 2 ? fopen(argv[1], "a") : NULL;
	if (!truth) {
		fprintf(stderr, "usage: workload_proxies TRUTH-FILE\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (!in_child(&scenarios[i], "scenario")) {
			relay(&scenarios[i]);
			while (wait(NULL) > 0)
				;
			return 0;
		}
	if (!in_child(&(struct scenario){.name = "datagrams"}, "scenario")) {
		forward();
		return 0;
	}
	push();
	while (wait(NULL) > 0)
		;
	return 0;
}
