/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lttng_loop COUNT - record COUNT events of one int with LTTng, and print the ns of one event.
 *
 * The time is CPU time of the thread on the last CPU, as in user_loop.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_provider.h"
#include "loop.h"

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000000;
	double begin;

	loop_go_to_cpu(0);
	for (long i = 0; i < 1000; i++)
		lttng_ust_tracepoint(bench, number, (int)i);
	begin = loop_now_ns();
	for (long i = 0; i < count; i++)
		lttng_ust_tracepoint(bench, number, (int)i);
	printf("%.3f\n", (loop_now_ns() - begin) / (double)count);
	return 0;
}
