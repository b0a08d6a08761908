/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_FAULT_COST_H
#define TRACER_FAULT_COST_H
/* fault_cost.h - measure the kernel's way between two page faults: fault_cost.c. */
#include <stdint.h>

struct tracer_bpf;

/**
 * fault_cost_measure() - touch some thousands of new pages, with the BPF programs of page faults
 * attached
 *
 * Returns the shortest time in ns from the end of a fault to the begin of the next one of a thread
 * that only touches pages; 0: not known. Takes about 2 ms. The calling thread must not be recorded.
 */
uint32_t fault_cost_measure(struct tracer_bpf *skeleton);
#endif
