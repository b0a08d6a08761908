/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_KERNEL_PROBE_LOCATION_H
#define TRACER_KERNEL_PROBE_LOCATION_H
/* probe_location.h - where a variable is, as a recipe for the kernel */
#include <stdbool.h>
#include <stdint.h>
#include <elfutils/libdw.h>
#include <trace/probes.h>
#include "probe_dwarf.h"

/**
 * struct dwarf_location - the location of a value
 * @argument: recipe that computes x
 * @sum: is added to x
 * @in_memory: the value is in memory at x + @sum; otherwise it is x + @sum
 * @location: the DWARF attribute that is being evaluated
 */
struct dwarf_location {
	Dwarf_Attribute *location;
	struct trace_probe_argument argument;
	int64_t sum;
	bool in_memory;
	bool begun;
};

void location_add_sum(struct dwarf_location *loc, uint64_t offset);
int location_add_load(struct dwarf_location *loc, struct trace_error *ret_error);
/** location_of_variable() - the location of @variable at the address of @scope */
int location_of_variable(struct probe_scope *scope, Dwarf_Die *variable, struct dwarf_location *loc,
			 struct trace_error *ret_error);
#endif
