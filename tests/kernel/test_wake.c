/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_wake.c - how full a ring of the real kernel has to be before the daemon is woken. */
#include "unit.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <trace/tracer.h>
#include <unistd.h>

#define NR_SUBBUFS 8

/**
 * struct bench - a tracer of this process' system calls, and the ring of the CPU that it stays on
 */
struct bench {
	struct tracer *tracer; /* owned */
	const struct subbuf_ring *ring;
};

static struct bench bench_new(bool overwrite)
{
	struct tracer_options options = {.size = sizeof(options),
					 .subbuf_bytes = SUBBUF_MIN_BYTES,
					 .nr_subbufs = NR_SUBBUFS,
					 .overwrite = overwrite,
					 .filter_pid = getpid(),
					 .filter_uid = -1,
					 .filter_gid = -1};
	struct trace_error error = {0};
	struct bench bench = {0};
	cpu_set_t cpus;
	int cpu;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	for (cpu = 0; !CPU_ISSET(cpu, &cpus); cpu++)
		;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	CU_ASSERT_EQUAL_FATAL(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	options.mask[TRACE_EV_sys_enter / 64] |= 1ull << TRACE_EV_sys_enter % 64;
	options.mask[TRACE_EV_sys_exit / 64] |= 1ull << TRACE_EV_sys_exit % 64;
	bench.tracer = tracer_new(&options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(bench.tracer);
	CU_ASSERT_EQUAL_FATAL(tracer_start(bench.tracer, &error), 0);
	for (size_t i = 0; i < tracer_nr_rings(bench.tracer); i++)
		if (tracer_get_ring(bench.tracer, i)->stream == 2 * (uint32_t)cpu)
			bench.ring = &tracer_get_ring(bench.tracer, i)->ring;
	CU_ASSERT_PTR_NOT_NULL_FATAL(bench.ring);
	return bench;
}

static void wake_at(const struct bench *bench, uint64_t nr)
{
	__atomic_store_n(&bench->ring->control->wake_at, nr, __ATOMIC_RELAXED);
}

static uint64_t nr_full(const struct bench *bench)
{
	uint64_t position = __atomic_load_n(&bench->ring->control->position, __ATOMIC_RELAXED);
	bool is_open = (position & SUBBUF_OFFSET_MASK) < bench->ring->subbuf_bytes;

	return (position >> SUBBUF_OFFSET_BITS) - is_open - bench->ring->control->consumed;
}

static void fill(const struct bench *bench, uint64_t nr)
{
	while (nr_full(bench) < nr)
		syscall(SYS_getppid);
}

static bool is_woken(const struct bench *bench, int patience_ms)
{
	struct pollfd rings = {.fd = tracer_poll_fd(bench->tracer), .events = POLLIN};

	return poll(&rings, 1, patience_ms) > 0;
}

static void drain(const struct bench *bench)
{
	tracer_acknowledge(bench->tracer);
	while (subbuf_take(bench->ring))
		subbuf_release(bench->ring);
}

static void the_daemon_wakes_at_the_given_number_of_full_subbuffers(void)
{
	struct bench bench = bench_new(false);

	drain(&bench);
	for (uint64_t nr = 1; nr <= NR_SUBBUFS / 2; nr *= 2) {
		wake_at(&bench, nr);
		fill(&bench, nr - 1);
		CU_ASSERT_FALSE(is_woken(&bench, 20));
		fill(&bench, nr);
		CU_ASSERT_TRUE(is_woken(&bench, 1000));
		tracer_acknowledge(bench.tracer); /* and each later one, until the daemon acknowledges */
		fill(&bench, nr + 1);
		CU_ASSERT_TRUE(is_woken(&bench, 1000));
		drain(&bench);
		CU_ASSERT_FALSE(is_woken(&bench, 20));
	}
	tracer_free(bench.tracer);
}

static void a_flight_recorder_sleeps(void)
{
	struct bench bench = bench_new(true);

	wake_at(&bench, 1);
	drain(&bench);
	fill(&bench, 2 * NR_SUBBUFS);
	CU_ASSERT_FALSE(is_woken(&bench, 20));
	tracer_free(bench.tracer);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_daemon_wakes_at_the_given_number_of_full_subbuffers),
		CASE(a_flight_recorder_sleeps),
		{NULL, NULL},
	};

	return unit_main("wake", cases, argc, argv);
}
