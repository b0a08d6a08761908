/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gprof_program.cpp - a program with functions that count their calls themselves; it
 * knows nothing of this project: gprof_counts
 *
 *	gprof_program CASE [LIBRARY]     prints the name of each function and its calls
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 8

static long called[16];
enum { LEAF, FIB, EVEN, ODD, COMPARE, VARIADIC, FLOATING, HANDLE, THROWS, JUMPS, MANY, PLUGIN };
static const char *const names[] = {"leaf",	"fib",	  "even",   "odd",   "compare", "variadic",
				    "floating", "handle", "throws", "jumps", "many",	"plugin"};

static __attribute__((no_instrument_function)) void count(int function)
{
	__atomic_fetch_add(&called[function], 1, __ATOMIC_RELAXED);
}

extern "C" {

__attribute__((noinline)) long leaf(long a, long b, long c, long d, long e, long f)
{
	count(LEAF);
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f;
}

__attribute__((noinline)) int fib(int n)
{
	count(FIB);
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int odd(int n);

__attribute__((noinline)) int even(int n)
{
	count(EVEN);
	return n ? odd(n - 1) : 1;
}

__attribute__((noinline)) int odd(int n)
{
	count(ODD);
	return n ? even(n - 1) : 0;
}

__attribute__((noinline)) int compare(const void *a, const void *b)
{
	count(COMPARE);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) double variadic(int nr, ...)
{
	double sum = 0;
	va_list list;

	count(VARIADIC);
	va_start(list, nr);
	for (int i = 0; i < nr; i++)
		sum += va_arg(list, double);
	va_end(list);
	return sum;
}

__attribute__((noinline)) double floating(double a, double b, double c, double d, float e, float f)
{
	count(FLOATING);
	return a + 2 * b + 3 * c + 4 * d + 5 * (double)e + 6 * (double)f;
}

__attribute__((noinline)) void handle(int number)
{
	count(HANDLE);
}

__attribute__((noinline)) int throws(int depth)
{
	count(THROWS);
	if (!depth)
		throw 7;
	return throws(depth - 1) + 1;
}

__attribute__((noinline)) int jumps(jmp_buf to, int depth)
{
	count(JUMPS);
	if (!depth)
		longjmp(to, 1);
	return jumps(to, depth - 1) + 1;
}
}

/* Functions that call each other, so many that tables have to grow. */
template <int N>
__attribute__((noinline)) long many(long x)
{
	count(MANY);
	if constexpr (N > 0)
		return many<N - 1>(x) + 1;
	else
		return x;
}

static void must(bool holds, const char *what)
{
	if (!holds)
		fprintf(stderr, "not so: %s\n", what);
	if (!holds)
		exit(3);
}

static void run_plain()
{
	static int numbers[1000];

	for (int i = 0; i < 100000; i++)
		must(leaf(1, 2, 3, 4, 5, i) == 55 + 6l * i, "arguments in registers arrive");
	must(fib(20) == 6765, "fib");
	must(even(1001) == 0, "even");
	for (int i = 0; i < 1000; i++)
		numbers[i] = i * 37 % 1000;
	qsort(numbers, 1000, sizeof(int), compare);
	must(variadic(3, 1.5, 2.5, 3.0) == 7.0, "variadic arguments arrive");
	must(floating(1, 2, 3, 4, 5, 6) == 91.0, "arguments in vector registers arrive");
}

static void run_many()
{
	for (int i = 0; i < 3; i++)
		must(many<800>(i) == 800 + i, "many");
}

static void *run_thread(void *)
{
	for (int i = 0; i < 20000; i++)
		leaf(1, 2, 3, 4, 5, i);
	many<800>(0);
	return NULL;
}

static void run_threads()
{
	pthread_t threads[THREADS];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, run_thread, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
}

/* The handler comes at any instruction, also while a table grows. */
static void run_signals()
{
	struct itimerval often = {{0, 200}, {0, 200}};
	struct itimerval never = {};

	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; called[HANDLE] < 50; i++) {
		leaf(1, 2, 3, 4, 5, i);
		many<800>(i);
	}
	setitimer(ITIMER_REAL, &never, NULL);
}

