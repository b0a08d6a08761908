/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * trace_profil() and trace_sprofil(), against the process's own clocks and the C library's
 * profil().
 */
#include "unit.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/profil.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <trace/profil.h>
#include <unistd.h>
#include "profil_cells.h"
#include "profil_roots.h"

#define MS     1000000ull
#define S      1000000000ull
#define THREAD 4

/* Functions in sections of their own, whose ends the linker knows, without calls of a sanitizer */
#define ALONE(name) __attribute__((noinline, section(#name), no_sanitize("address", "thread", "undefined")))
extern char __start_burn_a[], __stop_burn_a[], __start_burn_b[], __stop_burn_b[];

static ALONE(burn_a) void loop_a(unsigned long turns)
{
	volatile unsigned long sum = 0;

	while (turns--)
		sum = sum + turns;
}

static ALONE(burn_b) void loop_b(unsigned long turns)
{
	volatile unsigned long sum = 0;

	while (turns--)
		sum = sum + turns;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * S + (uint64_t)time.tv_nsec;
}

/* So many ns of the thread's CPU time; a tenth of a ms at a time is in the loop. */
static void burn(void (*loop)(unsigned long), uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		loop(50000);
}

static void *burn_in_thread(void *ns)
{
	burn(loop_a, *(uint64_t *)ns);
	return NULL;
}

/** struct counts - the cells of one profile: of the two loops, and of all else */
struct counts {
	uint32_t a[1024], b[1024], outside;
};

static uint64_t sum(const uint32_t *cells, size_t nr)
{
	uint64_t all = 0;

	for (size_t i = 0; i < nr; i++)
		all += cells[i];
	return all;
}

static uint64_t sum_of_all(const struct counts *counts)
{
	return sum(counts->a, 1024) + sum(counts->b, 1024) + counts->outside;
}

/* Time that the host of a virtual machine took from its CPUs: ticks have it, CPU time has not */
static uint64_t stolen_ns(void)
{
	FILE *file = fopen("/proc/stat", "r");
	unsigned long long ticks = 0;

	if (!file || fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1)
		ticks = 0;
	if (file)
		fclose(file);
	return ticks * S / (uint64_t)sysconf(_SC_CLK_TCK);
}

/*
 * A thread that leaves its CPU takes the rest of its period along, and the kernel makes less than
 * 10 us of that 10 us: each switch may cost a part of a tick.
 */
static uint64_t switches_before;

static uint64_t nr_switches(void)
{
	struct rusage usage;

	CU_ASSERT_EQUAL_FATAL(getrusage(RUSAGE_SELF, &usage), 0);
	return (uint64_t)(usage.ru_nivcsw + usage.ru_nvcsw);
}

static int begin(struct counts *counts, uint64_t period_ns)
{
	struct trace_prof regions[] = {{counts->a, sizeof(counts->a), (size_t)__start_burn_a, 0x10000},
				       {counts->b, sizeof(counts->b), (size_t)__start_burn_b, 0x10000},
				       {&counts->outside, sizeof(counts->outside), 0, 2}};

	memset(counts, 0, sizeof(*counts));
	switches_before = nr_switches();
	CU_ASSERT_EQUAL_FATAL(trace_profil_set_period(period_ns), 0);
	return trace_sprofil(regions, 3, NULL, TRACE_PROF_UINT);
}

static struct trace_profil_status end(void)
{
	struct trace_profil_status status;

	CU_ASSERT_EQUAL(trace_sprofil(NULL, 0, NULL, 0), 0);
	trace_profil_status(&status, sizeof(status));
	CU_ASSERT_FALSE(status.is_on);
	return status;
}

