/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe_target_optimised.c - variables that the compiler keeps in no single place, and one that no single load gets. */
#include <stdint.h>
#include <stdio.h>

struct packed {
	uint64_t low : 5, high : 58, across : 60;
} __attribute__((packed));

long difference(long a, long b, const struct packed *packed);

/* No instruction computes @total: debug information says that it is a + b. */
__attribute__((noinline)) long difference(long a, long b, const struct packed *packed)
{
	long total = a + b;

	(void)total;
	return a * 3 - b + (long)packed->low;
}

int main(int argc, char **argv)
{
	struct packed packed = {.low = (uint64_t)argc & 31};

	(void)argv;
	printf("%ld\n", difference(argc, 4, &packed));
	return 0;
}
