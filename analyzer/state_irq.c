/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_irq.c - interrupts, softirqs and vectors: a stack on each CPU, whichever thread runs there
 *
 * Time is accounted to the innermost one. An exit without an entry as the first event of a CPU
 * belongs to an interrupt that was in progress at the start. Later, such an exit is ignored. An
 * entry without an exit ends with an outer one, or at the next switch.
 */
#include <stdio.h>
#include "state.h"
#include "state_irq.h"
#include "state_packet.h"

static void nest_enter(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, enum nest_type type, uint64_t number)
{
	acct_cpu(a, cpu, ns);
	cpu->touched = true;
	cpu->cause = CAUSE_NONE;
	cpu->woken = NULL;
	if (cpu->nested == MAX_NESTED)
		return;
	cpu->nest[cpu->nested++] = (struct nest){.type = type, .number = number};
	((struct interrupt_row *)acct_row(a, &a->interrupts, sizeof(struct interrupt_row),
					  nest_key(&cpu->nest[cpu->nested - 1])))
		->count++;
	if (cpu->current && cpu->current != &cpu->idle)
		((struct interrupt_row *)acct_row(a, &cpu->current->acct.interrupts, sizeof(struct interrupt_row),
						  nest_key(&cpu->nest[cpu->nested - 1])))
			->count++;
}

static void nest_leave(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, enum nest_type type, uint64_t number)
{
	unsigned int depth = cpu->nested;

	if (!depth && !cpu->touched) { /* in progress at the start */
		cpu->nest[0] = (struct nest){.type = type, .number = number};
		cpu->nested = depth = 1;
	}
	acct_cpu(a, cpu, ns);
	cpu->touched = true;
	while (depth && !(cpu->nest[depth - 1].type == type && cpu->nest[depth - 1].number == number))
		depth--;
	if (!depth)
		return;
	cpu->nested = depth - 1;
	cpu->cause = CAUSE_NONE;
}

void on_irq_entry(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	nest_enter(a, cpu, ns, NEST_IRQ, ((const struct trace_irq_entry *)event->payload)->irq);
}

void on_irq_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	nest_leave(a, cpu, ns, NEST_IRQ, ((const struct trace_irq_exit *)event->payload)->irq);
}

void on_softirq_entry(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	nest_enter(a, cpu, ns, NEST_SOFTIRQ, ((const struct trace_softirq_entry *)event->payload)->vec);
	packets_leave(cpu);
}

void on_softirq_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	nest_leave(a, cpu, ns, NEST_SOFTIRQ, ((const struct trace_softirq_exit *)event->payload)->vec);
}

void on_vector_entry(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	nest_enter(a, cpu, ns, NEST_VECTOR, ((const struct trace_vector_entry *)event->payload)->vector);
}

void on_vector_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	nest_leave(a, cpu, ns, NEST_VECTOR, ((const struct trace_vector_exit *)event->payload)->vector);
}