/* All of the CPU time is in ticks, but for @loose of them. */
static void expect_all(const struct counts *counts, const struct trace_profil_status *status, uint64_t loose)
{
	uint64_t expected = status->cpu_ns / status->period_ns, got = status->ticks + status->lost;

	loose += nr_switches() - switches_before;
	CU_ASSERT_EQUAL(sum_of_all(counts), status->ticks);
	CU_ASSERT_EQUAL(status->outside, 0);
	CU_ASSERT_EQUAL(status->full, 0);
	CU_ASSERT(got + loose >= expected && got <= expected + loose);
	if (got + loose < expected || got > expected + loose)
		printf("%llu ticks of %llu\n", (unsigned long long)got, (unsigned long long)expected);
}

/* ---- cells ---- */

static struct profil_cells one_region(void *cells, size_t bytes, uintptr_t begin, unsigned long scale,
				      unsigned int cell_bytes)
{
	struct trace_prof region = {cells, bytes, begin, scale};
	struct profil_cells made;

	profil_cells_set(&made, &region, 1, cell_bytes);
	return made;
}

static void scales_choose_the_cell(void)
{
	/* the number of the cell of 0x1000 + @distance, with cells of @bytes */
	static const struct {
		unsigned long scale, distance, number;
		unsigned int bytes;
	} rows[] = {
		{0x10000, 0, 0, 2}, {0x10000, 1, 0, 2}, {0x10000, 2, 1, 2}, {0x10000, 3, 1, 2}, {0x8000, 3, 0, 2},
		{0x8000, 4, 1, 2},  {0x8000, 7, 1, 2},	{0x4000, 8, 1, 2},  {0x10000, 3, 0, 4}, {0x10000, 4, 1, 4},
		{0x8000, 8, 1, 4},  {0x10000, 8, 1, 8}, {0x8000, 16, 1, 8}, {2, 0, 0, 2},	{2, 1ul << 40, 0, 2},
		{0x20000, 2, 2, 2}, {3, 43690, 0, 2},	{3, 43692, 1, 2},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char cells[64] = {0};
		uint64_t value = 0;
		struct profil_cells made = one_region(cells, sizeof(cells), 0x1000, rows[i].scale, rows[i].bytes);

		profil_cells_add(&made, 0x1000 + rows[i].distance, 5);
		memcpy(&value, cells + rows[i].number * rows[i].bytes, rows[i].bytes);
		CU_ASSERT_EQUAL(value, 5);
		CU_ASSERT_EQUAL(made.ticks, 5);
		profil_cells_clear(&made);
	}
}

static void scales_0_and_1_are_no_region(void)
{
	uint16_t cells[4] = {0};

	for (unsigned long scale = 0; scale < 2; scale++) {
		struct profil_cells made = one_region(cells, sizeof(cells), 0x1000, scale, 2);

		CU_ASSERT_EQUAL(made.nr_regions, 0);
		profil_cells_add(&made, 0x1000, 1);
		CU_ASSERT_EQUAL(made.nowhere, 1);
		CU_ASSERT_EQUAL(cells[0], 0);
		profil_cells_clear(&made);
	}
}

static void addresses_beyond_the_cells_are_nowhere(void)
{
	uint16_t cells[5] = {0};
	struct profil_cells made = one_region(cells, 8, 0x1000, 0x10000, 2);

	profil_cells_add(&made, 0xfff, 1);
	profil_cells_add(&made, 0x1008, 1);
	profil_cells_add(&made, UINT64_MAX, 1);
	CU_ASSERT_EQUAL(made.nowhere, 3);
	profil_cells_add(&made, 0x1007, 1);
	CU_ASSERT_EQUAL(cells[3], 1);
	CU_ASSERT_EQUAL(cells[4], 0);
	profil_cells_clear(&made);
}

static void the_region_with_the_highest_offset_has_the_address(void)
{
	uint16_t whole[16] = {0}, part[2] = {0}, outside = 0;
	struct trace_prof regions[] = {{part, sizeof(part), 0x1008, 0x10000},
				       {whole, sizeof(whole), 0x1000, 0x10000},
				       {&outside, sizeof(outside), 0, 2}};
	struct profil_cells made;

	CU_ASSERT_EQUAL(profil_cells_set(&made, regions, 3, 2), 3);
	profil_cells_add(&made, 0x1006, 1); /* in the whole */
	profil_cells_add(&made, 0x100a, 1); /* in the part */
	profil_cells_add(&made, 0x100c, 1); /* behind the part, which has the address though */
	profil_cells_add(&made, 0x10, 1);   /* below both */
	CU_ASSERT_EQUAL(whole[3], 1);
	CU_ASSERT_EQUAL(part[1], 1);
	CU_ASSERT_EQUAL(whole[6], 0);
	CU_ASSERT_EQUAL(outside, 2);
	profil_cells_clear(&made);
}

