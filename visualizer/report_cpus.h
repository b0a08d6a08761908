/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_CPUS_H
#define VISUALIZER_REPORT_CPUS_H
/* report_cpus.h - the table of CPUs. */
#include "report.h"

struct cpu_total {
	uint64_t user_ns, system_ns, interrupts_ns, idle_ns, unknown_ns, all_ns;
};
/** cpu_total() - the times of all CPUs, added up */
struct cpu_total cpu_total(const struct trace_analysis *analysis);
void report_cpus(const struct report *report);
#endif
