/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload.c - programs with known truth, for the end-to-end tests: each scenario does one thing,
 * measures itself from inside, and writes its results as lines "key value" to a file.
 *
 * 	workload SCENARIO TRUTH-FILE SCRATCH-FOLDER
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "spend.h"

#define MIB (1 << 20)

static FILE *truth;
static const char *scratch;

static void write_truth(const char *key, long long value)
{
	fprintf(truth, "%s %lld\n", key, value);
	fflush(truth);
}

static void pin_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void fill_path(char *path, size_t bytes, const char *name)
{
	snprintf(path, bytes, "%s/%s", scratch, name);
}

/* ---- scenarios ---- */

static void sleeps(void)
{
	long long start = now_ns();

	for (int i = 0; i < 3; i++)
		sleep_ns(200 * MS);
	write_truth("slept_ns", now_ns() - start);
}

static void timeouts(void)
{
	int pipe_ends[2];
	struct pollfd poll_one;
	long long start;

	if (pipe(pipe_ends))
		exit(1);
	poll_one = (struct pollfd){.fd = pipe_ends[0], .events = POLLIN};
	start = now_ns();
	poll(&poll_one, 1, 150);
	poll(&poll_one, 1, 150);
	write_truth("timeout_ns", now_ns() - start);
}

/* A child sleeps for a while and then runs @act; the parent measures how long @wait_for takes. */
static void wait_for_child(void (*act)(void *), void (*wait_for)(void *, pid_t), void *context)
{
	pid_t child = fork();
	long long start = now_ns();

	if (child == 0) {
		sleep_ns(300 * MS);
		act(context);
		_exit(0);
	}
	wait_for(context, child);
	write_truth("waited_ns", now_ns() - start);
	write_truth("child", child);
	waitpid(child, NULL, 0);
}

static void nothing(void *context)
{
	(void)context;
}

static void wait_pid(void *context, pid_t child)
{
	(void)context;
	waitpid(child, NULL, 0);
}

static void scenario_waitpid(void)
{
	wait_for_child(nothing, wait_pid, NULL);
}

static void write_second(void *context)
{
	if (write(((int *)context)[1], "x", 1) != 1)
		_exit(1);
}

static void read_first(void *context, pid_t child)
{
	char byte;

	(void)child;
	if (read(((int *)context)[0], &byte, 1) != 1)
		exit(1);
}

static void scenario_pipe(void)
{
	int ends[2];

	if (pipe(ends))
		exit(1);
	wait_for_child(write_second, read_first, ends);
}

static void scenario_unix(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		exit(1);
	wait_for_child(write_second, read_first, ends);
}

static void scenario_tcp(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t bytes = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), ends[2];

	if (bind(listener, (struct sockaddr *)&address, bytes) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &bytes))
		exit(1);
	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(ends[1], (struct sockaddr *)&address, bytes))
		exit(1);
	ends[0] = accept(listener, NULL, NULL);
	close(listener);
	/* Each process keeps only its own end, as real peers do. */
	pid_t child = fork();
	long long start = now_ns();

	if (child == 0) {
		close(ends[0]);
		sleep_ns(300 * MS);
		write_second(ends);
		_exit(0);
	}
	close(ends[1]);
	read_first(ends, child);
	write_truth("waited_ns", now_ns() - start);
	write_truth("child", child);
	waitpid(child, NULL, 0);
}

static void on_signal(int number)
{
	(void)number;
}

static void kill_parent(void *context)
{
	(void)context;
	wait_for_state(getppid(), 'S'); /* a signal that comes before the sleep would not end it */
	kill(getppid(), SIGUSR1);
}

static void pause_once(void *context, pid_t child)
{
	(void)context;
	(void)child;
	pause();
}

static void scenario_signal(void)
{
	signal(SIGUSR1, on_signal);
	wait_for_child(kill_parent, pause_once, NULL);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *hold_lock(void *started)
{
	pthread_mutex_lock(&lock);
	__atomic_store_n((int *)started, 1, __ATOMIC_RELEASE);
	sleep_ns(300 * MS);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void scenario_futex(void)
{
	pthread_t holder;
	int started = 0;
	long long start;

	pthread_create(&holder, NULL, hold_lock, &started);
	while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE))
		sched_yield();
	start = now_ns();
	pthread_mutex_lock(&lock);
	write_truth("waited_ns", now_ns() - start);
	pthread_mutex_unlock(&lock);
	pthread_join(holder, NULL);
}

/* Two processes want one CPU; each uses 500 ms of it. */
static void contention(void)
{
	pid_t children[2];

	pin_to_cpu(1);
	for (int i = 0; i < 2; i++) {
		long long start = now_ns(), cpu; /* a child waits for the CPU before it can read the clock */

		children[i] = fork();
		if (children[i] == 0) {
			spin_cpu_ns(500 * MS);
			cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
			write_truth(i ? "second_cpu_ns" : "first_cpu_ns", cpu);
			write_truth(i ? "second_elapsed_ns" : "first_elapsed_ns", now_ns() - start);
			_exit(0);
		}
	}
	write_truth("first", children[0]);
	write_truth("second", children[1]);
	waitpid(children[0], NULL, 0);
	waitpid(children[1], NULL, 0);
}

