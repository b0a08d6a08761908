/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_IRQ_H
#define ANALYZER_STATE_IRQ_H
/* state_irq.h - interrupts, softirqs and vectors */
#include "handler.h"

event_handler on_irq_entry, on_irq_exit, on_softirq_entry, on_softirq_exit, on_vector_entry, on_vector_exit;
#endif
