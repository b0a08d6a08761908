/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patterns_signals.c - servers with requests in shared memory, announced by a futex or an
 * eventfd. */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "server_patterns.h"

#define NR_ROUNDS 2

struct area {
	int32_t posted; /* the server's word */
	int32_t taken;
	int32_t done[NR_CLIENTS]; /* the clients' words */
	int32_t lock;
	struct message queue[NR_CLIENTS * NR_ROUNDS];
};

static struct area *area;
static int server_event, client_events[NR_CLIENTS];

static void futex(int32_t *word, int operation, int32_t value)
{
	syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void lock(void)
{
	while (__atomic_exchange_n(&area->lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static void unlock(void)
{
	__atomic_store_n(&area->lock, 0, __ATOMIC_RELEASE);
}

/* A client announces its request before the next one is posted, and before the server can take it.
 * Otherwise the trace could not show the client. */
static void post(const struct message *m, void (*announce)(void))
{
	lock();
	area->queue[area->posted] = *m;
	__atomic_store_n(&area->posted, area->posted + 1, __ATOMIC_RELEASE);
	announce();
	unlock();
}

static void take_posted(struct message *ret_message)
{
	lock();
	*ret_message = area->queue[area->taken++];
	unlock();
}

static void announce_by_futex(void)
{
	futex(&area->posted, FUTEX_WAKE, 1);
}

static void announce_by_eventfd(void)
{
	uint64_t value = 1;

	full_write(server_event, &value, sizeof(value));
}

static void serve_by_futex(void)
{
	for (;;) {
		struct message m;

		at_rest();
		while (__atomic_load_n(&area->posted, __ATOMIC_ACQUIRE) == area->taken) {
			at_rest();
			futex(&area->posted, FUTEX_WAIT, area->taken);
		}
		take_posted(&m);
		charge_to_message();
		work(0, &m);
		__atomic_add_fetch(&area->done[m.client], 1, __ATOMIC_RELEASE);
		futex(&area->done[m.client], FUTEX_WAKE, 1);
	}
}

static void ask_by_futex(int client)
{
	struct message m = {.client = client, .ms = weight * (client + 1)};

	for (int round = 1; round <= NR_ROUNDS; round++) {
		int32_t done;

		post(&m, announce_by_futex);
		while ((done = __atomic_load_n(&area->done[client], __ATOMIC_ACQUIRE)) < round)
			futex(&area->done[client], FUTEX_WAIT, done);
	}
}

static void serve_by_eventfd(void)
{
	for (;;) {
		uint64_t value;
		struct message m;

		at_rest();
		full_read(server_event, &value, sizeof(value));
		charge_to_message();
		take_posted(&m);
		work(0, &m);
		value = 1;
		full_write(client_events[m.client], &value, sizeof(value));
	}
}

static void ask_by_eventfd(int client)
{
	struct message m = {.client = client, .ms = weight * (client + 1)};

	for (int round = 1; round <= NR_ROUNDS; round++) {
		uint64_t value = 1;

		post(&m, announce_by_eventfd);
		full_read(client_events[client], &value, sizeof(value));
	}
}

static void with_area(void (*serve)(void), void (*ask)(int))
{
	area = mmap(NULL, sizeof(*area), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		die("mmap");
	SERVER(0) serve();
	wait_for_state(board->server[0], 'S'); /* the analysis recognises a server only if it was recorded waiting */
	CLIENTS(i)
	{
		ask(i);
		_exit(0);
	}
	end_processes();
	munmap(area, sizeof(*area));
}

void shared_memory_futex(void)
{
	with_area(serve_by_futex, ask_by_futex);
}

void shared_memory_eventfd(void)
{
	server_event = eventfd(0, EFD_SEMAPHORE);
	for (int i = 0; i < NR_CLIENTS; i++)
		client_events[i] = eventfd(0, 0);
	with_area(serve_by_eventfd, ask_by_eventfd);
	close(server_event);
	for (int i = 0; i < NR_CLIENTS; i++)
		close(client_events[i]);
}
