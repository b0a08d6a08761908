/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patterns_chains.c - servers that send requests to other servers, or back to their clients. */
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

/* ---- several servers ---- */

/* The server sends a request back to its client, through another connection. That is work of the
 * client for itself, not for the server. */
void callback(void)
{
	union address address, back_address[NR_CLIENTS];
	socklen_t length, back_length[NR_CLIENTS];
	int listening = listener(AF_UNIX, SOCK_STREAM, &address, &length), backs[NR_CLIENTS];

	for (int i = 0; i < NR_CLIENTS; i++)
		backs[i] = listener(AF_UNIX, SOCK_STREAM, &back_address[i], &back_length[i]);
	SERVER(0) for (;;)
	{
		int fd = take_connection(listening), back;
		struct message m;

		take_all(fd, &m, sizeof(m));
		work(0, &m);
		back = connected(SOCK_STREAM, &back_address[m.client], back_length[m.client]);
		full_write(back, &m, sizeof(m));
		get_answer(back);
		close(back);
		answer(fd);
		close(fd);
	}
	CLIENTS(i)
	{
		int fd = connected(SOCK_STREAM, &address, length), back;
		struct message m = {.client = i, .ms = weight * (i + 1)};

		full_write(fd, &m, sizeof(m));
		back = take_connection(backs[i]);
		take_all(back, &m, sizeof(m));
		board->server[2 + i] = -getpid(); /* it is its own server; there is no process to end */
		work(2 + i, &m);
		answer(back);
		at_rest();
		get_answer(fd);
		_exit(0);
	}
	end_processes();
	for (int i = 0; i < NR_CLIENTS; i++)
		fprintf(truth, "%s nothing %d %d 0 0\n", pattern, (int)board->client[i], (int)board->server[0]);
}

/* Client - first server - second server: the second works for the client, not for the first. */
static void chain_with(void (*first)(int, const union address *, socklen_t))
{
	union address one, two;
	socklen_t one_length, two_length;
	int first_fd = listener(AF_UNIX, SOCK_STREAM, &one, &one_length),
	    second_fd = listener(AF_INET, SOCK_STREAM, &two, &two_length);

	SERVER(0) first(first_fd, &two, two_length);
	SERVER(1) for (;;)
	{
		int fd = take_connection(second_fd);
		struct message m;

		while (take(fd, &m, sizeof(m)) == sizeof(m)) {
			work(1, &m);
			full_write(fd, &m, sizeof(m));
		}
		close(fd);
	}
	CLIENTS(i)
	{
		int fd = connected(SOCK_STREAM, &one, one_length);

		client_ask(fd, i);
		_exit(0);
	}
	end_processes();
	fprintf(truth, "%s nothing %d %d 0 0\n", pattern, (int)board->server[1], (int)board->server[0]);
}

static void first_blocking(int listening, const union address *next, socklen_t length)
{
	int down = connected(SOCK_STREAM, next, length);

	for (;;) {
		int fd = take_connection(listening);
		struct message m;

		take_all(fd, &m, sizeof(m));
		m.ms /= 2;
		work(0, &m);
		full_write(down, &m, sizeof(m));
		full_read(down, &m, sizeof(m));
		work(0, &m);
		board->requests[0][m.client]--;
		answer(fd);
		close(fd);
	}
}

/* The first server takes other requests while the second works, and continues each request when its
 * answer arrives. */
static void first_event_loop(int listening, const union address *next, socklen_t length)
{
	struct pollfd fds[MAX_FDS] = {{.fd = listening, .events = POLLIN},
				      {.fd = connected(SOCK_STREAM, next, length), .events = POLLIN}};
	int nr = 2, who[NR_CLIENTS];
	struct message m;

	for (;;) {
		at_rest();
		poll(fds, (nfds_t)nr, -1);
		for (int i = 2; i < nr; i++) {
			if (!(fds[i].revents & (POLLIN | POLLHUP)))
				continue;
			if (take(fds[i].fd, &m, sizeof(m)) <= 0) {
				close(fds[i].fd);
				fds[i].fd = -1;
				continue;
			}
			who[m.client] = fds[i].fd;
			m.ms /= 2;
			work(0, &m);
			full_write(fds[1].fd, &m, sizeof(m));
		}
		if (fds[1].revents & POLLIN) {
			at_rest();
			full_read(fds[1].fd, &m, sizeof(m));
			charge_to_message(); /* the answer */
			work(0, &m);
			board->requests[0][m.client]--;
			answer(who[m.client]);
		}
		if (fds[0].revents & POLLIN)
			fds[nr++] = (struct pollfd){.fd = take_connection(listening), .events = POLLIN};
	}
}

void chain(void)
{
	chain_with(first_blocking);
}

void chain_event_loop(void)
{
	chain_with(first_event_loop);
}