static void run_jumps()
{
	for (int i = 0; i < 1000; i++) {
		jmp_buf to;

		if (!setjmp(to))
			jumps(to, 5);
		try {
			throws(5);
		} catch (int number) {
			must(number == 7, "the exception arrives");
		}
		leaf(1, 2, 3, 4, 5, i);
	}
}

static long long clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* One function costs little for one caller, and much for the other. */
extern "C" __attribute__((noinline)) void scale_background(int ms, int wait_ms)
{
	long long end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000ll;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		continue;
	if (wait_ms)
		usleep((useconds_t)wait_ms * 1000);
}

extern "C" __attribute__((noinline)) void draw_icon(void)
{
	scale_background(0, 0);
}

extern "C" __attribute__((noinline)) void draw_window(void)
{
	scale_background(100, 50);
}

static long long elapsed_of[2], cpu_of[2];

static void run_draws()
{
	for (int i = 0; i < 1001; i++) {
		bool is_window = i == 500;
		long long elapsed = clock_ns(CLOCK_MONOTONIC), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		(is_window ? draw_window : draw_icon)();
		cpu_of[is_window] += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
		elapsed_of[is_window] += clock_ns(CLOCK_MONOTONIC) - elapsed;
	}
	for (int i = 0; i < 2; i++)
		fprintf(stderr, "%lld %lld\n", elapsed_of[i], cpu_of[i]);
}

static void print(const char *into)
{
	FILE *file = into ? fopen(into, "w") : stdout;

	for (size_t i = 0; file && i < sizeof(names) / sizeof(names[0]); i++)
		fprintf(file, "%s %ld\n", names[i], called[i]);
	if (file && into)
		fclose(file);
}

static void run_fork()
{
	pid_t child;

	fib(10);
	child = fork();
	if (!child) {
		memset(called, 0, sizeof(called));
		even(11);
		print("child");
		exit(0);
	}
	waitpid(child, NULL, 0);
	fib(10);
}

/* Unwinders see the callers, and a thread that ends in the middle runs its destructors. */
struct Ended {
	~Ended()
	{
		__atomic_fetch_add(&called[THROWS], 1, __ATOMIC_RELAXED);
	}
};

static int nr_frames;

__attribute__((noinline)) static void end_thread(int depth, bool by_cancel)
{
	Ended ended;
	void *frames[64];

	if (depth) {
		end_thread(depth - 1, by_cancel);
		return;
	}
	nr_frames = backtrace(frames, 64);
	while (by_cancel)
		pause();
	pthread_exit(NULL);
}

static void *run_ending(void *by_cancel)
{
	end_thread(5, by_cancel != NULL);
	return NULL;
}

static void run_ends()
{
	for (long by_cancel = 0; by_cancel < 2; by_cancel++) {
		pthread_t thread;

		nr_frames = 0;
		pthread_create(&thread, NULL, run_ending, (void *)by_cancel);
		while (by_cancel && !__atomic_load_n(&nr_frames, __ATOMIC_RELAXED))
			usleep(1000);
		if (by_cancel)
			pthread_cancel(thread);
		pthread_join(thread, NULL);
		must(nr_frames > 7, "backtrace() sees all callers");
	}
	must(called[THROWS] == 12, "destructors run when a thread ends");
	called[THROWS] = 0;
}

static void run_dlopen(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	long (*plugin)(long) = library ? (long (*)(long))dlsym(library, "plugin") : NULL;

	must(plugin, "the library is there");
	for (int i = 0; i < 77; i++) {
		called[PLUGIN]++;
		must(plugin(i) == i + 1, "plugin");
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "plain"))
		run_plain();
	else if (!strcmp(what, "many"))
		run_many();
	else if (!strcmp(what, "threads"))
		run_threads();
	else if (!strcmp(what, "signals"))
		run_signals();
	else if (!strcmp(what, "jumps"))
		run_jumps();
	else if (!strcmp(what, "fork"))
		run_fork();
	else if (!strcmp(what, "ends"))
		run_ends();
	else if (!strcmp(what, "draws"))
		run_draws();
	else if (!strcmp(what, "dlopen"))
		run_dlopen(argv[2]);
	print(NULL);
	if (getenv("HOLD")) { /* until nothing more is to be read */
		puts("held 1");
		fflush(stdout);
		while (getchar() != EOF)
			;
	}
	return 0;
}
