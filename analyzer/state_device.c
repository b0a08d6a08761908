/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_device.c - what an interrupt did: a block request completed, a timer expired, a packet arrived.
 *
 * Remembered on the CPU until the interrupt ends: a wakeup from interrupt context names this, never the interrupted thread.
 */
#include "state.h"

static void caused(struct cpu *cpu, enum cause cause, uint64_t detail)
{
	cpu->cause = cause;
	cpu->cause_detail = detail;
}

void on_block_complete(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	caused(cpu, CAUSE_BLOCK, ((const struct trace_block_complete *)event->payload)->dev);
}

void on_timer(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	caused(cpu, CAUSE_TIMER, 0);
}

void on_net_rx(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	caused(cpu, CAUSE_NETWORK, 0);
}

void on_sock_ready(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	caused(cpu, CAUSE_SOCKET, ((const struct trace_sock_ready *)event->payload)->ino);
}

/* A signal's wakeup follows it at once, in the same context. */
void on_signal_generate(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	cpu->signalled = ((const struct trace_signal_generate *)event->payload)->tid;
}
