/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state_block.c - requests of block devices: whose they are, and what their ends cause */
#include "disk_sums.h"
#include "state.h"
#include "state_block.h"
#include "state_cause.h"

/* The process that makes a request on @cpu now. */
static uint32_t owner_on(struct trace_analysis *a, const struct cpu *cpu)
{
	const struct trace_thread *thread = cpu->nested ? NULL : cpu->current;

	if (work_run_issues(a, cpu))
		return DISK_OF_WORKER(thread);
	return is_thread(cpu, thread) ? thread->process->idx : (uint32_t)PROCESS_UNKNOWN;
}

/* Requests end in interrupts of any process. A filter leaves these out, so no time is known. */
static bool has_ends(const struct trace_analysis *a)
{
	return !a->filter.is_on;
}

void on_block_insert(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	if (has_ends(a))
		disk_queue(a, event->payload, owner_on(a, cpu));
}

void on_block_issue(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	if (has_ends(a))
		disk_issue(a, ns, event->payload, owner_on(a, cpu));
}

void on_block_complete(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_block_complete *complete = event->payload;

	block_caused(cpu, complete->dev);
	if (has_ends(a))
		disk_complete(a, ns, complete);
}

void on_block_file(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	disk_file(a, event->payload);
}
