/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_demangle.c - readable names, from several threads at once. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demangle.h"
#include "unit.h"

#define NR_THREADS   8
#define NR_PROCESSES 50

static pthread_barrier_t start;

static void *demangle_one(void *unused)
{
	(void)unused;
	pthread_barrier_wait(&start);
	return demangle("_ZNK4shop5Order3payEi");
}

/* How many threads got another name than the right one, in a process that has not loaded the C++
 * run-time library. */
static int wrong_names(void)
{
	pthread_t threads[NR_THREADS];
	int wrong = 0;
	void *name;

	pthread_barrier_init(&start, NULL, NR_THREADS);
	for (int i = 0; i < NR_THREADS; i++)
		if (pthread_create(&threads[i], NULL, demangle_one, NULL))
			abort();
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], &name);
		wrong += !name || strcmp(name, "shop::Order::pay(int) const") != 0;
		free(name);
	}
	return wrong;
}

/* Loading takes a millisecond, and no thread goes on without it. Each process loads once, so there
 * are many. */
static void threads_that_demangle_at_once_all_get_names(void)
{
	int status, wrong = 0;

	for (int i = 0; i < NR_PROCESSES; i++) {
		pid_t child = fork();

		CU_ASSERT_FATAL(child >= 0);
		if (child == 0)
			_exit(wrong_names());
		waitpid(child, &status, 0);
		wrong += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	}
	CU_ASSERT_EQUAL(wrong, 0);
}

static void names_that_are_not_mangled_stay(void)
{
	CU_ASSERT_PTR_NULL(demangle("pay"));
	CU_ASSERT_PTR_NULL(demangle("_Z"));
	CU_ASSERT_PTR_NULL(demangle(""));
}

static const struct unit_case cases[] = {
	CASE(threads_that_demangle_at_once_all_get_names),
	CASE(names_that_are_not_mangled_stay),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("demangle", cases, argc, argv);
}
