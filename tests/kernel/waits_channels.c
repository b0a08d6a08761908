/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits_channels.c - pipes, sockets, eventfds: read, polled, full, accepted. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include "waits.h"

/* The descriptor that becomes ready is in the middle of others. */
static void poll_many(void *fds)
{
	struct pollfd many[3] = {{.events = POLLIN}, {.fd = ((int *)fds)[0], .events = POLLIN}, {.events = POLLIN}};
	int pipe_ends[2], ends[2];

	require(!pipe(pipe_ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	many[0].fd = pipe_ends[0];
	many[2].fd = ends[0];
	require(poll(many, 3, -1) == 1);
}

static void select_one(void *fds)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(((int *)fds)[0], &set);
	require(select(((int *)fds)[0] + 1, &set, NULL, NULL, NULL) == 1);
}

static void epoll_nested(void *fds)
{
	struct epoll_event event;

	require(epoll_wait(epoll_of(epoll_of(((int *)fds)[0])), &event, 1, -1) == 1);
}

/* ---- objects to wait for ---- */

static void make_unix_dgram(int fds[2])
{
	require(!socketpair(AF_UNIX, SOCK_DGRAM, 0, fds));
}

static void make_unix_seqpacket(int fds[2])
{
	require(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds));
}

static void make_eventfd(int fds[2])
{
	fds[0] = fds[1] = eventfd(0, 0);
	require(fds[0] >= 0);
}

static void make_udp(int fds[2])
{
	struct sockaddr_in address;

	fds[0] = bound(SOCK_DGRAM, &address);
	fds[1] = socket(AF_INET, SOCK_DGRAM, 0);
	require(!connect(fds[1], (struct sockaddr *)&address, sizeof(address)));
}

/* of a protocol for experiments */
static void make_raw(int fds[2])
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	for (int i = 0; i < 2; i++)
		require((fds[i] = socket(AF_INET, SOCK_RAW, 253)) >= 0);
	require(!connect(fds[1], (struct sockaddr *)&address, sizeof(address)));
}

#define CHANNEL(name, make, wait_for)                   \
	static void name(void)                          \
	{                                               \
		int fds[2];                             \
                                                        \
		make(fds);                              \
		wait_for_child(write_8, wait_for, fds); \
	}
CHANNEL(pipe_read, make_pipe, read_8)
CHANNEL(unix_stream, make_unix, read_8)
CHANNEL(unix_dgram, make_unix_dgram, read_8)
CHANNEL(unix_seqpacket, make_unix_seqpacket, read_8)
CHANNEL(tcp, make_tcp, read_8)
CHANNEL(udp, make_udp, read_8)
CHANNEL(raw, make_raw, read_8)
CHANNEL(read_eventfd, make_eventfd, read_8)
CHANNEL(poll_pipe, make_pipe, poll_one)
CHANNEL(poll_unix, make_unix, poll_one)
CHANNEL(poll_tcp, make_tcp, poll_one)
CHANNEL(poll_eventfd, make_eventfd, poll_one)
CHANNEL(poll_many_eventfd, make_eventfd, poll_many)
CHANNEL(poll_many_pipe, make_pipe, poll_many)
CHANNEL(select_pipe, make_pipe, select_one)
CHANNEL(epoll_pipe, make_pipe, epoll_one)
CHANNEL(epoll_unix, make_unix, epoll_one)
CHANNEL(epoll_tcp, make_tcp, epoll_one)
CHANNEL(epoll_eventfd, make_eventfd, epoll_one)
CHANNEL(epoll_in_epoll, make_pipe, epoll_nested)

/* An unconnected sender: only its send identifies it. */
static void send_to(void *context)
{
	struct sockaddr_in *address = context;

	require(sendto(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, (struct sockaddr *)address, sizeof(*address)) == 1);
}

static int received_on;
static void receive(void *context)
{
	char byte;

	require(recv(received_on, &byte, 1, 0) == 1);
}

static void udp_unconnected(void)
{
	struct sockaddr_in address;

	received_on = bound(SOCK_DGRAM, &address);
	wait_for_child(send_to, receive, &address);
}

