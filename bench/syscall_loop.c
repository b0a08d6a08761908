/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* syscall_loop CPU COUNT - prints the nanoseconds of CPU of one getppid() of COUNT, pinned to CPU: what others run there does not count. */
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

int main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 0;
	cpu_set_t cpus;
	double begin;

	if (count <= 0)
		return 2;
	CPU_ZERO(&cpus);
	CPU_SET(atoi(argv[1]), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
		return 1;
	for (long i = 0; i < 10000; i++)
		syscall(SYS_getppid);
	begin = cpu_ns();
	for (long i = 0; i < count; i++)
		syscall(SYS_getppid);
	printf("%.2f\n", (cpu_ns() - begin) / (double)count);
	return 0;
}
