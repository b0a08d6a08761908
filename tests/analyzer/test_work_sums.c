/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_work_sums.c - deferred work of the kernel is for the process that queued it, or that wrote
 * to the files that are written back.
 *
 * Process 10 ("one") runs on CPU 0, 20 ("two") on CPU 1; the kernel's worker 30 runs on CPU 1 from
 * 4000 to 8000.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "analysis_case.h"
#include "unit.h"

#define WORK 0xffff888800001000u
#define FUNC 0xffffffff81001000u
#define DISK 0x00800001u

static struct analysis_case with_worker(void)
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
	tb_string(c.tb, TRACE_STRING_DEVICE, DISK, "vda1");
	tb_thread(c.tb, 10, 10, 1, "one", 0, true);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	tb_start(c.tb, 1000, TRACE_EV_start_thread, &worker, sizeof(worker), "kworker/u4:1");
	tb_fd(c.tb, 10, 3, DISK, 70, S_IFREG | 0600, "/a");
	tb_fd(c.tb, 20, 3, DISK, 70, S_IFREG | 0600, "/a");
	tb_fd(c.tb, 20, 4, DISK, 71, S_IFREG | 0600, "/b");
	return c;
}

static void writes(struct analysis_case *c, uint32_t cpu, uint64_t ns, int fd)
{
	tb_sys_enter(c->tb, cpu, ns, SYS_write, (uint64_t)fd, 0, 100);
	tb_sys_exit(c->tb, cpu, ns + 50, 100);
}

static void written_back(struct analysis_case *c, uint64_t ns, uint64_t ino, uint32_t pages)
{
	tb_add(c->tb, 1, ns, fs_writeback, NULL, .ino = ino, .dev = DISK, .pages = pages);
}

/* The worker executes the work from 5000 to 7000. */
static void work_runs(struct analysis_case *c)
{
	tb_waking(c->tb, 1, 3900, 30, TRACE_CONTEXT_TASK);
	tb_switch(c->tb, 1, 4000, 20, 30, TRACE_TASK_RUNNING);
	tb_add(c->tb, 1, 5000, work_start, NULL, .work = WORK, .func = FUNC);
	tb_add(c->tb, 1, 7000, work_end, NULL, .work = WORK);
	tb_switch(c->tb, 1, 8000, 30, 20, TRACE_TASK_INTERRUPTIBLE);
	case_run(c);
}

static struct trace_deferred_work work_for(const struct analysis_case *c, uint32_t pid, const char *comm,
					   const char *device)
{
	struct trace_deferred_work found = {0}, *list;
	size_t nr;

	list = trace_deferred_works(c->analysis, &nr);
	for (size_t i = 0; i < nr; i++)
		if (list[i].pid == pid && strcmp(list[i].comm, comm) == 0 && strcmp(list[i].device, device) == 0)
			found = list[i];
	free(list);
	return found;
}

static void work_is_for_the_process_that_queued_it(void)
{
	struct analysis_case c = with_worker();

	tb_add(c.tb, 0, 2000, work_queue, NULL, .work = WORK, .func = FUNC);
	work_runs(&c);
	CU_ASSERT_EQUAL(work_for(&c, 10, "one", "").cpu_ns, 2000);
	CU_ASSERT_EQUAL(work_for(&c, 10, "one", "").runs, 1);
	CU_ASSERT_STRING_EQUAL(work_for(&c, 10, "one", "").work, "wb_workfn");
	case_free(&c);
}

static void work_of_an_interrupt_is_for_no_process(void)
{
	struct analysis_case c = with_worker();

	tb_softirq(c.tb, 0, 2000, 1);
	tb_add(c.tb, 0, 2100, work_queue, NULL, .work = WORK, .func = FUNC);
	tb_softirq_exit(c.tb, 0, 2200, 1);
	work_runs(&c);
	CU_ASSERT_EQUAL(work_for(&c, 0, "", "").cpu_ns, 2000);
	case_free(&c);
}

static void writeback_is_for_the_writers_of_the_files(void)
{
	struct analysis_case c = with_worker();

	writes(&c, 0, 2000, 3);
	writes(&c, 1, 2500, 4);
	written_back(&c, 5300, 70, 2);
	written_back(&c, 5900, 71, 1);
	written_back(&c, 6000, 72, 5); /* no call wrote to it */
	work_runs(&c);
	CU_ASSERT_EQUAL(work_for(&c, 10, "one", "vda1").cpu_ns, 300);
	CU_ASSERT_EQUAL(work_for(&c, 10, "one", "vda1").written_bytes, 8192);
	CU_ASSERT_EQUAL(work_for(&c, 10, "one", "vda1").files, 1);
	CU_ASSERT_EQUAL(work_for(&c, 20, "two", "vda1").cpu_ns, 600);
	CU_ASSERT_EQUAL(work_for(&c, 0, "unknown", "vda1").cpu_ns, 100);
	CU_ASSERT_EQUAL(work_for(&c, 0, "", "").cpu_ns, 1000);
	case_free(&c);
}

static void two_writers_are_several_until_the_next_writeback(void)
{
	struct analysis_case c = with_worker();

	writes(&c, 0, 2000, 3);
	writes(&c, 1, 2500, 3);
	written_back(&c, 5300, 70, 2);
	writes(&c, 0, 5400, 3);
	written_back(&c, 5900, 70, 1);
	work_runs(&c);
	CU_ASSERT_EQUAL(work_for(&c, 0, "several", "vda1").cpu_ns, 300);
	CU_ASSERT_EQUAL(work_for(&c, 10, "one", "vda1").cpu_ns, 600);
	case_free(&c);
}

/* Writing to mapped memory has no event. */
static void a_process_that_has_the_file_mapped_may_have_written(void)
{
	struct analysis_case c = with_worker();

	tb_sys_enter(c.tb, 1, 1500, SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
	tb_sys_exit(c.tb, 1, 1600, 0x5000);
	writes(&c, 0, 2000, 3);
	written_back(&c, 5300, 70, 2);
	written_back(&c, 5900, 70, 1);
	work_runs(&c);
	CU_ASSERT_EQUAL(work_for(&c, 0, "several", "vda1").cpu_ns, 300);
	CU_ASSERT_EQUAL(work_for(&c, 20, "two", "vda1").cpu_ns, 600);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(work_is_for_the_process_that_queued_it),
		CASE(work_of_an_interrupt_is_for_no_process),
		CASE(writeback_is_for_the_writers_of_the_files),
		CASE(two_writers_are_several_until_the_next_writeback),
		CASE(a_process_that_has_the_file_mapped_may_have_written),
		{NULL, NULL},
	};

	return unit_main("deferred work", cases, argc, argv);
}
