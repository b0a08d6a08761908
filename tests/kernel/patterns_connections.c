/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patterns_connections.c - servers that accept connections: unix sockets and TCP. */
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

static void serve_one(int server, int fd)
{
	struct message m;

	take_all(fd, &m, sizeof(m));
	work(server, &m);
	answer(fd);
}

/* ---- event loops ---- */

void loop_poll(int listening)
{
	struct pollfd fds[MAX_FDS] = {{.fd = listening, .events = POLLIN}};
	int nr = 1;
	struct message m;

	for (;;) {
		at_rest();
		poll(fds, (nfds_t)nr, -1);
		for (int i = 1; i < nr; i++) {
			if (!(fds[i].revents & (POLLIN | POLLHUP)))
				continue;
			if (take(fds[i].fd, &m, sizeof(m)) <= 0) {
				close(fds[i].fd);
				fds[i--] = fds[--nr];
				continue;
			}
			work(0, &m);
			answer(fds[i].fd);
		}
		if (fds[0].revents & POLLIN)
			fds[nr++] = (struct pollfd){.fd = take_connection(listening), .events = POLLIN};
	}
}

void loop_epoll(int listening)
{
	int epoll = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = listening}, events[8];
	struct message m;

	epoll_ctl(epoll, EPOLL_CTL_ADD, listening, &event);
	for (;;) {
		int nr;

		at_rest();
		nr = epoll_wait(epoll, events, 8, -1);

		for (int i = 0; i < nr; i++) {
			if (events[i].data.fd == listening) {
				event.data.fd = take_connection(listening);
				epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
				continue;
			}
			if (take(events[i].data.fd, &m, sizeof(m)) <= 0) {
				close(events[i].data.fd);
				continue;
			}
			work(0, &m);
			answer(events[i].data.fd);
		}
	}
}

static void loop_select(int listening)
{
	fd_set all, ready;
	int top = listening;
	struct message m;

	FD_ZERO(&all);
	FD_SET(listening, &all);
	for (;;) {
		ready = all;
		at_rest();
		select(top + 1, &ready, NULL, NULL, NULL);
		for (int fd = 0; fd <= top; fd++) {
			if (!FD_ISSET(fd, &ready))
				continue;
			if (fd == listening) {
				int made = take_connection(listening);

				FD_SET(made, &all);
				top = made > top ? made : top;
			} else if (take(fd, &m, sizeof(m)) <= 0) {
				close(fd);
				FD_CLR(fd, &all);
			} else {
				work(0, &m);
				answer(fd);
			}
		}
	}
}

static void loop_sequential(int listening)
{
	for (;;) {
		int fd = take_connection(listening);

		serve_one(0, fd);
		close(fd);
	}
}

/* A child's time from its birth to its death is for its client. It cannot measure its own death. */
static void child_ended(int signal)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (int slot = 1; slot < MAX_SERVERS; slot++)
			if (board->server[slot] == pid) {
				board->end[slot] = now_ns() - board->end_began[slot];
				__atomic_add_fetch(&board->ended, 1, __ATOMIC_RELEASE);
			}
}

static void loop_fork(int listening)
{
	signal(SIGCHLD, child_ended);
	for (int slot = 1;; slot++) {
		int fd = take_connection(listening);

		if (fd < 0) {
			slot--;
			continue;
		}
		board->children++;
		SERVER(slot)
		{
			serve_one(slot, fd);
			board->end_began[slot] = now_ns();
			at_rest();
			_exit(0);
		}
		close(fd);
	}
}

static void *connection_thread(void *argument)
{
	int fd = (int)(long)argument;
	struct message m;

	charge_to(the_meter(fd)); /* since its birth */
	while (take(fd, &m, sizeof(m)) == sizeof(m)) {
		work(0, &m);
		answer(fd);
	}
	close(fd);
	return NULL;
}

