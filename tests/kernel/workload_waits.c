/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_waits.c - one wait of every kind, for test_waits.c: each in a process of its own, with
 * its length measured from inside.
 *
 * 	workload_waits TRUTH-FILE SCRATCH-FOLDER [SCENARIO...]
 *
 * For each scenario the truth file has "NAME.pid", "NAME.who" (the process that it waits for), the
 * waiting thread ("NAME.tid"), begin and end of the wait ("NAME.start_ns", "NAME.end_ns"), the CPU
 * time in between ("NAME.cpu_ns"), the time when the other process was about to end it
 * ("NAME.acts_ns"), and "NAME.skipped" if the kernel refuses it. The scenarios are in waits_*.c.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "waits.h"

static FILE *truth;
static const char *scratch;
static const char *scenario;
int ready[2];

void write_truth(const char *key, long long value)
{
	fprintf(truth, "%s.%s %lld\n", scenario, key, value);
	fflush(truth);
}

void skip(void)
{
	write_truth("skipped", 1);
	_exit(0);
}

void require(bool held)
{
	if (held)
		return;
	fprintf(stderr, "workload_waits: %s: %s\n", scenario, strerror(errno));
	_exit(1);
}

const char *scratch_path(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s-%s", scratch, scenario, name);
	return path;
}

pid_t child_that(void (*act)(void *), void *context)
{
	pid_t child = fork();

	require(child >= 0);
	if (child == 0) {
		sleep_ns(PAUSE_NS);
		write_truth("acts_ns", now_ns());
		act(context);
		_exit(0);
	}
	write_truth("who", child);
	return child;
}

void write_window(long long start, long long end, long long cpu)
{
	write_truth("tid", (long)syscall(SYS_gettid));
	write_truth("start_ns", start);
	write_truth("end_ns", end);
	write_truth("cpu_ns", cpu);
}

/* perf's clock of a thread runs from switch to switch, even while the host has the CPU. So does our
 * accounting, and CLOCK_THREAD_CPUTIME_ID does not. */
static int clock_open(void)
{
	struct perf_event_attr attributes = {.size = sizeof(attributes),
					     .type = PERF_TYPE_SOFTWARE,
					     .config = PERF_COUNT_SW_TASK_CLOCK};
	int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC),
	    high = fcntl(fd, F_DUPFD_CLOEXEC, 100);

	require(high >= 0); /* a number that no scenario expects */
	close(fd);
	return high;
}

static long long clock_read(int fd)
{
	uint64_t ns;

	require(read(fd, &ns, sizeof(ns)) == sizeof(ns));
	return (long long)ns;
}

void measure(void (*wait_for)(void *), void *context)
{
	int clock = clock_open();
	long long cpu = clock_read(clock), start = now_ns(), end;

	wait_for(context);
	end = now_ns();
	write_window(start, end, clock_read(clock) - cpu);
	close(clock);
}

void wait_for_child(void (*act)(void *), void (*wait_for)(void *), void *context)
{
	pid_t child = child_that(act, context);

	measure(wait_for, context);
	waitpid(child, NULL, 0);
}

void write_8(void *fds)
{
	uint64_t one = 1;

	require(write(((int *)fds)[1], &one, sizeof(one)) > 0);
}

void read_8(void *fds)
{
	char bytes[512];

	require(read(((int *)fds)[0], bytes, sizeof(bytes)) > 0);
}

void poll_one(void *fds)
{
	struct pollfd one = {.fd = ((int *)fds)[0], .events = POLLIN};

	require(poll(&one, 1, -1) == 1);
}

int epoll_of(int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0);

	require(epoll >= 0 && !epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
	return epoll;
}

void epoll_one(void *fds)
{
	struct epoll_event event;

	require(epoll_wait(epoll_of(((int *)fds)[0]), &event, 1, -1) == 1);
}

void make_pipe(int fds[2])
{
	require(!pipe(fds));
}

void make_unix(int fds[2])
{
	require(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
}

int bound(int type, struct sockaddr_in *address)
{
	socklen_t bytes = sizeof(*address);
	int fd = socket(AF_INET, type, 0);

	*address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	require(fd >= 0 && !bind(fd, (struct sockaddr *)address, bytes) &&
		!getsockname(fd, (struct sockaddr *)address, &bytes));
	return fd;
}

void make_tcp(int fds[2])
{
	struct sockaddr_in address;
	int listener = bound(SOCK_STREAM, &address);

	require(!listen(listener, 1));
	fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	require(!connect(fds[1], (struct sockaddr *)&address, sizeof(address)));
	fds[0] = accept(listener, NULL, NULL);
	require(fds[0] >= 0);
	close(listener);
}

int cold_file(void)
{
	return cold_file_at(scratch_path("data"));
}

int cold_file_at(const char *path)
{
	static char buffer[MIB];
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	require(fd >= 0);
	if (fork()) {
		wait(NULL);
		return fd;
	}
	for (int i = 0; i < 32; i++)
		require(write(fd, buffer, sizeof(buffer)) == (ssize_t)sizeof(buffer));
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	lseek(fd, 0, SEEK_SET); /* of both */
	_exit(0);
}

void touch_pages(void *memory)
{
	for (size_t i = 0; i < 32 * MIB; i += 4096)
		(void)*(volatile char *)(memory + i);
}

void read_all(void *fds)
{
	static char buffer[MIB];

	while (read(((int *)fds)[0], buffer, sizeof(buffer)) > 0)
		;
}

/* ---- all of them ---- */

static const struct scenario *const lists[] = {channel_scenarios,   descriptor_scenarios, ipc_scenarios,
					       process_scenarios,   file_scenarios,	  memory_scenarios,
					       metadata_scenarios,  network_scenarios,	  uring_scenarios,
					       namespace_scenarios, scenarios_32_bit,	  lasting_scenarios};

static void run_one(const struct scenario *one)
{
	if (fork())
		return;
	scenario = one->name;
	setpgid(0, 0); /* so that a stop affects no other process */
	alarm(20);
	require(!pipe(ready));
	write_truth("pid", getpid());
	one->run();
	_exit(0);
}

static bool wanted(const struct scenario *list, const char *name, int argc, char **argv)
{
	for (int i = 3; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc == 3 && list != lasting_scenarios;
}

int main(int argc, char **argv)
{
	int running = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: workload_waits TRUTH-FILE SCRATCH-FOLDER [SCENARIO...]\n");
		return 2;
	}
	truth = fopen(argv[1], "a");
	scratch = argv[2];
	if (!truth)
		return 1;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct scenario *one = lists[i]; one->name; one++) {
			if (!wanted(lists[i], one->name, argc, argv))
				continue;
			if (running++ >= 2) /* two at a time: they sleep most of the time */
				wait(NULL);
			run_one(one);
		}
	while (wait(NULL) > 0)
		;
	return 0;
}
