/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SERVER_PATTERNS_H
#define TESTS_SERVER_PATTERNS_H
/*
 * server_patterns.h - servers of all shapes that measure for which client they work: shared by the
 * files of server_patterns.
 *
 * A thread reads its own clock where docs/SERVERS.md says that a bill begins and ends: before the
 * call that brings a request, and before the next idle wait. All time in between is the request's:
 * receiving, working, answering. So a bill and its measured truth cover the same calls, and no
 * allowance for receiving and sending is needed.
 *
 * The clock is perf's task-clock. It runs from the switch to a thread until the switch away from
 * it, as the bill does. The two differ only by:
 *
 *   interrupts    the clock runs on in them; a bill leaves them out, and shows their time next to
 *   it
 *   the clock          reading it is a system call of 1 us, half of it before the reading and half
 *   after it
 *
 * CLOCK_THREAD_CPUTIME_ID and getrusage() are not usable. They leave out the time that a hypervisor
 * takes, sometimes later than it happened. And they let a thread that preempts another on its
 * wakeup start to run at the wakeup, because the scheduler avoids another reading of the clock. So
 * they count for the woken thread the time that the other one still spends in the kernel until the
 * switch, and interrupts with their softirqs. That is 11 to 19 us for each wakeup of a thread next
 * to a busy one, up to 170 us for a single one on an ordinary machine, and up to a tick (4 ms) on a
 * slow one.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <netinet/in.h>
#include <sys/un.h>
#include "spend.h"

#define NR_CLIENTS  4
#define MAX_SERVERS 8
#define MAX_FDS	    256

struct message {
	int32_t client;
	int32_t ms;
	int32_t wants; /* pattern's own */
	int32_t pad;
};

/* Shared memory in which the processes of a pattern communicate, apart from what is tested. */
struct board {
	long long exact[MAX_SERVERS][NR_CLIENTS];
	long long shared[MAX_SERVERS][NR_CLIENTS];
	long long end[MAX_SERVERS]; /* maximum time of its end, if that is in the bill */
	long long end_began[MAX_SERVERS];
	int requests[MAX_SERVERS][NR_CLIENTS];
	pid_t server[MAX_SERVERS];
	pid_t client[NR_CLIENTS];
	long long background;
	int ready;
	int children, ended;  /* of servers */
	int done[NR_CLIENTS]; /* where they alternate */
};

extern struct board *board;
extern FILE *truth;
extern const char *scratch, *pattern;
extern int nr_requests; /* of each client */
extern int weight;	/* ms of client 0; the others twice, three times ... as much */

void die(const char *what) __attribute__((noreturn));
void nap(long ms);

/* ---- the client of the current time ---- */

struct meter {
	long long pending; /* of a client that is not known yet */
	int server, client;
	int with; /* shared evenly with this client, counted from 1; 0: not shared */
	bool known;
};

/**
 * at_rest() - from now on this thread is idle
 */
void at_rest(void);
/**
 * charge_to() - charge the time since the last at_rest(), and all time from now on, to @meter
 */
void charge_to(struct meter *meter);
/**
 * the_meter() - the meter of a connection
 */
struct meter *the_meter(int fd);
/**
 * charge_to_message() - charge_to() for a message of a client that is not known yet
 */
void charge_to_message(void);
/**
 * bind_meter() - name the client of that message: its time since it began is this client's
 */
void bind_meter(int server, int client);
/**
 * thread_spent() - CPU time of this thread
 */
long long thread_spent(void);
extern bool with_workers; /* and of the kernel threads created for it, from its first reading on */
/**
 * now_ns() - time of a clock that all processes share
 */

/**
 * take_connection() - accept a connection; at rest until there is one, and then charge the call to
 * it
 */
int take_connection(int listening);
/**
 * take() - read a request, in the same way
 */
ssize_t take(int fd, void *data, size_t bytes);
void take_all(int fd, void *data, size_t bytes); /* all bytes arrive, or the pattern fails */
/**
 * spin() - use CPU time
 */
void spin(long long ns);
/**
 * work() - do what the message asks for, and bind the meter to its client
 */
void work(int server, const struct message *m);

/* ---- messages ---- */

void full_read(int fd, void *data, size_t bytes);
void full_write(int fd, const void *data, size_t bytes);
void answer(int fd);
void get_answer(int fd);
void client_ask(int fd, int client);

union address {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};
/**
 * listener() - open a socket of @family, and listen if it can
 * @address: where clients reach it
 */
int listener(int family, int type, union address *address, socklen_t *length);
int connected(int type, const union address *address, socklen_t length);

/* ---- processes ---- */

pid_t begin_process(const char *name);
#define SERVER(slot) if (!(board->server[slot] = begin_process("server")) && (board->server[slot] = getpid()))
#define CLIENTS(i)                           \
	for (int i = 0; i < NR_CLIENTS; i++) \
		if (!(board->client[i] = begin_process("client")) && (board->client[i] = getpid()))
/**
 * end_processes() - wait for the clients to end, then end the servers
 */
void end_processes(void);
/**
 * clients_of_pipes() - each client asks twice through its pipe of @there and gets its answers
 * through that of @back; then all end
 */
void clients_of_pipes(int there[NR_CLIENTS][2], int back[NR_CLIENTS][2]);

/* ---- patterns ---- */

void loop_poll(int listening);
void loop_epoll(int listening);
void loop_thread_per_client(int listening);
/**
 * simple() - clients connect, send requests, and close
 */
void simple(int family, int type, void (*loop)(int));

void unix_sequential(void);
void unix_poll(void);
void unix_epoll(void);
void unix_select(void);
void unix_threads(void);
void unix_fork(void);
void seqpacket_poll(void);
void tcp4_sequential(void);
void tcp4_epoll(void);
void tcp4_threads(void);
void tcp4_fork(void);
void two_networks(void);
void tcp6_poll(void);
void batch(void);
void pipelined(void);
void request_in_pieces(void);
void reply_in_pieces(void);
void short_connections(void);
void background_thread(void);
void early(int family, int type);
void wait_for(const char *name);
void note(const char *name);

void interpreter_threads(void);
void pool_condvar(void);
void pool_busy(void);
void pool_pipe(void);
void pool_eventfd(void);

void unix_datagrams(void);
void udp4(void);
void udp6(void);
void fifos(void);
void pipes(void);
void socket_pairs(void);
void pipeline(void);

void shared_memory_futex(void);
void shared_memory_eventfd(void);

void ring_tcp4(void);
void ring_unix(void);
void ring_submits(void);
void ring_worker(void);
void ring_polled(void);
void ring_poll(void);
void ring_file(void);
void ring_multishot(void);
void ring_batch(void);
void ring_chain(void);
void ring_pipes(void);

void callback(void);
void chain(void);
void chain_event_loop(void);

#endif
