/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_disk_sums.c - a request of a disk is of the process that issued it, or that wrote to the
 * file that is written back.
 *
 * Process 10 ("one") runs on CPU 0, 20 ("two") on CPU 1; the kernel's worker 30 runs on CPU 1 from
 * 4000 to 8000, with work of process 20 from 5000 to 7000.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "analysis_case.h"
#include "unit.h"

#define WORK 0xffff888800001000u
#define FUNC 0xffffffff81001000u
#define PART 0x00800001u
#define DISK 0x00800000u

static struct analysis_case with_disk(void)
{
	struct trace_start_thread worker = {.tid = 30,
					    .tgid = 30,
					    .ppid = 2,
					    .nr = -1,
					    .flags = TRACE_THREAD_KERNEL,
					    .cpu = 1,
					    .state = TRACE_TASK_INTERRUPTIBLE};
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_SYMBOL, FUNC, "wb_workfn");
	tb_string(c.tb, TRACE_STRING_DEVICE, DISK, "vda");
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_start(c.tb, 1000, TRACE_EV_start_thread, &worker, sizeof(worker), "kworker/u4:1");
	tb_fd(c.tb, 10, 3, PART, 70, S_IFREG | 0600, "/a");
	tb_fd(c.tb, 20, 3, PART, 71, S_IFREG | 0600, "/b");
	return c;
}

static void issue(struct analysis_case *c, uint32_t cpu, uint64_t ns, uint64_t request)
{
	tb_add(c->tb, cpu, ns, block_issue, NULL, .request = request, .dev = DISK, .bytes = 4096, .op = 1);
}

static void complete(struct analysis_case *c, uint64_t ns, uint64_t request, uint32_t op)
{
	tb_add(c->tb, 0, ns, block_complete, NULL, .request = request, .dev = DISK, .bytes = 4096, .op = op);
}

static void writes(struct analysis_case *c, uint32_t cpu, uint64_t ns)
{
	tb_sys_enter(c->tb, cpu, ns, SYS_write, 3, 0, 100);
	tb_sys_exit(c->tb, cpu, ns + 50, 100);
}

static void written_back(struct analysis_case *c, uint64_t ns, uint64_t ino)
{
	tb_add(c->tb, 1, ns, fs_writeback, NULL, .ino = ino, .dev = PART, .pages = 1);
}

static void work_begins(struct analysis_case *c)
{
	tb_waking(c->tb, 1, 3900, 30, TRACE_CONTEXT_TASK);
	tb_switch(c->tb, 1, 4000, 20, 30, TRACE_TASK_RUNNING);
	tb_add(c->tb, 1, 5000, work_start, NULL, .work = WORK, .func = FUNC);
}

static void work_ends(struct analysis_case *c)
{
	tb_add(c->tb, 1, 7000, work_end, NULL, .work = WORK);
	tb_switch(c->tb, 1, 8000, 30, 20, TRACE_TASK_INTERRUPTIBLE);
}

/* The use by the process called @title; checks that the parts of the disk add up. */
static struct trace_disk_use use_of(const struct analysis_case *c, const char *title)
{
	struct trace_disk_use found = {0}, *list;
	uint64_t sum = 0;
	size_t nr;

	list = trace_disk_uses(c->analysis, &nr);
	CU_ASSERT_PTR_NOT_NULL_FATAL(list);
	for (size_t i = 0; i < nr; i++) {
		sum += list[i].busy_ns;
		if (strcmp(list[i].title, title) == 0)
			found = list[i];
	}
	CU_ASSERT(!nr || sum == list[0].disk_busy_ns);
	free(list);
	return found;
}

static void requests_in_progress_share_the_time_of_a_disk(void)
{
	struct analysis_case c = with_disk();

	issue(&c, 0, 2000, 1);
	issue(&c, 1, 2010, 2);
	complete(&c, 2020, 2, 1);
	complete(&c, 2030, 1, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "one").busy_ns, 25);
	CU_ASSERT_EQUAL(use_of(&c, "one").read_bytes, 4096);
	CU_ASSERT_EQUAL(use_of(&c, "one").disk_busy_ns, 30);
	CU_ASSERT_EQUAL(use_of(&c, "two").busy_ns, 5);
	CU_ASSERT_EQUAL(use_of(&c, "two").writes, 1);
	case_free(&c);
}

