/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_potential_wakers.c - a query for potential wakers looks at the processes that live, however
 * many have ended
 */
#include <stdlib.h>
#include "potential_wakers.h"
#include "state.h"
#include "state_uring.h"
#include "unit.h"

#define NR_PROCESSES 1000u
#define PARENT	     (NR_PSEUDO_PROCESSES) /* process_idx; its pid is 1 */

/* ---- stubs: no query here needs them ---- */

struct socket_state *sock_of_file(const struct trace_analysis *analysis, file_idx file)
{
	(void)analysis;
	(void)file;
	return NULL;
}

const void *uring_next(const struct hash_table *requests, const void *at, const struct trace_process **ret_process,
		       file_idx *ret_file)
{
	(void)requests;
	(void)at;
	(void)ret_process;
	(void)ret_file;
	return NULL;
}

file_idx fd_file(const struct trace_thread *thread, int64_t fd)
{
	(void)thread;
	(void)fd;
	return 0;
}

/* ---- the processes ---- */

static struct trace_analysis a;
static struct trace_process processes[NR_PSEUDO_PROCESSES + NR_PROCESSES];
static struct trace_process *list[NR_PSEUDO_PROCESSES + NR_PROCESSES];
static struct trace_thread threads[NR_PSEUDO_PROCESSES + NR_PROCESSES];

/* All are children of the first one, with one thread each. */
static void begin(void)
{
	a.threads.processes = list;
	a.threads.nr_processes = NR_PSEUDO_PROCESSES + NR_PROCESSES;
	for (uint32_t i = 0; i < a.threads.nr_processes; i++) {
		list[i] = &processes[i];
		threads[i] = (struct trace_thread){.sched_state = SCHED_BLOCKED, .process = &processes[i]};
		processes[i] = (struct trace_process){.idx = i,
						      .pid = i - NR_PSEUDO_PROCESSES + 1,
						      .ppid = i == PARENT ? 0 : 1,
						      .first = &threads[i],
						      .last = &threads[i],
						      .nr_threads = 1,
						      .nr_living = 1};
	}
}

static void dies(uint32_t i)
{
	threads[i].sched_state = SCHED_DEAD;
	processes[i].nr_living = 0;
}

static void a_query_looks_at_the_processes_that_live(void)
{
	begin();
	CU_ASSERT_EQUAL(wakers_child(&a, &processes[PARENT], 0, 1), PROCESS_SEVERAL);
	CU_ASSERT_EQUAL(a.living.nr, NR_PROCESSES);
	for (uint32_t i = PARENT + 2; i < NR_PSEUDO_PROCESSES + NR_PROCESSES; i++)
		dies(i);
	CU_ASSERT_EQUAL(wakers_child(&a, &processes[PARENT], 0, 1), PARENT + 1);
	CU_ASSERT_EQUAL(a.living.nr, 2);
	wakers_free(&a);
	CU_ASSERT_EQUAL(a.failed, 0);
}

/* A thread of it is found after a loss. */
static void a_process_that_has_a_thread_again_may_wake(void)
{
	begin();
	for (uint32_t i = PARENT + 1; i < NR_PSEUDO_PROCESSES + NR_PROCESSES; i++)
		dies(i);
	CU_ASSERT_EQUAL(wakers_child(&a, &processes[PARENT], 0, 1), PROCESS_UNKNOWN);
	CU_ASSERT(processes[PARENT + 7].has_left_living);
	threads[PARENT + 7].sched_state = SCHED_BLOCKED;
	processes[PARENT + 7].nr_living = 1;
	wakers_revive(&a, &processes[PARENT + 7]);
	CU_ASSERT_EQUAL(wakers_child(&a, &processes[PARENT], 0, 1), PARENT + 7);
	wakers_free(&a);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_query_looks_at_the_processes_that_live),
		CASE(a_process_that_has_a_thread_again_may_wake),
		{NULL, NULL},
	};

	return unit_main("potential_wakers", cases, argc, argv);
}
