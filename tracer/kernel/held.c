// SPDX-License-Identifier: LGPL-2.1-or-later
/* held.c - may entries of system calls be held, and how those that nothing came after get their records. See held.h. */
#include <bpf/bpf.h>
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "loader.h"

/* In an interrupt of that CPU; here, if it is offline: then nothing is recorded there meanwhile. */
static bool settle_on(const struct tracer *tracer, uint32_t cpu)
{
	uint64_t arguments[] = {cpu};
	LIBBPF_OPTS(bpf_test_run_opts, there, .ctx_in = arguments, .ctx_size_in = sizeof(arguments), .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);
	LIBBPF_OPTS(bpf_test_run_opts, here, .ctx_in = arguments, .ctx_size_in = sizeof(arguments));
	int program = bpf_program__fd(tracer->skeleton->progs.settle), result = bpf_prog_test_run_opts(program, &there);

	return result == 0 || (result == -ENXIO && bpf_prog_test_run_opts(program, &here) == 0);
}

void tracer_settle(struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->nr_rings; i++)
		if (__atomic_load_n(&tracer->rings[i].ring.control->held_ns, __ATOMIC_RELAXED))
			settle_on(tracer, tracer->rings[i].cpu);
}

static bool is_attached(const struct tracer *tracer, uint32_t event)
{
	for (size_t i = 0; i < tracer->nr_programs; i++)
		if (tracer->programs[i].event == event && tracer->programs[i].attached)
			return true;
	return false;
}

/* Does the kernel run the program for entries with preemption off? The program says so of any entry that it sees. */
static bool entries_not_preempted(const struct tracer *tracer)
{
	syscall(SYS_getppid);
	return __atomic_load_n(&tracer->skeleton->bss->entries_not_preempted, __ATOMIC_RELAXED);
}

/*
 * Programs of probes can be preempted, and one that settles an entry for long: then the record is late. Not where changes of threads are recorded, for
 * each of them settles first.
 */
void tracer_choose_holding(struct tracer *tracer)
{
	int cpu = sched_getcpu();
	bool holds = is_attached(tracer, TRACE_EV_sys_enter) && is_attached(tracer, TRACE_EV_sys_exit) &&
		     (!tracer->probing || is_attached(tracer, TRACE_EV_sched_switch)) && entries_not_preempted(tracer) &&
		     settle_on(tracer, cpu < 0 ? 0 : (uint32_t)cpu);

	for (size_t i = 0; i < tracer->nr_rings; i++)
		__atomic_store_n(&tracer->rings[i].ring.control->holds, holds, __ATOMIC_RELAXED);
}