static void three_equal_parts_add_up_to_the_time(void)
{
	struct analysis_case c = with_disk();

	for (uint64_t i = 1; i <= 3; i++)
		issue(&c, i & 1, 2000, i);
	for (uint64_t i = 1; i <= 3; i++)
		complete(&c, 2100, i, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "one").disk_busy_ns, 100);
	CU_ASSERT_EQUAL(use_of(&c, "one").busy_ns, 33);
	CU_ASSERT_EQUAL(use_of(&c, "two").busy_ns, 67);
	case_free(&c);
}

static void a_request_without_a_begin_or_a_process_is_of_unknown(void)
{
	struct analysis_case c = with_disk();

	complete(&c, 2000, 7, 0);
	tb_irq(c.tb, 0, 2100, 5);
	issue(&c, 0, 2110, 8);
	tb_irq_exit(c.tb, 0, 2120, 5);
	complete(&c, 2150, 8, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "unknown").reads, 2);
	CU_ASSERT_EQUAL(use_of(&c, "unknown").busy_ns, 40);
	case_free(&c);
}

static void writeback_is_of_the_process_that_wrote(void)
{
	struct analysis_case c = with_disk();

	writes(&c, 0, 2000);
	work_begins(&c);
	issue(&c, 1, 5100, 1);
	complete(&c, 5200, 1, 1);
	written_back(&c, 5300, 70);
	issue(&c, 1, 5400, 2); /* collected until the run ends */
	work_ends(&c);
	complete(&c, 7500, 2, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "one").writes, 2);
	CU_ASSERT_EQUAL(use_of(&c, "one").busy_ns, 2200);
	CU_ASSERT_EQUAL(use_of(&c, "unknown").writes, 0);
	case_free(&c);
}

static void requests_of_the_files_of_two_are_of_several(void)
{
	struct analysis_case c = with_disk();

	writes(&c, 0, 2000);
	writes(&c, 1, 2000);
	work_begins(&c);
	written_back(&c, 5300, 70);
	issue(&c, 1, 5350, 1); /* may be of both files */
	written_back(&c, 5400, 71);
	issue(&c, 1, 5450, 2); /* of the second one only */
	work_ends(&c);
	complete(&c, 7400, 1, 1);
	complete(&c, 7500, 2, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "several").writes, 1);
	CU_ASSERT_EQUAL(use_of(&c, "two").writes, 1);
	CU_ASSERT_EQUAL(use_of(&c, "one").writes, 0);
	case_free(&c);
}

static void has_file(struct analysis_case *c, uint64_t ns, uint64_t request, uint64_t ino, uint32_t bytes)
{
	tb_add(c->tb, 1, ns, block_file, NULL, .request = request, .ino = ino, .dev = PART, .bytes = bytes);
}

/* The first request of the same run would be of several, did it not tell its file. */
static void a_request_that_tells_its_file_is_of_who_wrote_to_it(void)
{
	struct analysis_case c = with_disk();

	writes(&c, 0, 2000);
	writes(&c, 1, 2000);
	work_begins(&c);
	issue(&c, 1, 5250, 3); /* before its fs_writeback */
	has_file(&c, 5251, 3, 70, 4096);
	written_back(&c, 5300, 70);
	issue(&c, 1, 5350, 1);
	has_file(&c, 5351, 1, 70, 4096);
	written_back(&c, 5400, 71);
	issue(&c, 1, 5450, 2);
	has_file(&c, 5451, 2, 71, 4096);
	work_ends(&c);
	complete(&c, 7300, 3, 1);
	complete(&c, 7400, 1, 1);
	complete(&c, 7500, 2, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "several").writes, 0);
	CU_ASSERT_EQUAL(use_of(&c, "one").writes, 2);
	CU_ASSERT_EQUAL(use_of(&c, "two").writes, 1);
	case_free(&c);
}

static void a_request_of_two_files_is_divided_by_bytes(void)
{
	struct analysis_case c = with_disk();

	writes(&c, 0, 2000);
	writes(&c, 1, 2000);
	work_begins(&c);
	written_back(&c, 5300, 70);
	written_back(&c, 5400, 71);
	tb_add(c.tb, 1, 5500, block_issue, NULL, .request = 1, .dev = DISK, .bytes = 12288, .op = 1);
	has_file(&c, 5501, 1, 70, 8192);
	has_file(&c, 5502, 1, 71, 4096);
	work_ends(&c);
	tb_add(c.tb, 0, 8500, block_complete, NULL, .request = 1, .dev = DISK, .bytes = 12288, .op = 1);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "one").busy_ns, 2000);
	CU_ASSERT_EQUAL(use_of(&c, "one").written_bytes, 8192);
	CU_ASSERT_EQUAL(use_of(&c, "two").busy_ns, 1000);
	CU_ASSERT_EQUAL(use_of(&c, "two").written_bytes, 4096);
	CU_ASSERT_EQUAL(use_of(&c, "one").writes + use_of(&c, "two").writes, 2);
	case_free(&c);
}

