/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * cost.c - the functions of <trace/dynamic.h> alone, without a language around them
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <trace/dynamic.h>

#define EVENTS 10000

struct values {
	uint64_t id;
	double price;
	uint64_t customer;
	char text[8];
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double ns_per_turn(struct trace_dynamic *event, struct trace_dynamic *end, size_t bytes)
{
	const volatile unsigned char *flag = trace_dynamic_flag(event);
	struct values values = {0, 9.5, 5, "alice"};
	double best = 1e9;

	for (int round = 0; round < 50; round++) {
		double begin = seconds(), ns;

		for (uint64_t i = 0; i < EVENTS; i++) {
			values.id = i;
			if (*flag)
				trace_dynamic_record(event, &values, bytes);
			if (end && *flag)
				trace_dynamic_record(end, NULL, 0);
		}
		ns = (seconds() - begin) / EVENTS * 1e9;
		best = ns < best ? ns : best;
	}
	return best;
}

int main(void)
{
	struct trace_dynamic *none, *one, *three, *begin, *end;

	if (trace_dynamic_declare("cost", "none", TRACE_DYNAMIC_EVENT, "", __FILE__, __LINE__, &none) < 0 ||
	    trace_dynamic_declare("cost", "one", TRACE_DYNAMIC_EVENT, "value:u64", __FILE__, __LINE__, &one) < 0 ||
	    trace_dynamic_declare("cost", "three", TRACE_DYNAMIC_EVENT, "id:u64 price:f64 customer:text", __FILE__,
				  __LINE__, &three) < 0 ||
	    trace_dynamic_declare("cost", "scope", TRACE_DYNAMIC_BEGIN, "", __FILE__, __LINE__, &begin) < 0 ||
	    trace_dynamic_declare("cost", "scope", TRACE_DYNAMIC_END, "", __FILE__, __LINE__, &end) < 0)
		return 1;
	printf("%.1f %.1f %.1f %.1f\n", ns_per_turn(none, NULL, 0), ns_per_turn(one, NULL, 8),
	       ns_per_turn(three, NULL, 29), ns_per_turn(begin, end, 0));
	return 0;
}
