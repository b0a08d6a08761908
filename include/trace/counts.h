/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_COUNTS_H
#define TRACE_COUNTS_H
/* counts.h - what a recorder with samples counts in the kernel; for the BPF programs, too. */

/**
 * enum tracer_count_kind - what was counted; its key is an address, or the number of a call,
 * softirq or vector
 */
enum tracer_count_kind {
	TRACER_COUNT_SAMPLE = 0, /* the address of the instruction */
	TRACER_COUNT_CALL = 1,	 /* the number of a native call */
	TRACER_COUNT_CALL_32 = 2,
	TRACER_COUNT_IRQ = 3, /* the address of the handler */
	TRACER_COUNT_SOFTIRQ = 4,
	TRACER_COUNT_VECTOR = 5,
	TRACER_COUNT_TASKLET = 6, /* the address of the function, as for the following ones */
	TRACER_COUNT_TIMER = 7,
	TRACER_COUNT_HRTIMER = 8,
	TRACER_COUNT_WORK = 9,
	TRACER_NR_COUNTS = 10,
};
#endif
