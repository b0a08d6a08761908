/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_samples.c - page_samples FILE: writes a trace of 20 us of a program with samples, for the
 * tests of the functions and lanes of the page
 *
 * Thread 10 runs from 1 to 8 us: 7 samples have 1000 ns each, in f, f below f, g below f twice, h,
 * h below g, and in code without a name. Then it waits 1.5 us, until thread 11 wakes it in h
 * below g, and 0.5 us for a CPU, and runs for 9 us without samples. A wakeup before that one, and
 * that of thread 11 itself, have other stacks. Thread 11 runs from 1 to 19 us, with 4 samples in g.
 */
#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "sample_case.h"

#define CODE	0xffffffff81000000ull
#define START	(CODE + 0x010) /* ret_from_fork_asm */
#define F	(CODE + 0x110)
#define G	(CODE + 0x210)
#define H	(CODE + 0x310)
#define NOWHERE 0x1234567ull

static void add_names(struct tb *tb)
{
	static const char *const names[] = {"ret_from_fork_asm", "f", "g", "h"};

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%llx 256 %s", CODE + 0x100 * i, names[i]);
		tb_string(tb, TRACE_STRING_KERNEL_CODE, i, text);
	}
}

/* Each stack innermost first */
static void add_samples(struct tb *tb, uint32_t cpu, uint32_t tid, const uint64_t (*stacks)[MAX_LIST], size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct lists lists = {0};

		for (; lists.nr_kernel + 1 < MAX_LIST && stacks[i][lists.nr_kernel + 1]; lists.nr_kernel++)
			lists.kernel[lists.nr_kernel] = stacks[i][lists.nr_kernel + 1];
		add_sample(tb, cpu, 2500 + 1000 * i, tid, stacks[i][0], &lists);
	}
}

/* Thread 11 wakes thread @woken at @ts_ns. */
static void add_waker(struct tb *tb, uint64_t ts_ns, uint32_t woken, uint64_t ip, uint64_t caller)
{
	const struct lists lists = {.source = 3, .kernel = {caller, START, woken}, .nr_kernel = 3};

	add_sample(tb, 1, ts_ns, 11, ip, &lists);
}

int main(int argc, char **argv)
{
	static const uint64_t one[7][MAX_LIST] = {
		{F, START}, {F, F, START}, {G, F, F, START}, {G, F, G, F, START}, {H, START}, {H, G, START}, {NOWHERE},
	};
	static const uint64_t two[4][MAX_LIST] = {{G, START}, {G, START}, {G, START}, {G, START}};
	const struct lists wait = {.source = 1, .certain = 1, .kernel = {START}, .nr_kernel = 1};
	struct tb *tb = tb_new();
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd < 0) {
		fprintf(stderr, "usage: page_samples FILE\n");
		return 2;
	}
	add_names(tb);
	tb_thread(tb, 10, 10, 1, "shop", 0, false);
	tb_thread(tb, 11, 10, 1, "worker", 0, false);
	tb_switch(tb, 0, 2000, 0, 10, 0);
	tb_switch(tb, 1, 2000, 0, 11, 0);
	add_samples(tb, 0, 10, one, 7);
	add_samples(tb, 1, 11, two, 4);
	tb_switch(tb, 0, 9000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	add_waker(tb, 10400, 10, F, F);
	tb_waking(tb, 1, 10500, 10, TRACE_CONTEXT_TASK);
	add_waker(tb, 10501, 11, F, G);
	add_waker(tb, 10502, 10, H, G);
	tb_switch(tb, 0, 11000, 0, 10, 0);
	add_sample(tb, 0, 11001, 10, F, &wait);
	tb_switch(tb, 1, 20000, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, 20000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_write(tb, fd, true);
	tb_free(tb);
	return close(fd) ? 1 : 0;
}
