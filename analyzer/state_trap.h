/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_TRAP_H
#define ANALYZER_STATE_TRAP_H
/* state_trap.h - page faults */
#include "handler.h"

struct trace_analysis;
struct trace_event;

event_handler on_fault_entry, on_fault_exit;
/** fault_cost_learn() - the recorder measured the kernel's way between two page faults */
void fault_cost_learn(struct trace_analysis *a, const struct trace_event *event);
#endif
