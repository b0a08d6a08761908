/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_PEAK_MEMORY_H
#define TESTS_PEAK_MEMORY_H
/* peak_memory.h - a program that links peak_memory.c counts what it allocates. Not for programs
 * with a sanitizer, which allocates by itself. */
#include <stddef.h>

/** peak_memory_begin() - forget what was allocated until now */
void peak_memory_begin(void);
/** peak_memory() - bytes that were allocated at once since peak_memory_begin(), at most */
size_t peak_memory(void);
/** peak_memory_kept() - bytes that are allocated now, less those that were then; 0: fewer */
size_t peak_memory_kept(void);
#endif
