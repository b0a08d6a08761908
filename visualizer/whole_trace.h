/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_WHOLE_TRACE_H
#define VISUALIZER_WHOLE_TRACE_H
/* whole_trace.h - figures of the whole trace, which a part of it (trace_write_part()) carries. */
#include <trace/analysis.h>

/** whole_trace_events() - trace_info.events. whole_trace_contradictions() - of the analysis */
uint64_t whole_trace_events(const struct trace *trace);
uint64_t whole_trace_contradictions(const struct trace *trace, const struct trace_analysis *analysis);
#endif
