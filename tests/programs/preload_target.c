/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * preload_target.c - a program that allocates, locks and calls, and counts how often.
 *
 * 	preload_target malloc|fork|locks|functions COUNT    prints one line of truth
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIZE	7331 /* no other code asks for this size */
#define THREADS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int stage;
static uint64_t pointers;

int instrumented(int depth);

/* ---- malloc ---- */

static void *allocate(void *argument)
{
	int count = *(int *)argument;
	uint64_t sum = 0;
	void *aligned;

	for (int i = 0; i < count; i++) {
		char *pointer = malloc(SIZE), *zeroed = calloc(3, SIZE);

		if (!pointer || !zeroed || zeroed[3 * SIZE - 1])
			abort();
		sum += (uintptr_t)pointer;
		memset(pointer, 1, SIZE);
		pointer = realloc(pointer, 2 * SIZE);
		if (!pointer || pointer[SIZE - 1] != 1)
			abort();
		free(pointer);
		free(zeroed);
		free(NULL);
		if (posix_memalign(&aligned, 64, SIZE) || (uintptr_t)aligned % 64)
			abort();
		free(aligned);
	}
	__atomic_fetch_add(&pointers, sum, __ATOMIC_RELAXED);
	return NULL;
}

static void run_malloc(int count)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, allocate, &count))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%llu\n", (unsigned long long)pointers);
}

static void run_fork(int count)
{
	int status;

	allocate(&count);
	if (fork() == 0) {
		allocate(&count);
		_exit(0);
	}
	wait(&status);
	puts("1");
}

/* ---- locks ---- */

static void wait_for_stage(int wanted)
{
	const struct timespec moment = {.tv_nsec = 100000};

	while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) < wanted)
		nanosleep(&moment, NULL);
}

static void reach_stage(int reached)
{
	__atomic_store_n(&stage, reached, __ATOMIC_RELEASE);
}

static pid_t contender; /* 0: not known yet */

/* However long that takes on a busy machine. /proc says which system call the thread is in, by
 * number. */
static void wait_until_it_waits(void)
{
	const struct timespec moment = {.tv_nsec = 100000};
	char path[64], text[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)__atomic_load_n(&contender, __ATOMIC_ACQUIRE));
	for (;;) {
		memset(text, 0, sizeof(text));
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
			abort();
		close(fd);
		if (strtol(text, NULL, 10) == SYS_futex)
			return;
		nanosleep(&moment, NULL);
	}
}

/* Asks for each lock while the other thread has it. */
static void *contend(void *argument)
{
	int count = *(int *)argument;

	__atomic_store_n(&contender, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);

	for (int i = 0; i < count; i++) {
		wait_for_stage(4 * i + 1);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		reach_stage(4 * i + 2);
		wait_for_stage(4 * i + 3);
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
		reach_stage(4 * i + 4);
	}
	pthread_mutex_lock(&mutex);
	reach_stage(1000000);
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void run_locks(int count)
{
	const struct timespec moment = {.tv_nsec = 100000};
	pthread_t thread;

	if (pthread_create(&thread, NULL, contend, &count))
		abort();
	while (!__atomic_load_n(&contender, __ATOMIC_ACQUIRE))
		nanosleep(&moment, NULL);
	for (int i = 0; i < count; i++) {
		pthread_mutex_lock(&mutex);
		reach_stage(4 * i + 1);
		wait_until_it_waits();
		pthread_mutex_unlock(&mutex);
		wait_for_stage(4 * i + 2);
		pthread_rwlock_wrlock(&rwlock);
		reach_stage(4 * i + 3);
		wait_until_it_waits();
		pthread_rwlock_unlock(&rwlock);
		wait_for_stage(4 * i + 4);
	}
	pthread_mutex_lock(&mutex);
	while (stage < 1000000)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	printf("%llu\n", (unsigned long long)(uintptr_t)&mutex);
}

/* ---- functions: only this one is instrumented, by the test's build ---- */

static void run_functions(int count)
{
	int sum = 0;

	for (int i = 0; i < count; i++)
		sum += instrumented(2);
	printf("%llu\n", (unsigned long long)(uintptr_t)instrumented);
	if (sum != 3 * count)
		abort();
}

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 1;

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "malloc"))
		run_malloc(count);
	else if (!strcmp(argv[1], "fork"))
		run_fork(count);
	else if (!strcmp(argv[1], "locks"))
		run_locks(count);
	else
		run_functions(count);
	return 0;
}