/* An interpreter's lock: one thread at a time computes, and lets others in now and then. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t free;
	bool taken;
} interpreter = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

static void interpreter_enter(void)
{
	pthread_mutex_lock(&interpreter.mutex);
	while (interpreter.taken)
		pthread_cond_wait(&interpreter.free, &interpreter.mutex);
	interpreter.taken = true;
	pthread_mutex_unlock(&interpreter.mutex);
}

static void interpreter_leave(void)
{
	pthread_mutex_lock(&interpreter.mutex);
	interpreter.taken = false;
	pthread_cond_signal(&interpreter.free);
	pthread_mutex_unlock(&interpreter.mutex);
}

static void *interpreted_thread(void *argument)
{
	int fd = (int)(long)argument;
	struct message m;

	charge_to(the_meter(fd));
	while (take(fd, &m, sizeof(m)) == sizeof(m)) {
		struct message part = {.client = m.client, .ms = 1};

		for (uint32_t i = 1; i < (uint32_t)m.ms; i++) {
			interpreter_enter();
			bind_meter(0, m.client);
			spin(MS);
			interpreter_leave();
		}
		work(0, &part);
		answer(fd);
	}
	close(fd);
	return NULL;
}

static void thread_per_client(int listening, void *(*serve)(void *))
{
	for (;;) {
		long fd = take_connection(listening);
		pthread_t thread;

		pthread_create(&thread, NULL, serve, (void *)fd);
		pthread_detach(thread);
	}
}

void loop_thread_per_client(int listening)
{
	thread_per_client(listening, connection_thread);
}

static void loop_interpreter(int listening)
{
	thread_per_client(listening, interpreted_thread);
}

/* The request arrives in two pieces, the second one late. */
static void loop_pieces(int listening)
{
	struct message m;
	char byte;

	for (;;) {
		int fd = take_connection(listening);

		take_all(fd, &m, 8);
		m.ms /= 2;
		work(0, &m);
		take_all(fd, (char *)&m + 8, sizeof(m) - 8);
		work(0, &m);
		board->requests[0][m.client]--;
		answer(fd);
		if (take(fd, &byte, 1) == 0)
			close(fd);
	}
}

static void loop_reply_pieces(int listening)
{
	struct message m;
	char byte;

	for (;;) {
		int fd = take_connection(listening);

		take_all(fd, &m, sizeof(m));
		m.ms /= 2;
		work(0, &m);
		full_write(fd, "half an answer..", 16);
		work(0, &m);
		board->requests[0][m.client]--;
		full_write(fd, "the other half..", 16);
		if (take(fd, &byte, 1) == 0)
			close(fd);
	}
}

static void *background(void *unused)
{
	spin(30 * MS);
	board->background = thread_spent();
	return NULL;
}

static void loop_background(int listening)
{
	pthread_t thread;

	pthread_create(&thread, NULL, background, NULL);
	loop_epoll(listening);
}

/* ---- the usual pattern: clients connect, send requests, and close ---- */

void simple(int family, int type, void (*loop)(int))
{
	union address address;
	socklen_t length;
	int listening = listener(family, type, &address, &length);

	SERVER(0) loop(listening);
	CLIENTS(i)
	{
		int fd = connected(type, &address, length);

		client_ask(fd, i);
		_exit(0);
	}
	close(listening);
	end_processes();
}

#define SIMPLE(name, family, type, loop)    \
	void name(void)                     \
	{                                   \
		simple(family, type, loop); \
	}
SIMPLE(unix_sequential, AF_UNIX, SOCK_STREAM, loop_sequential)
SIMPLE(unix_poll, AF_UNIX, SOCK_STREAM, loop_poll)
SIMPLE(unix_epoll, AF_UNIX, SOCK_STREAM, loop_epoll)
SIMPLE(unix_select, AF_UNIX, SOCK_STREAM, loop_select)
SIMPLE(unix_threads, AF_UNIX, SOCK_STREAM, loop_thread_per_client)
SIMPLE(seqpacket_poll, AF_UNIX, SOCK_SEQPACKET, loop_poll)
SIMPLE(tcp4_sequential, AF_INET, SOCK_STREAM, loop_sequential)
SIMPLE(tcp4_epoll, AF_INET, SOCK_STREAM, loop_epoll)
SIMPLE(tcp4_threads, AF_INET, SOCK_STREAM, loop_thread_per_client)
SIMPLE(interpreter_threads, AF_UNIX, SOCK_STREAM, loop_interpreter)
SIMPLE(tcp6_poll, AF_INET6, SOCK_STREAM, loop_poll)
SIMPLE(tcp4_fork, AF_INET, SOCK_STREAM, loop_fork)
SIMPLE(unix_fork, AF_UNIX, SOCK_STREAM, loop_fork)
SIMPLE(reply_in_pieces, AF_UNIX, SOCK_STREAM, loop_reply_pieces)
SIMPLE(background_thread, AF_UNIX, SOCK_STREAM, loop_background)