static void file_reads(void)
{
	static char buffer[MIB];
	char path[512];
	long long start, cpu;
	int fd;

	fill_path(path, sizeof(path), "data");
	fd = open(path, O_RDWR | O_CREAT, 0600);
	for (int i = 0; i < 64; i++)
		if (write(fd, buffer, sizeof(buffer)) != (ssize_t)sizeof(buffer))
			exit(1);
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	start = now_ns();
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	fd = open(path, O_RDONLY);
	for (int i = 0; i < 64; i++)
		if (read(fd, buffer, sizeof(buffer)) != (ssize_t)sizeof(buffer))
			exit(1);
	write_truth("read_cpu_ns", clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
	write_truth("read_elapsed_ns", now_ns() - start);
	close(fd);
	unlink(path);
}

static void cpu_time(void)
{
	struct rusage usage;

	spin_cpu_ns(400 * MS);
	for (int i = 0; i < 200000; i++)
		syscall(SYS_getppid);
	write_truth("cpu_ns", clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	getrusage(RUSAGE_SELF, &usage);
	write_truth("rusage_ns", (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ll +
					 (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ll);
}

/* How often it has left a CPU, and the times around the query. */
static long long ask_switches(const char *when)
{
	long long before = now_ns(), after;
	struct rusage usage;
	char key[32];

	getrusage(RUSAGE_SELF, &usage);
	after = now_ns();
	snprintf(key, sizeof(key), "%s_first_ns", when);
	write_truth(key, before);
	snprintf(key, sizeof(key), "%s_last_ns", when);
	write_truth(key, after);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void counts(void)
{
	char path[512];

	write_truth("switches_before", ask_switches("from"));
	for (int i = 0; i < 5000; i++)
		syscall(SYS_getppid);
	fill_path(path, sizeof(path), "is not there");
	for (int i = 0; i < 100; i++)
		if (open(path, O_RDONLY) >= 0)
			exit(1);
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(3);
		waitpid(child, NULL, 0);
	}
	for (int i = 0; i < 200; i++)
		sleep_ns(100000);
	write_truth("switches", ask_switches("until"));
}

/* Reading a page of a file that is no longer in memory is a major fault. */
static void read_cold_file(void)
{
	char path[256];
	volatile const char *bytes;
	int fd;

	fill_path(path, sizeof(path), "cold");
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, MIB) || write(fd, path, sizeof(path)) != sizeof(path) || fsync(fd))
		return;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	bytes = mmap(NULL, MIB, PROT_READ, MAP_SHARED, fd, 0);
	madvise((void *)bytes, MIB, MADV_RANDOM);
	(void)bytes[0];
	close(fd);
}

static void faults(void)
{
	struct rusage before, after;
	char *memory = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *nothing = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, 64 * MIB, MADV_NOHUGEPAGE);
	getrusage(RUSAGE_SELF, &before);
	for (size_t i = 0; i < 64 * MIB; i += 4096)
		memory[i] = 1;
	getrusage(RUSAGE_SELF, &after);
	write_truth("faults", after.ru_minflt - before.ru_minflt);
	madvise(memory, 64 * MIB, MADV_DONTNEED);
	munmap(nothing, 4096);
	/* a fault of the kernel that fails: it has no end */
	write_truth("written", write(memfd_create("none", 0), nothing, 1));
	madvise(memory, 64 * MIB, MADV_POPULATE_WRITE); /* the kernel counts faults for this, but there are none */
	read_cold_file();
	getrusage(RUSAGE_SELF, &after);
	write_truth("major", after.ru_majflt - before.ru_majflt);
}

/* Two processes on one CPU pass a byte back and forth. */
static void switches(void)
{
	int there[2], back[2];
	long long before;
	char byte = 'x';

	if (pipe(there) || pipe(back))
		exit(1);
	pin_to_cpu(1);
	before = system_switches();
	if (fork() == 0) {
		while (read(there[0], &byte, 1) == 1 && byte != 'q')
			if (write(back[1], &byte, 1) != 1)
				_exit(1);
		_exit(0);
	}
	for (int i = 0; i < 30000; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			exit(1);
	byte = 'q';
	if (write(there[1], &byte, 1) != 1)
		exit(1);
	wait(NULL);
	write_truth("switches", system_switches() - before);
}

/* More events than any buffer holds. */
static void storm(void)
{
	long long until = now_ns() + 1500 * MS;

	while (now_ns() < until)
		for (int i = 0; i < 1000; i++)
			syscall(SYS_getppid);
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{"sleeps", sleeps},	     {"timeouts", timeouts},	{"waitpid", scenario_waitpid},
	{"pipe", scenario_pipe},     {"unix", scenario_unix},	{"tcp", scenario_tcp},
	{"signal", scenario_signal}, {"futex", scenario_futex}, {"contention", contention},
	{"file", file_reads},	     {"cpu", cpu_time},		{"counts", counts},
	{"faults", faults},	     {"storm", storm},		{"switches", switches},
};

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: workload SCENARIO TRUTH-FILE SCRATCH-FOLDER\n");
		return 2;
	}
	truth = fopen(argv[2], "w");
	scratch = argv[3];
	if (!truth)
		return 1;
	write_truth("pid", getpid());
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (strcmp(scenarios[i].name, argv[1]) == 0) {
			scenarios[i].run();
			return 0;
		}
	fprintf(stderr, "workload: no scenario %s\n", argv[1]);
	return 2;
}
