/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_OBJDUMP_H
#define VISUALIZER_OBJDUMP_H
/* objdump.h - the instructions of a file, as objdump of the binutils prints them. */
#include <stdbool.h>
#include <stdint.h>
#include <trace/error.h>

/**
 * enum objdump_kind - of a line: the symbol at which code begins, the source line of the
 * instructions that follow, or an instruction
 */
enum objdump_kind { OBJDUMP_SYMBOL, OBJDUMP_SOURCE, OBJDUMP_INSTRUCTION };

/**
 * struct objdump_line - @address: of a symbol or an instruction
 * @text: the symbol, the path of the source, or the instruction; borrowed for the call
 * @line: of the source
 */
struct objdump_line {
	enum objdump_kind kind;
	uint64_t address;
	const char *text;
	uint32_t line;
};

/** objdump_fn - false: no more lines are needed */
typedef bool (*objdump_fn)(void *context, const struct objdump_line *line);

/**
 * objdump_run() - the code of the file @fd from @from on, line by line
 * Root gives up its rights in the process that reads the file, because any user may have written
 * it.
 * Returns 0; or -ENOENT (there is no objdump), -EINVAL (it failed) or the negative errno of a read,
 * with the reason.
 */
int objdump_run(int fd, uint64_t from, objdump_fn fn, void *context, struct trace_error *ret_error) TRACE_NODISCARD;

#endif
