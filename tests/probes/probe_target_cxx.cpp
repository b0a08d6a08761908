/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe_target_cxx.cpp - names and types of C++ to be probed: overloads, references, members of
 * base classes, std::string. */
#include <cstdio>
#include <string>

namespace shop
{

enum class Level : unsigned char { low, high = 200 };

struct Base {
	int number = 41;
	Level level = Level::high;
};

class Order : public Base
{
      public:
	explicit Order(std::string text) : name(std::move(text))
	{
	}
	__attribute__((noinline)) int pay(int amount) const
	{
		return number + amount;
	}
	__attribute__((noinline)) bool operator()(int x) const
	{
		return x > number;
	}

	__attribute__((noinline)) int operator-() const
	{
		return -number;
	}

	std::string name;
};

__attribute__((noinline)) int the_operator()
{
	return 1;
}

/* The lambda inside is another function. */
__attribute__((noinline)) int twice(int number)
{
	const auto within = [](int x) { return x + 1; };

	return within(number) + within(number);
}

__attribute__((noinline)) int check(const Order &order, int times)
{
	return order.pay(times);
}

__attribute__((noinline)) int check(double)
{
	return 0;
}

} // namespace shop

int main(int argc, char **)
{
	shop::Order order("first order of all");
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum += shop::check(order, i) + order(argc);
	std::printf("%d\n", sum + shop::check(1.0) + shop::twice(-order) + shop::the_operator());
	return 0;
}
