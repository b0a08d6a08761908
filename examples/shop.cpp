/* SPDX-License-Identifier: LGPL-2.1-or-later */
// shop.cpp - a C++ program that records events of its own: c++ -std=c++17 shop.cpp -ltracer
#include <cstdio>
#include <string>
#include <trace/tracepoint.h>

template <class Price>
static void check_out(int id, Price price, const std::string &customer)
{
	trace_scope(shop, checkout); // an exception that leaves the function ends it too
	tracepoint(shop, order_paid, id, price, customer, trace_field(taxed, price * 1.2));
}

int main()
{
	for (int id = 1; id <= 10; id++) {
		check_out(id, id * 9.5, "alice");
		check_out(id, id, "bob");
	}
	std::puts("20 orders");
}
