/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_GAP_LOG_H
#define ANALYZER_GAP_LOG_H
/* gap_log.h - the gaps that have begun, and the begins of all losses */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_gap;

/* gaps in the main stream of at least one CPU; joined, by start */
struct gap {
	uint64_t start;
	uint64_t end;
	uint64_t before; /* sum of the earlier gaps, ns */
};

struct cpu_gap {
	uint64_t start;
	uint64_t end;
	uint32_t cpu;  /* UINT32_MAX: not known, if @is_minor */
	bool is_minor; /* makes no time unknown, but names: state_doubt.h */
};

struct gap_log {
	struct gap *joined; /* owned; gaps that have begun, joined */
	size_t nr;
	/*
	 * Owned, ascending: start times of all losses, also of the minor gaps that make no time
	 * unknown. late_losses has those of the late gaps, which are found during the pass.
	 */
	uint64_t *losses, *late_losses;
	size_t nr_losses, nr_late_losses;
	struct trace_gap *late; /* owned; late gaps: found in the pass, by start_ns */
	size_t nr_late, max_late;
	struct cpu_gap *of_cpus; /* owned; by start */
	size_t nr_of_cpus, next;
	uint64_t next_ns;     /* of the next gap, edge of a window or end of a step; UINT64_MAX: none */
	uint64_t pieces_left; /* how many more pieces gaps may divide intervals into: hooks.c */
	bool is_coarse;	      /* there were more, so intervals have more unknown time than sums */
	uint64_t halted_ns;   /* time without scheduling changes, by the masks in the trace */
};

void gap_log_clear(struct gap_log *log);
/** gap_log_add() - add a gap that begins now, after all others; joins it with the one before */
void gap_log_add(struct gap_log *log, uint64_t start, uint64_t end);

/** gap_log_from() - the index of the first joined gap that may end after @ns */
size_t gap_log_from(const struct gap_log *log, uint64_t ns);

/** gap_log_overlap() - time of an interval that lies in gaps, ns */
uint64_t gap_log_overlap(const struct gap_log *log, uint64_t from, uint64_t to);

/**
 * gap_log_first_loss() - the first loss of any size from @from on and before @to
 *
 * Returns its time, or UINT64_MAX if there is none.
 */
uint64_t gap_log_first_loss(const struct gap_log *log, uint64_t from, uint64_t to);
#endif
