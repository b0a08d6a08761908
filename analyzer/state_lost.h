/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_LOST_H
#define ANALYZER_STATE_LOST_H
/* state_lost.h - what the trace does not tell: because it was lost (state_lost.c), or because it was not to be recorded (state_filtered.c). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_analysis;
struct trace_event;
struct trace_gap;
struct trace_process;

struct gap { /* of at least one CPU's main stream; joined, by start */
	uint64_t start;
	uint64_t end;
	uint64_t before; /* ns of gaps before this one */
};
struct cpu_gap {
	uint64_t start;
	uint64_t end;
	uint32_t cpu;
};

int lost_prepare(struct trace_analysis *a);
void lost_begin(struct trace_analysis *a, uint64_t ns); /* gaps that begin until @ns */
void lost_found(void *analysis, const struct trace_gap *gap); /* of the pass's cursor: a chunk turns out to be damaged */
/** is_loss_of_cpu() - is @event a trace_lost of events that tell who runs on its CPU? */
bool is_loss_of_cpu(const struct trace_analysis *a, const struct trace_event *event);
/** is_left_out() - did the recorder leave @what, a TRACE_LEFT_OUT_..., out? */
bool is_left_out(const struct trace_analysis *a, const char *what);
/** lost_from() - the number of the first joined gap that may reach beyond @ns */
size_t lost_from(const struct trace_analysis *a, uint64_t ns);
/** lost_overlap() - how much of an interval lies in gaps, ns */
uint64_t lost_overlap(const struct trace_analysis *a, uint64_t from, uint64_t to);
/** lost_first() - the first loss, of whatever size, after @from and before @to; UINT64_MAX if none */
uint64_t lost_first(const struct trace_analysis *a, uint64_t from, uint64_t to);

/* ---- state_filtered.c ---- */

/** filtered_prepare() - before the pass: are there processes whose events were not recorded? */
int filtered_prepare(struct trace_analysis *a);
/** filtered_hides() - is @process one of those? */
bool filtered_hides(const struct trace_analysis *a, const struct trace_process *process);
#endif
