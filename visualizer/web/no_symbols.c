/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * no_symbols.c - for WebAssembly: a page has no programs and libraries to read. Names of code are
 * those that the trace has itself.
 */
#include <errno.h>
#include <trace/symbols.h>
#include "symbol_origin.h"
#include "symbol_reader.h"
#include "view_symbols.h"

int symbol_origin_open(const struct symbol_origin *origin, struct symbol_search *search, struct symbol_reader *reader,
		       int *ret_fd, const char **ret_why)
{
	*ret_fd = -1;
	*ret_why = "the trace does not have its name, and a page reads no files";
	return 0;
}

int symbol_reader_ask(struct symbol_reader *reader, int fd, uint64_t offset, enum symbol_wanted wanted,
		      struct symbol_answer *ret_answer, struct trace_error *ret_error)
{
	return -ENOMEM;
}

uint64_t trace_symbols_look_up(struct trace_symbols *symbols, const struct trace_symbol_place *places, size_t nr,
			       uint64_t limit_ns)
{
	return 0;
}

void file_opener_close(struct file_opener *opener)
{
	(void)opener;
}

void symbol_reader_stop(struct symbol_reader *reader)
{
}

/* Each question reads the names that the trace has. */
struct view_symbols *view_symbols_new(void)
{
	return NULL;
}

struct view_symbols *view_symbols_free(struct view_symbols *symbols)
{
	return NULL;
}

void view_symbols_take(struct view_symbols *symbols, struct report *report)
{
}

void view_symbols_give(struct view_symbols *symbols, struct report *report)
{
}
