/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_CAUSE_H
#define ANALYZER_STATE_CAUSE_H
/* state_cause.h - the cause of wakeups by an interrupt, and signals */
#include "handler.h"

struct cpu;
struct waker;

event_handler on_timer, on_sock_ready, on_signal_generate;
/** block_caused() - a request of block device @dev has ended: the cause of wakeups that follow */
void block_caused(struct cpu *cpu, uint32_t dev);
/** irq_waker() - fill @waker with the cause of a wakeup by the interrupt in progress on @cpu */
void irq_waker(struct trace_analysis *a, const struct cpu *cpu, uint32_t context, struct waker *waker);
#endif
