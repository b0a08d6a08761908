/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shop.c - a program that records events of its own. docs/TRACEPOINTS.md explains the macros.
 *
 *     cc shop.c -ltracer && tracedaemon t.trace -- ./a.out && tracevisualizer -d t.trace
 */
#include <stdio.h>
#include <unistd.h>
#include <trace/tracepoint.h>

struct order {
	int id;
	double price;
	char customer[16];
};

static void check_out(const struct order *order)
{
	trace_scope(shop, checkout); /* begins here, ends when the function returns */
	usleep(1000);
	tracepoint(shop, order_paid, order->id, order->price, order->customer);
}

int main(void)
{
	for (int id = 1; id <= 10; id++) {
		struct order order = {id, id * 9.5, "alice"};

		trace_request_begin(shop, order, id);
		trace_counter(shop, waiting, 10 - id);
		check_out(&order);
		trace_request_end(shop, order, id);
	}
	puts("10 orders");
	return 0;
}
