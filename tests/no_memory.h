/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_NO_MEMORY_H
#define TESTS_NO_MEMORY_H
/* no_memory.h - a program of which no_memory.c is a part runs out of memory when it says so. Not one with a sanitizer, which allocates by itself. */
#include <stdbool.h>

/** no_memory_at() - for the @nr-th allocation from now on there is none, nor, if @and_after, for any after it; 0: there is for all. While there is one thread */
void no_memory_at(long nr, bool and_after);
/** no_memory_struck() - has it come to that? */
bool no_memory_struck(void);
/** no_memory_nr() - how many allocations there were since no_memory_at() */
long no_memory_nr(void);
#endif
