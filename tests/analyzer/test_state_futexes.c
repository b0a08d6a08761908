/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_futexes.c - which words of which processes are one futex
 *
 * Threads 10 ("one"), 20 ("two") and 30 are three processes. Processes 10 and 30 have mapped file
 * /shm/x at BASE from its begin on, and 20 has it elsewhere, or another part of it. WORD is a mutex
 * in that file. Thread 20 begins to wait for it first, then 10 from 2000 on. Thread 30 releases it
 * at 3000 and wakes 20, which releases it at 6000 and wakes 10.
 */
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include "state_waits_case.h"
#include "unit.h"

#define BASE	   0x10000
#define BASE_BYTES 0x10000
#define WORD	   0x3010 /* offset in the file */
#define DEV	   8
#define INO	   77
#define CONDITION  0x7700
#define NOT_KNOWN  0x999000 /* no event tells what is there */

static void start_map(struct analysis_case *c, uint32_t tgid, struct trace_start_map map, const char *path)
{
	map.tgid = tgid;
	map.dev = DEV;
	map.ino = INO;
	tb_start(c->tb, 1000, TRACE_EV_start_map, &map, sizeof(map), path);
}

static void map_at_base(struct analysis_case *c, uint32_t tgid, const char *path)
{
	start_map(c, tgid, (struct trace_start_map){.start = BASE, .end = BASE + BASE_BYTES}, path);
}

static struct analysis_case futexes_begin(void)
{
	struct analysis_case c = case_new();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_mremap, "mremap");
	tb_string(c.tb, TRACE_STRING_SYSCALL_32, 192, "mmap2");
	tb_thread(c.tb, 10, 10, 1, "one", 0, false);
	tb_thread(c.tb, 20, 20, 1, "two", 0, true);
	tb_thread(c.tb, 30, 30, 10, "thirty", 1, true);
	tb_thread(c.tb, 11, 10, 1, "eleven", 1, false);
	tb_fd(c.tb, 20, 3, DEV, INO, S_IFREG | 0600, "/shm/x");
	map_at_base(&c, 10, "/shm/x");
	map_at_base(&c, 30, "/shm/x");
	return c;
}

static void by_call(struct analysis_case *c, const uint64_t *call, uint64_t ret)
{
	tb_sys_enter_args(c->tb, 0, 1050, (uint32_t)call[0], call + 1, 6);
	tb_sys_exit(c->tb, 0, 1060, (int64_t)ret);
}

static void calls_futex(struct analysis_case *c, uint32_t cpu, uint64_t ns, uint64_t address, uint64_t operation,
			uint64_t value)
{
	tb_sys_enter(c->tb, cpu, ns, SYS_futex, address, operation, value, 0, 0, 0);
}

