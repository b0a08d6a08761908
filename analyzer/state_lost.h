/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_LOST_H
#define ANALYZER_STATE_LOST_H
/*
 * state_lost.h - what the trace does not have: events that were lost (state_lost.c), and events
 * that a filter excluded (state_filtered.c)
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_analysis;
struct trace_event;
struct trace_gap;
struct trace_process;

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

int lost_prepare(struct trace_analysis *a);
void lost_begin(struct trace_analysis *a, uint64_t ns); /* for the gaps that begin until @ns */
/* the cursor of the pass calls it for a damaged chunk */
void lost_found(void *analysis, const struct trace_gap *gap);
/** is_loss_of_cpu() - is @event a trace_lost of the stream that has the switches of its CPU? */
bool is_loss_of_cpu(const struct trace_analysis *a, const struct trace_event *event);
/** is_left_out() - did the recorder omit @what, a TRACE_LEFT_OUT_...? */
bool is_left_out(const struct trace_analysis *a, const char *what);
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

/* ---- state_filtered.c ---- */

/** filtered_prepare() - before the pass: find the processes without recorded events */
int filtered_prepare(struct trace_analysis *a);
/** filtered_hides() - were the events of @process not recorded? */
bool filtered_hides(const struct trace_analysis *a, const struct trace_process *process);
#endif