/* One request of the worker for @ino of the disk: how many bytes of it are of "one". */
static uint64_t bytes_of_one(struct analysis_case *c, uint64_t ino)
{
	uint64_t bytes;

	work_begins(c);
	issue(c, 1, 5250, 3);
	has_file(c, 5251, 3, ino, 4096);
	written_back(c, 5300, ino);
	work_ends(c);
	complete(c, 7300, 3, 1);
	case_run(c);
	bytes = use_of(c, "one").written_bytes;
	case_free(c);
	return bytes;
}

/* Thread "one" has written to file 70 of an overlay. @event: fs_layer tells that its pages are in
 * file 981 of the disk, in an event or in the start state; else nothing does. */
static struct analysis_case with_overlay(bool event, bool start)
{
	struct trace_fs_layer layer = {.ino = 70, .dev = 38, .upper_ino = 981, .upper_dev = PART};
	struct analysis_case c = with_disk();

	if (start)
		tb_start(c.tb, 1000, TRACE_EV_fs_layer, &layer, sizeof(layer), NULL);
	tb_sys_enter(c.tb, 0, 1500, SYS_openat, 0, 0, 0);
	tb_add(c.tb, 0, 1550, fs_open, "/m/a", .fd = 5, .dev = 38, .ino = 70, .mode = S_IFREG | 0600, .flags = 1);
	if (event)
		tb_add(c.tb, 0, 1560, fs_layer, NULL, .ino = 70, .dev = 38, .upper_ino = 981, .upper_dev = PART);
	tb_sys_exit(c.tb, 0, 1600, 5);
	tb_sys_enter(c.tb, 0, 2000, SYS_write, 5, 0, 100);
	tb_sys_exit(c.tb, 0, 2050, 100);
	return c;
}

static void the_pages_of_an_overlay_are_those_of_its_upper_layer(void)
{
	struct analysis_case c = with_overlay(true, false);

	CU_ASSERT_EQUAL(bytes_of_one(&c, 981), 4096);
	c = with_overlay(false, true);
	CU_ASSERT_EQUAL(bytes_of_one(&c, 981), 4096);
	c = with_overlay(true, false); /* another file has the overlay's number on the disk */
	CU_ASSERT_EQUAL(bytes_of_one(&c, 70), 0);
	c = with_overlay(false, false);
	CU_ASSERT_EQUAL(bytes_of_one(&c, 981), 0);
}

/* The worker stops before the last page of "one", and "two" writes to the same file. */
static void pages_that_were_left_are_of_the_earlier_writer_too(void)
{
	struct analysis_case c = with_disk();

	tb_fd(c.tb, 20, 4, PART, 70, S_IFREG | 0600, "/a");
	writes(&c, 0, 2000);
	work_begins(&c);
	tb_add(c.tb, 1, 5300, fs_writeback, NULL, .ino = 70, .dev = PART, .pages = 1, .more = 1);
	issue(&c, 1, 5350, 1);
	has_file(&c, 5351, 1, 70, 4096);
	work_ends(&c);
	complete(&c, 7100, 1, 1);
	tb_sys_enter(c.tb, 1, 8100, SYS_write, 4, 0, 100);
	tb_sys_exit(c.tb, 1, 8150, 100);
	tb_switch(c.tb, 1, 8200, 20, 30, TRACE_TASK_RUNNING);
	tb_add(c.tb, 1, 8300, work_start, NULL, .work = WORK, .func = FUNC);
	issue(&c, 1, 8350, 2);
	has_file(&c, 8351, 2, 70, 4096);
	written_back(&c, 8400, 70);
	tb_add(c.tb, 1, 8500, work_end, NULL, .work = WORK);
	tb_switch(c.tb, 1, 8600, 30, 20, TRACE_TASK_INTERRUPTIBLE);
	complete(&c, 8700, 2, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "one").writes, 1);
	CU_ASSERT_EQUAL(use_of(&c, "several").writes, 1);
	CU_ASSERT_EQUAL(use_of(&c, "two").writes, 0);
	case_free(&c);
}