/* Thread 20 is in its call. The wakers act at unknown places: the waits show which futex it is. */
static void two_waits(struct analysis_case *c, uint64_t of_one, bool is_one)
{
	tb_switch(c->tb, 0, 1500, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	calls_futex(c, 0, 1600, of_one, FUTEX_WAIT, 2);
	tb_switch(c->tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	calls_futex(c, 1, 3000, NOT_KNOWN, FUTEX_WAKE, 1);
	tb_waking(c->tb, 1, 3000, 20, TRACE_CONTEXT_TASK);
	tb_sys_exit(c->tb, 1, 3050, 1);
	tb_switch(c->tb, 0, 3100, 0, 20, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, 3200, 0);
	calls_futex(c, 0, 6000, NOT_KNOWN, FUTEX_WAKE, 1);
	tb_waking(c->tb, 0, 6000, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(c->tb, 0, 6050, 1);
	tb_switch(c->tb, 0, 6100, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(c->tb, 0, 6200, 0);
	case_run(c);
	CU_ASSERT_EQUAL(case_wait(c->one, TRACE_WAIT_PROCESS, "two", 20, "futex"), is_one ? 3000 : 4000);
	if (is_one)
		CU_ASSERT_EQUAL(case_wait(c->one, TRACE_WAIT_PROCESS, "thirty", 30, "futex"), 1000);
	case_free(c);
}

/* @address: at which 20 waits, @of_one: 10 */
static void expect_one_mutex(struct analysis_case *c, uint64_t address, uint64_t of_one, bool is_one)
{
	calls_futex(c, 0, 1400, address, FUTEX_WAIT, 2);
	two_waits(c, of_one, is_one);
}

static void a_word_of_a_file_is_one_futex_wherever_it_is_mapped(void)
{
	static const struct {
		struct trace_start_map map;
		uint64_t address;
		bool is_one;
	} maps[] = {
		{{.start = 0x50000, .end = 0x60000}, 0x50000 + WORD, true},
		{{.start = 0x50000, .end = 0x60000, .offset = 0x2000}, 0x51010, true},
		{{.start = 0x50000, .end = 0x60000, .offset = 0x2000}, 0x50000 + WORD, false},
		{{.start = BASE, .end = 0x20000, .prot = 3 | TRACE_MAP_PRIVATE}, BASE + WORD, false},
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct analysis_case c = futexes_begin();

		start_map(&c, 20, maps[i].map, "/shm/x");
		expect_one_mutex(&c, maps[i].address, BASE + WORD, maps[i].is_one);
	}
}

static void a_word_of_a_file_is_one_futex_by_each_of_its_paths(void)
{
	struct analysis_case c = futexes_begin();

	map_at_base(&c, 20, "/shm/y");
	expect_one_mutex(&c, BASE + WORD, BASE + WORD, true);
}

/* Opens were not recorded, so only the path is known. */
static void files_without_a_known_inode_are_told_apart_by_their_paths(void)
{
	static const char *const paths[] = {"/shm/y", "/shm/z"};

	for (size_t i = 0; i < 2; i++) {
		struct trace_start_map map = {.start = 0x50000, .end = 0x60000};
		struct analysis_case c = futexes_begin();

		map.tgid = 10;
		tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), paths[0]);
		map.tgid = 20;
		tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), paths[i]);
		expect_one_mutex(&c, 0x50000 + WORD, 0x50000 + WORD, i == 0);
	}
}

/* The recorder reads a mapping of 20 at 1300. It exists since 20 has executed the program. */
static void a_mapping_that_was_read_later_has_its_offset(void)
{
	for (int is_private = 0; is_private < 2; is_private++) {
		struct trace_start_map map = {.tgid = 20,
					      .dev = DEV,
					      .ino = INO,
					      .start = 0x50000,
					      .end = 0x60000,
					      .offset = 0x2000,
					      .prot = is_private ? TRACE_MAP_PRIVATE : 0};
		struct analysis_case c = futexes_begin();

		tb_start(c.tb, 1300, TRACE_EV_start_map, &map, sizeof(map), "/shm/x");
		tb_exec(c.tb, 0, 1050, 20, "/program");
		expect_one_mutex(&c, 0x51010, BASE + WORD, !is_private);
	}
}

