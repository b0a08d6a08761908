/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_stacks.cpp - a program without frame pointers, with functions that are busy in known
 * chains of calls: for test_e2e_stacks.c
 *
 *     workload_stacks             all chains, each for PHASE_NS
 *     workload_stacks short       one chain for SHORT_NS, and the end
 *     workload_stacks warm        the same, and 3 s of sleep
 */
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "as_it_is.h"

#define PHASE_NS 250000000ll
#define WARM_NS	 500000000ll
#define SHORT_NS 5000000ll
#define NR_SHORT 40
#define DEPTH	 30
#define DEEPER	 1000
#define STACK	 65536

static volatile unsigned long sink;

static long long cpu_ns()
{
	timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

extern "C" {
/* Leaves: without a frame of their own. */
#define LEAF(name)                                          \
	AS_IT_IS unsigned long name(unsigned long seed)     \
	{                                                   \
		for (int i = 0; i < 20000; i++) {           \
			seed = seed * 1664525 + 1013904223; \
			sink = sink + seed;                 \
		}                                           \
		return seed;                                \
	}
LEAF(leaf_warm)
LEAF(leaf_flat)
LEAF(leaf_deep)
LEAF(leaf_compared)
LEAF(leaf_signal)
LEAF(leaf_caught)
LEAF(leaf_alternate)
LEAF(leaf_context)
LEAF(leaf_deeper)
__attribute__((visibility("default"))) LEAF(leaf_bound) LEAF(leaf_thread) LEAF(leaf_child) LEAF(leaf_short)

/* Calls its leaf until @ns have passed. */
#define BUSY(name, leaf)                          \
	AS_IT_IS unsigned long name(long long ns) \
	{                                         \
		long long end = cpu_ns() + ns;    \
		unsigned long sum = 0;            \
                                                  \
		while (cpu_ns() < end)            \
			sum += leaf(sum);         \
		return sum + 1;                   \
	}
	BUSY(busy_warm, leaf_warm) BUSY(busy_flat, leaf_flat) BUSY(busy_thread, leaf_thread)
		BUSY(busy_child, leaf_child) BUSY(busy_short, leaf_short)

			AS_IT_IS unsigned long dive(int depth, unsigned long seed)
{
	volatile unsigned char frame[64];
	unsigned long result;

	frame[seed % 64] = 1;
	result = depth ? dive(depth - 1, seed + 1) : leaf_deep(seed);
	return result + frame[seed % 64];
}

AS_IT_IS unsigned long busy_deep(long long ns)
{
	long long end = cpu_ns() + ns;
	unsigned long sum = 0;

	while (cpu_ns() < end)
		sum += dive(DEPTH - 1, sum);
	return sum + 1;
}

AS_IT_IS unsigned long dive_on(int depth, unsigned long seed)
{
	volatile unsigned char frame[24];
	unsigned long result = 0;

	frame[seed % 24] = 1;
	for (int i = 0; i < 10 && !depth; i++)
		result += leaf_deeper(seed);
	if (depth)
		result = dive_on(depth - 1, seed + 1);
	return result + frame[seed % 24];
}

/* More callers than a record has room for. */
AS_IT_IS unsigned long busy_deeper(long long ns)
{
	long long end = cpu_ns() + ns;
	unsigned long sum = 0;

	while (cpu_ns() < end)
		sum += dive_on(DEEPER - 1, sum);
	return sum + 1;
}

/* The library calls back. */
AS_IT_IS int compare(const void *left, const void *right)
{
	sink = sink + leaf_compared(1);
	return *static_cast<const int *>(left) - *static_cast<const int *>(right);
}

AS_IT_IS unsigned long busy_sorting(long long ns)
{
	long long end = cpu_ns() + ns;

	while (cpu_ns() < end) {
		int numbers[8] = {3, 1, 4, 1, 5, 9, 2, 6};

		qsort(numbers, 8, sizeof(numbers[0]), compare);
		sink = sink + static_cast<unsigned long>(numbers[0]);
	}
	return sink + 1;
}

AS_IT_IS void on_signal(int number)
{
	for (int i = 0; i < 10; i++)
		sink = sink + leaf_signal(static_cast<unsigned long>(number));
}

AS_IT_IS unsigned long busy_signals(long long ns)
{
	long long end = cpu_ns() + ns;

	while (cpu_ns() < end)
		raise(SIGUSR1);
	return sink + 1;
}

AS_IT_IS void on_alternate(int number)
{
	for (int i = 0; i < 10; i++)
		sink = sink + leaf_alternate(static_cast<unsigned long>(number));
}

/* The handler has a stack of its own. */
AS_IT_IS unsigned long busy_alternate(long long ns)
{
	static char stack[STACK];
	stack_t alternate = {};
	struct sigaction action = {};
	long long end = cpu_ns() + ns;

	alternate.ss_sp = stack;
	alternate.ss_size = sizeof(stack);
	action.sa_handler = on_alternate;
	action.sa_flags = SA_ONSTACK;
	sigaltstack(&alternate, nullptr);
	sigaction(SIGUSR2, &action, nullptr);
	while (cpu_ns() < end)
		raise(SIGUSR2);
	return sink + 1;
}

static ucontext_t outside, inside;

AS_IT_IS void in_context()
{
	for (;;) {
		sink = sink + leaf_context(sink);
		swapcontext(&inside, &outside);
	}
}

/* A function that is not called: its stack begins with it. */
AS_IT_IS unsigned long busy_context(long long ns)
{
	static char stack[STACK];
	long long end = cpu_ns() + ns;

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	inside.uc_link = &outside;
	makecontext(&inside, in_context, 0);
	while (cpu_ns() < end)
		swapcontext(&outside, &inside);
	return sink + 1;
}

AS_IT_IS unsigned long bind_once()
{
	void *library = dlopen(TRACE_STACKS_PLUGIN, RTLD_LAZY | RTLD_LOCAL);
	unsigned long (*call_bound)(unsigned long) = nullptr;

	if (library)
		*reinterpret_cast<void **>(&call_bound) = dlsym(library, "call_bound");
	sink = sink + (call_bound ? call_bound(sink) : 0);
	if (library)
		dlclose(library);
	return sink + 1;
}

/* The function that the linker asks which one to bind. */
AS_IT_IS unsigned long busy_binding(long long ns)
{
	long long end = cpu_ns() + ns;
	unsigned long sum = 0;

	while (cpu_ns() < end)
		sum += bind_once();
	return sum + 1;
}

AS_IT_IS void throw_below(int depth)
{
	if (depth)
		throw_below(depth - 1);
	else
		throw depth;
	sink = sink + 1;
}

AS_IT_IS unsigned long busy_exceptions(long long ns)
{
	long long end = cpu_ns() + ns;

	while (cpu_ns() < end)
		try {
			throw_below(10);
		} catch (int depth) {
			sink = sink + leaf_caught(static_cast<unsigned long>(depth));
		}
	return sink + 1;
}

AS_IT_IS void *in_thread(void *ns)
{
	sink = sink + busy_thread(*static_cast<long long *>(ns));
	return nullptr;
}

AS_IT_IS unsigned long in_child(long long ns)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		sink = sink + busy_child(ns);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return sink + 1;
}

AS_IT_IS void short_ones(const char *self)
{
	for (int i = 0; i < NR_SHORT; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			execl(self, self, "short", nullptr);
			_exit(1);
		}
		waitpid(pid, &status, 0);
	}
}
}

int main(int argc, char **argv)
{
	long long ns = PHASE_NS;
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "warm"))
		return busy_short(SHORT_NS) == 0 || sleep(3) != 0;
	if (argc > 1 && !strcmp(argv[1], "short"))
		return busy_short(SHORT_NS) == 0;
	signal(SIGUSR1, on_signal);
	sink = sink + busy_warm(WARM_NS);
	sink = sink + busy_flat(ns);
	sink = sink + busy_deep(ns);
	sink = sink + busy_deeper(ns);
	sink = sink + busy_sorting(ns);
	sink = sink + busy_signals(ns);
	sink = sink + busy_exceptions(ns);
	sink = sink + busy_alternate(ns);
	sink = sink + busy_context(ns);
	sink = sink + busy_binding(ns);
	if (pthread_create(&thread, nullptr, in_thread, &ns))
		return 1;
	pthread_join(thread, nullptr);
	sink = sink + in_child(ns);
	short_ones("/proc/self/exe");
	return 0;
}