static void full_cells_stay_full(void)
{
	static const unsigned int sizes[] = {2, 4, 8};

	for (size_t i = 0; i < 3; i++) {
		uint64_t max = UINT64_MAX >> (64 - 8 * sizes[i]), cells[2] = {max - 3, 77}, value = 0;
		struct profil_cells made = one_region(cells, sizes[i], 0x1000, 0x10000, sizes[i]);

		profil_cells_add(&made, 0x1000, 2);
		profil_cells_add(&made, 0x1000, 5);
		profil_cells_add(&made, 0x1000, 1);
		memcpy(&value, cells, sizes[i]);
		CU_ASSERT_EQUAL(value, max);
		CU_ASSERT_EQUAL(made.ticks, 3);
		CU_ASSERT_EQUAL(made.full, 5);
		CU_ASSERT_EQUAL(cells[1], 77);
		profil_cells_clear(&made);
	}
}

static void cells_that_cannot_be_written_are_refused(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(page + 4096, 4096, PROT_READ);
	CU_ASSERT_EQUAL(trace_profil((unsigned short *)page, 8192, 0x1000, 0x10000), -EFAULT);
	CU_ASSERT_EQUAL(trace_profil((unsigned short *)page, 4096, 0x1000, 0x10000), 0);
	munmap(page, 8192); /* while the profile is on */
	burn(loop_a, 5 * MS);
	CU_ASSERT_EQUAL(trace_profil((unsigned short *)16, 64, 0x1000, 0x10000), -EFAULT);
	CU_ASSERT_FALSE(end().is_on);
}

static void unmapped_cells_are_told(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct trace_profil_status status;

	CU_ASSERT_EQUAL_FATAL(trace_profil_set_period(MS), 0);
	CU_ASSERT_EQUAL_FATAL(trace_profil((unsigned short *)page, 4096, (size_t)__start_burn_a, 0x10000), 0);
	munmap(page, 4096);
	burn(loop_a, 50 * MS);
	status = end();
	CU_ASSERT_TRUE(status.faulted);
	CU_ASSERT(status.outside >= 40);
	CU_ASSERT_EQUAL(status.ticks, 0);
}

/* ---- the root of a thread ---- */

enum { P = 10, T = 11, U = 12 };

static void a_thread_counts_with_its_first_root(void)
{
	struct profil_roots roots = {0};

	CU_ASSERT_TRUE(profil_roots_count(&roots, U, P, 100));
	CU_ASSERT_FALSE(profil_roots_count(&roots, U, T, 101));
	CU_ASSERT_TRUE(profil_roots_count(&roots, T, T, 102));
	CU_ASSERT_FALSE(profil_roots_count(&roots, T, P, 103));
	CU_ASSERT_TRUE(profil_roots_count(&roots, U, P, 104));
	profil_roots_clear(&roots);
}

static void a_number_that_is_used_again_is_another_thread(void)
{
	struct profil_roots roots = {0};

	CU_ASSERT_TRUE(profil_roots_count(&roots, U, P, 100));
	profil_roots_end(&roots, U, 200);
	CU_ASSERT_FALSE(profil_roots_count(&roots, U, T, 150)); /* read late, of the thread that ended */
	CU_ASSERT_TRUE(profil_roots_count(&roots, U, P, 160));
	CU_ASSERT_TRUE(profil_roots_count(&roots, U, T, 300));
	CU_ASSERT_FALSE(profil_roots_count(&roots, U, P, 301));
	profil_roots_clear(&roots);
}

