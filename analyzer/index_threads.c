/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* index_threads.c - parts of the work to open an index, by several threads: index_threads.h. */
#include <pthread.h>
#include <unistd.h>
#include "index_threads.h"

#define MORE_THREADS 3

/* struct parts - @next: the first part that no thread has taken; changed by all threads */
struct parts {
	index_part_fn *fn;
	void *data;
	size_t nr, next;
};

/* Parts share nothing, and pthread_join() orders their writes before the reads of the caller. */
static void *do_parts(void *data)
{
	struct parts *parts = data;
	size_t i;

	while ((i = __atomic_fetch_add(&parts->next, 1, __ATOMIC_RELAXED)) < parts->nr)
		parts->fn(parts->data, i);
	return NULL;
}

static size_t nr_cpus(void)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);

	return nr < 1 ? 1 : (size_t)nr;
}

void index_in_threads(index_part_fn *fn, void *data, size_t nr)
{
	struct parts parts = {.fn = fn, .data = data, .nr = nr};
	pthread_t threads[MORE_THREADS];
	size_t most = nr_cpus() < nr ? nr_cpus() : nr, nr_more = 0;

	while (nr_more < MORE_THREADS && nr_more + 1 < most &&
	       pthread_create(&threads[nr_more], NULL, do_parts, &parts) == 0)
		nr_more++;
	do_parts(&parts);
	for (size_t i = 0; i < nr_more; i++)
		pthread_join(threads[i], NULL);
}