static void bytes_of_no_known_file_are_of_the_run(void)
{
	struct analysis_case c = with_disk();

	writes(&c, 0, 2000);
	tb_add(c.tb, 0, 2100, work_queue, NULL, .work = WORK, .func = FUNC);
	work_begins(&c);
	tb_add(c.tb, 1, 5500, block_issue, NULL, .request = 1, .dev = DISK, .bytes = 8192, .op = 1);
	has_file(&c, 5501, 1, 99, 4096);
	work_ends(&c);
	tb_add(c.tb, 0, 8500, block_complete, NULL, .request = 1, .dev = DISK, .bytes = 8192, .op = 1);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "unknown").written_bytes, 4096);
	CU_ASSERT_EQUAL(use_of(&c, "one").written_bytes, 4096);
	CU_ASSERT_EQUAL(use_of(&c, "one").busy_ns, 1500);
	case_free(&c);
}

/* A filter leaves out the interrupts in which requests end. */
static void a_recording_of_some_processes_has_no_busy_time(void)
{
	struct analysis_case c = with_disk();
	size_t nr = 1;

	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_string(c.tb, TRACE_STRING_INFO, TRACE_INFO_CHOSEN, "10");
	issue(&c, 0, 2000, 1);
	case_run(&c);
	free(trace_disk_uses(c.analysis, &nr));
	CU_ASSERT_EQUAL(nr, 0);
	case_free(&c);
}

static void a_worker_works_for_the_process_that_queued(void)
{
	struct analysis_case c = with_disk();

	tb_add(c.tb, 0, 2000, work_queue, NULL, .work = WORK, .func = FUNC);
	work_begins(&c);
	issue(&c, 1, 5100, 1);
	work_ends(&c);
	complete(&c, 7500, 1, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "one").writes, 1);
	case_free(&c);
}

static void a_file_that_no_recorded_call_wrote_is_of_unknown(void)
{
	struct analysis_case c = with_disk();

	writes(&c, 0, 2000);
	work_begins(&c);
	issue(&c, 1, 5100, 1);
	written_back(&c, 5300, 99);
	work_ends(&c);
	complete(&c, 7500, 1, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "unknown").writes, 1);
	CU_ASSERT_EQUAL(use_of(&c, "one").writes, 0);
	case_free(&c);
}

static void a_request_is_of_the_thread_that_gave_it_to_the_scheduler(void)
{
	struct analysis_case c = with_disk();

	tb_add(c.tb, 0, 2000, block_insert, NULL, .request = 1, .dev = DISK, .bytes = 4096, .op = 1);
	tb_irq(c.tb, 1, 2100, 5);
	issue(&c, 1, 2110, 1);
	tb_irq_exit(c.tb, 1, 2120, 5);
	complete(&c, 2210, 1, 1);
	tb_add(c.tb, 0, 2300, block_insert, NULL, .request = 2, .dev = DISK, .bytes = 4096, .op = 1);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "one").busy_ns, 100);
	CU_ASSERT_EQUAL(use_of(&c, "one").writes, 1);
	CU_ASSERT_EQUAL(use_of(&c, "unknown").writes, 0);
	case_free(&c);
}

static void a_request_that_never_ends_is_busy_until_the_end(void)
{
	struct analysis_case c = with_disk();

	issue(&c, 0, 2000, 1);
	case_run(&c);
	CU_ASSERT_EQUAL(use_of(&c, "one").busy_ns, use_of(&c, "one").disk_busy_ns);
	CU_ASSERT(use_of(&c, "one").busy_ns > 0);
	CU_ASSERT_EQUAL(use_of(&c, "one").writes, 0);
	case_free(&c);
}

static void a_loss_ends_the_requests_in_progress(void)
{
	struct analysis_case c = with_disk();

	issue(&c, 0, 2000, 1);
	tb_waking(c.tb, 0, 3000, 20, TRACE_CONTEXT_TASK);
	tb_lost(c.tb, 0, 5);
	complete(&c, 5000, 1, 0);
	case_run(&c);
	CU_ASSERT(use_of(&c, "one").busy_ns >= 1000 && use_of(&c, "one").busy_ns <= 1001);
	CU_ASSERT_EQUAL(use_of(&c, "unknown").reads, 1);
	case_free(&c);
}

static void a_window_has_the_busy_time_in_it(void)
{
	struct trace_analysis_options options = {.size = sizeof(options), .from_ns = 3000, .to_ns = 5000};
	struct trace_error error = {0};
	struct analysis_case c = with_disk();

	issue(&c, 0, 2000, 1);
	complete(&c, 3500, 1, 1);
	issue(&c, 1, 4800, 2);
	complete(&c, 6000, 2, 1);
	c.trace = tb_open_trace(c.tb);
	c.analysis = trace_analysis_new(c.trace, &options, &error);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(c.analysis, &error), 0);
	CU_ASSERT_EQUAL(use_of(&c, "one").busy_ns, 500);
	CU_ASSERT_EQUAL(use_of(&c, "one").writes, 1);
	CU_ASSERT_EQUAL(use_of(&c, "two").busy_ns, 200);
	CU_ASSERT_EQUAL(use_of(&c, "two").writes, 0);
	case_free(&c);
}

