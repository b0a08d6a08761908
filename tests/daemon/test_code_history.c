/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_code_history.c - the mappings of code that a flight recorder keeps: in order of time, and
 * within their limit those of running processes longer than those of processes that have ended.
 *
 * tracer_take_code_maps() is that of this program: the tracer gives what a test made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code_history.h"
#include "unit.h"

#define MANY 100000 /* more than the history has room for */

static struct made {
	uint32_t pids[2]; /* by turns */
	uint64_t from_ns, nr;
} made;

uint64_t tracer_take_code_maps(struct tracer *tracer, tracer_code_map_fn fn, void *context)
{
	static struct tracer_code_map map;

	for (uint64_t i = 0; i < made.nr; i++) {
		map.ts_ns = made.from_ns + i;
		map.map = (struct trace_fs_map){.pid = made.pids[i % 2], .ino = 1};
		snprintf(map.path, sizeof(map.path), "/usr/lib/x86_64-linux-gnu/libexample.so.%llu",
			 (unsigned long long)i);
		fn(context, &map);
	}
	return 3;
}

static void take(struct code_history *history, uint32_t first, uint32_t second, uint64_t from_ns, uint64_t nr,
		 uint64_t oldest_ns)
{
	made = (struct made){.pids = {first, second}, .from_ns = from_ns, .nr = nr};
	code_history_take(history, NULL, oldest_ns);
}

/* The number of a process that has ended */
static uint32_t ended(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	CU_ASSERT_EQUAL_FATAL(waitpid(pid, NULL, 0), pid);
	return (uint32_t)pid;
}

static uint64_t count(const struct code_history *history, uint32_t pid)
{
	uint64_t nr = 0;

	for (const struct code_entry *entry = history->first; entry; entry = entry->next)
		nr += entry->map.pid == pid;
	return nr;
}

static void mappings_are_written_in_order_up_to_a_time(void)
{
	struct code_history history = {0};
	const struct code_entry *at;
	struct own_records block = {0};
	int error;

	take(&history, 1, 1, 1000, 10, 0);
	take(&history, 1, 1, 6000000000, 5, 0); /* a block has 4 s */
	CU_ASSERT_EQUAL(history.lost, 3);
	at = history.first;
	CU_ASSERT_FATAL(code_history_block(&at, 1003, &block, &error));
	CU_ASSERT_EQUAL(block.nr_records, 4);
	CU_ASSERT_EQUAL(block.base_ns, 1000);
	CU_ASSERT(!code_history_block(&at, 1003, &block, &error));
	CU_ASSERT_EQUAL(error, 0);
	CU_ASSERT_FATAL(code_history_block(&at, UINT64_MAX, &block, &error));
	CU_ASSERT_EQUAL(block.nr_records, 6);
	CU_ASSERT_FATAL(code_history_block(&at, UINT64_MAX, &block, &error));
	CU_ASSERT_EQUAL(block.base_ns, 6000000000);
	CU_ASSERT_EQUAL(block.nr_records, 5);
	CU_ASSERT(!code_history_block(&at, UINT64_MAX, &block, &error));
	own_records_release(&block);
	code_history_clear(&history);
}

static void processes_that_ended_before_the_kept_events_go_first(void)
{
	struct code_history history = {0};
	uint32_t dead = ended(), own = (uint32_t)getpid();

	take(&history, dead, own, 1000, MANY, UINT64_MAX);
	CU_ASSERT_EQUAL(count(&history, dead), 0);
	CU_ASSERT(count(&history, own) > 40000);
	CU_ASSERT_EQUAL(history.lost, 3 + MANY / 2 - count(&history, own));
	CU_ASSERT(history.bytes <= 8u << 20);
	code_history_clear(&history);
}

/* The events that are kept may be of these processes. */
static void of_others_the_oldest_mappings_go(void)
{
	struct code_history history = {0};
	uint32_t dead = ended(), own = (uint32_t)getpid();
	uint64_t last_ns = 0;

	take(&history, dead, own, 1000, MANY, 0);
	CU_ASSERT(history.bytes <= 8u << 20);
	CU_ASSERT(count(&history, dead) > 20000);
	CU_ASSERT_EQUAL(history.lost, 3 + MANY - count(&history, dead) - count(&history, own));
	for (const struct code_entry *entry = history.first; entry; entry = entry->next) {
		CU_ASSERT_FATAL(entry->ts_ns > last_ns);
		last_ns = entry->ts_ns;
	}
	CU_ASSERT_EQUAL(last_ns, 1000 + MANY - 1);
	CU_ASSERT_EQUAL(history.last->ts_ns, last_ns);
	take(&history, own, own, last_ns + 1, 1, 0); /* still a list */
	CU_ASSERT_EQUAL(history.last->ts_ns, last_ns + 1);
	code_history_clear(&history);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(mappings_are_written_in_order_up_to_a_time),
		CASE(processes_that_ended_before_the_kept_events_go_first),
		CASE(of_others_the_oldest_mappings_go),
		{NULL, NULL},
	};

	return unit_main("code history", cases, argc, argv);
}
