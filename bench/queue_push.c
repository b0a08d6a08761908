/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queue_push [ROUNDS] - the time that the drain thread spends per item in the queue of the writer
 *
 * The main thread does what the drain does for each sub-buffer: it asks whether the queue is full,
 * and pushes an item. It does so in two situations:
 *
 *	busy      the writer works: 10,000 items in a row
 *	asleep    the writer waits for work, so each push wakes it
 *
 * The items are clock pairs, which are small; the file is /dev/null. Prints the median of the
 * rounds in ns, and in brackets the 10th and 90th percentile.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "writer_thread.h"

#define BUSY_ITEMS   10000
#define ASLEEP_ITEMS 200
#define ASLEEP_NS    100000
#define ROUNDS_MAX   1000
#define LIMIT_BYTES  (64u << 20)

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pause_ns(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static void push_one(struct writer_thread *thread, const struct clock_sample *sample)
{
	if (writer_thread_full(thread) || writer_thread_push_clock(thread, sample))
		abort();
}

static void wait_until_empty(struct writer_thread *thread)
{
	while (!writer_thread_empty(thread))
		pause_ns(1000000);
	pause_ns(ASLEEP_NS);
}

static double busy_round(struct writer_thread *thread, const struct clock_sample *sample)
{
	uint64_t begin_ns = now_ns(), end_ns;

	for (int i = 0; i < BUSY_ITEMS; i++)
		push_one(thread, sample);
	end_ns = now_ns();
	wait_until_empty(thread);
	return (double)(end_ns - begin_ns) / BUSY_ITEMS;
}

static double asleep_round(struct writer_thread *thread, const struct clock_sample *sample)
{
	uint64_t begin_ns, sum_ns = 0;

	for (int i = 0; i < ASLEEP_ITEMS; i++) {
		pause_ns(ASLEEP_NS);
		begin_ns = now_ns();
		push_one(thread, sample);
		sum_ns += now_ns() - begin_ns;
	}
	wait_until_empty(thread);
	return (double)sum_ns / ASLEEP_ITEMS;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const char *what, double *values, int nr)
{
	qsort(values, (size_t)nr, sizeof(*values), by_value);
	printf("%-8s %8.1f ns (%.1f to %.1f)\n", what, values[nr / 2], values[nr / 10], values[nr * 9 / 10]);
}

int main(int argc, char **argv)
{
	static double busy[ROUNDS_MAX], asleep[ROUNDS_MAX];
	struct trace_writer_options options = {.size = sizeof(options)};
	struct clock_sample sample = clock_take_sample();
	int rounds = argc > 1 ? atoi(argv[1]) : 101, fd = open("/dev/null", O_WRONLY | O_CLOEXEC | O_NOCTTY);
	struct trace_error error;
	struct trace_writer *writer = trace_writer_new(fd, &options, &error);
	struct writer_thread *thread = writer ? writer_thread_new(writer, fd, LIMIT_BYTES, &error) : NULL;

	if (!thread || rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	for (int i = 0; i < rounds; i++) {
		busy[i] = busy_round(thread, &sample);
		asleep[i] = asleep_round(thread, &sample);
	}
	print("busy", busy, rounds);
	print("asleep", asleep, rounds);
	writer_thread_free(thread);
	trace_writer_free(writer);
	close(fd);
	return 0;
}
