/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_LOST_H
#define ANALYZER_STATE_LOST_H
/* state_lost.h - the effect of a gap in the trace on the state */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "handler.h"

struct trace_analysis;
struct trace_event;
struct trace_gap;

/** gaps_next_prepare() - find gaps.next_ns, where the pass next has to stop */
void gaps_next_prepare(struct trace_analysis *a);
int lost_prepare(struct trace_analysis *a);
void lost_begin(struct trace_analysis *a, uint64_t ns); /* for the gaps that begin until @ns */
/* the cursor of the pass calls it for a damaged chunk */
void lost_found(void *analysis, const struct trace_gap *gap);
/** is_loss_of_cpu() - is @event a trace_lost of the stream that has the switches of its CPU? */
bool is_loss_of_cpu(const struct trace_analysis *a, const struct trace_event *event);

event_handler on_trace_mask;
#endif
