/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_GCOV_ELF_H
#define DAEMON_GCOV_ELF_H
/*
 * gcov_elf.h - where the head of libgcov's lists is in an ELF file.
 *
 * SECURITY: the file may come from any user. A child without rights reads it, by pread() only.
 */
#include <stdint.h>

/*
 * STRIPPED: without a symbol table. UNREAD: it has more symbols than may be read, or its reader was
 * stopped, so that it may have such a list. OTHER: anything else that has none
 */
enum gcov_kind { GCOV_OTHER, GCOV_STRIPPED, GCOV_HAS_ROOT, GCOV_UNREAD };

/**
 * struct gcov_root - @at: bytes from the begin of the mapping to __gcov_root, if there is one
 * @nr_symbols: symbols and sections that were read
 */
struct gcov_root {
	uint32_t kind; /* enum gcov_kind */
	uint64_t at;
	uint64_t nr_symbols;
};

/**
 * gcov_elf_root() - look into the file @fd, of which a process has mapped what begins at @offset
 * @max_symbols: at most so many are read
 * Returns 0, also for a file that is damaged (GCOV_OTHER) or stopped the child (GCOV_UNREAD); or a
 * negative errno: -ETIMEDOUT: it takes too long, there is no child, or it could not drop its rights
 */
int gcov_elf_root(int fd, uint64_t offset, uint64_t max_symbols, struct gcov_root *ret_root);
#endif