static void an_end_may_be_read_before_the_ticks(void)
{
	struct profil_roots roots = {0};

	profil_roots_end(&roots, U, 200);
	CU_ASSERT_TRUE(profil_roots_count(&roots, U, T, 100));
	CU_ASSERT_FALSE(profil_roots_count(&roots, U, P, 110));
	CU_ASSERT_TRUE(profil_roots_count(&roots, U, P, 210));
	profil_roots_clear(&roots);
}

static void ended_threads_are_forgotten(void)
{
	struct profil_roots roots = {0};

	CU_ASSERT_TRUE(profil_roots_count(&roots, P, P, 1));
	for (uint32_t tid = 100; tid < 100100; tid++) {
		CU_ASSERT_TRUE(profil_roots_count(&roots, tid, P, 10 * tid));
		profil_roots_end(&roots, tid, 10 * tid + 5);
		if (tid % 100 == 0)
			profil_roots_purge(&roots, 10 * tid);
	}
	CU_ASSERT(roots.nr < 1000);
	CU_ASSERT(roots.nr_slots < 4000);
	CU_ASSERT_FALSE(profil_roots_count(&roots, P, T, 2000000)); /* it lives */
	profil_roots_clear(&roots);
}

/* ---- ticks ---- */

static void ticks_are_the_time_of_the_loops(void)
{
	static struct counts counts;
	struct trace_profil_status status;
	uint64_t in_a, in_b;

	CU_ASSERT_EQUAL_FATAL(begin(&counts, MS), 0);
	burn(loop_a, 300 * MS);
	burn(loop_b, 100 * MS);
	status = end();
	expect_all(&counts, &status, 4);
	in_a = sum(counts.a, 1024);
	in_b = sum(counts.b, 1024);
	/* outside are the clock's calls, and interrupts: more of them on a loaded machine */
	CU_ASSERT(in_a + counts.outside >= 280 && in_a >= 200 && in_a <= 304);
	CU_ASSERT(in_b + counts.outside >= 90 && in_b >= 50 && in_b <= 104);
	CU_ASSERT_FALSE(status.user_only);
}

static void long_periods_count_in_pieces(void)
{
	static struct counts counts;
	struct trace_profil_status status;
	uint64_t ns = 3 * MS;

	CU_ASSERT_EQUAL_FATAL(begin(&counts, 10 * MS), 0);
	for (int i = 0; i < 100; i++) { /* none has a whole period */
		pthread_t thread;

		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, burn_in_thread, &ns), 0);
		pthread_join(thread, NULL);
	}
	status = end();
	/* a thread loses its last piece of 1 ms, or less */
	expect_all(&counts, &status, 12);
	/* the start of a thread is outside of the loop, and takes as long under a sanitizer */
	CU_ASSERT(sum(counts.a, 1024) >= 10);
}

static void all_threads_are_counted(void)
{
	static struct counts counts;
	struct trace_profil_status status;
	pthread_t threads[THREAD];
	uint64_t ns = 300 * MS;

	CU_ASSERT_EQUAL_FATAL(begin(&counts, MS / 2), 0);
	for (int i = 0; i < THREAD; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, burn_in_thread, &ns), 0);
	for (int i = 0; i < THREAD; i++)
		pthread_join(threads[i], NULL);
	status = end();
	expect_all(&counts, &status, (uint64_t)(THREAD + 1) * (uint64_t)sysconf(_SC_NPROCESSORS_CONF));
}

static _Atomic bool stop;

/* Burns some ms, and passes the baton on to a thread that it begins. */
static void *relay(void *unused)
{
	pthread_t next;

	burn(loop_a, 2 * MS);
	if (stop || pthread_create(&next, NULL, relay, NULL))
		return NULL;
	pthread_join(next, NULL);
	return NULL;
}

