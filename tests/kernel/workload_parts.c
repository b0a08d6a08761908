/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_parts.c - a program whose code is in three parts of memory, as in node: its begin, its
 * end and its main() are in different ones
 */
#include <time.h>

#include "as_it_is.h"

#define BUSY_NS 500000000ll

__attribute__((section(".low"), noinline)) unsigned long low(unsigned long seed);
__attribute__((section(".high"))) unsigned long high(unsigned long seed);

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

AS_IT_IS static unsigned long leaf_parts(unsigned long seed)
{
	for (volatile int i = 0; i < 20000; i++)
		seed = seed * 1664525 + 1013904223;
	return seed;
}

unsigned long low(unsigned long seed)
{
	return leaf_parts(seed) + 1;
}

unsigned long high(unsigned long seed)
{
	return low(seed) + 1;
}

int main(void)
{
	unsigned long (*volatile begin)(unsigned long) = high;
	unsigned long sum = 0;

	while (cpu_ns() < BUSY_NS)
		sum += begin(sum);
	return sum == 1;
}
