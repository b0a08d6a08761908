/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * no_symbols.c - for WebAssembly: a page has no programs and libraries to read, so addresses in
 * events stay numbers.
 */
#include <stddef.h>
#include <trace/symbols.h>

struct trace_symbols *trace_symbols_new(const struct trace *trace, struct trace_error *ret_error)
{
	static char none;

	return (struct trace_symbols *)&none;
}

struct trace_symbols *trace_symbols_free(struct trace_symbols *symbols)
{
	return NULL;
}

void trace_symbols_set_folder(struct trace_symbols *symbols, const char *folder)
{
}

void trace_symbols_want_debuginfod(struct trace_symbols *symbols, bool wanted)
{
}

bool trace_symbols_find(struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, uint64_t address,
			struct trace_symbol *ret_symbol)
{
	return false;
}

size_t trace_symbols_find_levels(struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, uint64_t address,
				 struct trace_symbol *ret_symbol, const struct trace_symbol_level **ret_levels)
{
	return 0;
}

int trace_symbols_error(const struct trace_symbols *symbols, struct trace_error *ret_error)
{
	return 0;
}