/* Threads that begin while the profile begins count once. */
static void no_thread_counts_twice(void)
{
	static struct counts counts;

	for (int round = 0; round < 20; round++) {
		uint64_t stolen_before = stolen_ns(), counted, loose;
		struct trace_profil_status status;
		pthread_t threads[THREAD];

		stop = false;
		for (int i = 0; i < THREAD; i++)
			CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, relay, NULL), 0);
		CU_ASSERT_EQUAL_FATAL(begin(&counts, MS / 5), 0);
		burn(loop_b, 20 * MS);
		stop = true;
		for (int i = 0; i < THREAD; i++)
			pthread_join(threads[i], NULL);
		status = end();
		counted = status.ticks * status.period_ns;
		loose = 2 * MS + stolen_ns() - stolen_before;
		CU_ASSERT(counted <= status.cpu_ns + loose);
		CU_ASSERT(counted + (nr_switches() - switches_before) * status.period_ns >= status.cpu_ns * 6 / 10);
		if (counted > status.cpu_ns + loose)
			printf("%llu ns of %llu\n", (unsigned long long)counted, (unsigned long long)status.cpu_ns);
	}
}

/*
 * The ticks of a perf event of this thread while it uses 200 ms of CPU time. A virtual machine
 * whose timers are late makes fewer than one for each period. 0: perf events are not allowed.
 */
static uint64_t ticks_of_kernel(uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.sample_type = PERF_SAMPLE_TID,
		.disabled = 1,
		.exclude_hv = 1,
	};
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = 65 * page_bytes;
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	struct perf_event_mmap_page *page;
	uint64_t ticks;

	if (fd < 0)
		return 0;
	page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CU_ASSERT_FATAL(page != MAP_FAILED);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	burn(loop_a, 200 * MS);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ticks = page->data_head / (sizeof(struct perf_event_header) + 8);
	munmap(page, bytes);
	close(fd);
	return ticks;
}

static void the_shortest_period_is_20_us(void)
{
	static struct counts counts;
	uint64_t most, least;
	struct trace_profil_status status;

	CU_ASSERT_EQUAL(trace_profil_set_period(TRACE_PROFIL_MIN_PERIOD_NS - 1), -EINVAL);
	CU_ASSERT_EQUAL(trace_profil_set_period(TRACE_PROFIL_MAX_PERIOD_NS + 1), -EINVAL);
	CU_ASSERT_EQUAL_FATAL(begin(&counts, TRACE_PROFIL_MIN_PERIOD_NS), 0);
	burn(loop_a, 200 * MS);
	status = end();
	CU_ASSERT_EQUAL(status.period_ns, TRACE_PROFIL_MIN_PERIOD_NS);
	CU_ASSERT_EQUAL(sum_of_all(&counts), status.ticks);
	CU_ASSERT_EQUAL(status.outside, 0);
	most = status.cpu_ns / status.period_ns;
	least = ticks_of_kernel(TRACE_PROFIL_MIN_PERIOD_NS);
	CU_ASSERT(status.ticks + status.lost <= most + most / 8);
	CU_ASSERT(status.ticks + status.lost >= (least && least < most ? least : most) / 2);
}

#ifndef __SANITIZE_THREAD__

/* ---- fork and exec ---- */

