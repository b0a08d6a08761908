/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* user_cpp.cpp - tracepoints wherever C++ allows a statement. cpp_events() records 13 events;
 * test_tracepoint.c expects them. */
#include <string>
#include <string_view>
#include <trace/tracepoint.h>

#define LOG(event, ...)		     tracepoint(cpp, event, ##__VA_ARGS__)
#define LOG_FIELDS(event, ...)	     tracepoint(cpp, event, __VA_ARGS__)
#define LOG_ORDER(event, order, ...) LOG_FIELDS(event, trace_field(order, (order).id), ##__VA_ARGS__)

enum class kind : unsigned char { small, large };

struct order {
	int id;
};

static inline void inlined(int n)
{
	tracepoint(cpp, inlined, n);
}

template <class T>
static void templated(T value)
{
	tracepoint(cpp, templated, value);
}

struct shop {
	double total = 1.5;
	void member() const
	{
		tracepoint(cpp, member, total, this);
	}
};

static std::string make()
{
	return "a temporary string";
}

extern "C" int cpp_events(void);
extern "C" int cpp_events(void)
{
	const order order{5};
	kind kind = kind::large;
	char array[3] = {'a', 'b', 'c'};
	std::string_view view("view");

	tracepoint(cpp, plain, order.id, kind, nullptr, true, 'c', 1.0L);
	inlined(1);
	templated(2);
	templated(2.5);
	[](int n) { tracepoint(cpp, lambda, n); }(3);
	shop().member();
	tracepoint(cpp, text, trace_field(text, make()), array, trace_bytes(array, 2));
	tracepoint(cpp, view, trace_field(view, view.substr(1)));
	try {
		trace_scope(cpp, scoped);
		throw 1;
	} catch (int) {
	}
	tracepoint(cpp, none);
	LOG_ORDER(wrapped, order, trace_field(total, order.id * 1.5), trace_field(text, make()),
		  trace_field(letters, array), trace_field(bytes, trace_bytes(array, 2)), kind);
	LOG(wrapped_none);
	return 13;
}