/* Process 20 has the file at BASE, too, and changes that. */
static void a_word_of_a_file_is_one_futex_after_its_mapping_changed(void)
{
	static const struct {
		uint64_t call[7], ret;
		uint64_t address;
		bool is_one;
	} calls[] = {
		/* another mapping of the file, from an offset on, shorter than a page */
		{{SYS_mmap, 0, 8, 3, MAP_SHARED, 3, 0x3000}, 0x70000, 0x70010, true},
		{{SYS_mmap, 0, 8, 3, MAP_PRIVATE, 3, 0x3000}, 0x70000, 0x70010, false},
		{{SYS_mmap, 0, 0x8000, 3, MAP_SHARED_VALIDATE, 3, 0x1000}, 0x70000, 0x72010, true},
		/* its head is removed, or something else is mapped there */
		{{SYS_munmap, BASE, 0x2008}, 0, BASE + WORD, true},
		{{SYS_mmap, BASE, 0x2000, 3, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1}, BASE, BASE + WORD, true},
		{{SYS_mmap, BASE, 0x2000, 3, MAP_FIXED | MAP_SHARED, 3, 0x3000}, BASE, BASE + 0x10, true},
		{{SYS_mmap, BASE, 0x2000, 3, MAP_FIXED | MAP_SHARED, 3, 0x3000}, BASE, BASE + WORD, true},
		{{SYS_munmap, BASE + 0x2000, 0x2000}, 0, BASE + WORD, false},
		/* it grows where it is; its end is moved, or doubled */
		{{SYS_mremap, BASE, BASE_BYTES, 0x20000, MREMAP_MAYMOVE}, BASE, BASE + WORD, true},
		{{SYS_mremap, BASE + 0x2000, 0x3000, 0x8000, MREMAP_MAYMOVE}, 0x90000, 0x91010, true},
		{{SYS_mremap, BASE + 0x4000, 0x3000, 0x8000, MREMAP_MAYMOVE}, 0x90000, BASE + WORD, true},
		{{SYS_mremap, BASE + 0x2000, 0x3000, 0x8000, MREMAP_MAYMOVE}, 0x90000, BASE + WORD, false},
		{{SYS_mremap, BASE, 0, BASE_BYTES, MREMAP_MAYMOVE}, 0x90000, BASE + WORD, true},
		{{SYS_mremap, BASE, 0, BASE_BYTES, MREMAP_MAYMOVE}, 0x90000, 0x90000 + WORD, true},
		{{SYS_mremap, BASE, BASE_BYTES, BASE_BYTES, MREMAP_MAYMOVE | 4 /* DONTUNMAP */},
		 0x90000,
		 BASE + WORD,
		 true},
		/* a private mapping of it is moved */
		{{SYS_mremap, 0x40000, 0x8000, 0x8000, MREMAP_MAYMOVE}, 0x90000, 0x90000 + WORD, false},
		/* private memory is moved onto it, or grows */
		{{SYS_mremap, 0x80000, 0x4000, 0x4000, MREMAP_MAYMOVE | MREMAP_FIXED, BASE}, BASE, BASE + WORD, false},
		{{SYS_mremap, 0x8000, 0x4000, 0x5000, MREMAP_MAYMOVE}, BASE, BASE + WORD, true},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct analysis_case c = futexes_begin();

		map_at_base(&c, 20, "/shm/x");
		start_map(&c, 20,
			  (struct trace_start_map){.start = 0x40000, .end = 0x48000, .prot = 3 | TRACE_MAP_PRIVATE},
			  "/shm/x");
		by_call(&c, calls[i].call, calls[i].ret);
		expect_one_mutex(&c, calls[i].address, BASE + WORD, calls[i].is_one);
	}
}

/* The offset of mmap2() is in pages of 4096 bytes. */
static void a_32_bit_program_maps_from_a_page_on(void)
{
	struct trace_sys_enter6 enter = {
		.nr = 192, .abi = TRACE_ABI_32, .arg1 = 0x4000, .arg2 = 3, .arg3 = MAP_SHARED, .arg4 = 3, .arg5 = 2};
	struct analysis_case c = futexes_begin();

	tb_event(c.tb, 0, 1050, TRACE_EV_sys_enter6, &enter, sizeof(enter), NULL);
	tb_sys_exit(c.tb, 0, 1060, 0x70000);
	expect_one_mutex(&c, 0x71010, BASE + WORD, true);
}

static void a_32_bit_program_waits_with_64_bit_times(void)
{
	struct trace_sys_enter6 enter = {
		.nr = 422, .abi = TRACE_ABI_32, .arg0 = BASE + WORD, .arg1 = FUTEX_WAIT, .arg2 = 2};
	struct analysis_case c = futexes_begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL_32, 422, "futex_time64");
	map_at_base(&c, 20, "/shm/x");
	tb_event(c.tb, 0, 1400, TRACE_EV_sys_enter6, &enter, sizeof(enter), NULL);
	two_waits(&c, BASE + WORD, true);
}

