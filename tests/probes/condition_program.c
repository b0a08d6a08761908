/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * condition_program.c - pays -50 ... 49 cents in turn to bob and eve, in a function and as events.
 */
#include <trace/tracepoint.h>

__attribute__((noinline)) int pay(int cents, const char *name);

static volatile int total;

int pay(int cents, const char *name)
{
	total += cents + (*name == 'b');
	return cents / 2;
}

int main(void)
{
	static const char *const names[] = {"bob", "eve"};

	for (int i = -50; i < 50; i++) {
		const char *name = names[i & 1];

		pay(i, name);
		tracepoint(shop, paid, trace_field(cents, i), trace_field(name, name));
		tracepoint(shop, small, trace_field(cents, i));
		tracepoint(shop, other, trace_field(number, i));
	}
	return 0;
}
