/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_work.c - deferred work of the kernel: a kworker works for the thread that queued the work
 *
 * A wakeup by a kworker is therefore attributed to the queuing thread (a terminal delivers its
 * input in this way). Work that an interrupt or a timer queued has no such thread. Work that other
 * work queued belongs to the thread of the other work.
 */
#include "state.h"
#include "state_work.h"

struct work_row {
	uint64_t key; /* address of the work */
	struct trace_thread *queuer;
};

static struct trace_thread *queuer_on(const struct cpu *cpu)
{
	if (!cpu->current || cpu->current == &cpu->idle || cpu->nested)
		return NULL;
	return cpu->current->flags & THREAD_KERNEL ? cpu->current->work_for : cpu->current;
}

void on_work_queue(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	struct work_row *row = acct_row(a, &a->works, sizeof(*row),
					((const struct trace_work_queue *)event->payload)->work | 1);

	row->queuer = queuer_on(cpu);
}

void on_work_start(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	struct work_row *row = table_find(&a->works, sizeof(*row),
					  ((const struct trace_work_start *)event->payload)->work | 1);

	if (!cpu->current || !(cpu->current->flags & THREAD_KERNEL))
		return;
	cpu->current->work_for = row ? row->queuer : NULL;
	work_run_begin(a, cpu, ns, ((const struct trace_work_start *)event->payload)->func, cpu->current->work_for);
	if (row)
		row->queuer = NULL; /* the address may be used again */
}

void on_work_end(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	work_run_end(a, cpu, ns);
	if (cpu->current)
		cpu->current->work_for = NULL;
}
