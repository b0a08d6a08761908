/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_ELF_H
#define TRACER_PROBE_ELF_H
/* probe_elf.h - functions and offsets of an ELF file. */
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <trace/error.h>
#include "debug_strings.h"

struct probe_opener;

/**
 * struct probe_elf - an open file
 * @path: owned
 * @debug: the file with symbols and DWARF: @elf itself, or a separate debug file
 * @no_memory: an allocation failed, so functions or variables may be missing
 *
 * Many calls of libelf and libdw report only that there is no result, not why. malloc() and mmap()
 * set errno, and success does not clear it. So each step checks errno, before another one can
 * overwrite it. A failed allocation counts even if the library recovered from it.
 */
struct probe_elf {
	char *path;
	int fd;
	uint64_t file_bytes;
	Elf *elf;
	int debug_fd;
	Elf *debug;
	int alt_fd;
	Elf *alt; /* the supplementary file of dwz, or NULL */
	Dwarf *alt_dwarf;
	struct debug_strings strings, alt_strings;
	struct probe_opener *opener; /* borrowed */
	Dwarf *dwarf;		     /* opened on first use */
	bool dwarf_tried;
	bool unit_is_shallow; /* result for @unit_looked_at: see probe_dwarf.c */
	const void *unit_looked_at;
	int machine;
	bool no_memory;
};
/**
 * probe_elf_open_by() - open the program at @path; for the reader of probe_reader.h
 * @opener: opens the program and its debug files; must outlive @ret_elf
 * Returns 0; -ENOMEM; -ENOEXEC, -ENOTSUP: no such program; or the error of @opener
 */
int probe_elf_open_by(struct probe_elf *ret_elf, const char *path, struct probe_opener *opener,
		      struct trace_error *ret_error);
void probe_elf_close(struct probe_elf *elf);
/**
 * probe_elf_end() - was there memory for all that was read? To be called before
 * probe_elf_close().
 * @result: of the walk. Returns -ENOMEM with a sentence, or else @result
 */
int probe_elf_end(struct probe_elf *elf, int result, struct trace_error *ret_error);
/**
 * probe_elf_offset() - convert a virtual address to a file offset; false: the address is in no
 * loaded segment
 */
bool probe_elf_offset(const struct probe_elf *elf, uint64_t address, bool executable, uint64_t *ret_offset);
/**
 * probe_elf_dwarf() - the debug information of the file or of its separate debug file; NULL: none
 */
Dwarf *probe_elf_dwarf(struct probe_elf *elf);

/**
 * struct probe_symbol - a function
 * @name: borrowed
 * @plain: demangled, without parameters; in C equal to @name
 * @full: demangled, with parameters; in C equal to @name
 */
struct probe_symbol {
	const char *name;
	const char *plain;
	const char *full;
	uint64_t address;
	uint64_t bytes;
	bool is_ifunc; /* STT_GNU_IFUNC: the code there chooses an implementation, once */
};
/**
 * probe_elf_functions() - call @visit for each defined function of both symbol tables
 * A non-zero return value ends the walk and is returned.
 */
typedef int (*probe_symbol_fn)(void *context, const struct probe_symbol *symbol);
int probe_elf_functions(struct probe_elf *elf, probe_symbol_fn visit, void *context);
/** probe_symbol_matches() - does the symbol match @pattern, a name or a glob? */
bool probe_symbol_matches(const struct probe_symbol *symbol, const char *pattern);

#endif
