/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patterns_rings.c - servers that receive and send through io_uring, with its system calls. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "io_ring.h"
#include "server_patterns.h"

/* ---- operations: user_data says what an operation does ---- */

enum { IS_ACCEPT = 1, IS_RECEIVE, IS_SEND, IS_POLL, IS_FILE, IS_BUFFERS };

static uint64_t label(int what, int fd)
{
	return (uint64_t)what << 32 | (uint32_t)fd;
}

static struct ring ring;
static struct message messages[MAX_FDS];
static char done[32] = "done";
static unsigned int extra; /* flags of each operation */

static void put_accept(int listening)
{
	ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_ACCEPT,
					      .fd = listening,
					      .ioprio = IORING_ACCEPT_MULTISHOT,
					      .user_data = label(IS_ACCEPT, 0)});
}

static void put_receive(int fd)
{
	ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_RECV,
					      .fd = fd,
					      .flags = (uint8_t)extra,
					      .addr = (uintptr_t)&messages[fd],
					      .len = sizeof(struct message),
					      .user_data = label(IS_RECEIVE, fd)});
}

static void put_send(int fd)
{
	ring.answers = true;
	ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_SEND,
					      .fd = fd,
					      .flags = (uint8_t)extra,
					      .addr = (uintptr_t)done,
					      .len = sizeof(done),
					      .user_data = label(IS_SEND, fd)});
}

/* The wait is background. But an answer that the same call sends is for the client that gets it. */
static bool next_result(struct io_uring_cqe *ret_result)
{
	bool answers = ring.answers;

	ring.answers = false;
	if (!answers)
		at_rest();
	ring_enter(&ring, 1);
	if (answers)
		at_rest();
	return ring_take(&ring, ret_result);
}

static void serve(const struct io_uring_cqe *result, void (*request)(int fd))
{
	int fd = (int)(uint32_t)result->user_data;

	switch (result->user_data >> 32) {
	case IS_ACCEPT:
		if (result->res < 0)
			die("accept in a ring");
		*the_meter(result->res) = (struct meter){0};
		charge_to(the_meter(result->res));
		put_receive(result->res);
		break;
	case IS_RECEIVE:
		if (result->res <= 0) {
			close(fd);
			break;
		}
		request(fd);
		break;
	default:
		break;
	}
}

/* One result for each call. */
static void loop(int listening, void (*request)(int fd))
{
	put_accept(listening);
	for (;;) {
		struct io_uring_cqe result;

		if (next_result(&result))
			serve(&result, request);
	}
}

static void answer_later(int fd)
{
	charge_to(the_meter(fd));
	work(0, &messages[fd]);
	put_send(fd);
	put_receive(fd);
}

static void loop_ring(int listening)
{
	loop(listening, answer_later);
}

/* All results at once; each answer is submitted when it is ready. */
static void answer_at_once(int fd)
{
	charge_to(the_meter(fd));
	work(0, &messages[fd]);
	put_send(fd);
	put_receive(fd);
	ring_enter(&ring, 0);
}

static void loop_submit(int listening)
{
	put_accept(listening);
	for (;;) {
		struct io_uring_cqe result;

		at_rest();
		ring_enter(&ring, 1);
		while (ring_take(&ring, &result))
			serve(&result, answer_at_once);
	}
}

/* The ring reports which descriptors are ready, and the server reads and writes itself. */
static void put_poll(int fd)
{
	ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_POLL_ADD,
					      .fd = fd,
					      .poll32_events = POLLIN,
					      .user_data = label(IS_POLL, fd)});
}

static void loop_ring_poll(int listening)
{
	put_poll(listening);
	for (;;) {
		struct io_uring_cqe result;
		struct message m;
		int fd;

		if (!next_result(&result))
			continue;
		fd = (int)(uint32_t)result.user_data;
		if (fd == listening) {
			put_poll(take_connection(listening));
		} else if (take(fd, &m, sizeof(m)) == sizeof(m)) {
			work(0, &m);
			answer(fd);
		} else {
			close(fd);
			continue;
		}
		put_poll(fd);
	}
}

/* The answer needs a file, and the server takes other requests meanwhile. */
static char file_data[1 << 16];
static int file_fd;

static void put_file(int fd)
{
	ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_READ,
					      .fd = file_fd,
					      .flags = IOSQE_ASYNC,
					      .addr = (uintptr_t)file_data,
					      .len = sizeof(file_data),
					      .user_data = label(IS_FILE, fd)});
}

static void loop_ring_file(int listening)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/file%d", scratch, (int)getpid());
	file_fd = open(path, O_CREAT | O_RDWR, 0600);
	if (file_fd < 0)
		die(path);
	memset(file_data, 1, sizeof(file_data)); /* allocates its pages */
	full_write(file_fd, file_data, sizeof(file_data));
	put_accept(listening);
	for (;;) {
		struct io_uring_cqe result;
		int fd;

		if (!next_result(&result))
			continue;
		fd = (int)(uint32_t)result.user_data;
		if (result.user_data >> 32 == IS_RECEIVE && result.res > 0) {
			charge_to(the_meter(fd));
			messages[fd].ms /= 2;
			work(0, &messages[fd]);
			board->requests[0][messages[fd].client]--;
			put_file(fd);
		} else if (result.user_data >> 32 == IS_FILE) {
			charge_to(the_meter(fd));
			work(0, &messages[fd]);
			put_send(fd);
			put_receive(fd);
		} else {
			serve(&result, NULL);
		}
	}
}

