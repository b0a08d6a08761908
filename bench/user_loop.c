/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_loop CASE COUNT [THREADS] - measure the cost of an event for the program that records it.
 *
 * It prints the ns of CPU time of one event. A thread of the program itself drains the rings: it
 * takes and releases sub-buffers, and does nothing else. Cases: tsc, clock (clock_gettime),
 * marker (write(2) to trace_marker), and events with no field (none), one int, four ints, a text.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <trace/tracepoint.h>
#include <trace/user_memory.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif
#include "user_loop.h"

static volatile int zero;

static void run_tsc(long count)
{
	unsigned long long sum = 0;

	for (long i = 0; i < count; i++) {
#ifdef __x86_64__
		sum += __rdtsc();
#endif
		__asm__ volatile("" : "+r"(sum));
	}
}

static void run_clock(long count)
{
	struct timespec ts;

	for (long i = 0; i < count; i++)
		clock_gettime(CLOCK_MONOTONIC, &ts);
}

static void run_marker(long count)
{
	int fd = open("/sys/kernel/tracing/trace_marker", O_WRONLY | O_CLOEXEC);

	for (long i = 0; i < count; i++) {
		char text[16];
		int bytes = snprintf(text, sizeof(text), "%d", (int)i);

		if (write(fd, text, (size_t)bytes) != bytes) {
			perror("trace_marker");
			exit(1);
		}
	}
	close(fd);
}

static void run_none(long count)
{
	for (long i = 0; i < count; i++)
		tracepoint(bench, none);
}

static void run_one(long count)
{
	for (long i = 0; i < count; i++)
		tracepoint(bench, one, (int)i);
}

static void run_four(long count)
{
	for (long i = 0; i < count; i++)
		tracepoint(bench, four, (int)i, (int)i + 1, (int)i + 2, (int)i + 3);
}

static void run_text(long count)
{
	static const char text[] = "sixteen letters.";
	const char *pointer = zero ? NULL : text;

	for (long i = 0; i < count; i++)
		tracepoint(bench, text, pointer);
}

/* ---- the thread that drains the rings ---- */

static struct user_memory *find_memory(void)
{
	for (int fd = 3; fd < 1024; fd++) {
		char path[40], link[64];
		struct stat status;
		ssize_t bytes;
		void *memory;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		bytes = readlink(path, link, sizeof(link) - 1);
		link[bytes > 0 ? bytes : 0] = '\0';
		if (strncmp(link, "/memfd:" USER_MEMORY_NAME, strlen("/memfd:" USER_MEMORY_NAME)) == 0 &&
		    fstat(fd, &status) == 0) {
			memory = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			return memory == MAP_FAILED ? NULL : memory;
		}
	}
	return NULL;
}

static void *empty_rings(void *argument)
{
	struct user_memory *memory = argument;
	const struct timespec nap = {0, 200000};
	const struct sched_param first = {.sched_priority = 1};

	/* Without priority, the rings would fill up if more threads than CPUs write. */
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
	for (;;) {
		for (unsigned int n = 0; n < memory->nr_rings; n++) {
			unsigned char *at = (unsigned char *)memory + memory->rings_offset + n * memory->ring_stride;
			struct subbuf_ring ring = {(struct subbuf_control *)at, at + SUBBUF_CONTROL_BYTES,
						   memory->subbuf_bytes, memory->nr_subbufs};

			while (subbuf_take(&ring))
				subbuf_release(&ring);
		}
		nanosleep(&nap, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct user_loop loops[] = {{"tsc", run_tsc},   {"clock", run_clock}, {"marker", run_marker},
						 {"none", run_none}, {"one", run_one},	   {"four", run_four},
						 {"text", run_text}, {NULL, NULL}};
	struct user_memory *memory = find_memory();
	unsigned long long lost = 0;
	pthread_t thread;
	int result;

	if (!memory) {
		fprintf(stderr, "user_loop: this process has no memory for events\n");
		return 1;
	}
	memset((unsigned char *)memory + memory->flags_offset, 1, memory->max_events);
	pthread_create(&thread, NULL, empty_rings, memory);
	result = user_loop_main(argc, argv, loops);
	for (unsigned int n = 0; n < memory->nr_rings; n++)
		lost += ((struct subbuf_control *)((unsigned char *)memory + memory->rings_offset +
						   n * memory->ring_stride))
				->discarded;
	if (lost) /* a dropped event costs less than a recorded one: the figure is too small */
		fprintf(stderr, "user_loop: %llu events found no room\n", lost);
	return result;
}