/* ---- full buffers ---- */

static void drain(void *fds)
{
	char buffer[65536];

	fcntl(((int *)fds)[0], F_SETFL, O_NONBLOCK);
	while (read(((int *)fds)[0], buffer, sizeof(buffer)) > 0)
		;
	sleep_ns(50 * MS);
	while (read(((int *)fds)[0], buffer, sizeof(buffer)) > 0)
		;
}

static void write_16k(void *fds)
{
	static char buffer[16384];

	require(write(((int *)fds)[1], buffer, sizeof(buffer)) > 0);
}

static void fill(int fd)
{
	static char buffer[4096];

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (write(fd, buffer, sizeof(buffer)) > 0)
		;
	fcntl(fd, F_SETFL, 0);
}

#define FULL(name, make)                               \
	static void name(void)                         \
	{                                              \
		int fds[2];                            \
                                                       \
		make(fds);                             \
		fill(fds[1]);                          \
		wait_for_child(drain, write_16k, fds); \
	}
FULL(full_pipe, make_pipe)
FULL(full_unix, make_unix)
FULL(full_tcp, make_tcp)

/* ---- connections ---- */

static void connect_to(void *context)
{
	require(!connect(socket(AF_INET, SOCK_STREAM, 0), context, sizeof(struct sockaddr_in)));
	sleep_ns(50 * MS);
}

static int listener;
static void accept_one(void *context)
{
	require(accept(listener, NULL, NULL) >= 0);
}

static void accept_tcp(void)
{
	struct sockaddr_in address;

	listener = bound(SOCK_STREAM, &address);
	require(!listen(listener, 5));
	wait_for_child(connect_to, accept_one, &address);
}

static void poll_listener(void *context)
{
	struct pollfd one = {.fd = listener, .events = POLLIN};

	require(poll(&one, 1, -1) == 1);
}

static void poll_accept(void)
{
	struct sockaddr_in address;

	listener = bound(SOCK_STREAM, &address);
	require(!listen(listener, 5));
	wait_for_child(connect_to, poll_listener, &address);
}

static struct sockaddr_un unix_listener(int backlog)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = scratch_path("socket");

	require(strlen(path) < sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	require(!bind(listener, (struct sockaddr *)&address, sizeof(address)) && !listen(listener, backlog));
	return address;
}

static void connect_unix(void *context)
{
	require(!connect(socket(AF_UNIX, SOCK_STREAM, 0), context, sizeof(struct sockaddr_un)));
}

static void accept_unix(void)
{
	struct sockaddr_un address = unix_listener(5);

	wait_for_child(connect_unix, accept_one, &address);
}

static void connect_full(void)
{
	struct sockaddr_un address = unix_listener(0);

	connect_unix(&address);
	wait_for_child(accept_one, connect_unix, &address);
}

const struct scenario channel_scenarios[] = {
	SCENARIO(pipe_read),
	SCENARIO(unix_stream),
	SCENARIO(unix_dgram),
	SCENARIO(unix_seqpacket),
	SCENARIO(tcp),
	SCENARIO(udp),
	SCENARIO(raw),
	SCENARIO(read_eventfd),
	SCENARIO(poll_pipe),
	SCENARIO(poll_unix),
	SCENARIO(poll_tcp),
	SCENARIO(poll_eventfd),
	SCENARIO(poll_many_eventfd),
	SCENARIO(poll_many_pipe),
	SCENARIO(select_pipe),
	SCENARIO(epoll_pipe),
	SCENARIO(epoll_unix),
	SCENARIO(epoll_tcp),
	SCENARIO(epoll_eventfd),
	SCENARIO(epoll_in_epoll),
	SCENARIO(udp_unconnected),
	SCENARIO(full_pipe),
	SCENARIO(full_unix),
	SCENARIO(full_tcp),
	SCENARIO(accept_tcp),
	SCENARIO(poll_accept),
	SCENARIO(accept_unix),
	SCENARIO(connect_full),
	{NULL, NULL},
};
