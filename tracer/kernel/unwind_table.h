/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_UNWIND_TABLE_H
#define TRACER_UNWIND_TABLE_H
/*
 * unwind_table.h - compiles .eh_frame of an ELF file for x86-64 into an unwind table (unwind_row.h)
 *
 * SECURITY: the file may come from any user. All sizes and offsets are checked; a file costs at
 * most UNWIND_MAX_SECTION_BYTES to read, UNWIND_MAX_FUNCTIONS to sort and UNWIND_MAX_WORDS to
 * write. unwind_reader.h runs this in a process without rights.
 */
#include <stddef.h>
#include <stdint.h>
#include "unwind_row.h"

#define UNWIND_MAX_SECTION_BYTES (64u << 20)
#define UNWIND_MAX_FUNCTIONS	 (4u << 20)
#define UNWIND_MAX_WORDS	 (6u << 20) /* a multiple of UNWIND_BLOCK_WORDS */

/**
 * struct unwind_table - a table being written, or done
 * @words: zeroed memory of the caller, @room words. @nr_words: in use, a multiple of a block
 * @nr_pages: the entries of pages; what is behind is no entry
 * @nr_rows: of functions, without those that begin a page
 * @nr_unsupported: of rule UNWIND_UNSUPPORTED
 */
struct unwind_table {
	uint64_t *words;
	uint32_t room;
	uint32_t nr_words;
	uint32_t nr_pages;
	uint32_t nr_functions;
	uint32_t nr_rows;
	uint32_t nr_unsupported;
};

/**
 * unwind_table_compile() - the table of the file @fd
 * Returns 0; -ENOENT: the file has no .eh_frame; -EBADMSG: it is not an ELF file of this machine,
 * or contradicts itself; -E2BIG; -ENOMEM; or an errno of reading.
 */
int unwind_table_compile(int fd, struct unwind_table *table);

/** unwind_table_find() - the row that holds at @offset; one of rule UNWIND_NONE if there is none */
struct unwind_row unwind_table_find(const struct unwind_table *table, uint64_t offset);

#endif