/* The old mmap() has its arguments in memory: it may have mapped a file that others have, too. */
static void the_old_mmap_may_have_mapped_shared_memory(void)
{
	static const struct {
		uint32_t nr;
		const char *name, *target;
		uint32_t pid;
	} calls[] = {{90, "mmap", "unknown", 0}, {91, "munmap", "one", 10}};

	for (size_t i = 0; i < 2; i++) {
		struct trace_sys_enter3 enter = {.nr = calls[i].nr, .abi = TRACE_ABI_32, .arg0 = 1};
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL_32, calls[i].nr, calls[i].name);
		tb_event(c.tb, 0, 1050, TRACE_EV_sys_enter3, &enter, sizeof(enter), NULL);
		tb_sys_exit(c.tb, 0, 1060, 0x70000);
		tb_sys_enter(c.tb, 0, 2000, SYS_futex, 0x70000 + WORD, FUTEX_WAIT, 0);
		until_the_end(&c);
		expect(&c, TRACE_WAIT_PROCESS, calls[i].target, calls[i].pid, "futex");
	}
}

/* ---- requeues ---- */

/*
 * Thread 10 waits for a condition in its own memory. Its thread 11 moves it to WORD at 3000.
 * Process 30 ends the wait there at 6000, by a call or by its end, if the mutex is a robust one.
 */
static struct analysis_case moved_by(uint64_t from, uint64_t to,
				     void (*move)(struct analysis_case *, uint64_t, uint64_t))
{
	struct analysis_case c = futexes_begin();

	tb_switch(c.tb, 0, 1500, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	calls_futex(&c, 0, 1600, from, FUTEX_WAIT, 7);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 2500, 30, 11, TRACE_TASK_RUNNING);
	move(&c, from, to);
	tb_switch(c.tb, 1, 4000, 11, 30, TRACE_TASK_INTERRUPTIBLE);
	return c;
}

static void by_futex(struct analysis_case *c, uint64_t from, uint64_t to)
{
	tb_sys_enter(c->tb, 1, 3000, SYS_futex, from, FUTEX_CMP_REQUEUE, 0, 1, to, 7);
	tb_sys_exit(c->tb, 1, 3050, 1);
}

#define NR_FUTEX_REQUEUE 456 /* SYS_futex_requeue of Linux 6.7 */

static void by_futex_requeue(struct analysis_case *c, uint64_t from, uint64_t to)
{
	tb_string(c->tb, TRACE_STRING_SYSCALL, NR_FUTEX_REQUEUE, "futex_requeue");
	tb_sys_enter(c->tb, 1, 3000, NR_FUTEX_REQUEUE, TRACE_ARG_ADDRESS, 0, 0, 1);
	tb_add(c->tb, 1, 3040, futex_moved, NULL, .from = from, .to = to, .from_flags = 2, .to_flags = 2);
	tb_sys_exit(c->tb, 1, 3050, 1);
}

static struct analysis_case moved_begin(uint64_t from, uint64_t to)
{
	return moved_by(from, to, by_futex);
}

static void moved_end(struct analysis_case *c)
{
	tb_switch(c->tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, 6200, 0);
	case_run(c);
}

static void another_process_may_release_what_a_waiter_was_moved_to(void)
{
	static void (*const moves[])(struct analysis_case *, uint64_t, uint64_t) = {by_futex, by_futex_requeue};

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		struct analysis_case c = moved_by(CONDITION, BASE + WORD, moves[i]);

		calls_futex(&c, 1, 6000, BASE + WORD, FUTEX_WAKE, 1);
		tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
		tb_sys_exit(c.tb, 1, 6010, 1);
		moved_end(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "one", 10, "futex"), 1000);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "thirty", 30, "futex"), 3000);
		case_free(&c);
	}
}

