/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_SCHED_H
#define ANALYZER_STATE_SCHED_H
/* state_sched.h - switches and wakeups */
#include "handler.h"

event_handler on_sched_switch, on_sched_waking, on_sched_waker, on_sched_wakeup_new, on_sched_quota, on_sched_limit;
event_handler on_sched_migrate, on_cpu_stolen, on_cpu_hotplug;
#endif
