/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_SLOWEST_H
#define VISUALIZER_REPORT_SLOWEST_H
/*
 * report_slowest.h - --slowest=NAME: the longest instances of a scope, a system call or a command
 */
#include <trace/error.h>
#include "slowest_find.h"

/**
 * report_slowest() - print the report, as text or JSON; after the pass
 * Returns 0, or -ENOMEM.
 */
int report_slowest(const struct report *report, const struct slowest *slowest) TRACE_NODISCARD;
#endif
