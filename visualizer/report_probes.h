/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_PROBES_H
#define VISUALIZER_REPORT_PROBES_H
/* report_probes.h - what probes and recording their own events cost the programs. */
#include <stdbool.h>
#include <stdint.h>
#include "json.h"
#include "report.h"

/** report_probes() - a line for each probe and process; nothing without probes of a known cost */
void report_probes(const struct report *report);
/** report_unhit() - a line for each probe without a hit in the trace; nothing if there is none */
void report_unhit(const struct report *report);
struct trace_event_use;
struct trace_probe_use;
/** json_probe_uses(), json_event_uses() - the keys probes and event_costs of these rows */
void json_probe_uses(struct json *json, const struct trace_probe_use *uses, size_t nr);
void json_event_uses(struct json *json, const struct trace_analysis *analysis, const struct trace_event_use *uses,
		     size_t nr);
/** json_probes() - the keys probes and probes_without_hits */
void json_probes(struct json *json, const struct report *report);
/** event_cost_matters() - recording its own events is more than 0.1 % of @cpu_ns of a program */
bool event_cost_matters(uint64_t event_ns, uint64_t cpu_ns);
/** report_event_costs() - a line for each process and event whose recording matters */
void report_event_costs(const struct report *report);
/** json_event_costs() - the key event_costs */
void json_event_costs(struct json *json, const struct report *report);
#endif
