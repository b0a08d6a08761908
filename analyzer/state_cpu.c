/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* state_cpu.c - the interrupts that nest on a CPU, their time and their names. */
#include <stdio.h>
#include "state.h"
#include "state_cpu.h"

void irq_flush(struct cpu *cpu)
{
	cpu->nested = 0;
	cpu->cause = CAUSE_NONE;
	cpu->signalled = 0;
	cpu->woken = NULL;
}

/* Softirqs are the work of ksoftirqd, so they do not interrupt it. */
bool interrupted(const struct cpu *cpu)
{
	if (!cpu->nested)
		return false;
	return !(cpu->current && (cpu->current->flags & THREAD_SOFTIRQ_DAEMON) &&
		 cpu->nest[cpu->nested - 1].type == NEST_SOFTIRQ);
}

const struct nest *softirq_of(const struct cpu *cpu)
{
	const struct nest *top = cpu->nested ? &cpu->nest[cpu->nested - 1] : NULL;

	return top && top->type == NEST_SOFTIRQ && top->number < NR_SOFTIRQS ? top : NULL;
}

uint64_t cpu_softirq_time(const struct cpu *cpu, unsigned int vec, uint64_t ns)
{
	const struct nest *softirq = softirq_of(cpu);

	return cpu->softirq_ns[vec] +
	       (softirq && softirq->number == vec && ns > cpu->accounted_ns ? ns - cpu->accounted_ns : 0);
}

uint64_t cpu_irq_time(const struct cpu *cpu, uint64_t ns)
{
	return cpu->irq_ns + (interrupted(cpu) && ns > cpu->accounted_ns ? ns - cpu->accounted_ns : 0);
}

static const struct {
	const char *name;
	enum trace_string_space space;
} nest_types[] = {
	[NEST_IRQ] = {"irq", TRACE_STRING_IRQ},
	[NEST_SOFTIRQ] = {"softirq", TRACE_STRING_SOFTIRQ},
	[NEST_VECTOR] = {"vector", TRACE_STRING_VECTOR},
};

static string_id name_of(struct trace_analysis *a, unsigned int type, uint64_t number)
{
	const char *name = trace_string(a->trace, nest_types[type].space, number);
	char text[32];

	if (name)
		return strings_intern(&a->strings, name);
	snprintf(text, sizeof(text), "%s %llu", nest_types[type].name, (unsigned long long)number);
	return strings_intern(&a->strings, text);
}

string_id nest_name(struct trace_analysis *a, uint64_t key, const char **ret_type)
{
	unsigned int type = (unsigned int)(key >> 56);
	uint64_t number = (key & ((1ull << 56) - 1)) - 1;
	struct nest_memo *memo = &a->nest_memos[(number ^ type << 4) % NEST_MEMOS];

	*ret_type = nest_types[type].name;
	if (memo->key != key)
		*memo = (struct nest_memo){key, name_of(a, type, number)};
	return memo->name;
}
