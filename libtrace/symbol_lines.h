/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_SYMBOL_LINES_H
#define TRACE_SYMBOL_LINES_H
/*
 * symbol_lines.h - the functions that a compiler built into another one, and source lines, by
 * address: an index of each compilation unit, built when an address in it is looked up first.
 *
 * SECURITY: as symbol_file.h.
 */
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol_wanted.h"

/**
 * struct code_range - addresses of a unit, or of a function or an inlined one in it
 * @up: the number of the smallest range around it in the list; UINT32_MAX: none
 * @owner: offset of its debugging information entry; of a unit its number
 */
struct code_range {
	uint64_t low, high; /* behind the last byte */
	uint64_t owner;
	uint32_t up;
};

/** struct code_ranges - @list: owned; by @low, and the larger ones first */
struct code_ranges {
	struct code_range *list;
	uint32_t nr, room;
};

/** struct unit_index - of a compilation unit; @is_built: @functions are complete */
struct unit_index {
	Dwarf_Die die;
	bool is_built;
	struct code_ranges functions;
};

/**
 * struct line_index - zeros: empty. It lives as long as the process. @no_memory: it is not
 * complete. @is_damaged: libdw could not read a part of the debug information
 */
struct line_index {
	struct unit_index *units; /* owned */
	uint32_t nr_units, room_units;
	struct code_ranges by_address;
	bool is_built, no_memory, is_damaged;
};

/**
 * struct line_level - a function at an address. Texts belong to @dwarf
 * @name: the mangled name if it has one; NULL: not known
 * @path, @line: where the address is in it: its line, or that of the call of the inlined function.
 * NULL, 0: not known
 * @folder: to which a relative @path belongs; "": not known
 */
struct line_level {
	const char *name;
	const char *path;
	const char *folder;
	int line;
};

/**
 * line_index_find() - the functions at @address, the innermost first: inlined ones, and at the end
 * the one that contains them
 * Returns their number; 0: there is no debug information for it. The outermost are told if there
 * are more than SYMBOL_MAX_LEVELS.
 */
size_t line_index_find(struct line_index *index, Dwarf *dwarf, uint64_t address,
		       struct line_level levels[SYMBOL_MAX_LEVELS]);
#endif
