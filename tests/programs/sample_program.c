/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_program CASE [ARGUMENT] - programs with tracepoints in awkward places.
 *
 * test_user_program.c starts them, takes their memory, and knows what each must leave. They count
 * their attempts next to each event, in memory shared with the test ($USER_PROGRAM_COUNTS).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <trace/tracepoint.h>

#include "user_counts.h"

static unsigned long long *attempted, private_count;

static void count(void)
{
	__atomic_fetch_add(attempted, 1, __ATOMIC_RELAXED);
}

#define EVENT(name, ...)                                  \
	do {                                              \
		count();                                  \
		tracepoint(program, name, ##__VA_ARGS__); \
	} while (0)

/* The earliest code of the program: before its tracepoints are registered. */
__attribute__((constructor(101))) static void find_counts(void)
{
	const char *fd = getenv("USER_PROGRAM_COUNTS");

	attempted = &private_count;
	if (fd)
		attempted = mmap(NULL, USER_COUNTS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(fd), 0);
}

static bool before_main;

__attribute__((constructor(102))) static void early(void)
{
	if (getenv("USER_PROGRAM_EARLY")) {
		before_main = true;
		EVENT(before_main);
	}
}

__attribute__((destructor)) static void late(void)
{
	if (before_main)
		EVENT(after_exit);
}

static void at_exit(void)
{
	EVENT(at_exit);
}

/* ---- cases ---- */

static int plain(const char *argument)
{
	int n = argument ? atoi(argument) : 100;

	atexit(at_exit);
	for (int i = 0; i < n; i++)
		EVENT(plain, i);
	return 0;
}

/* Each child records ten events and forks again, for @argument generations; three siblings each. */
static void generation(int left)
{
	for (int i = 0; i < 10; i++)
		EVENT(generation, left, trace_field(pid, (int)getpid()), trace_field(tid, (int)syscall(SYS_gettid)));
	for (int i = 0; i < 3 && left; i++) {
		pid_t child = fork();

		if (child == 0) {
			generation(left - 1);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static int forks(const char *argument)
{
	generation(argument ? atoi(argument) : 3);
	return 0;
}

/* Children created without glibc. */
static int raw_forks(const char *argument)
{
	EVENT(parent, trace_field(pid, (int)getpid()));
	for (int i = 0; i < 20; i++) {
		pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);

		if (child == 0) {
			EVENT(raw_child, trace_field(pid, (int)syscall(SYS_getpid)), i);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	EVENT(parent, trace_field(pid, (int)getpid()));
	return 0;
}

static int vforks(const char *argument)
{
	char *const none[] = {(char *)"true", NULL};

	for (volatile int i = 0; i < 20; i++) {
		pid_t child;

		EVENT(before, i);
		child = vfork();
		if (child == 0) {
			EVENT(in_vfork_child);
			execv("/bin/true", none);
			_exit(1);
		}
		waitpid(child, NULL, 0);
		if (posix_spawn(&child, "/bin/true", NULL, NULL, none, environ) == 0)
			waitpid(child, NULL, 0);
		EVENT(after, i);
	}
	return 0;
}

/* Its exit status is the number of descriptors that an exec'd child finds open. */
static int execs(const char *argument)
{
	EVENT(before_exec);
	execl("/bin/sh", "sh", "-c",
	      "n=0; for f in /proc/$$/fd/*; do case $(readlink $f) in *trace-program*) n=$((n+1));; esac; done; exit "
	      "$n",
	      NULL);
	return 99;
}

/* Closes every descriptor, opens other files under their numbers, and continues; the same in a
 * child. */
static int closes_all(const char *argument)
{
	pid_t child;

	EVENT(open);
	syscall(SYS_close_range, 3, ~0U, 0);
	for (int i = 0; i < 300; i++)
		if (open("/dev/null", O_RDONLY) < 0)
			return 1;
	for (int i = 0; i < 100; i++)
		EVENT(closed, i);
	child = fork();
	if (child == 0) {
		EVENT(child);
		for (int fd = 3; fd < 303; fd++) /* the library closed none of them */
			if (fcntl(fd, F_GETFD) < 0)
				_exit(2);
		_exit(0);
	}
	waitpid(child, &(int){0}, 0);
	return 0;
}

/* ---- children without a memory ---- */

static int sends_to_fail;

/* Replaces libc's: as many of libtracer's offers fail as the test wants. */
__attribute__((visibility("default"))) ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (sends_to_fail > 0) {
		sends_to_fail--;
		errno = ETOOMANYREFS;
		return -1;
	}
	return syscall(SYS_sendmsg, fd, message, flags);
}

/* Ten events, then five children with twenty each, and one grandchild of each with five. @argument:
 * the trouble that the children have. */
static int poor_children(const char *argument)
{
	struct rlimit none = {0, 0};

	for (int i = 0; i < 10; i++)
		EVENT(parent, i);
	if (strcmp(argument, "no_descriptors") == 0)
		setrlimit(RLIMIT_NOFILE, &none);
	else if (strcmp(argument, "no_file_size") == 0)
		setrlimit(RLIMIT_FSIZE, &none);
	else if (strcmp(argument, "unsent") == 0)
		sends_to_fail = 1000;
	else if (strcmp(argument, "sent_late") == 0)
		sends_to_fail = 2;
	else
		setenv("TRACER_SOCKET", argument, 1);
	for (int c = 0; c < 5; c++) {
		pid_t child = fork();

		if (child == 0) {
			for (int i = 0; i < 19; i++)
				EVENT(child, i);
			EVENT(new_in_child, c);
			if (fork() == 0) {
				for (int i = 0; i < 5; i++)
					EVENT(child, i);
				_exit(0);
			}
			wait(NULL);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	for (int i = 0; i < 10; i++)
		EVENT(parent, i);
	return 0;
}

static int no_memory(const char *argument)
{
	for (int i = 0; i < 100; i++)
		tracepoint(program, nowhere, i);
	return 0;
}

static _Atomic bool stop;

static void *bounce(void *thread)
{
	cpu_set_t set;

	for (int i = 0; !stop; i++) {
		CPU_ZERO(&set);
		CPU_SET(i & 1, &set);
		pthread_setaffinity_np(*(pthread_t *)thread, sizeof(set), &set);
	}
	return NULL;
}

static void on_signal(int number)
{
	EVENT(handler, number);
}

/* Threads that migrate between CPUs and get many signals from a timer; for ever, or for @argument
 * ms. */
static void *stormy(void *argument)
{
	struct sigevent to_me = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	struct itimerspec often = {{0, 50000}, {0, 50000}};
	pthread_t self = pthread_self(), bouncer;
	timer_t timer;

	to_me._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &to_me, &timer);
	timer_settime(timer, 0, &often, NULL);
	pthread_create(&bouncer, NULL, bounce, &self);
	for (long i = 0; !stop; i++) {
		EVENT(storm, i, trace_field(check, i * 7));
		if ((i & 1023) == 0)
			EVENT(text, trace_field(text, "some text to be copied"), i);
	}
	timer_delete(timer);
	pthread_join(bouncer, NULL);
	return NULL;
}

static int storm(const char *argument)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t threads[3];

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, stormy, NULL);
	if (!argument)
		pause();
	for (struct timespec left = {atoi(argument) / 1000, atoi(argument) % 1000 * 1000000L};
	     nanosleep(&left, &left) != 0;)
		;
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* A full ring has no races, because each event is lost. */
static void let_consumer_run(long i)
{
	if (i % 200 == 0)
		usleep(100);
}

static void *write_on(void *argument)
{
	for (long i = 0; !stop; i++) {
		EVENT(beside, i);
		let_consumer_run(i);
	}
	return NULL;
}

static void *vfork_once(void *argument)
{
	pid_t child = vfork();

	if (child == 0) {
		for (int n = 0; n < 20000; n++) {
			EVENT(in_vforked, n, n);
			let_consumer_run(n);
		}
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return NULL;
}

/* The CPU and the preemptions that a vforked child sees are its parent's. Every second child
 * belongs to a thread without an event, and sets up that thread. */
static int vforks_beside(const char *argument)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, write_on, NULL);
	for (volatile int i = 0; i < 40; i++) {
		pthread_t thread;

		if (i % 2 == 0) {
			vfork_once(NULL);
		} else if (pthread_create(&thread, NULL, vfork_once, NULL) == 0) {
			pthread_join(thread, NULL);
		}
	}
	stop = true;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Begin and end are counted in a line of the thread's own, so the difference after a death is the
 * number of events in flight. */
#define SOAK(name, count, ...)                                            \
	do {                                                              \
		__atomic_fetch_add(&(count)->begun, 1, __ATOMIC_RELAXED); \
		tracepoint(program, name, ##__VA_ARGS__);                 \
		__atomic_fetch_add(&(count)->done, 1, __ATOMIC_RELAXED);  \
	} while (0)

static struct user_count *counts;
static __thread struct user_count *my_count;
static long soak_share;
static _Atomic int soaking;

static void on_soak_signal(int number)
{
	if (my_count)
		SOAK(soak_handler, my_count, number);
}

static void *bounce_gently(void *thread)
{
	cpu_set_t set;

	for (int i = 0; soaking > 0; i++) {
		CPU_ZERO(&set);
		CPU_SET(i & 1, &set);
		pthread_setaffinity_np(*(pthread_t *)thread, sizeof(set), &set);
		usleep(100);
	}
	return NULL;
}

static void *soak_thread(void *slot)
{
	struct sigevent to_me = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	struct itimerspec often = {{0, 100000}, {0, 100000}};
	pthread_t self = pthread_self(), bouncer;
	timer_t timer;

	my_count = slot;
	to_me._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &to_me, &timer);
	timer_settime(timer, 0, &often, NULL);
	pthread_create(&bouncer, NULL, bounce_gently, &self);
	for (long n = 1; n <= soak_share; n++)
		SOAK(soak, my_count, n, trace_field(slot, (int)(my_count - counts)));
	soaking--;
	timer_delete(timer);
	pthread_join(bouncer, NULL);
	return NULL;
}

/* @argument events of three threads that get signals and migrate, and children at the same time,
 * every third of which is killed. */
static int soak(const char *argument)
{
	struct sigaction action = {.sa_handler = on_soak_signal, .sa_flags = SA_RESTART};
	pthread_t threads[USER_SOAK_THREADS];

	counts = (struct user_count *)attempted;
	sigaction(SIGUSR1, &action, NULL);
	soak_share = atol(argument) / USER_SOAK_THREADS;
	soaking = USER_SOAK_THREADS;
	for (int i = 0; i < USER_SOAK_THREADS; i++)
		pthread_create(&threads[i], NULL, soak_thread, &counts[1 + i]);
	for (int i = 0; soaking > 0; i++) {
		int slot = 1 + USER_SOAK_THREADS + i % 32;
		pid_t child = fork();

		if (child == 0) {
			my_count = NULL; /* this thread's own, of the parent */
			for (long n = 1; n <= 3000 || i % 3 == 0; n++)
				SOAK(soak_child, &counts[slot], n);
			_exit(0);
		}
		if (i % 3 == 0) {
			usleep((useconds_t)(i * 37 % 4000));
			kill(child, SIGKILL);
			__atomic_fetch_add(&counts[0].begun, 1, __ATOMIC_RELAXED); /* number of killed children */
		}
		waitpid(child, NULL, 0);
		usleep(1000);
	}
	for (int i = 0; i < USER_SOAK_THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* The single-stepped program: the test waits for SIGSTOP, then steps through one event. */
static int stepped(const char *argument)
{
	int n = argument ? atoi(argument) : 5;

	for (int i = 0; i < n; i++)
		EVENT(before, i);
	raise(SIGSTOP);
	EVENT(stepped, trace_field(value, 4711), trace_field(other, 4712L));
	raise(SIGSTOP);
	for (int i = 0; i < 5; i++)
		EVENT(after, i);
	return 0;
}

/* A library with tracepoints, loaded and unloaded again and again. */
static int loads(const char *argument)
{
	for (int i = 0; i < 300; i++) {
		void *library = dlopen(argument, RTLD_NOW);
		void (*event)(int);

		if (!library)
			return 1;
		event = (void (*)(int))dlsym(library, "library_event");
		count();
		event(i);
		dlclose(library);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const char *argument);
	} cases[] = {
		{"plain", plain},
		{"forks", forks},
		{"raw_forks", raw_forks},
		{"vforks", vforks},
		{"vforks_beside", vforks_beside},
		{"execs", execs},
		{"closes_all", closes_all},
		{"no_memory", no_memory},
		{"poor_children", poor_children},
		{"storm", storm},
		{"stepped", stepped},
		{"loads", loads},
		{"soak", soak},
	};

	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(*cases); i++)
		if (strcmp(cases[i].name, argv[1]) == 0)
			return cases[i].run(argv[2]);
	fprintf(stderr, "user_program: no such case\n");
	return 98;
}
