/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* report_cpus.c - the table of CPUs. */
#include <stdio.h>
#include "grid.h"
#include "recorded.h"
#include "report_cpus.h"
#include "value_text.h"

struct cpu_total cpu_total(const struct trace_analysis *analysis)
{
	struct cpu_total total = {0};
	struct trace_cpu_figures f;

	for (size_t i = 0; i < trace_nr_cpus(analysis); i++) {
		trace_cpu_figures(analysis, i, &f);
		total.user_ns += f.user_ns;
		total.system_ns += f.system_ns;
		total.interrupts_ns += f.irq_ns + f.softirq_ns;
		total.idle_ns += f.idle_ns;
		total.unknown_ns += f.unknown_ns;
	}
	total.all_ns = total.user_ns + total.system_ns + total.interrupts_ns + total.idle_ns + total.unknown_ns;
	return total;
}

void report_cpus(const struct report *report)
{
	bool calls = trace_analysis_sees_calls(report->analysis);
	enum grid_kind irqs = has_recorded(report->analysis, TRACE_EV_irq_entry) ||
					      has_recorded(report->analysis, TRACE_EV_vector_entry)
				      ? GRID_RIGHT
				      : GRID_HIDDEN;
	enum grid_kind softirqs = has_recorded(report->analysis, TRACE_EV_softirq_entry) ? GRID_RIGHT : GRID_HIDDEN;
	const struct grid_column columns[] = {{"CPU", GRID_RIGHT},
					      {"busy %", GRID_RIGHT},
					      {calls ? "programs" : "threads", GRID_RIGHT},
					      {"kernel", calls ? GRID_RIGHT : GRID_HIDDEN},
					      {"irq", irqs},
					      {"softirq", softirqs},
					      {"idle",
					       trace_analysis_is_filtered(report->analysis) ? GRID_HIDDEN : GRID_RIGHT},
					      {"unknown", GRID_OPTIONAL}};
	struct grid *grid = grid_new(&report->output, "  ", columns, 8);
	struct trace_cpu_figures f;
	struct value_text cpu;

	output_title(&report->output, "", "CPUs (% of the trace):");
	for (size_t i = 0; i < trace_nr_cpus(report->analysis); i++) {
		uint64_t busy;

		trace_cpu_figures(report->analysis, i, &f);
		busy = f.user_ns + f.system_ns + f.irq_ns + f.softirq_ns;
		snprintf(cpu.bytes, sizeof(cpu.bytes), "%u", f.cpu);
		grid_text(grid, cpu.bytes);
		if (f.unknown_ns && !busy && !f.idle_ns)
			grid_text(grid, "?");
		else
			grid_percent(grid, busy, busy + f.idle_ns + f.unknown_ns);
		grid_ns(grid, f.user_ns + (calls ? 0 : f.system_ns));
		grid_ns(grid, f.system_ns);
		grid_ns(grid, f.irq_ns);
		grid_ns(grid, f.softirq_ns);
		grid_ns(grid, f.idle_ns);
		grid_ns(grid, f.unknown_ns);
	}
	grid_end(grid, NULL);
	fputs("\n", report->output.out);
}
