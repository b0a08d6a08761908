/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * call_loop COUNT - measure the cost of a call of a small function, which is built with -pg in
 * call_loop_counted, with -fpatchable-function-entry in call_loop_patched and as usual in
 * call_loop. It prints the ns of CPU time of one call, the least
 * of ten times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int call_me(volatile int *into);

__attribute__((noinline, noclone)) int call_me(volatile int *into)
{
	*into += 1;
	return *into;
}

__attribute__((no_instrument_function)) static double cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000000;
	double least = 1e9;
	volatile int sum = 0;

	for (int round = 0; round < 10; round++) {
		double begin = cpu_ns(), ns;

		for (long i = 0; i < count; i++)
			call_me(&sum);
		ns = (cpu_ns() - begin) / (double)count;
		least = ns < least ? ns : least;
	}
	printf("%.3f\n", least);
	return 0;
}
