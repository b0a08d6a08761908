/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_GAPS_H
#define LIBTRACE_GAPS_H
/* gaps.h - the order of a trace's gaps. */
#include <trace/error.h>
struct trace;

/** gaps_sort() - sort all gaps that the trace has now. 0 or -ENOMEM */
int gaps_sort(struct trace *trace) TRACE_NODISCARD;

#endif
