/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_TRACEPOINT_H
#define TRACER_PROBE_TRACEPOINT_H
/* probe_tracepoint.h - the kernel's own tracepoints as probes. */
#include <trace/error.h>

struct trace_probes;
struct probe_spec;

/**
 * probe_tracepoint_add() - append the tracepoints that match @spec
 * A tracepoint that the list has already gets the condition of @spec.
 * Returns 0; with one sentence -ENXIO: the kernel has no such subsystem; -ENOENT: the subsystem has
 * no such tracepoint, or none with the fields that @spec names; -EACCES and others: tracefs cannot
 * be read.
 */
int probe_tracepoint_add(struct trace_probes *probes, const struct probe_spec *spec, struct trace_error *ret_error);

/**
 * probe_tracepoint_list() - call @row for each tracepoint that matches @spec with its name and its
 * fields, which are "" without @with_fields
 * Returns their number or a negative errno.
 */
int probe_tracepoint_list(const struct probe_spec *spec, bool with_fields,
			  void (*row)(void *context, const char *name, const char *fields), void *context,
			  struct trace_error *ret_error);

#endif
