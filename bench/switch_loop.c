/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * switch_loop CPU COUNT - two processes on one CPU pass a byte back and forth.
 *
 * It prints the ns of CPU time of one switch, of both processes together; other programs on that
 * CPU do not count.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double children_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return ((double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec) * 1e9 +
	       ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec) * 1e3;
}

static void pass(int from, int to, long count)
{
	char byte = 0;

	for (long i = 0; i < count; i++)
		if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
			_exit(1);
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;
	int there[2], back[2];
	cpu_set_t cpus;
	char byte = 0;
	double begin;
	pid_t child;

	CPU_ZERO(&cpus);
	CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &cpus);
	if (count <= 0 || sched_setaffinity(0, sizeof(cpus), &cpus) != 0 || pipe(there) != 0 || pipe(back) != 0)
		return 1;
	child = fork();
	if (child == 0) {
		pass(there[0], back[1], count + 1);
		_exit(0);
	}
	if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
		return 1;
	begin = cpu_ns();
	if (write(there[1], &byte, 1) != 1)
		return 1;
	pass(back[0], there[1], count - 1);
	if (read(back[0], &byte, 1) != 1 || waitpid(child, NULL, 0) != child)
		return 1;
	printf("%.2f\n", (cpu_ns() - begin + children_ns()) / (double)count / 2);
	return 0;
}
