/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_NO_MEMORY_H
#define TESTS_NO_MEMORY_H
/* no_memory.h - a program that links no_memory.c runs out of memory on request. Not for programs
 * with a sanitizer, which allocates by itself. */
#include <stdbool.h>

/**
 * no_memory_at() - let the @nr-th allocation from now on fail; 0: none
 * @and_after: let all later ones fail as well
 * Only while the program has one thread.
 */
void no_memory_at(long nr, bool and_after);
/**
 * no_memory_struck() - has an allocation failed yet?
 */
bool no_memory_struck(void);
/**
 * no_memory_before_each() - call @before with the number of each allocation, before it is made
 * @before: returns whether it fails; may allocate memory itself, which is not counted; NULL: none.
 *   It is called once only if it has returned true: from then on no_memory_at() decides
 */
void no_memory_before_each(bool (*before)(long nr));
/** no_memory_nr() - how many allocations there were since no_memory_at() */
long no_memory_nr(void);
#endif
