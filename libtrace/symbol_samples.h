/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYMBOL_SAMPLES_H
#define LIBTRACE_SYMBOL_SAMPLES_H
/* symbol_samples.h - what symbol_samples.c needs of symbols.c */
#include <trace/symbols.h>

/** symbols_trace() - the trace of trace_symbols_new() */
const struct trace *symbols_trace(const struct trace_symbols *symbols);

#endif