/* One operation receives again and again, into buffers that the kernel chooses. */
#define NR_BUFFERS 8
static struct message buffers[NR_BUFFERS];

static void put_buffers(int first, int nr)
{
	ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_PROVIDE_BUFFERS,
					      .fd = nr,
					      .addr = (uintptr_t)&buffers[first],
					      .len = sizeof(struct message),
					      .off = (uint64_t)first,
					      .user_data = label(IS_BUFFERS, 0)});
}

static void put_multishot(int fd)
{
	ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_RECV,
					      .fd = fd,
					      .flags = IOSQE_BUFFER_SELECT,
					      .ioprio = IORING_RECV_MULTISHOT,
					      .user_data = label(IS_RECEIVE, fd)});
}

static void loop_ring_multishot(int listening)
{
	put_buffers(0, NR_BUFFERS);
	put_accept(listening);
	for (;;) {
		struct io_uring_cqe result;
		int fd, buffer;

		if (!next_result(&result))
			continue;
		fd = (int)(uint32_t)result.user_data;
		buffer = (int)(result.flags >> IORING_CQE_BUFFER_SHIFT);
		switch (result.user_data >> 32) {
		case IS_ACCEPT:
			*the_meter(result.res) = (struct meter){0};
			charge_to(the_meter(result.res));
			put_multishot(result.res);
			break;
		case IS_RECEIVE:
			if (result.res <= 0) {
				close(fd);
				break;
			}
			charge_to(the_meter(fd));
			work(0, &buffers[buffer]);
			put_send(fd);
			put_buffers(buffer, 1);
			if (!(result.flags & IORING_CQE_F_MORE))
				put_multishot(fd);
			break;
		default:
			break;
		}
	}
}

/* Two requests are handled together, and answered together. */
static void loop_ring_batch(int listening)
{
	int waiting[2], nr = 0;

	put_accept(listening);
	for (;;) {
		struct io_uring_cqe result;
		int fd;

		if (!next_result(&result))
			continue;
		fd = (int)(uint32_t)result.user_data;
		if (result.user_data >> 32 == IS_ACCEPT) {
			put_receive(result.res);
		} else if (result.user_data >> 32 == IS_RECEIVE && result.res > 0) {
			waiting[nr++] = fd;
		}
		if (nr < 2)
			continue;
		nr = 0;
		at_rest();
		*the_meter(waiting[0]) = (struct meter){0};
		charge_to(the_meter(waiting[0]));
		bind_meter(0, messages[waiting[0]].client);
		the_meter(waiting[0])->with = messages[waiting[1]].client + 1;
		spin((messages[waiting[0]].ms + messages[waiting[1]].ms) * MS);
		for (int i = 0; i < 2; i++) {
			board->requests[0][messages[waiting[i]].client]++;
			put_send(waiting[i]);
		}
	}
}

/* The server asks another server, and takes other requests until that one has answered. */
static void second_server(int listening)
{
	for (;;) {
		int fd = take_connection(listening);
		struct message m;

		while (take(fd, &m, sizeof(m)) == sizeof(m)) {
			work(1, &m);
			full_write(fd, &m, sizeof(m));
		}
		close(fd);
	}
}

static void put_ask(int fd, const struct message *m)
{
	ring.answers = true; /* a request to another server counts the same */
	ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_SEND,
					      .fd = fd,
					      .addr = (uintptr_t)m,
					      .len = sizeof(*m),
					      .user_data = label(IS_SEND, fd)});
}

static void first_server(int listening, int down)
{
	int who[NR_CLIENTS];

	put_accept(listening);
	put_receive(down);
	for (;;) {
		struct io_uring_cqe result;
		struct message *m;
		int fd;

		if (!next_result(&result))
			continue;
		fd = (int)(uint32_t)result.user_data;
		m = &messages[fd];
		if (result.user_data >> 32 == IS_RECEIVE && fd == down) {
			charge_to_message();
			work(0, m);
			board->requests[0][m->client]--;
			put_send(who[m->client]);
			put_receive(down);
		} else if (result.user_data >> 32 == IS_RECEIVE && result.res > 0) {
			charge_to(the_meter(fd));
			who[m->client] = fd;
			m->ms /= 2;
			work(0, m);
			put_ask(down, m);
		} else {
			serve(&result, NULL);
		}
	}
}

/* ---- patterns ---- */

static void skipped(void)
{
	fprintf(truth, "%s skipped 0 0 0 0\n", pattern);
}

static bool can(unsigned int flags)
{
	struct ring trial;

	if (!ring_make(&trial, flags)) {
		skipped();
		return false;
	}
	close(trial.fd);
	return true;
}