void request_in_pieces(void)
{
	union address address;
	socklen_t length;
	int listening = listener(AF_INET, SOCK_STREAM, &address, &length);

	SERVER(0) loop_pieces(listening);
	CLIENTS(i)
	{
		int fd = connected(SOCK_STREAM, &address, length);
		struct message m = {.client = i, .ms = weight * (i + 1)};

		full_write(fd, &m, 8);
		nap(5);
		full_write(fd, (char *)&m + 8, sizeof(m) - 8);
		get_answer(fd);
		_exit(0);
	}
	end_processes();
}

void short_connections(void)
{
	union address address;
	socklen_t length;
	int listening = listener(AF_INET, SOCK_STREAM, &address, &length);

	SERVER(0) loop_sequential(listening);
	CLIENTS(i)
	{
		struct message m = {.client = i, .ms = i + 1};

		for (int j = 0; j < 10; j++) {
			int fd = connected(SOCK_STREAM, &address, length);

			full_write(fd, &m, sizeof(m));
			get_answer(fd);
			close(fd);
		}
		_exit(0);
	}
	end_processes();
}

/* Many requests sent at once, handled one after the other. */
void pipelined(void)
{
	union address address;
	socklen_t length;
	int listening = listener(AF_INET, SOCK_STREAM, &address, &length);

	SERVER(0) loop_thread_per_client(listening);
	CLIENTS(i)
	{
		int fd = connected(SOCK_STREAM, &address, length);
		struct message all[5];

		for (int j = 0; j < 5; j++)
			all[j] = (struct message){.client = i, .ms = 2 * (i + 1)};
		full_write(fd, all, sizeof(all));
		for (int j = 0; j < 5; j++)
			get_answer(fd);
		_exit(0);
	}
	end_processes();
}

/* Two requests are read, handled together, and answered: the time is shared. */
void batch(void)
{
	union address address;
	socklen_t length;
	int listening = listener(AF_UNIX, SOCK_STREAM, &address, &length);

	SERVER(0)
	{
		int fds[NR_CLIENTS];
		struct pollfd one;

		for (int i = 0; i < NR_CLIENTS; i++)
			fds[i] = take_connection(listening);
		for (int i = 0; i < NR_CLIENTS; i += 2) {
			struct message a, b;

			at_rest();
			one = (struct pollfd){.fd = fds[i], .events = POLLIN};
			poll(&one, 1, -1);
			one.fd = fds[i + 1];
			poll(&one, 1, -1);
			take_all(fds[i], &a, sizeof(a));
			bind_meter(0, a.client);
			take_all(fds[i + 1], &b, sizeof(b));
			bind_meter(0, b.client);
			the_meter(fds[i + 1])->with = a.client + 1; /* until one is answered */
			spin((a.ms + b.ms) * MS);
			board->requests[0][a.client]++;
			board->requests[0][b.client]++;
			answer(fds[i]);
			charge_to(the_meter(fds[i + 1]));
			the_meter(fds[i + 1])->with = 0;
			answer(fds[i + 1]);
		}
		at_rest();
		pause();
	}
	CLIENTS(i)
	{
		int fd = connected(SOCK_STREAM, &address, length);

		client_ask(fd, i);
		_exit(0);
	}
	end_processes();
}

/* ---- connected before the recording ---- */

void wait_for(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	while (access(path, F_OK))
		nap(5);
}

void note(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	close(open(path, O_CREAT | O_WRONLY, 0600));
}

void early(int family, int type)
{
	union address address;
	socklen_t length;
	int listening = listener(family, type, &address, &length);

	SERVER(0) loop_poll(listening);
	CLIENTS(i)
	{
		int fd = connected(type, &address, length);

		__atomic_add_fetch(&board->ready, 1, __ATOMIC_SEQ_CST);
		wait_for("go");
		nap(20);
		nr_requests = 2;
		client_ask(fd, i);
		_exit(0);
	}
	while (__atomic_load_n(&board->ready, __ATOMIC_SEQ_CST) < NR_CLIENTS)
		nap(5);
	nap(50); /* until the server is idle */
}
