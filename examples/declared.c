/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * declared.c - events that are declared while the program runs, as a binding for another language
 * does it. A program in C uses the macros of <trace/tracepoint.h>: shop.c.
 *
 *     cc declared.c -ltracer && tracedaemon t.trace -- ./a.out && tracevisualizer -d t.trace
 */
#include <stdio.h>
#include <string.h>
#include <trace/dynamic.h>

static const volatile unsigned char *flag;

static void pay(struct trace_dynamic *paid, int64_t id, double price, const char *customer)
{
	struct {
		int64_t id;
		double price;
		uint64_t customer_bytes;
		char customer[32];
	} values = {id, price, strlen(customer), ""};

	if (!*flag) /* no recording selects the event */
		return;
	if (values.customer_bytes > sizeof(values.customer))
		values.customer_bytes = sizeof(values.customer);
	memcpy(values.customer, customer, values.customer_bytes);
	trace_dynamic_record(paid, &values, 24 + values.customer_bytes);
}

int main(void)
{
	struct trace_dynamic *paid, *begin, *end;

	if (trace_dynamic_declare("shop", "order_paid", TRACE_DYNAMIC_EVENT, "id:i32 price:f64 customer:text", __FILE__,
				  __LINE__, &paid) < 0 ||
	    trace_dynamic_declare("shop", "checkout", TRACE_DYNAMIC_BEGIN, "", __FILE__, __LINE__, &begin) < 0 ||
	    trace_dynamic_declare("shop", "checkout", TRACE_DYNAMIC_END, "", __FILE__, __LINE__, &end) < 0) {
		fprintf(stderr, "%s\n", trace_dynamic_rules());
		return 1;
	}
	flag = trace_dynamic_flag(paid);
	for (int id = 1; id <= 10; id++) {
		trace_dynamic_record(begin, NULL, 0);
		pay(paid, id, id * 9.5, "alice");
		trace_dynamic_record(end, NULL, 0);
	}
	return 0;
}
