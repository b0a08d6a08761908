/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * syscall_loop CPU COUNT [PATH] - make COUNT system calls on one CPU: getppid(), or readlink() of
 * PATH.
 *
 * It prints the ns of CPU time of one call; other programs on that CPU do not count.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void call(const char *path)
{
	char text[64];

	if (path)
		syscall(SYS_readlink, path, text, sizeof(text));
	else
		syscall(SYS_getppid);
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;
	const char *path = argc > 3 ? argv[3] : NULL;
	cpu_set_t cpus;
	double begin;

	if (count <= 0)
		return 2;
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
		return 1;
	for (long i = 0; i < 10000; i++)
		call(path);
	begin = cpu_ns();
	for (long i = 0; i < count; i++)
		call(path);
	printf("%.2f\n", (cpu_ns() - begin) / (double)count);
	return 0;
}
