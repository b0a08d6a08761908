/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_ELF_NAMES_H
#define BASE_ELF_NAMES_H
/*
 * elf_names.h - the parts of an ELF file that tell the names of its functions: headers, notes,
 * tables of symbols. A file with only these parts, at their offsets, is a debug file.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * elf_names_fn - a part: @bytes of the file at @offset; borrowed during the call. Returns false to
 * stop
 */
typedef bool (*elf_names_fn)(void *context, uint64_t offset, const void *part, size_t bytes);

/**
 * elf_names_bytes() - how many bytes elf_names_read() would give of the file @fd, which any user
 * may have written. Returns 0: it is no ELF file of 64 bits, has no symbols, or is damaged
 */
uint64_t elf_names_bytes(int fd);

/**
 * elf_names_read() - give the parts to @fn. Sections that are left out have the type SHT_NOBITS.
 * Returns false: @fn returned false, or the file cannot be read
 */
bool elf_names_read(int fd, elf_names_fn fn, void *context);

#endif
