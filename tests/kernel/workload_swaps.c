/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_swaps.c - programs that change their descriptors all the time, for test_e2e_swaps.c
 *
 * 	workload_swaps TRUTH-FILE FOLDER
 *
 * Two processes close, open and duplicate descriptors, on one CPU and on the other, and keep a list
 * of what each of them is. Other processes make so many calls now and then that events are lost.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "descriptor_swaps.h"

#define SECONDS	 2
#define BURST_NS 15000000 /* of calls, then a rest of that length twice */
#define BYTES	 10

static struct swaps *swaps;
static int files[SWAP_FILES];
static char paths[SWAP_REGULAR][4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int slots[SWAP_FDS]; /* index of a file + 1; 0: closed */

static uint64_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

static uint32_t next_random(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

static void move_to(uint32_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void fill(int at, int file)
{
	int fd;

	slots[at] = file + 1;
	if (file >= SWAP_REGULAR) {
		dup2(files[file], SWAP_FIRST_FD + at);
		return;
	}
	fd = open(paths[file], O_RDWR);
	dup3(fd, SWAP_FIRST_FD + at, O_CLOEXEC);
	close(fd);
}

static void change(int process, int at, int file)
{
	static const char bytes[BYTES];

	if (file < SWAP_FILES) {
		fill(at, file);
	} else if (slots[at]) {
		close(SWAP_FIRST_FD + at);
		slots[at] = 0;
	}
	if (slots[at] && slots[at] <= SWAP_REGULAR &&
	    pwrite(SWAP_FIRST_FD + at, bytes, sizeof(bytes), 0) == sizeof(bytes))
		swaps->of[process].written[slots[at] - 1] += sizeof(bytes);
}

static void mark(int process)
{
	uint32_t nr = swaps->of[process].nr_marks;

	if (nr == SWAP_MARKS)
		return;
	for (int i = 0; i < SWAP_FDS; i++)
		swaps->of[process].ino[nr][i] = slots[i] ? swaps->ino[slots[i] - 1] : 0;
	syscall(SYS_lseek, -1, (long)nr, SWAP_WHENCE);
	swaps->of[process].nr_marks++;
}

static void swap(int process, uint32_t seed)
{
	uint32_t state = seed;
	uint64_t end = now() + SECONDS * 1000000000ull;

	while (now() < end) {
		pthread_mutex_lock(&lock);
		change(process, (int)next_random(&state, SWAP_FDS), (int)next_random(&state, SWAP_FILES + 1));
		mark(process);
		pthread_mutex_unlock(&lock);
		if (next_random(&state, 8) == 0)
			move_to(next_random(&state, 2));
		else if (next_random(&state, 4) == 0)
			nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
	}
}

static void *second(void *unused)
{
	swap(1, 3);
	return NULL;
}

static void begin(int process)
{
	pthread_t thread;

	if (fork())
		return;
	swaps->of[process].pid = (uint32_t)getpid();
	if (process)
		pthread_create(&thread, NULL, second, NULL);
	swap(process, (uint32_t)process + 1);
	if (process)
		pthread_join(thread, NULL);
	exit(0);
}

/* Makes more events than the sub-buffers of a CPU can have. */
static void burst(uint32_t cpu)
{
	uint64_t end = now() + SECONDS * 1000000000ull;

	if (fork())
		return;
	move_to(cpu);
	while (now() < end) {
		for (uint64_t until = now() + BURST_NS; now() < until;)
			for (int i = 0; i < 1000; i++)
				syscall(SYS_getppid);
		nanosleep(&(struct timespec){.tv_nsec = (cpu + 2) * BURST_NS}, NULL);
	}
	exit(0);
}

static bool make_files(const char *folder)
{
	struct stat st;
	int ends[2];

	for (int i = 0; i < SWAP_REGULAR; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/swap-%d", folder, i);
		files[i] = open(paths[i], O_RDWR | O_CREAT, 0600);
	}
	if (pipe(ends))
		return false;
	files[SWAP_REGULAR] = ends[0];
	files[SWAP_REGULAR + 1] = ends[1];
	files[SWAP_REGULAR + 2] = socket(AF_UNIX, SOCK_STREAM, 0);
	for (int i = 0; i < SWAP_FILES; i++) {
		if (fstat(files[i], &st))
			return false;
		swaps->ino[i] = st.st_ino;
	}
	return true;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;

	if (fd < 0 || ftruncate(fd, sizeof(*swaps)))
		return 1;
	swaps = mmap(NULL, sizeof(*swaps), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (swaps == MAP_FAILED || !make_files(argv[2]))
		return 1;
	for (int i = 0; i < SWAP_PROCESSES; i++)
		begin(i);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		burst(cpu);
	while (wait(NULL) > 0)
		;
	return 0;
}
