/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_target_optimised.c - variables that the compiler keeps in several places, one that no
 * single load can read, and a function with its rare part elsewhere.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct packed {
	uint64_t low : 5, high : 58, across : 60;
} __attribute__((packed));

long difference(long a, long b, const struct packed *packed);
void split(const char *text);

/* No instruction computes @total: the debug information says that it is a + b. */
__attribute__((noinline)) long difference(long a, long b, const struct packed *packed)
{
	long total = a + b;

	(void)total;
	return a * 3 - b + (long)packed->low;
}

/* gcc moves the abort() to a part split.cold. */
__attribute__((noinline)) void split(const char *text)
{
	if (!text)
		abort();
	puts(text);
}

int main(int argc, char **argv)
{
	struct packed packed = {.low = (uint64_t)argc & 31};

	split(argv[0]);
	printf("%ld\n", difference(argc, 4, &packed));
	return 0;
}
