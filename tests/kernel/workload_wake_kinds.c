/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_wake_kinds.c - waits that no thread's doing ends, beside one that a known function ends
 *
 * Built without frame pointers. Each function waits a known number of times, for 3 ms or more. At
 * the end a line for each has the sum of its waits: "wait_for_timerfd 1234567". Meanwhile another
 * thread of the process spins in a function, so that interrupts find it on a CPU.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS	1000000000ull
#define WAIT_NS 3000000l
#ifdef __clang__ /* it makes no clones */
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile int sink, is_over;
static int timer, udp[2], ready[2];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS + (uint64_t)now.tv_nsec;
}

static void on_signal(int signal)
{
	sink += signal;
}

static NOINLINE void *innocent(void *unused)
{
	while (!is_over)
		sink++;
	return unused;
}

/* ---- waits ---- */

static NOINLINE void wait_for_sleep(void)
{
	struct timespec length = {.tv_nsec = WAIT_NS};

	sink += nanosleep(&length, NULL);
}

static NOINLINE void wait_for_timerfd(void)
{
	struct itimerspec length = {.it_value = {.tv_nsec = WAIT_NS}};
	uint64_t times;

	timerfd_settime(timer, 0, &length, NULL);
	sink += read(timer, &times, sizeof(times)) == sizeof(times);
}

static NOINLINE void wait_for_alarm(void)
{
	struct itimerval length = {.it_value = {.tv_usec = WAIT_NS / 1000}};
	sigset_t none;

	sigemptyset(&none);
	setitimer(ITIMER_REAL, &length, NULL);
	sink += sigsuspend(&none);
}

/* The child sends at a time that the parent does not know. */
static NOINLINE void wait_for_signal(void)
{
	sigset_t none;

	sigemptyset(&none);
	sink += write(ready[1], "x", 1) == 1;
	sink += sigsuspend(&none);
}

static NOINLINE void wait_for_packet(void)
{
	char byte;

	sink += write(ready[1], "y", 1) == 1;
	sink += recv(udp[0], &byte, 1, 0) == 1;
}

/* ---- the child ---- */

static NOINLINE void send_signal(pid_t pid)
{
	sink += kill(pid, SIGUSR1);
}

static NOINLINE void send_packet(void)
{
	sink += send(udp[1], "z", 1, 0) == 1;
}

static NOINLINE int serve(pid_t parent)
{
	struct timespec length = {.tv_nsec = WAIT_NS};
	char what;

	while (read(ready[0], &what, 1) == 1) {
		nanosleep(&length, NULL);
		if (what == 'x')
			send_signal(parent);
		else
			send_packet();
	}
	return 0;
}

static int make_sockets(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
	socklen_t bytes = sizeof(address);

	udp[0] = socket(AF_INET, SOCK_DGRAM, 0);
	udp[1] = socket(AF_INET, SOCK_DGRAM, 0);
	if (udp[0] < 0 || udp[1] < 0 || bind(udp[0], (struct sockaddr *)&address, bytes) ||
	    getsockname(udp[0], (struct sockaddr *)&address, &bytes))
		return -1;
	return connect(udp[1], (struct sockaddr *)&address, bytes);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*wait)(void);
	} waits[] = {{"wait_for_sleep", wait_for_sleep},
		     {"wait_for_timerfd", wait_for_timerfd},
		     {"wait_for_alarm", wait_for_alarm},
		     {"wait_for_signal", wait_for_signal},
		     {"wait_for_packet", wait_for_packet}};
	int rounds = argc > 1 ? atoi(argv[1]) : 20;
	struct sigaction action = {.sa_handler = on_signal};
	sigset_t blocked;
	pid_t child, self = getpid();
	pthread_t thread;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGALRM);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	if (timer < 0 || make_sockets() || pipe(ready))
		return 1;
	child = fork();
	if (child == 0) {
		close(ready[1]);
		_exit(serve(self));
	}
	if (child < 0 || pthread_create(&thread, NULL, innocent, NULL))
		return 1;
	nanosleep(&(struct timespec){.tv_nsec = NS / 2}, NULL); /* the tables of the files become ready */
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		uint64_t from_ns = now_ns();

		for (int round = 0; round < rounds; round++)
			waits[i].wait();
		printf("%s %llu\n", waits[i].name, (unsigned long long)(now_ns() - from_ns));
	}
	is_over = 1;
	close(ready[1]);
	waitpid(child, NULL, 0);
	return pthread_join(thread, NULL) != 0;
}