/* Starts the kernel thread that executes blocking operations, with everything that it needs. */
static void ring_warm_up(void)
{
	struct io_uring_cqe result;

	ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_NOP, .flags = IOSQE_ASYNC});
	ring_enter(&ring, 1);
	if (!ring_take(&ring, &result))
		die("a ring that does nothing");
}

static unsigned int ring_flags;
static void (*ring_loop)(int);

static void with_ring(int listening)
{
	with_workers = !(ring_flags & IORING_SETUP_SQPOLL); /* a thread that polls for submissions is background */
	at_rest();
	if (!ring_make(&ring, ring_flags))
		die("io_uring_setup");
	if (with_workers)
		ring_warm_up();
	ring_loop(listening);
}

static void run(int family, int type, void (*loop_)(int), unsigned int setup_flags, unsigned int operation_flags)
{
	if (!can(setup_flags))
		return;
	ring_loop = loop_;
	ring_flags = setup_flags;
	extra = operation_flags;
	simple(family, type, with_ring);
	extra = 0;
}

#define RING(name, family, type, loop, setup_flags, operation_flags)   \
	void name(void)                                                \
	{                                                              \
		run(family, type, loop, setup_flags, operation_flags); \
	}
RING(ring_tcp4, AF_INET, SOCK_STREAM, loop_ring, 0, 0)
RING(ring_unix, AF_UNIX, SOCK_STREAM, loop_ring, 0, 0)
RING(ring_submits, AF_INET, SOCK_STREAM, loop_submit, 0, 0)
RING(ring_worker, AF_UNIX, SOCK_STREAM, loop_ring, 0, IOSQE_ASYNC)
RING(ring_poll, AF_INET6, SOCK_STREAM, loop_ring_poll, 0, 0)
RING(ring_file, AF_UNIX, SOCK_STREAM, loop_ring_file, 0, 0)
RING(ring_multishot, AF_INET, SOCK_STREAM, loop_ring_multishot, 0, 0)
RING(ring_batch, AF_UNIX, SOCK_SEQPACKET, loop_ring_batch, 0, 0)

void ring_chain(void)
{
	union address one, two;
	socklen_t one_length, two_length;
	int first_fd, second_fd;

	if (!can(0))
		return;
	first_fd = listener(AF_UNIX, SOCK_STREAM, &one, &one_length);
	second_fd = listener(AF_INET, SOCK_STREAM, &two, &two_length);
	SERVER(1) second_server(second_fd);
	SERVER(0)
	{
		if (!ring_make(&ring, 0))
			die("io_uring_setup");
		first_server(first_fd, connected(SOCK_STREAM, &two, two_length));
	}
	CLIENTS(i)
	{
		client_ask(connected(SOCK_STREAM, &one, one_length), i);
		_exit(0);
	}
	end_processes();
}

/* A kernel thread polls for submissions. The clients ask alternately, because it is not known which
 * request the server continues before that thread has seen an answer. The thread's time for sending
 * is the client's too, but no clock of the server counts it; through a unix socket it is short. */
void ring_polled(void)
{
	union address address;
	socklen_t length;
	int listening;

	if (!can(IORING_SETUP_SQPOLL))
		return;
	listening = listener(AF_UNIX, SOCK_STREAM, &address, &length);
	ring_loop = loop_submit;
	ring_flags = IORING_SETUP_SQPOLL;
	SERVER(0) with_ring(listening);
	CLIENTS(i)
	{
		int fd = connected(SOCK_STREAM, &address, length);

		while (i && !__atomic_load_n(&board->done[i - 1], __ATOMIC_ACQUIRE))
			nap(1);
		client_ask(fd, i);
		__atomic_store_n(&board->done[i], 1, __ATOMIC_RELEASE);
		_exit(0);
	}
	close(listening);
	end_processes();
}

/* Requests and answers through pipes. */
void ring_pipes(void)
{
	int there[NR_CLIENTS][2], back[NR_CLIENTS][2];

	if (!can(0))
		return;
	for (int i = 0; i < NR_CLIENTS; i++)
		if (pipe(there[i]) || pipe(back[i]))
			die("pipe");
	SERVER(0)
	{
		if (!ring_make(&ring, 0))
			die("io_uring_setup");
		for (int i = 0; i < NR_CLIENTS; i++)
			ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_READ,
							      .fd = there[i][0],
							      .addr = (uintptr_t)&messages[i],
							      .len = sizeof(struct message),
							      .user_data = label(IS_RECEIVE, i)});
		for (;;) {
			struct io_uring_cqe result;
			int i;

			if (!next_result(&result) || result.user_data >> 32 != IS_RECEIVE)
				continue;
			i = (int)(uint32_t)result.user_data;
			charge_to_message();
			work(0, &messages[i]);
			ring.answers = true;
			ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_WRITE,
							      .fd = back[i][1],
							      .addr = (uintptr_t)done,
							      .len = sizeof(done),
							      .user_data = label(IS_SEND, i)});
			ring_put(&ring, (struct io_uring_sqe){.opcode = IORING_OP_READ,
							      .fd = there[i][0],
							      .addr = (uintptr_t)&messages[i],
							      .len = sizeof(struct message),
							      .user_data = label(IS_RECEIVE, i)});
		}
	}
	clients_of_pipes(there, back);
}
