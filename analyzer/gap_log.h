/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_GAP_LOG_H
#define ANALYZER_GAP_LOG_H
/* gap_log.h - the gaps that have begun, and the begins of all losses */
#include <stddef.h>
#include <stdint.h>

struct trace_analysis;

struct gap { /* gaps in the main stream of at least one CPU; joined, by start */
	uint64_t start;
	uint64_t end;
	uint64_t before; /* sum of the earlier gaps, ns */
};

struct cpu_gap {
	uint64_t start;
	uint64_t end;
	uint32_t cpu;
};

/** gap_join() - add a gap that begins now, after all others; joins it with the one before */
void gap_join(struct trace_analysis *a, uint64_t start, uint64_t end);

/** lost_from() - the index of the first joined gap that may end after @ns */
size_t lost_from(const struct trace_analysis *a, uint64_t ns);

/** lost_overlap() - time of an interval that lies in gaps, ns */
uint64_t lost_overlap(const struct trace_analysis *a, uint64_t from, uint64_t to);

/**
 * lost_first() - the first loss of any size from @from on and before @to
 *
 * Returns its time, or UINT64_MAX if there is none.
 */
uint64_t lost_first(const struct trace_analysis *a, uint64_t from, uint64_t to);
#endif