static int wait_for(pid_t child)
{
	int status;

	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void a_child_has_its_own_profile(void)
{
	static struct counts counts;
	struct trace_profil_status status;
	pid_t child;

	CU_ASSERT_EQUAL_FATAL(begin(&counts, MS), 0);
	burn(loop_b, 50 * MS);
	child = fork();
	if (!child) {
		uint64_t before = sum(counts.b, 1024), loose;

		burn(loop_a, 100 * MS);
		status = end();
		loose = 4 + nr_switches();
		/* its ticks are in its own cells, behind those of the parent */
		_exit(status.ticks + loose >= 100 && status.ticks <= 106 + loose && sum(counts.a, 1024) >= 50 &&
				      before >= 20 && sum(counts.b, 1024) == before
			      ? 0
			      : 1);
	}
	CU_ASSERT_EQUAL(wait_for(child), 0);
	burn(loop_b, 50 * MS);
	status = end();
	expect_all(&counts, &status, 4);
	CU_ASSERT(sum(counts.a, 1024) <= 2);
}

static void exec_keeps_no_descriptor(void)
{
	static struct counts counts;
	pid_t child;

	CU_ASSERT_EQUAL_FATAL(begin(&counts, MS), 0);
	child = fork();
	if (!child) {
		execl("/bin/sh", "sh", "-c", "! ls -l /proc/self/fd | grep -q perf_event", NULL);
		_exit(127);
	}
	CU_ASSERT_EQUAL(wait_for(child), 0);
	end();
}

/* ---- without perf events ---- */

static bool forbid_perf_events(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* @run, in a child that may not use perf events: its result is the child's exit status. */
static int run_with_timers(int (*run)(void))
{
	pid_t child = fork();

	if (!child)
		_exit(forbid_perf_events() ? run() : 99);
	return wait_for(child);
}

static int burn_with_timers(void)
{
	static struct counts counts;
	struct trace_profil_status status;
	pthread_t threads[THREAD];
	uint64_t ns = 200 * MS, expected;

	if (begin(&counts, MS))
		return 1;
	for (int i = 0; i < THREAD; i++)
		if (pthread_create(&threads[i], NULL, burn_in_thread, &ns))
			return 2;
	for (int i = 0; i < THREAD; i++)
		pthread_join(threads[i], NULL);
	burn(loop_b, 200 * MS);
	if (trace_sprofil(NULL, 0, NULL, 0))
		return 3;
	trace_profil_status(&status, sizeof(status));
	if (!status.by_timers || sum_of_all(&counts) != status.ticks)
		return 4;
	/* each thread loses what it used before it was found, and after its last signal */
	expected = status.cpu_ns / status.period_ns;
	if (status.ticks > expected + 8 || status.ticks + 8 + (uint64_t)(THREAD + 1) * 60 < expected)
		return 5;
	return sum(counts.b, 1024) > 100 && sum(counts.a, 1024) > 500 ? 0 : 6;
}

static void timers_count_where_perf_events_are_forbidden(void)
{
	CU_ASSERT_EQUAL(run_with_timers(burn_with_timers), 0);
}

static int keep_signals_of_the_program(void)
{
	static struct counts counts;
	struct sigaction action;

	for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
		signal(number, SIG_IGN);
	if (begin(&counts, MS) != -EAGAIN) /* none is free */
		return 1;
	signal(SIGRTMIN + 1, SIG_DFL);
	if (begin(&counts, MS))
		return 2;
	burn(loop_a, 300 * MS);
	if (trace_sprofil(NULL, 0, NULL, 0) || sum(counts.a, 1024) < 50)
		return 3;
	return sigaction(SIGRTMAX, NULL, &action) || action.sa_handler != SIG_IGN ? 4 : 0;
}

static void timers_leave_signals_to_the_program(void)
{
	CU_ASSERT_EQUAL(run_with_timers(keep_signals_of_the_program), 0);
}

#endif

/* ---- the C library's ---- */

/* The ticks of a loop: how many, and the mean and the variance of their cells. */
struct cells {
	double nr, mean, variance;
};

static struct cells cells_of(const unsigned short *counts)
{
	struct cells cells = {0};

	for (size_t i = 0; i < (size_t)(__stop_burn_a - __start_burn_a + 1) / 2; i++) {
		cells.nr += counts[i];
		cells.mean += (double)i * counts[i];
		cells.variance += (double)i * (double)i * counts[i];
	}
	cells.mean /= cells.nr > 0 ? cells.nr : 1;
	cells.variance = cells.variance / (cells.nr > 0 ? cells.nr : 1) - cells.mean * cells.mean;
	return cells;
}

/* Are the means the same, to a cell and four standard errors? */
static bool have_one_middle(const struct cells *ours, const struct cells *theirs)
{
	double difference = ours->mean - theirs->mean;

	difference = (difference < 0 ? -difference : difference) - 1;
	return difference <= 0 || difference * difference <= 16 * ours->variance * (1 / ours->nr + 1 / theirs->nr);
}

/* The two count the same loops in the same cells. */
static void cells_are_those_of_the_c_library(void)
{
	static unsigned short ours[4096], theirs[4096];
	struct cells of_ours, of_theirs;
	uint64_t stolen_before;

	CU_ASSERT_EQUAL_FATAL(profil(theirs, sizeof(theirs), (size_t)__start_burn_a & ~1ul, 0x10000), 0);
	burn(loop_a, 500 * MS);
	profil(theirs, 0, 0, 0);
	CU_ASSERT_EQUAL_FATAL(trace_profil_set_period(0), 0);
	stolen_before = stolen_ns();
	CU_ASSERT_EQUAL_FATAL(trace_profil(ours, sizeof(ours), (size_t)__start_burn_a & ~1ul, 0x10000), 0);
	burn(loop_a, 500 * MS);
	end();
	of_ours = cells_of(ours);
	of_theirs = cells_of(theirs);
	/* 50 ticks of 10 ms; some are in the system calls between the loops */
	CU_ASSERT_FATAL(of_ours.nr >= 35 && of_ours.nr <= 51 + (double)(stolen_ns() - stolen_before) / (10 * MS));
	CU_ASSERT_FATAL(of_theirs.nr >= 5); /* its timer is less exact */
	CU_ASSERT(have_one_middle(&of_ours, &of_theirs));
}

static void wrong_arguments_are_refused(void)
{
	struct timeval tick = {0};
	uint16_t cells[4] = {0};
	struct trace_prof region = {cells, sizeof(cells), 0x1000, 0x10000};

	CU_ASSERT_EQUAL(trace_sprofil(&region, 1, &tick, 8), -EINVAL);
	CU_ASSERT_EQUAL(trace_sprofil(&region, 1, &tick, TRACE_PROF_UINT | TRACE_PROF_UINT64), -EINVAL);
	CU_ASSERT_EQUAL(trace_sprofil(&region, -1, &tick, 0), -EINVAL);
	CU_ASSERT_EQUAL(trace_profil_set_period(0), 0);
	CU_ASSERT_EQUAL(trace_sprofil(&region, 1, &tick, 0), 0);
	CU_ASSERT_EQUAL(tick.tv_usec, 10000);
	CU_ASSERT_EQUAL(trace_sprofil(&region, 1, &tick, TRACE_PROF_FAST), 0);
	CU_ASSERT_EQUAL(tick.tv_usec, 1000);
	CU_ASSERT_EQUAL(trace_profil(cells, sizeof(cells), 0x1000, 1), 0);
	CU_ASSERT_FALSE(end().is_on);
}

static const struct unit_case cases[] = {
	CASE(scales_choose_the_cell),
	CASE(scales_0_and_1_are_no_region),
	CASE(addresses_beyond_the_cells_are_nowhere),
	CASE(the_region_with_the_highest_offset_has_the_address),
	CASE(full_cells_stay_full),
	CASE(cells_that_cannot_be_written_are_refused),
	CASE(unmapped_cells_are_told),
	CASE(a_thread_counts_with_its_first_root),
	CASE(a_number_that_is_used_again_is_another_thread),
	CASE(an_end_may_be_read_before_the_ticks),
	CASE(ended_threads_are_forgotten),
	CASE(ticks_are_the_time_of_the_loops),
	CASE(long_periods_count_in_pieces),
	CASE(all_threads_are_counted),
	CASE(no_thread_counts_twice),
	CASE(the_shortest_period_is_20_us),
#ifndef __SANITIZE_THREAD__ /* it cannot follow threads that begin after fork() */
	CASE(a_child_has_its_own_profile),
	CASE(exec_keeps_no_descriptor),
	CASE(timers_count_where_perf_events_are_forbidden),
	CASE(timers_leave_signals_to_the_program),
#endif
	CASE(cells_are_those_of_the_c_library),
	CASE(wrong_arguments_are_refused),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("profil", cases, argc, argv);
}
