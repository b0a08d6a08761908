/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYMBOL_PLACES_H
#define LIBTRACE_SYMBOL_PLACES_H
/* symbol_places.h - what symbol_places.c and symbol_samples.c need of symbols.c */
#include <trace/symbols.h>

/** symbols_trace() - the trace of trace_symbols_new() */
const struct trace *symbols_trace(const struct trace_symbols *symbols);

/** symbols_nr_files() - the files that processes mapped; they have the numbers below that */
size_t symbols_nr_files(const struct trace_symbols *symbols);

/**
 * symbols_file_of() - the number of the file that is mapped at @place; symbols_nr_files(): none
 * Does not read the file.
 */
size_t symbols_file_of(struct trace_symbols *symbols, const struct trace_symbol_place *place, uint64_t *ret_offset);

/** symbols_is_known() - is the answer about a place in a file known already? */
bool symbols_is_known(const struct trace_symbols *symbols, size_t file, uint64_t offset);

/** symbols_is_kept() - is there a copy of a file for the case that it is gone? */
bool symbols_is_kept(const struct trace_symbols *symbols, size_t file);

#endif
