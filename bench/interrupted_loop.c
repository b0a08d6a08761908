/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * interrupted_loop SECONDS DEPTH - what an interrupt takes from a program with much code and data
 *
 * That is the interrupt itself, and the caches and branches that the processor has to learn again.
 * A turn of the loop calls a thousand functions six times, in some 60 us, below DEPTH other ones.
 * The processor tells which turns were interrupted: when it returns from the kernel, it sets a
 * segment register to 0 that had a selector of 1. So the load of other programs does not matter: a
 * turn in which another program had the CPU is long, and left out.
 *
 * Prints the us of a turn, how many were interrupted, and the median us that these took more.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MAX_TURNS   400000
#define LONG_NS	    200000 /* more than an interrupt takes */
#define NR_DATA	    32768u /* 256 KiB */
#define FUNCTION(n) f_##n
#define DEFINE(n)                                                                                         \
	static __attribute__((noinline)) uint64_t FUNCTION(n)(uint64_t x)                                 \
	{                                                                                                 \
		if (x >> (1##n##u * 7 % 20) & 1)                                                          \
			x += data[(x + 1##n##u * 40503) % NR_DATA] * 5;                                   \
		else                                                                                      \
			x ^= data[(x >> 7) % NR_DATA] + 1##n##u;                                          \
		return data[1##n##u * 2654435761u % NR_DATA] & 16 ? x * 1##n##u + 3 : (x >> 3) ^ (x * 9); \
	}
#define NAME(n)	  FUNCTION(n),
#define TEN(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define HUNDRED(m, n) \
	TEN(m, n##0)  \
	TEN(m, n##1)  \
	TEN(m, n##2)  \
	TEN(m, n##3)  \
	TEN(m, n##4)  \
	TEN(m, n##5) TEN(m, n##6) TEN(m, n##7) TEN(m, n##8) TEN(m, n##9)
#define THOUSAND(m)   \
	HUNDRED(m, 0) \
	HUNDRED(m, 1) \
	HUNDRED(m, 2) \
	HUNDRED(m, 3) \
	HUNDRED(m, 4) \
	HUNDRED(m, 5) HUNDRED(m, 6) HUNDRED(m, 7) HUNDRED(m, 8) HUNDRED(m, 9)

#if defined(__x86_64__)
static uint64_t data[NR_DATA];
THOUSAND(DEFINE)
static uint64_t (*const functions[])(uint64_t) = {THOUSAND(NAME)};

/** struct turns - their ns */
struct turns {
	uint64_t ns[MAX_TURNS];
	size_t nr;
};

static struct turns quiet, interrupted;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void call_all(void)
{
	uint64_t x = 1;

	for (int round = 0; round < 6; round++)
		for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
			x = functions[i](x);
	data[x % NR_DATA] ^= 1;
}

static void turn(void)
{
	unsigned short selector = 1;
	struct turns *turns;
	uint64_t ns;

	__asm__ volatile("mov %0, %%gs" : : "r"(selector));
	ns = now_ns();
	call_all();
	ns = now_ns() - ns;
	__asm__ volatile("mov %%gs, %0" : "=r"(selector));
	turns = selector ? &quiet : &interrupted;
	if (turns->nr < MAX_TURNS)
		turns->ns[turns->nr++] = ns;
}

static __attribute__((noinline)) int below(int depth, uint64_t end_ns)
{
	volatile char frame[64];
	int result = 0;

	frame[depth % 64] = 1;
	if (depth)
		result = below(depth - 1, end_ns);
	while (!depth && now_ns() < end_ns)
		turn();
	return result + frame[depth % 64];
}

static int compare(const void *left, const void *right)
{
	uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;

	return (l > r) - (l < r);
}

static double median_us(struct turns *turns)
{
	qsort(turns->ns, turns->nr, sizeof(turns->ns[0]), compare);
	return turns->nr ? (double)turns->ns[turns->nr / 2] / 1e3 : 0;
}

/* Those that another program did not have a part of. */
static void keep_short(struct turns *turns, uint64_t limit_ns)
{
	size_t nr = 0;

	for (size_t i = 0; i < turns->nr; i++)
		if (turns->ns[i] < limit_ns)
			turns->ns[nr++] = turns->ns[i];
	turns->nr = nr;
}

int main(int argc, char **argv)
{
	double usual_us;

	if (argc < 3)
		return 2;
	for (size_t i = 0; i < NR_DATA; i++)
		data[i] = i * 2654435761u;
	if (below(atoi(argv[2]), now_ns() + (uint64_t)(atof(argv[1]) * 1e9)) < 0)
		return 1;
	usual_us = median_us(&quiet);
	keep_short(&interrupted, (uint64_t)(usual_us * 1e3) + LONG_NS);
	printf("%.2f %zu %.2f\n", usual_us, interrupted.nr, median_us(&interrupted) - usual_us);
	return 0;
}
#else
int main(void)
{
	return 77;
}
#endif
