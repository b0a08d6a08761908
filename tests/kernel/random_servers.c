/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * random_servers.c - random servers (tests/random_server.h) as real programs, for
 * test_e2e_random_servers.c
 *
 * 	random_servers TRUTH-FILE FIRST-SEED COUNT
 *
 * Each plan is executed by a server process with threads, and by a process for each client. The
 * truth is from the clock of each thread (CLOCK_THREAD_CPUTIME_ID), read before and after each step
 * that is for a client. A line of the truth file: SEED SERVER-PID CLIENT-PID NS STEPS.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "random_server.h"

#define JOB_US	   1000u
#define NOTE_WORDS 16 /* between two notes: 64 bytes */

/* Shared by the processes of a plan. */
struct board {
	struct plan plan;
	long long truth[PLAN_CLIENTS];
	int steps[PLAN_CLIENTS];
	int go[PLAN_CLIENTS];	    /* the client may connect, */
	int accepted[PLAN_CLIENTS]; /* and go on: the server knows no client that leaves before that */
};

static struct board *board;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static socklen_t address_bytes;
static int listening, connections[PLAN_CLIENTS];
static uint32_t notes[256 * NOTE_WORDS];

static void die(const char *what)
{
	fprintf(stderr, "random_servers: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static long long clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void nap(uint32_t us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000L}, NULL);
}

static void spin(uint32_t us)
{
	long long end = clock_now(CLOCK_THREAD_CPUTIME_ID) + us * 1000LL;

	while (clock_now(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 2000; i++)
			;
}

/* ---- the server's steps ---- */

static void wait_in_poll(int client)
{
	struct pollfd fd = {.fd = connections[client], .events = POLLIN};

	if (poll(&fd, 1, 20000) != 1)
		die("poll");
}

static void read_request(int client)
{
	char message[16];
	ssize_t ret = recv(connections[client], message, sizeof(message), MSG_WAITALL);

	if (ret != (ssize_t)sizeof(message))
		die("a request");
}

static uint32_t *note_word(uint32_t note)
{
	return &notes[note * NOTE_WORDS];
}

static bool is_posted(uint32_t note)
{
	return __atomic_load_n(note_word(note), __ATOMIC_ACQUIRE);
}

static void post(const struct step *step)
{
	__atomic_store_n(note_word(step->note), 1, __ATOMIC_RELEASE);
	if (step->kind == STEP_WAKE)
		syscall(SYS_futex, note_word(step->note), FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_for(const struct step *step)
{
	while (!is_posted(step->note)) {
		if (step->kind == STEP_WAIT)
			syscall(SYS_futex, note_word(step->note), FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
		else
			nap(200);
	}
}

static void serve(const struct step *step)
{
	char message[16] = {0};

	switch (step->kind) {
	case STEP_ACCEPT:
		__atomic_store_n(&board->go[step->client], 1, __ATOMIC_RELEASE);
		connections[step->client] = accept(listening, NULL, NULL);
		__atomic_store_n(&board->accepted[step->client], 1, __ATOMIC_RELEASE);
		break;
	case STEP_POLL_READ:
		wait_in_poll(step->client);
		/* fall through */
	case STEP_READ:
		read_request(step->client);
		break;
	case STEP_TRY_READ:
		recv(connections[step->client], message, sizeof(message), MSG_DONTWAIT | MSG_PEEK);
		break;
	case STEP_SLEEP:
		nap(step->us);
		break;
	case STEP_TIMER:
		poll(NULL, 0, 1 + (int)step->us / 1000);
		break;
	case STEP_WORK:
		spin(step->us);
		break;
	case STEP_ANSWER:
		send(connections[step->client], message, 8, MSG_NOSIGNAL);
		break;
	case STEP_DROP:
		close(connections[step->client]);
		break;
	case STEP_WAKE:
	case STEP_WRITE_MEMORY:
		post(step);
		break;
	default:
		wait_for(step);
	}
}

static bool is_for_client(const struct step *step)
{
	return step->client != NO_CLIENT && step->kind != STEP_ACCEPT && step->kind != STEP_TRY_READ;
}

static void *server_thread(void *data)
{
	uint32_t actor = (uint32_t)(uintptr_t)data;

	for (uint32_t i = 0; i < board->plan.nr; i++) {
		const struct step *step = &board->plan.steps[i];
		long long begin = clock_now(CLOCK_THREAD_CPUTIME_ID);

		if (step->actor != actor)
			continue;
		serve(step);
		if (!is_for_client(step))
			continue;
		__atomic_add_fetch(&board->truth[step->client], clock_now(CLOCK_THREAD_CPUTIME_ID) - begin,
				   __ATOMIC_RELAXED);
		__atomic_add_fetch(&board->steps[step->client], 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void server(void)
{
	pthread_t threads[PLAN_THREADS];

	for (uint32_t i = 1; i < board->plan.nr_threads; i++)
		if (pthread_create(&threads[i], NULL, server_thread, (void *)(uintptr_t)i) != 0)
			die("pthread_create");
	server_thread(NULL);
	for (uint32_t i = 1; i < board->plan.nr_threads; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

/* ---- a client's steps ---- */

static void client(uint32_t actor)
{
	char message[16] = {0};
	int fd = -1;

	for (uint32_t i = 0; i < board->plan.nr; i++) {
		const struct step *step = &board->plan.steps[i];

		if (step->actor != actor)
			continue;
		switch (step->kind) {
		case STEP_CONNECT:
			while (!__atomic_load_n(&board->go[step->client], __ATOMIC_ACQUIRE))
				nap(300);
			fd = socket(AF_UNIX, SOCK_STREAM, 0);
			if (connect(fd, (const struct sockaddr *)&address, address_bytes) < 0)
				die("connect");
			while (!__atomic_load_n(&board->accepted[step->client], __ATOMIC_ACQUIRE))
				nap(300);
			break;
		case STEP_SEND:
			send(fd, message, 16, MSG_NOSIGNAL);
			break;
		case STEP_RECEIVE:
			if (recv(fd, message, 8, MSG_WAITALL) != 8)
				die("an answer");
			break;
		default:
			close(fd);
		}
	}
	_exit(0);
}

/* ---- plans ---- */

static pid_t begin_process(const char *name)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		prctl(PR_SET_NAME, name);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(60);
	}
	return pid;
}

static void execute(uint64_t seed, FILE *truth)
{
	pid_t server_pid, clients[PLAN_CLIENTS];
	bool failed = false;
	int status;

	memset(board, 0, sizeof(*board));
	memset(notes, 0, sizeof(notes));
	plan_make(&board->plan, seed, JOB_US);
	server_pid = begin_process("server");
	if (!server_pid)
		server();
	for (uint32_t i = 0; i < board->plan.nr_clients; i++)
		if (!(clients[i] = begin_process("client")))
			client(PLAN_THREADS + i);
	while (wait(&status) > 0)
		failed |= status != 0;
	if (failed) {
		fprintf(stderr, "random_servers: the processes of seed %llu failed\n", (unsigned long long)seed);
		exit(1);
	}
	for (uint32_t i = 0; i < board->plan.nr_clients; i++)
		fprintf(truth, "%llu %d %d %lld %d\n", (unsigned long long)seed, server_pid, clients[i],
			board->truth[i], board->steps[i]);
}

int main(int argc, char **argv)
{
	uint64_t first = argc == 4 ? strtoull(argv[2], NULL, 0) : 0, nr = argc == 4 ? strtoull(argv[3], NULL, 0) : 0;
	FILE *truth = nr ? fopen(argv[1], "w") : NULL;

	if (!truth)
		die("usage: random_servers TRUTH-FILE FIRST-SEED COUNT");
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	listening = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "random-servers-%d", getpid());
	address_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address.sun_path + 1));
	if (board == MAP_FAILED || bind(listening, (const struct sockaddr *)&address, address_bytes) < 0 ||
	    listen(listening, PLAN_CLIENTS) < 0)
		die("bind");
	for (uint64_t seed = first; seed < first + nr; seed++)
		execute(seed, truth);
	return fclose(truth);
}