/* It releases its locks before it tells its parent, 10, that it ends. */
static void the_end_of_a_process_releases_what_a_waiter_was_moved_to(void)
{
	static const uint64_t to[] = {BASE + WORD, CONDITION + 8};

	for (size_t i = 0; i < 2; i++) {
		struct analysis_case c = moved_begin(CONDITION, to[i]);

		tb_exit(c.tb, 1, 5900, 30, 30, true);
		tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
		tb_add(c.tb, 1, 6010, signal_generate, NULL, .tid = 10, .signal = SIGCHLD, .group = 1, .code = 1);
		tb_switch(c.tb, 1, 6020, 30, 0, TRACE_TASK_DEAD);
		moved_end(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "one", 10, "futex"), i ? 4000 : 1000);
		if (i == 0)
			CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "thirty", 30, "futex"), 3000);
		case_free(&c);
	}
}

/* A process that ends has other memory than that of a private mapping, so its signal woke. */
static void the_end_of_a_process_releases_nothing_in_a_private_mapping(void)
{
	for (int is_private = 0; is_private < 2; is_private++) {
		struct trace_start_map map = {.start = 0x40000,
					      .end = 0x48000,
					      .prot = 3 | (is_private ? TRACE_MAP_PRIVATE : 0)};
		struct analysis_case c = futexes_begin();

		start_map(&c, 10, map, "/shm/x");
		tb_switch(c.tb, 0, 1500, 20, 10, TRACE_TASK_INTERRUPTIBLE);
		calls_futex(&c, 0, 1600, 0x40000 + WORD, FUTEX_WAIT, 7);
		tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_exit(c.tb, 1, 5900, 30, 30, true);
		tb_waking(c.tb, 1, 6000, 10, TRACE_CONTEXT_TASK);
		tb_add(c.tb, 1, 6010, signal_generate, NULL, .tid = 10, .signal = SIGCHLD, .group = 1, .code = 1);
		tb_switch(c.tb, 1, 6020, 30, 0, TRACE_TASK_DEAD);
		moved_end(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, is_private ? "one" : "thirty",
					  is_private ? 10 : 30, "futex"),
				4000);
		case_free(&c);
	}
}

/* Process 10 forks while its thread 11 moves the mapping: the child may have it here or there. */
static void memory_that_is_moved_during_a_fork_is_not_known(void)
{
	for (int is_private = 0; is_private < 2; is_private++) {
		struct trace_start_map map = {.start = 0x40000,
					      .end = 0x48000,
					      .prot = 3 | (is_private ? TRACE_MAP_PRIVATE : 0)};
		struct analysis_case c = futexes_begin();

		start_map(&c, 10, map, "/shm/x");
		tb_switch(c.tb, 0, 1200, 20, 10, TRACE_TASK_RUNNING);
		tb_switch(c.tb, 1, 1200, 30, 11, TRACE_TASK_RUNNING);
		tb_sys_enter(c.tb, 1, 1300, SYS_mremap, 0x40000, 0x8000, 0x8000, MREMAP_MAYMOVE, 0, 0);
		tb_sys_enter(c.tb, 0, 1400, SYS_fork);
		tb_fork(c.tb, 0, 1500, 10, 40, 40, "child");
		tb_sys_exit(c.tb, 0, 1510, 40);
		tb_sys_exit(c.tb, 1, 1600, 0x90000);
		tb_switch(c.tb, 0, 1700, 10, 40, TRACE_TASK_INTERRUPTIBLE);
		calls_futex(&c, 0, 1900, 0x90000 + WORD, FUTEX_WAIT, 7);
		tb_switch(c.tb, 0, 2000, 40, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_switch(c.tb, 1, 9000, 11, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		trace_figures_free(c.one);
		c.one = trace_process_figures(c.analysis, case_process(&c, 40));
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, is_private ? "child" : "unknown",
					  is_private ? 40 : 0, "futex"),
				7000);
		case_free(&c);
	}
}

