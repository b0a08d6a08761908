/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_EVENT_LIST_H
#define VISUALIZER_EVENT_LIST_H
/* event_list.h - the event list of -d. */
#include <trace/error.h>
#include "report.h"

/**
 * report_list() - one line per event
 * Returns 0, or 2 after a message: an option names an event that does not exist. -ENOMEM: no
 * memory.
 */
int report_list(const struct report *report) TRACE_NODISCARD;
#endif
