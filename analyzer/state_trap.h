/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_TRAP_H
#define ANALYZER_STATE_TRAP_H
/* state_trap.h - page faults */
#include "handler.h"

event_handler on_fault_entry, on_fault_exit;
#endif
