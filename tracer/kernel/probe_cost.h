/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_COST_H
#define TRACER_PROBE_COST_H
/* probe_cost.h - measure what a hit of a probe costs: probe_cost.c. */
#include <stddef.h>
#include <stdint.h>
#include <bpf/libbpf.h>

/* How the kernel continues after a breakpoint. The kinds cost different times. */
enum probe_cost_kind {
	PROBE_COST_EMULATED, /* it emulates the instruction */
	PROBE_COST_NOP,	     /* a no-operation of 5 bytes, which newer kernels replace by a call */
	PROBE_COST_STEPPED,  /* it executes the instruction elsewhere, with a second trap */
	PROBE_COST_RETURN,   /* the return from a function, without the breakpoint at its entry */
	PROBE_COST_FURTHER,  /* one more probe at an instruction that has a breakpoint, or at its return */
	NR_PROBE_COSTS,
};

/* The cost of a hit for the program: ns; 0: not known. The other two are the measured extremes. */
struct probe_cost {
	uint32_t ns;
	uint32_t least_ns;
	uint32_t most_ns;
};

struct probe_costs {
	struct probe_cost costs[NR_PROBE_COSTS];
};

/** probe_cost_kind() - the kind of a breakpoint at the instruction that begins at @bytes */
enum probe_cost_kind probe_cost_kind(const uint8_t *bytes, size_t size);
/**
 * probe_costs_measure() - attach @program to functions of this process, and call them
 * @cookie: of a place for which the program does all but record
 * @closing: called for each attachment afterwards, to close it
 *
 * Takes some milliseconds. A cost that could not be measured is 0.
 */
void probe_costs_measure(const struct bpf_program *program, uint64_t cookie,
			 void (*closing)(void *context, struct bpf_link *link), void *context,
			 struct probe_costs *ret_costs);
#endif
