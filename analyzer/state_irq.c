/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_irq.c - interrupts, softirqs and vectors: a stack on each CPU, whichever thread runs there
 *
 * Time is accounted to the innermost one. An exit without an entry as the first event of a CPU
 * belongs to an interrupt that was in progress at the start. Later, such an exit is ignored. An
 * entry without an exit ends with an outer one, or at the next switch.
 */
#include <stdio.h>
#include "handlers.h"
#include "state.h"

void irq_flush(struct cpu *cpu)
{
	cpu->nested = 0;
	cpu->cause = CAUSE_NONE;
	cpu->signalled = 0;
	cpu->woken = NULL;
}

static void nest_enter(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, enum nest_type type, uint64_t number)
{
	books_cpu(a, cpu, ns);
	cpu->touched = true;
	cpu->cause = CAUSE_NONE;
	cpu->woken = NULL;
	if (cpu->nested == MAX_NESTED)
		return;
	cpu->nest[cpu->nested++] = (struct nest){.type = type, .number = number};
	((struct interrupt_row *)books_row(a, &a->interrupts, sizeof(struct interrupt_row), nest_key(&cpu->nest[cpu->nested - 1])))->count++;
	if (cpu->current && cpu->current != &cpu->idle)
		((struct interrupt_row *)books_row(a, &cpu->current->books.interrupts, sizeof(struct interrupt_row),
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
	books_cpu(a, cpu, ns);
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

static const struct {
	const char *name;
	enum trace_string_space space;
} nest_types[] = {
	[NEST_IRQ] = {"irq", TRACE_STRING_IRQ},
	[NEST_SOFTIRQ] = {"softirq", TRACE_STRING_SOFTIRQ},
	[NEST_VECTOR] = {"vector", TRACE_STRING_VECTOR},
};

string_id nest_name(struct trace_analysis *a, uint64_t key, const char **ret_type)
{
	unsigned int type = (unsigned int)(key >> 56);
	uint64_t number = (key & ((1ull << 56) - 1)) - 1;
	const char *name = trace_string(a->trace, nest_types[type].space, number);
	char text[32];

	*ret_type = nest_types[type].name;
	if (name)
		return strings_intern(&a->strings, name);
	snprintf(text, sizeof(text), "%s %llu", nest_types[type].name, (unsigned long long)number);
	return strings_intern(&a->strings, text);
}

/* The cause of a softirq without an event that gives more detail. include/linux/interrupt.h */
static const uint8_t softirq_causes[10] = {
	CAUSE_KERNEL /* HI */, CAUSE_TIMER, CAUSE_NETWORK /* TX */, CAUSE_NETWORK /* RX */, CAUSE_BLOCK,
	CAUSE_BLOCK /* IRQ_POLL */, CAUSE_KERNEL /* TASKLET */, CAUSE_KERNEL /* SCHED */, CAUSE_TIMER /* HRTIMER */, CAUSE_RCU,
};

void irq_waker(struct trace_analysis *a, const struct cpu *cpu, uint32_t context, struct waker *waker)
{
	const struct nest *top = cpu->nested ? &cpu->nest[cpu->nested - 1] : NULL;
	const char *type;

	waker->cause = cpu->cause;
	waker->detail = cpu->cause_detail;
	if (waker->cause != CAUSE_NONE)
		return;
	waker->cause = top || trace_analysis_sees_interrupts(a) ? CAUSE_KERNEL : CAUSE_UNSEEN;
	if (top && top->type == NEST_SOFTIRQ && top->number < 10) {
		waker->cause = softirq_causes[top->number];
	} else if (top && top->type == NEST_IRQ) {
		waker->cause = CAUSE_DEVICE;
		waker->detail = nest_name(a, nest_key(top), &type);
	} else if (top && top->type == NEST_VECTOR && top->number == TRACE_VECTOR_LOCAL_TIMER) {
		waker->cause = CAUSE_TIMER;
	}
	if (waker->cause == CAUSE_KERNEL)
		waker->detail = top ? nest_name(a, nest_key(top), &type) : strings_intern(&a->strings, "interrupt");
}
