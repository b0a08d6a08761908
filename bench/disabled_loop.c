/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * disabled_loop - the cost of a tracepoint without a recording: prints ns of ours, of LTTng's,
 * and of an empty loop.
 *
 * Each of the three takes about one cycle, and the times of two programs differ by some percent
 * of that. So all three are loops of one program. They alternate, 1 ms each, and the program
 * prints the mean of the fastest quarter of each.
 */
#define _GNU_SOURCE
#define LTTNG_UST_COMPAT_API_VERSION 1 /* otherwise LTTng's headers define tracepoint(), too */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"
#include "loop.h"
#include <stdio.h>
#include <stdlib.h>
#include <trace/tracepoint.h>

enum {
	EVENTS = 4000000,
	TURNS = 200,
};

static void run_ours(long count)
{
	for (long i = count; i > 0; i--)
		tracepoint(bench, disabled, (int)i);
}

static void run_lttng(long count)
{
	for (long i = count; i > 0; i--)
		lttng_ust_tracepoint(bench, number, (int)i);
}

static void run_empty(long count)
{
	for (long i = count; i > 0; i--)
		__asm__ volatile("");
}

static int by_size(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static double fastest(double *ns)
{
	double sum = 0;

	qsort(ns, TURNS, sizeof(*ns), by_size);
	for (int i = 0; i < TURNS / 4; i++)
		sum += ns[i];
	return sum / (TURNS / 4);
}

int main(void)
{
	static void (*const loops[])(long) = {run_ours, run_lttng, run_empty};
	static double ns[3][TURNS];

	loop_go_to_cpu(0);
	for (int turn = 0; turn < TURNS; turn++)
		for (int i = 0; i < 3; i++) {
			double begin = loop_now_ns();

			loops[i](EVENTS);
			ns[i][turn] = (loop_now_ns() - begin) / EVENTS;
		}
	printf("%.5f %.5f %.5f\n", fastest(ns[0]), fastest(ns[1]), fastest(ns[2]));
	return 0;
}
