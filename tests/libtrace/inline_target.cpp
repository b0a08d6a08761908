// SPDX-License-Identifier: LGPL-2.1-or-later
// inline_target.cpp - functions that a compiler builds into others: test_symbol_levels.c asks for
// their names. It is compiled with -O2 -g, and never run.
#include <cstdio>
#include <cstdlib>

static volatile unsigned long sink;

namespace shop
{

#define INLINED static inline __attribute__((always_inline))

INLINED void spin(long n)
{
	for (long i = 0; i < n; i++)
		sink = sink + i;
}

INLINED void price(int k)
{
	spin(200000 * k);
	sink = sink * 3;
}

template <typename T>
struct Order {
	T sum;
	__attribute__((always_inline)) T pay(T by)
	{
		sum += by;
		price((int)by);
		return sum;
	}
};

__attribute__((noinline)) long orders(int n)
{
	Order<long> order = {n};

	for (int i = 0; i < n; i++) {
		order.pay(i);
		spin(n);
		if (sink % 7 == 3)
			abort(); // a part that is cold
	}
	return order.sum;
}

__attribute__((noinline)) int deep(int n)
{
	auto twice = [n](int by) __attribute__((always_inline))
	{
		price(by);
		return by * n;
	};

	return twice(3) + twice(n);
}

} // namespace shop

int main(int argc, char **argv)
{
	printf("%ld %d %s\n", shop::orders(argc), shop::deep(argc), argv[0]);
	return 0;
}
