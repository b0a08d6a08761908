/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_SYMBOL_FILE_H
#define TRACE_SYMBOL_FILE_H
/*
 * symbol_file.h - the functions and source lines of one ELF file.
 *
 * SECURITY: the file may come from any user, and libelf and libdw are large. So only the process
 * that symbol_reader.c starts calls these functions.
 */
#include <libelf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>
#include "debug_strings.h"

#include "symbol_lines.h"
#include "symbol_wanted.h"

/**
 * struct symbol_function - a function of a file; @name: borrowed from the ELF file
 */
struct symbol_function {
	uint64_t address;
	uint64_t bytes;
	const char *name;
};

/**
 * struct symbol_file - an open file; zeros before symbol_file_open()
 * @on_no_memory: called by libdw when it cannot go on, and does not return
 * @no_memory: an allocation failed, so functions or lines may be missing
 * @is_damaged: a part of the debug information cannot be read, so lines may be missing
 * @needs_demangler: a name was mangled, but demangle_prepare() has not been called
 * @functions: sorted by address
 *
 * Many calls of libelf and libdw report only that there is no result, not why. malloc() and mmap()
 * set errno, and success does not clear it, but a system call that the filter refuses overwrites
 * it. So symbol_file.c checks errno after each step. A failed allocation counts even if the library
 * recovered from it.
 */
struct symbol_file {
	Dwarf_OOM on_no_memory;
	bool no_memory;
	bool is_damaged;
	bool needs_demangler;
	Elf *elf;
	Dwarf *dwarf;
	struct debug_strings strings;
	struct symbol_function *functions;
	size_t nr_functions;
	bool dwarf_tried;
	struct line_index lines;
	char *demangled; /* owned; from the last look-up */
	char *levels;	 /* owned; the same */
};

#define SYMBOL_PATH_BYTES  500u /* of the source of a level; a longer one is not told */
#define SYMBOL_LEVEL_BYTES 500u /* of the name of an inlined function; longer ones are cut */

/**
 * struct symbol_found - what is at a byte of a file
 * @function: readable name, valid until the next look-up; NULL: none
 * @offset: of the byte in the function
 * @address: of the byte, as nm prints it
 * @source: "file.c:12", or ""; with SYMBOL_LEVELS a line for each function, as "/folder/file.c:12"
 */
struct symbol_found {
	const char *function;
	uint64_t offset;
	uint64_t address;
	char source[SYMBOL_SOURCE_BYTES];
};

/**
 * symbol_file_open() - read the functions of the file @fd
 * Returns 0, also for a file that is no ELF file and has none; or -EFBIG: its tables are too large.
 */
int symbol_file_open(struct symbol_file *file, int fd) TRACE_NODISCARD;

/** symbol_file_id() - the build id in hexadecimal; NULL: none. Valid until the next call */
const char *symbol_file_id(struct symbol_file *file);

/** symbol_file_find() - look up the byte at @offset of the file */
void symbol_file_find(struct symbol_file *file, uint64_t offset, enum symbol_wanted wanted,
		      struct symbol_found *ret_found);

#endif
