/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_user.c - programs with tracepoints that write what they recorded as lines "key value",
 * for test_e2e_user.c.
 *
 * 	count N             N events demo:count, in the main thread
 * 	threads T N         T threads with N events each
 * 	forks F N           F children, one after the other in groups of 20, with N events each
 * 	clock N             N times: demo:clock between two readings of CLOCK_MONOTONIC,
 * 	                    demo:after with the second one, a getppid()
 * 	ticks MS            demo:tick every ms, numbered
 * 	storm FILE          demo:storm as fast as possible, until it is killed; the number
 * 	                    attempted is in FILE, in memory
 * 	plugin FILE N       load a library, call its tracepoint N times, unload it; twice
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <trace/tracepoint.h>
#include <unistd.h>
#include "spend.h"

static void count(int nr)
{
	for (int n = 0; n < nr; n++) {
		tracepoint(demo, count, n);
		if (n % 1000 == 999)
			usleep(100);
	}
}

static void *count_in_thread(void *nr)
{
	count((int)(intptr_t)nr);
	return NULL;
}

static void run_threads(int nr_threads, int nr)
{
	pthread_t *threads = calloc((size_t)nr_threads, sizeof(*threads));

	for (int i = 0; i < nr_threads; i++)
		if (pthread_create(&threads[i], NULL, count_in_thread, (void *)(intptr_t)nr))
			abort();
	for (int i = 0; i < nr_threads; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void run_forks(int nr_children, int nr)
{
	for (int i = 0; i < nr_children; i++) {
		pid_t pid = fork();

		if (pid < 0)
			abort();
		if (!pid) {
			count(nr);
			_exit(0);
		}
		if (i % 20 == 19)
			while (wait(NULL) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
}

static void run_clock(int nr)
{
	for (int n = 0; n < nr; n++) {
		uint64_t before = (uint64_t)now_ns(), after;

		tracepoint(demo, clock, n, before);
		after = (uint64_t)now_ns();
		tracepoint(demo, after, n, after);
		syscall(SYS_getppid);
		if (n % 100 == 99)
			usleep(500);
	}
}

static void run_ticks(int ms)
{
	for (int n = 0; n < ms; n++) {
		tracepoint(demo, tick, n);
		usleep(1000);
	}
}

static void run_storm(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	volatile uint64_t *attempted;

	if (fd < 0 || ftruncate(fd, 4096) < 0)
		abort();
	attempted = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (uint64_t n = 0;; n++) {
		*attempted = n + 1;
		tracepoint(demo, storm, n);
	}
}

static void run_plugin(const char *path, int nr)
{
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(path, RTLD_NOW);
		void (*call)(int);

		if (!library)
			abort();
		*(void **)&call = dlsym(library, "plugin_call");
		for (int n = 0; n < nr; n++)
			call(n);
		dlclose(library);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int a = argc > 2 ? atoi(argv[2]) : 0, b = argc > 3 ? atoi(argv[3]) : 0;

	if (!strcmp(mode, "count"))
		count(a);
	else if (!strcmp(mode, "threads"))
		run_threads(a, b);
	else if (!strcmp(mode, "forks"))
		run_forks(a, b);
	else if (!strcmp(mode, "clock"))
		run_clock(a);
	else if (!strcmp(mode, "ticks"))
		run_ticks(a);
	else if (!strcmp(mode, "storm"))
		run_storm(argv[2]);
	else if (!strcmp(mode, "plugin"))
		run_plugin(argv[2], b);
	else
		return 2;
	printf("pid %d\n", (int)getpid());
	return 0;
}