/* Without a waker: at the end of the recording the call has the first futex only. */
static void a_moved_wait_until_the_end_may_be_for_another_process(void)
{
	static const struct {
		uint64_t from, to;
		const char *name;
		uint32_t pid;
	} moves[] = {
		{CONDITION, BASE + WORD, "unknown", 0},
		{CONDITION, CONDITION + 8, "one", 10},
		{BASE + WORD, BASE + WORD + 8, "thirty", 30},
		{BASE + WORD, CONDITION, "unknown", 0},
	};

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		struct analysis_case c = moved_begin(moves[i].from, moves[i].to);

		tb_switch(c.tb, 1, 9000, 30, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, moves[i].name, moves[i].pid, "futex"), 7000);
		case_free(&c);
	}
}

/* Thread 11 moved other waiters, before 10 began to wait. */
static void a_wait_after_a_move_is_for_its_own_futex(void)
{
	struct analysis_case c = futexes_begin();

	tb_switch(c.tb, 1, 1100, 30, 11, TRACE_TASK_RUNNING);
	tb_sys_enter(c.tb, 1, 1200, SYS_futex, CONDITION, FUTEX_CMP_REQUEUE, 0, 1, BASE + WORD, 7);
	tb_sys_exit(c.tb, 1, 1250, 1);
	tb_switch(c.tb, 1, 1300, 11, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 0, 1500, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	calls_futex(&c, 0, 1600, CONDITION, FUTEX_WAIT, 7);
	tb_switch(c.tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 1, 9000, 30, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "one", 10, "futex"), 7000);
	case_free(&c);
}

/* A word that only this process sees: another process that has the file cannot wake it. */
static void a_futex_in_a_private_mapping_is_the_own_process(void)
{
	for (int is_private = 0; is_private < 2; is_private++) {
		struct analysis_case c = begin();

		start_map(&c, 10,
			  (struct trace_start_map){
				  .start = BASE, .end = BASE + 0x4000, .prot = is_private ? TRACE_MAP_PRIVATE : 0},
			  "/program");
		map_at_base(&c, 20, "/program");
		tb_sys_enter(c.tb, 0, 2000, SYS_futex, BASE + WORD, FUTEX_WAIT, 0);
		until_the_end(&c);
		expect(&c, TRACE_WAIT_PROCESS, is_private ? "one" : "two", is_private ? 10 : 20, "futex");
	}
	for (int is_private = 0; is_private < 2; is_private++) {
		struct analysis_case c = begin();

		map_at_base(&c, 10, "/program");
		start_map(&c, 20,
			  (struct trace_start_map){
				  .start = BASE, .end = BASE + 0x4000, .prot = is_private ? TRACE_MAP_PRIVATE : 0},
			  "/program");
		tb_sys_enter(c.tb, 0, 2000, SYS_futex, BASE + WORD, FUTEX_WAIT, 0);
		until_the_end(&c);
		expect(&c, TRACE_WAIT_PROCESS, is_private ? "unknown" : "two", is_private ? 0 : 20, "futex");
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_word_of_a_file_is_one_futex_wherever_it_is_mapped),
		CASE(a_word_of_a_file_is_one_futex_by_each_of_its_paths),
		CASE(files_without_a_known_inode_are_told_apart_by_their_paths),
		CASE(a_mapping_that_was_read_later_has_its_offset),
		CASE(a_word_of_a_file_is_one_futex_after_its_mapping_changed),
		CASE(a_32_bit_program_maps_from_a_page_on),
		CASE(a_32_bit_program_waits_with_64_bit_times),
		CASE(the_old_mmap_may_have_mapped_shared_memory),
		CASE(another_process_may_release_what_a_waiter_was_moved_to),
		CASE(the_end_of_a_process_releases_what_a_waiter_was_moved_to),
		CASE(the_end_of_a_process_releases_nothing_in_a_private_mapping),
		CASE(memory_that_is_moved_during_a_fork_is_not_known),
		CASE(a_moved_wait_until_the_end_may_be_for_another_process),
		CASE(a_wait_after_a_move_is_for_its_own_futex),
		CASE(a_futex_in_a_private_mapping_is_the_own_process),
		{NULL, NULL},
	};

	return unit_main("futexes", cases, argc, argv);
}