/* ---- while a process waits ---- */

/*
 * "one" waits for its file from 2000 to 4000. A request of "two" is in progress from 1000 to 3000,
 * that of "one" from 1950 to 4000, and "two" has the disk again when no process waits.
 */
static struct analysis_case waits_behind_two(void)
{
	struct analysis_case c = with_disk();

	issue(&c, 1, 1000, 2);
	tb_sys_enter(c.tb, 0, 1900, SYS_fsync, 3);
	issue(&c, 0, 1950, 1);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	complete(&c, 3000, 2, 1);
	tb_irq(c.tb, 0, 4000, 7);
	complete(&c, 4000, 1, 1);
	tb_waking(c.tb, 0, 4000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(c.tb, 0, 4000, 7);
	tb_switch(c.tb, 0, 4000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 0, 4100, 0);
	issue(&c, 1, 5000, 4);
	complete(&c, 9000, 4, 1);
	return c;
}

/* The ns of "two" while "one" waits, and of the disk in that time */
static void check_meanwhile(const struct analysis_case *c, uint64_t ns, uint64_t disk_ns)
{
	const struct trace_process *one = case_process(c, 10);
	struct trace_disk_use *list;
	uint64_t found = 0, sum = 0;
	bool is_known = false;
	size_t nr;

	list = trace_disk_uses_while_waiting(c->analysis, one, DISK, &is_known, &nr);
	CU_ASSERT_PTR_NOT_NULL_FATAL(list);
	CU_ASSERT_TRUE(is_known);
	for (size_t i = 0; i < nr; i++) {
		sum += list[i].busy_ns;
		found += strcmp(list[i].title, "two") == 0 ? list[i].busy_ns : 0;
		CU_ASSERT_EQUAL(list[i].disk_busy_ns, disk_ns);
	}
	CU_ASSERT_EQUAL(found, ns);
	CU_ASSERT_EQUAL(sum, disk_ns);
	free(list);
}

static void a_waiting_process_knows_who_used_the_disk_meanwhile(void)
{
	struct analysis_case c = waits_behind_two();

	case_run(&c);
	check_meanwhile(&c, 500, 2000);
	case_free(&c);
}

static void a_window_cuts_the_waits_for_a_disk(void)
{
	struct trace_analysis_options options = {.size = sizeof(options), .from_ns = 2500, .to_ns = 3200};
	struct analysis_case c = waits_behind_two();
	struct trace_error error = {0};

	c.trace = tb_open_trace(c.tb);
	c.analysis = trace_analysis_new(c.trace, &options, &error);
	CU_ASSERT_EQUAL_FATAL(trace_analysis_run(c.analysis, &error), 0);
	check_meanwhile(&c, 250, 700);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(requests_in_progress_share_the_time_of_a_disk),
		CASE(three_equal_parts_add_up_to_the_time),
		CASE(a_request_without_a_begin_or_a_process_is_of_unknown),
		CASE(writeback_is_of_the_process_that_wrote),
		CASE(requests_of_the_files_of_two_are_of_several),
		CASE(a_request_that_tells_its_file_is_of_who_wrote_to_it),
		CASE(a_request_of_two_files_is_divided_by_bytes),
		CASE(the_pages_of_an_overlay_are_those_of_its_upper_layer),
		CASE(pages_that_were_left_are_of_the_earlier_writer_too),
		CASE(bytes_of_no_known_file_are_of_the_run),
		CASE(a_recording_of_some_processes_has_no_busy_time),
		CASE(a_worker_works_for_the_process_that_queued),
		CASE(a_file_that_no_recorded_call_wrote_is_of_unknown),
		CASE(a_request_is_of_the_thread_that_gave_it_to_the_scheduler),
		CASE(a_request_that_never_ends_is_busy_until_the_end),
		CASE(a_loss_ends_the_requests_in_progress),
		CASE(a_window_has_the_busy_time_in_it),
		CASE(a_waiting_process_knows_who_used_the_disk_meanwhile),
		CASE(a_window_cuts_the_waits_for_a_disk),
		{NULL, NULL},
	};

	return unit_main("disk_sums", cases, argc, argv);
}
