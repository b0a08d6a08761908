/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_PROBE_RECIPE_H
#define TRACER_PROBE_RECIPE_H
/*
 * probe_recipe.h - parameters from the loader to the BPF programs of probes: one struct per place.
 */
#include <trace/condition.h>
#include <trace/probes.h>

#define TRACER_PROBE_PAYLOAD_BYTES 2032 /* a record of 255 words without its header */

/* Behind the registers of a thread: the address of a tracepoint's record, as a start value. */
#define PROBE_WORD_RECORD 21

/**
 * struct probe_recipe - how to record one probe
 * @unread: number of arguments in unreadable memory; they are 0 or empty in the trace
 * @refused: number of hits that a condition did not let through
 * @is_measured: the loader measures what a hit costs: all is done, but nothing recorded
 */
struct probe_recipe {
	trace_u32 id;
	trace_u32 nr_arguments;
	trace_u32 fixed_bytes;
	trace_u32 is_measured;
	trace_u64 unread;
	trace_u64 refused;
	struct trace_probe_argument arguments[TRACE_PROBE_MAX_ARGUMENTS];
	struct trace_condition condition;
};

#endif
