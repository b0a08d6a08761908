/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif
#include "clock_ns.h"

#define CLOCK_TRIES 8

uint64_t clock_now(void)
{
	return clock_monotonic_ns();
}

#if defined(__x86_64__)
static bool ask_invariant(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8); /* Intel SDM vol. 3, "Invariant TSC" */
}

/*
 * Virtual machines often do not announce an invariant TSC. Then trust the kernel if it uses the TSC
 * as its clock source, as programs do (choose_clock() of libtracer).
 */
static bool kernel_trusts_tsc(void)
{
	FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	char text[8] = "";
	bool trusts = file && fgets(text, sizeof(text), file) && strcmp(text, "tsc\n") == 0;

	if (file)
		fclose(file);
	return trusts;
}

/*
 * The answer is cached. In a virtual machine CPUID takes 14 us; between two clock reads it would
 * shift the TSC by half of that.
 */
static bool tsc_is_invariant(void)
{
	static int known;
	int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!answer) {
		answer = ask_invariant() || kernel_trusts_tsc() ? 1 : -1;
		__atomic_store_n(&known, answer, __ATOMIC_RELAXED);
	}
	return answer > 0;
}

static uint64_t clock_read_tsc(void)
{
	return tsc_is_invariant() ? __rdtsc() : 0;
}
#else
static uint64_t clock_read_tsc(void)
{
	return 0;
}
#endif

struct clock_sample clock_take_sample(void)
{
	struct clock_sample best = {0}, sample;
	uint64_t before, after, tightest = UINT64_MAX;

	for (int i = 0; i < CLOCK_TRIES; i++) {
		before = clock_now();
		sample.realtime_ns = clock_read_ns(CLOCK_REALTIME);
		sample.tsc = clock_read_tsc();
		after = clock_now();
		sample.monotonic_ns = before + (after - before) / 2;
		if (after - before < tightest) {
			tightest = after - before;
			best = sample;
		}
	}
	return best;
}
