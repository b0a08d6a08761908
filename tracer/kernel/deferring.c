/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* deferring.c - decides whether entries of system calls may be deferred, and flushes those that no
 * event followed. See deferred.h. */
#include "deferring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "loader.h"

#define INTERRUPTED_TRIES 1000 /* a try takes some us, and the interrupted exit some ns */

/* Flush in an interrupt of that CPU; or here, if it is offline: then nothing is recorded there
 * meanwhile. Returns false if that failed. */
static bool flush_on(const struct tracer *tracer, uint32_t cpu)
{
	uint64_t arguments[] = {cpu};
	int program = bpf_program__fd(tracer->skeleton->progs.flush_ring), result;

	for (int i = 0; i < INTERRUPTED_TRIES; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, there, .ctx_in = arguments, .ctx_size_in = sizeof(arguments),
			    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
		LIBBPF_OPTS(bpf_test_run_opts, here, .ctx_in = arguments, .ctx_size_in = sizeof(arguments));

		result = bpf_prog_test_run_opts(program, &there);
		if (result == -ENXIO)
			return bpf_prog_test_run_opts(program, &here) == 0;
		if (result)
			return false;
		if (!there.retval)
			return true;
	}
	return false;
}

/* An idle CPU has nothing to flush, and is not woken. */
static bool has_unflushed(const struct subbuf_control *control)
{
	return __atomic_load_n(&control->deferred_ns, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&control->uncommitted, __ATOMIC_RELAXED) ||
	       (__atomic_load_n(&control->position, __ATOMIC_RELAXED) & SUBBUF_OFFSET_MASK) < control->subbuf_bytes;
}

void tracer_flush_rings(struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->nr_rings; i++) {
		struct tracer_ring *ring = &tracer->rings[i];

		if (!ring->structural && __atomic_load_n(&ring->ring.control->defers, __ATOMIC_RELAXED) &&
		    has_unflushed(ring->ring.control))
			flush_on(tracer, ring->cpu);
	}
}

static bool is_attached(const struct tracer *tracer, uint32_t event)
{
	for (size_t i = 0; i < tracer->nr_programs; i++)
		if (tracer->programs[i].event == event && tracer->programs[i].attached)
			return true;
	return false;
}

/* Does the kernel run the program for entries with preemption off? The program reports it
 * for any entry that it sees. */
static bool entries_not_preempted(const struct tracer *tracer)
{
	syscall(SYS_getppid);
	return __atomic_load_n(&tracer->skeleton->bss->entries_not_preempted, __ATOMIC_RELAXED);
}

/*
 * A program of a probe can be preempted for long while it flushes an entry: then the record is
 * late. That cannot happen where switches of threads are recorded, because each switch flushes
 * first.
 */
void tracer_choose_deferring(struct tracer *tracer)
{
	bool deferred = false;
	int cpu = sched_getcpu();
	bool defers = is_attached(tracer, TRACE_EV_sys_enter) && is_attached(tracer, TRACE_EV_sys_exit) &&
		      (!tracer->probing || is_attached(tracer, TRACE_EV_sched_switch)) &&
		      entries_not_preempted(tracer) && flush_on(tracer, cpu < 0 ? 0 : (uint32_t)cpu);

	for (size_t i = 0; i < tracer->nr_rings; i++) {
		struct subbuf_control *control = tracer->rings[i].ring.control;

		if (tracer->rings[i].structural)
			continue;
		deferred |= __atomic_load_n(&control->defers, __ATOMIC_RELAXED) != 0;
		__atomic_store_n(&control->defers, defers, __ATOMIC_RELAXED);
	}
	if (!deferred || defers)
		return;
	/* From now on other code closes the sub-buffers. Before that, every program that found
	 * that it may defer an entry must have done so; the exits of these entries will not find
	 * them. */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	for (size_t i = 0; i < tracer->nr_rings; i++)
		if (!tracer->rings[i].structural)
			flush_on(tracer, tracer->rings[i].cpu);
}
