/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_disk_owners.c - the search for the owner of a worker's requests costs the same, however many
 * requests are in progress.
 *
 * The test counts the rows that disk_sums.c visits in the tables of the requests, which are many.
 */
#include <string.h>
#include "disk_sums.h"
#include "state.h"
#include "unit.h"

#define DISK	   0x00800000u
#define NR_FILES   1000u
#define PROCESS	   NR_PSEUDO_PROCESSES
#define NR_WORKERS 3u

static uint64_t nr_visited;

void *__real_table_next(const struct hash_table *table, size_t row_bytes, const void *row);
void *__wrap_table_next(const struct hash_table *table, size_t row_bytes, const void *row);
void *__wrap_table_next(const struct hash_table *table, size_t row_bytes, const void *row)
{
	nr_visited++;
	return __real_table_next(table, row_bytes, row);
}

/* disk_waits.c is not part of this test. */
void disk_waits_request(struct trace_analysis *a, const struct disk_span *span)
{
}

void disk_waits_own(struct trace_analysis *a, uint32_t batch, uint32_t process)
{
}

void disk_waits_window_begins(struct disk_waits *waits)
{
}

/* Nor are the files that the workers write back. */
uint64_t work_run_began(const struct trace_analysis *a, uint32_t thread)
{
	return 0;
}

uint32_t dirty_writer(const struct trace_analysis *a, uint32_t dev, uint64_t ino, uint64_t run_ns)
{
	return 0;
}

static void issue(struct trace_analysis *a, uint64_t request, uint32_t owner)
{
	disk_issue(a, 1000, &(struct trace_block_issue){.request = request, .dev = DISK, .bytes = 4096, .op = 1},
		   owner);
}

static void complete(struct trace_analysis *a, uint64_t request)
{
	disk_complete(a, 2000, &(struct trace_block_complete){.request = request, .dev = DISK, .bytes = 4096, .op = 1});
}

/* Each of three workers writes files in turn; all requests of all files stay in progress. */
static void a_file_that_is_written_back_costs_the_same_whatever_is_in_progress(void)
{
	struct trace_thread workers[NR_WORKERS] = {{.idx = 1}, {.idx = 2}, {.idx = 3}};
	static struct trace_analysis a;

	nr_visited = 0;
	for (uint32_t i = 0; i < NR_FILES; i++) {
		const struct trace_thread *worker = &workers[i % NR_WORKERS];

		issue(&a, 2ull * i + 1, DISK_OF_WORKER(worker));
		issue(&a, 2ull * i + 2, DISK_OF_WORKER(worker));
		disk_own(&a, DISK_OF_WORKER(worker), PROCESS + i % 2);
	}
	CU_ASSERT(nr_visited <= 2 * NR_FILES); /* the disk */
	CU_ASSERT(a.disk_sums.batches.used == NR_FILES);
	for (uint32_t i = 0; i < 2 * NR_FILES; i++)
		complete(&a, i + 1ull);
	CU_ASSERT_EQUAL(a.disk_sums.requests.used, 0);
	CU_ASSERT_EQUAL(a.disk_sums.batches.used, 0);
	CU_ASSERT_EQUAL(a.disk_sums.uses.used, 2);
	CU_ASSERT_EQUAL(a.failed, 0);
	disk_sums_clear(&a.disk_sums);
}

/*
 * A request that a scheduler held back when its worker's process became known is of that process.
 */
static void a_request_that_was_queued_has_the_process_that_was_known_meanwhile(void)
{
	struct trace_thread worker = {.idx = 1};
	static struct trace_analysis a;

	disk_queue(&a, &(struct trace_block_insert){.request = 1, .dev = DISK}, DISK_OF_WORKER(&worker));
	disk_own(&a, DISK_OF_WORKER(&worker), PROCESS);
	issue(&a, 1, PROCESS_UNKNOWN);
	issue(&a, 2, DISK_OF_WORKER(&worker)); /* of the next file */
	complete(&a, 1);
	complete(&a, 2);
	CU_ASSERT_EQUAL(a.disk_sums.uses.used, 2);
	disk_own(&a, DISK_OF_WORKER(&worker), PROCESS);
	CU_ASSERT_EQUAL(a.disk_sums.uses.used, 1);
	CU_ASSERT_EQUAL(a.disk_sums.batches.used, 0);
	CU_ASSERT_EQUAL(a.disk_sums.workers.used, 0);
	disk_sums_clear(&a.disk_sums);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_file_that_is_written_back_costs_the_same_whatever_is_in_progress),
		CASE(a_request_that_was_queued_has_the_process_that_was_known_meanwhile),
		{NULL, NULL},
	};

	return unit_main("disk_owners", cases, argc, argv);
}
