/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lives_calls.c - what the processes of workload_lives do: short calls of some kinds */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "io_ring.h"
#include "lives.h"
#include "spend.h"
#include "workload_lives.h"

/* A file of the folder: few of them, so that processes meet. */
static int open_file(void)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/file-%u", storm.folder, chance(4));
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

static void write_a_file(void)
{
	char text[5000];
	int fd = open_file();

	memset(text, 'y', sizeof(text));
	if (fd >= 0 && write(fd, text, sizeof(text)) > 0 && chance(4) == 0)
		fdatasync(fd);
	if (fd >= 0)
		close(fd);
}

/* ---- threads of the kernel in the process ---- */

static void use_a_ring(unsigned int flags, unsigned char entry_flags)
{
	char text[4096] = "";
	struct io_uring_cqe result;
	struct ring ring;
	int fd = open_file();

	if (fd >= 0 && ring_make(&ring, flags)) {
		for (unsigned char i = 0; i < 3; i++)
			ring_put(&ring, (struct io_uring_sqe){.opcode = i == 1 ? IORING_OP_WRITE : IORING_OP_READ,
							      .flags = entry_flags,
							      .fd = fd,
							      .addr = (uintptr_t)text,
							      .len = sizeof(text)});
		ring_enter(&ring, 3);
		while (ring_take(&ring, &result))
			;
		close(ring.fd);
	}
	if (fd >= 0)
		close(fd);
}

static void use_a_polled_ring(void)
{
	use_a_ring(IORING_SETUP_SQPOLL, 0);
}

static void use_ring_workers(void)
{
	use_a_ring(0, IOSQE_ASYNC);
}

/* ---- signals and descriptors ---- */

static void tell_parent(int event)
{
	uint64_t one = 1;

	nap_us(chance(1000));
	if (chance(2) && write(event, &one, sizeof(one)) < 0)
		life_exit(1);
	kill(getppid(), SIGUSR2);
	life_exit(0);
}

static void wait_for_a_child(void)
{
	struct epoll_event event = {.events = EPOLLIN}, found[2];
	int epoll = epoll_create1(EPOLL_CLOEXEC), fds[2] = {eventfd(0, EFD_CLOEXEC), -1};
	sigset_t signals;
	pid_t child;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR2);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fds[1] = signalfd(-1, &signals, SFD_CLOEXEC);
	for (int i = 0; i < 2; i++)
		epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event);
	child = fork_life();
	if (child == 0)
		tell_parent(fds[0]);
	epoll_wait(epoll, found, 2, 5);
	if (child > 0)
		life_reap(child, 0);
	close(fds[0]);
	close(fds[1]);
	close(epoll);
}

/* ---- the CPU ---- */

static void *compute(void *unused)
{
	(void)unused;
	spin_cpu_ns(100000 + chance(400000));
	return NULL;
}

static void *compute_in_real_time(void *unused)
{
	struct sched_param priority = {.sched_priority = 1 + (int)chance(5)};

	(void)unused;
	sched_setscheduler(0, chance(2) ? SCHED_FIFO : SCHED_RR, &priority);
	return compute(NULL);
}

/* struct sched_attr of the kernel, which new C libraries define and old ones do not */
struct deadline {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

static void *compute_before_a_deadline(void *unused)
{
	struct deadline deadline = {.size = sizeof(deadline),
				    .policy = 6 /* SCHED_DEADLINE */,
				    .runtime_ns = 100000,
				    .deadline_ns = 1000000,
				    .period_ns = 1000000};

	(void)unused;
	syscall(SYS_sched_setattr, 0, &deadline, 0);
	return compute(NULL);
}

static void compute_in_threads(void)
{
	static void *(*const ways[])(void *) = {compute, compute_in_real_time, compute_before_a_deadline};

	thread_life(ways[chance(3)], NULL, 0);
	compute(NULL);
}

/* ---- any of them ---- */

static void sleep_a_little(void)
{
	nap_us(chance(2000));
}

void do_something(void)
{
	static void (*const calls[])(void) = {
		use_a_polled_ring, use_ring_workers, wait_for_a_child, compute_in_threads, sleep_a_little, write_a_file,
	};

	for (unsigned int i = chance(3) + 1; i > 0; i--)
		calls[chance(sizeof(calls) / sizeof(calls[0]))]();
}
