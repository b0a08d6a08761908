/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patterns_messages.c - servers without connections: datagrams, FIFOs, pipes, socket pairs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "server_patterns.h"

static void datagrams(int family)
{
	union address address;
	socklen_t length;
	int socket_fd = listener(family, SOCK_DGRAM, &address, &length);

	SERVER(0) for (;;)
	{
		union address from;
		socklen_t from_length = sizeof(from);
		struct message m;

		at_rest();
		if (recvfrom(socket_fd, &m, sizeof(m), 0, &from.any, &from_length) != sizeof(m))
			die("recvfrom");
		charge_to_message();
		work(0, &m);
		if (sendto(socket_fd, "done", 4, 0, &from.any, from_length) != 4)
			die("sendto");
	}
	CLIENTS(i)
	{
		union address own;
		socklen_t own_length;
		int fd = listener(family, SOCK_DGRAM, &own, &own_length);
		struct message m = {.client = i, .ms = weight * (i + 1)};
		char reply[8];

		for (int j = 0; j < 2; j++) {
			sendto(fd, &m, sizeof(m), 0, &address.any, length);
			if (recv(fd, reply, sizeof(reply), 0) != 4)
				die("recv");
		}
		_exit(0);
	}
	end_processes();
}

void unix_datagrams(void)
{
	datagrams(AF_UNIX);
}

void udp4(void)
{
	datagrams(AF_INET);
}

void udp6(void)
{
	datagrams(AF_INET6);
}

/* All clients write to one FIFO; each gets its answers on a FIFO of its own. */
void fifos(void)
{
	char path[128], own[160];

	snprintf(path, sizeof(path), "%s/fifo%d", scratch, (int)getpid());
	if (mkfifo(path, 0600))
		die("mkfifo");
	for (int i = 0; i < NR_CLIENTS; i++) {
		snprintf(own, sizeof(own), "%s.%d", path, i);
		if (mkfifo(own, 0600))
			die("mkfifo");
	}
	SERVER(0)
	{
		int fd = open(path, O_RDWR), backs[NR_CLIENTS] = {0};
		struct message m;

		for (;;) {
			at_rest();
			full_read(fd, &m, sizeof(m));
			charge_to_message();
			work(0, &m);
			snprintf(own, sizeof(own), "%s.%d", path, m.client);
			if (!backs[m.client])
				backs[m.client] = open(own, O_WRONLY);
			answer(backs[m.client]);
		}
	}
	CLIENTS(i)
	{
		struct message m = {.client = i, .ms = weight * (i + 1)};
		int fd = open(path, O_WRONLY), back = 0;

		snprintf(own, sizeof(own), "%s.%d", path, i);
		for (int j = 0; j < 2; j++) {
			full_write(fd, &m, sizeof(m));
			if (!back)
				back = open(own, O_RDONLY);
			get_answer(back);
		}
		_exit(0);
	}
	end_processes();
}

/* A pair of pipes for each client. */
void pipes(void)
{
	int there[NR_CLIENTS][2], back[NR_CLIENTS][2];

	for (int i = 0; i < NR_CLIENTS; i++)
		if (pipe(there[i]) || pipe(back[i]))
			die("pipe");
	SERVER(0)
	{
		struct pollfd fds[NR_CLIENTS];

		for (int i = 0; i < NR_CLIENTS; i++) {
			fds[i] = (struct pollfd){.fd = there[i][0], .events = POLLIN};
			close(there[i][1]);
			close(back[i][0]);
		}
		for (;;) {
			at_rest();
			poll(fds, NR_CLIENTS, -1);
			for (int i = 0; i < NR_CLIENTS; i++) {
				struct message m;

				if (!(fds[i].revents & POLLIN)) {
					if (fds[i].revents & POLLHUP)
						fds[i].fd = -1;
					continue;
				}
				take_all(fds[i].fd, &m, sizeof(m));
				work(0, &m);
				answer(back[i][1]);
			}
		}
	}
	clients_of_pipes(there, back);
}

void socket_pairs(void)
{
	int pairs[NR_CLIENTS][2];

	for (int i = 0; i < NR_CLIENTS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]))
			die("socketpair");
	SERVER(0)
	{
		struct pollfd fds[NR_CLIENTS];

		for (int i = 0; i < NR_CLIENTS; i++) {
			fds[i] = (struct pollfd){.fd = pairs[i][0], .events = POLLIN};
			close(pairs[i][1]);
		}
		for (;;) {
			at_rest();
			poll(fds, NR_CLIENTS, -1);
			for (int i = 0; i < NR_CLIENTS; i++) {
				struct message m;

				if (!(fds[i].revents & POLLIN))
					continue;
				if (take(fds[i].fd, &m, sizeof(m)) <= 0) {
					fds[i].fd = -1;
					continue;
				}
				work(0, &m);
				answer(fds[i].fd);
			}
		}
	}
	for (int i = 0; i < NR_CLIENTS; i++)
		close(pairs[i][0]);
	CLIENTS(i)
	{
		nr_requests = 2;
		client_ask(pairs[i][1], i);
		_exit(0);
	}
	for (int i = 0; i < NR_CLIENTS; i++)
		close(pairs[i][1]);
	end_processes();
}

/* No process here is a server. */
void pipeline(void)
{
	int ends[2];
	char data[4096] = "";

	if (pipe(ends))
		die("pipe");
	SERVER(0)
	{
		close(ends[1]);
		while (read(ends[0], data, sizeof(data)) > 0)
			spin(MS);
		_exit(0);
	}
	if (!(board->client[0] = begin_process("client"))) {
		for (int i = 0; i < 10; i++)
			full_write(ends[1], data, sizeof(data));
		_exit(0);
	}
	close(ends[0]);
	close(ends[1]);
	waitpid(board->client[0], NULL, 0);
	waitpid(board->server[0], NULL, 0);
	fprintf(truth, "%s noserver %d 0 0 0\n", pattern, (int)board->server[0]);
}
