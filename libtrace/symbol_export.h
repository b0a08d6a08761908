/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYMBOL_EXPORT_H
#define LIBTRACE_SYMBOL_EXPORT_H
/* symbol_export.h - names for the trace itself */
#include <trace/symbols.h>

#include "symbol_files.h"

/**
 * symbol_files_export() - pass all answers with levels to @emit, as trace_symbols_export() does
 * @strings: of the answers. Returns 0, -ENOMEM, or what @emit returned
 */
int symbol_files_export(const struct symbol_files *files, const struct strings *strings, trace_symbols_emit_fn emit,
			void *context) TRACE_NODISCARD;

#endif
